//! A placement problem as a comparison: a lane per strategy, each one arena that is as large as its plan.
//!
//! A buffer with gaps is several live ranges of one buffer; a group is drawn as the memory that it holds, under the
//! name of its first member.

use std::sync::Arc;

use super::kind::{Compared, ScheduleChoice, ScheduleNote, Study, StudyWords, only_shown};
use crate::arena::{given_plan, with_plans};
use crate::comparison::Comparison;
use crate::error::AnalysisError;
use crate::lane::Lane;
use crate::lane_set::{LaneId, LaneStrategies};
use crate::plan_search::PlanSearch;
use crate::request::Request;
use crate::run_lanes::{LaneParts, one_graph_session, plain_lane};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Id as _, TensorId};
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Step, counted};
use highwater_model::workload::{Axis, GraphIdx, Lifetime, Lifetimes, Piece, ProblemEntry, Shapes, Workload};
use highwater_options::Lowered;
use highwater_plan::{
    AS_DUMPED, AS_LOGGED, BEST, DEFAULT, Effort, PlacementProblem, Plan, PlanRequest, Planned, Strategy, find,
    verify_with,
};
use highwater_sim::{BoundGraph, DeviceSession};

/// Strategies of the lanes unless the user chooses others; that of a plan only where the source has it.
const LANES: [&str; 6] = [BEST, AS_DUMPED, AS_LOGGED, DEFAULT, "gap_first_size", "greedy_by_size"];

/// Most lanes.
const MAX_LANES: usize = 4;

const WORDS: StudyWords = StudyWords {
    tensor: "buffer",
    counted: Some("plans only, no simulation; bytes are exact"),
    no_ops: Some("A placement problem has no ops, so producers and readers of its buffers are unknown."),
    no_readers: Some("A placement problem has no readers, so idle buffers are unknown."),
    no_sweep: Some("a placement problem, which `highwater plan` places"),
    ..StudyWords::COMMON
};

#[derive(Debug)]
pub(super) struct Problems;

impl Study for Problems {
    fn words(&self) -> &'static StudyWords {
        &WORDS
    }

    fn compare(&self, request: &Request, lowered: &Lowered, progress: &Progress<'_>) -> Compared {
        let mut diagnostics = Diagnostics::new();
        let entry = only_shown(
            request.workload.problems(),
            "problems",
            |one| &one.name,
            &mut diagnostics,
        )?;
        let session = session_of(entry, &Shapes::new(&entry.problem));
        let mut lanes: Vec<Lane> = Vec::new();
        for (id, strategy) in problem_lanes(entry, &request.strategies) {
            let same = lanes.iter().find(|lane| lane.strategy == strategy);
            let planned = if let Some(lane) = same {
                Arc::clone(&lane.plans[0].1)
            } else {
                let planned = planned(entry, strategy, &request.search, progress)?;
                if let Err(defect) = verify_with(&entry.problem, &planned.plan, progress)? {
                    diagnostics.warning(
                        format!("the plan of the source is invalid and not drawn: {defect}"),
                        &entry.name,
                    );
                    continue;
                }
                Arc::new(planned)
            };
            let session = with_plan(&session, &planned.plan);
            let plans = vec![(GraphIdx(0), planned)];
            let mut lane = plain_lane(&session, LaneParts { id, strategy, plans }, &lowered.params, progress)?;
            lane.chosen = request.strategies.get(id).is_some();
            lanes.push(lane);
        }
        let axis = Axis::single(session.n_steps);
        let mut comparison = Comparison::new(request, lowered, axis, session, lanes, diagnostics);
        if let Some(capacity) = entry.capacity {
            comparison.device.set_memory(capacity);
        }
        comparison.occupied = Bytes::ZERO;
        Ok(comparison)
    }

    fn has_search(&self, request: &Request) -> bool {
        self.stated_problem(&request.workload).is_some_and(|entry| {
            let lanes = problem_lanes(entry, &request.strategies);
            lanes.iter().any(|(_, strategy)| strategy.effort == Effort::Search)
        })
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn has_device(&self) -> bool {
        false
    }

    fn has_capacity(&self, workload: &Workload) -> bool {
        let entry = self.stated_problem(workload);
        entry.is_none_or(|entry| entry.capacity.is_some())
    }

    fn has_arenas(&self) -> bool {
        true
    }

    fn schedule_choice(&self) -> ScheduleChoice {
        ScheduleChoice::Fixed
    }

    fn schedule_notes(&self, workload: &Workload) -> Vec<ScheduleNote> {
        let note = |entry: &Arc<ProblemEntry>| {
            ScheduleNote::new(format!(
                "{}: {} buffers in one arena; engine options have no effect",
                entry.name,
                entry.problem.buffers.len()
            ))
        };
        workload.problems().iter().map(note).collect()
    }

    fn stated_problem<'a>(&self, workload: &'a Workload) -> Option<&'a Arc<ProblemEntry>> {
        workload.problems().first()
    }

    fn summary(&self, comparison: &Comparison) -> String {
        let n_buffers = self.tensor_counts(comparison).first().copied().unwrap_or(0);
        counted(n_buffers as u64, "buffer")
    }

    fn tensor_name<'a>(&self, comparison: &'a Comparison, _: GraphIdx, tensor: TensorId) -> &'a str {
        let entry = comparison.stated_problem();
        entry.map_or("", |entry| entry.ids.get(tensor.idx()))
    }

    fn tensor_counts(&self, comparison: &Comparison) -> Vec<usize> {
        let entries = comparison.stated_problem().into_iter();
        entries.map(|entry| entry.problem.buffers.len()).collect()
    }
}

