//! The form of the option table.

use super::value::Value;

/// The part of the panel that an option stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Memory policies and weights.
    Memory,
    /// What kind of run it is.
    Basic,
    /// Mixed computing.
    Mixed,
    /// Precision.
    Accuracy,
    /// Speed.
    Performance,
    /// highwater's own.
    Simulation,
}

impl Section {
    /// The heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Memory => "Memory",
            Self::Basic => "Basic",
            Self::Mixed => "Mixed computing",
            Self::Accuracy => "Accuracy",
            Self::Performance => "Performance",
            Self::Simulation => "Simulation",
        }
    }
}

/// One value of a choice and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The value.
    pub value: Value,
    /// A few words.
    pub meaning: &'static str,
}

/// What values an option takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// True or False.
    Bool,
    /// A whole number in a range, both ends included.
    Int {
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// A number of bytes in a range, both ends included; texts may carry units.
    Bytes {
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// One of a list.
    Choice(&'static [Choice]),
}

impl OptionKind {
    /// The name in tables: `bool`, `int`, `bytes`, `choice`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int { .. } => "int",
            Self::Bytes { .. } => "bytes",
            Self::Choice(_) => "choice",
        }
    }

    /// Whether a value is of the type and in the range.
    pub fn accepts(&self, value: &Value) -> bool {
        match self {
            Self::Bool => matches!(value, Value::Bool(_)),
            Self::Int { min, max } | Self::Bytes { min, max } => {
                value.as_int().is_some_and(|number| (*min..=*max).contains(&number))
            }
            Self::Choice(choices) => choices.iter().any(|choice| choice.value == *value),
        }
    }

    /// What is accepted, as text: `0, 2, 3, 4`, `0..33554432`.
    pub fn range_text(&self) -> String {
        match self {
            Self::Bool => "true, false".to_owned(),
            Self::Int { min, max } | Self::Bytes { min, max } => format!("{min}..{max}"),
            Self::Choice(choices) => {
                let texts: Vec<String> = choices.iter().map(|choice| choice.value.to_string()).collect();
                texts.join(", ")
            }
        }
    }
}

/// One option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionRow {
    /// Its key: the option's name, nested ones with a dot.
    pub key: &'static str,
    /// Where the panel shows it.
    pub section: Section,
    /// What it takes.
    pub kind: OptionKind,
    /// The value where it is not set.
    pub default: Value,
    /// The unit of a number; empty where it has none.
    pub unit: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The whole explanation.
    pub details: &'static str,
    /// What it does to memory in this simulation.
    pub memory_effect: &'static str,
    /// The version it appeared in; empty where the sources do not tell.
    pub since: &'static str,
    /// Whether the vendor plans to remove it.
    pub deprecated: bool,
    /// The option to use instead; empty where there is none.
    pub replaced_by: &'static str,
    /// Where the facts come from.
    pub source: &'static str,
}
