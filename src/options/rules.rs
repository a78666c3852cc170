//! The table of rules. Ids follow the collection of the vendor's rules; `T1` is this program's own rule for values
//! of a type or range that no numbered rule names.

use super::check::{Check, Facts, Speaker};
use super::environment::GE_USE_STATIC_MEMORY;
use super::policy::effective_policy;
use super::table::{find, key};
use super::value::Value;
use crate::diagnostics::Severity::{Error, Info, Warning};

const REFERENCE: &str = "NPURunConfig reference";
const CODE: &str = "TensorFlow adapter, code";
const MEMORY: &str = "MemoryConfig reference";

/// Every rule.
pub static CHECKS: &[Check] = &[
    Check {
        rule: "R1",
        severities: &[Error],
        options: &[key::ITERATIONS_PER_LOOP],
        summary: "iterations_per_loop is a whole number above 0",
        source: CODE,
        look: |facts, say| match facts.value(key::ITERATIONS_PER_LOOP) {
            Value::Int(number) if number > 0 => {}
            Value::Int(number) => say.error(format!("iterations_per_loop is {number}; set it to 1 or more")),
            other => say.error(format!(
                "iterations_per_loop is \"{other}\"; it takes a whole number, 1 or more"
            )),
        },
    },
    Check {
        rule: "R2",
        severities: &[Error],
        options: &[key::MIX_COMPILE_MODE],
        summary: "mix_compile_mode is a bool",
        source: CODE,
        look: |facts, say| type_of(facts, key::MIX_COMPILE_MODE, say),
    },
    Check {
        rule: "R3",
        severities: &[Error],
        options: &[key::MIX_COMPILE_MODE, key::ITERATIONS_PER_LOOP],
        summary: "mixed computing needs iterations_per_loop = 1",
        source: "NPURunConfig reference; TensorFlow adapter, code",
        look: |facts, say| {
            let is_mixed = facts.value(key::MIX_COMPILE_MODE) == Value::Bool(true);
            let iterations = facts.value(key::ITERATIONS_PER_LOOP);
            if is_mixed && iterations != Value::Int(1) {
                say.error(format!(
                    "mix_compile_mode is on and iterations_per_loop is {iterations}; set iterations_per_loop to 1 or turn \
                     mixed computing off"
                ));
            }
        },
    },
    Check {
        rule: "R6",
        severities: &[Error],
        options: &[key::GRAPH_RUN_MODE],
        summary: "graph_run_mode is 0 or 1",
        source: CODE,
        look: |facts, say| type_of(facts, key::GRAPH_RUN_MODE, say),
    },
    Check {
        rule: "R10",
        severities: &[Error],
        options: &[key::PRECISION_MODE, key::PRECISION_MODE_V2],
        summary: "only one of precision_mode and precision_mode_v2 is set",
        source: "NPURunConfig reference; engine error E10056",
        look: |facts, say| {
            let is_used = |key: &str| facts.is_set(key) && !facts.value(key).is_unset();
            if is_used(key::PRECISION_MODE) && is_used(key::PRECISION_MODE_V2) {
                say.error("precision_mode and precision_mode_v2 are both set; keep one of them".to_owned());
            }
        },
    },
    Check {
        rule: "R11",
        severities: &[Error],
        options: &[key::PRECISION_MODE],
        summary: "precision_mode is one of its values",
        source: CODE,
        look: |facts, say| type_of(facts, key::PRECISION_MODE, say),
    },
    Check {
        rule: "R11",
        severities: &[Error],
        options: &[key::PRECISION_MODE_V2],
        summary: "precision_mode_v2 is one of its values",
        source: CODE,
        look: |facts, say| type_of(facts, key::PRECISION_MODE_V2, say),
    },
    Check {
        rule: "R13",
        severities: &[Warning],
        options: &[key::PRECISION_MODE, key::GRAPH_RUN_MODE],
        summary: "force_fp16 is for online inference",
        source: REFERENCE,
        look: |facts, say| {
            let is_forced = facts.value(key::PRECISION_MODE) == Value::text("force_fp16");
            if is_forced && facts.value(key::GRAPH_RUN_MODE) == Value::Int(1) {
                say.warning(
                    "precision_mode force_fp16 is for online inference and graph_run_mode is 1 (training); use \
                     allow_mix_precision or set graph_run_mode to 0"
                        .to_owned(),
                );
            }
        },
    },
    Check {
        rule: "R16",
        severities: &[Error],
        options: &[key::VARIABLE_PLACEMENT],
        summary: "variable_placement is Host or Device",
        source: CODE,
        look: |facts, say| type_of(facts, key::VARIABLE_PLACEMENT, say),
    },
    Check {
        rule: "R17",
        severities: &[Error, Info],
        options: &[key::VARIABLE_PLACEMENT, key::MIX_COMPILE_MODE],
        summary: "variables on the host need mixed computing",
        source: REFERENCE,
        look: |facts, say| {
            if facts.value(key::VARIABLE_PLACEMENT) != Value::text("Host") {
                return;
            }
            if facts.value(key::MIX_COMPILE_MODE) != Value::Bool(true) {
                say.error("variable_placement is Host, which needs mix_compile_mode = true; turn it on".to_owned());
            }
            say.info("with variables on the host, control flow of TensorFlow 1 may fail".to_owned());
        },
    },
    Check {
        rule: "R18",
        severities: &[Error, Warning, Info],
        options: &[key::INPUT_FUSION_SIZE],
        summary: "input_fusion_size outside 0..33554432 is clamped",
        source: CODE,
        look: |facts, say| match facts.value(key::INPUT_FUSION_SIZE) {
            Value::Int(0) => say.info("input_fusion_size is 0: inputs are copied one by one".to_owned()),
            Value::Int(size) if size < 0 => say.warning(format!("input_fusion_size is {size} and acts as 0")),
            Value::Int(size) if size > 33_554_432 => {
                say.warning(format!("input_fusion_size is {size} and acts as 33554432 (32 MiB)"));
            }
            Value::Int(_) => {}
            other => say.error(format!("input_fusion_size is \"{other}\"; it takes a number of bytes")),
        },
    },
    Check {
        rule: "R19",
        severities: &[Error],
        options: &[key::GRAPH_MAX_PARALLEL_MODEL_NUM],
        summary: "graph_max_parallel_model_num is in 1..2147483647",
        source: REFERENCE,
        look: |facts, say| type_of(facts, key::GRAPH_MAX_PARALLEL_MODEL_NUM, say),
    },
    Check {
        rule: "R20",
        severities: &[Error],
        options: &[
            key::GRAPH_MAX_PARALLEL_MODEL_NUM,
            key::STATIC_MEMORY_POLICY,
            GE_USE_STATIC_MEMORY,
        ],
        summary: "concurrent graphs must not share an arena (policies 2 and 4); the concrete form of R53",
        source: MEMORY,
        look: |facts, say| {
            let policy = effective_policy(facts.options, facts.environment);
            let instances = facts.value(key::GRAPH_MAX_PARALLEL_MODEL_NUM).as_int().unwrap_or(1);
            if instances > 1 && policy.row().shares_static_arena {
                say.error(format!(
                    "graph_max_parallel_model_num is {instances} and policy {} is in force: concurrent graphs would share \
                     addresses and corrupt data; use policy 0 or 3, or one instance",
                    policy.number()
                ));
            }
        },
    },
    Check {
        rule: "R48",
        severities: &[Warning],
        options: &[key::GRAPH_MAX_PARALLEL_MODEL_NUM, key::GRAPH_RUN_MODE],
        summary: "graph_max_parallel_model_num is an option of online inference",
        source: REFERENCE,
        look: |facts, say| {
            let is_set = facts.is_set(key::GRAPH_MAX_PARALLEL_MODEL_NUM);
            let instances = facts.value(key::GRAPH_MAX_PARALLEL_MODEL_NUM).as_int().unwrap_or(1);
            if is_set && instances > 1 && facts.value(key::GRAPH_RUN_MODE) == Value::Int(1) {
                say.warning(
                    "graph_max_parallel_model_num is an option of online inference and graph_run_mode is 1 (training); set \
                     graph_run_mode to 0 or remove it"
                        .to_owned(),
                );
            }
        },
    },
    Check {
        rule: "R49",
        severities: &[Error, Info],
        options: &[key::STATIC_MEMORY_POLICY],
        summary: "static_memory_policy is 0, 1 (as 2), 2, 3 or 4",
        source: MEMORY,
        look: |facts, say| {
            match facts.value(key::STATIC_MEMORY_POLICY) {
            Value::Int(1) => say.info("static_memory_policy 1 acts as 2; write 2".to_owned()),
            Value::Int(0..=4) => {}
            other => say.error(format!(
                "static_memory_policy is \"{other}\"; it takes 0, 2, 3 or 4, and the engine silently acts as if it were 0"
            )),
        }
        },
    },
    Check {
        rule: "R50",
        severities: &[Error],
        options: &[key::ATOMIC_CLEAN_POLICY],
        summary: "atomic_clean_policy is 0 or 1",
        source: "engine, code",
        look: |facts, say| type_of(facts, key::ATOMIC_CLEAN_POLICY, say),
    },
    Check {
        rule: "R51",
        severities: &[Error, Warning],
        options: &[GE_USE_STATIC_MEMORY, key::STATIC_MEMORY_POLICY],
        summary: "GE_USE_STATIC_MEMORY and static_memory_policy are not used together",
        source: "GE_USE_STATIC_MEMORY reference; engine, graph_var_manager",
        look: environment_variable,
    },
    Check {
        rule: "R52",
        severities: &[Info],
        options: &[key::STATIC_MEMORY_POLICY, GE_USE_STATIC_MEMORY],
        summary: "policies 3 and 4 save memory and may cost time",
        source: MEMORY,
        look: |facts, say| {
            let policy = effective_policy(facts.options, facts.environment);
            if policy.row().expands_pools {
                say.info(format!("policy {} saves memory and may cost time", policy.number()));
            }
        },
    },
    Check {
        rule: "T1",
        severities: &[Error],
        options: &[key::EXTERNAL_WEIGHT],
        summary: "external_weight is a bool",
        source: REFERENCE,
        look: |facts, say| type_of(facts, key::EXTERNAL_WEIGHT, say),
    },
    Check {
        rule: "T1",
        severities: &[Error],
        options: &[key::DEVICE_MEMORY],
        summary: "simulation.device_memory is a number of bytes",
        source: "highwater",
        look: |facts, say| type_of(facts, key::DEVICE_MEMORY, say),
    },
];

