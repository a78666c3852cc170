//! A module of XLA as plain values, whichever form it was read from.
//!
//! ```text
//! Module       the entry computation first, then those that while, conditional, call and async-start run, in the order of calls
//! Computation  instructions in the order in which they run; one of them is the root
//! Instruction  name, opcode, shape, operands, what it calls
//! ```
//!
//! Computations that a fusion or a reducer calls are counted, not kept: they hold no buffers.

use std::collections::{BTreeMap, BTreeSet};

use super::shape::Shape;
use crate::ImportError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    /// Its name, unique in its module.
    pub(super) name: Box<str>,
    pub(super) opcode: Box<str>,
    pub(super) shape: Shape,
    /// Instructions of the same computation that it reads.
    pub(super) operands: Box<[u32]>,
    /// Instructions of the same computation that run before it.
    pub(super) controls: Box<[u32]>,
    /// Computations that it runs, by position in the module: of a loop the body, then the condition.
    pub(super) called: Box<[u32]>,
    /// The number of a parameter, the position that a get-tuple-element takes; else 0.
    pub(super) number: u64,
    /// By which a protobuf names it; 0 in text.
    pub(super) id: i64,
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
    /// Parameters of the entry that share their buffer with an output: number and path.
    pub(super) donated: BTreeSet<(u64, Vec<u64>)>,
}

/// Whether an instruction of this kind runs other computations as part of the program, not element by element.
pub(super) fn runs_computations(opcode: &str) -> bool {
    matches!(opcode, "while" | "conditional" | "call" | "async-start")
}

/// Reads the entry and all that it reaches. `read` reads the computation at a place of the file, with places in `called`.
pub(super) fn reachable(
    entry: usize,
    mut read: impl FnMut(usize) -> Result<Computation, ImportError>,
) -> Result<Vec<Computation>, ImportError> {
    let mut position: BTreeMap<usize, u32> = BTreeMap::from([(entry, 0)]);
    let mut places = vec![entry];
    let mut computations = Vec::new();
    while let Some(place) = places.get(computations.len()).copied() {
        let mut computation = read(place)?;
        for instruction in &mut computation.instructions {
            for called in &mut instruction.called {
                let place = *called as usize;
                *called = *position.entry(place).or_insert_with(|| {
                    places.push(place);
                    u32::try_from(places.len() - 1).unwrap_or(u32::MAX)
                });
            }
        }
        computations.push(computation);
    }
    Ok(computations)
}
