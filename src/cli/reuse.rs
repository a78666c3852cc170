//! `highwater reuse`: variable reuse as in Paddle's `memory_optimize`, with its log.

use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::args::{Format, ReuseArgs};
use super::choice::{Choice, choose};
use super::dims::{unbound, unused_dims};
use super::lower_bound::lower_bound_of;
use super::settings::{read_settings, single_values};
use super::text::{diagnostics_section, section};
use super::{Verdict, print, print_json};
use highwater_export::{Table, WireReuse, reuse_warnings};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::Bindings;
use highwater_model::progress::Progress;
use highwater_model::workload::{BlockProgram, GraphEntry, PartOf, Source, Workload};
use highwater_options::{Options, Value, keys};
use highwater_rewrite::inline::with_calls_inlined;
use highwater_rewrite::name_reuse::{
    GraphProgram, LogLine, NameReuseRequest, ReuseQuestion, ReuseReport, SkipKind, SkipOptSet, Version, block_program,
    reuse_report,
};
use highwater_session::read_source;

/// The name of the dimension that is -1 in programs.
const BATCH: &str = "batch";

/// Bytes of the log that are written at once.
const LOG_PIECE: usize = 1 << 16;

pub(super) fn run(args: &ReuseArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json])?;
    let settings = read_settings(&args.common)?;
    let request = request(args, &settings.options)?;
    let bindings = single_values(settings.plan.dims)?;
    let source = args.common.opening.source(&args.file)?;
    let mut imported = read_source(&source, progress)?;
    if let Source::Graphs(entries) = &mut imported.source {
        with_calls_inlined(entries, progress, &mut imported.diagnostics)?;
    }
    let workload = Workload::new(source.title(), imported.source);
    let mut diagnostics = imported.diagnostics;
    diagnostics.extend(&unused_dims(&workload, &bindings));
    let (subject, choice) = subject(args, &workload, &bindings, progress, &mut diagnostics)?;
    choice.report(&mut diagnostics);
    let question = ReuseQuestion {
        program: &subject.program,
        request: &request,
        fetched: &subject.fetched,
        batch: bindings.get(BATCH).copied().unwrap_or(1),
    };
    let report = reuse_report(&question, progress)?;
    if args.format == Format::Json {
        print_json(&WireReuse::new(&question, &report, &diagnostics))?;
    } else {
        print_log(&report.reuse.log)?;
        print(&text(&question, &report, &diagnostics))?;
    }
    Ok(Verdict::yes_if(report.reuse.exception.is_none()))
}

/// The call: the options' values, with the flags above them.
fn request(args: &ReuseArgs, options: &Options) -> anyhow::Result<NameReuseRequest> {
    let level = match (
        args.level.as_deref().map(level_of),
        options.effective(keys::MEMORY_OPTIMIZE_LEVEL),
    ) {
        (Some(level), _) | (None, Value::Int(level)) => level,
        (None, Value::Bool(is_one)) => i64::from(is_one),
        (None, other) => bail!("memory_optimize.level is {}, not a number", other.quoted()),
    };
    let of_options = options.effective(keys::NAME_REUSE_VERSION).to_string();
    let version = args.version_line.clone().unwrap_or(of_options);
    let mut skip = skip_set(&options.effective(keys::SKIP_OPT_SET))?;
    skip.names.extend(args.skip.iter().map(|name| Box::from(name.as_str())));
    if let Some(kind) = &args.skip_kind {
        skip.kind = SkipKind::find(kind).with_context(|| {
            let known: Vec<&str> = SkipKind::ALL.iter().map(|row| row.0).collect();
            format!("--skip-kind {kind}: there is no such kind; known: {}", known.join(", "))
        })?;
    }
    Ok(NameReuseRequest {
        level,
        skip,
        skip_grads: args.skip_grads || options.effective(keys::SKIP_GRADS) == Value::Bool(true),
        print_log: args.print_log || options.effective(keys::PRINT_LOG) == Value::Bool(true),
        version: Version::find(&version).map_err(anyhow::Error::msg)?,
        most_log_lines: usize::MAX,
    })
}

/// The names of the option, with the type in which they were written.
fn skip_set(value: &Value) -> anyhow::Result<SkipOptSet> {
    let (kind, items) = match value {
        Value::Unset => return Ok(SkipOptSet::default()),
        Value::List(items) => (SkipKind::List, items.as_slice()),
        Value::Tuple(items) => (SkipKind::Tuple, items.as_slice()),
        Value::Text(_) => (SkipKind::Text, std::slice::from_ref(value)),
        other => bail!(
            "memory_optimize.skip_opt_set is {}, not a list of names",
            other.quoted()
        ),
    };
    let names: Option<Vec<Box<str>>> = items.iter().map(|item| item.as_text().map(Box::from)).collect();
    let Some(names) = names else {
        bail!(
            "memory_optimize.skip_opt_set is {}: expected names as text",
            value.quoted()
        );
    };
    Ok(SkipOptSet { kind, names })
}

struct Subject {
    program: Arc<BlockProgram>,
    fetched: Vec<Box<str>>,
}

fn subject(
    args: &ReuseArgs,
    workload: &Workload,
    bindings: &Bindings,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> anyhow::Result<(Subject, Choice)> {
    let (file, wanted) = (&workload.name, args.graph.as_deref());
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
        Source::Graphs(_) => {
            let mut parts = workload.parts(&[]);
            parts.retain(|part| matches!(part.of, PartOf::Graph(_) | PartOf::Body(..)));
            let names: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
            let choice = choose(file, &names, wanted, |_| true)?;
            let alone = workload.of_part(&parts[choice.position]);
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

/// Figures, findings and hazards.
fn text(question: &ReuseQuestion<'_>, report: &ReuseReport, import: &Diagnostics) -> String {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(
        report
            .reuse
            .exception
            .iter()
            .map(|exception| format!("Paddle raises {exception}")),
    );
    lines.extend(report.findings.iter().map(|finding| {
        let severity = if finding.kind.is_corruption() {
            "error"
        } else {
            "warning"
        };
        format!("{severity}: {}", finding.message)
    }));
    let warnings = reuse_warnings(question, report);
    lines.extend(warnings.iter().map(|warning| format!("warning: {warning}")));
    let lines = lines.into_iter().map(|line| line + "\n");
    figures(question, report) + &section(lines.collect()) + &diagnostics_section(import)
}

fn figures(question: &ReuseQuestion<'_>, report: &ReuseReport) -> String {
    let request = question.request;
    let title = format!("level {}", request.level);
    let mut table = Table::new(&["reuse", &title, ">"]);
    let figures = &report.figures;
    for (what, bytes) in [
        ("bytes before", figures.bytes_before),
        ("bytes after", figures.bytes_after),
        ("peak before", figures.peak_before),
        ("peak after", figures.peak_after),
    ] {
        table.row(&[&what, &bytes, &bytes.exact()]);
    }
    table.row(&[&"hits", &report.reuse.hits(), &""]);
    table.row(&[&"unsafe", &report.findings.len(), &""]);
    if question.batch != 1 {
        table.row(&[&"batch", &question.batch, &""]);
    }
    table.text()
}

/// A level as Python reads it: `True` is 1. A text that is no number becomes a level that the pass refuses.
fn level_of(text: &str) -> i64 {
    match text.trim() {
        "True" | "true" => 1,
        "False" | "false" => 0,
        number => number.parse().unwrap_or(REFUSED_LEVEL),
    }
}

/// A level that the original refuses.
const REFUSED_LEVEL: i64 = -1;
