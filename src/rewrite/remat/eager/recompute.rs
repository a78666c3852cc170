//! Recomputation: runs an op again, with its missing inputs, on an explicit stack.
//!
//! All results that are not freed take part; resident ones only leave their classes.

use super::interpreter::{CONTINUE, Flow, Interpreter, Place};
use crate::remat::MAX_EVENTS;
use crate::remat::run::RematKind;
use highwater_model::progress::Cancelled;
use highwater_model::units::Bytes;

#[derive(Clone, Copy, Debug)]
struct Frame {
    op: u32,
    wanted: u32,
    n_ready: u32,
    n_before: u32,
}

impl Interpreter<'_> {
    /// Brings a tensor back, recomputing its inputs as needed; a tensor without a recipe stays absent.
    pub(super) fn regenerate(&mut self, root: u32) -> Result<Flow, Cancelled> {
        let mut frames = Vec::new();
        self.begin(&mut frames, root);
        while let Some(frame) = frames.last_mut() {
            let (op, at) = (frame.op, frame.n_ready as usize);
            let Some(input) = self.recipes[op as usize].inputs.get(at).copied() else {
                let frame = *frame;
                frames.pop();
                if self.recompute(frame)?.is_break() {
                    return Ok(Flow::Break(()));
                }
                continue;
            };
            frame.n_ready += 1;
            self.states[input as usize].last_use = self.clock;
            if self.states[input as usize].place != Place::Resident {
                self.begin(&mut frames, input);
            }
        }
        Ok(CONTINUE)
    }

    fn begin(&mut self, frames: &mut Vec<Frame>, root: u32) {
        if !self.states[root as usize].has_recipe {
            return;
        }
        let op = self.tape.tensors[root as usize].op;
        for at in 0..self.recipes[op as usize].inputs.len() {
            self.pin(self.recipes[op as usize].inputs[at]);
        }
        frames.push(Frame {
            op,
            wanted: root,
            n_ready: 0,
            n_before: self.n_computed,
        });
    }

    /// Recomputes an op: all its results that are not freed leave their classes, and non-resident ones come back.
    #[expect(clippy::cast_precision_loss, reason = "the original weighs in floating point")]
    fn recompute(&mut self, frame: Frame) -> Result<Flow, Cancelled> {
        self.make_room()?;
        let start = self.clock;
        let inputs = self.recipes[frame.op as usize].inputs.clone();
        let outputs = self.recipes[frame.op as usize].outputs.clone();
        let alive: Vec<u32> = outputs
            .into_iter()
            .filter(|output| self.states[*output as usize].place != Place::Freed)
            .collect();
        let moved = self.moved(&inputs, alive.iter());
        self.advance(moved);
        self.n_computed += 1;
        for output in alive {
            let state = &mut self.states[output as usize];
            state.cost = moved;
            let was_resident = state.place == Place::Resident;
            self.classes.leave(output, moved as f64);
            if was_resident {
                continue;
            }
            let state = &mut self.states[output as usize];
            state.last_use = start;
            state.version += 1;
            let is_sibling = output != frame.wanted;
            let chain = if is_sibling {
                0
            } else {
                self.n_computed - frame.n_before
            };
            self.enter(output);
            self.event(RematKind::Rematerialize, output, |event| {
                (event.chain, event.is_sibling) = (chain, is_sibling);
            });
            if is_sibling {
                self.run.counts.collateral += 1;
            } else {
                self.run.counts.rematerializations += 1;
                self.run.counts.rematerialized_bytes += Bytes(self.bytes(output));
            }
        }
        for input in &inputs {
            self.unpin(*input);
        }
        let time = self.tape.ops[frame.op as usize].time;
        let is_over = self.run.spend(time, self.request.thrash_limit);
        let stops = is_over || self.run.events.len() >= MAX_EVENTS;
        Ok(if stops { Flow::Break(()) } else { CONTINUE })
    }
}
