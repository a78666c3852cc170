//! What the worker does with each job: one function from a job to its answer, without threads.
//!
//! In: a [`Job`]. Out: an [`Answer`], or the sentence that tells why there is none; what comes before the end (points of a sweep, the
//! lanes in force before all others) is said on the way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::budget_sweep::{sweep_points, sweep_subject};
use super::document::SourceSpec;
use super::document_file::{DocumentFile, is_document, open_document, save_over, states_of};
use super::export::ExportOrder;
use super::files::{is_config, look_at, read_bytes};
use super::jobs::{Answer, ContentOrder, Drawing, Job, ReadConfig};
use super::known_names::KnownNames;
use super::load::load_known;
use super::multi_file::OnFailure;
use super::name_reuse::names_report;
use super::planner::{PlannerSubject, run_row, subject_of};
use super::sweep::try_space;
use super::write::write_whole;
use highwater_analysis::{Comparison, Request, compare, repin};
use highwater_export::{LaneDrawing, PEAK_FORMS, PeakAnswer, lane_svg, peak_file, png, read_config, table_csv};
use highwater_model::progress::Progress;
use highwater_sim::picture;
use highwater_timeline::{
    Areas, Coloring, LaneChanges, LaneDifference, LaneRows, MatchTest, PeakReport, TableRows, Timeline,
};

/// A document, configurations alone, or whatever else the files are.
fn read_sources(
    sources: Vec<SourceSpec>,
    with_evaluation: bool,
    known: &KnownNames,
    progress: &Progress<'_>,
) -> Result<Answer, String> {
    if let Some(answer) = document_among(&sources, progress)? {
        return Ok(answer);
    }
    let (configs, graphs) = split_configs(sources)?;
    if graphs.is_empty() && !configs.is_empty() {
        return Ok(Answer::ConfigsRead(configs));
    }
    let mut loaded = load_known(&graphs, with_evaluation, known, OnFailure::Tell, progress)?;
    loaded.configs = configs;
    Ok(Answer::Loaded(loaded))
}

/// Does a job and says what came of it.
///
/// # Errors
/// The sentence for the user.
pub(super) fn perform(job: Job, progress: &Progress<'_>, say: &dyn Fn(Answer)) -> Result<Answer, String> {
    match job {
        Job::Load {
            sources,
            with_evaluation,
            known,
        } => read_sources(sources, with_evaluation, &known, progress),
        Job::Compare(request, None) => compare_twice(&request, progress, say),
        Job::Compare(request, Some(known)) => {
            let comparison = repin(&known, &request, progress).map_err(|error| error.to_string())?;
            let timeline = Timeline::new(&comparison);
            Ok(Answer::Compared(Arc::new(comparison), Arc::new(timeline)))
        }
        Job::PlannerSubject {
            comparison,
            graph,
            known,
        } => {
            let subject = subject_of(&comparison, graph).map(|subject| match known {
                Some(known) if *known == subject => known,
                _ => Arc::new(subject),
            });
            let with_bound = |subject: Arc<PlannerSubject>| {
                let bound = subject.problem.lower_bound();
                (subject, bound)
            };
            Ok(Answer::PlannerSubject(subject.map(with_bound)))
        }
        Job::PlannerRow(subject, strategy) => {
            let row = run_row(&subject, strategy, progress);
            Ok(Answer::Planned(row.map_err(|cancelled| cancelled.to_string())?))
        }
        Job::BudgetSweepSubject(request, graph) => {
            let subject = sweep_subject(&request, graph, progress).map_err(|error| error.to_string())?;
            Ok(Answer::BudgetSweepSubject(subject.map(Arc::new)))
        }
        Job::SweepPoints(subject, tasks) => {
            let points = sweep_points(&subject, &tasks, progress);
            Ok(Answer::Swept(points.map_err(|cancelled| cancelled.to_string())?))
        }
        Job::SpaceStart(..) | Job::SpacePoints(..) | Job::SmallestDevice(..) | Job::Recommend(..) => {
            try_space(job, progress)
        }
        Job::NameReuse(question) => {
            let report = names_report(&question, progress).map_err(|cancelled| cancelled.to_string())?;
            Ok(Answer::NamesReused(report.map(Arc::new)))
        }
        Job::DevicePicture { .. }
        | Job::Search { .. }
        | Job::Table(..)
        | Job::WriteTable(..)
        | Job::Difference(..)
        | Job::LaneChanges(..)
        | Job::Content { .. }
        | Job::Colors { .. } => look(job, progress),
        Job::Peak { comparison, ask } => Ok(Answer::Peak(PeakReport::new(&comparison, ask).map(Arc::new))),
        Job::WritePeak {
            path,
            comparison,
            report,
        } => write_peak(&path, &comparison, &report),
        Job::Write { path, bytes } => write(path, &bytes),
        Job::ReadConfig(path) => Ok(Answer::ConfigsRead(vec![read_config_file(&path)?])),
        Job::ProbeFiles(paths) => Ok(Answer::ProbedFiles(look_at(&paths))),
        Job::WritePicture { path, picture } => write(path, &png(&picture)?),
        Job::WriteDrawing(drawing) => draw(&drawing),
        Job::Export(order) => export(&order, progress),
        Job::FindMissing(paths) => Ok(Answer::Missing(missing(paths))),
        Job::SaveDocument(path, file, known) => save(&path, &file, known.as_deref(), progress),
        Job::CheckSources(sources, hashes) => Ok(Answer::SourcesChecked(states_of(&sources, &hashes, progress))),
    }
}

