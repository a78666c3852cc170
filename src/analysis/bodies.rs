//! Diagnostics about graphs that ops run: loops and branches are held on their op's step, an estimate; a call that was
//! not inlined is held the same way, with a warning. Bodies that no op is known to run are not simulated; the importer
//! reports them.
//!
//! Each graph is reported with the maximum over its runs. O(tensors of the bodies) for each combination of values.

use std::collections::BTreeMap;

use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Graph, OpId};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::counted;
use highwater_model::workload::{GraphEntry, SchedulePlan, ScheduledGraph, UseKind, Workload};
use highwater_rewrite::{ControlFlowWorkspace, control_flow_workspace};

/// Reports the memory of each graph's bodies.
pub(super) fn report(
    workload: &Workload,
    plan: &SchedulePlan,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<(), Cancelled> {
    for entry in workload.graphs().iter().filter(|entry| !entry.uses.is_empty()) {
        let scratch = over_runs(entry, plan, progress)?;
        let (calls, others): (Vec<ControlFlowWorkspace>, Vec<ControlFlowWorkspace>) =
            scratch.into_iter().partition(|one| one.kind == UseKind::Call);
        if let Some(largest) = largest(&others) {
            diagnostics.info(
                format!(
                    "{} graphs of {}, whose iterations are not followed: {}, an estimate ({})",
                    counted_ops(others.len(), "repeats or branches to", "repeat or branch to"),
                    if others.len() == 1 { "its own" } else { "their own" },
                    held(entry, largest, others.len()),
                    "one loop iteration or the largest branch, without inputs, outputs and weights"
                ),
                &entry.name,
            );
        }
        if let Some(largest) = largest(&calls) {
            diagnostics.warning(
                format!(
                    "{} graphs that could not be inlined: {}, an estimate",
                    counted_ops(calls.len(), "calls", "call"),
                    held(entry, largest, calls.len())
                ),
                &entry.name,
            );
        }
    }
    Ok(())
}

/// By op: the most that its body holds in any run.
fn over_runs(
    entry: &GraphEntry,
    plan: &SchedulePlan,
    progress: &Progress<'_>,
) -> Result<Vec<ControlFlowWorkspace>, Cancelled> {
    let graph = ScheduledGraph {
        name: entry.name.clone(),
        symbols: entry.graph.symbols(),
    };
    // A plan with too many runs is refused where it is run.
    let runs = plan.bindings_of(&graph).unwrap_or_default();
    let mut most: BTreeMap<OpId, ControlFlowWorkspace> = BTreeMap::new();
    for bindings in &runs {
        for one in control_flow_workspace(entry, bindings, progress)? {
            let known = most.entry(one.op).or_insert(one);
            let is_lower_bound = known.is_lower_bound || one.is_lower_bound;
            if one.bytes > known.bytes {
                *known = one;
            }
            known.is_lower_bound = is_lower_bound;
        }
    }
    Ok(most.into_values().collect())
}

fn counted_ops(count: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        counted(count as u64, "op"),
        if count == 1 { one } else { many }
    )
}

/// The first of the largest.
fn largest(scratch: &[ControlFlowWorkspace]) -> Option<&ControlFlowWorkspace> {
    scratch
        .iter()
        .reduce(|one, other| if other.bytes > one.bytes { other } else { one })
}

/// Names the ops with the largest bodies.
fn held(entry: &GraphEntry, one: &ControlFlowWorkspace, count: usize) -> String {
    let graph = &entry.graph;
    let op = match graph.op_name(one.op) {
        "" => graph.op_kind(one.op),
        name => name,
    };
    let body = entry.graph_by_number(one.body).map_or("", Graph::name);
    let at_least = if one.is_lower_bound { "at least " } else { "" };
    let largest = if count > 1 { "the largest: " } else { "" };
    format!("{largest}op \"{op}\" holds {at_least}{} for \"{body}\"", one.bytes)
}
