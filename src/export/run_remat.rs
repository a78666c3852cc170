//! Runs under memory budgets, as a part of the answer of `compare`.

use serde::Serialize;

use highwater_analysis::LaneRewrite;
use highwater_model::units::Bytes;

/// A run under a memory budget.
#[derive(Serialize, Debug)]
pub(super) struct WireRunRemat {
    run: u32,
    heuristic: &'static str,
    budget_bytes: Option<u64>,
    status: &'static str,
    peak_bytes: u64,
    evictions: u64,
    recomputed_ops: u64,
    base_compute_ns: u64,
    remat_compute_ns: u64,
    overhead: f64,
    steps_over_budget: u64,
}

/// The runs of a lane that have a budget or were looked at under one.
pub(super) fn wire_remat(rewrite: &LaneRewrite) -> Vec<WireRunRemat> {
    let runs = (0_u32..).zip(&rewrite.remat);
    let runs = runs.filter_map(|(position, run)| Some((position, run.as_ref()?)));
    runs.map(|(position, run)| WireRunRemat {
        run: position,
        heuristic: run.answer.heuristic.name,
        budget_bytes: run.answer.budget.map(Bytes::get),
        status: run.answer.status.name(),
        peak_bytes: run.answer.peak.get(),
        evictions: run.answer.counts.evictions,
        recomputed_ops: run.sequence.slots.iter().filter(|slot| slot.is_recomputed).count() as u64,
        base_compute_ns: run.answer.base_compute.0,
        remat_compute_ns: run.answer.remat_compute.0,
        overhead: run.answer.overhead(),
        steps_over_budget: run.answer.counts.steps_over_budget,
    })
    .collect()
}
