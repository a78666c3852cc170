//! The buffer assignment of a `HloProto` -> [`Assignment`], with where each value is defined.
//!
//! ```text
//! BufferAssignmentProto  1 logical buffers, 3 allocations, 4 traces of the heap simulator
//! LogicalBufferProto     1 id, 2 size, 3 defined at {2 instruction's name, 4 instruction's id, 3 path}
//! BufferAllocationProto  1 index, 2 size, 3 thread-local, 5 parameter, 7 maybe-live-out, 12 constant, 9 assigned
//! Assigned               1 logical buffer, 2 offset, 3 size
//! HeapSimulatorTrace     1 events {1 kind, 2 buffer, 5 buffer that it shares with}
//! ```

use std::collections::BTreeMap;

use super::assignment::{Allocation, Assignment, Event, Kind, Value};
use super::model::Module;
use super::proto::{NAME, unsigned};
use super::shape::{Shape, node_name};
use crate::ImportError;
use crate::wire::{List, Span, Wire};

/// The most elements of tuples that are stepped over to find places: far more than a real module has.
const STEPS: u64 = 1 << 28;

/// A place where a value is: instruction by its number over the whole module, and the node of its shape.
pub(super) type Place = (u32, u32);

/// An assignment, and where its values are defined.
pub(super) struct Placed {
    pub(super) assignment: Assignment,
    /// The defining places of values, by id; those in computations that are not kept are missing.
    pub(super) defined: BTreeMap<u64, Place>,
}

/// The definition of a logical buffer, as stated in the file.
struct Location {
    name: String,
    id: i64,
    path: List<i64>,
}

pub(super) fn read(wire: &mut Wire<'_>, span: Span, module: &Module) -> Result<Placed, ImportError> {
    let mut placed = Placed {
        assignment: Assignment::default(),
        defined: BTreeMap::new(),
    };
    let mut index = Index::new(module);
    let mut names = BTreeMap::new();
    wire.enter_at(span);
    while let Some(number) = wire.next("the buffer assignment")? {
        match number {
            1 => {
                let (id, size, location) = logical(wire)?;
                let place = index.place(&location);
                names.insert(id, (size, index.name(&location, place), index.is_join(place)));
                placed.defined.extend(place.map(|place| (id, place)));
            }
            3 => placed.assignment.allocations.push(allocation(wire)?),
            4 => trace(wire, &mut placed.assignment.events)?,
            _ => {}
        }
    }
    let values = placed.assignment.allocations.iter_mut().flat_map(|one| &mut one.values);
    for value in values {
        if let Some((size, name, is_join)) = names.get(&value.id) {
            value.name.clone_from(name);
            value.is_phi = *is_join;
            if value.size == 0 {
                value.size = *size;
            }
        }
    }
    Ok(placed)
}

/// Instructions by what a file may name them by.
struct Index<'m> {
    module: &'m Module,
    by_id: BTreeMap<i64, (u32, usize, usize)>,
    by_name: BTreeMap<&'m str, (u32, usize, usize)>,
    /// Whether a value of an instruction only joins others, by the instruction's number.
    joins: Vec<bool>,
    /// Elements of tuples that may still be stepped over.
    steps: u64,
}

impl<'m> Index<'m> {
    fn new(module: &'m Module) -> Self {
        let mut index = Self {
            module,
            by_id: BTreeMap::new(),
            by_name: BTreeMap::new(),
            joins: Vec::new(),
            steps: STEPS,
        };
        let mut number = 0_u32;
        for (at, computation) in module.computations.iter().enumerate() {
            for (position, instruction) in computation.instructions.iter().enumerate() {
                index.by_id.insert(instruction.id, (number, at, position));
                index.by_name.insert(&instruction.name, (number, at, position));
                number = number.saturating_add(1);
                index.joins.push(match &*instruction.opcode {
                    "while" | "conditional" | "call" => true,
                    "parameter" => at > 0,
                    _ => false,
                });
            }
        }
        index
    }

    fn find(&self, location: &Location) -> Option<(u32, usize, usize)> {
        let by_id = self.by_id.get(&location.id).filter(|_| location.id != 0);
        by_id.or_else(|| self.by_name.get(&*location.name)).copied()
    }

