//! The pool of a device (level 1); pools of dynamic graphs (level 2) take blocks from it.
//!
//! ```text
//! graph pools    [A]     [B]      [C]
//!                 ^ exact, in whole pages of 64 KiB
//! device pool    [  spans of device blocks; below 2 MiB one block of 2 MiB is cut  ]
//!                 ^ driver mallocs
//! ```
//!
//! In: page counts. Out: spans, driver calls, counters. Rules: an idle span of the same or the next larger layer;
//! otherwise a new device block, unless the pool is over the threshold while it holds idle bytes; where that fails,
//! whole idle blocks are returned to the device and the request is retried once. Invariants: occupied bytes are those
//! of its device blocks; idle and taken spans tile them.

use super::driver::{Call, Shortage};
use super::spans::{Origin, SPAN_PAGE, Span, SpanId, Spans};
use super::{PoolFigures, SimulatedDevice};
use highwater_model::units::Bytes;

/// Smallest request to the device.
const DEVICE_BLOCK: u64 = 2 << 20;

/// Rules common to both levels.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolRules {
    /// Bytes above which a request fails, and above which a pool with idle bytes recycles before it grows.
    pub(super) threshold: u64,
}

impl PoolRules {
    /// A request in whole pages, at least one; `None` above the threshold and the largest layer.
    #[inline]
    pub(super) fn pages(self, bytes: Bytes) -> Option<u64> {
        let pages = bytes.get().div_ceil(SPAN_PAGE).max(1);
        (bytes.get() <= self.threshold && pages <= self.threshold / SPAN_PAGE).then_some(pages)
    }

    /// Whether a pool must recycle before it takes `bytes` more.
    pub(super) fn is_over(self, bytes: u64, occupied: u64, idle: u64) -> bool {
        idle > 0 && occupied > self.threshold.saturating_sub(bytes)
    }
}

#[inline]
pub(super) fn count_grant(figures: &mut PoolFigures, rounded: u64, requested: u64) {
    figures.theory = figures.theory.saturating_add(rounded);
    figures.theory_peak = figures.theory_peak.max(figures.theory);
    figures.requested = figures.requested.saturating_add(requested);
    figures.requested_peak = figures.requested_peak.max(figures.requested);
    figures.requests_met += 1;
}

#[inline]
pub(super) fn count_free(figures: &mut PoolFigures, rounded: u64, requested: u64) {
    figures.theory = figures.theory.saturating_sub(rounded);
    figures.requested = figures.requested.saturating_sub(requested);
    figures.grants_freed += 1;
}

#[derive(Debug)]
pub(super) struct DevicePool {
    rules: PoolRules,
    spans: Spans,
    figures: PoolFigures,
}

impl DevicePool {
    pub(super) fn new(rules: PoolRules) -> Self {
        Self {
            rules,
            spans: Spans::new(),
            figures: PoolFigures::default(),
        }
    }

    /// A span of whole pages.
    ///
    /// # Errors
    /// [`Shortage`] where the device refuses even after idle blocks were returned to it.
    pub(super) fn allocate(&mut self, pages: u64, device: &mut SimulatedDevice) -> Result<(SpanId, &Span), Shortage> {
        let id = self.attempt(pages, device).or_else(|_| {
            self.recycle(device);
            self.attempt(pages, device)
        })?;
        let bytes = pages * SPAN_PAGE;
        count_grant(&mut self.figures, bytes, bytes);
        Ok((id, self.spans.get(id)))
    }

    pub(super) fn span(&self, id: SpanId) -> &Span {
        self.spans.get(id)
    }

    /// Frees a span; its block stays in the pool.
    pub(super) fn free(&mut self, id: SpanId, device: &mut SimulatedDevice) {
        let bytes = self.spans.get(id).bytes();
        count_free(&mut self.figures, bytes, bytes);
        let (_, merges) = self.spans.free(id);
        for _ in 0..merges {
            device.driver.note(Call::Merge);
        }
    }

    /// Returns whole idle blocks to the device: small ones first, equal ones last freed first.
    pub(super) fn recycle(&mut self, device: &mut SimulatedDevice) {
        device.driver.note(Call::Recycle { pool: None });
        self.figures.recycles += 1;
        let mut from = 0;
        while let Some(front) = self.spans.front_from(from) {
            from = self.spans.get(front).pages + 1;
            let mut next = Some(front);
            while let Some(id) = next {
                next = self.spans.behind(id);
                if self.spans.get(id).is_whole() {
                    let block = self.spans.remove_idle(id);
                    device.driver.free(block.at, Bytes(block.bytes()));
                    self.figures.occupied -= block.bytes();
                    self.figures.blocks_returned += 1;
                }
            }
        }
    }

    pub(super) fn figures(&self) -> PoolFigures {
        PoolFigures {
            idle: self.spans.idle(),
            live: self.figures.theory,
            ..self.figures
        }
    }

    fn attempt(&mut self, pages: u64, device: &mut SimulatedDevice) -> Result<SpanId, Shortage> {
        let found = self.spans.find(pages);
        if let Some(found) = found.filter(|found| self.spans.may_take(*found, pages)) {
            if found.is_larger {
                device.driver.note(Call::Split);
            }
            return Ok(self.spans.take(found, pages));
        }
        let block = (pages * SPAN_PAGE).max(DEVICE_BLOCK);
        if self.rules.is_over(block, self.figures.occupied, self.spans.idle()) {
            let requested = Bytes(block);
            return Err(Shortage { requested });
        }
        self.figures.blocks_requested += 1;
        let at = device.driver.malloc(Bytes(block))?;
        self.figures.occupied += block;
        self.figures.occupied_peak = self.figures.occupied_peak.max(self.figures.occupied);
        let block_pages = block / SPAN_PAGE;
        let whole = self.spans.insert(at, block_pages, Origin::Driver);
        if block_pages == pages {
            return Ok(whole);
        }
        device.driver.note(Call::Split);
        Ok(self.spans.split_tail(whole, pages))
    }
}
