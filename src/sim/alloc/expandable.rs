//! The virtual range of an expandable pool: backing spans by pages, stitching, holding back, or failing.
//!
//! ```text
//! request    |      r bytes       |        spans are cut from the tail, so pages appear from the top
//! slots      first .. at <- last           the walk goes down; `tail` bytes are in a last slot shared with others
//! ```
//!
//! In: a span of the range that was just taken. Out: [`Backing`]. Rules: slots without a page get one, unless the pool
//! holds clearly more pages than its peak needs (floor of 100 * peak / bytes with one page more, below 99): then idle
//! pages from anywhere are stitched instead. A page that a stitched block uses stops the walk: the conflicting top of
//! the span is held back, and the caller continues its search. A failed page allocation fails the request. Invariants:
//! in every case references count live spans, and claimed slots belong to live stitched blocks.

use super::driver::Shortage;
use super::page_range::{PageRange, SlotState, Touched};
use super::spans::{SPAN_PAGE, SpanId, Spans};
use super::stitch::Stitches;
use super::{PoolFigures, SimulatedDevice};
use highwater_model::units::Bytes;

/// A pool with fewer pages than this percentage of its peak takes new ones.
const ENOUGH_PERCENT: u128 = 99;

/// Backing of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backing {
    /// Its own slots.
    Span,
    /// A stitched block of this id; the span is gone.
    Stitched(u32),
    /// None: a page is in use; the span, or its conflicting top, is held back.
    HeldBack,
}

/// The virtual range of a pool.
#[derive(Debug)]
pub(super) struct Expandable {
    pub(super) range: PageRange,
    pub(super) stitches: Stitches,
    held: Vec<SpanId>,
    /// Slots to stitch: those of the walk and claimed ones, in order.
    list: Vec<u64>,
}

/// One walk over the slots of a span.
struct Walk {
    touched: Touched,
    /// Bytes of the span in a last slot shared with others.
    tail: u64,
    /// Slots that the span needs.
    needed: usize,
    /// Whether slots of the walk are listed.
    is_listing: bool,
    /// End of the walk.
    until: u64,
    /// The lowest slot used so far; above the last one where there is none.
    low: u64,
    /// Claimed idle slots, and their start in the list; `None` before claiming.
    claimed: Option<(usize, usize)>,
}

impl Walk {
    fn n_claimed(&self) -> usize {
        self.claimed.map_or(0, |(_, count)| count)
    }
}

enum Step {
    Next,
    Done,
    InUse,
    Failed(Shortage),
}

