//! What is above the drawing: a row with the verdict, or with what other lanes than policies say, and the table of lanes.

use eframe::egui::{self, Align, Layout, RichText};

use super::lane_table::{LaneTableState, lane_table_ui};
use super::overview_problem::{passes_details, passes_text, problem_details, problem_text};
use super::sweep::{Found, found_text};
use super::verdict::{HEIGHT, verdict_ui};
use super::{measured, overview_problem};
use crate::panels::PaneCx;
use crate::theme::{STALE, Theme};
use crate::widgets::{row_at, wrapped_ui};
use highwater_analysis::{Comparison, LaneId, LaneKind};
use highwater_session::Session;

pub fn overview_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    comparison: &Comparison,
    selected: Option<LaneId>,
    table: &mut LaneTableState,
) {
    ui.spacing_mut().item_spacing.y = 1.0;
    unread_ui(ui, cx.session, cx.theme);
    if comparison.lane_kind() == LaneKind::Policies {
        verdict_ui(ui, cx, comparison);
    } else {
        headline_ui(ui, cx, comparison);
    }
    ui.scope(|ui| {
        if cx.session.is_provisional() {
            ui.multiply_opacity(STALE);
        }
        lane_table_ui(ui, cx, comparison, selected, table);
    });
}

/// What is being done while the figures are those of an older answer.
pub(super) fn stale_text(session: &Session) -> Option<String> {
    let doing = match session.busy() {
        _ if !session.is_stale() => return None,
        Some(busy) => format!("{}…", busy.stage),
        None if session.problem().is_some() => "No new answer".to_owned(),
        None => "Cancelled".to_owned(),
    };
    Some(format!("{doing} (figures are of the previous answer)"))
}

/// One row that never wraps: the main figure, and details that are cut and shown whole on hover.
fn headline_ui(ui: &mut egui::Ui, cx: &PaneCx<'_>, comparison: &Comparison) {
    let (area, _) = ui.allocate_exact_size(egui::vec2(ui.available_width(), HEIGHT), egui::Sense::hover());
    let mut row = row_at(ui, area, Layout::left_to_right(Align::Center), "headline");
    if let Some(text) = stale_text(cx.session) {
        row.label(text);
        row.multiply_opacity(STALE);
    }
    let fit = Some(comparison).filter(|one| one.lane_kind() == LaneKind::Recordings);
    if let Some((text, fits)) = fit.and_then(measured::fit) {
        let color = if fits { cx.theme.good } else { cx.theme.bad };
        row.label(RichText::new(text).strong().color(color));
    }
    let Some((text, exact)) = headline(comparison) else {
        row.strong(overview_problem::NO_PLAN);
        return;
    };
    row.add(egui::Label::new(RichText::new(text).strong()).truncate())
        .on_hover_text(exact);
    let details = details(comparison, cx.session);
    if !details.is_empty() {
        let label = egui::Label::new(RichText::new(details.join(" ")).color(cx.theme.text_weak));
        row.add(label.truncate()).on_hover_text(details.join("\n"));
    }
}

/// Number and reasons of files that could not be read.
fn unread_text(session: &Session) -> Option<(String, String)> {
    let unread: Vec<(usize, &str)> = session.unread().collect();
    let sources = &session.document().sources;
    let first = sources.get(unread.first()?.0)?.title();
    let text = match unread.len() {
        1 => format!("1 file could not be read: {first}"),
        2 => format!("2 files could not be read: {first} and another"),
        count => format!("{count} files could not be read: {first} and {} more", count - 1),
    };
    let why: Vec<&str> = unread.into_iter().map(|(_, why)| why).collect();
    Some((text, why.join("\n")))
}

/// The answer is not about all files.
fn unread_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme) {
    let Some((text, why)) = unread_text(session) else {
        return;
    };
    let text = RichText::new(format!("{text} (Problems and Import report tell why).")).color(theme.bad);
    wrapped_ui(ui, text).on_hover_text(why);
}

/// The main figure as a sentence, with exact figures.
fn headline(comparison: &Comparison) -> Option<(String, String)> {
    match comparison.lane_kind() {
        LaneKind::Strategies => problem_text(comparison),
        LaneKind::Recordings => measured::headline(comparison),
        LaneKind::Passes => passes_text(comparison),
        LaneKind::Policies => None,
    }
}

/// Further sentences.
fn details(comparison: &Comparison, session: &Session) -> Vec<String> {
    let mut texts: Vec<String> = preview_text(session).into_iter().collect();
    texts.extend(match comparison.lane_kind() {
        LaneKind::Strategies => problem_details(session, comparison),
        LaneKind::Recordings => measured::details(comparison),
        LaneKind::Passes => passes_details(comparison),
        LaneKind::Policies => Vec::new(),
    });
    texts
}

/// Whether the search for plans continues or was stopped.
fn preview_text(session: &Session) -> Option<String> {
    session.is_preview().then(|| match session.found_plan() {
        Some(found) => format!("{}.", found_text(found, Found::Searching)),
        None if session.busy().is_some() => {
            "Plans found at once are shown; the search for smaller ones goes on.".to_owned()
        }
        None => "The search was stopped; the lanes show the smallest plans found so far.".to_owned(),
    })
}
