//! Findings of rules, and fixes where they are unambiguous.

use highwater_model::diagnostics::Severity;

use super::environment::Environment;
use super::store::Options;
use super::value::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: &'static str,
    pub severity: Severity,
    /// The options and variables at fault: keys and names.
    pub options: Vec<String>,
    /// A sentence without its full stop that says what to do.
    pub message: String,
    /// Fixes that need no decision; often none.
    pub fixes: Vec<Fix>,
    pub source: &'static str,
}

/// Edits that fix a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The text of a button: `set iterations_per_loop to 1`.
    pub text: String,
    pub edits: Vec<Edit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Sets an option; [`Value::Unset`] resets it.
    Option { key: &'static str, value: Value },
    /// Sets an environment variable, or removes it (`None`).
    Variable { name: &'static str, text: Option<String> },
}

impl Finding {
    /// Adds a fix that sets one option, or resets it (`Unset`).
    pub fn set(&mut self, key: &'static str, value: impl Into<Value>) -> &mut Self {
        let value = value.into();
        self.fix(vec![Edit::Option { key, value }])
    }

    /// Adds a fix that resets options and removes variables, all at once.
    pub fn remove(&mut self, names: &[&'static str]) -> &mut Self {
        let edits = names.iter().map(|&name| match super::rows::find(name) {
            Some(row) => Edit::Option {
                key: row.key,
                value: Value::Unset,
            },
            None => Edit::Variable { name, text: None },
        });
        self.fix(edits.collect())
    }

    /// Adds a fix that sets one option and removes a variable that it replaces.
    pub fn replace(&mut self, variable: &'static str, key: &'static str, value: impl Into<Value>) -> &mut Self {
        let value = value.into();
        let unset = Edit::Variable {
            name: variable,
            text: None,
        };
        self.fix(vec![Edit::Option { key, value }, unset])
    }

    fn fix(&mut self, edits: Vec<Edit>) -> &mut Self {
        let texts: Vec<String> = edits.iter().map(Edit::text).collect();
        self.fixes.push(Fix {
            text: texts.join(" and "),
            edits,
        });
        self
    }

    pub fn unset_variable(&mut self, name: &'static str) -> &mut Self {
        self.remove(&[name])
    }
}

impl Edit {
    /// The option or the variable that it changes.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Option { key, .. } => key,
            Self::Variable { name, .. } => name,
        }
    }

    /// A part of a button's text.
    fn text(&self) -> String {
        match self {
            Self::Option { key, value } => {
                let short = super::rows::find(key).map_or(*key, super::row::OptionRow::short_key);
                match value {
                    Value::Unset => format!("unset {short}"),
                    value => format!("set {short} to {value}"),
                }
            }
            Self::Variable { name, text: None } => format!("unset {name}"),
            Self::Variable { name, text: Some(text) } => format!("set {name} to {text}"),
        }
    }
}

impl Fix {
    pub fn apply(&self, options: &mut Options, environment: &mut Environment) {
        for edit in &self.edits {
            match edit {
                Edit::Option { key, value } => {
                    // Cannot fail: keys of fixes are rows of the table; a test applies every fix.
                    drop(options.set(key, value.clone()));
                }
                Edit::Variable { name, text: Some(text) } => environment.set(name, text),
                Edit::Variable { name, text: None } => environment.remove(name),
            }
        }
    }
}
