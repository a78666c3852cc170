//! Op sequences with variables, and scripts of an eager interpreter, as MegEngine's rematerialization gets them
//! (docs/text-formats.md has the whole description).
//!
//! ```text
//! { "vars": [ {"name", "bytes", "flags": []} ],
//!   "ops":  [ {"name", "flags": [], "inputs": [name], "outputs": [name]} ] }          or { "graph": that object, ... }
//!
//! [ ["P", var, bytes], ["O", op, bad, [input], [[var, bytes]]], ["D", var] ]          or { "script": that list, ... }
//! ```
//!
//! In: JSON, read whole. Out: one [`Tape`]. Other keys of the larger object are ignored, `name` apart.
//! Names are resolved here; ops that are not in execution order are an error with the place of the entry.

mod draft;
mod graph;
mod script;
mod wire;

pub(super) use wire::{detect_graph, detect_script};

use std::sync::Arc;

use super::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::{Source, Tape};

pub(super) fn import_graph(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    _diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let fallback = input.name().to_owned();
    let bytes = input.read_all(progress)?;
    let (name, wire) = wire::read_graph(&bytes)?;
    Ok(tape(graph::tape(name.unwrap_or(fallback), &wire, progress)?))
}

pub(super) fn import_script(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    _diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let fallback = input.name().to_owned();
    let bytes = input.read_all(progress)?;
    let (name, wire) = wire::read_script(&bytes)?;
    Ok(tape(script::tape(name.unwrap_or(fallback), &wire, progress)?))
}

fn tape(tape: Tape) -> Source {
    Source::Tapes(vec![Arc::new(tape)])
}