impl Expandable {
    pub(super) fn new(range: PageRange) -> Self {
        Self {
            range,
            stitches: Stitches::default(),
            held: Vec::new(),
            list: Vec::new(),
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
        let requested = Bytes(spans.get(id).bytes());
        let Some(mut walk) = self.begin(spans, id) else {
            spans.free(id);
            return Err(Shortage { requested });
        };
        let mut at = walk.touched.last;
        loop {
            match self.step(at, &mut walk, figures.theory_peak, &mut *device) {
                Step::Next => {}
                Step::Done => break,
                Step::InUse => {
                    self.hold_back(id, &walk, spans);
                    return Ok(Backing::HeldBack);
                }
                Step::Failed(shortage) => {
                    self.undo(&walk);
                    self.return_pages(&walk, device);
                    spans.free(id);
                    return Err(shortage);
                }
            }
            walk.low = at;
            if at <= walk.until {
                break;
            }
            at -= 1;
        }
        if walk.n_claimed() == 0 {
            return Ok(Backing::Span);
        }
        let stitched = self.stitch(id, &walk, spans, figures, device);
        stitched.map(Backing::Stitched).ok_or(Shortage { requested })
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

    fn begin(&mut self, spans: &Spans, id: SpanId) -> Option<Walk> {
        let span = spans.get(id);
        let (bytes, page) = (span.bytes(), self.range.page_bytes());
        let offset = span.at.offset().checked_sub(self.range.base().offset())?;
        let touched = self.range.touched(offset, bytes)?;
        let is_shared = touched.first < touched.last && self.range.refs(touched.last) > 0;
        self.list.clear();
        Some(Walk {
            touched,
            tail: if is_shared { (offset + bytes) % page } else { 0 },
            needed: usize::try_from(bytes.div_ceil(page)).ok()?,
            is_listing: !self.has_page(touched.first),
            until: touched.first,
            low: touched.last + 1,
            claimed: None,
        })
    }

    fn step(&mut self, at: u64, walk: &mut Walk, peak: u64, device: &mut SimulatedDevice) -> Step {
        match self.range.state_and_refs(at) {
            (state @ (SlotState::Empty | SlotState::Returned), _) => {
                if state == SlotState::Empty && walk.claimed.is_none() && self.has_enough(peak) {
                    self.claim_idle(walk);
                }
                let is_full = walk.n_claimed() > 0 && self.list.len() == walk.needed;
                if is_full || at < walk.until {
                    return Step::Done;
                }
                if let Err(shortage) = self.range.fill(at, &mut device.pages, &mut device.driver) {
                    return Step::Failed(shortage);
                }
            }
            (SlotState::Busy, 1..) if at == walk.until || at == walk.touched.last => {
                self.range.share(at);
                return Step::Next;
            }
            (SlotState::Busy, _) => return Step::InUse,
            (SlotState::Idle, _) => self.range.reuse(at),
        }
        if walk.is_listing {
            self.list.push(at);
        }
        Step::Next
    }

    /// Whether one more page would leave the pool clearly above its peak.
    fn has_enough(&self, peak: u64) -> bool {
        let page = u128::from(self.range.page_bytes());
        let with_one_more = page * (u128::from(self.range.pages()) + 1);
        u128::from(peak) * 100 / with_one_more < ENOUGH_PERCENT
    }

    /// Claims idle slots, the last listed first, until the list is full, and shortens the walk accordingly.
    fn claim_idle(&mut self, walk: &mut Walk) {
        let from = self.list.len();
        while self.list.len() < walk.needed {
            let Some(slot) = self.range.claim_listed() else {
                break;
            };
            self.list.push(slot);
        }
        let count = self.list.len() - from;
        walk.claimed = Some((from, count));
        if count > 0 {
            let Touched { first, last } = walk.touched;
            let whole = u64::from(walk.tail == 0 && first < last);
            walk.until = (last + whole).saturating_sub((walk.needed - count) as u64);
        }
    }

    /// Joins the listed slots into a separate range; a shadow over the walk's slots replaces the span.
    fn stitch(
        &mut self,
        id: SpanId,
        walk: &Walk,
        spans: &mut Spans,
        figures: &mut PoolFigures,
        device: &mut SimulatedDevice,
    ) -> Option<u32> {
        if self.list.len() != walk.needed {
            self.undo(walk);
            spans.free(id);
            return None;
        }
        let list = std::mem::take(&mut self.list);
        for slot in &list {
            self.range.set_idle_unlisted(*slot);
        }
        if walk.tail > 0 {
            self.range.leave(walk.touched.last);
        }
        let page = self.range.page_bytes();
        let used = (list.len() - walk.n_claimed()) as u64 * page + walk.tail;
        let top = if used > page { used % page } else { 0 };
        let shadow = carve(spans, id, top / SPAN_PAGE, (used - top) / SPAN_PAGE);
        let kept = self.stitches.take_kept(&list, &mut self.range);
        let block = kept.or_else(|| {
            self.stitches
                .make(&list, &mut self.range, &device.pages, &mut device.driver)
        });
        // The engine counts the replaced span, the shadow (even an empty one) and the top.
        figures.requests_met += 2 + u64::from(top > 0);
        figures.grants_freed += u64::from(top > 0);
        if let Some(stitched) = block.and_then(|block| self.stitches.get_mut(block)) {
            stitched.shadow = shadow;
        } else {
            for slot in &list {
                self.range.set_idle(*slot);
            }
            if let Some(shadow) = shadow {
                spans.free(shadow);
            }
        }
        self.list = list;
        block
    }

    /// Releases the slots of a walk above a conflict, and holds the conflicting top of the span back.
    fn hold_back(&mut self, id: SpanId, walk: &Walk, spans: &mut Spans) {
        let (pages, page) = (spans.get(id).pages, self.range.page_bytes());
        let mut part = pages;
        if walk.is_listing {
            let top = walk.touched.last - u64::from(walk.tail > 0);
            let slots = (walk.touched.first..=top).rev();
            let with_page = slots.take_while(|slot| self.has_page(*slot)).count() as u64;
            part = pages.min((page * with_page + walk.tail) / SPAN_PAGE).max(1);
        }
        self.undo(walk);
        if part == pages {
            self.held.push(id);
            return;
        }
        let (whole, _) = spans.free(id);
        spans.take_whole(whole);
        self.held.push(spans.split_tail(whole, part));
    }

    /// Releases the slots of the walk and the claimed ones; all keep their pages.
    fn undo(&mut self, walk: &Walk) {
        for at in walk.low..=walk.touched.last {
            self.range.leave(at);
        }
        if let Some((from, count)) = walk.claimed {
            for slot in self.list.iter().skip(from).take(count) {
                self.range.set_idle(*slot);
            }
        }
    }

    /// Returns the pages of a failed walk to the shared pages.
    fn return_pages(&mut self, walk: &Walk, device: &mut SimulatedDevice) {
        let page = self.range.page_bytes();
        let slots = walk.touched.last + 1 - walk.low;
        self.range
            .recycle(walk.low * page, Bytes(slots * page), &mut device.pages);
    }

    fn has_page(&self, at: u64) -> bool {
        matches!(self.range.state(at), SlotState::Idle | SlotState::Busy)
    }
}

/// Makes a taken span idle, and cuts from its tail `top` pages, which stay idle, and below them the shadow, which is
/// taken.
fn carve(spans: &mut Spans, id: SpanId, top: u64, shadow: u64) -> Option<SpanId> {
    let (whole, _) = spans.free(id);
    let pages = spans.get(whole).pages;
    let top = top.min(pages);
    let shadow = shadow.min(pages - top);
    if shadow == 0 {
        return None;
    }
    spans.take_whole(whole);
    let mut upper = None;
    if top > 0 {
        upper = Some(spans.split_tail(whole, top));
        spans.take_whole(whole);
    }
    let below = if spans.get(whole).pages > shadow {
        spans.split_tail(whole, shadow)
    } else {
        whole
    };
    if let Some(upper) = upper {
        spans.free(upper);
    }
    Some(below)
}
