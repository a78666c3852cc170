//! Options of timeouts, and the experimental ones.

use super::{COMMON, DefaultValue, OptionKind, OptionRow, PathKind, Section};

pub(super) const EXCEPTION: &[OptionRow] = &[
    OptionRow {
        key: "hccl_timeout",
        kind: OptionKind::Int { min: 1, max: 17340 },
        unset_means: Some("HCCL_EXEC_TIMEOUT, else 1836"),
        unit: Some("s"),
        summary: "how long a collective operation may take",
        details: "The time after which AllReduce and its kin give up. The device counts in units of 68 s: the value \
                  is rounded down to a multiple of 68, and to 68 at least, so 600 acts as 544. It wins over the \
                  variable HCCL_EXEC_TIMEOUT. In a cluster stream_sync_timeout must be longer.",
        rule: "R27",
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..EXCEPTION_REMEDY_ROW
    },
    OptionRow {
        key: "op_wait_timeout",
        kind: OptionKind::ANY_INT,
        unset_means: Some("120"),
        unit: Some("s"),
        summary: "how long an op may wait for another",
        details: "The time after which an op's wait on the device counts as failed. Left out, 120 seconds.",
        ..EXCEPTION_REMEDY_ROW
    },
    OptionRow {
        key: "op_execute_timeout",
        kind: OptionKind::ANY_INT,
        unit: Some("s"),
        summary: "how long one op may run",
        details: "The time after which a running op counts as failed. The reference gives no default.",
        ..EXCEPTION_REMEDY_ROW
    },
    OptionRow {
        key: "stream_sync_timeout",
        kind: OptionKind::Int { min: -1, max: i64::MAX },
        default: DefaultValue::Int(-1),
        unit: Some("ms"),
        summary: "how long the host waits for a stream when a graph is run",
        details: "The time after which the wait for a stream is reported as failed; -1 sets no limit. In a cluster \
                  it must be longer than the time for collectives, which is given in seconds: hccl_timeout, else \
                  HCCL_EXEC_TIMEOUT, else 1836. The 60000 of the reference's example is too short for that.",
        ..EXCEPTION_REMEDY_ROW
    },
    OptionRow {
        key: "event_sync_timeout",
        kind: OptionKind::Int { min: -1, max: i64::MAX },
        default: DefaultValue::Int(-1),
        unit: Some("ms"),
        summary: "how long the host waits for an event when a graph is run",
        details: "The time after which the wait for an event is reported as failed. -1 sets no limit, and nothing \
                  is reported.",
        ..EXCEPTION_REMEDY_ROW
    },
];

pub(super) const EXPERIMENT: &[OptionRow] = &[
    OptionRow {
        key: "experimental_config",
        kind: OptionKind::Object {
            class: "ExperimentalConfig",
        },
        summary: "the object that holds experimental settings",
        details: "An ExperimentalConfig, made before the NPURunConfig; anything else is refused. Its fields are \
                  options of their own here. They are meant for debugging, may change and do not belong into \
                  products.",
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
        memory_effect: "nothing here: one device is simulated",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.logical_device_id",
        kind: OptionKind::Text,
        summary: "the logical device that a model is put on",
        details: "Read where logical_device_cluster_deploy_mode is SINGLE. Experimental.",
        parameter: Some("experimental_logical_device_id"),
        memory_effect: "nothing here: one device is simulated",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.model_deploy_mode",
        kind: OptionKind::Text,
        summary: "how a model is deployed in a heterogeneous system",
        details: "Passed on to the engine unchanged. Experimental, and without a published description.",
        parameter: Some("experimental_model_deploy_mode"),
        memory_effect: "nothing here: one device is simulated",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.model_deploy_devicelist",
        kind: OptionKind::Text,
        summary: "the devices that a model is deployed on",
        details: "Passed on to the engine unchanged. Experimental, and without a published description.",
        parameter: Some("experimental_model_deploy_devicelist"),
        memory_effect: "nothing here: one device is simulated",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.graph_memory_optimize_config",
        kind: OptionKind::Object {
            class: "GraphMemoryOptimizeConfig",
        },
        summary: "the object that asks for recomputation or slicing to save memory",
        details: "A GraphMemoryOptimizeConfig with the arguments recompute and graph_slice, each auto or manual; \
                  anything else is refused. Experimental.",
        memory_effect: "nothing here: the graph is run unchanged. In reality recomputation drops activations and computes \
                        them again in the backward part",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.enable_graph_parallel",
        kind: OptionKind::Any,
        summary: "whether a graph is split over several devices by itself",
        details: "Turns automatic parallel execution on, as graph_parallel_option_path describes it. Experimental.",
        memory_effect: "nothing here: one device is simulated. In reality each device holds its part of the graph",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.graph_parallel_option_path",
        kind: OptionKind::Path(PathKind::File),
        summary: "the file that describes how a graph is split",
        details: "Read with enable_graph_parallel. Experimental.",
        memory_effect: "nothing here: one device is simulated",
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
        details: "Passed on to the engine unchanged. Experimental, and without a published description.",
        memory_effect: "nothing here: one device is simulated",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.accelerate_train_mode",
        kind: OptionKind::Text,
        summary: "how much of a training runs in low precision",
        details: "Three fields with bars between them, such as \"fast|step|0.9\": fast (float16) or fast1 \
                  (bfloat16), what the training is divided by (step or loss), and the share, 0.2 to 0.9 of the steps \
                  or 1.01 to 1.5 times the target loss. It needs a precision mode that leaves data types alone, and \
                  the hook TellMeStepOrLossHook in the script. Experimental.",
        parameter: Some("experimental_accelerate_train_mode"),
        memory_effect: "nothing here: one precision is simulated. In reality the part in low precision holds \
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
        memory_effect: "nothing here: in reality ready-made kernels are for any shape and may need other scratch \
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
