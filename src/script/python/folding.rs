//! Texts from literals by functions of Python's library.

use highwater_options::Value;

use super::datum::{Datum, Fact, Fields, MAX_TEXT};

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
