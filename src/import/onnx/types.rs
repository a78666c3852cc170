//! ONNX element types: codes and names of the format -> [`DType`].

use highwater_model::graph::DType;

/// Rows of the format's own enumeration, by code.
const TYPES: &[(&str, DType)] = &[
    ("UNDEFINED", DType::Unknown),
    ("FLOAT", DType::Float32),
    ("UINT8", DType::Uint8),
    ("INT8", DType::Int8),
    ("UINT16", DType::Uint16),
    ("INT16", DType::Int16),
    ("INT32", DType::Int32),
    ("INT64", DType::Int64),
    ("STRING", DType::Text),
    ("BOOL", DType::Bool),
    ("FLOAT16", DType::Float16),
    ("DOUBLE", DType::Float64),
    ("UINT32", DType::Uint32),
    ("UINT64", DType::Uint64),
    ("COMPLEX64", DType::Complex64),
    ("COMPLEX128", DType::Complex128),
    ("BFLOAT16", DType::Bfloat16),
    ("FLOAT8E4M3FN", DType::Float8),
    ("FLOAT8E4M3FNUZ", DType::Float8),
    ("FLOAT8E5M2", DType::Float8),
    ("FLOAT8E5M2FNUZ", DType::Float8),
    ("UINT4", DType::Uint4),
    ("INT4", DType::Int4),
    ("FLOAT4E2M1", DType::Float4),
    ("FLOAT8E8M0", DType::Float8),
    ("UINT2", DType::Uint2),
    ("INT2", DType::Int2),
];

/// The type of a code; unknown for codes of later versions.
pub(super) fn from_code(code: i64) -> DType {
    usize::try_from(code)
        .ok()
        .and_then(|position| TYPES.get(position))
        .map_or(DType::Unknown, |row| row.1)
}

/// The type of a name, as the first operator sets wrote it.
pub(super) fn from_text(text: &str) -> DType {
    TYPES
        .iter()
        .find(|row| row.0.eq_ignore_ascii_case(text))
        .map_or(DType::Unknown, |row| row.1)
}
