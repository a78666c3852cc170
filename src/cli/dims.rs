//! Checks of `--dim`: dimensions without a value, and values without a dimension, which would otherwise be ignored silently.

use super::choice::MOST_NAMES;
use highwater_analysis::AnalysisError;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Graph, Role};
use highwater_model::units::first_of;
use highwater_model::workload::{Source, Workload};

/// The name of the dimension that is -1 in programs of blocks.
const BATCH: &str = "batch";

/// Refuses a graph with dimensions that have no value.
pub(super) fn unbound(graph: &Graph, bindings: &Bindings) -> Result<(), AnalysisError> {
    match graph.unbound_symbols(bindings) {
        symbols if symbols.is_empty() => Ok(()),
        symbols => Err(AnalysisError::Unbound { symbols }),
    }
}

/// A warning per value of an unknown dimension, with the known names.
pub(super) fn unused_dims(workload: &Workload, bindings: &Bindings) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let known = dims(workload);
    for name in bindings.keys().filter(|name| !known.contains(name)) {
        let known = match known.as_slice() {
            [] if has_unknown_shapes(workload) => {
                "its unknown dimensions have no names, so they accept no value".to_owned()
            }
            [] => "all of its dimensions have values".to_owned(),
            [known] => format!("its only symbolic dimension is {known}"),
            known => format!("it has {}", first_of(known.iter(), MOST_NAMES, ", ")),
        };
        diagnostics.warning(
            format!(
                "--dim {name} changes nothing: \"{}\" has no such dimension; {known}",
                workload.name
            ),
            name,
        );
    }
    diagnostics
}

/// Every symbolic dimension, including those of subgraphs, once.
fn dims(workload: &Workload) -> Vec<String> {
    if matches!(workload.source, Source::Blocks(_)) {
        return vec![BATCH.to_owned()];
    }
    let mut dims = workload.symbols();
    for body in workload.graphs().iter().flat_map(|entry| &entry.bodies) {
        for symbol in body.symbols() {
            if !dims.contains(&symbol) {
                dims.push(symbol);
            }
        }
    }
    dims
}

/// Whether an input or a result of a graph has an unknown shape.
fn has_unknown_shapes(workload: &Workload) -> bool {
    let is_unknown = |graph: &Graph| {
        let sizes = graph.sizes(&Bindings::new());
        let is_sized = |role: Role| matches!(role, Role::Activation | Role::Input);
        let mut tensors = graph.tensors().iter_ids();
        tensors.any(|(id, tensor)| is_sized(tensor.role) && sizes.tensor(id).is_none())
    };
    let entries = workload.graphs().iter();
    entries
        .flat_map(|entry| std::iter::once(&entry.graph).chain(&entry.bodies))
        .any(|graph| is_unknown(graph))
}
