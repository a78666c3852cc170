//! Recordings of real runs as a comparison: a lane each, on one axis of events.
//!
//! ```text
//! rank 0    e0   e1        e2                 events by their times, each with a step of its own;
//! rank 1       e0    e1 e2                    where some recording states no times, each begins at step 0
//! steps     0  1  2  3  4  5
//! ```
//!
//! In: a request whose workload holds recordings. Out: a [`Comparison`] in whose lanes nothing is simulated: blocks,
//! regions and curves are those that the files state. What a file does not state (addresses, reserved bytes) is said.

use std::cmp::Reverse;
use std::sync::Arc;

use super::calibration::taught;
use super::lanes::{LaneId, Plans};
use super::measured_remarks::remarks;
use super::recorded::contradiction;
use super::run_lanes::{LaneParts, with_folds};
use super::{AnalysisError, Comparison, EstimatedWorkspaces, Lane, Request, ScratchSource};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Id as _, TensorId};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{
    Axis, AxisRun, GraphIdx, Lifetime, Lifetimes, Program, RecordedTotal, Recording, Run, TotalKind,
};
use highwater_options::Lowered;
use highwater_plan::Strategy;
use highwater_sim::fold::StepBytes;
use highwater_sim::{BoundGraph, DeviceRun, DeviceSession, EventSteps, LoadedGraph, Params, recorded_log};

/// Most steps of the common axis: every lane keeps some curves of them.
const MOST_STEPS: usize = 8_000_000;

/// Most lanes.
const MOST_LANES: usize = 16;

/// The recordings of the workload, a lane each.
pub(super) fn compare_recordings(
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let mut diagnostics = Diagnostics::new();
    let all = request.workload.recordings();
    let (shown, n_held) = shown(all, MOST_LANES);
    if n_held < all.len() {
        diagnostics.info(
            match all.len() - n_held {
                1 => "a recording holds nothing at any time and is not shown".to_owned(),
                count => format!("{count} recordings hold nothing at any time and are not shown"),
            },
            all.iter().find(|one| !one.has_content()).map_or("", |one| &one.name),
        );
    }
    if shown.is_empty() {
        return Err(AnalysisError::EmptyRecordings);
    }
    if n_held > shown.len() {
        diagnostics.warning(
            format!(
                "{n_held} recordings are open and the {} with the highest peaks are shown; choose another under \"show\", or with --graph NAME",
                shown.len()
            ),
            "",
        );
    }
    let (numbers, shown): (Vec<u8>, Vec<&Recording>) = shown.into_iter().unzip();
    let shown = &shown[..];
    let steps = common_steps(shown, progress)?;
    let mut lanes = Vec::new();
    for (idx, (position, recording)) in numbers.into_iter().zip(shown).enumerate() {
        let own = match steps.of_event.get(idx) {
            Some(named) => EventSteps::Named(named),
            None => EventSteps::Own(recording.n_steps),
        };
        let place = LanePlace {
            position,
            graph: GraphIdx(u32::from(position)),
            strategy: lowered.strategy,
            params: &lowered.params,
        };
        lanes.push(lane((&place, recording), (own, steps.n_steps), progress)?);
    }
    tell(shown, steps.is_by_time, &mut diagnostics);
    let session = lanes.first().and_then(|lane| lane.session.as_deref().cloned());
    let mut device = request.device.clone();
    device.memory_bytes = lowered.params.device_bytes.get();
    Ok(Comparison {
        calibrations: taught(request, lowered, progress)?,
        lowest_peak: None,
        equivalence: None,
        lower_bound: false,
        scratch: ScratchSource::Stated,
        workspaces: EstimatedWorkspaces::default(),
        requests: Vec::new(),
        params: lowered.params.clone(),
        rates: lowered.rates,
        workload: Arc::clone(&request.workload),
        axis: axis(steps.n_steps),
        session: session.unwrap_or_default(),
        device,
        device_id: lowered.device_id,
        occupied: lowered.occupied,
        lanes,
        pin_failures: Vec::new(),
        active_policy: lowered.policy,
        estimates: Vec::new(),
        diagnostics,
    })
}

