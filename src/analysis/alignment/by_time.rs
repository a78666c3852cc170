//! Alignment by time: an event aligns with the step at the same share of the total time.
//!
//! The time of a step is that of its op: stated, else measured by this run, else estimated. A measured run has gaps
//! between its ops that the axis lacks; total times are aligned, so single ops may deviate by the gaps before them.
//! O(steps + events).

use std::collections::BTreeMap;

use super::{Aligned, BETWEEN_CHECKS, How};
use crate::comparison::Comparison;
use highwater_model::graph::Bindings;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Nanos;
use highwater_model::workload::{GraphIdx, Recording};
use highwater_rewrite::remat::op_time;

/// `None` where the run has no times or the steps take none.
pub(super) fn by_time(
    comparison: &Comparison,
    recording: &Recording,
    progress: &Progress<'_>,
) -> Result<Option<Aligned>, Cancelled> {
    let (Some(first), Some(last)) = (recording.times.first(), recording.times.last()) else {
        return Ok(None);
    };
    let ends = step_ends(comparison, progress)?;
    let (measured, simulated) = (last.0 - first.0, ends.last().copied().unwrap_or_default());
    if measured == 0 || simulated == 0 {
        return Ok(None);
    }
    let n_steps = comparison.axis.n_steps;
    let mut steps = Vec::with_capacity(recording.times.len());
    for (position, time) in recording.times.iter().enumerate() {
        if position.is_multiple_of(BETWEEN_CHECKS) {
            progress.check()?;
        }
        // Below the end, so that the last event has a step.
        let passed = u128::from(time.0 - first.0) * u128::from(simulated) / u128::from(measured);
        let step = ends.partition_point(|end| u128::from(*end) <= passed);
        steps.push(u32::try_from(step).unwrap_or(u32::MAX).min(n_steps.saturating_sub(1)));
    }
    Ok(Some(Aligned {
        steps,
        how: How::Time {
            measured: Nanos(measured),
            simulated: Nanos(simulated),
        },
    }))
}

/// By step of the axis: its end, from the begin of the axis, in nanoseconds.
fn step_ends(comparison: &Comparison, progress: &Progress<'_>) -> Result<Vec<u64>, Cancelled> {
    let mut known: BTreeMap<(GraphIdx, &Bindings), Vec<u64>> = BTreeMap::new();
    let mut ends = Vec::with_capacity(comparison.axis.n_steps as usize);
    let mut now = 0_u64;
    for run in &comparison.axis.runs {
        progress.check()?;
        let Some(entry) = comparison.workload.graphs().get(run.run.graph.0 as usize) else {
            continue;
        };
        let times = known.entry((run.run.graph, &run.run.bindings)).or_insert_with(|| {
            let sizes = entry.graph.sizes(&run.run.bindings);
            let time = |op| op_time(&entry.graph, &sizes, op, comparison.rates).0;
            entry.graph.ops().ids().map(time).collect()
        });
        for inside in 0..run.n_steps {
            let op = match &run.slots {
                None => Some(inside as usize),
                Some(slots) => slots
                    .get(inside as usize)
                    .filter(|slot| !slot.is_recomputed)
                    .map(|slot| slot.op.0 as usize),
            };
            let time = op.and_then(|op| times.get(op)).copied().unwrap_or_default();
            now = now.saturating_add(time);
            ends.push(now);
        }
    }
    Ok(ends)
}
