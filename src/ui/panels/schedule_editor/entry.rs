//! One entry of the schedule: action, graph, repeats, concurrent group, order.

use eframe::egui::{self, ComboBox, RichText, Role};

use super::values::values_ui;
use super::{ScheduleEditorState, Shown};
use crate::combo::ShowChoices as _;
use crate::panels::schedule::count_field;
use crate::widgets::{Named as _, named_button_ui, small};
use highwater_model::workload::{EntryKind, ScheduleEntry};
use highwater_session::Command;

/// Unused groups that the list offers.
const GROUPS: u32 = 3;

/// `is_idle` says that nothing happens there.
pub(super) fn entry_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    position: usize,
    is_idle: bool,
    state: &mut ScheduleEditorState,
    commands: &mut Vec<Command>,
) {
    let Some(entry) = shown.plan.entries.get(position) else {
        return;
    };
    ui.add_space(2.0);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.monospace(format!("{:>2}", position + 1));
        let first = kind_ui(ui, shown, position, entry, commands);
        if state.focus == Some(position) {
            first.request_focus();
            first.scroll_to_me(None);
            state.focus = None;
        }
        graph_ui(ui, shown, position, entry, commands);
        if entry.kind == EntryKind::Run {
            repeats_ui(ui, shown, position, entry, commands);
            group_ui(ui, shown, position, entry, commands);
        }
        order_ui(ui, shown, position, entry, state, commands);
    });
    if is_idle {
        let text = match entry.kind {
            EntryKind::Load => "the graph is already loaded: no effect",
            _ => "the graph is not loaded: no effect",
        };
        ui.label(
            RichText::new(format!("     {text}"))
                .small()
                .color(ui.visuals().warn_fg_color),
        );
    }
    let graph = shown
        .plan
        .graph_of(entry, shown.graphs)
        .and_then(|idx| shown.graphs.get(idx));
    if let (EntryKind::Run, Some(graph)) = (entry.kind, graph) {
        for dim in &graph.symbols {
            ui.push_id(dim, |ui| {
                values_ui(ui, shown, position, dim, &mut state.texts, commands);
            });
        }
    }
}

/// A named list of choices; returns the chosen one.
fn combo_ui<T: Clone>(
    ui: &mut egui::Ui,
    words: &str,
    selected: &str,
    width: f32,
    choices: &[(T, String, &str)],
) -> (egui::Response, Option<T>) {
    let mut chosen = None;
    let response = ComboBox::from_id_salt(words.split(": ").last().unwrap_or_default())
        .selected_text(selected)
        .width(width)
        .truncate()
        .show_choices(ui, |ui| {
            for (value, text, explanation) in choices {
                let choice = ui.selectable_label(text == selected, text);
                if choice.on_hover_text(*explanation).clicked() {
                    chosen = Some(value.clone());
                }
            }
        })
        .named(Role::ComboBox, || format!("{words}, {selected}"));
    (response, chosen)
}

fn kind_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    position: usize,
    entry: &ScheduleEntry,
    commands: &mut Vec<Command>,
) -> egui::Response {
    let explanation = |kind: EntryKind| match kind {
        EntryKind::Run => "run the graph; load it first if needed",
        EntryKind::Load => "load the graph onto the device; it runs later",
        EntryKind::Unload => "unload the graph: free its arena, weights, inputs and outputs",
    };
    let choices = EntryKind::ALL.map(|kind| (kind, kind.name().to_owned(), explanation(kind)));
    let words = format!("entry {}: action", position + 1);
    let (response, chosen) = combo_ui(ui, &words, entry.kind.name(), 66.0, &choices);
    if let Some(kind) = chosen.filter(|kind| *kind != entry.kind) {
        commands.push(shown.edited(|entries| entries[position].kind = kind, None));
    }
    response
}

fn graph_ui(ui: &mut egui::Ui, shown: Shown<'_>, position: usize, entry: &ScheduleEntry, commands: &mut Vec<Command>) {
    let names = shown.names();
    let own = shown.graphs.iter().map(|graph| graph.name.clone());
    let choices: Vec<(String, String, &str)> = own
        .zip(&names)
        .map(|(own, name)| (own, (*name).to_owned(), "this graph"))
        .collect();
    let words = format!("entry {}: graph", position + 1);
    let selected = shown.plan.shown_name(&entry.graph);
    let (_, chosen) = combo_ui(ui, &words, selected, 118.0, &choices);
    if let Some(own) = chosen {
        commands.push(shown.edited(
            |entries| {
                let entry = &mut entries[position];
                // Values belong to the dimensions of a graph; common dimensions keep theirs.
                let graph = shown.graphs.iter().find(|graph| graph.name == own);
                entry
                    .dims
                    .retain(|dim, _| graph.is_some_and(|graph| graph.symbols.contains(dim)));
                entry.graph = own;
            },
            None,
        ));
    }
}

fn repeats_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    position: usize,
    entry: &ScheduleEntry,
    commands: &mut Vec<Command>,
) {
    let mut repeats = entry.repeats;
    let field = count_field(&mut repeats).prefix("× ");
    let response = ui.add(field).on_hover_text("Number of passes over its values");
    let words = format!("entry {}: repeats", position + 1);
    let response = response.named(Role::SpinButton, || &words);
    if response.changed() {
        commands.push(shown.edited(|entries| entries[position].repeats = repeats, Some(words)));
    }
    if response.lost_focus() || response.drag_stopped() {
        commands.push(Command::EndTyping);
    }
}

fn group_ui(ui: &mut egui::Ui, shown: Shown<'_>, position: usize, entry: &ScheduleEntry, commands: &mut Vec<Command>) {
    let most = shown
        .plan
        .entries
        .iter()
        .filter_map(|entry| entry.group)
        .max()
        .unwrap_or(0);
    let text = |group: Option<u32>| group.map_or("alone".to_owned(), |number| format!("group {number}"));
    let mut choices = vec![(None, text(None), "it runs alone")];
    for number in 1..=most.saturating_add(1).clamp(GROUPS, 99) {
        choices.push((
            Some(number),
            text(Some(number)),
            "neighbors of one group run at the same time",
        ));
    }
    let words = format!("entry {}: concurrent group", position + 1);
    let (_, chosen) = combo_ui(ui, &words, &text(entry.group), 76.0, &choices);
    if let Some(group) = chosen {
        commands.push(shown.edited(|entries| entries[position].group = group, None));
    }
}

/// Buttons: up, down, duplicate, remove.
fn order_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    position: usize,
    entry: &ScheduleEntry,
    state: &mut ScheduleEditorState,
    commands: &mut Vec<Command>,
) {
    let last = shown.plan.entries.len() - 1;
    let button = |ui: &mut egui::Ui, is_enabled: bool, text: &str, words: &str| {
        let words = format!("{words} entry {}", position + 1);
        let button = |ui: &mut egui::Ui| named_button_ui(ui, small(text), &words, &words);
        ui.add_enabled_ui(is_enabled, button).inner
    };
    if button(ui, position > 0, "up", "move up") {
        commands.push(shown.edited(|entries| entries.swap(position, position - 1), None));
    }
    if button(ui, position < last, "down", "move down") {
        commands.push(shown.edited(|entries| entries.swap(position, position + 1), None));
    }
    if button(ui, true, "+", "duplicate") {
        state.focus = Some(position + 1);
        commands.push(shown.edited(|entries| entries.insert(position + 1, entry.clone()), None));
    }
    if button(ui, true, "×", "remove") {
        state.focus = (last > 0).then(|| position.min(last - 1));
        commands.push(shown.edited(|entries| drop(entries.remove(position)), None));
    }
}
