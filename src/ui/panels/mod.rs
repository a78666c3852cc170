//! The panes around the lanes. Each is a function of the session and its own view state; it pushes commands.

pub mod budgets;
pub mod compare;
pub mod device;
pub mod empty;
pub mod files;
mod footprint;
pub mod inspector;
pub mod lane_set;
mod measured;
pub mod measured_run;
pub mod name_reuse;
mod neighbourhood;
pub mod options;
pub mod overview;
mod overview_bars;
mod overview_problem;
pub mod peak;
pub mod planner;
pub mod problems;
mod remat;
mod reuse;
pub mod schedule;
pub mod schedule_editor;
pub mod search;
pub mod sweep;
pub mod tables;

use eframe::egui;

use crate::combo::ShowChoices as _;

/// A small square of a colour, for legends. Painted, because the bundled font has no such letter.
pub fn swatch_ui(ui: &mut egui::Ui, color: egui::Color32) {
    let (area, _) = ui.allocate_exact_size(egui::vec2(10.0, 10.0), egui::Sense::hover());
    ui.painter().rect_filled(area, 2, color);
}

/// A small count as a factor of points.
pub fn count_as_f32(count: usize) -> f32 {
    f32::from(u16::try_from(count).unwrap_or(u16::MAX))
}

/// A plot of a width and a height that is looked at: nothing moves or scales it, and it says nothing of its own on hover.
fn still_plot(name: &str, width: f32, height: f32) -> egui_plot::Plot<'static> {
    egui_plot::Plot::new(name)
        .width(width)
        .height(height)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .show_crosshair(false)
        .show_x(false)
        .show_y(false)
}

/// How wide a text of a size is.
pub fn width_of(ui: &egui::Ui, text: &str, size: f32) -> f32 {
    let font = egui::FontId::proportional(size);
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, egui::Color32::WHITE);
    galley.size().x
}

/// A text of a size, cut with an ellipsis where it is wider than the room.
pub fn elided(ui: &egui::Ui, text: &str, size: f32, room: f32) -> String {
    let width = |text: &str| width_of(ui, text, size);
    if width(text) <= room {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(end, _)| end).rev();
    let mut cut = ends.map(|end| format!("{}…", text[..end].trim_end()));
    cut.find(|text| width(text) <= room).unwrap_or_default()
}

/// The same, cut in its middle: of a path both ends are told.
pub fn elided_middle(ui: &egui::Ui, text: &str, size: f32, room: f32) -> String {
    let width = |text: &str| width_of(ui, text, size);
    if width(text) <= room {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let cut = |kept: usize| {
        // The end tells more than the beginning.
        let (first, last) = (kept * 2 / 5, kept - kept * 2 / 5);
        let ends = letters[..first]
            .iter()
            .chain(&['…'])
            .chain(&letters[letters.len() - last..]);
        ends.collect::<String>()
    };
    // As many letters as fit: about as many are kept as are tried.
    let (mut fits, mut fails) = (0, letters.len());
    while fits + 1 < fails {
        let middle = usize::midpoint(fits, fails);
        if width(&cut(middle)) <= room {
            fits = middle;
        } else {
            fails = middle;
        }
    }
    cut(fits)
}

/// A choice of a few values, side by side; `what` stands before the words where they are read out.
pub fn choice_ui<T: Copy + PartialEq>(ui: &mut egui::Ui, chosen: &mut T, what: &str, choices: &[(T, &str)]) -> bool {
    let before = *chosen;
    let spacing = std::mem::replace(&mut ui.spacing_mut().item_spacing.x, 2.0);
    for (value, words) in choices {
        let is_chosen = *chosen == *value;
        let response = ui.selectable_label(is_chosen, *words);
        response.widget_info(|| {
            egui::WidgetInfo::selected(egui::Role::RadioButton, true, is_chosen, format!("{what} {words}"))
        });
        if response.clicked() {
            *chosen = *value;
        }
    }
    ui.spacing_mut().item_spacing.x = spacing;
    ui.add_space((spacing - 2.0).max(0.0));
    before != *chosen
}

/// The graph that a pane is about, by position; nothing where there is one.
pub fn graph_choice_ui(ui: &mut egui::Ui, chosen: &mut usize, what: &str, names: &[&str]) {
    if names.len() < 2 {
        return;
    }
    let label = format!("{what}: {}", names[*chosen]);
    let combo = egui::ComboBox::from_id_salt(what)
        .selected_text(names[*chosen])
        .width(120.0)
        .truncate()
        .show_choices(ui, |ui| {
            for (graph, name) in names.iter().enumerate() {
                ui.selectable_value(chosen, graph, *name);
            }
        });
    combo
        .response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, &label));
}
