//! Graphs under the caching allocators of PyTorch and `torch_npu`: a lane per setting, beside the policies.
//!
//! ```text
//! session    variables, weights; per run its inputs, outputs and live ranges of feature memory
//! requests   one event each: at a step frees come before allocations
//! lane       the recording that the allocator makes of them, its events on the steps of the graph
//! ```
//!
//! An estimate: an eager program frees a tensor after its last reader, as the simulation of the graph does, but also
//! allocates what the graph does not show.

use std::sync::Arc;

use super::allocator_lanes::settings_of;
use super::comparison::Comparison;
use super::recording_lanes::{LanePlace, recording_lane};
use super::request::Request;
use super::what_if::{AllocatorFit, AllocatorSetting};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{GraphIdx, RecordedBlock, RecordedNames, Recording, Source, Workload};
use highwater_plan::Strategy;
use highwater_sim::what_if::NoHistory;
use highwater_sim::{DeviceSession, EventSteps};

/// Most settings beside a graph.
const MOST_LANES: usize = 8;

/// Adds a lane per setting to the comparison of graphs.
///
/// # Errors
/// [`Cancelled`].
pub(super) fn add_eager_lanes(
    comparison: &mut Comparison,
    request: &Request,
    strategy: &'static Strategy,
    progress: &Progress<'_>,
) -> Result<(), Cancelled> {
    let settings = settings_of(request);
    if settings.is_empty() || !matches!(request.workload.source, Source::Graphs(_)) || comparison.axis.n_steps == 0 {
        return Ok(());
    }
    let device = Some(comparison.device.memory());
    let requests = Requests::new(comparison, progress)?;
    let fit = match AllocatorFit::new(&requests.recording, None, device, progress) {
        Ok(fit) => fit,
        Err(NoHistory::Cancelled(cancelled)) => return Err(cancelled),
        Err(why) => {
            let message = format!("allocator settings cannot be simulated: {why}");
            comparison.diagnostics.error(message, "");
            return Ok(());
        }
    };
    if let Some(left_out @ 1..) = settings.len().checked_sub(MOST_LANES) {
        let message = format!("at most {MOST_LANES} allocator settings beside a graph; {left_out} are left out");
        comparison.diagnostics.error(message, "");
    }
    let mut measured = comparison.workload.recordings().to_vec();
    for setting in settings.iter().take(MOST_LANES) {
        progress.check()?;
        match lane_recording(&requests.recording, &fit, setting, device, progress) {
            Ok(recording) => measured.push(Arc::new(recording)),
            Err(NoHistory::Cancelled(cancelled)) => return Err(cancelled),
            Err(why) => comparison.diagnostics.error(format!("allocator settings {why}"), ""),
        }
    }
    let first = comparison.workload.recordings().len();
    comparison.workload = Arc::new(Workload {
        measured,
        ..(*comparison.workload).clone()
    });
    let workload = Arc::clone(&comparison.workload);
    let with_content = workload.recordings().iter().enumerate();
    let with_content = with_content.filter(|(_, one)| one.has_content());
    let n_graphs = u32::try_from(workload.graphs().len()).unwrap_or(u32::MAX);
    for (number, (_, recording)) in (0_u16..).zip(with_content).filter(|(_, (at, _))| *at >= first) {
        let place = LanePlace {
            position: number,
            graph: GraphIdx(n_graphs.saturating_add(u32::from(number))),
            strategy,
            params: &comparison.params,
        };
        let steps = EventSteps::Named(Arc::clone(&requests.steps));
        let lane = recording_lane(&place, recording, &steps, comparison.axis.n_steps, progress)?;
        comparison.lanes.push(lane);
    }
    Ok(())
}

fn lane_recording(
    requests: &Recording,
    fit: &AllocatorFit,
    setting: &AllocatorSetting,
    device: Option<Bytes>,
    progress: &Progress<'_>,
) -> Result<Recording, NoHistory> {
    let mut recording = super::allocator_lanes::simulated(requests, fit, setting, device, progress)?;
    if let Some(simulation) = &mut recording.simulation {
        recording.name = format!("{}: {}", simulation.version, recording.name);
        simulation.measured.clear();
    }
    Ok(recording)
}

/// What a graph asks for, as a recording without addresses.
struct Requests {
    recording: Recording,
    /// The step of each event.
    steps: Arc<[u32]>,
}

/// A live range on the common axis.
struct Range {
    start: u32,
    /// Exclusive.
    end: u32,
    bytes: Bytes,
    name: highwater_model::workload::RecordedName,
}

impl Requests {
    fn new(comparison: &Comparison, progress: &Progress<'_>) -> Result<Self, Cancelled> {
        let n_steps = comparison.axis.n_steps;
        let mut names = RecordedNames::default();
        let ranges = ranges(comparison, &comparison.session, &mut names, progress)?;
        // (step, whether it begins, number): frees come first.
        let mut events: Vec<(u32, bool, u32)> = Vec::with_capacity(ranges.len() * 2);
        for (number, range) in (0_u32..).zip(&ranges) {
            events.push((range.start, true, number));
            if range.end < n_steps {
                events.push((range.end, false, number));
            }
        }
        let events = progress.sorted(events)?;
        let count = u32::try_from(events.len()).unwrap_or(u32::MAX);
        let mut blocks: Vec<RecordedBlock> = Vec::with_capacity(ranges.len());
        let mut positions = vec![usize::MAX; ranges.len()];
        let mut steps = Vec::with_capacity(events.len());
        for (event, (step, is_begin, number)) in (0_u32..).zip(events) {
            steps.push(step);
            let number = number as usize;
            if is_begin {
                let range = &ranges[number];
                positions[number] = blocks.len();
                blocks.push(RecordedBlock::new(range.name, Step(event), Step(count), range.bytes));
            } else if let Some(block) = blocks.get_mut(positions[number]) {
                block.end_at(Step(event));
                block.is_freed = true;
            }
        }
        let recording = Recording {
            name: comparison.workload.name.clone(),
            n_steps: count,
            blocks,
            names: names.finish(),
            ..Recording::default()
        };
        Ok(Self {
            recording,
            steps: steps.into(),
        })
    }
}

/// Variables and weights live throughout, inputs and outputs during their run, feature memory as the simulation has it.
fn ranges(
    comparison: &Comparison,
    session: &DeviceSession,
    names: &mut RecordedNames,
    progress: &Progress<'_>,
) -> Result<Vec<Range>, Cancelled> {
    let n_steps = comparison.axis.n_steps;
    let weights = session.graphs.iter().flat_map(|graph| &graph.weights);
    let resident = session.variables.iter().chain(weights);
    let mut ranges: Vec<Range> = resident
        .map(|variable| Range {
            start: 0,
            end: n_steps,
            bytes: variable.bytes,
            name: names.intern(&variable.name),
        })
        .collect();
    for run in &session.runs {
        progress.check()?;
        let end = run.start.0.saturating_add(run.n_steps).min(n_steps);
        let name = |tensor, names: &mut RecordedNames| names.intern(comparison.tensor_name(run.graph, tensor));
        for io in &run.bound.io {
            ranges.push(Range {
                start: run.start.0,
                end,
                bytes: io.bytes,
                name: name(io.tensor, names),
            });
        }
        for item in &run.bound.program.lifetimes.items {
            ranges.push(Range {
                start: run.start.0.saturating_add(item.birth.0),
                end: run.start.0.saturating_add(item.end.0).min(n_steps),
                bytes: item.bytes,
                name: name(item.tensor, names),
            });
        }
    }
    ranges.retain(|range| range.start < range.end && range.bytes > Bytes::ZERO);
    Ok(ranges)
}
