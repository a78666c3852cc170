//! `ShapeProto` -> [`Shape`].

use super::proto::ints;
use super::shape::{OPAQUE, Shape, ShapeNotes, Size, TOKEN, TUPLE, dtype_of_code};
use crate::ImportError;
use crate::wire::{Span, Wire};

const WHAT: &str = "a shape";
const DEPTH: u32 = 64;

pub(super) fn read(wire: &mut Wire<'_>, span: Span, notes: &mut ShapeNotes) -> Result<Shape, ImportError> {
    read_below(wire, span, notes, DEPTH)
}

fn read_below(wire: &mut Wire<'_>, span: Span, notes: &mut ShapeNotes, depth: u32) -> Result<Shape, ImportError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(ImportError::at_byte(
            format!("tuples are nested more than {DEPTH} deep"),
            span.start,
        ));
    };
    let (mut code, mut sizes, mut dynamic, mut elements) = (0, Vec::new(), Vec::new(), Vec::new());
    let mut layout = LayoutFacts::default();
    while let Some(field) = wire.field(span, WHAT)? {
        match field.number {
            2 => code = wire.int(field, span, WHAT)?,
            3 => ints(wire, field, span, &mut sizes)?,
            4 => {
                let inner = wire.span(field, span, WHAT)?;
                elements.push(read_below(wire, inner, notes, depth)?);
            }
            5 => {
                let inner = wire.span(field, span, WHAT)?;
                layout = read_layout(wire, inner)?;
            }
            6 => ints(wire, field, span, &mut dynamic)?,
            _ => wire.skip(field, span, WHAT)?,
        }
    }
    let code = u64::try_from(code).unwrap_or(0);
    Ok(match code {
        TUPLE => Shape::Tuple(elements.into()),
        TOKEN => Shape::Token,
        OPAQUE => Shape::Opaque,
        _ => {
            let dtype = dtype_of_code(code);
            notes.tiled += u64::from(layout.is_tiled);
            notes.narrow += u64::from((1..8).contains(&dtype.bits()) && layout.bits == 0);
            let sizes = sizes.iter().enumerate().map(|(axis, size)| {
                let is_dynamic = dynamic.get(axis).is_some_and(|flag| *flag != 0);
                match u64::try_from(*size) {
                    Ok(bound) if is_dynamic => {
                        notes.bounded += 1;
                        Size::Bound(bound)
                    }
                    Ok(size) => Size::Known(size),
                    Err(_) => Size::Free,
                }
            });
            Shape::Array(dtype, sizes.collect())
        }
    })
}

#[derive(Clone, Copy, Default)]
struct LayoutFacts {
    is_tiled: bool,
    bits: i64,
}

fn read_layout(wire: &mut Wire<'_>, span: Span) -> Result<LayoutFacts, ImportError> {
    let mut facts = LayoutFacts::default();
    while let Some(field) = wire.field(span, WHAT)? {
        match field.number {
            7 => facts.bits = wire.int(field, span, WHAT)?,
            number => {
                facts.is_tiled |= number == 6;
                wire.skip(field, span, WHAT)?;
            }
        }
    }
    Ok(facts)
}
