//! Options of debugging, accuracy comparison and profiling.

use super::{COMMON, DefaultValue, OptionKind, OptionRow, PathKind, Section};

pub(super) const DEBUGGING: &[OptionRow] = &[
    OptionRow {
        key: "enable_exception_dump",
        kind: OptionKind::IntChoice(&[
            (0, "no dump"),
            (1, "the common dump, with tensor descriptions"),
            (2, "the light dump, with tiling data"),
        ]),
        default: DefaultValue::Int(2),
        summary: "dump of failing ops",
        details: "1 writes inputs, outputs, their descriptions and the scratch memory of the failing op into the current \
                  directory. 2 writes inputs, outputs, scratch memory and tiling data into extra-info/data-dump/DEVICE \
                  below ASCEND_WORK_PATH, else below the current directory. Where the variable NPU_COLLECT_PATH is set, \
                  mode 1 is used and that directory, regardless of this option. Releases of 2020 to 2023 had 0 as the \
                  default.",
        rule: "R7",
        source: "NPURunConfig option reference; TensorFlow adapter npu_config.py",
        ..DEBUGGING_ROW
    },
    OptionRow {
        key: "op_debug_config",
        kind: OptionKind::Path(PathKind::File),
        summary: "file that enables checks of compiled ops",
        details: "A .cfg file with a line op_debug_config that lists, with commas: oom (checks for writes outside of \
                  a tensor), dump_cce, dump_loc and dump_bin (keep files of the compilation), ccec_O0 and ccec_g \
                  (compiler flags), check_flag (checks synchronisation). A line op_debug_list limits that to some \
                  ops or, behind OpType::, op types. oom goes neither with ccec_O0 nor with the variable \
                  NPU_COLLECT_PATH, nor with op_debug_level 2. Without op_debug_list it switches the cache of \
                  compiled ops off.",
        memory_effect: "not simulated: on a device, checked kernels are larger and may need scratch memory",
        ..DEBUGGING_ROW
    },
    OptionRow {
        key: "debug_dir",
        kind: OptionKind::Path(PathKind::Directory),
        unset_means: Some("ASCEND_WORK_PATH, else the current directory"),
        summary: "the directory for debug files of the compilation of ops",
        details: "Takes the .o, .json and .cce files that op_debug_config or op_debug_level ask for. Without it they \
                  go to ASCEND_WORK_PATH, else to the current directory.",
        ..DEBUGGING_ROW
    },
    OptionRow {
        key: "export_compile_stat",
        kind: OptionKind::IntChoice(&[
            (0, "never"),
            (1, "when the program ends normally"),
            (
                2,
                "after each graph is compiled, so that it is there after a crash as well",
            ),
        ]),
        default: DefaultValue::Int(1),
        summary: "time at which the op fusion report is written",
        details: "fusion_result.json says which fusion patterns matched and which took effect. It goes to the FE \
                  directory below ASCEND_WORK_PATH, with the process id before its name, else to the current \
                  directory. Patterns that fusion_switch_file turns off are not in it.",
        rule: "R40",
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..DEBUGGING_ROW
    },
];

