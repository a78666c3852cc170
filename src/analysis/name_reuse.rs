//! Name reuse as lanes: off, level 0 and level 1 beside each other, each name with memory of its own.
//!
//! In: a program of blocks, or a graph as one. Out: a [`Comparison`]: a graph of the session is a block, a lane's arena
//! is as large as all its slots. Blocks run one after the other, so that every variable of a body has its place on the axis.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lanes::{LaneId, Plans};
use super::problem::PLAIN_ARENA;
use super::rewriting::LaneRewrite;
use super::run_lanes::{LaneParts, lane_of};
use super::slots::{BlockPicture, block_picture};
use super::{AnalysisError, Comparison, EstimatedWorkspaces, Request, ScratchSource};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::TensorId;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{Axis, AxisRun, BlockProgram, GraphIdx, Program, Run};
use highwater_options::Lowered;
use highwater_plan::{Plan, Planned};
use highwater_rewrite::name_reuse::{NameReuseRequest, ReuseQuestion, ReuseReport, reuse_report};
use highwater_sim::{BoundGraph, DeviceRun, DeviceSession, LoadedGraph, Params, Variable};

use super::lanes::with_plans;

/// A program, and which tensor of the graph each variable of its first block is; none where the source is a program.
pub(super) struct Subject {
    pub(super) program: Arc<BlockProgram>,
    pub(super) tensors: Option<Vec<TensorId>>,
    /// Variables that the caller is known to fetch.
    pub(super) fetched: Vec<Box<str>>,
    /// What a dimension -1 is.
    pub(super) batch: u64,
}

/// The lanes' titles and levels.
const LANES: [(&str, Option<i64>); 3] = [("names not reused", None), ("level 0", Some(0)), ("level 1", Some(1))];

/// Compares the lanes.
pub(super) fn compare_name_reuse(
    request: &Request,
    lowered: &Lowered,
    subject: &Subject,
    mut diagnostics: Diagnostics,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let mut lanes = Vec::new();
    let mut first = DeviceSession::default();
    for (position, (title, level)) in (0_u8..).zip(LANES) {
        let reuse = match level {
            None => None,
            Some(level) => {
                let asked = NameReuseRequest {
                    level,
                    ..lowered.name_reuse.clone()
                };
                let question = ReuseQuestion {
                    program: &subject.program,
                    request: &asked,
                    fetched: &subject.fetched,
                    batch: subject.batch,
                };
                let report = reuse_report(&question, progress)?;
                report_names(title, &report, &mut diagnostics);
                Some(Arc::new(report.reuse))
            }
        };
        let after = reuse.as_ref().map_or(&*subject.program, |reuse| &reuse.program);
        let (session, plans) = session_of(subject, after);
        let planned = with_plans(&session, &plans, true);
        let params = Params {
            device_bytes: Bytes(u64::MAX >> 1),
            feature_copies: 1,
            ..lowered.params.clone()
        };
        let parts = LaneParts {
            id: LaneId::Pass(position),
            strategy: lowered.strategy,
            plans,
        };
        let mut lane = lane_of(&planned, parts, (PLAIN_ARENA, &params), progress)?;
        // Nothing of a device is asked: neither calls nor the time they cost.
        lane.summary.estimated_overhead = Nanos(0);
        lane.summary.overhead.clear();
        lane.title = Some(title.to_owned());
        lane.rewrite = reuse.map(|reuse| {
            Arc::new(LaneRewrite {
                names: Some(reuse),
                ..LaneRewrite::default()
            })
        });
        if position == 0 {
            first = session.clone();
        }
        lane.session = Some(Arc::new(session));
        lanes.push(lane);
    }
    let mut device = request.device.clone();
    device.memory_bytes = lowered.params.device_bytes.get();
    Ok(Comparison {
        calibrations: Vec::new(),
        lowest_peak: None,
        equivalence: None,
        lower_bound: false,
        scratch: ScratchSource::Stated,
        workspaces: EstimatedWorkspaces::default(),
        requests: Vec::new(),
        params: lowered.params.clone(),
        rates: lowered.rates,
        workload: Arc::clone(&request.workload),
        axis: axis_of(&first),
        session: first,
        device,
        device_id: lowered.device_id,
        occupied: Bytes::ZERO,
        lanes,
        pin_failures: Vec::new(),
        active_policy: lowered.policy,
        estimates: Vec::new(),
        diagnostics,
    })
}

