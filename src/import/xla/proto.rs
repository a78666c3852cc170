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

use super::model::{Alias, Computation, Fused, Instruction, Module, reachable, runs_computations};
use super::proto_shape;
use super::shape::{Shape, ShapeNotes};
use crate::ImportError;
use crate::wire::{List, Span, Wire};

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

/// A file that is a module without the message around it.
pub(super) fn read_bare(wire: &mut Wire<'_>, notes: &mut ShapeNotes) -> Result<Read, ImportError> {
    let span = Span {
        start: 0,
        end: wire.len(),
    };
    Ok(Read {
        module: read_module(wire, span, notes)?,
        assignment: None,
    })
}

/// Reads the whole file but the buffer assignment.
pub(super) fn read(wire: &mut Wire<'_>, notes: &mut ShapeNotes) -> Result<Read, ImportError> {
    let (mut module, mut assignment) = (None, None);
    while let Some(number) = wire.next("the file")? {
        match number {
            1 => module = Some(wire.span()?),
            3 => assignment = Some(wire.span()?),
            _ => {}
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

fn read_module(wire: &mut Wire<'_>, span: Span, notes: &mut ShapeNotes) -> Result<Module, ImportError> {
    let mut module = Module::default();
    let mut header = Header::default();
    let mut extents = Vec::new();
    wire.enter_at(span);
    while let Some(number) = wire.next("the module")? {
        match number {
            1 => module.name = wire.text(NAME)?,
            2 => header.entry_name = wire.text(NAME)?,
            3 => extents.push(extent(wire, &mut module.n_instructions)?),
            6 => header.entry_id = wire.int()?,
            7 => schedule(wire, &mut header.schedule)?,
            8 => donated(wire, &mut module)?,
            _ => {}
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
    module.computations = reachable(entry, |place, is_fused| {
        let extent = &extents[place];
        let mut of_fusion = ShapeNotes::default();
        let notes = if is_fused { &mut of_fusion } else { &mut *notes };
        let order = header.schedule.get(&extent.id).map(Vec::as_slice);
        computation(wire, extent, &places, order, notes)
    })?;
    Ok(module)
}

fn extent(wire: &mut Wire<'_>, n_instructions: &mut u64) -> Result<Extent, ImportError> {
    let mut extent = Extent {
        id: 0,
        name: String::new(),
        span: wire.enter()?,
    };
    while let Some(number) = wire.next("a computation")? {
        match number {
            1 => extent.name = wire.text(NAME)?,
            2 => *n_instructions += 1,
            5 => extent.id = wire.int()?,
            _ => {}
        }
    }
    Ok(extent)
}

fn schedule(wire: &mut Wire<'_>, found: &mut BTreeMap<i64, Vec<i64>>) -> Result<(), ImportError> {
    const WHAT: &str = "the schedule";
    wire.enter()?;
    while let Some(number) = wire.next(WHAT)? {
        if number != 1 {
            continue;
        }
        let (mut id, mut ids) = (0, List::UNLIMITED);
        wire.enter()?;
        while let Some(number) = wire.next(WHAT)? {
            match number {
                1 => id = wire.int()?,
                2 => {
                    wire.enter()?;
                    while let Some(number) = wire.next(WHAT)? {
                        if number == 1 {
                            wire.ints(&mut ids)?;
                        }
                    }
                }
                _ => {}
            }
        }
        found.insert(id, ids.items);
    }
    Ok(())
}

fn donated(wire: &mut Wire<'_>, module: &mut Module) -> Result<(), ImportError> {
    const WHAT: &str = "the list of donated parameters";
    wire.enter()?;
    while let Some(number) = wire.next(WHAT)? {
        if number != 1 {
            continue;
        }
        module.donated.insert(alias(wire, WHAT)?);
    }
    Ok(())
}

/// An output that has the buffer of an operand or parameter: {1 path of the output, 2 number, 3 path}.
fn alias(wire: &mut Wire<'_>, what: &'static str) -> Result<Alias, ImportError> {
    let (mut operand, mut path, mut output) = (0, List::UNLIMITED, List::UNLIMITED);
    wire.enter()?;
    while let Some(number) = wire.next(what)? {
        match number {
            1 => wire.ints(&mut output)?,
            2 => operand = unsigned(wire.int()?),
            3 => wire.ints(&mut path)?,
            _ => {}
        }
    }
    let steps = |path: List<i64>| path.items.into_iter().map(unsigned).collect();
    Ok(Alias {
        operand,
        path: steps(path),
        output: steps(output),
    })
}

/// A computation with its instructions in the order of the schedule.
fn computation(
    wire: &mut Wire<'_>,
    extent: &Extent,
    places: &BTreeMap<i64, usize>,
    order: Option<&[i64]>,
    notes: &mut ShapeNotes,
) -> Result<Computation, ImportError> {
    let (mut raws, mut root_id) = (Vec::new(), None);
    wire.enter_at(extent.span);
    while let Some(number) = wire.next("a computation")? {
        match number {
            2 => raws.push(raw(wire, notes)?),
            6 => root_id = Some(wire.int()?),
            _ => {}
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
        return Err(ImportError::at_byte(
            "a computation has no instruction",
            extent.span.start,
        ));
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
    operands: List<i64>,
    controls: List<i64>,
    called: List<i64>,
    kind: String,
    aliases: Vec<Alias>,
    at: u64,
}

fn raw(wire: &mut Wire<'_>, notes: &mut ShapeNotes) -> Result<Raw, ImportError> {
    let mut raw = Raw {
        name: String::new(),
        opcode: String::new(),
        shape: None,
        number: 0,
        index: 0,
        id: 0,
        operands: List::UNLIMITED,
        controls: List::UNLIMITED,
        called: List::UNLIMITED,
        kind: String::new(),
        aliases: Vec::new(),
        at: wire.enter()?.start,
    };
    while let Some(number) = wire.next("an instruction")? {
        match number {
            1 => raw.name = wire.text(NAME)?,
            2 => raw.opcode = wire.text(NAME)?,
            3 => raw.shape = Some(proto_shape::read(wire, notes)?),
            9 => raw.number = wire.int()?,
            11 => raw.kind = wire.text(NAME)?,
            13 => raw.index = wire.int()?,
            35 => raw.id = wire.int()?,
            36 => wire.ints(&mut raw.operands)?,
            37 => wire.ints(&mut raw.controls)?,
            38 => wire.ints(&mut raw.called)?,
            74 => raw.aliases.push(alias(wire, "an operand that a result takes")?),
            _ => {}
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
        let found = raw.called.items.iter().map(|id| {
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
    let fused = raw.called.items.first().filter(|_| raw.opcode == "fusion");
    let fused = fused.and_then(|id| places.get(id)).map(|place| Fused {
        place: *place,
        is_loop: matches!(&*raw.kind, "kLoop" | "kInput"),
    });
    Ok(Instruction {
        fused,
        aliases: raw.aliases.into(),
        in_place: Box::default(),
        starts: Box::default(),
        operands: positions(&raw.operands.items)?,
        controls: positions(&raw.controls.items)?,
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

/// A number that cannot be negative; a negative one is beyond every bound.
pub(super) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}