/// The value is of the option's type and in its range.
fn type_of(facts: &Facts<'_>, key: &str, say: &mut Speaker<'_>) {
    let Some(row) = find(key) else {
        return;
    };
    let value = facts.value(key);
    if !row.kind.accepts(&value) {
        say.error(format!(
            "{key} is \"{value}\"; it takes {} ({})",
            match row.kind.name() {
                "int" => "a whole number in",
                "bytes" => "a number of bytes in",
                "bool" => "a bool,",
                _ => "one of",
            },
            row.kind.range_text().trim_start_matches(", ")
        ));
    }
}

fn environment_variable(facts: &Facts<'_>, say: &mut Speaker<'_>) {
    let Some(text) = facts.environment.get(GE_USE_STATIC_MEMORY) else {
        return;
    };
    let policy = effective_policy(facts.options, facts.environment).number();
    if facts.is_set(key::STATIC_MEMORY_POLICY) {
        say.error(format!(
            "GE_USE_STATIC_MEMORY={text} and static_memory_policy={} are both set, which the documents forbid; the engine \
             combines them, so policy {policy} is in force; remove the variable",
            facts.value(key::STATIC_MEMORY_POLICY)
        ));
    }
    if !matches!(text, "0" | "1" | "2" | "3" | "4") {
        say.warning(format!(
            "GE_USE_STATIC_MEMORY is \"{text}\", which is no policy: the engine silently takes it as 0; write 0, 2, 3 or 4"
        ));
    }
    say.warning("GE_USE_STATIC_MEMORY is to be deprecated; use static_memory_policy".to_owned());
}
