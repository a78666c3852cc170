//! Sources, settings and commands that accompany an exported answer; the command line and the window share them, so that both
//! write the same bytes.

use super::command_line::CommandLine;
use super::config::config_from_document;
use super::document::{Document, SourceSpec};
use super::loaded::Loaded;
use highwater_analysis::{Comparison, LaneKind, LaneSet};
use highwater_export::ExportAbout;
use highwater_model::diagnostics::Diagnostics;
use highwater_options::{Finding, find};
use highwater_plan::BEST;

/// The parts of an exported file besides the answer.
pub fn export_about(
    document: &Document,
    line: &CommandLine<'_>,
    comparison: &Comparison,
    loaded: Option<&Loaded>,
    findings: Vec<Finding>,
    diagnostics: Diagnostics,
) -> ExportAbout {
    let reports = loaded.map_or(&[][..], |loaded| &loaded.reports);
    let contents = |position: usize| {
        let report = reports.get(position);
        report.map_or_else(Vec::new, |report| report.contents.clone())
    };
    let sources = document.sources.iter().enumerate();
    let mut configuration = config_from_document(document, Some(comparison));
    configuration.sources = document.sources.iter().map(|source| line.label(source)).collect();
    ExportAbout {
        sources: sources
            .map(|(position, source)| (line.label(source), contents(position)))
            .collect(),
        goal: document.goal,
        findings,
        diagnostics,
        configuration,
        commands: commands(line, comparison),
        beside: beside(document, line, comparison),
    }
}

/// Commands that give the same figures, each behind its purpose.
fn commands(line: &CommandLine<'_>, comparison: &Comparison) -> Vec<(String, String)> {
    let row = |what: &str, command: String| (what.to_owned(), command);
    let mut rows = vec![row("Write this report:", line.export("report.html"))];
    if comparison.lane_kind() == LaneKind::Strategies {
        let strategy = comparison.main_lane().map(|lane| comparison.lanes[lane].strategy.name);
        rows.push(row("Print the smallest plan:", line.plan(strategy.unwrap_or(BEST))));
        return rows;
    }
    rows.push(row("Print the comparison:", line.compare(None)));
    rows
}

/// Sentences on what the commands do not express.
fn beside(document: &Document, line: &CommandLine<'_>, comparison: &Comparison) -> Vec<String> {
    let mut texts = Vec::new();
    for source in &document.sources {
        if let SourceSpec::Bytes { name, .. } = source {
            texts.push(format!(
                "{name} was dropped onto the window; replace the name with the path of the file."
            ));
        }
    }
    let file = line.file();
    if line.is_relative() {
        let folder = match (file, line.runs_beside_file()) {
            (_, true) => "the folder of the document",
            (Some(_), false) => "the folder from which the document was named",
            (None, false) => "the folder from which the files were named",
        };
        texts.push(format!("Paths are relative: run the command in {folder}."));
    }
    let format = document.sources.first().and_then(SourceSpec::chosen_format);
    let is_mixed = document.sources.iter().any(|source| source.chosen_format() != format);
    if is_mixed && file.is_none() {
        texts.push("Files were opened as different formats; one command has one --open-as.".to_owned());
    }
    if !document.plan.linked_dims.is_empty() {
        texts
            .push("Some dimensions change together; use the exported configuration (--config config.json).".to_owned());
    }
    let is_whole_set = document.lanes == LaneSet::Policies;
    if !is_whole_set && comparison.study().is_simulated() {
        texts.push("The kind of lanes was chosen in the window; the commands compare policies.".to_owned());
    }
    if !document.strategies.is_empty() && file.is_none() {
        texts.push(
            "Placement strategies of single lanes were chosen in the window; the commands use one for all.".to_owned(),
        );
    }
    if !line.has_pins() {
        texts.push(
            "Pins are not in the commands: save the document (.highwater) and name it instead of the files, or add \
             each with --pin."
                .to_owned(),
        );
    }
    let is_expression = |key: &str| find(key).is_none();
    if document.unknown_options.keys().any(|key| is_expression(key)) {
        texts.push("Options unknown to this version are left out; they have no effect.".to_owned());
    }
    texts
}
