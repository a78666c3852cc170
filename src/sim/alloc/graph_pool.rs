//! The pool of one dynamic graph (level 2): spans of blocks of the device pool, and of the pool's virtual range.
//!
//! ```text
//! graph pool     [ block | block ]        [..............|  spans of the range  |]
//!                    ^ device pool                         ^ shared pages, slot by slot
//! ```
//!
//! In: bytes. Out: grants. Rules: an idle span of the same or the next larger layer; a span of the range must be
//! backed, and where a page is in use its conflicting part is held back and the search continues. After many conflicts
//! the next larger span, also of a block, is held back untested. Without a span: a block of the device pool, unless the
//! pool is over the threshold while it holds idle bytes. Invariants: occupied bytes are those of its blocks and of the
//! pages in its range; freeing returns nothing to the device pool; recycling does: kept stitched blocks, then idle pages
//! and whole idle blocks, small spans first.

use super::device_pool::{DevicePool, PoolRules, count_free, count_grant};
use super::driver::{Call, PoolKey, Shortage};
use super::expandable::{Backing, Expandable};
use super::page_range::{Grows, PageRange};
use super::spans::{Found, Origin, SPAN_PAGE, SpanId, Spans};
use super::{Grant, GrantId, PoolFigures, SimulatedDevice};
use highwater_model::units::Bytes;

/// Most spans that one request tests.
const MAX_SPANS: usize = 1000;

/// Conflicts after which larger spans are held back untested.
const PATIENCE: usize = 10;

/// Marks ids of stitched blocks in a grant's id.
const STITCHED: u32 = 1 << 31;

/// The level below a graph pool.
#[derive(Debug)]
pub(super) struct Below<'a> {
    pub(super) pool: &'a mut DevicePool,
    pub(super) device: &'a mut SimulatedDevice,
}

#[derive(Debug)]
pub(super) struct GraphPool {
    key: PoolKey,
    rules: PoolRules,
    spans: Spans,
    /// Bytes of blocks of the device pool.
    blocks: u64,
    expandable: Option<Expandable>,
    figures: PoolFigures,
}

impl GraphPool {
    pub(super) fn new(key: PoolKey, rules: PoolRules) -> Self {
        Self {
            key,
            rules,
            spans: Spans::new(),
            blocks: 0,
            expandable: None,
            figures: PoolFigures::default(),
        }
    }

    /// Reserves the pool's virtual range: the threshold less a page. No range where the driver does not support it.
    pub(super) fn expand(&mut self, device: &mut SimulatedDevice) {
        let bytes = Bytes(self.rules.threshold).saturating_sub(device.pages.page_bytes());
        if bytes == Bytes::ZERO {
            return;
        }
        if let Some(range) = PageRange::reserve(bytes, Grows::Down, &mut device.pages, &mut device.driver) {
            let pages = range.bytes().get() / SPAN_PAGE;
            let whole = self.spans.insert(range.base(), pages, Origin::Range);
            self.spans.free(whole);
            self.expandable = Some(Expandable::new(range));
        }
    }

    /// Memory for a tensor without recycling.
    ///
    /// # Errors
    /// [`Shortage`]: pools must be recycled first.
    pub(super) fn allocate(&mut self, bytes: Bytes, below: &mut Below<'_>) -> Result<Grant, Shortage> {
        let Some(pages) = self.rules.pages(bytes) else {
            return Err(Shortage { requested: bytes });
        };
        let answer = self.search(pages, bytes, below);
        if let Some(expandable) = &mut self.expandable {
            self.figures.grants_freed += expandable.free_held(&mut self.spans);
        }
        self.figures.occupied_peak = self.figures.occupied_peak.max(self.occupied());
        answer
    }

    /// Frees a grant; one that is not live is ignored.
    pub(super) fn free(&mut self, grant: GrantId, below: &mut Below<'_>) {
        if grant.0 & STITCHED != 0 {
            self.free_stitched(grant.0 & !STITCHED);
            return;
        }
        let id = SpanId(grant.0);
        if !self.spans.is_taken(id) {
            return;
        }
        let span = *self.spans.get(id);
        count_free(&mut self.figures, span.bytes(), span.requested);
        if let (Origin::Range, Some(expandable)) = (span.origin, &mut self.expandable) {
            let offset = span.at.offset() - expandable.range.base().offset();
            expandable.range.vacate(offset, Bytes(span.bytes()));
        }
        let (_, merges) = self.spans.free(id);
        for _ in 0..merges {
            below.device.driver.note(Call::Merge);
        }
    }

