//! Entries of the adapter's parameter map that no argument of `NPURunConfig` sets.

use super::adapter::ADAPTER_ROW;
use super::{Choice, DefaultValue, OptionKind, OptionRow};

const AUTO_OR_MANUAL: &[Choice<&'static str>] =
    &[("auto", "the engine decides"), ("manual", "by scopes of the script")];

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: "recompute",
        kind: OptionKind::TextChoice(AUTO_OR_MANUAL),
        summary: "whether activations are dropped and recomputed to save memory",
        details: "In a parameter map it is a separate entry. For NPURunConfig it is an argument of \
                  GraphMemoryOptimizeConfig, which belongs to ExperimentalConfig as graph_memory_optimize_config. \
                  Experimental.",
        memory_effect: "not simulated: on a device, recomputed tensors live shorter",
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
        memory_effect: "not simulated: on a device, slices run one after another and hold less memory",
        since: Some("adapter of 2022"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "use_off_line",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(true),
        summary: "whether the graph is sent to the device at all",
        details: "Only an entry of parameter maps (sess.run scripts); NPURunConfig has no such argument. Off, the \
                  framework runs everything on the host.",
        memory_effect: "not simulated: only the device is simulated",
        since: Some("adapter of 2020"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "graph_exec_timeout",
        kind: OptionKind::ANY_INT,
        default: DefaultValue::Int(600_000),
        unit: Some("ms"),
        summary: "timeout of one graph run",
        details: "Only an entry of parameter maps (sess.run scripts); NPURunConfig has no such argument. Timeout of \
                  one run.",
        since: Some("adapter of 2023"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "lower_functional_ops",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether functional control flow is rewritten into switches and merges",
        details: "Only an entry of parameter maps (sess.run scripts); NPURunConfig has no such argument. On, If and \
                  While of version 2 become the control flow of version 1.",
        since: Some("adapter of 2020"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "job",
        kind: OptionKind::Text,
        default: DefaultValue::Text("localhost"),
        summary: "the job of this process in a cluster",
        details: "Only an entry of parameter maps (sess.run scripts); NPURunConfig has no such argument. In a cluster \
                  it is ps or worker; NPURunConfig takes it from TF_CONFIG.",
        since: Some("adapter of 2020"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "task_index",
        kind: OptionKind::Int { min: 0, max: i64::MAX },
        default: DefaultValue::Int(0),
        summary: "the number of this process within its job",
        details: "Only an entry of parameter maps (sess.run scripts); NPURunConfig has no such argument. NPURunConfig \
                  takes it from TF_CONFIG.",
        since: Some("adapter of 2020"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "in_out_pair_flag",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(true),
        summary: "whether the ops within in_out_pair run on the device or the host",
        details: "Only an entry of parameter maps (sess.run scripts); NPURunConfig has no such argument. True runs \
                  that part on the device and the rest on the host, False the opposite. For mixed computing in online \
                  inference.",
        memory_effect: "not simulated: see simulation.host_ops",
        since: Some("adapter of 2023"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "in_out_pair",
        kind: OptionKind::Text,
        summary: "first and last ops of the part selected by in_out_pair_flag",
        details: "Only an entry of parameter maps (sess.run scripts); NPURunConfig has no such argument. A list with \
                  the names of the first and of the last ops, as a text; one such part can be given. For mixed \
                  computing in online inference.",
        memory_effect: "not simulated: see simulation.host_ops",
        since: Some("adapter of 2023"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "min_group_size",
        kind: OptionKind::Any,
        summary: "minimum number of ops of a subgraph on the device",
        details: "Only an entry of parameter maps (sess.run scripts); NPURunConfig has no such argument. Scripts of \
                  2020 set it to 1.",
        memory_effect: "not simulated: see simulation.host_ops",
        since: Some("adapter of 2020"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "auto_tune_mode",
        kind: OptionKind::Names(&[("RL", "by reinforcement learning"), ("GA", "by a genetic algorithm")]),
        summary: "kernel tuning methods",
        details: "An option of the adapters of 2020 and 2021, as an entry of a parameter map and as an argument of \
                  NPURunConfig. Later ones take aoe_mode and ignore it.",
        since: Some("adapter of 2020"),
        replaced_by: Some("aoe_mode"),
        source: "TensorFlow adapter npu_attrs.cc",
        ..ADAPTER_ROW
    },
];
