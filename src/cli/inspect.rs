//! `highwater inspect`: what was read.

use super::args::{Format, InspectArgs, YesNo};
use super::settings::parse_bindings;
use super::text::{Table, diagnostics};
use super::{Verdict, print, print_json};
use crate::analysis::{DumpFigures, GraphFigures, Inspection, RecordingFigures, inspect};
use crate::export::WireInspection;
use crate::progress::Progress;
use crate::session::read_source;
use crate::units::{Bytes, Step};
use crate::workload::Workload;

/// Runs the command.
pub(super) fn run(args: &InspectArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    let bindings = parse_bindings(&args.dim)?;
    let source = args.opening.source(&args.file)?;
    let imported = read_source(&source, progress)?;
    let mut workload = Workload {
        name: source.title(),
        source: imported.source,
        measured: imported.measured,
    };
    if args.shapes_keep_alive == YesNo::No {
        workload = workload.without_shape_reads();
    }
    let inspection = inspect(&workload, &bindings);
    match args.format {
        Format::Json => print_json(&WireInspection::new(
            imported.format,
            &inspection,
            &imported.diagnostics,
        ))?,
        Format::Text => print(&text(
            &workload.name,
            imported.format,
            &inspection,
            &imported.diagnostics,
        ))?,
        format => return Err(format.refusal()),
    }
    Ok(Verdict::Done)
}

fn text(name: &str, format: &str, inspection: &Inspection, import: &crate::diagnostics::Diagnostics) -> String {
    let mut out = format!("{name} ({format})\n");
    for graph in &inspection.graphs {
        out.push('\n');
        out.push_str(&graph_text(graph));
    }
    for (position, dump) in &inspection.dumps {
        out.push('\n');
        out.push_str(&dump_text(&inspection.graphs[*position].name, dump));
    }
    if !inspection.lifetimes.is_empty() {
        let mut table = Table::new(&["lifetimes", ">count", ">peak live", ">exact", ">all in sum"]);
        for entry in &inspection.lifetimes {
            table.row(vec![
                entry.name.clone(),
                entry.count.to_string(),
                entry.peak.to_string(),
                entry.peak.exact(),
                entry.total.exact(),
            ]);
        }
        out.push_str(&table.text());
    }
    for recording in &inspection.recordings {
        out.push('\n');
        out.push_str(&recording_text(recording));
    }
    let mut all = import.clone();
    all.extend(&inspection.diagnostics);
    if !all.entries().is_empty() {
        out.push('\n');
        out.push_str(&diagnostics(&all));
    }
    out
}

/// What a dump says beyond its graph.
fn dump_text(graph: &str, dump: &DumpFigures) -> String {
    let mut out = format!("stated by the dump for {graph}\n");
    let mut line = |key: &str, value: &str| out.push_str(&format!("  {key}: {value}\n"));
    if !dump.maker.is_empty() {
        let plan = format!(
            "by {}, {} tensors with an offset, the last ends at {} ({})",
            dump.maker,
            dump.offsets,
            dump.extent,
            dump.extent.exact()
        );
        line("plan", &plan);
    }
    for (key, value) in &dump.facts {
        line(key, value);
    }
    for option in &dump.options {
        let value = if option.value.is_empty() {
            "(empty)"
        } else {
            &option.value
        };
        let place = match option.count {
            0 | 1 => String::new(),
            count => format!(" (on {count} ops)"),
        };
        line(&format!("option {}", option.key), &format!("{value}{place}"));
    }
    out
}

/// A measured run.
fn recording_text(recording: &RecordingFigures) -> String {
    let mut table = Table::new(&["recording", &recording.name, ">"]);
    let mut row = |what: &str, value: String, exact: String| table.row(vec![what.to_owned(), value, exact]);
    let size = |bytes: Bytes, step: Option<Step>| match step {
        Some(step) => (format!("{bytes} at event {step}"), bytes.exact()),
        None => (bytes.to_string(), bytes.exact()),
    };
    row("recorded by", recording.recorder.clone(), String::new());
    row("events", recording.steps.to_string(), String::new());
    if let Some(duration) = recording.duration {
        row("duration", duration.to_string(), String::new());
    }
    if recording.blocks + recording.older_blocks > 0 {
        row("blocks that begin in it", recording.blocks.to_string(), String::new());
        row(
            "blocks older than it",
            recording.older_blocks.to_string(),
            recording.older_bytes.exact(),
        );
        if recording.appeared_blocks > 0 {
            let count = recording.appeared_blocks.to_string();
            row("blocks whose beginning it does not show", count, String::new());
        }
        row(
            "blocks not freed in it",
            recording.never_freed.to_string(),
            recording.live_at_end.exact(),
        );
        let (text, exact) = size(recording.peak.0, recording.peak.1);
        row("peak live", text, exact);
        let (text, exact) = size(recording.peak_seen.0, recording.peak_seen.1);
        row("peak of blocks that begin in it", text, exact);
    }
    if recording.reserved.1.is_some() {
        let (text, exact) = size(recording.reserved.0, recording.reserved.1);
        row("peak reserved", text, exact);
    }
    if recording.regions > 0 {
        row("regions reserved", recording.regions.to_string(), String::new());
    }
    if recording.ops > 0 {
        row("measured ops", recording.ops.to_string(), String::new());
    }
    for (kind, bytes, step) in &recording.totals {
        let (text, exact) = size(*bytes, *step);
        row(&format!("stated {}, peak", kind.name()), text, exact);
    }
    for (key, value) in &recording.settings {
        row(key, value.clone(), String::new());
    }
    table.text()
}

fn graph_text(graph: &GraphFigures) -> String {
    let mut table = Table::new(&["graph", &graph.name, ">"]);
    let mut count = |what: &str, number: u64| table.row(vec![what.to_owned(), number.to_string(), String::new()]);
    count("ops", graph.ops);
    count("tensors", graph.tensors);
    let mut size = |what: &str, bytes: Option<Bytes>| {
        let (short, exact) = bytes.map_or(("unknown".to_owned(), String::new()), |b| (b.to_string(), b.exact()));
        table.row(vec![what.to_owned(), short, exact]);
    };
    size("weights", Some(graph.weights));
    size("optimizer state", Some(graph.state));
    size("inputs", graph.inputs);
    size("activations", graph.activations);
    for (what, peak) in [
        ("peak live", graph.naive_peak),
        ("peak live, memory shared by views", graph.aliased_peak),
    ] {
        table.row(peak_row(what, peak));
    }
    if !graph.symbols.is_empty() {
        table.row(vec![
            "symbolic dims".to_owned(),
            graph.symbols.join(", "),
            String::new(),
        ]);
    }
    if graph.unknown_shapes > 0 {
        table.row(vec![
            "unknown shapes".to_owned(),
            graph.unknown_shapes.to_string(),
            String::new(),
        ]);
    }
    table.text()
}

fn peak_row(what: &str, peak: Option<(Bytes, Option<Step>)>) -> Vec<String> {
    match peak {
        None => vec![what.to_owned(), "unknown".to_owned(), String::new()],
        Some((bytes, step)) => {
            let at = step.map_or(String::new(), |step| format!(" at step {step}"));
            vec![what.to_owned(), format!("{bytes}{at}"), bytes.exact()]
        }
    }
}
