//! Steps with a note, kept in the document.

use crate::analysis::LaneId;
use crate::units::Step;

/// A step that somebody wants to find again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmark {
    /// The step, on the common axis.
    pub step: Step,
    /// What is remarkable about it.
    pub note: String,
    /// The lane that it is about; `None` for all of them.
    pub lane: Option<LaneId>,
}

/// Puts a bookmark where it belongs: in order of steps, behind those of the same step.
pub(super) fn insert(bookmarks: &mut Vec<Bookmark>, bookmark: Bookmark) {
    let place = bookmarks.partition_point(|known| known.step <= bookmark.step);
    bookmarks.insert(place, bookmark);
}
