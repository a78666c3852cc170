//! `highwater inspect`: what was read.

use super::args::{Format, InspectArgs};
use super::settings::parse_bindings;
use super::text::{Table, diagnostics};
use super::{Verdict, print, print_json};
use crate::analysis::{GraphFigures, Inspection, inspect};
use crate::export::WireInspection;
use crate::progress::Progress;
use crate::session::{SourceSpec, read_source};
use crate::units::{Bytes, Step};
use crate::workload::Workload;

/// Runs the command.
pub(super) fn run(args: &InspectArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    let bindings = parse_bindings(&args.dim)?;
    let source = SourceSpec::from_argument(&args.file)?;
    let imported = read_source(&source, progress)?;
    let workload = Workload {
        name: source.title(),
        source: imported.source,
    };
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
    let mut all = import.clone();
    all.extend(&inspection.diagnostics);
    if !all.entries().is_empty() {
        out.push('\n');
        out.push_str(&diagnostics(&all));
    }
    out
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
