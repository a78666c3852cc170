//! Options that `NPURunConfig` inherits from TensorFlow's `RunConfig`.

use super::{COMMON, DefaultValue, OptionKind, OptionRow, PathKind, Section};

/// TensorFlow checks the sign alone, so that `1e9` is a number of steps.
const NUMBER: OptionKind = OptionKind::Float {
    min: 0.0,
    max: f64::INFINITY,
};

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: "model_dir",
        kind: OptionKind::Path(PathKind::Directory),
        summary: "the directory for checkpoints and summaries",
        details: "Where NPUEstimator is given a directory too, both must be the same. Without either, a directory is \
                  made below the current one.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "tf_random_seed",
        kind: OptionKind::ANY_INT,
        summary: "the seed of random initial values",
        details: "Unset, initial values differ from run to run. The same seed does not make results equal by itself: \
                  see deterministic.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "save_summary_steps",
        kind: NUMBER,
        default: DefaultValue::Int(0),
        summary: "steps between summaries",
        details: "0 saves none, which is the adapter's default, unlike TensorFlow's. With iterations_per_loop above \
                  1 summaries may be missed.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "save_checkpoints_steps",
        kind: NUMBER,
        unset_means: Some("100 where save_checkpoints_secs is not given either"),
        summary: "steps between checkpoints",
        details: "Mutually exclusive with save_checkpoints_secs. Without either, 100 steps. With iterations_per_loop \
                  above 1 it should be a multiple of that.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "save_checkpoints_secs",
        kind: NUMBER,
        unit: Some("s"),
        summary: "seconds between checkpoints",
        details: "Mutually exclusive with save_checkpoints_steps. It removes the default of 100 steps.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "session_config",
        kind: OptionKind::Object { class: "ConfigProto" },
        summary: "the ConfigProto of the session",
        details: "TensorFlow's own session settings. The adapter adds an optimizer named NpuOptimizer to it, into \
                  whose parameter map the options go.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "keep_checkpoint_max",
        kind: NUMBER,
        default: DefaultValue::Int(5),
        summary: "number of checkpoints kept",
        details: "Older ones are deleted. 0 or None keeps all.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "keep_checkpoint_every_n_hours",
        kind: NUMBER,
        default: DefaultValue::Int(10_000),
        unit: Some("h"),
        summary: "hours after which a checkpoint is kept permanently",
        details: "The default is so long that it never happens. It matters only with a large keep_checkpoint_max.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "log_step_count_steps",
        kind: NUMBER,
        default: DefaultValue::Int(100),
        summary: "steps between log lines",
        details: "Counts global steps. With iterations_per_loop above 1 lines may be missed.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "train_distribute",
        kind: OptionKind::Any,
        summary: "the strategy object of distributed training",
        details: "Accepted for TensorFlow's sake. The adapter uses it for itself and advises not to set it; use \
                  distribute.",
        memory_effect: "not simulated: one device is simulated",
        since: Some("adapter of 2021"),
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "eval_distribute",
        kind: OptionKind::Any,
        summary: "the strategy object of distributed evaluation",
        details: "Accepted for TensorFlow's sake. The adapter uses it for itself and advises not to set it; use \
                  distribute.",
        memory_effect: "not simulated: one device is simulated",
        since: Some("adapter of 2021"),
        ..RUN_CONFIG_ROW
    },
];

const RUN_CONFIG_ROW: OptionRow = OptionRow {
    section: Section::RunConfig,
    since: Some("adapter of 2020"),
    source: "TensorFlow 1 RunConfig; TensorFlow adapter npu_config.py",
    ..COMMON
};
