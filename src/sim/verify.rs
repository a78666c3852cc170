//! Brute-force check of a simulation: reads the log and the session, independently of policies and allocators.
//!
//! ```text
//! region   |==a==|   |==b==|         live blocks never overlap, lie inside their region,
//! memory   |#### malloc ####|        and inside device memory or mapped pages
//! pages    |p|p| |p|                 pages that live blocks touch <= pages that the driver gave
//! ```
//!
//! In: a [`Simulation`] and its [`DeviceSession`]. Out: the first [`SimulationDefect`]. O(events * log blocks + pages
//! touched).

mod pages;

use std::collections::BTreeMap;

use pages::{Mapped, Mappings, PageUse, Touched, touch, untouch};

use super::event::{Event, EventKind, Simulation, Subject};
use super::fold;
use super::session::DeviceSession;
use highwater_model::graph::{Id as _, TensorId};
use highwater_model::units::{Bytes, Step};

/// A defect of a simulation. `event` is a position in the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationDefect {
    /// Steps decrease, or an event names a region or subject that does not exist.
    #[error("event {event} is out of order or names what does not exist")]
    Malformed { event: usize },
    /// Two live blocks overlap.
    #[error("event {event} places a block over a live one at offset {offset} of region {region}")]
    Overlap {
        event: usize,
        region: u32,
        /// A byte of both blocks.
        offset: u64,
    },
    /// A block is in a part of its region without memory.
    #[error("event {event} places a block where region {region} has no memory")]
    Uncovered { event: usize, region: u32 },
    /// A free, unmap or driver free without its counterpart.
    #[error("event {event} gives back what was not taken in just that way")]
    Unmatched { event: usize },
    /// More device memory than the device has.
    #[error("after event {event} {reserved} bytes are reserved on a device of {device}")]
    OverCapacity {
        event: usize,
        /// Reserved bytes.
        reserved: u64,
        /// The device's bytes.
        device: u64,
    },
    /// More live bytes than feature memory.
    #[error("after event {event} {live} bytes are live in {features} bytes of feature memory")]
    LiveAboveReserved {
        event: usize,
        /// Exact bytes that are live.
        live: u64,
        /// Bytes of feature memory.
        features: u64,
    },
    /// A fold differs from counting.
    #[error("{figure} is {counted} by counting and {folded} by folding")]
    Fold {
        figure: &'static str,
        /// Counted by the verifier.
        counted: u64,
        /// Result of the fold.
        folded: u64,
    },
    /// The log and the session have different tensors.
    #[error("copy {copy} of the session's tensors is not in the log as the session states it")]
    Tensors { copy: u16 },
    /// The log continues after the failed request, or does not end with it.
    #[error("the log does not end with its failed request")]
    End,
}

/// # Errors
///
/// # Errors
/// The first defect in the order of the log.
pub fn verify(simulation: &Simulation, session: &DeviceSession) -> Result<(), SimulationDefect> {
    verify_log(simulation)?;
    if simulation.out_of_memory.is_some() {
        return Ok(());
    }
    // The engine's allocators end at a request that fails.
    if first_failure(simulation).is_some() {
        return Err(SimulationDefect::End);
    }
    tensors(simulation, session)
}

/// Checks a log without a session.
///
/// # Errors
/// The first defect in the order of the log.
pub fn verify_log(simulation: &Simulation) -> Result<(), SimulationDefect> {
    verify_recorded_log(simulation)?;
    let is_end = first_failure(simulation).map(|failed| failed + 1) == Some(simulation.events.len());
    if simulation.out_of_memory.is_some() && !is_end {
        return Err(SimulationDefect::End);
    }
    Ok(())
}

/// As [`verify_log`], of a program that may go on after a request failed.
///
/// # Errors
/// The first defect in the order of the log.
pub fn verify_recorded_log(simulation: &Simulation) -> Result<(), SimulationDefect> {
    let mut checker = Checker::new(simulation);
    for (idx, event) in simulation.events.iter().enumerate() {
        checker.event(idx, &event)?;
    }
    checker.folds()
}

/// The position of the first request that failed.
fn first_failure(simulation: &Simulation) -> Option<usize> {
    let mut events = simulation.events.iter();
    events.position(|event| event.kind == EventKind::OutOfMemory)
}

/// State of one region.
#[derive(Clone, Default)]
struct RegionState {
    /// Bytes of its driver block.
    malloc: u64,
    /// Mapped pages by offset.
    mapped: Mappings,
    /// Live blocks: by offset the end and the subject.
    live: BTreeMap<u64, (u64, u32)>,
}