/// What looks at an answer and changes nothing.
fn look(job: Job, progress: &Progress<'_>) -> Result<Answer, String> {
    match job {
        Job::DevicePicture { comparison, lane, step } => {
            let lane = comparison.lanes.get(lane).ok_or("there is no such lane")?;
            Ok(Answer::DevicePicture(Box::new(picture(&lane.simulation, step))))
        }
        Job::Search {
            comparison,
            timeline,
            lane,
            query,
        } => {
            let matches = query.matches(&comparison, &timeline, lane, progress);
            Ok(Answer::Searched(Arc::new(
                matches.map_err(|cancelled| cancelled.to_string())?,
            )))
        }
        Job::Table(spec, subject) => {
            let table = TableRows::new(*spec, subject, progress).map_err(|error| error.to_string())?;
            Ok(Answer::Table(Arc::new(table)))
        }
        Job::WriteTable(path, table) => {
            let bytes = table_csv(&table, progress).map_err(|cancelled| cancelled.to_string())?;
            write_whole(&path, &bytes).map_err(|error| error.to_string())?;
            Ok(Answer::Written(path))
        }
        Job::Difference(comparison, (first, second)) => {
            let lane = |id| comparison.lanes.iter().find(|lane| lane.id == id);
            let lanes = lane(first).zip(lane(second));
            let difference = lanes.map(|(first, second)| Arc::new(LaneDifference::new(first, second)));
            Ok(Answer::Difference(difference))
        }
        Job::LaneChanges(comparison, lanes) => {
            Ok(Answer::LaneChanges(LaneChanges::new(&comparison, lanes).map(Arc::new)))
        }
        Job::Colors {
            comparison,
            timeline,
            order,
            found,
        } => {
            let is_found = |_: usize, tensor| found.as_deref().is_some_and(|found| found.contains(tensor));
            let lit: Option<MatchTest<'_>> = found.is_some().then_some(&is_found);
            let look = Coloring::new(&comparison, &timeline, &order, lit);
            Ok(Answer::Colored(Arc::new(look)))
        }
        Job::Content {
            comparison,
            timeline,
            look,
            order,
        } => content((&comparison, &timeline), &look, order),
        _ => Err("this job looks at no answer".to_owned()),
    }
}

/// What lanes show instead of memory maps.
fn content(answer: (&Comparison, &Timeline), look: &Coloring, order: ContentOrder) -> Result<Answer, String> {
    match order {
        ContentOrder::Maps => Err("memory maps are there already".to_owned()),
        ContentOrder::Areas => Ok(Answer::Areas(Arc::new(Areas::new(answer.1, look)))),
        ContentOrder::Lifetimes { lane, by } => Ok(Answer::Lifetimes(Arc::new(LaneRows::new(answer, lane, by)))),
    }
}

