//! Residency, candidates and ends of tensors.
//!
//! Invariants: `used` is the sum of resident storages; `position` is the index of a storage among the candidates.

use super::interpreter::{Interpreter, NONE, Place};
use crate::remat::run::{NO_CHOICE, RematEvent, RematKind};
use highwater_model::units::Bytes;

impl Interpreter<'_> {
    pub(super) fn is_listed(&self, root: u32) -> bool {
        self.bytes(root) > self.request.factors.evictee_minimum_size.0
    }

    pub(super) fn list(&mut self, root: u32) {
        if self.is_listed(root) && self.states[root as usize].position == NONE {
            self.states[root as usize].position = u32::try_from(self.candidates.len()).unwrap_or(NONE);
            self.candidates.push(root);
        }
    }

    pub(super) fn unlist(&mut self, root: u32) {
        let position = std::mem::replace(&mut self.states[root as usize].position, NONE);
        if position == NONE {
            return;
        }
        self.candidates.swap_remove(position as usize);
        if let Some(moved) = self.candidates.get(position as usize) {
            self.states[*moved as usize].position = position;
        }
    }

    pub(super) fn pin(&mut self, root: u32) {
        self.states[root as usize].pins += 1;
        self.unlist(root);
    }

    pub(super) fn unpin(&mut self, root: u32) {
        let state = &mut self.states[root as usize];
        state.pins -= 1;
        if state.pins == 0 && state.place == Place::Resident {
            self.list(root);
        }
    }

    pub(super) fn enter(&mut self, root: u32) {
        let bytes = self.bytes(root);
        self.states[root as usize].place = Place::Resident;
        self.used = self.used.saturating_add(bytes);
        if let Some(arena) = &mut self.arena {
            arena.take(root, bytes);
        }
        self.run.raise_peak(self.used, self.step);
        if self.states[root as usize].pins == 0 {
            self.list(root);
        }
    }

    /// Sets the place of a tensor; frees its memory where it was resident.
    pub(super) fn leave(&mut self, root: u32, to: Place) {
        if std::mem::replace(&mut self.states[root as usize].place, to) != Place::Resident {
            return;
        }
        let bytes = self.bytes(root);
        self.used = self.used.saturating_sub(bytes);
        if let Some(arena) = &mut self.arena {
            arena.free(root, bytes);
        }
        self.unlist(root);
    }

    pub(super) fn event(&mut self, kind: RematKind, root: u32, more: impl FnOnce(&mut RematEvent)) {
        let mut event = self.event_of(kind, root);
        more(&mut event);
        self.run.events.push(event);
    }

    pub(super) fn event_of(&self, kind: RematKind, root: u32) -> RematEvent {
        RematEvent {
            step: self.step,
            kind,
            tensor: root,
            copy: self.states[root as usize].version,
            chain: 0,
            clock: self.clock.moved,
            memory_after: Bytes(self.used),
            choice: NO_CHOICE,
            is_sibling: false,
        }
    }

    /// The caller drops its reference: the tensor is freed, or dropped where others are computed from it. Without a
    /// recipe it stays until no recipe needs it.
    pub(super) fn release(&mut self, root: u32) {
        let state = &self.states[root as usize];
        if state.needed == 0 {
            self.free(root);
        } else if state.has_recipe && state.place == Place::Resident {
            self.leave(root, Place::Evicted);
            self.event(RematKind::Drop, root, |_| {});
        }
    }

    /// Frees a tensor, then the tensors kept only for its recipe, depth first.
    pub(super) fn free(&mut self, root: u32) {
        let mut stack = vec![root];
        while let Some(root) = stack.pop() {
            let state = &self.states[root as usize];
            if state.place == Place::Freed || state.held > 0 || state.needed > 0 {
                continue;
            }
            let has_recipe = state.has_recipe;
            self.leave(root, Place::Freed);
            self.run.counts.frees += 1;
            self.event(RematKind::Free, root, |_| {});
            let recipe = &mut self.recipes[self.tape.tensors[root as usize].op as usize];
            if !has_recipe {
                continue;
            }
            recipe.n_alive -= 1;
            if recipe.n_alive > 0 {
                continue;
            }
            let inputs = std::mem::take(&mut recipe.inputs);
            for input in &inputs {
                self.states[*input as usize].needed -= 1;
            }
            stack.extend(inputs.iter().rev());
        }
    }
}
