//! Rules of weights: R35, R36.

use super::super::environment::ASCEND_WORK_PATH;
use super::{Check, Facts, Report, Value, error, info, keys, warning};

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R35",
        outcomes: &[
            warning("external_weight is on and writes below the current directory"),
            info("external_weight is on with a configured directory"),
        ],
        options: &[
            keys::EXTERNAL_WEIGHT,
            keys::ENGINE_EXTERNAL_WEIGHT_DIR,
            ASCEND_WORK_PATH,
        ],
        source: "NPURunConfig option reference",
        run: weight_files,
    },
    Check {
        id: "R36",
        outcomes: &[error("enable_compress_weight and compress_weight_conf are both set")],
        options: &[keys::ENABLE_COMPRESS_WEIGHT, keys::COMPRESS_WEIGHT_CONF],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: compression,
    },
];

fn weight_files(facts: &Facts<'_>, report: &mut Report<'_>) {
    if !facts.bool(keys::EXTERNAL_WEIGHT) {
        return;
    }
    let key = keys::EXTERNAL_WEIGHT;
    if let Some(path) = facts.options.get(keys::ENGINE_EXTERNAL_WEIGHT_DIR) {
        report.info(
            &[key, keys::ENGINE_EXTERNAL_WEIGHT_DIR],
            format!("weights go to {} (from ge.externalWeightDir)", path.quoted()),
        );
        return;
    }
    let directory = "tmp_weight_PID_SESSION";
    match facts.environment.get(ASCEND_WORK_PATH) {
        Some(path) if !path.is_empty() => report.info(
            &[key, ASCEND_WORK_PATH],
            format!("weights go to \"{path}/{directory}\", which is deleted when the model is unloaded"),
        ),
        None if facts.is_set(ASCEND_WORK_PATH) => report.info(
            &[key, ASCEND_WORK_PATH],
            format!("weights go to {directory} below ASCEND_WORK_PATH, which is deleted when the model is unloaded"),
        ),
        _ => report.warning(
            &[key],
            format!("weights go to ./{directory} in the current directory: set ASCEND_WORK_PATH to change it"),
        ),
    };
}

/// Presence alone counts: `enable_compress_weight=False` is refused as well.
fn compression(facts: &Facts<'_>, report: &mut Report<'_>) {
    let keys = [keys::ENABLE_COMPRESS_WEIGHT, keys::COMPRESS_WEIGHT_CONF];
    if facts.set_of(&keys).len() == keys.len() {
        report
            .error(
                &keys,
                "enable_compress_weight and compress_weight_conf are both set: keep compress_weight_conf (some \
                 weights) or enable_compress_weight (all)",
            )
            .set(keys[0], Value::Unset)
            .set(keys[1], Value::Unset);
    }
}