    fn place(&mut self, location: &Location) -> Option<Place> {
        let (number, computation, position) = self.find(location)?;
        let path: Vec<u64> = location.path.items.iter().map(|step| unsigned(*step)).collect();
        let steps = path.iter().fold(1_u64, |sum, step| sum.saturating_add(*step));
        self.steps = self.steps.checked_sub(steps)?;
        let shape = &self.module.computations[computation].instructions[position].shape;
        Some((number, shape.node(&path)?))
    }

    fn name(&self, location: &Location, place: Option<Place>) -> String {
        match (self.find(location), place) {
            (Some((_, computation, position)), Some(_)) => {
                let instruction = &self.module.computations[computation].instructions[position];
                let is_tuple = matches!(instruction.shape, Shape::Tuple(_));
                let path = location.path.items.iter();
                let path = path.map(|step| u32::try_from(*step).unwrap_or(u32::MAX));
                node_name(&instruction.name, &path.collect::<Vec<u32>>(), is_tuple)
            }
            _ if !location.name.is_empty() => location.name.clone(),
            _ => format!("instruction {} (in an element-wise computation)", location.id),
        }
    }

    /// Whether a value there only joins others: the state of a loop, the outcome of a branch or call.
    fn is_join(&self, place: Option<Place>) -> bool {
        place.is_some_and(|(number, _)| self.joins.get(number as usize) == Some(&true))
    }
}

fn logical(wire: &mut Wire<'_>) -> Result<(u64, u64, Location), ImportError> {
    const WHAT: &str = "a logical buffer";
    let (mut id, mut size) = (0, 0);
    let mut location = Location {
        name: String::new(),
        id: 0,
        path: List::UNLIMITED,
    };
    wire.enter()?;
    while let Some(number) = wire.next(WHAT)? {
        match number {
            1 => id = unsigned(wire.int()?),
            2 => size = unsigned(wire.int()?),
            3 => {
                wire.enter()?;
                while let Some(number) = wire.next(WHAT)? {
                    match number {
                        2 => location.name = wire.text(NAME)?,
                        3 => wire.ints(&mut location.path)?,
                        4 => location.id = wire.int()?,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Ok((id, size, location))
}

fn allocation(wire: &mut Wire<'_>) -> Result<Allocation, ImportError> {
    let mut allocation = Allocation::default();
    wire.enter()?;
    while let Some(number) = wire.next("an allocation")? {
        let kind = match number {
            1 => {
                allocation.index = unsigned(wire.int()?);
                continue;
            }
            2 => {
                allocation.size = unsigned(wire.int()?);
                continue;
            }
            9 => {
                allocation.values.push(assigned(wire)?);
                continue;
            }
            3 => Kind::ThreadLocal,
            5 => Kind::Parameter,
            7 => Kind::LiveOut,
            12 => Kind::Constant,
            _ => continue,
        };
        if wire.int()? != 0 {
            allocation.kinds.insert(kind);
        }
    }
    if allocation.kinds.is_empty() {
        allocation.kinds.insert(Kind::Temp);
    }
    Ok(allocation)
}

fn assigned(wire: &mut Wire<'_>) -> Result<Value, ImportError> {
    let mut value = Value {
        id: 0,
        name: String::new(),
        size: 0,
        offset: 0,
        is_phi: false,
    };
    wire.enter()?;
    while let Some(number) = wire.next("a value of an allocation")? {
        match number {
            1 => value.id = unsigned(wire.int()?),
            2 => value.offset = unsigned(wire.int()?),
            3 => value.size = unsigned(wire.int()?),
            _ => {}
        }
    }
    Ok(value)
}

fn trace(wire: &mut Wire<'_>, events: &mut Vec<Event>) -> Result<(), ImportError> {
    const WHAT: &str = "a trace of the heap simulator";
    wire.enter()?;
    while let Some(number) = wire.next(WHAT)? {
        if number != 1 {
            continue;
        }
        let (mut kind, mut id, mut other) = (0, 0, 0);
        wire.enter()?;
        while let Some(number) = wire.next(WHAT)? {
            match number {
                1 => kind = wire.int()?,
                2 => id = unsigned(wire.int()?),
                5 => other = unsigned(wire.int()?),
                _ => {}
            }
        }
        events.push(match kind {
            0 => Event::Alloc(id),
            1 => Event::Free(id),
            _ => Event::Share(id, other),
        });
    }
    Ok(())
}
