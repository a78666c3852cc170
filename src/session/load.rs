//! Sources become one workload.

use std::path::Path;
use std::sync::Arc;

use super::document::SourceSpec;
use super::files::{read_joined, read_source};
use super::folder::{read_sliced, slices_among};
use super::merge::Merge;
use super::report::SourceReport;
use super::worker::Loaded;
use crate::diagnostics::Diagnostics;
use crate::progress::Progress;
use crate::workload::{GraphEntry, Workload, evaluation_graph, learned};

/// Reads sources into one workload; a graph name that appears twice gets a number.
///
/// # Errors
/// One sentence that names the file.
pub fn load(sources: &[SourceSpec], with_evaluation: bool, progress: &Progress<'_>) -> Result<Loaded, String> {
    let mut merge = Merge::default();
    let mut reports = vec![SourceReport::default(); sources.len()];
    let mut diagnostics = Diagnostics::new();
    let joined = read_joined(sources, progress).map_err(|error| error.to_string())?;
    let is_joined = joined.is_some();
    if let Some(imported) = joined {
        reports.fill(SourceReport::new(&imported));
        diagnostics.extend(&imported.diagnostics);
        merge.add(imported.source, imported.measured, "");
    }
    let tables = if is_joined {
        Vec::new()
    } else {
        tables(sources, progress)
    };
    for table in &tables {
        let first = &sources[table[0]];
        let paths: Vec<&Path> = table
            .iter()
            .filter_map(|position| path_of(&sources[*position]))
            .collect();
        let imported = match paths.as_slice() {
            [_, _, ..] => read_sliced(&paths, progress),
            _ => read_source(first, progress),
        };
        let imported = imported.map_err(|error| error.to_string())?;
        let prefix = if tables.len() == 1 {
            String::new()
        } else {
            first.title()
        };
        for position in table {
            reports[*position] = SourceReport::new(&imported);
        }
        diagnostics.extend(&imported.diagnostics);
        merge.add(imported.source, imported.measured, &prefix);
    }
    learn(&mut merge, &mut diagnostics);
    if with_evaluation {
        add_evaluation(&mut merge.graphs, &mut diagnostics);
    }
    number_names(&mut merge.graphs);
    let name = sources.iter().map(SourceSpec::title).collect::<Vec<_>>().join(" + ");
    let (source, measured, left) = merge.finish();
    for (kind, count) in left {
        diagnostics.warning(
            format!("{count} {kind} are not shown beside what is; open them alone"),
            "",
        );
    }
    Ok(Loaded {
        workload: Arc::new(Workload { name, source, measured }),
        sources: sources.to_vec(),
        configs: Vec::new(),
        reports,
        diagnostics,
    })
}

/// The sources as tables: slices of one table together, every other source by itself, each where its first stands.
fn tables(sources: &[SourceSpec], progress: &Progress<'_>) -> Vec<Vec<usize>> {
    let paths: Vec<Option<&Path>> = sources.iter().map(path_of).collect();
    let mut tables = if sources.len() > 1 {
        slices_among(&paths, progress)
    } else {
        Vec::new()
    };
    let sliced: Vec<usize> = tables.iter().flatten().copied().collect();
    tables.extend(
        (0..sources.len())
            .filter(|position| !sliced.contains(position))
            .map(|alone| vec![alone]),
    );
    tables.sort_unstable_by_key(|table| table.iter().min().copied());
    tables
}

fn path_of(source: &SourceSpec) -> Option<&Path> {
    match source {
        SourceSpec::Path(path) => Some(path),
        _ => None,
    }
}

/// Gives the ops of graphs the times and the scratch memory of recordings that measured them: each recording the graph of
/// whose ops it names most, the first on a tie.
fn learn(merge: &mut Merge, diagnostics: &mut Diagnostics) {
    for recording in merge.recordings.iter().filter(|recording| !recording.ops.is_empty()) {
        let found = merge.graphs.iter().map(|entry| learned(&entry.graph, recording));
        let best = found
            .enumerate()
            .max_by_key(|(position, learned)| (learned.ops.len(), std::cmp::Reverse(*position)));
        let Some((position, learned)) = best.filter(|(_, learned)| !learned.ops.is_empty()) else {
            continue;
        };
        let entry = &mut merge.graphs[position];
        entry.graph = Arc::new(entry.graph.with_measured(&learned.ops));
        let unmatched = match learned.unmatched {
            0 => String::new(),
            count => format!("; {count} measured ops are not in the graph"),
        };
        diagnostics.info(
            format!(
                "{} of {} ops have measured times, and {} of scratch memory in sum, from {}{unmatched}",
                learned.ops.len(),
                entry.graph.ops().len(),
                learned.scratch,
                recording.name
            ),
            &entry.name,
        );
    }
}

fn add_evaluation(graphs: &mut Vec<GraphEntry>, diagnostics: &mut Diagnostics) {
    let mut added = Vec::new();
    for entry in graphs.iter() {
        let name = format!("{} (evaluation)", entry.name);
        if let Some(graph) = evaluation_graph(&entry.graph, &name) {
            added.push(GraphEntry::new(name, Arc::new(graph)));
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
