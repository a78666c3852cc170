//! Reads sources into one workload.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::document::SourceSpec;
use super::folder::Keep;
use super::known_names::KnownNames;
use super::loaded::Loaded;
use super::merge::Merge;
use super::multi_file::{OnFailure, ReadPart, read_all};
use super::report::SourceReport;
use super::titles::titles as titles_of;
use highwater_analysis::{dumped_problems, logged_arenas, logged_remarks};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::{GraphEntry, Source, Workload, evaluation_entry, learn_ops};
use highwater_options::{DumpedSettings, dumped_settings};
use highwater_rewrite::inline::with_calls_inlined;

/// Reads sources into one workload with functions inlined. Graphs that share a name between files are named after these, and
/// a name that still occurs twice gets a number.
///
/// # Errors
/// With [`OnFailure::Stop`] one sentence on the first source that cannot be read; otherwise, where none can be read, a line for
/// each.
pub fn load(
    sources: &[SourceSpec],
    with_evaluation: bool,
    on_failure: OnFailure,
    progress: &Progress<'_>,
) -> Result<Loaded, String> {
    load_kept(sources, with_evaluation, on_failure, Keep::All, progress)
}

/// As [`load`]; of the recordings of a folder some may be summaries, which have no events.
///
/// # Errors
/// As [`load`].
pub fn load_kept(
    sources: &[SourceSpec],
    with_evaluation: bool,
    on_failure: OnFailure,
    keep: Keep,
    progress: &Progress<'_>,
) -> Result<Loaded, String> {
    let reading = Reading {
        on_failure,
        keep,
        learns: true,
    };
    load_known(sources, with_evaluation, &KnownNames::default(), reading, progress)
}

/// As [`load`], for questions about memory alone: ops learn no times of recordings.
///
/// # Errors
/// As [`load`].
pub fn load_unmeasured(sources: &[SourceSpec], progress: &Progress<'_>) -> Result<Loaded, String> {
    let reading = Reading {
        on_failure: OnFailure::Stop,
        keep: Keep::All,
        learns: false,
    };
    load_known(sources, false, &KnownNames::default(), reading, progress)
}

/// How sources are read.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) on_failure: OnFailure,
    pub(super) keep: Keep,
    /// Whether ops take times and scratch memory of recordings.
    pub(super) learns: bool,
}

/// [`load`] for a document with names for graphs: these stay where a source cannot be read.
///
/// # Errors
/// As [`load`].
pub(super) fn load_known(
    sources: &[SourceSpec],
    with_evaluation: bool,
    known: &KnownNames,
    Reading {
        on_failure,
        keep,
        learns,
    }: Reading,
    progress: &Progress<'_>,
) -> Result<Loaded, String> {
    let titles = titles_of(sources);
    let read = read_all(sources, on_failure, keep, progress);
    if on_failure == OnFailure::Tell && progress.check().is_ok() {
        some_read(&read)?;
    }
    let Merged {
        mut merge,
        reports,
        mut diagnostics,
    } = merged(read, &titles, on_failure, progress)?;
    let before = titles_of(&known.formerly(sources));
    let lacks_one = reports.iter().any(SourceReport::is_failed) && !known.mentioned.is_empty();
    let mut given = merge.name_graphs(&titles, &before, lacks_one.then_some(&known.mentioned));
    merge
        .join_logs(&mut diagnostics, progress)
        .map_err(|cancelled| cancelled.to_string())?;
    // The plan of a dump belongs to the graph before inlining.
    let mut dumped = dumped_problems(&merge.graphs);
    with_calls_inlined(&mut merge.graphs, progress, &mut diagnostics).map_err(|cancelled| cancelled.to_string())?;
    if learns {
        learn(&mut merge, &mut diagnostics);
    }
    if with_evaluation {
        add_evaluation(&mut merge.graphs, &mut diagnostics);
        with_evaluations(&mut given.aliases);
        with_evaluations(&mut given.renamed);
    }
    let name = titles.join(" + ");
    let (source, measured, left) = merge.finish();
    for sentence in left {
        diagnostics.warning(sentence, "");
    }
    let whole = Workload {
        measured,
        ..Workload::new(name, source)
    };
    let logged = match &whole.source {
        Source::Recordings(recordings) => logged_arenas(recordings),
        _ => Vec::new(),
    };
    diagnostics.extend(&logged_remarks(&logged, progress).map_err(|cancelled| cancelled.to_string())?);
    let whole = Arc::new(whole.with_logged_graphs());
    dumped.extend(logged.into_iter().map(|one| one.found(&whole)));
    let stamped = stamped_settings(&whole, &mut diagnostics);
    Ok(Loaded {
        workload: Arc::clone(&whole),
        parts: whole.parts(&dumped),
        log_page: None,
        whole,
        stamped,
        aliases: given.aliases,
        renamed: given.renamed,
        sources: sources.to_vec(),
        configs: Vec::new(),
        reports,
        diagnostics,
    })
}

