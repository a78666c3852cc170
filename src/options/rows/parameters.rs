//! Entries of the adapter's parameter map that no argument of `NPURunConfig` sets.

use super::adapter::ADAPTER_ROW;
use super::{Choice, DefaultValue, OptionKind, OptionRow};

const AUTO_OR_MANUAL: &[Choice<&'static str>] = &[
    ("auto", "the engine decides where"),
    ("manual", "where scopes in the script say so"),
];

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: "recompute",
        kind: OptionKind::TextChoice(AUTO_OR_MANUAL),
        summary: "whether activations are dropped and computed again to save memory",
        details: "In a parameter map it is a separate entry. For NPURunConfig it is an argument of \
                  GraphMemoryOptimizeConfig, which belongs to ExperimentalConfig as graph_memory_optimize_config. \
                  Experimental.",
        memory_effect: "nothing here: in reality tensors that are computed again live shorter",
        since: Some("adapter of 2022"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "graph_slice",
        kind: OptionKind::TextChoice(AUTO_OR_MANUAL),
        summary: "whether a graph is cut into slices along the batch to save memory",
        details: "In a parameter map it is a separate entry. For NPURunConfig it is an argument of \
                  GraphMemoryOptimizeConfig, which belongs to ExperimentalConfig as graph_memory_optimize_config. \
                  Experimental.",
        memory_effect: "nothing here: in reality slices that run in turn hold less at a time",
        since: Some("adapter of 2022"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "use_off_line",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(true),
        summary: "whether the graph is sent to the device at all",
        details: "It exists only as an entry of a parameter map, in scripts for sess.run; NPURunConfig has no such \
                  argument. Off, the framework runs everything on the host.",
        memory_effect: "nothing here: the device is what is simulated",
        since: Some("adapter of 2020"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "graph_exec_timeout",
        kind: OptionKind::ANY_INT,
        default: DefaultValue::Int(600_000),
        unit: Some("ms"),
        summary: "how long one run of a graph may take",
        details: "It exists only as an entry of a parameter map, in scripts for sess.run; NPURunConfig has no such \
                  argument. The time after which a run is reported as failed.",
        since: Some("adapter of 2023"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "lower_functional_ops",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether functional control flow is rewritten into switches and merges",
        details: "It exists only as an entry of a parameter map, in scripts for sess.run; NPURunConfig has no such \
                  argument. On, If and While of version 2 become the control flow of version 1.",
        since: Some("adapter of 2020"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "job",
        kind: OptionKind::Text,
        default: DefaultValue::Text("localhost"),
        summary: "the job of this process in a cluster",
        details: "It exists only as an entry of a parameter map, in scripts for sess.run; NPURunConfig has no such \
                  argument. In a cluster it is ps or worker; NPURunConfig takes it from TF_CONFIG.",
        since: Some("adapter of 2020"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "task_index",
        kind: OptionKind::Int { min: 0, max: i64::MAX },
        default: DefaultValue::Int(0),
        summary: "the number of this process within its job",
        details: "It exists only as an entry of a parameter map, in scripts for sess.run; NPURunConfig has no such \
                  argument. NPURunConfig takes it from TF_CONFIG.",
        since: Some("adapter of 2020"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "in_out_pair_flag",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(true),
        summary: "whether the ops within in_out_pair go to the device or stay on the host",
        details: "It exists only as an entry of a parameter map, in scripts for sess.run; NPURunConfig has no such \
                  argument. True sends that part to the device and leaves the rest on the host, False the other way \
                  round. For mixed computing in online inference.",
        memory_effect: "nothing here: simulation.host_ops says what stays on the host",
        since: Some("adapter of 2023"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "in_out_pair",
        kind: OptionKind::Text,
        summary: "the first and last ops of the part that in_out_pair_flag is about",
        details: "It exists only as an entry of a parameter map, in scripts for sess.run; NPURunConfig has no such \
                  argument. A list with the names of the first and of the last ops, as a text; one such part can be \
                  given. For mixed computing in online inference.",
        memory_effect: "nothing here: simulation.host_ops says what stays on the host",
        since: Some("adapter of 2023"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "min_group_size",
        kind: OptionKind::Any,
        summary: "how many ops a part of the graph has at least to go to the device",
        details: "It exists only as an entry of a parameter map, in scripts for sess.run; NPURunConfig has no such \
                  argument. Scripts of 2020 set it to 1.",
        memory_effect: "nothing here: simulation.host_ops says what stays on the host",
        since: Some("adapter of 2020"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "auto_tune_mode",
        kind: OptionKind::Names(&[("RL", "by reinforcement learning"), ("GA", "by a genetic algorithm")]),
        summary: "which methods tune kernels",
        details: "An option of the adapters of 2020 and 2021, as an entry of a parameter map and as an argument of \
                  NPURunConfig. Later ones take aoe_mode and ignore it.",
        since: Some("adapter of 2020"),
        replaced_by: Some("aoe_mode"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
];
