//! The toolbar above the lanes: content, options, legends.

use eframe::egui::epaint::PathShape;
use eframe::egui::{Color32, ComboBox, Rangef, Rect, Role, Sense, Stroke, TextStyle, TextWrapMode, Ui, vec2};

use super::LanesCx;
use super::{LaneContent, LanesInput, LanesState, arrange, axis, colors, curve, figures, legend, marks, scopes};
use crate::combo::ShowChoices as _;
use crate::widgets::Named as _;
use highwater_model::units::grouped;
use highwater_timeline::RowOrder;

const GESTURES: &str = "Keys act after a click into the drawing.\n\
Ctrl+wheel or W, S: zoom    drag, Shift+wheel or A, D: pan\n\
Alt with Ctrl+wheel, or Shift with W, S, A, D: the same for addresses\n\
click: select    Esc: clear    F: focus the selected, again: everything\n\
comma, period: previous, next tensor    double click, H or Ctrl+0: everything";

/// Width of the legend in a menu.
const LEGEND: f32 = 420.0;

/// Width of a line in the legend.
const SWATCH: f32 = 14.0;

/// Content and options, then the legend in the same line where it fits.
pub(super) fn toolbar_ui(ui: &mut Ui, cx: &mut LanesCx<'_>) {
    let has_marks = cx.state.content == LaneContent::MemoryMap;
    ui.horizontal_wrapped(|ui| {
        ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
        contents_ui(ui, cx.state);
        axis::choice_ui(ui, cx.input, cx.state);
        rows_lane_ui(ui, cx.input, cx.state);
        if cx.state.content == LaneContent::Lifetimes {
            rows_order_ui(ui, cx.state);
        } else {
            arrange::lanes_menu_ui(ui, cx.state);
        }
        if has_marks {
            marks::menu_ui(ui, cx.input, cx.state);
        }
        colors::choice_ui(ui, cx, cx.state.content);
        fit_ui(ui, cx.state);
        let legend = Legend::new(ui, cx.input, cx.state);
        let room = legend.width + legend::room(ui, cx.input, cx.state) + marks::EDGES;
        let is_beside = room <= ui.available_size_before_wrap().x;
        cx.state.has_untold_edges = has_marks && !marks::edges_ui(ui, cx.input, cx.state);
        if is_beside {
            ui.separator();
            legend.ui(ui, cx.state);
            if has_marks {
                legend::legend_ui(ui, cx.input);
            }
        } else {
            let button = ui.menu_button("Legend", |ui| {
                ui.set_max_width(LEGEND);
                ui.horizontal_wrapped(|ui| legend.ui(ui, cx.state));
                if has_marks {
                    ui.horizontal_wrapped(|ui| legend::legend_ui(ui, cx.input));
                }
            });
            drop(button.response.named(Role::Button, || "legend"));
        }
        colors::groups_ui(ui, cx);
    });
}

fn contents_ui(ui: &mut Ui, state: &mut LanesState) {
    for content in LaneContent::ALL {
        let what = match content {
            LaneContent::MemoryMap => "Addresses over time, lane by lane (V)",
            LaneContent::Areas => "Bytes of each group over time, stacked, lane by lane (V)",
            LaneContent::Lifetimes => "One row per tensor (V)",
        };
        ui.selectable_value(&mut state.content, content, content.words())
            .on_hover_text(what);
    }
    ui.separator();
}

fn fit_ui(ui: &mut Ui, state: &mut LanesState) {
    let fit = ui
        .button("Fit")
        .on_hover_text("Show everything (H, double click, Ctrl+0)");
    if fit.clicked() {
        state.fit();
    }
}

/// The lane of the lifetimes, where lanes differ.
fn rows_lane_ui(ui: &mut Ui, input: &LanesInput<'_>, state: &mut LanesState) {
    if state.content != LaneContent::Lifetimes || !input.timeline.has_lane_rows() {
        return;
    }
    let shown = state.lane_of_rows(input);
    let title = |lane: usize| {
        let lane = input.comparison.lanes.get(lane);
        lane.map_or(String::new(), |lane| input.comparison.lane_title(lane.id))
    };
    let label = format!("lifetimes of {}", title(shown));
    ComboBox::from_id_salt("lane of lifetimes")
        .selected_text(title(shown))
        .show_choices(ui, |ui| {
            for lane in 0..input.comparison.lanes.len() {
                if ui.selectable_label(lane == shown, title(lane)).clicked() {
                    state.rows_lane = Some(lane);
                }
            }
        })
        .named(Role::ComboBox, || &label)
        .on_hover_text("Lane whose lifetimes are shown");
}

