//! HLO text -> [`Module`]s.
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
//! in place. Attributes that do not concern memory are skipped, known or not. Lines mean nothing within a computation: an
//! instruction ends behind its operands and the attributes that commas join to them. The header may be missing, as in
//! tests of compilers; several headers are several modules. Linear in the text.

use std::collections::BTreeMap;

use super::cursor::Cursor;
use super::in_place;
use super::instruction::{self, Names};
use super::model::{Computation, Module, reachable};
use super::shape::{self, ShapeNotes};
use super::walk::{Walk, is_name_letter};
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

/// A module whose computations are found, not yet read.
#[derive(Default)]
struct Draft<'t> {
    module: Module,
    extents: Vec<Extent<'t>>,
}

/// The modules of a text, each with its notes.
pub(super) fn modules(text: &str, progress: &Progress<'_>) -> Result<Vec<(Module, ShapeNotes)>, ImportError> {
    let mut walk = Walk::new(text, 1, progress);
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    while let Some(next) = walk.peek()? {
        progress.set("reading", walk.at() as u64, text.len() as u64)?;
        if let Some(header) = walk.module_header()? {
            let mut draft = Draft::default();
            read_header(header, &mut draft.module);
            drafts.push(draft);
        } else if matches!(next, b'}' | b')' | b']') {
            return Err(error("a computation ends that did not begin", walk.line()));
        } else if let Some(Header { name, is_entry, length }) =
            header_of(walk.rest()).map_err(|what| error(what, walk.line()))?
        {
            walk.advance(length);
            if drafts.is_empty() {
                drafts.push(Draft::default());
            }
            if let Some(draft) = drafts.last_mut() {
                draft
                    .extents
                    .push(body(&mut walk, name, is_entry, &mut draft.module.n_instructions)?);
            }
        } else {
            walk.skip_line();
        }
    }
    if drafts.is_empty() {
        drafts.push(Draft::default());
    }
    let line = walk.line();
    let read = drafts.into_iter().map(|draft| {
        let mut notes = ShapeNotes::default();
        finish(draft, line, progress, &mut notes).map(|module| (module, notes))
    });
    read.collect()
}

fn finish(draft: Draft<'_>, line: u64, progress: &Progress<'_>, notes: &mut ShapeNotes) -> Result<Module, ImportError> {
    let Draft { mut module, extents } = draft;
    module.n_computations = extents.len() as u64;
    let entry = extents.iter().position(|extent| extent.is_entry);
    let Some(entry) = entry.or_else(|| extents.len().checked_sub(1)) else {
        return Err(error("the module has no computation", line));
    };
    let places: BTreeMap<&str, usize> = (0..)
        .zip(&extents)
        .map(|(place, extent)| (extent.name, place))
        .collect();
    module.computations = reachable(entry, |place, is_fused| {
        progress.check()?;
        let mut of_fusion = ShapeNotes::default();
        let notes = if is_fused { &mut of_fusion } else { &mut *notes };
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
    for attribute in super::cursor::parts(header) {
        match attribute.split_once('=') {
            Some(("is_scheduled", value)) => module.is_scheduled = value == "true",
            Some(("input_output_alias", value)) => {
                let list = value.trim().strip_prefix('{').and_then(|list| list.strip_suffix('}'));
                module.donated = in_place::aliases(list.unwrap_or("")).into_iter().collect();
            }
            _ => {}
        }
    }
}

/// The first line of a computation.
pub(super) struct Header<'t> {
    pub(super) name: &'t str,
    is_entry: bool,
    /// Its bytes, with the opening brace.
    pub(super) length: usize,
}

/// The computation that starts here; `None` where none does: other sections of a module list files and positions in them.
///
/// # Errors
/// The fault in a few words.
pub(super) fn header_of(text: &str) -> Result<Option<Header<'_>>, &'static str> {
    const EXPECTED: &str = "a computation is expected, such as `ENTRY main (x: f32[4]) -> f32[4] { ... }`";
    let mut cursor = Cursor::new(text);
    let mut name = cursor.until(|letter| !is_name_letter(letter));
    let is_entry = name == "ENTRY";
    if is_entry {
        cursor.skip_blanks();
        name = cursor.until(|letter| !is_name_letter(letter));
    }
    let name = name.trim_start_matches('%');
    if name.chars().next().is_none_or(|first| first.is_ascii_digit()) {
        return Ok(None);
    }
    cursor.skip_blanks();
    let has_parameters = cursor.peek() == Some('(');
    if has_parameters {
        cursor.balanced().ok_or("a bracket or quote is not closed")?;
        cursor.skip_blanks();
        if cursor.eat('-') {
            let result = cursor
                .eat('>')
                .then(|| shape::parse(&mut cursor, &mut ShapeNotes::default()));
            result.and_then(Result::ok).ok_or(EXPECTED)?;
            cursor.skip_blanks();
        }
    }
    if cursor.eat('{') {
        let length = text.len() - cursor.rest().len();
        return Ok(Some(Header { name, is_entry, length }));
    }
    // Looking at the lines within the brackets once more would take quadratic time.
    if has_parameters { Err(EXPECTED) } else { Ok(None) }
}

/// The instructions of a computation whose opening brace was just read; moves behind its closing one.
fn body<'t>(walk: &mut Walk<'t>, name: &'t str, is_entry: bool, count: &mut u64) -> Result<Extent<'t>, ImportError> {
    let (start, line) = (walk.at(), walk.line());
    while let Some(next) = walk.peek()? {
        if next == b'}' {
            let extent = Extent {
                name,
                is_entry,
                body: walk.since(start),
                line,
            };
            walk.advance(1);
            // What follows the brace concerns the computation as a whole: `, execution_thread="host"`.
            if walk.peek()? == Some(b',') {
                walk.skip_line();
            }
            return Ok(extent);
        }
        walk.statement()?;
        *count += 1;
    }
    Err(ImportError::Truncated {
        at: walk.at() as u64,
        what: format!("computation \"{name}\""),
    })
}

/// An instruction of a computation.
#[derive(Clone, Copy)]
enum Statement<'t> {
    Written(&'t str),
    /// An element of a tuple that an operand takes: `name#1`.
    Element(&'t str),
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
    while walk.peek()?.is_some() {
        let (line, statement) = walk.statement()?;
        let (is_root, name) = instruction::name(statement).ok_or_else(|| error("an instruction has no name", line))?;
        // What an operand takes out of a tuple becomes an instruction, as in older texts.
        for element in instruction::elements(statement) {
            if names.get(element).is_err() {
                names.add(element);
                statements.push((line, Statement::Element(element)));
            }
        }
        if !names.add(name) {
            return Err(error(
                format!("instruction \"{name}\" occurs twice in its computation"),
                line,
            ));
        }
        if is_root {
            root = Some(statements.len());
        }
        statements.push((line, Statement::Written(statement)));
    }
    for (line, statement) in &statements {
        if computation.instructions.len().is_multiple_of(256) {
            progress.check()?;
        }
        let instruction = match statement {
            Statement::Written(statement) => instruction::read(statement, &names, places, notes),
            Statement::Element(element) => instruction::taken(element, &names, &computation.instructions),
        };
        computation
            .instructions
            .push(instruction.map_err(|what| error(what, *line))?);
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
