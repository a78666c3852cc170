//! The lane of a recording: blocks, regions and curves are those that the file states. The lane reports what the file does
//! not state (addresses, reserved bytes).

use std::cmp::Reverse;
use std::sync::Arc;

use super::arena::Plans;
use super::lane::{Lane, RecordedLane};
use super::lane_set::LaneId;
use super::recorded_failures::{RecordedFailures, Replayed};
use super::recording_figures::fragmentation;
use super::recording_remarks::{ReservedSource, remarks};
use super::run_lanes::{LaneParts, clear_call_costs, with_folds};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{GraphIdx, Lifetimes, RecordedTotal, Recording, TotalKind};
use highwater_plan::Strategy;
use highwater_sim::fold::{StepBytes, curves, curves_without_rounding};
use highwater_sim::{
    BoundGraph, DeviceRun, DeviceSession, EventSteps, LoadedGraph, Params, RecordedRanges, recorded_log,
};

/// The recordings that are shown, with their numbers among those with content, and the count of the latter. Of more than
/// `most`, those with the highest peaks (of devices before the host's; the first on a tie), in the order of the workload.
pub(super) fn shown(all: &[Arc<Recording>], most: usize) -> (Vec<(u16, &Arc<Recording>)>, usize) {
    let held = all.iter().filter(|one| one.has_content());
    let n_held = held.clone().count();
    let mut shown: Vec<(u16, &Arc<Recording>)> = (0..=u16::MAX).zip(held).collect();
    if shown.len() > most {
        let mut ranked: Vec<(bool, Reverse<Bytes>, u16)> = shown
            .iter()
            .map(|(number, recording)| (recording.is_host, Reverse(recording.highest_peak()), *number))
            .collect();
        ranked.sort_unstable();
        ranked.truncate(most);
        shown.retain(|(number, _)| ranked.iter().any(|(.., kept)| kept == number));
    }
    (shown, n_held)
}

/// The place of a recording among the lanes.
pub(super) struct LanePlace<'a> {
    /// Its number among the recordings with content.
    pub(super) position: u16,
    /// The graph index of its blocks, behind those of the workload.
    pub(super) graph: GraphIdx,
    /// The strategy of the options, which a recording does not use.
    pub(super) strategy: &'static Strategy,
    pub(super) params: &'a Params,
}

/// The lane of a recording. `steps` are the steps of its events; several events may share one.
pub(super) fn recording_lane(
    place: &LanePlace<'_>,
    recording: &Arc<Recording>,
    steps: &EventSteps,
    n_steps: u32,
    progress: &Progress<'_>,
) -> Result<Lane, Cancelled> {
    let replayed = Replayed::unasked(std::iter::once(&**recording));
    let log = recorded_log(recording, steps.clone(), n_steps, progress)?;
    let parts = LaneParts {
        id: LaneId::Measured(place.position),
        strategy: place.strategy,
        plans: Plans::new(),
    };
    // The log tells what the allocator rounds: no view reads a second curve of every event, unless it is the only one of
    // reserved bytes.
    let curves = match recording.regions[..] {
        [] => curves(&log.simulation),
        _ => curves_without_rounding(&log.simulation),
    };
    let mut lane = with_folds(log.simulation, curves, parts, place.params);
    clear_call_costs(&mut lane);
    lane.title = Some(recording.name.clone());
    lane.shares_steps = steps.is_shared();
    lane.session = Some(Arc::new(session(place.graph, recording, steps, n_steps)));
    lane.recorded = Some(RecordedLane {
        event_steps: match steps {
            EventSteps::Own(_) => Arc::default(),
            EventSteps::Named(named) => Arc::clone(named),
        },
        fragmentation: fragmentation(recording),
        failures: Arc::new(RecordedFailures::new(recording, replayed, progress)?),
        is_learned_from: false,
    });
    let source = set_stated_curves(&mut lane, recording, steps, n_steps);
    lane.explanation = remarks(&lane, recording, source, log.n_stacked);
    Ok(lane)
}

