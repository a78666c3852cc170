//! Elements of small constants, as files store them.

use super::fact::{Elem, MAX_ELEMENTS, Value, is_integer};
use crate::wire::List;
use highwater_model::graph::DType;

/// The most bytes of content that are read of one tensor.
pub(crate) const SMALL_BYTES: u64 = 64 << 10;
const MAX_INTS: usize = 8192;
/// The most floats that are kept of one tensor: scales and ratios, never weights.
const MAX_FLOATS: usize = 256;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    /// Too many, in another file, or not stored.
    Absent,
    Ints(Box<[i64]>),
    Floats(Box<[f64]>),
}

impl Data {
    /// The number of its elements.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Absent => 0,
            Self::Ints(items) => items.len(),
            Self::Floats(items) => items.len(),
        }
    }

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

/// Elements in the forms in which a message may hold them.
pub(crate) struct Stored {
    /// Little endian.
    pub(crate) content: Option<Vec<u8>>,
    pub(crate) ints: List<i64>,
    pub(crate) floats: List<f64>,
}

impl Stored {
    pub(crate) const fn new() -> Self {
        Self {
            content: None,
            ints: List::new(MAX_INTS),
            floats: List::new(MAX_FLOATS),
        }
    }

    /// The elements of a tensor of `count`, where the file has all of them. With `most_zeros` the last of too few elements is
    /// repeated, as the writer leaves repetitions out; none at all are zeros in a tensor of at most so many.
    pub(crate) fn data(self, dtype: DType, count: usize, most_zeros: Option<usize>) -> Data {
        let content = self.content.filter(|content| !content.is_empty());
        // Content without one whole element is damaged, not left out.
        let most_zeros = most_zeros.map(|most| if content.is_some() { 0 } else { most });
        if is_integer(dtype) && count <= MAX_INTS {
            let items = match content {
                Some(content) => integers(dtype, &content),
                None => (!self.ints.is_full).then_some(self.ints.items),
            };
            return items
                .and_then(|items| whole(items, count, most_zeros, 0))
                .map_or(Data::Absent, Data::Ints);
        }
        let width = match dtype {
            DType::Float32 => 4,
            DType::Float64 => 8,
            _ => return Data::Absent,
        };
        if count > MAX_FLOATS || self.floats.is_full {
            return Data::Absent;
        }
        let items = match content {
            Some(content) => floats(&content, width).collect(),
            None => self.floats.items,
        };
        whole(items, count, most_zeros, 0.0).map_or(Data::Absent, Data::Floats)
    }
}

/// As many items as there are elements.
fn whole<T: Copy>(mut items: Vec<T>, count: usize, most_zeros: Option<usize>, zero: T) -> Option<Box<[T]>> {
    if let Some(most) = most_zeros
        && items.len() < count
    {
        let zero = Some(zero).filter(|_| count <= most);
        items.resize(count, items.last().copied().or(zero)?);
    }
    (items.len() == count).then(|| items.into())
}

/// Little endian integers; `None` for types of less than a byte.
fn integers(dtype: DType, content: &[u8]) -> Option<Vec<i64>> {
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

    #[test]
    fn elements_are_filled_up_or_absent() {
        let data = |count: usize, ints: &[i64], content: Option<&[u8]>| {
            let mut stored = Stored::new();
            for item in ints {
                stored.ints.push(*item);
            }
            stored.content = content.map(<[u8]>::to_vec);
            stored.data(DType::Int32, count, Some(64))
        };
        assert_eq!(data(3, &[5], None), Data::Ints(Box::new([5, 5, 5])));
        assert_eq!(data(3, &[], None), Data::Ints(Box::new([0, 0, 0])));
        assert_eq!(data(300, &[], None), Data::Absent);
        assert_eq!(data(0, &[], None), Data::Ints(Box::default()));
        assert_eq!(data(1, &[1, 2], None), Data::Absent);
        let content = [0xfe, 0xff, 0xff, 0xff, 1, 0, 0, 0];
        assert_eq!(data(2, &[], Some(&content)), Data::Ints(Box::new([-2, 1])));
    }
}
