//! Options that say what runs and where: run mode, device, dynamic shapes, mixed computing.

use super::super::kind::{Choice, OptionKind};
use super::super::row::OptionRow;
use super::super::section::Section;
use super::super::value::DefaultValue;
use super::{COMMON, keys};

pub(super) const BASIC: &[OptionRow] = &[
    GRAPH_RUN_MODE,
    OptionRow {
        key: "session_device_id",
        kind: OptionKind::Int { min: 0, max: i64::MAX },
        unset_means: Some("the device that ASCEND_DEVICE_ID or DEVICE_ID names, else 0"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        memory_effect: "TEXT",
        lowers_to: Some("Params::device_bytes"),
        rule: "R37",
        ..BASIC_ROW
    },
    OptionRow {
        key: "distribute",
        kind: OptionKind::Object {
            class: "ParameterServerStrategy",
        },
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R5",
        ..BASIC_ROW
    },
    OptionRow {
        key: "deterministic",
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
        default: DefaultValue::Int(0),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..BASIC_ROW
    },
];

pub(super) const DYNAMIC: &[OptionRow] = &[
    OptionRow {
        key: "ac_parallel_enable",
        kind: OptionKind::TextChoice(&[
            Choice {
                value: "0",
                summary: "TEXT",
            },
            Choice {
                value: "1",
                summary: "TEXT",
            },
        ]),
        unset_means: Some("\"0\""),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..DYNAMIC_SHAPE_ROW
    },
    OptionRow {
        key: "compile_dynamic_mode",
        kind: OptionKind::Bool,
        unset_means: Some("False"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        memory_effect: "TEXT",
        lowers_to: Some("Lowered::all_dynamic"),
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
    kind: OptionKind::IntChoice(&[
        Choice {
            value: 0,
            summary: "online inference",
        },
        Choice {
            value: 1,
            summary: "training",
        },
    ]),
    default: DefaultValue::Int(1),
    summary: "whether graphs are run for training or for online inference",
    details: "Tells the compiler what a graph is for. Some options belong to one of the two modes only: \
              graph_max_parallel_model_num and precision_mode=force_fp16 are meant for inference. The rules use it \
              to say which other settings do not fit.",
    memory_effect: "not simulated in this version: the graph in the file is run as it is. In reality the mode steers \
                    graph optimization, and a training graph holds activations for its backward part, which then \
                    stands in the graph itself",
    rule: "R6",
    ..BASIC_ROW
};

const MIX_COMPILE_MODE: OptionRow = OptionRow {
    key: keys::MIX_COMPILE_MODE,
    kind: OptionKind::Bool,
    default: DefaultValue::Bool(false),
    summary: "whether ops that the device does not support may stay in the framework on the host",
    details: "Off, the whole graph is sent to the device and every op has to run there. On, the framework keeps \
              some ops on the host and the device gets the parts between them, each as a graph of its own. \
              Loops of several iterations cannot be sent to the device then, so iterations_per_loop must be 1; \
              variables on the host need this option.",
    memory_effect: "not simulated in this version: every op of the file runs on the device. In reality an op on the \
                    host takes no device memory, and the cuts it makes turn inner tensors into graph inputs and \
                    outputs, which the arena of a graph does not hold",
    rule: "R2",
    ..MIXED_COMPUTING_ROW
};
