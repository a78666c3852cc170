//! Session options of the engine, as graph construction without the adapter sets them.

use super::super::kind::{Choice, OptionKind, PathKind};
use super::super::row::OptionRow;
use super::super::section::Section;
use super::COMMON;

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: "ge.exec.staticMemoryPolicy",
        kind: OptionKind::TextChoice(&[
            Choice {
                value: "0",
                summary: "TEXT",
            },
            Choice {
                value: "1",
                summary: "TEXT",
            },
            Choice {
                value: "2",
                summary: "TEXT",
            },
            Choice {
                value: "3",
                summary: "TEXT",
            },
            Choice {
                value: "4",
                summary: "TEXT",
            },
        ]),
        unset_means: Some("\"0\""),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        memory_effect: "TEXT",
        lowers_to: Some("Lowered::policy"),
        rule: "R49",
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.atomicCleanPolicy",
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
        memory_effect: "TEXT",
        lowers_to: Some("Lowered::atomic_clean_separate"),
        rule: "R50",
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.memoryOptimizationPolicy",
        kind: OptionKind::TextChoice(&[Choice {
            value: "MemoryPriority",
            summary: "TEXT",
        }]),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.disableReuseMemory",
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
        memory_effect: "TEXT",
        lowers_to: Some("Lowered::no_reuse"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.reuseZeroCopyMemory",
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
        memory_effect: "TEXT",
        lowers_to: Some("Params::io_by_caller"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.inputReuseMemIndexes",
        kind: OptionKind::Names(&[]),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.outputReuseMemIndexes",
        kind: OptionKind::Names(&[]),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.outputReuseInputMemIndexes",
        kind: OptionKind::Text,
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.featureBaseRefreshable",
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
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.externalWeightDir",
        kind: OptionKind::Path(PathKind::Directory),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.experiment.memory_pool_threshold",
        kind: OptionKind::Int { min: 1, max: 1_048_576 },
        unset_means: Some("95 % of the device memory"),
        unit: Some("GiB"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        memory_effect: "TEXT",
        lowers_to: Some("Params::pool_threshold"),
        ..ENGINE_ROW
    },
];

const ENGINE_ROW: OptionRow = OptionRow {
    section: Section::Engine,
    ..COMMON
};
