//! Sources: replaced, added, removed, and read.

use super::super::document::{Document, SourceSpec};
use super::super::document_file::{AllowedOutside, Outside, refuse_special};
use super::super::known_names::KnownNames;
use super::super::loaded::{Loaded, ReadConfig};
use super::super::name_reuse::NamesTask;
use super::super::opening::{Opened, open_sources};
use super::super::performer::free;
use super::super::samples::SAMPLES;
use super::super::task::{Outcome, TaskKind};
use super::found_plans::FoundPlans;
use super::{Notice, Session};

/// Changes of sources: the one that is under way, and what documents may name outside their folders.
#[derive(Debug, Default)]
pub(super) struct SourceChange {
    /// The document before it, for a failed reading.
    opened: Option<Document>,
    /// Whether other sources are read, which ends the history.
    pub(super) is_new: bool,
    /// The document before sources were added or removed.
    before: Option<Box<Document>>,
    /// Whether the document of the last run is read.
    pub(super) is_restoring: bool,
    /// Why the last sources were not opened; the former ones stay.
    not_opened: Option<String>,
    /// What an opened document names outside its folder, until the user decides.
    outside: Option<Outside>,
    pub(super) allowed_outside: AllowedOutside,
}

impl SourceChange {
    pub(super) fn not_opened(&self) -> Option<&str> {
        self.not_opened.as_deref()
    }

    /// Keeps the document for a failed reading of other sources.
    pub(super) fn remember(&mut self, document: Document) {
        self.opened = Some(document);
    }

    /// Reads the sources of another document.
    pub(super) fn begin(&mut self) {
        (self.opened, self.is_new) = (None, true);
    }

    pub(super) fn forget(&mut self) {
        (self.before, self.is_new) = (None, false);
    }
}

impl Session {
    /// Keeps the document for a failed reading of other sources.
    pub(super) fn remember(&mut self) {
        if self.loaded.is_some() && !self.is_loading() {
            self.change.remember(self.document.clone());
        }
    }

    pub(super) fn open(&mut self, sources: Vec<SourceSpec>) {
        self.remember();
        self.document.take_sources(Document::new(sources.clone()));
        self.file.gives_way = true;
        self.change_sources(sources);
    }

    /// Reads a source again as another format.
    pub(super) fn open_as(&mut self, position: usize, format: Option<&'static str>) {
        let mut all = self.document.sources.clone();
        if let Some(source) = all.get_mut(position)
            && let Ok(opened) = source.clone().opened_as(format)
        {
            *source = opened;
            self.change_sources(all);
        }
    }

    /// Removes a source; the last one stays.
    pub(super) fn remove_source(&mut self, position: usize) {
        let mut all = self.document.sources.clone();
        if position < all.len() && all.len() > 1 {
            all.remove(position);
            self.add_or_remove(all);
        }
    }

    /// Changes sources as a step of the history, once they are read.
    pub(super) fn add_or_remove(&mut self, sources: Vec<SourceSpec>) {
        let before = self.change.before.take();
        let before = before.unwrap_or_else(|| Box::new(self.document.clone()));
        // A running load that starts a new history still does.
        let is_step = !self.change.is_new && self.loaded.is_some();
        self.change_sources(sources);
        (self.change.is_new, self.change.before) = (!is_step, is_step.then_some(before));
    }

    pub(super) fn change_sources(&mut self, sources: Vec<SourceSpec>) {
        self.change.before = None;
        if self.change.opened.is_none() {
            self.remember();
        }
        self.discard(TaskKind::BudgetSweep);
        self.discard(TaskKind::Sweep);
        self.document.sources = sources;
        self.document.part = None;
        self.selection.clear();
        self.search.matches = None;
        self.change.is_new = true;
        self.load();
    }

    pub(super) fn load(&mut self) {
        self.problem = None;
        self.notice = None;
        let change = &mut self.change;
        (change.not_opened, change.outside, change.is_restoring) = (None, None, false);
        let is_document = self.file.is_opening;
        self.discard(TaskKind::Compare);
        let sources = self.document.sources.clone();
        let with_evaluation = self.document.with_evaluation;
        let known = KnownNames::of(&self.document, &self.file.located);
        let allowed = self.change.allowed_outside.clone();
        self.worker.send(
            TaskKind::Load,
            move |progress| {
                if is_document {
                    refuse_special(&sources)?;
                }
                Ok(open_sources(&sources, with_evaluation, &known, &allowed, progress)?)
            },
            |session, outcome| match outcome {
                Outcome::Done(Opened::Document(document)) => session.take_document(*document),
                Outcome::Done(Opened::Outside(outside)) => session.take_outside(outside),
                Outcome::Done(Opened::Configs(configs)) => session.take_opened_configs(configs),
                Outcome::Done(Opened::Graphs(loaded)) => session.take_loaded(*loaded),
                Outcome::Failed(message) => session.load_failed(message),
                Outcome::Cancelled => {
                    session.restore_opened();
                }
            },
        );
    }

