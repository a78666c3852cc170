//! Bookmarks, the baseline and the goal: edits that can be undone, and that do not change the answer.

use super::super::bookmarks::{Bookmark, insert};
use super::super::document::Document;
use super::Session;
use highwater_analysis::{Comparison, LaneGoal, LaneId};
use highwater_sim::StaticMemoryPolicy;

impl Session {
    pub(super) fn add_bookmark(&mut self, bookmark: Bookmark) {
        self.mark(None, |document| insert(&mut document.bookmarks, bookmark));
    }

    /// Letters of a note are one step.
    pub(super) fn note_bookmark(&mut self, position: usize, note: String) {
        let typing = format!("bookmark {position}");
        self.mark(Some(typing), |document| {
            let bookmarks = &mut document.bookmarks;
            if let Some(bookmark) = bookmarks.get_mut(position) {
                bookmark.note = note;
            }
        });
    }

    pub(super) fn remove_bookmark(&mut self, position: usize) {
        self.mark(None, |document| {
            if position < document.bookmarks.len() {
                document.bookmarks.remove(position);
            }
        });
    }

    /// The position of the baseline: the lane that was chosen, else policy 0, else the first. A lane that ends early has
    /// no peak to compare with: unless it was chosen, the first one that completes takes its place.
    pub fn baseline(&self, comparison: &Comparison) -> usize {
        let usual = LaneId::Policy(StaticMemoryPolicy::Dynamic);
        if let Some(chosen) = self.document.baseline.and_then(|id| comparison.position(id)) {
            return chosen;
        }
        let usual = comparison.position(usual).unwrap_or(0);
        let mut lanes = comparison.lanes.iter();
        match comparison.lanes.get(usual) {
            Some(lane) if lane.ends_early() => lanes.position(|lane| !lane.ends_early()).unwrap_or(usual),
            _ => usual,
        }
    }

    pub(super) fn set_baseline(&mut self, lane: Option<LaneId>) {
        self.mark(None, |document| document.baseline = lane);
    }

    pub(super) fn set_goal(&mut self, goal: LaneGoal) {
        self.mark(None, |document| document.goal = goal);
    }

    fn mark(&mut self, typing: Option<String>, change: impl FnOnce(&mut Document)) {
        let before = self.document.clone();
        change(&mut self.document);
        if self.document != before {
            self.history.record(before, typing);
            self.keep_marks();
        }
    }

    /// Keeps the answer current: it does not depend on bookmarks, baseline and goal.
    pub(super) fn keep_marks(&mut self) {
        self.answers.follow_marks(&self.document);
    }
}
