//! Rules of the memory policies: R49, R50, R51, R52, R53.

use crate::diagnostics::Severity;

use super::super::environment::GE_USE_STATIC_MEMORY;
use super::super::policy::flags;
use super::super::rows::keys;
use super::{Check, Facts, Report, outcome};
use crate::sim::StaticMemoryPolicy;

const POLICY: &str = keys::STATIC_MEMORY_POLICY;

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R49",
        outcomes: &[
            outcome(Severity::Error, "static_memory_policy is not an integer from 0 to 4"),
            outcome(Severity::Info, "static_memory_policy is 1, which is treated as 2"),
        ],
        options: &[POLICY],
        source: "MemoryConfig constructor; TensorFlow 2 adapter; GE takes 0 for anything unknown",
        run: policy_value,
    },
    Check {
        id: "R50",
        outcomes: &[outcome(Severity::Error, "atomic_clean_policy is not 0 or 1")],
        options: &[keys::ATOMIC_CLEAN_POLICY],
        source: "MemoryConfig constructor; GE atomic clean policy check",
        run: atomic_value,
    },
    Check {
        id: "R51",
        outcomes: &[
            outcome(
                Severity::Error,
                "GE_USE_STATIC_MEMORY and static_memory_policy are both set; the engine joins them",
            ),
            outcome(
                Severity::Warning,
                "GE_USE_STATIC_MEMORY is set: it is to be deprecated, and unknown values select nothing",
            ),
        ],
        options: &[POLICY, GE_USE_STATIC_MEMORY],
        source: "GE_USE_STATIC_MEMORY reference; GE graph_var_manager.h",
        run: variable_and_option,
    },
    Check {
        id: "R52",
        outcomes: &[outcome(
            Severity::Info,
            "policy 3 or 4 is in force: less memory, perhaps slower",
        )],
        options: &[POLICY, GE_USE_STATIC_MEMORY],
        source: "MemoryConfig constructor; GE_USE_STATIC_MEMORY reference",
        run: expanding_pools,
    },
    Check {
        id: "R53",
        outcomes: &[outcome(
            Severity::Error,
            "graphs run concurrently while policy 2 or 4 is in force; reported as R20 where an option says so",
        )],
        options: &[POLICY, GE_USE_STATIC_MEMORY],
        source: "MemoryConfig constructor; GE_USE_STATIC_MEMORY reference",
        // The only sign of concurrent graphs is `graph_max_parallel_model_num`, which R20 names; so this rule has
        // nothing to add until there is another sign.
        run: |_, _| {},
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
    let Some(value) = facts.options.get(POLICY) else {
        return;
    };
    let text = value.to_string();
    if !is_known(&text) {
        report.error(
            &[POLICY],
            format!(
                "static_memory_policy is {}: use 0, 2, 3 or 4; the engine takes it for 0 without a word",
                value.quoted()
            ),
        );
    } else if text == "1" {
        report.info(
            &[POLICY],
            "static_memory_policy is 1, which is treated as 2: write 2".to_owned(),
        );
    }
}

/// The engine sees texts, and takes an empty one for 0.
fn atomic_value(facts: &Facts<'_>, report: &mut Report<'_>) {
    let key = keys::ATOMIC_CLEAN_POLICY;
    if let Some(value) = facts.options.get(key)
        && !matches!(value.to_string().as_str(), "" | "0" | "1")
    {
        report.error(
            &[key],
            format!(
                "atomic_clean_policy is {}: use 0 (cleared together) or 1 (cleared op by op)",
                value.quoted()
            ),
        );
    }
}

fn variable_and_option(facts: &Facts<'_>, report: &mut Report<'_>) {
    let Some(text) = facts
        .environment
        .get(GE_USE_STATIC_MEMORY)
        .filter(|text| !text.is_empty())
    else {
        return;
    };
    let in_force = named(facts.policy);
    if let Some(value) = facts.options.get(POLICY) {
        report.error(
            &[POLICY, GE_USE_STATIC_MEMORY],
            format!(
                "GE_USE_STATIC_MEMORY={text} and static_memory_policy={value} are both set; the engine joins them \
                 into policy {in_force}: unset the variable and keep the option"
            ),
        );
    }
    let alone = StaticMemoryPolicy::from_flags(flags(text));
    if is_known(text) && facts.options.get(POLICY).is_some() {
        report.warning(
            &[GE_USE_STATIC_MEMORY],
            "GE_USE_STATIC_MEMORY is to be deprecated".to_owned(),
        );
    } else if is_known(text) {
        report.warning(
            &[GE_USE_STATIC_MEMORY],
            format!(
                "GE_USE_STATIC_MEMORY is to be deprecated: set static_memory_policy to {} instead",
                alone.number()
            ),
        );
    } else {
        report.warning(
            &[GE_USE_STATIC_MEMORY],
            "GE_USE_STATIC_MEMORY is to be deprecated: set static_memory_policy instead".to_owned(),
        );
        report.warning(
            &[GE_USE_STATIC_MEMORY],
            format!(
                "GE_USE_STATIC_MEMORY=\"{text}\" selects no policy, and the engine does not say so: use 0, 2, 3 or 4; \
                 policy {in_force} is in force"
            ),
        );
    }
}

fn expanding_pools(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.policy.row().expands_pools {
        let options: Vec<&str> = [POLICY, GE_USE_STATIC_MEMORY]
            .into_iter()
            .filter(|name| facts.is_set(name))
            .collect();
        report.info(
            &options,
            format!(
                "policy {} is in force: it takes less memory but may run slower; measure both",
                named(facts.policy)
            ),
        );
    }
}
