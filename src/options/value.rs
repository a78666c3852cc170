//! The value of an option: a bool, a whole number or a text.

use std::borrow::Cow;
use std::fmt;

/// A value. An option that is not set has the empty text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A text.
    Text(Cow<'static, str>),
}

impl Value {
    /// No value.
    pub const UNSET: Self = Self::Text(Cow::Borrowed(""));

    /// A text.
    pub fn text(text: &str) -> Self {
        Self::Text(Cow::Owned(text.to_owned()))
    }

    /// Whether it is the empty text.
    pub fn is_unset(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }

    /// The number, where it is one.
    pub const fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The bool, where it is one.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(fact) => Some(*fact),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    /// As it is written on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(fact) => f.write_str(if *fact { "true" } else { "false" }),
            Self::Int(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}
