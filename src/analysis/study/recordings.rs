//! Recordings of real runs as a comparison: a lane each, on one axis of events; nothing is simulated.
//!
//! ```text
//! rank 0    e0   e1        e2                 one step per event, ordered by time;
//! rank 1       e0    e1 e2                    where some recording states no times, each begins at step 0
//! steps     0  1  2  3  4  5
//! ```
//!
//! Recordings that overlap in time are of one run and keep their clock. Separate runs begin together: each at its first
//! allocation. Other alignments are in [`super::anchors`]: events that correspond share a step.

use std::sync::Arc;

use super::anchors::{anchors, on_one_axis};
use super::differences;
use super::kind::{Compared, ScheduleChoice, ScheduleNote, Study, StudyWords};
use crate::calibration::learned_from_recordings;
use crate::comparison::Comparison;
use crate::error::AnalysisError;
use crate::lane::Lane;
use crate::recording_figures::{contradiction, recording_figures};
use crate::recording_lanes::{LanePlace, recording_lane, shown};
use crate::request::Request;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::TensorId;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::threads::on_threads;
use highwater_model::units::{Nanos, Step, counted};
use highwater_model::workload::{Alignment, Axis, GraphIdx, Recording, Workload};
use highwater_options::Lowered;
use highwater_sim::EventSteps;

/// Most steps of the common axis: every lane keeps some curves of them.
const MAX_STEPS: usize = 8_000_000;

/// Most lanes of recordings.
pub const MOST_RECORDED_LANES: usize = 16;

pub(super) const WORDS: StudyWords = StudyWords {
    step: "event",
    tensor: "block",
    counted: Some("measured, not simulated"),
    no_ops: Some(
        "A recording has no graph, so producers and readers of a block are unknown. See the call site above, if it \
         was recorded.",
    ),
    no_readers: Some("A recording has no readers, so idle blocks are unknown."),
    no_plan: "a recording has no plan",
    no_arena: "A recording has nothing to plan.",
    no_sweep: Some("a recording, which options do not change"),
};

#[derive(Debug)]
pub(super) struct Recordings;

impl Study for Recordings {
    fn words(&self) -> &'static StudyWords {
        &WORDS
    }

    fn schedule_choice(&self) -> ScheduleChoice {
        // The device is the capacity to check against.
        ScheduleChoice::Device
    }

    fn schedule_notes(&self, _: &Workload) -> Vec<ScheduleNote> {
        let text = "Measured, not simulated: options change nothing but the capacity to check against. Allocator settings add \
                    simulated lanes.";
        vec![ScheduleNote::new(text.to_owned())]
    }

    fn compare(&self, request: &Request, lowered: &Lowered, progress: &Progress<'_>) -> Compared {
        let mut diagnostics = Diagnostics::new();
        let (numbers, shown) = shown_lanes(request.workload.recordings(), &mut diagnostics)?;
        let plain: Vec<&Recording> = shown.iter().map(|one| &***one).collect();
        let start = Start {
            alignment: lowered.alignment,
            annotation: &lowered.annotation,
        };
        let steps = common_steps(&plain, start, progress)?;
        let cancel = progress.cancel_flag();
        let lane = |(idx, position): (usize, u16), progress: &Progress<'_>| {
            let recording = shown[idx];
            let of_events = match steps.of_event.get(idx) {
                Some(named) => EventSteps::Named(Arc::clone(named)),
                None => EventSteps::Own(recording.n_steps),
            };
            let place = LanePlace {
                position,
                graph: GraphIdx(u32::from(position)),
                strategy: lowered.strategy,
                params: &lowered.params,
            };
            recording_lane(&place, recording, &of_events, steps.n_steps, progress)
        };
        let mut lanes = if let [position] = numbers[..] {
            vec![lane((0, position), progress)?]
        } else {
            let lanes = on_threads(numbers.into_iter().enumerate().collect(), progress, |place| {
                lane(place, &Progress::silent(cancel))
            });
            lanes.into_iter().collect::<Result<Vec<Lane>, Cancelled>>()?
        };
        let differences = match steps.alignment {
            Some(_) => differences::run_differences(&lanes, &plain),
            None => Vec::new(),
        };
        differences::explain(&mut lanes, &differences);
        report(&plain, &steps, &mut diagnostics);
        let session = lanes.first().and_then(|lane| lane.session.as_deref().cloned());
        let session = session.unwrap_or_default();
        let axis = Axis::single(steps.n_steps);
        let mut comparison = Comparison::new(request, lowered, axis, session, lanes, diagnostics);
        comparison.calibrations = learned_from_recordings(request, lowered, progress)?;
        comparison.run_differences = differences;
        comparison.recordings = shown.iter().map(|recording| recording_figures(recording)).collect();
        Ok(comparison)
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn has_capacity(&self, _: &Workload) -> bool {
        false
    }

    fn summary(&self, comparison: &Comparison) -> String {
        let events = counted(u64::from(comparison.axis.n_steps), "event");
        let simulated = comparison.workload.recordings().iter();
        match simulated.filter(|one| one.simulation.is_some()).count() {
            0 => format!("{events}, measured, not simulated"),
            count => format!(
                "{events}, measured, and under {}",
                counted(count as u64, "other allocator setting")
            ),
        }
    }

    fn tensor_name<'a>(&self, comparison: &'a Comparison, graph: GraphIdx, tensor: TensorId) -> &'a str {
        let block = comparison.recorded_block(graph, tensor);
        block.map_or("", |(recording, block)| recording.block_name(block))
    }

    fn tensor_counts(&self, comparison: &Comparison) -> Vec<usize> {
        block_counts(comparison).collect()
    }
}

