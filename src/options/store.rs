//! `Options`: overrides by key, nothing else.

use std::collections::BTreeMap;

use super::row::{OptionKind, OptionRow};
use super::table::{TABLE, find};
use super::value::Value;
use crate::units::Bytes;

/// Overrides, in key order. A key that is not here has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    overrides: BTreeMap<&'static str, Value>,
}

/// A key that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no option \"{key}\"{hint}; `highwater options` lists them")]
pub struct OptionError {
    /// The key as given.
    pub key: String,
    hint: String,
}

impl OptionError {
    fn unknown(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            hint: nearest_key(key).map_or(String::new(), |near| format!(", did you mean \"{near}\"?")),
        }
    }
}

impl Options {
    /// Sets an option from text. A text that is not of the option's type is kept as text, for the rules to report.
    ///
    /// # Errors
    /// [`OptionError`] for an unknown key, with the nearest known one.
    pub fn set_text(&mut self, key: &str, text: &str) -> Result<(), OptionError> {
        let row = find(key).ok_or_else(|| OptionError::unknown(key))?;
        self.overrides.insert(row.key, parse(row, text));
        Ok(())
    }

    /// Sets an option.
    ///
    /// # Errors
    /// [`OptionError`] for an unknown key, with the nearest known one.
    pub fn set(&mut self, key: &str, value: Value) -> Result<(), OptionError> {
        let row = find(key).ok_or_else(|| OptionError::unknown(key))?;
        self.overrides.insert(row.key, value);
        Ok(())
    }

    /// Gives an option its default again.
    pub fn reset(&mut self, key: &str) {
        self.overrides.remove(key);
    }

    /// The override, if there is one.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.overrides.get(key)
    }

    /// The override, else the default; nothing for an unknown key.
    pub fn effective(&self, key: &str) -> Value {
        let default = || find(key).map_or(Value::UNSET, |row| row.default.clone());
        self.get(key).cloned().unwrap_or_else(default)
    }

    /// Whether there is an override.
    pub fn is_changed(&self, key: &str) -> bool {
        self.overrides.contains_key(key)
    }

    /// Overrides in key order.
    pub fn overrides(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.overrides.iter().map(|(key, value)| (*key, value))
    }
}

/// The value that a text means for a row.
fn parse(row: &OptionRow, text: &str) -> Value {
    let trimmed = text.trim();
    let number = || trimmed.parse::<i64>().ok().map(Value::Int);
    let parsed = match &row.kind {
        OptionKind::Bool => match trimmed {
            "true" | "True" | "1" => Some(Value::Bool(true)),
            "false" | "False" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        OptionKind::Int { .. } => number(),
        OptionKind::Bytes { .. } => number().or_else(|| {
            let bytes = Bytes::parse(trimmed).ok()?.get();
            i64::try_from(bytes).ok().map(Value::Int)
        }),
        OptionKind::Choice(choices) if choices.iter().any(|choice| choice.value.as_int().is_some()) => number(),
        OptionKind::Choice(_) => None,
    };
    parsed.unwrap_or_else(|| Value::text(trimmed))
}

/// The known key that differs least from a text, if it differs little. Ties: table order.
pub fn nearest_key(text: &str) -> Option<&'static str> {
    let last = |key: &'static str| key.rsplit('.').next().unwrap_or(key);
    let text = text.to_ascii_lowercase();
    let distance = |key: &'static str| edit_distance(&text, key).min(edit_distance(&text, last(key)));
    let nearest = TABLE.iter().map(|row| row.key).min_by_key(|key| distance(key))?;
    (distance(nearest) <= 1 + text.chars().count() / 4).then_some(nearest)
}

/// How many letters have to be added, removed or replaced. O(a * b), both cut at 200 letters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(200).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().take(200).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_keys_are_found() {
        assert_eq!(
            nearest_key("static_memory_polici"),
            Some("memory_config.static_memory_policy")
        );
        assert_eq!(nearest_key("Precision_mode"), Some("precision_mode"));
        assert_eq!(nearest_key("colour"), None);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
