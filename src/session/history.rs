//! Undo and redo: snapshots of the document.
//!
//! Letters typed into one field are one step. Adding and removing sources is a step; replacing them starts a new history,
//! since settings of the schedule belong to their graphs.

use super::document::Document;

const MAX_STEPS: usize = 1000;

/// The name of a step that changes bookmarks.
pub(super) const BOOKMARKS: &str = "bookmarks";

/// The name of a step that changes the baseline.
pub(super) const BASELINE: &str = "baseline";
/// The name of a step that changes the goal.
pub(super) const GOAL: &str = "goal";

#[derive(Debug, Default)]
pub(super) struct History {
    past: Vec<Document>,
    future: Vec<Document>,
    /// The field that the user types into.
    typing: Option<String>,
}

impl History {
    /// Records the document before an edit. Consecutive edits with the same `typing` are one step.
    pub(super) fn record(&mut self, before: Document, typing: Option<String>) {
        let continues = typing.is_some() && typing == self.typing && !self.past.is_empty();
        self.typing = typing;
        self.future.clear();
        if continues {
            return;
        }
        self.past.push(before);
        if self.past.len() > MAX_STEPS {
            self.past.remove(0);
        }
    }

    /// Ends the step of a field: later letters are another step.
    pub(super) fn end_typing(&mut self) {
        self.typing = None;
    }

    pub(super) fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Availability of undo and redo.
    pub(super) fn can(&self) -> (bool, bool) {
        (!self.past.is_empty(), !self.future.is_empty())
    }

    /// Exchanges the current document for that of the last step, or of the next. Returns it with the names of what
    /// changed; `None` where there is no step.
    pub(super) fn step(&mut self, current: Document, is_back: bool) -> Option<(Document, Vec<String>)> {
        let (from, to) = if is_back {
            (&mut self.past, &mut self.future)
        } else {
            (&mut self.future, &mut self.past)
        };
        let document = from.pop()?;
        let names = difference(&current, &document);
        to.push(current);
        self.typing = None;
        Some((document, names))
    }
}

fn difference(a: &Document, b: &Document) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let keys = a.options.overrides().chain(b.options.overrides()).map(|(key, _)| key);
    for key in keys {
        if a.options.get(key) != b.options.get(key) {
            names.push(key.to_owned());
        }
    }
    let variables = a.environment.iter().chain(b.environment.iter()).map(|(name, _)| name);
    for name in variables {
        if a.environment.get(name) != b.environment.get(name) {
            names.push(name.to_owned());
        }
    }
    if a.plan != b.plan || a.with_evaluation != b.with_evaluation {
        names.push("schedule".to_owned());
    }
    if a.sources != b.sources {
        names.push("files".to_owned());
    }
    if a.part != b.part {
        names.push("what is shown".to_owned());
    }
    if a.strategies != b.strategies {
        names.push("strategy of a lane".to_owned());
    }
    if a.recording_rules != b.recording_rules {
        names.push("frame rules".to_owned());
    }
    if a.allocator_settings != b.allocator_settings {
        names.push("allocator settings".to_owned());
    }
    if a.lanes != b.lanes {
        names.push("lanes".to_owned());
    }
    if a.unknown_options != b.unknown_options || a.unknown_fields != b.unknown_fields {
        names.push("unknown entries".to_owned());
    }
    if a.pins != b.pins {
        names.push("pins".to_owned());
    }
    if a.baseline != b.baseline {
        names.push(BASELINE.to_owned());
    }
    if a.goal != b.goal {
        names.push(GOAL.to_owned());
    }
    if a.bookmarks != b.bookmarks {
        names.push(BOOKMARKS.to_owned());
    }
    names.sort();
    names.dedup();
    names
}
