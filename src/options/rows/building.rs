//! Options of tuning and compilation: AOE, the operator cache, shared data preprocessing.

use super::{COMMON, DefaultValue, OptionKind, OptionRow, PathKind, Section};

pub(super) const AOE: &[OptionRow] = &[
    OptionRow {
        key: "aoe_mode",
        kind: OptionKind::TextChoice(&[
            ("1", "tunes subgraphs"),
            ("2", "tunes single ops"),
            ("4", "tunes how gradients are split for AllReduce"),
        ]),
        unset_means: Some("the variable AOE_MODE"),
        summary: "tuning mode of the Ascend optimization engine",
        details: "Turns automatic tuning on and says what is tuned. It wins over the variable AOE_MODE. It needs a \
                  work_path that exists and can be read and written. The feature deeper_opat of the tuning file \
                  needs mode 2, nonhomo_split needs mode 1; \"3\", known to early versions, is refused.",
        rule: "R21",
        memory_effect: "not simulated: on a device, tuned kernels may need other scratch memory",
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..AOE_ROW
    },
    OptionRow {
        key: "work_path",
        kind: OptionKind::Path(PathKind::Directory),
        unset_means: Some("the current directory"),
        summary: "the directory in which the tuning engine keeps its files",
        details: "Holds configuration and result files of a tuning run. The directory must exist beforehand, on the \
                  machine or in the container that trains, and the user that runs must be able to read and write it. \
                  An absolute path or one relative to the script. It matters only where aoe_mode or AOE_MODE is set.",
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..AOE_ROW
    },
    OptionRow {
        key: "aoe_config_file",
        kind: OptionKind::Path(PathKind::File),
        summary: "a JSON file that limits tuning to some ops",
        details: "The file names ops (tune_ops_name), op types (tune_ops_type), or both, of which the union is \
                  tuned. tune_optimization_level is O1 (thorough) or O2 (normal, the default). feature switches \
                  deeper_opat (needs aoe_mode 2) or nonhomo_split (needs aoe_mode 1) on.",
        ..AOE_ROW
    },
];

pub(super) const COMPILATION: &[OptionRow] = &[
    OptionRow {
        key: "op_compiler_cache_mode",
        kind: OptionKind::TextChoice(&[
            ("enable", "compiled ops are cached and reused"),
            ("force", "the cache is cleared and rebuilt"),
            ("disable", "no cache"),
        ]),
        default: DefaultValue::Text("enable"),
        summary: "cache of compiled ops on disk",
        details: "enable: ops compiled with the same settings are loaded from disk. force clears the cache first, for \
                  one run after a software change; it is dangerous while other programs compile. The cache is always \
                  off if op_debug_level is not 0 or op_debug_config is set without op_debug_list; with such a list \
                  only the listed ops are recompiled. Unless op_cache.ini or the variables ASCEND_MAX_OP_CACHE_SIZE \
                  and ASCEND_REMAIN_CACHE_SIZE_RATIO say otherwise, the cache holds 500 MB and keeps half of that \
                  when it is full. The TensorFlow 1 adapter passes nothing if unset.",
        source: "NPURunConfig option reference; TensorFlow adapter npu_config.py",
        ..OPERATOR_COMPILATION_ROW
    },
    OptionRow {
        key: "op_compiler_cache_dir",
        kind: OptionKind::Path(PathKind::Directory),
        unset_means: Some("kernel_cache below ASCEND_CACHE_PATH, else $HOME/atc_data"),
        summary: "the directory of the cache of compiled ops",
        details: "A subdirectory kernel_cache is made in it; the directory itself is made too where it is missing. \
                  The path may hold letters, digits, underscores, hyphens and dots. Without it the cache goes below \
                  ASCEND_CACHE_PATH, into kernel_cache with the host's id behind it, else to $HOME/atc_data.",
        rule: "K2",
        ..OPERATOR_COMPILATION_ROW
    },
];

pub(super) const DATA: &[OptionRow] = &[
    OptionRow {
        key: "local_rank_id",
        kind: OptionKind::Int { min: 0, max: 7 },
        summary: "the rank of this process on its server, for shared preprocessing of data",
        details: "In recommendation networks that train data-parallel, one main process removes doubles from the \
                  data and sends it to the devices of the other processes. This tells who is who; the collective \
                  library's get_local_rank_id() gives the number. It goes with local_device_list.",
        rule: "R33",
        ..DATA_AUGMENTATION_ROW
    },
    OptionRow {
        key: "local_device_list",
        kind: OptionKind::Text,
        summary: "the devices to which the main process sends data",
        details: "Device ids separated by commas, such as \"0,1\". It goes with local_rank_id: one without the other \
                  is of no use.",
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
    source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
    ..COMMON
};
