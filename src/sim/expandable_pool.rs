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

/// A virtual range with its slots.
#[derive(Debug)]
pub(super) struct VirtualRange {
    region: RegionId,
    slots: Vec<Slot>,
    page: u64,
    backed: u64,
}

impl VirtualRange {
    /// Reserves a range of at least `bytes`, rounded up to whole pages.
    pub(super) fn reserve(
        kind: RegionKind,
        graph: Option<GraphIdx>,
        bytes: Bytes,
        (store, memory): (&PageStore, &mut DeviceMemory),
    ) -> Self {
        let page = store.page_bytes().get();
        let bytes = bytes.align_up(page);
        Self {
            region: memory.reserve(kind, graph, bytes),
            slots: vec![Slot::default(); idx(bytes.get() / page)],
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
        self.slots.len() as u64 * self.page
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
            let slot = &mut self.slots[at];
            if !slot.is_backed() {
                let place = (self.region, at as u64 * self.page);
                if let Err(shortage) = store.take(slot, place, memory) {
                    let end = touched.end as u64 * self.page;
                    let above = (at as u64 + 1) * self.page;
                    self.unback(above, end - above);
                    self.recycle(above, end - above, store);
                    return Err(shortage);
                }
                self.backed += 1;
            }
            self.slots[at].refs += 1;
        }
        Ok(())
    }

    /// Ends what [`Self::back`] began; the pages stay.
    pub(super) fn unback(&mut self, offset: u64, bytes: u64) {
        for at in self.touched(offset, bytes) {
            self.slots[at].refs -= 1;
        }
    }

    /// Gives the pages of unreferenced slots in `offset..offset + bytes` back to the store, low slots first.
    pub(super) fn recycle(&mut self, offset: u64, bytes: u64, store: &mut PageStore) {
        for at in self.touched(offset, bytes) {
            let slot = &mut self.slots[at];
            if slot.is_backed() && slot.refs == 0 {
                store.put(slot);
                self.backed -= 1;
            }
        }
    }

    fn touched(&self, offset: u64, bytes: u64) -> std::ops::Range<usize> {
        idx(offset / self.page)..idx((offset + bytes).div_ceil(self.page))
    }
}

fn idx(slot: u64) -> usize {
    usize::try_from(slot).expect("a range has fewer slots than the host has addresses")
}
