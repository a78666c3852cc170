//! Changes of the explained lane against another: tensors that are new, gone, bigger, smaller, by bytes.

use eframe::egui::{self, RichText};

use super::{PeakState, Shown};
use crate::combo::ShowChoices as _;
use crate::panels::{change_ui, elided_middle};
use crate::widgets::{Named as _, list_end_ui, list_length};
use highwater_analysis::Comparison;
use highwater_model::units::signed_bytes;
use highwater_session::{Command, Selected};
use highwater_timeline::{Change, ChangeKind, Changes, tensor_label};

/// Rows per kind.
const MOST: usize = 6;

/// The choice of the other lane.
pub(super) fn choice_ui(ui: &mut egui::Ui, comparison: &Comparison, state: &mut PeakState) {
    if comparison.lanes.len() < 2 {
        return;
    }
    let own = state.lane_in(comparison);
    let title = |lane: usize| format!("baseline: {}", comparison.lane_title(comparison.lanes[lane].id));
    let nothing = "no baseline";
    let chosen = state.other_in(comparison).map_or_else(|| nothing.to_owned(), title);
    egui::ComboBox::from_id_salt("peak against")
        .selected_text(&chosen)
        .width(ui.available_width() - 8.0)
        .truncate()
        .show_choices(ui, |ui| {
            ui.selectable_value(&mut state.against, None, nothing);
            for (position, row) in comparison.lanes.iter().enumerate() {
                if position != own {
                    ui.selectable_value(&mut state.against, Some(row.id), title(position));
                }
            }
        })
        .named(egui::Role::ComboBox, || format!("compared lane: {chosen}"));
}

/// The largest changes of each kind.
pub(super) fn changes_ui(ui: &mut egui::Ui, shown: Shown<'_>, commands: &mut Vec<Command>) {
    let other = shown
        .report
        .ask
        .against
        .and_then(|lane| shown.comparison.lanes.get(lane));
    let Some((changes, other)) = shown.report.changes.as_ref().zip(other) else {
        return;
    };
    let title = shown.comparison.lane_title(other.id);
    ui.strong(format!("Changes from {title}"));
    if changes.rows.is_empty() {
        ui.weak(format!("The same {}s are live at both peaks.", shown.noun()));
        ui.separator();
        return;
    }
    let sums = if changes.live == 0 {
        "total live bytes unchanged".to_owned()
    } else {
        format!("total live bytes {}", signed_bytes(changes.live))
    };
    ui.label(sums).on_hover_text(format!("{} B", changes.live));
    egui::Grid::new("peak changes")
        .num_columns(3)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            for kind in ChangeKind::ALL {
                kind_ui(ui, shown, changes, kind, commands);
            }
        });
    ui.separator();
}

fn kind_ui(ui: &mut egui::Ui, shown: Shown<'_>, changes: &Changes, kind: ChangeKind, commands: &mut Vec<Command>) {
    let n_rows = changes.of_kind(kind).count();
    let n_shown = list_length(ui, kind.words(), MOST, n_rows);
    for change in changes.of_kind(kind).take(n_shown) {
        ui.weak(kind.words());
        change_ui(ui, change);
        name_ui(ui, shown, change, commands);
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

/// The name; a link for a tensor that is live here.
fn name_ui(ui: &mut egui::Ui, shown: Shown<'_>, change: &Change, commands: &mut Vec<Command>) {
    let size = egui::TextStyle::Body.resolve(ui.style()).size;
    let text = elided_middle(ui, &change.of.name, size, ui.available_width().max(60.0));
    if !change.is_tensor || change.kind() == ChangeKind::Gone {
        ui.label(RichText::new(text)).on_hover_text(&change.of.name);
        return;
    }
    let link = ui.link(text).on_hover_text(format!("Select {}", change.of.name));
    if link.clicked()
        && let Some(tensor) = member_of(shown, &change.of.name)
    {
        commands.push(Command::Select(Some(tensor)));
    }
}

/// The live tensor with a name, the largest of several.
fn member_of(shown: Shown<'_>, name: &str) -> Option<Selected> {
    let mut members = shown.report.set.members.iter().map(|member| member.tensor);
    members.find(|tensor| tensor_label(shown.comparison, *tensor) == name)
}
