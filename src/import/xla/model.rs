//! A module of XLA as plain values, whichever form it was read from.
//!
//! ```text
//! Module       the entry computation first, then those that while, conditional, call and async-start run, in the order of calls
//! Computation  instructions in the order in which they run; one of them is the root
//! Instruction  name, opcode, shape, operands, what it calls
//! ```
//!
//! Computations that a fusion or a reducer calls are counted, not kept: they hold no buffers. Of those of fusions stays what
//! they compute in place.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::in_place;
use super::shape::Shape;
use crate::ImportError;

/// A node of a result that may take the bytes of an operand that is not read later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InPlace {
    pub(super) node: u32,
    /// Its position among the operands.
    pub(super) operand: u32,
    pub(super) operand_node: u32,
    /// Whether the result is always there: where the operand is read later, XLA copies it first.
    pub(super) is_update: bool,
}

/// What a fusion calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fused {
    /// Its place in the file.
    pub(super) place: usize,
    /// Whether each element of the result is computed by itself: kLoop, kInput.
    pub(super) is_loop: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Instruction {
    /// Its name, unique in its module.
    pub(super) name: Box<str>,
    pub(super) opcode: Box<str>,
    pub(super) shape: Shape,
    /// Of a tuple, the first nodes of its elements, and one more: behind the last.
    pub(super) starts: Box<[u32]>,
    /// Instructions of the same computation that it reads.
    pub(super) operands: Box<[u32]>,
    /// Instructions of the same computation that run before it.
    pub(super) controls: Box<[u32]>,
    /// Computations that it runs, by position in the module: of a loop the body, then the condition.
    pub(super) called: Box<[u32]>,
    /// Results that the file puts into operands.
    pub(super) aliases: Box<[Alias]>,
    /// What the computation of a fusion computes in place.
    pub(super) in_place: Box<[InPlace]>,
    /// The computation that a fusion calls.
    pub(super) fused: Option<Fused>,
    /// The number of a parameter, the position that a get-tuple-element takes; else 0.
    pub(super) number: u64,
    /// By which a protobuf names it; 0 in text.
    pub(super) id: i64,
}

impl Instruction {
    pub(super) fn n_nodes(&self) -> u32 {
        self.starts.last().copied().unwrap_or(1)
    }

    /// The nodes of an element of a tuple; none where there is no such element.
    pub(super) fn element(&self, element: u64) -> Range<u32> {
        let element = usize::try_from(element).unwrap_or(usize::MAX - 1);
        match (self.starts.get(element), self.starts.get(element.saturating_add(1))) {
            (Some(start), Some(end)) => *start..*end,
            _ => 0..0,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Computation {
    pub(super) name: String,
    pub(super) instructions: Vec<Instruction>,
    pub(super) root: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Module {
    pub(super) name: String,
    /// Whether the order of instructions is the one in which they run.
    pub(super) is_scheduled: bool,
    pub(super) computations: Vec<Computation>,
    pub(super) n_computations: u64,
    pub(super) n_instructions: u64,
    /// Parameters of the entry that share their buffer with an output.
    pub(super) donated: BTreeSet<Alias>,
}

/// A file's word that an element of a result has the buffer of an element of an operand, or of a parameter of the entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Alias {
    /// The position of the operand, the number of the parameter.
    pub(super) operand: u64,
    /// The path of the element within it.
    pub(super) path: Vec<u64>,
    /// The path of the element within the result.
    pub(super) output: Vec<u64>,
}

/// Whether an instruction of this kind runs other computations as part of the program, not element by element.
pub(super) fn runs_computations(opcode: &str) -> bool {
    matches!(opcode, "while" | "conditional" | "call" | "async-start")
}

/// Reads the entry and all that it reaches. `read` reads the computation at a place of the file, with places in `called`;
/// its second argument tells whether a fusion calls it. What cannot be read of fusions is left out.
pub(super) fn reachable(
    entry: usize,
    mut read: impl FnMut(usize, bool) -> Result<Computation, ImportError>,
) -> Result<Vec<Computation>, ImportError> {
    let mut position: BTreeMap<usize, u32> = BTreeMap::from([(entry, 0)]);
    let mut places = vec![entry];
    let mut computations = Vec::new();
    let mut fusions: BTreeMap<(usize, bool), Box<[InPlace]>> = BTreeMap::new();
    while let Some(place) = places.get(computations.len()).copied() {
        let mut computation = read(place, false)?;
        for instruction in &mut computation.instructions {
            instruction.starts = instruction.shape.starts();
            for called in &mut instruction.called {
                let place = *called as usize;
                *called = *position.entry(place).or_insert_with(|| {
                    places.push(place);
                    u32::try_from(places.len() - 1).unwrap_or(u32::MAX)
                });
            }
            let Some(fused) = instruction.fused else { continue };
            let key = (fused.place, fused.is_loop);
            let known = match fusions.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(slot) => slot.insert(match read(fused.place, true) {
                    Ok(computation) => in_place::of_fusion(&computation, fused.is_loop).into(),
                    Err(error @ ImportError::Cancelled(_)) => return Err(error),
                    Err(_) => Box::default(),
                }),
            };
            instruction.in_place.clone_from(known);
        }
        computations.push(computation);
    }
    Ok(computations)
}
