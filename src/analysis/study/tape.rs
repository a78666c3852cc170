//! A tape as lanes: the same run without a budget and under some.
//!
//! In: a tape (a DTR log, a graph or script of MegEngine's planner). Out: sessions of one graph on one axis; external
//! tensors are weights.

use std::borrow::Cow;
use std::sync::Arc;

use super::kind::{Compared, LaneChoice, OpSource, Study, StudyWords, only_shown};
use crate::arena::{Arena, arena_problem, engine_size};
use crate::comparison::Comparison;
use crate::error::AnalysisError;
use crate::lane_set::{LaneSet, RematLane};
use crate::lowering::Variant;
use crate::passes::{MAX_PASS_LANES, budget_of, compare_variants};
use crate::request::Request;
use crate::rewriting::{LaneRewrite, Layout, TapeRun, onto_steps};
use crate::run_lanes::one_graph_session;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Id as _, OpId, TensorId};
use highwater_model::progress::Progress;
use highwater_model::units::{Step, counted};
use highwater_model::workload::{Axis, GraphIdx, Lifetime, Lifetimes, SlotOp, Tape, Workload};
use highwater_options::{Lowered, OptionSubject};
use highwater_rewrite::remat::{Budget, GraphTape, HEURISTICS, RematRequest, held};
use highwater_sim::{BoundGraph, Variable};

const WORDS: StudyWords = StudyWords {
    no_sweep: Some("a log of one run; use `highwater remat --sweep` for budgets"),
    ..StudyWords::COMMON
};

#[derive(Debug)]
pub(super) struct Tapes;

impl Study for Tapes {
    fn words(&self) -> &'static StudyWords {
        &WORDS
    }

    /// Without a budget and under the requested ones; where none is requested, under the configured one or 0.5 of the peak.
    fn compare(&self, request: &Request, lowered: &Lowered, progress: &Progress<'_>) -> Compared {
        let mut diagnostics = Diagnostics::new();
        let tape = only_shown(request.workload.tapes(), "tapes", |one| &one.name, &mut diagnostics)?;
        let whole = Arc::new(identity(tape));
        let mut titles = Vec::new();
        let mut runs = Vec::new();
        for lane in tape_lanes(request, lowered) {
            let budget = budget_of(&lane, std::iter::once(&**tape), progress)?;
            let settings = RematRequest {
                heuristic: lane.heuristic,
                budget,
                ..lowered.dtr.clone()
            };
            progress.set("evicting", runs.len() as u64, MAX_PASS_LANES as u64)?;
            runs.push(TapeRun::new(Arc::clone(&whole), &settings, progress)?);
            titles.push(if budget.is_none() {
                "no budget".to_owned()
            } else {
                lane.title()
            });
        }
        let (axis, variants) = tape_variants(&whole, &runs, lowered.dtr.thrash_limit)?;
        compare_variants(request, lowered, axis, variants, titles, diagnostics, progress)
    }

    fn option_subject(&self) -> Option<OptionSubject> {
        Some(OptionSubject::Tapes)
    }

    fn lane_choice(&self) -> LaneChoice {
        LaneChoice::Budgets
    }

    fn ops<'a>(&self, workload: &'a Workload) -> OpSource<'a> {
        workload.tapes().first().map_or(OpSource::None, OpSource::Tape)
    }

    fn summary(&self, comparison: &Comparison) -> String {
        let Some(tape) = comparison.workload.tapes().first() else {
            return String::new();
        };
        let n_ops = tape.executed().count();
        format!(
            "{} ({}) under policy {}, {}",
            tape.name,
            counted(n_ops as u64, "op"),
            comparison.active_policy.number(),
            counted(u64::from(comparison.axis.n_steps), "step")
        )
    }

    fn tensor_name<'a>(&self, comparison: &'a Comparison, _: GraphIdx, tensor: TensorId) -> &'a str {
        let tape = comparison.workload.tapes().first();
        let tensor = tape.and_then(|tape| tape.tensors.get(tensor.idx()));
        tensor.map_or("", |tensor| &tensor.name)
    }

    fn tensor_counts(&self, comparison: &Comparison) -> Vec<usize> {
        let tapes = comparison.workload.tapes().iter().take(1);
        tapes.map(|tape| tape.tensors.len()).collect()
    }

    /// Ops that bring in external tensors take no step. O(ops).
    fn op_name<'a>(&self, workload: &'a Workload, _: GraphIdx, op: OpId) -> Cow<'a, str> {
        let tape = workload.tapes().first();
        let op = tape.and_then(|tape| tape.executed().nth(op.idx()));
        Cow::Borrowed(op.map_or("", |(_, op)| &op.name))
    }
}

