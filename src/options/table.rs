//! The table of options. One row here drives parsing, range checks, the panel, JSON and the help texts.

use std::borrow::Cow;

use super::row::{Choice, OptionKind, OptionRow, Section};
use super::value::Value;

/// Keys that code names.
pub mod key {
    /// `memory_config.static_memory_policy`.
    pub const STATIC_MEMORY_POLICY: &str = "memory_config.static_memory_policy";
    /// `memory_config.atomic_clean_policy`.
    pub const ATOMIC_CLEAN_POLICY: &str = "memory_config.atomic_clean_policy";
    /// `external_weight`.
    pub const EXTERNAL_WEIGHT: &str = "external_weight";
    /// `input_fusion_size`.
    pub const INPUT_FUSION_SIZE: &str = "input_fusion_size";
    /// `graph_run_mode`.
    pub const GRAPH_RUN_MODE: &str = "graph_run_mode";
    /// `mix_compile_mode`.
    pub const MIX_COMPILE_MODE: &str = "mix_compile_mode";
    /// `precision_mode`.
    pub const PRECISION_MODE: &str = "precision_mode";
    /// `precision_mode_v2`.
    pub const PRECISION_MODE_V2: &str = "precision_mode_v2";
    /// `iterations_per_loop`.
    pub const ITERATIONS_PER_LOOP: &str = "iterations_per_loop";
    /// `variable_placement`.
    pub const VARIABLE_PLACEMENT: &str = "variable_placement";
    /// `graph_max_parallel_model_num`.
    pub const GRAPH_MAX_PARALLEL_MODEL_NUM: &str = "graph_max_parallel_model_num";
    /// `simulation.device_memory`.
    pub const DEVICE_MEMORY: &str = "simulation.device_memory";
}

const fn int(value: i64, meaning: &'static str) -> Choice {
    Choice {
        value: Value::Int(value),
        meaning,
    }
}

const fn text(value: &'static str, meaning: &'static str) -> Choice {
    Choice {
        value: Value::Text(Cow::Borrowed(value)),
        meaning,
    }
}

const POLICIES: &[Choice] = &[
    int(0, "dynamic allocation"),
    int(1, "as 2, for older configurations"),
    int(2, "static expansion: static graphs share one arena"),
    int(3, "dynamic expansion: dynamic graphs share pages"),
    int(4, "static and dynamic expansion"),
];

const ATOMIC_CLEAN: &[Choice] = &[
    int(0, "one collective cleanup at the start"),
    int(1, "each op's memory is cleared separately"),
];

const RUN_MODES: &[Choice] = &[int(0, "online inference"), int(1, "training")];

const PLACEMENTS: &[Choice] = &[
    text("Device", "variables on the device"),
    text("Host", "variables on the host"),
];

const PRECISIONS: &[Choice] = &[
    text("", "not set; training acts as allow_fp32_to_fp16"),
    text(
        "allow_fp32_to_fp16",
        "matrix ops in float16, others keep float32 where they can",
    ),
    text("force_fp16", "float16 wherever an op supports it; inference only"),
    text("force_fp32", "as cube_fp16in_fp32out"),
    text("cube_fp16in_fp32out", "matrix ops take float16 and give float32"),
    text("must_keep_origin_dtype", "the graph's own types"),
    text("allow_mix_precision", "as allow_mix_precision_fp16"),
    text(
        "allow_mix_precision_fp16",
        "float16 for ops that the built-in list allows",
    ),
    text(
        "allow_mix_precision_bf16",
        "bfloat16 for ops that the built-in list allows",
    ),
    text("allow_fp32_to_bf16", "bfloat16 where float32 is not supported"),
];

const PRECISIONS_V2: &[Choice] = &[
    text("", "not set"),
    text("fp16", "float16 wherever an op supports it"),
    text("origin", "the graph's own types"),
    text("cube_fp16in_fp32out", "matrix ops take float16 and give float32"),
    text("mixed_float16", "float16 for ops that the built-in list allows"),
    text("mixed_bfloat16", "bfloat16 for ops that the built-in list allows"),
    text("cube_hif8", "matrix ops in 8 bits"),
    text("mixed_hif8", "8 bits for ops that the built-in list allows"),
];

