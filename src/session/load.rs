//! Sources become one workload.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use super::document::SourceSpec;
use super::files::{FileError, read_source};
use super::jobs::Loaded;
use super::merge::Merge;
use super::report::SourceReport;
use super::together::{apart, groups, read_joined};
use crate::diagnostics::Diagnostics;
use crate::import::Imported;
use crate::progress::Progress;
use crate::workload::{GraphEntry, Workload, evaluation_graph, learned};

/// Reads sources in their order, those that say more together as one: positions of sources, and what they hold.
///
/// # Errors
/// [`FileError`] of the first that cannot be read.
pub fn read_each(sources: &[SourceSpec], progress: &Progress<'_>) -> Result<Vec<(Vec<usize>, Imported)>, FileError> {
    let paths: Vec<Option<&Path>> = sources.iter().map(path_of).collect();
    let mut open: VecDeque<Vec<usize>> = groups(&paths).into();
    let mut read = Vec::new();
    while let Some(group) = open.pop_front() {
        let members: Vec<&Path> = group.iter().filter_map(|position| paths[*position]).collect();
        let imported = match members.len() {
            0 | 1 => Some(read_source(&sources[group[0]], progress)?),
            _ => read_joined(&members, progress)?,
        };
        match imported {
            Some(imported) => read.push((group, imported)),
            // They are not of one dump after all.
            None => {
                for part in apart(&members).into_iter().rev() {
                    open.push_front(part.iter().map(|member| group[*member]).collect());
                }
            }
        }
    }
    Ok(read)
}

/// Reads sources into one workload; a graph name that appears twice gets a number.
///
/// # Errors
/// One sentence that names the file.
pub fn load(sources: &[SourceSpec], with_evaluation: bool, progress: &Progress<'_>) -> Result<Loaded, String> {
    let mut merge = Merge::default();
    let mut reports = Vec::new();
    let mut diagnostics = Diagnostics::new();
    for (group, imported) in read_each(sources, progress).map_err(|error| error.to_string())? {
        let prefix = if group.len() == sources.len() {
            String::new()
        } else {
            sources[group[0]].title()
        };
        diagnostics.extend(&match prefix.as_str() {
            "" => imported.diagnostics.clone(),
            prefix => imported.diagnostics.placed_in(prefix),
        });
        reports.extend(group.iter().map(|position| (*position, SourceReport::new(&imported))));
        merge.add(imported.source, imported.measured, &prefix);
    }
    reports.sort_by_key(|(position, _)| *position);
    learn(&mut merge, &mut diagnostics);
    if with_evaluation {
        add_evaluation(&mut merge.graphs, &mut diagnostics);
    }
    let name = sources.iter().map(SourceSpec::title).collect::<Vec<_>>().join(" + ");
    let (source, measured, left) = merge.finish();
    for sentence in left {
        diagnostics.warning(sentence, "");
    }
    Ok(Loaded {
        workload: Arc::new(Workload { name, source, measured }),
        sources: sources.to_vec(),
        configs: Vec::new(),
        reports: reports.into_iter().map(|(_, report)| report).collect(),
        diagnostics,
    })
}

/// The file that a source is, unless a format was asked for: then it is read as that.
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
            1 => "; 1 measured op is not in the graph".to_owned(),
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
