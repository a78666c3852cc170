//! Options of timeouts, and the experimental ones.

use super::{COMMON, DefaultValue, OptionKind, OptionRow, PathKind, Section};

pub(super) const EXCEPTION: &[OptionRow] = &[
    OptionRow {
        key: "hccl_timeout",
        kind: OptionKind::Int { min: 1, max: 17340 },
        unset_means: Some("HCCL_EXEC_TIMEOUT, else 1836"),
        unit: Some("s"),
        summary: "timeout of collective operations",
        details: "Timeout of AllReduce and other collectives. The device counts in units of 68 s: the value is \
                  rounded down to a multiple of 68, and to 68 at least, so 600 acts as 544. It wins over the variable \
                  HCCL_EXEC_TIMEOUT. In a cluster stream_sync_timeout must be longer.",
        rule: "R27",
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..EXCEPTION_REMEDY_ROW
    },
    OptionRow {
        key: "op_wait_timeout",
        kind: OptionKind::ANY_INT,
        unset_means: Some("120"),
        unit: Some("s"),
        summary: "timeout of an op that waits for another",
        details: "How long an op may wait on the device. Unset, 120 seconds.",
        ..EXCEPTION_REMEDY_ROW
    },
    OptionRow {
        key: "op_execute_timeout",
        kind: OptionKind::ANY_INT,
        unit: Some("s"),
        summary: "timeout of one op",
        details: "The limit of an op that runs on the device. The reference states no default.",
        ..EXCEPTION_REMEDY_ROW
    },
    OptionRow {
        key: "stream_sync_timeout",
        kind: OptionKind::Int { min: -1, max: i64::MAX },
        default: DefaultValue::Int(-1),
        unit: Some("ms"),
        summary: "timeout of stream synchronization on the host",
        details: "How long the host waits for a stream; -1: no limit. In a cluster it must exceed the timeout of \
                  collectives in seconds (hccl_timeout, else HCCL_EXEC_TIMEOUT, else 1836); the 60000 of the \
                  reference's example is too short.",
        ..EXCEPTION_REMEDY_ROW
    },
    OptionRow {
        key: "event_sync_timeout",
        kind: OptionKind::Int { min: -1, max: i64::MAX },
        default: DefaultValue::Int(-1),
        unit: Some("ms"),
        summary: "timeout of event synchronization on the host",
        details: "How long the host waits for an event. -1: no limit.",
        ..EXCEPTION_REMEDY_ROW
    },
];

