//! Stitched blocks: scattered pages of a pool's range, mapped a second time, contiguously, into a separate range.
//!
//! ```text
//! pool's range      |  .  | p4 |  x  | p2 | p1 |  x  |        x in use
//! stitched block    | p1 | p2 | p4 |                          whole pages, in listing order
//! shadow            a span of the pool's range that is unavailable while the block lives
//! ```
//!
//! In: slots of the pool's range. Out: blocks. Rules: a freed block is kept and serves the next request of as many
//! pages while none of its pages is in use (last freed first, at most 1000 tries); recycling unmaps and releases kept
//! blocks. Invariants: the slots of a live block are busy; a kept block is in the layer of its page count, last freed
//! at the end.

use std::collections::BTreeMap;

use super::driver::{Address, Driver};
use super::page_range::PageRange;
use super::shared_pages::{PageIdx, SharedPages};
use super::spans::SpanId;
use highwater_model::units::Bytes;

/// Most kept blocks that one request tests.
const MAX_LOOKS: usize = 1000;

#[derive(Clone, Debug)]
pub(super) struct Stitched {
    pub(super) at: Address,
    /// Its slots in the pool's range, in the order of the block.
    pub(super) slots: Vec<u64>,
    /// The span hidden while it lives.
    pub(super) shadow: Option<SpanId>,
    /// Bytes that its user requested.
    pub(super) requested: u64,
    pub(super) is_live: bool,
    pages: Vec<PageIdx>,
}

#[derive(Debug, Default)]
pub(super) struct Stitches {
    blocks: Vec<Stitched>,
    unused: Vec<u32>,
    kept: BTreeMap<usize, Vec<u32>>,
    /// Bytes of live blocks.
    pub(super) live: u64,
    /// Bytes of kept blocks.
    pub(super) idle: u64,
    /// Bytes reserved so far.
    pub(super) reserved: u64,
    /// Kept blocks that were tested and refused so far.
    pub(super) refused: u64,
}

impl Stitches {
    pub(super) fn get(&self, id: u32) -> Option<&Stitched> {
        self.blocks.get(id as usize)
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Stitched> {
        self.blocks.get_mut(id as usize)
    }

    /// Takes the last freed kept block of as many pages as `list` whose pages are all unused. Its slots become busy, the
    /// other listed ones are idle. Refused blocks go back in the order in which they were tried, and slots that they had
    /// before a busy one become idle again.
    pub(super) fn take_kept(&mut self, list: &[u64], range: &mut PageRange) -> Option<u32> {
        let layer = self.kept.get_mut(&list.len())?;
        let (mut found, mut refused) = (None, Vec::new());
        while refused.len() < MAX_LOOKS {
            let Some(id) = layer.pop() else { break };
            let slots = &self.blocks[id as usize].slots;
            let Some(busy) = slots.iter().position(|slot| !range.claim(*slot)) else {
                found = Some(id);
                break;
            };
            for slot in &slots[..busy] {
                range.unclaim(*slot);
            }
            refused.push(id);
        }
        self.refused += refused.len() as u64;
        layer.extend(refused);
        let id = found?;
        let block = &mut self.blocks[id as usize];
        block.is_live = true;
        let bytes = range.page_bytes() * block.slots.len() as u64;
        self.idle -= bytes;
        self.live += bytes;
        for slot in list {
            range.list(*slot);
        }
        Some(id)
    }

    /// Makes a block of idle slots, which become busy. `None` where the driver cannot reserve.
    pub(super) fn make(
        &mut self,
        slots: &[u64],
        range: &mut PageRange,
        shared: &SharedPages,
        driver: &mut Driver,
    ) -> Option<u32> {
        let page = range.page_bytes();
        let bytes = page * slots.len() as u64;
        let at = driver.reserve(Bytes(bytes))?;
        let mut pages = Vec::with_capacity(slots.len());
        for (to, slot) in (0..).zip(slots) {
            if let Some(idx) = range.page(*slot) {
                driver.map(at.plus(to * page), shared.handle(idx), Bytes(page));
                pages.push(idx);
            }
            range.claim(*slot);
            range.count_map(*slot);
        }
        self.live += bytes;
        self.reserved += bytes;
        let block = Stitched {
            at,
            slots: slots.to_vec(),
            shadow: None,
            requested: 0,
            is_live: true,
            pages,
        };
        if let Some(id) = self.unused.pop() {
            self.blocks[id as usize] = block;
            return Some(id);
        }
        self.blocks.push(block);
        u32::try_from(self.blocks.len() - 1).ok()
    }

    /// Keeps a freed block; its slots become idle.
    pub(super) fn keep(&mut self, id: u32, range: &mut PageRange) {
        let block = &mut self.blocks[id as usize];
        block.is_live = false;
        for slot in &block.slots {
            range.unclaim(*slot);
        }
        let bytes = range.page_bytes() * block.slots.len() as u64;
        self.live -= bytes;
        self.idle += bytes;
        self.kept.entry(block.slots.len()).or_default().push(id);
    }

    /// Unmaps and releases every kept block: small ones first, equal ones last freed first.
    pub(super) fn release_kept(&mut self, range: &mut PageRange, driver: &mut Driver) {
        let page = range.page_bytes();
        for layer in self.kept.values_mut() {
            for id in layer.drain(..).rev() {
                let block = &mut self.blocks[id as usize];
                for slot in &block.slots {
                    range.count_unmap(*slot);
                }
                release(block, page, driver);
                self.idle -= page * block.slots.len() as u64;
                block.slots = Vec::new();
                self.unused.push(id);
            }
        }
    }

    /// Unmaps and releases every block, live ones after kept ones, in id order.
    pub(super) fn release_all(&mut self, range: &mut PageRange, driver: &mut Driver) {
        self.release_kept(range, driver);
        let page = range.page_bytes();
        for block in &mut self.blocks {
            if block.is_live {
                release(block, page, driver);
            }
        }
        *self = Self::default();
    }
}

/// Unmaps in page order.
fn release(block: &mut Stitched, page: u64, driver: &mut Driver) {
    let mut mapped: Vec<(PageIdx, u64)> = block.pages.drain(..).zip(0..).collect();
    mapped.sort_unstable();
    for (_, to) in mapped {
        driver.unmap(block.at.plus(to * page));
    }
    driver.release(block.at, Bytes(page * block.slots.len() as u64));
}
