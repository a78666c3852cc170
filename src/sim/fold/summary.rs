//! The figures of a lane.
//!
//! In: a log, its curves, the cost figures. Out: a [`Summary`]: peaks with their first steps, waste, counts, estimated
//! time. Invariant: the estimated overhead is the sum of its causes.

use super::costs::{Overhead, overhead, total};
use super::curves::Curves;
use super::parts::{ReservedParts, parts_at_peak};
use crate::alloc::PoolFigures;
use crate::event::{EventKind, Simulation};
use crate::params::Params;
use crate::picture::picture;
use highwater_model::units::{Bytes, Nanos, Step};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The largest device bytes in use.
    pub peak_reserved: Bytes,
    /// The first step that reaches it.
    pub peak_reserved_step: Option<Step>,
    /// Parts of `peak_reserved`.
    pub reserved: ReservedParts,
    /// The largest exact bytes of feature memory.
    pub peak_live: Bytes,
    /// The first step that reaches it.
    pub peak_live_step: Option<Step>,
    /// 1 - peak live / peak reserved of feature memory; 0 where nothing is reserved.
    pub fragmentation: f64,
    pub device_mallocs: u64,
    pub device_frees: u64,
    /// Arenas freed to be allocated larger.
    pub reallocations: u64,
    pub pages_mapped: u64,
    /// Physical pages taken from the driver.
    pub pages_allocated: u64,
    pub pages_unmapped: u64,
    /// Scattered pages joined into separate ranges.
    pub stitches: u64,
    /// Waits for a stream.
    pub synchronizations: u64,
    /// Recycled pools.
    pub recycles: u64,
    /// Spans split by pools.
    pub splits: u64,
    /// Idle neighbours merged by pools.
    pub merges: u64,
    /// Launches that clear memory which ops accumulate into.
    pub clears: u64,
    /// Bytes of these clears.
    pub cleared: Bytes,
    /// Bytes that the engine clears when it loads graphs.
    pub memset: Bytes,
    /// The engine's reach rate of its pools, in percent: live peak over occupied bytes; `None` without pools.
    pub reach_rate: Option<f64>,
    /// Reserved less live bytes of feature memory, on the first step with the most reserved for it.
    pub internal_waste: Bytes,
    /// Idle memory of the pools while the ops of that step run.
    pub pool_idle: PoolIdle,
    /// Graphs unloaded to make room.
    pub unloads: u64,
    /// The peak of address space in virtual ranges, which is no memory.
    pub virtual_bytes: Bytes,
    pub out_of_memory: bool,
    /// Estimated time of the policy's own calls.
    pub estimated_overhead: Nanos,
    /// The estimated overhead by cause; causes without calls are left out.
    pub overhead: Vec<Overhead>,
    /// What a further iteration adds to it once pools have stopped growing: the less of the last two iterations. `None` where a
    /// single iteration does not show what recurs, or the run ends early.
    pub overhead_per_iteration: Option<Nanos>,
}

impl Summary {
    /// Driver calls for memory: mallocs, frees, and pages taken, returned, mapped and unmapped.
    pub const fn device_calls(&self) -> u64 {
        let blocks = self.device_mallocs + self.device_frees;
        blocks + self.pages_allocated + self.pages_mapped + self.pages_unmapped
    }
}

/// Idle memory of pools at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolIdle {
    pub bytes: Bytes,
    /// The largest piece available to one request: an idle span, or the idle pages of one graph's range, which can be
    /// joined.
    pub largest: Bytes,
}

impl PoolIdle {
    /// External fragmentation: 1 - largest / all; `None` where nothing is idle.
    pub fn fragmentation(self) -> Option<f64> {
        (self.bytes > Bytes::ZERO).then(|| (1.0 - ratio(self.largest, self.bytes)).max(0.0))
    }
}