/// Blocks of the recordings with content.
pub(super) fn block_counts(comparison: &Comparison) -> impl Iterator<Item = usize> + '_ {
    let recordings = comparison.workload.recordings().iter();
    let recordings = recordings.filter(|recording| recording.has_content());
    recordings.map(|recording| recording.blocks.len())
}

/// The recordings that get lanes, with their numbers; reports those that do not.
fn shown_lanes<'a>(
    all: &'a [Arc<Recording>],
    diagnostics: &mut Diagnostics,
) -> Result<(Vec<u16>, Vec<&'a Arc<Recording>>), AnalysisError> {
    let (shown, n_held) = shown(all, MOST_RECORDED_LANES);
    if n_held < all.len() {
        diagnostics.info(
            match all.len() - n_held {
                1 => "a recording without any bytes is not shown".to_owned(),
                count => format!("{count} recordings without any bytes are not shown"),
            },
            all.iter().find(|one| !one.has_content()).map_or("", |one| &one.name),
        );
    }
    if shown.is_empty() {
        let is_log = all.iter().any(|one| one.process.is_some());
        return Err(if is_log {
            AnalysisError::LogWithoutCurves
        } else {
            AnalysisError::EmptyRecordings
        });
    }
    if n_held > shown.len() {
        diagnostics.warning(
            format!(
                "{n_held} recordings are open, the {} with the highest peaks are shown; choose another under \"show\" \
                 or with --graph NAME",
                shown.len()
            ),
            "",
        );
    }
    Ok(shown.into_iter().unzip())
}

/// Reports how steps are counted, and recordings that contradict themselves.
fn report(shown: &[&Recording], steps: &CommonSteps, diagnostics: &mut Diagnostics) {
    for recording in shown {
        if let Some(message) = contradiction(recording) {
            diagnostics.warning(message, &recording.name);
        }
    }
    if let Some(why) = &steps.impossible {
        let used = match &steps.alignment {
            Some(used) => used,
            None if steps.is_by_time => "separate runs begin together, at their first step mark or allocation",
            None => "all begin at the same step",
        };
        diagnostics.warning(
            format!("the chosen alignment cannot be used: {why}; {used}"),
            &shown[0].name,
        );
        return;
    }
    if let Some(used) = &steps.alignment {
        diagnostics.info(used.clone(), &shown[0].name);
        return;
    }
    if steps.is_moved {
        let text = "the recordings are of separate runs, so each begins at its first step mark or allocation; \
                    simulation.measured_alignment=time keeps their clocks";
        diagnostics.info(text.to_owned(), &shown[0].name);
    }
    let measured = || shown.iter().filter(|one| one.simulation.is_none());
    let untimed = measured().find(|one| one.times.is_empty());
    if let Some(untimed) = untimed.filter(|_| !steps.is_by_time && measured().count() > 1) {
        diagnostics.info(
            "the recording has no times, so all begin at the same step and steps count events".to_owned(),
            &untimed.name,
        );
    }
}

