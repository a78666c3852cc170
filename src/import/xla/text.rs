//! HLO text -> [`Module`].
//!
//! ```text
//! HloModule jit_f, is_scheduled=true, entry_computation_layout={...}
//! %body (p: (s32[], f32[4])) -> (s32[], f32[4]) {
//!   %p = (s32[], f32[4]{0}) parameter(0)
//!   ROOT %t = (s32[], f32[4]{0}) tuple(...), control-predecessors={%a}, metadata={op_name="f/while"}
//! }
//! ENTRY %main (x: f32[4]) -> f32[4] { ... }
//! ```
//!
//! The text is walked once for the extents of computations; then the entry and what it reaches are read, each instruction
//! in place. Attributes that do not concern memory are skipped, known or not. An instruction ends where its
//! line does and all brackets are closed. Linear in the text.

use std::collections::BTreeMap;

use super::cursor::{Mark, Marks};
use super::instruction::{self, Names};
use super::model::{Computation, Module, reachable};
use super::shape::ShapeNotes;
use crate::ImportError;
use highwater_model::progress::Progress;

pub(super) const ADVICE: &str = "dump the module again with --xla_dump_hlo_as_text";

struct Extent<'t> {
    name: &'t str,
    is_entry: bool,
    body: &'t str,
    /// The line of its first instruction.
    line: u64,
}

pub(super) fn module(text: &str, progress: &Progress<'_>, notes: &mut ShapeNotes) -> Result<Module, ImportError> {
    let mut module = Module::default();
    let mut extents = Vec::new();
    let mut walk = Walk::new(text, 1, progress);
    while let Some((line, statement)) = walk.statement()? {
        progress.set("reading", walk.at as u64, text.len() as u64)?;
        if let Some(header) = statement.strip_prefix("HloModule") {
            read_header(header, &mut module);
        } else if statement.starts_with('}') {
            return Err(error("a computation ends that did not begin", line));
        } else if let Some((name, is_entry)) = header_of(statement) {
            let extent = walk.body(name, is_entry, &mut module.n_instructions)?;
            extents.push(extent);
        }
    }
    module.n_computations = extents.len() as u64;
    let entry = extents.iter().position(|extent| extent.is_entry);
    let Some(entry) = entry.or_else(|| extents.len().checked_sub(1)) else {
        return Err(error("the module has no computation", walk.line));
    };
    let places: BTreeMap<&str, usize> = (0..)
        .zip(&extents)
        .map(|(place, extent)| (extent.name, place))
        .collect();
    module.computations = reachable(entry, |place| {
        progress.check()?;
        computation(&extents[place], &places, progress, notes)
    })?;
    Ok(module)
}

pub(super) fn error(what: impl Into<String>, line: u64) -> ImportError {
    ImportError::at(what, format!("line {line}"), ADVICE)
}

fn read_header(header: &str, module: &mut Module) {
    let header = header.trim_start();
    let end = header.find(|letter: char| letter == ',' || letter.is_whitespace());
    header[..end.unwrap_or(header.len())].clone_into(&mut module.name);
    let mut attributes = super::cursor::parts(header);
    module.is_scheduled = attributes.any(|attribute| attribute == "is_scheduled=true");
}

/// The name in the first line of a computation, and whether it is the entry; `None` for any other line.
fn header_of(statement: &str) -> Option<(&str, bool)> {
    let open = statement.strip_suffix('{')?;
    let (is_entry, open) = match open.trim_start().strip_prefix("ENTRY ") {
        Some(rest) => (true, rest.trim_start()),
        None => (false, open.trim_start()),
    };
    let end = open.find(|letter: char| letter == '(' || letter.is_whitespace());
    let name = open[..end.unwrap_or(open.len())].trim_start_matches('%');
    (!name.is_empty()).then_some((name, is_entry))
}

fn computation(
    extent: &Extent<'_>,
    places: &BTreeMap<&str, usize>,
    progress: &Progress<'_>,
    notes: &mut ShapeNotes,
) -> Result<Computation, ImportError> {
    let mut computation = Computation {
        name: extent.name.to_owned(),
        ..Computation::default()
    };
    let mut root = None;
    let mut walk = Walk::new(extent.body, extent.line, progress);
    let mut names = Names::default();
    let mut statements = Vec::new();
    while let Some((line, statement)) = walk.statement()? {
        let (is_root, name) = instruction::name(statement).ok_or_else(|| error("an instruction has no name", line))?;
        if !names.add(name) {
            return Err(error(
                format!("instruction \"{name}\" stands twice in its computation"),
                line,
            ));
        }
        if is_root {
            root = Some(statements.len());
        }
        statements.push((line, statement));
    }
    for (line, statement) in &statements {
        if computation.instructions.len().is_multiple_of(256) {
            progress.check()?;
        }
        let instruction = instruction::read(statement, &names, places, notes).map_err(|what| error(what, *line))?;
        computation.instructions.push(instruction);
    }
    let Some(last) = statements.len().checked_sub(1) else {
        return Err(error(
            format!("computation \"{}\" has no instruction", extent.name),
            extent.line,
        ));
    };
    computation.root = u32::try_from(root.unwrap_or(last)).unwrap_or(u32::MAX);
    Ok(computation)
}

