//! `HloProto` (`.hlo.pb`) -> [`Module`], and the extent of its buffer assignment.
//!
//! Field numbers of the public `hlo.proto` and `xla_data.proto`, only those that are read:
//!
//! ```text
//! HloProto             1 module, 3 buffer assignment
//! HloModuleProto       1 name, 2 entry's name, 3 computations, 6 entry's id, 7 schedule, 8 donated parameters
//! HloComputationProto  1 name, 2 instructions, 5 id, 6 root's id
//! HloInstructionProto  1 name, 2 opcode, 3 shape, 9 parameter, 13 tuple index, 35 id, 36 operands, 37 controls, 38 called
//! ShapeProto           2 type, 3 sizes, 4 elements of a tuple, 5 layout {6 tiles, 7 bits}, 6 which sizes are dynamic
//! ```
//!
//! Computations are found first; then the entry and what it reaches are read. Literals are never read.

use std::collections::BTreeMap;

use super::model::{Computation, Instruction, Module, reachable, runs_computations};
use super::proto_shape;
use super::shape::{Shape, ShapeNotes};
use crate::ImportError;
use crate::wire::{Field, Span, Wire};

pub(super) const NAME: u64 = 64 << 10;

/// A module, and the extent of the buffer assignment where there is one.
pub(super) struct Read {
    pub(super) module: Module,
    pub(super) assignment: Option<Span>,
}

struct Extent {
    id: i64,
    name: String,
    span: Span,
}

#[derive(Default)]
struct Header {
    entry_id: i64,
    entry_name: String,
    /// Ids of instructions in the order in which they run, by id of the computation.
    schedule: BTreeMap<i64, Vec<i64>>,
}

/// Reads the whole file but the buffer assignment.
pub(super) fn read(wire: &mut Wire<'_>, notes: &mut ShapeNotes) -> Result<Read, ImportError> {
    let file = wire.file();
    let (mut module, mut assignment) = (None, None);
    while let Some(field) = wire.field(file, "the file")? {
        match field.number {
            1 => {
                let span = wire.span(field, file, "the module")?;
                wire.skip_span(span);
                module = Some(span);
            }
            3 => {
                let span = wire.span(field, file, "the buffer assignment")?;
                wire.skip_span(span);
                assignment = Some(span);
            }
            _ => wire.skip(field, file, "the file")?,
        }
    }
    let Some(span) = module else {
        return Err(ImportError::at_byte("the file has no module", 0));
    };
    Ok(Read {
        module: read_module(wire, span, notes)?,
        assignment,
    })
}

/// Moves to the first byte of a message.
pub(super) const fn enter(wire: &mut Wire<'_>, span: Span) {
    wire.skip_span(Span {
        start: span.start,
        end: span.start,
    });
}

fn read_module(wire: &mut Wire<'_>, span: Span, notes: &mut ShapeNotes) -> Result<Module, ImportError> {
    const WHAT: &str = "the module";
    let mut module = Module::default();
    let mut header = Header::default();
    let mut extents = Vec::new();
    enter(wire, span);
    while let Some(field) = wire.field(span, WHAT)? {
        match field.number {
            1 => module.name = text(wire, field, span, WHAT)?,
            2 => header.entry_name = text(wire, field, span, WHAT)?,
            3 => {
                let inner = wire.span(field, span, WHAT)?;
                extents.push(extent(wire, inner, &mut module.n_instructions)?);
            }
            6 => header.entry_id = wire.int(field, span, WHAT)?,
            7 => {
                let inner = wire.span(field, span, WHAT)?;
                schedule(wire, inner, &mut header.schedule)?;
            }
            8 => {
                let inner = wire.span(field, span, WHAT)?;
                donated(wire, inner, &mut module)?;
            }
            _ => wire.skip(field, span, WHAT)?,
        }
    }
    module.n_computations = extents.len() as u64;
    module.is_scheduled = !header.schedule.is_empty();
    let by_id = extents.iter().position(|extent| extent.id == header.entry_id);
    let by_name = || extents.iter().position(|extent| extent.name == header.entry_name);
    let Some(entry) = by_id.or_else(by_name).or_else(|| extents.len().checked_sub(1)) else {
        return Err(ImportError::at_byte("the module has no computation", span.start));
    };
    let places: BTreeMap<i64, usize> = extents.iter().enumerate().map(|(place, one)| (one.id, place)).collect();
    module.computations = reachable(entry, |place| {
        let extent = &extents[place];
        let order = header.schedule.get(&extent.id).map(Vec::as_slice);
        computation(wire, extent, &places, order, notes)
    })?;
    Ok(module)
}

