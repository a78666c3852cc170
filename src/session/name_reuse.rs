//! Name reuse with its log, for the window: both levels over one graph or program, and which tensor each variable is.

use std::sync::Arc;

use highwater_analysis::{Comparison, OpSource};
use highwater_export::reuse_warnings;
use highwater_model::graph::{Bindings, TensorId};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{BlockProgram, GraphIdx};
use highwater_rewrite::name_reuse::{
    LogLine, NameReuseRequest, ReuseQuestion, ReuseReport, block_program, reuse_report,
};
use highwater_timeline::Selected;

pub const REUSE_LEVELS: [i64; 2] = [0, 1];

/// Kept lines of a log per level; a log can be far larger than its program.
pub const MOST_LOG_LINES: usize = 200_000;

/// Name reuse of a graph or program at both levels.
#[derive(Clone, Debug)]
pub(super) struct NamesTask {
    pub(super) comparison: Arc<Comparison>,
    /// 0 for a program.
    pub(super) graph: GraphIdx,
    pub(super) bindings: Bindings,
    /// Without level and log.
    pub(super) request: NameReuseRequest,
    /// The value of dimensions -1.
    pub(super) batch: u64,
}

#[derive(Clone, Debug)]
pub struct NamesReport {
    /// 0 for a program.
    pub graph: GraphIdx,
    /// Without level and log.
    pub request: NameReuseRequest,
    /// The value of dimensions -1; `None` where there is none.
    pub batch: Option<u64>,
    /// By position in [`REUSE_LEVELS`].
    pub levels: [ReuseReport; 2],
    /// By position in [`REUSE_LEVELS`]: warnings for the caller.
    pub warnings: [Vec<String>; 2],
    /// Before reuse.
    program: Arc<BlockProgram>,
    /// By variable, for a graph.
    tensors: Option<Vec<TensorId>>,
}

impl NamesReport {
    /// The tensor in the lanes of a variable that an op of a block names. For a graph it is the tensor of the variable, which may
    /// be a view.
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

    /// The tensors of a line: the one that needs memory, and the candidate for reuse.
    pub fn tensors_of(&self, line: &LogLine) -> [Option<Selected>; 2] {
        let names = line.variables.each_ref();
        names.map(|name| self.tensor(line.block, name.as_deref()?))
    }

    /// The block that declares a variable, in scope of a block, and the position of the variable there.
    fn declaration(&self, block: u32, name: &str) -> Option<(u32, usize)> {
        let mut number = Some(block);
        // The number of blocks bounds the climb: cyclic parents end, too.
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

/// `None` where there is neither a graph nor a program.
///
/// # Errors
/// [`Cancelled`].
pub(super) fn names_report(question: &NamesTask, progress: &Progress<'_>) -> Result<Option<NamesReport>, Cancelled> {
    let (program, tensors, fetched) = match question.comparison.ops() {
        OpSource::Program(program) => (Arc::clone(program), None, Vec::new()),
        OpSource::Graphs(entries) => {
            let Some(entry) = entries.get(question.graph.0 as usize) else {
                return Ok(None);
            };
            let mut converted = block_program(&entry.graph, &question.bindings);
            converted.program.name.clone_from(&entry.name);
            let tensors = Some(converted.tensor_of);
            (Arc::new(converted.program), tensors, converted.fetched)
        }
        OpSource::Tape(_) | OpSource::None => return Ok(None),
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