/// Where recordings begin on the common axis.
#[derive(Clone, Copy)]
struct Start<'a> {
    alignment: Alignment,
    /// Part of the name of an annotation; empty for none.
    annotation: &'a str,
}

/// The steps of the events of each recording on the common axis.
struct CommonSteps {
    n_steps: u32,
    is_by_time: bool,
    /// Whether separate runs begin together instead of one behind the other.
    is_moved: bool,
    /// Where events correspond by something else than time: a sentence.
    alignment: Option<String>,
    /// Why the chosen alignment is not the one that was used.
    impossible: Option<String>,
    /// By recording; empty where each begins at step 0.
    of_event: Vec<Arc<[u32]>>,
}

/// As [`steps_of_runs`]; events of simulated allocators are on the steps of the events that they were simulated from.
fn common_steps(
    recordings: &[&Recording],
    start: Start<'_>,
    progress: &Progress<'_>,
) -> Result<CommonSteps, AnalysisError> {
    let measured: Vec<&Recording> = recordings
        .iter()
        .filter(|one| one.simulation.is_none())
        .copied()
        .collect();
    let mut steps = steps_of_runs(&measured, start, progress)?;
    if steps.of_event.is_empty() {
        return Ok(steps);
    }
    for simulation in recordings.iter().filter_map(|one| one.simulation.as_ref()) {
        let source = measured.iter().position(|one| one.name == simulation.measured);
        let own = source.and_then(|source| steps.of_event.get(source).cloned());
        steps.of_event.push(own.unwrap_or_default());
    }
    Ok(steps)
}

/// One step per event, by time (of equal times the earlier recording first); without times each recording begins at step 0.
fn steps_of_runs(
    recordings: &[&Recording],
    start: Start<'_>,
    progress: &Progress<'_>,
) -> Result<CommonSteps, AnalysisError> {
    let n_events: usize = recordings.iter().map(|one| one.n_steps as usize).sum();
    let is_by_time = start.alignment != Alignment::Events && recordings.iter().all(|one| !one.times.is_empty());
    if n_events > MAX_STEPS {
        return Err(AnalysisError::RecordingsTooLong {
            events: n_events as u64,
            limit: MAX_STEPS as u64,
        });
    }
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let found = if recordings.len() > 1 {
        anchors(recordings, start.alignment, start.annotation)
    } else {
        None
    };
    let impossible = match found {
        None => None,
        Some(Err(why)) => Some(why),
        Some(Ok(found)) => {
            let n_events: Vec<u32> = recordings.iter().map(|one| one.n_steps).collect();
            let axis = on_one_axis(&n_events, &found.of_run).filter(|(n_steps, _)| *n_steps as usize <= MAX_STEPS);
            let (n_steps, of_event) = axis.ok_or(AnalysisError::RecordingsTooLong {
                events: n_events.iter().map(|n| u64::from(*n)).sum(),
                limit: MAX_STEPS as u64,
            })?;
            return Ok(CommonSteps {
                n_steps,
                is_by_time: false,
                is_moved: false,
                alignment: Some(found.sentence),
                impossible: None,
                of_event,
            });
        }
    };
    if recordings.len() < 2 || !is_by_time {
        let longest = recordings.iter().map(|one| one.n_steps).max();
        return Ok(CommonSteps {
            n_steps: longest.unwrap_or(0),
            is_by_time,
            is_moved: false,
            alignment: (start.alignment == Alignment::Events && recordings.len() > 1)
                .then(|| "the runs are aligned by the numbers of their events".to_owned()),
            impossible,
            of_event: Vec::new(),
        });
    }
    let origins = match start.alignment {
        Alignment::Time => vec![0; recordings.len()],
        _ => origins(recordings, start.annotation),
    };
    let mut events: Vec<(i128, u32, u32)> = Vec::with_capacity(n_events);
    for (recording, (one, origin)) in (0_u32..).zip(recordings.iter().zip(&origins)) {
        let since = |time: Nanos| i128::from(time.0) - origin;
        events.extend(
            (0_u32..)
                .zip(one.times.iter())
                .map(|(event, time)| (since(time), recording, event)),
        );
    }
    let events = progress.sorted(events)?;
    let mut of_event: Vec<Vec<u32>> = recordings.iter().map(|one| vec![0; one.n_steps as usize]).collect();
    for (step, (_, recording, event)) in (0_u32..).zip(&events) {
        of_event[*recording as usize][*event as usize] = step;
    }
    Ok(CommonSteps {
        n_steps: count(n_events),
        is_by_time,
        is_moved: origins.iter().any(|origin| *origin != origins[0]),
        alignment: None,
        impossible,
        of_event: of_event.into_iter().map(Arc::from).collect(),
    })
}

