//! The heuristics: colour, marker, smallest feasible budget; a click hides one.

use eframe::egui::{self, RichText};

use super::BudgetsState;
use super::points::{Sweep, percent};
use crate::panels::marker::{cross, marker};
use crate::theme::Theme;
use crate::widgets::Named as _;
use highwater_rewrite::remat::{HEURISTICS, Heuristic};

const SIZE: f32 = 11.5;

pub(super) fn legend_ui(ui: &mut egui::Ui, sweep: &Sweep<'_>, state: &mut BudgetsState, theme: &Theme) {
    ui.spacing_mut().item_spacing = egui::vec2(4.0, 1.0);
    ui.horizontal(|ui| {
        ui.label(RichText::new("Heuristic").size(SIZE).strong());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.label(RichText::new("feasible from").size(SIZE).weak())
                .on_hover_text(
                    "The smallest budget from which on this heuristic completed every tried run within the budget",
                );
        });
    });
    for (position, heuristic) in HEURISTICS.iter().enumerate() {
        row_ui(ui, sweep, state, position, heuristic, theme);
    }
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        sign_ui(ui, |painter, at| marker(painter, at, 0, 3.6, theme.text_weak, false));
        ui.label(RichText::new("over budget (above: thrash)").size(SIZE).weak())
            .on_hover_text("Hollow: the run exceeded its budget. Band above the plot: the run was stopped");
    });
    ui.horizontal(|ui| {
        sign_ui(ui, |painter, at| cross(painter, at, 3.4, theme.text_weak));
        ui.label(RichText::new("out of memory").size(SIZE).weak());
    });
    ui.horizontal(|ui| {
        sign_ui(ui, |painter, at| {
            painter.circle_stroke(at, 5.0, egui::Stroke::new(1.5, theme.selection));
        });
        ui.label(RichText::new("open as a lane").size(SIZE).weak());
    });
    if !state.hidden.is_empty() && ui.small_button("Show all").clicked() {
        state.hidden.clear();
    }
}

fn sign_ui(ui: &mut egui::Ui, paint: impl FnOnce(&egui::Painter, egui::Pos2)) {
    let (area, _) = ui.allocate_exact_size(egui::vec2(14.0, 12.0), egui::Sense::hover());
    paint(ui.painter(), area.center());
}

fn row_ui(
    ui: &mut egui::Ui,
    sweep: &Sweep<'_>,
    state: &mut BudgetsState,
    position: usize,
    heuristic: &'static Heuristic,
    theme: &Theme,
) {
    let is_shown = !state.hidden.contains(&heuristic.name);
    let color = if is_shown {
        theme.heuristic(position)
    } else {
        theme.text_weak
    };
    ui.horizontal(|ui| {
        sign_ui(ui, |painter, at| marker(painter, at, position, 3.6, color, is_shown));
        let words = RichText::new(heuristic.label).size(SIZE);
        let words = if is_shown {
            words.color(theme.text)
        } else {
            words.color(theme.text_weak).strikethrough()
        };
        let button = ui.add(egui::Button::new(words).frame_when_inactive(false).small());
        let verb = if is_shown { "hide" } else { "show" };
        let button = button.named_choice(egui::Role::CheckBox, is_shown, || format!("{verb} {}", heuristic.label));
        let button = button.on_hover_text(format!("{}\nclick: {verb} it", heuristic.summary));
        if button.clicked() {
            if is_shown {
                state.hidden.push(heuristic.name);
            } else {
                state.hidden.retain(|name| *name != heuristic.name);
            }
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            limit_ui(ui, sweep, state, heuristic);
        });
    });
}

/// The smallest feasible budget of a heuristic.
fn limit_ui(ui: &mut egui::Ui, sweep: &Sweep<'_>, state: &BudgetsState, heuristic: &'static Heuristic) {
    let has_points = sweep.table.points.iter().any(|point| point.heuristic == heuristic);
    let Some(point) = sweep.limit(heuristic) else {
        let text = if has_points { "none" } else { "…" };
        ui.label(RichText::new(text).size(SIZE).weak());
        return;
    };
    let text = if state.axes.in_bytes {
        point.budget.to_string()
    } else {
        percent(point)
    };
    ui.label(RichText::new(text).size(SIZE)).on_hover_text(format!(
        "{} is feasible from {} on ({} of its unconstrained peak)",
        heuristic.label,
        point.budget.exact(),
        percent(point)
    ));
}
