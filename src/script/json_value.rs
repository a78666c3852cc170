//! Option values as JSON values.
//!
//! Values without a form in JSON are objects of one field: `{"tuple": [...]}`, `{"python": "expression"}`.

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
        Json::Object(fields) if fields.len() == 1 => match (fields.get("tuple"), fields.get("python")) {
            (Some(Json::Array(items)), _) => Value::Tuple(items.iter().map(value_of).collect()),
            (_, Some(Json::String(text))) => Value::Python(text.clone()),
            _ => text_of(json),
        },
        Json::Object(_) => text_of(json),
    }
}

/// Whether an object is the form of a tuple or an expression.
pub(super) fn is_expression(fields: &serde_json::Map<String, Json>) -> bool {
    fields.len() == 1 && (fields.contains_key("tuple") || fields.contains_key("python"))
}

fn text_of(json: &Json) -> Value {
    Value::Text(json.to_string())
}
