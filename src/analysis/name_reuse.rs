//! Name reuse as lanes: off, level 0 and level 1; a graph of the device session is a block, and a lane's arena is as large
//! as all its slots. Blocks run one after the other, so that every variable of a body has its place on the axis.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::arena::{Plans, given_plan, with_plans};
use super::comparison::Comparison;
use super::error::AnalysisError;
use super::lane_set::LaneId;
use super::lowering::report_names;
use super::request::Request;
use super::rewriting::LaneRewrite;
use super::run_lanes::{LaneParts, plain_lane};
use super::slots::{BlockPicture, block_picture};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::TensorId;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{Axis, AxisRun, BlockProgram, GraphIdx, Run};
use highwater_options::Lowered;
use highwater_rewrite::name_reuse::{NameReuseRequest, ReuseQuestion, reuse_report};
use highwater_sim::{BoundGraph, DeviceRun, DeviceSession, LoadedGraph, Variable};

/// The program to compare.
pub(super) struct Subject {
    pub(super) program: Arc<BlockProgram>,
    /// By variable of the first block: the tensor of the graph; `None` where the source is a program.
    pub(super) tensors: Option<Vec<TensorId>>,
    /// Variables that the caller is known to fetch.
    pub(super) fetched: Vec<Box<str>>,
    /// The value of dimension -1.
    pub(super) batch: u64,
}

/// The dimension that programs leave open.
const BATCH: &str = "batch";

/// The value of dimension -1: the first value of `batch`, 1 unless given.
pub(super) fn batch_of(request: &Request) -> u64 {
    let values = request.plan.dims.get(BATCH);
    values.and_then(|values| values.first().copied()).unwrap_or(1)
}

/// Titles and levels of the lanes.
const LANES: [(&str, Option<i64>); 3] = [("names not reused", None), ("level 0", Some(0)), ("level 1", Some(1))];

/// Compares the levels of name reuse.
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
                let reuse_request = NameReuseRequest {
                    level,
                    ..lowered.name_reuse.clone()
                };
                let question = ReuseQuestion {
                    program: &subject.program,
                    request: &reuse_request,
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
        let parts = LaneParts {
            id: LaneId::Pass(position),
            strategy: lowered.strategy,
            plans,
        };
        let mut lane = plain_lane(&planned, parts, &lowered.params, progress)?;
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
    let mut comparison = Comparison::new(request, lowered, axis_of(&first), first, lanes, diagnostics);
    comparison.occupied = Bytes::ZERO;
    Ok(comparison)
}

/// Every block as a static graph that holds its slots, and its plan.
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
        plans.push((GraphIdx(number), Arc::new(given_plan(picture.plan))));
        session.runs.push(DeviceRun {
            graph: GraphIdx(number),
            bound: Arc::new(BoundGraph {
                engine_sizes: picture.lifetimes.items.iter().map(|item| item.bytes).collect(),
                program: picture.lifetimes.into(),
                ..BoundGraph::default()
            }),
            start,
            n_steps,
        });
    }
    (session, plans)
}

/// Gives variables the ids of the graph's tensors.
fn rename(picture: &mut BlockPicture, tensors: &[TensorId]) {
    for item in &mut picture.lifetimes.items {
        if let Some(tensor) = tensors.get(item.tensor.0 as usize) {
            item.tensor = *tensor;
        }
    }
}

/// The name of a block: that of the program for the first, else its number.
fn block_name(program: &BlockProgram, number: u32) -> String {
    match number {
        0 if !program.name.is_empty() => program.name.clone(),
        _ => format!("block {number}"),
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
