//! Options of speed: loops on the device, placement of variables, concurrent graphs.

use super::super::kind::{Choice, OptionKind, PathKind};
use super::super::row::OptionRow;
use super::super::section::Section;
use super::super::value::DefaultValue;
use super::{COMMON, keys};

pub(super) const ROWS: &[OptionRow] = &[
    ITERATIONS_PER_LOOP,
    OptionRow {
        key: "hcom_parallel",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(true),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..PERFORMANCE_ROW
    },
    OptionRow {
        key: "op_precision_mode",
        kind: OptionKind::Path(PathKind::File),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..PERFORMANCE_ROW
    },
    OptionRow {
        key: "enable_scope_fusion_passes",
        kind: OptionKind::Names(&[]),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..PERFORMANCE_ROW
    },
    OptionRow {
        key: "stream_max_parallel_num",
        kind: OptionKind::Text,
        unset_means: Some("1 for every engine"),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        rule: "R41",
        ..PERFORMANCE_ROW
    },
    OptionRow {
        key: "is_tailing_optimization",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..PERFORMANCE_ROW
    },
    OptionRow {
        key: "enable_small_channel",
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
        by_run_mode: Some([DefaultValue::Int(1), DefaultValue::Int(0)]),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..PERFORMANCE_ROW
    },
    VARIABLE_PLACEMENT,
    GRAPH_MAX_PARALLEL_MODEL_NUM,
];

const PERFORMANCE_ROW: OptionRow = OptionRow {
    section: Section::Performance,
    ..COMMON
};

const ITERATIONS_PER_LOOP: OptionRow = OptionRow {
    key: keys::ITERATIONS_PER_LOOP,
    kind: OptionKind::Int { min: 1, max: i64::MAX },
    default: DefaultValue::Int(1),
    unit: Some("iterations"),
    summary: "how many training iterations the device runs before it reports to the host",
    details: "With more than 1, the loop itself is sent to the device and the host hears of it once per loop, which \
              saves round trips. The number of iterations of the training must be a multiple of it. \
              It must be 1 under mixed computing. Loss scaling and the loop on the device can make the iterations \
              that count differ from the number asked for.",
    memory_effect: "not simulated in this version: iterations are those of the schedule. In reality each iteration \
                    of the loop needs the memory of one",
    rule: "R1",
    source: "NPURunConfig option reference; TensorFlow adapter npu_config.py",
    ..PERFORMANCE_ROW
};

const VARIABLE_PLACEMENT: OptionRow = OptionRow {
    key: keys::VARIABLE_PLACEMENT,
    kind: OptionKind::TextChoice(&[
        Choice {
            value: "Device",
            summary: "variables live in device memory",
        },
        Choice {
            value: "Host",
            summary: "variables live in host memory",
        },
    ]),
    default: DefaultValue::Text("Device"),
    summary: "where the variables of the network live",
    details: "Host moves the variables out of device memory, for networks whose weights do not fit. It needs \
              mix_compile_mode=True, which lets ops stay on the host as well. Scripts with \
              TensorFlow 1 control flow may fail under Host until they enable version 2 control flow and resource \
              variables.",
    memory_effect: "Host takes the variables out of the device's memory; what ops copy over for their use is not \
                    counted",
    rule: "R16",
    source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
    ..PERFORMANCE_ROW
};

const GRAPH_MAX_PARALLEL_MODEL_NUM: OptionRow = OptionRow {
    key: keys::GRAPH_MAX_PARALLEL_MODEL_NUM,
    kind: OptionKind::Int {
        min: 1,
        max: 2_147_483_647,
    },
    default: DefaultValue::Int(1),
    unit: Some("graphs"),
    summary: "how many threads may run graphs at the same time, in online inference",
    details: "With more than 1, that many threads execute graphs side by side, which raises throughput. Each \
              running instance needs feature memory of its own. It does not go with memory policies 2 and 4: there \
              the graphs share addresses, so instances that run together would write over each other.",
    memory_effect: "that many copies of the feature memory are held at once",
    rule: "R19",
    ..PERFORMANCE_ROW
};
