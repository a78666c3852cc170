//! The line above the lanes: what is shown, how it is arranged, what the curves are.

use eframe::egui::epaint::PathShape;
use eframe::egui::{Align, Color32, Layout, Rangef, Rect, Sense, Stroke, Ui, vec2};

use super::{LaneContent, LaneLayout, LanesInput, LanesState, curve, header, marks};

const GESTURES: &str = "Ctrl+wheel or W, S: zoom    drag, Shift+wheel or A, D: pan\n\
Alt with Ctrl+wheel, or Shift with W, S, A, D: the same for addresses\n\
click: select    Esc: clear    F: focus the selected, again: everything\n\
comma, period: previous, next tensor    double click, H or Ctrl+0: everything";

/// Narrower toolbars have the marks in a line of their own.
const ONE_LINE: f32 = 1250.0;

/// Toggles on the left, the legend on the right.
pub(super) fn toolbar_ui(ui: &mut Ui, input: &LanesInput<'_>, state: &mut LanesState) {
    let is_wide = ui.available_width() >= ONE_LINE;
    ui.horizontal(|ui| {
        ui.selectable_value(&mut state.content, LaneContent::MemoryMap, "Memory map")
            .on_hover_text("Address by time: a lane per policy");
        ui.selectable_value(&mut state.content, LaneContent::Lifetimes, "Lifetimes")
            .on_hover_text("A row per tensor, sorted by birth");
        ui.separator();
        if state.content == LaneContent::MemoryMap {
            ui.selectable_value(&mut state.layout, LaneLayout::Stacked, "Stacked")
                .on_hover_text("Lanes one below the other");
            ui.selectable_value(&mut state.layout, LaneLayout::SideBySide, "Side by side")
                .on_hover_text("Two lanes in a row");
            ui.separator();
        }
        let fit = ui
            .button("Fit")
            .on_hover_text("Show everything (H, double click, Ctrl+0)");
        if fit.clicked() {
            state.fit();
        }
        if is_wide && state.content == LaneContent::MemoryMap {
            ui.separator();
            marks::marks_ui(ui, input, state);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| legend_ui(ui, input, state));
    });
    if !is_wide && state.content == LaneContent::MemoryMap {
        ui.horizontal(|ui| marks::marks_ui(ui, input, state));
    }
}

fn legend_ui(ui: &mut Ui, input: &LanesInput<'_>, state: &LanesState) {
    let theme = input.theme;
    ui.weak("?").on_hover_text(GESTURES);
    if state.content == LaneContent::Lifetimes {
        return;
    }
    let capacity = if curve::is_capacity_near(input) {
        "capacity".to_owned()
    } else {
        format!(
            "capacity {}, above",
            header::whole_units(input.comparison.device.memory())
        )
    };
    let entries = [
        (
            capacity.as_str(),
            theme.capacity,
            "Memory of the device; far above the picture where an arrow stands for the line",
        ),
        (
            "live",
            theme.live,
            "Exact bytes that the graphs hold: no weights, no rounding",
        ),
        (
            "reserved",
            theme.reserved,
            "Device bytes in use: arenas, pools, weights, variables, inputs and outputs",
        ),
    ];
    for (words, color, explanation) in entries {
        if color == theme.capacity && !input.comparison.has_capacity() {
            continue;
        }
        ui.label(words).on_hover_text(explanation);
        let is_above = color == theme.capacity && !curve::is_capacity_near(input);
        swatch(ui, color, is_above);
    }
    let (drawn, total) = state.drawn;
    if drawn < total && ui.available_width() > 150.0 {
        ui.add_space(6.0);
        ui.weak(format!("{total} blocks in {drawn} marks"))
            .on_hover_text("What is smaller than a pixel is merged; zoom in to see each block");
    }
}

/// A piece of the line, or an arrow where the line lies above the picture.
fn swatch(ui: &mut Ui, color: Color32, is_above: bool) {
    let (rect, _) = ui.allocate_exact_size(vec2(14.0, 10.0), Sense::hover());
    let center = rect.center();
    if is_above {
        let head = vec![
            center + vec2(0.0, -5.0),
            center + vec2(4.5, 0.0),
            center + vec2(-4.5, 0.0),
        ];
        ui.painter().add(PathShape::convex_polygon(head, color, Stroke::NONE));
        ui.painter()
            .vline(center.x, Rangef::new(center.y, center.y + 5.0), Stroke::new(2.0, color));
    } else {
        let line = Rect::from_center_size(center, vec2(14.0, 3.0));
        ui.painter().rect_filled(line, 1, color);
    }
}
