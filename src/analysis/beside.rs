//! Recordings of real runs beside the simulated lanes of a graph.
//!
//! ```text
//! recording   e0 e1 e2 e3 | e4 e5 e6 | e7 ...      events by their times, ops A B C by their starts
//!             A           | C        | B
//! axis        0  1  2 ... step of A .. step of C .. ops of the graph in its own order
//! ```
//!
//! In: a comparison whose workload has recordings beside it. Out: a lane more for each of them, on the axis of the graph.
//! The run may have had another order than the graph's file: the longest run of ops that both have in the same order stands
//! at its own steps, and what happened between two of them is spread between their steps. So peaks are exact, and where they
//! are drawn is near the op; the lane says how many ops stand where they belong. O(events + ops log ops).

use std::collections::BTreeMap;

use super::lanes::LaneId;
use super::measured::{LanePlace, lane, shown};
use super::recorded::contradiction;
use super::{Comparison, Lane, Remark};
use crate::graph::{Graph, OpId};
use crate::plan::Strategy;
use crate::progress::{Cancelled, Progress};
use crate::sim::EventSteps;
use crate::units::{Bytes, Nanos, Step};
use crate::workload::{GraphIdx, Recording};

/// Most recordings that are shown beside simulated lanes: more would leave those no room.
const MOST_BESIDE: usize = 4;

/// Most events of a recording that is drawn beside graphs: each takes a place in a list here.
const MOST_EVENTS: u32 = 1 << 27;

/// An event of a recording that belongs to a step of the axis.
type Anchor = (u32, u32);

/// Measured ops of a run: when each began, and its step on the axis.
type MeasuredOps = Vec<(Nanos, u32)>;

/// Events, ops or steps between two looks at the cancel flag.
const BETWEEN_CHECKS: usize = 1 << 13;

/// Adds a lane for each recording of the workload that holds anything.
///
/// # Errors
/// [`Cancelled`].
pub(super) fn add_recordings(
    comparison: &mut Comparison,
    strategy: &'static Strategy,
    progress: &Progress<'_>,
) -> Result<(), Cancelled> {
    let workload = std::sync::Arc::clone(&comparison.workload);
    let (shown, n_held) = shown(workload.recordings(), MOST_BESIDE);
    if n_held > 0 && comparison.axis.n_steps == 0 {
        comparison.diagnostics.warning(
            "the graph has no step, so recordings beside it are not shown; open them alone".to_owned(),
            "",
        );
        return Ok(());
    }
    for (position, recording) in shown {
        progress.check()?;
        if recording.n_steps > MOST_EVENTS {
            comparison.diagnostics.warning(
                format!(
                    "a recording has more than {MOST_EVENTS} events and is not shown beside the graphs; open it alone"
                ),
                &recording.name,
            );
            continue;
        }
        if let Some(message) = contradiction(recording) {
            comparison.diagnostics.warning(message, &recording.name);
        }
        let aligned = align(comparison, recording, progress)?;
        let n_graphs = u32::try_from(workload.graphs().len()).unwrap_or(u32::MAX);
        let place = LanePlace {
            position,
            graph: GraphIdx(n_graphs.saturating_add(u32::from(position))),
            strategy,
            params: &comparison.params,
        };
        let steps = (EventSteps::Named(&aligned.steps), comparison.axis.n_steps);
        let mut lane = lane((&place, recording), steps, progress)?;
        if aligned.graph.is_none() {
            comparison.diagnostics.info(
                "the recording beside the graph names no op of it: its events are spread over the steps in their order, and \
                 may be of another program"
                    .to_owned(),
                &recording.name,
            );
        }
        let told = [Some(aligned.remark()), predicted(comparison, &lane, recording)];
        lane.explanation.splice(1..1, told.into_iter().flatten());
        comparison.lanes.push(lane);
    }
    if n_held > MOST_BESIDE {
        comparison.diagnostics.info(
            format!(
                "{n_held} recordings are open and the {MOST_BESIDE} with the highest peaks are shown beside the graphs; open them without a graph to see more"
            ),
            "",
        );
    }
    Ok(())
}