pub(super) const EXPERIMENT: &[OptionRow] = &[
    OptionRow {
        key: "experimental_config",
        kind: OptionKind::Object {
            class: "ExperimentalConfig",
        },
        summary: "experimental settings (object)",
        details: "An ExperimentalConfig, made before the NPURunConfig; other values are rejected. Its fields are \
                  separate options here. They are meant for debugging, may change and do not belong into products.",
        rule: "R8",
        source: "NPURunConfig option reference; TensorFlow adapter npu_config.py",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.logical_device_cluster_deploy_mode",
        kind: OptionKind::Text,
        default: DefaultValue::Text("LB"),
        summary: "how models are spread over logical devices",
        details: "LB balances the load; SINGLE puts the model onto the device that logical_device_id names. \
                  Experimental.",
        parameter: Some("experimental_logical_device_cluster_deploy_mode"),
        memory_effect: "not simulated: one device is simulated",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.logical_device_id",
        kind: OptionKind::Text,
        summary: "the logical device that a model is put on",
        details: "Read where logical_device_cluster_deploy_mode is SINGLE. Experimental.",
        parameter: Some("experimental_logical_device_id"),
        memory_effect: "not simulated: one device is simulated",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.model_deploy_mode",
        kind: OptionKind::Text,
        summary: "how a model is deployed in a heterogeneous system",
        details: "Passed to the engine unchanged. It is experimental and undocumented.",
        parameter: Some("experimental_model_deploy_mode"),
        memory_effect: "not simulated: one device is simulated",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.model_deploy_devicelist",
        kind: OptionKind::Text,
        summary: "the devices that a model is deployed on",
        details: "Passed to the engine unchanged. It is experimental and undocumented.",
        parameter: Some("experimental_model_deploy_devicelist"),
        memory_effect: "not simulated: one device is simulated",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.graph_memory_optimize_config",
        kind: OptionKind::Object {
            class: "GraphMemoryOptimizeConfig",
        },
        summary: "recomputation or slicing to save memory (object)",
        details: "A GraphMemoryOptimizeConfig with the arguments recompute and graph_slice, each auto or manual; \
                  other values are rejected. Experimental.",
        memory_effect: "not simulated: the graph is run unchanged; on a device, recomputation drops activations and \
                        recomputes them in the backward part",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.enable_graph_parallel",
        kind: OptionKind::Any,
        summary: "whether a graph is split over several devices by itself",
        details: "Turns automatic parallel execution on, as graph_parallel_option_path describes it. Experimental.",
        memory_effect: "not simulated: one device is simulated; on a device, each device holds its part of the graph",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.graph_parallel_option_path",
        kind: OptionKind::Path(PathKind::File),
        summary: "the file that describes how a graph is split",
        details: "Read with enable_graph_parallel. Experimental.",
        memory_effect: "not simulated: one device is simulated",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.graph_compiler_cache_dir",
        kind: OptionKind::Path(PathKind::Directory),
        summary: "the directory of the cache of compiled graphs",
        details: "Set, compiled graphs are kept there and loaded again instead of being compiled. The directory must \
                  exist. A changed graph or a new version of the software needs an empty cache, and graphs with \
                  resource ops cannot be cached. Experimental.",
        source: "ExperimentalConfig constructor; TensorFlow adapter npu_config.py",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.resource_config_path",
        kind: OptionKind::Path(PathKind::File),
        summary: "the file that describes the devices of a cluster",
        details: "Passed to the engine unchanged. It is experimental and undocumented.",
        memory_effect: "not simulated: one device is simulated",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.accelerate_train_mode",
        kind: OptionKind::Text,
        summary: "how much of a training runs in low precision",
        details: "Three fields separated by |, such as \"fast|step|0.9\": fast (float16) or fast1 (bfloat16), what \
                  the training is divided by (step or loss), and the share, 0.2 to 0.9 of the steps or 1.01 to 1.5 \
                  times the target loss. It needs a precision mode that leaves data types alone, and the hook \
                  TellMeStepOrLossHook in the script. Experimental.",
        parameter: Some("experimental_accelerate_train_mode"),
        memory_effect: "not simulated: one precision is simulated; on a device, the part in low precision holds \
                        narrower activations",
        source: "ExperimentalConfig constructor; TensorFlow adapter npu_config.py",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "jit_compile",
        kind: OptionKind::TextChoice(&[
            ("auto", "compiled for static graphs, ready-made first for dynamic ones"),
            ("true", "compiled for the graph"),
            ("false", "ready-made where there are any"),
        ]),
        default: DefaultValue::Text("auto"),
        summary: "whether ops are compiled for the graph or taken ready-made",
        details: "Texts in lower case; True, Auto and 2 are refused. true compiles for this graph, which runs fastest; \
                  false prefers ready-made binaries, which compiles fastest. auto does the first for static and the \
                  second for dynamic graphs. The reference limits it to large recommendation models.",
        rule: "R4",
        memory_effect: "not simulated: on a device, ready-made kernels are for any shape and may need other scratch \
                        memory",
        source: "NPURunConfig option reference; TensorFlow adapter npu_config.py",
        ..EXPERIMENT_ROW
    },
];

const EXCEPTION_REMEDY_ROW: OptionRow = OptionRow {
    section: Section::ExceptionRemedy,
    ..COMMON
};

const EXPERIMENT_ROW: OptionRow = OptionRow {
    section: Section::Experiment,
    source: "TensorFlow adapter npu_config.py",
    ..COMMON
};
