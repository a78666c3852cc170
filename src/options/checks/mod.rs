//! The rules: errors and warnings about settings, across options and environment.
//!
//! A rule checks effective values, and runs only where the user set an option or variable that it names. Rules never
//! panic and never touch a disk: they do not report files that were not probed and values that a script computes. To
//! add a rule: a row and a function in the file of its topic; rows are sorted by id.

mod allocator;
mod aoe;
mod cache;
mod cluster;
mod companions;
mod data;
mod debugging;
mod deprecated;
mod device;
mod dump;
mod dynamic;
mod experiment;
mod files;
mod kinds;
mod memory;
mod pairs;
mod placement;
mod precision;
mod run_mode;
mod syntax;
mod weights;

pub use allocator::allocator_findings;

use std::collections::BTreeSet;

use highwater_model::diagnostics::Severity;
use highwater_model::workload::SchedulePlan;
use highwater_sim::StaticMemoryPolicy;

use super::environment::{Environment, GE_USE_STATIC_MEMORY};
use super::files::Files;
use super::finding::Finding;
use super::kind::OptionKind;
use super::policy::effective_policy;
use super::row::OptionRow;
use super::rows::{find, keys};
use super::store::{Condition, Options, Origin};
use super::value::Value;

/// One finding that a rule may report.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    pub severity: Severity,
    /// Its condition: one sentence.
    pub summary: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Such as `R49`; `K` rules are highwater's own.
    pub id: &'static str,
    /// The findings that it may report.
    pub outcomes: &'static [Outcome],
    /// The options (keys) and variables (names) that it checks.
    pub options: &'static [&'static str],
    pub source: &'static str,
    pub run: fn(&Facts<'_>, &mut Report<'_>),
}

impl Check {
    pub fn severities(&self) -> impl Iterator<Item = Severity> {
        self.outcomes.iter().map(|outcome| outcome.severity)
    }
}

/// The input of rules.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub options: &'a Options,
    pub environment: &'a Environment,
    pub files: &'a dyn Files,
    /// The effective policy.
    pub policy: StaticMemoryPolicy,
    /// `None` where the schedule is unknown.
    pub schedule: Option<&'a SchedulePlan>,
}

impl<'a> Facts<'a> {
    pub fn new(options: &'a Options, environment: &'a Environment, files: &'a dyn Files) -> Self {
        Self {
            options,
            environment,
            files,
            policy: effective_policy(options, environment),
            schedule: None,
        }
    }

    /// Whether the user set this option or variable.
    pub fn is_set(&self, name: &str) -> bool {
        self.options.is_set(name) || self.environment.is_set(name)
    }

    /// Whether a script computes the option, so that its value is unknown.
    fn is_computed(&self, key: &str) -> bool {
        matches!(self.options.get(key), Some(Value::Python(_)))
    }

    /// What a script leaves open about the setting.
    fn origin(&self, name: &str) -> Option<&'a Origin> {
        self.options.origin(name).or_else(|| self.environment.origin(name))
    }

    /// The condition of a script around the setting.
    fn condition(&self, name: &str) -> Option<&'a Condition> {
        self.origin(name)?.condition.as_ref()
    }

    /// Whether the value is an assumption, such as the default of a flag.
    fn is_assumed(&self, name: &str) -> bool {
        self.origin(name).is_some_and(|origin| origin.assumption.is_some())
    }

    /// The names that the user set.
    fn set_of(&self, names: &[&'static str]) -> Vec<&'static str> {
        names.iter().copied().filter(|name| self.is_set(name)).collect()
    }

    /// The effective number; 0 for options without one.
    fn int(&self, key: &str) -> i64 {
        self.options.number(key).unwrap_or(0)
    }

    /// The effective truth value.
    fn bool(&self, key: &str) -> bool {
        self.options.is_on(key)
    }

    /// The effective text; empty for options without one.
    fn text(&self, key: &str) -> String {
        self.options.text(key)
    }

    /// The error of an override by itself: "`iterations_per_loop` is 0: use 1 or more".
    fn problem(&self, key: &str) -> Option<String> {
        let row: &OptionRow = find(key)?;
        let problem = row.problem(self.options.get(key)?)?;
        Some(format!("{} {problem}", row.short_key()))
    }
}

/// Collects the findings of one rule.
#[derive(Debug)]
pub struct Report<'a> {
    check: &'static Check,
    findings: &'a mut Vec<Finding>,
}

