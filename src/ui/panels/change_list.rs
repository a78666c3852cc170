//! Changes between two peaks: tensors that are new, gone, bigger, smaller, by bytes.

use eframe::egui::{self, RichText};

use super::{change_ui, elided_middle};
use crate::widgets::{Named as _, list_end_ui, list_length};
use highwater_model::units::signed_bytes;
use highwater_session::{Command, Selected};
use highwater_timeline::{Change, ChangeKind, Changes};

/// Rows per kind.
const MOST: usize = 6;

/// Two lists of changes: `found` is the tensor that a name leads to.
pub(super) fn change_list_ui(
    ui: &mut egui::Ui,
    changes: &Changes,
    selected: Option<Selected>,
    found: impl Fn(&Change) -> Option<Selected>,
    commands: &mut Vec<Command>,
) {
    let text = if changes.live == 0 {
        "Total live bytes unchanged.".to_owned()
    } else {
        format!("Total live bytes {}.", signed_bytes(changes.live))
    };
    ui.label(text).on_hover_text(format!("{} B", changes.live));
    egui::Grid::new("changes of peaks")
        .num_columns(3)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            for kind in ChangeKind::ALL {
                let n_rows = changes.of_kind(kind).count();
                let n_shown = list_length(ui, kind.words(), MOST, n_rows);
                for change in changes.of_kind(kind).take(n_shown) {
                    ui.weak(kind.words());
                    change_ui(ui, change);
                    name_ui(ui, change, selected, found(change), commands);
                    ui.end_row();
                }
                if n_rows > MOST {
                    let more: i128 = changes.of_kind(kind).skip(n_shown).map(Change::difference).sum();
                    ui.weak(kind.words());
                    ui.monospace(signed_bytes(more));
                    list_end_ui(ui, kind.words(), MOST, n_rows);
                    ui.end_row();
                }
            }
        });
}

/// The name; a link for a tensor.
fn name_ui(
    ui: &mut egui::Ui,
    change: &Change,
    selected: Option<Selected>,
    tensor: Option<Selected>,
    commands: &mut Vec<Command>,
) {
    let size = egui::TextStyle::Body.resolve(ui.style()).size;
    let text = elided_middle(ui, &change.of.name, size, ui.available_width().max(80.0));
    let Some(tensor) = tensor.filter(|_| change.is_tensor) else {
        ui.label(RichText::new(text)).on_hover_text(change.of.to_string());
        return;
    };
    let is_selected = selected == Some(tensor);
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
