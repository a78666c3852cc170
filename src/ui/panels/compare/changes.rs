//! Changes at the peak of a lane against the baseline: tensors that are new, gone, bigger, smaller.

use eframe::egui::{self, DragValue, RichText};

use super::{CompareState, MOST, Shown};
use crate::numbers::count_f32;
use crate::panels::{change_ui, elided_middle};
use crate::theme::STALE;
use crate::widgets::Named as _;
use highwater_model::units::signed_bytes;
use highwater_session::Command;
use highwater_timeline::{Change, ChangeKind, LaneChanges};

/// Least width of a list next to another.
const LEAST: f32 = 260.0;

pub(super) fn changes_ui(ui: &mut egui::Ui, shown: Shown<'_>, state: &mut CompareState, commands: &mut Vec<Command>) {
    let Some(lane) = state.lane_in(shown.comparison, shown.baseline) else {
        ui.weak("Pin a configuration or compare several policies to list changes at the peak.");
        return;
    };
    let lanes = &shown.comparison.lanes;
    let ids = (lanes[shown.baseline].id, lanes[lane].id);
    if !shown.session.wants_lane_changes(ids) {
        commands.push(Command::CompareLanes(ids.0, ids.1));
    }
    ui.horizontal_wrapped(|ui| {
        ui.strong(format!(
            "Changes at the peak of {}, baseline {}",
            shown.title(lane),
            shown.title(shown.baseline)
        ));
        let label = ui.label("rows per kind");
        ui.add(DragValue::new(&mut state.top).range(1..=MOST).speed(0.2))
            .labelled_by(label.id)
            .on_hover_text("Number of listed tensors of each kind");
    });
    let Some(known) = shown.session.lane_changes() else {
        ui.weak("Comparing both peaks…");
        return;
    };
    ui.scope(|ui| {
        if !shown.session.has_lane_changes(ids) {
            ui.multiply_opacity(STALE);
        }
        lists_ui(ui, shown, known, state.top, commands);
    });
}

fn lists_ui(ui: &mut egui::Ui, shown: Shown<'_>, known: &LaneChanges, top: usize, commands: &mut Vec<Command>) {
    let changes = &known.changes;
    if changes.rows.is_empty() {
        ui.weak("Both peaks have the same live tensors.");
        return;
    }
    let text = if changes.live == 0 {
        "Total live bytes unchanged.".to_owned()
    } else {
        format!("Total live bytes {}.", signed_bytes(changes.live))
    };
    ui.label(text).on_hover_text(format!("{} B", changes.live));
    let kinds: Vec<ChangeKind> = ChangeKind::ALL
        .into_iter()
        .filter(|kind| changes.of_kind(*kind).next().is_some())
        .collect();
    let room = |count: usize| ui.available_width() / count_f32(count) - 8.0;
    let per_line = (1..=kinds.len()).rev().find(|count| room(*count) >= LEAST).unwrap_or(1);
    let width = room(per_line);
    for line in kinds.chunks(per_line) {
        ui.horizontal_top(|ui| {
            for kind in line {
                ui.vertical(|ui| {
                    ui.set_width(width.max(0.0));
                    list_ui(ui, shown, known, *kind, top, commands);
                });
            }
        });
    }
}

/// The names of a kind, largest differences first.
fn list_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    known: &LaneChanges,
    kind: ChangeKind,
    top: usize,
    commands: &mut Vec<Command>,
) {
    let changes = &known.changes;
    let n_rows = changes.of_kind(kind).count();
    let sum: i128 = changes.of_kind(kind).map(Change::difference).sum();
    ui.label(RichText::new(format!("{n_rows} {}, {}", kind.words(), signed_bytes(sum))).strong())
        .on_hover_text(format!("{sum} B"));
    egui::Grid::new(("changes", kind.words()))
        .num_columns(2)
        .min_col_width(0.0)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            for change in changes.of_kind(kind).take(top) {
                change_ui(ui, change);
                name_ui(ui, shown, known, change, commands);
                ui.end_row();
            }
            if n_rows > top {
                let more: i128 = changes.of_kind(kind).skip(top).map(Change::difference).sum();
                ui.monospace(signed_bytes(more));
                ui.weak(format!("{} more", n_rows - top));
                ui.end_row();
            }
        });
}

/// The name; a link for a tensor.
fn name_ui(ui: &mut egui::Ui, shown: Shown<'_>, known: &LaneChanges, change: &Change, commands: &mut Vec<Command>) {
    let size = egui::TextStyle::Body.resolve(ui.style()).size;
    let text = elided_middle(ui, &change.of.name, size, ui.available_width().max(80.0));
    let tensor = known.tensor(&change.of).filter(|_| change.is_tensor);
    let Some(tensor) = tensor else {
        ui.label(text).on_hover_text(change.of.to_string());
        return;
    };
    let is_selected = shown.session.selection() == Some(tensor);
    let link = ui.add(egui::Button::selectable(is_selected, text).frame(false));
    let label = format!("select {}", change.of);
    let link = link.named_choice(egui::Role::Link, is_selected, || &label);
    if link.gained_focus() {
        link.scroll_to_me(None);
    }
    if link.on_hover_text(label).clicked() {
        commands.push(Command::Select(Some(tensor)));
    }
}
