//! `ShapeProto` -> [`Shape`].

use super::layout::{Layout, Space, TileSize};
use super::proto::unsigned;
use super::shape::{Array, BUFFER, OPAQUE, Shape, ShapeNotes, Size, TOKEN, TUPLE};
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
    let mut layout = Layout::default();
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
        BUFFER => elements.pop().unwrap_or(Shape::Opaque),
        _ => {
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
            let sizes = sizes.collect();
            Shape::Array(Array::new(XLA.of_code(code), sizes, &layout, notes))
        }
    })
}

fn read_layout(wire: &mut Wire<'_>) -> Result<Layout, ImportError> {
    let (mut layout, mut order) = (Layout::default(), List::UNLIMITED);
    wire.enter()?;
    while let Some(number) = wire.next(WHAT)? {
        match number {
            1 => wire.ints(&mut order)?,
            6 => layout.tiles.push(tile(wire)?),
            7 => layout.bits = unsigned(wire.int()?),
            8 => layout.space = Space(u8::try_from(wire.int()?).unwrap_or(u8::MAX)),
            16 => layout.tail = unsigned(wire.int()?),
            _ => {}
        }
    }
    layout.order = order.items.into_iter().map(unsigned).collect();
    Ok(layout)
}

/// Negative sizes join a dimension with the next.
fn tile(wire: &mut Wire<'_>) -> Result<Vec<TileSize>, ImportError> {
    let mut sizes = List::UNLIMITED;
    wire.enter()?;
    while let Some(number) = wire.next(WHAT)? {
        if number == 1 {
            wire.ints(&mut sizes)?;
        }
    }
    let sizes = sizes.items.into_iter();
    Ok(sizes
        .map(|size| u64::try_from(size).ok().filter(|size| *size > 0))
        .collect())
}
