//! The session: the document, the last answer, the selection, and what the worker is doing.

mod answers;
mod bookmarks;
mod budget_sweep;
mod comparing;
mod content;
mod device;
mod difference;
mod edits;
mod exports;
mod file;
mod lane_changes;
mod name_reuse;
mod peak;
mod pictures;
mod pins;
mod plans;
mod reading;
mod search;
mod selection;
mod sources;
mod sweep;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::commands::Command;
use super::device::DeviceWatch;
use super::document::Document;
use super::history::{History, Settings};
use super::jobs::{Job, Loaded};
use super::peak::PeakWatch;
use super::planner::{BestPlan, PlannerTable};
use super::worker::Worker;
use content::ContentWatch;
use difference::DifferenceWatch;
pub use exports::Exporting;
use file::FileWatch;
use highwater_analysis::Comparison;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::workload::{DeviceProfiles, DimValues, GraphIdx, SchedulePlan, Workload};
use highwater_options::{Environment, Finding, NoFiles, Options, SeenFiles, Value, effective_values};
use highwater_timeline::Timeline;
use lane_changes::ChangesWatch;
use name_reuse::NamesWatch;
use pictures::PictureWatch;
pub use search::Search;

use budget_sweep::BudgetSweepWatch;
use search::SearchWatch;
use selection::Selection;
use sweep::SweepWatch;
use tables::TablesWatch;

/// What the worker is doing.
#[derive(Clone, Debug, PartialEq)]
pub struct Busy {
    /// The stage's name.
    pub stage: &'static str,
    /// 0.0 to 1.0.
    pub fraction: f32,
    /// Whether it reads files (otherwise it compares).
    pub is_loading: bool,
}

/// A sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Something was done.
    Done(String),
    /// Something failed; what was on the screen stays.
    Failed(String),
}

/// Everything that a window shows, without a window.
#[derive(Debug)]
pub struct Session {
    document: Document,
    profiles: DeviceProfiles,
    worker: Worker,
    loaded: Option<Loaded>,
    answer: Option<(Arc<Comparison>, Arc<Timeline>)>,
    findings: Vec<Finding>,
    effective: BTreeMap<String, Value>,
    /// The values that act where nothing is set.
    unset: BTreeMap<String, Value>,
    /// The files that options name, as they were when the worker looked last.
    files: Arc<SeenFiles>,
    /// The paths that the worker looked at last.
    looked_at: Vec<String>,
    /// What is odd in the configuration files that were read, by file.
    remarks: Vec<(String, Diagnostics)>,
    /// The first name that the last undo or redo changed.
    stepped: Option<String>,
    selection: Selection,
    busy: Option<Busy>,
    notice: Option<Notice>,
    /// Symbolic dimensions that were given the value 1, because nobody gave them another.
    assumed: BTreeSet<String>,
    /// Values that options give to symbolic dimensions.
    bound_dims: DimValues,
    /// Why the current document has no answer, where it has none.
    problem: Option<String>,
    /// Why what was to be opened last is not: what was open before stays.
    not_opened: Option<String>,
    /// The document that the answer on the screen belongs to.
    answered: Option<Document>,
    /// What is being compared, and what the answer on the screen is of.
    asked_of: Option<Arc<Workload>>,
    answered_of: Option<Arc<Workload>>,
    /// The document before the sources were changed: what a failed opening goes back to.
    opened: Option<Document>,
    history: History,
    /// Whether the load that runs reads other sources than before; then the history ends with it.
    has_new_sources: bool,
    /// The settings before sources were added or removed, while these are read.
    before_sources: Option<Box<Settings>>,
    /// The schedule that was asked about last, with the values that options give.
    scheduled: SchedulePlan,
    /// The planner's table.
    planner: Option<PlannerTable>,
    /// What lanes have shown of a problem.
    best_plan: Option<BestPlan>,
    /// The answer, by number, and the graph that the table was asked for.
    planner_asked: Option<(u64, GraphIdx)>,
    /// How many answers there were.
    n_answers: u64,
    /// Whether the searches for plans were cut short in the answer on the screen.
    is_preview: bool,
    planner_generation: u64,
    /// Whether the worker has still to say what the table is about.
    planner_awaited: bool,
    device: DeviceWatch,
    peak: PeakWatch,
    sweep: BudgetSweepWatch,
    space: SweepWatch,
    names: NamesWatch,
    pictures: PictureWatch,
    difference: DifferenceWatch,
    lane_changes: ChangesWatch,
    /// The lane that figures of others are compared with, where one was chosen.
    content: ContentWatch,
    search: SearchWatch,
    tables: TablesWatch,
    /// Files of answers that are being written, in order.
    exporting: Vec<Exporting>,
    file: FileWatch,
    /// What the program was started with, until something was read.
    given: Option<Document>,
    load_generation: u64,
    compare_generation: u64,
    look_generation: u64,
    /// Files that were opened once and are gone.
    missing: BTreeSet<PathBuf>,
    missing_generation: u64,
    /// The load of what was open when the program ended last.
    restore_generation: u64,
}

