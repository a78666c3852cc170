//! The two-level page allocator: one pool per dynamic graph over one pool per device.
//!
//! ```text
//! graph pools      [graph A: spans of its blocks]   [graph B: ...]      64 KiB pages, layers of idle spans
//!                         ^ exact blocks                 ^
//! device pool      [      |    spans of device blocks    |       ]      cuts one 2 MiB block for small requests
//!                         ^ device mallocs
//! device
//! ```
//!
//! In: bytes. Out: a [`Grant`] (region, offset, rounded bytes) or a [`Shortage`] after every pool was recycled.
//! Invariants: a live span of a graph pool lies in one live span of the device pool or in the pool's virtual
//! range; freeing gives nothing back below; only recycling does, whole idle blocks, small ones first.
//! The rules (rounding, best fit, delayed split, threshold, order of recycling) are the engine's as observed.
//! With `expands_pools` a graph pool owns a [`VirtualRange`] as well; its spans are tried like all others.
//!
//! Deliberately not here: several streams of one graph (one more level), the legacy allocator, destroying pools
//! (graphs stay loaded to the end of a session).

use super::device::{DeviceMemory, NO_REGION, Shortage};
use super::event::{EventKind, RegionId, RegionKind};
use super::expandable_pool::VirtualRange;
use super::page_store::PageStore;
use super::params::Params;
use super::spans::{Origin, Span, SpanId, Spans};
use crate::units::Bytes;
use crate::workload::GraphIdx;

/// The figures that both levels share.
#[derive(Clone, Copy, Debug)]
struct Rules {
    page: u64,
    /// The device pool never asks the device for less.
    device_block: u64,
    /// A pool that occupies more asks for new memory only where it holds no idle bytes.
    threshold: u64,
    expands_pools: bool,
}

impl Rules {
    /// A request in whole pages, at least one; refused above the threshold.
    fn pages(&self, bytes: Bytes) -> Result<u64, Shortage> {
        let pages = bytes.get().div_ceil(self.page).max(1);
        if bytes.get() > self.threshold || pages > self.threshold / self.page {
            return Err(Shortage { requested: bytes });
        }
        Ok(pages)
    }

    /// Whether a pool must recycle before it takes `bytes` more.
    fn is_over(&self, bytes: u64, occupied: u64, idle: u64) -> bool {
        idle > 0 && occupied > self.threshold.saturating_sub(bytes)
    }
}

/// What a request was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// The span, for [`Pools::release`].
    pub(super) span: SpanId,
    /// Where.
    pub(super) region: RegionId,
    /// Where in the region.
    pub(super) offset: u64,
    /// Rounded bytes.
    pub(super) bytes: Bytes,
}

/// The pool of the device, which the graph pools share.
#[derive(Debug)]
struct DevicePool {
    rules: Rules,
    spans: Spans,
    occupied: u64,
}

impl DevicePool {
    /// A span of whole pages; where the device refuses, idle blocks go back to it once.
    fn allocate(&mut self, pages: u64, memory: &mut DeviceMemory) -> Result<SpanId, Shortage> {
        self.try_allocate(pages, memory).or_else(|_| {
            self.recycle(memory);
            self.try_allocate(pages, memory)
        })
    }

    fn try_allocate(&mut self, pages: u64, memory: &mut DeviceMemory) -> Result<SpanId, Shortage> {
        if let Some(span) = self.spans.take(pages) {
            return Ok(span);
        }
        let block_pages = pages.max(self.rules.device_block / self.rules.page);
        let block = block_pages * self.rules.page;
        if self.rules.is_over(block, self.occupied, self.spans.idle()) {
            return Err(Shortage {
                requested: Bytes(block),
            });
        }
        let region = memory.malloc(RegionKind::PoolBlock, None, Bytes(block))?;
        self.occupied += block;
        let whole = self.spans.insert(Span::whole(region, 0, block_pages, Origin::Device));
        Ok(if block_pages > pages {
            self.spans.split_tail(whole, pages)
        } else {
            whole
        })
    }

