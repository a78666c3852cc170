//! Rules across options and environment: what is wrong, how bad it is, and what to do.
//!
//! A rule looks at effective values, but speaks only if at least one option or variable that it names was set.

use super::environment::Environment;
use super::rules::CHECKS;
use super::store::Options;
use super::value::Value;
use crate::diagnostics::Severity;

/// One rule.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its id, such as `R49`.
    pub rule: &'static str,
    /// The severities that it can speak with.
    pub severities: &'static [Severity],
    /// The options and variables that it names.
    pub options: &'static [&'static str],
    /// One sentence.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Looks at the facts.
    pub look: fn(&Facts<'_>, &mut Speaker<'_>),
}

/// What one rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The options and variables to look at, the most likely culprit first.
    pub options: Vec<String>,
    /// What is wrong and what to do; no final dot.
    pub message: String,
    /// Where the rule comes from.
    pub source: &'static str,
}

/// What rules look at.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Overrides.
    pub options: &'a Options,
    /// Environment variables.
    pub environment: &'a Environment,
}

impl Facts<'_> {
    /// The effective value of an option.
    pub fn value(&self, key: &str) -> Value {
        self.options.effective(key)
    }

    /// Whether an option or a variable was set.
    pub fn is_set(&self, name: &str) -> bool {
        self.options.is_changed(name) || self.environment.get(name).is_some()
    }
}

/// Collects what one rule says.
#[derive(Debug)]
pub struct Speaker<'a> {
    check: &'a Check,
    findings: &'a mut Vec<Finding>,
}

impl Speaker<'_> {
    /// Error, about the rule's own options.
    pub fn error(&mut self, message: String) {
        self.say(Severity::Error, message);
    }

    /// Warning, about the rule's own options.
    pub fn warning(&mut self, message: String) {
        self.say(Severity::Warning, message);
    }

    /// Information, about the rule's own options.
    pub fn info(&mut self, message: String) {
        self.say(Severity::Info, message);
    }

    fn say(&mut self, severity: Severity, message: String) {
        debug_assert!(
            self.check.severities.contains(&severity),
            "{} declares its severities",
            self.check.rule
        );
        self.findings.push(Finding {
            rule: self.check.rule,
            severity,
            options: self.check.options.iter().map(|name| (*name).to_owned()).collect(),
            message,
            source: self.check.source,
        });
    }
}

/// All findings, in the order of the rules.
pub fn check(options: &Options, environment: &Environment) -> Vec<Finding> {
    let facts = Facts { options, environment };
    let mut findings = Vec::new();
    for check in CHECKS {
        if check.options.iter().any(|name| facts.is_set(name)) {
            let mut speaker = Speaker {
                check,
                findings: &mut findings,
            };
            (check.look)(&facts, &mut speaker);
        }
    }
    findings
}
