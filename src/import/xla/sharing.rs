//! Which tensors of a computation have the memory of others.
//!
//! ```text
//! views         bitcast; what tuples hand on, where shapes contradict each other
//! updates       in the operand that they change, unless that is read later or its memory is the caller's
//! in place      element-wise ops and sorts, in an operand that ends there; not from or into parameters, outputs and what
//!               loops, branches and calls carry, which XLA keeps in buffers of their own
//! loops         run in the memory of their operand; a body's result is the state that it got
//! donated       outputs in the memory of the parameter that the module says
//! reserved      values that end within the entry in memory of outputs, while no value of theirs is there; an element-wise
//!               output may begin where they end
//! ```
//!
//! A union of sets of tensors, in the order of the schedule; O(nodes * inverse Ackermann). As XLA's buffer assignment
//! does it, where its copies are already in the module; in a module that is not scheduled yet they are not, so that what
//! would need one has separate memory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use super::forwarded::forwarded;
use super::in_place;
use super::layout::Space;
use super::model::Computation;
use super::shape::Shape;
use super::values::Values;
use highwater_model::lists::Lists;

/// How a computation is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// Parameters are the caller's.
    Entry,
    /// Its result is its next parameter.
    LoopBody,
    Called,
}

/// What sharing depends on beyond the computation.
pub(super) struct Context<'c> {
    pub(super) runs: Runs,
    /// Whether XLA has put its copies into the module.
    pub(super) is_scheduled: bool,
    /// Outputs with the parameters whose memory they take.
    pub(super) donated: &'c [(u32, u32)],
    /// Whether a loop's body hands a node of its state on as it is, by the number of the computation.
    pub(super) is_constant: &'c dyn Fn(u32, usize) -> bool,
}

/// Who has the memory of whom, by tensor.
#[derive(Debug)]
pub(super) struct Sharing {
    parents: Vec<u32>,
    /// Of each set, by its root.
    sets: Vec<Set>,
    /// The last instruction that reads each tensor.
    ends: Vec<u32>,
    /// Sets that end where an output may be computed in their place, and that output.
    meeting: BTreeSet<(u32, u32)>,
}

/// Whether the memory of a set is there before the computation runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Given {
    #[default]
    No,
    /// Donated parameters, a loop's state, arguments of calls: they may be written.
    Free,
    /// Other parameters and constants.
    Held,
}

#[derive(Clone, Copy, Debug, Default)]
struct Set {
    /// The last instruction that reads a tensor of the set.
    last: u32,
    given: Given,
    is_output: bool,
    /// Carried by loops, branches, calls and updates.
    is_joined: bool,
}

/// From its first instruction to the last one, memory holds a tensor.
#[derive(Clone, Copy, Debug)]
struct Stay {
    first: u32,
    last: u32,
    tensor: u32,
}

/// Memory of an output.
#[derive(Debug, Default)]
struct Place {
    bytes: u64,
    taken: Vec<Stay>,
}

impl Place {
    /// Whether nothing is there meanwhile; an output that meets the end of the set of `stay` is computed in its place.
    fn is_free(&self, stay: Stay, meeting: &BTreeSet<(u32, u32)>) -> bool {
        self.taken.iter().all(|taken| {
            let meets = stay.last == taken.first && meeting.contains(&(stay.tensor, taken.tensor));
            meets || stay.last < taken.first || taken.last < stay.first
        })
    }
}

/// The most places that are looked at for values, for modules with very many outputs.
const CHECKS: usize = 1 << 26;

