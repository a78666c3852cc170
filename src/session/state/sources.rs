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

impl Session {
    /// Keeps the document for a failed reading of other sources.
    pub(super) fn remember(&mut self) {
        if self.loaded.is_some() && !self.is_loading() {
            self.opened = Some(self.document.clone());
        }
    }

    pub(super) fn open(&mut self, sources: Vec<SourceSpec>) {
        self.remember();
        let fresh = Document::new(sources);
        self.document.plan = fresh.plan;
        self.document.with_evaluation = false;
        self.document.strategies = fresh.strategies;
        self.document.lanes = fresh.lanes;
        self.document.bookmarks = fresh.bookmarks;
        self.file.gives_way = true;
        self.change_sources(fresh.sources);
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
        let before = self.before_sources.take();
        let before = before.unwrap_or_else(|| Box::new(self.document.clone()));
        // A running load that starts a new history still does.
        let is_step = !self.has_new_sources && self.loaded.is_some();
        self.change_sources(sources);
        self.has_new_sources = !is_step;
        self.before_sources = is_step.then_some(before);
    }

    pub(super) fn change_sources(&mut self, sources: Vec<SourceSpec>) {
        self.before_sources = None;
        if self.opened.is_none() {
            self.remember();
        }
        self.discard(TaskKind::BudgetSweep);
        self.discard(TaskKind::Sweep);
        self.document.sources = sources;
        self.document.part = None;
        self.selection.clear();
        self.search.matches = None;
        self.has_new_sources = true;
        self.load();
    }

    pub(super) fn load(&mut self) {
        self.problem = None;
        self.not_opened = None;
        self.notice = None;
        self.outside = None;
        self.is_restoring = false;
        let is_document = self.file.is_opening;
        self.discard(TaskKind::Compare);
        let sources = self.document.sources.clone();
        let with_evaluation = self.document.with_evaluation;
        let known = KnownNames::of(&self.document, &self.file.located);
        let allowed = self.allowed_outside.clone();
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
                    session.forget_change_of_sources();
                }
            },
        );
    }

    /// A document names files outside its folder: the files on the screen stay until the user has decided.
    fn take_outside(&mut self, outside: Outside) {
        // The command line may have allowed it since.
        if self.allowed_outside.allows(&outside) {
            return self.open(vec![SourceSpec::Path(outside.document)]);
        }
        self.restore_opened();
        self.forget_change_of_sources();
        self.outside = Some(outside);
    }

    /// The files outside its folder that a document names, until the user decides on them.
    pub const fn outside(&self) -> Option<&Outside> {
        self.outside.as_ref()
    }

    /// What documents may read outside their folders.
    pub const fn allowed_outside(&self) -> &AllowedOutside {
        &self.allowed_outside
    }

    /// Adds what earlier runs or the command line allow.
    pub fn allow_outside(&mut self, allowed: &AllowedOutside) {
        self.allowed_outside.extend(allowed);
        let allowed = &self.allowed_outside;
        if let Some(outside) = self.outside.take_if(|outside| allowed.allows(outside)) {
            self.open(vec![SourceSpec::Path(outside.document)]);
        }
    }

    /// The user's decision about the files that a document names outside its folder.
    pub(super) fn decide_outside(&mut self, is_allowed: bool) {
        let Some(outside) = self.outside.take() else { return };
        if is_allowed {
            self.allowed_outside.allow(&outside);
            self.open(vec![SourceSpec::Path(outside.document)]);
        } else if self.loaded.is_none() {
            self.open(vec![SourceSpec::Sample(&SAMPLES[0])]);
        }
    }

    fn load_failed(&mut self, message: String) {
        if self.keeps_document(&message) {
            return;
        }
        if self.is_restoring {
            self.show_sample_instead(&message);
        } else if self.restore_opened() {
            self.forget_change_of_sources();
            self.not_opened = Some(message);
            self.compare();
        } else {
            self.forget_change_of_sources();
            self.problem = Some(message);
        }
    }

    /// Whether sources are being read: the document names other ones than those that are loaded.
    pub(super) fn is_loading(&self) -> bool {
        self.worker.is_waiting(TaskKind::Load)
    }

    fn take_loaded(&mut self, mut loaded: Loaded) {
        self.opened = None;
        let before = self.before_sources.take();
        let has_new_sources = std::mem::take(&mut self.has_new_sources);
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
        self.forget_change_of_sources();
        if self.loaded.is_none() {
            // No graph was named: a sample takes its place.
            self.open(vec![SourceSpec::Sample(&SAMPLES[0])]);
        }
        self.take_configs(configs);
        if self.busy().is_none() && (self.answer.is_none() || self.is_stale()) {
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
        let Some(opened) = self.opened.take() else {
            return false;
        };
        self.document.sources = opened.sources;
        self.document.plan = opened.plan;
        self.document.with_evaluation = opened.with_evaluation;
        self.document.strategies = opened.strategies;
        self.document.lanes = opened.lanes;
        self.document.bookmarks = opened.bookmarks;
        true
    }

    /// The document of the last run cannot be read.
    fn show_sample_instead(&mut self, message: &str) {
        self.forget_change_of_sources();
        self.document = Document::new(vec![SourceSpec::Sample(&SAMPLES[0])]);
        self.check();
        self.load();
        self.notice = Some(Notice::Failed(format!(
            "the last files cannot be reopened, a sample is shown: {message}"
        )));
    }

    pub(super) fn forget_change_of_sources(&mut self) {
        self.has_new_sources = false;
        self.before_sources = None;
    }
}
