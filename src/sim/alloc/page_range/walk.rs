//! The walk that gives a part of a range its pages, slot by slot from the high end down, and what is undone where it
//! does not reach the end.
//!
//! ```text
//! part       |..first.........at <- last..|         `tail` bytes lie in a last slot that another part uses
//! chosen     p7 p3 | s9 s8                          idle slots from anywhere, then slots of the walk
//! ```
//!
//! In: a part, the pool's peak. Out: [`Walked`]. Rules: a slot without page gets one; where the pages of the range
//! clearly exceed the peak, idle slots are claimed from anywhere first, and the walk gets shorter by as many; a page
//! in use stops it. What a stopped walk leaves behind is the engine's: in use, claimed slots stay claimed, and walked
//! ones become idle from the high one down; without pages, walked slots return theirs in that order, and neither they
//! nor the claimed ones are listed.

use super::super::driver::{Driver, Shortage};
use super::super::shared_pages::SharedPages;
use super::{PageRange, RunError, SlotState, Touched};
use highwater_model::units::Bytes;

/// A range with fewer pages than this percentage of the peak takes new ones.
const ENOUGH_PERCENT: u128 = 99;

/// The end of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    /// Every slot has a page and one more user.
    Backed,
    /// The chosen slots, now idle and not listed, can be joined elsewhere; `used` bytes of the part were walked.
    Scattered { used: u64 },
    /// A page has another user; `part` bytes at the top of the part conflict.
    InUse { part: u64 },
    /// A page cannot be had.
    Short(Shortage),
}

/// One walk over the slots of a part.
struct Walk {
    /// Moves up when slots are claimed.
    first: u64,
    last: u64,
    bytes: u64,
    tail: u64,
    /// Slots that the part needs.
    needed: usize,
    /// Whether claiming began.
    is_claiming: bool,
    n_claimed: usize,
}

enum Step {
    Next,
    Done,
    InUse,
    Short(Shortage),
}

impl PageRange {
    /// Begins the use of a part; `peak` is the largest need of the pool so far (0 where nothing counts it). O(slots
    /// touched).
    pub fn walk(
        &mut self,
        offset: u64,
        bytes: u64,
        peak: u64,
        shared: &mut SharedPages,
        driver: &mut Driver,
    ) -> Walked {
        self.chosen.clear();
        let requested = Bytes(bytes);
        let needed = usize::try_from(bytes.div_ceil(self.page)).ok();
        let (Some(Touched { first, last }), Some(needed)) = (self.touched(offset, bytes), needed) else {
            return Walked::Short(Shortage { requested });
        };
        let is_shared = first < last && self.refs(last) > 0;
        let mut walk = Walk {
            first,
            last,
            bytes,
            tail: if is_shared { (offset + bytes) % self.page } else { 0 },
            needed,
            is_claiming: false,
            n_claimed: 0,
        };
        let mut at = last;
        loop {
            match self.step(at, &mut walk, peak, &mut *shared, &mut *driver) {
                Step::Next => {}
                Step::Done => break,
                Step::InUse => {
                    let part = self.back_off(at, &walk);
                    return Walked::InUse { part };
                }
                Step::Short(shortage) => {
                    self.undo(at, &walk, shared);
                    return Walked::Short(shortage);
                }
            }
            if at <= walk.first {
                break;
            }
            at -= 1;
        }
        if walk.n_claimed == 0 {
            return Walked::Backed;
        }
        self.scatter(&walk)
            .ok_or(Shortage { requested })
            .map_or_else(Walked::Short, |used| Walked::Scattered { used })
    }

    /// Begins the use of a part where nothing can be stitched: a walk that would join slots from anywhere fails.
    ///
    /// # Errors
    /// [`RunError::MemoryInUse`] where a page has another user, [`RunError::Shortage`] where a page cannot be had.
    pub fn occupy(
        &mut self,
        offset: u64,
        bytes: Bytes,
        shared: &mut SharedPages,
        driver: &mut Driver,
    ) -> Result<(), RunError> {
        if bytes == Bytes::ZERO {
            return Ok(());
        }
        match self.walk(offset, bytes.get(), 0, shared, driver) {
            Walked::Backed => Ok(()),
            Walked::InUse { .. } => Err(RunError::MemoryInUse),
            Walked::Scattered { .. } => Err(RunError::Shortage(Shortage { requested: bytes })),
            Walked::Short(shortage) => Err(RunError::Shortage(shortage)),
        }
    }

    /// The slots that the last walk chose to stitch: those of the walk and claimed ones, in order.
    pub fn chosen(&self) -> &[u64] {
        &self.chosen
    }

