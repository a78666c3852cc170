//! Computation of a tensor, with its missing inputs.
//!
//! In: an op to compute for the first time, or a tensor to bring back. Out: it is defined, or the run stops. A chain
//! may be as long as the tape, so pending computations are on an explicit stack. Inputs stay locked while others are
//! brought back: recomputation can need more than the budget.

use super::machine::{Machine, Stop};
use super::rule::{Change, Rule};
use super::storage_state::State;
use crate::remat::{RematEvent, RematKind};
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::Tape;

/// Most events of a run; beyond them it counts as thrashing, so that a hostile tape ends. About a gibibyte.
const MAX_EVENTS: usize = 16_000_000;

/// A pending computation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    op: u32,
    /// The requested tensor; `None` for an op without results.
    tensor: Option<u32>,
    is_first: bool,
    /// Range of its missing inputs in the machine's list, and the next of them.
    begin: usize,
    next: usize,
    /// Ops recomputed so far.
    chain: u32,
}

impl Frame {
    pub(super) fn first(op: u32, tensor: Option<u32>) -> Self {
        Self {
            op,
            tensor,
            is_first: true,
            begin: 0,
            next: 0,
            chain: 0,
        }
    }

    pub(super) fn recompute(tensor: u32, tape: &Tape) -> Self {
        Self {
            is_first: false,
            ..Self::first(tape.tensors[tensor as usize].op, Some(tensor))
        }
    }
}

impl<R: Rule> Machine<'_, R> {
    /// Contract: the header of this file.
    pub(super) fn materialize(&mut self, frame: Frame, progress: &Progress<'_>) -> Result<(), Stop> {
        self.begin(frame);
        while let Some(frame) = self.frames.last_mut() {
            let Some(input) = self.waiting.get(frame.next).copied() else {
                let frame = *frame;
                self.compute(frame, progress)?;
                self.waiting.truncate(frame.begin);
                self.frames.pop();
                if let Some(outer) = self.frames.last_mut() {
                    outer.chain = outer.chain.saturating_add(frame.chain + 1);
                }
                continue;
            };
            if self.is_defined(input) {
                self.lock(self.states.root(input));
                if let Some(frame) = self.frames.last_mut() {
                    frame.next += 1;
                }
            } else {
                self.begin(Frame::recompute(input, self.states.tape));
            }
        }
        Ok(())
    }

    /// Locks the resident inputs and lists the missing ones.
    fn begin(&mut self, mut frame: Frame) {
        frame.begin = self.waiting.len();
        frame.next = frame.begin;
        let op = &self.states.tape.ops[frame.op as usize];
        for input in &op.inputs {
            self.access(self.states.root(*input));
        }
        for input in &op.inputs {
            if self.is_defined(*input) {
                self.lock(self.states.root(*input));
            } else {
                self.waiting.push(*input);
            }
        }
        self.frames.push(frame);
    }

    /// All inputs are resident and locked.
    fn compute(&mut self, frame: Frame, progress: &Progress<'_>) -> Result<(), Stop> {
        self.make_room(frame.op, progress)?;
        let op = &self.states.tape.ops[frame.op as usize];
        self.states.clock = self.states.clock.saturating_add(op.time.0);
        self.used = self.used.saturating_add(self.needs[frame.op as usize]);
        self.run.raise_peak(self.used, self.step);
        let chain = if frame.is_first {
            0
        } else {
            frame.chain.saturating_add(1)
        };
        let computed = self.used;
        // Only the requested tensor moves to the end of the pool; events begin with it.
        if let Some(tensor) = frame.tensor {
            self.run.events.push(RematEvent {
                kind: if frame.is_first {
                    RematKind::Compute
                } else {
                    RematKind::Rematerialize
                },
                copy: self.versions[tensor as usize].copy + u32::from(!frame.is_first),
                chain,
                ..self.event(RematKind::Compute, tensor)
            });
        }
        for tensor in op.outputs.iter().filter(|tensor| Some(**tensor) != frame.tensor) {
            if self.is_defined(*tensor) {
                self.used = self.used.saturating_sub(self.states.bytes[*tensor as usize]);
                continue;
            }
            self.define(*tensor, frame.is_first);
            let kind = if frame.is_first {
                RematKind::Compute
            } else {
                RematKind::Rematerialize
            };
            self.run.counts.collateral += u64::from(!frame.is_first);
            self.run.events.push(RematEvent {
                chain,
                memory_after: Bytes(computed),
                is_sibling: true,
                ..self.event(kind, *tensor)
            });
        }
        if let Some(tensor) = frame.tensor {
            self.define(tensor, frame.is_first);
        }
        for input in &op.inputs {
            self.unlock(self.states.root(*input));
        }
        if !frame.is_first {
            let counts = &mut self.run.counts;
            counts.rematerializations += 1;
            counts.rematerialized_bytes += Bytes(self.needs[frame.op as usize]);
            self.run.remat_compute = Nanos(self.run.remat_compute.0.saturating_add(op.time.0));
        }
        #[expect(clippy::cast_precision_loss, reason = "the limit is a part of the baseline")]
        if self.recompute_cost() as f64 > self.remat_limit || self.run.events.len() > MAX_EVENTS {
            return Err(Stop::Thrash);
        }
        self.check(progress)
    }

    /// Cost of recomputation; the number of recomputed tensors where ops are free.
    fn recompute_cost(&self) -> u64 {
        if self.run.base_compute.0 == 0 {
            self.run.counts.rematerializations
        } else {
            self.run.remat_compute.0
        }
    }

    /// Marks a tensor as computed; its storage becomes resident, and evictable unless it is locked.
    fn define(&mut self, tensor: u32, is_first: bool) {
        let root = self.states.root(tensor);
        let hold = &mut self.holds[root as usize];
        let version = &mut self.versions[tensor as usize];
        version.residency = hold.residency.wrapping_add(1);
        hold.n_defined += 1;
        if is_first {
            hold.n_computed += 1;
        } else {
            version.copy = version.copy.saturating_add(1);
        }
        let (is_unlocked, before) = (hold.locks == 0, self.states.state(root));
        if before == State::Resident {
            return;
        }
        self.states.state[root as usize] = State::Resident;
        if before == State::Evicted {
            self.rule.changed(&self.states, Change::Returned(root), &mut self.pool);
        }
        if is_unlocked && !self.states.tape.tensors[tensor as usize].is_external {
            self.enter_pool(root);
        }
    }
}