impl Session {
    /// A session that starts to load the document's sources at once.
    pub fn new(document: Document, profiles: DeviceProfiles, worker: Worker) -> Self {
        let mut session = Self {
            findings: Vec::new(),
            effective: BTreeMap::new(),
            unset: effective_values(&Options::default(), &Environment::default(), &NoFiles)
                .into_iter()
                .collect(),
            files: Arc::default(),
            looked_at: Vec::new(),
            remarks: Vec::new(),
            stepped: None,
            given: Some(document.clone()),
            document,
            profiles,
            worker,
            loaded: None,
            answer: None,
            selection: Selection::default(),
            busy: None,
            notice: None,
            assumed: BTreeSet::new(),
            bound_dims: DimValues::new(),
            problem: None,
            not_opened: None,
            answered: None,
            asked_of: None,
            answered_of: None,
            opened: None,
            history: History::default(),
            has_new_sources: false,
            before_sources: None,
            scheduled: SchedulePlan::default(),
            planner: None,
            best_plan: None,
            planner_asked: None,
            n_answers: 0,
            is_preview: false,
            planner_generation: 0,
            planner_awaited: false,
            device: DeviceWatch::default(),
            peak: PeakWatch::default(),
            sweep: BudgetSweepWatch::default(),
            space: SweepWatch::default(),
            names: NamesWatch::default(),
            pictures: PictureWatch::default(),
            difference: DifferenceWatch::default(),
            lane_changes: ChangesWatch::default(),
            content: ContentWatch::default(),
            search: SearchWatch::default(),
            tables: TablesWatch::default(),
            exporting: Vec::new(),
            file: FileWatch::default(),
            load_generation: 0,
            compare_generation: 0,
            look_generation: 0,
            missing: BTreeSet::new(),
            missing_generation: 0,
            restore_generation: 0,
        };
        session.check();
        session.load();
        session
    }

    /// A session of what was open when the program ended last. Where that cannot be read any more, it says so and opens
    /// the first sample.
    pub fn restored(document: Document, profiles: DeviceProfiles, worker: Worker) -> Self {
        let mut session = Self::new(document, profiles, worker);
        session.restore_generation = session.load_generation;
        session
    }

    /// Shows a sentence.
    pub fn notify(&mut self, notice: Notice) {
        self.notice = Some(notice);
    }

