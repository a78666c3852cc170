//! Configurations from Python scripts.
//!
//! The script is parsed and walked along its flow, but never run: names are followed to the literals they are bound
//! to, branches are joined, and what only a running script knows is reported and kept as the expression that it is.
//! One file for each step: how deep ([`nesting`]), what is declared ([`survey`],
//! [`effects`]), what names are bound to
//! ([`scopes`]), what an expression stands for ([`evaluate`], [`lookups`], [`calls`],
//! [`arithmetic`], [`folding`]), statement by statement ([`walk`], [`loops`], [`functions`],
//! [`assignments`], [`variables`], [`changes`]), and what came of it ([`records`], [`settle`]).

mod arithmetic;
mod assignments;
mod calls;
mod changes;
mod comments;
mod constructors;
mod datum;
mod effects;
mod evaluate;
mod folding;
mod functions;
mod lookups;
mod loops;
mod nesting;
mod older;
mod records;
mod scopes;
mod settle;
mod source;
mod survey;
mod variables;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{ModModule, StmtFunctionDef};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};

use super::super::config::ConfigError;
use super::reading::Reading;
use records::Records;
use scopes::Scopes;
use source::Source;
use survey::Survey;

pub(super) use comments::MARK;
pub(super) use constructors::{RUN_CONFIG, RUN_CONFIG_ARGUMENTS};

/// What kind of Python a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// A script.
    Script,
    /// The cells of a notebook, with its magic lines.
    Notebook,
}

/// Reads a script. An error in its syntax is kept beside what could be read.
pub(super) fn from_python(text: &str, dialect: Dialect, is_lossy: bool) -> Reading {
    let newer = match dialect {
        Dialect::Script => older::modern(text),
        Dialect::Notebook => None,
    };
    let text = newer.as_deref().unwrap_or(text);
    let mode = match dialect {
        Dialect::Script => Mode::Module,
        Dialect::Notebook => Mode::Ipython,
    };
    if let Some(line) = nesting::too_deep(text, mode) {
        return refused(line, "is nested too deep to be a configuration");
    }
    let Some(parsed) = parse_unchecked(text, ParseOptions::from(mode)).try_into_module() else {
        return refused(1, "is no Python script");
    };
    let source = Source::new(text, is_lossy, &parsed);
    let error = parsed.errors().first().map(|error| ConfigError {
        line: source.line(error.location.start()),
        column: source.column(error.location.start()),
        reason: error.error.to_string(),
    });
    let mut reading = read(&parsed, source);
    reading.error = error;
    reading
}

fn refused(line: usize, reason: &str) -> Reading {
    Reading {
        error: Some(ConfigError {
            line,
            column: 1,
            reason: format!("the script {reason}"),
        }),
        ..Reading::default()
    }
}

fn read(parsed: &Parsed<ModModule>, source: Source<'_>) -> Reading {
    let body = &parsed.syntax().body;
    let survey = Survey::of(body, &source);
    let mut reader = Reader {
        source,
        survey,
        scopes: Scopes::new(),
        environment: BTreeMap::new(),
        records: Records::default(),
        conditions: Vec::new(),
        classes: Vec::new(),
        pending: Vec::new(),
        globals: Vec::new(),
        shared: BTreeSet::new(),
    };
    reader.comments();
    reader.scope(body);
    reader.settle()
}

/// A function whose body is still to be read, and the class that it belongs to.
type Pending<'a> = (&'a StmtFunctionDef, Option<&'a str>);

/// The walk through a script.
struct Reader<'a> {
    source: Source<'a>,
    survey: Survey<'a>,
    scopes: Scopes,
    /// Variables that the script has set so far, with their lines.
    environment: BTreeMap<String, (String, usize)>,
    records: Records,
    /// Lines of the conditions that nobody knows, around this place.
    conditions: Vec<usize>,
    /// Classes around this place.
    classes: Vec<&'a str>,
    /// Functions of each open scope: their bodies are read behind it, when all its names are bound.
    pending: Vec<Vec<Pending<'a>>>,
    /// Names that the innermost function declares as global.
    globals: Vec<&'a str>,
    /// Names that may stand for the same dictionary, list or object, in both orders.
    shared: BTreeSet<(String, String)>,
}
