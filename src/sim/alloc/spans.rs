//! Spans: pieces of blocks, idle or taken, and the layers of idle ones.
//!
//! ```text
//! block   |  idle 3  | taken 2 |  idle 5    |     neighbours are linked
//! layers  3: [span]      5: [span, ...]           one stack per page count, the front is taken first
//! request of 2 pages      best fit: layer 3       |idle 1|taken 2|   the request gets the tail
//! ```
//!
//! In: blocks, requests in pages. Out: span ids. Invariants: the spans of a block tile it; no two idle neighbours
//! remain separate; a span is in a layer exactly while it is idle. A span without neighbours is *whole*. A whole block
//! is not split at once: a counter in the span, raised by the pages of each request that meets it, must first exceed
//! one hundredth of the block's pages. Spans of a virtual range may be split at any time. Sources and backing of blocks
//! are elsewhere.

use super::driver::Address;
use super::layers::{Layers, NONE};
use highwater_model::units::Bytes;

/// Bytes of a page of spans.
pub(super) const SPAN_PAGE: u64 = 64 << 10;

/// A whole block is split once the requested pages exceed this fraction of its pages.
const SPLIT_RATIO: u64 = 100;

/// A span of one [`Spans`]; ids are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SpanId(pub(super) u32);

/// Source of a span's block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A driver block.
    Driver,
    /// A span of the device pool.
    Below(SpanId),
    /// The pool's own virtual range, which may be split at any time and is never returned.
    Range,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpanState {
    Idle,
    Taken,
    Unused,
}

/// A piece of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) at: Address,
    pub(super) pages: u64,
    /// Bytes that its user requested.
    pub(super) requested: u64,
    pub(super) origin: Origin,
    /// Pages that requests needed of the whole block without splitting it.
    tries: u64,
    /// Neighbours in the block.
    lower: u32,
    upper: u32,
    /// Neighbours in the layer.
    front: u32,
    back: u32,
    state: SpanState,
}

impl Span {
    pub(super) fn bytes(&self) -> u64 {
        self.pages * SPAN_PAGE
    }

    /// Whether it is the lowest piece of its block.
    pub(super) fn is_first(&self) -> bool {
        self.lower == NONE
    }

    /// Whether it is a whole block.
    pub(super) fn is_whole(&self) -> bool {
        self.lower == NONE && self.upper == NONE
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) id: SpanId,
    /// Whether it must be split.
    pub(super) is_larger: bool,
}

/// Spans and layers of one pool.
#[derive(Debug)]
pub(super) struct Spans {
    all: Vec<Span>,
    unused: Vec<u32>,
    layers: Layers,
    idle_pages: u64,
    all_pages: u64,
}

impl Spans {
    pub(super) fn new() -> Self {
        Self {
            all: Vec::new(),
            unused: Vec::new(),
            layers: Layers::new(),
            idle_pages: 0,
            all_pages: 0,
        }
    }

    /// Bytes of idle spans.
    pub(super) fn idle(&self) -> u64 {
        self.idle_pages * SPAN_PAGE
    }

    /// Bytes of taken spans.
    pub(super) fn taken(&self) -> u64 {
        (self.all_pages - self.idle_pages) * SPAN_PAGE
    }

    #[inline]
    pub(super) fn get(&self, id: SpanId) -> &Span {
        &self.all[id.0 as usize]
    }

    /// Records the request of a span's user.
    #[inline]
    pub(super) fn set_requested(&mut self, id: SpanId, bytes: Bytes) {
        self.at(id.0).requested = bytes.get();
    }

    /// Whether an id names a taken span.
    #[inline]
    pub(super) fn is_taken(&self, id: SpanId) -> bool {
        self.all
            .get(id.0 as usize)
            .is_some_and(|span| span.state == SpanState::Taken)
    }

    /// Inserts a block as one taken span.
    pub(super) fn insert(&mut self, at: Address, pages: u64, origin: Origin) -> SpanId {
        self.all_pages += pages;
        SpanId(self.place(Span {
            at,
            pages,
            requested: 0,
            origin,
            tries: 0,
            lower: NONE,
            upper: NONE,
            front: NONE,
            back: NONE,
            state: SpanState::Taken,
        }))
    }

    /// The idle span for a request: of its layer, otherwise of the smallest larger one. O(log large layers).
    #[inline]
    pub(super) fn find(&self, pages: u64) -> Option<Found> {
        let (layer, front) = self.layers.first_from(pages)?;
        Some(Found {
            id: SpanId(front),
            is_larger: layer > pages,
        })
    }

    /// Whether a found span may be taken: a whole block that is larger may refuse to be split. Counts the try.
    #[inline]
    pub(super) fn may_take(&mut self, found: Found, pages: u64) -> bool {
        !found.is_larger || self.may_split(found.id.0, pages)
    }

