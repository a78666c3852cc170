//! Elements of small constants, as files store them.

use super::fact::{Elem, MAX_ELEMENTS, Value};
use highwater_model::graph::DType;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    /// Too many, in another file, or not stored.
    Absent,
    Ints(Box<[i64]>),
    Floats(Box<[f64]>),
}

impl Data {
    /// The value of a tensor with these dimensions; none where its elements are too many or do not fill them.
    pub(crate) fn value(&self, dims: impl IntoIterator<Item = Option<usize>>) -> Option<Value> {
        let items: Vec<Elem> = match self {
            Self::Ints(items) if items.len() <= MAX_ELEMENTS => items.iter().map(|item| Elem::int(*item)).collect(),
            Self::Floats(items) if items.len() <= MAX_ELEMENTS => items.iter().map(|item| Elem::float(*item)).collect(),
            Self::Ints(_) | Self::Floats(_) | Self::Absent => return None,
        };
        let dims: Vec<usize> = dims.into_iter().collect::<Option<_>>()?;
        let count = dims
            .iter()
            .try_fold(1_usize, |product, size| product.checked_mul(*size));
        (count == Some(items.len())).then_some(Value { dims, items })
    }
}

/// Little endian integers; `None` for types of less than a byte.
pub(crate) fn integers(dtype: DType, content: &[u8]) -> Option<Vec<i64>> {
    let width = usize::try_from(dtype.bits() / 8).ok().filter(|width| *width > 0)?;
    let is_signed = matches!(dtype, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64);
    let number = |chunk: &[u8]| {
        let is_negative = is_signed && chunk.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut bytes = [if is_negative { 0xff } else { 0 }; 8];
        bytes[..width].copy_from_slice(chunk);
        i64::from_le_bytes(bytes)
    };
    Some(content.chunks_exact(width).map(number).collect())
}

/// Little endian floats of 4 or 8 bytes.
pub(crate) fn floats(content: &[u8], width: usize) -> impl Iterator<Item = f64> {
    content.chunks_exact(width).map(|chunk| {
        let single = <[u8; 4]>::try_from(chunk).map(|bytes| f64::from(f32::from_le_bytes(bytes)));
        let double = <[u8; 8]>::try_from(chunk).map(f64::from_le_bytes);
        single.or(double).unwrap_or(f64::NAN)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_their_sign() {
        assert_eq!(integers(DType::Int8, &[0xff, 1]), Some(vec![-1, 1]));
        assert_eq!(integers(DType::Uint8, &[0xff]), Some(vec![255]));
        assert_eq!(integers(DType::Int32, &[0xfe, 0xff, 0xff, 0xff]), Some(vec![-2]));
        assert_eq!(integers(DType::Int4, &[1]), None);
    }
}
