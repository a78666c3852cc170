//! `ValueInfo` and type messages: names, element types, dimensions.

use super::{Parser, TENSOR_PRICE};
use crate::ImportError;
use crate::names::NameIdx;
use crate::onnx::model::{RawDim, RawType, ValueInfo};
use crate::wire::Wire;

pub(super) const MAX_RANK: usize = 64;

impl Parser {
    /// A named type; values without a name are left out.
    pub(super) fn value_info(&mut self, wire: &mut Wire<'_>, list: &mut Vec<ValueInfo>) -> Result<(), ImportError> {
        let at = wire.enter()?.start;
        let mut name = NameIdx::EMPTY;
        let mut ty = RawType::default();
        while let Some(number) = wire.next("a value's type")? {
            match number {
                1 => name = self.name(wire)?,
                2 => ty = self.value_type(wire)?,
                _ => {}
            }
        }
        if name.is_empty() {
            return Ok(());
        }
        let rank = ty.dims.as_ref().map_or(0, |dims| dims.len()) as u64;
        self.model.budget.charge(TENSOR_PRICE + rank * 32, at)?;
        self.model.counts.code(ty.code, name);
        list.push(ValueInfo { name, ty });
        Ok(())
    }

    /// The elements of a tensor type; sequences, maps and optionals are marked, their content is skipped.
    fn value_type(&mut self, wire: &mut Wire<'_>) -> Result<RawType, ImportError> {
        let mut ty = RawType::default();
        wire.enter()?;
        while let Some(number) = wire.next("a type")? {
            match number {
                1 | 8 => ty = self.tensor_type(wire)?,
                4 | 5 | 9 => ty.is_composite = true,
                _ => {}
            }
        }
        Ok(ty)
    }

    fn tensor_type(&mut self, wire: &mut Wire<'_>) -> Result<RawType, ImportError> {
        let mut ty = RawType::default();
        wire.enter()?;
        while let Some(number) = wire.next("a tensor type")? {
            match number {
                1 => ty.code = wire.int()?,
                2 => ty.dims = Some(self.shape(wire)?),
                _ => {}
            }
        }
        Ok(ty)
    }

    fn shape(&mut self, wire: &mut Wire<'_>) -> Result<Box<[RawDim]>, ImportError> {
        let mut dims = Vec::new();
        wire.enter()?;
        while let Some(number) = wire.next("a shape")? {
            if number != 1 {
                continue;
            }
            if dims.len() == MAX_RANK {
                return Err(ImportError::at_byte(
                    format!("a shape has more than {MAX_RANK} dimensions"),
                    wire.field_at(),
                ));
            }
            dims.push(self.dimension(wire)?);
        }
        Ok(dims.into())
    }

    fn dimension(&mut self, wire: &mut Wire<'_>) -> Result<RawDim, ImportError> {
        let mut dim = RawDim::Unnamed;
        wire.enter()?;
        while let Some(number) = wire.next("a dimension")? {
            match number {
                1 => dim = RawDim::Value(wire.int()?),
                2 => {
                    let name = self.name(wire)?;
                    match self.model.names.text(name).trim() {
                        // An empty name beside a number says nothing.
                        "" if matches!(dim, RawDim::Value(_)) => {}
                        "" | "?" | "-1" | "None" => dim = RawDim::Unnamed,
                        _ => dim = RawDim::Text(name),
                    }
                }
                _ => {}
            }
        }
        Ok(dim)
    }
}
