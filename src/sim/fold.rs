//! Folds over the event log: curves, blocks, counts, the summary of a lane. Each is one pass.
//!
//! ```text
//! step        0   1   2        a step's value is the largest that held at any moment of the step,
//! reserved    2   5   3        so a peak can never hide between two events
//! ```

use super::event::{Event, EventKind, RegionId, RegionKind, Simulation, SubjectId};
use super::params::Params;
use crate::units::{Bytes, Nanos, Step};

/// Bytes on each step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curves {
    /// Device bytes in use: mallocs and physical pages.
    pub reserved: Vec<Bytes>,
    /// The share of `reserved` that serves feature memory (arenas and pools).
    pub features: Vec<Bytes>,
    /// Exact bytes that graphs asked for and hold (feature memory).
    pub live: Vec<Bytes>,
}

/// Reserved bytes by what they serve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReservedParts {
    /// Arenas and pools.
    pub features: Bytes,
    /// Frozen weights.
    pub weights: Bytes,
    /// Session variables.
    pub variables: Bytes,
    /// Graph inputs and outputs.
    pub io: Bytes,
}

impl ReservedParts {
    /// The sum.
    pub fn total(&self) -> Bytes {
        self.features + self.weights + self.variables + self.io
    }

    fn part(&mut self, kind: RegionKind) -> &mut Bytes {
        match kind {
            RegionKind::Variables => &mut self.variables,
            RegionKind::Weights => &mut self.weights,
            RegionKind::InputOutput => &mut self.io,
            RegionKind::Arena | RegionKind::PoolBlock | RegionKind::PagedRange => &mut self.features,
        }
    }
}

/// A tensor's stay at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// First step, inclusive.
    pub start: Step,
    /// Last step, exclusive; the end of the axis where it is never freed.
    pub end: Step,
    /// Where.
    pub region: RegionId,
    /// Offset in the region.
    pub offset: u64,
    /// Bytes occupied, after rounding.
    pub bytes: Bytes,
    /// For whom.
    pub subject: SubjectId,
}

/// The exact counts and figures of one lane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The largest device bytes in use.
    pub peak_reserved: Bytes,
    /// The first step that reaches it.
    pub peak_reserved_step: Option<Step>,
    /// Its parts.
    pub reserved: ReservedParts,
    /// The largest requested bytes of feature memory.
    pub peak_live: Bytes,
    /// The first step that reaches it.
    pub peak_live_step: Option<Step>,
    /// 1 - peak live / peak reserved of feature memory; 0 where nothing is reserved.
    pub fragmentation: f64,
    /// Driver mallocs.
    pub device_mallocs: u64,
    /// Driver frees.
    pub device_frees: u64,
    /// Arenas that were freed to be allocated larger.
    pub reallocations: u64,
    /// Physical pages mapped.
    pub pages_mapped: u64,
    /// Graphs unloaded to make room.
    pub unloads: u64,
    /// Address space that was reserved without memory of its own.
    pub virtual_bytes: Bytes,
    /// Whether the run ended early.
    pub out_of_memory: bool,
    /// Estimated time that the policy's own calls cost.
    pub estimated_overhead: Nanos,
}

/// Running sums over the log.
#[derive(Default)]
struct State {
    reserved: ReservedParts,
    live: Bytes,
}

impl State {
    fn apply(&mut self, simulation: &Simulation, event: &Event) {
        match event.kind {
            EventKind::DeviceMalloc | EventKind::PageAlloc => {
                *self.reserved.part(simulation.region(event.region).kind) += event.bytes;
            }
            EventKind::DeviceFree | EventKind::PageFree => {
                let part = self.reserved.part(simulation.region(event.region).kind);
                *part = *part - event.bytes;
            }
            EventKind::Alloc => self.live += simulation.subject(event.subject).requested,
            EventKind::Free => self.live = self.live - simulation.subject(event.subject).requested,
            _ => {}
        }
    }
}

/// Curves with one value a step. O(events + steps).
pub fn curves(simulation: &Simulation) -> Curves {
    let n_steps = simulation.n_steps as usize;
    let mut curves = Curves {
        reserved: Vec::with_capacity(n_steps),
        features: Vec::with_capacity(n_steps),
        live: Vec::with_capacity(n_steps),
    };
    let mut state = State::default();
    let mut events = simulation.events.iter().peekable();
    for step in 0..simulation.n_steps {
        let (mut reserved, mut features, mut live) = (state.reserved.total(), state.reserved.features, state.live);
        let mut is_growing = false;
        while let Some(event) = events.next_if(|event| event.step.0 <= step) {
            state.apply(simulation, event);
            // Frees come first within a step: what they give back does not count on it any more.
            is_growing |= matches!(
                event.kind,
                EventKind::Alloc | EventKind::DeviceMalloc | EventKind::PageAlloc
            );
            if is_growing {
                reserved = reserved.max(state.reserved.total());
                features = features.max(state.reserved.features);
                live = live.max(state.live);
            } else {
                (reserved, features, live) = (state.reserved.total(), state.reserved.features, state.live);
            }
        }
        curves.reserved.push(reserved);
        curves.features.push(features);
        curves.live.push(live);
    }
    curves
}

