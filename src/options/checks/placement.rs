//! Rules of placement, input transfer and concurrent graphs: R16, R17, R18, R19, R20, R48.

use super::super::effective::is_training;
use super::super::environment::GE_USE_STATIC_MEMORY;
use super::super::store::CONTROL_FLOW_CALLS;
use super::memory::{POLICY_SOURCES, separate_arenas};
use super::{Check, Facts, Report, Value, error, info, keys, warning};

const COPIES: &str = keys::GRAPH_MAX_PARALLEL_MODEL_NUM;

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R16",
        outcomes: &[error("variable_placement is not Device or Host")],
        options: &[keys::VARIABLE_PLACEMENT],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: |facts, report| report.own_kind(facts, keys::VARIABLE_PLACEMENT),
    },
    Check {
        id: "R17",
        outcomes: &[
            error("variable_placement is Host without mixed computing"),
            info(
                "variable_placement is Host and the script is not seen to call the functions that TensorFlow 1 control flow needs",
            ),
        ],
        options: &[keys::VARIABLE_PLACEMENT, keys::MIX_COMPILE_MODE],
        source: "NPURunConfig option reference",
        run: variables_on_host,
    },
    Check {
        id: "R18",
        outcomes: &[
            warning("input_fusion_size is outside 0 to 33554432 and is clamped"),
            error("input_fusion_size is not a size"),
        ],
        options: &[keys::INPUT_FUSION_SIZE],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: input_fusion,
    },
    Check {
        id: "R19",
        outcomes: &[error(
            "graph_max_parallel_model_num is not an integer from 1 to 2147483647",
        )],
        options: &[COPIES],
        source: "NPURunConfig option reference",
        run: |facts, report| report.own_kind(facts, COPIES),
    },
    Check {
        id: "R20",
        outcomes: &[error(
            "graph_max_parallel_model_num is above 1 while a policy with a shared arena is active (in training also R48)",
        )],
        options: &[
            COPIES,
            keys::STATIC_MEMORY_POLICY,
            keys::ENGINE_STATIC_MEMORY_POLICY,
            GE_USE_STATIC_MEMORY,
        ],
        source: "MemoryConfig constructor (note on concurrent graphs)",
        run: concurrent_graphs,
    },
    Check {
        id: "R48",
        outcomes: &[warning(
            "an option for online inference (graph_max_parallel_model_num, quant_dumpable) is used in training",
        )],
        options: &[COPIES, keys::QUANT_DUMPABLE, keys::GRAPH_RUN_MODE],
        source: "NPURunConfig option reference",
        run: inference_option_in_training,
    },
];

fn variables_on_host(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.text(keys::VARIABLE_PLACEMENT) != "Host" {
        return;
    }
    if !facts.bool(keys::MIX_COMPILE_MODE) && !facts.is_computed(keys::MIX_COMPILE_MODE) {
        report
            .error(
                &[keys::VARIABLE_PLACEMENT, keys::MIX_COMPILE_MODE],
                "variable_placement=Host needs mixed computing: set mix_compile_mode to True",
            )
            .set(keys::MIX_COMPILE_MODE, true);
    }
    let [flow, variables, both] = CONTROL_FLOW_CALLS;
    let mut missing = vec![flow, variables];
    missing.retain(|name| !facts.options.has_call(name) && !facts.options.has_call(both));
    let calls: Vec<String> = missing.iter().map(|name| format!("tf.{name}()")).collect();
    if !calls.is_empty() {
        report.info(
            &[keys::VARIABLE_PLACEMENT],
            format!(
                "with variable_placement=Host, TensorFlow 1 control flow (tf.case, tf.cond, tf.while_loop) may fail: call {} \
                 in the script",
                calls.join(" and ")
            ),
        );
    }
}

fn input_fusion(facts: &Facts<'_>, report: &mut Report<'_>) {
    let key = keys::INPUT_FUSION_SIZE;
    let Some(message) = facts.problem(key) else {
        return;
    };
    if facts.options.get(key).and_then(Value::as_int).is_some() {
        let clamped = facts.int(key);
        report
            .warning(&[key], format!("{message}; it is clamped to {clamped}"))
            .set(key, clamped);
    } else {
        report.own_kind(facts, key);
    }
}

/// Whether several instances of a graph may run at a time: a shared arena then corrupts data.
fn runs_concurrently(facts: &Facts<'_>) -> bool {
    facts.int(COPIES) > 1
}

fn concurrent_graphs(facts: &Facts<'_>, report: &mut Report<'_>) {
    if !runs_concurrently(facts) {
        return;
    }
    let copies = facts.int(COPIES);
    let row = facts.policy.row();
    if row.shares_static_arena {
        let mut options = vec![COPIES];
        options.extend(facts.set_of(&POLICY_SOURCES));
        let finding = report.error(
            &options,
            format!(
                "graph_max_parallel_model_num is {copies} while memory policy {} ({}) is active: graphs that run \
                 together would overwrite each other in the shared arena; set it to 1 or use policy {}",
                row.number,
                row.label,
                separate_arenas()
            ),
        );
        finding.set(COPIES, 1);
    }
}

fn inference_option_in_training(facts: &Facts<'_>, report: &mut Report<'_>) {
    if !is_training(facts.options) || facts.is_computed(keys::GRAPH_RUN_MODE) {
        return;
    }
    for (key, is_used) in [
        (COPIES, runs_concurrently(facts)),
        (keys::QUANT_DUMPABLE, facts.text(keys::QUANT_DUMPABLE) == "1"),
    ] {
        if is_used {
            report
                .warning(
                    &[key],
                    format!(
                        "{key} is {}, an option for online inference: remove it from a training script, or set \
                         graph_run_mode to 0",
                        facts.options.written(key).quoted()
                    ),
                )
                .set(key, Value::Unset);
        }
    }
}