impl Report<'_> {
    pub fn error(&mut self, options: &[&str], message: impl Into<String>) -> &mut Finding {
        self.push(Severity::Error, options, message.into())
    }

    pub fn warning(&mut self, options: &[&str], message: impl Into<String>) -> &mut Finding {
        self.push(Severity::Warning, options, message.into())
    }

    pub fn info(&mut self, options: &[&str], message: impl Into<String>) -> &mut Finding {
        self.push(Severity::Info, options, message.into())
    }

    /// Reports a value of the wrong type or out of range.
    fn own_kind(&mut self, facts: &Facts<'_>, key: &'static str) {
        self.own_kind_unless_idle(facts, key, None);
    }

    /// Reports such a value; as a warning where it has no effect unless the option `switch` is True.
    fn own_kind_unless_idle(&mut self, facts: &Facts<'_>, key: &'static str, switch: Option<&'static str>) {
        if let Some(message) = facts.problem(key) {
            let finding = self.error_unless_idle(facts, key, switch, message);
            if let Some(value) = near_value(facts, key).or_else(|| acting_value(facts, key)) {
                finding.set(key, value);
            }
        }
    }

    /// Reports that an option is used and not the variable of the same meaning, where both are set.
    fn overrides(&mut self, facts: &Facts<'_>, key: &'static str, variable: &'static str) {
        let is_given = facts.environment.is_unread(variable)
            || facts.environment.get(variable).is_some_and(|text| !text.is_empty());
        if is_given {
            let value = facts.options.written(key);
            self.info(
                &[key, variable],
                format!("{key}={value} is used, which overrides {variable}"),
            );
        }
    }

    /// Reports an error in the value of `key`; as a warning where it has no effect unless `switch` is True.
    fn error_unless_idle(
        &mut self,
        facts: &Facts<'_>,
        key: &'static str,
        switch: Option<&'static str>,
        message: String,
    ) -> &mut Finding {
        match switch.filter(|switch| !facts.bool(switch)) {
            None => self.error(&[key], message),
            Some(switch) => {
                let name = find(switch).map_or(switch, OptionRow::short_key);
                self.warning(&[key], format!("{message}; it applies only when {name} is True"))
            }
        }
    }

    fn push(&mut self, severity: Severity, options: &[&str], message: String) -> &mut Finding {
        // Values and files may contain control characters; a finding is one line.
        let message = if message.contains(char::is_control) {
            message.replace(char::is_control, " ")
        } else {
            message
        };
        self.findings.push_mut(Finding {
            rule: self.check.id,
            severity,
            options: options.iter().map(|&name| name.to_owned()).collect(),
            message,
            fixes: Vec::new(),
            source: self.check.source,
        })
    }
}

/// The valid value that an invalid one resembles: `"10"` for the number 10, `host` for `Host`, `True` for `true`.
fn near_value(facts: &Facts<'_>, key: &str) -> Option<Value> {
    let row = find(key)?;
    let value = facts.options.get(key)?;
    let text = value.to_string();
    let named = row
        .kind
        .choices()
        .into_iter()
        .map(|(choice, _)| choice)
        .find(|choice| choice.to_string().eq_ignore_ascii_case(text.trim()));
    let near = match value {
        // Programs and Python accept 0 and 1 as truth values, but the adapter does not.
        Value::Int(number @ 0..=1) if row.kind == OptionKind::Bool => Value::Bool(*number == 1),
        Value::Text(text) => named.unwrap_or_else(|| row.kind.read(text.trim())),
        Value::Int(_) | Value::Bool(_) => named.unwrap_or_else(|| row.kind.read(&text)),
        _ => return None,
    };
    (row.problem(&near).is_none()).then_some(near)
}

/// The value as which an invalid one acts: stating it, or unsetting the option where it is the default, changes nothing else.
fn acting_value(facts: &Facts<'_>, key: &str) -> Option<Value> {
    let row = find(key)?;
    let acting = row.acting(facts.options.get(key)?);
    Some(if acting == row.default_value() {
        Value::Unset
    } else {
        acting
    })
}

const PARTS: &[&[Check]] = &[
    run_mode::ROWS,
    cluster::ROWS,
    precision::ROWS,
    placement::ROWS,
    aoe::ROWS,
    debugging::ROWS,
    cache::ROWS,
    dynamic::ROWS,
    experiment::ROWS,
    data::ROWS,
    weights::ROWS,
    device::ROWS,
    dump::ROWS,
    deprecated::ROWS,
    memory::ROWS,
    companions::ROWS,
    kinds::ROWS,
    syntax::ROWS,
    pairs::ROWS,
    files::ROWS,
    allocator::ROWS,
];

const N_CHECKS: usize = super::count(PARTS);
static ROWS: [Check; N_CHECKS] = in_order(super::joined::<Check, N_CHECKS>(PARTS));

