//! Bookmarks: added, changed and removed as edits that can be undone, and that leave the answer as it is.

use super::super::bookmarks::{Bookmark, insert};
use super::super::history::Settings;
use super::Session;

impl Session {
    /// Adds a bookmark; one without a note is kept too.
    pub(super) fn add_bookmark(&mut self, bookmark: Bookmark) {
        self.mark(None, |bookmarks| insert(bookmarks, bookmark));
    }

    /// Gives a bookmark another note, letter by letter as one step.
    pub(super) fn note_bookmark(&mut self, position: usize, note: String) {
        let typing = format!("bookmark {position}");
        self.mark(Some(typing), |bookmarks| {
            if let Some(bookmark) = bookmarks.get_mut(position) {
                bookmark.note = note;
            }
        });
    }

    /// Takes a bookmark away.
    pub(super) fn remove_bookmark(&mut self, position: usize) {
        self.mark(None, |bookmarks| {
            if position < bookmarks.len() {
                bookmarks.remove(position);
            }
        });
    }

    fn mark(&mut self, typing: Option<String>, change: impl FnOnce(&mut Vec<Bookmark>)) {
        let settings = Settings::of(&self.document, &self.assumed);
        let before = self.document.bookmarks.clone();
        change(&mut self.document.bookmarks);
        if self.document.bookmarks != before {
            self.history.record(settings, typing);
            self.keep_bookmarks();
        }
    }

    /// Bookmarks say nothing about what is computed: the answer on the screen stays one of the document as it is now.
    pub(super) fn keep_bookmarks(&mut self) {
        if let Some(answered) = &mut self.answered {
            answered.bookmarks.clone_from(&self.document.bookmarks);
        }
    }
}
