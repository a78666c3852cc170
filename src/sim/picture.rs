//! The device at one moment: regions, pools, idle memory.
//!
//! ```text
//! device      |arena of A|  |block: gggg....|  |range: ..pppp|      g granted to a graph's pool, . idle
//! pool of G    blocks = its grants, and its own range;  idle = bytes without a live tensor
//! free list    4 spans: 2 of 64 KiB, 1 of 1 MiB, 1 of 8 MiB;  largest 8 MiB
//! ```
//!
//! In: a simulation and a step. Out: a [`DevicePicture`] while the ops of that step run (after all events of the step).
//! Idle neighbours are one span, as in the pools. O(events * log blocks).

use std::collections::BTreeMap;

use super::event::{Event, MemoryChange, MemoryUnit, RegionId, RegionKind, Simulation, Subject, SubjectId};
use super::fold::{ReservedParts, parts_after};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DevicePicture {
    pub step: Step,
    /// Device bytes in use, by use.
    pub parts: ReservedParts,
    /// Device bytes not in use.
    pub available: Bytes,
    /// Regions with memory, in order of creation.
    pub regions: Vec<RegionPicture>,
    /// Pools of dynamic memory; the first is the device's.
    pub pools: Vec<PoolPicture>,
    pub pages: PagesPicture,
}

/// A region with memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionPicture {
    pub region: RegionId,
    pub kind: RegionKind,
    pub graph: Option<GraphIdx>,
    /// Bytes of memory: the whole block, or the mapped pages of a range.
    pub held: Bytes,
    /// Bytes of live tensors.
    pub live: Bytes,
    /// Number of live tensors.
    pub n_live: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolPicture {
    /// `None` for the device's pool.
    pub graph: Option<GraphIdx>,
    /// Blocks taken from the level below: region, offset, bytes.
    pub blocks: Vec<(RegionId, u64, Bytes)>,
    /// Bytes of blocks, and of pages of its range.
    pub occupied: Bytes,
    /// Bytes given out (to tensors; by the device's pool to other pools).
    pub given: Bytes,
    /// Idle spans in its blocks by size, ascending: bytes and count.
    pub idle_spans: Vec<(Bytes, u64)>,
    /// Bytes of pages mapped in its range that no live tensor touches anywhere.
    pub idle_pages: Bytes,
}

impl PoolPicture {
    pub fn idle(&self) -> Bytes {
        let bytes = self
            .idle_spans
            .iter()
            .map(|(bytes, count)| bytes.get().saturating_mul(*count));
        Bytes(bytes.fold(0, u64::saturating_add))
    }

    pub fn largest_idle(&self) -> Bytes {
        self.idle_spans.last().map_or(Bytes::ZERO, |(bytes, _)| *bytes)
    }
}

/// Physical pages of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagesPicture {
    /// Pages taken from the driver.
    pub count: u64,
    pub bytes: Bytes,
    /// Pages touched by live tensors.
    pub touched: u64,
    /// Mappings; a page may have several.
    pub mappings: u64,
}

/// Live bytes, grants and mappings by region and offset.
type Places<T> = BTreeMap<(u32, u64), T>;

/// State of the log up to a step.
#[derive(Default)]
struct Replay {
    held: BTreeMap<u32, u64>,
    live: Places<u64>,
    grants: Places<(u64, u32)>,
    /// With the page, and the event that mapped it.
    mapped: Places<(u64, u32, usize)>,
    pages: BTreeMap<u32, u64>,
    n_events: usize,
}

impl Replay {
    fn apply(&mut self, event: &Event) {
        let place = (event.region.0, event.offset);
        let bytes = event.bytes.get();
        let Some((unit, change)) = event.kind.memory_change() else {
            return;
        };
        match (unit, change) {
            (MemoryUnit::Device, MemoryChange::Take) => drop(self.held.insert(event.region.0, bytes)),
            (MemoryUnit::Device, MemoryChange::Release) => drop(self.held.remove(&event.region.0)),
            (MemoryUnit::Block, _) if bytes == 0 => {}
            (MemoryUnit::Block, MemoryChange::Take) => drop(self.live.insert(place, bytes)),
            (MemoryUnit::Block, MemoryChange::Release) => drop(self.live.remove(&place)),
            (MemoryUnit::Grant, MemoryChange::Take) => drop(self.grants.insert(place, (bytes, event.subject.0))),
            (MemoryUnit::Grant, MemoryChange::Release) => drop(self.grants.remove(&place)),
            (MemoryUnit::Mapping, MemoryChange::Take) => {
                self.mapped.insert(place, (bytes, event.subject.0, self.n_events));
            }
            (MemoryUnit::Mapping, MemoryChange::Release) => drop(self.mapped.remove(&place)),
            (MemoryUnit::Page, MemoryChange::Take) => drop(self.pages.insert(event.subject.0, bytes)),
            (MemoryUnit::Page, MemoryChange::Release) => drop(self.pages.remove(&event.subject.0)),
        }
    }