/// Says how the steps of recordings come about, and where one contradicts itself.
fn tell(shown: &[&Recording], is_by_time: bool, diagnostics: &mut Diagnostics) {
    for recording in shown {
        if let Some(message) = contradiction(recording) {
            diagnostics.warning(message, &recording.name);
        }
    }
    if !is_by_time && shown.len() > 1 {
        diagnostics.info(
            "not every recording states times, so each begins at the same step and steps are counts of events"
                .to_owned(),
            &shown[0].name,
        );
    }
}

/// The recordings that are shown, each with its number among those that hold anything, and how many these are. Of too many,
/// those with the highest peaks, the first on a tie; in the order of the workload.
pub(super) fn shown(all: &[Arc<Recording>], most: usize) -> (Vec<(u8, &Recording)>, usize) {
    let held = all.iter().map(|one| &**one).filter(|one| one.has_content());
    let n_held = held.clone().count();
    let mut shown: Vec<(u8, &Recording)> = (0..=u8::MAX).zip(held).collect();
    if shown.len() > most {
        let peak = |recording: &Recording| {
            let stated = recording.total(TotalKind::Allocated).map(|total| total.peak().0);
            let peaks = recording.peaks();
            peaks.reserved.0.max(peaks.live.0).max(stated.unwrap_or_default())
        };
        let mut ranked: Vec<(Reverse<Bytes>, u8)> = shown
            .iter()
            .map(|(number, recording)| (Reverse(peak(recording)), *number))
            .collect();
        ranked.sort_unstable();
        ranked.truncate(most);
        shown.retain(|(number, _)| ranked.iter().any(|(_, kept)| kept == number));
    }
    (shown, n_held)
}

fn axis(n_steps: u32) -> Axis {
    Axis {
        n_steps,
        runs: vec![AxisRun {
            start: Step(0),
            n_steps,
            run: Run {
                graph: GraphIdx(0),
                iteration: 0,
                bindings: Bindings::new(),
            },
            slots: None,
        }],
    }
}

/// Where the events of each recording stand on the common axis.
struct CommonSteps {
    n_steps: u32,
    is_by_time: bool,
    /// Empty where each begins at step 0.
    of_event: Vec<Vec<u32>>,
}

/// Events by time (of equal times the earlier recording first), each with a step of its own; without times each
/// recording begins at step 0.
fn common_steps(recordings: &[&Recording], progress: &Progress<'_>) -> Result<CommonSteps, AnalysisError> {
    let n_events: usize = recordings.iter().map(|one| one.n_steps as usize).sum();
    let is_by_time = recordings.iter().all(|one| !one.times.is_empty());
    if n_events > MOST_STEPS {
        return Err(AnalysisError::RecordingsTooLong {
            events: n_events as u64,
            limit: MOST_STEPS as u64,
        });
    }
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    if recordings.len() < 2 || !is_by_time {
        let longest = recordings.iter().map(|one| one.n_steps).max();
        return Ok(CommonSteps {
            n_steps: longest.unwrap_or(0),
            is_by_time,
            of_event: Vec::new(),
        });
    }
    let mut events: Vec<(Nanos, u32, u32)> = Vec::with_capacity(n_events);
    for (recording, one) in (0_u32..).zip(recordings) {
        events.extend((0_u32..).zip(&one.times).map(|(event, time)| (*time, recording, event)));
    }
    let events = progress.sorted(events)?;
    let mut of_event: Vec<Vec<u32>> = recordings.iter().map(|one| vec![0; one.n_steps as usize]).collect();
    for (step, (_, recording, event)) in (0_u32..).zip(&events) {
        of_event[*recording as usize][*event as usize] = step;
    }
    Ok(CommonSteps {
        n_steps: count(n_events),
        is_by_time,
        of_event,
    })
}

/// Where a recording stands among the lanes.
pub(super) struct LanePlace<'a> {
    /// Its number among the recordings that hold anything.
    pub(super) position: u8,
    /// The graph that its blocks are said to be of: behind those of the workload.
    pub(super) graph: GraphIdx,
    /// What lanes are placed by; a recording is not.
    pub(super) strategy: &'static Strategy,
    pub(super) params: &'a Params,
}

