//! `ValueInfo` and type messages: names, element types, dimensions.

use super::{Parser, TENSOR_PRICE};
use crate::ImportError;
use crate::names::NameIdx;
use crate::onnx::model::{RawDim, RawType, ValueInfo};
use crate::wire::{Span, Wire};

pub(super) const MAX_RANK: usize = 64;

impl Parser {
    /// A named type; values without a name are left out.
    pub(super) fn value_info(
        &mut self,
        wire: &mut Wire<'_>,
        span: Span,
        list: &mut Vec<ValueInfo>,
    ) -> Result<(), ImportError> {
        const WHAT: &str = "a value's type";
        let mut name = NameIdx::EMPTY;
        let mut ty = RawType::default();
        while let Some(field) = wire.field(span, WHAT)? {
            match field.number {
                1 => name = self.name(wire, field, span, WHAT)?,
                2 => {
                    let part = wire.span(field, span, WHAT)?;
                    ty = self.value_type(wire, part)?;
                }
                _ => wire.skip(field, span, WHAT)?,
            }
        }
        if name.is_empty() {
            return Ok(());
        }
        let rank = ty.dims.as_ref().map_or(0, |dims| dims.len()) as u64;
        self.model.budget.charge(TENSOR_PRICE + rank * 32, span.start)?;
        self.model.counts.code(ty.code, name);
        list.push(ValueInfo { name, ty });
        Ok(())
    }

    /// The elements of a tensor type; sequences, maps and optionals are marked, their content is skipped.
    fn value_type(&mut self, wire: &mut Wire<'_>, span: Span) -> Result<RawType, ImportError> {
        const WHAT: &str = "a type";
        let mut ty = RawType::default();
        while let Some(field) = wire.field(span, WHAT)? {
            match field.number {
                1 | 8 => {
                    let part = wire.span(field, span, WHAT)?;
                    ty = self.tensor_type(wire, part)?;
                }
                4 | 5 | 9 => {
                    let part = wire.span(field, span, WHAT)?;
                    wire.skip_span(part);
                    ty.is_composite = true;
                }
                _ => wire.skip(field, span, WHAT)?,
            }
        }
        Ok(ty)
    }

    fn tensor_type(&mut self, wire: &mut Wire<'_>, span: Span) -> Result<RawType, ImportError> {
        const WHAT: &str = "a tensor type";
        let mut ty = RawType::default();
        while let Some(field) = wire.field(span, WHAT)? {
            match field.number {
                1 => ty.code = wire.int(field, span, WHAT)?,
                2 => {
                    let part = wire.span(field, span, WHAT)?;
                    ty.dims = Some(self.shape(wire, part)?);
                }
                _ => wire.skip(field, span, WHAT)?,
            }
        }
        Ok(ty)
    }

    fn shape(&mut self, wire: &mut Wire<'_>, span: Span) -> Result<Box<[RawDim]>, ImportError> {
        const WHAT: &str = "a shape";
        let mut dims = Vec::new();
        while let Some(field) = wire.field(span, WHAT)? {
            if field.number != 1 {
                wire.skip(field, span, WHAT)?;
                continue;
            }
            let part = wire.span(field, span, WHAT)?;
            if dims.len() == MAX_RANK {
                return Err(ImportError::at_byte(
                    format!("a shape has more than {MAX_RANK} dimensions"),
                    field.at,
                ));
            }
            dims.push(self.dimension(wire, part)?);
        }
        Ok(dims.into())
    }

    fn dimension(&mut self, wire: &mut Wire<'_>, span: Span) -> Result<RawDim, ImportError> {
        const WHAT: &str = "a dimension";
        let mut dim = RawDim::Unnamed;
        while let Some(field) = wire.field(span, WHAT)? {
            match field.number {
                1 => dim = RawDim::Value(wire.int(field, span, WHAT)?),
                2 => {
                    let name = self.name(wire, field, span, WHAT)?;
                    dim = match self.model.names.text(name).trim() {
                        "" | "?" | "-1" | "None" => RawDim::Unnamed,
                        _ => RawDim::Text(name),
                    };
                }
                _ => wire.skip(field, span, WHAT)?,
            }
        }
        Ok(dim)
    }
}