    /// Applies one command.
    pub fn apply(&mut self, command: Command) {
        match command {
            Command::Open(sources) => self.open(sources),
            Command::Add(sources) => {
                let mut all = self.document.sources.clone();
                all.extend(sources);
                self.add_or_remove(all);
            }
            Command::OpenAs { position, format } => {
                let mut all = self.document.sources.clone();
                if let Some(source) = all.get_mut(position)
                    && let Ok(opened) = source.clone().opened_as(format)
                {
                    *source = opened;
                    self.change_sources(all);
                }
            }
            Command::Remove(position) => {
                let mut all = self.document.sources.clone();
                if position < all.len() && all.len() > 1 {
                    all.remove(position);
                    self.add_or_remove(all);
                }
            }
            Command::ListPlans(graph) => self.list_plans(graph),
            Command::Sweep(graph) => self.start_sweep(graph),
            Command::ReuseNames(graph) => self.reuse_names(graph),
            Command::StopSweep => self.stop_sweep(),
            Command::TrySweep(order) => self.try_space(*order, None),
            Command::Recommend(order, goal) => self.try_space(*order, Some(goal)),
            Command::StopSpace => self.stop_space(),
            Command::PictureDevice(lane, step) => self.want_device(lane, step),
            Command::Paint(order) => self.paint(order),
            Command::SetLook(order) => self.set_look(order),
            Command::ShowContent(order) => self.show_content(order),
            Command::ExplainPeak(ask) => self.want_peak(ask),
            Command::ExportPeak(path) => self.export_peak(path),
            Command::AddBookmark(bookmark) => self.add_bookmark(bookmark),
            Command::RestoreBookmarks(bookmarks) => {
                self.document.bookmarks = bookmarks;
                self.keep_marks();
            }
            Command::NoteBookmark { position, note } => self.note_bookmark(position, note),
            Command::RemoveBookmark(position) => self.remove_bookmark(position),
            Command::Select(selected) => self.selection.select(selected),
            Command::StepSelection { is_back } => self.selection.step(is_back),
            Command::Search { text, lane } => self.search_for(text, lane),
            Command::ListRows(spec) => self.list_rows(*spec),
            Command::ExportTable(path) => self.export_table(path),
            Command::ExportConfig(path) => self.export_config(path),
            Command::Export { form, path, lanes } => self.export(form, path, lanes.as_deref()),
            Command::ImportConfig(path) => {
                self.worker.send(Job::ReadConfig(path));
            }
            Command::Cancel => self.stop_all(),
            Command::FindMissing(paths) => self.missing_generation = self.worker.send(Job::FindMissing(paths)),
            filed if filed.is_filed() => self.apply_filed(filed),
            Command::WritePicture { path, picture } => {
                self.send_write(Job::WritePicture { path, picture });
            }
            Command::DrawLane { path, lane, view } => self.draw_lane(path, lane, *view),
            compared if compared.is_compared() => self.apply_compared(compared),
            Command::EndTyping => self.history.end_typing(),
            Command::DismissNotice => (self.notice, self.not_opened) = (None, None),
            Command::ForgetRemarks(name) => self.remarks.retain(|(known, _)| *known != name),
            Command::Undo => self.step(true),
            Command::Redo => self.step(false),
            edit => self.edit(edit),
        }
    }

    /// Sends a job that writes a file, which is none of the sources.
    fn send_write(&mut self, job: Job) -> u64 {
        self.worker.keep(&self.document.sources);
        self.worker.send(job)
    }

    /// Stops whatever is being worked out or written.
    fn stop_all(&mut self) {
        self.stop_sweep();
        self.stop_space();
        self.stop_exports();
        self.worker.cancel();
        self.busy = None;
    }

    /// Takes the worker's answers. Never waits. Returns whether anything changed.
    pub fn poll(&mut self) -> bool {
        let mut has_changed = false;
        while let Some((generation, answer)) = self.worker.poll() {
            self.take(generation, answer);
            has_changed = true;
        }
        has_changed
    }

    /// Waits until the worker has nothing to do, for callers without frames. Returns at once when idle.
    pub fn settle(&mut self) {
        while self.busy.is_some()
            || self.look_generation != 0
            || self.is_planning()
            || self.is_sweeping()
            || self.is_trying()
            || self.is_reusing_names()
            || self.device.is_waiting()
            || self.pictures.is_waiting()
            || self.difference.is_waiting()
            || self.lane_changes.is_waiting()
            || self.content.is_waiting()
            || self.is_searching()
            || self.is_listing_rows()
            || self.peak.is_waiting()
            || !self.exporting.is_empty()
            || self.missing_generation != 0
            || self.file.is_waiting()
        {
            match self.worker.wait() {
                Some((generation, answer)) => self.take(generation, answer),
                None => return,
            }
        }
    }
}
