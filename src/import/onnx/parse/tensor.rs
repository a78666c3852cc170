//! Tensor messages: type and dimensions of every tensor, the elements of small ones.

use super::{Parser, TENSOR_PRICE};
use crate::ImportError;
use crate::names::NameIdx;
use crate::onnx::model::{Data, ParseCounts, TensorInfo};
use crate::onnx::types;
use crate::shape::constant::{floats, integers};
use crate::shape::fact::is_integer;
use crate::wire::{List, Wire};
use highwater_model::graph::DType;

/// The most bytes of raw data that are read of one tensor.
const SMALL_BYTES: u64 = 64 << 10;
const MAX_INTS: usize = 8192;
/// The most floats that are kept of one tensor: scales and ratios, never weights.
const MAX_FLOATS: usize = 256;

struct Parts {
    raw: Option<Vec<u8>>,
    ints: List<i64>,
    floats: List<f64>,
    is_external: bool,
}

impl Parser {
    /// A tensor; only small data are read, external data never.
    pub(super) fn tensor(&mut self, wire: &mut Wire<'_>) -> Result<TensorInfo, ImportError> {
        let at = wire.enter()?.start;
        let mut name = NameIdx::EMPTY;
        let mut code = 0;
        let mut dims = List::new(super::types::MAX_RANK);
        let mut parts = Parts {
            raw: None,
            ints: List::new(MAX_INTS),
            floats: List::new(MAX_FLOATS),
            is_external: false,
        };
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
                4 => wire.floats(4, &mut parts.floats)?,
                5 | 7 | 11 => wire.ints(&mut parts.ints)?,
                8 => name = self.name(wire)?,
                9 => parts.raw = wire.bytes(SMALL_BYTES)?,
                10 => wire.floats(8, &mut parts.floats)?,
                14 => parts.is_external = wire.int()? == 1,
                _ => {}
            }
        }
        let dims = sizes(&dims.items, at)?;
        let dtype = types::from_code(code);
        self.model.counts.code(code, name);
        if parts.is_external {
            ParseCounts::one_more(&mut self.model.counts.external, name);
        }
        let data = decode(dtype, &dims, parts);
        let kept = match &data {
            Data::Absent => 0,
            Data::Ints(items) => items.len(),
            Data::Floats(items) => items.len(),
        };
        let price = TENSOR_PRICE + (dims.len() as u64) * 24 + (kept as u64) * 8;
        self.model.budget.charge(price, at)?;
        Ok(TensorInfo {
            name,
            dtype,
            dims,
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
            dims: sizes(&dims.items, at)?,
            data: Data::Absent,
            ..values
        })
    }
}

fn sizes(dims: &[i64], at: u64) -> Result<Box<[u64]>, ImportError> {
    dims.iter()
        .map(|dim| {
            u64::try_from(*dim)
                .map_err(|_negative| ImportError::at_byte(format!("a tensor has a negative dimension, {dim}"), at))
        })
        .collect()
}

/// The elements, where the file has all of them.
fn decode(dtype: DType, dims: &[u64], parts: Parts) -> Data {
    let count = dims
        .iter()
        .try_fold(1_u64, |product, dim| product.checked_mul(*dim))
        .and_then(|count| usize::try_from(count).ok());
    let Some(count) = count.filter(|_| !parts.is_external) else {
        return Data::Absent;
    };
    if is_integer(dtype) && count <= MAX_INTS {
        let items = match &parts.raw {
            Some(raw) if !raw.is_empty() || count == 0 => integers(dtype, raw),
            _ => Some(parts.ints.items),
        };
        return match items {
            Some(items) if items.len() == count => Data::Ints(items.into()),
            _ => Data::Absent,
        };
    }
    let width = match dtype {
        DType::Float32 => 4,
        DType::Float64 => 8,
        _ => return Data::Absent,
    };
    if count > MAX_FLOATS {
        return Data::Absent;
    }
    let items: Vec<f64> = match &parts.raw {
        Some(raw) => floats(raw, width).collect(),
        None => parts.floats.items,
    };
    if items.len() == count {
        Data::Floats(items.into())
    } else {
        Data::Absent
    }
}
