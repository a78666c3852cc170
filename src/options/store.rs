//! The settings of the user: overrides only. Invariant: every stored key is a row of the table, and no stored value is
//! [`Value::Unset`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use highwater_model::units::Bytes;

use super::framework::{ChosenFramework, DefaultOrigin, Framework, OptionDefault};
use super::rows::{TABLE, find, keys};
use super::suggest::{nearest_key, unknown_key};
use super::value::Value;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    #[error("{}", unknown_key(key))]
    UnknownKey {
        key: String,
        /// The nearest known key, where one is near.
        nearest: Option<&'static str>,
    },
}

/// Overrides of the table's defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    overrides: BTreeMap<&'static str, Value>,
    /// Of overrides that a script leaves open in part.
    origins: BTreeMap<&'static str, Origin>,
    /// Folders of the scripts that the options come from.
    folders: BTreeSet<String>,
    /// Functions of [`CONTROL_FLOW_CALLS`] that the script calls.
    calls: BTreeSet<&'static str>,
    /// The framework that runs the graphs, which has defaults of options.
    framework: Option<ChosenFramework>,
}

/// Functions of TensorFlow 1 that change how control flow and variables are built; the last one does both.
pub const CONTROL_FLOW_CALLS: [&str; 3] = [
    "enable_control_flow_v2",
    "enable_resource_variables",
    "enable_v2_behavior",
];

/// What a script leaves open about a setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The setting holds only under this condition.
    pub condition: Option<Condition>,
    /// The value is an assumption, such as the default of a flag; as words after the name of the option.
    pub assumption: Option<String>,
}

/// A condition in a script that only the running script knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    /// From 1.
    pub line: usize,
    /// As in the script.
    pub text: String,
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.replace(char::is_control, " ");
        write!(formatter, "\"{text}\" (line {})", self.line)
    }
}

impl Options {
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an option from a text such as `2`, `True`, `128KiB` or `Host`. A text of the wrong type is kept and
    /// reported by [`super::check`]; `None` resets the option.
    ///
    /// # Errors
    /// [`OptionError::UnknownKey`].
    pub fn set_text(&mut self, key: &str, text: &str) -> Result<(), OptionError> {
        let row = find(key).ok_or_else(|| unknown(key))?;
        let value = if text == "None" {
            Value::Unset
        } else {
            row.kind.read(text)
        };
        self.store(row.key, value);
        Ok(())
    }

    /// Sets an option to a typed value; [`Value::Unset`] resets it. A size may be a text with a unit, a
    /// number of the engine is a text in its dictionaries.
    ///
    /// # Errors
    /// [`OptionError::UnknownKey`].
    pub fn set(&mut self, key: &str, value: Value) -> Result<(), OptionError> {
        let row = find(key).ok_or_else(|| unknown(key))?;
        self.store(row.key, row.normalised(value));
        Ok(())
    }

    fn store(&mut self, key: &'static str, value: Value) {
        self.origins.remove(key);
        if value == Value::Unset {
            self.overrides.remove(key);
        } else {
            self.overrides.insert(key, value);
        }
    }

    /// Removes the override of an option; unknown keys are ignored.
    pub fn reset(&mut self, key: &str) {
        self.origins.remove(key);
        self.overrides.remove(key);
    }

    /// Says what a script leaves open about an override, until it is set again. Ignored without an override.
    pub fn set_origin(&mut self, key: &str, origin: Origin) {
        if let Some((key, _)) = self.overrides.get_key_value(key) {
            self.origins.insert(key, origin);
        }
    }