const NOT_SIMULATED: &str = "nothing in this version";
const REFERENCE: &str = "NPURunConfig reference";

/// Every option, in the order of the panel.
pub static TABLE: &[OptionRow] = &[
    OptionRow {
        key: key::STATIC_MEMORY_POLICY,
        section: Section::Memory,
        kind: OptionKind::Choice(POLICIES),
        default: Value::Int(0),
        unit: "",
        summary: "how device memory is given to graphs",
        details: "0 gives each static graph a block of its own and dynamic graphs page pools. 2 lets the static graphs \
                  of a session share one arena as large as the largest needs. 3 backs dynamic graphs by one virtual \
                  range with 8 MiB pages, which avoids holes. 4 does both, and static arenas hold pages only while \
                  their graph runs. 1 acts as 2. 2 and 4 must not be used when graphs run concurrently, because they \
                  would share addresses; 3 and 4 save memory and may cost time. The environment variable \
                  GE_USE_STATIC_MEMORY is combined with this option.",
        memory_effect: "chooses the lane that is in force; all four are simulated side by side",
        since: "",
        deprecated: false,
        replaced_by: "",
        source: "MemoryConfig reference; engine, graph_var_manager",
    },
    OptionRow {
        key: key::ATOMIC_CLEAN_POLICY,
        section: Section::Memory,
        kind: OptionKind::Choice(ATOMIC_CLEAN),
        default: Value::Int(0),
        unit: "",
        summary: "who clears the memory that ops add to",
        details: "Some ops need their outputs or scratch cleared before they run. With 0 one op at the front of the \
                  graph clears all of it, so this memory is kept apart and alive for the whole run. With 1 each op \
                  clears its own memory right before it runs: the memory is reused like any other, at the price of \
                  one more launch for each such op.",
        memory_effect: "0 keeps outputs that the graph marks as atomic alive for its whole run, 1 does not; graphs \
                        without such marks are not changed",
        since: "",
        deprecated: false,
        replaced_by: "",
        source: "MemoryConfig reference",
    },
    OptionRow {
        key: key::EXTERNAL_WEIGHT,
        section: Section::Memory,
        kind: OptionKind::Bool,
        default: Value::Bool(false),
        unit: "",
        summary: "keep constant weights in files, so that graphs of a session can share them",
        details: "With True the constants of all graphs are written to files and loaded from there; several models of \
                  one session that hold equal weights then hold them once. The files go to a folder below \
                  ASCEND_WORK_PATH, else below the current directory, and are removed when the model is unloaded.",
        memory_effect: "weights with equal name and size are counted once for all graphs of the session",
        since: "",
        deprecated: false,
        replaced_by: "",
        source: REFERENCE,
    },
    OptionRow {
        key: key::INPUT_FUSION_SIZE,
        section: Section::Memory,
        kind: OptionKind::Bytes {
            min: 0,
            max: 33_554_432,
        },
        default: Value::Int(131_072),
        unit: "bytes",
        summary: "inputs up to this size are gathered into one copy to the device",
        details: "Inputs at or below the threshold are gathered into one piece on the host and copied at once; larger \
                  ones are copied one by one. 0 turns the gathering off. The adapter clamps values outside 0 to \
                  33554432 with a warning.",
        memory_effect: NOT_SIMULATED,
        since: "",
        deprecated: false,
        replaced_by: "",
        source: REFERENCE,
    },
    OptionRow {
        key: key::GRAPH_RUN_MODE,
        section: Section::Basic,
        kind: OptionKind::Choice(RUN_MODES),
        default: Value::Int(1),
        unit: "",
        summary: "training or online inference",
        details: "Tells the compiler what the graph is for. Some options apply to one of the two only: the rules say \
                  which.",
        memory_effect: NOT_SIMULATED,
        since: "",
        deprecated: false,
        replaced_by: "",
        source: REFERENCE,
    },
    OptionRow {
        key: key::MIX_COMPILE_MODE,
        section: Section::Mixed,
        kind: OptionKind::Bool,
        default: Value::Bool(false),
        unit: "",
        summary: "let some ops run in the framework instead of on the device",
        details: "With False every compute op is offloaded. With True ops that the device does not support stay in the \
                  framework. Loops on the device (iterations_per_loop above 1) are not possible then, and variables on \
                  the host need it.",
        memory_effect: NOT_SIMULATED,
        since: "",
        deprecated: false,
        replaced_by: "",
        source: REFERENCE,
    },
    OptionRow {
        key: key::PRECISION_MODE,
        section: Section::Accuracy,
        kind: OptionKind::Choice(PRECISIONS),
        default: Value::UNSET,
        unit: "",
        summary: "which element types ops compute in",
        details: "Chooses between the graph's own types and narrower ones, op class by op class. Where it is not set, \
                  training acts as allow_fp32_to_fp16. It must not be combined with precision_mode_v2. Narrower types \
                  halve many activations.",
        memory_effect: "nothing in this version: tensors keep the widths that the graph states",
        since: "",
        deprecated: false,
        replaced_by: "",
        source: REFERENCE,
    },
    OptionRow {
        key: key::PRECISION_MODE_V2,
        section: Section::Accuracy,
        kind: OptionKind::Choice(PRECISIONS_V2),
        default: Value::UNSET,
        unit: "",
        summary: "the newer form of precision_mode",
        details: "The same choice with clearer names. Only one of the two may be set.",
        memory_effect: "nothing in this version: tensors keep the widths that the graph states",
        since: "",
        deprecated: false,
        replaced_by: "",
        source: REFERENCE,
    },
    OptionRow {
        key: key::ITERATIONS_PER_LOOP,
        section: Section::Performance,
        kind: OptionKind::Int {
            min: 1,
            max: i32::MAX as i64,
        },
        default: Value::Int(1),
        unit: "iterations",
        summary: "training steps that run on the device before control returns to the host",
        details: "Several steps run as one loop on the device, which saves the way to the host. The number of all \
                  iterations must be a multiple of it, and mixed computing must be off.",
        memory_effect: NOT_SIMULATED,
        since: "",
        deprecated: false,
        replaced_by: "",
        source: REFERENCE,
    },
    OptionRow {
        key: key::VARIABLE_PLACEMENT,
        section: Section::Performance,
        kind: OptionKind::Choice(PLACEMENTS),
        default: Value::Text(Cow::Borrowed("Device")),
        unit: "",
        summary: "where variables live",
        details: "Variables on the host free device memory when the network has too many of them, and cost a copy at \
                  each use. Host needs mixed computing, and control flow of TensorFlow 1 may fail with it.",
        memory_effect: "Host takes all variables off the device",
        since: "",
        deprecated: false,
        replaced_by: "",
        source: REFERENCE,
    },
    OptionRow {
        key: key::GRAPH_MAX_PARALLEL_MODEL_NUM,
        section: Section::Performance,
        kind: OptionKind::Int {
            min: 1,
            max: i32::MAX as i64,
        },
        default: Value::Int(1),
        unit: "instances",
        summary: "how many instances of a graph may run at the same time",
        details: "An option for online inference: with more than one, requests run concurrently, each with feature \
                  memory of its own. Policies 2 and 4 must not be used then.",
        memory_effect: "that many copies of the feature memory are live at once",
        since: "",
        deprecated: false,
        replaced_by: "",
        source: REFERENCE,
    },
    OptionRow {
        key: key::DEVICE_MEMORY,
        section: Section::Simulation,
        kind: OptionKind::Bytes { min: 0, max: i64::MAX },
        default: Value::Int(0),
        unit: "bytes",
        summary: "device memory to simulate; 0 takes the device profile's",
        details: "Sets the capacity that the lanes are held against, with or without a unit: 34359738368, 32GiB. What \
                  does not fit ends in out of memory, as it would on the device.",
        memory_effect: "the capacity of the simulated device",
        since: "highwater 0.1",
        deprecated: false,
        replaced_by: "",
        source: "highwater",
    },
];

/// The row of a key.
pub fn find(key: &str) -> Option<&'static OptionRow> {
    TABLE.iter().find(|row| row.key == key)
}
