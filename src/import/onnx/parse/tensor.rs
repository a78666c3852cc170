//! Tensor messages: type and dimensions of every tensor, the elements of small ones.

use super::{Parser, TENSOR_PRICE};
use crate::ImportError;
use crate::names::NameIdx;
use crate::onnx::model::{Data, ParseCounts, TensorInfo};
use crate::onnx::types;
use crate::shape::constant::{floats, integers};
use crate::shape::fact::is_integer;
use crate::wire::{Field, Layout, List, Span, Wire};
use highwater_model::graph::DType;

/// The most bytes of raw data that are read of one tensor.
const SMALL_BYTES: u64 = 64 << 10;
const MAX_INTS: usize = 8192;
/// The most floats that are kept of one tensor: scales and ratios, never weights.
const MAX_FLOATS: usize = 256;

struct Parts {
    raw: Option<Vec<u8>>,
    ints: List<i64>,
    floats: Vec<f64>,
    is_external: bool,
}

impl Parser {
    /// A tensor; only small data are read, external data never.
    pub(super) fn tensor(&mut self, wire: &mut Wire<'_>, span: Span) -> Result<TensorInfo, ImportError> {
        const WHAT: &str = "a tensor";
        let mut name = NameIdx::EMPTY;
        let mut code = 0;
        let mut dims = List::new(super::types::MAX_RANK);
        let mut parts = Parts {
            raw: None,
            ints: List::new(MAX_INTS),
            floats: Vec::new(),
            is_external: false,
        };
        while let Some(field) = wire.field(span, WHAT)? {
            match field.number {
                1 => {
                    Self::ints(wire, field, span, &mut dims)?;
                    if dims.is_full {
                        return Err(ImportError::at_byte(
                            format!("a tensor has more than {} dimensions", super::types::MAX_RANK),
                            field.at,
                        ));
                    }
                }
                2 => code = wire.int(field, span, WHAT)?,
                5 | 7 | 11 => Self::ints(wire, field, span, &mut parts.ints)?,
                4 | 10 => Self::float_data(wire, field, span, &mut parts.floats)?,
                8 => name = self.name(wire, field, span, WHAT)?,
                9 => parts.raw = raw_data(wire, field, span)?,
                14 => parts.is_external = wire.int(field, span, WHAT)? == 1,
                _ => wire.skip(field, span, WHAT)?,
            }
        }
        let dims = sizes(&dims.items, span)?;
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
        self.model.budget.charge(price, span.start)?;
        Ok(TensorInfo {
            name,
            dtype,
            dims,
            data,
            at: span.start,
        })
    }

    /// A sparse tensor counts as the dense one: its dimensions, the type of its values.
    pub(super) fn sparse_tensor(&mut self, wire: &mut Wire<'_>, span: Span) -> Result<TensorInfo, ImportError> {
        const WHAT: &str = "a sparse tensor";
        let mut values = None;
        let mut dims = List::new(super::types::MAX_RANK);
        while let Some(field) = wire.field(span, WHAT)? {
            match field.number {
                1 => {
                    let part = wire.span(field, span, WHAT)?;
                    values = Some(self.tensor(wire, part)?);
                }
                3 => Self::ints(wire, field, span, &mut dims)?,
                _ => wire.skip(field, span, WHAT)?,
            }
        }
        let values = values.ok_or_else(|| ImportError::at_byte("a sparse tensor has no values", span.start))?;
        ParseCounts::one_more(&mut self.model.counts.sparse, values.name);
        Ok(TensorInfo {
            dims: sizes(&dims.items, span)?,
            data: Data::Absent,
            ..values
        })
    }

    /// Float and double data, up to the limit.
    fn float_data(wire: &mut Wire<'_>, field: Field, message: Span, list: &mut Vec<f64>) -> Result<(), ImportError> {
        const WHAT: &str = "float data";
        let width = if field.number == 10 { 8 } else { 4 };
        if field.layout != Layout::Bytes {
            // One number per field: rare, and only the first few matter.
            if field.layout == Layout::Fixed32 && list.len() < MAX_FLOATS {
                list.push(f64::from(wire.float(field, message, WHAT)?));
                return Ok(());
            }
            return wire.skip(field, message, WHAT);
        }
        let span = wire.span(field, message, WHAT)?;
        if span.len() > (MAX_FLOATS * width) as u64 {
            wire.skip_span(span);
            return Ok(());
        }
        let mut bytes = vec![0; usize::try_from(span.len()).unwrap_or(0)];
        wire.copy(span, &mut bytes, WHAT)?;
        list.extend(floats(&bytes, width));
        list.truncate(MAX_FLOATS);
        Ok(())
    }
}

fn raw_data(wire: &mut Wire<'_>, field: Field, message: Span) -> Result<Option<Vec<u8>>, ImportError> {
    let span = wire.span(field, message, "raw data")?;
    if span.len() > SMALL_BYTES {
        wire.skip_span(span);
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(span.len()).unwrap_or(0)];
    wire.copy(span, &mut bytes, "raw data")?;
    Ok(Some(bytes))
}

fn sizes(dims: &[i64], span: Span) -> Result<Box<[u64]>, ImportError> {
    dims.iter()
        .map(|dim| {
            u64::try_from(*dim).map_err(|_negative| {
                ImportError::at_byte(format!("a tensor has a negative dimension, {dim}"), span.start)
            })
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
        None => parts.floats,
    };
    if items.len() == count {
        Data::Floats(items.into())
    } else {
        Data::Absent
    }
}