    /// Returns idle memory: kept stitched blocks, idle pages to the shared pages, whole idle blocks to the device pool.
    pub(super) fn recycle(&mut self, below: &mut Below<'_>) {
        below.device.driver.note(Call::Recycle { pool: Some(self.key) });
        self.figures.recycles += 1;
        if let Some(expandable) = &mut self.expandable {
            let (stitches, range) = (&mut expandable.stitches, &mut expandable.range);
            stitches.release_kept(range, &mut below.device.driver);
        }
        let mut from = 0;
        while let Some(front) = self.spans.front_from(from) {
            from = self.spans.get(front).pages + 1;
            let mut next = Some(front);
            while let Some(id) = next {
                next = self.spans.behind(id);
                self.recycle_span(id, below);
            }
        }
    }

    /// Ends the pool: its blocks go to the device pool, the range to the driver, its pages to the shared pages.
    pub(super) fn destroy(mut self, below: &mut Below<'_>) {
        for span in self.spans.iter() {
            if let (Origin::Below(lower), true) = (span.origin, span.is_first()) {
                let block = *below.pool.span(lower);
                below.device.driver.note(Call::Return {
                    pool: self.key,
                    at: block.at,
                    bytes: block.bytes(),
                });
                below.pool.free(lower, below.device);
            }
        }
        if let Some(mut expandable) = self.expandable.take() {
            let (stitches, range) = (&mut expandable.stitches, &mut expandable.range);
            stitches.release_all(range, &mut below.device.driver);
            expandable
                .range
                .release(&mut below.device.pages, &mut below.device.driver);
        }
    }

    pub(super) fn figures(&self) -> PoolFigures {
        let stitches = self.expandable.as_ref().map(|expandable| &expandable.stitches);
        let live_stitched = stitches.map_or(0, |stitches| stitches.live);
        PoolFigures {
            occupied: self.occupied(),
            idle: self.spans.idle(),
            live: self.spans.taken(),
            live_stitched,
            idle_stitched: stitches.map_or(0, |stitches| stitches.idle),
            stitched_reserved: stitches.map_or(0, |stitches| stitches.reserved),
            // The engine counts every kept block that it tests; granted ones are counted already.
            requests_met: self.figures.requests_met + stitches.map_or(0, |stitches| stitches.refused),
            ..self.figures
        }
    }

    /// The slots of a stitched grant's pages.
    pub(super) fn stitched_slots(&self, grant: GrantId) -> &[u64] {
        let stitches = self.expandable.as_ref().map(|expandable| &expandable.stitches);
        let block = stitches.filter(|_| grant.0 & STITCHED != 0);
        block
            .and_then(|stitches| stitches.get(grant.0 & !STITCHED))
            .map_or(&[], |block| &block.slots)
    }

    fn occupied(&self) -> u64 {
        let pages = self
            .expandable
            .as_ref()
            .map_or(0, |expandable| expandable.range.held().get());
        self.blocks.saturating_add(pages)
    }

    fn search(&mut self, pages: u64, bytes: Bytes, below: &mut Below<'_>) -> Result<Grant, Shortage> {
        let mut tries = 0;
        for _ in 0..MAX_SPANS {
            let found = self.spans.find(pages);
            if tries >= PATIENCE && found.is_some_and(|found| self.hold_untested(found)) {
                tries = 0;
                continue;
            }
            let Some(found) = found.filter(|found| self.spans.may_take(*found, pages)) else {
                let id = self.new_block(pages, below)?;
                return Ok(self.grant_span(id, bytes));
            };
            let id = self.spans.take(found, pages);
            match self.back(id, below) {
                Ok(Backing::Span) => {
                    if found.is_larger {
                        below.device.driver.note(Call::Split);
                    }
                    return Ok(self.grant_span(id, bytes));
                }
                Ok(Backing::Stitched(block)) => return Ok(self.grant_stitched(block, bytes, below)),
                Ok(Backing::HeldBack) => {
                    // The engine counts the span and its conflicting part.
                    self.figures.requests_met += 2;
                    tries += 1;
                }
                Err(shortage) => {
                    self.figures.requests_met += 1;
                    self.figures.grants_freed += 1;
                    return Err(shortage);
                }
            }
        }
        Err(Shortage { requested: bytes })
    }

