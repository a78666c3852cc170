//! The row of one option.

use super::acts::{Acts, OptionSubject};
use super::files::{FileState, Files};
use super::kind::OptionKind;
use super::rows::{TABLE, keys};
use super::section::Section;
use super::store::Options;
use super::value::{DefaultValue, Value};

#[derive(Clone, Copy, Debug)]
pub struct OptionRow {
    /// With a dot where it belongs to a group: `memory_config.static_memory_policy`.
    pub key: &'static str,
    pub section: Section,
    pub kind: OptionKind,
    /// [`DefaultValue::Unset`] where the original's default is `None`.
    pub default: DefaultValue,
    /// The behaviour of the original where the option is `None` or unset: `1836`.
    pub unset_means: Option<&'static str>,
    /// The defaults in online inference (`graph_run_mode` 0) and in training (1), where they differ.
    pub by_run_mode: Option<[DefaultValue; 2]>,
    /// The unit of a number, such as `bytes`; `None` for plain numbers and everything else.
    pub unit: Option<&'static str>,
    /// One sentence without its full stop.
    pub summary: &'static str,
    /// A few sentences: effect and caveats.
    pub details: &'static str,
    /// The version that introduced it, where known.
    pub since: Option<&'static str>,
    /// Whether and since when it is deprecated.
    pub deprecated: Option<&'static str>,
    pub replaced_by: Option<&'static str>,
    /// Its effect on the simulated memory: "nothing", or how, starting with what changes.
    pub memory_effect: &'static str,
    /// The parameter of the engine that it sets; `None` where it does not affect the simulation.
    pub lowers_to: Option<&'static str>,
    /// Where it acts, if it affects memory.
    pub acts: Acts,
    /// Whether its effect is an assumption that no public source confirms.
    pub is_estimate: bool,
    /// The name in `custom_op.parameter_map[...]`, where it differs from the name without its group.
    pub parameter: Option<&'static str>,
    /// The rule that reports a value of the wrong type or out of range.
    pub rule: &'static str,
    /// A number accepted besides the values of the kind, and its effective value.
    pub also: Option<(i64, DefaultValue)>,
    /// Whether a number out of range acts as the nearest allowed one, instead of as the default.
    pub is_clamped: bool,
    pub source: &'static str,
}

impl OptionRow {
    /// The name without its group. Options of the engine keep their whole name.
    pub fn short_key(&self) -> &'static str {
        match (self.section, self.key.rsplit_once('.')) {
            (Section::Engine, _) | (_, None) => self.key,
            (_, Some((_, last))) => last,
        }
    }

    /// `memory_config`.
    pub fn group(&self) -> Option<&'static str> {
        match self.section {
            Section::Engine => None,
            _ => self.key.rsplit_once('.').map(|(group, _)| group),
        }
    }

    /// The name in `custom_op.parameter_map[...]`.
    pub fn parameter_name(&self) -> &'static str {
        self.parameter.unwrap_or_else(|| self.short_key())
    }

    pub fn default_value(&self) -> Value {
        self.default.value()
    }

    pub const fn affects_memory(&self) -> bool {
        self.lowers_to.is_some()
    }

    /// Whether it changes the bytes of the lanes of such a source, under these options.
    pub fn changes_memory(&self, subject: OptionSubject, options: &Options) -> bool {
        let Acts {
            on,
            changes_bytes,
            with,
        } = self.acts;
        let is_with = subject != OptionSubject::Graphs || with.is_empty() || with.iter().any(|key| options.is_set(key));
        self.affects_memory() && changes_bytes && on.contains(&subject) && is_with
    }

    /// Normalizes a value: sizes written as texts with a unit become bytes, numbers of the engine, which it takes as texts, numbers.
    pub(super) fn normalised(&self, value: Value) -> Value {
        match (self.section, &self.kind, value) {
            (Section::Engine, OptionKind::Int { .. } | OptionKind::IntChoice(_), Value::Text(text)) => {
                self.kind.read(&text)
            }
            (_, kind, value) => kind.normalised(value),
        }
    }

    /// The error of a value, as the end of a sentence; `None` where it is valid. `Unset` and the default are always
    /// valid.
    pub fn problem(&self, value: &Value) -> Option<String> {
        if *value == Value::Unset || *value == self.default_value() || self.acts_otherwise(value).is_some() {
            return None;
        }
        self.kind.problem(value)
    }

    /// The effective value of the number that is accepted besides the values of the kind.
    fn acts_otherwise(&self, value: &Value) -> Option<Value> {
        let (number, acting) = self.also?;
        (*value == Value::Int(number)).then(|| acting.value())
    }

    /// The effective value: an invalid one acts as the nearest allowed number (options that clamp) or as the default.
    pub fn acting(&self, value: &Value) -> Value {
        if let Some(acting) = self.acts_otherwise(value) {
            return acting;
        }
        if self.problem(value).is_none() {
            return match (&self.kind, value) {
                // `True` for a number is 1.
                (OptionKind::Int { .. } | OptionKind::IntChoice(_) | OptionKind::Bytes { .. }, Value::Bool(is_on)) => {
                    Value::Int(i64::from(*is_on))
                }
                // The value of an expression is unknown.
                (kind, Value::Python(_)) if !matches!(kind, OptionKind::Object { .. }) => self.default_value(),
                _ => value.clone(),
            };
        }
        match (self.is_clamped, self.kind.range(), value) {
            (true, Some((min, max)), Value::Int(number)) => Value::Int((*number).clamp(min, max)),
            _ => self.default_value(),
        }
    }
}

/// The beginning of the memory effect of options that are not simulated and change memory in reality.
const NOT_SIMULATED: &str = "not simulated";

/// The set options that change memory in reality and not here, in the order of the table: those that are not simulated, and those whose
/// file is not there.
pub fn without_effect(options: &Options, files: &dyn Files) -> Vec<&'static str> {
    let is_idle =
        |row: &OptionRow| row.memory_effect.starts_with(NOT_SIMULATED) || lacks_its_file(row.key, options, files);
    let rows = TABLE.iter().filter(|row| options.is_set(row.key));
    rows.filter(|row| is_idle(row)).map(|row| row.key).collect()
}

/// Options that act through the content of the file that they name.
const OF_A_FILE: &[&str] = &[keys::CUSTOMIZE_DTYPES, keys::MODIFY_MIXLIST];

/// Whether an option names a file that is missing or cannot be read, so that nothing of it is simulated.
fn lacks_its_file(key: &str, options: &Options, files: &dyn Files) -> bool {
    let named = options
        .get(key)
        .filter(|_| OF_A_FILE.contains(&key))
        .and_then(Value::as_text);
    named.is_some_and(|path| !matches!(files.look(path), FileState::File(_) | FileState::Unknown))
}