/// Compares; plans that are found at once are shown at once.
fn compare_twice(request: &Request, progress: &Progress<'_>, say: &dyn Fn(Answer)) -> Result<Answer, String> {
    if request.has_search() {
        let quick = Request {
            search_nodes: 0,
            ..request.clone()
        };
        let comparison = compare(&quick, progress).map_err(|error| error.to_string())?;
        let timeline = Timeline::new(&comparison);
        say(Answer::Preview(Arc::new(comparison), Arc::new(timeline)));
    }
    let comparison = compare(request, progress).map_err(|error| error.to_string())?;
    let timeline = Timeline::new(&comparison);
    Ok(Answer::Compared(Arc::new(comparison), Arc::new(timeline)))
}

fn write_peak(path: &Path, comparison: &Comparison, report: &PeakReport) -> Result<Answer, String> {
    let answer = PeakAnswer {
        comparison,
        report,
        most: usize::MAX,
    };
    let name = path.display().to_string();
    let text = peak_file(&name, &answer).ok_or_else(|| format!("{name}: {PEAK_FORMS}"))?;
    write_whole(path, text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(Answer::Written(path.to_owned()))
}

fn draw(drawing: &Drawing) -> Result<Answer, String> {
    let text = lane_svg(&LaneDrawing {
        comparison: &drawing.comparison,
        timeline: &drawing.timeline,
        lane: drawing.lane,
        viewport: drawing.view.viewport,
        axis: drawing.view.axis,
        size: drawing.view.size,
        colors: &drawing.view.colors,
        look: Some(&drawing.look),
        most_shapes: None,
    })?;
    write(drawing.path.clone(), text.as_bytes())
}

fn export(order: &ExportOrder, progress: &Progress<'_>) -> Result<Answer, String> {
    let ExportOrder { form, path, subject } = order;
    let bytes = subject.file(*form, path, progress).map_err(|error| error.to_string())?;
    // What was made in vain is not written.
    progress.check().map_err(|cancelled| cancelled.to_string())?;
    write(path.clone(), &bytes)
}

fn write(path: PathBuf, bytes: &[u8]) -> Result<Answer, String> {
    write_whole(&path, bytes).map_err(|error| error.to_string())?;
    Ok(Answer::Written(path))
}

fn save(path: &Path, file: &DocumentFile, known: Option<&str>, progress: &Progress<'_>) -> Result<Answer, String> {
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let Some(saved) = save_over(file, path, known, progress)? else {
        return Ok(Answer::DocumentDiffers(place));
    };
    let file = file.with(file.document.clone(), saved.hashes, file.view.clone());
    Ok(Answer::DocumentSaved(place, Box::new(file), saved.content))
}

/// The document among sources, read: it stands alone.
fn document_among(sources: &[SourceSpec], progress: &Progress<'_>) -> Result<Option<Answer>, String> {
    let documents = sources.iter().filter_map(|source| match source {
        SourceSpec::Path(path) if is_document(path) => Some(path.as_path()),
        _ => None,
    });
    match documents.collect::<Vec<_>>()[..] {
        [] => Ok(None),
        [one] if sources.len() == 1 => {
            let opened = open_document(one, progress)?;
            Ok(Some(Answer::DocumentOpened(Box::new(opened))))
        }
        [first, ..] => Err(format!(
            "{}: a document is opened by itself, not beside other files",
            first.display()
        )),
    }
}

/// Files and folders that are gone.
fn missing(paths: Vec<PathBuf>) -> BTreeSet<PathBuf> {
    paths.into_iter().filter(|path| !path.exists()).collect()
}

/// What is dropped or named may be a configuration instead of a graph; those are read at once.
fn split_configs(sources: Vec<SourceSpec>) -> Result<(Vec<ReadConfig>, Vec<SourceSpec>), String> {
    let mut configs = Vec::new();
    let mut graphs = Vec::new();
    for source in sources {
        match &source {
            SourceSpec::Path(path) if is_config(path) => configs.push(read_config_file(path)?),
            _ => graphs.push(source),
        }
    }
    Ok((configs, graphs))
}

fn read_config_file(path: &Path) -> Result<ReadConfig, String> {
    let bytes = read_bytes(path).map_err(|error| error.to_string())?;
    let name = path.display().to_string();
    let (config, remarks) = read_config(&name, &bytes).map_err(|error| format!("{name}: {error}"))?;
    Ok(ReadConfig { name, config, remarks })
}
