//! Recordings of real runs as lanes next to the simulated lanes of a graph.
//!
//! ```text
//! recording   e0 e1 e2 e3 | e4 e5 e6 | e7 ...      events by time, ops A B C by start
//!             A           | C        | B
//! axis        0  1  2 ... step of A .. step of C .. ops of the graph in its own order
//! ```
//!
//! Alignment by ops: the run may have executed ops in another order than the graph's file. The longest common
//! subsequence of ops aligns with its own steps; events between two of these ops are spread between their steps. So
//! peaks are exact, and their steps are near the op; the lane reports how many ops align. Where the recording lacks
//! what the requested alignment needs, the next alignment is used, and the lane reports it. O(events + ops log ops).

mod by_loads;
mod by_ops;
mod by_phases;
mod by_time;
mod spread;

pub(super) use spread::longest_ascent;

use super::comparison::Comparison;
use super::lane::{Lane, Remark};
use super::recording_figures::contradiction;
use super::recording_lanes::{LanePlace, recording_lane, shown};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Nanos, counted, percents};
use highwater_model::workload::{Alignment, GraphIdx, Recording, learn_ops};
use highwater_options::keys;
use highwater_plan::Strategy;
use highwater_sim::EventSteps;
use spread::spread;

/// Most recordings next to simulated lanes, so that these keep enough height.
const MAX_BESIDE: usize = 4;

/// Most events of a recording next to graphs: each takes an entry of a list.
const MAX_EVENTS: u32 = 1 << 27;

/// An event of a recording and its step on the axis.
type Anchor = (u32, u32);

/// Events, ops or steps between two checks of the cancel flag.
const BETWEEN_CHECKS: usize = 1 << 13;

/// Adds a lane for each recording with content.
///
/// # Errors
/// [`Cancelled`].
pub(super) fn add_recordings(
    comparison: &mut Comparison,
    strategy: &'static Strategy,
    alignment: Alignment,
    progress: &Progress<'_>,
) -> Result<(), Cancelled> {
    let workload = std::sync::Arc::clone(&comparison.workload);
    let (shown, n_held) = shown(workload.recordings(), MAX_BESIDE);
    if n_held > 0 && comparison.axis.n_steps == 0 {
        comparison.diagnostics.warning(
            "the graph has no ops, so its recordings are not shown; open them alone".to_owned(),
            "",
        );
        return Ok(());
    }
    for (position, recording) in shown {
        progress.check()?;
        if recording.n_steps > MAX_EVENTS {
            comparison.diagnostics.warning(
                format!("a recording with more than {MAX_EVENTS} events is not shown with graphs; open it alone"),
                &recording.name,
            );
            continue;
        }
        if let Some(message) = contradiction(recording) {
            comparison.diagnostics.warning(message, &recording.name);
        }
        let aligned = align(comparison, recording, alignment, progress)?;
        let n_graphs = u32::try_from(workload.graphs().len()).unwrap_or(u32::MAX);
        let place = LanePlace {
            position,
            graph: GraphIdx(n_graphs.saturating_add(u32::from(position))),
            strategy,
            params: &comparison.params,
        };
        let steps = EventSteps::Named(aligned.steps.into());
        let mut lane = recording_lane(&place, recording, &steps, comparison.axis.n_steps, progress)?;
        if matches!(aligned.how, How::Nothing) {
            comparison.diagnostics.info(
                "no op names of the recording and the graph match; aligned by order only (is it a recording of this \
                 graph?)"
                    .to_owned(),
                &recording.name,
            );
        }
        let is_learned_from = is_learned_from(comparison, recording);
        if let Some(recorded) = &mut lane.recorded {
            recorded.is_learned_from = is_learned_from;
        }
        let text = aligned.how.sentence(alignment);
        let remarks = [
            Some(Remark { text, step: None }),
            predicted(comparison, &lane, recording),
        ];
        lane.explanation.splice(1..1, remarks.into_iter().flatten());
        comparison.lanes.push(lane);
    }
    if n_held > MAX_BESIDE {
        comparison.diagnostics.info(
            format!(
                "{n_held} recordings are open; the {MAX_BESIDE} with the highest peaks are shown with the graphs; \
                 open recordings alone to see all"
            ),
            "",
        );
    }
    Ok(())
}

