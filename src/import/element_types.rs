//! Element types as formats number and spell them -> [`DType`].
//!
//! A format is the list of its names by number, from 0; `-` is a number without a tensor. What a name means is
//! said once for all formats: `FLOAT8E4M3FN`, `QINT8`, `bf16`, `s32`.

use std::sync::LazyLock;

use highwater_model::graph::DType;

pub(super) struct ElementTypes(Vec<(&'static str, DType)>);

pub(super) static ONNX: LazyLock<ElementTypes> = LazyLock::new(|| {
    ElementTypes::new(
        "UNDEFINED FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 COMPLEX128 \
         BFLOAT16 FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ UINT4 INT4 FLOAT4E2M1 FLOAT8E8M0 UINT2 INT2 FLOAT6E2M3 \
         FLOAT6E3M2",
    )
});

/// `mind_ir.TensorProto.DataType`.
pub(super) static MINDSPORE: LazyLock<ElementTypes> = LazyLock::new(|| {
    ElementTypes::new(
        "UNDEFINED FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 COMPLEX128 \
         BFLOAT16 FLOAT64",
    )
});

/// Resources and variants are handles: what they refer to is counted where it is made.
pub(super) static TENSORFLOW: LazyLock<ElementTypes> = LazyLock::new(|| {
    ElementTypes::new(
        "INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32 BFLOAT16 QINT16 QUINT16 \
         UINT16 COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64 FLOAT8_E5M2 FLOAT8_E4M3FN FLOAT8_E4M3FNUZ FLOAT8_E4M3B11FNUZ \
         FLOAT8_E5M2FNUZ INT4 UINT4 INT2 UINT2 FLOAT4_E2M1FN",
    )
});

/// `ge.proto.DataType`.
pub(super) static GE: LazyLock<ElementTypes> = LazyLock::new(|| {
    ElementTypes::new(
        "UNDEFINED FLOAT FLOAT16 INT8 UINT8 INT16 UINT16 INT32 INT64 UINT32 UINT64 BOOL DOUBLE STRING DUAL_SUB_INT8 \
         DUAL_SUB_UINT8 COMPLEX64 COMPLEX128 QINT8 QINT16 QINT32 QUINT8 QUINT16 - - - - BF16 INT4 UINT1 INT2 UINT2 COMPLEX32 \
         HIFLOAT8 FLOAT8_E5M2 FLOAT8_E4M3FN FLOAT8_E8M0 FLOAT6_E3M2 FLOAT6_E2M3 FLOAT4_E2M1 FLOAT4_E1M2 HIFLOAT4",
    )
});

pub(super) static TFLITE: LazyLock<ElementTypes> = LazyLock::new(|| {
    ElementTypes::new(
        "FLOAT32 FLOAT16 INT32 UINT8 INT64 STRING BOOL INT16 COMPLEX64 INT8 FLOAT64 COMPLEX128 UINT64 - - UINT32 UINT16 INT4 \
         BFLOAT16 INT2 UINT4 FLOAT8_E4M3FN FLOAT8_E5M2",
    )
});

/// `xla.PrimitiveType`.
pub(super) static XLA: LazyLock<ElementTypes> = LazyLock::new(|| {
    ElementTypes::new(
        "- pred s8 s16 s32 s64 u8 u16 u32 u64 f16 f32 f64 - - c64 bf16 - c128 f8e5m2 f8e4m3fn s4 u4 f8e4m3b11fnuz f8e5m2fnuz \
         f8e4m3fnuz s2 u2 f8e4m3 f8e3m4 s1 u1 f4e2m1fn f8e8m0fnu - f6e3m2fn f6e2m3fn",
    )
});

impl ElementTypes {
    fn new(names: &'static str) -> Self {
        Self(names.split_whitespace().map(|name| (name, meaning(name))).collect())
    }

    /// The type of a number; unknown for numbers of later versions.
    pub(super) fn of_code(&self, code: i64) -> DType {
        let row = usize::try_from(code).ok().and_then(|code| self.0.get(code));
        row.map_or(DType::Unknown, |row| row.1)
    }

    /// The number of a name in the format's spelling.
    pub(super) fn code(&self, name: &str) -> Option<i64> {
        let position = self.0.iter().position(|row| row.0 == name)?;
        i64::try_from(position).ok()
    }

    pub(super) fn of_name(&self, name: &str) -> DType {
        self.code(name).map_or(DType::Unknown, |code| self.of_code(code))
    }
}

/// Types that this program cannot count are unknown.
fn meaning(name: &str) -> DType {
    let name = name.to_ascii_lowercase();
    let plain = ["dual_sub_", "hi", "q"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix));
    let plain = match plain.unwrap_or(&name) {
        // Elements of one bit take a byte each, as XLA's truth values do.
        "pred" | "s1" | "u1" => return DType::Bool,
        "bf16" => return DType::Bfloat16,
        "resource" | "variant" => return DType::Handle,
        plain => plain,
    };
    let start = plain
        .find(|letter: char| letter.is_ascii_digit())
        .unwrap_or(plain.len());
    let (word, width) = plain.split_at(start);
    let width = width
        .split(|letter: char| !letter.is_ascii_digit())
        .next()
        .unwrap_or("");
    let word = match word {
        "s" => "int",
        "u" => "uint",
        "f" => "float",
        "c" => "complex",
        word => word,
    };
    DType::from_name(&format!("{word}{width}")).unwrap_or(DType::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_of_formats_mean_types() {
        for (types, code, name, dtype) in [
            (&ONNX, 1, "FLOAT", DType::Float32),
            (&ONNX, 24, "FLOAT8E8M0", DType::Float8),
            (&ONNX, 26, "INT2", DType::Int2),
            (&ONNX, 28, "FLOAT6E3M2", DType::Float6),
            (&TENSORFLOW, 13, "QINT32", DType::Int32),
            (&TENSORFLOW, 19, "HALF", DType::Float16),
            (&TENSORFLOW, 20, "RESOURCE", DType::Handle),
            (&TENSORFLOW, 33, "FLOAT4_E2M1FN", DType::Float4),
            (&GE, 15, "DUAL_SUB_UINT8", DType::Uint8),
            (&GE, 27, "BF16", DType::Bfloat16),
            (&GE, 37, "FLOAT6_E3M2", DType::Float6),
            (&GE, 41, "HIFLOAT4", DType::Float4),
            (&TFLITE, 9, "INT8", DType::Int8),
            (&TFLITE, 17, "INT4", DType::Int4),
            (&TFLITE, 22, "FLOAT8_E5M2", DType::Float8),
            (&XLA, 1, "pred", DType::Bool),
            (&XLA, 16, "bf16", DType::Bfloat16),
            (&XLA, 27, "u2", DType::Uint2),
            (&XLA, 30, "s1", DType::Bool),
            (&XLA, 36, "f6e2m3fn", DType::Float6),
            (&XLA, 33, "f8e8m0fnu", DType::Float8),
        ] {
            assert_eq!((types.of_code(code), types.code(name)), (dtype, Some(code)), "{name}");
            assert_eq!(types.of_name(name), dtype, "{name}");
        }
        let (most, handle) = (i64::MAX, TFLITE.of_code(13));
        assert_eq!(
            (ONNX.of_code(-1), GE.of_code(most), handle),
            (DType::Unknown, DType::Unknown, DType::Unknown)
        );
    }

    #[test]
    fn every_type_that_is_counted_has_a_name_in_a_format() {
        let known: Vec<DType> = [&ONNX, &TENSORFLOW, &GE, &TFLITE, &XLA]
            .iter()
            .flat_map(|types| types.0.iter().map(|row| row.1))
            .collect();
        for code in 0..DType::Unknown as usize {
            assert!(known.iter().any(|dtype| *dtype as usize == code), "{code}");
        }
    }
}
