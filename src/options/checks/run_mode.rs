//! Rules of loops, mixed computing and the run mode: R1, R2, R3, R6.

use crate::diagnostics::Severity;

use super::super::rows::keys;
use super::{Check, Facts, Report, outcome};

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R1",
        outcomes: &[outcome(
            Severity::Error,
            "iterations_per_loop is not an integer above 0",
        )],
        options: &[keys::ITERATIONS_PER_LOOP],
        source: "TensorFlow adapter, npu_config.py",
        run: |facts, report| own_kind(facts, report, keys::ITERATIONS_PER_LOOP),
    },
    Check {
        id: "R2",
        outcomes: &[outcome(Severity::Error, "mix_compile_mode is not a bool")],
        options: &[keys::MIX_COMPILE_MODE],
        source: "TensorFlow adapter, npu_config.py",
        run: |facts, report| own_kind(facts, report, keys::MIX_COMPILE_MODE),
    },
    Check {
        id: "R3",
        outcomes: &[outcome(
            Severity::Error,
            "mixed computing is on and iterations_per_loop is not 1",
        )],
        options: &[keys::MIX_COMPILE_MODE, keys::ITERATIONS_PER_LOOP],
        source: "NPURunConfig option reference; TensorFlow adapter, npu_config.py",
        run: loop_under_mixed_computing,
    },
    Check {
        id: "R6",
        outcomes: &[outcome(Severity::Error, "graph_run_mode is not 0 or 1")],
        options: &[keys::GRAPH_RUN_MODE],
        source: "TensorFlow adapter, npu_config.py",
        run: |facts, report| own_kind(facts, report, keys::GRAPH_RUN_MODE),
    },
];

/// Reports a value that is not of its option's type or out of its range.
pub(super) fn own_kind(facts: &Facts<'_>, report: &mut Report<'_>, key: &'static str) {
    if let Some(message) = facts.problem(key) {
        report.error(&[key], message);
    }
}

fn loop_under_mixed_computing(facts: &Facts<'_>, report: &mut Report<'_>) {
    let iterations = facts.int(keys::ITERATIONS_PER_LOOP);
    if facts.bool(keys::MIX_COMPILE_MODE) && iterations != 1 {
        report.error(
            &[keys::MIX_COMPILE_MODE, keys::ITERATIONS_PER_LOOP],
            format!(
                "iterations_per_loop is {iterations}, but mixed computing cannot loop on the device: \
                 set iterations_per_loop to 1 or mix_compile_mode to False"
            ),
        );
    }
}