/// The blocks of a recording as the live ranges of one run.
fn session(graph: GraphIdx, recording: &Arc<Recording>, steps: &EventSteps, n_steps: u32) -> DeviceSession {
    let recorded = RecordedRanges {
        recording: Arc::clone(recording),
        steps: steps.clone(),
        n_steps,
    };
    let bound = BoundGraph {
        program: Lifetimes {
            n_steps,
            items: Vec::new(),
        }
        .into(),
        recorded: Some(recorded),
        ..BoundGraph::default()
    };
    let empty_graph = |name: &str| LoadedGraph {
        name: name.to_owned(),
        is_static: false,
        has_collectives: false,
        weights: Vec::new(),
    };
    let mut graphs: Vec<LoadedGraph> = (0..graph.0).map(|_| empty_graph("")).collect();
    graphs.push(empty_graph(&recording.name));
    DeviceSession {
        graphs,
        runs: vec![DeviceRun {
            graph,
            bound: Arc::new(bound),
            start: Step(0),
            n_steps,
        }],
        n_steps,
        ..DeviceSession::default()
    }
}

/// Replaces the curves that have no blocks or regions by those that the file states.
fn set_stated_curves(lane: &mut Lane, recording: &Recording, steps: &EventSteps, n_steps: u32) -> ReservedSource {
    let stated = |kind: TotalKind| recording.total(kind).map(|total| spread(total, steps, n_steps));
    if recording.blocks.is_empty()
        && let Some(live) = stated(TotalKind::Allocated)
    {
        lane.curves.rounded.clone_from(&live);
        lane.curves.live = live;
    }
    let source = match stated(TotalKind::Reserved) {
        _ if !recording.regions.is_empty() => ReservedSource::Regions,
        Some(reserved) => {
            lane.curves.reserved = reserved;
            ReservedSource::Stated
        }
        None => {
            lane.curves.reserved.clone_from(&lane.curves.rounded);
            ReservedSource::Missing
        }
    };
    lane.curves.rounded.clone_from(&lane.curves.live);
    if source != ReservedSource::Regions {
        lane.curves.features.clone_from(&lane.curves.reserved);
    }
    let peak = lane.curves.reserved.first_maximum();
    let live = lane.curves.live.first_maximum();
    let summary = &mut lane.summary;
    (summary.peak_reserved, summary.peak_reserved_step) = peak;
    (summary.peak_live, summary.peak_live_step) = live;
    summary.reserved.features = peak.0;
    summary.virtual_bytes = Bytes::ZERO;
    let in_use = match stated(TotalKind::Allocated) {
        // A profiler does not list all blocks of its pool.
        Some(allocated) if source == ReservedSource::Stated => Some(allocated),
        _ => None,
    };
    let in_use = in_use.as_ref().unwrap_or(&lane.curves.live);
    let at_peak = peak.1.map(|step| in_use[step.idx()]).unwrap_or_default();
    summary.internal_waste = peak.0.saturating_sub(at_peak);
    let fragmentation = lane
        .recorded
        .as_ref()
        .and_then(|recorded| recorded.fragmentation.share());
    summary.fragmentation = fragmentation.unwrap_or(0.0);
    source
}

/// A stated curve with one value per step: a value holds until the next, and is 0 before the first. Of several values on one
/// step the largest is shown, so that no peak is lost, and the last one continues.
fn spread(total: &RecordedTotal, steps: &EventSteps, n_steps: u32) -> StepBytes {
    let mut curve = vec![Bytes::ZERO; n_steps as usize];
    let (mut held, mut next) = (Bytes::ZERO, 0);
    for (event, bytes) in &total.samples {
        let step = steps.get(*event).unwrap_or(n_steps) as usize;
        let Some(place) = curve.get(step).copied() else { break };
        if step < next {
            curve[step] = place.max(*bytes);
        } else {
            curve[next..step].fill(held);
            curve[step] = *bytes;
            next = step + 1;
        }
        held = *bytes;
    }
    curve[next..].fill(held);
    curve.into_iter().collect()
}
