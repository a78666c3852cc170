//! A tape: ops with costs, their tensors and storages, and the caller's references, in chronological order: the input
//! of rematerialization.
//!
//! ```text
//! Call(0)  Call(1)  Release(a)  Call(2) ...     instructions
//! op 1: conv [x, w] -> [a], 35 ns               ops, one per call
//! a: storage a, 4096 bytes                      tensors; a view has the storage of its base and 0 bytes
//! ```
//!
//! Invariants: tensors are numbered in the order in which ops make them; every tensor has an op; the storage of a
//! tensor is named by its root, which is at or before the tensor; every op is called exactly once, in the order of its
//! number. A tape comes from a recorded log, a list of ops with planned variables, a script of an interpreter, or a
//! graph; names are resolved when it is made, so that running it needs none.

use super::lifetimes::{Lifetime, Lifetimes};
use crate::graph::{Id as _, TensorId};
use crate::units::{Bytes, Nanos, Step};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapeTensor {
    pub name: Box<str>,
    /// The root of its storage: itself, unless it is a view.
    pub storage: u32,
    /// Bytes of its storage for a root, 0 for a view.
    pub bytes: Bytes,
    /// The op that computes it.
    pub op: u32,
    /// Whether its memory is the caller's (a parameter, a constant, a feed): never evicted, never planned.
    pub is_external: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapeOp {
    /// Its name or type.
    pub name: Box<str>,
    /// Cost of computing it.
    pub time: Nanos,
    /// In argument order, repetitions included.
    pub inputs: Vec<u32>,
    /// In order; consecutive numbers.
    pub outputs: Vec<u32>,
    /// Whether it only brings in external tensors: no computation, no cost.
    pub is_source: bool,
    /// Whether it must not be computed a second time (random numbers, in-place writes): its results are never evicted.
    pub is_non_recomputable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapeCall {
    /// The op is computed for the first time; the caller then holds one reference to each of its results.
    Call(u32),
    /// The caller adds a reference to a tensor.
    Retain(u32),
    /// The caller drops a reference to a tensor.
    Release(u32),
}

/// A recorded or derived run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tape {
    /// The name shown to users.
    pub name: String,
    pub tensors: Vec<TapeTensor>,
    pub ops: Vec<TapeOp>,
    pub calls: Vec<TapeCall>,
    /// Tensors that the caller still references at the end, in the order in which their names were first bound; they
    /// must be resident at the end.
    pub kept: Vec<u32>,
}

impl Tape {
    /// The ops that take steps, in order, with their positions: all but those that bring in external tensors.
    pub fn executed(&self) -> impl Iterator<Item = (u32, &TapeOp)> {
        (0..).zip(&self.ops).filter(|(_, op)| !op.is_source)
    }

    pub fn compute(&self) -> Nanos {
        let times = self.ops.iter().map(|op| op.time.0);
        Nanos(times.fold(0, u64::saturating_add))
    }

    /// The live range of each storage that is not external, without a budget: from its op to the last op that reads it
    /// or the op before its last release, whichever is later. A step is an op. O(n log n).
    pub fn lifetimes(&self) -> Lifetimes {
        let n_steps = u32::try_from(self.ops.len()).unwrap_or(u32::MAX);
        let mut ends = vec![0_u32; self.tensors.len()];
        let mut references = vec![0_u32; self.tensors.len()];
        let mut now = 0;
        for call in &self.calls {
            match *call {
                TapeCall::Call(number) => {
                    now = number + 1;
                    let op = &self.ops[number as usize];
                    for tensor in op.inputs.iter().chain(&op.outputs) {
                        ends[self.root(*tensor)] = now;
                    }
                    for tensor in &op.outputs {
                        references[self.root(*tensor)] += 1;
                    }
                }
                TapeCall::Retain(tensor) => references[self.root(tensor)] += 1,
                TapeCall::Release(tensor) => {
                    let root = self.root(tensor);
                    references[root] = references[root].saturating_sub(1);
                    ends[root] = ends[root].max(now);
                }
            }
        }
        let held = references.iter().enumerate().filter(|(_, count)| **count > 0);
        for (root, _) in held {
            ends[root] = n_steps;
        }
        let roots = self.tensors.iter().enumerate();
        let roots = roots.filter(|(number, tensor)| self.root_is(*number) && !tensor.is_external);
        let mut items: Vec<Lifetime> = roots
            .map(|(number, tensor)| Lifetime {
                birth: Step(tensor.op),
                end: Step(ends[number].max(tensor.op + 1)),
                bytes: tensor.bytes,
                tensor: TensorId::from_idx(number),
            })
            .collect();
        items.sort_unstable_by_key(|item| (item.birth, item.tensor));
        Lifetimes { n_steps, items }
    }

    fn root(&self, tensor: u32) -> usize {
        self.tensors[tensor as usize].storage as usize
    }

    fn root_is(&self, number: usize) -> bool {
        self.tensors[number].storage as usize == number
    }
}
