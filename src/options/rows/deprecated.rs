//! Options that the vendor is going to remove.

use super::super::kind::{Choice, OptionKind};
use super::super::row::OptionRow;
use super::super::section::Section;
use super::super::value::DefaultValue;
use super::COMMON;

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: "enable_data_pre_proc",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(true),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        deprecated: Some("TEXT"),
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "variable_format_optimize",
        kind: OptionKind::Bool,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        deprecated: Some("TEXT"),
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "op_debug_level",
        kind: OptionKind::IntChoice(&[
            Choice {
                value: 0,
                summary: "TEXT",
            },
            Choice {
                value: 1,
                summary: "TEXT",
            },
            Choice {
                value: 2,
                summary: "TEXT",
            },
            Choice {
                value: 3,
                summary: "TEXT",
            },
            Choice {
                value: 4,
                summary: "TEXT",
            },
        ]),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        deprecated: Some("TEXT"),
        replaced_by: Some("op_debug_config"),
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "op_select_implmode",
        kind: OptionKind::TextChoice(&[
            Choice {
                value: "high_precision",
                summary: "TEXT",
            },
            Choice {
                value: "high_performance",
                summary: "TEXT",
            },
            Choice {
                value: "high_precision_for_all",
                summary: "TEXT",
            },
            Choice {
                value: "high_performance_for_all",
                summary: "TEXT",
            },
        ]),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        deprecated: Some("TEXT"),
        replaced_by: Some("op_precision_mode"),
        rule: "R31",
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "optypelist_for_implmode",
        kind: OptionKind::Names(&[
            Choice {
                value: "Pooling",
                summary: "TEXT",
            },
            Choice {
                value: "SoftmaxV2",
                summary: "TEXT",
            },
            Choice {
                value: "LRN",
                summary: "TEXT",
            },
            Choice {
                value: "ROIAlign",
                summary: "TEXT",
            },
        ]),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        deprecated: Some("TEXT"),
        replaced_by: Some("op_precision_mode"),
        rule: "R31",
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "dynamic_input",
        kind: OptionKind::Bool,
        unset_means: Some("False"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        deprecated: Some("TEXT"),
        memory_effect: "TEXT",
        lowers_to: Some("Lowered::shape_ranges"),
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "dynamic_graph_execute_mode",
        kind: OptionKind::TextChoice(&[
            Choice {
                value: "dynamic_execute",
                summary: "TEXT",
            },
            Choice {
                value: "lazy_recompile",
                summary: "TEXT",
            },
        ]),
        default: DefaultValue::Text("dynamic_execute"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        deprecated: Some("TEXT"),
        rule: "R32",
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "dynamic_inputs_shape_range",
        kind: OptionKind::ShapeRange,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        deprecated: Some("TEXT"),
        memory_effect: "TEXT",
        lowers_to: Some("Lowered::shape_ranges"),
        rule: "R32",
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "graph_memory_max_size",
        kind: OptionKind::Any,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        deprecated: Some("TEXT"),
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "variable_memory_max_size",
        kind: OptionKind::Any,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        deprecated: Some("TEXT"),
        ..DEPRECATED_ROW
    },
];

const DEPRECATED_ROW: OptionRow = OptionRow {
    section: Section::Deprecated,
    ..COMMON
};