fn extent(wire: &mut Wire<'_>, span: Span, count: &mut u64) -> Result<Extent, ImportError> {
    const WHAT: &str = "a computation";
    let mut extent = Extent {
        id: 0,
        name: String::new(),
        span,
    };
    while let Some(field) = wire.field(span, WHAT)? {
        match field.number {
            1 => extent.name = text(wire, field, span, WHAT)?,
            5 => extent.id = wire.int(field, span, WHAT)?,
            number => {
                *count += u64::from(number == 2);
                wire.skip(field, span, WHAT)?;
            }
        }
    }
    Ok(extent)
}

fn schedule(wire: &mut Wire<'_>, span: Span, found: &mut BTreeMap<i64, Vec<i64>>) -> Result<(), ImportError> {
    const WHAT: &str = "the schedule";
    while let Some(field) = wire.field(span, WHAT)? {
        if field.number != 1 {
            wire.skip(field, span, WHAT)?;
            continue;
        }
        let entry = wire.span(field, span, WHAT)?;
        let (mut id, mut ids) = (0, Vec::new());
        while let Some(field) = wire.field(entry, WHAT)? {
            match field.number {
                1 => id = wire.int(field, entry, WHAT)?,
                2 => {
                    let sequence = wire.span(field, entry, WHAT)?;
                    while let Some(field) = wire.field(sequence, WHAT)? {
                        if field.number == 1 {
                            ints(wire, field, sequence, &mut ids)?;
                        } else {
                            wire.skip(field, sequence, WHAT)?;
                        }
                    }
                }
                _ => wire.skip(field, entry, WHAT)?,
            }
        }
        found.insert(id, ids);
    }
    Ok(())
}

fn donated(wire: &mut Wire<'_>, span: Span, module: &mut Module) -> Result<(), ImportError> {
    const WHAT: &str = "the list of donated parameters";
    while let Some(field) = wire.field(span, WHAT)? {
        if field.number != 1 {
            wire.skip(field, span, WHAT)?;
            continue;
        }
        let entry = wire.span(field, span, WHAT)?;
        let (mut number, mut path) = (0, Vec::new());
        while let Some(field) = wire.field(entry, WHAT)? {
            match field.number {
                2 => number = unsigned(wire.int(field, entry, WHAT)?),
                3 => ints(wire, field, entry, &mut path)?,
                _ => wire.skip(field, entry, WHAT)?,
            }
        }
        module
            .donated
            .insert((number, path.into_iter().map(unsigned).collect()));
    }
    Ok(())
}

/// A computation with its instructions in the order of the schedule.
fn computation(
    wire: &mut Wire<'_>,
    extent: &Extent,
    places: &BTreeMap<i64, usize>,
    order: Option<&[i64]>,
    notes: &mut ShapeNotes,
) -> Result<Computation, ImportError> {
    const WHAT: &str = "a computation";
    let span = extent.span;
    let (mut raws, mut root_id) = (Vec::new(), None);
    enter(wire, span);
    while let Some(field) = wire.field(span, WHAT)? {
        match field.number {
            2 => {
                let inner = wire.span(field, span, WHAT)?;
                raws.push(raw(wire, inner, notes)?);
            }
            6 => root_id = Some(wire.int(field, span, WHAT)?),
            _ => wire.skip(field, span, WHAT)?,
        }
    }
    let stored: BTreeMap<i64, usize> = raws.iter().enumerate().map(|(place, raw)| (raw.id, place)).collect();
    let order = permutation(order, &stored, raws.len()).unwrap_or_else(|| (0..raws.len()).collect());
    let mut position = vec![0_u32; raws.len()];
    for (new, old) in (0..).zip(&order) {
        position[*old] = new;
    }
    // Ids are those of the computation alone in their low half; operands may leave the high half out.
    let find = |id: i64| {
        let found = stored.get(&id).copied();
        let found = found.or_else(|| {
            let base = extent.id.checked_mul(1 << 32)?;
            stored.get(&(base | (id & 0xffff_ffff))).copied()
        });
        found.map(|place| position[place])
    };
    let Some(last) = raws.len().checked_sub(1) else {
        return Err(ImportError::at_byte("a computation has no instruction", span.start));
    };
    let root = root_id.and_then(find).unwrap_or(position[last]);
    let mut raws: Vec<Option<Raw>> = raws.into_iter().map(Some).collect();
    let mut computation = Computation {
        name: extent.name.clone(),
        instructions: Vec::with_capacity(raws.len()),
        root,
    };
    for old in order {
        if let Some(raw) = raws[old].take() {
            computation.instructions.push(instruction(raw, &find, places)?);
        }
    }
    Ok(computation)
}