/// Findings of a kind that are told one by one.
const MOST_TOLD: usize = 5;

/// What the pass does wrong, and what its caller should know: the original's exception is an answer, what was done before
/// it acts.
pub(super) fn report_names(what: &str, report: &ReuseReport, diagnostics: &mut Diagnostics) {
    if let Some(exception) = &report.reuse.exception {
        diagnostics.error(
            format!("memory_optimize ends in {exception}; what it renamed before acts"),
            what,
        );
    }
    for finding in report.findings.iter().take(MOST_TOLD) {
        diagnostics.error(format!("memory_optimize corrupts values: {}", finding.message), what);
    }
    let more = report.findings.len().saturating_sub(MOST_TOLD);
    if more > 0 {
        diagnostics.error(format!("memory_optimize corrupts values in {more} more places"), what);
    }
    for hazard in report.hazards.iter().take(MOST_TOLD) {
        diagnostics.warning(hazard.message.clone(), what);
    }
}

/// Every block as a static graph that holds its slots.
fn session_of(subject: &Subject, after: &BlockProgram) -> (DeviceSession, Plans) {
    let program = &*subject.program;
    let mut session = DeviceSession::default();
    let mut plans = Plans::new();
    let blocks = program.blocks.iter().zip(&after.blocks);
    for (number, (before, after)) in (0_u32..).zip(blocks) {
        let mut picture = block_picture(program, before, after, subject.batch);
        if let Some(tensors) = subject.tensors.as_ref().filter(|_| number == 0) {
            rename(&mut picture, tensors);
        }
        let n_steps = picture.lifetimes.n_steps;
        let start = Step(session.n_steps);
        session.n_steps = session.n_steps.saturating_add(n_steps);
        session.graphs.push(LoadedGraph {
            name: block_name(program, number),
            is_static: true,
            has_collectives: false,
            weights: picture
                .persistable
                .iter()
                .map(|(name, bytes)| Variable {
                    name: (&**name).into(),
                    bytes: *bytes,
                })
                .collect(),
        });
        plans.push((GraphIdx(number), Arc::new(planned(picture.plan))));
        session.runs.push(DeviceRun {
            graph: GraphIdx(number),
            bound: Arc::new(BoundGraph {
                engine_sizes: picture.lifetimes.items.iter().map(|item| item.bytes).collect(),
                program: Program {
                    lifetimes: picture.lifetimes,
                    separate: Vec::new(),
                },
                ..BoundGraph::default()
            }),
            start,
            n_steps,
        });
    }
    (session, plans)
}

/// Variables under the ids of the graph's tensors.
fn rename(picture: &mut BlockPicture, tensors: &[TensorId]) {
    for item in &mut picture.lifetimes.items {
        if let Some(tensor) = tensors.get(item.tensor.0 as usize) {
            item.tensor = *tensor;
        }
    }
}

/// What a block is called: the program, or its number.
pub(super) fn block_name(program: &BlockProgram, number: u32) -> String {
    match number {
        0 if !program.name.is_empty() => program.name.clone(),
        _ => format!("block {number}"),
    }
}

fn planned(plan: Plan) -> Planned {
    Planned {
        strategy: "",
        lower_bound: Bytes::ZERO,
        proved_bound: Bytes::ZERO,
        nodes: 0,
        tried: Vec::new(),
        regions: Vec::new(),
        plan,
    }
}

fn axis_of(session: &DeviceSession) -> Axis {
    let runs = session.runs.iter().map(|run| AxisRun {
        start: run.start,
        n_steps: run.n_steps,
        run: Run {
            graph: run.graph,
            iteration: 0,
            bindings: BTreeMap::new(),
        },
        slots: None,
    });
    Axis {
        n_steps: session.n_steps,
        runs: runs.collect(),
    }
}