struct Walk<'t> {
    text: &'t str,
    at: usize,
    line: u64,
    progress: &'t Progress<'t>,
    count: u64,
}

const STATEMENTS_BETWEEN_CHECKS: u64 = 1024;
/// Bytes of one statement between two checks of the cancel flag.
const BYTES_BETWEEN_CHECKS: usize = 1 << 20;

impl<'t> Walk<'t> {
    /// Starts in front of a text whose first line has a number.
    const fn new(text: &'t str, line: u64, progress: &'t Progress<'t>) -> Self {
        Self {
            text,
            at: 0,
            line,
            progress,
            count: 0,
        }
    }

    /// The next statement without the blanks around it, and its line. A first line of a computation and a closing brace
    /// are separate statements.
    fn statement(&mut self) -> Result<Option<(u64, &'t str)>, ImportError> {
        loop {
            self.count += 1;
            if self.count.is_multiple_of(STATEMENTS_BETWEEN_CHECKS) {
                self.progress.check()?;
            }
            let Some(line_end) = self.line_end() else {
                return Ok(None);
            };
            let line = self.text[self.at..line_end].trim();
            let first = self.line;
            if line.is_empty() || line.starts_with("//") {
                self.advance(line_end);
                continue;
            }
            let is_whole = line.starts_with('}') || (line.ends_with('{') && !line.contains(" = "));
            if is_whole {
                self.advance(line_end);
                return Ok(Some((first, line)));
            }
            let end = self.balanced_end()?;
            let statement = self.text[self.at..end].trim();
            self.advance(end);
            return Ok(Some((first, statement)));
        }
    }

    /// The instructions of a computation whose first line was just read; moves behind its closing brace.
    fn body(&mut self, name: &'t str, is_entry: bool, count: &mut u64) -> Result<Extent<'t>, ImportError> {
        let (start, line) = (self.at, self.line);
        loop {
            let before = self.at;
            match self.statement()? {
                Some((_, statement)) if statement.starts_with('}') => {
                    return Ok(Extent {
                        name,
                        is_entry,
                        body: &self.text[start..before],
                        line,
                    });
                }
                Some(_) => *count += 1,
                None => {
                    return Err(ImportError::Truncated {
                        at: self.text.len() as u64,
                        what: format!("computation \"{name}\""),
                    });
                }
            }
        }
    }

    /// The end of the current line; `None` at the end of the text.
    fn line_end(&self) -> Option<usize> {
        if self.at >= self.text.len() {
            return None;
        }
        let rest = &self.text[self.at..];
        Some(rest.find('\n').map_or(self.text.len(), |end| self.at + end))
    }

    /// The end of the first line at which all brackets are closed.
    fn balanced_end(&self) -> Result<usize, ImportError> {
        let mut depth = 0_u32;
        let mut marks = Marks::default();
        for (at, byte) in self.text.as_bytes()[self.at..].iter().enumerate() {
            if at % BYTES_BETWEEN_CHECKS == BYTES_BETWEEN_CHECKS - 1 {
                self.progress.check()?;
            }
            match marks.of(*byte) {
                Mark::Opens => depth += 1,
                Mark::Closes => {
                    depth = depth
                        .checked_sub(1)
                        .ok_or_else(|| error("a bracket closes that did not open", self.line))?;
                }
                Mark::Ends if depth == 0 => return Ok(self.at + at),
                Mark::Ends | Mark::Other => {}
            }
        }
        if depth == 0 && marks.is_plain() {
            return Ok(self.text.len());
        }
        Err(error("a bracket or quote is not closed", self.line))
    }

    fn advance(&mut self, end: usize) {
        let lines = self.text.as_bytes()[self.at..end].iter().filter(|byte| **byte == b'\n');
        self.line += lines.count() as u64 + 1;
        self.at = (end + 1).min(self.text.len());
    }
}
