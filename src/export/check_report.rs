//! The answer of `check`: findings and effective values, as JSON and as text.

use serde::Serialize;
use serde_json::{Value as Json, json};

use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::workload::SchedulePlan;
use highwater_options::{
    Condition, Environment, Files, Finding, GE_USE_STATIC_MEMORY, OptionDefault, Options, TABLE, Value,
    check_scheduled, effective_policy, effective_values, find, has_policy, is_policy_unknown, policy_conditions,
    policy_default, policy_depends_on,
};
use highwater_script::{NotFollowed, ScriptFacts, json_of};
use highwater_sim::StaticMemoryPolicy;

use super::answer::{Answer, Page, lines_blocks};
use super::json_parts::{condition_json, diagnostics_json, list};
use super::record::{Record, Rows, Value::Texts};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    pub findings: Vec<Finding>,
    /// Effective values, in the order of the table.
    pub effective: Vec<(String, Value)>,
    /// Options whose effective value is not their set value: name, set, effective.
    pub changed: Vec<(&'static str, Value, Value)>,
    pub policy: StaticMemoryPolicy,
    /// Whether a script computes the policy, so that it is unknown here.
    pub is_policy_unknown: bool,
    /// The conditions of a script under which the policy was set.
    pub policy_conditions: Vec<Condition>,
    /// Whether a policy is in force: not where all options are of frameworks without policies.
    pub has_policy: bool,
    /// Whether a script sets `GE_USE_STATIC_MEMORY` to an unknown value, which may combine with the policy.
    pub is_policy_open: bool,
    /// The default that selects the policy, where neither an option nor the variable does.
    pub policy_default: Option<OptionDefault>,
    /// Defaults of the framework that runs the graphs.
    pub framework_defaults: Vec<(&'static str, OptionDefault)>,
    /// Remarks on the files that were read.
    pub remarks: Diagnostics,
    /// Facts about the scripts among them.
    pub scripts: Vec<ScriptFacts>,
}

impl Answer for CheckReport {
    fn page(&self) -> Page {
        Page(lines_blocks(self.lines()))
    }

    fn json(&self) -> impl Serialize {
        let effective = self.effective.iter().map(|(key, value)| (key.clone(), json_of(value)));
        let configurations: Vec<&str> = self
            .scripts
            .iter()
            .flat_map(|script| &script.configurations)
            .map(String::as_str)
            .collect();
        let not_followed = self.scripts.iter().flat_map(|script| &script.not_followed);
        let not_followed = list(
            not_followed,
            |NotFollowed { lines, why }| json!({ "lines": lines, "why": why }),
        );
        let findings = Rows::new(&self.findings, |found| {
            let fixes = found.fixes.iter().map(|fix| fix.text.as_str());
            finding_record(found)
                .key("fixes", Texts(fixes.collect()))
                .key("source", found.source)
        });
        Record::new()
            .key("findings", findings)
            .key("effective", Json::Object(effective.collect()))
            .key("diagnostics", diagnostics_json(&self.remarks))
            .key("configurations", Texts(configurations))
            .key("not_followed", not_followed)
            .key("effective_policy_unknown", self.is_policy_unknown)
            .key(
                "effective_policy_depends_on",
                list(&self.policy_conditions, condition_json),
            )
            .key(
                "effective_policy_default",
                self.policy_default
                    .as_ref()
                    .map(|default| json!({"origin": default.origin.name(), "source": default.source})),
            )
            .key(
                "framework_defaults",
                list(&self.framework_defaults, |(option, default)| {
                    json!({
                        "option": option,
                        "value": json_of(&default.value),
                        "origin": default.origin.name(),
                        "source": default.source,
                    })
                }),
            )
    }
}

/// The first fields of a finding.
pub(super) fn finding_record(found: &Finding) -> Record<'_> {
    Record::new()
        .key("rule", found.rule)
        .key("severity", found.severity.name())
        .key("options", json!(found.options))
        .key("message", &found.message)
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
            is_policy_unknown: is_policy_unknown(options),
            policy_conditions: policy_conditions(options, environment),
            has_policy: has_policy(options, environment),
            is_policy_open: environment.is_unread(GE_USE_STATIC_MEMORY),
            policy_default: policy_default(options, environment),
            framework_defaults: options.framework_defaults(),
            remarks: Diagnostics::new(),
            scripts: Vec::new(),
        }
    }

    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter().map(|found| found.severity);
        let remarks = self.remarks.entries().iter().map(|remark| remark.severity);
        findings.chain(remarks).filter(|found| *found == severity).count()
    }

    /// One line per remark and finding, then changed values, the active policy and the counts.
    fn lines(&self) -> Vec<String> {
        let line =
            |severity: Severity, rule: &str, message: &str| format!("{:<7}  {rule:<4} {message}", severity.name());
        let remarks = self.remarks.entries().iter();
        let mut lines: Vec<String> = remarks
            .map(|remark| line(remark.severity, "file", &remark.message))
            .collect();
        lines.extend(self.scripts.iter().filter_map(choice));
        lines.extend(
            self.findings
                .iter()
                .map(|found| line(found.severity, found.rule, &found.message)),
        );
        let acts = |(name, set, acting): &(&str, Value, Value)| {
            let unit = match (unit_of(name), acting) {
                (Some(unit), Value::Int(_)) => format!(" {unit}"),
                _ => String::new(),
            };
            format!("{name} {set} acts as {acting}{unit}").replace(char::is_control, " ")
        };
        lines.extend(self.changed.iter().map(acts));
        lines.extend(self.framework_defaults.iter().map(|(key, default)| {
            let OptionDefault { value, origin, source } = default;
            format!("{key} {value} is the default of {origin} ({source})")
        }));
        lines.extend(self.has_policy.then(|| self.policy_line()));
        lines.push(format!(
            "{}, {}, {}",
            counted(self.count(Severity::Error), "error"),
            counted(self.count(Severity::Warning), "warning"),
            counted(self.count(Severity::Info), "note"),
        ));
        lines
    }

    fn policy_line(&self) -> String {
        let row = self.policy.row();
        let joined = if self.is_policy_open {
            format!(", combined with {GE_USE_STATIC_MEMORY} of the run")
        } else {
            String::new()
        };
        let policy = format!("{} ({}){joined}", row.number, row.label);
        let conditions = policy_depends_on(&self.policy_conditions);
        if self.is_policy_unknown {
            format!("active policy: unknown here, {policy} if unset{conditions}")
        } else {
            format!("active policy: {policy}{conditions}")
        }
    }
}

/// Which of several configurations a script's options are.
fn choice(script: &ScriptFacts) -> Option<String> {
    let taken: Vec<&str> = script
        .configurations
        .iter()
        .filter(|name| !script.left_out.contains(name))
        .map(String::as_str)
        .collect();
    (!script.left_out.is_empty()).then(|| {
        format!(
            "{} configurations; {} is used, --of chooses another: {}",
            script.configurations.len(),
            taken.join(" and "),
            script.left_out.join(", ")
        )
    })
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
