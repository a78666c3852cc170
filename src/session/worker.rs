//! The worker: one named thread that loads, compares and writes, so that the window never waits.
//!
//! The newest load or comparison wins: a newer one cancels it, and answers of older generations are dropped by
//! the session. Files are written in order, none is dropped. A panic in the engine becomes an answer. The wake-up
//! is a closure, so this file knows no GUI.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::document::SourceSpec;
use super::document_file::{DocumentFile, is_document, open_document, save_document, states_of};
use super::export::ExportOrder;
use super::files::{is_config, look_at, read_bytes, write_whole};
use super::jobs::{Answer, ContentOrder, Drawing, Job, ReadConfig};
use super::load::load;
use super::name_reuse::names_report;
use super::painter::{Painter, Painting};
use super::planner::{PlannerSubject, run_row, subject_of};
use super::space::{is_of_space, try_space};
use super::sweep::{sweep_points, sweep_subject};
use super::together::OnFailure;
use crate::analysis::{Comparison, Request, compare, repin};
use crate::export::{LaneDrawing, PEAK_FORMS, PeakAnswer, lane_svg, peak_file, png, read_config, table_csv};
use crate::progress::{Cancel, Progress};
use crate::sim::picture;
use crate::timeline::{Areas, IsLit, LaneChanges, LaneDifference, LaneRows, Look, PeakReport, TableRows, Timeline};

/// How soon an answer should be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// At once.
    Now,
    /// With the next frame, or a little later: it only tells how far a job is, and a frame may cost as much as the part of
    /// the job that it tells of.
    Soon,
}

struct Order {
    generation: u64,
    job: Job,
    cancel: Cancel,
}

/// The handle of the worker thread; joins it when dropped.
pub struct Worker {
    orders: Option<Sender<Order>>,
    answers: Receiver<(u64, Answer)>,
    current: Arc<Mutex<Cancel>>,
    planning: Cancel,
    sweeping: Cancel,
    trying: Cancel,
    naming: Cancel,
    searching: Cancel,
    listing: Cancel,
    exporting: Cancel,
    generation: u64,
    thread: Option<JoinHandle<()>>,
    painter: Painter,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

impl Worker {
    /// Starts the thread, and the painter's. `wake` is called after every answer.
    ///
    /// # Errors
    /// What the operating system says where it cannot start a thread.
    pub fn start(wake: impl Fn() + Send + Sync + 'static) -> std::io::Result<Self> {
        Self::start_with(move |_| wake())
    }

    /// The same, told how soon somebody should look.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_with(wake: impl Fn(Wake) + Send + Sync + 'static) -> std::io::Result<Self> {
        let (orders, inbox) = unbounded::<Order>();
        let (outbox, answers) = unbounded();
        let wake = Arc::new(wake);
        let painter = {
            let (outbox, wake) = (outbox.clone(), Arc::clone(&wake));
            Painter::start(move |generation, answer| {
                // The receiver is gone only while the program ends.
                drop(outbox.send((generation, answer)));
                wake(Wake::Now);
            })?
        };
        let thread = std::thread::Builder::new()
            .name("highwater-worker".to_owned())
            .spawn(move || serve(&inbox, &outbox, &*wake))?;
        Ok(Self {
            orders: Some(orders),
            answers,
            current: Arc::new(Mutex::new(Cancel::new())),
            planning: Cancel::new(),
            sweeping: Cancel::new(),
            trying: Cancel::new(),
            naming: Cancel::new(),
            searching: Cancel::new(),
            listing: Cancel::new(),
            exporting: Cancel::new(),
            generation: 0,
            thread: Some(thread),
            painter,
        })
    }

    /// Sends a job and returns its generation. A load or comparison cancels the one before.
    pub fn send(&mut self, job: Job) -> u64 {
        let cancel = match job {
            // Files are written in order, and none is dropped for another; only the user stops them, all at once.
            Job::Export(_) => self.exporting.clone(),
            _ => Cancel::new(),
        };
        if matches!(job, Job::Load { .. } | Job::Compare(..)) {
            self.cancel();
            *self.lock() = cancel.clone();
        }
        if matches!(job, Job::PlannerSubject { .. } | Job::PlannerRow(..)) {
            self.planning.cancel();
            self.planning = cancel.clone();
        }
        if matches!(job, Job::SweepSubject(..) | Job::SweepPoints(..)) {
            self.sweeping.cancel();
            self.sweeping = cancel.clone();
        }
        if is_of_space(&job) {
            self.trying.cancel();
            self.trying = cancel.clone();
        }
        if matches!(job, Job::NameReuse(_)) {
            self.naming.cancel();
            self.naming = cancel.clone();
        }
        if matches!(job, Job::Search { .. }) {
            self.searching.cancel();
            self.searching = cancel.clone();
        }
        if matches!(job, Job::Table(..)) {
            self.listing.cancel();
            self.listing = cancel.clone();
        }
        self.generation += 1;
        if let Some(orders) = &self.orders {
            // A closed channel means that the thread is gone, which only dropping this handle does.
            let order = Order {
                generation: self.generation,
                job,
                cancel,
            };
            drop(orders.send(order));
        }
        self.generation
    }

    /// Asks the current load or comparison, the planner's table, the sweeps and name reuse to stop.
    pub fn cancel(&self) {
        self.trying.cancel();
        self.planning.cancel();
        self.sweeping.cancel();
        self.naming.cancel();
        self.lock().cancel();
    }