    /// A document names files outside its folder: the files on the screen stay until the user has decided.
    fn take_outside(&mut self, outside: Outside) {
        // The command line may have allowed it since.
        if self.change.allowed_outside.allows(&outside) {
            return self.open(vec![SourceSpec::Path(outside.document)]);
        }
        self.restore_opened();
        self.change.outside = Some(outside);
    }

    /// The files outside its folder that a document names, until the user decides on them.
    pub const fn outside(&self) -> Option<&Outside> {
        self.change.outside.as_ref()
    }

    /// What documents may read outside their folders.
    pub const fn allowed_outside(&self) -> &AllowedOutside {
        &self.change.allowed_outside
    }

    /// Adds what earlier runs or the command line allow.
    pub fn allow_outside(&mut self, allowed: &AllowedOutside) {
        let SourceChange {
            outside,
            allowed_outside,
            ..
        } = &mut self.change;
        allowed_outside.extend(allowed);
        if let Some(outside) = outside.take_if(|outside| allowed_outside.allows(outside)) {
            self.open(vec![SourceSpec::Path(outside.document)]);
        }
    }

    /// The user's decision about the files that a document names outside its folder.
    pub(super) fn decide_outside(&mut self, is_allowed: bool) {
        let Some(outside) = self.change.outside.take() else {
            return;
        };
        if is_allowed {
            self.change.allowed_outside.allow(&outside);
            self.open(vec![SourceSpec::Path(outside.document)]);
        } else if self.loaded.is_none() {
            self.open(vec![SourceSpec::Sample(&SAMPLES[0])]);
        }
    }

    fn load_failed(&mut self, message: String) {
        if self.keeps_document(&message) {
            return;
        }
        if self.change.is_restoring {
            self.show_sample_instead(&message);
        } else if self.restore_opened() {
            let first = message.lines().next().unwrap_or_default();
            self.notice = Some(Notice::Failed(format!("not opened: {first}")));
            self.change.not_opened = Some(message);
            self.compare();
        } else {
            self.problem = Some(message);
        }
    }

    /// Whether sources are being read: the document names other ones than those that are loaded.
    pub(super) fn is_loading(&self) -> bool {
        self.worker.is_waiting(TaskKind::Load)
    }

    fn take_loaded(&mut self, mut loaded: Loaded) {
        self.change.opened = None;
        let before = self.change.before.take();
        let has_new_sources = std::mem::take(&mut self.change.is_new);
        if has_new_sources {
            self.history.clear();
        }
        if has_new_sources || before.is_some() {
            self.drop_sweeps();
            self.found = FoundPlans::default();
            self.forget::<NamesTask>();
        }
        let configs = std::mem::take(&mut loaded.configs);
        self.document.sources.clone_from(&loaded.sources);
        if let Some(before) = before {
            self.history.record(*before, None);
        }
        self.follow_located(&loaded);
        free(self.loaded.replace(loaded));
        self.show_part();
        self.follow_loaded();
        if configs.is_empty() {
            self.compare();
        } else {
            self.take_configs(configs);
        }
        self.settle_file();
    }

    /// Configurations were opened in the place of graphs: the graphs stay.
    fn take_opened_configs(&mut self, configs: Vec<ReadConfig>) {
        self.restore_opened();
        if self.loaded.is_none() {
            // No graph was named: a sample takes its place.
            self.open(vec![SourceSpec::Sample(&SAMPLES[0])]);
        }
        self.take_configs(configs);
        if self.busy().is_none() && (self.answers.pair().is_none() || self.is_stale()) {
            self.compare();
        }
    }

    fn take_configs(&mut self, configs: Vec<ReadConfig>) {
        for config in configs {
            self.take_config(config);
        }
    }

    /// Restores the sources from before a failed load; settings stay. Returns whether there were any.
    fn restore_opened(&mut self) -> bool {
        self.file.gives_way = false;
        self.change.forget();
        let opened = self.change.opened.take();
        opened.map(|opened| self.document.take_sources(opened)).is_some()
    }

    /// The document of the last run cannot be read.
    fn show_sample_instead(&mut self, message: &str) {
        self.change.forget();
        self.document = Document::new(vec![SourceSpec::Sample(&SAMPLES[0])]);
        self.check();
        self.load();
        self.notice = Some(Notice::Failed(format!(
            "the last files cannot be reopened, a sample is shown: {message}"
        )));
    }

    pub(super) fn dismiss_notice(&mut self) {
        (self.notice, self.change.not_opened) = (None, None);
    }
}