/// The lanes of a problem with their strategies.
fn problem_lanes(entry: &ProblemEntry, chosen: &LaneStrategies) -> Vec<(LaneId, &'static Strategy)> {
    let defaults = LANES
        .iter()
        .filter_map(|name| find(name).ok())
        .filter(|strategy| strategy.suits(entry.recorded.as_ref()));
    (0_u8..)
        .map(LaneId::Problem)
        .zip(defaults)
        .take(MAX_LANES)
        .map(|(lane, strategy)| (lane, chosen.get(lane).unwrap_or(strategy)))
        .collect()
}

fn planned(
    entry: &ProblemEntry,
    strategy: &'static Strategy,
    search: &PlanSearch,
    progress: &Progress<'_>,
) -> Result<Planned, AnalysisError> {
    let mut request = PlanRequest {
        recorded: entry.recorded.as_ref(),
        order: entry.order.as_ref(),
        ..PlanRequest::new(&entry.problem)
    };
    request.limits.nodes = search.nodes;
    Ok(search.place(strategy, &request, progress)?)
}

/// The pieces of a problem as the live ranges of one static graph that holds nothing else.
fn session_of(entry: &ProblemEntry, shapes: &Shapes) -> DeviceSession {
    let items = pieces(shapes).map(|(buffer, piece)| Lifetime {
        birth: Step(piece.lower),
        end: Step(piece.upper),
        bytes: Bytes(piece.size),
        tensor: TensorId(buffer),
    });
    let mut items: Vec<Lifetime> = items.collect();
    items.sort_unstable();
    let ends = entry.problem.buffers.iter().map(|buffer| buffer.upper.0);
    let n_steps = ends.max().unwrap_or(0);
    let bound = BoundGraph {
        engine_sizes: items.iter().map(|item| item.bytes).collect(),
        program: Lifetimes { n_steps, items }.into(),
        ..BoundGraph::default()
    };
    one_graph_session(&entry.name, Vec::new(), bound, n_steps)
}

/// Each piece with its shape's first buffer.
fn pieces(shapes: &Shapes) -> impl Iterator<Item = (u32, Piece)> + '_ {
    let mut first = vec![u32::MAX; shapes.items.len()];
    for (buffer, item) in (0_u32..).zip(&shapes.item_of) {
        let slot = &mut first[*item as usize];
        *slot = (*slot).min(buffer);
    }
    (0_u32..)
        .zip(first)
        .flat_map(|(item, buffer)| shapes.pieces_of(item).iter().map(move |piece| (buffer, *piece)))
}

/// The session with the offsets of a plan.
fn with_plan(session: &DeviceSession, plan: &Plan) -> DeviceSession {
    let items = &session.runs[0].bound.program.lifetimes.items;
    let offsets = items.iter().map(|item| plan.offsets[item.tensor.idx()]).collect();
    let of_pieces = PlacementProblem::from_lifetimes(&session.runs[0].bound.program.lifetimes, 1);
    let plan = given_plan(Plan::new(&of_pieces, offsets));
    with_plans(session, &vec![(GraphIdx(0), Arc::new(plan))], true)
}