/// O(events + steps); with pools, O(events * log blocks).
pub fn summary(simulation: &Simulation, curves: &Curves, params: &Params) -> Summary {
    let mut summary = Summary {
        out_of_memory: simulation.out_of_memory.is_some(),
        overhead: overhead(simulation, params),
        reach_rate: reach_rate(simulation),
        splits: simulation.spans.splits,
        merges: simulation.spans.merges,
        ..Summary::default()
    };
    summary.estimated_overhead = total(&summary.overhead);
    (summary.peak_reserved, summary.peak_reserved_step) = curves.reserved.first_maximum();
    (summary.peak_live, summary.peak_live_step) = curves.live.first_maximum();
    summary.reserved = parts_at_peak(simulation, summary.peak_reserved);
    (summary.virtual_bytes, _) = curves.virtual_space.first_maximum();
    let (features, step) = curves.features.first_maximum();
    summary.fragmentation = fragmentation(features, summary.peak_live);
    if let Some(step) = step {
        summary.internal_waste = features.saturating_sub(curves.live[step.idx()]);
        summary.pool_idle = pool_idle(simulation, step);
    }
    count(simulation, &mut summary);
    summary
}

/// 1 - peak live / peak reserved of feature memory.
fn fragmentation(features: Bytes, live: Bytes) -> f64 {
    if features == Bytes::ZERO {
        return 0.0;
    }
    (1.0 - ratio(live, features)).max(0.0)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a ratio for display, shown with three figures"
)]
fn ratio(part: Bytes, whole: Bytes) -> f64 {
    part.get() as f64 / whole.get() as f64
}

/// Idle memory of the pools while the ops of a step run.
fn pool_idle(simulation: &Simulation, step: Step) -> PoolIdle {
    if simulation.pools.is_empty() {
        return PoolIdle::default();
    }
    let mut idle = PoolIdle::default();
    for pool in picture(simulation, step).pools {
        idle.bytes = idle.bytes + pool.idle() + pool.idle_pages;
        idle.largest = idle.largest.max(pool.largest_idle()).max(pool.idle_pages);
    }
    idle
}

fn count(simulation: &Simulation, summary: &mut Summary) {
    for event in &simulation.events {
        match event.kind {
            EventKind::DeviceMalloc => summary.device_mallocs += 1,
            EventKind::DeviceFree => summary.device_frees += 1,
            EventKind::Reallocate => summary.reallocations += 1,
            EventKind::PageAlloc => summary.pages_allocated += 1,
            EventKind::Map => summary.pages_mapped += 1,
            EventKind::Unmap => summary.pages_unmapped += 1,
            EventKind::Unload => summary.unloads += 1,
            EventKind::Stitch => summary.stitches += 1,
            EventKind::Recycle => summary.recycles += 1,
            EventKind::Sync => summary.synchronizations += 1,
            EventKind::Memset => summary.memset += event.bytes,
            EventKind::Clear => {
                summary.clears += 1;
                summary.cleared += event.bytes;
            }
            EventKind::Alloc
            | EventKind::Free
            | EventKind::Reuse
            | EventKind::Reserve
            | EventKind::Release
            | EventKind::PageFree
            | EventKind::Grant
            | EventKind::Return
            | EventKind::Run
            | EventKind::MemoryInUse
            | EventKind::Reload
            | EventKind::OutOfMemory => {}
        }
    }
}

/// The engine's rate over all graph pools: the sum of their live peaks over the bytes occupied at the end.
fn reach_rate(simulation: &Simulation) -> Option<f64> {
    let pools = || simulation.pools.iter().filter(|pool| pool.graph.is_some());
    pools().next()?;
    let sum = |figure: fn(&PoolFigures) -> u64| pools().map(|pool| figure(&pool.figures)).fold(0, u64::saturating_add);
    let all = PoolFigures {
        occupied: sum(|figures| figures.occupied),
        requested_peak: sum(|figures| figures.requested_peak),
        ..PoolFigures::default()
    };
    Some(all.reach_rate())
}
