//! `ShapeProto` -> [`Shape`].

use super::shape::{OPAQUE, Shape, ShapeNotes, Size, TOKEN, TUPLE};
use crate::ImportError;
use crate::element_types::XLA;
use crate::wire::{List, Wire};

const WHAT: &str = "a shape";
const DEPTH: u32 = 64;

/// Reads the field of a message that is a shape.
pub(super) fn read(wire: &mut Wire<'_>, notes: &mut ShapeNotes) -> Result<Shape, ImportError> {
    read_below(wire, notes, DEPTH)
}

fn read_below(wire: &mut Wire<'_>, notes: &mut ShapeNotes, depth: u32) -> Result<Shape, ImportError> {
    let start = wire.enter()?.start;
    let Some(depth) = depth.checked_sub(1) else {
        return Err(ImportError::at_byte(
            format!("tuples are nested more than {DEPTH} deep"),
            start,
        ));
    };
    let (mut code, mut sizes, mut dynamic, mut elements) = (0, List::UNLIMITED, List::UNLIMITED, Vec::new());
    let mut layout = LayoutFacts::default();
    while let Some(number) = wire.next(WHAT)? {
        match number {
            2 => code = wire.int()?,
            3 => wire.ints(&mut sizes)?,
            4 => elements.push(read_below(wire, notes, depth)?),
            5 => layout = read_layout(wire)?,
            6 => wire.ints(&mut dynamic)?,
            _ => {}
        }
    }
    Ok(match code {
        TUPLE => Shape::Tuple(elements.into()),
        TOKEN => Shape::Token,
        OPAQUE => Shape::Opaque,
        _ => {
            let dtype = XLA.of_code(code);
            notes.tiled += u64::from(layout.is_tiled);
            notes.narrow += u64::from((1..8).contains(&dtype.bits()) && layout.bits == 0);
            let sizes = sizes.items.iter().enumerate().map(|(axis, size)| {
                let is_dynamic = dynamic.items.get(axis).is_some_and(|flag| *flag != 0);
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

fn read_layout(wire: &mut Wire<'_>) -> Result<LayoutFacts, ImportError> {
    let mut facts = LayoutFacts::default();
    wire.enter()?;
    while let Some(number) = wire.next(WHAT)? {
        match number {
            6 => facts.is_tiled = true,
            7 => facts.bits = wire.int()?,
            _ => {}
        }
    }
    Ok(facts)
}