/// By number; those of the companions and highwater's own last.
pub static CHECKS: &[Check] = &ROWS;

/// Sorts rules by id at compile time. Quadratic.
const fn in_order<const N: usize>(mut rows: [Check; N]) -> [Check; N] {
    let mut end = 1;
    while end < N {
        let mut idx = end;
        while idx > 0 && place(rows[idx].id) < place(rows[idx - 1].id) {
            let row = rows[idx];
            rows[idx] = rows[idx - 1];
            rows[idx - 1] = row;
            idx -= 1;
        }
        end += 1;
    }
    rows
}

/// The rank of an id: `R` first, then `D`, `M` and `K`; numbers within.
const fn place(id: &str) -> u32 {
    let id = id.as_bytes();
    let mut place = match id[0] {
        b'R' => 0,
        b'D' => 1,
        b'M' => 2,
        _ => 3,
    };
    place *= 1000;
    let mut number = 0;
    let mut idx = 1;
    while idx < id.len() {
        number = number * 10 + (id[idx] - b'0') as u32;
        idx += 1;
    }
    place + number
}

/// The findings about these settings, in the order of [`CHECKS`].
pub fn check(options: &Options, environment: &Environment, files: &dyn Files) -> Vec<Finding> {
    check_facts(&Facts::new(options, environment, files))
}

/// As [`check`], under a schedule.
pub fn check_scheduled(
    options: &Options,
    environment: &Environment,
    files: &dyn Files,
    plan: &SchedulePlan,
) -> Vec<Finding> {
    check_facts(&Facts {
        schedule: Some(plan),
        ..Facts::new(options, environment, files)
    })
}

/// The error-level findings that forbid a policy under these settings.
pub fn policy_errors(
    options: &Options,
    environment: &Environment,
    files: &dyn Files,
    plan: &SchedulePlan,
    policy: StaticMemoryPolicy,
) -> Vec<Finding> {
    let (mut options, mut environment) = (options.clone(), environment.clone());
    environment.remove(GE_USE_STATIC_MEMORY);
    options.reset(keys::ENGINE_STATIC_MEMORY_POLICY);
    // Cannot fail: the key is a row of the table.
    drop(options.set(keys::STATIC_MEMORY_POLICY, Value::from(i64::from(policy.number()))));
    let mut findings = check_scheduled(&options, &environment, files, plan);
    let is_of_policy = |name: &String| name == keys::STATIC_MEMORY_POLICY;
    findings.retain(|finding| finding.severity == Severity::Error && finding.options.iter().any(is_of_policy));
    findings
}

fn check_facts(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for check in CHECKS {
        if check.options.iter().any(|name| facts.is_set(name)) {
            let mut report = Report {
                check,
                findings: &mut findings,
            };
            (check.run)(facts, &mut report);
        }
    }
    for finding in &mut findings {
        soften(finding, facts);
    }
    findings
}

/// Makes an error between settings a warning where they need not hold in the same run of a script.
fn soften(finding: &mut Finding, facts: &Facts<'_>) {
    let names: BTreeSet<&String> = finding.options.iter().filter(|name| facts.is_set(name)).collect();
    let under: BTreeSet<Option<&Condition>> = names.iter().map(|name| facts.condition(name)).collect();
    let conditions: Vec<String> = under.iter().flatten().map(ToString::to_string).collect();
    if let [only] = &conditions[..]
        && under.len() == 1
        && finding.severity != Severity::Info
    {
        finding.message = format!("{} (under the condition {only})", finding.message);
        return;
    }
    if finding.severity != Severity::Error {
        return;
    }
    let computed = names.iter().find(|name| facts.is_computed(name) && names.len() > 1);
    if let Some(name) = computed {
        finding.severity = Severity::Warning;
        finding.message = format!(
            "{} (the script computes {name}, so this may not apply)",
            finding.message
        );
        return;
    }
    if under.len() < 2 || conditions.is_empty() {
        return;
    }
    finding.severity = Severity::Warning;
    let when = match &conditions[..] {
        [only] => format!("the condition {only} holds"),
        [one, other] => format!("both conditions hold: {one} and {other}"),
        all => format!("all conditions hold: {}", all.join(", ")),
    };
    finding.message = format!("{} (when {when})", finding.message);
}

const fn error(summary: &'static str) -> Outcome {
    Outcome {
        severity: Severity::Error,
        summary,
    }
}

const fn warning(summary: &'static str) -> Outcome {
    Outcome {
        severity: Severity::Warning,
        summary,
    }
}

const fn info(summary: &'static str) -> Outcome {
    Outcome {
        severity: Severity::Info,
        summary,
    }
}
