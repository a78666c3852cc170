//! Options of numeric precision.

use super::{Acts, COMMON, DefaultValue, OptionKind, OptionRow, PathKind, Section, keys};

const PRECISION_EFFECT: &str = "widths of activations by mode: matrix and convolution results of float32 become 16 bit \
                                under the allow_fp32 modes; all float32 activations under fp16 and force_fp16; all but \
                                those of simulation.kept_ops under the mixed modes (8 bit under mixed_hif8); matrix \
                                and convolution results become 8 bit under cube_hif8; 16-bit floats become float32 \
                                under force_fp32 and cube_fp16in_fp32out. Nothing under the modes that keep data \
                                types, or unset. Inputs, outputs, weights and variables keep their widths, and casts \
                                are not counted";

pub(super) const ROWS: &[OptionRow] = &[
    PRECISION_MODE,
    PRECISION_MODE_V2,
    OptionRow {
        key: "modify_mixlist",
        kind: OptionKind::Path(PathKind::File),
        summary: "JSON file that changes the op lists of mixed precision",
        details: "Mixed precision sorts op types into a black list (precision is kept), a white list (precision may be \
                  lowered) and a grey list (as the op before it). The file has the objects black-list and white-list, \
                  each with to-add and to-remove. It needs a mixed mode in precision_mode or precision_mode_v2; without \
                  one the adapter refuses it. The built-in lists are in the operator package of each chip; here \
                  simulation.kept_ops takes their place.",
        lowers_to: Some("Lowered::precision"),
        acts: Acts::ON_GRAPHS.with(&[keys::PRECISION_MODE, keys::PRECISION_MODE_V2]),
        memory_effect: "under a mixed mode, op types added to the black list keep their width and those added to the \
                        white list lose it, on top of simulation.kept_ops; nothing under other modes or where the \
                        file cannot be read",
        is_estimate: true,
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..ACCURACY_TUNING_ROW
    },
    OptionRow {
        key: "enable_reduce_precision",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether the compiler may reduce precision (not supported)",
        details: "The reference says that the current version does not support it. Leave it out and choose a \
                  precision_mode instead.",
        ..ACCURACY_TUNING_ROW
    },
    OptionRow {
        key: "customize_dtypes",
        kind: OptionKind::Path(PathKind::File),
        summary: "file of data types for single ops",
        details: "Each line names an op or, behind OpType::, an op type, and the data types of its inputs and \
                  outputs; a name beats a type. Other ops follow precision_mode. It has no effect under \
                  precision_mode=must_keep_origin_dtype. A data type that the op does not support fails the \
                  compilation, and fusion may rename ops so that a line no longer finds them.",
        memory_effect: "the results of the named ops take the widths of the file, over those of precision_mode; inputs and casts \
                        are as without it",
        lowers_to: Some("Precision::customized"),
        is_estimate: true,
        ..ACCURACY_TUNING_ROW
    },
];

const ACCURACY_TUNING_ROW: OptionRow = OptionRow {
    section: Section::AccuracyTuning,
    ..COMMON
};

const PRECISION_MODE: OptionRow = OptionRow {
    key: keys::PRECISION_MODE,
    kind: OptionKind::TextChoice(&[
        (
            "allow_fp32_to_fp16",
            "float16 for matrix ops, and elsewhere only where float32 is not supported",
        ),
        (
            "force_fp16",
            "float16 wherever an op supports it; online inference only",
        ),
        ("force_fp32", "older name of cube_fp16in_fp32out"),
        (
            "cube_fp16in_fp32out",
            "matrix ops read float16 and write float32 where they can; other ops take float32",
        ),
        ("must_keep_origin_dtype", "the precision of the graph is kept"),
        ("allow_mix_precision", "older name of allow_mix_precision_fp16"),
        (
            "allow_mix_precision_fp16",
            "automatic mixed precision of float32 and float16, by a built-in list of ops",
        ),
        (
            "allow_mix_precision_bf16",
            "mixed precision with bfloat16; accepted by the code, undocumented",
        ),
        (
            "allow_fp32_to_bf16",
            "as allow_fp32_to_fp16 with bfloat16; accepted by the code, undocumented",
        ),
    ]),
    summary: "numeric precision of the network",
    details: "Whether the compiler may trade precision for speed and memory, and for which ops. Unset, training uses \
              allow_fp32_to_fp16 on a device; the simulation keeps the data types of the file, because the compiler \
              decides which ops have float16 kernels, and an underestimated peak is worse than an overestimated one. \
              `compare` of a training graph states the effect of allow_fp32_to_fp16 (C2), and Problems in the window \
              sets it with a click. Mixed precision should go with loss scaling. Mutually exclusive with \
              precision_mode_v2, which is preferred; an empty text counts as unset.",
    unset_means: Some("allow_fp32_to_fp16 in training; the file's data types in the simulation"),
    by_run_mode: Some([DefaultValue::Unset, DefaultValue::Text("allow_fp32_to_fp16")]),
    memory_effect: PRECISION_EFFECT,
    lowers_to: Some("Lowered::precision"),
    is_estimate: true,
    rule: "R11",
    source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
    ..ACCURACY_TUNING_ROW
};

const PRECISION_MODE_V2: OptionRow = OptionRow {
    key: keys::PRECISION_MODE_V2,
    kind: OptionKind::TextChoice(&[
        ("fp16", "float16 wherever an op supports it"),
        ("origin", "the precision of the graph is kept"),
        (
            "cube_fp16in_fp32out",
            "matrix ops read float16 and write float32 where they can; other ops take float32",
        ),
        (
            "mixed_float16",
            "automatic mixed precision of float32 and float16, by a built-in list of ops",
        ),
        (
            "mixed_bfloat16",
            "mixed precision with bfloat16; accepted by the code, undocumented",
        ),
        (
            "cube_hif8",
            "matrix ops in hifloat8; accepted by the code, undocumented",
        ),
        (
            "mixed_hif8",
            "mixed precision with hifloat8; accepted by the code, undocumented",
        ),
    ]),
    summary: "numeric precision of the network (newer names)",
    details: "The successor of precision_mode, with fewer and clearer modes. Unset, precision_mode holds, and \
              its default where that is unset too. The two cannot be set together; an empty text counts as \
              unset. Mixed precision should go with loss scaling.",
    unset_means: Some("what precision_mode says"),
    memory_effect: PRECISION_EFFECT,
    lowers_to: Some("Lowered::precision"),
    is_estimate: true,
    rule: "R11",
    source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
    ..ACCURACY_TUNING_ROW
};
