//! The session: the document, the last answer, the selection, and the requests to the worker.

mod apply;
mod bookmarks;
mod budget_sweep;
mod comparing;
mod config_export;
mod edits;
mod exports;
mod file;
mod found_plans;
mod pictures;
mod pins;
mod plans;
mod problems;
mod reading;
mod request;
mod requests;
mod search;
mod selection;
mod settings_search;
mod sources;
mod sweep;
mod swept;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use super::budget_sweep::BudgetSweepTable;
use super::document::Document;
use super::document_file::{AllowedOutside, Outside};
use super::history::History;
use super::loaded::Loaded;
use super::opened_config::OpenedConfig;
use super::overwrite::SettingsFiles;
use super::planner::{BestPlan, PlannerTable};
use super::sweep::SweepTable;
use super::task::{Failure, Outcome, TaskKind};
use super::worker::{Message, Worker};
use highwater_analysis::Comparison;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::{DeviceProfiles, DimValues, SchedulePlan, Workload};
use highwater_options::{Environment, Finding, NamedPaths, NoFiles, Options, SeenFiles, Value, effective_values};
use highwater_timeline::Timeline;

pub use config_export::ConfigPreview;
pub use exports::{Exporting, LaneInView};
use file::DocumentPlace;
use found_plans::FoundPlans;
use pictures::Pictures;
use problems::Problems;
pub use request::Requested;
use requests::Requests;
pub use requests::{ContentOrder, DeviceAt, TableKey};
pub use search::Search;
use selection::Selection;
pub use settings_search::{FoundSettings, setting_version};
use swept::Sweep;

/// The reading or the comparison that runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Busy {
    pub stage: &'static str,
    /// 0.0 to 1.0.
    pub fraction: f32,
    /// Otherwise it compares.
    pub is_loading: bool,
}

/// A sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    Done(String),
    /// Nothing changed on the screen.
    Failed(String),
}

#[derive(Debug)]
pub struct Session {
    document: Document,
    profiles: DeviceProfiles,
    worker: Worker,
    loaded: Option<Loaded>,
    answer: Option<(Arc<Comparison>, Arc<Timeline>)>,
    findings: Arc<[Finding]>,
    effective: BTreeMap<String, Value>,
    /// The effective values of the defaults.
    unset: BTreeMap<String, Value>,
    /// The last states of the files that options name.
    files: Arc<SeenFiles>,
    /// The paths of `files`.
    looked_at: NamedPaths,
    /// The configuration file that was read last.
    opened_config: Option<OpenedConfig>,
    /// All files that settings were read from.
    settings_files: SettingsFiles,
    /// Remarks on configuration files, by file.
    remarks: Arc<[(String, Diagnostics)]>,
    /// The first setting that the last undo or redo changed.
    stepped: Option<String>,
    selection: Selection,
    notice: Option<Notice>,
    /// Symbolic dimensions whose value 1 is an assumption.
    assumed: BTreeSet<String>,
    /// Values that options give to symbolic dimensions.
    bound_dims: DimValues,
    /// Why the document has no answer.
    problem: Option<String>,
    /// What an opened document names outside its folder, until the user decides.
    outside: Option<Outside>,
    allowed_outside: AllowedOutside,
    /// Why the last sources were not opened; the former ones stay.
    not_opened: Option<String>,
    /// The document of the answer on the screen.
    answered: Option<Document>,
    /// The workload that the answer on the screen was simulated from.
    answered_workload: Option<Arc<Workload>>,
    /// The document before the sources were changed, for a failed reading.
    opened: Option<Document>,
    history: History,
    /// Whether the running load reads other sources; it ends the history then.
    has_new_sources: bool,
    /// The document before sources were added or removed, until these are read.
    before_sources: Option<Box<Document>>,
    /// The schedule of the last comparison, with values of options.
    scheduled: SchedulePlan,
    best_plan: Option<BestPlan>,
    /// The number of the answer on the screen. Results of requests have the revision of their answer.
    revision: u64,
    /// Whether searches for plans were cut short in the answer on the screen.
    is_preview: bool,
    plans: Sweep<PlannerTable>,
    found: FoundPlans,
    budget_sweep: Sweep<BudgetSweepTable>,
    sweep: Sweep<SweepTable>,
    found_settings: Sweep<FoundSettings>,
    pictures: Pictures,
    search: Search,
    requests: Requests,
    /// Files that are being written, in order.
    exporting: VecDeque<PathBuf>,
    file: DocumentPlace,
    /// The document that the program was started with, until something is read.
    given: Option<Document>,
    /// Recent files that are gone.
    missing: BTreeSet<PathBuf>,
    /// Whether the running load is of the document of the last run.
    is_restoring: bool,
    problems: Problems,
}

