//! `highwater reuse`: variable reuse as in Paddle's `memory_optimize`, with its log.

use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::args::{Format, ReuseArgs};
use super::choice::{Choice, choose, choose_graph};
use super::dims::{unbound, unused_dims};
use super::lower_bound::lower_bound_of;
use super::settings::{Settings, parse_dims, single_values};
use super::text::print_answer;
use super::{Verdict, print};
use highwater_export::ReuseAnswer;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::Bindings;
use highwater_model::progress::Progress;
use highwater_model::workload::{BlockProgram, GraphEntry, Source};
use highwater_options::{Options, Value, keys, name_reuse};
use highwater_rewrite::name_reuse::{
    GraphProgram, LogLine, NameReuseRequest, REFUSED_LEVEL, ReuseQuestion, SkipKind, Version, block_program,
    reuse_report,
};
use highwater_session::{Loaded, load_unmeasured};

/// The name of the dimension that is -1 in programs.
const BATCH: &str = "batch";

/// Bytes of the log that are written at once.
const LOG_PIECE: usize = 1 << 16;

pub(super) fn run(args: &ReuseArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json])?;
    let Settings { document, .. } = Settings::read(std::slice::from_ref(&args.file), &args.common, progress)?;
    let request = request(args, &document.options)?;
    let mut dims = document.stated_dims();
    // Also where a sample suggests the same values.
    dims.extend(parse_dims(&args.common.dim)?);
    let bindings = single_values(dims)?;
    let loaded = load_unmeasured(&document.sources, progress).map_err(anyhow::Error::msg)?;
    let mut diagnostics = loaded.diagnostics.clone();
    diagnostics.extend(&unused_dims(&loaded.whole, &bindings));
    let graph = args.graph.as_ref().or(document.part.as_ref());
    let (subject, choice) = subject(
        graph.map(String::as_str),
        &loaded,
        &bindings,
        progress,
        &mut diagnostics,
    )?;
    choice.report(&mut diagnostics);
    let question = ReuseQuestion {
        program: &subject.program,
        request: &request,
        fetched: &subject.fetched,
        batch: bindings.get(BATCH).copied().unwrap_or(1),
    };
    let report = reuse_report(&question, progress)?;
    if args.format == Format::Text {
        print_log(&report.reuse.log)?;
    }
    let answer = ReuseAnswer {
        question: &question,
        report: &report,
        diagnostics: &diagnostics,
    };
    print_answer(&answer, args.format, false)?;
    Ok(Verdict::yes_if(report.reuse.exception.is_none()))
}

/// The call as the options make it, with the flags above them.
fn request(args: &ReuseArgs, options: &Options) -> anyhow::Result<NameReuseRequest> {
    let mut request = name_reuse(options);
    match (&args.level, options.get(keys::MEMORY_OPTIMIZE_LEVEL)) {
        (Some(level), _) => request.level = level_of(level),
        (None, Some(text @ Value::Text(_))) => bail!("memory_optimize.level is {}, not a number", text.quoted()),
        (None, _) => {}
    }
    let of_options = options.written(keys::NAME_REUSE_VERSION).to_string();
    request.version = Version::find(args.version_line.as_ref().unwrap_or(&of_options)).map_err(anyhow::Error::msg)?;
    request
        .skip
        .names
        .extend(args.skip.iter().map(|name| Box::from(name.as_str())));
    if let Some(kind) = &args.skip_kind {
        request.skip = request.skip.of_kind(kind).with_context(|| {
            let known: Vec<&str> = SkipKind::ALL.iter().map(|row| row.0).collect();
            format!("--skip-kind {kind}: there is no such kind; known: {}", known.join(", "))
        })?;
    }
    request.skip_grads |= args.skip_grads;
    request.print_log = args.print_log || options.acting(keys::PRINT_LOG) == Value::Bool(true);
    Ok(request)
}

struct Subject {
    program: Arc<BlockProgram>,
    fetched: Vec<Box<str>>,
}

fn subject(
    wanted: Option<&str>,
    loaded: &Loaded,
    bindings: &Bindings,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> anyhow::Result<(Subject, Choice)> {
    let workload = &loaded.whole;
    let file = &workload.name;
    match &workload.source {
        Source::Blocks(programs) => {
            let names: Vec<String> = programs.iter().map(|program| program.name.clone()).collect();
            let choice = choose(file, &names, wanted, |_| true)?;
            let subject = Subject {
                program: Arc::clone(&programs[choice.position]),
                fetched: Vec::new(),
            };
            Ok((subject, choice))
        }
        // The graphs of a log have no ops of a program.
        Source::Graphs(_) if !workload.has_logged_plans() => {
            let (choice, part) = choose_graph(file, &loaded.parts, wanted)?;
            let alone = workload.of_part(part);
            let Some(entry) = alone.graphs().first() else {
                bail!("{file}: \"{}\" is not a graph", choice.name);
            };
            let subject = of_graph(entry, bindings)?;
            lower_bound_of(entry, bindings, progress, "part of the program here", diagnostics)?;
            Ok((subject, choice))
        }
        _ => bail!("{file}: `reuse` needs a graph or a program of blocks (docs/text-formats.md)"),
    }
}

fn of_graph(entry: &GraphEntry, bindings: &Bindings) -> anyhow::Result<Subject> {
    unbound(&entry.graph, bindings)?;
    let GraphProgram {
        mut program, fetched, ..
    } = block_program(&entry.graph, bindings);
    program.name.clone_from(&entry.name);
    Ok(Subject {
        program: Arc::new(program),
        fetched,
    })
}

/// The lines of the original and an empty line, in pieces: a log can be far larger than its program.
fn print_log(log: &[LogLine]) -> anyhow::Result<()> {
    let mut piece = String::new();
    for line in log {
        piece.push_str(&line.text);
        piece.push('\n');
        if piece.len() >= LOG_PIECE {
            print(&piece)?;
            piece.clear();
        }
    }
    if !log.is_empty() {
        piece.push('\n');
    }
    print(&piece)
}

/// A level as Python reads it: `True` is 1. A text that is no number becomes a level that the pass refuses.
fn level_of(text: &str) -> i64 {
    match text.trim() {
        "True" | "true" => 1,
        "False" | "false" => 0,
        number => number.parse().unwrap_or(REFUSED_LEVEL),
    }
}
