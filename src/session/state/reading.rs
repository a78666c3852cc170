//! Accessors of a session, from which a frame draws. Those of requests are with their tasks.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::super::document::Document;
use super::super::loaded::{Loaded, ReadScript};
use super::super::task::TaskKind;
use super::{Busy, Notice, Session};
use highwater_analysis::Comparison;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::workload::{DeviceProfiles, DimValues, SchedulePlan};
use highwater_options::{Finding, Value};
use highwater_timeline::{Selected, Timeline};

impl Session {
    pub fn document(&self) -> &Document {
        &self.document
    }

    pub fn profiles(&self) -> &DeviceProfiles {
        &self.profiles
    }

    /// The schedule of the last comparison, with values of dimensions from options and samples.
    pub fn scheduled(&self) -> &SchedulePlan {
        self.schedule.plan()
    }

    pub fn loaded(&self) -> Option<&Loaded> {
        self.loaded.as_ref()
    }

    /// The last answer; it may belong to an older document (see [`Self::is_stale`]).
    pub fn answer(&self) -> Option<(&Arc<Comparison>, &Arc<Timeline>)> {
        self.answers.pair().map(|(comparison, timeline)| (comparison, timeline))
    }

    /// Whether plans of the answer may still shrink: their searches go on, or were stopped.
    pub fn is_preview(&self) -> bool {
        self.answers.is_preview()
    }

    /// Whether the answer on the screen is of an older document.
    pub fn is_stale(&self) -> bool {
        self.answers
            .document()
            .is_some_and(|document| *document != self.document)
    }

    /// Whether figures are no answer to what is set: of an older document, or of assumed values of dimensions.
    pub fn is_provisional(&self) -> bool {
        self.is_stale() || !self.assumed_dims().is_empty()
    }

    /// Findings of rules on options and environment.
    pub fn findings(&self) -> &[Finding] {
        self.judged.findings()
    }

    /// What a document says otherwise about the last answer.
    pub fn advice(&self) -> &[Finding] {
        self.answer().map_or(&[], |(comparison, _)| &comparison.advice)
    }

    /// A finding or remark by its position in the lines of problems: findings first.
    pub fn finding(&self, position: usize) -> Option<&Finding> {
        let findings = self.findings().iter().chain(self.advice());
        findings.into_iter().nth(position)
    }

    /// The effective value of an option, where it differs from the field.
    pub fn acts_as(&self, key: &str) -> Option<&Value> {
        self.judged.acts_as(&self.document, key)
    }

    /// Remarks on configuration files, by file.
    pub fn config_remarks(&self) -> &[(String, Diagnostics)] {
        &self.remarks
    }

    /// Replaces the remarks about a configuration file; without any it is forgotten.
    pub fn note_config(&mut self, name: String, remarks: Diagnostics) {
        let others = self.remarks.iter().filter(|(known, _)| *known != name);
        let mut all: Vec<_> = others.cloned().collect();
        if !remarks.entries().is_empty() {
            all.push((name, remarks));
        }
        self.remarks = all.into();
        self.list_problems();
    }

    /// The last script that was read, where it has several configurations.
    pub fn script(&self) -> Option<&ReadScript> {
        self.opened_config.as_ref()?.script.as_ref()
    }

    /// Takes the first option or variable that the last undo or redo changed.
    pub fn take_stepped(&mut self) -> Option<String> {
        self.stepped.take()
    }

    pub fn selection(&self) -> Option<Selected> {
        self.selection.now()
    }

    /// Whether the history of selections can go back, and forward.
    pub fn selection_ways(&self) -> (bool, bool) {
        self.selection.ways()
    }

    /// The running load or comparison.
    pub fn busy(&self) -> Option<Busy> {
        let of_kind = |kind, first_stage, is_loading| {
            let (stage, fraction) = self.worker.progress(kind)?;
            Some(Busy {
                stage: if stage.is_empty() { first_stage } else { stage },
                fraction,
                is_loading,
            })
        };
        of_kind(TaskKind::Load, "reading", true).or_else(|| of_kind(TaskKind::Compare, "planning", false))
    }

    /// Whether [`Command::Cancel`](crate::Command::Cancel) would stop something.
    pub fn can_cancel(&self) -> bool {
        self.worker.can_cancel()
    }

    pub fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }

    /// Why there is no current answer.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Why the last sources were not opened, a line for each file. Forgotten with its notice.
    pub fn not_opened(&self) -> Option<&str> {
        self.change.not_opened()
    }

    /// The sources that could not be read while others could, by position, and why.
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

    /// Whether a file or folder was missing at the last [`Command::FindMissing`](super::super::Command::FindMissing).
    pub fn is_missing(&self, path: &Path) -> bool {
        self.missing.contains(path)
    }

    /// Symbolic dimensions whose value 1 is an assumption, in name order.
    pub fn assumed_dims(&self) -> &BTreeSet<String> {
        self.schedule.assumed()
    }

    /// The user's values of a dimension, else those of a sample or the assumed one; empty where options give some.
    pub fn dim_values(&self, name: &str) -> &[u64] {
        if self.bound_dims().contains_key(name) {
            return &[];
        }
        let values = self.document.plan.dims.get(name);
        values
            .or_else(|| self.scheduled().dims.get(name))
            .map_or(&[], Vec::as_slice)
    }

    /// Values of symbolic dimensions that options give (ranges of shapes), in name order.
    pub fn bound_dims(&self) -> &DimValues {
        self.schedule.bound()
    }
}
