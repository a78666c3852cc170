//! Memory that the figures of a graph leave out: tensors of unknown size, scratch memory, and the bodies of ops.
//!
//! In: a graph with values of its dimensions. Out: diagnostics, and why the figures are lower bounds. Invariant: `plan`, `remat` and
//! `reuse` report the same for the same graph.

use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Graph, Role};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::counted;
use highwater_model::workload::GraphEntry;
use highwater_rewrite::control_flow_workspace;

/// Why the figures are lower bounds, in words; `None` where they are exact. `what_is_not` ends the sentence about bodies of ops, such as
/// "placed here".
pub(super) fn lower_bound_of(
    entry: &GraphEntry,
    bindings: &Bindings,
    progress: &Progress<'_>,
    what_is_not: &str,
    diagnostics: &mut Diagnostics,
) -> Result<Option<String>, Cancelled> {
    let graph: &Graph = &entry.graph;
    let sizes = graph.sizes(bindings);
    let mut unknown = graph.unknown_activations(&sizes);
    let first = unknown.next();
    if let Some(first) = first {
        diagnostics.unknown_shapes(graph.tensor_name(first), 1 + unknown.count() as u64);
    }
    let has_bodies = unseen_bodies(entry, bindings, progress, what_is_not, diagnostics)?;
    let mut tensors = graph.tensors().iter();
    let states_scratch = tensors.any(|tensor| tensor.role == Role::Workspace);
    let reasons = [
        (!states_scratch, "kernel scratch not included"),
        (first.is_some(), "tensors of unknown size count 0 bytes"),
        (has_bodies, "memory of subgraphs not included"),
    ];
    let reasons = reasons.iter().filter(|(is_so, _)| *is_so);
    let reasons: Vec<&str> = reasons.map(|(_, why)| *why).collect();
    Ok(reasons.split_last().map(|(last, before)| match before {
        [] => (*last).to_owned(),
        before => format!("{}, and {last}", before.join(", ")),
    }))
}

/// Reports the memory of the bodies of ops; whether there is any.
fn unseen_bodies(
    entry: &GraphEntry,
    bindings: &Bindings,
    progress: &Progress<'_>,
    what_is_not: &str,
    diagnostics: &mut Diagnostics,
) -> Result<bool, Cancelled> {
    let scratch = control_flow_workspace(entry, bindings, progress)?;
    // Of several largest the first.
    let largest = scratch
        .iter()
        .reduce(|one, other| if other.bytes > one.bytes { other } else { one });
    let Some(largest) = largest else { return Ok(false) };
    let graph = &entry.graph;
    let op = match graph.op_name(largest.op) {
        "" => graph.op_kind(largest.op),
        name => name,
    };
    let (run, their) = match scratch.len() {
        1 => ("runs subgraphs", "the op"),
        _ => ("run subgraphs", "the largest"),
    };
    diagnostics.warning(
        format!(
            "{} {run} whose memory is not {what_is_not}: {their}, \"{op}\", holds {}{} for \"{}\" (estimate); \
             `compare` counts it, `plan --graph NAME` places a subgraph alone",
            counted(scratch.len() as u64, "op"),
            if largest.is_lower_bound { "at least " } else { "" },
            largest.bytes,
            entry.graph_by_number(largest.body).map_or("", Graph::name),
        ),
        &entry.name,
    );
    Ok(true)
}
