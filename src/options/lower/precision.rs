//! The options of precision as changes of tensor widths: modes, the list of kept ops, and the file of single operators.

use super::super::config_files::{MixList, custom_dtypes, mix_list};
use super::super::files::{FileState, Files};
use super::super::rows::keys;
use super::super::store::Options;
use highwater_rewrite::{CustomWidths, OpTypes, Precision, PrecisionMode};

/// The newer option takes precedence; setting both is an error.
pub(super) fn precision(options: &Options, files: &dyn Files) -> Precision {
    let newer = options.text(keys::PRECISION_MODE_V2);
    let older = options.text(keys::PRECISION_MODE);
    let name = if newer.is_empty() { older } else { newer };
    let mode = match name.as_str() {
        "allow_fp32_to_fp16" | "allow_fp32_to_bf16" => PrecisionMode::MatrixTo16,
        "cube_hif8" => PrecisionMode::MatrixTo8,
        "force_fp16" | "fp16" => PrecisionMode::AllTo16,
        "force_fp32" | "cube_fp16in_fp32out" => PrecisionMode::AllTo32,
        "allow_mix_precision"
        | "allow_mix_precision_fp16"
        | "allow_mix_precision_bf16"
        | "mixed_float16"
        | "mixed_bfloat16" => PrecisionMode::MixedTo16,
        "mixed_hif8" => PrecisionMode::MixedTo8,
        // must_keep_origin_dtype, origin, and an empty text keep the graph's widths.
        _ => PrecisionMode::Keep,
    };
    let kept = if mode.is_mixed() {
        kept_ops(options, files)
    } else {
        OpTypes::default()
    };
    // An explicit must_keep_origin_dtype switches the file off (R14).
    let customized = match name.as_str() {
        "must_keep_origin_dtype" => CustomWidths::default(),
        _ => customized(options, files),
    };
    Precision { mode, kept, customized }
}

/// The widths that the file of `customize_dtypes` gives to results.
fn customized(options: &Options, files: &dyn Files) -> CustomWidths {
    let mut widths = CustomWidths::default();
    let path = options.acting(keys::CUSTOMIZE_DTYPES);
    let Some(FileState::File(bytes)) = path.as_text().map(|path| files.look(path)) else {
        return widths;
    };
    for operator in custom_dtypes(&bytes).0 {
        let bits = operator.outputs.iter().map(|dtype| bits_of(dtype)).collect();
        let kind = if operator.is_type {
            &mut widths.by_type
        } else {
            &mut widths.by_name
        };
        kind.insert(operator.name, bits);
    }
    widths
}

/// The width of a data type of that file.
fn bits_of(dtype: &str) -> Option<u32> {
    Some(match dtype {
        "uint1" => 1,
        "int4" => 4,
        "bool" | "int8" | "uint8" | "qint8" | "quint8" | "hifloat8" | "float8_e5m2" | "float8_e4m3fn" => 8,
        "float16" | "bfloat16" | "int16" | "uint16" | "qint16" | "quint16" => 16,
        "float" | "float32" | "int32" | "uint32" | "qint32" | "complex32" => 32,
        "double" | "float64" | "int64" | "uint64" | "complex64" => 64,
        "complex128" => 128,
        _ => return None,
    })
}

/// Op types that stay float32: the assumed list, changed by the file of `modify_mixlist`.
fn kept_ops(options: &Options, files: &dyn Files) -> OpTypes {
    let mut kept = OpTypes::parse(&options.text(keys::KEPT_OPS));
    let changes = match options
        .acting(keys::MODIFY_MIXLIST)
        .as_text()
        .map(|path| files.look(path))
    {
        Some(FileState::File(bytes)) => mix_list(&bytes).0,
        _ => MixList::default(),
    };
    for kind in changes.black_remove.iter().chain(&changes.white_add) {
        kept.remove(kind);
    }
    for kind in &changes.black_add {
        kept.insert(kind);
    }
    kept
}
