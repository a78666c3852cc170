//! The row of one option: what the table holds about it.

use super::kind::OptionKind;
use super::section::Section;
use super::value::{DefaultValue, Value};

/// One option as users meet it.
#[derive(Clone, Copy, Debug)]
pub struct OptionRow {
    /// The name, with a dot where it belongs to a group: `memory_config.static_memory_policy`.
    pub key: &'static str,
    /// The group it is shown under.
    pub section: Section,
    /// Its type and allowed values.
    pub kind: OptionKind,
    /// What holds where it is not set; [`DefaultValue::Unset`] where the original's default is `None`.
    pub default: DefaultValue,
    /// What the original does where the option is `None` or not given, if its default is `None`: `1836`.
    pub unset_means: Option<&'static str>,
    /// The defaults in online inference (`graph_run_mode` 0) and in training (1), where they differ.
    pub by_run_mode: Option<[DefaultValue; 2]>,
    /// The unit of its number, such as `bytes`; `None` for plain numbers and everything else.
    pub unit: Option<&'static str>,
    /// One sentence without a final dot.
    pub summary: &'static str,
    /// A few sentences: what it does, what to mind.
    pub details: &'static str,
    /// The version that brought it, where known.
    pub since: Option<&'static str>,
    /// Whether and since when it should not be used any more.
    pub deprecated: Option<&'static str>,
    /// What to use instead of a deprecated option.
    pub replaced_by: Option<&'static str>,
    /// What it does to the memory that is simulated here: "nothing", or how, starting with what changes.
    pub memory_effect: &'static str,
    /// The parameter of the engine that it becomes; `None` where it does nothing to the simulation.
    pub lowers_to: Option<&'static str>,
    /// Whether its effect rests on an assumption that public facts do not settle.
    pub is_estimate: bool,
    /// The name in `custom_op.parameter_map[...]`, where it is not the name without its group.
    pub parameter: Option<&'static str>,
    /// The rule that reports a value of the wrong type or out of range.
    pub rule: &'static str,
    /// A number that is taken beside the values of the kind, and the value that it acts as here.
    pub also: Option<(i64, DefaultValue)>,
    /// Whether a number out of range acts as the nearest allowed one, instead of as the default.
    pub is_clamped: bool,
    /// Where the facts come from.
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

    /// The group that the option belongs to: `memory_config`.
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

    /// The default as a value.
    pub fn default_value(&self) -> Value {
        self.default.value()
    }

    /// Whether the option changes what is simulated.
    pub const fn affects_memory(&self) -> bool {
        self.lowers_to.is_some()
    }

    /// What is wrong with a value; `None` where nothing is. No value and the default are always right.
    pub fn problem(&self, value: &Value) -> Option<String> {
        if *value == Value::Unset || *value == self.default_value() || self.acts_otherwise(value).is_some() {
            return None;
        }
        self.kind.problem(value)
    }

    /// What the number that is taken beside the kind's values acts as.
    fn acts_otherwise(&self, value: &Value) -> Option<Value> {
        let (number, acting) = self.also?;
        (*value == Value::Int(number)).then(|| acting.value())
    }

    /// The value that acts: the value itself where it is right, else the nearest allowed number
    /// (options that clamp) or the default.
    pub fn acting(&self, value: &Value) -> Value {
        if let Some(acting) = self.acts_otherwise(value) {
            return acting;
        }
        if self.problem(value).is_none() {
            return match (&self.kind, value) {
                // `True` for a number is the number 1.
                (OptionKind::Int { .. } | OptionKind::IntChoice(_) | OptionKind::Bytes { .. }, Value::Bool(is_on)) => {
                    Value::Int(i64::from(*is_on))
                }
                // Nobody knows what a script computes.
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
