//! The answer of `check`: findings and effective values, as JSON and as text.

use serde_json::{Map, Value as Json, json};

use highwater_model::diagnostics::Severity;
use highwater_model::workload::SchedulePlan;
use highwater_options::{
    Environment, Files, Finding, GE_USE_STATIC_MEMORY, Options, TABLE, Value, check_scheduled, effective_policy,
    effective_values, find,
};
use highwater_sim::StaticMemoryPolicy;

use super::json_value::json_of;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    pub findings: Vec<Finding>,
    /// Effective values, in the order of the table.
    pub effective: Vec<(String, Value)>,
    /// Options whose effective value is not their set value: name, set, effective.
    pub changed: Vec<(&'static str, Value, Value)>,
    pub policy: StaticMemoryPolicy,
    /// Whether a script sets `GE_USE_STATIC_MEMORY` to an unknown value, which may combine with the policy.
    pub is_policy_open: bool,
}

impl CheckReport {
    pub fn of(options: &Options, environment: &Environment, files: &dyn Files) -> Self {
        Self::of_schedule(options, environment, files, &SchedulePlan::default())
    }

    pub fn of_schedule(options: &Options, environment: &Environment, files: &dyn Files, plan: &SchedulePlan) -> Self {
        let effective = effective_values(options, environment, files);
        Self {
            findings: check_scheduled(options, environment, files, plan),
            changed: changed(options, &effective),
            effective,
            policy: effective_policy(options, environment),
            is_policy_open: environment.is_unread(GE_USE_STATIC_MEMORY),
        }
    }

    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|found| found.severity == severity).count()
    }

    /// `{findings: [{rule, severity, options, message, fixes: [text], source}], effective: {...}}`.
    pub fn to_json(&self) -> Json {
        let findings: Vec<Json> = self
            .findings
            .iter()
            .map(|found| {
                let fixes: Vec<&str> = found.fixes.iter().map(|fix| fix.text.as_str()).collect();
                json!({
                    "rule": found.rule,
                    "severity": found.severity.name(),
                    "options": found.options,
                    "message": found.message,
                    "fixes": fixes,
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

    /// One line per finding, then changed values, the active policy and the counts.
    pub fn to_text(&self) -> String {
        let mut lines: Vec<String> = self
            .findings
            .iter()
            .map(|found| format!("{:<7}  {:<4} {}", found.severity.name(), found.rule, found.message))
            .collect();
        let acts = |(name, set, acting): &(&str, Value, Value)| {
            let unit = match (unit_of(name), acting) {
                (Some(unit), Value::Int(_)) => format!(" {unit}"),
                _ => String::new(),
            };
            format!("{name} {set} acts as {acting}{unit}").replace(char::is_control, " ")
        };
        lines.extend(self.changed.iter().map(acts));
        let row = self.policy.row();
        let joined = if self.is_policy_open {
            format!(", joined with what the run sets {GE_USE_STATIC_MEMORY} to")
        } else {
            String::new()
        };
        lines.push(format!("policy in force: {} ({}){joined}", row.number, row.label));
        lines.push(format!(
            "{}, {}, {}\n",
            counted(self.count(Severity::Error), "error"),
            counted(self.count(Severity::Warning), "warning"),
            counted(self.count(Severity::Info), "note"),
        ));
        lines.join("\n")
    }
}

fn unit_of(name: &str) -> Option<&'static str> {
    TABLE.iter().find(|row| row.short_key() == name)?.unit
}

/// Overrides with another effective value; refused overrides have no effect and are left out.
fn changed(options: &Options, effective: &[(String, Value)]) -> Vec<(&'static str, Value, Value)> {
    let differs = |set: &Value, effective: &Value| {
        let is_same_number = set.as_int().is_some() && set.as_int() == effective.as_int();
        set != effective && !is_same_number && !matches!(set, Value::Python(_))
    };
    options
        .overrides()
        .filter_map(|(key, set)| {
            let (_, acting) = effective.iter().find(|(name, _)| name == key)?;
            let row = find(key)?;
            let is_refused = row.problem(set).is_some() && !(row.is_clamped && set.as_int().is_some());
            (differs(set, acting) && !is_refused).then(|| (row.short_key(), set.clone(), acting.clone()))
        })
        .collect()
}

fn counted(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
