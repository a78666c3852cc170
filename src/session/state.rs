//! The session: the document, the last answer, the selection, and the requests to the worker.

mod answer;
mod apply;
mod batch_search;
mod bookmarks;
mod budget_sweep;
mod comparing;
mod config_export;
mod edits;
mod exports;
mod file;
mod found_plans;
mod judged;
mod pictures;
mod pins;
mod plans;
mod problems;
mod reading;
mod recorded_at;
mod request;
mod requests;
mod schedule;
mod search;
mod selection;
mod settings_search;
mod sources;
mod sweep;
mod swept;

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use super::budget_sweep::BudgetSweepTable;
use super::document::Document;
use super::history::History;
use super::loaded::Loaded;
use super::opened_config::OpenedConfig;
use super::overwrite::SettingsFiles;
use super::planner::PlannerTable;
use super::sweep::SweepTable;
use super::task::{Failure, Outcome, TaskKind};
use super::worker::{Message, Worker};
use highwater_analysis::BatchSearch;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::DeviceProfiles;

use answer::Answers;
pub use config_export::ConfigPreview;
pub use exports::{Exporting, LaneInView};
use file::DocumentPlace;
use found_plans::FoundPlans;
use judged::Judged;
use pictures::Pictures;
use problems::Problems;
pub use recorded_at::RecordedAt;
pub use request::Requested;
use requests::Requests;
pub use requests::{ContentOrder, DeviceAt, TableKey};
use schedule::Schedule;
pub use search::Search;
use selection::Selection;
pub use settings_search::{FoundSettings, setting_version};
use sources::SourceChange;
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
    judged: Judged,
    schedule: Schedule,
    answers: Answers,
    change: SourceChange,
    history: History,
    file: DocumentPlace,
    /// The configuration file that was read last.
    opened_config: Option<OpenedConfig>,
    /// All files that settings were read from.
    settings_files: SettingsFiles,
    /// Remarks on configuration files, by file.
    remarks: Arc<[(String, Diagnostics)]>,
    /// The document that the program was started with, until something is read.
    given: Option<Document>,
    /// Recent files that are gone.
    missing: BTreeSet<PathBuf>,
    /// Files that are being written, in order.
    exporting: VecDeque<PathBuf>,
    /// The first setting that the last undo or redo changed.
    stepped: Option<String>,
    notice: Option<Notice>,
    /// Why the document has no answer.
    problem: Option<String>,
    problems: Problems,
    plans: Sweep<PlannerTable>,
    found: FoundPlans,
    budget_sweep: Sweep<BudgetSweepTable>,
    sweep: Sweep<SweepTable>,
    found_settings: Sweep<FoundSettings>,
    /// The largest batch that fits.
    batch_search: Sweep<BatchSearch>,
    /// The answer for which it was last wanted.
    batch_asked: Option<u64>,
    selection: Selection,
    pictures: Pictures,
    search: Search,
    requests: Requests,
}

impl Session {
    /// Starts to load the document's sources.
    pub fn new(document: Document, profiles: DeviceProfiles, worker: Worker) -> Self {
        let mut session = Self {
            given: Some(document.clone()),
            document,
            profiles,
            worker,
            loaded: None,
            judged: Judged::default(),
            schedule: Schedule::default(),
            answers: Answers::default(),
            change: SourceChange::default(),
            history: History::default(),
            file: DocumentPlace::default(),
            opened_config: None,
            settings_files: SettingsFiles::default(),
            remarks: Arc::default(),
            missing: BTreeSet::new(),
            exporting: VecDeque::new(),
            stepped: None,
            notice: None,
            problem: None,
            problems: Problems::default(),
            plans: Sweep::default(),
            found: FoundPlans::default(),
            budget_sweep: Sweep::default(),
            sweep: Sweep::default(),
            found_settings: Sweep::default(),
            batch_search: Sweep::default(),
            batch_asked: None,
            selection: Selection::default(),
            pictures: Pictures::default(),
            search: Search::default(),
            requests: Requests::default(),
        };
        session.check();
        session.load();
        session.list_problems();
        session
    }

    /// A session of the document of the last run. Where that cannot be read, it says so and opens the first sample.
    pub fn restored(document: Document, profiles: DeviceProfiles, worker: Worker) -> Self {
        let mut session = Self::new(document, profiles, worker);
        session.change.is_restoring = true;
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
