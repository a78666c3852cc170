//! Element types: names and widths in bits.
//!
//! Packed types (6, 4 and 2 bits) round up to whole bytes per tensor, not per element.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    Bool,
    Int2,
    Uint2,
    Int4,
    Uint4,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float4,
    Float6,
    Float8,
    Float16,
    Bfloat16,
    Float32,
    Float64,
    Complex32,
    Complex64,
    Complex128,
    /// Text elements, which stay on the host and count no device bytes.
    Text,
    /// A reference to a host object, such as a variable or a list of tensors; counts no device bytes.
    Handle,
    /// Not given by the file, or not a tensor (a sequence, an optional, a map).
    Unknown,
}

const NAMES: &[(DType, &str, u32)] = &[
    (DType::Bool, "bool", 8),
    (DType::Int2, "int2", 2),
    (DType::Uint2, "uint2", 2),
    (DType::Int4, "int4", 4),
    (DType::Uint4, "uint4", 4),
    (DType::Int8, "int8", 8),
    (DType::Uint8, "uint8", 8),
    (DType::Int16, "int16", 16),
    (DType::Uint16, "uint16", 16),
    (DType::Int32, "int32", 32),
    (DType::Uint32, "uint32", 32),
    (DType::Int64, "int64", 64),
    (DType::Uint64, "uint64", 64),
    (DType::Float4, "float4", 4),
    (DType::Float6, "float6", 6),
    (DType::Float8, "float8", 8),
    (DType::Float16, "float16", 16),
    (DType::Bfloat16, "bfloat16", 16),
    (DType::Float32, "float32", 32),
    (DType::Float64, "float64", 64),
    (DType::Complex32, "complex32", 32),
    (DType::Complex64, "complex64", 64),
    (DType::Complex128, "complex128", 128),
    (DType::Text, "string", 0),
    (DType::Handle, "handle", 0),
    (DType::Unknown, "unknown", 0),
];

impl DType {
    /// Such as `float32`.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Width of one element in bits; 0 for text and unknown types.
    pub fn bits(self) -> u32 {
        self.row().2
    }

    /// The type of a name in the notation of PyTorch and this program's own JSON.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = match name {
            "float8_e4m3fn" | "float8_e5m2" | "float8_e4m3fnuz" | "float8_e5m2fnuz" | "float8_e8m0fnu" => "float8",
            "half" => "float16",
            "float" => "float32",
            "double" => "float64",
            "long" => "int64",
            "int" => "int32",
            other => other,
        };
        NAMES.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Rounded up; saturates.
    pub fn bytes(self, elements: u64) -> u64 {
        let bits = u128::from(elements) * u128::from(self.bits());
        u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
    }

    fn row(self) -> &'static (Self, &'static str, u32) {
        &NAMES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_own_position() {
        for (position, row) in NAMES.iter().enumerate() {
            assert_eq!(row.0 as usize, position);
            assert_eq!(DType::from_name(row.1), Some(row.0));
        }
    }

    #[test]
    fn packed_types_round_up_per_tensor() {
        assert_eq!(DType::Int4.bytes(3), 2);
        assert_eq!(DType::Float32.bytes(3), 12);
        assert_eq!(DType::Text.bytes(3), 0);
    }
}
