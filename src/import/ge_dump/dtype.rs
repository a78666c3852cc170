//! Element types by the names of `ge.proto.DataType`.

use highwater_model::graph::DType;

/// By number; a type that this program cannot count is unknown.
const TYPES: &[(&str, DType)] = &[
    ("DT_UNDEFINED", DType::Unknown),
    ("DT_FLOAT", DType::Float32),
    ("DT_FLOAT16", DType::Float16),
    ("DT_INT8", DType::Int8),
    ("DT_UINT8", DType::Uint8),
    ("DT_INT16", DType::Int16),
    ("DT_UINT16", DType::Uint16),
    ("DT_INT32", DType::Int32),
    ("DT_INT64", DType::Int64),
    ("DT_UINT32", DType::Uint32),
    ("DT_UINT64", DType::Uint64),
    ("DT_BOOL", DType::Bool),
    ("DT_DOUBLE", DType::Float64),
    ("DT_STRING", DType::Text),
    ("DT_DUAL_SUB_INT8", DType::Int8),
    ("DT_DUAL_SUB_UINT8", DType::Uint8),
    ("DT_COMPLEX64", DType::Complex64),
    ("DT_COMPLEX128", DType::Complex128),
    ("DT_QINT8", DType::Int8),
    ("DT_QINT16", DType::Int16),
    ("DT_QINT32", DType::Int32),
    ("DT_QUINT8", DType::Uint8),
    ("DT_QUINT16", DType::Uint16),
    ("DT_RESOURCE", DType::Unknown),
    ("DT_STRING_REF", DType::Unknown),
    ("DT_DUAL", DType::Unknown),
    ("DT_VARIANT", DType::Unknown),
    ("DT_BF16", DType::Bfloat16),
    ("DT_INT4", DType::Int4),
    ("DT_UINT1", DType::Unknown),
    ("DT_INT2", DType::Int2),
    ("DT_UINT2", DType::Uint2),
    ("DT_COMPLEX32", DType::Complex32),
    ("DT_HIFLOAT8", DType::Float8),
    ("DT_FLOAT8_E5M2", DType::Float8),
    ("DT_FLOAT8_E4M3FN", DType::Float8),
    ("DT_FLOAT8_E8M0", DType::Float8),
    ("DT_FLOAT6_E3M2", DType::Unknown),
    ("DT_FLOAT6_E2M3", DType::Unknown),
    ("DT_FLOAT4_E2M1", DType::Float4),
    ("DT_FLOAT4_E1M2", DType::Float4),
    ("DT_HIFLOAT4", DType::Float4),
];

/// The type of a name, or of a number where the writer knew no name.
pub(super) fn dtype_of(word: &str) -> DType {
    let by_number = || TYPES.get(word.parse::<usize>().ok()?);
    let row = TYPES.iter().find(|row| row.0 == word).or_else(by_number);
    row.map_or(DType::Unknown, |row| row.1)
}
