//! The toolbar above the lanes: content, options, legends.

use eframe::egui::epaint::PathShape;
use eframe::egui::{Button, Color32, ComboBox, Rangef, Rect, Role, Sense, Stroke, TextStyle, TextWrapMode, Ui, vec2};

use super::LanesCx;
use super::{LaneContent, LanesInput, LanesState, arrange, axis, colors, curve, figures, legend, marks, scopes};
use crate::combo::ShowChoices as _;
use crate::widgets::{Named as _, button_ui};
use highwater_model::units::grouped;
use highwater_timeline::RowOrder;

const GESTURES: &str = "Keys act after a click into the drawing (?: all keys)\n\
Ctrl+wheel or W, S: zoom    drag or A, D: move    double click: show all";

/// Width of the legend in a menu.
const LEGEND: f32 = 420.0;

/// Width of a line in the legend.
const SWATCH: f32 = 14.0;

/// Parts that move into the menu "…" where the row has no room, the first ones last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Lanes,
    Overlays,
    Legend,
    Fit,
    Scopes,
}

impl Part {
    const ALL: [Self; 5] = [Self::Lanes, Self::Overlays, Self::Legend, Self::Fit, Self::Scopes];

    /// The texts of its buttons.
    const fn texts(self) -> &'static [&'static str] {
        match self {
            Self::Lanes => &["Lanes"],
            Self::Overlays => &["Overlays"],
            Self::Legend => &["Legend"],
            Self::Fit => &["Fit"],
            Self::Scopes => &scopes::FOLDS,
        }
    }

    fn width(self, ui: &Ui) -> f32 {
        let texts = self.texts().iter();
        texts
            .map(|text| button_width(ui, text) + ui.spacing().item_spacing.x)
            .sum()
    }

    /// Whether the part acts on what is shown.
    fn is_present(self, state: &LanesState) -> bool {
        let has_rows = state.content == LaneContent::Lifetimes;
        match self {
            Self::Lanes => !has_rows,
            Self::Overlays => state.content == LaneContent::MemoryMap,
            Self::Legend | Self::Fit => true,
            Self::Scopes => has_rows && state.rows_by == RowOrder::Tree,
        }
    }
}

/// Width of a button with a text.
fn button_width(ui: &Ui, text: &str) -> f32 {
    let size = TextStyle::Button.resolve(ui.style()).size;
    figures::width_of(ui, text, size) + 2.0 * ui.spacing().button_padding.x
}

/// The parts of the row, and those of the menu "…": as many of the first ones as fit in the row.
fn split_at(widths: &[f32], room: f32, menu: f32) -> usize {
    let total: f32 = widths.iter().sum();
    if total <= room {
        return widths.len();
    }
    let mut rest = room - menu;
    let fits = widths.iter().take_while(|width| {
        rest -= **width;
        rest >= 0.0
    });
    fits.count()
}

/// Content and options in one row, then the legend where it fits; what does not fit is in menus. Groups of colours have
/// a row below.
pub(super) fn toolbar_ui(ui: &mut Ui, cx: &mut LanesCx<'_>) {
    let right = ui.max_rect().right();
    ui.horizontal(|ui| {
        ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
        ui.set_clip_rect(ui.clip_rect().intersect(Rect::everything_left_of(right)));
        let room = |ui: &Ui| right - ui.cursor().left();
        contents_ui(ui, cx.state);
        axis::choice_ui(ui, cx.input, cx.state);
        colors::choice_ui(ui, cx, cx.state.content);
        rows_lane_ui(ui, cx.input, cx.state);
        if cx.state.content == LaneContent::Lifetimes {
            rows_order_ui(ui, cx.state);
        }
        let parts: Vec<Part> = Part::ALL.into_iter().filter(|part| part.is_present(cx.state)).collect();
        let widths: Vec<f32> = parts.iter().map(|part| part.width(ui)).collect();
        let menu = button_width(ui, MORE) + ui.spacing().item_spacing.x;
        let n_shown = split_at(&widths, room(ui), menu);
        let (shown, rest) = parts.split_at(n_shown);
        let has_marks = cx.state.content == LaneContent::MemoryMap;
        let legend = Legend::new(ui, cx.input, cx.state);
        // In the row instead of its button.
        let spare = room(ui) - widths.iter().sum::<f32>() + Part::Legend.width(ui);
        let both = legend.width + legend::room(ui, cx.input, cx.state) + 3.0 * ui.spacing().item_spacing.x;
        let is_beside = rest.is_empty() && both + marks::EDGES <= spare;
        for part in shown.iter().filter(|part| !(is_beside && **part == Part::Legend)) {
            part_ui(ui, cx, *part, &legend);
        }
        if !rest.is_empty() {
            let button = ui.menu_button(MORE, |ui| {
                for part in rest {
                    part_ui(ui, cx, *part, &legend);
                }
            });
            drop(button.response.named(Role::Button, || "more controls"));
        }
        let room_of_edges = room(ui) - if is_beside { both } else { 0.0 };
        cx.state.has_untold_edges = has_marks && !marks::edges_ui(ui, cx.input, cx.state, room_of_edges);
        if is_beside {
            ui.separator();
            legend.ui(ui, cx.state);
            if has_marks {
                legend::legend_ui(ui, cx.input);
            }
        }
    });
    colors::groups_ui(ui, cx);
}