    /// Draws these pictures instead of those asked for before.
    pub(super) fn paint(&self, painting: Painting) {
        self.painter.paint(painting);
    }

    /// Asks the sweep to stop.
    pub fn cancel_sweep(&self) {
        self.sweeping.cancel();
    }

    /// Asks the trying of configurations to stop.
    pub fn cancel_space(&self) {
        self.trying.cancel();
    }

    /// Asks files of answers that are not written yet not to be.
    pub fn cancel_exports(&mut self) {
        self.exporting.cancel();
        self.exporting = Cancel::new();
    }

    /// Asks a search to stop. Searches and tables are short, so that nothing else stops them.
    pub fn cancel_search(&self) {
        self.searching.cancel();
    }

    /// The next answer with its generation, if there is one. Never waits.
    pub fn poll(&self) -> Option<(u64, Answer)> {
        self.answers.try_recv().ok()
    }

    /// The next answer, for callers without a frame. Waits.
    pub fn wait(&self) -> Option<(u64, Answer)> {
        self.answers.recv().ok()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cancel> {
        self.current.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.cancel();
        self.searching.cancel();
        self.listing.cancel();
        self.exporting.cancel();
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // The thread catches panics of jobs; there is nothing left to report on the way out.
            drop(thread.join());
        }
    }
}

fn serve(inbox: &Receiver<Order>, outbox: &Sender<(u64, Answer)>, wake: &dyn Fn(Wake)) {
    while let Ok(order) = inbox.recv() {
        let say = |answer: Answer| {
            let when = match answer {
                Answer::Progress { .. } => Wake::Soon,
                _ => Wake::Now,
            };
            // The receiver is gone only while the program ends.
            drop(outbox.send((order.generation, answer)));
            wake(when);
        };
        if order.cancel.is_cancelled() {
            say(Answer::Cancelled);
            continue;
        }
        let report = |stage: &'static str, fraction: f32| say(Answer::Progress { stage, fraction });
        let throttled = Throttle::new(&report);
        let progress_report = |stage: &'static str, fraction: f32| throttled.report(stage, fraction);
        let progress = Progress::new(&order.cancel, &progress_report);
        let result = catch_unwind(AssertUnwindSafe(|| perform(order.job, &progress, &say)));
        let answer = result.unwrap_or_else(|panic| Err(panic_text(&*panic)));
        say(match answer {
            _ if order.cancel.is_cancelled() => Answer::Cancelled,
            Ok(answer) => answer,
            Err(message) => Answer::Failed(message),
        });
    }
}

/// Passes on a report when the stage or the whole percent changes, so that loops may report as they like.
struct Throttle<'a> {
    report: &'a dyn Fn(&'static str, f32),
    last: std::cell::Cell<(&'static str, i32)>,
}

impl<'a> Throttle<'a> {
    fn new(report: &'a dyn Fn(&'static str, f32)) -> Self {
        Self {
            report,
            last: std::cell::Cell::new(("", -1)),
        }
    }

    fn report(&self, stage: &'static str, fraction: f32) {
        #[expect(clippy::cast_possible_truncation, reason = "0 to 50")]
        let now = (stage, (fraction * 50.0) as i32);
        if self.last.replace(now) != now {
            (self.report)(stage, fraction);
        }
    }
}

pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    format!("this is a fault in highwater, not in your file; please report it: {text}")
}

/// A document, configurations alone, or whatever else the files are.
fn read_sources(sources: Vec<SourceSpec>, with_evaluation: bool, progress: &Progress<'_>) -> Result<Answer, String> {
    if let Some(answer) = document_among(&sources, progress)? {
        return Ok(answer);
    }
    let (configs, graphs) = split_configs(sources)?;
    if graphs.is_empty() && !configs.is_empty() {
        return Ok(Answer::ConfigsRead(configs));
    }
    let mut loaded = load(&graphs, with_evaluation, OnFailure::Tell, progress)?;
    loaded.configs = configs;
    Ok(Answer::Loaded(loaded))
}

fn perform(job: Job, progress: &Progress<'_>, say: &dyn Fn(Answer)) -> Result<Answer, String> {
    match job {
        Job::Load {
            sources,
            with_evaluation,
        } => read_sources(sources, with_evaluation, progress),
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
        Job::SweepSubject(request, graph) => {
            let subject = sweep_subject(&request, graph, progress).map_err(|error| error.to_string())?;
            Ok(Answer::SweepSubject(subject.map(Arc::new)))
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
        Job::Look(paths) => Ok(Answer::Looked(look_at(&paths))),
        Job::WritePicture { path, picture } => write(path, &png(&picture)?),
        Job::WriteDrawing(drawing) => draw(&drawing),
        Job::Export(order) => export(&order, progress),
        Job::FindMissing(paths) => Ok(Answer::Missing(missing(paths))),
        Job::SaveDocument(path, file) => save(&path, &file, progress),
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
            let lit: Option<IsLit<'_>> = found.is_some().then_some(&is_found);
            let look = Look::new(&comparison, &timeline, &order, lit);
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
fn content(answer: (&Comparison, &Timeline), look: &Look, order: ContentOrder) -> Result<Answer, String> {
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

fn save(path: &Path, file: &DocumentFile, progress: &Progress<'_>) -> Result<Answer, String> {
    let hashes = save_document(file, path, progress)?;
    let saved = file.with(file.document.clone(), hashes, file.view.clone());
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Ok(Answer::DocumentSaved(path, Box::new(saved)))
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