/// What was read of all sources.
struct Merged {
    merge: Merge,
    /// One per source.
    reports: Vec<SourceReport>,
    diagnostics: Diagnostics,
}

/// # Errors
/// With [`OnFailure::Stop`] the first source that cannot be read; cancelled work.
fn merged(
    read: Vec<ReadPart>,
    titles: &[String],
    on_failure: OnFailure,
    progress: &Progress<'_>,
) -> Result<Merged, String> {
    let mut merge = Merge::default();
    let mut reports = vec![SourceReport::default(); titles.len()];
    let mut diagnostics = Diagnostics::new();
    let is_alone = read.len() == 1;
    for part in read {
        let title = titles[part.members[0]].clone();
        let imported = match part.imported {
            Ok(imported) => imported,
            Err(error) if on_failure == OnFailure::Stop || progress.check().is_err() => {
                return Err(error.to_string());
            }
            Err(error) => {
                for position in &part.members {
                    reports[*position] = SourceReport::failed(&error.to_string(), &title);
                }
                diagnostics.error(error.to_string(), &title);
                continue;
            }
        };
        for position in &part.members {
            reports[*position] = SourceReport::new(&imported);
        }
        let prefix = if is_alone { String::new() } else { title };
        diagnostics.extend(&if is_alone {
            imported.diagnostics
        } else {
            imported.diagnostics.placed_in(&prefix)
        });
        merge.add(imported.source, imported.measured, &prefix);
        merge.of_source(part.members[0]);
    }
    Ok(Merged {
        merge,
        reports,
        diagnostics,
    })
}

/// The settings that dumps of graphs state, by graph; those of a log are told.
fn stamped_settings(whole: &Workload, diagnostics: &mut Diagnostics) -> Vec<(String, DumpedSettings)> {
    let stamped = whole.graphs().iter().filter_map(|entry| {
        let settings = dumped_settings(&entry.dumped.as_ref()?.options);
        (!settings.is_empty()).then(|| (entry.name.clone(), settings))
    });
    let stamped: Vec<(String, DumpedSettings)> = stamped.collect();
    for (_, settings) in stamped.iter().filter(|_| !whole.schedule.is_empty()) {
        let arguments = settings.arguments().join(" ");
        diagnostics.info(
            format!("The log states settings that differ from the defaults: {arguments}"),
            "",
        );
    }
    stamped
}

/// # Errors
/// Where no source could be read, why, a line for each.
fn some_read(read: &[ReadPart]) -> Result<(), String> {
    let errors = read.iter().filter_map(|part| part.imported.as_ref().err());
    let errors: Vec<String> = errors.map(ToString::to_string).collect();
    if errors.is_empty() || errors.len() < read.len() {
        return Ok(());
    }
    Err(errors.join("\n"))
}

/// Gives the ops of graphs the times and the scratch memory of recordings: a recording belongs to the graph of whose ops it
/// names most, the first on a tie.
fn learn(merge: &mut Merge, diagnostics: &mut Diagnostics) {
    for recording in merge.recordings.iter().filter(|recording| !recording.ops.is_empty()) {
        let found = merge.graphs.iter().map(|entry| learn_ops(&entry.graph, recording));
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

fn evaluation_name(name: &str) -> String {
    format!("{name} (evaluation)")
}

/// Adds the names of evaluation graphs.
fn with_evaluations(names: &mut BTreeMap<String, String>) {
    let pairs = names.iter();
    let added: Vec<(String, String)> = pairs
        .map(|(other, own)| (evaluation_name(other), evaluation_name(own)))
        .collect();
    names.extend(added);
}

fn add_evaluation(graphs: &mut Vec<GraphEntry>, diagnostics: &mut Diagnostics) {
    let mut added = Vec::new();
    for entry in graphs.iter() {
        added.extend(evaluation_entry(entry, &evaluation_name(&entry.name)));
    }
    if added.is_empty() {
        diagnostics.warning(
            "no graph has forward and backward phases, so no evaluation graph is added".to_owned(),
            "",
        );
    }
    graphs.extend(added);
}