/// The button of the parts without room.
const MORE: &str = "…";

/// A part, in the row or in the menu.
fn part_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, part: Part, legend: &Legend) {
    match part {
        Part::Lanes => arrange::lanes_menu_ui(ui, cx.state),
        Part::Overlays => marks::menu_ui(ui, cx.input, cx.state),
        Part::Fit => fit_ui(ui, cx.state),
        Part::Scopes => scopes::folds_ui(ui, &mut cx.state.folds),
        Part::Legend => {
            let has_marks = cx.state.content == LaneContent::MemoryMap;
            let button = ui.menu_button("Legend", |ui| {
                ui.set_max_width(LEGEND);
                ui.horizontal_wrapped(|ui| legend.ui(ui, cx.state));
                if has_marks {
                    ui.horizontal_wrapped(|ui| legend::legend_ui(ui, cx.input));
                }
            });
            drop(button.response.named(Role::Button, || "legend"));
        }
    }
}

fn contents_ui(ui: &mut Ui, state: &mut LanesState) {
    for content in LaneContent::ALL {
        let what = match content {
            LaneContent::MemoryMap => "Addresses over time, lane by lane (V)",
            LaneContent::Areas => "Bytes of each group over time, stacked, lane by lane (V)",
            LaneContent::Lifetimes => "One row per tensor (V)",
            LaneContent::Curves => {
                "The curves of all lanes in one drawing; of two lanes with the difference filled (V)"
            }
        };
        ui.selectable_value(&mut state.content, content, content.words())
            .on_hover_text(what);
    }
    ui.separator();
}

fn fit_ui(ui: &mut Ui, state: &mut LanesState) {
    if button_ui(ui, Button::new("Fit"), "Show everything (H, double click)") {
        state.fit();
    }
}

/// The lane of the lifetimes, where lanes differ.
fn rows_lane_ui(ui: &mut Ui, input: &LanesInput<'_>, state: &mut LanesState) {
    if state.content != LaneContent::Lifetimes || !input.timeline.has_lane_rows() {
        return;
    }
    let shown = state.lane_of_rows(input);
    let mut chosen = shown;
    ComboBox::from_id_salt("lane of lifetimes")
        .show_lanes(ui, "lifetimes of ", &mut chosen, input.comparison)
        .on_hover_text("Lane whose lifetimes are shown");
    if chosen != shown {
        state.rows_lane = Some(chosen);
    }
}

/// The order of rows.
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
            let has_line = curve::has_capacity_line(input);
            let above = curve::capacity_above(input).filter(|_| !has_line);
            let is_above = above.is_some();
            let capacity = above.map_or_else(
                || "capacity".to_owned(),
                |bytes| format!("capacity {}, above", figures::whole_units(bytes)),
            );
            if is_above || has_line {
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
            wrap_before(ui, room);
            swatch(ui, *color, *is_above);
            ui.label(words).on_hover_text(*explanation);
        }
        let (drawn, total) = state.drawn;
        let mut words = GESTURES.to_owned();
        if drawn < total && !self.entries.is_empty() {
            words = format!(
                "{} blocks in {} marks: zoom in to see each block\n{words}",
                grouped(total as u64),
                grouped(drawn as u64)
            );
        }
        ui.weak("?").on_hover_text(words);
    }
}

/// Begins a row where a menu has no room; the row of controls never wraps.
pub(super) fn wrap_before(ui: &mut Ui, room: f32) {
    if ui.layout().main_wrap() && ui.available_size_before_wrap().x < room {
        ui.end_row();
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

#[cfg(test)]
mod tests {
    use super::split_at;

    #[test]
    fn parts_that_do_not_fit_go_into_the_menu_with_room_for_its_button() {
        for (room, n_shown) in [
            (200.0, 3),
            (120.0, 3),
            (119.0, 2),
            (100.0, 2),
            (99.0, 1),
            (60.0, 1),
            (59.0, 0),
            (-5.0, 0),
        ] {
            assert_eq!(split_at(&[40.0, 40.0, 40.0], room, 20.0), n_shown, "{room}");
        }
    }
}