/// On which step each event of a recording is drawn, and how that was found.
struct Aligned {
    steps: Vec<u32>,
    /// The run whose ops were measured, by name; `None` where no op of a graph was.
    graph: Option<String>,
    /// Ops that stand at their own step, of those that the graph has.
    n_anchored: usize,
    n_known: usize,
}

impl Aligned {
    /// What is to say about it.
    fn remark(&self) -> Remark {
        let text = match &self.graph {
            None => "The recording names no op of a graph: its events are spread evenly over the axis, in their order."
                .to_owned(),
            Some(graph) if self.n_anchored == self.n_known => {
                format!(
                    "All {} measured ops of {graph} ran in the graph's order; events stand at their steps.",
                    self.n_known
                )
            }
            Some(graph) => format!(
                "{} of {} measured ops of {graph} stand at their own step; the others ran in another order than the graph's and stand between them.",
                self.n_anchored, self.n_known
            ),
        };
        Remark { text, step: None }
    }
}

/// How the simulated peak differs from what was measured, for the policy in force.
fn predicted(comparison: &Comparison, measured: &Lane, recording: &Recording) -> Option<Remark> {
    if !recording.states_live() || measured.summary.peak_live == Bytes::ZERO {
        return None;
    }
    let lane = &comparison.lanes[comparison.main_lane()?];
    if matches!(lane.id, LaneId::Measured(_)) {
        return None;
    }
    let (simulated, real) = (lane.summary.peak_live, measured.summary.peak_live);
    let (larger, smaller, word) = if simulated >= real {
        (simulated, real, "more")
    } else {
        (real, simulated, "less")
    };
    let text = format!(
        "The simulation has {simulated} live at most ({}), {} {word} than was measured.",
        comparison.lane_title(lane.id),
        Bytes(larger.get() - smaller.get())
    );
    Some(Remark {
        text,
        step: measured.summary.peak_live_step,
    })
}

fn align(comparison: &Comparison, recording: &Recording, progress: &Progress<'_>) -> Result<Aligned, Cancelled> {
    let n_events = recording.n_steps;
    let best = best_run(comparison, recording, progress)?;
    let (range, graph, ops) = match best {
        Some((run, ops)) => {
            let axis = &comparison.axis.runs[run];
            let graph = comparison.workload.graphs()[axis.run.graph.0 as usize].name.clone();
            ((axis.start.0, axis.n_steps), Some(graph), ops)
        }
        None => ((0, comparison.axis.n_steps), None, Vec::new()),
    };
    let event_at = |time: Nanos| {
        let event = recording.times.partition_point(|at| *at < time);
        u32::try_from(event).unwrap_or(u32::MAX).min(n_events.saturating_sub(1))
    };
    let by_start: Vec<Anchor> = ops.into_iter().map(|(start, step)| (event_at(start), step)).collect();
    let anchors = longest_ascent(&by_start, progress)?;
    Ok(Aligned {
        steps: spread(n_events, range, &anchors, progress)?,
        graph,
        n_anchored: anchors.len(),
        n_known: by_start.len(),
    })
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

/// The longest part of the pairs in which events do not fall and steps rise; the earliest pairs of several. O(n log n).
pub(super) fn longest_ascent(pairs: &[Anchor], progress: &Progress<'_>) -> Result<Vec<Anchor>, Cancelled> {
    // Of each length, the pair with the smallest step that ends such a part; and who stands before each pair.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (position, (_, step)) in pairs.iter().enumerate() {
        if position.is_multiple_of(BETWEEN_CHECKS) {
            progress.check()?;
        }
        let length = ends.partition_point(|end| pairs[*end].1 < *step);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(position);
        } else {
            ends[length] = position;
        }
    }
    let mut chain = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(position) = next {
        chain.push(pairs[position]);
        next = before[position];
    }
    chain.reverse();
    Ok(chain)
}

