//! The plans that a log states for graphs, beside what the planner makes of the same lifetimes.

use std::sync::Arc;

use super::dumped::dumped_problems;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, counted, grouped};
use highwater_model::workload::{LoggedEntry, ProblemEntry, Recording, Workload};
use highwater_plan::{Plan, PlanError, PlanRequest, default_strategy, plan};

/// Most graphs of which each is told.
const MOST_TOLD: usize = 6;

/// Most tensors, in sum, that are placed for these remarks.
const MOST_BUFFERS: usize = 300_000;

/// The arena of a graph of a log.
#[derive(Clone, Debug)]
pub struct LoggedArena {
    /// Of which of the recordings.
    pub recording: usize,
    /// With the plan of the log.
    pub problem: Arc<ProblemEntry>,
    /// `graph_11`.
    graph: String,
    /// Bytes, as the log sums them.
    stated: Option<u64>,
    n_left_out: usize,
}

/// The arenas of all graphs of all processes with placements; of several processes with their names.
pub fn logged_arenas(recordings: &[Arc<Recording>]) -> Vec<LoggedArena> {
    let sessions = recordings.iter().enumerate();
    let sessions = sessions.filter_map(|(position, one)| Some((position, one, one.logged_session()?)));
    let sessions: Vec<_> = sessions.collect();
    let is_alone = sessions.len() == 1;
    let mut arenas = Vec::new();
    for (recording, of, session) in sessions {
        let prefix = if is_alone {
            String::new()
        } else {
            format!("{}: ", of.name)
        };
        arenas.extend(
            session
                .graphs
                .into_iter()
                .filter_map(|one| arena(recording, one, &prefix)),
        );
    }
    arenas
}

fn arena(recording: usize, one: LoggedEntry, prefix: &str) -> Option<LoggedArena> {
    let graph = one.entry.name.clone();
    let (_, problem) = dumped_problems(&[one.entry])
        .into_iter()
        .next()
        .filter(|_| one.is_placed)?;
    let mut problem = Arc::unwrap_or_clone(problem);
    problem.name.insert_str(0, prefix);
    Some(LoggedArena {
        recording,
        problem: Arc::new(problem),
        graph: format!("{prefix}{graph}"),
        stated: one.arena,
        n_left_out: one.n_left_out,
    })
}

/// What is said of the arenas of logs, one by one; of many, of those that differ or lack something.
///
/// # Errors
/// [`Cancelled`].
pub fn logged_remarks(arenas: &[LoggedArena], progress: &Progress<'_>) -> Result<Diagnostics, Cancelled> {
    let mut remarks = Diagnostics::new();
    let (mut n_equal, mut n_buffers) = (0, 0);
    let is_each_told = arenas.len() <= MOST_TOLD;
    for (position, one) in arenas.iter().enumerate() {
        n_buffers += one.problem.problem.buffers.len();
        if n_buffers > MOST_BUFFERS {
            let rest = counted((arenas.len() - position) as u64, "graph");
            let text =
                format!("The plans of {rest} of the log are not compared with the simulation: there are many tensors.");
            remarks.info(text, "");
            break;
        }
        let told = one.told(progress)?;
        n_equal += usize::from(told.is_equal);
        if is_each_told || !told.is_equal {
            remarks.extend(&told.remarks);
        }
    }
    if !is_each_told {
        let count = arenas.len();
        let text = format!("The log's plans of {n_equal} of {count} graphs equal the simulation, offset for offset.");
        remarks.info(text, "");
    }
    Ok(remarks)
}

/// What is said of a plan.
struct Told {
    remarks: Diagnostics,
    is_equal: bool,
}

