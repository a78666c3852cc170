//! Sources become one workload.

use std::sync::Arc;

use super::document::SourceSpec;
use super::files::read_source;
use super::worker::Loaded;
use crate::diagnostics::Diagnostics;
use crate::progress::Progress;
use crate::workload::{GraphEntry, Source, Workload, evaluation_graph};

/// Reads sources into one workload; a graph name that appears twice gets a number.
///
/// # Errors
/// One sentence that names the file.
pub fn load(sources: &[SourceSpec], with_evaluation: bool, progress: &Progress<'_>) -> Result<Loaded, String> {
    let mut graphs: Vec<GraphEntry> = Vec::new();
    let mut lifetimes = Vec::new();
    let mut problems = Vec::new();
    let mut traces = Vec::new();
    let mut tapes = Vec::new();
    let mut programs = Vec::new();
    let mut formats = Vec::new();
    let mut diagnostics = Diagnostics::new();
    for source in sources {
        let imported = read_source(source, progress).map_err(|error| error.to_string())?;
        formats.push(imported.format);
        diagnostics.extend(&imported.diagnostics);
        match imported.source {
            Source::Graphs(entries) => graphs.extend(entries),
            Source::Lifetimes(entries) => lifetimes.extend(entries),
            Source::Problems(entries) => problems.extend(entries),
            Source::Traces(entries) => traces.extend(entries),
            Source::Tapes(entries) => tapes.extend(entries),
            Source::Blocks(entries) => programs.extend(entries),
        }
    }
    if with_evaluation {
        add_evaluation(&mut graphs, &mut diagnostics);
    }
    number_names(&mut graphs);
    let name = sources.iter().map(SourceSpec::title).collect::<Vec<_>>().join(" + ");
    let source = if !graphs.is_empty() {
        Source::Graphs(graphs)
    } else if !problems.is_empty() {
        Source::Problems(problems)
    } else if !lifetimes.is_empty() {
        Source::Lifetimes(lifetimes)
    } else if !traces.is_empty() {
        Source::Traces(traces)
    } else if !tapes.is_empty() {
        Source::Tapes(tapes)
    } else if !programs.is_empty() {
        Source::Blocks(programs)
    } else {
        Source::Graphs(graphs)
    };
    Ok(Loaded {
        workload: Arc::new(Workload { name, source }),
        sources: sources.to_vec(),
        configs: Vec::new(),
        formats,
        diagnostics,
    })
}

fn add_evaluation(graphs: &mut Vec<GraphEntry>, diagnostics: &mut Diagnostics) {
    let mut added = Vec::new();
    for entry in graphs.iter() {
        let name = format!("{} (evaluation)", entry.name);
        if let Some(graph) = evaluation_graph(&entry.graph, &name) {
            added.push(GraphEntry {
                name,
                graph: Arc::new(graph),
                bodies: Vec::new(),
            });
        }
    }
    if added.is_empty() {
        diagnostics.warning(
            "no graph states forward and backward phases, so there is no evaluation graph to add".to_owned(),
            "",
        );
    }
    graphs.extend(added);
}

fn number_names(graphs: &mut [GraphEntry]) {
    for later in 1..graphs.len() {
        let (before, rest) = graphs.split_at_mut(later);
        let name = rest[0].name.clone();
        let mut number = 2;
        let mut candidate = name.clone();
        while before.iter().any(|entry| entry.name == candidate) {
            candidate = format!("{name} ({number})");
            number += 1;
        }
        rest[0].name = candidate;
    }
}