/// The order of rows, and buttons for all scopes.
fn rows_order_ui(ui: &mut Ui, state: &mut LanesState) {
    let label = format!("rows by {}", state.rows_by.words());
    ComboBox::from_id_salt("order of rows")
        .selected_text(&label)
        .show_choices(ui, |ui| {
            for by in RowOrder::ALL {
                ui.selectable_value(&mut state.rows_by, by, by.words());
            }
        })
        .named(Role::ComboBox, || &label)
        .on_hover_text("Order of the rows");
    if state.rows_by == RowOrder::Tree {
        scopes::folds_ui(ui, &mut state.folds);
    }
}

/// Curves, the last one first.
struct Legend {
    /// Name, colour, explanation, whether the line lies above the picture.
    entries: Vec<(String, Color32, &'static str, bool)>,
    width: f32,
}

impl Legend {
    fn new(ui: &Ui, input: &LanesInput<'_>, state: &LanesState) -> Self {
        let mut entries = Vec::new();
        let theme = input.theme;
        if state.content != LaneContent::Lifetimes {
            let is_above = !curve::is_capacity_near(input);
            let mut capacity = "capacity".to_owned();
            if is_above {
                let bytes = figures::whole_units(input.comparison.device.memory());
                capacity = format!("capacity {bytes}, above");
            }
            if input.comparison.has_capacity() {
                let why = "Device capacity; an arrow marks a line above the visible range";
                entries.push((capacity, theme.capacity, why, is_above));
            }
            if input.timeline.has_remat() {
                let why = "Memory budget of the rematerialization planner, by its own count; drag the line in a lane";
                entries.push(("budget".to_owned(), theme.budget, why, false));
                let why = "Live bytes by the count of the rematerialization planner: tensors of the program, without \
                           rounding and pools";
                entries.push(("planned".to_owned(), theme.usage, why, false));
            }
            if input.timeline.lanes.iter().any(|lane| lane.physical.max() > 0) {
                let why = "Bytes of physical pages of the driver, under policies with virtual ranges";
                entries.push(("pages".to_owned(), theme.physical, why, false));
            }
            let why = "Exact bytes of live tensors: no weights, no rounding";
            entries.push(("live".to_owned(), theme.live, why, false));
            let lanes = 0..input.comparison.lanes.len();
            if lanes.into_iter().any(|lane| input.comparison.states(lane).0) {
                let why = "Reserved device bytes: arenas, pools, weights, variables, inputs and outputs";
                entries.push(("reserved".to_owned(), theme.reserved, why, false));
            }
        }
        let size = TextStyle::Body.resolve(ui.style()).size;
        let space = ui.spacing().item_spacing.x;
        let width_of = |text: &str| figures::width_of(ui, text, size) + space;
        let width = entries.iter().map(|entry| width_of(&entry.0) + SWATCH + space);
        Self {
            width: width.sum::<f32>() + width_of("?"),
            entries,
        }
    }

    /// Each swatch stays with its words.
    fn ui(&self, ui: &mut Ui, state: &LanesState) {
        let size = TextStyle::Body.resolve(ui.style()).size;
        for (words, color, explanation, is_above) in self.entries.iter().rev() {
            let room = SWATCH + ui.spacing().item_spacing.x + figures::width_of(ui, words, size);
            if ui.available_size_before_wrap().x < room {
                ui.end_row();
            }
            swatch(ui, *color, *is_above);
            ui.label(words).on_hover_text(*explanation);
        }
        let (drawn, total) = state.drawn;
        let mut words = GESTURES.to_owned();
        if drawn < total && !self.entries.is_empty() {
            let merged = "blocks smaller than a pixel are merged; zoom in to see each block";
            words = format!(
                "{} blocks in {} marks: {merged}\n\n{words}",
                grouped(total as u64),
                grouped(drawn as u64)
            );
        }
        // Alone in a line it would not be understood; the help lists the gestures too.
        let is_alone = self.entries.is_empty() && ui.available_size_before_wrap().x < self.width;
        if !is_alone {
            ui.weak("?").on_hover_text(words);
        }
    }
}

/// A piece of the line, or an arrow where the line lies above the picture.
fn swatch(ui: &mut Ui, color: Color32, is_above: bool) {
    // As high as words, to be centred with them.
    let height = ui.text_style_height(&TextStyle::Body);
    let (rect, _) = ui.allocate_exact_size(vec2(SWATCH, height), Sense::hover());
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
        let line = Rect::from_center_size(center, vec2(SWATCH, 3.0));
        ui.painter().rect_filled(line, 1, color);
    }
}