    /// Offset and size of live bytes within a piece of a region.
    fn live_within(&self, region: u32, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let blocks = self.live.range((region, start)..(region, end));
        blocks.map(|((_, offset), bytes)| (*offset, *bytes))
    }
}

/// The device while the ops of a step run.
pub fn picture(simulation: &Simulation, step: Step) -> DevicePicture {
    let n_events = simulation.events.partition_point(|event| event.step <= step);
    picture_after(simulation, step, n_events)
}

/// The device after `n_events` events, at a moment of a step.
pub fn picture_after(simulation: &Simulation, step: Step, n_events: usize) -> DevicePicture {
    let mut replay = Replay::default();
    for event in simulation.events.iter().take(n_events) {
        replay.apply(&event);
        replay.n_events += 1;
    }
    let homes = page_homes(&replay);
    let parts = parts_after(simulation, replay.n_events);
    DevicePicture {
        step,
        parts,
        available: simulation.device_bytes.saturating_sub(parts.total()),
        regions: regions(simulation, &replay, &homes),
        pools: pools(simulation, &replay, &homes),
        pages: PagesPicture {
            count: replay.pages.len() as u64,
            bytes: Bytes(replay.pages.values().sum()),
            touched: homes.values().filter(|home| home.is_touched).count() as u64,
            mappings: replay.mapped.len() as u64,
        },
    }
}

/// The region of each page, by subject, with its bytes, and whether a live block touches it. A page mapped at several
/// places belongs where a live block touches it, otherwise to its last mapping.
fn page_homes(replay: &Replay) -> BTreeMap<u32, PageHome> {
    let mut homes: BTreeMap<u32, PageHome> = BTreeMap::new();
    for ((region, offset), (bytes, page, when)) in &replay.mapped {
        let home = PageHome {
            is_touched: is_touched(replay, *region, *offset, offset + bytes),
            when: *when,
            region: *region,
            bytes: *bytes,
        };
        let known = homes.entry(*page).or_insert(home);
        *known = (*known).max(home);
    }
    homes
}

/// The region that a page is counted in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PageHome {
    is_touched: bool,
    when: usize,
    region: u32,
    bytes: u64,
}

fn regions(simulation: &Simulation, replay: &Replay, homes: &BTreeMap<u32, PageHome>) -> Vec<RegionPicture> {
    let mut held: BTreeMap<u32, u64> = replay.held.clone();
    for home in homes.values() {
        *held.entry(home.region).or_default() += home.bytes;
    }
    let picture = |(region, held): (u32, u64)| {
        let row = &simulation.regions[region as usize];
        let blocks = replay.live_within(region, 0, u64::MAX);
        let (n_live, live) = blocks.fold((0, 0_u64), |(n, sum), (_, bytes)| (n + 1, sum.saturating_add(bytes)));
        RegionPicture {
            region: RegionId(region),
            kind: row.kind,
            graph: row.graph,
            held: Bytes(held),
            live: Bytes(live),
            n_live,
        }
    };
    held.into_iter().map(picture).collect()
}

fn pools(simulation: &Simulation, replay: &Replay, homes: &BTreeMap<u32, PageHome>) -> Vec<PoolPicture> {
    if simulation.pools.is_empty() {
        return Vec::new();
    }
    let mut pools = vec![device_pool(simulation, replay)];
    let graphs = simulation.pools.iter().filter_map(|pool| pool.graph);
    let shares = shares(simulation, replay, homes);
    let nothing = Share::default();
    for (position, graph) in (0_u32..).zip(graphs) {
        let of_pool = shares.get(&Owner::Pool(position)).unwrap_or(&nothing);
        let of_ranges = shares.get(&Owner::Range(graph)).unwrap_or(&nothing);
        pools.push(graph_pool(replay, graph, of_pool, of_ranges));
    }
    pools
}

/// Who owns memory of the graphs' pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    /// The pool at a position among the pools of graphs.
    Pool(u32),
    /// Ranges of a graph.
    Range(GraphIdx),
}

/// The memory of an owner.
#[derive(Debug, Default)]
struct Share {
    /// Of a pool: region, offset and bytes.
    grants: Vec<(u32, u64, u64)>,
    /// Of ranges, as the bytes of pages.
    live: Bytes,
    pages: Bytes,
    idle_pages: Bytes,
}

