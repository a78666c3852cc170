//! Options of debugging, accuracy comparison and profiling: what is written about a run, and where.

use super::super::kind::{Choice, OptionKind, PathKind};
use super::super::row::OptionRow;
use super::super::section::Section;
use super::super::value::DefaultValue;
use super::COMMON;

pub(super) const DEBUGGING: &[OptionRow] = &[
    OptionRow {
        key: "enable_exception_dump",
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
        ]),
        default: DefaultValue::Int(2),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R7",
        ..DEBUGGING_ROW
    },
    OptionRow {
        key: "op_debug_config",
        kind: OptionKind::Path(PathKind::File),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..DEBUGGING_ROW
    },
    OptionRow {
        key: "debug_dir",
        kind: OptionKind::Path(PathKind::Directory),
        unset_means: Some("ASCEND_WORK_PATH, else the current directory"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..DEBUGGING_ROW
    },
    OptionRow {
        key: "export_compile_stat",
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
        ]),
        default: DefaultValue::Int(1),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R40",
        ..DEBUGGING_ROW
    },
];

pub(super) const COMPARISON: &[OptionRow] = &[
    OptionRow {
        key: "dump_config",
        kind: OptionKind::Object { class: "DumpConfig" },
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R8",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.enable_dump",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.dump_path",
        kind: OptionKind::Path(PathKind::Directory),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.dump_step",
        kind: OptionKind::Text,
        unset_means: Some("every step"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R39",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.dump_mode",
        kind: OptionKind::TextChoice(&[
            Choice {
                value: "input",
                summary: "TEXT",
            },
            Choice {
                value: "output",
                summary: "TEXT",
            },
            Choice {
                value: "all",
                summary: "TEXT",
            },
        ]),
        default: DefaultValue::Text("output"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R39",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.enable_dump_debug",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.dump_debug_mode",
        kind: OptionKind::TextChoice(&[
            Choice {
                value: "aicore_overflow",
                summary: "TEXT",
            },
            Choice {
                value: "atomic_overflow",
                summary: "TEXT",
            },
            Choice {
                value: "all",
                summary: "TEXT",
            },
        ]),
        default: DefaultValue::Text("all"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R39",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.dump_data",
        kind: OptionKind::TextChoice(&[
            Choice {
                value: "tensor",
                summary: "TEXT",
            },
            Choice {
                value: "stats",
                summary: "TEXT",
            },
        ]),
        default: DefaultValue::Text("tensor"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R39",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.dump_layer",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "quant_dumpable",
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
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "fusion_switch_file",
        kind: OptionKind::Path(PathKind::File),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "K2",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "buffer_optimize",
        kind: OptionKind::TextChoice(&[
            Choice {
                value: "l2_optimize",
                summary: "TEXT",
            },
            Choice {
                value: "off_optimize",
                summary: "TEXT",
            },
        ]),
        default: DefaultValue::Text("l2_optimize"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R15",
        ..ACCURACY_COMPARISON_ROW
    },
];

pub(super) const PROFILING: &[OptionRow] = &[
    OptionRow {
        key: "profiling_config",
        kind: OptionKind::Object {
            class: "ProfilingConfig",
        },
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..PROFILING_ROW
    },
    OptionRow {
        key: "profiling_config.enable_profiling",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        parameter: Some("profiling_mode"),
        ..PROFILING_ROW
    },
    OptionRow {
        key: "profiling_config.profiling_options",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..PROFILING_ROW
    },
];

const DEBUGGING_ROW: OptionRow = OptionRow {
    section: Section::Debugging,
    ..COMMON
};

const ACCURACY_COMPARISON_ROW: OptionRow = OptionRow {
    section: Section::AccuracyComparison,
    ..COMMON
};

const PROFILING_ROW: OptionRow = OptionRow {
    section: Section::Profiling,
    ..COMMON
};