/// Every tensor's stay, in the order of allocation. O(events).
pub fn blocks(simulation: &Simulation) -> Vec<Block> {
    let mut open: Vec<Option<usize>> = vec![None; simulation.subjects.len()];
    let mut blocks: Vec<Block> = Vec::new();
    for event in &simulation.events {
        let slot = event.subject.0 as usize;
        match event.kind {
            EventKind::Alloc => {
                open[slot] = Some(blocks.len());
                blocks.push(Block {
                    start: event.step,
                    end: Step(simulation.n_steps),
                    region: event.region,
                    offset: event.offset,
                    bytes: event.bytes,
                    subject: event.subject,
                });
            }
            EventKind::Free => {
                if let Some(block) = open[slot].take() {
                    blocks[block].end = event.step;
                }
            }
            _ => {}
        }
    }
    blocks
}

/// The figures of a lane. O(events + steps).
pub fn summary(simulation: &Simulation, curves: &Curves, params: &Params) -> Summary {
    let mut summary = Summary {
        out_of_memory: simulation.out_of_memory.is_some(),
        ..Summary::default()
    };
    (summary.peak_reserved, summary.peak_reserved_step) = first_maximum(&curves.reserved);
    (summary.peak_live, summary.peak_live_step) = first_maximum(&curves.live);
    summary.fragmentation = fragmentation(curves);
    summary.reserved = parts_at_peak(simulation, summary.peak_reserved);
    count(simulation, params, &mut summary);
    summary
}

fn first_maximum(curve: &[Bytes]) -> (Bytes, Option<Step>) {
    let mut best: (Bytes, Option<Step>) = (Bytes::ZERO, None);
    for (step, bytes) in (0_u32..).zip(curve) {
        if best.1.is_none() || *bytes > best.0 {
            best = (*bytes, Some(Step(step)));
        }
    }
    best
}

/// 1 - peak live / peak reserved of feature memory: what the policy holds beyond what its graphs ever need at once.
fn fragmentation(curves: &Curves) -> f64 {
    let (reserved, _) = first_maximum(&curves.features);
    let (live, _) = first_maximum(&curves.live);
    if reserved == Bytes::ZERO {
        return 0.0;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio for display, shown with three figures"
    )]
    let ratio = live.get() as f64 / reserved.get() as f64;
    (1.0 - ratio).max(0.0)
}

fn parts_at_peak(simulation: &Simulation, peak: Bytes) -> ReservedParts {
    if peak == Bytes::ZERO {
        return ReservedParts::default();
    }
    let mut state = State::default();
    for event in &simulation.events {
        state.apply(simulation, event);
        if state.reserved.total() == peak {
            return state.reserved;
        }
    }
    state.reserved
}

fn count(simulation: &Simulation, params: &Params, summary: &mut Summary) {
    let mut overhead = 0_u64;
    let mut add = |cost: Nanos, times: u64| overhead = overhead.saturating_add(cost.0.saturating_mul(times));
    for event in &simulation.events {
        match event.kind {
            EventKind::DeviceMalloc => {
                summary.device_mallocs += 1;
                add(params.malloc_cost, 1);
            }
            EventKind::DeviceFree => {
                summary.device_frees += 1;
                add(params.free_cost, 1);
            }
            EventKind::Reallocate => summary.reallocations += 1,
            EventKind::Map => {
                let pages = event.bytes.get().div_ceil(params.physical_page.get().max(1));
                summary.pages_mapped += pages;
                add(params.map_cost, pages);
            }
            EventKind::Unload => summary.unloads += 1,
            EventKind::Reserve => summary.virtual_bytes += event.bytes,
            EventKind::Reload => add(reload_cost(event.bytes, params), 1),
            EventKind::Sync => add(params.sync_cost, 1),
            _ => {}
        }
    }
    summary.estimated_overhead = Nanos(overhead);
}

fn reload_cost(bytes: Bytes, params: &Params) -> Nanos {
    let nanos = u128::from(bytes.get()) * 1_000_000_000 / u128::from(params.reload_bytes_per_second.max(1));
    Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
