//! Options of run mode, device, dynamic shapes and mixed computing.

use super::{Acts, COMMON, DefaultValue, OptionKind, OptionRow, Section, keys};

pub(super) const BASIC: &[OptionRow] = &[
    GRAPH_RUN_MODE,
    OptionRow {
        key: "session_device_id",
        kind: OptionKind::Int { min: 0, max: i64::MAX },
        unset_means: Some("the device that ASCEND_DEVICE_ID or DEVICE_ID names, else 0"),
        summary: "logical device id of the session",
        details: "Lets one script run models on several devices, one id per session. Precedence: this option, \
                  ASCEND_DEVICE_ID, DEVICE_ID, 0. Negative ids are rejected.",
        lowers_to: Some("Params::device_bytes"),
        acts: Acts::ON_DEVICE.with(&[keys::OCCUPIED_MEMORY]),
        rule: "R37",
        memory_effect: "selects the entry of simulation.occupied_memory; no effect without that option",
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..BASIC_ROW
    },
    OptionRow {
        key: "distribute",
        kind: OptionKind::Object {
            class: "ParameterServerStrategy",
        },
        summary: "the strategy object of training with parameter servers",
        details: "A ParameterServerStrategy (PS-Worker architecture); other values are rejected. Requires a cluster \
                  in the variable TF_CONFIG, and vice versa. A cluster also needs mix_compile_mode=True.",
        rule: "R5",
        memory_effect: "not simulated: one device is simulated; on a device, a worker fetches its variables from the \
                        servers",
        source: "NPURunConfig option reference; TensorFlow adapter npu_config.py",
        ..BASIC_ROW
    },
    OptionRow {
        key: "deterministic",
        kind: OptionKind::IntChoice(&[
            (0, "results may vary from run to run"),
            (1, "the same result each time, slower"),
        ]),
        default: DefaultValue::Int(0),
        summary: "whether ops are deterministic",
        details: "Kernels that add in several threads sum floating point numbers in varying order, so results may \
                  differ from run to run. 1 fixes the order at the price of speed; use it to debug and to tune \
                  accuracy. For fully fixed results the script must fix its random seeds as well.",
        memory_effect: "not simulated: on a device, deterministic kernels may need more scratch memory",
        ..BASIC_ROW
    },
];

pub(super) const DYNAMIC: &[OptionRow] = &[
    OptionRow {
        key: "ac_parallel_enable",
        kind: OptionKind::TextChoice(&[
            ("0", "AI CPU ops have no separate stream"),
            ("1", "AI CPU ops run in parallel on a separate stream"),
        ]),
        unset_means: Some("\"0\""),
        summary: "whether AI CPU ops may run beside AI Core ops in dynamic graphs",
        details: "With \"1\" the system finds AI CPU ops of a dynamic graph that can run at the same time as AI Core \
                  ops, and sends the ops of each engine to a separate stream. That uses the device better and speeds \
                  dynamic graphs up. The value is text, not a number.",
        memory_effect: "not simulated: one stream is simulated; on a device, streams reuse each other's memory later \
                        or not at all",
        ..DYNAMIC_SHAPE_ROW
    },
    OptionRow {
        key: "compile_dynamic_mode",
        kind: OptionKind::Bool,
        unset_means: Some("False"),
        summary: "whether all input shapes of the graph are made unknown before it is compiled",
        details: "On, every dimension of every input becomes -1, so that a static graph is compiled as a dynamic one \
                  and need not be compiled again for other shapes. In exchange it loses the placement that is \
                  computed once for static graphs. It also makes shape_generalization_mode pointless.",
        lowers_to: Some("Lowered::all_dynamic"),
        memory_effect: "static graphs run as dynamic ones: they allocate op by op from the pools of the policy \
                        instead of holding a block",
        ..DYNAMIC_SHAPE_ROW
    },
];

pub(super) const MIXED: &[OptionRow] = &[MIX_COMPILE_MODE];

const BASIC_ROW: OptionRow = OptionRow {
    section: Section::Basic,
    ..COMMON
};

const DYNAMIC_SHAPE_ROW: OptionRow = OptionRow {
    section: Section::DynamicShape,
    ..COMMON
};

const MIXED_COMPUTING_ROW: OptionRow = OptionRow {
    section: Section::MixedComputing,
    ..COMMON
};

const GRAPH_RUN_MODE: OptionRow = OptionRow {
    key: keys::GRAPH_RUN_MODE,
    kind: OptionKind::IntChoice(&[(0, "online inference"), (1, "training")]),
    default: DefaultValue::Int(1),
    summary: "whether graphs are run for training or for online inference",
    details: "Tells the compiler what a graph is for. Some options belong to one of the two modes only: \
              graph_max_parallel_model_num and precision_mode=force_fp16 are meant for inference. The rules use it \
              to say which other settings do not fit.",
    memory_effect: "0 runs the forward part alone of graphs that carry training phases, so that activations die at \
                    their last forward reader; graphs without phases run as they are",
    lowers_to: Some("Lowered::inference"),
    rule: "R6",
    ..BASIC_ROW
};

const MIX_COMPILE_MODE: OptionRow = OptionRow {
    key: keys::MIX_COMPILE_MODE,
    kind: OptionKind::Bool,
    default: DefaultValue::Bool(false),
    summary: "whether ops that the device does not support may stay in the framework on the host",
    details: "Off, the whole graph is sent to the device and every op has to run there. On, the framework keeps some ops \
              on the host and the device gets the parts between them, each as a separate graph. Loops of several \
              iterations cannot be sent to the device then, so iterations_per_loop must be 1; variables on the host need \
              this option.",
    memory_effect: "on, ops of the types in simulation.host_ops stay on the host: their results take no feature \
                    memory, and tensors that cross between host and device become graph inputs and outputs",
    lowers_to: Some("Lowered::host_ops"),
    is_estimate: true,
    rule: "R2",
    ..MIXED_COMPUTING_ROW
};
