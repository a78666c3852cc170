//! Texts from literals by functions of Python's library.

use std::rc::Rc;

use ruff_text_size::TextRange;
use serde_json::Value as Json;

use highwater_options::Value;

use super::arms::Path;
use super::datum::{Datum, Fact, Field, Fields, MAX_ITEMS, MAX_TEXT};
use crate::json_value::value_of;

/// `str(value)`; lists are not followed.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::List(_) | Value::Set(_) | Value::Tuple(_) | Value::Python(_) => None,
        other => Some(other.to_string()),
    }
}

/// `"separator".join(items)`.
pub(super) fn joined(separator: &str, items: &Datum) -> Option<Value> {
    let Datum::Value(items) = items else {
        return None;
    };
    let texts: Option<Vec<&str>> = items.items()?.iter().map(Value::as_text).collect();
    let text = texts?.join(separator);
    (text.len() <= MAX_TEXT).then_some(Value::Text(text))
}

/// `len(of)`.
pub(super) fn length(of: &Datum) -> Option<Value> {
    let length = match of {
        Datum::Value(Value::Text(text)) => text.chars().count(),
        Datum::Value(value) => value.items()?.len(),
        Datum::Dict(dict) if !dict.is_partial => {
            let names: std::collections::BTreeSet<&str> = dict.fields.iter().map(|field| field.name.as_str()).collect();
            names.len()
        }
        _ => return None,
    };
    i64::try_from(length).ok().map(Value::Int)
}

/// `"template".format(...)` with `{}`, `{0}` and `{name}`, without format specifications.
pub(super) fn formatted(template: &str, positional: &[Fact], named: &Fields) -> Option<String> {
    let mut text = String::new();
    let mut next = 0;
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix(brace) {
            text.push_str(brace);
            rest = behind;
            continue;
        }
        let (name, behind) = rest.split_once('}').filter(|_| brace == "{")?;
        let fact = match name.parse::<usize>() {
            Ok(at) => positional.get(at)?,
            Err(_) if name.is_empty() => {
                next += 1;
                positional.get(next - 1)?
            }
            Err(_) => named.get(name)?,
        };
        text.push_str(&text_of(fact.as_value()?)?);
        rest = behind;
        if text.len() > MAX_TEXT {
            return None;
        }
    }
    text.push_str(rest);
    (text.len() <= MAX_TEXT).then_some(text)
}

/// `"template" % value` with `%s` and `%d`.
pub(super) fn percent(template: &str, value: &Value) -> Option<String> {
    let mut values = match value {
        Value::Tuple(items) => items.iter(),
        other => std::slice::from_ref(other).iter(),
    };
    let mut text = String::new();
    let mut letters = template.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => match letters.next()? {
                '%' => text.push('%'),
                's' => text.push_str(&text_of(values.next()?)?),
                'd' | 'i' => text.push_str(&values.next()?.as_int()?.to_string()),
                _ => return None,
            },
            other => text.push(other),
        }
        if text.len() > MAX_TEXT {
            return None;
        }
    }
    values.next().is_none().then_some(text)
}

/// The result of `json.dumps`, where it is known.
pub(super) fn json_text(datum: &Datum) -> Option<String> {
    match datum {
        Datum::Value(value) => json_of_value(value),
        Datum::Dict(dict) if !dict.is_partial => {
            // The last entry of a name wins, at the place of the first.
            let mut entries: Vec<(&str, String)> = Vec::new();
            for field in &dict.fields {
                let text = json_text(&field.fact.datum)?;
                match entries.iter_mut().find(|(name, _)| *name == field.name) {
                    Some(entry) => entry.1 = text,
                    None => entries.push((&field.name, text)),
                }
            }
            let entries: Vec<String> = entries
                .iter()
                .map(|(name, text)| format!("{}: {text}", json_of_text(name)))
                .collect();
            Some(format!("{{{}}}", entries.join(", ")))
        }
        _ => None,
    }
}

/// The value of JSON; objects are dictionaries with entries at a place.
pub(super) fn datum_of_json(json: &Json, range: TextRange) -> Datum {
    match json {
        Json::Object(object) => {
            let field = |(name, json): (&String, &Json)| Field {
                name: name.clone(),
                fact: Fact::plain(datum_of_json(json, range)).held(),
                range,
                path: Path::new(),
            };
            Datum::Dict(Rc::new(Fields {
                fields: object.iter().take(MAX_ITEMS).map(field).collect(),
                is_partial: object.len() > MAX_ITEMS,
            }))
        }
        other => Datum::Value(value_of(other)),
    }
}

fn json_of_value(value: &Value) -> Option<String> {
    match value {
        Value::Unset => Some("null".to_owned()),
        Value::Bool(is_true) => Some(is_true.to_string()),
        Value::Int(number) => Some(number.to_string()),
        Value::Text(text) => Some(json_of_text(text)),
        Value::List(items) | Value::Tuple(items) => {
            let items: Option<Vec<String>> = items.iter().map(json_of_value).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        Value::Set(_) => None,
        Value::Float(_) | Value::Python(_) => value.as_float().map(|number| format!("{number:?}")),
    }
}

/// Python escapes letters beyond ASCII.
fn json_of_text(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let mut ascii = String::with_capacity(quoted.len());
    for letter in quoted.chars() {
        if letter.is_ascii() {
            ascii.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                ascii.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    ascii
}
