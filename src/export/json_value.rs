//! Option values as JSON values.

use serde_json::Value as Json;

use crate::options::Value;

/// The JSON form: `null`, a bool, an integer or a text.
pub fn json_of(value: &Value) -> Json {
    match value {
        Value::Unset => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(value) => Json::from(*value),
        Value::Text(text) => Json::from(text.as_str()),
    }
}

/// The option value of a JSON value. What no option can hold (fractions, lists, objects, integers beyond 64
/// bits) becomes its text, so that the rules report it.
pub fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Unset,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => Value::Text(text.clone()),
        Json::Number(number) => number
            .as_i64()
            .map_or_else(|| Value::Text(number.to_string()), Value::Int),
        Json::Array(_) | Json::Object(_) => Value::Text(json.to_string()),
    }
}
