//! Spans: pieces of blocks, idle or live, and the layers in which idle ones wait.
//!
//! ```text
//! block   |  idle 3  | live 2 |  idle 5    |      neighbours are linked
//! layers  3: [span]      5: [span, ...]           one stack per page count, the front is taken first
//! request of 2 pages      best fit: layer 3       |idle 1|live 2|   the request gets the tail
//! ```
//!
//! In: blocks, requests in pages. Out: span ids. Invariants: the spans of a block tile it; two idle
//! neighbours never stay apart; a span stands in a layer exactly while it is idle. A span without
//! neighbours is *whole*. A whole block is not split at once: a counter in the span, raised by the pages
//! of each request that meets it, must first pass one hundredth of the block's pages.
//!
//! Deliberately not here: where blocks come from and where they go (`page_pool`), and what backs them.

use std::collections::BTreeMap;

use super::event::RegionId;

/// A span of one [`Spans`]; ids are used again after the span is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SpanId(u32);

const NONE: SpanId = SpanId(u32::MAX);

/// Where a span's block came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A block of the device.
    Device,
    /// A span of the pool below.
    Below(SpanId),
    /// The pool's own virtual range, which may be split at any time and never goes back.
    Virtual,
}

/// A piece of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// The region it lies in.
    pub(super) region: RegionId,
    /// Where in the region.
    pub(super) offset: u64,
    /// How many pages.
    pub(super) pages: u64,
    /// Where its block came from.
    pub(super) origin: Origin,
    is_idle: bool,
    tries: u64,
    /// Neighbours in the block.
    lower: SpanId,
    upper: SpanId,
    /// Neighbours in the layer.
    front: SpanId,
    back: SpanId,
}

impl Span {
    /// A live span that is a whole block.
    pub(super) fn whole(region: RegionId, offset: u64, pages: u64, origin: Origin) -> Self {
        Self {
            region,
            offset,
            pages,
            origin,
            is_idle: false,
            tries: 0,
            lower: NONE,
            upper: NONE,
            front: NONE,
            back: NONE,
        }
    }

    /// Whether it is a whole block.
    pub(super) fn is_whole(&self) -> bool {
        self.lower == NONE && self.upper == NONE
    }
}

/// Spans and layers of one pool.
#[derive(Debug)]
pub(super) struct Spans {
    page: u64,
    all: Vec<Span>,
    unused: Vec<SpanId>,
    /// Front of each layer that is not empty, by page count.
    layers: BTreeMap<u64, SpanId>,
    idle_pages: u64,
}

impl Spans {
    /// No spans yet; `page` is the bytes of a page.
    pub(super) fn new(page: u64) -> Self {
        Self {
            page,
            all: Vec::new(),
            unused: Vec::new(),
            layers: BTreeMap::new(),
            idle_pages: 0,
        }
    }

    /// The span of an id.
    pub(super) fn get(&self, id: SpanId) -> &Span {
        &self.all[id.0 as usize]
    }

    /// Bytes of idle spans.
    pub(super) fn idle(&self) -> u64 {
        self.idle_pages * self.page
    }

    /// Adds a span that no layer holds yet.
    pub(super) fn insert(&mut self, span: Span) -> SpanId {
        if let Some(id) = self.unused.pop() {
            self.all[id.0 as usize] = span;
            return id;
        }
        let id = SpanId(u32::try_from(self.all.len()).expect("a pool has fewer than 2^32 spans"));
        self.all.push(span);
        id
    }

    /// Takes an idle span of exactly `pages`: the front of that layer, else the tail of the front of the
    /// next layer above that may be split. `None` asks for new memory. O(log layers).
    pub(super) fn take(&mut self, pages: u64) -> Option<SpanId> {
        let (layer, front) = self
            .layers
            .range(pages..)
            .next()
            .map(|(layer, front)| (*layer, *front))?;
        if layer > pages && !self.may_split(front, pages) {
            return None;
        }
        self.unlink(front);
        Some(if layer == pages {
            front
        } else {
            self.split_tail(front, pages)
        })
    }

    /// Cuts the tail of `pages` off a live span; the head becomes idle, the tail is returned live.
    pub(super) fn split_tail(&mut self, id: SpanId, pages: u64) -> SpanId {
        let head = *self.get(id);
        let head_pages = head.pages - pages;
        let tail = self.insert(Span {
            offset: head.offset + head_pages * self.page,
            pages,
            lower: id,
            tries: 0,
            ..head
        });
        if head.upper != NONE {
            self.at(head.upper).lower = tail;
        }
        let head = self.at(id);
        head.pages = head_pages;
        head.upper = tail;
        self.push(id);
        tail
    }

    /// Makes a live span idle: it joins its idle neighbours (the upper first) and goes to the front of its
    /// layer. O(log layers).
    pub(super) fn release(&mut self, id: SpanId) {
        let mut merged = id;
        let upper = self.get(id).upper;
        if upper != NONE && self.get(upper).is_idle {
            self.unlink(upper);
            merged = self.join(id, upper);
        }
        let lower = self.get(merged).lower;
        if lower != NONE && self.get(lower).is_idle {
            self.unlink(lower);
            merged = self.join(lower, merged);
        }
        self.push(merged);
    }

    /// Idle spans, small layers first, from the front of each.
    pub(super) fn idle_spans(&self) -> Vec<SpanId> {
        let mut list = Vec::new();
        for front in self.layers.values() {
            let mut id = *front;
            while id != NONE {
                list.push(id);
                id = self.get(id).back;
            }
        }
        list
    }

    /// Removes a whole idle span from the pool.
    pub(super) fn remove_idle(&mut self, id: SpanId) -> Span {
        self.unlink(id);
        self.unused.push(id);
        *self.get(id)
    }

    /// Whether the front of a larger layer may be split for a request; counts the try.
    fn may_split(&mut self, id: SpanId, pages: u64) -> bool {
        let span = self.at(id);
        if !span.is_whole() || span.origin == Origin::Virtual {
            return true;
        }
        span.tries += pages;
        // The engine's delayed-split ratio is 0.01 of the block's pages.
        span.tries > span.pages / 100
    }

    /// Appends `upper` to `lower`, both in no layer; `upper`'s id becomes unused.
    fn join(&mut self, lower: SpanId, upper: SpanId) -> SpanId {
        let gone = *self.get(upper);
        let span = self.at(lower);
        span.pages += gone.pages;
        span.upper = gone.upper;
        // Only whole spans look at the counter, and a span becomes whole only by joining.
        span.tries = 0;
        if gone.upper != NONE {
            self.at(gone.upper).lower = lower;
        }
        self.unused.push(upper);
        lower
    }

    fn push(&mut self, id: SpanId) {
        let pages = self.get(id).pages;
        self.idle_pages += pages;
        let old = self.layers.insert(pages, id).unwrap_or(NONE);
        if old != NONE {
            self.at(old).front = id;
        }
        let span = self.at(id);
        span.is_idle = true;
        span.front = NONE;
        span.back = old;
    }

    fn unlink(&mut self, id: SpanId) {
        let Span { pages, front, back, .. } = *self.get(id);
        self.idle_pages -= pages;
        if back != NONE {
            self.at(back).front = front;
        }
        if front != NONE {
            self.at(front).back = back;
        } else if back != NONE {
            self.layers.insert(pages, back);
        } else {
            self.layers.remove(&pages);
        }
        self.at(id).is_idle = false;
    }

    fn at(&mut self, id: SpanId) -> &mut Span {
        &mut self.all[id.0 as usize]
    }
}
