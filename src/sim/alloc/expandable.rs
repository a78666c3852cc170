//! The virtual range of an expandable pool: backing spans by pages, stitching, holding back, or failing.
//!
//! ```text
//! request    |      r bytes       |        spans are cut from the tail, so pages appear from the top
//! slots      first .. at <- last           the walk goes down; `tail` bytes are in a last slot shared with others
//! ```
//!
//! In: a span of the range that was just taken. Out: [`Backing`]. Rules: slots without a page get one, unless the pool
//! holds clearly more pages than its peak needs: then idle pages from anywhere are stitched instead. A page that a
//! stitched block uses stops the walk: the conflicting part is held back, and the caller continues its search. A part that
//! begins in a slot without a page is counted in whole pages and may be larger than the span: it is cut from the top of
//! the span and its idle neighbours. A failed page allocation fails the request. Invariant: references of slots count
//! live spans.

use super::driver::Shortage;
use super::page_range::{PageRange, Walked};
use super::spans::{SPAN_PAGE, SpanId, Spans};
use super::stitch::Stitches;
use super::{PoolFigures, SimulatedDevice};
use highwater_model::units::Bytes;

/// Backing of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backing {
    /// Its own slots.
    Span,
    /// A stitched block of this id; the span is gone.
    Stitched(u32),
    /// None: a page is in use; the conflicting part is held back.
    HeldBack,
}

/// The virtual range of a pool.
#[derive(Debug)]
pub(super) struct Expandable {
    pub(super) range: PageRange,
    pub(super) stitches: Stitches,
    held: Vec<SpanId>,
}

impl Expandable {
    pub(super) fn new(range: PageRange) -> Self {
        Self {
            range,
            stitches: Stitches::default(),
            held: Vec::new(),
        }
    }

    /// Backs a span; `figures` hold the pool's peak before this request. O(slots touched).
    ///
    /// # Errors
    /// [`Shortage`] where a page cannot be had; the span is idle again.
    pub(super) fn back(
        &mut self,
        id: SpanId,
        spans: &mut Spans,
        figures: &mut PoolFigures,
        device: &mut SimulatedDevice,
    ) -> Result<Backing, Shortage> {
        let span = spans.get(id);
        let bytes = span.bytes();
        let offset = span.at.offset().saturating_sub(self.range.base().offset());
        let (pages, driver) = (&mut device.pages, &mut device.driver);
        match self.range.walk(offset, bytes, figures.theory_peak, pages, driver) {
            Walked::Backed => Ok(Backing::Span),
            Walked::Scattered { used } => {
                let stitched = self.stitch(id, used, spans, figures, device);
                let requested = Bytes(bytes);
                stitched.map(Backing::Stitched).ok_or(Shortage { requested })
            }
            Walked::InUse { part } => {
                self.hold_back(id, part, spans);
                Ok(Backing::HeldBack)
            }
            Walked::Short(shortage) => {
                spans.free(id);
                Err(shortage)
            }
        }
    }

    /// Holds a taken span back until the request ends.
    pub(super) fn hold(&mut self, id: SpanId) {
        self.held.push(id);
    }

    /// Frees the spans held back, in order; returns their number.
    pub(super) fn free_held(&mut self, spans: &mut Spans) -> u64 {
        let count = self.held.len() as u64;
        for id in self.held.drain(..) {
            spans.free(id);
        }
        count
    }

    /// Joins the chosen slots into a separate range; a shadow over the `used` bytes of the walk replaces the span.
    fn stitch(
        &mut self,
        id: SpanId,
        used: u64,
        spans: &mut Spans,
        figures: &mut PoolFigures,
        device: &mut SimulatedDevice,
    ) -> Option<u32> {
        let page = self.range.page_bytes();
        let top = if used > page { used % page } else { 0 };
        let shadow = carve(spans, id, top / SPAN_PAGE, (used - top) / SPAN_PAGE);
        let list = self.range.chosen().to_vec();
        let kept = self.stitches.take_kept(&list, &mut self.range);
        let block = kept.or_else(|| {
            self.stitches
                .make(&list, &mut self.range, &device.pages, &mut device.driver)
        });
        // The engine counts the replaced span, the shadow (even an empty one) and the top; the caller counts one of
        // them where there is no block.
        figures.requests_met += 1 + u64::from(block.is_some()) + u64::from(top > 0);
        figures.grants_freed += u64::from(top > 0);
        if let Some(stitched) = block.and_then(|block| self.stitches.get_mut(block)) {
            stitched.shadow = Some(shadow);
        } else {
            spans.free(shadow);
        }
        block
    }

    /// Holds back `part` bytes at the top of a taken span and its idle neighbours.
    fn hold_back(&mut self, id: SpanId, part: u64, spans: &mut Spans) {
        let (whole, _) = spans.free(id);
        spans.take_whole(whole);
        let part = (part / SPAN_PAGE).max(1);
        let held = if part < spans.get(whole).pages {
            spans.split_tail(whole, part)
        } else {
            whole
        };
        self.held.push(held);
    }
}

/// Makes a taken span idle, and cuts from its tail `top` pages, which stay idle, and below them the shadow, which is
/// taken.
fn carve(spans: &mut Spans, id: SpanId, top: u64, shadow: u64) -> SpanId {
    let (whole, _) = spans.free(id);
    let pages = spans.get(whole).pages;
    let top = top.min(pages);
    let shadow = shadow.min(pages - top);
    spans.take_whole(whole);
    let mut upper = None;
    if top > 0 {
        upper = Some(spans.split_tail(whole, top));
        spans.take_whole(whole);
    }
    // An empty shadow is a span as well: while it is taken, what lies on its two sides is not merged.
    let below = if spans.get(whole).pages > shadow {
        spans.split_tail(whole, shadow)
    } else {
        whole
    };
    if let Some(upper) = upper {
        spans.free(upper);
    }
    below
}
