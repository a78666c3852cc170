//! The recorder: turns the allocators' calls into an event log.
//!
//! In: the calls that a [`SimulatedDevice`] logged, and the current subject. Out: a [`Simulation`]. After every request
//! the driver's calls become events: a malloc or a reserved range is a region, a page is a subject. Invariants: a
//! region keeps its size; every event has the step and the subject that were set last. Region 0 (the variables) and
//! subject 0 (the session) always exist: events without a region or a subject name them.
//!
//! ```text
//! calls    malloc(at, bytes)  page(7)  map(at, 7)  ...      absolute addresses of the driver
//! events   new region 3       subject 9 = page 7 ...        offsets in regions, on the step axis
//! ```

use std::collections::BTreeMap;

use highwater_model::graph::Id as _;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;

use super::alloc::{Address, Call, PageHandle, PoolKey, SimulatedDevice};
use super::event::{
    Event, EventKind, OutOfMemory, PoolRow, Region, RegionId, RegionKind, Simulation, Subject, SubjectId,
};
use super::policies::StaticMemoryPolicy;

/// The region of events that concern none.
pub(super) const NO_REGION: RegionId = RegionId(0);
/// The subject of events that concern no other.
pub(super) const SESSION_SUBJECT: SubjectId = SubjectId(0);

/// Kinds and graphs of the regions that the next calls create.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegionPurpose {
    /// For device memory.
    pub(super) block: (RegionKind, Option<GraphIdx>),
    /// For virtual ranges.
    pub(super) range: (RegionKind, Option<GraphIdx>),
    /// Bytes of inputs and outputs in a device block.
    pub(super) io: Bytes,
}

impl RegionPurpose {
    /// One kind for device memory and virtual ranges.
    pub(super) const fn of(kind: RegionKind, graph: Option<GraphIdx>) -> Self {
        Self {
            block: (kind, graph),
            range: (kind, graph),
            io: Bytes::ZERO,
        }
    }
}

/// Regions of one address space as (start, end, region); both spaces grow upwards, so the list is sorted.
#[derive(Debug, Default)]
struct AddressMap(Vec<(u64, u64, RegionId)>);

impl AddressMap {
    fn push(&mut self, at: u64, bytes: u64, region: RegionId) {
        self.0.push((at, at.saturating_add(bytes), region));
    }

    /// The region and the offset in it. O(log regions).
    fn find(&self, at: u64) -> Option<(RegionId, u64)> {
        let behind = self.0.partition_point(|(start, _, _)| *start <= at);
        let (start, end, region) = *self.0.get(behind.checked_sub(1)?)?;
        (at < end || at == start).then(|| (region, at - start))
    }
}

/// A physical page of the log.
#[derive(Clone, Copy, Debug)]
struct Page {
    subject: SubjectId,
    region: RegionId,
    bytes: u64,
}

/// A log under construction.
#[derive(Debug)]
pub(super) struct Recorder {
    step: Step,
    subject: SubjectId,
    purpose: RegionPurpose,
    blocks: AddressMap,
    ranges: AddressMap,
    /// By handle, from 1.
    pages: Vec<Page>,
    /// Mapped pages by virtual offset.
    mapped: BTreeMap<u64, PageHandle>,
    pool_subjects: BTreeMap<PoolKey, SubjectId>,
    log: Simulation,
}

/// Subject of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogSpec {
    pub(super) policy: StaticMemoryPolicy,
    pub(super) capacity: Bytes,
    /// Whether the driver supports virtual ranges.
    pub(super) can_reserve: bool,
    /// Steps of the axis.
    pub(super) n_steps: u32,
    /// Expected number of blocks, to reserve memory.
    pub(super) n_blocks: usize,
}

impl Recorder {
    pub(super) fn new(spec: LogSpec) -> Self {
        Self {
            step: Step(0),
            subject: SESSION_SUBJECT,
            purpose: RegionPurpose::of(RegionKind::PoolBlock, None),
            blocks: AddressMap::default(),
            ranges: AddressMap::default(),
            pages: Vec::new(),
            mapped: BTreeMap::new(),
            pool_subjects: BTreeMap::new(),
            log: Simulation::new(spec.policy, spec.n_steps, spec.capacity, spec.n_blocks),
        }
    }

    pub(super) fn finish(self, pools: Vec<PoolRow>) -> Simulation {
        Simulation { pools, ..self.log }
    }

    pub(super) fn n_events(&self) -> usize {
        self.log.events.len()
    }

    /// Sets the step of subsequent events; steps never decrease.
    pub(super) fn at(&mut self, step: Step) {
        self.step = step;
    }

