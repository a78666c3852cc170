//! Values of `--dim` that no graph has a dimension for: a slip of the pen that would otherwise change nothing and say
//! nothing.

use super::choice::list;
use crate::diagnostics::Diagnostics;
use crate::graph::Bindings;
use crate::workload::{Source, Workload};

/// The name of the dimension that -1 stands for in programs of blocks.
const BATCH: &str = "batch";

/// A warning for each value that nothing takes, with the names that there are.
pub(super) fn unused_dims(workload: &Workload, bindings: &Bindings) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let known = dims(workload);
    for name in bindings.keys().filter(|name| !known.contains(name)) {
        let known = match known.as_slice() {
            [] => "it has no dimension without a value".to_owned(),
            [known] => format!("its only one is {known}"),
            known => format!("it has {}", list(known)),
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

/// Every symbolic dimension, those of subgraphs too, each once.
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
