//! Rules of numeric precision: R10 to R14.

use super::super::effective::is_training;
use super::{Check, Facts, Report, Value, error, keys, warning};

const MIX_LIST: &str = keys::MODIFY_MIXLIST;

/// The modes of each option that use mixed precision lists.
const MIXED: [(&str, &[&str]); 2] = [
    (
        keys::PRECISION_MODE,
        &[
            "allow_mix_precision",
            "allow_mix_precision_fp16",
            "allow_mix_precision_bf16",
        ],
    ),
    (
        keys::PRECISION_MODE_V2,
        &["mixed_float16", "mixed_bfloat16", "mixed_hif8"],
    ),
];

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R10",
        outcomes: &[error("precision_mode and precision_mode_v2 are both set")],
        options: &[keys::PRECISION_MODE, keys::PRECISION_MODE_V2],
        source: "NPURunConfig option reference; TensorFlow adapter; GE error E10056",
        run: both_modes,
    },
    Check {
        id: "R11",
        outcomes: &[error("precision_mode or precision_mode_v2 is not a known mode")],
        options: &[keys::PRECISION_MODE, keys::PRECISION_MODE_V2],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: unknown_mode,
    },
    Check {
        id: "R12",
        outcomes: &[error("modify_mixlist is set without mixed precision")],
        options: &[MIX_LIST, keys::PRECISION_MODE, keys::PRECISION_MODE_V2],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: lists_without_mixing,
    },
    Check {
        id: "R13",
        outcomes: &[warning(
            "precision_mode is force_fp16 in training; it is meant for online inference",
        )],
        options: &[keys::PRECISION_MODE, keys::GRAPH_RUN_MODE],
        source: "NPURunConfig option reference",
        run: forced_in_training,
    },
    Check {
        id: "R14",
        outcomes: &[warning(
            "customize_dtypes has no effect under precision_mode=must_keep_origin_dtype",
        )],
        options: &[keys::CUSTOMIZE_DTYPES, keys::PRECISION_MODE],
        source: "NPURunConfig option reference",
        run: idle_dtypes,
    },
];

/// Whether a mode is set to a non-empty text; the engine treats an empty one as unset.
fn is_given(facts: &Facts<'_>, key: &str) -> bool {
    facts
        .options
        .get(key)
        .is_some_and(|value| *value != Value::Text(String::new()))
}

fn both_modes(facts: &Facts<'_>, report: &mut Report<'_>) {
    if is_given(facts, keys::PRECISION_MODE) && is_given(facts, keys::PRECISION_MODE_V2) {
        report
            .error(
                &[keys::PRECISION_MODE, keys::PRECISION_MODE_V2],
                "precision_mode and precision_mode_v2 are both set: keep precision_mode_v2 and remove the other",
            )
            .set(keys::PRECISION_MODE, Value::Unset);
    }
}

fn unknown_mode(facts: &Facts<'_>, report: &mut Report<'_>) {
    for key in [keys::PRECISION_MODE, keys::PRECISION_MODE_V2] {
        if is_given(facts, key) {
            report.own_kind(facts, key);
        }
    }
}

/// The adapter reads `precision_mode` where it is given, and `precision_mode_v2` only otherwise.
fn lists_without_mixing(facts: &Facts<'_>, report: &mut Report<'_>) {
    if !is_given(facts, MIX_LIST) {
        return;
    }
    let given = MIXED.iter().find(|(key, _)| is_given(facts, key));
    if let Some((key, modes)) = given {
        let mode = facts.options.written(key).to_string();
        if facts.is_computed(key) || modes.contains(&mode.as_str()) {
            return;
        }
        report
            .error(
                &[MIX_LIST, key],
                format!(
                    "modify_mixlist needs mixed precision, but {key} is {mode}: use {}",
                    modes.join(" or ")
                ),
            )
            .set(MIX_LIST, Value::Unset);
    } else {
        report
            .error(
                &[MIX_LIST],
                "modify_mixlist needs mixed precision: set precision_mode_v2 to mixed_float16",
            )
            .set(keys::PRECISION_MODE_V2, "mixed_float16")
            .set(MIX_LIST, Value::Unset);
    }
}

fn idle_dtypes(facts: &Facts<'_>, report: &mut Report<'_>) {
    if is_given(facts, keys::CUSTOMIZE_DTYPES) && facts.text(keys::PRECISION_MODE) == "must_keep_origin_dtype" {
        report
            .warning(
                &[keys::CUSTOMIZE_DTYPES, keys::PRECISION_MODE],
                "customize_dtypes has no effect under precision_mode=must_keep_origin_dtype: remove it or choose \
                 another mode",
            )
            .set(keys::CUSTOMIZE_DTYPES, Value::Unset);
    }
}

fn forced_in_training(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.text(keys::PRECISION_MODE) == "force_fp16"
        && is_training(facts.options)
        && !facts.is_computed(keys::GRAPH_RUN_MODE)
    {
        report.warning(
            &[keys::PRECISION_MODE, keys::GRAPH_RUN_MODE],
            "precision_mode=force_fp16 is for online inference only: set graph_run_mode to 0 or choose another mode",
        );
    }
}
