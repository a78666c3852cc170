//! The value of a cell: for display, for files, and for sorting.

use std::borrow::Cow;
use std::fmt::Write as _;

use highwater_model::units::{Bytes, Nanos, grouped, percent_text};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Not stated by the source.
    Nothing,
    Text(Cow<'a, str>),
    /// Without a unit.
    Count(u64),
    Bytes(Bytes),
    Share {
        part: Bytes,
        whole: Bytes,
    },
    Time(Nanos),
    /// Hexadecimal.
    Address(u64),
}

impl<'a> Value<'a> {
    /// `Nothing` for an empty text.
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        let text = text.into();
        if text.is_empty() {
            Self::Nothing
        } else {
            Self::Text(text)
        }
    }

    pub(super) fn count(count: Option<u64>) -> Self {
        count.map_or(Self::Nothing, Self::Count)
    }

    /// For display: with units and grouped thousands.
    pub fn shown(&self) -> Cow<'_, str> {
        match self {
            Self::Nothing => Cow::Borrowed(""),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Count(count) => Cow::Owned(grouped(*count)),
            Self::Bytes(bytes) => Cow::Owned(bytes.to_string()),
            Self::Share { .. } => Cow::Owned(percent_text(self.fraction() * 100.0)),
            Self::Time(time) => Cow::Owned(time.to_string()),
            Self::Address(_) => self.raw(),
        }
    }

    /// Exact bytes or times, for tooltips.
    pub fn exact(&self) -> Option<String> {
        match self {
            Self::Bytes(bytes) => Some(bytes.exact()),
            Self::Share { part, whole } => Some(format!("{} of {}", part.exact(), whole.exact())),
            Self::Time(time) => Some(format!("{}\u{a0}ns", grouped(time.0))),
            Self::Nothing | Self::Text(_) | Self::Count(_) | Self::Address(_) => None,
        }
    }

    /// For files: plain digits in the unit of the column, shares as fractions.
    pub fn raw(&self) -> Cow<'_, str> {
        if let Self::Text(text) = self {
            return Cow::Borrowed(text);
        }
        let mut buffer = String::new();
        self.raw_in(&mut buffer);
        Cow::Owned(buffer)
    }

    /// As [`Self::raw`], without an allocation for each number: a number is written into `buffer`.
    pub fn raw_in<'b>(&'b self, buffer: &'b mut String) -> &'b str {
        buffer.clear();
        let written = match self {
            Self::Nothing => return "",
            Self::Text(text) => return text,
            Self::Count(number) | Self::Bytes(Bytes(number)) | Self::Time(Nanos(number)) => write!(buffer, "{number}"),
            Self::Share { .. } => write!(buffer, "{:.6}", self.fraction()),
            Self::Address(address) => write!(buffer, "{address:#x}"),
        };
        written.expect("writing to a string cannot fail");
        buffer
    }

    /// Sort key; `None` for texts and unstated values.
    pub(super) const fn number(&self) -> Option<u64> {
        match self {
            Self::Nothing | Self::Text(_) => None,
            Self::Count(number)
            | Self::Bytes(Bytes(number))
            | Self::Time(Nanos(number))
            | Self::Address(number)
            | Self::Share {
                part: Bytes(number), ..
            } => Some(*number),
        }
    }

    fn fraction(&self) -> f64 {
        match self {
            Self::Share { part, whole } => part.percent_of(*whole) / 100.0,
            _ => 0.0,
        }
    }
}