struct Checker<'a> {
    simulation: &'a Simulation,
    regions: Vec<RegionState>,
    last_step: Step,
    reserved: u64,
    features: u64,
    live: u64,
    pages: u64,
    pages_touched: u64,
    page_use: PageUse,
    /// Inputs and outputs in a shared arena, of the graph that ran last.
    shared_io: u64,
    peak_reserved: u64,
    peak_live: u64,
}

impl<'a> Checker<'a> {
    fn new(simulation: &'a Simulation) -> Self {
        Self {
            simulation,
            regions: vec![RegionState::default(); simulation.regions.len()],
            last_step: Step(0),
            reserved: 0,
            features: 0,
            live: 0,
            pages: 0,
            pages_touched: 0,
            page_use: PageUse::new(),
            shared_io: 0,
            peak_reserved: 0,
            peak_live: 0,
        }
    }

    fn event(&mut self, idx: usize, event: &Event) -> Result<(), SimulationDefect> {
        let known =
            event.region.idx() < self.simulation.regions.len() && event.subject.idx() < self.simulation.subjects.len();
        if !known || event.step < self.last_step {
            return Err(SimulationDefect::Malformed { event: idx });
        }
        self.last_step = event.step;
        match event.kind {
            EventKind::Alloc => self.alloc(idx, event)?,
            EventKind::Free => self.free(idx, event)?,
            EventKind::DeviceMalloc | EventKind::DeviceFree => self.device(idx, event)?,
            EventKind::PageAlloc => {
                self.pages = self.pages.saturating_add(event.bytes.get());
                self.reserve(event);
            }
            EventKind::PageFree => {
                let rest = self.pages.checked_sub(event.bytes.get());
                self.pages = rest.ok_or(SimulationDefect::Unmatched { event: idx })?;
                self.release(event);
            }
            EventKind::Map | EventKind::Unmap => self.map(idx, event)?,
            EventKind::Run => self.shared_io = event.bytes.get(),
            EventKind::Reallocate
            | EventKind::Reuse
            | EventKind::Reserve
            | EventKind::Release
            | EventKind::Memset
            | EventKind::Sync
            | EventKind::Recycle
            | EventKind::Grant
            | EventKind::Return
            | EventKind::Stitch
            | EventKind::MemoryInUse
            | EventKind::Clear
            | EventKind::Unload
            | EventKind::Reload
            | EventKind::OutOfMemory => {}
        }
        self.totals(idx)
    }

    fn totals(&mut self, idx: usize) -> Result<(), SimulationDefect> {
        let device = self.simulation.device_bytes.get();
        if self.reserved > device {
            return Err(SimulationDefect::OverCapacity {
                event: idx,
                reserved: self.reserved,
                device,
            });
        }
        let features = self.features.saturating_sub(self.shared_io);
        if self.live > features || self.pages_touched > self.pages {
            return Err(SimulationDefect::LiveAboveReserved {
                event: idx,
                live: self.live.max(self.pages_touched),
                features,
            });
        }
        if self.last_step.0 < self.simulation.n_steps {
            self.peak_reserved = self.peak_reserved.max(self.reserved);
            self.peak_live = self.peak_live.max(self.live);
        }
        Ok(())
    }

    fn alloc(&mut self, idx: usize, event: &Event) -> Result<(), SimulationDefect> {
        let (start, end) = (event.offset, event.offset.saturating_add(event.bytes.get()));
        let region = event.region.0;
        let state = &mut self.regions[event.region.idx()];
        let below = state.live.range(..end).next_back();
        if let Some((_, (other, _))) = below.filter(|(_, (other, _))| *other > start) {
            let offset = start.max(*other - 1);
            return Err(SimulationDefect::Overlap {
                event: idx,
                region,
                offset,
            });
        }
        if end > self.simulation.region(event.region).bytes.get() {
            return Err(SimulationDefect::Uncovered { event: idx, region });
        }
        if end > state.malloc {
            self.pages_touched += match touch(&mut state.mapped, start, end, &mut self.page_use) {
                Touched::Fresh(bytes) => bytes,
                Touched::Unmapped => return Err(SimulationDefect::Uncovered { event: idx, region }),
                Touched::InUse(offset) => {
                    return Err(SimulationDefect::Overlap {
                        event: idx,
                        region,
                        offset,
                    });
                }
            };
        }
        // An empty block overlaps nothing, and shares its offset with others.
        if start < end {
            state.live.insert(start, (end, event.subject.0));
        }
        self.live += self.requested(event);
        Ok(())
    }

