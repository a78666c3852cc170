//! Rules of the memory policies: R49, R50, R51, R52, R53.

use super::super::environment::GE_USE_STATIC_MEMORY;
use super::super::policy::{clears_separately, policy_conditions, policy_depends_on, policy_of_text};
use super::super::policy_choices::policy_numbers;
use super::super::rows::{Selection, count_of, keys_of};
use super::{Check, Facts, OptionRow, Report, Value, error, find, info, keys, warning};
use highwater_model::workload::SchedulePlan;
use highwater_sim::StaticMemoryPolicy;

const POLICY: &str = keys::STATIC_MEMORY_POLICY;
const ENGINE_POLICY: &str = keys::ENGINE_STATIC_MEMORY_POLICY;
const ATOMIC: &str = keys::ATOMIC_CLEAN_POLICY;
const ENGINE_ATOMIC: &str = keys::ENGINE_ATOMIC_CLEAN_POLICY;

/// The settings that select a memory policy.
pub(super) const POLICY_SOURCES: [&str; 3] = [POLICY, ENGINE_POLICY, GE_USE_STATIC_MEMORY];

/// `MemoryConfig` and its fields.
const MEMORY_CONFIG: [&str; count_of(Selection::Group(keys::MEMORY_CONFIG))] =
    keys_of(Selection::Group(keys::MEMORY_CONFIG));

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R49",
        outcomes: &[
            error("static_memory_policy is not the number of a policy"),
            info("static_memory_policy is 1, which acts as 2"),
            warning("static_memory_policy and ge.exec.staticMemoryPolicy differ; the latter takes precedence"),
        ],
        options: &[POLICY, ENGINE_POLICY],
        source: "MemoryConfig constructor; TensorFlow 2 adapter; GE takes 0 for anything unknown",
        run: policy_value,
    },
    Check {
        id: "R50",
        outcomes: &[
            error("atomic_clean_policy is not 0 or 1"),
            info("atomic_clean_policy is 1: each op clears its memory, which costs time in every iteration"),
            warning("atomic_clean_policy and ge.exec.atomicCleanPolicy differ; the latter takes precedence"),
        ],
        options: &[ATOMIC, ENGINE_ATOMIC],
        source: "MemoryConfig constructor; GE atomic clean policy check",
        run: atomic_value,
    },
    Check {
        id: "R51",
        outcomes: &[
            error(
                "GE_USE_STATIC_MEMORY is set together with static_memory_policy or ge.exec.staticMemoryPolicy, or with a \
                 MemoryConfig or a framework that writes a policy itself; GE combines them",
            ),
            warning("GE_USE_STATIC_MEMORY is deprecated, and unknown values select nothing"),
        ],
        options: &POLICY_SOURCES,
        source: "GE_USE_STATIC_MEMORY reference; GE graph_var_manager.h",
        run: variable_and_option,
    },
    Check {
        id: "R52",
        outcomes: &[info(
            "a policy with expandable pools is active: possibly less memory, possibly slower",
        )],
        options: &POLICY_SOURCES,
        source: "MemoryConfig constructor; GE_USE_STATIC_MEMORY reference",
        run: expanding_pools,
    },
    Check {
        id: "R53",
        outcomes: &[error(
            "the schedule runs graphs concurrently while a policy with a shared arena is active (R20, if an option does)",
        )],
        options: &POLICY_SOURCES,
        source: "MemoryConfig constructor; GE_USE_STATIC_MEMORY reference",
        // R20 reports copies of graphs from `graph_max_parallel_model_num`.
        run: concurrent_groups,
    },
];

/// The policies under which graphs may run at the same time.
pub(super) fn separate_arenas() -> String {
    policy_numbers(|row| !row.shares_static_arena)
}

/// A policy in sentences: `4 (static and dynamic expansion)`.
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
        let Some(policy) = policy_of_text(&text) else {
            let finding = report.error(
                &[key],
                format!(
                    "{name} is {}: use {}; GE silently uses 0",
                    value.quoted(),
                    policy_numbers(|_| true)
                ),
            );
            if policy_of_text(text.trim()).is_some() {
                finding.set(key, of_kind(key, text.trim()));
            }
            continue;
        };
        let number = policy.number().to_string();
        if number != text {
            report
                .info(
                    &[key],
                    format!("{name} is {text}, which acts as {number}: set it to {number}"),
                )
                .set(key, of_kind(key, &number));
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
    let is_unknown = [ATOMIC, ENGINE_ATOMIC].iter().any(|key| facts.is_computed(key));
    if clears_separately(facts.options) && !is_unknown {
        let options = facts.set_of(&[ATOMIC, ENGINE_ATOMIC]);
        report.info(
            &options,
            "atomic_clean_policy is 1: each memset op is cleared separately, which may save memory but costs one \
             clear per op in every iteration; the documentation warns of performance loss"
                .to_owned(),
        );
    }
}

/// Warns where the field and the engine's own key differ.
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
                "{} is {one} and {engine} is {other}: {engine} takes precedence; keep one of them",
                name_of(field)
            ),
        )
        .set(field, Value::Unset);
}

fn is_computed(value: &Value) -> bool {
    matches!(value, Value::Python(_))
}

