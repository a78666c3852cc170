//! Where the times of an axis come from: durations of ops, or times of events.
//!
//! An op takes the time that its source states, else the estimate `rewrite::remat::op_time`: its launch, and the larger
//! of operations and bytes over the device's rates. A step on which lanes recompute takes as long as the slowest of
//! them. An event of a recording without a graph lasts until the next one; `wall` handles recordings aligned to a
//! graph.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::block::LaneView;
use super::wall::{WallRun, of_ops};
use super::{Axes, TimeAxis};
use highwater_analysis::{Comparison, LaneKind, OpSource};
use highwater_model::graph::{Bindings, Graph};
use highwater_model::workload::{AxisRun, GraphIdx, Recording, Tape};
use highwater_rewrite::remat::op_time;

const NO_OPS: &str = "No open file has ops with a known or estimable time.";
const NO_TIME: &str = "No op states a time, or operations or sizes to estimate it from.";
const EVENTS: &str = "The axis is one of recorded events: their times are not estimated.";
const NO_TIMES: &str = "The recording states the order of its events, but not their times.";
const NOT_ALL_TIMES: &str = "Not every open recording states the times of its events.";
const NO_TIME_PASSES: &str = "All recorded events have the same time.";

impl Axes {
    /// O(steps + ops), and a sort where several recordings share the axis.
    pub(in super::super) fn new(comparison: &Comparison, lanes: &[LaneView]) -> Self {
        let (wall, wall_run) = match wall(comparison) {
            Ok((axis, run)) => (Ok(Arc::new(axis)), run),
            Err(why) => (Err(why), None),
        };
        Self {
            estimated: estimated(comparison, lanes).map(Arc::new),
            wall,
            wall_run,
        }
    }
}

/// Times of the ops of a run, and whether the source states each.
#[derive(Default)]
struct OpTimes {
    times: Vec<u64>,
    is_stated: Vec<bool>,
}

impl OpTimes {
    fn of_graph(graph: &Graph, bindings: &Bindings, comparison: &Comparison) -> Self {
        let sizes = graph.sizes(bindings);
        let time = |op| op_time(graph, &sizes, op, comparison.rates).0;
        Self {
            times: graph.ops().ids().map(time).collect(),
            is_stated: graph.ops().iter().map(|op| op.time.is_some()).collect(),
        }
    }

    fn of_tape(tape: &Tape) -> Self {
        let times: Vec<u64> = tape.executed().map(|(_, op)| op.time.0).collect();
        Self {
            is_stated: vec![true; times.len()],
            times,
        }
    }
}

fn estimated(comparison: &Comparison, lanes: &[LaneView]) -> Result<TimeAxis, &'static str> {
    if comparison.lane_kind() == LaneKind::Recordings {
        return Err(EVENTS);
    }
    let ops = comparison.ops();
    if matches!(ops, OpSource::Program(_) | OpSource::None) {
        return Err(NO_OPS);
    }
    let mut known: BTreeMap<(GraphIdx, &Bindings), OpTimes> = BTreeMap::new();
    let mut durations = vec![0_u64; comparison.axis.n_steps as usize];
    let mut n_stated = 0;
    for run in &comparison.axis.runs {
        let times = known
            .entry((run.run.graph, &run.run.bindings))
            .or_insert_with(|| match ops {
                OpSource::Graphs(entries) => entries
                    .get(run.run.graph.0 as usize)
                    .map(|entry| OpTimes::of_graph(&entry.graph, &run.run.bindings, comparison))
                    .unwrap_or_default(),
                OpSource::Tape(tape) => OpTimes::of_tape(tape),
                OpSource::Program(_) | OpSource::None => OpTimes::default(),
            });
        n_stated += add_run(&mut durations, run, times);
    }
    for recomputed in lanes
        .iter()
        .filter_map(|lane| lane.remat.as_deref())
        .flat_map(|remat| &remat.recomputed)
    {
        if let Some(duration) = durations.get_mut(recomputed.step.idx()) {
            *duration = recomputed.time.0.max(*duration);
        }
    }
    TimeAxis::of_durations(durations, n_stated).ok_or(NO_TIME)
}

/// Sets the durations of a run's ops, recomputations excluded; returns how many are stated.
fn add_run(durations: &mut [u64], run: &AxisRun, times: &OpTimes) -> u32 {
    let mut n_stated = 0;
    for inside in 0..run.n_steps {
        let slot = run.slots.as_deref().map(|slots| slots.get(inside as usize));
        let op = match slot {
            None => inside as usize,
            Some(Some(slot)) if !slot.is_recomputed => slot.op.0 as usize,
            Some(_) => continue,
        };
        let step = run.start.idx() + inside as usize;
        if let (Some(duration), Some(time)) = (durations.get_mut(step), times.times.get(op)) {
            *duration = *time;
            n_stated += u32::from(times.is_stated.get(op).copied().unwrap_or(false));
        }
    }
    n_stated
}

fn wall(comparison: &Comparison) -> Result<(TimeAxis, Option<WallRun>), &'static str> {
    if comparison.lane_kind() != LaneKind::Recordings {
        return of_ops(comparison).map(|(axis, run)| (axis, Some(run)));
    }
    let lanes = comparison.lanes.iter();
    let recordings: Vec<&Arc<Recording>> = lanes.filter_map(|lane| comparison.shared_recording(lane.id)).collect();
    if recordings.is_empty() || recordings.iter().any(|one| one.times.is_empty()) {
        return Err(if recordings.len() > 1 { NOT_ALL_TIMES } else { NO_TIMES });
    }
    if let [one] = recordings[..] {
        return Ok((TimeAxis::of_events(one).ok_or(NO_TIME_PASSES)?, None));
    }
    // Recordings without a graph share one axis by their times.
    let n_times: usize = recordings.iter().map(|one| one.times.len()).sum();
    let mut times: Vec<u64> = Vec::with_capacity(n_times + 1);
    times.extend(recordings.iter().flat_map(|one| one.times.iter()).map(|time| time.0));
    times.sort_unstable();
    let n_stated = u32::try_from(times.len()).unwrap_or(u32::MAX);
    times.extend(times.last().copied());
    let axis = TimeAxis::new(times, n_stated).ok_or(NO_TIME_PASSES)?;
    Ok((axis, None))
}
