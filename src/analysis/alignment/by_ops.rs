//! Alignment by ops: each measured op aligns with the step of the graph's op of the same name, else of the same
//! type and order.
//!
//! A recording of memory without measured ops uses a table of kernels of the same device and clock, as profilers write
//! it.

use std::collections::{BTreeMap, BTreeSet};

use super::spread::{longest_ascent, spread};
use super::{Aligned, Anchor, BETWEEN_CHECKS, How, event_at};
use crate::comparison::Comparison;
use highwater_model::graph::OpId;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Nanos, Step};
use highwater_model::workload::{GraphIdx, RecordedOp, Recording, match_ops};

/// Measured ops of a run: start, and step on the axis.
type MeasuredOps = Vec<(Nanos, u32)>;

/// `None` where no measured op is one of a graph.
pub(super) fn by_ops(
    comparison: &Comparison,
    recording: &Recording,
    progress: &Progress<'_>,
) -> Result<Option<Aligned>, Cancelled> {
    let kernels = kernels_of(comparison, recording);
    let Some((run, ops)) = best_run(comparison, recording, kernels.unwrap_or(recording), progress)? else {
        return Ok(None);
    };
    let axis = &comparison.axis.runs[run];
    let by_start: Vec<Anchor> = ops
        .into_iter()
        .map(|(start, step)| (event_at(recording, start), step))
        .collect();
    let anchors = longest_ascent(&by_start, progress)?;
    let known: BTreeSet<u32> = by_start.iter().map(|(_, step)| *step).collect();
    Ok(Some(Aligned {
        steps: spread(recording.n_steps, axis.start.0, axis.n_steps, &anchors, progress)?,
        how: How::Ops {
            graph: comparison.workload.graphs()[axis.run.graph.0 as usize].name.clone(),
            n_anchored: anchors.len(),
            n_known: known.len(),
            is_repeated: known.len() < by_start.len(),
            kernels: kernels.map(|kernels| kernels.name.clone()),
        },
    }))
}

/// The table of kernels of a recording without ops: of the same device, mostly within its times; of several the one
/// whose name shares the longest prefix with the recording's, because files of one folder are named after it; of equals
/// the first.
fn kernels_of<'a>(comparison: &'a Comparison, recording: &Recording) -> Option<&'a Recording> {
    let (first, last) = (recording.times.first()?, recording.times.last()?);
    if !recording.ops.is_empty() || recording.device.is_empty() {
        return None;
    }
    let is_of_run = |kernels: &&Recording| {
        let is_within = |op: &&RecordedOp| (first..=last).contains(&op.start);
        let n_within = kernels.ops.iter().filter(is_within).count();
        kernels.is_of_device(&recording.device) && n_within * 2 > kernels.ops.len()
    };
    let in_common = |kernels: &Recording| {
        let letters = kernels.name.chars().zip(recording.name.chars());
        letters.take_while(|(left, right)| left == right).count()
    };
    let all = comparison.workload.recordings().iter().map(|one| &**one);
    let found = all.filter(|one| !one.has_content()).filter(is_of_run);
    found.rev().max_by_key(|kernels| in_common(kernels))
}

/// The first run of the graph with most of the measured ops, and these ops. `None` where no graph has any, or the
/// recording has no times. The ops may come from a separate table.
fn best_run(
    comparison: &Comparison,
    recording: &Recording,
    measured: &Recording,
    progress: &Progress<'_>,
) -> Result<Option<(usize, MeasuredOps)>, Cancelled> {
    if measured.ops.is_empty() || recording.times.is_empty() {
        return Ok(None);
    }
    let mut best: Option<(usize, MeasuredOps)> = None;
    for (idx, entry) in (0_u32..).zip(comparison.workload.graphs()) {
        let runs = &comparison.axis.runs;
        let Some(run) = runs.iter().position(|run| run.run.graph == GraphIdx(idx)) else {
            continue;
        };
        let steps = steps_of_ops(comparison, run, progress)?;
        progress.check()?;
        let matched = match_ops(&entry.graph, measured).ops;
        let mut found = MeasuredOps::new();
        for (position, (op, of_graph)) in measured.ops.iter().zip(matched).enumerate() {
            if position.is_multiple_of(BETWEEN_CHECKS) {
                progress.check()?;
            }
            let step = of_graph.filter(|_| op.states_start()).and_then(|op| steps.get(&op));
            found.extend(step.map(|step| (op.start, *step)));
        }
        if found.len() > best.as_ref().map_or(0, |(_, ops)| ops.len()) {
            best = Some((run, found));
        }
    }
    Ok(best)
}

/// The first step of each op of a run.
fn steps_of_ops(
    comparison: &Comparison,
    run: usize,
    progress: &Progress<'_>,
) -> Result<BTreeMap<OpId, u32>, Cancelled> {
    let axis = &comparison.axis.runs[run];
    let mut steps = BTreeMap::new();
    let end = axis.start.0.saturating_add(axis.n_steps).min(comparison.axis.n_steps);
    for step in axis.start.0..end {
        if (step as usize).is_multiple_of(BETWEEN_CHECKS) {
            progress.check()?;
        }
        if let Some((_, op)) = comparison.axis.locate(Step(step)) {
            steps.entry(op).or_insert(step);
        }
    }
    Ok(steps)
}