/// The time at which each recording begins on the common axis: the first annotation of a name; without one the first step
/// mark, where every recording has some; else the first allocation of its run. Recordings that overlap in time are of one
/// run. O(recordings log recordings + blocks + annotations).
fn origins(recordings: &[&Recording], annotation: &str) -> Vec<i128> {
    let marked: Option<Vec<i128>> = recordings.iter().map(|one| first_step_mark(one)).collect();
    let of_run = |run: &[usize]| {
        let named = run
            .iter()
            .filter_map(|position| first_annotation(recordings[*position], annotation));
        let marks = run.iter().filter_map(|position| Some(marked.as_ref()?[*position]));
        let allocations = run.iter().map(|position| first_allocation(recordings[*position]));
        named
            .min()
            .or_else(|| marks.min())
            .or_else(|| allocations.min())
            .unwrap_or(0)
    };
    let first = |one: &Recording| one.times.first().map_or(0, |time| i128::from(time.0));
    let last = |one: &Recording| one.times.last().map_or(0, |time| i128::from(time.0));
    let mut order: Vec<usize> = (0..recordings.len()).collect();
    order.sort_by_key(|position| first(recordings[*position]));
    let mut origins = vec![0; recordings.len()];
    let mut run: Vec<usize> = Vec::new();
    let mut end = i128::MIN;
    let mut finish = |run: &mut Vec<usize>| {
        let origin = of_run(run);
        run.drain(..).for_each(|position| origins[position] = origin);
    };
    for position in order {
        if first(recordings[position]) > end {
            finish(&mut run);
        }
        end = end.max(last(recordings[position]));
        run.push(position);
    }
    finish(&mut run);
    origins
}

/// The time of an event.
fn time_of(one: &Recording, event: Step) -> Option<i128> {
    one.times.get(event.idx()).map(|time| i128::from(time.0))
}

/// The time of the first step that annotations mark, where they mark some by name.
fn first_step_mark(one: &Recording) -> Option<i128> {
    let first = one.step_marks().first().copied()?;
    // Steps that are told by the optimizer alone begin with the recording.
    let is_named = one
        .phases
        .iter()
        .any(|phase| phase.start == first.start && phase.name == first.name);
    time_of(one, first.start).filter(|_| is_named)
}

/// The time of the first annotation with a part of a name, in any case.
fn first_annotation(one: &Recording, part: &str) -> Option<i128> {
    let part = part.to_lowercase();
    let mut phases = one.phases.iter().filter(|_| !part.is_empty());
    let found = phases.find(|phase| one.text(phase.name).to_lowercase().contains(&part))?;
    time_of(one, found.start)
}