    /// Adds a folder that relative paths may start from: that of a script, whose working directory is unknown.
    pub fn add_folder(&mut self, folder: &str) {
        self.folders.insert(folder.to_owned());
    }

    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str)
    }

    /// Says that the script calls a function of [`CONTROL_FLOW_CALLS`].
    pub fn add_call(&mut self, name: &'static str) {
        self.calls.insert(name);
    }

    pub fn has_call(&self, name: &str) -> bool {
        self.calls.contains(name)
    }

    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.origins.get(key)
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.overrides.get(key)
    }

    /// Says that a framework runs the graphs; its defaults act where nothing is set.
    pub fn set_framework(&mut self, framework: Option<ChosenFramework>) {
        self.framework = framework;
    }

    pub const fn framework(&self) -> Option<&ChosenFramework> {
        self.framework.as_ref()
    }

    fn framework_name(&self) -> Option<Framework> {
        self.framework.as_ref().map(|chosen| chosen.framework)
    }

    /// What an option acts as where it is not set, and who says so; `None` for unknown keys.
    pub fn default_of(&self, key: &str) -> Option<OptionDefault> {
        find(key).map(|row| row.default_under(self.framework_name()))
    }

    /// Whether a framework has a default for an option that is not set.
    pub(super) fn is_of_framework(&self, key: &str) -> bool {
        !self.is_set(key)
            && self
                .default_of(key)
                .is_some_and(|default| matches!(default.origin, DefaultOrigin::Framework(_)))
    }

    /// The defaults of the framework that act, in its order.
    pub fn framework_defaults(&self) -> Vec<(&'static str, OptionDefault)> {
        let row = self.framework_name().map(Framework::row);
        let defaults = row.map_or(&[][..], |row| row.defaults).iter().map(|(key, _)| *key);
        defaults
            .filter(|key| !self.is_set(key) && !self.is_set(field_of(key)))
            .filter_map(|key| Some((key, self.default_of(key)?)))
            .collect()
    }

    /// The override or the default, as written; [`Value::Unset`] for unknown keys.
    pub fn written(&self, key: &str) -> Value {
        match self.overrides.get(key) {
            Some(value) => value.clone(),
            None => self.default_of(key).map_or(Value::Unset, |default| default.value),
        }
    }

    /// The effective value: an invalid value acts as its default, or clamped where the vendor clamps.
    pub fn acting(&self, key: &str) -> Value {
        find(key).map_or(Value::Unset, |row| row.acting(&self.written(key)))
    }

    /// Whether the effective value is True.
    pub(super) fn is_on(&self, key: &str) -> bool {
        self.acting(key) == Value::Bool(true)
    }

    /// The effective text; empty for options without one.
    pub(super) fn text(&self, key: &str) -> String {
        self.acting(key).as_text().unwrap_or("").to_owned()
    }

    /// The effective number; `None` for options without one, or where it does not fit.
    pub(super) fn number<T: TryFrom<i64>>(&self, key: &str) -> Option<T> {
        T::try_from(self.acting(key).as_int()?).ok()
    }

    pub(super) fn bytes(&self, key: &str) -> Option<Bytes> {
        self.number(key).map(Bytes)
    }

    /// In the order of the table.
    pub fn overrides(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        TABLE
            .iter()
            .filter_map(|row| Some((row.key, self.overrides.get(row.key)?)))
    }

    /// Whether the user set the option, even to its default.
    pub fn is_set(&self, key: &str) -> bool {
        self.overrides.contains_key(key)
    }

    /// Whether the option differs from its default.
    pub fn is_changed(&self, key: &str) -> bool {
        match (self.overrides.get(key), self.default_of(key)) {
            (Some(value), Some(default)) => *value != default.value,
            _ => false,
        }
    }

    /// Whether nothing is set, and no framework has defaults.
    pub fn is_empty(&self) -> bool {
        self.overrides.is_empty() && self.framework.is_none()
    }

    /// Takes over every override of `other`, which takes precedence.
    pub fn extend(&mut self, other: &Self) {
        for (key, value) in &other.overrides {
            self.store(key, value.clone());
        }
        self.origins.extend(other.origins.clone());
        self.folders.extend(other.folders.iter().cloned());
        self.calls.extend(&other.calls);
        self.framework = other.framework.clone().or(self.framework.take());
    }
}

/// The adapter's option that acts before a framework's default of the engine.
fn field_of(key: &str) -> &str {
    match key {
        keys::ENGINE_STATIC_MEMORY_POLICY => keys::STATIC_MEMORY_POLICY,
        keys::ENGINE_ATOMIC_CLEAN_POLICY => keys::ATOMIC_CLEAN_POLICY,
        other => other,
    }
}

fn unknown(key: &str) -> OptionError {
    OptionError::UnknownKey {
        key: key.to_owned(),
        nearest: nearest_key(key),
    }
}