    /// Adds a subject and makes it the current one.
    pub(super) fn set_new_subject(&mut self, subject: Subject, requested: Bytes) -> SubjectId {
        let id = self.add_subject(subject, requested);
        self.subject = id;
        id
    }

    pub(super) fn add_subject(&mut self, subject: Subject, requested: Bytes) -> SubjectId {
        self.log.add_subject(subject, requested)
    }

    /// Sets the subject of subsequent events.
    pub(super) fn set_subject(&mut self, subject: SubjectId) {
        self.subject = subject;
    }

    /// The current subject.
    pub(super) const fn subject(&self) -> SubjectId {
        self.subject
    }

    /// Sets the kind of the regions created by subsequent calls.
    pub(super) fn set_purpose(&mut self, purpose: RegionPurpose) {
        self.purpose = purpose;
    }

    /// Adds a pool, so that its notes find their subject.
    pub(super) fn add_pool(&mut self, pool: PoolKey) {
        let subject = Subject::Pool(u32::try_from(self.pool_subjects.len()).unwrap_or(u32::MAX));
        let subject = self.add_subject(subject, Bytes::ZERO);
        self.pool_subjects.entry(pool).or_insert(subject);
    }

    pub(super) fn record(&mut self, kind: EventKind, region: RegionId, offset: u64, bytes: Bytes) {
        self.record_for(self.subject, kind, region, offset, bytes);
    }

    fn record_for(&mut self, subject: SubjectId, kind: EventKind, region: RegionId, offset: u64, bytes: Bytes) {
        self.log.events.push(Event {
            step: self.step,
            kind,
            region,
            subject,
            offset,
            bytes,
        });
    }

    /// The region of an address, and the offset in it; [`NO_REGION`] for unknown addresses.
    pub(super) fn locate(&self, at: Address) -> (RegionId, u64) {
        let map = if at.is_virtual() { &self.ranges } else { &self.blocks };
        map.find(at.offset()).unwrap_or((NO_REGION, 0))
    }

    /// Ends the simulation: the last event is the request that failed.
    pub(super) fn out_of_memory(&mut self, requested: Bytes, in_use: Bytes) {
        self.record(EventKind::OutOfMemory, NO_REGION, 0, requested);
        self.log.out_of_memory = Some(OutOfMemory {
            step: self.step,
            requested,
            in_use,
            subject: self.log.subject(self.subject).subject,
        });
    }

    /// Turns the driver's calls since the last time into events, and clears them. O(calls * log regions).
    pub(super) fn settle(&mut self, device: &mut SimulatedDevice) {
        self.settle_calls(device.driver.calls());
        device.driver.clear_calls();
    }

    /// Turns calls into events, without clearing them. O(calls * log regions).
    pub(super) fn settle_calls(&mut self, calls: &[Call]) {
        for (position, call) in calls.iter().enumerate() {
            self.record_call(*call, &calls[position..]);
        }
    }

    /// Records the malloc of the variables, the only call since the last time, in its reserved region.
    pub(super) fn settle_variables(&mut self, device: &mut SimulatedDevice, at: Address, bytes: Bytes) {
        device.driver.clear_calls();
        let variables = &mut self.log.regions[NO_REGION.idx()];
        (variables.bytes, variables.at) = (bytes, at.into());
        self.blocks.push(at.offset(), bytes.get(), NO_REGION);
        self.record(EventKind::DeviceMalloc, NO_REGION, 0, bytes);
    }

    /// The address of an offset in a virtual range; `None` in other regions.
    pub(super) fn virtual_address(&self, region: RegionId, offset: u64) -> Option<Address> {
        let Region { at, .. } = self.log.regions[region.idx()];
        at.is_virtual().then(|| Address::virtual_space(at.offset() + offset))
    }

    /// Whether an extent is fully backed by a device block or mapped pages.
    pub(super) fn is_backed(&self, region: RegionId, offset: u64, bytes: u64) -> bool {
        let Region { at, .. } = self.log.regions[region.idx()];
        if !at.is_virtual() || bytes == 0 {
            return true;
        }
        let (start, end) = (at.offset() + offset, at.offset() + offset + bytes);
        let below = self.mapped.range(..=start).next_back();
        let Some(first) = below.map(|(at, _)| *at) else {
            return false;
        };
        let mut covered = first;
        for (at, page) in self.mapped.range(first..end) {
            if *at > covered {
                break;
            }
            covered = at + self.page(*page).bytes;
        }
        covered >= end
    }

    pub(super) fn region(&self, region: RegionId) -> &Region {
        &self.log.regions[region.idx()]
    }

