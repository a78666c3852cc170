//! Option values as JSON values.
//!
//! Values without a form in JSON are objects of one field: `{"set": [...]}`, `{"tuple": [...]}`, `{"python": "expression"}`.

use serde_json::{Value as Json, json};

use highwater_options::{Float, Value};

pub fn json_of(value: &Value) -> Json {
    match value {
        Value::Unset => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(value) => Json::from(*value),
        Value::Float(value) => Json::from(value.get()),
        Value::Text(text) => Json::from(text.as_str()),
        Value::List(items) => Json::Array(items.iter().map(json_of).collect()),
        Value::Set(items) => json!({ "set": items.iter().map(json_of).collect::<Vec<Json>>() }),
        Value::Tuple(items) => json!({ "tuple": items.iter().map(json_of).collect::<Vec<Json>>() }),
        Value::Python(text) => json!({ "python": text }),
    }
}

/// The option value of a JSON value. Other objects and integers beyond 64 bits become texts, so that the rules report them.
pub fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Unset,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => Value::Text(text.clone()),
        Json::Number(number) => match (number.as_i64(), number.is_f64()) {
            (Some(integer), _) => Value::Int(integer),
            (None, true) => number
                .as_f64()
                .and_then(Float::new)
                .map_or_else(|| text_of(json), Value::Float),
            (None, false) => text_of(json),
        },
        Json::Array(items) => Value::List(items.iter().map(value_of).collect()),
        Json::Object(fields) => match fields.iter().next() {
            _ if fields.len() != 1 => text_of(json),
            Some((name, Json::Array(items))) if name == "set" && !items.is_empty() => {
                Value::Set(items.iter().map(value_of).collect())
            }
            Some((name, Json::Array(items))) if name == "tuple" => Value::Tuple(items.iter().map(value_of).collect()),
            Some((name, Json::String(text))) if name == "python" => Value::Python(text.clone()),
            _ => text_of(json),
        },
    }
}

/// Whether an object is the form of a set, a tuple or an expression.
pub(super) fn is_expression(fields: &serde_json::Map<String, Json>) -> bool {
    fields.len() == 1 && ["set", "tuple", "python"].iter().any(|name| fields.contains_key(*name))
}

fn text_of(json: &Json) -> Value {
    Value::Text(json.to_string())
}
