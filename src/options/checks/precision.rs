//! Rules of numeric precision: R10, R11, R13.

use crate::diagnostics::Severity;

use super::super::rows::keys;
use super::super::value::Value;
use super::{Check, Facts, Report, outcome};

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R10",
        outcomes: &[outcome(
            Severity::Error,
            "precision_mode and precision_mode_v2 are both set",
        )],
        options: &[keys::PRECISION_MODE, keys::PRECISION_MODE_V2],
        source: "NPURunConfig option reference; TensorFlow adapter; GE error E10056",
        run: both_modes,
    },
    Check {
        id: "R11",
        outcomes: &[outcome(
            Severity::Error,
            "precision_mode or precision_mode_v2 is not in its list",
        )],
        options: &[keys::PRECISION_MODE, keys::PRECISION_MODE_V2],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: unknown_mode,
    },
    Check {
        id: "R13",
        outcomes: &[outcome(
            Severity::Warning,
            "precision_mode is force_fp16 in training; it is meant for online inference",
        )],
        options: &[keys::PRECISION_MODE, keys::GRAPH_RUN_MODE],
        source: "NPURunConfig option reference",
        run: forced_in_training,
    },
];

/// Whether a mode is set to anything but the empty text, which the engine takes for unset.
fn is_given(facts: &Facts<'_>, key: &str) -> bool {
    facts
        .options
        .get(key)
        .is_some_and(|value| *value != Value::Text(String::new()))
}

fn both_modes(facts: &Facts<'_>, report: &mut Report<'_>) {
    if is_given(facts, keys::PRECISION_MODE) && is_given(facts, keys::PRECISION_MODE_V2) {
        report.error(
            &[keys::PRECISION_MODE, keys::PRECISION_MODE_V2],
            "precision_mode and precision_mode_v2 are both set: keep precision_mode_v2 and remove the other".to_owned(),
        );
    }
}

fn unknown_mode(facts: &Facts<'_>, report: &mut Report<'_>) {
    for key in [keys::PRECISION_MODE, keys::PRECISION_MODE_V2] {
        if is_given(facts, key)
            && let Some(message) = facts.problem(key)
        {
            report.error(&[key], message);
        }
    }
}

fn forced_in_training(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.text(keys::PRECISION_MODE) == "force_fp16" && facts.int(keys::GRAPH_RUN_MODE) == 1 {
        report.warning(
            &[keys::PRECISION_MODE, keys::GRAPH_RUN_MODE],
            "precision_mode=force_fp16 is for online inference only: set graph_run_mode to 0 or choose another mode"
                .to_owned(),
        );
    }
}
