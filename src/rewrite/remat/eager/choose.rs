//! Eviction choice: the lowest score, the first candidate of equal ones. O(candidates and their neighbours).

use super::interpreter::{Interpreter, Place};
use crate::remat::MAX_EVENTS;
use crate::remat::run::{Choice, RematKind};
use highwater_model::progress::Cancelled;
use highwater_model::units::Bytes;

impl Interpreter<'_> {
    pub(super) fn make_room(&mut self) -> Result<(), Cancelled> {
        let threshold = self.request.budget.map_or(0, |budget| budget.0);
        while threshold > 0 && self.used > threshold && self.run.events.len() < MAX_EVENTS {
            self.progress.check()?;
            let Some((root, choice)) = self.find() else {
                break;
            };
            self.leave(root, Place::Evicted);
            self.join(root);
            let event = self.event_of(RematKind::Evict, root);
            self.run.evict(choice, event);
        }
        Ok(())
    }

    /// Merges the class of an evicted tensor with those of its evicted neighbours: classes of inputs into its class,
    /// then its class into those of siblings.
    fn join(&mut self, root: u32) {
        let recipe = &self.recipes[self.tape.tensors[root as usize].op as usize];
        let is_evicted = |tensor: &&u32| self.states[**tensor as usize].place == Place::Evicted;
        for input in recipe.inputs.iter().filter(is_evicted) {
            self.classes.join(*input, root);
        }
        for sibling in recipe.outputs.iter().filter(is_evicted) {
            self.classes.join(root, *sibling);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the original weighs in floating point")]
    pub(super) fn neighbors(&mut self, root: u32) -> f64 {
        let recipe = &self.recipes[self.tape.tensors[root as usize].op as usize];
        let siblings = recipe.outputs.iter().filter(|output| **output != root);
        let mut cost = 0.0;
        for neighbor in recipe.inputs.iter().chain(siblings) {
            let state = &self.states[*neighbor as usize];
            if state.place == Place::Evicted {
                cost += self.classes.cost(*neighbor).max(state.cost as f64);
            }
        }
        cost
    }

    #[expect(clippy::cast_precision_loss, reason = "the original weighs in floating point")]
    pub(super) fn find(&mut self) -> Option<(u32, Choice)> {
        let mut best: Option<(u32, Choice)> = None;
        let (mut n_candidates, mut ties) = (0, 0);
        for position in 0..self.candidates.len() {
            let root = self.candidates[position];
            if !self.states[root as usize].has_recipe {
                continue;
            }
            n_candidates += 1;
            let compute = self.neighbors(root);
            let bytes = self.bytes(root);
            let beside = self
                .arena
                .as_ref()
                .map_or(0, |arena| arena.adjacent_free_bytes(root, bytes)) as f64;
            let last_use = self.states[root as usize].last_use;
            let size = (bytes as f64 + beside) / 1_048_576.0;
            let score = (compute + 1e-3) / (size * (self.clock.seconds - last_use.seconds + 1e-3));
            #[expect(clippy::float_cmp, reason = "a tie is equality")]
            match &best {
                Some((_, lowest)) if score == lowest.score => ties += 1,
                Some((_, lowest)) if score > lowest.score => {}
                _ => {
                    ties = 0;
                    let choice = Choice {
                        score,
                        compute,
                        memory: beside,
                        staleness: self.clock.moved - last_use.moved,
                        bytes: Bytes(bytes),
                        candidates: 0,
                        ties: 0,
                    };
                    best = Some((root, choice));
                }
            }
        }
        let (root, choice) = best?;
        Some((
            root,
            Choice {
                candidates: n_candidates,
                ties,
                ..choice
            },
        ))
    }
}
