//! Dumps of `MindSpore`'s graphs as text, `graph_build_0_0094.ir`, `*_kernel_graph_*.ir`, `31_validate_0032.ir`.
//!
//! ```text
//! # IR entry: @kernel_graph0
//! %para1_x: <Tensor[Float32], (8, 3)> : [8, 3]  :  IsWeight: false
//! subgraph @kernel_graph0() {
//!   %0(equiv_7_CNode_608) = Load(%para4_a.weight, UMonad[U])
//!       : (<Ref[Tensor[Float32]], (4, 3), ref_key=a.weight>, <UMonad, NoShape>) -> (<Tensor[Float32], (4, 3)>)
//!       # Fullname with scope: (Default/Load-op0)
//!   Return(%394)
//! }
//! ```
//! Source: `anf_ir_dump.cc` of the public sources (1.5 to 2.10), and dumps of `MindSpore` 2.10 with `MS_DEV_SAVE_GRAPHS` 2 and 3.
//!
//! In: text, line by line. Out: the entry's graph, other graphs as bodies. Nodes that only name, order or bundle values (`Load`,
//! `Depend`, `MakeTuple`, `TupleGetItem`, `UpdateState`) are no ops: their results are their operands. What states a
//! reference to a parameter shares its memory, and so does a change of shape alone. The order is that of the file.

pub(super) mod abstracts;
pub(super) mod build;
pub(super) mod parse;
#[cfg(test)]
mod tests;

use crate::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::Source;

/// The first line names the entry.
pub(crate) fn detect(input: &Input<'_>) -> bool {
    let first = input
        .head()
        .split(|byte| *byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| parse::entry_name(&String::from_utf8_lossy(line)).is_some())
}

pub(crate) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let name = input.name().to_owned();
    let dump = parse::read(input, progress)?;
    let entry = build::entry(&dump, &name, progress, diagnostics)?;
    Ok(Source::Graphs(vec![entry]))
}
