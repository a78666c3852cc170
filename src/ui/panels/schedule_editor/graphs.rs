//! The files and graphs of the session: added from files, renamed, removed.

use std::collections::BTreeMap;

use eframe::egui::{self, RichText};

use super::Shown;
use crate::commands::UiCommand;
use crate::dialogs::Purpose;
use crate::panels::PaneCx;
use crate::widgets::{Named as _, named_button_ui, small, wrapped_ui};
use highwater_model::units::counted;
use highwater_model::workload::ScheduleEntry;
use highwater_session::Command;

pub(super) fn graphs_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    names: &mut BTreeMap<String, String>,
    cx: &mut PaneCx<'_>,
) {
    ui.horizontal_wrapped(|ui| {
        ui.strong("Graphs");
        if ui.button("Add from a file…").clicked() {
            cx.window_commands.push(UiCommand::AskPath(Purpose::Add));
        }
    });
    let sources = &shown.session.document().sources;
    for (position, source) in sources.iter().enumerate().filter(|_| sources.len() > 1) {
        ui.horizontal(|ui| {
            let words = format!("remove {} from the session", source.title());
            if named_button_ui(ui, small("×"), &words, &words) {
                cx.commands.push(Command::Remove(position));
            }
            let label = egui::Label::new(source.title()).truncate();
            ui.add(label).on_hover_text(source.label());
        });
    }
    let shown_graphs = shown.session.loaded().map_or(&[][..], |loaded| loaded.whole.graphs());
    for (graph, entry) in shown.graphs.iter().zip(shown_graphs) {
        ui.add_space(3.0);
        name_ui(ui, shown, &graph.name, names, cx.commands);
        let mut facts = counted(entry.graph.ops().len() as u64, "op");
        if !graph.symbols.is_empty() {
            facts.push_str(&format!("; dimensions {}", graph.symbols.join(", ")));
        }
        let n_runs = shown
            .plan
            .entries
            .iter()
            .filter(|entry| shown.plan.runs_graph(entry, &graph.name))
            .count();
        if !shown.plan.entries.is_empty() && n_runs == 0 {
            facts.push_str("; never runs");
        }
        wrapped_ui(ui, RichText::new(facts).small());
    }
}

/// The name as a field, and a button that adds a run.
fn name_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    own: &str,
    names: &mut BTreeMap<String, String>,
    commands: &mut Vec<Command>,
) {
    let current = shown.plan.shown_name(own).to_owned();
    ui.horizontal(|ui| {
        let words = format!("add a run of {current}");
        if named_button_ui(ui, small("+"), &words, &words) {
            let run = ScheduleEntry::run(own.to_owned());
            commands.push(shown.edited(|entries| entries.push(run), None));
        }
        let text = names.entry(own.to_owned()).or_insert_with(|| current.clone());
        let width = (ui.available_width() - 8.0).max(60.0);
        let field = egui::TextEdit::singleline(text).desired_width(width);
        let response = ui.add(field);
        let words = format!("name of {own}");
        let response = if current == own {
            response.on_hover_text("Name in the session; edit to rename")
        } else {
            response.on_hover_text(format!("Original name {own}; clear the field to restore it"))
        };
        let response = response.named_field(text, || &words);
        if response.lost_focus() && text.trim() != current {
            commands.push(Command::RenameGraph {
                own: own.to_owned(),
                name: text.clone(),
            });
        } else if !response.has_focus() {
            text.clone_from(&current);
        }
    });
}
