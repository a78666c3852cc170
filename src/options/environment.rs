//! The environment variables that matter, as a table, and a set of values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::row::Choice;
use super::value::Value;

/// The variable that is combined with `static_memory_policy`.
pub const GE_USE_STATIC_MEMORY: &str = "GE_USE_STATIC_MEMORY";

/// One variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentRow {
    /// Its name.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The whole explanation.
    pub details: &'static str,
    /// How it stands to options.
    pub precedence: &'static str,
    /// Values and meanings.
    pub choices: &'static [Choice],
    /// Where the facts come from.
    pub source: &'static str,
}

const fn text(value: &'static str, meaning: &'static str) -> Choice {
    Choice {
        value: Value::Text(Cow::Borrowed(value)),
        meaning,
    }
}

/// Every variable.
pub static ENVIRONMENT: &[EnvironmentRow] = &[EnvironmentRow {
    name: GE_USE_STATIC_MEMORY,
    summary: "the memory policy, as an environment variable; to be deprecated",
    details: "Takes the same values as static_memory_policy. The documents forbid to set both. The engine does not \
              notice: it combines the two, so that 2 in one and 3 in the other act as 4. Other values act as 0.",
    precedence: "combined with static_memory_policy: each can turn an expansion on, neither can turn one off",
    choices: &[
        text("0", "dynamic allocation"),
        text("1", "as 2"),
        text("2", "static expansion"),
        text("3", "dynamic expansion"),
        text("4", "static and dynamic expansion"),
    ],
    source: "GE_USE_STATIC_MEMORY reference; engine, graph_var_manager",
}];

/// Variables that are set, in name order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    values: BTreeMap<String, String>,
}

impl Environment {
    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
    }

    /// Removes a variable.
    pub fn remove(&mut self, name: &str) {
        self.values.remove(name);
    }

    /// The value, if it is set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Names and values in name order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