/// Bytes of arrays by tensor; 0 where they are unknown, or not the device's.
fn bytes_of(computation: &Computation, values: &Values) -> Vec<u64> {
    let mut bytes = vec![0; values.len()];
    for (at, instruction) in (0_u32..).zip(&computation.instructions) {
        let mut nodes = values.of(at).iter();
        let visited = instruction
            .shape
            .visit(&mut |_: &[u32], shape: &Shape| -> Result<(), Infallible> {
                if let (Some(tensor), Shape::Array(array)) = (nodes.next(), shape)
                    && values.is_new(at, *tensor)
                    && array.space == Space::DEVICE
                {
                    bytes[*tensor as usize] = array.bytes().unwrap_or(0);
                }
                Ok(())
            });
        match visited {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }
    bytes
}

impl Sharing {
    pub(super) fn new(computation: &Computation, values: &Values, reads: &Lists<u32>, context: &Context<'_>) -> Self {
        let Context { runs, donated, .. } = *context;
        let mut sharing = Self {
            parents: (0..u32::try_from(values.len()).unwrap_or(u32::MAX)).collect(),
            sets: vec![Set::default(); values.len()],
            ends: Vec::new(),
            meeting: BTreeSet::new(),
        };
        sharing.describe(computation, values, reads, runs, donated);
        sharing.ends = sharing.sets.iter().map(|set| set.last).collect();
        for at in 0..u32::try_from(computation.instructions.len()).unwrap_or(u32::MAX) {
            sharing.views(computation, values, at, context);
            sharing.in_place(computation, values, at);
        }
        for (output, parameter) in donated {
            sharing.join(*output, *parameter);
        }
        if runs == Runs::LoopBody {
            sharing.state(computation, values, context.is_scheduled);
        }
        if runs == Runs::Entry && context.is_scheduled {
            sharing.reserved(computation, values);
        }
        sharing
    }

    /// The tensors that have the memory of another, with that one.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let tensors = 0..u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        tensors
            .map(|tensor| (tensor, self.root(tensor)))
            .filter(|(tensor, root)| tensor != root)
    }

    fn describe(
        &mut self,
        computation: &Computation,
        values: &Values,
        reads: &Lists<u32>,
        runs: Runs,
        donated: &[(u32, u32)],
    ) {
        for (at, instruction) in (0_u32..).zip(&computation.instructions) {
            for tensor in values.of(at).iter().filter(|tensor| values.is_new(at, **tensor)) {
                let set = &mut self.sets[*tensor as usize];
                set.last = set.last.max(at);
                set.given = match (&*instruction.opcode, runs) {
                    ("constant", _) | ("parameter", Runs::Entry) => Given::Held,
                    ("parameter", _) => Given::Free,
                    _ => Given::No,
                };
            }
            let is_carried = matches!(&*instruction.opcode, "while" | "conditional" | "call");
            for tensor in reads.of(at as usize) {
                let set = &mut self.sets[*tensor as usize];
                set.last = set.last.max(at);
                set.is_joined |= is_carried;
            }
            if is_carried {
                for tensor in values.of(at) {
                    self.sets[*tensor as usize].is_joined = true;
                }
            }
        }
        for (_, parameter) in donated {
            self.sets[*parameter as usize].given = Given::Free;
        }
        for tensor in values.of(computation.root) {
            let set = &mut self.sets[*tensor as usize];
            set.last = u32::MAX;
            set.is_output = true;
            set.is_joined |= runs != Runs::Entry;
        }
    }

    /// Views by definition, and what [`Values`] could not pass on.
    fn views(&mut self, computation: &Computation, values: &Values, at: u32, context: &Context<'_>) {
        let instruction = &computation.instructions[at as usize];
        let own = values.of(at);
        match (&*instruction.opcode, instruction.operands.first()) {
            ("bitcast", Some(first)) => {
                for (mine, other) in own.iter().zip(values.of(*first)) {
                    self.join(*mine, *other);
                }
            }
            ("while", Some(first)) => {
                let body = instruction.called.first();
                for (node, (mine, other)) in own.iter().zip(values.of(*first)).enumerate() {
                    let set = self.set(*other);
                    let is_constant = body.is_some_and(|body| (context.is_constant)(*body, node));
                    if is_constant || set.given != Given::Held && set.last == at {
                        self.join(*mine, *other);
                    }
                }
            }
            _ => {
                for (mine, source) in own.iter().zip(forwarded(computation, instruction)) {
                    let other = source.and_then(|(operand, node)| {
                        let operand = instruction.operands.get(operand as usize)?;
                        values.of(*operand).get(node as usize)
                    });
                    if let Some(other) = other {
                        self.join(*mine, *other);
                    }
                }
            }
        }
    }

    fn in_place(&mut self, computation: &Computation, values: &Values, at: u32) {
        let instruction = &computation.instructions[at as usize];
        let mut pairs = in_place::pairs(computation, instruction);
        pairs.sort_unstable_by_key(|pair| (!pair.is_update, pair.node, pair.operand));
        for pair in pairs {
            let operand = instruction.operands.get(pair.operand as usize);
            let theirs = operand.and_then(|operand| values.of(*operand).get(pair.operand_node as usize));
            let (Some(mine), Some(theirs)) = (values.of(at).get(pair.node as usize), theirs) else {
                continue;
            };
            let (own, other) = (self.set(*mine), self.set(*theirs));
            let is_apart = |set: Set| set.given == Given::No && !set.is_output && !set.is_joined;
            let may = if pair.is_update {
                other.given != Given::Held
            } else {
                is_apart(own) && is_apart(other)
            };
            if !pair.is_update && own.is_output && is_apart(other) && other.last == at {
                let set = self.root(*theirs);
                self.meeting.insert((set, *mine));
            }
            // A result has one place.
            let is_alone = self.root(*mine) == *mine;
            if may && is_alone && other.last == at {
                self.join(*mine, *theirs);
                let root = self.root(*mine);
                self.sets[root as usize].is_joined |= pair.is_update;
            }
        }
    }

    /// The result of a loop's body is the state that it got, where that is not read any more when the result is made.
    fn state(&mut self, computation: &Computation, values: &Values, is_scheduled: bool) {
        let is_parameter = |at: &usize| &*computation.instructions[*at].opcode == "parameter";
        let Some(parameter) = (0..computation.instructions.len()).find(is_parameter) else {
            return;
        };
        let state = values.of(u32::try_from(parameter).unwrap_or(u32::MAX));
        for (next, now) in values.of(computation.root).iter().zip(state) {
            let (made, set) = (values.maker(*next), self.set(*now));
            let is_free = if is_scheduled {
                set.last <= made
            } else {
                set.last < made
            };
            if self.set(*next).given == Given::No && is_free {
                self.join(*next, *now);
            }
        }
    }

    /// Values that end within the entry take the memory of outputs, which is there from the start: the largest first, each
    /// in the first memory that is large enough and free as long as it lives.
    fn reserved(&mut self, computation: &Computation, values: &Values) {
        let bytes = bytes_of(computation, values);
        let mut first = vec![u32::MAX; self.parents.len()];
        let mut places: BTreeMap<u32, Place> = BTreeMap::new();
        for tensor in 0..u32::try_from(self.parents.len()).unwrap_or(u32::MAX) {
            let (root, made) = (self.root(tensor), values.maker(tensor));
            let start = &mut first[root as usize];
            *start = made.min(*start);
            if self.sets[root as usize].is_output {
                let place = places.entry(root).or_default();
                place.bytes = place.bytes.max(bytes[tensor as usize]);
                let is_parameter = &*computation.instructions[made as usize].opcode == "parameter";
                place.taken.push(Stay {
                    first: if is_parameter { 0 } else { made },
                    last: self.ends[tensor as usize].max(made),
                    tensor,
                });
            }
        }
        let mut wanted: Vec<u32> = (0..u32::try_from(self.parents.len()).unwrap_or(u32::MAX))
            .filter(|tensor| self.root(*tensor) == *tensor && bytes[*tensor as usize] > 0)
            .filter(|tensor| {
                let set = self.sets[*tensor as usize];
                set.given == Given::No && !set.is_output && !set.is_joined
            })
            .collect();
        wanted.sort_unstable_by_key(|tensor| (Reverse(bytes[*tensor as usize]), *tensor));
        let mut budget = CHECKS;
        for tensor in wanted {
            let stay = Stay {
                first: first[tensor as usize],
                last: self.sets[tensor as usize].last,
                tensor,
            };
            let size = bytes[tensor as usize];
            for (root, place) in &mut places {
                let Some(left) = budget.checked_sub(1 + place.taken.len()) else {
                    return;
                };
                budget = left;
                if size <= place.bytes && place.is_free(stay, &self.meeting) {
                    place.taken.push(stay);
                    self.join(tensor, *root);
                    break;
                }
            }
        }
    }

    fn root(&self, mut tensor: u32) -> u32 {
        while self.parents[tensor as usize] != tensor {
            tensor = self.parents[tensor as usize];
        }
        tensor
    }

    fn set(&self, tensor: u32) -> Set {
        self.sets[self.root(tensor) as usize]
    }

    /// One set of two; what is given stays its root, for its memory is not of this computation's making.
    fn join(&mut self, tensor: u32, other: u32) {
        let (one, other) = (self.root(tensor), self.root(other));
        let (first, second) = (self.sets[one as usize], self.sets[other as usize]);
        if one == other || first.given.min(second.given) != Given::No {
            return;
        }
        let (root, child) = if first.given == Given::No {
            (other, one)
        } else {
            (one, other)
        };
        self.parents[child as usize] = root;
        // The next search is short.
        self.parents[tensor as usize] = root;
        self.sets[root as usize] = Set {
            last: first.last.max(second.last),
            given: first.given.max(second.given),
            is_output: first.is_output || second.is_output,
            is_joined: first.is_joined || second.is_joined,
        };
    }
}
