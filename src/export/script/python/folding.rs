//! Texts that functions of Python's library make of literals.

use crate::options::Value;

use super::datum::Datum;

/// The text that `json.dumps` gives, where it can be told.
pub(super) fn json_text(datum: &Datum) -> Option<String> {
    match datum {
        Datum::Value(value) => json_of_value(value),
        Datum::Dict(dict) if !dict.is_partial => {
            // A later entry of the same name wins, at the place of the first.
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
        Value::Float(_) | Value::Python(_) => value.as_float().map(|number| format!("{number:?}")),
    }
}

/// Python writes what is not ASCII as escapes.
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
