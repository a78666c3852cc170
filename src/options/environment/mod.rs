//! Environment variables that the rules and the policy read, as data: the process is never asked here.

mod rows;

use std::collections::{BTreeMap, BTreeSet};

use super::kind::Choice;

pub use rows::*;

/// One variable as users meet it.
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentRow {
    /// Its name.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// A few sentences: what it does, what to mind.
    pub details: &'static str,
    /// Which wins where an option says something else.
    pub precedence: &'static str,
    /// Its values with their meanings; empty where any text is allowed.
    pub choices: &'static [Choice<&'static str>],
    /// Where the facts come from.
    pub source: &'static str,
}

impl EnvironmentRow {
    /// Whether the variable changes what is simulated.
    pub fn affects_memory(&self) -> bool {
        matches!(self.name, GE_USE_STATIC_MEMORY | ASCEND_DEVICE_ID | DEVICE_ID)
    }
}

/// Variables and their texts, as the simulated session sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// Variables that are set to a text that only the run knows.
    unread: BTreeSet<String>,
}

impl Environment {
    /// No variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, text: &str) {
        self.unread.remove(name);
        self.variables.insert(name.to_owned(), text.to_owned());
    }

    /// Sets a variable to a text that only the run knows.
    pub fn set_unread(&mut self, name: &str) {
        self.variables.remove(name);
        self.unread.insert(name.to_owned());
    }

    /// Removes a variable.
    pub fn remove(&mut self, name: &str) {
        self.variables.remove(name);
        self.unread.remove(name);
    }

    /// The text of a variable; `None` also where only the run knows it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Whether the variable has a text that is not empty: to the engine an empty one is no variable. A text that only
    /// the run knows counts.
    pub fn is_set(&self, name: &str) -> bool {
        self.is_unread(name) || self.get(name).is_some_and(|text| !text.is_empty())
    }

    /// Whether the variable is set to a text that only the run knows.
    pub fn is_unread(&self, name: &str) -> bool {
        self.unread.contains(name)
    }

    /// The variables by name, those whose text only the run knows left out.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.unread.is_empty()
    }

    /// Takes over every variable of `other`, which wins.
    pub fn extend(&mut self, other: &Self) {
        for (name, text) in &other.variables {
            self.set(name, text);
        }
        for name in &other.unread {
            self.set_unread(name);
        }
    }
}
