//! Live ranges: which tensor holds how many bytes over which steps.
//!
//! ```text
//! bytes
//!   |      +--c--+          one item per storage (or per tensor in the naive view),
//!   |  +---b---+ |          birth inclusive, end exclusive,
//!   +--+-a-+---+-+--> step  sorted by (birth, tensor)
//! ```

use crate::graph::TensorId;
use crate::units::{Bytes, Step};

/// One live range, half-open: the bytes are held on steps `birth..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lifetime {
    /// First step.
    pub birth: Step,
    /// The first step on which the bytes are no longer held; greater than `birth`.
    pub end: Step,
    /// Exact bytes, without any rounding.
    pub bytes: Bytes,
    /// The tensor, or the root tensor of the storage.
    pub tensor: TensorId,
}

impl Lifetime {
    /// How many steps it lives.
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
    /// The live ranges.
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

    /// The peak of live bytes and the first step that reaches it; no step where the graph has none.
    pub fn peak(&self) -> (Bytes, Option<Step>) {
        let mut best: (Bytes, Option<Step>) = (Bytes::ZERO, None);
        for (step, bytes) in (0_u32..).zip(self.live_curve()) {
            if best.1.is_none() || bytes > best.0 {
                best = (bytes, Some(Step(step)));
            }
        }
        best
    }

    /// The sum of all live ranges' bytes.
    pub fn total(&self) -> Bytes {
        self.items.iter().map(|item| item.bytes).sum()
    }
}

/// What rewriting returns and planning takes: the order of steps and what lives on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Feature memory: what is computed and dies within the graph.
    pub lifetimes: Lifetimes,
    /// Items of `lifetimes` that the engine keeps apart from reuse, by position.
    pub kept_apart: Vec<u32>,
}