/// The runs under budgets that a tape opens with, without the one that has none.
pub fn opening_lanes(request: &Request) -> Vec<RematLane> {
    let mut lanes = tape_lanes(request, &request.lowered());
    lanes.retain(|lane| lane.budget != Budget::Unlimited);
    lanes
}

/// The lanes that a tape opens with.
fn tape_lanes(request: &Request, lowered: &Lowered) -> Vec<RematLane> {
    let unlimited = RematLane {
        heuristic: lowered.dtr.heuristic,
        budget: Budget::Unlimited,
    };
    let mut lanes = vec![unlimited];
    match (&request.lanes, lowered.dtr.budget) {
        (LaneSet::Remat(given), _) => lanes.extend(given.iter().take(MAX_PASS_LANES - 1)),
        (_, Some(bytes)) => lanes.push(RematLane {
            budget: Budget::Bytes(bytes),
            ..unlimited
        }),
        _ => {
            let mut chosen = vec![lowered.dtr.heuristic];
            chosen.extend(HEURISTICS.iter().filter(|row| TAPE_LANES.contains(&row.name)));
            chosen.dedup();
            lanes.extend(chosen.into_iter().map(|heuristic| RematLane {
                heuristic,
                budget: Budget::Ratio(0.5),
            }));
        }
    }
    lanes
}

/// Heuristics that a tape opens with, besides the configured one.
const TAPE_LANES: [&str; 2] = ["dtr_eq", "lru"];

/// A tape whose ops are the steps; ops that bring in external tensors take no step.
fn identity(tape: &Tape) -> GraphTape {
    let mut steps = 0_u32..;
    GraphTape {
        tape: tape.clone(),
        tensors: (0..tape.tensors.len()).map(TensorId::from_idx).collect(),
        ops: tape
            .ops
            .iter()
            .map(|op| if op.is_source { None } else { steps.next().map(OpId) })
            .collect(),
    }
}

/// Sessions of a tape's runs on one axis.
fn tape_variants(
    whole: &GraphTape,
    runs: &[TapeRun],
    thrash_limit: Option<f64>,
) -> Result<(Axis, Vec<Variant>), AnalysisError> {
    let n_ops = whole.ops.iter().flatten().count();
    let n_ops = u32::try_from(n_ops).map_err(|_overflow| AnalysisError::TooManySteps)?;
    let executed: Vec<Option<Vec<SlotOp>>> = runs.iter().map(TapeRun::executed).collect();
    let layout = Layout::new(n_ops, &executed);
    let mut axis = Axis::single(layout.n_steps);
    axis.runs[0].slots.clone_from(&layout.slots);
    let variants = runs.iter().zip(layout.steps);
    let variants = variants.map(|(run, steps)| tape_variant(run, thrash_limit, &axis, steps));
    let variants = variants.collect();
    Ok((axis, variants))
}

fn tape_variant(run: &TapeRun, thrash_limit: Option<f64>, axis: &Axis, steps: Option<Arc<[u32]>>) -> Variant {
    let tape = &run.tape.tape;
    let n_slots = u32::try_from(run.sequence.slots.len()).unwrap_or(u32::MAX);
    let items = held(tape, &run.answer, &run.sequence).into_iter().map(|held| Lifetime {
        birth: Step(held.start),
        end: Step(held.end),
        bytes: tape.tensors[held.tensor as usize].bytes,
        tensor: TensorId(held.tensor),
    });
    let items: Vec<Lifetime> = items.collect();
    let bound = BoundGraph {
        engine_sizes: items.iter().map(|item| engine_size(item.bytes)).collect(),
        program: Lifetimes {
            n_steps: n_slots,
            items,
        }
        .into(),
        ..BoundGraph::default()
    };
    let bound = onto_steps(bound, steps.as_deref());
    let arena = Arena {
        recorded: None,
        graph: GraphIdx(0),
        problem: arena_problem(&bound.program, &bound.engine_sizes),
        order: None,
    };
    let externals = tape.tensors.iter().enumerate();
    let externals = externals.filter(|(number, tensor)| tensor.is_external && tensor.storage as usize == *number);
    let weights = externals.map(|(_, tensor)| Variable {
        name: (&*tensor.name).into(),
        bytes: tensor.bytes,
    });
    let session = one_graph_session(&tape.name, weights.collect(), bound, axis.n_steps);
    Variant {
        session,
        arenas: vec![arena],
        rewrite: Some(Arc::new(LaneRewrite {
            remat: vec![Some(Arc::new(run.on_steps(steps, thrash_limit)))],
            names: None,
        })),
    }
}
