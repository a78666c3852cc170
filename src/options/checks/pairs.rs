//! highwater's own rule of options that exclude each other: K7.

use super::{Check, Facts, Report, Value, error, keys};

const DUMP: &str = keys::ENABLE_DUMP;
const OVERFLOW: &str = keys::ENABLE_DUMP_DEBUG;
const STEPS: &str = keys::SAVE_CHECKPOINTS_STEPS;
const SECONDS: &str = keys::SAVE_CHECKPOINTS_SECS;

pub(super) const ROWS: &[Check] = &[Check {
    id: "K7",
    outcomes: &[error(
        "enable_dump and enable_dump_debug are both on, or save_checkpoints_steps and save_checkpoints_secs both set",
    )],
    options: &[DUMP, OVERFLOW, STEPS, SECONDS],
    source: "GE dump properties; TensorFlow 1 RunConfig",
    run: pairs,
}];

fn pairs(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.bool(DUMP) && facts.bool(OVERFLOW) {
        report
            .error(
                &[DUMP, OVERFLOW],
                "enable_dump and enable_dump_debug are both on, which GE rejects: keep one of them",
            )
            .set(OVERFLOW, false)
            .set(DUMP, false);
    }
    if facts.is_set(STEPS) && facts.is_set(SECONDS) {
        report
            .error(
                &[STEPS, SECONDS],
                "save_checkpoints_steps and save_checkpoints_secs are both set, which TensorFlow rejects: keep one of \
                 them",
            )
            .set(SECONDS, Value::Unset)
            .set(STEPS, Value::Unset);
    }
}
