//! Objects that several answers have as parts.

use serde_json::{Map, Value as Json, json};

use highwater_model::diagnostics::{Diagnostic, Diagnostics};
use highwater_options::Condition;
use highwater_sim::fold::ReservedParts;

/// The fields of an object, in its order, without those of `optional` that are null or empty.
pub(super) fn fields_of(object: Json, optional: &[&str]) -> Map<String, Json> {
    let Json::Object(mut fields) = object else {
        return Map::new();
    };
    let is_empty = |value: &Json| match value {
        Json::Null => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    };
    fields.retain(|name, value| !(optional.contains(&name.as_str()) && is_empty(value)));
    fields
}

/// The items as a list.
pub(super) fn list<T>(items: impl IntoIterator<Item = T>, json: impl FnMut(T) -> Json) -> Json {
    items.into_iter().map(json).collect()
}

/// Texts by name. A name that occurs again with another value gets a number, so that nothing is lost: `key`, `key (2)`, `key (3)`.
pub(super) fn numbered_object<'a>(pairs: impl Iterator<Item = (&'a str, Json)>) -> Json {
    let mut object = Map::new();
    for (key, value) in pairs {
        let mut name = key.to_owned();
        let mut number = 2;
        while object.get(&name).is_some_and(|known| *known != value) {
            name = format!("{key} ({number})");
            number += 1;
        }
        object.insert(name, value);
    }
    Json::Object(object)
}

pub(super) fn diagnostics_json(diagnostics: &Diagnostics) -> Json {
    entries_json(diagnostics.entries())
}

pub(super) fn entries_json<'a>(entries: impl IntoIterator<Item = &'a Diagnostic>) -> Json {
    list(entries, |entry| {
        json!({
            "severity": entry.severity.name(),
            "message": entry.message,
            "place": entry.place,
            "count": entry.count,
        })
    })
}

pub(super) fn condition_json(condition: &Condition) -> Json {
    json!({"condition": condition.text, "line": condition.line})
}

pub(super) fn refusal_json(rule: &str, message: &str, options: &[String]) -> Json {
    json!({"rule": rule, "message": message, "options": options})
}

pub(super) fn reserved_json(reserved: &ReservedParts) -> Json {
    json!({
        "features": reserved.features.get(),
        "weights": reserved.weights.get(),
        "variables": reserved.variables.get(),
        "io": reserved.io.get(),
    })
}

#[cfg(test)]
mod tests {
    use super::numbered_object;

    #[test]
    fn a_repeated_key_loses_nothing() {
        let pairs = [("a", "1"), ("a", "2"), ("b", "1"), ("a", "2"), ("a", "3")];
        let facts = numbered_object(pairs.into_iter().map(|(key, value)| (key, value.into())));
        assert_eq!(facts.to_string(), r#"{"a":"1","a (2)":"2","b":"1","a (3)":"3"}"#);
    }
}
