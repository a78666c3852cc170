//! Name reuse: Paddle's `memory_optimize`, which gives a variable the name, and so the memory, of a dead one.
//!
//! In: a [`BlockProgram`] and a [`NameReuseRequest`]. Out: a [`NameReuse`]: the renames in order, the original's log
//! and messages, its exception where it raises one (earlier renames stay), and the program afterwards. The original's
//! answer is reproduced even where it corrupts values: [`verify`] lists such renames. Deterministic. Graphs become
//! programs by [`block_program`].

mod figures;
mod flow;
mod graph_program;
mod hazards;
mod liveness;
mod log;
mod lookup;
mod naming;
mod pass;
mod pool;
mod report;
mod request;
mod verify;
mod versions;

pub use figures::{ProgramFigures, ReuseFigures, program_figures, reuse_figures};
pub use graph_program::{GraphProgram, block_program, merged_storage};
pub use hazards::{Hazard, HazardKind, hazards};
pub use log::LogLine;
pub use report::{ReuseQuestion, ReuseReport, reuse_report};
pub use request::{NameReuseRequest, REFUSED_LEVEL, SkipKind, SkipOptSet};
pub use verify::{ReuseDefect, ReuseDefectKind, verify};
pub use versions::{DEPRECATION, ForcedRule, LogForm, TypeRule, VERSIONS, Version, VersionRules, VersionTraits};

use std::collections::BTreeSet;

use flow::{Flow, flow, flow_plans};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{BlockOp, BlockProgram};
use pass::FlowAnswer;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The renamed variable.
    pub variable: Box<str>,
    /// Its new name.
    pub cache: Box<str>,
    /// The block of the first op that is renamed.
    pub block: u32,
    /// Position of that op in its block.
    pub op_index: u32,
    /// Position of that op in its control-flow graph.
    pub cfg_op_index: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameReuse {
    /// In order.
    pub renames: Vec<Rename>,
    /// The first printed lines, up to the requested number; empty unless requested.
    pub log: Vec<LogLine>,
    /// All printed lines.
    pub n_log_lines: u64,
    /// Text on standard error.
    pub stderr: &'static str,
    /// The exception that ends it, as `Class: text`.
    pub exception: Option<String>,
    /// The program afterwards, up to an exception.
    pub program: BlockProgram,
}

impl NameReuse {
    /// Variables that reuse memory.
    pub fn hits(&self) -> usize {
        self.renames.len()
    }
}

/// O(n log n) in the names of the program; with the log, and in version 1 at level 1, O(n * pool).
///
/// # Errors
/// [`Cancelled`]. Requests that the original refuses are answers.
pub fn name_reuse(
    program: &BlockProgram,
    request: &NameReuseRequest,
    progress: &Progress<'_>,
) -> Result<NameReuse, Cancelled> {
    let mut reuse = NameReuse {
        renames: Vec::new(),
        log: Vec::new(),
        n_log_lines: 0,
        stderr: if request.version == Version::V3 {
            DEPRECATION
        } else {
            ""
        },
        exception: None,
        program: program.clone(),
    };
    if request.version == Version::V4 {
        return Ok(reuse);
    }
    let protected = match request.protected(program) {
        Ok(protected) => protected,
        Err(exception) => {
            reuse.exception = Some(exception);
            return Ok(reuse);
        }
    };
    let protected: BTreeSet<&str> = protected.iter().map(|name| &**name).collect();
    let rules = request.version.rules();
    let plans = flow_plans(program, rules);
    for (done, plan) in (0..).zip(&plans) {
        progress.set("reusing names", done, plans.len() as u64)?;
        let flow = flow(program, plan, rules, &protected);
        let most_lines = request.most_log_lines.saturating_sub(reuse.log.len());
        let answer = pass::run(program, &flow, request, most_lines, progress)?;
        write_back(&flow, &answer, &mut reuse.program);
        reuse.renames.extend(answer.renames);
        reuse.log.extend(answer.log);
        reuse.n_log_lines += answer.n_log_lines;
        if answer.exception.is_some() {
            reuse.exception = answer.exception;
            break;
        }
    }
    Ok(reuse)
}

/// Writes the new names into the ops.
fn write_back(flow: &Flow<'_>, answer: &FlowAnswer, program: &mut BlockProgram) {
    for (op, names) in flow.ops.iter().zip(&answer.names) {
        let Some(names) = names else { continue };
        let block = program.blocks.get_mut(op.block as usize);
        let Some(target) = block.and_then(|block| block.ops.get_mut(op.index as usize)) else {
            continue;
        };
        for ((place, new), old) in mentions(target).zip(names).zip(&op.names) {
            if new != old {
                *place = flow.text(*new).into();
            }
        }
    }
}

/// Every name in an op: inputs, outputs, `op_role_var`.
fn mentions(op: &mut BlockOp) -> impl Iterator<Item = &mut Box<str>> {
    let slots = op.inputs.iter_mut().chain(&mut op.outputs);
    let names = slots.flat_map(|(_, names)| names);
    names.chain(op.role_variables.iter_mut().flatten())
}
