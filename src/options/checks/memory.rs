//! Rules of the memory policies: R49, R50, R51, R52, R53.

use highwater_model::diagnostics::Severity;

use super::super::environment::GE_USE_STATIC_MEMORY;
use super::super::policy::flags;
use super::super::row::OptionRow;
use super::super::rows::{find, keys};
use super::super::value::Value;
use super::{Check, Facts, Report, outcome};
use highwater_model::workload::SchedulePlan;
use highwater_sim::StaticMemoryPolicy;

const POLICY: &str = keys::STATIC_MEMORY_POLICY;
const ENGINE_POLICY: &str = keys::ENGINE_STATIC_MEMORY_POLICY;
const ATOMIC: &str = keys::ATOMIC_CLEAN_POLICY;
const ENGINE_ATOMIC: &str = keys::ENGINE_ATOMIC_CLEAN_POLICY;

/// What puts a memory policy in force.
pub(super) const POLICY_SOURCES: [&str; 3] = [POLICY, ENGINE_POLICY, GE_USE_STATIC_MEMORY];

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R49",
        outcomes: &[
            outcome(Severity::Error, "static_memory_policy is not an integer from 0 to 4"),
            outcome(Severity::Info, "static_memory_policy is 1, which is treated as 2"),
            outcome(
                Severity::Warning,
                "static_memory_policy and ge.exec.staticMemoryPolicy differ; the engine's own wins",
            ),
        ],
        options: &[POLICY, ENGINE_POLICY],
        source: "MemoryConfig constructor; TensorFlow 2 adapter; GE takes 0 for anything unknown",
        run: policy_value,
    },
    Check {
        id: "R50",
        outcomes: &[
            outcome(Severity::Error, "atomic_clean_policy is not 0 or 1"),
            outcome(
                Severity::Warning,
                "atomic_clean_policy and ge.exec.atomicCleanPolicy differ; the engine's own wins",
            ),
        ],
        options: &[ATOMIC, ENGINE_ATOMIC],
        source: "MemoryConfig constructor; GE atomic clean policy check",
        run: atomic_value,
    },
    Check {
        id: "R51",
        outcomes: &[
            outcome(
                Severity::Error,
                "GE_USE_STATIC_MEMORY is set beside static_memory_policy or ge.exec.staticMemoryPolicy; the engine joins them",
            ),
            outcome(
                Severity::Warning,
                "GE_USE_STATIC_MEMORY is set: it is to be deprecated, and unknown values select nothing",
            ),
        ],
        options: &POLICY_SOURCES,
        source: "GE_USE_STATIC_MEMORY reference; GE graph_var_manager.h",
        run: variable_and_option,
    },
    Check {
        id: "R52",
        outcomes: &[outcome(
            Severity::Info,
            "policy 3 or 4 is in force: less memory, perhaps slower",
        )],
        options: &POLICY_SOURCES,
        source: "MemoryConfig constructor; GE_USE_STATIC_MEMORY reference",
        run: expanding_pools,
    },
    Check {
        id: "R53",
        outcomes: &[outcome(
            Severity::Error,
            "the schedule runs graphs concurrently while policy 2 or 4 is in force; reported as R20 where an option says so",
        )],
        options: &POLICY_SOURCES,
        source: "MemoryConfig constructor; GE_USE_STATIC_MEMORY reference",
        // Copies of all graphs, which `graph_max_parallel_model_num` asks for, are named by R20.
        run: concurrent_groups,
    },
];

/// Whether a text is one of the numbers 0 to 4, as the engine compares it.
fn is_known(text: &str) -> bool {
    matches!(text, "0" | "1" | "2" | "3" | "4")
}

/// A policy as it stands in sentences: `4 (static and dynamic expansion)`.
fn named(policy: StaticMemoryPolicy) -> String {
    let row = policy.row();
    format!("{} ({})", row.number, row.label)
}

fn policy_value(facts: &Facts<'_>, report: &mut Report<'_>) {
    for key in [POLICY, ENGINE_POLICY] {
        let Some(value) = facts.options.get(key).filter(|value| !is_computed(value)) else {
            continue;
        };
        let name = name_of(key);
        let text = value.to_string();
        if !is_known(&text) {
            let finding = report.error(
                &[key],
                format!(
                    "{name} is {}: use 0, 2, 3 or 4; the engine takes it for 0 without a word",
                    value.quoted()
                ),
            );
            if is_known(text.trim()) {
                finding.set(key, of_kind(key, text.trim()));
            }
        } else if text == "1" {
            report
                .info(&[key], format!("{name} is 1, which is treated as 2: write 2"))
                .set(key, of_kind(key, "2"));
        }
    }
    two_values(facts, report, POLICY, ENGINE_POLICY);
}

/// The engine sees texts, and takes an empty one for 0.
fn atomic_value(facts: &Facts<'_>, report: &mut Report<'_>) {
    for key in [ATOMIC, ENGINE_ATOMIC] {
        let Some(value) = facts.options.get(key).filter(|value| !is_computed(value)) else {
            continue;
        };
        let text = value.to_string();
        if !matches!(text.as_str(), "" | "0" | "1") {
            let finding = report.error(
                &[key],
                format!(
                    "{} is {}: use 0 (cleared together) or 1 (cleared op by op)",
                    name_of(key),
                    value.quoted()
                ),
            );
            if matches!(text.trim(), "0" | "1") {
                finding.set(key, of_kind(key, text.trim()));
            }
        }
    }
    two_values(facts, report, ATOMIC, ENGINE_ATOMIC);
}

