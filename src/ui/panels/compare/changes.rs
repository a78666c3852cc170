//! Changes at the peak of a lane against the baseline: tensors that are new, gone, bigger, smaller.

use eframe::egui;

use super::{CompareState, Shown};
use crate::panels::change_list::change_list_ui;
use crate::theme::STALE;
use highwater_session::Command;
use highwater_timeline::Change;

pub(super) fn changes_ui(ui: &mut egui::Ui, shown: Shown<'_>, state: &CompareState, commands: &mut Vec<Command>) {
    let Some(lane) = state.lane_in(shown.comparison, shown.baseline) else {
        ui.weak("Pin a configuration or compare several policies to list changes at the peak.");
        return;
    };
    let lanes = &shown.comparison.lanes;
    let ids = (lanes[shown.baseline].id, lanes[lane].id);
    if !shown.session.lane_changes().wants(&ids) {
        commands.push(Command::CompareLanes(ids.0, ids.1));
    }
    let (title, baseline) = (shown.title(lane), shown.title(shown.baseline));
    ui.strong(format!("Changes at the peak of {title}, baseline {baseline}"));
    let Some(known) = shown.session.lane_changes().last() else {
        ui.weak("Comparing both peaks…");
        return;
    };
    ui.scope(|ui| {
        if !shown.session.lane_changes().has(&ids) {
            ui.multiply_opacity(STALE);
        }
        if known.changes.rows.is_empty() {
            ui.weak("Both peaks have the same live tensors.");
            return;
        }
        let found = |change: &Change| known.tensor(&change.of);
        change_list_ui(ui, &known.changes, shown.session.selection(), found, commands);
    });
}
