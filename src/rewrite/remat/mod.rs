//! Rematerialization: runs a tape under a memory budget; evicted tensors are recomputed when they are needed.
//!
//! In: a [`Tape`], a heuristic of [`HEURISTICS`], a budget and limits. Out: a [`RematRun`]: status, figures and every
//! decision in order. Three engines: the runtime of the DTR paper's simulator, MegEngine's static planner (which
//! `DTRConfig` drives), and the scoring of MegEngine's eager interpreter. Out of memory and thrashing are answers, not
//! errors. Deterministic: every tie has a written rule.

mod apply;
mod costs;
mod eager;
mod graph_tape;
mod heuristics;
mod run;
mod runtime;
mod sequence;
mod static_planner;

pub use apply::{held, is_unchanged, rewritten_lifetimes};
pub use costs::{OpRates, OpWork, op_time, op_work};
pub use eager::{FreeNeighbors, run_eager};
pub use graph_tape::{GraphTape, graph_tape};
pub use heuristics::{DEFAULT_HEURISTIC, Engine, HEURISTICS, Heuristic, MinimumRule, find_heuristic};
pub use run::{
    Budget, Choice, DtrFactors, NO_CHOICE, RematCounts, RematEvent, RematKind, RematRequest, RematRun, RematShortage,
    RematStatus,
};
pub use runtime::{RuntimeRule, run_runtime};
pub use sequence::{Held, Sequence, Slot, live, resident, sequence};
pub use static_planner::{
    MAX_EVENTS, PlannedKind, PlannedOp, PlannedSequence, StaticPlan, plan_static, run_static_planner,
};

use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::{Tape, TapeCall};

/// # Errors
/// [`Cancelled`].
pub fn remat(tape: &Tape, request: &RematRequest, progress: &Progress<'_>) -> Result<RematRun, Cancelled> {
    match request.heuristic.engine {
        Engine::Runtime(rule) => run_runtime(tape, request, rule, progress),
        Engine::StaticPlanner => run_static_planner(tape, request, progress),
        Engine::Eager => run_eager(tape, request, progress),
    }
}

/// The engine's peak without a budget, as the engine counts it: the base of a budget ratio.
///
/// # Errors
/// [`Cancelled`].
pub fn unlimited_peak(tape: &Tape, heuristic: &'static Heuristic, progress: &Progress<'_>) -> Result<Bytes, Cancelled> {
    if heuristic.engine == Engine::Eager {
        return Ok(referenced_peak(tape));
    }
    Ok(remat(tape, &RematRequest::unlimited(heuristic), progress)?.peak)
}

/// The most bytes that the caller references at once, externals included: the peak of an interpreter that evicts
/// nothing and keeps nothing for recomputation. O(calls).
fn referenced_peak(tape: &Tape) -> Bytes {
    let mut references = vec![0_u32; tape.tensors.len()];
    let (mut used, mut peak) = (0_u64, 0_u64);
    let root = |tensor: u32| tape.tensors[tensor as usize].storage as usize;
    for call in &tape.calls {
        match *call {
            TapeCall::Call(op) => {
                for output in &tape.ops[op as usize].outputs {
                    references[root(*output)] += 1;
                    used = used.saturating_add(tape.tensors[*output as usize].bytes.get());
                }
            }
            TapeCall::Retain(tensor) => references[root(tensor)] += 1,
            TapeCall::Release(tensor) => {
                let count = &mut references[root(tensor)];
                if *count == 1 {
                    used = used.saturating_sub(tape.tensors[root(tensor)].bytes.get());
                }
                *count = count.saturating_sub(1);
            }
        }
        peak = peak.max(used);
    }
    Bytes(peak)
}
