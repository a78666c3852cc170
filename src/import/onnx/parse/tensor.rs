//! Tensor messages: type and dimensions of every tensor, the elements of small ones.

use super::{Parser, TENSOR_PRICE};
use crate::ImportError;
use crate::element_types::ONNX;
use crate::names::NameIdx;
use crate::onnx::model::{Data, ParseCounts, TensorInfo};
use crate::shape::constant::{SMALL_BYTES, Stored};
use crate::wire::{List, Wire};

impl Parser {
    /// A tensor; only small data are read, external data never.
    pub(super) fn tensor(&mut self, wire: &mut Wire<'_>) -> Result<TensorInfo, ImportError> {
        let at = wire.enter()?.start;
        let mut name = NameIdx::EMPTY;
        let mut code = 0;
        let mut dims = List::new(super::types::MAX_RANK);
        let (mut stored, mut is_external) = (Stored::new(), false);
        while let Some(number) = wire.next("a tensor")? {
            match number {
                1 => {
                    wire.ints(&mut dims)?;
                    if dims.is_full {
                        return Err(ImportError::at_byte(
                            format!("a tensor has more than {} dimensions", super::types::MAX_RANK),
                            wire.field_at(),
                        ));
                    }
                }
                2 => code = wire.int()?,
                4 => wire.floats(4, &mut stored.floats)?,
                5 | 7 | 11 => wire.ints(&mut stored.ints)?,
                8 => name = self.name(wire)?,
                9 => stored.content = wire.bytes(SMALL_BYTES)?,
                10 => wire.floats(8, &mut stored.floats)?,
                14 => is_external = wire.int()? == 1,
                _ => {}
            }
        }
        let dims = sizes(&dims.items, at)?;
        let dtype = ONNX.of_code(code);
        self.model.counts.code(code, name);
        if is_external {
            ParseCounts::one_more(&mut self.model.counts.external, name);
        }
        let times = |product: usize, dim: &i64| product.checked_mul(usize::try_from(*dim).ok()?);
        let count = dims.iter().try_fold(1, times);
        let data = match count.filter(|_| !is_external) {
            Some(count) => stored.data(dtype, count, None),
            None => Data::Absent,
        };
        let price = TENSOR_PRICE + (dims.len() as u64) * 24 + data.len() as u64 * 8;
        self.model.budget.charge(price, at)?;
        Ok(TensorInfo {
            name,
            dtype,
            shape: Some(dims),
            data,
            at,
        })
    }

    /// A sparse tensor counts as the dense one: its dimensions, the type of its values.
    pub(super) fn sparse_tensor(&mut self, wire: &mut Wire<'_>) -> Result<TensorInfo, ImportError> {
        let at = wire.enter()?.start;
        let mut values = None;
        let mut dims = List::new(super::types::MAX_RANK);
        while let Some(number) = wire.next("a sparse tensor")? {
            match number {
                1 => values = Some(self.tensor(wire)?),
                3 => wire.ints(&mut dims)?,
                _ => {}
            }
        }
        let values = values.ok_or_else(|| ImportError::at_byte("a sparse tensor has no values", at))?;
        ParseCounts::one_more(&mut self.model.counts.sparse, values.name);
        Ok(TensorInfo {
            shape: Some(sizes(&dims.items, at)?),
            data: Data::Absent,
            ..values
        })
    }
}

fn sizes(dims: &[i64], at: u64) -> Result<Box<[i64]>, ImportError> {
    match dims.iter().find(|dim| **dim < 0) {
        Some(dim) => Err(ImportError::at_byte(
            format!("a tensor has a negative dimension, {dim}"),
            at,
        )),
        None => Ok(dims.into()),
    }
}