/// A step for every event: at the anchors theirs, between them evenly, from the first step of the range to its last. Never
/// falls.
fn spread(
    n_events: u32,
    (start, n_steps): (u32, u32),
    anchors: &[Anchor],
    progress: &Progress<'_>,
) -> Result<Vec<u32>, Cancelled> {
    let last = start.saturating_add(n_steps.saturating_sub(1));
    let mut steps = Vec::with_capacity(n_events as usize);
    let (mut from, mut floor) = ((0, start), start);
    let ends = anchors.iter().copied().chain([(n_events.saturating_sub(1), last)]);
    for (event, step) in ends {
        let (first, lowest) = from;
        let (width, rise) = (event.saturating_sub(first), step.saturating_sub(lowest));
        while u32::try_from(steps.len()).is_ok_and(|at| at < event) {
            if steps.len().is_multiple_of(BETWEEN_CHECKS) {
                progress.check()?;
            }
            let passed = u64::try_from(steps.len()).unwrap_or(u64::MAX) - u64::from(first);
            let risen = u64::from(rise) * passed / u64::from(width.max(1));
            floor = floor.max(lowest + u32::try_from(risen).unwrap_or(rise));
            steps.push(floor);
        }
        from = (event.max(first), step.max(lowest));
    }
    if n_events > 0 {
        steps.push(last);
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Cancel;

    fn longest_ascent(pairs: &[Anchor]) -> Vec<Anchor> {
        super::longest_ascent(pairs, &Progress::silent(&Cancel::new())).expect("nobody cancels")
    }

    fn spread(n_events: u32, range: (u32, u32), anchors: &[Anchor]) -> Vec<u32> {
        super::spread(n_events, range, anchors, &Progress::silent(&Cancel::new())).expect("nobody cancels")
    }

    #[test]
    fn a_cancelled_alignment_stops() {
        let cancel = Cancel::new();
        cancel.cancel();
        let progress = Progress::silent(&cancel);
        assert!(super::longest_ascent(&[(0, 1)], &progress).is_err());
        assert!(super::spread(2, (0, 9), &[], &progress).is_err());
    }

    #[test]
    fn the_longest_common_order_anchors_a_recording() {
        let pairs = [(0, 5), (1, 1), (2, 2), (3, 9), (4, 3), (5, 7)];
        assert_eq!(longest_ascent(&pairs), [(1, 1), (2, 2), (4, 3), (5, 7)]);
        assert_eq!(longest_ascent(&[]), []);
        assert_eq!(longest_ascent(&[(0, 3), (1, 3), (2, 3)]).len(), 1);
    }

    #[test]
    fn events_are_spread_between_anchors() {
        assert_eq!(spread(5, (10, 5), &[]), [10, 11, 12, 13, 14]);
        assert_eq!(spread(3, (0, 9), &[]), [0, 4, 8]);
        assert_eq!(spread(6, (0, 10), &[(2, 8)]), [0, 4, 8, 8, 8, 9]);
        assert_eq!(spread(1, (4, 3), &[(0, 5)]), [6]);
        assert_eq!(spread(0, (0, 3), &[]), [0; 0]);
        // Several ops begin at one event.
        assert_eq!(spread(4, (0, 8), &[(1, 2), (1, 5)]), [0, 5, 6, 7]);
    }

    #[test]
    fn steps_never_fall_and_stay_within_the_range() {
        for seed in 0_u32..200 {
            let pairs: Vec<Anchor> = (0..seed % 17).map(|n| (n * 3 / 2, (n * 7 + seed) % 23)).collect();
            let anchors = longest_ascent(&pairs);
            let steps = spread(40, (0, 24), &anchors);
            assert_eq!(steps.len(), 40);
            assert!(
                steps.is_sorted() && steps.iter().all(|step| *step < 24),
                "{seed}: {steps:?}"
            );
        }
    }
}
