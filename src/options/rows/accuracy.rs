//! Options of numeric precision.

use super::super::kind::{Choice, OptionKind, PathKind};
use super::super::row::OptionRow;
use super::super::section::Section;
use super::super::value::DefaultValue;
use super::{COMMON, keys};

const NOT_SIMULATED: &str = "not simulated in this version: tensors keep the data types of the file. In reality a mode \
                             that takes float16 halves the bytes of the tensors it touches and adds casts, \
                             whose outputs are tensors too";

pub(super) const ROWS: &[OptionRow] = &[
    PRECISION_MODE,
    PRECISION_MODE_V2,
    OptionRow {
        key: "modify_mixlist",
        kind: OptionKind::Path(PathKind::File),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        memory_effect: "TEXT",
        lowers_to: Some("Lowered::precision"),
        ..ACCURACY_TUNING_ROW
    },
    OptionRow {
        key: "enable_reduce_precision",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        ..ACCURACY_TUNING_ROW
    },
    OptionRow {
        key: "customize_dtypes",
        kind: OptionKind::Path(PathKind::File),
        summary: "TEXT",
        details: "TEXT. TEXT.",
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
        Choice {
            value: "allow_fp32_to_fp16",
            summary: "float16 for matrix ops, and elsewhere only where float32 is not supported",
        },
        Choice {
            value: "force_fp16",
            summary: "float16 wherever an op supports it; online inference only",
        },
        Choice {
            value: "force_fp32",
            summary: "older name of cube_fp16in_fp32out",
        },
        Choice {
            value: "cube_fp16in_fp32out",
            summary: "matrix ops read float16 and write float32 where they can; other ops take float32",
        },
        Choice {
            value: "must_keep_origin_dtype",
            summary: "the precision of the graph is kept",
        },
        Choice {
            value: "allow_mix_precision",
            summary: "older name of allow_mix_precision_fp16",
        },
        Choice {
            value: "allow_mix_precision_fp16",
            summary: "automatic mixed precision of float32 and float16, by a built-in list of ops",
        },
        Choice {
            value: "allow_mix_precision_bf16",
            summary: "mixed precision with bfloat16; accepted by the code, not in the reference",
        },
        Choice {
            value: "allow_fp32_to_bf16",
            summary: "as allow_fp32_to_fp16 with bfloat16; accepted by the code, not in the reference",
        },
    ]),
    summary: "the numeric precision that ops of the whole network run in",
    details: "Says whether the compiler may trade the precision of the graph for speed and memory, and for which \
              ops. Unset, training uses allow_fp32_to_fp16. Mixed precision should go with loss scaling. \
              It cannot be set together with precision_mode_v2, which is the one to prefer; an empty text \
              counts as unset.",
    memory_effect: NOT_SIMULATED,
    rule: "R11",
    source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
    ..ACCURACY_TUNING_ROW
};

const PRECISION_MODE_V2: OptionRow = OptionRow {
    key: keys::PRECISION_MODE_V2,
    kind: OptionKind::TextChoice(&[
        Choice {
            value: "fp16",
            summary: "float16 wherever an op supports it",
        },
        Choice {
            value: "origin",
            summary: "the precision of the graph is kept",
        },
        Choice {
            value: "cube_fp16in_fp32out",
            summary: "matrix ops read float16 and write float32 where they can; other ops take float32",
        },
        Choice {
            value: "mixed_float16",
            summary: "automatic mixed precision of float32 and float16, by a built-in list of ops",
        },
        Choice {
            value: "mixed_bfloat16",
            summary: "mixed precision with bfloat16; accepted by the code, not in the reference",
        },
        Choice {
            value: "cube_hif8",
            summary: "matrix ops in hifloat8; accepted by the code, not in the reference",
        },
        Choice {
            value: "mixed_hif8",
            summary: "mixed precision with hifloat8; accepted by the code, not in the reference",
        },
    ]),
    summary: "the numeric precision that ops of the whole network run in, with the newer names",
    details: "The successor of precision_mode, with fewer and clearer modes. Unset, precision_mode holds, and \
              its default where that is unset too. The two cannot be set together; an empty text counts as \
              unset. Mixed precision should go with loss scaling.",
    memory_effect: NOT_SIMULATED,
    rule: "R11",
    source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
    ..ACCURACY_TUNING_ROW
};
