//! Programs of blocks, variables and ops as JSON, in the manner of Paddle's fluid (docs/text-formats.md has the description).
//!
//! ```text
//! { "blocks": [ {"idx", "parent_idx", "forward_block_idx",
//!                "vars": [ {"name", "shape", "dtype", "persistable", "type"} ],
//!                "ops":  [ {"type", "inputs": {slot: [name]}, "outputs": {slot: [name]},
//!                           "attrs": {"op_role", "op_role_var", "sub_block", "force_cpu"}} ]} ] }
//! ```
//!
//! In: text, read once: such an object, or one that holds it under `program`; other keys are skipped. Out: one
//! [`BlockProgram`](highwater_model::workload::BlockProgram) whose blocks refer to blocks that exist and whose parents make no circle. Names need no declaration:
//! undeclared names are reported by the pass, not as an error of the file.

mod assemble;
mod wire;

use std::sync::Arc;

use super::json_key::has_key;
use super::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::Source;

/// A JSON object whose first 64 KiB name blocks (alone, of a program, or what became of blocks) with variables or ops.
pub(super) fn detect(input: &Input<'_>) -> bool {
    let head = input.head();
    let starts = head.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let has = |key: &str| has_key(head, key);
    let lists = ["blocks", "program.blocks", "final_blocks"];
    let has_lists = |list: &&str| has(&format!("{list}[].vars")) || has(&format!("{list}[].ops"));
    starts && lists.iter().any(has_lists) && !["highwater_graph", "nodes", "buffers"].iter().any(|key| has(key))
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    _diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let name = input.name().to_owned();
    let text = input.read_text(progress)?;
    let document: wire::Document =
        serde_json::from_str(&text).map_err(|error| ImportError::of_json(&error, text.len()))?;
    progress.check()?;
    let program = assemble::program(document, name, progress)?;
    Ok(Source::Blocks(vec![Arc::new(program)]))
}