impl LoggedArena {
    /// Whether the simulated compiler places the tensors as the log says, and what the log lacks.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn remarks(&self, progress: &Progress<'_>) -> Result<Diagnostics, Cancelled> {
        Ok(self.told(progress)?.remarks)
    }

    /// The name of its graph.
    pub fn graph(&self) -> &str {
        &self.graph
    }

    /// The arena as a part of a workload: with the position of its graph, or of its recording where there are no graphs.
    pub fn found(self, workload: &Workload) -> (usize, Arc<ProblemEntry>) {
        let graph = workload.graphs().iter().position(|entry| entry.name == self.graph);
        (graph.unwrap_or(self.recording), self.problem)
    }

    fn told(&self, progress: &Progress<'_>) -> Result<Told, Cancelled> {
        let mut remarks = Diagnostics::new();
        let entry = &*self.problem;
        let request = PlanRequest {
            order: entry.order.as_ref(),
            ..PlanRequest::new(&entry.problem)
        };
        let recorded = entry.recorded.as_ref().map_or(&[][..], |plan| &plan.offsets);
        let simulated = match plan(default_strategy(), &request, progress) {
            Ok(planned) => planned.plan,
            Err(PlanError::Cancelled(cancelled)) => return Err(cancelled),
            Err(error) => {
                remarks.warning(
                    format!("the placements of the log are not simulated: {error}"),
                    &self.graph,
                );
                return Ok(Told {
                    remarks,
                    is_equal: false,
                });
            }
        };
        remarks.info(self.offsets(recorded, &simulated), "");
        let others = [self.arena(&simulated), self.not_covered(recorded), self.left_out()];
        for text in others.into_iter().flatten() {
            remarks.info(text, "");
        }
        let is_equal =
            recorded == simulated.offsets && self.stated.is_none_or(|bytes| bytes == simulated.footprint.get());
        Ok(Told { remarks, is_equal })
    }

    fn offsets(&self, recorded: &[u64], simulated: &Plan) -> String {
        let graph = &self.graph;
        let pairs = recorded.iter().zip(&simulated.offsets).enumerate();
        let mut elsewhere = pairs.filter(|(_, (logged, simulated))| logged != simulated);
        let count = recorded.len();
        let Some((first, (logged, simulated))) = elsewhere.next() else {
            let count = grouped(count as u64);
            return format!("The log's plan of {graph} equals the simulation: {count} of {count} offsets.");
        };
        let name = self.problem.ids.get(first);
        let others = grouped(1 + elsewhere.count() as u64);
        format!(
            "The log's plan of {graph} differs from the simulation: {others} of {} lie elsewhere; first \"{name}\", at \
             {logged} in the log and at {simulated} in the simulation.",
            counted(count as u64, "tensor")
        )
    }

    fn arena(&self, simulated: &Plan) -> Option<String> {
        let (stated, simulated) = (Bytes(self.stated?), simulated.footprint);
        let verdict = difference(simulated, stated);
        let (stated, simulated) = (stated.exact(), simulated.exact());
        let graph = &self.graph;
        Some(format!(
            "The log says the arena of {graph} is {stated}; simulated {simulated}: {verdict}."
        ))
    }

    /// Bytes of the arena behind the last placement: the lines are gone.
    fn not_covered(&self, recorded: &[u64]) -> Option<String> {
        let covered = Plan::new(&self.problem.problem, recorded.to_vec()).footprint;
        let missing = self.stated?.checked_sub(covered.get()).filter(|bytes| *bytes > 0)?;
        let graph = &self.graph;
        Some(format!(
            "The placements of {graph} do not reach the end of its arena: {} of it are not covered. The head of this log \
             may be rotated away; ASCEND_HOST_LOG_FILE_NUM=1000 keeps all files.",
            Bytes(missing)
        ))
    }

    fn left_out(&self) -> Option<String> {
        let count = counted(self.n_left_out as u64, "placement");
        (self.n_left_out > 0).then(|| {
            format!(
                "Left out: {count} of {} without an offset, bytes or a life, or outside of the device's own memory.",
                self.graph
            )
        })
    }
}

/// `equal`, or by how many bytes.
pub(super) fn difference(simulated: Bytes, logged: Bytes) -> String {
    let bytes = Bytes(simulated.get().abs_diff(logged.get())).exact();
    match simulated.cmp(&logged) {
        std::cmp::Ordering::Equal => "equal".to_owned(),
        std::cmp::Ordering::Less => format!("{bytes} less"),
        std::cmp::Ordering::Greater => format!("{bytes} more"),
    }
}
