//! GE's graph as JSON, which `atc --mode=1 --om=MODEL.om --json=MODEL.json` writes of a compiled model, and `--mode=5` of a
//! text dump: turned into that text.
//!
//! ```text
//! {"graph": [{"name": "g", "op": [{"name": "a", "type": "Data", "output_desc": [{"dtype": "DT_FLOAT", "shape": {"dim": [4, 4]},
//!   "size": 96}], "output_i": [0], "attr": [{"key": "index", "value": {"i": 0}}]}]}], "attr": [...]}
//! ```
//! In: JSON, an op at a time. Out: text of protobuf, for the reader of that form. Names of fields may be in either style,
//! 64-bit numbers may be texts, and maps may be lists of key and value or objects, as the writers of protobuf have them. A
//! model may be within another's `model`. What comes first in an object does not matter: fields by which others are read
//! are put first. Texts longer than the reader keeps, such as kernels, are cut.

use std::fmt;
use std::io::BufReader;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::model::TEXT;
use crate::json_key::has_key;
use crate::json_stream::Counted;
use crate::{ImportError, Input};
use highwater_model::progress::Progress;

const AGAIN: &str = "write it again with `atc --mode=1 --om=MODEL.om --json=MODEL.json`";

/// Lists of objects that hold ops somewhere: they are read item by item.
const LEVELS: [&str; 3] = ["model", "graph", "op"];

/// Fields whose values are whole numbers even where they are written as texts.
const NUMBERS: &[&str] = &[
    "dim",
    "dt",
    "i",
    "id",
    "output_i",
    "reuse_input_index",
    "size",
    "stream_id",
    "workspace",
    "workspace_bytes",
];

/// An object whose graph has ops, or that has ops with types itself.
pub(super) fn detect(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"{")
        && [
            "graph[].op",
            "model[].graph[].op",
            "model.graph[].op",
            "op[].type",
            "op[].output_desc",
        ]
        .iter()
        .any(|path| has_key(head, path))
}

/// The text of the model.
pub(super) fn as_text(input: &mut Input<'_>, progress: &Progress<'_>) -> Result<String, ImportError> {
    let len = input.len();
    let reader = BufReader::new(Counted::new(input.reader()?, len, progress));
    let mut json = serde_json::Deserializer::from_reader(reader);
    let mut text = String::new();
    let read = Level(&mut text).deserialize(&mut json).and_then(|()| json.end());
    read.map_err(|error| {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        match ImportError::of_json(&error, len) {
            ImportError::Malformed { what, place, .. } => ImportError::at(what, place, AGAIN),
            other => other,
        }
    })?;
    Ok(text)
}

/// A model, a graph, or a list of them; its fields go to the text.
struct Level<'t>(&'t mut String);

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let name = field_name(&key);
            if LEVELS.contains(&name.as_str()) {
                map.next_value_seed(Items {
                    name: &name,
                    text: self.0,
                })?;
            } else {
                write_field(self.0, &name, &map.next_value::<Value>()?);
            }
        }
        Ok(())
    }
}

/// The items of a list of models, graphs or ops, or the only one.
struct Items<'t> {
    name: &'t str,
    text: &'t mut String,
}

impl Items<'_> {
    fn again(&mut self) -> Items<'_> {
        Items {
            name: self.name,
            text: self.text,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object \"{}\" or a list of them", self.name)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(self.again())?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // The text has no level above a model.
        let is_inner = self.name != "model";
        if is_inner {
            self.text.push_str(self.name);
            self.text.push_str(" {\n");
        }
        if self.name == "op" {
            let mut op = serde_json::Map::new();
            while let Some((key, value)) = map.next_entry::<String, Value>()? {
                op.insert(key, value);
            }
            write_object(self.text, &op);
        } else {
            Level(self.text).visit_map(map)?;
        }
        if is_inner {
            self.text.push_str("}\n");
        }
        Ok(())
    }
}

/// `output_desc` of `outputDesc`; letters that no name has are dropped.
fn field_name(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    for letter in key.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
            name.push(letter.to_ascii_lowercase());
        } else if letter.is_ascii_alphanumeric() || letter == '_' {
            name.push(letter);
        }
    }
    name
}

/// Name and type say how other fields are read, so they come first.
fn write_object(text: &mut String, object: &serde_json::Map<String, Value>) {
    let is_first = |key: &str| matches!(key, "name" | "type" | "key");
    let fields = object.iter().filter(|(key, _)| is_first(key));
    for (key, value) in fields.chain(object.iter().filter(|(key, _)| !is_first(key))) {
        write_field(text, &field_name(key), value);
    }
}

fn write_field(text: &mut String, name: &str, value: &Value) {
    if name.is_empty() {
        return;
    }
    match value {
        Value::Null => {}
        Value::Array(items) => items.iter().for_each(|item| write_field(text, name, item)),
        Value::Object(object) if name == "attr" && !object.contains_key("key") => {
            for (key, value) in object {
                text.push_str("attr {\n");
                write_field(text, "key", &Value::String(key.clone()));
                write_field(text, "value", value);
                text.push_str("}\n");
            }
        }
        Value::Object(object) => {
            text.push_str(name);
            text.push_str(" {\n");
            write_object(text, object);
            text.push_str("}\n");
        }
        Value::String(string) if NUMBERS.contains(&name) && string.parse::<i64>().is_ok() => {
            text.push_str(&format!("{name}: {string}\n"));
        }
        Value::String(string) => {
            text.push_str(name);
            text.push_str(": \"");
            write_escaped(text, string);
            text.push_str("\"\n");
        }
        Value::Bool(_) | Value::Number(_) => text.push_str(&format!("{name}: {value}\n")),
    }
}

/// One byte more than is kept tells the reader that a text was cut.
fn write_escaped(text: &mut String, string: &str) {
    let mut length = 0;
    for letter in string.chars() {
        length += letter.len_utf8();
        match letter {
            '"' | '\\' => {
                text.push('\\');
                text.push(letter);
            }
            letter if letter.is_ascii_control() => text.push_str(&format!("\\x{:02x}", u32::from(letter))),
            letter => text.push(letter),
        }
        if length > TEXT {
            return;
        }
    }
}
