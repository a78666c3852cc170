//! What is said of graphs that ops run: those of loops and branches are held on their op's step, an estimate; a call whose
//! function is not in its place is held the same way, with a warning. Where the file does not tell which op runs a graph,
//! nothing of it is simulated: that the importer says.
//!
//! In: the workload with values of its dimensions. Out: words about each graph with such bodies. O(tensors of the bodies).

use crate::diagnostics::Diagnostics;
use crate::graph::{Bindings, Graph};
use crate::rewrite::{BodyScratch, body_scratch};
use crate::units::counted;
use crate::workload::{GraphEntry, SchedulePlan, UseKind, Workload};

/// Says of each graph what its bodies hold.
pub(super) fn report(workload: &Workload, plan: &SchedulePlan, diagnostics: &mut Diagnostics) {
    let first = |(name, values): (&String, &Vec<u64>)| Some((name.clone(), *values.first()?));
    let bindings: Bindings = plan.dims.iter().filter_map(first).collect();
    for entry in workload.graphs().iter().filter(|entry| !entry.bodies.is_empty()) {
        let scratch = body_scratch(entry, &bindings);
        let (calls, others): (Vec<BodyScratch>, Vec<BodyScratch>) =
            scratch.into_iter().partition(|one| one.kind == UseKind::Call);
        if let Some(largest) = largest(&others) {
            diagnostics.info(
                format!(
                    "{} or {} to graphs of their own, which are not followed turn by turn: {}, an estimate ({})",
                    counted_ops(others.len(), "repeats", "repeat"),
                    if others.len() == 1 { "branches" } else { "branch" },
                    held(entry, largest),
                    "one turn of a loop, the largest of the branches, beside inputs, outputs and weights"
                ),
                &entry.name,
            );
        }
        if let Some(largest) = largest(&calls) {
            diagnostics.warning(
                format!(
                    "{} graphs that could not be put in their place: {}, an estimate",
                    counted_ops(calls.len(), "calls", "call"),
                    held(entry, largest)
                ),
                &entry.name,
            );
        }
    }
}

fn counted_ops(count: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        counted(count as u64, "op"),
        if count == 1 { one } else { many }
    )
}

/// The first of the largest.
fn largest(scratch: &[BodyScratch]) -> Option<&BodyScratch> {
    scratch
        .iter()
        .reduce(|one, other| if other.bytes > one.bytes { other } else { one })
}

/// Which op holds how much.
fn held(entry: &GraphEntry, one: &BodyScratch) -> String {
    let graph = &entry.graph;
    let op = match graph.op_name(one.op) {
        "" => graph.op_kind(one.op),
        name => name,
    };
    let body = entry.numbered(one.body).map_or("", Graph::name);
    let at_least = if one.is_lower_bound { "at least " } else { "" };
    format!("on its step \"{op}\" holds {at_least}{} for \"{body}\"", one.bytes)
}