impl Session {
    /// Starts to load the document's sources.
    pub fn new(document: Document, profiles: DeviceProfiles, worker: Worker) -> Self {
        let mut session = Self {
            findings: Arc::default(),
            effective: BTreeMap::new(),
            unset: effective_values(&Options::default(), &Environment::default(), &NoFiles)
                .into_iter()
                .collect(),
            files: Arc::default(),
            looked_at: NamedPaths::default(),
            opened_config: None,
            settings_files: SettingsFiles::default(),
            remarks: Arc::default(),
            stepped: None,
            given: Some(document.clone()),
            document,
            profiles,
            worker,
            loaded: None,
            answer: None,
            selection: Selection::default(),
            notice: None,
            assumed: BTreeSet::new(),
            bound_dims: DimValues::new(),
            problem: None,
            outside: None,
            allowed_outside: AllowedOutside::default(),
            not_opened: None,
            answered: None,
            answered_workload: None,
            opened: None,
            history: History::default(),
            has_new_sources: false,
            before_sources: None,
            scheduled: SchedulePlan::default(),
            best_plan: None,
            revision: 0,
            is_preview: false,
            plans: Sweep::default(),
            found: FoundPlans::default(),
            budget_sweep: Sweep::default(),
            sweep: Sweep::default(),
            found_settings: Sweep::default(),
            pictures: Pictures::default(),
            search: Search::default(),
            requests: Requests::default(),
            exporting: VecDeque::new(),
            file: DocumentPlace::default(),
            missing: BTreeSet::new(),
            is_restoring: false,
            problems: Problems::default(),
        };
        session.check();
        session.load();
        session.list_problems();
        session
    }

    /// A session of the document of the last run. Where that cannot be read, it says so and opens the first sample.
    pub fn restored(document: Document, profiles: DeviceProfiles, worker: Worker) -> Self {
        let mut session = Self::new(document, profiles, worker);
        session.is_restoring = true;
        session
    }

    pub fn notify(&mut self, notice: Notice) {
        self.notice = Some(notice);
    }

    /// Takes the worker's messages. Never waits. Returns whether anything changed.
    pub fn poll(&mut self) -> bool {
        let mut has_changed = false;
        while let Some(message) = self.worker.poll() {
            self.take(message);
            has_changed = true;
        }
        has_changed
    }

    /// Waits until no task is pending, for callers without frames.
    pub fn settle(&mut self) {
        while !self.worker.is_idle() {
            let Some(message) = self.worker.wait() else { return };
            self.take(message);
        }
    }

    fn take(&mut self, message: Message) {
        if let Some(reply) = self.worker.receive(message) {
            reply(self);
            self.list_problems();
        }
    }

    /// Does work on the worker's thread and takes its result. A failure becomes a notice.
    fn run<A: Send + 'static>(
        &mut self,
        kind: TaskKind,
        work: impl FnOnce(&Progress<'_>) -> Result<A, Failure> + Send + 'static,
        take: impl FnOnce(&mut Self, A) + Send + 'static,
    ) {
        self.worker.send(kind, work, |session, outcome| {
            if let Outcome::Done(answer) = outcome {
                take(session, answer);
            }
        });
    }

    fn discard(&mut self, kind: TaskKind) {
        self.worker.discard(kind);
    }

    #[cfg(test)]
    pub(super) fn worker(&mut self) -> &mut Worker {
        &mut self.worker
    }

    fn find_missing(&mut self, paths: Vec<PathBuf>) {
        self.run(
            TaskKind::FindMissing,
            move |_| Ok(paths.into_iter().filter(|path| !path.exists()).collect()),
            |session, missing| session.missing = missing,
        );
    }
}
