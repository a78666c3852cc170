//! The figures of a lane.
//!
//! In: a log, its curves, the cost figures. Out: a [`Summary`]: peaks with their first steps, what is wasted, counts,
//! estimated time. Invariant: the estimated overhead is the sum of its causes.

use super::costs::{Overhead, overhead, total};
use super::curves::Curves;
use super::parts::{ReservedParts, parts_at_peak};
use crate::alloc::PoolFigures;
use crate::event::{EventKind, Simulation};
use crate::params::Params;
use crate::picture::picture;
use highwater_model::units::{Bytes, Nanos, Step};

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
    /// Physical pages taken from the driver.
    pub pages_allocated: u64,
    /// Physical pages unmapped.
    pub pages_unmapped: u64,
    /// Scattered pages joined into ranges of their own.
    pub stitches: u64,
    /// Waits for a stream.
    pub synchronizations: u64,
    /// Times that a pool gave idle memory back.
    pub recycles: u64,
    /// Spans that pools cut.
    pub splits: u64,
    /// Idle neighbours that pools joined.
    pub merges: u64,
    /// Launches that clear memory which ops add to.
    pub clears: u64,
    /// Bytes that these clear.
    pub cleared: Bytes,
    /// Bytes that the engine sets to zero when it loads graphs.
    pub memset: Bytes,
    /// The engine's reach rate of its pools, in percent: live peak over occupied bytes; `None` without pools.
    pub reach_rate: Option<f64>,
    /// Reserved less live bytes of feature memory, on the first step that reserves most for it.
    pub internal_waste: Bytes,
    /// What is idle in the pools when the ops of that step run.
    pub pool_idle: PoolIdle,
    /// Graphs unloaded to make room.
    pub unloads: u64,
    /// The most address space that was reserved at once as virtual ranges, which hold no memory of their own.
    pub virtual_bytes: Bytes,
    /// Whether the run ended early.
    pub out_of_memory: bool,
    /// Estimated time that the policy's own calls cost.
    pub estimated_overhead: Nanos,
    /// The same by cause; causes that do not occur are left out.
    pub overhead: Vec<Overhead>,
}

impl Summary {
    /// Calls of the driver for memory: mallocs, frees, and pages that come, go, are mapped and unmapped.
    pub const fn device_calls(&self) -> u64 {
        let blocks = self.device_mallocs + self.device_frees;
        blocks + self.pages_allocated + self.pages_mapped + self.pages_unmapped
    }
}

/// Idle memory of pools at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolIdle {
    /// All of it.
    pub bytes: Bytes,
    /// The largest piece that one request could have: an idle span, or the idle pages of one graph's range, which
    /// can be joined wherever they lie.
    pub largest: Bytes,
}

impl PoolIdle {
    /// External fragmentation: 1 - largest / all; `None` where nothing is idle.
    pub fn fragmentation(self) -> Option<f64> {
        (self.bytes > Bytes::ZERO).then(|| (1.0 - ratio(self.largest, self.bytes)).max(0.0))
    }
}

/// The figures of a lane. O(events + steps); with pools, O(events * log blocks).
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

/// 1 - peak live / peak reserved of feature memory: what the policy holds beyond what its graphs ever need at once.
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

/// What the pools hold and nobody uses when the ops of a step run.
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
            _ => {}
        }
    }
}

/// The engine's rate over all graph pools: the sum of their live peaks over what they occupy at the end.
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