    fn free(&mut self, idx: usize, event: &Event) -> Result<(), SimulationDefect> {
        let state = &mut self.regions[event.region.idx()];
        let end = event.offset.saturating_add(event.bytes.get());
        if event.bytes > Bytes::ZERO && state.live.remove(&event.offset) != Some((end, event.subject.0)) {
            return Err(SimulationDefect::Unmatched { event: idx });
        }
        if end > state.malloc {
            self.pages_touched -= untouch(&mut state.mapped, event.offset, end, &mut self.page_use);
        }
        self.live -= self.requested(event);
        Ok(())
    }

    /// Exact bytes of a tensor; inputs and outputs are no feature memory.
    fn requested(&self, event: &Event) -> u64 {
        let row = self.simulation.subject(event.subject);
        match row.subject {
            Subject::Tensor { .. } => row.requested.get(),
            _ => 0,
        }
    }

    fn device(&mut self, idx: usize, event: &Event) -> Result<(), SimulationDefect> {
        let state = &mut self.regions[event.region.idx()];
        if event.kind == EventKind::DeviceMalloc {
            if state.malloc != 0 || event.bytes != self.simulation.region(event.region).bytes {
                return Err(SimulationDefect::Unmatched { event: idx });
            }
            state.malloc = event.bytes.get();
            self.reserve(event);
            return Ok(());
        }
        if state.malloc != event.bytes.get() || !state.live.is_empty() {
            return Err(SimulationDefect::Unmatched { event: idx });
        }
        state.malloc = 0;
        self.release(event);
        Ok(())
    }

    fn map(&mut self, idx: usize, event: &Event) -> Result<(), SimulationDefect> {
        let mapped = &mut self.regions[event.region.idx()].mapped;
        let is_right = if event.kind == EventKind::Map {
            let new = Mapped {
                bytes: event.bytes.get(),
                page: event.subject.0,
                refs: 0,
            };
            mapped.insert(event.offset, new).is_none()
        } else {
            let old = mapped.remove(&event.offset);
            let is_same = |old: &Mapped| old.bytes == event.bytes.get() && old.page == event.subject.0;
            old.is_some_and(|old| old.refs == 0 && is_same(&old))
        };
        if is_right {
            Ok(())
        } else {
            Err(SimulationDefect::Unmatched { event: idx })
        }
    }

    fn reserve(&mut self, event: &Event) {
        self.reserved = self.reserved.saturating_add(event.bytes.get());
        self.features = self.features.saturating_add(self.features_of(event));
    }

    fn release(&mut self, event: &Event) {
        self.reserved = self.reserved.saturating_sub(event.bytes.get());
        self.features = self.features.saturating_sub(self.features_of(event));
    }

    /// The bytes of a region's memory that serve feature memory.
    fn features_of(&self, event: &Event) -> u64 {
        let region = self.simulation.region(event.region);
        if region.kind.is_feature() {
            event.bytes.get().saturating_sub(region.io.get())
        } else {
            0
        }
    }

    fn folds(&self) -> Result<(), SimulationDefect> {
        let curves = fold::curves(self.simulation);
        let peak = |curve: &fold::StepBytes| curve.first_maximum().0.get();
        for (figure, counted, folded) in [
            ("the peak of reserved bytes", self.peak_reserved, peak(&curves.reserved)),
            ("the peak of live bytes", self.peak_live, peak(&curves.live)),
        ] {
            if counted != folded {
                return Err(SimulationDefect::Fold {
                    figure,
                    counted,
                    folded,
                });
            }
        }
        Ok(())
    }
}

/// A live range of the session or the log: run, tensor, start, end, exact bytes.
type LiveRange = (u32, TensorId, Step, Step, Bytes);

/// Each copy of the log's blocks equals the session's lifetimes.
fn tensors(simulation: &Simulation, session: &DeviceSession) -> Result<(), SimulationDefect> {
    let mut expected: Vec<LiveRange> = Vec::new();
    for (idx, run) in (0_u32..).zip(&session.runs) {
        expected.extend(run.bound.lifetimes().map(|item| {
            let (start, end) = (Step(run.start.0 + item.birth.0), Step(run.start.0 + item.end.0));
            (idx, item.tensor, start, end, item.bytes)
        }));
    }
    expected.sort_unstable();
    let mut found: BTreeMap<u16, Vec<LiveRange>> = BTreeMap::new();
    for block in fold::blocks(simulation) {
        let row = simulation.subject(block.subject);
        if let Subject::Tensor { run, tensor, copy } = row.subject {
            let range = (run, tensor, block.start, block.end, row.requested);
            found.entry(copy).or_default().push(range);
        }
    }
    if found.is_empty() && !expected.is_empty() {
        return Err(SimulationDefect::Tensors { copy: 0 });
    }
    for (copy, mut ranges) in found {
        ranges.sort_unstable();
        if ranges != expected {
            return Err(SimulationDefect::Tensors { copy });
        }
    }
    Ok(())
}
