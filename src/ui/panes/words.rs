//! Titles of panes that depend on the session.

use eframe::egui::RichText;
use highwater_analysis::LaneKind;

use crate::panels::PaneCx;
use crate::panels::problems::counts;
use highwater_session::Session;

/// By the kind of lanes.
pub(super) fn lanes_title(session: &Session) -> &'static str {
    let Some((comparison, timeline)) = session.answer() else {
        return "Policies";
    };
    let has_budgets = timeline.lanes.iter().any(|lane| lane.remat.is_some());
    match comparison.lane_kind() {
        LaneKind::Strategies => "Strategies",
        LaneKind::Passes if has_budgets => "Rematerialization",
        LaneKind::Passes => "Variable reuse",
        LaneKind::Recordings => "Recordings",
        LaneKind::Policies => "Policies",
    }
}

pub(super) fn files_title(session: &Session) -> String {
    match session.document().sources.len() {
        0 | 1 => "Import report".to_owned(),
        count => format!("Import report: {count} files"),
    }
}

pub(super) fn problems_title(cx: &PaneCx<'_>) -> RichText {
    let (errors, warnings) = counts(cx.session);
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let text = format!(
        "Problems: {errors} error{}, {warnings} warning{}",
        plural(errors),
        plural(warnings)
    );
    let text = RichText::new(text);
    if errors > 0 {
        text.color(cx.theme.bad).strong()
    } else {
        text
    }
}