    /// Backs a span that was just taken; spans of blocks need nothing.
    #[inline]
    fn back(&mut self, id: SpanId, below: &mut Below<'_>) -> Result<Backing, Shortage> {
        let is_of_range = self.spans.get(id).origin == Origin::Range;
        let Some(expandable) = self.expandable.as_mut().filter(|_| is_of_range) else {
            return Ok(Backing::Span);
        };
        expandable.back(id, &mut self.spans, &mut self.figures, below.device)
    }

    /// Holds back a larger span as a whole, of the range or of a block, unless it is the one at the base of the range.
    fn hold_untested(&mut self, found: Found) -> bool {
        let Some(expandable) = &mut self.expandable else {
            return false;
        };
        if !found.is_larger || self.spans.get(found.id).at == expandable.range.base() {
            return false;
        }
        self.spans.take_whole(found.id);
        expandable.hold(found.id);
        self.figures.requests_met += 1;
        true
    }

    fn new_block(&mut self, pages: u64, below: &mut Below<'_>) -> Result<SpanId, Shortage> {
        let bytes = pages * SPAN_PAGE;
        if self.rules.is_over(bytes, self.occupied(), self.spans.idle()) {
            let requested = Bytes(bytes);
            return Err(Shortage { requested });
        }
        self.figures.blocks_requested += 1;
        let (lower, block) = below.pool.allocate(pages, below.device)?;
        let at = block.at;
        below.device.driver.note(Call::Grant {
            pool: self.key,
            at,
            bytes,
        });
        self.blocks += bytes;
        Ok(self.spans.insert(at, pages, Origin::Below(lower)))
    }

    #[inline]
    fn grant_span(&mut self, id: SpanId, bytes: Bytes) -> Grant {
        self.spans.set_requested(id, bytes);
        let span = self.spans.get(id);
        let rounded = span.bytes();
        count_grant(&mut self.figures, rounded, bytes.get());
        Grant {
            id: GrantId(id.0),
            at: span.at,
            bytes: Bytes(rounded),
            is_stitched: false,
        }
    }

    fn grant_stitched(&mut self, id: u32, bytes: Bytes, below: &mut Below<'_>) -> Grant {
        let page = below.device.pages.page_bytes().get();
        let mut grant = Grant {
            id: GrantId(id | STITCHED),
            at: super::Address::default(),
            bytes,
            is_stitched: true,
        };
        let stitches = self.expandable.as_mut().map(|expandable| &mut expandable.stitches);
        if let Some(block) = stitches.and_then(|stitches| stitches.get_mut(id)) {
            block.requested = bytes.get();
            grant.at = block.at;
            grant.bytes = Bytes(page * block.slots.len() as u64);
        }
        count_grant(&mut self.figures, grant.bytes.get(), bytes.get());
        below.device.driver.note(Call::Stitch {
            pool: self.key,
            at: grant.at.offset(),
            bytes: grant.bytes.get(),
        });
        grant
    }

    fn free_stitched(&mut self, id: u32) {
        let Some(expandable) = &mut self.expandable else {
            return;
        };
        let page = expandable.range.page_bytes();
        let Some(block) = expandable.stitches.get_mut(id).filter(|block| block.is_live) else {
            return;
        };
        let (bytes, requested) = (page * block.slots.len() as u64, block.requested);
        let shadow = block.shadow.take();
        count_free(&mut self.figures, bytes, requested);
        expandable.stitches.keep(id, &mut expandable.range);
        if let Some(shadow) = shadow {
            self.spans.free(shadow);
        }
    }

    fn recycle_span(&mut self, id: SpanId, below: &mut Below<'_>) {
        let span = *self.spans.get(id);
        match (span.origin, &mut self.expandable) {
            (Origin::Range, Some(expandable)) => {
                let offset = span.at.offset() - expandable.range.base().offset();
                let shared = &mut below.device.pages;
                expandable.range.recycle(offset, Bytes(span.bytes()), shared);
            }
            (Origin::Below(lower), _) if span.is_whole() => {
                self.spans.remove_idle(id);
                self.blocks -= span.bytes();
                self.figures.blocks_returned += 1;
                below.device.driver.note(Call::Return {
                    pool: self.key,
                    at: span.at,
                    bytes: span.bytes(),
                });
                below.pool.free(lower, below.device);
            }
            (Origin::Driver | Origin::Below(_) | Origin::Range, _) => {}
        }
    }
}

#[cfg(test)]
#[path = "graph_pool_tests.rs"]
mod tests;
