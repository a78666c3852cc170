//! Tensor and shape messages: type and dimensions of every constant, the elements of small ones.

use super::Parser;
use crate::ImportError;
use crate::names::NameIdx;
use crate::shape::constant::{SMALL_BYTES, Stored};
use crate::tensorflow::fields::{Fields, List, Schema};
use crate::tensorflow::model::{Data, RawShape, TensorInfo};
use highwater_model::graph::DType;

const MAX_RANK: usize = 254;
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

impl Parser<'_> {
    /// A tensor; only small contents are read.
    pub(super) fn tensor(&mut self, fields: &mut impl Fields) -> Result<TensorInfo, ImportError> {
        let mut dtype = DType::Unknown;
        // A tensor without a shape is a scalar.
        let mut shape: RawShape = Some(Box::default());
        let mut stored = Stored::new();
        fields.enter()?;
        let at = fields.at();
        while let Some(number) = fields.next(&TENSOR)? {
            match number {
                1 => {
                    let code = fields.dtype()?;
                    dtype = self.element_type(code);
                }
                2 => shape = self.shape(fields)?,
                4 => stored.content = fields.bytes(SMALL_BYTES)?,
                5 => fields.floats(4, &mut stored.floats)?,
                6 => fields.floats(8, &mut stored.floats)?,
                _ => fields.ints(&mut stored.ints)?,
            }
        }
        let times = |product: usize, dim: &i64| product.checked_mul(usize::try_from(*dim).ok()?);
        let count = shape.as_ref().and_then(|dims| dims.iter().try_fold(1, times));
        let data = count.map_or(Data::Absent, |count| stored.data(dtype, count, Some(MAX_ZEROS)));
        self.budget.charge(TENSOR_PRICE + data.len() as u64 * 8, fields.at())?;
        Ok(TensorInfo {
            name: NameIdx::EMPTY,
            dtype,
            shape,
            data,
            at,
        })
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