/// The time of the first allocation that the recording shows, else of its first event.
fn first_allocation(one: &Recording) -> i128 {
    let block = one.blocks.iter().find(|block| !block.is_older);
    let time = one.times.get(block.map_or(0, |block| block.birth.idx()));
    time.map_or(0, |time| i128::from(time.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::units::Bytes;
    use highwater_model::workload::{RecordedBlock, RecordedName, RecordedPhase};

    fn recording(times: &[u64], birth: u32) -> Recording {
        let n_steps = u32::try_from(times.len()).expect("few steps");
        Recording {
            n_steps,
            times: times.iter().map(|time| Nanos(*time)).collect(),
            names: ["block"].into_iter().collect(),
            blocks: vec![RecordedBlock::new(
                RecordedName(0),
                Step(birth),
                Step(n_steps),
                Bytes(1),
            )],
            ..Recording::default()
        }
    }

    /// With an annotation on one event.
    fn marked(times: &[u64], event: u32, name: &str) -> Recording {
        let mut one = recording(times, 0);
        one.names = ["block", name].into_iter().collect();
        one.phases = vec![RecordedPhase {
            name: RecordedName(1),
            start: Step(event),
            end: Step(event + 1),
        }];
        one
    }

    #[test]
    fn separate_runs_begin_together_and_ranks_of_one_run_keep_their_clock() {
        let cancel = highwater_model::progress::Cancel::default();
        let progress = Progress::silent(&cancel);
        for (recordings, alignment, is_moved, wanted) in [
            (
                vec![recording(&[10, 20], 0), recording(&[15, 25], 0)],
                Alignment::Ops,
                false,
                vec![vec![0, 2], vec![1, 3]],
            ),
            (
                vec![recording(&[10, 20], 0), recording(&[1_000, 1_005], 0)],
                Alignment::Ops,
                true,
                vec![vec![0, 3], vec![1, 2]],
            ),
            (
                vec![recording(&[10, 20], 0), recording(&[1_000, 1_005], 0)],
                Alignment::Time,
                false,
                vec![vec![0, 1], vec![2, 3]],
            ),
            // The first allocation counts, not the first event.
            (
                vec![recording(&[10, 20, 25], 1), recording(&[1_000, 1_006], 0)],
                Alignment::Ops,
                true,
                vec![vec![0, 1, 3], vec![2, 4]],
            ),
            // So does a step mark, where both have one, and an annotation that was asked for.
            (
                vec![
                    marked(&[10, 20, 25], 1, "step 1"),
                    marked(&[1_000, 1_006, 1_007], 2, "step 7"),
                ],
                Alignment::Ops,
                true,
                vec![vec![0, 3, 5], vec![1, 2, 4]],
            ),
            (
                vec![
                    marked(&[10, 20, 25], 2, "forward"),
                    marked(&[1_000, 1_006, 1_007], 0, "Forward"),
                ],
                Alignment::Ops,
                true,
                vec![vec![0, 1, 2], vec![3, 4, 5]],
            ),
            // Event numbers need no axis of times.
            (
                vec![recording(&[10, 20], 0), recording(&[1_000, 1_005], 0)],
                Alignment::Events,
                false,
                vec![],
            ),
            // Corresponding events share a step; a run without one is told.
            (
                vec![
                    marked(&[10, 20, 25], 2, "step 1"),
                    marked(&[1_000, 1_006, 1_007], 0, "step 1"),
                ],
                Alignment::Steps,
                false,
                vec![vec![0, 1, 2], vec![2, 3, 4]],
            ),
            (
                vec![marked(&[10, 20], 0, "forward"), recording(&[1_000, 1_005], 0)],
                Alignment::Annotation,
                true,
                vec![vec![0, 3], vec![1, 2]],
            ),
        ] {
            let recordings: Vec<&Recording> = recordings.iter().collect();
            let start = Start {
                alignment,
                annotation: "forward",
            };
            let steps = common_steps(&recordings, start, &progress).expect("not cancelled");
            let wanted: Vec<Arc<[u32]>> = wanted.into_iter().map(Arc::from).collect();
            assert_eq!((steps.is_moved, &steps.of_event), (is_moved, &wanted));
        }
    }
}
