//! Running sums over the log, by use.
//!
//! In: events, one by one. Out: [`ReservedParts`] and other sums. Invariant: the parts add up to the device bytes in
//! use; inputs and outputs in a shared arena count as such while their graph runs.

use crate::event::{Event, EventKind, RegionKind, Simulation, Subject};
use highwater_model::units::Bytes;

/// Reserved bytes by use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReservedParts {
    /// Arenas and pools.
    pub features: Bytes,
    pub weights: Bytes,
    pub variables: Bytes,
    pub io: Bytes,
}

impl ReservedParts {
    pub fn total(&self) -> Bytes {
        self.features + self.weights + self.variables + self.io
    }

    fn part(&mut self, kind: RegionKind) -> &mut Bytes {
        match kind {
            RegionKind::Variables => &mut self.variables,
            RegionKind::Weights => &mut self.weights,
            RegionKind::InputOutput => &mut self.io,
            RegionKind::Arena
            | RegionKind::PoolBlock
            | RegionKind::PagedRange
            | RegionKind::Stitched
            | RegionKind::FixedFeatures
            | RegionKind::Segment
            | RegionKind::ExpandableSegment
            | RegionKind::Unplaced => &mut self.features,
        }
    }
}

/// Running sums over the log, in bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct State {
    pub(super) reserved: ReservedParts,
    pub(super) live: Bytes,
    pub(super) rounded: Bytes,
    pub(super) physical: Bytes,
    pub(super) virtual_space: Bytes,
    /// Inputs and outputs of the graph that ran last, in a shared arena.
    shared_io: Bytes,
}

impl State {
    pub(super) fn apply(&mut self, simulation: &Simulation, event: &Event) {
        match event.kind {
            EventKind::DeviceMalloc | EventKind::PageAlloc => {
                let region = simulation.region(event.region);
                let io = region.io.min(event.bytes);
                *self.reserved.part(region.kind) += event.bytes - io;
                self.reserved.io += io;
                if event.kind == EventKind::PageAlloc {
                    self.physical += event.bytes;
                }
            }
            EventKind::DeviceFree | EventKind::PageFree => {
                let region = simulation.region(event.region);
                let io = region.io.min(event.bytes);
                let part = self.reserved.part(region.kind);
                *part = *part - (event.bytes - io);
                self.reserved.io = self.reserved.io - io;
                if event.kind == EventKind::PageFree {
                    self.physical = self.physical - event.bytes;
                }
            }
            EventKind::Run => self.shared_io = event.bytes,
            EventKind::Reserve => self.virtual_space += event.bytes,
            EventKind::Release => self.virtual_space = self.virtual_space - event.bytes,
            EventKind::Alloc => {
                if let Some(requested) = requested(simulation, event) {
                    self.live += requested;
                    self.rounded += event.bytes;
                }
            }
            EventKind::Free => {
                if let Some(requested) = requested(simulation, event) {
                    self.live = self.live - requested;
                    self.rounded = self.rounded - event.bytes;
                }
            }
            EventKind::Reallocate
            | EventKind::Reuse
            | EventKind::Map
            | EventKind::Unmap
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
    }

    /// The parts, with inputs and outputs in a shared arena moved from features to io.
    pub(super) fn parts(&self) -> ReservedParts {
        let shared_io = self.shared_io.min(self.reserved.features);
        ReservedParts {
            features: self.reserved.features - shared_io,
            io: self.reserved.io + shared_io,
            ..self.reserved
        }
    }
}

/// Exact bytes of a tensor; `None` for blocks of inputs and outputs, which are no feature memory.
pub(super) fn requested(simulation: &Simulation, event: &Event) -> Option<Bytes> {
    let row = simulation.subject(event.subject);
    matches!(row.subject, Subject::Tensor { .. }).then_some(row.requested)
}

/// Reserved bytes by use, after `n_events` events.
pub(crate) fn parts_after(simulation: &Simulation, n_events: usize) -> ReservedParts {
    let mut state = State::default();
    for event in simulation.events.iter().take(n_events) {
        state.apply(simulation, &event);
    }
    state.parts()
}

/// The parts when device bytes in use first reach the peak.
pub(super) fn parts_at_peak(simulation: &Simulation, peak: Bytes) -> ReservedParts {
    if peak == Bytes::ZERO {
        return ReservedParts::default();
    }
    let mut state = State::default();
    let mut reached: Option<State> = None;
    for event in &simulation.events {
        state.apply(simulation, &event);
        let is_at_peak = state.reserved.total() == peak;
        match reached {
            Some(found) if !is_at_peak => return found.parts(),
            // A shared arena that reached the peak at a load is occupied by the next run.
            Some(_) if event.kind == EventKind::Run => return state.parts(),
            None if is_at_peak => reached = Some(state),
            Some(_) | None => {}
        }
    }
    reached.unwrap_or(state).parts()
}