/// Warns where the field and the engine's own key say different things.
fn two_values(facts: &Facts<'_>, report: &mut Report<'_>, field: &'static str, engine: &'static str) {
    let (Some(one), Some(other)) = (facts.options.get(field), facts.options.get(engine)) else {
        return;
    };
    if is_computed(one) || is_computed(other) || one.to_string() == other.to_string() {
        return;
    }
    report
        .warning(
            &[field, engine],
            format!(
                "{} is {one} and {engine} is {other}: the engine's own wins, so keep one of them",
                name_of(field)
            ),
        )
        .set(field, Value::Unset);
}

fn is_computed(value: &Value) -> bool {
    matches!(value, Value::Python(_))
}

/// The name in sentences: without the group, but the engine's own names are whole.
fn name_of(key: &'static str) -> &'static str {
    find(key).map_or(key, OptionRow::short_key)
}

/// A text as the option writes it: a number, or a text for the engine's own.
fn of_kind(key: &str, text: &str) -> Value {
    find(key).map_or(Value::Unset, |row| row.kind.read(text))
}

fn variable_and_option(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.environment.is_unread(GE_USE_STATIC_MEMORY) {
        unread_variable(facts, report);
        return;
    }
    let Some(text) = facts
        .environment
        .get(GE_USE_STATIC_MEMORY)
        .filter(|text| !text.is_empty())
    else {
        return;
    };
    let in_force = named(facts.policy);
    let options = facts.set_of(&[POLICY, ENGINE_POLICY]);
    let variable = GE_USE_STATIC_MEMORY;
    for key in &options {
        let value = facts.options.effective(key);
        report
            .error(
                &[key, variable],
                format!(
                    "{variable}={text} and {}={value} are both set; the engine joins them into policy {in_force}: \
                     unset the variable and keep the option",
                    name_of(key)
                ),
            )
            .unset_variable(variable);
    }
    let alone = StaticMemoryPolicy::from_flags(flags(text)).number();
    let soon = format!("{variable} is to be deprecated");
    if is_known(text) && !options.is_empty() {
        report.warning(&[variable], soon).unset_variable(variable);
    } else if is_known(text) {
        report
            .warning(
                &[variable],
                format!("{soon}: set static_memory_policy to {alone} instead"),
            )
            .replace(variable, POLICY, i64::from(alone));
    } else {
        report
            .warning(&[variable], format!("{soon}: set static_memory_policy instead"))
            .unset_variable(variable);
        report
            .warning(
                &[variable],
                format!(
                    "{variable}=\"{text}\" selects no policy, and the engine does not say so: use 0, 2, 3 or 4; \
                     policy {in_force} is in force"
                ),
            )
            .unset_variable(variable);
    }
}

/// That the variable is set is enough to refuse it beside an option, whatever the run sets it to.
fn unread_variable(facts: &Facts<'_>, report: &mut Report<'_>) {
    let variable = GE_USE_STATIC_MEMORY;
    let options = facts.set_of(&[POLICY, ENGINE_POLICY]);
    for key in &options {
        let value = facts.options.effective(key);
        report
            .error(
                &[key, variable],
                format!(
                    "{variable} (to what, only the run knows) and {}={value} are both set, and the engine joins them: \
                     unset the variable and keep the option",
                    name_of(key)
                ),
            )
            .unset_variable(variable);
    }
    let instead = match options.as_slice() {
        [] => ": set static_memory_policy instead",
        _ => "",
    };
    report
        .warning(&[variable], format!("{variable} is to be deprecated{instead}"))
        .unset_variable(variable);
}

fn concurrent_groups(facts: &Facts<'_>, report: &mut Report<'_>) {
    let row = facts.policy.row();
    let groups = facts.schedule.map(SchedulePlan::concurrent).unwrap_or_default();
    if !row.shares_static_arena {
        return;
    }
    let options = facts.set_of(&POLICY_SOURCES);
    for (number, graphs) in groups {
        let names: Vec<String> = graphs.iter().map(|name| format!("\"{name}\"")).collect();
        let finding = report.error(
            &options,
            format!(
                "{} run at the same time (concurrent group {number} of the schedule) while memory policy {} is in force: \
                 they would overwrite each other in the shared arena; use policy 0 or 3, or take them out of the group",
                names.join(" and "),
                named(facts.policy)
            ),
        );
        // Pools that expand stay so.
        let instead = if row.expands_pools { "3" } else { "0" };
        for key in [ENGINE_POLICY, POLICY] {
            if facts.options.is_set(key) {
                finding.set(key, of_kind(key, instead));
                break;
            }
        }
    }
}

fn expanding_pools(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.policy.row().expands_pools {
        let options = facts.set_of(&POLICY_SOURCES);
        report.info(
            &options,
            format!(
                "policy {} is in force: it takes less memory but may run slower; measure both",
                named(facts.policy)
            ),
        );
    }
}
