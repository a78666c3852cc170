//! Rules of loops, mixed computing, the run mode and other plain choices: R1 to R4, R6, R7, R9, R15, R40, R42, R47,
//! R54.

use super::experiment::EXTENDED;
use super::{Check, Facts, Report, Value, error, info, keys, near_value, warning};

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R1",
        outcomes: &[error("iterations_per_loop is not an integer above 0")],
        options: &[keys::ITERATIONS_PER_LOOP],
        source: "TensorFlow adapter, npu_config.py",
        run: iterations,
    },
    Check {
        id: "R2",
        outcomes: &[error("mix_compile_mode is not a bool")],
        options: &[keys::MIX_COMPILE_MODE],
        source: "TensorFlow adapter, npu_config.py",
        run: |facts, report| report.own_kind(facts, keys::MIX_COMPILE_MODE),
    },
    Check {
        id: "R3",
        outcomes: &[error("mixed computing is on and iterations_per_loop is not 1")],
        options: &[keys::MIX_COMPILE_MODE, keys::ITERATIONS_PER_LOOP],
        source: "NPURunConfig option reference; TensorFlow adapter, npu_config.py",
        run: loop_under_mixed_computing,
    },
    Check {
        id: "R6",
        outcomes: &[error("graph_run_mode is not 0 or 1")],
        options: &[keys::GRAPH_RUN_MODE],
        source: "TensorFlow adapter, npu_config.py",
        run: |facts, report| report.own_kind(facts, keys::GRAPH_RUN_MODE),
    },
    Check {
        id: "R4",
        outcomes: &[error("jit_compile is not one of the texts auto, true and false")],
        options: &[keys::JIT_COMPILE],
        source: "TensorFlow adapter, npu_config.py and npu_attrs.cc",
        run: |facts, report| report.own_kind(facts, keys::JIT_COMPILE),
    },
    Check {
        id: "R7",
        outcomes: &[error("enable_exception_dump is not 0, 1 or 2")],
        options: &[keys::ENABLE_EXCEPTION_DUMP],
        source: "TensorFlow adapter, npu_config.py and npu_attrs.cc",
        run: |facts, report| report.own_kind(facts, keys::ENABLE_EXCEPTION_DUMP),
    },
    Check {
        id: "R9",
        outcomes: &[error("horovod_mode is not a bool")],
        options: &[keys::HOROVOD_MODE],
        source: "TensorFlow adapter, npu_config.py",
        run: |facts, report| report.own_kind(facts, keys::HOROVOD_MODE),
    },
    Check {
        id: "R15",
        outcomes: &[error("buffer_optimize is not l2_optimize or off_optimize")],
        options: &[keys::BUFFER_OPTIMIZE],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: |facts, report| report.own_kind(facts, keys::BUFFER_OPTIMIZE),
    },
    Check {
        id: "R40",
        outcomes: &[error("export_compile_stat is not 0, 1 or 2")],
        options: &[keys::EXPORT_COMPILE_STAT],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: |facts, report| report.own_kind(facts, keys::EXPORT_COMPILE_STAT),
    },
    Check {
        id: "R42",
        outcomes: &[warning("is_tailing_optimization is on and must match NPUOptimizer")],
        options: &[keys::IS_TAILING_OPTIMIZATION],
        source: "NPURunConfig option reference",
        run: tailing,
    },
    Check {
        id: "R47",
        outcomes: &[warning("enable_reduce_precision is set, which is not supported")],
        options: &[keys::ENABLE_REDUCE_PRECISION],
        source: "NPURunConfig option reference",
        run: unsupported,
    },
    Check {
        id: "R54",
        outcomes: &[info(
            "jit_compile is set; it is experimental and meant for large recommendation models",
        )],
        options: &[keys::JIT_COMPILE],
        source: "NPURunConfig option reference",
        run: recommendation_only,
    },
];

fn iterations(facts: &Facts<'_>, report: &mut Report<'_>) {
    let key = keys::ITERATIONS_PER_LOOP;
    if let Some(message) = facts.problem(key) {
        let near = near_value(facts, key).unwrap_or(Value::Int(1));
        report.error(&[key], message).set(key, near);
    }
}

fn loop_under_mixed_computing(facts: &Facts<'_>, report: &mut Report<'_>) {
    let iterations = facts.int(keys::ITERATIONS_PER_LOOP);
    if facts.bool(keys::MIX_COMPILE_MODE) && iterations != 1 {
        let finding = report.error(
            &[keys::MIX_COMPILE_MODE, keys::ITERATIONS_PER_LOOP],
            format!(
                "iterations_per_loop is {iterations}, but mixed computing cannot loop on the device: \
                 set iterations_per_loop to 1 or mix_compile_mode to False"
            ),
        );
        finding.set(keys::ITERATIONS_PER_LOOP, 1);
    }
}

fn tailing(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.bool(keys::IS_TAILING_OPTIMIZATION) {
        report.warning(
            &[keys::IS_TAILING_OPTIMIZATION],
            "is_tailing_optimization is on: set the same value in NPUOptimizer, and use it only for BERT networks",
        );
    }
}

fn unsupported(_facts: &Facts<'_>, report: &mut Report<'_>) {
    let key = keys::ENABLE_REDUCE_PRECISION;
    report
        .warning(&[key], "enable_reduce_precision is not supported: remove it")
        .set(key, Value::Unset);
}

fn recommendation_only(_facts: &Facts<'_>, report: &mut Report<'_>) {
    report.info(
        &[keys::JIT_COMPILE],
        format!("jit_compile is {EXTENDED}; it is meant for large recommendation models: unset it for other networks"),
    );
}
