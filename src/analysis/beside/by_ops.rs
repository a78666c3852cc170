//! Alignment by the ops that ran: each measured op stands at the step of the graph's op of its name.

use std::collections::BTreeMap;

use super::spread::{longest_ascent, spread};
use super::{Aligned, Anchor, BETWEEN_CHECKS, How, event_at};
use crate::analysis::Comparison;
use crate::graph::{Graph, OpId};
use crate::progress::{Cancelled, Progress};
use crate::units::{Nanos, Step};
use crate::workload::{GraphIdx, Recording};

/// Measured ops of a run: when each began, and its step on the axis.
type MeasuredOps = Vec<(Nanos, u32)>;

/// A step for every event; `None` where no measured op is one of a graph.
pub(super) fn by_ops(
    comparison: &Comparison,
    recording: &Recording,
    progress: &Progress<'_>,
) -> Result<Option<Aligned>, Cancelled> {
    let Some((run, ops)) = best_run(comparison, recording, progress)? else {
        return Ok(None);
    };
    let axis = &comparison.axis.runs[run];
    let by_start: Vec<Anchor> = ops
        .into_iter()
        .map(|(start, step)| (event_at(recording, start), step))
        .collect();
    let anchors = longest_ascent(&by_start, progress)?;
    let range = (axis.start.0, axis.n_steps);
    Ok(Some(Aligned {
        steps: spread(recording.n_steps, range, &anchors, progress)?,
        how: How::Ops {
            graph: comparison.workload.graphs()[axis.run.graph.0 as usize].name.clone(),
            n_anchored: anchors.len(),
            n_known: by_start.len(),
        },
    }))
}

/// The first run of the graph that has most of the measured ops, and these: when each began, and its step on the axis.
/// `None` where no graph has any, or the recording has no times.
fn best_run(
    comparison: &Comparison,
    recording: &Recording,
    progress: &Progress<'_>,
) -> Result<Option<(usize, MeasuredOps)>, Cancelled> {
    if recording.ops.is_empty() || recording.times.is_empty() {
        return Ok(None);
    }
    let mut best: Option<(usize, MeasuredOps)> = None;
    for (idx, entry) in (0_u32..).zip(comparison.workload.graphs()) {
        let runs = &comparison.axis.runs;
        let Some(run) = runs.iter().position(|run| run.run.graph == GraphIdx(idx)) else {
            continue;
        };
        let steps = steps_of_ops(comparison, run, progress)?;
        let names = ops_by_name(&entry.graph, progress)?;
        let mut found = MeasuredOps::new();
        for (position, op) in recording.ops.iter().enumerate() {
            if position.is_multiple_of(BETWEEN_CHECKS) {
                progress.check()?;
            }
            let step = names.get(recording.text(op.name)).and_then(|op| steps.get(op));
            found.extend(step.map(|step| (op.start, *step)));
        }
        if found.len() > best.as_ref().map_or(0, |(_, ops)| ops.len()) {
            best = Some((run, found));
        }
    }
    Ok(best)
}

fn ops_by_name<'a>(graph: &'a Graph, progress: &Progress<'_>) -> Result<BTreeMap<&'a str, OpId>, Cancelled> {
    let mut names = BTreeMap::new();
    for (position, op) in graph.ops().ids().enumerate() {
        if position.is_multiple_of(BETWEEN_CHECKS) {
            progress.check()?;
        }
        let name = graph.op_name(op);
        if !name.is_empty() {
            names.entry(name).or_insert(op);
        }
    }
    Ok(names)
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
