//! Undo and redo of settings: snapshots of what the user edits.
//!
//! Letters typed into one field are one step. Adding and removing sources is a step; opening others in their place starts a
//! new history, since settings of the schedule belong to the graphs that were open.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::bookmarks::Bookmark;
use super::document::{Document, SourceSpec};
use highwater_analysis::{LaneId, LaneSet, LaneStrategies, Pin};
use highwater_model::workload::SchedulePlan;
use highwater_options::{Environment, Options};

/// Most steps that are remembered.
const MAX_STEPS: usize = 1000;

/// What a step is called that changes bookmarks.
pub(super) const BOOKMARKS: &str = "bookmarks";

/// What a step is called that chooses another baseline.
pub(super) const BASELINE: &str = "baseline";

/// Everything that an edit may change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    sources: Vec<SourceSpec>,
    options: Options,
    unknown_options: Map<String, Json>,
    unknown_fields: Map<String, Json>,
    environment: Environment,
    plan: SchedulePlan,
    part: Option<String>,
    with_evaluation: bool,
    strategies: LaneStrategies,
    lanes: LaneSet,
    bookmarks: Vec<Bookmark>,
    pins: Vec<Pin>,
    baseline: Option<LaneId>,
}

impl Settings {
    /// The settings of a document, without the values that were only assumed for dimensions.
    pub(super) fn of(document: &Document, assumed: &BTreeSet<String>) -> Self {
        let mut plan = document.plan.clone();
        plan.dims.retain(|name, _| !assumed.contains(name));
        Self {
            sources: document.sources.clone(),
            options: document.options.clone(),
            unknown_options: document.unknown_options.clone(),
            unknown_fields: document.unknown_fields.clone(),
            environment: document.environment.clone(),
            plan,
            part: document.part.clone(),
            with_evaluation: document.with_evaluation,
            strategies: document.strategies.clone(),
            lanes: document.lanes.clone(),
            bookmarks: document.bookmarks.clone(),
            pins: document.pins.clone(),
            baseline: document.baseline,
        }
    }

    /// Puts the settings back.
    fn restore(self, document: &mut Document) {
        document.sources = self.sources;
        document.options = self.options;
        document.unknown_options = self.unknown_options;
        document.unknown_fields = self.unknown_fields;
        document.environment = self.environment;
        document.plan = self.plan;
        document.part = self.part;
        document.with_evaluation = self.with_evaluation;
        document.strategies = self.strategies;
        document.lanes = self.lanes;
        document.bookmarks = self.bookmarks;
        document.pins = self.pins;
        document.baseline = self.baseline;
    }
}

/// The steps back and forth.
#[derive(Debug, Default)]
pub(super) struct History {
    past: Vec<Settings>,
    future: Vec<Settings>,
    /// The field that is being typed into.
    typing: Option<String>,
}

impl History {
    /// Notes the settings before an edit. Edits of one field that is typed into follow each other as one step.
    pub(super) fn record(&mut self, before: Settings, typing: Option<String>) {
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

    /// Ends the step of the field that is typed into: what is typed there next is a step of its own.
    pub(super) fn end_typing(&mut self) {
        self.typing = None;
    }

    /// Whether the last edit was a letter.
    pub(super) fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether there is a step back, and one forth.
    pub(super) fn can(&self) -> (bool, bool) {
        (!self.past.is_empty(), !self.future.is_empty())
    }

    /// Takes one step back (or forth) in the document; `None` where there is none.
    /// Returns the names of what changed.
    pub(super) fn step(
        &mut self,
        document: &mut Document,
        assumed: &BTreeSet<String>,
        is_back: bool,
    ) -> Option<Vec<String>> {
        let (from, to) = if is_back {
            (&mut self.past, &mut self.future)
        } else {
            (&mut self.future, &mut self.past)
        };
        let settings = from.pop()?;
        let current = Settings::of(document, assumed);
        let names = difference(&current, &settings);
        to.push(current);
        self.typing = None;
        settings.restore(document);
        Some(names)
    }
}

/// The names of what differs.
fn difference(a: &Settings, b: &Settings) -> Vec<String> {
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
    if a.bookmarks != b.bookmarks {
        names.push(BOOKMARKS.to_owned());
    }
    names.sort();
    names.dedup();
    names
}