    fn recycle(&mut self, memory: &mut DeviceMemory) {
        memory.record(EventKind::Recycle, NO_REGION, 0, Bytes::ZERO);
        for id in self.spans.idle_spans() {
            if self.spans.get(id).is_whole() {
                let block = self.spans.remove_idle(id);
                self.occupied -= block.pages * self.rules.page;
                memory.free(block.region);
            }
        }
    }
}

/// The pool of one dynamic graph.
#[derive(Debug)]
struct GraphPool {
    rules: Rules,
    spans: Spans,
    /// Bytes of blocks from the device pool.
    blocks: u64,
    range: Option<VirtualRange>,
}

/// What a graph pool stands on.
struct Below<'a> {
    device: &'a mut DevicePool,
    store: &'a mut PageStore,
    memory: &'a mut DeviceMemory,
}

impl GraphPool {
    fn new(rules: Rules, graph: GraphIdx, below: &mut Below<'_>) -> Self {
        let mut pool = Self {
            rules,
            spans: Spans::new(rules.page),
            blocks: 0,
            range: None,
        };
        if rules.expands_pools {
            // The engine reserves the threshold less one page, rounded up to pages.
            let bytes = Bytes(rules.threshold) - below.store.page_bytes();
            let parts = (&*below.store, &mut *below.memory);
            let range = VirtualRange::reserve(Some(graph), bytes, parts);
            let pages = range.bytes() / rules.page;
            if pages > 0 {
                let whole = Span::whole(range.region(), 0, pages, Origin::Virtual);
                let whole = pool.spans.insert(whole);
                pool.spans.release(whole);
            }
            pool.range = Some(range);
        }
        pool
    }

    fn allocate(&mut self, bytes: Bytes, below: &mut Below<'_>) -> Result<Grant, Shortage> {
        let pages = self.rules.pages(bytes)?;
        let span = match self.spans.take(pages) {
            Some(span) => span,
            None => self.new_block(pages, below)?,
        };
        let grant = self.grant(span);
        if let (Origin::Virtual, Some(range)) = (self.spans.get(span).origin, &mut self.range) {
            let parts = (&mut *below.store, &mut *below.memory);
            if let Err(shortage) = range.back(grant.offset, grant.bytes.get(), parts) {
                self.spans.release(span);
                return Err(shortage);
            }
        }
        Ok(grant)
    }

    fn new_block(&mut self, pages: u64, below: &mut Below<'_>) -> Result<SpanId, Shortage> {
        let bytes = pages * self.rules.page;
        let occupied = self.blocks + self.range.as_ref().map_or(0, VirtualRange::occupied);
        if self.rules.is_over(bytes, occupied, self.spans.idle()) {
            return Err(Shortage {
                requested: Bytes(bytes),
            });
        }
        let lower = below.device.allocate(pages, below.memory)?;
        let block = below.device.spans.get(lower);
        self.blocks += bytes;
        let whole = Span::whole(block.region, block.offset, pages, Origin::Below(lower));
        Ok(self.spans.insert(whole))
    }

    fn release(&mut self, id: SpanId) {
        let grant = self.grant(id);
        if let (Origin::Virtual, Some(range)) = (self.spans.get(id).origin, &mut self.range) {
            range.unback(grant.offset, grant.bytes.get());
        }
        self.spans.release(id);
    }

    /// Gives whole idle blocks to the device pool and idle pages to the store.
    fn recycle(&mut self, below: &mut Below<'_>) {
        let region = self.range.as_ref().map_or(NO_REGION, VirtualRange::region);
        below.memory.record(EventKind::Recycle, region, 0, Bytes::ZERO);
        for id in self.spans.idle_spans() {
            let span = *self.spans.get(id);
            match span.origin {
                Origin::Virtual => {
                    if let Some(range) = &mut self.range {
                        range.recycle(span.offset, span.pages * self.rules.page, below.store);
                    }
                }
                Origin::Below(lower) if span.is_whole() => {
                    self.spans.remove_idle(id);
                    self.blocks -= span.pages * self.rules.page;
                    below.device.spans.release(lower);
                }
                Origin::Below(_) | Origin::Device => {}
            }
        }
    }