/// The stored positions in the order of the schedule; `None` where it does not name each instruction once.
fn permutation(order: Option<&[i64]>, stored: &BTreeMap<i64, usize>, count: usize) -> Option<Vec<usize>> {
    let order = order.filter(|order| order.len() == count)?;
    let base = stored.keys().next().map_or(0, |id| id & !0xffff_ffff);
    let mut is_taken = vec![false; count];
    let mut places = Vec::with_capacity(count);
    for id in order {
        let place = stored.get(id).or_else(|| stored.get(&(base | (id & 0xffff_ffff))));
        let place = *place?;
        if std::mem::replace(&mut is_taken[place], true) {
            return None;
        }
        places.push(place);
    }
    Some(places)
}

/// An instruction with ids in place of positions.
struct Raw {
    name: String,
    opcode: String,
    shape: Option<Shape>,
    number: i64,
    index: i64,
    id: i64,
    operands: Vec<i64>,
    controls: Vec<i64>,
    called: Vec<i64>,
    at: u64,
}

fn raw(wire: &mut Wire<'_>, span: Span, notes: &mut ShapeNotes) -> Result<Raw, ImportError> {
    const WHAT: &str = "an instruction";
    let mut raw = Raw {
        name: String::new(),
        opcode: String::new(),
        shape: None,
        number: 0,
        index: 0,
        id: 0,
        operands: Vec::new(),
        controls: Vec::new(),
        called: Vec::new(),
        at: span.start,
    };
    while let Some(field) = wire.field(span, WHAT)? {
        match field.number {
            1 => raw.name = text(wire, field, span, WHAT)?,
            2 => raw.opcode = text(wire, field, span, WHAT)?,
            3 => {
                let inner = wire.span(field, span, WHAT)?;
                raw.shape = Some(proto_shape::read(wire, inner, notes)?);
            }
            9 => raw.number = wire.int(field, span, WHAT)?,
            13 => raw.index = wire.int(field, span, WHAT)?,
            35 => raw.id = wire.int(field, span, WHAT)?,
            36 => ints(wire, field, span, &mut raw.operands)?,
            37 => ints(wire, field, span, &mut raw.controls)?,
            38 => ints(wire, field, span, &mut raw.called)?,
            _ => wire.skip(field, span, WHAT)?,
        }
    }
    Ok(raw)
}

fn instruction(
    raw: Raw,
    find: &impl Fn(i64) -> Option<u32>,
    places: &BTreeMap<i64, usize>,
) -> Result<Instruction, ImportError> {
    let Raw { name, at, .. } = raw;
    let positions = |ids: &[i64]| -> Result<Box<[u32]>, ImportError> {
        let found = ids.iter().map(|id| {
            find(*id).ok_or_else(|| {
                ImportError::at_byte(
                    format!("instruction \"{name}\" reads instruction {id}, which its computation does not have"),
                    at,
                )
            })
        });
        found.collect()
    };
    let called = if runs_computations(&raw.opcode) {
        let found = raw.called.iter().map(|id| {
            let place = places.get(id).and_then(|place| u32::try_from(*place).ok());
            place.ok_or_else(|| {
                ImportError::at_byte(
                    format!("instruction \"{name}\" calls computation {id}, which the module does not have"),
                    at,
                )
            })
        });
        found.collect::<Result<Box<[u32]>, ImportError>>()?
    } else {
        Box::default()
    };
    if raw.opcode == "while" && called.len() != 2 {
        return Err(ImportError::at_byte(
            format!("loop \"{name}\" has no body or no condition"),
            at,
        ));
    }
    Ok(Instruction {
        operands: positions(&raw.operands)?,
        controls: positions(&raw.controls)?,
        called,
        number: unsigned(if raw.opcode == "parameter" {
            raw.number
        } else {
            raw.index
        }),
        id: raw.id,
        shape: raw.shape.unwrap_or(Shape::Opaque),
        opcode: raw.opcode.into(),
        name: name.into(),
    })
}

pub(super) fn text(wire: &mut Wire<'_>, field: Field, span: Span, what: &'static str) -> Result<String, ImportError> {
    let inner = wire.span(field, span, what)?;
    wire.text(inner, NAME, what)
}

/// Appends the numbers of a repeated field, packed or not.
pub(super) fn ints(wire: &mut Wire<'_>, field: Field, span: Span, to: &mut Vec<i64>) -> Result<(), ImportError> {
    wire.ints(field, span, "a list of numbers", |value| {
        to.push(value);
        true
    })
}

/// A number that cannot be negative; a negative one is beyond every bound.
pub(super) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}
