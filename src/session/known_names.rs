//! The names that a document has for graphs: they stay valid while sources are missing, and where a source was located under
//! another name.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{Document, SourceSpec};
use highwater_model::workload::SchedulePlan;

/// The names of graphs in a document before they are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownNames {
    /// Every name of a graph in the document.
    pub(super) mentioned: BTreeSet<String>,
    /// Located sources, each with the source that it replaces.
    pub(super) located: Vec<(SourceSpec, SourceSpec)>,
}

impl KnownNames {
    pub(super) fn of(document: &Document, located: &[(SourceSpec, SourceSpec)]) -> Self {
        let mut mentioned = BTreeSet::new();
        let pins = document.pins.iter().map(|pin| &pin.configuration.plan);
        for plan in std::iter::once(&document.plan).chain(pins) {
            let given: BTreeSet<&String> = plan.names.values().collect();
            let entries = plan.entries.iter().map(|entry| &entry.graph);
            mentioned.extend(entries.filter(|name| !given.contains(name)).cloned());
            mentioned.extend(plan.names.keys().cloned());
        }
        mentioned.extend(document.part.clone());
        Self {
            mentioned,
            located: located.to_vec(),
        }
    }

    /// The sources that the names of the document were given for.
    pub(super) fn formerly(&self, sources: &[SourceSpec]) -> Vec<SourceSpec> {
        let before = |source: &SourceSpec| {
            let known = self.located.iter().find(|(now, _)| now == source);
            known.map_or_else(|| source.clone(), |(_, before)| before.clone())
        };
        sources.iter().map(before).collect()
    }
}

/// Renames graphs in a schedule; names that the user gave stay. O(entries log names).
pub(super) fn rename_in_plan(renamed: &BTreeMap<String, String>, plan: &mut SchedulePlan) {
    if renamed.is_empty() {
        return;
    }
    let now = |name: &str| renamed.get(name).map_or(name, String::as_str).to_owned();
    let given: BTreeSet<&String> = plan.names.values().collect();
    for entry in plan.entries.iter_mut().filter(|entry| !given.contains(&entry.graph)) {
        entry.graph = now(&entry.graph);
    }
    let names = std::mem::take(&mut plan.names).into_iter();
    plan.names = names.map(|(own, shown)| (now(&own), shown)).collect();
}

/// Renames graphs everywhere in a document.
pub(super) fn rename_in_document(renamed: &BTreeMap<String, String>, document: &mut Document) {
    rename_in_plan(renamed, &mut document.plan);
    for pin in &mut document.pins {
        rename_in_plan(renamed, &mut pin.configuration.plan);
    }
    let turns = document
        .bookmarks
        .iter_mut()
        .filter_map(|bookmark| bookmark.turn.as_mut());
    for name in turns.map(|turn| &mut turn.graph).chain(&mut document.part) {
        if let Some(now) = renamed.get(name) {
            name.clone_from(now);
        }
    }
}
