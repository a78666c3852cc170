//! The header of a lane of a placement problem, and the name on the curve of any other lane.
//!
//! Every part is measured first, so that none overlaps another. Where there is little room, badge and strategy are
//! shortened; narrow lanes have a second line for the strategy.

use eframe::egui::{Align, Color32, Layout, Rect, RichText, Role, Sense, Ui};

use super::LanesCx;
use super::figures::{self, SIZE, SPACING, width_of};
use super::frame::LaneFrame;
use super::placement::{certainty_ui, certainty_widths, strategy_ui, strategy_width};
use super::{LanesInput, arrange};
use crate::commands::UiCommand;
use crate::panels::elided;
use crate::widgets::{Named as _, row_at};
use highwater_analysis::{Configuration, Lane, LaneId, PinnedLane};
use highwater_model::diagnostics::Severity;

/// Width of the lane's menu.
const MENU: f32 = 30.0;
const INDENT: f32 = 4.0;

/// One line on wide lanes, two on narrow ones. The table of lanes has the figures of all lanes but these.
pub(super) fn header_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, frame: &LaneFrame) {
    let lane = &cx.input.comparison.lanes[frame.lane];
    ground_ui(ui, cx, frame, frame.header);
    let figures = vec![figures::peak(ui, lane, cx.input)];
    let header = frame.header;
    let room = header.width() - INDENT - SPACING;
    let beside = room - MENU - figures::width(&figures);
    let (full, short) = certainty_widths(ui, lane);
    let (first, second) = if frame.is_wide {
        (header, None)
    } else {
        let (first, second) = header.split_top_bottom_at_fraction(0.5);
        (first, Some(second))
    };
    let wanted = if frame.is_wide { strategy_width(ui, lane) } else { 0.0 };
    let is_short = full + wanted > beside;
    line_ui(ui, first, ("name", frame.lane), |ui| {
        arrange::menu_ui(ui, cx, frame);
        ui.add_space(INDENT);
        if second.is_none() {
            let taken = if is_short { short } else { full };
            strategy_ui(ui, cx, lane, beside - taken - SPACING);
        }
        certainty_ui(ui, lane, is_short, cx.input);
        figures_ui(ui, figures);
    });
    if let Some(second) = second {
        line_ui(ui, second, ("costs", frame.lane), |ui| {
            ui.add_space(INDENT);
            strategy_ui(ui, cx, lane, room - SPACING);
        });
    }
}

/// The ground of a header, which a click on selects the lane.
fn ground_ui(ui: &Ui, cx: &mut LanesCx<'_>, frame: &LaneFrame, place: Rect) {
    let id = cx.input.comparison.lanes[frame.lane].id;
    let ground = ui.interact(place, ui.scope_id().with(("header", frame.lane)), Sense::click());
    let ground = ground.named(Role::Button, || {
        format!("header of {}", cx.input.comparison.lane_title(id))
    });
    if ground.clicked() {
        cx.window_commands.push(UiCommand::ExplainLane(id));
    }
}

/// What lies on the curve instead of a header.
pub(super) struct CurveLabel {
    pub(super) place: Rect,
    name: String,
    /// Counts of a run under a budget, and how it ends; without room they give way.
    notes: Vec<figures::Figure>,
}

pub(super) fn label(ui: &Ui, frame: &LaneFrame, input: &LanesInput<'_>) -> CurveLabel {
    let lane = &input.comparison.lanes[frame.lane];
    let (number, label) = number_and_words(lane, input);
    let name = if lane.chosen {
        format!("{number}  {label}, placed by {}", lane.strategy.label)
    } else {
        format!("{number}  {label}")
    };
    let room = frame.header.width() - MENU - 2.0 * SPACING;
    let name = elided(ui, &name, SIZE, room.max(0.0));
    let named = MENU + width_of(ui, &name, SIZE) + 3.0 * SPACING;
    let remat = input.timeline.lanes[frame.lane].remat.as_deref();
    let mut notes = remat.map_or_else(Vec::new, |remat| figures::remat_notes(ui, remat, input.theme));
    while named + figures::width(&notes) > frame.header.width() && figures::drop_one(&mut notes) {}
    let width = named + figures::width(&notes);
    let right = (frame.header.left() + width).min(frame.header.right());
    CurveLabel {
        place: frame.header.with_max_x(right),
        name,
        notes,
    }
}

/// The name on the curve, with the menu of the lane; a strategy that was chosen for the lane alone is part of it.
pub(super) fn label_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, frame: &LaneFrame) {
    let theme = cx.input.theme;
    let CurveLabel { place, name, notes } = label(ui, frame, cx.input);
    ground_ui(ui, cx, frame, place);
    ui.painter().rect_filled(place, 3, theme.canvas.gamma_multiply(0.82));
    line_ui(ui, place, ("name", frame.lane), |ui| {
        arrange::menu_ui(ui, cx, frame);
        ui.label(words(name, theme.text).strong());
        for note in notes {
            note.ui(ui);
        }
    });
}

pub(super) fn line_ui(ui: &mut Ui, rect: Rect, salt: (&'static str, usize), add: impl FnOnce(&mut Ui)) {
    let mut child = row_at(ui, rect, Layout::left_to_right(Align::Center), salt);
    child.spacing_mut().item_spacing.x = SPACING;
    add(&mut child);
}

/// Right-aligned, the first one leftmost.
pub(super) fn figures_ui(ui: &mut Ui, figures: Vec<figures::Figure>) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        for figure in figures.into_iter().rev() {
            figure.ui(ui);
        }
    });
}

/// The configuration of a pinned lane: its differences from the active one, its alignment, its findings.
pub fn pinned_text(title: &str, pinned: &PinnedLane, options: &Configuration) -> String {
    /// Differences listed.
    const MOST: usize = 2;
    let policy = pinned.configuration.policy().row();
    let (device, memory) = (&pinned.device.name, pinned.device.memory());
    let mut text = format!("{title}: policy {}, {device} with {memory}", policy.number);
    let differences = pinned.configuration.differences(options);
    let listed: Vec<String> = differences.iter().take(MOST).map(ToString::to_string).collect();
    text.push_str(&match differences.len() {
        0 => "\nEqual to the active configuration.".to_owned(),
        count if count > MOST => format!("\nDiffers in {} and {} more", listed.join(", "), count - MOST),
        _ => format!("\nDiffers in {}", listed.join(", ")),
    });
    // The gravest of what speaks against it.
    let findings = pinned.findings.iter();
    let gravest = findings
        .filter(|finding| finding.severity != Severity::Info)
        .min_by_key(|finding| finding.severity);
    let gravest = gravest.map(|finding| format!("{}: {} {}", finding.severity, finding.rule, finding.message));
    if let Some(sentence) = gravest.or(pinned.fit.sentences().into_iter().next()) {
        text.push_str(&format!("\n{sentence}"));
    }
    text
}

/// The policy's number and name; of other lanes position and title.
fn number_and_words<'a>(lane: &'a Lane, input: &LanesInput<'_>) -> (String, &'a str) {
    match lane.id {
        LaneId::Pass(_) | LaneId::Pinned(_) | LaneId::Measured(_) => {
            let title = lane.title.as_deref().unwrap_or("");
            (input.comparison.lane_mark(lane.id), title)
        }
        _ => (lane.policy.row().number.to_string(), lane.policy.row().label),
    }
}

pub(super) fn words(text: impl Into<String>, color: Color32) -> RichText {
    RichText::new(text).size(SIZE).color(color)
}
