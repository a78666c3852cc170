//! Options that the vendor has deprecated.

use super::{COMMON, DefaultValue, OptionKind, OptionRow, Section};

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: "enable_data_pre_proc",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(true),
        summary: "whether fetching the next batch (GetNext) runs on the device",
        details: "Reading data with the Dataset API is a condition for it, and it is a condition for loops of \
                  several iterations on the device (iterations_per_loop). In a script for sess.run the default is \
                  off.",
        source: "NPURunConfig option reference; TensorFlow adapter npu_config.py",
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "variable_format_optimize",
        kind: OptionKind::Bool,
        summary: "whether variables are stored in the device's preferred layout",
        details: "Converts the variables once, when they are initialised, so that training saves conversions. Unset, \
                  the reference calls it disabled; releases of 2020 and 2021 had it on.",
        memory_effect: "not simulated: on a device, the device's layout pads dimensions, so that variables can be \
                        larger",
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "op_debug_level",
        kind: OptionKind::IntChoice(&[
            (0, "off"),
            (1, "keeps .cce, location, .o and .json files"),
            (2, "as 1, without optimisation and with the debug mode of the compiler"),
            (3, "keeps .o and .json files"),
            (4, "keeps .o, .json and .cce files and descriptions of fused ops"),
        ]),
        summary: "debug data of op compilation",
        details: "Anything but 0 switches the cache of compiled ops off and writes below kernel_meta in debug_dir, \
                  else in the current directory. 1 and 2 slow training down, for which 0 or 3 are meant. 2 cannot be \
                  used with oom in op_debug_config, and its large kernels can make the compilation of dynamic graphs \
                  fail. Unset, nothing is debugged.",
        replaced_by: Some("op_debug_config"),
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "op_select_implmode",
        kind: OptionKind::TextChoice(&[
            ("high_precision", "more precise, for the listed op types"),
            ("high_performance", "faster, for the listed op types"),
            (
                "high_precision_for_all",
                "more precise, for all ops (accepted by the code, undocumented)",
            ),
            (
                "high_performance_for_all",
                "faster, for all ops (accepted by the code, undocumented)",
            ),
        ]),
        summary: "whether ops prefer precision or speed",
        details: "Applies to the op types in optypelist_for_implmode; the forms that end in _for_all apply to all \
                  ops. High precision computes float16 inputs by series or iteration. op_precision_mode says the \
                  same by op and wins where both are set.",
        replaced_by: Some("op_precision_mode"),
        rule: "R31",
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "optypelist_for_implmode",
        kind: OptionKind::Names(&[
            ("Pooling", "pooling"),
            ("SoftmaxV2", "softmax"),
            ("LRN", "local response normalisation"),
            ("ROIAlign", "alignment of regions of interest"),
        ]),
        summary: "the op types to which op_select_implmode applies",
        details: "Names separated by commas. Four op types are supported. It makes no sense without \
                  op_select_implmode, and op_precision_mode wins over both.",
        replaced_by: Some("op_precision_mode"),
        rule: "R31",
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "dynamic_input",
        kind: OptionKind::Bool,
        unset_means: Some("False"),
        summary: "whether the shapes of the graph's inputs vary",
        details: "Enables inputs of several shapes, handled by dynamic_graph_execute_mode within \
                  dynamic_inputs_shape_range. Both need this option.",
        lowers_to: Some("Lowered::shape_ranges"),
        memory_effect: "on, the ranges of dynamic_inputs_shape_range bind symbolic dimensions; nothing without that \
                        option",
        is_estimate: true,
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "dynamic_graph_execute_mode",
        kind: OptionKind::TextChoice(&[
            ("dynamic_execute", "compiled once, for ranges of shapes"),
            (
                "lazy_recompile",
                "recompiled for each new shape (accepted by the code, undocumented)",
            ),
        ]),
        default: DefaultValue::Text("dynamic_execute"),
        summary: "execution mode of graphs with varying inputs",
        details: "Looked at only where dynamic_input is on. The reference knows dynamic_execute alone, which \
                  compiles the graph once for the ranges of dynamic_inputs_shape_range.",
        rule: "R32",
        memory_effect: "not simulated: dynamic graphs allocate op by op under both",
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "dynamic_inputs_shape_range",
        kind: OptionKind::ShapeRange,
        summary: "the ranges in which the shapes of inputs vary",
        details: "Groups separated by semicolons: getnext: for inputs from a dataset, data: for placeholders, each \
                  with one bracketed shape an input. A dimension is a number, a range such as 3~5, or -1 for \
                  anything; a scalar is [] without a blank before it. Shapes are in the order of the inputs; \
                  placeholders with names count in alphabetical order, so with more than 10 unnamed ones the tenth \
                  precedes the second. It acts on a single graph, needs dynamic_input, and gives way to dynamic_dims.",
        lowers_to: Some("Lowered::shape_ranges"),
        rule: "R32",
        memory_effect: "symbolic dimensions that the schedule gives no value take values from their range: the largest, \
                        and simulation.shape_samples shapes in all, evenly spread on a log scale from the smallest to the \
                        largest, each a separate run",
        is_estimate: true,
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "graph_memory_max_size",
        kind: OptionKind::Any,
        summary: "limit of feature memory of a graph (early releases)",
        details: "No effect: memory is allocated on demand. Remove it from the script.",
        ..DEPRECATED_ROW
    },
    OptionRow {
        key: "variable_memory_max_size",
        kind: OptionKind::Any,
        summary: "limit of variable memory (early releases)",
        details: "No effect: memory is allocated on demand. Remove it from the script.",
        ..DEPRECATED_ROW
    },
];

const DEPRECATED_ROW: OptionRow = OptionRow {
    section: Section::Deprecated,
    deprecated: Some("deprecated"),
    ..COMMON
};
