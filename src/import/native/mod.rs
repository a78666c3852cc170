//! highwater's own JSON: ops, tensors, aliases, phases and costs (docs/text-formats.md has the whole description).
//!
//! ```text
//! { "highwater_graph": 1, "meta": {"model": "name"},
//!   "nodes":  [ {"name", "op", "inputs": [id], "outputs": [{"id", "shape", "dtype", "bytes",
//!                "storage_bytes" | "alias_of", "atomic"}], "flops", "time_ns", "phase", "workspace_bytes"} ],
//!   "inputs": [ {"id", "name", "shape", "dtype", "bytes", "role"} ],
//!   "outputs": [id] }                       or   { "highwater_graph": 1, "graphs": [ ... such objects ... ] }
//! ```
//!
//! In: text, read as a stream: nodes become ops one by one, so memory stays near the graph's own size. Out: one
//! graph entry per object. The version key may be missing (version 1). Unknown keys are skipped. Deliberately
//! not here: shape inference; what the file does not state stays unknown.

mod assemble;
mod wire;

use super::json_key::has_key;
use super::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::Source;

pub(super) const VERSION: u64 = 1;

/// A JSON object whose first 64 KiB name a graph's parts.
pub(super) fn detect(input: &Input<'_>) -> bool {
    let head = input.head();
    let has = |key: &str| has_key(head, key);
    head.trim_ascii_start().starts_with(b"{")
        && (has("highwater_graph")
            || has("nodes") && !has("arg_nodes")
            || has("graphs[].nodes")
            || (has("inputs") && has("outputs")))
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let fallback_name = input.name().to_owned();
    let bytes = input.read_all(progress)?;
    let mut context = assemble::Context::new(&fallback_name, *progress, diagnostics);
    let result = wire::read(&bytes, &mut context);
    if let Some(error) = context.take_error() {
        return Err(error);
    }
    let drafts = result.map_err(|error| ImportError::of_json(&error, bytes.len()))?;
    drop(bytes);
    context.finish(drafts).map(Source::Graphs)
}
