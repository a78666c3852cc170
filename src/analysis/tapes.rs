//! A tape as lanes: the same run without a budget and under some.
//!
//! In: a tape (a DTR log, a graph or script of MegEngine's planner). Out: sessions of one graph on one axis; what is
//! external stands among the weights.

use std::sync::Arc;

use super::lanes::{Arena, LaneSet, RematLane};
use super::passes::{MAX_PASS_LANES, budget_of, compare_variants};
use super::rewriting::{Executed, LaneRewrite, Layout, RunRemat, onto_steps};
use super::session::{Variant, arena_problem, engine_size};
use super::{AnalysisError, Comparison, Request};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Id as _, OpId, TensorId};
use highwater_model::progress::Progress;
use highwater_model::units::Step;
use highwater_model::workload::{Axis, AxisRun, GraphIdx, Lifetime, Lifetimes, Program, Run, Tape};
use highwater_options::{Lowered, lower};
use highwater_rewrite::remat::{
    Budget, GraphTape, HEURISTICS, RematRequest, RematRun, Sequence, Slot, held, is_unchanged, remat, sequence,
};
use highwater_sim::{BoundGraph, DeviceRun, DeviceSession, LoadedGraph, Variable};

/// A tape as lanes: without a budget, and under those asked for; where none is, under the configured one or half of the
/// peak.
pub(super) fn compare_tape(
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let tapes = request.workload.tapes();
    let Some(tape) = tapes.first() else {
        return Err(AnalysisError::NoGraph);
    };
    let mut diagnostics = Diagnostics::new();
    if let Some(second) = tapes.get(1) {
        diagnostics.warning(
            format!(
                "{} tapes are open and one is shown; choose another under \"show\", or with --graph NAME",
                tapes.len()
            ),
            &second.name,
        );
    }
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
        let run = remat(tape, &settings, progress)?;
        let sequence = sequence(tape, &run);
        titles.push(if budget.is_none() {
            "no budget".to_owned()
        } else {
            lane.title()
        });
        runs.push((run, sequence));
    }
    let (axis, variants) = tape_variants(&whole, runs, lowered.dtr.thrash_limit)?;
    compare_variants(request, lowered, axis, variants, titles, diagnostics, progress)
}

/// The runs under budgets that a tape opens with, beside the one without.
pub fn opening_lanes(request: &Request) -> Vec<RematLane> {
    let lowered = lower(&request.options, &request.environment, &request.device, &*request.files);
    let mut lanes = tape_lanes(request, &lowered);
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

/// Heuristics beside the configured one that a tape opens with.
const TAPE_LANES: [&str; 2] = ["dtr_eq", "lru"];

/// A tape as one of itself: steps are its ops, but for those that bring in what is external.
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
    whole: &Arc<GraphTape>,
    runs: Vec<(RematRun, Sequence)>,
    thrash_limit: Option<f64>,
) -> Result<(Axis, Vec<Variant>), AnalysisError> {
    let n_ops = whole.ops.iter().flatten().count();
    let n_ops = u32::try_from(n_ops).map_err(|_overflow| AnalysisError::TooManySteps)?;
    let executed = |(run, sequence): &(RematRun, Sequence)| {
        let op = |slot: &Slot| Some((whole.ops[slot.op as usize]?, slot.is_recomputed));
        (!is_unchanged(run, sequence)).then(|| sequence.slots.iter().filter_map(op).collect())
    };
    let executed: Vec<Option<Vec<Executed>>> = runs.iter().map(executed).collect();
    let layout = Layout::new(n_ops, &executed);
    let axis = Axis {
        n_steps: layout.n_steps,
        runs: vec![AxisRun {
            start: Step(0),
            n_steps: layout.n_steps,
            run: Run {
                graph: GraphIdx(0),
                iteration: 0,
                bindings: Bindings::new(),
            },
            slots: layout.slots.clone(),
        }],
    };
    let variants = runs.into_iter().zip(&layout.steps);
    let variants = variants.map(|(run, steps)| tape_variant(whole, run, thrash_limit, &axis, steps.as_ref()));
    let variants = variants.collect();
    Ok((axis, variants))
}

fn tape_variant(
    whole: &Arc<GraphTape>,
    (answer, sequence): (RematRun, Sequence),
    thrash_limit: Option<f64>,
    axis: &Axis,
    steps: Option<&Arc<[u32]>>,
) -> Variant {
    let tape = &whole.tape;
    let n_slots = u32::try_from(sequence.slots.len()).unwrap_or(u32::MAX);
    let items = held(tape, &answer, &sequence).into_iter().map(|held| Lifetime {
        birth: Step(held.start),
        end: Step(held.end),
        bytes: tape.tensors[held.tensor as usize].bytes,
        tensor: TensorId(held.tensor),
    });
    let items: Vec<Lifetime> = items.collect();
    let bound = BoundGraph {
        engine_sizes: items.iter().map(|item| engine_size(item.bytes)).collect(),
        program: Program {
            lifetimes: Lifetimes {
                n_steps: n_slots,
                items,
            },
            separate: Vec::new(),
        },
        ..BoundGraph::default()
    };
    let bound = onto_steps(bound, steps.map(|steps| &**steps));
    let arena = Arena {
        graph: GraphIdx(0),
        problem: arena_problem(&bound.program, &bound.engine_sizes),
        order: None,
    };
    let externals = tape.tensors.iter().enumerate();
    let externals = externals.filter(|(number, tensor)| tensor.is_external && tensor.storage as usize == *number);
    let run = RunRemat {
        answer,
        tape: Arc::clone(whole),
        steps: steps.map_or_else(|| (0..=n_slots).collect(), Arc::clone),
        sequence,
        thrash_limit,
    };
    let session = DeviceSession {
        graphs: vec![LoadedGraph {
            name: tape.name.clone(),
            is_static: true,
            has_collectives: false,
            weights: externals
                .map(|(_, tensor)| Variable {
                    name: (&*tensor.name).into(),
                    bytes: tensor.bytes,
                })
                .collect(),
        }],
        runs: vec![DeviceRun {
            graph: GraphIdx(0),
            bound: Arc::new(bound),
            start: Step(0),
            n_steps: axis.n_steps,
        }],
        n_steps: axis.n_steps,
        ..DeviceSession::default()
    };
    Variant {
        session,
        arenas: vec![arena],
        rewrite: Some(Arc::new(LaneRewrite {
            remat: vec![Some(Arc::new(run))],
            names: None,
        })),
    }
}
