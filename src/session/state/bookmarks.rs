//! Bookmarks, and the baseline: changed as edits that can be undone, and that leave the answer as it is.

use super::super::bookmarks::{Bookmark, insert};
use super::super::document::Document;
use super::super::history::Settings;
use super::Session;
use highwater_analysis::LaneId;

impl Session {
    /// Adds a bookmark; one without a note is kept too.
    pub(super) fn add_bookmark(&mut self, bookmark: Bookmark) {
        self.mark(None, |document| insert(&mut document.bookmarks, bookmark));
    }

    /// Gives a bookmark another note, letter by letter as one step.
    pub(super) fn note_bookmark(&mut self, position: usize, note: String) {
        let typing = format!("bookmark {position}");
        self.mark(Some(typing), |document| {
            let bookmarks = &mut document.bookmarks;
            if let Some(bookmark) = bookmarks.get_mut(position) {
                bookmark.note = note;
            }
        });
    }

    /// Takes a bookmark away.
    pub(super) fn remove_bookmark(&mut self, position: usize) {
        self.mark(None, |document| {
            if position < document.bookmarks.len() {
                document.bookmarks.remove(position);
            }
        });
    }

    /// Chooses the lane that others are compared with.
    pub(super) fn set_baseline(&mut self, lane: Option<LaneId>) {
        self.mark(None, |document| document.baseline = lane);
    }

    fn mark(&mut self, typing: Option<String>, change: impl FnOnce(&mut Document)) {
        let settings = Settings::of(&self.document, &self.assumed);
        change(&mut self.document);
        if Settings::of(&self.document, &self.assumed) != settings {
            self.history.record(settings, typing);
            self.keep_marks();
        }
    }

    /// They say nothing about what is computed: the answer on the screen stays one of the document as it is now.
    pub(super) fn keep_marks(&mut self) {
        if let Some(answered) = &mut self.answered {
            answered.bookmarks.clone_from(&self.document.bookmarks);
            answered.baseline = self.document.baseline;
        }
    }
}
