//! Name reuse with its log, for the window: both levels over one graph or program, and which tensor each variable is.

use std::sync::Arc;

use highwater_analysis::Comparison;
use highwater_export::reuse_warnings;
use highwater_model::graph::{Bindings, TensorId};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{BlockProgram, GraphIdx};
use highwater_rewrite::name_reuse::{
    LogLine, NameReuseRequest, ReuseQuestion, ReuseReport, block_program, reuse_report,
};
use highwater_timeline::Selected;

/// The levels that are worked out.
pub const REUSE_LEVELS: [i64; 2] = [0, 1];

/// Lines of a log that are kept for each level; a log can be far larger than its program.
pub const MOST_LOG_LINES: usize = 200_000;

/// What is asked.
#[derive(Clone, Debug)]
pub struct NamesQuestion {
    /// The answer on the screen.
    pub comparison: Arc<Comparison>,
    /// The graph; of a program 0.
    pub graph: GraphIdx,
    /// Values of its dimensions.
    pub bindings: Bindings,
    /// The call, but for level and log.
    pub request: NameReuseRequest,
    /// What a dimension -1 is.
    pub batch: u64,
}

/// Both levels.
#[derive(Clone, Debug)]
pub struct NamesReport {
    /// The graph; of a program 0.
    pub graph: GraphIdx,
    /// The call, but for level and log.
    pub request: NameReuseRequest,
    /// What a dimension -1 was; `None` where there is none.
    pub batch: Option<u64>,
    /// By position in [`REUSE_LEVELS`].
    pub levels: [ReuseReport; 2],
    /// Likewise: what the caller should know, in sentences.
    pub warnings: [Vec<String>; 2],
    /// The program before.
    program: Arc<BlockProgram>,
    /// By variable of a graph's program: its tensor.
    tensors: Option<Vec<TensorId>>,
}

impl NamesReport {
    /// The tensor of a variable that an op of a block names, as lanes know it. Of a graph it is the variable's own
    /// tensor, which may be a view.
    pub fn tensor(&self, block: u32, name: &str) -> Option<Selected> {
        let (block, variable) = self.declaration(block, name)?;
        let number = u32::try_from(variable).ok()?;
        Some(match &self.tensors {
            Some(tensors) => Selected {
                run: 0,
                graph: self.graph,
                tensor: *tensors.get(variable)?,
            },
            None => Selected {
                run: block,
                graph: GraphIdx(block),
                tensor: TensorId(number),
            },
        })
    }

    /// The tensors that a line is about: the one that looked for memory, and the one whose memory was looked at.
    pub fn tensors_of(&self, line: &LogLine) -> [Option<Selected>; 2] {
        let names = line.variables.each_ref();
        names.map(|name| self.tensor(line.block, name.as_deref()?))
    }

    /// The block that declares a variable, seen from a block, and the variable's position there.
    fn declaration(&self, block: u32, name: &str) -> Option<(u32, usize)> {
        let mut number = Some(block);
        // No more steps than there are blocks: those around each other in a circle end too.
        for _ in 0..self.program.blocks.len() {
            let here = self.program.blocks.get(number? as usize)?;
            if let Some(variable) = here.variables.get_index_of(name) {
                return Some((number?, variable));
            }
            number = here.forward.or(here.parent);
        }
        None
    }
}

/// Runs both levels. `None` where there is neither a graph nor a program.
///
/// # Errors
/// [`Cancelled`].
pub(super) fn names_report(
    question: &NamesQuestion,
    progress: &Progress<'_>,
) -> Result<Option<NamesReport>, Cancelled> {
    let workload = &question.comparison.workload;
    let (program, tensors, fetched) = if let Some(program) = workload.programs().first() {
        (Arc::clone(program), None, Vec::new())
    } else if let Some(entry) = workload.graphs().get(question.graph.0 as usize) {
        let mut converted = block_program(&entry.graph, &question.bindings);
        converted.program.name.clone_from(&entry.name);
        let tensors = Some(converted.tensor_of);
        (Arc::new(converted.program), tensors, converted.fetched)
    } else {
        return Ok(None);
    };
    let level = |level: i64| {
        let request = NameReuseRequest {
            level,
            print_log: true,
            most_log_lines: MOST_LOG_LINES,
            ..question.request.clone()
        };
        let asked = ReuseQuestion {
            program: &program,
            request: &request,
            fetched: &fetched,
            batch: question.batch,
        };
        let report = reuse_report(&asked, progress)?;
        let warnings = reuse_warnings(&asked, &report);
        progress.check()?;
        Ok((report, warnings))
    };
    let [first, second] = REUSE_LEVELS;
    let ((first, first_warnings), (second, second_warnings)) = (level(first)?, level(second)?);
    let variables = program.blocks.iter().flat_map(|block| block.variables.values());
    let mut dims = variables.flat_map(|variable| &variable.shape);
    let batch = dims.any(|dim| *dim < 0).then_some(question.batch);
    Ok(Some(NamesReport {
        graph: question.graph,
        request: question.request.clone(),
        batch,
        levels: [first, second],
        warnings: [first_warnings, second_warnings],
        program,
        tensors,
    }))
}
