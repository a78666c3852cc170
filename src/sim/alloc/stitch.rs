//! Stitched blocks: scattered pages of a pool's range, mapped once more, side by side, into a range of their own.
//!
//! ```text
//! pool's range      |  .  | p4 |  x  | p2 | p1 |  x  |        x in use
//! stitched block    | p1 | p2 | p4 |                          whole pages, in the order in which they were listed
//! shadow            a span of the pool's range that nobody else gets while the block lives
//! ```
//!
//! In: slots of the pool's range. Out: blocks. Rules: a freed block is kept and serves the next request of as many
//! pages while none of its pages is in use (the one freed last first, at most 1000 looks); recycling unmaps and
//! releases the kept ones. Invariants: the slots of a live block are busy; a kept block stands in the layer of its
//! page count, the one freed last at the end.

use std::collections::BTreeMap;

use super::driver::{Address, Driver};
use super::page_range::{PageRange, SlotState};
use super::shared_pages::{PageIdx, SharedPages};
use super::spans::SpanId;
use highwater_model::units::Bytes;

/// Kept blocks that one request looks at.
const MOST_LOOKS: usize = 1000;

/// A stitched block.
#[derive(Clone, Debug)]
pub(super) struct Stitched {
    /// Where its range begins.
    pub(super) at: Address,
    /// Its slots in the pool's range, in its own order.
    pub(super) slots: Vec<u64>,
    /// The span that it hides while it lives.
    pub(super) shadow: Option<SpanId>,
    /// Bytes that its user asked for.
    pub(super) requested: u64,
    /// Whether it has a user.
    pub(super) is_live: bool,
    pages: Vec<PageIdx>,
}

/// The stitched blocks of a pool.
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
}

impl Stitches {
    /// A block by its id.
    pub(super) fn get(&self, id: u32) -> Option<&Stitched> {
        self.blocks.get(id as usize)
    }

    /// A block by its id.
    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Stitched> {
        self.blocks.get_mut(id as usize)
    }

    /// Takes the kept block of as many pages as are listed that was freed last among those of which no page is in use.
    /// Its slots are busy then, the other listed ones idle.
    pub(super) fn take_kept(&mut self, list: &[u64], range: &mut PageRange) -> Option<u32> {
        let layer = self.kept.get_mut(&list.len())?;
        let blocks = &self.blocks;
        let is_free = |id: &u32| {
            let slots = &blocks[*id as usize].slots;
            slots.iter().all(|slot| range.state(*slot) == SlotState::Idle)
        };
        let looked = layer.iter().rev().take(MOST_LOOKS).position(is_free)?;
        let id = layer.remove(layer.len() - 1 - looked);
        let block = &mut self.blocks[id as usize];
        block.is_live = true;
        let bytes = range.page_bytes() * block.slots.len() as u64;
        self.idle -= bytes;
        self.live += bytes;
        for slot in list {
            range.rest(*slot);
        }
        for slot in &block.slots {
            range.claim(*slot);
        }
        Some(id)
    }

    /// Makes a block of idle slots, which are busy then. `None` where the driver cannot reserve.
    pub(super) fn make(
        &mut self,
        slots: &[u64],
        range: &mut PageRange,
        (shared, driver): (&SharedPages, &mut Driver),
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

    /// Keeps a block whose user is gone; its slots are idle then.
    pub(super) fn keep(&mut self, id: u32, range: &mut PageRange) {
        let block = &mut self.blocks[id as usize];
        block.is_live = false;
        for slot in &block.slots {
            range.rest(*slot);
        }
        let bytes = range.page_bytes() * block.slots.len() as u64;
        self.live -= bytes;
        self.idle += bytes;
        self.kept.entry(block.slots.len()).or_default().push(id);
    }

    /// Unmaps and releases every kept block: small ones first, of equal ones the one that was freed last.
    pub(super) fn release_kept(&mut self, page: u64, driver: &mut Driver) {
        for layer in self.kept.values_mut() {
            for id in layer.drain(..).rev() {
                let block = &mut self.blocks[id as usize];
                release(block, page, driver);
                self.idle -= page * block.slots.len() as u64;
                block.slots = Vec::new();
                self.unused.push(id);
            }
        }
    }

    /// Unmaps and releases every block, live ones after the kept ones, in order of ids.
    pub(super) fn release_all(&mut self, page: u64, driver: &mut Driver) {
        self.release_kept(page, driver);
        for block in &mut self.blocks {
            if block.is_live {
                release(block, page, driver);
            }
        }
        *self = Self::default();
    }
}

/// Unmaps in the order of pages.
fn release(block: &mut Stitched, page: u64, driver: &mut Driver) {
    let mut mapped: Vec<(PageIdx, u64)> = block.pages.drain(..).zip(0..).collect();
    mapped.sort_unstable();
    for (_, to) in mapped {
        driver.unmap(block.at.plus(to * page));
    }
    driver.release(block.at, Bytes(page * block.slots.len() as u64));
}
