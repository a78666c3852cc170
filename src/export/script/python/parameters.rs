//! Fields of `parameter_map["name"]`: what protobuf stores in them, and which one the adapter reads.
//!
//! An entry is an `AttrValue` with the fields `b`, `i`, `f` and `s`. Protobuf takes `True` as 1 and any integer as a
//! truth value, and refuses texts for numbers with a `TypeError`. The adapter reads one field per option; the others
//! leave the option at its default.

use highwater_options::{Float, OptionKind, Value};

/// What an assignment to a field does.
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
        OptionKind::TextChoice(_) | OptionKind::Text | OptionKind::Names(_) | OptionKind::Path(_) => Some("s"),
        OptionKind::Bytes { .. }
        | OptionKind::Float { .. }
        | OptionKind::ShapeRange
        | OptionKind::List
        | OptionKind::Any
        | OptionKind::Object { .. } => None,
    }
}

/// Stores a value in a field of an entry. `kind` is that of the entry's option, if it has one.
pub(in super::super) fn stored(field: &str, value: &Value, kind: Option<&OptionKind>) -> Stored {
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
    match kind.and_then(field_of) {
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
        assert_eq!(stored("s", &Value::from("2"), Some(&POLICY)), Stored::Unread("i"));
        assert_eq!(stored("b", &Value::Bool(true), Some(&POLICY)), Stored::Unread("i"));
        assert_eq!(stored("i", &Value::Int(2), Some(&POLICY)), Stored::Value(Value::Int(2)));
        assert_eq!(
            stored("b", &Value::Int(1), Some(&OptionKind::Bool)),
            Stored::Value(Value::Bool(true))
        );
    }
}
