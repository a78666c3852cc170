//! Tensor and shape messages: type and dimensions of every constant, the elements of small ones.

use super::Parser;
use crate::ImportError;
use crate::shape::constant::{floats, integers};
use crate::shape::fact::is_integer;
use crate::tensorflow::fields::{Fields, List, Schema};
use crate::tensorflow::model::{Data, RawShape, TensorInfo};
use highwater_model::graph::DType;

const MAX_RANK: usize = 254;
/// The most bytes of content that are read of one tensor.
const SMALL_BYTES: u64 = 64 << 10;
const MAX_INTS: usize = 8192;
/// The most floats that are kept of one tensor: scales and ratios, never weights.
const MAX_FLOATS: usize = 256;
/// The most elements of a tensor that is taken for zeros where it has no content. Writers leave zeros out; tools that
/// empty weights do so to larger ones.
const MAX_ZEROS: usize = 64;
const TENSOR_PRICE: u64 = 80;

const TENSOR: Schema = Schema {
    what: "a tensor",
    fields: &[
        ("dtype", 1),
        ("tensor_shape", 2),
        ("tensor_content", 4),
        ("float_val", 5),
        ("double_val", 6),
        ("int_val", 7),
        ("int64_val", 10),
        ("bool_val", 11),
        ("uint32_val", 16),
        ("uint64_val", 17),
    ],
};
const SHAPE: Schema = Schema {
    what: "a shape",
    fields: &[("dim", 2), ("unknown_rank", 3)],
};
const DIMENSION: Schema = Schema {
    what: "a dimension",
    fields: &[("size", 1)],
};

struct Parts {
    content: Option<Vec<u8>>,
    ints: List<i64>,
    floats: List<f64>,
}

impl Parser<'_> {
    /// A tensor; only small contents are read.
    pub(super) fn tensor(&mut self, fields: &mut impl Fields) -> Result<TensorInfo, ImportError> {
        let mut dtype = DType::Unknown;
        // A tensor without a shape is a scalar.
        let mut shape: RawShape = Some(Box::default());
        let mut parts = Parts {
            content: None,
            ints: List::new(MAX_INTS),
            floats: List::new(MAX_FLOATS),
        };
        fields.enter()?;
        while let Some(number) = fields.next(&TENSOR)? {
            match number {
                1 => {
                    let code = fields.dtype()?;
                    dtype = self.element_type(code);
                }
                2 => shape = self.shape(fields)?,
                4 => parts.content = fields.bytes(SMALL_BYTES)?,
                5 => fields.floats(4, &mut parts.floats)?,
                6 => fields.floats(8, &mut parts.floats)?,
                _ => fields.ints(&mut parts.ints)?,
            }
        }
        let data = decode(dtype, shape.as_deref(), parts);
        let kept = match &data {
            Data::Absent => 0,
            Data::Ints(items) => items.len(),
            Data::Floats(items) => items.len(),
        };
        self.budget.charge(TENSOR_PRICE + kept as u64 * 8, fields.at())?;
        Ok(TensorInfo { dtype, shape, data })
    }

    /// A shape; dimensions below 0 are unknown.
    pub(super) fn shape(&mut self, fields: &mut impl Fields) -> Result<RawShape, ImportError> {
        let mut dims = List::new(MAX_RANK);
        let mut is_unknown = false;
        fields.enter()?;
        while let Some(number) = fields.next(&SHAPE)? {
            if number == 3 {
                is_unknown = fields.int()? != 0;
                continue;
            }
            let mut size = 0;
            fields.enter()?;
            while fields.next(&DIMENSION)?.is_some() {
                size = fields.int()?;
            }
            dims.push(size.max(-1));
        }
        if dims.is_full {
            return Err(ImportError::at_byte(
                format!("a shape has more than {MAX_RANK} dimensions"),
                fields.at(),
            ));
        }
        self.budget.charge(16 + dims.items.len() as u64 * 8, fields.at())?;
        Ok((!is_unknown).then(|| dims.items.into()))
    }
}

/// The elements, where the file has all of them. The last of too few elements is repeated; none at all are zeros in a
/// small tensor, and mean that the writer left them out of a large one.
fn decode(dtype: DType, shape: Option<&[i64]>, parts: Parts) -> Data {
    let count = shape.and_then(|dims| {
        let sizes = dims.iter().map(|dim| usize::try_from(*dim).ok());
        sizes
            .into_iter()
            .try_fold(1_usize, |product, dim| product.checked_mul(dim?))
    });
    let Some(count) = count else {
        return Data::Absent;
    };
    let content = parts.content.filter(|content| !content.is_empty());
    if is_integer(dtype) && count <= MAX_INTS {
        let items = match content {
            Some(content) => integers(dtype, &content),
            None if parts.ints.is_full => None,
            None => Some(parts.ints.items).map(|items| zeros(items, count, 0)),
        };
        return items
            .and_then(|items| fill(items, count))
            .map_or(Data::Absent, Data::Ints);
    }
    let width = match dtype {
        DType::Float32 => 4,
        DType::Float64 => 8,
        _ => return Data::Absent,
    };
    if count > MAX_FLOATS || parts.floats.is_full {
        return Data::Absent;
    }
    let items: Vec<f64> = match content {
        Some(content) => floats(&content, width).collect(),
        None => zeros(parts.floats.items, count, 0.0),
    };
    fill(items, count).map_or(Data::Absent, Data::Floats)
}

/// A zero in place of nothing, in small tensors.
fn zeros<T>(mut items: Vec<T>, count: usize, zero: T) -> Vec<T> {
    if items.is_empty() && (1..=MAX_ZEROS).contains(&count) {
        items.push(zero);
    }
    items
}

/// As many items as there are elements.
fn fill<T: Copy>(mut items: Vec<T>, count: usize) -> Option<Box<[T]>> {
    if items.len() > count {
        return None;
    }
    if count > items.len() {
        let last = *items.last()?;
        items.resize(count, last);
    }
    Some(items.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_filled_up_or_absent() {
        let parts = |ints: &[i64], content: Option<&[u8]>| {
            let mut list = List::new(MAX_INTS);
            for item in ints {
                list.push(*item);
            }
            Parts {
                content: content.map(<[u8]>::to_vec),
                ints: list,
                floats: List::new(MAX_FLOATS),
            }
        };
        let data = |shape: &[i64], parts| decode(DType::Int32, Some(shape), parts);
        assert_eq!(data(&[3], parts(&[5], None)), Data::Ints(Box::new([5, 5, 5])));
        assert_eq!(data(&[3], parts(&[], None)), Data::Ints(Box::new([0, 0, 0])));
        assert_eq!(data(&[300], parts(&[], None)), Data::Absent);
        assert_eq!(data(&[0], parts(&[], None)), Data::Ints(Box::default()));
        assert_eq!(data(&[-1], parts(&[1], None)), Data::Absent);
        assert_eq!(data(&[1], parts(&[1, 2], None)), Data::Absent);
        let content = [0xfe, 0xff, 0xff, 0xff, 1, 0, 0, 0];
        assert_eq!(data(&[2], parts(&[], Some(&content))), Data::Ints(Box::new([-2, 1])));
    }
}