    fn grant(&self, id: SpanId) -> Grant {
        let span = self.spans.get(id);
        Grant {
            span: id,
            region: span.region,
            offset: span.offset,
            bytes: Bytes(span.pages * self.rules.page),
        }
    }
}

/// Every pool of a device.
#[derive(Debug)]
pub(super) struct Pools {
    rules: Rules,
    device: DevicePool,
    /// In order of creation.
    graphs: Vec<GraphPool>,
    store: PageStore,
}

impl Pools {
    /// No pool yet.
    pub(super) fn new(params: &Params, expands_pools: bool) -> Self {
        let rules = Rules {
            page: params.pool_page.get().max(1),
            device_block: params.device_block.get(),
            threshold: threshold(params),
            expands_pools,
        };
        Self {
            rules,
            device: DevicePool {
                rules,
                spans: Spans::new(rules.page),
                occupied: 0,
            },
            graphs: Vec::new(),
            store: PageStore::new(params.physical_page),
        }
    }

    /// Makes the pool of a graph and returns its position.
    pub(super) fn add(&mut self, graph: GraphIdx, memory: &mut DeviceMemory) -> usize {
        let (rules, mut below) = (
            self.rules,
            Below {
                device: &mut self.device,
                store: &mut self.store,
                memory,
            },
        );
        self.graphs.push(GraphPool::new(rules, graph, &mut below));
        self.graphs.len() - 1
    }

    /// Memory for a tensor. Where it is short the pool itself is recycled, then every other pool in order of
    /// creation, with one more try after each.
    pub(super) fn allocate(&mut self, pool: usize, bytes: Bytes, memory: &mut DeviceMemory) -> Result<Grant, Shortage> {
        let mut below = Below {
            device: &mut self.device,
            store: &mut self.store,
            memory,
        };
        let mut answer = self.graphs[pool].allocate(bytes, &mut below);
        let others = (0..self.graphs.len()).filter(|other| *other != pool);
        for victim in std::iter::once(pool).chain(others) {
            if answer.is_ok() {
                break;
            }
            below.memory.record(EventKind::Sync, NO_REGION, 0, Bytes::ZERO);
            self.graphs[victim].recycle(&mut below);
            answer = self.graphs[pool].allocate(bytes, &mut below);
        }
        answer
    }

    /// Takes a tensor's memory back.
    pub(super) fn release(&mut self, pool: usize, span: SpanId) {
        self.graphs[pool].release(span);
    }

    /// The store of physical pages, which static arenas share.
    pub(super) fn store(&mut self) -> &mut PageStore {
        &mut self.store
    }

    /// Number of graph pools.
    pub(super) fn len(&self) -> usize {
        self.graphs.len()
    }

    /// Recycles one graph pool, so that its idle pages can serve somebody else.
    pub(super) fn recycle(&mut self, pool: usize, memory: &mut DeviceMemory) {
        let mut below = Below {
            device: &mut self.device,
            store: &mut self.store,
            memory,
        };
        below.memory.record(EventKind::Sync, NO_REGION, 0, Bytes::ZERO);
        self.graphs[pool].recycle(&mut below);
    }
}

/// What pools may fill before they recycle: floor(0.95 * device), or what the user gives where that is less.
fn threshold(params: &Params) -> u64 {
    let own = u64::try_from(u128::from(params.device_bytes.get()) * 95 / 100).unwrap_or(u64::MAX);
    match params.pool_threshold {
        Some(bytes) if bytes > Bytes::ZERO && bytes.get() <= own => bytes.get(),
        _ => own,
    }
}

#[cfg(test)]
#[path = "page_pool_tests.rs"]
mod tests;