    /// Takes a found span: its tail where it is larger.
    #[inline]
    pub(super) fn take(&mut self, found: Found, pages: u64) -> SpanId {
        self.unlink(found.id.0);
        if found.is_larger {
            self.split_tail(found.id, pages)
        } else {
            found.id
        }
    }

    /// Splits the tail of `pages` off a taken span; the head becomes idle, the tail is taken.
    pub(super) fn split_tail(&mut self, id: SpanId, pages: u64) -> SpanId {
        let head = *self.get(id);
        let head_pages = head.pages - pages;
        let tail = self.place(Span {
            at: head.at.plus(head_pages * SPAN_PAGE),
            pages,
            lower: id.0,
            tries: 0,
            ..head
        });
        if head.upper != NONE {
            self.at(head.upper).lower = tail;
        }
        let head = self.at(id.0);
        head.pages = head_pages;
        head.upper = tail;
        self.push(id.0);
        SpanId(tail)
    }

    /// Frees a taken span: it merges with its idle neighbours (the upper first) and becomes the front of its layer.
    /// Returns the merged span and the number of merged neighbours. O(log large layers).
    #[inline]
    pub(super) fn free(&mut self, id: SpanId) -> (SpanId, u32) {
        let (mut joined, mut count) = (id.0, 0);
        let upper = self.get(id).upper;
        if upper != NONE && self.at(upper).state == SpanState::Idle {
            self.unlink(upper);
            self.join(joined, upper);
            count += 1;
        }
        let lower = self.at(joined).lower;
        if lower != NONE && self.at(lower).state == SpanState::Idle {
            self.unlink(lower);
            self.join(lower, joined);
            joined = lower;
            count += 1;
        }
        self.push(joined);
        (SpanId(joined), count)
    }

    /// Removes an idle span from its layer, unsplit.
    pub(super) fn take_whole(&mut self, id: SpanId) {
        self.unlink(id.0);
    }

    /// The front of the smallest non-empty layer of at least `pages`.
    pub(super) fn front_from(&self, pages: u64) -> Option<SpanId> {
        self.layers.first_from(pages).map(|(_, front)| SpanId(front))
    }

    /// The next idle span in the layer.
    pub(super) fn behind(&self, id: SpanId) -> Option<SpanId> {
        let back = self.get(id).back;
        (back != NONE).then_some(SpanId(back))
    }

    /// Removes an idle span that is a whole block.
    pub(super) fn remove_idle(&mut self, id: SpanId) -> Span {
        self.unlink(id.0);
        let span = *self.get(id);
        self.all_pages -= span.pages;
        self.at(id.0).state = SpanState::Unused;
        self.unused.push(id.0);
        span
    }

    /// All spans in id order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Span> {
        self.all.iter().filter(|span| span.state != SpanState::Unused)
    }

    /// Whether the front of a larger layer may be split for a request; counts the try.
    #[inline]
    fn may_split(&mut self, id: u32, pages: u64) -> bool {
        let span = self.at(id);
        if !span.is_whole() || span.origin == Origin::Range {
            return true;
        }
        span.tries = span.tries.saturating_add(pages);
        span.tries > span.pages / SPLIT_RATIO
    }

    /// Appends `upper` to `lower`, both in no layer.
    #[inline]
    fn join(&mut self, lower: u32, upper: u32) {
        let gone = self.at(upper);
        let (pages, next) = (gone.pages, gone.upper);
        gone.state = SpanState::Unused;
        let span = self.at(lower);
        span.pages += pages;
        span.upper = next;
        // Only whole spans use the counter, and a span becomes whole only by merging.
        span.tries = 0;
        if next != NONE {
            self.at(next).lower = lower;
        }
        self.unused.push(upper);
    }

    #[inline]
    fn push(&mut self, id: u32) {
        let pages = self.at(id).pages;
        self.idle_pages += pages;
        let old = self.layers.replace_front(pages, id);
        if old != NONE {
            self.at(old).front = id;
        }
        let span = self.at(id);
        span.state = SpanState::Idle;
        span.front = NONE;
        span.back = old;
    }

    #[inline]
    fn unlink(&mut self, id: u32) {
        let span = self.at(id);
        span.state = SpanState::Taken;
        let (pages, front, back) = (span.pages, span.front, span.back);
        self.idle_pages -= pages;
        if back != NONE {
            self.at(back).front = front;
        }
        if front == NONE {
            self.layers.set_front(pages, back);
        } else {
            self.at(front).back = back;
        }
    }

    fn place(&mut self, span: Span) -> u32 {
        if let Some(id) = self.unused.pop() {
            self.all[id as usize] = span;
            return id;
        }
        self.all.push(span);
        u32::try_from(self.all.len() - 1).unwrap_or(NONE)
    }

    #[inline]
    fn at(&mut self, id: u32) -> &mut Span {
        &mut self.all[id as usize]
    }
}
