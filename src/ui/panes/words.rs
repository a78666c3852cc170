//! What panes are called.

use eframe::egui::RichText;
use highwater_analysis::LaneKind;

use super::PanesInput;
use crate::panels::problems::counts;

/// Lanes are policies, the strategies of a placement problem, or rewriting passes.
pub(super) fn lanes_title(input: &PanesInput<'_>) -> &'static str {
    match input.session.answer().map(|(comparison, _)| comparison.lane_kind()) {
        Some(LaneKind::Strategies) => "Strategies",
        Some(LaneKind::Passes) => "Passes",
        Some(LaneKind::Recordings) => "Recordings",
        Some(LaneKind::Policies) | None => "Policies",
    }
}

pub(super) fn files_title(input: &PanesInput<'_>) -> String {
    match input.session.document().sources.len() {
        0 | 1 => "Import report".to_owned(),
        count => format!("Import report: {count} files"),
    }
}

pub(super) fn problems_title(input: &PanesInput<'_>) -> RichText {
    let (errors, warnings) = counts(input.session);
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let text = format!(
        "Problems: {errors} error{}, {warnings} warning{}",
        plural(errors),
        plural(warnings)
    );
    let text = RichText::new(text);
    if errors > 0 {
        text.color(input.theme.bad).strong()
    } else {
        text
    }
}
