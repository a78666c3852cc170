//! The settings of the user: overrides only. Invariant: every stored key is a row of the table, and no stored value is
//! [`Value::Unset`].

use std::collections::BTreeMap;

use highwater_model::units::Bytes;

use super::rows::{TABLE, find};
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

    /// Sets an option to a typed value; [`Value::Unset`] resets it. A size may be a text with a unit.
    ///
    /// # Errors
    /// [`OptionError::UnknownKey`].
    pub fn set(&mut self, key: &str, value: Value) -> Result<(), OptionError> {
        let row = find(key).ok_or_else(|| unknown(key))?;
        self.store(row.key, row.kind.normalised(value));
        Ok(())
    }

    fn store(&mut self, key: &'static str, value: Value) {
        if value == Value::Unset {
            self.overrides.remove(key);
        } else {
            self.overrides.insert(key, value);
        }
    }

    /// Removes the override of an option; unknown keys are ignored.
    pub fn reset(&mut self, key: &str) {
        self.overrides.remove(key);
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.overrides.get(key)
    }

    /// The override or the default, as written; [`Value::Unset`] for unknown keys.
    pub fn effective(&self, key: &str) -> Value {
        match self.overrides.get(key) {
            Some(value) => value.clone(),
            None => find(key).map_or(Value::Unset, super::OptionRow::default_value),
        }
    }

    /// The effective value: an invalid value acts as its default, or clamped where the vendor clamps.
    pub fn acting(&self, key: &str) -> Value {
        find(key).map_or(Value::Unset, |row| row.acting(&self.effective(key)))
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
        match (self.overrides.get(key), find(key)) {
            (Some(value), Some(row)) => *value != row.default_value(),
            _ => false,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.overrides.is_empty()
    }

    /// Takes over every override of `other`, which takes precedence.
    pub fn extend(&mut self, other: &Self) {
        for (key, value) in &other.overrides {
            self.overrides.insert(key, value.clone());
        }
    }
}

fn unknown(key: &str) -> OptionError {
    OptionError::UnknownKey {
        key: key.to_owned(),
        nearest: nearest_key(key),
    }
}
