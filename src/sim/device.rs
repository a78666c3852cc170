//! The simulated device: how many bytes are in use, and the log of what happened.
//!
//! In: requests of the allocators. Out: a [`Simulation`]. Invariants: bytes in use never exceed the device;
//! a region is born by [`DeviceMemory::malloc`] or [`DeviceMemory::reserve`] and keeps its size; every event
//! is stamped with the step and the subject that were set last. Region 0 (the variables) and subject 0 (the
//! session) always exist: events that concern no region or nobody name them.
//!
//! ```text
//! device   |##variables##|##weights##|####arena####|##page##|....free....|
//!           <----------------- in use ----------------------> never above capacity
//! ```
//!
//! Deliberately not here: addresses. The driver has no fragmentation of its own in this model: a malloc fails
//! only where bytes in use and bytes asked for exceed the device.

use crate::graph::Id as _;
use crate::units::{Bytes, Step};
use crate::workload::GraphIdx;

use super::event::{
    Event, EventKind, OutOfMemory, Region, RegionId, RegionKind, Simulation, Subject, SubjectId, SubjectRow,
};
use super::policies::StaticMemoryPolicy;
use super::session::DeviceSession;

/// The region of events that concern none.
pub(super) const NO_REGION: RegionId = RegionId(0);
/// The subject of events that concern nobody in particular.
pub(super) const THE_SESSION: SubjectId = SubjectId(0);

/// A request that could not be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shortage {
    /// Bytes asked for.
    pub(super) requested: Bytes,
}

/// Device memory with its log.
#[derive(Debug)]
pub(super) struct DeviceMemory {
    in_use: Bytes,
    step: Step,
    subject: SubjectId,
    log: Simulation,
}

impl DeviceMemory {
    /// An empty device. `n_tensors` is how many blocks will be handed out, to size the log.
    pub(super) fn new(policy: StaticMemoryPolicy, capacity: Bytes, session: &DeviceSession, n_tensors: usize) -> Self {
        let variables = Region {
            kind: RegionKind::Variables,
            graph: None,
            bytes: Bytes::ZERO,
        };
        let mut subjects = Vec::with_capacity(n_tensors + session.graphs.len() + 1);
        subjects.push(SubjectRow {
            who: Subject::Session,
            requested: Bytes::ZERO,
        });
        Self {
            in_use: Bytes::ZERO,
            step: Step(0),
            subject: THE_SESSION,
            log: Simulation {
                policy,
                n_steps: session.n_steps,
                device_bytes: capacity,
                events: Vec::with_capacity(n_tensors * 2 + 64),
                regions: vec![variables],
                subjects,
                out_of_memory: None,
            },
        }
    }

    /// The log so far, as the answer.
    pub(super) fn finish(self) -> Simulation {
        self.log
    }

    /// The log so far.
    #[cfg(test)]
    pub(super) fn log(&self) -> &Simulation {
        &self.log
    }

    /// Number of events so far.
    pub(super) fn n_events(&self) -> usize {
        self.log.events.len()
    }

    /// Device bytes that are not in use.
    pub(super) fn available(&self) -> Bytes {
        self.log.device_bytes - self.in_use
    }

    /// Device bytes in sum.
    pub(super) fn capacity(&self) -> Bytes {
        self.log.device_bytes
    }

    /// Sets the step of the events that follow; steps never fall.
    pub(super) fn at(&mut self, step: Step) {
        self.step = step;
    }

    /// Adds a subject; the events that follow are for it.
    pub(super) fn serve_new(&mut self, who: Subject, requested: Bytes) -> SubjectId {
        let id = SubjectId::from_idx(self.log.subjects.len());
        self.log.subjects.push(SubjectRow { who, requested });
        self.subject = id;
        id
    }

    /// The events that follow are for this subject.
    pub(super) fn serve(&mut self, subject: SubjectId) {
        self.subject = subject;
    }

    /// Writes an event.
    pub(super) fn record(&mut self, kind: EventKind, region: RegionId, offset: u64, bytes: Bytes) {
        self.log.events.push(Event {
            step: self.step,
            kind,
            region,
            subject: self.subject,
            offset,
            bytes,
        });
    }

    /// One driver malloc of exactly `bytes`: a region is born.
    pub(super) fn malloc(
        &mut self,
        kind: RegionKind,
        graph: Option<GraphIdx>,
        bytes: Bytes,
    ) -> Result<RegionId, Shortage> {
        self.charge(bytes)?;
        let region = self.add_region(kind, graph, bytes);
        self.record(EventKind::DeviceMalloc, region, 0, bytes);
        Ok(region)
    }

    /// The one driver malloc of the variables, in the region that waits for it.
    pub(super) fn malloc_variables(&mut self, bytes: Bytes) -> Result<(), Shortage> {
        self.charge(bytes)?;
        self.log.regions[NO_REGION.idx()].bytes = bytes;
        self.record(EventKind::DeviceMalloc, NO_REGION, 0, bytes);
        Ok(())
    }

    /// The driver takes a whole region back.
    pub(super) fn free(&mut self, region: RegionId) {
        let bytes = self.log.regions[region.idx()].bytes;
        self.in_use = self.in_use - bytes;
        self.record(EventKind::DeviceFree, region, 0, bytes);
    }

    /// Reserves a virtual range, which holds no memory yet. The driver never refuses.
    pub(super) fn reserve(&mut self, kind: RegionKind, graph: Option<GraphIdx>, bytes: Bytes) -> RegionId {
        let region = self.add_region(kind, graph, bytes);
        self.record(EventKind::Reserve, region, 0, bytes);
        region
    }

    /// One physical page from the driver, wanted at `offset` of `region`.
    pub(super) fn page(&mut self, region: RegionId, offset: u64, bytes: Bytes) -> Result<(), Shortage> {
        self.charge(bytes)?;
        self.record(EventKind::PageAlloc, region, offset, bytes);
        Ok(())
    }

    /// Ends the simulation: the last event is the request that failed.
    pub(super) fn out_of_memory(&mut self, shortage: Shortage) {
        let Shortage { requested } = shortage;
        self.record(EventKind::OutOfMemory, NO_REGION, 0, requested);
        self.log.out_of_memory = Some(OutOfMemory {
            step: self.step,
            requested,
            in_use: self.in_use,
            subject: self.log.subjects[self.subject.idx()].who,
        });
    }

    fn add_region(&mut self, kind: RegionKind, graph: Option<GraphIdx>, bytes: Bytes) -> RegionId {
        let id = RegionId::from_idx(self.log.regions.len());
        self.log.regions.push(Region { kind, graph, bytes });
        id
    }

    fn charge(&mut self, bytes: Bytes) -> Result<(), Shortage> {
        if bytes > self.available() {
            return Err(Shortage { requested: bytes });
        }
        self.in_use += bytes;
        Ok(())
    }
}
