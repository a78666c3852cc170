//! Fields of `parameter_map["name"]`: what protobuf stores in them, and which one the adapter reads.
//!
//! An entry is an `AttrValue` with the fields `b`, `i`, `f` and `s`. Protobuf takes `True` as 1 and any integer as a
//! truth value, and refuses texts for numbers with a `TypeError`. The adapter reads one field per option; the others
//! leave the option at its default.

use highwater_options::{Float, OptionKind, Value};

/// The effect of an assignment to a field.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Stored {
    Value(Value),
    /// The `TypeError` that protobuf raises, as the end of a sentence about the option.
    Refused(String),
    /// The field that the adapter reads instead.
    Unread(&'static str),
}

/// The field that the adapter reads of an option; `None` where highwater does not know, or more than one is met.
const fn field_of(kind: &OptionKind) -> Option<&'static str> {
    match kind {
        OptionKind::Bool => Some("b"),
        OptionKind::Int { .. } | OptionKind::IntChoice(_) => Some("i"),
        OptionKind::TextChoice(_)
        | OptionKind::Text
        | OptionKind::Names(_)
        | OptionKind::Path(_)
        | OptionKind::Bytes { .. } => Some("s"),
        OptionKind::Float { .. }
        | OptionKind::ShapeRange
        | OptionKind::List
        | OptionKind::Any
        | OptionKind::Object { .. } => None,
    }
}

/// Options that any value of an argument is kept of, although the adapter reads them as texts.
const TEXTS: [&str; 2] = ["graph_memory_max_size", "variable_memory_max_size"];

/// The field that the adapter reads of an option.
pub(in super::super) fn read_field(key: &str, kind: Option<&OptionKind>) -> Option<&'static str> {
    kind.and_then(field_of).or_else(|| TEXTS.contains(&key).then_some("s"))
}

/// Fields that older adapters read of an entry, with the releases. Source: tags of the adapter's repository.
const OLDER_FIELDS: [(&str, &str, &str); 1] = [(
    "jit_compile",
    "b",
    "adapters up to 6.3.RC2 read .b as True or False; since 7.0.RC1 the adapter refuses the session unless .s is auto, true or \
     false",
)];

/// What is said of a field that the adapter does not read.
pub(super) fn unread(key: &str, field: &str, read: &str) -> String {
    let older = OLDER_FIELDS
        .iter()
        .find(|(option, older, _)| *option == key && *older == field);
    match older {
        Some((_, _, releases)) => format!("{key} has the field .{field}: {releases}"),
        None => {
            format!("{key} keeps its default: the adapter reads the field .{read} of this entry, and .{field} is set")
        }
    }
}

/// Stores a value in a field of an entry of which the adapter reads the field `read`, where that is known.
pub(in super::super) fn stored(field: &str, value: &Value, read: Option<&'static str>) -> Stored {
    let Some(stored) = protobuf(field, value) else {
        let wanted = match field {
            "b" => "True or False",
            "i" => "an integer",
            "f" => "a number",
            _ => "bytes",
        };
        let is = value.quoted();
        return Stored::Refused(format!(
            "is {is}, for which protobuf raises a TypeError: the field .{field} takes {wanted}"
        ));
    };
    match read {
        Some(read) if read != field && matches!(field, "b" | "i" | "f" | "s") => Stored::Unread(read),
        _ => Stored::Value(stored),
    }
}

/// The value of a field after an assignment; `None` where Python raises a `TypeError`. Unknown fields keep the value.
fn protobuf(field: &str, value: &Value) -> Option<Value> {
    match (field, value) {
        ("b" | "i" | "f" | "s", Value::Python(_)) => Some(value.clone()),
        ("b", Value::Int(number)) => Some(Value::Bool(*number != 0)),
        ("b", Value::Bool(_)) | ("i", Value::Int(_)) | ("f", Value::Float(_)) | ("s", Value::Text(_)) => {
            Some(value.clone())
        }
        ("i", Value::Bool(is_on)) => Some(Value::Int(i64::from(*is_on))),
        #[expect(clippy::cast_precision_loss, reason = "as in Python")]
        ("f", Value::Int(number)) => Float::new(*number as f64).map(Value::Float),
        ("f", Value::Bool(is_on)) => Float::new(f64::from(u8::from(*is_on))).map(Value::Float),
        ("b" | "i" | "f" | "s", _) => None,
        _ => Some(value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: OptionKind = OptionKind::IntChoice(&[(2, "")]);

    #[test]
    fn fields_convert_as_protobuf_does() {
        let float = |number| Value::Float(Float::new(number).expect("finite"));
        let cases = [
            ("b", Value::Int(1), Some(Value::Bool(true))),
            ("b", Value::Bool(false), Some(Value::Bool(false))),
            ("i", Value::Bool(true), Some(Value::Int(1))),
            ("i", Value::from("4"), None),
            ("i", float(4.0), None),
            ("f", Value::Int(2), Some(float(2.0))),
            ("s", Value::Int(2), None),
            ("s", Value::from("2"), Some(Value::from("2"))),
        ];
        for (field, value, wanted) in cases {
            match (stored(field, &value, None), wanted) {
                (Stored::Value(found), Some(wanted)) => assert_eq!(found, wanted, ".{field} = {value:?}"),
                (Stored::Refused(_), None) => {}
                (found, wanted) => panic!(".{field} = {value:?}: {found:?} instead of {wanted:?}"),
            }
        }
    }

    #[test]
    fn the_adapter_reads_one_field() {
        let policy = read_field("static_memory_policy", Some(&POLICY));
        assert_eq!(stored("s", &Value::from("2"), policy), Stored::Unread("i"));
        assert_eq!(stored("b", &Value::Bool(true), policy), Stored::Unread("i"));
        assert_eq!(stored("i", &Value::Int(2), policy), Stored::Value(Value::Int(2)));
        let switch = read_field("dynamic_input", Some(&OptionKind::Bool));
        assert_eq!(stored("b", &Value::Int(1), switch), Stored::Value(Value::Bool(true)));
        let size = read_field("graph_memory_max_size", Some(&OptionKind::Any));
        assert_eq!(stored("i", &Value::Int(1), size), Stored::Unread("s"));
        assert_eq!(stored("s", &Value::from("1"), size), Stored::Value(Value::from("1")));
    }
}
