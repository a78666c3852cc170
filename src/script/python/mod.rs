//! Configurations from Python scripts.
//!
//! The script is parsed and walked along its flow, but never run: names are followed to the literals that they are bound to, branches
//! are joined, and a value known only at run time is reported and kept as an expression. The stages, in their order:
//!
//! 1. Parse: literals of Python 2 become those of Python 3 ([`older`]), deep nesting is refused ([`nesting`]), ruff's parser makes a tree;
//!    [`source`] has lines and comments.
//! 2. Declare: [`survey`] collects flags, classes and functions of the whole script, [`effects`] the names that a function changes.
//! 3. Evaluate: an expression becomes a [`Fact`](datum::Fact), which is a value or the reason why it is unknown ([`evaluate`],
//!    [`lookups`], [`calls`], [`arithmetic`], [`folding`]); [`scopes`] has the bindings at a point of the flow.
//! 4. Settings: statement by statement along the flow ([`walk`], [`loops`], [`functions`], [`assignments`], [`variables`], [`allocator`],
//!    [`neighbours`], [`frameworks`],
//!    [`mindspore_calls`], [`optimizers`], [`changes`],
//!    [`comments`]), constructor calls and assignments add to the [`records`] ([`settings`]).
//! 5. Findings: the last setting of each option wins; contradictions and conditions become warnings ([`settle`]).
//!
//! All stages from 3 on are methods of one [`Reader`].

mod allocator;
mod arguments;
mod arithmetic;
mod arms;
mod assignments;
mod callers_first;
mod calls;
mod changes;
mod comments;
mod constructors;
mod datum;
mod dropped;
mod eager_dtr;
mod effects;
mod evaluate;
mod folding;
mod following;
mod frameworks;
mod functions;
mod lookups;
mod loops;
mod messages;
mod mindspore_calls;
mod neighbours;
mod nesting;
mod older;
mod optimizers;
mod parameters;
mod paths;
mod reader;
mod records;
mod scopes;
mod settings;
mod settle;
mod source;
mod survey;
mod training;
mod variables;
mod walk;

use std::collections::BTreeSet;

use ruff_python_ast::{ModModule, Stmt};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};

use super::reading::Reading;
use crate::config::ConfigError;
use crate::quotes::named;
use crate::write_python::HEADER;
use reader::Reader;
use source::Source;
use survey::Survey;

pub(super) use comments::{DEVICE_MARK, EVALUATION_MARK, FRAMEWORK_MARK, MARK, SCHEDULE_MARK};
pub(super) use constructors::{RUN_CONFIG, RUN_CONFIG_ARGUMENTS};
pub(super) use eager_dtr::{EAGER_HEURISTIC, EAGER_KEYS};
pub(super) use parameters::{Stored, read_field, stored};

/// The text of a script.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScriptText<'a> {
    pub(super) text: &'a str,
    /// Where the script is, as its user writes it; `None` where it is no file.
    pub(super) path: Option<&'a str>,
    /// Whether letters were replaced.
    pub(super) is_lossy: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Script,
    /// Cells of a notebook, with magic lines.
    Notebook,
}

/// Reads a script; a syntax error is kept in the reading. `of` chooses one of its configurations.
pub(super) fn from_python(script: &ScriptText<'_>, dialect: Dialect, of: Option<&str>) -> Reading {
    let ScriptText { text, path, is_lossy } = *script;
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
    let is_python_2 = newer.is_some() || older::is_python_2(text, &parsed);
    let new_source = || Source::new(text, is_lossy, &parsed).at(path).of_python_2(is_python_2);
    let source = new_source();
    // Documents write `...` for arguments that they leave out, also behind named ones.
    let is_ellipsis = |range| source.slice(range) == "...";
    let error = parsed.errors().iter().find(|error| !is_ellipsis(error.location));
    let error = error.map(|error| {
        let mark = source.mark_behind(error.location.start());
        let at = mark.map_or(error.location.start(), |(at, _)| at);
        ConfigError {
            line: source.line(at),
            column: source.column(at),
            reason: match mark {
                Some((_, mark)) => named(mark, "Python takes it for no quotation mark"),
                None => error.error.to_string(),
            },
        }
    });
    let mut reading = read(&parsed, source, of);
    // The defaults of flags may choose the branches without a configuration, or leave out others: then those are read, too.
    if reading.drops_by_assumption {
        let all = read_all(&parsed, new_source(), of);
        reading = with_left_out(reading, all, of);
    }
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

fn read(parsed: &Parsed<ModModule>, source: Source<'_>, of: Option<&str>) -> Reading {
    settled(&parsed.syntax().body, source, of, true)
}

/// Offers the configurations that only the reading of all branches has; that reading itself where `of` chooses one of them, or where
/// the defaults of flags leave nothing of a script with configurations.
fn with_left_out(mut reading: Reading, all: Reading, of: Option<&str>) -> Reading {
    if !reading.is_found && !all.document.script.configurations.is_empty() {
        return all;
    }
    reading.is_found |= all.is_found;
    let names = all.document.script.configurations.iter().zip(&all.places);
    let known: BTreeSet<usize> = reading.places.iter().copied().collect();
    let further: Vec<(String, usize)> = names
        .filter(|(_, place)| !known.contains(place))
        .map(|(name, place)| (name.clone(), *place))
        .collect();
    let script = &mut reading.document.script;
    let is_known = of.is_none_or(|of| {
        script
            .configurations
            .iter()
            .chain(&script.aliases)
            .any(|name| name == of)
    });
    if !is_known && of.is_some_and(|of| further.iter().any(|(name, _)| name == of)) {
        return all;
    }
    for (name, place) in further {
        script.configurations.push(name.clone());
        script.left_out.push(name);
        reading.places.push(place);
    }
    reading
}

/// The same without trust in assumptions where branches have settings.
fn read_all(parsed: &Parsed<ModModule>, source: Source<'_>, of: Option<&str>) -> Reading {
    settled(&parsed.syntax().body, source, of, false)
}

fn settled(body: &[Stmt], source: Source<'_>, of: Option<&str>, trusts_assumptions: bool) -> Reading {
    let survey = Survey::of(body, &source);
    let mut reader = Reader::new(source, survey);
    reader.trusts_assumptions = trusts_assumptions;
    reader.records.is_written = reader.source.starts_with(HEADER);
    if reader.survey.has_more_changes {
        let message = "the functions of this script change too many outer names to follow all; a value that one of them changes \
                       may be taken as unchanged";
        reader.records.warn(1, message.to_owned());
    }
    reader.comments();
    reader.scope(body);
    reader.settle(of)
}
