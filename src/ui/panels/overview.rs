//! The summary above the lanes: the verdict and the table of lanes; of other lanes than policies a summary in sentences, next to
//! it the peaks as stacked bars.

use eframe::egui::{self, RichText};

use super::lane_table::{LaneTableState, lane_table_ui};
use super::overview_bars::bars_ui;
use super::overview_problem::{passes_text, passes_ui, problem_text, problem_ui};
use super::verdict::verdict_ui;
use crate::panels::PaneCx;
use crate::theme::Theme;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_analysis::{Comparison, LaneId, LaneKind};
use highwater_model::workload::DeviceFigure;
use highwater_options::Estimate;
use highwater_session::Session;

/// Least widths of sentences and bars; narrower panes have no bars.
const LEAST_TEXT: f32 = 260.0;
const LEAST_BARS: f32 = 180.0;

/// Width of the button that collapses the summary.
const FOLD: f32 = 24.0;
/// In lower panes the summary is a line, unless it was expanded: the lanes need the room.
const LOW: f32 = 430.0;
/// In narrower panes, sentences and toolbars need this additional height.
const NARROW: f32 = 600.0;
const WRAPPED: f32 = 120.0;
/// Additional height of the lane of a difference.
const DIFFERENCE: f32 = 120.0;

/// The button that collapses the summary, and the line of a collapsed one; returns whether it is collapsed.
fn fold_ui(ui: &mut egui::Ui, session: &Session, comparison: &Comparison) -> bool {
    let id = egui::Id::unique("whether the summary is collapsed");
    let chosen: Option<bool> = ui.data_mut(|data| data.get_persisted(id));
    let low = LOW + session.difference().map_or(0.0, |_| DIFFERENCE);
    let wrapped = if ui.available_width() < NARROW { WRAPPED } else { 0.0 };
    let low = low + wrapped;
    let is_folded = chosen.unwrap_or(ui.available_height() < low);
    let Some((text, exact)) = headline(comparison) else {
        return false;
    };
    let area = ui.available_rect_before_wrap();
    let (mark, words) = if is_folded {
        ("+", "expand the summary")
    } else {
        ("–", "collapse the summary to one line")
    };
    let place = egui::Rect::from_min_size(
        egui::pos2(area.right() - FOLD + 2.0, area.top()),
        egui::vec2(FOLD - 4.0, 18.0),
    );
    let corner = egui::UiBuilder::new().max_rect(place).id_salt("collapse summary");
    let button = ui.new_child(corner).add(egui::Button::new(mark).small());
    let label = words.split(" to ").next().unwrap_or(words);
    let button = button.named(egui::Role::Button, || &label);
    if button.on_hover_text(words).clicked() {
        ui.data_mut(|data| data.insert_persisted(id, Some(!is_folded)));
    }
    if is_folded {
        let line = egui::Rect::from_min_max(area.min, egui::pos2(place.left() - 4.0, area.top() + 20.0));
        let text = unread_text(session).map_or(text.clone(), |(unread, _)| format!("{unread}; {text}"));
        let label = egui::Label::new(RichText::new(text).strong()).truncate();
        let line_ui = egui::UiBuilder::new().max_rect(line).id_salt("summary line");
        ui.new_child(line_ui).add(label).on_hover_text(exact);
        ui.advance_cursor_after_rect(line);
    }
    is_folded
}

/// The verdict and the table of policies; of other lanes sentences on the left, bars on the right.
pub fn overview_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    comparison: &Comparison,
    selected: Option<LaneId>,
    table: &mut LaneTableState,
) {
    if comparison.lane_kind() == LaneKind::Policies {
        ui.spacing_mut().item_spacing.y = 1.0;
        unread_ui(ui, cx.session, cx.theme);
        verdict_ui(ui, cx, comparison);
        lane_table_ui(ui, cx, comparison, selected, table);
        return;
    }
    if fold_ui(ui, cx.session, comparison) {
        return;
    }
    let mut area = ui.available_rect_before_wrap();
    area.set_right(area.right() - FOLD);
    let layout = egui::Layout::left_to_right(egui::Align::Min);
    // Wide content must not widen the panes below.
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(area).layout(layout));
    child.shrink_clip_rect(area);
    // One recording has nothing to compare with, and many cannot be told apart.
    let is_told_apart = (2..=super::measured::MOST_BARS).contains(&comparison.lanes.len());
    let has_bars =
        area.width() >= LEAST_TEXT + LEAST_BARS && (is_told_apart || comparison.lane_kind() != LaneKind::Recordings);
    let text = if has_bars {
        (area.width() * 0.56).max(LEAST_TEXT)
    } else {
        area.width()
    };
    let add = |ui: &mut egui::Ui| {
        ui.set_width(text.max(0.0));
        preview_ui(ui, cx.session);
        unread_ui(ui, cx.session, cx.theme);
        match comparison.lane_kind() {
            LaneKind::Strategies => problem_ui(ui, cx.session, comparison),
            LaneKind::Recordings => super::measured::measured_ui(ui, comparison),
            LaneKind::Passes => {
                passes_ui(ui, comparison);
                super::measured::beside_ui(ui, comparison);
            }
            LaneKind::Policies => {}
        }
    };
    child.vertical(add);
    if has_bars {
        child.vertical(|ui| bars_ui(ui, comparison, cx.theme));
    }
    let height = child.min_rect().height();
    ui.advance_cursor_after_rect(egui::Rect::from_min_size(area.min, egui::vec2(area.width(), height)));
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
    let text = RichText::new(format!("{text} (see Problems and Import report).")).color(theme.bad);
    wrapped_ui(ui, text).on_hover_text(why);
}

/// Whether the search for plans continues or was stopped.
fn preview_ui(ui: &mut egui::Ui, session: &Session) {
    if !session.is_preview() {
        return;
    }
    ui.label(if session.busy().is_some() {
        "The first plans are shown; the search for smaller plans continues."
    } else {
        "The search for smaller plans was stopped; the first plans are shown."
    });
}

/// The summary as a sentence, with exact figures.
fn headline(comparison: &Comparison) -> Option<(String, String)> {
    match comparison.lane_kind() {
        LaneKind::Strategies => return problem_text(comparison),
        LaneKind::Recordings => return super::measured::headline(comparison),
        LaneKind::Passes => return passes_text(comparison),
        LaneKind::Policies => {}
    }
    None
}

/// The contents of the figures, and the estimates among them.
pub(super) fn notes_ui(ui: &mut egui::Ui, comparison: &Comparison) {
    if let Some(note) = comparison.scratch.note() {
        ui.weak(note);
    }
    let (estimated, set) = comparison.device.marks();
    if !estimated.is_empty() || !set.is_empty() {
        let mut text = format!(
            "Timings are estimates ({} of {} device parameters assumed)",
            estimated.len(),
            DeviceFigure::ALL.len()
        );
        if !set.is_empty() {
            text.push_str(&format!(", {} set by you", set.len()));
        }
        ui.weak(text + ".").on_hover_text(comparison.device.marks_sentence());
    }
    if !comparison.estimates.is_empty() {
        let text = |estimate: &Estimate| format!("{} {}", estimate.key, estimate.effect);
        let texts: Vec<String> = comparison.estimates.iter().map(text).collect();
        let names: Vec<&str> = comparison.estimates.iter().map(|estimate| estimate.key).collect();
        ui.weak(format!("Estimated effect: {}.", names.join(", ")))
            .on_hover_text(texts.join("\n"));
    }
}