/// The step of each event, and the alignment that gave it.
struct Aligned {
    steps: Vec<u32>,
    how: How,
}

/// The alignment that was possible.
enum How {
    /// By the measured ops of a run.
    Ops {
        graph: String,
        /// Ops that are aligned with their own step.
        n_anchored: usize,
        n_known: usize,
        /// Whether some ops ran more than once.
        is_repeated: bool,
        /// The table of kernels with the times, where the recording has none.
        kernels: Option<String>,
    },
    /// By the loads of a log: how many are of runs, of how many.
    Loads { n_matched: usize, n_loads: usize },
    /// By notes of the run: how many align with a phase of the graph, of how many that name one.
    Phases {
        n_kept: usize,
        n_marks: usize,
        names: Vec<&'static str>,
    },
    /// No phase is marked: by beginning, peak and end, where the peaks are known.
    Peak { is_known: bool },
    /// By the share of the total time.
    Time { measured: Nanos, simulated: Nanos },
    /// By the number of the event, as asked for.
    Events,
    /// Events are spread evenly.
    Nothing,
}

impl How {
    /// A sentence about the alignment and about a request that could not be met.
    fn sentence(&self, requested: Alignment) -> String {
        let text = match self {
            Self::Events => "Events are spread evenly over the steps.".to_owned(),
            Self::Nothing => "No op names match; aligned by order only.".to_owned(),
            Self::Loads { n_matched, n_loads } => format!(
                "{n_matched} of {} of the log {} at the first steps of the runs of their graphs, with the unloads before \
                 them.",
                counted(*n_loads as u64, "load"),
                if *n_matched == 1 { "is" } else { "are" }
            ),
            Self::Ops {
                graph,
                n_anchored,
                n_known,
                is_repeated,
                kernels,
            } => {
                let mut ops = if n_anchored == n_known {
                    format!(
                        "All {n_known} measured ops of {graph} ran in the graph's order; events are at their steps."
                    )
                } else {
                    format!(
                        "{n_anchored} of {n_known} measured ops of {graph} are at their steps; the others ran in \
                         another order and are placed between them."
                    )
                };
                if *is_repeated {
                    ops += " Ops that ran several times are placed once.";
                }
                ops + &kernels.as_deref().map(by_kernels).unwrap_or_default()
            }
            Self::Phases { n_kept, n_marks, names } => format!(
                "{n_kept} of {n_marks} marks of the recording match phases of the simulation ({}); events between \
                 them are spread evenly.",
                names.join(", ")
            ),
            Self::Peak { is_known: true } => {
                "No phase of the recording matches the simulation; aligned by start, peak and end.".to_owned()
            }
            Self::Peak { is_known: false } => {
                "No phase of the recording matches the simulation; aligned by start and end.".to_owned()
            }
            Self::Time { measured, simulated } => format!(
                "Events are aligned by share of the time: {measured} of the recording correspond to {simulated} of \
                 the steps."
            ),
        };
        match (requested, self) {
            (Alignment::Time, Self::Ops { .. } | Self::Nothing) => {
                format!("Alignment by time is impossible, no times are known. {text}")
            }
            (Alignment::Steps | Alignment::Annotation | Alignment::CallSite, _) => format!(
                "Alignment by {} is for recordings alone, not beside a graph. {text}",
                requested.name()
            ),
            _ => text,
        }
    }
}

/// The sentence where another recording states when ops ran.
fn by_kernels(kernels: &str) -> String {
    format!(
        " Op times are from {kernels} (same clock); allocations precede their kernels, so events may be some steps \
         early."
    )
}