    /// `behind` are this call and its successors.
    fn record_call(&mut self, call: Call, behind: &[Call]) {
        match call {
            Call::Malloc { at, bytes } => {
                let region = self.add_region(self.purpose.block, Address::device(at), bytes);
                self.blocks.push(at, bytes, region);
                self.record(EventKind::DeviceMalloc, region, 0, Bytes(bytes));
            }
            Call::Free { at, bytes } => {
                let (region, _) = self.locate(Address::device(at));
                self.record(EventKind::DeviceFree, region, 0, Bytes(bytes));
            }
            Call::Reserve { at, bytes } => {
                let region = self.add_region(self.purpose.range, Address::virtual_space(at), bytes);
                self.ranges.push(at, bytes, region);
                self.record(EventKind::Reserve, region, 0, Bytes(bytes));
            }
            Call::Release { at, bytes } => {
                let (region, _) = self.locate(Address::virtual_space(at));
                self.record(EventKind::Release, region, 0, Bytes(bytes));
            }
            Call::PageAlloc { page, bytes } => self.page_alloc(page, bytes, behind),
            Call::PageFree { page, bytes } => {
                let Page { subject, region, .. } = self.page(page);
                self.record_for(subject, EventKind::PageFree, region, 0, Bytes(bytes));
            }
            Call::Map { at, page, bytes } => {
                let (region, offset) = self.locate(Address::virtual_space(at));
                self.mapped.insert(at, page);
                self.record_for(self.page(page).subject, EventKind::Map, region, offset, Bytes(bytes));
            }
            Call::Unmap { at } => {
                let (region, offset) = self.locate(Address::virtual_space(at));
                if let Some(page) = self.mapped.remove(&at) {
                    let Page { subject, bytes, .. } = self.page(page);
                    self.record_for(subject, EventKind::Unmap, region, offset, Bytes(bytes));
                }
            }
            Call::Memset { at, bytes } => {
                let (region, offset) = self.locate(at);
                self.record(EventKind::Memset, region, offset, Bytes(bytes));
            }
            Call::Synchronize => self.record(EventKind::Sync, NO_REGION, 0, Bytes::ZERO),
            // The result of a refusal follows: another attempt, or the end.
            Call::MallocFailed { .. } | Call::ReserveFailed { .. } | Call::PageAllocFailed { .. } => {}
            Call::Grant { pool, at, bytes } => self.record_block(EventKind::Grant, pool, at, bytes),
            Call::Return { pool, at, bytes } => self.record_block(EventKind::Return, pool, at, bytes),
            Call::Recycle { pool } => {
                let subject = pool.map_or(SESSION_SUBJECT, |pool| self.pool_subject(pool));
                self.record_for(subject, EventKind::Recycle, NO_REGION, 0, Bytes::ZERO);
            }
            Call::Stitch { pool, at, bytes } => {
                self.record_block(EventKind::Stitch, pool, Address::virtual_space(at), bytes);
            }
            Call::Split => self.log.spans.splits += 1,
            Call::Merge => self.log.spans.merges += 1,
        }
    }

    fn record_block(&mut self, kind: EventKind, pool: PoolKey, at: Address, bytes: u64) {
        let (region, offset) = self.locate(at);
        self.record_for(self.pool_subject(pool), kind, region, offset, Bytes(bytes));
    }

    /// A page belongs to the region that it is mapped in first, found among the following calls.
    fn page_alloc(&mut self, page: PageHandle, bytes: u64, behind: &[Call]) {
        let place = behind.iter().find_map(|call| match call {
            Call::Map { at, page: mapped, .. } if *mapped == page => Some(*at),
            _ => None,
        });
        let region = place.map_or(NO_REGION, |at| self.locate(Address::virtual_space(at)).0);
        let subject = self.add_subject(Subject::Page(page.0), Bytes(bytes));
        debug_assert_eq!(self.pages.len() + 1, page.0 as usize, "handles count from 1");
        self.pages.push(Page { subject, region, bytes });
        self.record_for(subject, EventKind::PageAlloc, region, 0, Bytes(bytes));
    }

    fn page(&self, page: PageHandle) -> Page {
        self.pages[page.0 as usize - 1]
    }

    fn pool_subject(&self, pool: PoolKey) -> SubjectId {
        self.pool_subjects.get(&pool).copied().unwrap_or(SESSION_SUBJECT)
    }

    fn add_region(&mut self, owner: (RegionKind, Option<GraphIdx>), at: Address, bytes: u64) -> RegionId {
        let (kind, graph) = owner;
        self.log.add_region(Region {
            kind,
            graph,
            bytes: Bytes(bytes),
            io: self.purpose.io,
            at: at.into(),
        })
    }
}