/// The name in sentences: without the group; the engine's names are whole.
fn name_of(key: &'static str) -> &'static str {
    find(key).map_or(key, OptionRow::short_key)
}

/// The value of a text for an option: a number, or a text for the engine's own key.
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
    let alone = policy_of_text(text).map(StaticMemoryPolicy::number);
    let beside = written_beside(facts);
    if let Some(Beside { names, writes, mend }) = &beside {
        let finding = report.error(
            &[names.as_slice(), &[variable]].concat(),
            format!(
                "{variable}={text}, and {writes}: both are set; GE combines them: effective policy {in_force}; {mend} and \
                 unset the variable"
            ),
        );
        match alone.filter(|_| facts.options.framework().is_none()) {
            Some(alone) => finding.replace(variable, POLICY, i64::from(alone)),
            None => finding.unset_variable(variable),
        };
    }
    for key in &options {
        let value = facts.options.written(key);
        report
            .error(
                &[key, variable],
                format!(
                    "{variable}={text} and {}={value}: both are set; GE combines them: effective policy {in_force}; \
                     unset the variable and keep the option",
                    name_of(key)
                ),
            )
            .unset_variable(variable);
    }
    let soon = format!("{variable} is deprecated");
    if alone.is_some() && (!options.is_empty() || facts.options.framework().is_some()) {
        report.warning(&[variable], soon).unset_variable(variable);
    } else if let Some(alone) = alone {
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
                    "{variable}=\"{text}\" silently selects no policy: use {}; policy {in_force} is active",
                    policy_numbers(|_| true)
                ),
            )
            .unset_variable(variable);
    }
}

/// What gives GE a policy although no setting of the user does.
struct Beside {
    /// The settings of the user behind it.
    names: Vec<&'static str>,
    /// As a clause.
    writes: String,
    /// What to do besides unsetting the variable.
    mend: &'static str,
}

/// A framework's own value, or the default that the constructor of `MemoryConfig` writes with its other fields.
fn written_beside(facts: &Facts<'_>) -> Option<Beside> {
    if facts.is_set(POLICY) || facts.is_set(ENGINE_POLICY) {
        return None;
    }
    let row = facts.options.framework().map(|chosen| chosen.framework.row());
    if let Some(row) = row
        && let Some(policy) = row.default(ENGINE_POLICY)
    {
        return Some(Beside {
            names: Vec::new(),
            writes: format!("{} writes {ENGINE_POLICY}={policy} for its graphs", row.title),
            mend: if row.overwrites {
                "the script has no setting for it, so keep that value"
            } else {
                "state another value in ge_options"
            },
        });
    }
    // What an object that the script makes elsewhere states is unknown.
    let mut fields = MEMORY_CONFIG.iter().copied().filter(|key| *key != keys::MEMORY_CONFIG);
    let field = fields.find(|key| facts.options.is_set(key))?;
    Some(Beside {
        names: vec![field],
        writes: format!(
            "memory_config has {}, with which MemoryConfig writes its default static_memory_policy=0",
            name_of(field)
        ),
        mend: "set static_memory_policy there",
    })
}

/// The engine refuses the variable together with an option, whatever its value.
fn unread_variable(facts: &Facts<'_>, report: &mut Report<'_>) {
    let variable = GE_USE_STATIC_MEMORY;
    let options = facts.set_of(&[POLICY, ENGINE_POLICY]);
    for key in &options {
        let value = facts.options.written(key);
        report
            .error(
                &[key, variable],
                format!(
                    "{variable} (value unknown here) and {}={value}: both are set; GE combines them; unset the \
                     variable and keep the option",
                    name_of(key)
                ),
            )
            .unset_variable(variable);
    }
    if let Some(Beside { names, writes, mend }) = written_beside(facts) {
        report
            .error(
                &[names.as_slice(), &[variable]].concat(),
                format!(
                    "{variable} (value unknown here), and {writes}: both are set; GE combines them; {mend} and unset the \
                     variable"
                ),
            )
            .unset_variable(variable);
    }
    let instead = match options.as_slice() {
        [] if facts.options.framework().is_none() => ": set static_memory_policy instead",
        _ => "",
    };
    report
        .warning(&[variable], format!("{variable} is deprecated{instead}"))
        .unset_variable(variable);
}

fn concurrent_groups(facts: &Facts<'_>, report: &mut Report<'_>) {
    let row = facts.policy.row();
    let groups = facts.schedule.map(SchedulePlan::concurrent_groups).unwrap_or_default();
    if !row.shares_static_arena {
        return;
    }
    let options = facts.set_of(&POLICY_SOURCES);
    for (number, graphs) in groups {
        let names: Vec<String> = graphs.iter().map(|name| format!("\"{name}\"")).collect();
        let finding = report.error(
            &options,
            format!(
                "{} run at the same time (concurrent group {number} of the schedule) while memory policy {} is \
                 active: they would overwrite each other in the shared arena; use policy {}, or separate the groups",
                names.join(" and "),
                named(facts.policy),
                separate_arenas()
            ),
        );
        // Expandable pools are kept.
        let instead = policy_numbers(|other| !other.shares_static_arena && other.expands_pools == row.expands_pools);
        for key in [ENGINE_POLICY, POLICY] {
            if facts.options.is_set(key) {
                finding.set(key, of_kind(key, &instead));
                break;
            }
        }
    }
}

fn expanding_pools(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.policy.row().expands_pools {
        let options = facts.set_of(&POLICY_SOURCES);
        let conditions = policy_conditions(facts.options, facts.environment);
        report.info(
            &options,
            format!(
                "policy {} is active{}: the documentation promises less memory for dynamic shapes and warns of lower \
                 performance; compare the policies for figures",
                named(facts.policy),
                policy_depends_on(&conditions)
            ),
        );
    }
}
