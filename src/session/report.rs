//! The import report of one source.

use highwater_analysis::tensor_count;
use highwater_import::Imported;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, counted};
use highwater_model::workload::{GraphEntry, Recording, Source};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceReport {
    /// The name of the importer; empty where the source cannot be read.
    pub format: &'static str,
    /// A line per item.
    pub contents: Vec<String>,
    pub diagnostics: Diagnostics,
}

impl SourceReport {
    pub(super) fn failed(error: &str, title: &str) -> Self {
        let mut diagnostics = Diagnostics::new();
        diagnostics.error(error.to_owned(), title);
        Self {
            diagnostics,
            ..Self::default()
        }
    }

    pub const fn is_failed(&self) -> bool {
        self.format.is_empty()
    }

    /// O(graphs + recordings).
    pub fn new(imported: &Imported) -> Self {
        let mut contents = match &imported.source {
            Source::Graphs(entries) => entries.iter().flat_map(graph_lines).collect(),
            Source::Lifetimes(entries) => entries
                .iter()
                .map(|(name, lifetimes)| format!("live ranges {name}: {}", lifetimes.items.len()))
                .collect(),
            Source::Problems(entries) => entries
                .iter()
                .map(|entry| {
                    format!(
                        "placement problem {}: {}",
                        entry.name,
                        count("buffer", entry.problem.buffers.len())
                    )
                })
                .collect(),
            Source::Traces(entries) => entries
                .iter()
                .map(|trace| {
                    format!(
                        "allocation trace {}: {}",
                        trace.name,
                        count("command", trace.commands.len())
                    )
                })
                .collect(),
            Source::Tapes(entries) => entries
                .iter()
                .map(|tape| {
                    format!(
                        "tape {}: {}, {}",
                        tape.name,
                        count("op", tape.ops.len()),
                        count("tensor", tape.tensors.len())
                    )
                })
                .collect(),
            Source::Blocks(entries) => entries
                .iter()
                .map(|program| format!("program {}: {}", program.name, count("block", program.blocks.len())))
                .collect(),
            Source::Recordings(entries) => entries.iter().map(|entry| recording_line(entry)).collect::<Vec<_>>(),
        };
        contents.extend(imported.measured.iter().map(|entry| recording_line(entry)));
        Self {
            format: imported.format,
            contents,
            diagnostics: imported.diagnostics.clone(),
        }
    }
}

fn count(what: &str, count: usize) -> String {
    counted(count as u64, what)
}

fn graph_lines(entry: &GraphEntry) -> Vec<String> {
    let graph = &entry.graph;
    let mut line = format!(
        "graph {}: {}, {}",
        entry.name,
        count("op", graph.ops().len()),
        counted(tensor_count(entry), "tensor")
    );
    if !entry.bodies.is_empty() {
        line.push_str(&format!(
            ", {} of control flow or functions",
            count("subgraph", entry.bodies.len())
        ));
    }
    let symbols = graph.symbols();
    if !symbols.is_empty() {
        line.push_str(&format!(", open dimensions {}", symbols.join(", ")));
    }
    let mut lines = vec![line];
    if let Some(dumped) = &entry.dumped {
        if let Some(plan) = &dumped.offsets {
            let placed = plan.offsets.iter().flatten().count();
            lines.push(format!("offsets of {} by {}", count("tensor", placed), plan.maker));
        }
        for arena in &dumped.arenas {
            lines.push(format!(
                "arena {}: {} as placed by the compiler",
                arena.name,
                count("buffer", arena.problem.buffers.len())
            ));
        }
        lines.extend(dumped.facts.iter().map(|(key, value)| format!("{key}: {value}")));
        lines.extend(dumped.options.iter().map(|option| {
            format!(
                "option {} = {} (stamped on {})",
                option.key,
                if option.value.is_empty() {
                    "(empty)"
                } else {
                    &option.value
                },
                count("op", usize::try_from(option.count).unwrap_or(usize::MAX))
            )
        }));
    }
    lines
}

fn recording_line(recording: &Recording) -> String {
    let mut parts = vec![counted(recording.n_steps.into(), "event")];
    if !recording.blocks.is_empty() {
        parts.push(count("block", recording.blocks.len()));
    }
    if !recording.regions.is_empty() {
        parts.push(count("segment", recording.regions.len()));
    }
    if !recording.ops.is_empty() {
        parts.push(count("measured op", recording.ops.len()));
    }
    for total in &recording.totals {
        let (peak, _): (Bytes, _) = total.peak();
        parts.push(format!("{} at most {peak}", total.kind.name()));
    }
    format!(
        "recording {} by {}: {}",
        recording.name,
        recording.recorder,
        parts.join(", ")
    )
}