    fn step(&mut self, at: u64, walk: &mut Walk, peak: u64, shared: &mut SharedPages, driver: &mut Driver) -> Step {
        let (state, refs) = self.state_and_refs(at);
        let mut is_chosen = !self.has_page(walk.first);
        match state {
            SlotState::Empty | SlotState::Returned => {
                if state == SlotState::Empty && !walk.is_claiming && self.has_enough(peak) {
                    self.claim_idle(walk);
                    is_chosen = !self.has_page(walk.first);
                }
                let is_full = walk.n_claimed > 0 && self.chosen.len() == walk.needed;
                if is_full || at < walk.first {
                    return Step::Done;
                }
                if let Err(shortage) = self.fill(at, shared, driver) {
                    return Step::Short(shortage);
                }
            }
            SlotState::Idle | SlotState::Busy if refs > 0 && (at == walk.first || at == walk.last) => {
                self.slot(at).refs = refs.saturating_add(1);
                return Step::Next;
            }
            SlotState::Busy => return Step::InUse,
            SlotState::Idle => {
                let slot = self.slot(at);
                slot.is_used = true;
                slot.refs = refs.saturating_add(1);
            }
        }
        if is_chosen {
            self.chosen.push(at);
        }
        Step::Next
    }

    /// Whether one more page would leave the range clearly above the peak.
    fn has_enough(&self, peak: u64) -> bool {
        let page = u128::from(self.page);
        let with_one_more = page * (u128::from(self.pages) + 1);
        u128::from(peak) * 100 / with_one_more < ENOUGH_PERCENT
    }

    /// Claims idle slots, the last listed first, until as many are chosen as needed, and shortens the walk by them.
    fn claim_idle(&mut self, walk: &mut Walk) {
        walk.is_claiming = true;
        while self.chosen.len() < walk.needed {
            let Some(slot) = self.claim_listed() else {
                break;
            };
            self.chosen.push(slot);
            walk.n_claimed += 1;
        }
        if walk.n_claimed > 0 {
            let rest = (walk.needed - walk.n_claimed) as u64;
            walk.first = walk.last.saturating_sub(rest);
            if walk.tail == 0 && walk.first < walk.last {
                walk.first += 1;
            }
        }
    }

    /// Leaves the chosen slots idle, not listed; the bytes of the part that were walked. `None` where they are too few.
    fn scatter(&mut self, walk: &Walk) -> Option<u64> {
        for position in 0..self.chosen.len() {
            let at = self.chosen[position];
            let slot = self.slot(at);
            slot.refs = slot.refs.saturating_sub(1);
            slot.is_used = false;
        }
        if walk.tail > 0 {
            let slot = self.slot(walk.last);
            slot.refs = slot.refs.saturating_sub(1);
        }
        let n_walked = (self.chosen.len() - walk.n_claimed) as u64;
        (self.chosen.len() == walk.needed).then_some(n_walked * self.page + walk.tail)
    }

    /// Makes the walked slots above a conflict idle; the bytes at the top of the part that conflict.
    fn back_off(&mut self, conflict: u64, walk: &Walk) -> u64 {
        let mut top = walk.last;
        if walk.tail > 0 && top > 0 {
            let slot = self.slot(top);
            slot.refs = slot.refs.saturating_sub(1);
            top -= 1;
        }
        let part = if self.has_page(walk.first) {
            walk.bytes
        } else {
            let with_page = (0..=top).rev().take_while(|at| self.has_page(*at));
            with_page.count() as u64 * self.page + walk.tail
        };
        for at in (conflict + 1..=top).rev() {
            let slot = self.slot(at);
            if slot.refs > 0 && slot.is_used {
                slot.refs -= 1;
                slot.is_used = false;
                self.list(at);
            }
        }
        part
    }

    /// Takes the pages of a failed walk back: those above the slot without one, and those of chosen slots.
    fn undo(&mut self, failed: u64, walk: &Walk, shared: &mut SharedPages) {
        for at in (failed + 1..=walk.last).rev() {
            self.drop_user(at, shared);
        }
        for position in 0..self.chosen.len() {
            self.drop_user(self.chosen[position], shared);
        }
    }

    /// Removes a user of a slot; the last one returns its page.
    fn drop_user(&mut self, at: u64, shared: &mut SharedPages) {
        let slot = self.slot(at);
        if slot.refs > 0 {
            slot.refs -= 1;
            if slot.refs == 0 {
                self.give_back(at, shared);
            }
        }
        let slot = self.slot(at);
        if slot.refs == 0 {
            slot.is_used = false;
        }
    }
}
