//! The menu of marks, and the counts of reuse edges.

use eframe::egui::text::LayoutJob;
use eframe::egui::{Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::super::canvas::SMALL;
use super::super::edge_counts::{EdgeWords, edges_text};
use super::super::{LanesInput, LanesState};
use super::{EdgeChoice, Hatched, WIDTHS, stroke};
use crate::theme::Theme;
use crate::widgets::{Named as _, stay_open_menu_ui};
use highwater_model::units::counted;
use highwater_timeline::ReuseSide;

pub(in super::super) fn menu_ui(ui: &mut Ui, input: &LanesInput<'_>, state: &mut LanesState) {
    let button = stay_open_menu_ui(ui, "Overlays", |ui| marks_ui(ui, input, state));
    let button = button.named(Role::Button, || "overlays");
    button.on_hover_text("Show or hide gaps, reuse edges and device events");
}

fn marks_ui(ui: &mut Ui, input: &LanesInput<'_>, state: &mut LanesState) {
    let (drawn, total) = state.holes_drawn;
    let mut words = "Hatch free ranges between live blocks of a region (O)".to_owned();
    if state.marks.has_holes && total > 0 {
        words = format!(
            "{words}\n{} in view, drawn as {}",
            counted(total as u64, "gap"),
            counted(drawn as u64, "mark")
        );
    }
    ui.horizontal(|ui| {
        ui.checkbox(&mut state.marks.has_holes, "Gaps").on_hover_text(words);
        hatch_swatch(ui, input.theme);
    });
    ui.checkbox(&mut state.marks.has_events, "Device events")
        .on_hover_text("Events of device and pools, between curve and map");
    ui.checkbox(&mut state.marks.has_constant_to_scale, "Constant regions to scale")
        .on_hover_text(
            "Show weights, variables and other constant regions at their addresses, not as bands below the scale",
        );
    ui.separator();
    ui.weak("Reuse edges")
        .on_hover_text("Which tensor reuses the bytes of which (E)");
    for (choice, words, explanation) in EdgeChoice::ALL {
        let is_chosen = state.marks.edges == choice;
        let response = ui.radio_value(&mut state.marks.edges, choice, words);
        name(&response, is_chosen, words);
        response.on_hover_text(format!("{explanation} (E)"));
    }
    if state.marks.edges == EdgeChoice::Selection && input.selected.is_none() {
        ui.weak("select a tensor to see them");
    }
    sides_ui(ui, input.theme);
}

/// The meaning of both kinds of edges.
fn sides_ui(ui: &mut Ui, theme: &Theme) {
    for (side, words, explanation) in [
        (
            ReuseSide::Earlier,
            "from earlier tensors",
            "Bytes that the tensor reuses",
        ),
        (ReuseSide::Later, "to later tensors", "Bytes that later tensors reuse"),
    ] {
        ui.horizontal(|ui| {
            sample(ui, side, theme);
            ui.label(words).on_hover_text(explanation);
        });
    }
}

/// Width of the counts.
pub(in super::super) const EDGES: f32 = 230.0;

/// The counts of edges, where they fit, so that a selection moves nothing. Returns whether nothing is left to show.
pub(in super::super) fn edges_ui(ui: &mut Ui, input: &LanesInput<'_>, state: &LanesState, room: f32) -> bool {
    let is_shown = match state.marks.edges {
        EdgeChoice::Off => false,
        EdgeChoice::Selection => input.selected.is_some(),
        EdgeChoice::Peak => true,
    };
    if !is_shown {
        return true;
    }
    if room < EDGES {
        return false;
    }
    let words = edges_words(input, state);
    ui.weak(words.text).on_hover_text(words.explanation);
    true
}

fn edges_words(input: &LanesInput<'_>, state: &LanesState) -> EdgeWords {
    let mut words = edges_text(input, state);
    words
        .explanation
        .push_str("\nSolid lines: from earlier tensors; dashed lines: to later tensors");
    words
}

/// The counts in the margin of the minimap, where the toolbar has no room; in full on hover.
pub(in super::super) fn edges_beside(ui: &mut Ui, margin: Rect, input: &LanesInput<'_>, state: &LanesState) {
    let EdgeWords {
        text,
        short,
        explanation,
    } = edges_words(input, state);
    let mut job = LayoutJob::simple(short, SMALL, input.theme.text, margin.width());
    job.wrap.max_rows = 3;
    let galley = ui.painter().layout_job(job);
    let response = ui
        .interact(margin, ui.scope_id().with("reuse edges"), Sense::hover())
        .named(Role::Label, || &text);
    let top = margin.center().y - galley.size().y / 2.0;
    ui.painter().galley(pos2(margin.left(), top), galley, input.theme.text);
    response.on_hover_text(format!("edges: {text}\n{explanation}"));
}

fn name(response: &Response, is_chosen: bool, words: &str) {
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, is_chosen, format!("Reuse edges: {words}")));
}

fn hatch_swatch(ui: &mut Ui, theme: &Theme) {
    let (place, _) = ui.allocate_exact_size(vec2(14.0, 12.0), Sense::hover());
    let mut hatched = Hatched::new(ui.ctx(), "hatch of gaps", theme.hole);
    hatched.add(place);
    hatched.paint(ui.painter());
}

/// A short edge, as in the maps.
fn sample(ui: &mut Ui, side: ReuseSide, theme: &Theme) {
    let (place, _) = ui.allocate_exact_size(vec2(26.0, 12.0), Sense::hover());
    let points = [
        place.left_center() + vec2(3.0, 0.0),
        place.right_center() - vec2(1.0, 0.0),
    ];
    stroke(ui.painter(), &points, side, WIDTHS.0, theme);
}
