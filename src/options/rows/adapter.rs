//! Options that the adapter accepts and its reference does not list: those of `RunConfig`, and its own.

use super::super::kind::{Choice, OptionKind, PathKind};
use super::super::row::OptionRow;
use super::super::section::Section;
use super::super::value::DefaultValue;
use super::COMMON;

pub(super) const RUN_CONFIG: &[OptionRow] = &[
    OptionRow {
        key: "model_dir",
        kind: OptionKind::Path(PathKind::Directory),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "tf_random_seed",
        kind: OptionKind::Int {
            min: i64::MIN,
            max: i64::MAX,
        },
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "save_summary_steps",
        kind: OptionKind::Int {
            min: i64::MIN,
            max: i64::MAX,
        },
        default: DefaultValue::Int(0),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "save_checkpoints_steps",
        kind: OptionKind::Int {
            min: i64::MIN,
            max: i64::MAX,
        },
        unset_means: Some("100 where save_checkpoints_secs is not given either"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "save_checkpoints_secs",
        kind: OptionKind::Int {
            min: i64::MIN,
            max: i64::MAX,
        },
        unit: Some("s"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "session_config",
        kind: OptionKind::Object { class: "ConfigProto" },
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "keep_checkpoint_max",
        kind: OptionKind::Int {
            min: i64::MIN,
            max: i64::MAX,
        },
        default: DefaultValue::Int(5),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "keep_checkpoint_every_n_hours",
        kind: OptionKind::Int {
            min: i64::MIN,
            max: i64::MAX,
        },
        default: DefaultValue::Int(10_000),
        unit: Some("h"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "log_step_count_steps",
        kind: OptionKind::Int {
            min: i64::MIN,
            max: i64::MAX,
        },
        default: DefaultValue::Int(100),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "train_distribute",
        kind: OptionKind::Any,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..RUN_CONFIG_ROW
    },
    OptionRow {
        key: "eval_distribute",
        kind: OptionKind::Any,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..RUN_CONFIG_ROW
    },
];

pub(super) const ADAPTER: &[OptionRow] = &[
    OptionRow {
        key: "horovod_mode",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R9",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "dynamic_input_config",
        kind: OptionKind::Object {
            class: "DynamicInputConfig",
        },
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R8",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "dynamic_input_config.input_shape",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R38",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "dynamic_input_config.dynamic_dims",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R38",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "dynamic_input_config.dynamic_node_type",
        kind: OptionKind::IntChoice(&[
            Choice {
                value: 0,
                summary: "TEXT",
            },
            Choice {
                value: 1,
                summary: "TEXT",
            },
        ]),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R38",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "dynamic_input_config.compile_hybrid_mode",
        kind: OptionKind::IntChoice(&[
            Choice {
                value: 0,
                summary: "TEXT",
            },
            Choice {
                value: 1,
                summary: "TEXT",
            },
        ]),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R38",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "enable_compress_weight",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "compress_weight_conf",
        kind: OptionKind::Path(PathKind::File),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "hcom_multi_mode",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "distribute_config",
        kind: OptionKind::Path(PathKind::File),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "device_type",
        kind: OptionKind::Text,
        default: DefaultValue::Text("default_device_type"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "soc_config",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "HCCL_algorithm",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "topo_sorting_mode",
        kind: OptionKind::Int {
            min: i64::MIN,
            max: i64::MAX,
        },
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "insert_op_file",
        kind: OptionKind::Path(PathKind::File),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "frozen_variable",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "aicore_num",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "oo_constant_folding",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(true),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "input_batch_cpy",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "shape_generalization_mode",
        kind: OptionKind::TextChoice(&[
            Choice {
                value: "STRICT",
                summary: "TEXT",
            },
            Choice {
                value: "FULL",
                summary: "TEXT",
            },
            Choice {
                value: "ADAPTIVE",
                summary: "TEXT",
            },
        ]),
        default: DefaultValue::Text("STRICT"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "all_tensor_not_empty",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "auto_multistream_parallel_mode",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "K3",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "oo_level",
        kind: OptionKind::Text,
        default: DefaultValue::Text("O3"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "optimization_switch",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "use_off_line",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(true),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "graph_exec_timeout",
        kind: OptionKind::Int {
            min: i64::MIN,
            max: i64::MAX,
        },
        default: DefaultValue::Int(600_000),
        unit: Some("ms"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "lower_functional_ops",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "job",
        kind: OptionKind::Text,
        default: DefaultValue::Text("localhost"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "task_index",
        kind: OptionKind::Int { min: 0, max: i64::MAX },
        default: DefaultValue::Int(0),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "in_out_pair_flag",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(true),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "in_out_pair",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ADAPTER_ROW
    },
];

const RUN_CONFIG_ROW: OptionRow = OptionRow {
    section: Section::RunConfig,
    ..COMMON
};

const ADAPTER_ROW: OptionRow = OptionRow {
    section: Section::Adapter,
    ..COMMON
};
