//! Options from a compiler's dump, as settings.
//!
//! In: keys and values as stamped on ops: `_precision_mode`, `ge.exec.atomicCleanPolicy`, `GE_USE_STATIC_MEMORY`. Out:
//! the settings that differ from the defaults, and the number of unknown keys. A leading underscore is the adapter's,
//! names are those of `parameter_map`, 0 and 1 are booleans too, and an empty value means unset. Of a key with several
//! values the one on most ops counts, the first on a tie. O(keys x rows).

use super::environment::{ENVIRONMENT, Environment};
use super::row::OptionRow;
use super::rows::TABLE;
use super::store::Options;
use super::value::Value;
use highwater_model::workload::DumpedOption;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpedSettings {
    /// Options that differ from their defaults.
    pub options: Options,
    pub environment: Environment,
    /// Keys of no known option or variable.
    pub n_unknown: u64,
    /// Values of the wrong type or out of range.
    pub n_refused: u64,
}

impl DumpedSettings {
    /// Whether nothing differs from the defaults.
    pub fn is_empty(&self) -> bool {
        self.options.is_empty() && self.environment.is_empty()
    }

    /// Command line arguments, in the order of the tables: `--set key=value`, `--env NAME=value`.
    pub fn arguments(&self) -> Vec<String> {
        let options = self
            .options
            .overrides()
            .map(|(key, value)| format!("--set {key}={value}"));
        let variables = self
            .environment
            .iter()
            .map(|(name, value)| format!("--env {name}={value}"));
        options.chain(variables).collect()
    }
}

pub fn dumped_settings(stamped: &[DumpedOption]) -> DumpedSettings {
    let mut settings = DumpedSettings::default();
    let mut rest = stamped;
    while let Some(first) = rest.first() {
        let n_same = rest.iter().take_while(|one| one.key == first.key).count();
        let (same, behind) = rest.split_at(n_same);
        rest = behind;
        let most = same.iter().map(|one| one.count).max();
        if let Some(one) = same.iter().find(|one| Some(one.count) == most) {
            settings.add(&one.key, &one.value);
        }
    }
    settings
}

impl DumpedSettings {
    fn add(&mut self, key: &str, text: &str) {
        let plain = key.strip_prefix('_').unwrap_or(key);
        if ENVIRONMENT.iter().any(|row| row.name == plain) {
            // 0 is the value of an unset switch.
            if !matches!(text, "" | "0") && self.environment.get(plain).is_none() {
                self.environment.set(plain, text);
            }
            return;
        }
        let Some(row) = row_of(plain) else {
            self.n_unknown += 1;
            return;
        };
        if text.is_empty() || self.options.is_set(row.key) {
            return;
        }
        match value_of(row, text) {
            None => self.n_refused += 1,
            Some(value) if value == row.default_value() => {}
            Some(value) => {
                let known = self.options.set(row.key, value);
                debug_assert!(known.is_ok(), "the row is of the table");
            }
        }
    }
}

/// The option of a stamped name: by its key, or by its name in the adapter's map.
fn row_of(name: &str) -> Option<&'static OptionRow> {
    let by_key = TABLE.iter().find(|row| row.key == name);
    by_key.or_else(|| TABLE.iter().find(|row| row.parameter_name() == name))
}

/// The value of a text; `None` where it is invalid for the option.
fn value_of(row: &OptionRow, text: &str) -> Option<Value> {
    let as_bool = match text {
        "0" => Some(Value::Bool(false)),
        "1" => Some(Value::Bool(true)),
        _ => None,
    };
    let read = Some(row.kind.read(text));
    [read, as_bool]
        .into_iter()
        .flatten()
        .find(|value| row.problem(value).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stamped: &[(&str, &str, u64)], expected: &[&str], counts: (u64, u64)) {
        let stamped: Vec<DumpedOption> = stamped
            .iter()
            .map(|(key, value, count)| DumpedOption {
                key: (*key).to_owned(),
                value: (*value).to_owned(),
                op: String::new(),
                count: *count,
            })
            .collect();
        let settings = dumped_settings(&stamped);
        assert_eq!(settings.arguments(), expected);
        assert_eq!((settings.n_unknown, settings.n_refused), counts);
    }

    #[test]
    fn stamped_values_are_settings_where_they_are_not_the_defaults() {
        check(&[], &[], (0, 0));
        check(
            &[
                ("GE_USE_STATIC_MEMORY", "2", 1),
                ("_atomic_clean_policy", "1", 3),
                ("_precision_mode", "", 3),
            ],
            &[
                "--set memory_config.atomic_clean_policy=1",
                "--env GE_USE_STATIC_MEMORY=2",
            ],
            (0, 0),
        );
        // Defaults are dropped; unknown keys and invalid values are counted.
        check(
            &[
                ("_atomic_clean_policy", "0", 3),
                ("_graph_run_mode", "seven", 1),
                ("_nobody_knows", "1", 1),
            ],
            &[],
            (1, 1),
        );
        // The value on most ops counts.
        check(
            &[("_atomic_clean_policy", "0", 3), ("_atomic_clean_policy", "1", 4)],
            &["--set memory_config.atomic_clean_policy=1"],
            (0, 0),
        );
        check(&[("_external_weight", "1", 2)], &["--set external_weight=True"], (0, 0));
    }
}
