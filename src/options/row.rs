//! The row of one option: what the table holds, and what its kind means for texts and values.
//!
//! A kind reads texts without ever failing, and says what is wrong with a value in words that finish the
//! sentence "the option ...".

use std::fmt;

use crate::units::Bytes;

use super::value::{DefaultValue, Value};

/// The group under which an option is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// What runs, and where.
    Basic,
    /// Memory of the device.
    Memory,
    /// Mixed computing of host and device.
    MixedComputing,
    /// Numeric precision.
    Accuracy,
    /// Speed.
    Performance,
    /// highwater's own: the simulated device.
    Simulation,
}

impl Section {
    /// The heading.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Memory => "memory",
            Self::MixedComputing => "mixed computing",
            Self::Accuracy => "accuracy tuning",
            Self::Performance => "performance",
            Self::Simulation => "simulation",
        }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One allowed value and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice<T> {
    /// The value.
    pub value: T,
    /// What it means, in a few words.
    pub summary: &'static str,
}

/// The type of an option and the values it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `True` or `False`.
    Bool,
    /// An integer, both bounds included.
    Int {
        /// The smallest value allowed.
        min: i64,
        /// The largest value allowed.
        max: i64,
    },
    /// A size in bytes, both bounds included; texts may carry a unit.
    Bytes {
        /// The smallest value allowed.
        min: i64,
        /// The largest value allowed.
        max: i64,
    },
    /// One of several integers.
    IntChoice(&'static [Choice<i64>]),
    /// One of several texts, compared exactly.
    TextChoice(&'static [Choice<&'static str>]),
    /// Any text.
    Text,
    /// The path of a file or directory.
    Path,
}

/// One option as users meet it.
#[derive(Clone, Copy, Debug)]
pub struct OptionRow {
    /// The name, with a dot where it belongs to a group: `memory_config.static_memory_policy`.
    pub key: &'static str,
    /// The group it is shown under.
    pub section: Section,
    /// Its type and allowed values.
    pub kind: OptionKind,
    /// What holds where it is not set.
    pub default: DefaultValue,
    /// The unit of its number, such as `bytes`; `None` for plain numbers and everything else.
    pub unit: Option<&'static str>,
    /// One sentence.
    pub summary: &'static str,
    /// A few sentences: what it does, what to mind.
    pub details: &'static str,
    /// The version that brought it, where known.
    pub since: Option<&'static str>,
    /// Whether and since when it should not be used any more.
    pub deprecated: Option<&'static str>,
    /// What to use instead of a deprecated option.
    pub replaced_by: Option<&'static str>,
    /// What it does to the memory that is simulated here.
    pub memory_effect: &'static str,
    /// The rule that reports a value of the wrong type or out of range.
    pub rule: &'static str,
    /// Whether a number out of range acts as the nearest allowed one, instead of as the default.
    pub is_clamped: bool,
    /// Where the facts come from.
    pub source: &'static str,
}

impl OptionRow {
    /// The name without its group.
    pub fn short_key(&self) -> &'static str {
        self.key.rsplit_once('.').map_or(self.key, |(_, last)| last)
    }

    /// The default as a value.
    pub fn default_value(&self) -> Value {
        self.default.value()
    }

    /// What is wrong with a value; `None` where nothing is. No value and the default are always right.
    pub fn problem(&self, value: &Value) -> Option<String> {
        if *value == Value::Unset || *value == self.default_value() {
            return None;
        }
        self.kind.problem(value)
    }

    /// The value that acts: the value itself where it is right, else the nearest allowed number
    /// (options that clamp) or the default.
    pub fn acting(&self, value: &Value) -> Value {
        if self.problem(value).is_none() {
            return value.clone();
        }
        match (self.is_clamped, self.kind.range(), value) {
            (true, Some((min, max)), Value::Int(number)) => Value::Int((*number).clamp(min, max)),
            _ => self.default_value(),
        }
    }
}

