//! What the figures of a graph leave out: tensors of unknown size, scratch memory, and what graphs hold that ops run.
//!
//! In: a graph with values of its dimensions. Out: words, each kind once, and why the figures are lower bounds. Invariant:
//! `plan`, `remat` and `reuse` say the same of the same graph.

use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Graph, Role};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::counted;
use highwater_model::workload::GraphEntry;
use highwater_rewrite::control_flow_workspace;

/// What is left out of the figures of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Gaps {
    /// Why the figures are lower bounds, in words; `None` where they are all there is.
    pub(super) lower_bound: Option<String>,
}

/// Looks at what is left out, and says it. `what_is_not` ends the sentence about graphs that ops run ("placed here").
///
/// # Errors
/// Cancelled by the user.
pub(super) fn gaps(
    entry: &GraphEntry,
    bindings: &Bindings,
    progress: &Progress<'_>,
    what_is_not: &str,
    diagnostics: &mut Diagnostics,
) -> Result<Gaps, Cancelled> {
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
        (has_bodies, "what ops hold for graphs that they run is not included"),
    ];
    let reasons: Vec<&str> = reasons
        .iter()
        .filter(|(is_so, _)| *is_so)
        .map(|(_, why)| *why)
        .collect();
    Ok(Gaps {
        lower_bound: match reasons.split_last() {
            None => None,
            Some((last, [])) => Some((*last).to_owned()),
            Some((last, before)) => Some(format!("{}, and {last}", before.join(", "))),
        },
    })
}

/// Says what ops hold for the graphs that they run, and whether they hold anything.
fn unseen_bodies(
    entry: &GraphEntry,
    bindings: &Bindings,
    progress: &Progress<'_>,
    what_is_not: &str,
    diagnostics: &mut Diagnostics,
) -> Result<bool, Cancelled> {
    let scratch = control_flow_workspace(entry, bindings, progress)?;
    // The first of the largest.
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
        1 => ("runs graphs of its own", "the op"),
        _ => ("run graphs of their own", "the largest"),
    };
    diagnostics.warning(
        format!(
            "{} {run}, whose memory is not {what_is_not}: {their}, \"{op}\", holds {}{} for \"{}\" (an estimate); `compare` \
             counts it, `plan --graph NAME` places such a graph by itself",
            counted(scratch.len() as u64, "op"),
            if largest.is_lower_bound { "at least " } else { "" },
            largest.bytes,
            entry.numbered(largest.body).map_or("", Graph::name),
        ),
        &entry.name,
    );
    Ok(true)
}
