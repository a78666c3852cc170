//! Scalars as texts, numbers and flags.

use super::{DAMAGED, Scalar, TextProto, literal};
use crate::ImportError;

impl TextProto<'_> {
    /// Reads a string of at most `limit` bytes, or a word as text; invalid UTF-8 is replaced.
    pub(crate) fn text(&mut self, limit: usize) -> Result<String, ImportError> {
        let place = self.place;
        match self.scalar(limit)? {
            Scalar::Text(bytes, length) if length <= limit as u64 => Ok(String::from_utf8_lossy(bytes).into_owned()),
            Scalar::Text(_, length) => Err(ImportError::at(
                format!(
                    "\"{}\" is a string of {length} bytes, more than the {limit} that are read",
                    self.name
                ),
                place.text(),
                DAMAGED,
            )),
            Scalar::Word(word) => Ok(word.to_owned()),
        }
    }

    /// Reads a whole number: decimal, hexadecimal or octal; numbers above the largest `i64` keep their 64 bits.
    pub(crate) fn int(&mut self) -> Result<i64, ImportError> {
        let number = match self.scalar(0)? {
            Scalar::Word(word) => literal::int(word),
            Scalar::Text(..) => None,
        };
        number.ok_or_else(|| self.wrong("a whole number of 64 bits"))
    }

    /// Reads `true`, `false`, `t`, `f`, `1` or `0`.
    pub(crate) fn flag(&mut self) -> Result<bool, ImportError> {
        let flag = match self.scalar(0)? {
            Scalar::Word("true" | "True" | "t" | "1") => Some(true),
            Scalar::Word("false" | "False" | "f" | "0") => Some(false),
            _ => None,
        };
        flag.ok_or_else(|| self.wrong("true or false"))
    }

    /// Reads a number with or without fraction: also `inf`, `nan`, and a final `f`.
    pub(crate) fn float(&mut self) -> Result<f64, ImportError> {
        let number = match self.scalar(0)? {
            Scalar::Word(word) => literal::float(word),
            Scalar::Text(..) => None,
        };
        number.ok_or_else(|| self.wrong("a number"))
    }

    pub(crate) fn wrong(&self, expected: &str) -> ImportError {
        let what = format!("field \"{}\" is not {expected}", self.name);
        ImportError::at(what, self.place.text(), DAMAGED)
    }
}