/// The difference between the simulated peak of the main lane and the measured one.
fn predicted(comparison: &Comparison, measured: &Lane, recording: &Recording) -> Option<Remark> {
    if recording.is_host || !recording.states_live() || measured.summary.peak_live == Bytes::ZERO {
        return None;
    }
    let lane = &comparison.lanes[comparison.main_lane()?];
    if lane.is_measured() {
        return None;
    }
    let name = comparison.lane_title(lane.id);
    let (simulated, real) = (lane.summary.peak_live, measured.summary.peak_live);
    let mut text = format!(
        "Simulated peak live: {simulated} ({name}), {} than measured.",
        off_by(simulated, real)
    );
    let (reserved, really) = (lane.summary.peak_reserved, measured.summary.peak_reserved);
    if recording.states_reserved() && really > Bytes::ZERO {
        text += &format!(
            " Simulated peak reserved: {reserved}, {} than the {really} of the run.",
            off_by(reserved, really)
        );
    }
    if is_learned_from(comparison, recording) {
        text += &format!(" It {BY_CONSTRUCTION}.");
    }
    Some(Remark {
        text,
        step: measured.summary.peak_live_step,
    })
}

/// Whether scratch memory of the graphs' ops was taken from a recording: the file of the graph stores that of the ops that
/// ran, or the table of the options is the one that the recording teaches.
fn is_learned_from(comparison: &Comparison, recording: &Recording) -> bool {
    let graphs = comparison.workload.graphs().iter();
    let has_scratch = recording.ops.iter().any(|op| op.scratch > Bytes::ZERO);
    let is_stored = has_scratch
        && graphs
            .map(|entry| learn_ops(&entry.graph, recording))
            .any(|learned| learned.scratch > Bytes::ZERO);
    is_stored
        || comparison
            .calibrations
            .iter()
            .filter(|one| one.recording == recording.name)
            .flat_map(|one| &one.settings)
            .any(|setting| setting.key == keys::WORKSPACE_TABLE && setting.now == setting.learned)
}

/// What is said of such a figure.
pub const BY_CONSTRUCTION: &str = "fits by construction: the scratch memory of its ops was learned from this recording";

/// The difference of a simulated from a measured figure, which is not 0: `1.50 MiB (3.2 %) more`.
pub fn off_by(simulated: Bytes, real: Bytes) -> String {
    let difference = Bytes(simulated.get().abs_diff(real.get()));
    let word = if simulated >= real { "more" } else { "less" };
    format!("{difference} ({}) {word}", percents(difference.percent_of(real), 1))
}

/// The requested alignment, or the next that is possible.
fn align(
    comparison: &Comparison,
    recording: &Recording,
    alignment: Alignment,
    progress: &Progress<'_>,
) -> Result<Aligned, Cancelled> {
    let found = match alignment {
        Alignment::Ops | Alignment::CallSite => by_loads::by_loads(comparison, recording),
        Alignment::Phases | Alignment::Steps | Alignment::Annotation => {
            Some(by_phases::by_phases(comparison, recording, progress)?)
        }
        Alignment::Time => by_time::by_time(comparison, recording, progress)?,
        Alignment::Events => Some(Aligned {
            steps: spread(recording.n_steps, 0, comparison.axis.n_steps, &[], progress)?,
            how: How::Events,
        }),
    };
    if let Some(found) = found {
        return Ok(found);
    }
    if let Some(found) = by_ops::by_ops(comparison, recording, progress)? {
        return Ok(found);
    }
    Ok(Aligned {
        steps: spread(recording.n_steps, 0, comparison.axis.n_steps, &[], progress)?,
        how: How::Nothing,
    })
}

/// The first event that is not before a time; the last one where all are.
fn event_at(recording: &Recording, time: Nanos) -> u32 {
    let event = recording.times.n_before(time);
    u32::try_from(event)
        .unwrap_or(u32::MAX)
        .min(recording.n_steps.saturating_sub(1))
}
