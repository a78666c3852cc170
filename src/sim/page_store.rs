//! The shared store of physical pages: every expandable pool and every paged arena takes from it.
//!
//! ```text
//! slots of a range   | 7 | . | 3 | . |      a slot holds a page or none
//! free list          5, 3', ...             last returned first; 3' is still mapped at its old slot
//! ```
//!
//! In: a slot that needs a page. Out: the slot with a page, and driver events. Rules: a slot takes the page it
//! held last, if nobody uses it, without any driver call; else the page returned last; else a new one. A page
//! that is put back stays mapped; the stale mapping goes when its slot needs a page and finds its own in use.
//! Invariants: a page has at most one holder; pages never go back to the driver, so used bytes never fall.
//!
//! Deliberately not here: pages mapped at several places at once (stitching), release at the session's end.

use super::device::{DeviceMemory, Shortage};
use super::event::{EventKind, RegionId};
use crate::units::Bytes;

/// One page-sized place in a virtual range.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    /// The page that is mapped here, in use or not.
    mapped: Option<u32>,
    /// Whether the slot holds that page.
    is_backed: bool,
    /// Live spans that touch the slot.
    pub(super) refs: u32,
}

impl Slot {
    /// Whether the slot holds a page.
    pub(super) fn is_backed(&self) -> bool {
        self.is_backed
    }
}

#[derive(Clone, Copy, Debug)]
struct Page {
    is_held: bool,
    /// Counts how often the page was returned; older entries of the free list are void.
    returns: u32,
}

/// Physical pages of one device.
#[derive(Debug)]
pub(super) struct PageStore {
    page_bytes: Bytes,
    pages: Vec<Page>,
    free: Vec<(u32, u32)>,
}

impl PageStore {
    /// A store without pages.
    pub(super) fn new(page_bytes: Bytes) -> Self {
        Self {
            page_bytes: Bytes(page_bytes.get().max(1)),
            pages: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Bytes of a page.
    pub(super) fn page_bytes(&self) -> Bytes {
        self.page_bytes
    }

    /// Gives a slot without page one, mapped at `offset` of `region`.
    pub(super) fn take(
        &mut self,
        slot: &mut Slot,
        (region, offset): (RegionId, u64),
        memory: &mut DeviceMemory,
    ) -> Result<(), Shortage> {
        if let Some(page) = slot.mapped {
            if !self.pages[page as usize].is_held {
                self.pages[page as usize].is_held = true;
                slot.is_backed = true;
                return Ok(());
            }
            memory.record(EventKind::Unmap, region, offset, self.page_bytes);
            slot.mapped = None;
        }
        let page = match self.pop_free() {
            Some(page) => page,
            None => self.new_page((region, offset), memory)?,
        };
        self.pages[page as usize].is_held = true;
        slot.mapped = Some(page);
        slot.is_backed = true;
        memory.record(EventKind::Map, region, offset, self.page_bytes);
        Ok(())
    }

    /// Takes a slot's page back; it stays mapped there.
    pub(super) fn put(&mut self, slot: &mut Slot) {
        let Some(page) = slot.mapped else { return };
        slot.is_backed = false;
        let state = &mut self.pages[page as usize];
        state.is_held = false;
        state.returns = state.returns.wrapping_add(1);
        self.free.push((page, state.returns));
        if self.free.len() > self.pages.len() * 2 + 64 {
            let pages = &self.pages;
            self.free.retain(|(page, returns)| {
                let state = pages[*page as usize];
                !state.is_held && state.returns == *returns
            });
        }
    }

    fn pop_free(&mut self) -> Option<u32> {
        while let Some((page, returns)) = self.free.pop() {
            let state = self.pages[page as usize];
            if !state.is_held && state.returns == returns {
                return Some(page);
            }
        }
        None
    }

    fn new_page(&mut self, at: (RegionId, u64), memory: &mut DeviceMemory) -> Result<u32, Shortage> {
        memory.page(at.0, at.1, self.page_bytes)?;
        let page = u32::try_from(self.pages.len()).expect("a device has fewer than 2^32 pages");
        self.pages.push(Page {
            is_held: false,
            returns: 0,
        });
        Ok(page)
    }
}
