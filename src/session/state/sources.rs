//! Sources come and go: opened in the place of others, added, removed; what is read starts there.

use super::super::document::{Document, SourceSpec};
use super::super::history::Settings;
use super::super::jobs::Job;
use super::super::known_names::KnownNames;
use super::{Busy, Session};

impl Session {
    /// Keeps the document, while its sources are read, as what a failed opening goes back to.
    pub(super) fn remember(&mut self) {
        if self.loaded.is_some() && self.load_generation == 0 {
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

    /// Other sources, as a step of the history once they are read.
    pub(super) fn add_or_remove(&mut self, sources: Vec<SourceSpec>) {
        let before = self.before_sources.take();
        let before = before.unwrap_or_else(|| Box::new(Settings::of(&self.document, &self.assumed)));
        // A load that is under way and starts a new history goes on doing so.
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
        self.stop_sweep();
        self.stop_space();
        self.document.sources = sources;
        self.document.part = None;
        self.selection.clear();
        self.drop_matches();
        self.has_new_sources = true;
        self.load();
    }

    pub(super) fn load(&mut self) {
        self.problem = None;
        self.not_opened = None;
        self.notice = None;
        self.load_generation = self.worker.send(Job::Load {
            sources: self.document.sources.clone(),
            with_evaluation: self.document.with_evaluation,
            known: KnownNames::of(&self.document, &self.file.located),
        });
        self.compare_generation = 0;
        self.busy = Some(Busy {
            stage: "reading",
            fraction: 0.0,
            is_loading: true,
        });
    }
}
