//! The answer of `inspect` for people: a table per graph and recording, one table for many recordings.

use super::logs;
use crate::choice::list;
use crate::text::diagnostics_section;
use highwater_analysis::{DumpFigures, GraphFigures, Inspection, LifetimeFigures, RecordingFigures};
use highwater_export::Table;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, counted, grouped};
use highwater_options::dumped_settings;

/// More recordings share one table, a line each.
const MOST_IN_DETAIL: usize = 6;

/// `import` are the importer's diagnostics.
pub(super) fn text(name: &str, format: &str, inspection: &Inspection, import: &Diagnostics) -> String {
    let mut out = format!("{name} ({format})\n");
    out.push_str(&logs::text(&inspection.processes));
    for graph in &inspection.graphs {
        out.push('\n');
        out.push_str(&graph_text(graph));
    }
    for (position, dump) in &inspection.dumps {
        out.push('\n');
        out.push_str(&dump_text(&inspection.graphs[*position].name, dump));
    }
    out.push_str(&lifetimes(inspection));
    // A process has its own table, which tells more than its recording.
    if inspection.processes.is_empty() {
        out.push_str(&recordings(&inspection.recordings));
    }
    let mut all = import.clone();
    all.extend(&inspection.diagnostics);
    out + &diagnostics_section(&all)
}

/// Live ranges that are of no recording.
fn lifetimes(inspection: &Inspection) -> String {
    let is_recorded = |entry: &&LifetimeFigures| inspection.recordings.iter().any(|one| one.name == entry.name);
    let mut table = Table::new(&["lifetimes", ">count", ">peak live", ">exact", ">all in sum"]);
    for entry in inspection.lifetimes.iter().filter(|entry| !is_recorded(entry)) {
        let (peak, total) = (&entry.peak, entry.total.exact());
        table.row(&[&entry.name, &grouped(entry.count), peak, &peak.exact(), &total]);
    }
    if table.is_empty() {
        return String::new();
    }
    format!("\n{}", table.text())
}

/// Recordings; empty ones share a line.
fn recordings(all: &[RecordingFigures]) -> String {
    let (empty, full): (Vec<&RecordingFigures>, Vec<&RecordingFigures>) =
        all.iter().partition(|one| all.len() > 1 && holds_nothing(one));
    let mut out = String::new();
    if full.len() > MOST_IN_DETAIL {
        out.push_str(&format!("\n{}", many_recordings(&full)));
    } else {
        for recording in full {
            out.push_str(&format!("\n{}", recording_text(recording)));
        }
    }
    if !empty.is_empty() {
        let names: Vec<String> = empty.iter().map(|one| one.name.clone()).collect();
        let count = counted(names.len() as u64, "recording");
        out.push_str(&format!("\n{count} always at 0 B: {}\n", list(&names)));
    }
    out
}

fn holds_nothing(recording: &RecordingFigures) -> bool {
    let blocks = recording.blocks + recording.older_blocks + recording.regions + recording.ops;
    let mut stated = recording.totals.iter().map(|(_, bytes, _)| *bytes);
    blocks == 0 && recording.reserved.0 == Bytes::ZERO && stated.all(|bytes| bytes == Bytes::ZERO)
}

fn many_recordings(recordings: &[&RecordingFigures]) -> String {
    let mut table = Table::new(&[
        "recording",
        ">events",
        ">blocks",
        ">peak live",
        ">exact",
        ">at event",
        ">peak reserved",
        ">exact",
        ">at event",
    ]);
    for recording in recordings {
        let mut row = vec![
            recording.name.clone(),
            grouped(u64::from(recording.steps)),
            grouped(recording.blocks + recording.older_blocks),
        ];
        for (bytes, step) in [recording.peak, recording.reserved] {
            match step {
                Some(step) => row.extend([bytes.to_string(), bytes.exact(), step.to_string()]),
                None => row.extend(["not stated".to_owned(), String::new(), String::new()]),
            }
        }
        table.strings(row);
    }
    table.text()
}

/// Facts that a dump states beyond its graph.
fn dump_text(graph: &str, dump: &DumpFigures) -> String {
    let mut out = format!("stated by the dump for {graph}\n");
    let mut line = |key: &str, value: &str| out.push_str(&format!("  {key}: {value}\n"));
    if !dump.maker.is_empty() {
        let plan = format!(
            "by {}, {} with an offset, the last ends at {} ({})",
            dump.maker,
            counted(dump.offsets, "tensor"),
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
            count => format!(" (on {})", counted(count, "op")),
        };
        line(&format!("option {}", option.key), &format!("{value}{place}"));
    }
    let settings = dumped_settings(&dump.options);
    if !settings.is_empty() {
        line("as settings, where not the defaults", &settings.arguments().join(" "));
    }
    out
}

fn recording_text(recording: &RecordingFigures) -> String {
    let mut table = Table::new(&["recording", &recording.name, ">"]);
    for fact in recording.facts() {
        table.row(&[&fact.label, &fact.value, &fact.exact]);
    }
    table.text()
}

fn graph_text(graph: &GraphFigures) -> String {
    let mut table = Table::new(&["graph", &graph.name, ">"]);
    let mut count = |what: &str, number: u64| table.row(&[&what, &grouped(number), &""]);
    count("ops", graph.ops);
    count("tensors", graph.tensors);
    let mut size = |what: &str, bytes: Option<Bytes>| match bytes {
        Some(bytes) => table.row(&[&what, &bytes, &bytes.exact()]),
        None => table.row(&[&what, &"unknown", &""]),
    };
    size("weights", Some(graph.weights));
    size("optimizer state", Some(graph.state));
    size("inputs", graph.inputs);
    size("activations", graph.activations);
    for (what, peak) in [
        ("peak live", graph.naive_peak),
        ("peak live, memory shared by views", graph.aliased_peak),
    ] {
        match peak {
            None => table.row(&[&what, &"unknown", &""]),
            Some((bytes, step)) => {
                let at = step.map_or(String::new(), |step| format!(" at step {step}"));
                table.row(&[&what, &format!("{bytes}{at}"), &bytes.exact()]);
            }
        }
    }
    if !graph.symbols.is_empty() {
        table.row(&[&"symbolic dims", &graph.symbols.join(", "), &""]);
    }
    for (what, count) in [
        ("unknown shapes", graph.unknown_shapes),
        ("inputs of unknown shape", graph.unknown_inputs),
    ] {
        if count > 0 {
            table.row(&[&what, &grouped(count), &""]);
        }
    }
    table.text()
}
