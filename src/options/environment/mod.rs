//! Environment variables of the simulated session, as data; the process environment is never read here.

mod rows;

use std::collections::{BTreeMap, BTreeSet};

use super::kind::Choice;
use super::store::Origin;

pub use rows::*;

#[derive(Clone, Copy, Debug)]
pub struct EnvironmentRow {
    pub name: &'static str,
    pub summary: &'static str,
    /// A few sentences: effect and caveats.
    pub details: &'static str,
    /// Which takes precedence where an option differs.
    pub precedence: &'static str,
    /// Allowed values with their meanings; empty where any text is allowed.
    pub choices: &'static [Choice<&'static str>],
    pub source: &'static str,
}

impl EnvironmentRow {
    pub fn affects_memory(&self) -> bool {
        matches!(self.name, GE_USE_STATIC_MEMORY | ASCEND_DEVICE_ID | DEVICE_ID)
    }
}

/// Variables and their texts in the simulated session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// Variables whose value is computed at run time.
    unread: BTreeSet<String>,
    /// Of variables that a script leaves open in part.
    origins: BTreeMap<String, Origin>,
}

impl Environment {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn set(&mut self, name: &str, text: &str) {
        self.remove(name);
        self.variables.insert(name.to_owned(), text.to_owned());
    }

    /// Sets a variable whose value is computed at run time.
    pub fn set_unread(&mut self, name: &str) {
        self.remove(name);
        self.unread.insert(name.to_owned());
    }

    /// Says what a script leaves open about a variable, until it is set again or removed.
    pub fn set_origin(&mut self, name: &str, origin: Origin) {
        self.origins.insert(name.to_owned(), origin);
    }

    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.origins.get(name)
    }

    pub fn remove(&mut self, name: &str) {
        self.variables.remove(name);
        self.unread.remove(name);
        self.origins.remove(name);
    }

    /// `None` also where the value is computed at run time.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Whether the variable is set to a non-empty text (the engine treats an empty one as unset) or computed at run
    /// time.
    pub fn is_set(&self, name: &str) -> bool {
        self.is_unread(name) || self.get(name).is_some_and(|text| !text.is_empty())
    }

    /// Whether the value is computed at run time.
    pub fn is_unread(&self, name: &str) -> bool {
        self.unread.contains(name)
    }

    /// Names of all variables, also of those that are set to nothing or computed at run time.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let known = self.variables.keys().chain(&self.unread);
        known.map(String::as_str)
    }

    /// By name, without those computed at run time.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Names of variables that are computed at run time.
    pub fn unread(&self) -> impl Iterator<Item = &str> {
        self.unread.iter().map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.unread.is_empty()
    }

    /// Takes over every variable of `other`, which takes precedence.
    pub fn extend(&mut self, other: &Self) {
        for (name, text) in &other.variables {
            self.set(name, text);
        }
        for name in &other.unread {
            self.set_unread(name);
        }
        self.origins.extend(other.origins.clone());
    }
}