/// The lane of a recording. `steps` names the step of each event, which may be that of other events too.
pub(super) fn lane(
    (place, recording): (&LanePlace<'_>, &Recording),
    (steps, n_steps): (EventSteps<'_>, u32),
    progress: &Progress<'_>,
) -> Result<Lane, Cancelled> {
    let log = recorded_log(recording, steps, n_steps, progress)?;
    let parts = LaneParts {
        id: LaneId::Measured(place.position),
        strategy: place.strategy,
        plans: Plans::new(),
    };
    let mut lane = with_folds(log.simulation, parts, place.params);
    // What calls cost was not measured, and is not estimated for a run that was.
    lane.summary.estimated_overhead = Nanos(0);
    lane.summary.overhead.clear();
    lane.title = Some(recording.name.clone());
    lane.shares_steps = steps.is_shared();
    lane.session = Some(Arc::new(session(place.graph, recording, steps, n_steps)));
    let source = state_curves(&mut lane, recording, steps, n_steps);
    lane.explanation = remarks(&lane, recording, source, log.n_stacked);
    Ok(lane)
}

/// The blocks of a recording as the live ranges of one run.
fn session(graph: GraphIdx, recording: &Recording, steps: EventSteps<'_>, n_steps: u32) -> DeviceSession {
    let at = |step: Step| steps.get(step).unwrap_or(n_steps);
    let items = recording.blocks.iter().enumerate().map(|(number, block)| {
        let birth = at(block.birth);
        Lifetime {
            birth: Step(birth),
            end: Step(at(block.end).max(birth + 1)),
            bytes: block.bytes,
            tensor: TensorId::from_idx(number),
        }
    });
    let items: Vec<Lifetime> = items.collect();
    let bound = BoundGraph {
        // Nothing of a recording is placed, so nobody asks for sizes as an engine pads them.
        engine_sizes: Vec::new(),
        program: Program {
            lifetimes: Lifetimes { n_steps, items },
            separate: Vec::new(),
        },
        ..BoundGraph::default()
    };
    let nobody = |name: &str| LoadedGraph {
        name: name.to_owned(),
        is_static: false,
        has_collectives: false,
        weights: Vec::new(),
    };
    let mut graphs: Vec<LoadedGraph> = (0..graph.0).map(|_| nobody("")).collect();
    graphs.push(nobody(&recording.name));
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

/// Where a lane's curve of reserved bytes comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReservedSource {
    /// Regions of the file.
    Regions,
    /// A curve of the file.
    Stated,
    /// None: what blocks hold is shown.
    Missing,
}

/// Puts the curves that the file states in the place of those that it gives no blocks or regions for.
fn state_curves(lane: &mut Lane, recording: &Recording, steps: EventSteps<'_>, n_steps: u32) -> ReservedSource {
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
        // The blocks of a profiler are not all that its pool serves.
        Some(allocated) if source == ReservedSource::Stated => Some(allocated),
        _ => None,
    };
    let in_use = in_use.as_ref().unwrap_or(&lane.curves.live);
    let at_peak = peak.1.map(|step| in_use[step.idx()]).unwrap_or_default();
    summary.internal_waste = peak.0.saturating_sub(at_peak);
    // Each at its own peak, as of simulated lanes: whether other events share their steps then makes no difference.
    summary.fragmentation = if recording.states_use_of_reserved(live.0, peak.0) {
        wasted_share(in_use.first_maximum().0, peak.0)
    } else {
        0.0
    };
    source
}

/// The share of the reserved bytes that nobody asked for.
#[expect(clippy::cast_precision_loss, reason = "a ratio for display")]
fn wasted_share(live: Bytes, reserved: Bytes) -> f64 {
    if reserved == Bytes::ZERO {
        return 0.0;
    }
    (1.0 - live.get() as f64 / reserved.get() as f64).max(0.0)
}

/// A stated curve with a value a step: each holds until the next; before the first there is nothing. Of several values on
/// one step the largest is shown, so that no peak is lost, and the last one holds on.
fn spread(total: &RecordedTotal, steps: EventSteps<'_>, n_steps: u32) -> StepBytes {
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
