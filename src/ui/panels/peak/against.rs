//! Changes of the explained lane against another: tensors that are new, gone, bigger, smaller, by bytes.

use eframe::egui;

use super::{PeakState, Shown};
use crate::combo::ShowChoices as _;
use crate::panels::change_list::change_list_ui;
use highwater_analysis::Comparison;
use highwater_session::{Command, Selected};
use highwater_timeline::{Change, ChangeKind, tensor_label};

/// The choice of the other lane.
pub(super) fn choice_ui(ui: &mut egui::Ui, comparison: &Comparison, state: &mut PeakState) {
    if comparison.lanes.len() < 2 {
        return;
    }
    let own = state.lane_in(comparison);
    let mut chosen = state.other_in(comparison).map(|lane| comparison.lanes[lane].id);
    let others = comparison.lanes.iter().enumerate().filter(|(lane, _)| *lane != own);
    let choices = std::iter::once(None).chain(others.map(|(_, lane)| Some(lane.id)));
    let list = egui::ComboBox::from_id_salt("peak against")
        .width(ui.available_width() - 8.0)
        .truncate()
        .show_values(ui, "compared lane: ", &mut chosen, choices, |id| match id {
            Some(id) => format!("baseline: {}", comparison.lane_title(*id)),
            None => "no baseline".to_owned(),
        });
    if list.changed() {
        state.against = chosen;
    }
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
    let found = |change: &Change| {
        let is_here = change.is_tensor && change.kind() != ChangeKind::Gone;
        is_here.then(|| member_of(shown, &change.of.name)).flatten()
    };
    change_list_ui(ui, changes, shown.selected, found, commands);
    ui.separator();
}

/// The live tensor with a name, the largest of several.
fn member_of(shown: Shown<'_>, name: &str) -> Option<Selected> {
    let mut members = shown.report.set.members.iter().map(|member| member.tensor);
    members.find(|tensor| tensor_label(shown.comparison, *tensor) == name)
}
