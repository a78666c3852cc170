//! Options of tuning and compilation: AOE, the operator cache, shared data preprocessing.

use super::super::kind::{Choice, OptionKind, PathKind};
use super::super::row::OptionRow;
use super::super::section::Section;
use super::super::value::DefaultValue;
use super::COMMON;

pub(super) const AOE: &[OptionRow] = &[
    OptionRow {
        key: "aoe_mode",
        kind: OptionKind::TextChoice(&[
            Choice {
                value: "1",
                summary: "TEXT",
            },
            Choice {
                value: "2",
                summary: "TEXT",
            },
            Choice {
                value: "4",
                summary: "TEXT",
            },
        ]),
        unset_means: Some("the variable AOE_MODE"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R21",
        ..AOE_ROW
    },
    OptionRow {
        key: "work_path",
        kind: OptionKind::Path(PathKind::Directory),
        unset_means: Some("the current directory"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..AOE_ROW
    },
    OptionRow {
        key: "aoe_config_file",
        kind: OptionKind::Path(PathKind::File),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..AOE_ROW
    },
];

pub(super) const COMPILATION: &[OptionRow] = &[
    OptionRow {
        key: "op_compiler_cache_mode",
        kind: OptionKind::TextChoice(&[
            Choice {
                value: "enable",
                summary: "TEXT",
            },
            Choice {
                value: "force",
                summary: "TEXT",
            },
            Choice {
                value: "disable",
                summary: "TEXT",
            },
        ]),
        default: DefaultValue::Text("enable"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..OPERATOR_COMPILATION_ROW
    },
    OptionRow {
        key: "op_compiler_cache_dir",
        kind: OptionKind::Path(PathKind::Directory),
        unset_means: Some("kernel_cache below ASCEND_CACHE_PATH, else $HOME/atc_data"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "K2",
        ..OPERATOR_COMPILATION_ROW
    },
];

pub(super) const DATA: &[OptionRow] = &[
    OptionRow {
        key: "local_rank_id",
        kind: OptionKind::Int { min: 0, max: 7 },
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R33",
        ..DATA_AUGMENTATION_ROW
    },
    OptionRow {
        key: "local_device_list",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R33",
        ..DATA_AUGMENTATION_ROW
    },
];

const AOE_ROW: OptionRow = OptionRow {
    section: Section::Aoe,
    ..COMMON
};

const OPERATOR_COMPILATION_ROW: OptionRow = OptionRow {
    section: Section::OperatorCompilation,
    ..COMMON
};

const DATA_AUGMENTATION_ROW: OptionRow = OptionRow {
    section: Section::DataAugmentation,
    ..COMMON
};
