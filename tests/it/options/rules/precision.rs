//! Numeric precision.

use super::{Case, case};

const LIST: (&str, &str) = ("modify_mixlist", "/list.json");

pub(super) const CASES: &[Case] = &[
    case(&[("precision_mode", "allow_mix_precision")], ""),
    case(&[("precision_mode_v2", "mixed_float16")], ""),
    case(&[("precision_mode", "force_fp32"), ("precision_mode_v2", "")], ""),
    case(
        &[("precision_mode", "force_fp32"), ("precision_mode_v2", "origin")],
        "R10E",
    ),
    case(
        &[("precision_mode", "nonsense"), ("precision_mode_v2", "fp16")],
        "R10E R11E",
    ),
    case(&[("precision_mode", "")], ""),
    case(&[("precision_mode", "fp16")], "R11E"),
    case(&[("precision_mode_v2", "force_fp16")], "R11E"),
    case(&[("precision_mode_v2", "FP16")], "R11E"),
    case(&[("precision_mode", "allow_mix_precision_bf16")], ""),
    case(&[("precision_mode", "force_fp16")], "R13W"),
    case(&[("precision_mode", "force_fp16"), ("graph_run_mode", "1")], "R13W"),
    case(&[("precision_mode", "force_fp16"), ("graph_run_mode", "0")], ""),
    case(&[("precision_mode", "force_fp16"), ("graph_run_mode", "5")], "R6E R13W"),
    case(&[LIST, ("precision_mode", "allow_mix_precision")], ""),
    case(&[LIST, ("precision_mode", "allow_mix_precision_fp16")], ""),
    case(&[LIST, ("precision_mode", "allow_mix_precision_bf16")], ""),
    case(&[LIST, ("precision_mode_v2", "mixed_float16")], ""),
    case(&[LIST, ("precision_mode_v2", "mixed_bfloat16")], ""),
    case(&[LIST, ("precision_mode_v2", "mixed_hif8")], ""),
    case(&[LIST], "R12E"),
    case(&[LIST, ("precision_mode", "")], "R12E"),
    case(&[LIST, ("precision_mode_v2", "origin")], "R12E"),
    case(&[LIST, ("precision_mode", "force_fp32")], "R12E"),
    // precision_mode is checked first, whatever the other one is.
    case(
        &[
            LIST,
            ("precision_mode", "force_fp32"),
            ("precision_mode_v2", "mixed_float16"),
        ],
        "R10E R12E",
    ),
    case(
        &[
            LIST,
            ("precision_mode", "allow_mix_precision"),
            ("precision_mode_v2", "fp16"),
        ],
        "R10E",
    ),
    case(&[("customize_dtypes", "/d.cfg")], ""),
    case(
        &[
            ("customize_dtypes", "/d.cfg"),
            ("precision_mode", "must_keep_origin_dtype"),
        ],
        "R14W",
    ),
    case(&[("customize_dtypes", "/d.cfg"), ("precision_mode", "force_fp32")], ""),
];
