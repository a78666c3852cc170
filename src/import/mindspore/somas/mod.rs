//! Plans of `MindSpore`'s static memory (SOMAS), `CPU_somas_tensor_offset_0.ir`.
//!
//! ```text
//! All Parameters:     %0P #98304S x 0                                                   id, bytes, name, output of it
//! All Tensors:        %0T #524288S #524288S &4194304 Common LifeLongNone 0 90 Default/Conv2D-op0
//!                     id, aligned bytes, bytes, offset (and in 1.x an address), kind, lifelong, first and last step, node
//! All Nodes:          $0 Default/Conv2D-op0 0 inputs[%0P, %1P, ] outputs[%0T, ] workspace[] ... streamID[@0]
//! ..., union tensors: [%9T %10T ], contiguous tensors: [...], refnode input-output:%1T %2T, stm0 stm1
//! ```
//! Source: `Somas::SomasInfo` and `SomasSolverPre::Log` of the public sources (1.3 to 2.10), and files of `MindSpore` 2.10.
//! `save_graphs` writes such files at every stage; the offsets of those before the solver's are all 0.
//!
//! In: text, line by line. Out: the graph of the nodes with SOMAS's arena and plan beside it, or that arena alone where no
//! nodes are listed. Both ends of a life are within it. Tensors of a union are one block, live from the first's start to the
//! last's end. A tensor whose aligned size is 0 lies in an input or output of the graph, outside of the arena.

mod arena;
mod graph;
mod parse;
mod solver;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::{ProblemEntry, Source};

/// The planner of the offsets.
const MAKER: &str = "SOMAS";

const ADVICE: &str = "the file is damaged or of another version; run again with MS_DEV_SAVE_GRAPHS=2 and \
                                               runtime.set_memory(optimize_level=\"O1\")";

/// The first line is the heading of a section with the headings of its columns behind it, or a line of the solver.
pub(crate) fn detect(input: &Input<'_>) -> bool {
    let text = String::from_utf8_lossy(input.head());
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match (lines.next(), lines.next()) {
        (Some("All Parameters:" | "All Tensors:"), Some(columns)) => columns.starts_with("index:"),
        (Some(line), _) => solver::is_line(line),
        _ => false,
    }
}

pub(crate) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let first = String::from_utf8_lossy(input.head()).trim_start().to_owned();
    if first.lines().next().is_some_and(|line| solver::is_line(line.trim())) {
        return solver::read(input, progress, diagnostics);
    }
    let name = input.name().to_owned();
    let dump = parse::read(input, progress)?;
    let arena = arena::entry(&dump, diagnostics)?;
    if dump.nodes.is_empty() {
        return Ok(Source::Problems(vec![Arc::new(ProblemEntry { name, ..arena })]));
    }
    let entry = graph::entry(&dump, arena, name, progress, diagnostics)?;
    Ok(Source::Graphs(vec![entry]))
}
