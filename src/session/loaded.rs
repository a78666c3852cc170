//! Sources that were read as one workload, and configurations.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::document::SourceSpec;
use super::known_names::rename_in_plan;
use super::report::SourceReport;
use highwater_export::LogPage;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::workload::{Part, ScheduleEntry, SchedulePlan, Workload};
use highwater_options::DumpedSettings;
use highwater_script::{ConfigDocument, ScriptFacts};

#[derive(Clone, Debug)]
pub struct Loaded {
    /// The part that is shown.
    pub workload: Arc<Workload>,
    /// All parts.
    pub whole: Arc<Workload>,
    pub parts: Vec<Part>,
    /// Settings in dumps that differ from the defaults, by graph.
    pub stamped: Vec<(String, DumpedSettings)>,
    /// Names that graphs have when opened with other files, or alone, each with the current name.
    pub aliases: BTreeMap<String, String>,
    /// Names of graphs of located sources in the document, each with the current name.
    pub renamed: BTreeMap<String, String>,
    /// Without configurations.
    pub sources: Vec<SourceSpec>,
    /// Configurations among the sources.
    pub configs: Vec<ReadConfig>,
    /// By position of the source.
    pub reports: Vec<SourceReport>,
    pub diagnostics: Diagnostics,
    pub(super) log_page: Option<Arc<LogPage>>,
}

impl Loaded {
    /// Whether a source could not be read; settings for it wait until it is located.
    pub fn lacks_a_source(&self) -> bool {
        self.reports.iter().any(SourceReport::is_failed)
    }

    /// The current name of a graph.
    pub fn name_of<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    /// The story of an out-of-memory, made where the window opens sources; `None` where they tell of none.
    pub const fn log_page(&self) -> Option<&Arc<LogPage>> {
        self.log_page.as_ref()
    }

    /// Replaces names in a schedule by current ones, unless names may belong to a source that cannot be read. O(entries log
    /// graphs).
    pub(super) fn follow(&self, plan: &mut SchedulePlan) {
        if !self.lacks_a_source() {
            rename_in_plan(&self.aliases, plan);
        }
    }

    /// Makes a schedule one of the shown part: under current names, without entries of graphs outside the part. Entries of
    /// unknown graphs stay and are reported, unless they may belong to a source that cannot be read.
    pub(super) fn show_in(&self, plan: &mut SchedulePlan) {
        self.follow(plan);
        let part = self.workload.scheduled_graphs();
        if self.lacks_a_source() {
            plan.retain_graphs(&part);
        } else if !Arc::ptr_eq(&self.workload, &self.whole) {
            let (names, whole) = (plan.clone(), self.whole.scheduled_graphs());
            let is_elsewhere = |entry: &ScheduleEntry| {
                names.graph_of(entry, &part).is_none() && names.graph_of(entry, &whole).is_some()
            };
            plan.entries.retain(|entry| !is_elsewhere(entry));
        }
    }

    /// Shows a part alone, by name; everything where there is no such part. Returns whether the part exists.
    pub fn show(&mut self, part: Option<&str>) -> bool {
        let shown = part.and_then(|name| self.parts.iter().find(|part| part.name == self.name_of(name)));
        let is_there = shown.is_some() || part.is_none();
        self.workload = shown.map_or_else(|| Arc::clone(&self.whole), |part| Arc::new(self.whole.of_part(part)));
        is_there
    }
}

/// A script with several configurations, of which the document has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadScript {
    pub path: PathBuf,
    /// Their names, in the order of the script.
    pub configurations: Vec<String>,
    /// The names of those that the document does not have.
    pub left_out: Vec<String>,
}

impl ReadScript {
    /// `None` where nothing can be chosen.
    pub(super) fn of(path: &str, facts: &ScriptFacts) -> Option<Self> {
        (!facts.left_out.is_empty()).then(|| Self {
            path: PathBuf::from(path),
            configurations: facts.configurations.clone(),
            left_out: facts.left_out.clone(),
        })
    }

    /// The names of those that the document has.
    pub fn taken(&self) -> Vec<&str> {
        let names = self.configurations.iter().filter(|name| !self.left_out.contains(name));
        names.map(String::as_str).collect()
    }
}

#[derive(Clone, Debug)]
pub struct ReadConfig {
    pub path: PathBuf,
    /// The path as the user wrote it.
    pub name: String,
    pub config: ConfigDocument,
    pub remarks: Diagnostics,
}
