//! Live ranges: the bytes that tensors hold, by step.
//!
//! ```text
//! bytes
//!   |      +--c--+          one item per storage (or per tensor in the naive view),
//!   |  +---b---+ |          birth inclusive, end exclusive,
//!   +--+-a-+---+-+--> step  sorted by (birth, tensor)
//! ```

use crate::graph::TensorId;
use crate::units::{Bytes, Step};

/// A half-open live range: the bytes are held on steps `birth..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lifetime {
    pub birth: Step,
    /// Exclusive; greater than `birth`.
    pub end: Step,
    /// Exact bytes, without any rounding.
    pub bytes: Bytes,
    /// The tensor, or the root tensor of the storage.
    pub tensor: TensorId,
}

impl Lifetime {
    pub const fn n_steps(&self) -> u32 {
        self.end.0 - self.birth.0
    }

    /// Whether both are live on some step.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.birth < other.end && other.birth < self.end
    }
}

/// The live ranges of one graph under one binding, sorted by birth and then tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifetimes {
    /// Steps of the graph; every end is at most this.
    pub n_steps: u32,
    pub items: Vec<Lifetime>,
}

impl Lifetimes {
    /// Live bytes on each step. O(items + steps).
    pub fn live_curve(&self) -> Vec<Bytes> {
        let n_steps = self.n_steps as usize;
        let mut change = vec![(0_u64, 0_u64); n_steps + 1];
        for item in &self.items {
            let born = &mut change[item.birth.idx()].0;
            *born = born.saturating_add(item.bytes.get());
            let dead = &mut change[item.end.idx()].1;
            *dead = dead.saturating_add(item.bytes.get());
        }
        let mut live = 0_u64;
        change
            .into_iter()
            .take(n_steps)
            .map(|(born, dead)| {
                live = live.saturating_add(born).saturating_sub(dead);
                Bytes(live)
            })
            .collect()
    }

    /// The peak of live bytes and the first step that reaches it; `None` where the graph has no steps.
    pub fn peak(&self) -> (Bytes, Option<Step>) {
        let mut best: (Bytes, Option<Step>) = (Bytes::ZERO, None);
        for (step, bytes) in (0_u32..).zip(self.live_curve()) {
            if best.1.is_none() || bytes > best.0 {
                best = (bytes, Some(Step(step)));
            }
        }
        best
    }

    pub fn total(&self) -> Bytes {
        self.items.iter().map(|item| item.bytes).sum()
    }
}

/// Output of rewriting and input of planning: steps and live ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Feature memory: tensors that are born and die within the graph.
    pub lifetimes: Lifetimes,
    /// Items of `lifetimes` that take no part in reuse, by position.
    pub separate: Vec<u32>,
}

impl From<Lifetimes> for Program {
    fn from(lifetimes: Lifetimes) -> Self {
        Self {
            lifetimes,
            separate: Vec::new(),
        }
    }
}
