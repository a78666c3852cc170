//! What leaves with an answer: the sources, the settings and the commands that give the same figures.
//!
//! In: a document, what was read, the answer. Out: plain values for `export`. The command line and the window share it, so that
//! both write the same bytes.

use std::path::PathBuf;

use super::config::config_from_document;
use super::document::{Document, SourceSpec};
use super::jobs::Loaded;
use crate::analysis::{Comparison, LaneSet};
use crate::diagnostics::Diagnostics;
use crate::export::{ExportAbout, ExportForm, ExportSubject};
use crate::options::{Finding, find};
use crate::plan::BEST;

/// A file to be written of an answer.
#[derive(Debug)]
pub struct ExportOrder {
    /// What is written.
    pub form: ExportForm,
    /// Where.
    pub path: PathBuf,
    /// Of what.
    pub subject: ExportSubject,
}

/// What a file says beside an answer.
pub fn export_about(
    document: &Document,
    comparison: &Comparison,
    loaded: Option<&Loaded>,
    (findings, diagnostics): (Vec<Finding>, Diagnostics),
) -> ExportAbout {
    let reports = loaded.map_or(&[][..], |loaded| &loaded.reports);
    let contents = |position: usize| {
        let report = reports.get(position);
        report.map_or_else(Vec::new, |report| report.contents.clone())
    };
    let sources = document.sources.iter().enumerate();
    ExportAbout {
        sources: sources
            .map(|(position, source)| (source.label(), contents(position)))
            .collect(),
        findings,
        diagnostics,
        configuration: config_from_document(document, Some(comparison)),
        commands: commands(document, comparison),
        beside: beside(document, comparison),
    }
}

/// Commands that give the same figures, each behind what it does.
fn commands(document: &Document, comparison: &Comparison) -> Vec<(String, String)> {
    let row = |what: &str, command: String| (what.to_owned(), command);
    let mut rows = vec![row("Write this report:", document.export_command_line("report.html"))];
    if comparison.is_problem() {
        let strategy = comparison.main_lane().map(|lane| comparison.lanes[lane].strategy.name);
        let line = document.plan_command_line(strategy.unwrap_or(BEST));
        rows.push(row("Print the smallest plan:", line));
        return rows;
    }
    rows.push(row("Print the comparison:", document.command_line(None)));
    rows
}

/// What the commands do not say.
fn beside(document: &Document, comparison: &Comparison) -> Vec<String> {
    let mut texts = Vec::new();
    for source in &document.sources {
        if let SourceSpec::Bytes { name, .. } = source {
            texts.push(format!(
                "{name} was dropped onto the window; the command needs the path of the file."
            ));
        }
    }
    if document
        .sources
        .iter()
        .any(|source| matches!(source, SourceSpec::Path(path) if path.is_relative()))
    {
        texts.push("Paths are relative: run the command in the folder from which the files were named.".to_owned());
    }
    let format = document.sources.first().and_then(SourceSpec::chosen_format);
    if document.sources.iter().any(|source| source.chosen_format() != format) {
        texts.push("Files were read as different formats, which one command cannot say (--open-as).".to_owned());
    }
    if !document.plan.together.is_empty() {
        texts.push("Some dimensions change together; the exported configuration (config.json) says which: name it with --config.".to_owned());
    }
    let is_whole_set = document.lanes == LaneSet::Policies;
    if !is_whole_set && !comparison.is_problem() && !comparison.is_measured() {
        texts.push(
            "What the lanes are compared for was chosen in the window; the commands compare policies.".to_owned(),
        );
    }
    if !document.strategies.is_empty() {
        texts.push("Arenas of single lanes are placed by a strategy that was chosen in the window.".to_owned());
    }
    if !document.pins.is_empty() {
        texts.push(
            "Pinned configurations stand in the document: save it (.highwater) and name it in the place of the files, or give each with --pin."
                .to_owned(),
        );
    }
    let is_expression = |key: &str| find(key).is_none();
    if document.unknown_options.keys().any(|key| is_expression(key)) {
        texts.push("Options that this version does not know are left out; they change nothing here.".to_owned());
    }
    texts
}
