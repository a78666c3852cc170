//! An expandable range: virtual addresses cut into slots of one physical page each, backed on demand.
//!
//! ```text
//! range   |..............|  span A  |span B|       spans are placed tail first, so pages appear from the top
//! slots   |  .  |  .  |  p3  |  p2  |  p1  |       A touches p3 and p2, B touches p2 and p1: p2 has 2 refs
//! ```
//!
//! In: a span's offset and bytes. Out: slots with pages, and their driver events. Invariants: a slot with refs
//! holds a page; a page stays with its slot when the last ref goes, until the range is recycled. The pool of a
//! dynamic graph (policies 3 and 4) and the arena of static graphs (policy 4) are such ranges.
//!
//! **First version: no stitching.** The engine joins scattered idle pages into one new range where the range
//! would otherwise take fresh pages beyond about 1% over its peak. Here a hole that is too small for a request
//! keeps its pages, so reserved bytes of fragmented pools are upper bounds of the engine's.

use super::device::{DeviceMemory, Shortage};
use super::event::{RegionId, RegionKind};
use super::page_store::{PageStore, Slot};
use crate::units::Bytes;
use crate::workload::GraphIdx;

/// The end at which a range is used first: its slots are kept from there on, as far as they were ever touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grows {
    /// From the low end upwards (arenas).
    Up,
    /// From the high end downwards (pools).
    Down,
}

/// A virtual range with its slots.
#[derive(Debug)]
pub(super) struct VirtualRange {
    region: RegionId,
    grows: Grows,
    n_slots: u64,
    slots: Vec<Slot>,
    page: u64,
    backed: u64,
}

impl VirtualRange {
    /// Reserves a range of at least `bytes`, rounded up to whole pages: the arena of static graphs, or the pool
    /// of a dynamic graph.
    pub(super) fn reserve(
        graph: Option<GraphIdx>,
        bytes: Bytes,
        (store, memory): (&PageStore, &mut DeviceMemory),
    ) -> Self {
        let page = store.page_bytes().get();
        let n_slots = bytes.get().div_ceil(page);
        let (kind, grows) = match graph {
            Some(_) => (RegionKind::PagedRange, Grows::Down),
            None => (RegionKind::Arena, Grows::Up),
        };
        Self {
            region: memory.reserve(kind, graph, Bytes(n_slots.saturating_mul(page))),
            grows,
            n_slots,
            slots: Vec::new(),
            page,
            backed: 0,
        }
    }

    /// Its region.
    pub(super) fn region(&self) -> RegionId {
        self.region
    }

    /// Address space in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.n_slots.saturating_mul(self.page)
    }

    /// Bytes of the pages that its slots hold.
    pub(super) fn occupied(&self) -> u64 {
        self.backed * self.page
    }

    /// Backs `offset..offset + bytes` by pages, high slots first. Where a page cannot be had
    /// nothing is referenced, and pages on the way that serve nobody go to the store. O(slots touched).
    pub(super) fn back(
        &mut self,
        offset: u64,
        bytes: u64,
        (store, memory): (&mut PageStore, &mut DeviceMemory),
    ) -> Result<(), Shortage> {
        let touched = self.touched(offset, bytes);
        for at in touched.clone().rev() {
            let place = (self.region, at * self.page);
            let slot = self.slot(at);
            if !slot.is_backed() {
                if let Err(shortage) = store.take(slot, place, memory) {
                    let (above, end) = ((at + 1) * self.page, touched.end * self.page);
                    self.unback(above, end - above);
                    self.recycle(above, end - above, store);
                    return Err(shortage);
                }
                self.backed += 1;
            }
            self.slot(at).refs += 1;
        }
        Ok(())
    }

    /// Ends what [`Self::back`] began; the pages stay.
    pub(super) fn unback(&mut self, offset: u64, bytes: u64) {
        for at in self.touched(offset, bytes) {
            self.slot(at).refs -= 1;
        }
    }

    /// Gives the pages of unreferenced slots in `offset..offset + bytes` back to the store, low slots first.
    pub(super) fn recycle(&mut self, offset: u64, bytes: u64, store: &mut PageStore) {
        let touched = self.touched(offset, bytes);
        let kept = self.slots.len() as u64;
        let known = match self.grows {
            Grows::Up => touched.start..touched.end.min(kept),
            Grows::Down => touched.start.max(self.n_slots - kept)..touched.end,
        };
        for at in known {
            let slot = self.slot(at);
            if slot.is_backed() && slot.refs == 0 {
                store.put(slot);
                self.backed -= 1;
            }
        }
    }

    fn touched(&self, offset: u64, bytes: u64) -> std::ops::Range<u64> {
        offset / self.page..(offset + bytes).div_ceil(self.page)
    }

    /// The slot at a position; slots that were never touched appear here.
    fn slot(&mut self, at: u64) -> &mut Slot {
        let from_end = match self.grows {
            Grows::Up => at,
            Grows::Down => self.n_slots - 1 - at,
        };
        let idx = usize::try_from(from_end).expect("slots that hold memory are fewer than host addresses");
        if idx >= self.slots.len() {
            self.slots.resize(idx + 1, Slot::default());
        }
        &mut self.slots[idx]
    }
}
