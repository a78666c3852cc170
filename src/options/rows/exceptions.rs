//! Options of timeouts, and the experimental ones.

use super::super::kind::{Choice, OptionKind, PathKind};
use super::super::row::OptionRow;
use super::super::section::Section;
use super::super::value::DefaultValue;
use super::COMMON;

pub(super) const EXCEPTION: &[OptionRow] = &[
    OptionRow {
        key: "hccl_timeout",
        kind: OptionKind::Int { min: 1, max: 17340 },
        unset_means: Some("HCCL_EXEC_TIMEOUT, else 1836"),
        unit: Some("s"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R27",
        ..EXCEPTION_REMEDY_ROW
    },
    OptionRow {
        key: "op_wait_timeout",
        kind: OptionKind::Int {
            min: i64::MIN,
            max: i64::MAX,
        },
        unset_means: Some("120"),
        unit: Some("s"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..EXCEPTION_REMEDY_ROW
    },
    OptionRow {
        key: "op_execute_timeout",
        kind: OptionKind::Int {
            min: i64::MIN,
            max: i64::MAX,
        },
        unit: Some("s"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..EXCEPTION_REMEDY_ROW
    },
    OptionRow {
        key: "stream_sync_timeout",
        kind: OptionKind::Int { min: -1, max: i64::MAX },
        default: DefaultValue::Int(-1),
        unit: Some("ms"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..EXCEPTION_REMEDY_ROW
    },
    OptionRow {
        key: "event_sync_timeout",
        kind: OptionKind::Int { min: -1, max: i64::MAX },
        default: DefaultValue::Int(-1),
        unit: Some("ms"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..EXCEPTION_REMEDY_ROW
    },
];

pub(super) const EXPERIMENT: &[OptionRow] = &[
    OptionRow {
        key: "experimental_config",
        kind: OptionKind::Object {
            class: "ExperimentalConfig",
        },
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R8",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.logical_device_cluster_deploy_mode",
        kind: OptionKind::Text,
        default: DefaultValue::Text("LB"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        parameter: Some("experimental_logical_device_cluster_deploy_mode"),
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.logical_device_id",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        parameter: Some("experimental_logical_device_id"),
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.model_deploy_mode",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        parameter: Some("experimental_model_deploy_mode"),
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.model_deploy_devicelist",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        parameter: Some("experimental_model_deploy_devicelist"),
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.graph_memory_optimize_config",
        kind: OptionKind::Object {
            class: "GraphMemoryOptimizeConfig",
        },
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.enable_graph_parallel",
        kind: OptionKind::Any,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.graph_parallel_option_path",
        kind: OptionKind::Path(PathKind::File),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.graph_compiler_cache_dir",
        kind: OptionKind::Path(PathKind::Directory),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.resource_config_path",
        kind: OptionKind::Path(PathKind::File),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "experimental_config.accelerate_train_mode",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        parameter: Some("experimental_accelerate_train_mode"),
        ..EXPERIMENT_ROW
    },
    OptionRow {
        key: "jit_compile",
        kind: OptionKind::TextChoice(&[
            Choice {
                value: "auto",
                summary: "TEXT",
            },
            Choice {
                value: "true",
                summary: "TEXT",
            },
            Choice {
                value: "false",
                summary: "TEXT",
            },
        ]),
        default: DefaultValue::Text("auto"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R4",
        ..EXPERIMENT_ROW
    },
];

const EXCEPTION_REMEDY_ROW: OptionRow = OptionRow {
    section: Section::ExceptionRemedy,
    ..COMMON
};

const EXPERIMENT_ROW: OptionRow = OptionRow {
    section: Section::Experiment,
    ..COMMON
};
