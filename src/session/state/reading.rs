//! What can be read of a session: everything that a frame draws from. The pictures, tables and sweeps stand beside what
//! makes them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::super::document::Document;
use super::super::jobs::Loaded;
use super::{Busy, Notice, Session};
use highwater_analysis::Comparison;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::workload::{DeviceProfiles, DimValues, SchedulePlan};
use highwater_options::{Finding, Value};
use highwater_timeline::{Selected, Timeline};

impl Session {
    /// What the user chose.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The device profiles there are.
    pub fn profiles(&self) -> &DeviceProfiles {
        &self.profiles
    }

    /// The schedule that was asked about last, with the values that options and samples give to dimensions.
    pub fn scheduled(&self) -> &SchedulePlan {
        &self.scheduled
    }

    /// What was read.
    pub fn loaded(&self) -> Option<&Loaded> {
        self.loaded.as_ref()
    }

    /// The last answer; it may belong to an older document (see [`Self::is_stale`]).
    pub fn answer(&self) -> Option<(&Arc<Comparison>, &Arc<Timeline>)> {
        self.answer
            .as_ref()
            .map(|(comparison, timeline)| (comparison, timeline))
    }

    /// Whether plans of the answer on the screen may still shrink: their searches go on, or were stopped.
    pub fn is_preview(&self) -> bool {
        self.is_preview
    }

    /// Whether the answer on the screen is not the answer to the current document.
    pub fn is_stale(&self) -> bool {
        self.answer.is_some() && self.answered.as_ref() != Some(&self.document)
    }

    /// Findings about options and environment, current in every frame.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The value that acts for an option, where that is not what its field says.
    pub fn acts_as(&self, key: &str) -> Option<&Value> {
        let acting = self.effective.get(key).filter(|value| **value != Value::Unset)?;
        let said = match self.document.options.get(key) {
            Some(value) => value,
            // What no value means is known; something else comes from the environment or from another option.
            None => self.unset.get(key)?,
        };
        (acting != said).then_some(acting)
    }

    /// What is odd in the configuration files that were read, by file.
    pub fn config_remarks(&self) -> &[(String, Diagnostics)] {
        &self.remarks
    }

    /// Notes what is odd in a configuration file; what was noted about that file before is forgotten.
    pub fn note_config(&mut self, name: String, remarks: Diagnostics) {
        self.remarks.retain(|(known, _)| *known != name);
        if !remarks.entries().is_empty() {
            self.remarks.push((name, remarks));
        }
    }

    /// The first option or variable that the last undo or redo changed; the answer is given once.
    pub fn take_stepped(&mut self) -> Option<String> {
        self.stepped.take()
    }

    /// The selected tensor.
    pub fn selection(&self) -> Option<Selected> {
        self.selection.now()
    }

    /// Whether something was selected before, and after what is selected now.
    pub fn selection_ways(&self) -> (bool, bool) {
        self.selection.ways()
    }

    /// What the worker is doing, if anything.
    pub fn busy(&self) -> Option<&Busy> {
        self.busy.as_ref()
    }

    /// A sentence for the user, if there is one.
    pub fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }

    /// Why there is no current answer, if there is none.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Why what was to be opened last is not, where what was open before stays: a line for each file. It is forgotten with
    /// its notice.
    pub fn not_opened(&self) -> Option<&str> {
        self.not_opened.as_deref()
    }

    /// The sources that could not be read while others could: which, by position, and why.
    pub fn unread(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_current = |loaded: &&Loaded| loaded.sources == self.document.sources;
        let loaded = self.loaded.as_ref().filter(is_current);
        let reports = loaded.into_iter().flat_map(|loaded| &loaded.reports).enumerate();
        reports
            .filter(|(_, report)| report.format.is_empty())
            .map(|(position, report)| {
                let why = report.diagnostics.entries().first();
                (
                    position,
                    why.map_or("it cannot be read", |entry| entry.message.as_str()),
                )
            })
    }

    /// Whether a file or folder is gone, as far as is known ([`Command::FindMissing`](super::super::Command::FindMissing)).
    pub fn is_missing(&self, path: &Path) -> bool {
        self.missing.contains(path)
    }

    /// Symbolic dimensions whose value 1 is an assumption, in name order.
    pub fn assumed_dims(&self) -> &BTreeSet<String> {
        &self.assumed
    }

    /// Values of symbolic dimensions that options give (ranges of shapes), in name order.
    pub fn bound_dims(&self) -> &DimValues {
        &self.bound_dims
    }
}