/// The memory of all owners. Grants, live blocks and pages are each read once, because there may be as many pools as grants.
fn shares(simulation: &Simulation, replay: &Replay, homes: &BTreeMap<u32, PageHome>) -> BTreeMap<Owner, Share> {
    let mut shares: BTreeMap<Owner, Share> = BTreeMap::new();
    for ((region, offset), (bytes, subject)) in &replay.grants {
        if let Subject::Pool(position) = simulation.subject(SubjectId(*subject)).subject {
            let share = shares.entry(Owner::Pool(position)).or_default();
            share.grants.push((*region, *offset, *bytes));
        }
    }
    let range_of = |region: u32| {
        let row = &simulation.regions[region as usize];
        let is_range = matches!(row.kind, RegionKind::PagedRange | RegionKind::Stitched);
        row.graph.filter(|_| is_range).map(Owner::Range)
    };
    for ((region, _), bytes) in &replay.live {
        if let Some(owner) = range_of(*region) {
            shares.entry(owner).or_default().live += Bytes(*bytes);
        }
    }
    for home in homes.values() {
        if let Some(owner) = range_of(home.region) {
            let share = shares.entry(owner).or_default();
            share.pages += Bytes(home.bytes);
            share.idle_pages += Bytes(if home.is_touched { 0 } else { home.bytes });
        }
    }
    shares
}

/// Device blocks of pools, less the granted spans.
fn device_pool(simulation: &Simulation, replay: &Replay) -> PoolPicture {
    let mut pool = PoolPicture::empty(None);
    let mut spans = IdleSpans::default();
    for (region, bytes) in &replay.held {
        if simulation.regions[*region as usize].kind == RegionKind::PoolBlock {
            pool.blocks.push((RegionId(*region), 0, Bytes(*bytes)));
            let grants = replay.grants.range((*region, 0)..=(*region, u64::MAX));
            let taken = grants.map(|((_, offset), (bytes, _))| (*offset, *bytes));
            pool.given += spans.add(0, *bytes, taken);
        }
    }
    pool.occupied = pool.blocks.iter().map(|(_, _, bytes)| *bytes).sum();
    pool.idle_spans = spans.by_size();
    pool
}

/// Grants of a graph's pool, and its range.
fn graph_pool(replay: &Replay, graph: GraphIdx, of_pool: &Share, of_ranges: &Share) -> PoolPicture {
    let mut pool = PoolPicture::empty(Some(graph));
    let mut spans = IdleSpans::default();
    for (region, offset, bytes) in &of_pool.grants {
        pool.blocks.push((RegionId(*region), *offset, Bytes(*bytes)));
        let end = offset + bytes;
        pool.given += spans.add(*offset, end, replay.live_within(*region, *offset, end));
    }
    pool.occupied = pool.blocks.iter().map(|(_, _, bytes)| *bytes).sum();
    pool.given += of_ranges.live;
    pool.occupied += of_ranges.pages;
    pool.idle_pages = of_ranges.idle_pages;
    pool.idle_spans = spans.by_size();
    pool
}

/// Whether a live block overlaps a piece of a region.
fn is_touched(replay: &Replay, region: u32, start: u64, end: u64) -> bool {
    let below = replay.live.range((region, 0)..(region, end)).next_back();
    below.is_some_and(|((_, offset), bytes)| offset + bytes > start)
}

impl PoolPicture {
    fn empty(graph: Option<GraphIdx>) -> Self {
        Self {
            graph,
            blocks: Vec::new(),
            occupied: Bytes::ZERO,
            given: Bytes::ZERO,
            idle_spans: Vec::new(),
            idle_pages: Bytes::ZERO,
        }
    }
}

/// Idle spans by size.
#[derive(Default)]
struct IdleSpans(BTreeMap<u64, u64>);

impl IdleSpans {
    /// Adds the gaps between taken pieces (ascending offset, bytes) of a block; returns the taken bytes.
    fn add(&mut self, start: u64, end: u64, taken: impl Iterator<Item = (u64, u64)>) -> Bytes {
        let mut at = start;
        let mut sum = 0;
        for (offset, bytes) in taken {
            self.push(offset.saturating_sub(at));
            at = at.max(offset + bytes);
            sum += bytes;
        }
        self.push(end.saturating_sub(at));
        Bytes(sum)
    }

    fn push(&mut self, bytes: u64) {
        if bytes > 0 {
            *self.0.entry(bytes).or_default() += 1;
        }
    }

    fn by_size(self) -> Vec<(Bytes, u64)> {
        self.0.into_iter().map(|(bytes, count)| (Bytes(bytes), count)).collect()
    }
}
