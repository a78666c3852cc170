//! Options of the two companions: MegEngine's `DTRConfig` and Paddle's `memory_optimize`.

use super::super::kind::{Choice, OptionKind};
use super::super::row::OptionRow;
use super::super::section::Section;
use super::super::value::DefaultValue;
use super::COMMON;

pub(super) const DTR: &[OptionRow] = &[
    OptionRow {
        key: "dtr.eviction_threshold",
        kind: OptionKind::Bytes { min: 1, max: i64::MAX },
        default: DefaultValue::Int(0),
        unit: Some("bytes"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "D1",
        ..DTR_ROW
    },
    OptionRow {
        key: "dtr.evictee_minimum_size",
        kind: OptionKind::Bytes { min: 0, max: i64::MAX },
        default: DefaultValue::Int(1_048_576),
        unit: Some("bytes"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "D2",
        ..DTR_ROW
    },
    OptionRow {
        key: "dtr.recomp_memory_factor",
        kind: OptionKind::Float {
            min: 0.0,
            max: f64::INFINITY,
        },
        default: DefaultValue::Int(1),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "D2",
        ..DTR_ROW
    },
    OptionRow {
        key: "dtr.recomp_time_factor",
        kind: OptionKind::Float {
            min: 0.0,
            max: f64::INFINITY,
        },
        default: DefaultValue::Int(1),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "D2",
        ..DTR_ROW
    },
];

pub(super) const MEMORY_OPTIMIZE: &[OptionRow] = &[
    OptionRow {
        key: "memory_optimize.skip_opt_set",
        kind: OptionKind::List,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "M2",
        ..MEMORY_OPTIMIZE_ROW
    },
    OptionRow {
        key: "memory_optimize.print_log",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..MEMORY_OPTIMIZE_ROW
    },
    OptionRow {
        key: "memory_optimize.level",
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
        rule: "M1",
        ..MEMORY_OPTIMIZE_ROW
    },
    OptionRow {
        key: "memory_optimize.skip_grads",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..MEMORY_OPTIMIZE_ROW
    },
];

const DTR_ROW: OptionRow = OptionRow {
    section: Section::Dtr,
    ..COMMON
};

const MEMORY_OPTIMIZE_ROW: OptionRow = OptionRow {
    section: Section::MemoryOptimize,
    ..COMMON
};
