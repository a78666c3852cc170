//! The answer of `highwater check`: findings and the values that act, as JSON and as text.

use serde_json::{Map, Value as Json, json};

use crate::diagnostics::Severity;
use crate::options::{Environment, Files, Finding, Options, Value, check, effective_policy, effective_values};
use crate::sim::StaticMemoryPolicy;

use super::json_value::json_of;

/// What was found in one configuration and environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// The findings, in the order of the rules.
    pub findings: Vec<Finding>,
    /// The values that act, in the order of the table.
    pub effective: Vec<(String, Value)>,
    /// The policy in force.
    pub policy: StaticMemoryPolicy,
}

impl CheckReport {
    /// Checks these settings.
    pub fn of(options: &Options, environment: &Environment, files: &dyn Files) -> Self {
        Self {
            findings: check(options, environment, files),
            effective: effective_values(options, environment, files),
            policy: effective_policy(options, environment),
        }
    }

    /// Whether a finding is an error.
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// Findings of one severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|found| found.severity == severity).count()
    }

    /// `{findings: [{rule, severity, options, message, source}], effective: {...}}`.
    pub fn to_json(&self) -> Json {
        let findings: Vec<Json> = self
            .findings
            .iter()
            .map(|found| {
                json!({
                    "rule": found.rule,
                    "severity": found.severity.name(),
                    "options": found.options,
                    "message": found.message,
                    "source": found.source,
                })
            })
            .collect();
        let effective: Map<String, Json> = self
            .effective
            .iter()
            .map(|(key, value)| (key.clone(), json_of(value)))
            .collect();
        json!({ "findings": findings, "effective": effective })
    }

    /// One line a finding, then the policy in force and the counts.
    pub fn to_text(&self) -> String {
        let mut lines: Vec<String> = self
            .findings
            .iter()
            .map(|found| format!("{:<7}  {:<4} {}", found.severity.name(), found.rule, found.message))
            .collect();
        let row = self.policy.row();
        lines.push(format!("policy in force: {} ({})", row.number, row.label));
        lines.push(format!(
            "{}, {}, {}\n",
            counted(self.count(Severity::Error), "error"),
            counted(self.count(Severity::Warning), "warning"),
            counted(self.count(Severity::Info), "note"),
        ));
        lines.join("\n")
    }
}

fn counted(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