pub(super) const COMPARISON: &[OptionRow] = &[
    OptionRow {
        key: "dump_config",
        kind: OptionKind::Object { class: "DumpConfig" },
        summary: "dump settings (object)",
        details: "A DumpConfig, made before the NPURunConfig; other values are rejected. Its fields are separate \
                  options here (dump_config.enable_dump and so on). It serves to compare the results of ops with \
                  those of another run.",
        rule: "R8",
        source: "NPURunConfig option reference; TensorFlow adapter npu_config.py",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.enable_dump",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether inputs or outputs of ops are written to files",
        details: "On, every op (or those of dump_layer) writes its data below dump_path, which must be set. The \
                  engine refuses it together with enable_dump_debug.",
        memory_effect: "not simulated: on a device, a dump keeps tensors readable until they are written",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.dump_path",
        kind: OptionKind::Path(PathKind::Directory),
        summary: "the directory for dumped data",
        details: "Needed as soon as enable_dump or enable_dump_debug is on. It must exist beforehand and be readable \
                  and writable. An absolute path or one relative to the script.",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.dump_step",
        kind: OptionKind::Text,
        unset_means: Some("every step"),
        summary: "the iterations whose data is dumped",
        details: "Single iterations and ranges separated by |: \"0|3-5|10\". At most 100 of them, each range from a \
                  smaller to a larger number. Unset, every iteration is dumped.",
        rule: "R39",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.dump_mode",
        kind: OptionKind::TextChoice(&[
            ("input", "inputs alone"),
            ("output", "outputs alone"),
            ("all", "inputs and outputs"),
        ]),
        default: DefaultValue::Text("output"),
        summary: "whether inputs or outputs are dumped",
        details: "Chooses inputs, outputs or both. With all, ops that change their input while they run, such as \
                  collectives, write inputs and outputs at different times and so into separate files.",
        rule: "R39",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.enable_dump_debug",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether ops are checked for overflow",
        details: "On, values that leave the range of their type are noticed and their ops dumped below dump_path, \
                  which must be set. The engine refuses it together with enable_dump.",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.dump_debug_mode",
        kind: OptionKind::TextChoice(&[
            ("aicore_overflow", "results of AI Core ops"),
            ("atomic_overflow", "atomic additions on the way to memory"),
            ("all", "both"),
        ]),
        default: DefaultValue::Text("all"),
        summary: "kind of overflows that are checked",
        details: "Matters only with enable_dump_debug. Newer chips know the default all alone.",
        rule: "R39",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.dump_data",
        kind: OptionKind::TextChoice(&[
            ("tensor", "the data of the tensors"),
            ("stats", "statistics of the tensors"),
        ]),
        default: DefaultValue::Text("tensor"),
        summary: "whether data or statistics are dumped",
        details: "The tensors of a large training take long to write. Statistics come as a .csv file, small enough \
                  to find suspicious ops, whose tensors can then be dumped.",
        rule: "R39",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "dump_config.dump_layer",
        kind: OptionKind::Text,
        summary: "the ops that are dumped",
        details: "Names of ops with blanks between them. Unset, all ops are dumped.",
        source: "TensorFlow adapter npu_config.py",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "quant_dumpable",
        kind: OptionKind::TextChoice(&[("0", "may be optimised away"), ("1", "they are kept")]),
        unset_means: Some("\"0\""),
        summary: "whether data before quantization can be dumped",
        details: "For networks that were quantized by the vendor's compression tool, in online inference only. The \
                  compiler may optimise the unquantized inputs and outputs away, and then there is nothing to dump. \
                  With \"1\" they are kept; set it together with a data dump.",
        memory_effect: "not simulated: on a device, tensors that are kept for a dump take memory",
        source: "NPURunConfig option reference",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "fusion_switch_file",
        kind: OptionKind::Path(PathKind::File),
        summary: "JSON file that disables fusion patterns",
        details: "An object Switch holds GraphFusion and UBFusion, each with names of patterns and on or off; ALL means \
                  every pattern. All patterns are on by default, and some cannot be switched off. The path may hold \
                  letters, digits, underscores, hyphens and dots.",
        rule: "K2",
        memory_effect: "not simulated: the ops of the file are run unchanged; on a device, fusion removes the tensors \
                        between fused ops",
        source: "NPURunConfig option reference",
        ..ACCURACY_COMPARISON_ROW
    },
    OptionRow {
        key: "buffer_optimize",
        kind: OptionKind::TextChoice(&[
            ("l2_optimize", "data is kept in the level 2 cache where possible"),
            ("off_optimize", "no such optimisation"),
        ]),
        default: DefaultValue::Text("l2_optimize"),
        summary: "whether the compiler optimises for the on-chip cache",
        details: "An advanced switch; leave it on. Turning it off can help to find out where results begin to \
                  differ.",
        rule: "R15",
        memory_effect: "not simulated: on a device, tensors that stay in the cache are still given device memory",
        ..ACCURACY_COMPARISON_ROW
    },
];

pub(super) const PROFILING: &[OptionRow] = &[
    OptionRow {
        key: "profiling_config",
        kind: OptionKind::Object {
            class: "ProfilingConfig",
        },
        summary: "profiling settings (object)",
        details: "A ProfilingConfig, made before the NPURunConfig. Its fields are separate options here \
                  (profiling_config.enable_profiling and so on).",
        source: "NPURunConfig option reference; TensorFlow adapter npu_config.py",
        ..PROFILING_ROW
    },
    OptionRow {
        key: "profiling_config.enable_profiling",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether performance data is recorded",
        details: "On, the run records what profiling_options asks for. Recording costs time and some memory. In a \
                  parameter map the switch is called profiling_mode.",
        parameter: Some("profiling_mode"),
        memory_effect: "not simulated: on a device, the recording needs buffers",
        ..PROFILING_ROW
    },
    OptionRow {
        key: "profiling_config.profiling_options",
        kind: OptionKind::Text,
        summary: "profiling settings as JSON",
        details: "One text that holds an object such as {\"output\": \"/tmp/profiling\", \"task_trace\": \"on\"}. It \
                  matters only with enable_profiling.",
        ..PROFILING_ROW
    },
];

const DEBUGGING_ROW: OptionRow = OptionRow {
    section: Section::Debugging,
    ..COMMON
};

const ACCURACY_COMPARISON_ROW: OptionRow = OptionRow {
    section: Section::AccuracyComparison,
    source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
    ..COMMON
};

const PROFILING_ROW: OptionRow = OptionRow {
    section: Section::Profiling,
    source: "TensorFlow adapter npu_config.py",
    ..COMMON
};
