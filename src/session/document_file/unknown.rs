//! Unknown fields of a file: taken aside when it is read, put back when it is written.
//!
//! Invariant: a field that is put back never replaces one that is written. Elements of lists are matched by a name (a path, a
//! hash), by equality, or, without a name, by position in a list of the same length.

use serde_json::{Map, Value as Json};

/// Fields that name an element of a list.
const NAMES: [&str; 4] = ["path", "sample", "sha256", "configuration"];

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Unknown {
    #[default]
    Nothing,
    /// Unknown fields, and unknown parts of known ones.
    Fields {
        whole: Map<String, Json>,
        within: Vec<(String, Self)>,
    },
    /// Known elements, each with its unknown part.
    Items(Vec<(Json, Self)>),
}

impl Unknown {
    /// The part of a value that the known one lacks.
    pub(super) fn between(read: &Json, known: &Json) -> Self {
        match (read, known) {
            (Json::Object(read), Json::Object(known)) => {
                let mut whole = Map::new();
                let mut within = Vec::new();
                for (key, value) in read {
                    match known.get(key).map(|known| Self::between(value, known)) {
                        None => drop(whole.insert(key.clone(), value.clone())),
                        Some(Self::Nothing) => {}
                        Some(inner) => within.push((key.clone(), inner)),
                    }
                }
                if whole.is_empty() && within.is_empty() {
                    return Self::Nothing;
                }
                Self::Fields { whole, within }
            }
            (Json::Array(read), Json::Array(known)) if read.len() == known.len() => {
                let pairs = read.iter().zip(known);
                let items: Vec<(Json, Self)> = pairs
                    .map(|(read, known)| (known.clone(), Self::between(read, known)))
                    .collect();
                if items.iter().all(|(_, inner)| *inner == Self::Nothing) {
                    return Self::Nothing;
                }
                Self::Items(items)
            }
            _ => Self::Nothing,
        }
    }

    /// Puts the unknown part back into a value that is written.
    pub(super) fn put_back(&self, written: &mut Json) {
        match (self, written) {
            (Self::Fields { whole, within }, Json::Object(written)) => {
                for (key, value) in whole {
                    written.entry(key.clone()).or_insert_with(|| value.clone());
                }
                for (key, inner) in within {
                    if let Some(value) = written.get_mut(key) {
                        inner.put_back(value);
                    }
                }
            }
            (Self::Items(items), Json::Array(written)) => {
                let is_as_long = items.len() == written.len();
                for (position, value) in written.iter_mut().enumerate() {
                    let same = items.get(position).filter(|(known, _)| known == value);
                    let same = same.or_else(|| {
                        items
                            .iter()
                            .find(|(known, _)| known == value || is_named_as(known, value))
                    });
                    let in_place = || items.get(position).filter(|_| is_as_long && !is_named(value));
                    if let Some((_, inner)) = same.or_else(in_place) {
                        inner.put_back(value);
                    }
                }
            }
            _ => {}
        }
    }
}

fn is_named(value: &Json) -> bool {
    NAMES.iter().any(|name| value.get(name).is_some())
}

fn is_named_as(known: &Json, value: &Json) -> bool {
    NAMES
        .iter()
        .any(|name| value.get(name).is_some() && value.get(name) == known.get(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Unknown;

    #[test]
    fn unknown_parts_come_back_where_they_belong() {
        let read = json!({
            "a": 1, "new": [1], "list": [{"path": "x", "more": 1}, {"path": "y", "more": 2}],
            "notes": [{"note": "n", "hue": 3}], "gone": {"b": 1}
        });
        let known = json!({
            "a": 1, "list": [{"path": "x"}, {"path": "y"}], "notes": [{"note": "n"}], "gone": {"b": 1}
        });
        let unknown = Unknown::between(&read, &known);
        let mut same = known.clone();
        unknown.put_back(&mut same);
        assert_eq!(same, read);
        // A source was taken away, a note was changed, a field went.
        let mut other = json!({"a": 2, "list": [{"path": "y"}], "notes": [{"note": "m"}]});
        unknown.put_back(&mut other);
        let expected = json!({
            "a": 2, "list": [{"path": "y", "more": 2}], "notes": [{"note": "m", "hue": 3}], "new": [1]
        });
        assert_eq!(other, expected);
        // Another source in the place of the first has nothing of it.
        let mut other = json!({"list": [{"path": "z"}, {"path": "y"}]});
        unknown.put_back(&mut other);
        assert_eq!(other["list"], json!([{"path": "z"}, {"path": "y", "more": 2}]));
        assert_eq!(Unknown::between(&known, &known), Unknown::Nothing);
    }
}
