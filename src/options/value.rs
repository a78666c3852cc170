//! Values of options, and defaults as constants.
//!
//! A [`Value`] says what the user wrote, not what the option wants: `iterations_per_loop = "abc"` is a
//! text value of an integer option, so that the rules can report it.

use std::fmt;

/// A value of an option.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// No value (`None` in a Python script): only ever a default, never an override.
    Unset,
    /// True or false.
    Bool(bool),
    /// An integer; bytes for options whose kind is a size.
    Int(i64),
    /// A text: a choice, a name, a path, or something that is not of the option's type.
    Text(String),
}

/// A default, as a constant of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// No value.
    Unset,
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A text.
    Text(&'static str),
}

impl DefaultValue {
    /// The default as a value.
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
    /// The integer, if it is one.
    pub const fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(value) => Some(value),
            _ => None,
        }
    }

    /// The value as it stands in a sentence: texts in quotes, so that `"2"` and `2` differ.
    pub fn quoted(&self) -> String {
        match self {
            Self::Text(text) => format!("\"{text}\""),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Value {
    /// The plain text that [`super::Options::set_text`] reads back: `True`, `42`, `Device`, `None`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Text(text) => f.write_str(text),
        }
    }
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
