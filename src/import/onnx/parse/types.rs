//! `ValueInfo` and type messages: names, element types, dimensions.

use super::{Parser, TENSOR_PRICE};
use crate::ImportError;
use crate::names::NameIdx;
use crate::onnx::model::{Composite, RawDim, RawType, ValueInfo};
use crate::wire::Wire;

pub(super) const MAX_RANK: usize = 64;
/// An optional of a sequence of tensors is the deepest type of the operators.
const MAX_DEPTH: u32 = 2;

impl Parser {
    /// A named type; values without a name are left out.
    pub(super) fn value_info(&mut self, wire: &mut Wire<'_>, list: &mut Vec<ValueInfo>) -> Result<(), ImportError> {
        let at = wire.enter()?.start;
        let mut name = NameIdx::EMPTY;
        let mut ty = RawType::default();
        while let Some(number) = wire.next("a value's type")? {
            match number {
                1 => name = self.name(wire)?,
                2 => ty = self.value_type(wire, 0)?,
                _ => {}
            }
        }
        if name.is_empty() {
            return Ok(());
        }
        let tensor = ty.of_tensor();
        let rank = tensor.dims.as_ref().map_or(0, |dims| dims.len()) as u64;
        self.model.budget.charge(TENSOR_PRICE + rank * 32, at)?;
        self.model.counts.code(tensor.code, name);
        list.push(ValueInfo { name, ty });
        Ok(())
    }

    /// A tensor type, or that of a sequence or an optional with the tensors in it; the content of maps is skipped.
    fn value_type(&mut self, wire: &mut Wire<'_>, depth: u32) -> Result<RawType, ImportError> {
        let mut ty = RawType::default();
        wire.enter()?;
        while let Some(number) = wire.next("a type")? {
            match number {
                1 | 8 => ty = self.tensor_type(wire)?,
                4 | 9 => ty.composite = Some(Box::new(self.composite(wire, number == 4, depth)?)),
                5 => ty.composite = Some(Box::new(Composite::Other)),
                _ => {}
            }
        }
        Ok(ty)
    }

    fn composite(&mut self, wire: &mut Wire<'_>, is_sequence: bool, depth: u32) -> Result<Composite, ImportError> {
        let mut content = RawType::default();
        if depth == MAX_DEPTH {
            return Ok(Composite::Other);
        }
        wire.enter()?;
        while let Some(number) = wire.next("a type")? {
            if number == 1 {
                content = self.value_type(wire, depth + 1)?;
            }
        }
        Ok(match content.composite.take().map(|content| *content) {
            None if is_sequence => Composite::Sequence(content),
            None => Composite::Optional(content),
            Some(Composite::Sequence(ty)) if !is_sequence => Composite::Sequence(ty),
            Some(_) => Composite::Other,
        })
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