impl OptionKind {
    /// The type's name: `bool`, `int`, `bytes`, `str` or `path`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int { .. } | Self::IntChoice(_) => "int",
            Self::Bytes { .. } => "bytes",
            Self::TextChoice(_) | Self::Text => "str",
            Self::Path => "path",
        }
    }

    /// Smallest and largest number allowed, where there are such bounds.
    pub const fn range(&self) -> Option<(i64, i64)> {
        match self {
            Self::Int { min, max } | Self::Bytes { min, max } => Some((*min, *max)),
            _ => None,
        }
    }

    /// The allowed values with their meanings, where they are a list.
    pub fn choices(&self) -> Vec<(Value, &'static str)> {
        match self {
            Self::IntChoice(choices) => choices.iter().map(|c| (Value::Int(c.value), c.summary)).collect(),
            Self::TextChoice(choices) => choices.iter().map(|c| (Value::from(c.value), c.summary)).collect(),
            _ => Vec::new(),
        }
    }

    /// Reads a text as this kind. A text that does not fit is kept as it is.
    pub fn read(&self, text: &str) -> Value {
        let trimmed = text.trim();
        let kept = || Value::from(text);
        match self {
            Self::Bool => match trimmed {
                "True" | "true" | "1" => Value::Bool(true),
                "False" | "false" | "0" => Value::Bool(false),
                _ => trimmed.parse().map_or_else(|_| kept(), Value::Int),
            },
            Self::Int { .. } | Self::IntChoice(_) => trimmed.parse().map_or_else(|_| kept(), Value::Int),
            Self::Bytes { .. } => size(trimmed).map_or_else(kept, Value::Int),
            Self::TextChoice(_) | Self::Text | Self::Path => kept(),
        }
    }

    /// Brings a value into the form this kind keeps: sizes written as texts with a unit become bytes.
    /// Any other value stays what it is.
    pub fn normalised(&self, value: Value) -> Value {
        match (self, value) {
            (Self::Bytes { .. }, Value::Text(text)) => size(text.trim()).map_or(Value::Text(text), Value::Int),
            (_, value) => value,
        }
    }

    /// What is wrong with a value, as the end of a sentence; `None` where nothing is.
    fn problem(&self, value: &Value) -> Option<String> {
        let is = value.quoted();
        match (self, value) {
            (Self::Bool, Value::Bool(_)) | (Self::Text | Self::Path, Value::Text(_)) => None,
            (Self::Bool, _) => Some(format!("is {is}, not a bool: write True or False")),
            (Self::Int { min, max }, Value::Int(number)) => {
                (number < min || number > max).then(|| format!("is {is}: use {}", between(*min, *max, "")))
            }
            (Self::Bytes { min, max }, Value::Int(number)) => {
                (number < min || number > max).then(|| format!("is {is}: use {}", between(*min, *max, " bytes")))
            }
            (Self::Int { min, max }, _) => {
                let range = between(*min, *max, "");
                Some(format!("is {is}, not an integer: use {range}"))
            }
            (Self::Bytes { .. }, _) => Some(format!(
                "is {is}, not a size: write bytes (1048576) or a unit (512MiB, 32GiB)"
            )),
            (Self::IntChoice(choices), Value::Int(number)) if choices.iter().any(|c| c.value == *number) => None,
            (Self::IntChoice(_), Value::Int(_)) => Some(format!("is {is}: use {}", self.listed())),
            (Self::IntChoice(_), _) => Some(format!("is {is}, not an integer: use {}", self.listed())),
            (Self::TextChoice(choices), Value::Text(text)) if choices.iter().any(|c| c.value == text) => None,
            (Self::TextChoice(_), _) => Some(format!("is {is}: use {}", self.listed())),
            (Self::Text | Self::Path, _) => Some(format!("is {is}, not a text: put it in quotes")),
        }
    }

    /// The allowed values as an English list: `0, 1 or 2`.
    pub fn listed(&self) -> String {
        let names: Vec<String> = self.choices().iter().map(|(value, _)| value.to_string()).collect();
        match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => String::new(),
        }
    }
}

/// A size in bytes: an integer (perhaps negative, which the range refuses), or digits with a unit.
fn size(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| {
        let bytes = Bytes::parse(text).ok()?;
        i64::try_from(bytes.get()).ok()
    })
}

fn between(min: i64, max: i64, unit: &str) -> String {
    if max == i64::MAX {
        format!("{min}{unit} or more")
    } else {
        format!("{min} to {max}{unit}")
    }
}
