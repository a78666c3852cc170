//! Values of options, and defaults as constants.
//!
//! A [`Value`] is what the user wrote: `iterations_per_loop = "abc"` is a text value of an integer option, so that the
//! rules can report it. Values include Python's literals, which the vendor's constructors take.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// No value (`None` in a Python script): only a default, never an override.
    Unset,
    Bool(bool),
    /// An integer; bytes for sizes.
    Int(i64),
    /// A number with a fraction.
    Float(Float),
    /// A text: a choice, a name, a path, or a value of the wrong type.
    Text(String),
    /// The originals distinguish lists, sets and tuples.
    List(Vec<Self>),
    /// A set that is not empty, in the order in which it was written.
    Set(Vec<Self>),
    Tuple(Vec<Self>),
    /// A Python expression that is no literal, verbatim: `DumpConfig(**settings)`.
    Python(String),
}

/// A finite number, totally ordered.
#[derive(Clone, Copy, Debug)]
pub struct Float(f64);

impl Float {
    /// `None` for infinities and NaN. Negative zero becomes zero.
    pub fn new(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self(number + 0.0))
    }

    pub const fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Float {}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Hash for Float {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl fmt::Display for Float {
    /// Always with a fraction or an exponent, so that it reads back as a float: `1.0`, `0.5`, `1e-9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// A default, as a constant of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultValue {
    Unset,
    Bool(bool),
    Int(i64),
    Text(&'static str),
}

impl DefaultValue {
    pub fn value(self) -> Value {
        match self {
            Self::Unset => Value::Unset,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::Text(value) => Value::Text(value.to_owned()),
        }
    }
}

impl Value {
    /// As in Python, `True` is 1.
    pub const fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Bool(value) => Some(*value as i64),
            _ => None,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "factors of an estimate")]
    pub const fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(value.get()),
            _ => match self.as_int() {
                Some(value) => Some(value as f64),
                None => None,
            },
        }
    }

    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(value) => Some(value),
            _ => None,
        }
    }

    /// The items of a list, a set or a tuple.
    pub fn items(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) | Self::Set(items) | Self::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// The value in a sentence: texts in quotes (single ones where the text has double ones), so that `"2"` and `2`
    /// differ.
    pub fn quoted(&self) -> String {
        match self {
            Self::Text(text) if text.contains('"') && !text.contains('\'') => format!("'{text}'"),
            Self::Text(text) => format!("\"{text}\""),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Value {
    /// The plain text that [`super::Options::set_text`] reads back: `True`, `42`, `Device`, `["a", "b"]`, `None`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(text) | Self::Python(text) => f.write_str(text),
            Self::List(items) => write!(f, "[{}]", listed(items)),
            Self::Set(items) => write!(f, "{{{}}}", listed(items)),
            Self::Tuple(items) if items.len() == 1 => write!(f, "({},)", listed(items)),
            Self::Tuple(items) => write!(f, "({})", listed(items)),
        }
    }
}

fn listed(items: &[Value]) -> String {
    let one = |item: &Value| match item {
        // Escaped, so that any text reads back.
        Value::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
        other => other.to_string(),
    };
    items.iter().map(one).collect::<Vec<String>>().join(", ")
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}
