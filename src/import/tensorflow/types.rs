//! TensorFlow's element types: codes and names of the format -> [`DType`].
//!
//! A code above 100 is a reference to a variable of the type 100 below; a text form writes `DT_FLOAT_REF`. Resources
//! and variants are handles: what they refer to is counted where it is made.

use highwater_model::graph::DType;

/// Rows of the format's own enumeration: code, name, type.
const TYPES: &[(i64, &str, DType)] = &[
    (1, "FLOAT", DType::Float32),
    (2, "DOUBLE", DType::Float64),
    (3, "INT32", DType::Int32),
    (4, "UINT8", DType::Uint8),
    (5, "INT16", DType::Int16),
    (6, "INT8", DType::Int8),
    (7, "STRING", DType::Text),
    (8, "COMPLEX64", DType::Complex64),
    (9, "INT64", DType::Int64),
    (10, "BOOL", DType::Bool),
    (11, "QINT8", DType::Int8),
    (12, "QUINT8", DType::Uint8),
    (13, "QINT32", DType::Int32),
    (14, "BFLOAT16", DType::Bfloat16),
    (15, "QINT16", DType::Int16),
    (16, "QUINT16", DType::Uint16),
    (17, "UINT16", DType::Uint16),
    (18, "COMPLEX128", DType::Complex128),
    (19, "HALF", DType::Float16),
    (20, "RESOURCE", DType::Handle),
    (21, "VARIANT", DType::Handle),
    (22, "UINT32", DType::Uint32),
    (23, "UINT64", DType::Uint64),
    (24, "FLOAT8_E5M2", DType::Float8),
    (25, "FLOAT8_E4M3FN", DType::Float8),
    (26, "FLOAT8_E4M3FNUZ", DType::Float8),
    (27, "FLOAT8_E4M3B11FNUZ", DType::Float8),
    (28, "FLOAT8_E5M2FNUZ", DType::Float8),
    (29, "INT4", DType::Int4),
    (30, "UINT4", DType::Uint4),
    (31, "INT2", DType::Int2),
    (32, "UINT2", DType::Uint2),
    (33, "FLOAT4_E2M1FN", DType::Float4),
];

/// The offset of a type's code for a reference to a variable.
const REFERENCE: i64 = 100;

/// The code of a name as the text form writes it, `DT_FLOAT` or `DT_FLOAT_REF`.
pub(super) fn code_of(name: &str) -> Option<i64> {
    let name = name.strip_prefix("DT_")?;
    if name == "INVALID" {
        return Some(0);
    }
    let row = |name: &str| TYPES.iter().find(|row| row.1 == name).map(|row| row.0);
    row(name).or_else(|| Some(row(name.strip_suffix("_REF")?)? + REFERENCE))
}

/// The code of a name that the text form writes and this table lacks.
pub(super) const UNNAMED: i64 = -1;

/// The type of a code; unknown for codes of later versions.
pub(super) fn from_code(code: i64) -> DType {
    let plain = if code > REFERENCE { code - REFERENCE } else { code };
    TYPES
        .iter()
        .find(|row| row.0 == plain)
        .map_or(DType::Unknown, |row| row.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_agree() {
        assert_eq!((code_of("DT_FLOAT"), code_of("DT_FLOAT_REF")), (Some(1), Some(101)));
        assert_eq!((code_of("FLOAT"), code_of("DT_INVALID")), (None, Some(0)));
        assert_eq!(
            (from_code(101), from_code(20), from_code(0)),
            (DType::Float32, DType::Handle, DType::Unknown)
        );
        for (position, row) in (1..).zip(TYPES) {
            assert_eq!(row.0, position);
        }
    }
}
