//! The schedule editor: the graphs of the session, and the entries of an iteration.
//!
//! In: the session. Out: commands; each edit is the whole list of entries with one change, and one undo step (the
//! letters typed into one field together). Deliberately not here: the meaning of a schedule (`workload::SchedulePlan`).

mod entry;
mod graphs;
mod values;

use std::collections::BTreeMap;

use eframe::egui::{self, RichText};

use crate::panels::PaneCx;
use crate::panels::schedule::count_field;
use crate::theme::Theme;
use crate::widgets::{Named as _, button_ui};
use highwater_model::units::{counted, grouped};
use highwater_model::workload::{EntryKind, ScheduleEntry, ScheduleError, SchedulePlan, ScheduledGraph};
use highwater_session::{Command, Session};

/// Panes of this width show graphs and runs side by side; the graphs have this share.
const WIDE: f32 = 620.0;
const GRAPHS_SHARE: f32 = 0.29;

#[derive(Debug, Default)]
pub struct ScheduleEditorState {
    /// Names in editing, by the graph's own name.
    names: BTreeMap<String, String>,
    /// Texts of generators in editing, by entry and dimension, with the generator's text at the last edit.
    texts: BTreeMap<(usize, String), (String, String)>,
    /// The size of the schedule, with the plan and graphs it was computed for.
    counted: Option<(SchedulePlan, Vec<ScheduledGraph>, Result<u64, ScheduleError>)>,
    /// The row whose first field gets the keyboard.
    focus: Option<usize>,
    /// Gives the runs the keyboard, as after the pane's shortcut.
    pub wants_focus: bool,
}

impl ScheduleEditorState {
    /// Appends a run of the first graph, which gets the keyboard; `None` where no graph is open.
    pub fn add_run(&mut self, session: &Session) -> Option<Command> {
        let whole = &session.loaded()?.whole;
        let first = whole.scheduled_graphs().into_iter().next()?;
        let plan = session.document().plan.or_stated(&whole.schedule);
        let mut entries = plan.entries.clone();
        self.focus = Some(entries.len());
        entries.push(ScheduleEntry::run(first.name));
        Some(Command::SetEntries { entries, field: None })
    }

    /// What the source states, else each graph once in the default order; `None` where none is open or a schedule exists.
    pub fn list_graphs(&mut self, session: &Session) -> Option<Command> {
        let whole = &session.loaded()?.whole;
        let graphs = whole.scheduled_graphs();
        if graphs.is_empty() || !session.document().plan.entries.is_empty() {
            return None;
        }
        self.focus = Some(0);
        let each = graphs.into_iter().map(|graph| ScheduleEntry::run(graph.name));
        let entries = if whole.schedule.is_empty() {
            each.collect()
        } else {
            whole.schedule.clone()
        };
        Some(Command::SetEntries { entries, field: None })
    }

    /// The size of a schedule, computed when it changes.
    fn count(&mut self, plan: &SchedulePlan, graphs: &[ScheduledGraph]) -> &Result<u64, ScheduleError> {
        let is_known = matches!(&self.counted, Some((known, of, _)) if known == plan && of == graphs);
        if !is_known {
            let shown = plan.shown_graphs(graphs.to_vec());
            // Only errors need the runs.
            let count = plan
                .n_runs(&shown)
                .and_then(|count| plan.schedule_of(&shown).map(|_| count));
            self.counted = Some((plan.clone(), graphs.to_vec(), count));
        }
        &self.counted.get_or_insert_with(|| (plan.clone(), Vec::new(), Ok(0))).2
    }
}

#[derive(Clone, Copy)]
struct Shown<'a> {
    session: &'a Session,
    plan: &'a SchedulePlan,
    /// Graphs under their own names.
    graphs: &'a [ScheduledGraph],
    theme: &'a Theme,
}

impl Shown<'_> {
    /// Graphs under the names shown.
    fn names(&self) -> Vec<&str> {
        let names = self.graphs.iter().map(|graph| self.plan.shown_name(&graph.name));
        names.collect()
    }

    fn edited(&self, change: impl FnOnce(&mut Vec<ScheduleEntry>), field: Option<String>) -> Command {
        let mut entries = self.plan.entries.clone();
        change(&mut entries);
        Command::SetEntries { entries, field }
    }
}

pub fn schedule_editor_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut ScheduleEditorState) {
    let Some(loaded) = cx.session.loaded() else {
        ui.weak("This tab shows the graphs and runs of the session. Open a graph (Ctrl+O) or a sample.");
        return;
    };
    let graphs = loaded.whole.scheduled_graphs();
    let shown = Shown {
        session: cx.session,
        plan: &cx.session.document().plan,
        graphs: &graphs,
        theme: cx.theme,
    };
    let area = ui.available_rect_before_wrap();
    if area.width() < WIDE {
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            graphs::graphs_ui(ui, shown, &mut state.names, cx);
            ui.separator();
            runs_ui(ui, shown, state, cx.commands);
        });
        return;
    }
    let middle = area.left() + area.width() * GRAPHS_SHARE;
    let left = egui::Rect::from_min_max(area.min, egui::pos2(middle - 6.0, area.bottom()));
    let right = egui::Rect::from_min_max(egui::pos2(middle + 6.0, area.top()), area.max);
    let mut column = ui.new_child(egui::UiBuilder::new().max_rect(left).id_salt("graphs of the session"));
    let scroll = egui::ScrollArea::vertical()
        .id_salt("graphs")
        .auto_shrink([false, false]);
    scroll.show(&mut column, |ui| {
        graphs::graphs_ui(ui, shown, &mut state.names, cx);
    });
    let mut column = ui.new_child(egui::UiBuilder::new().max_rect(right).id_salt("runs of the session"));
    let scroll = egui::ScrollArea::vertical().id_salt("runs").auto_shrink([false, false]);
    scroll.show(&mut column, |ui| runs_ui(ui, shown, state, cx.commands));
    ui.advance_cursor_after_rect(area);
}

fn runs_ui(ui: &mut egui::Ui, shown: Shown<'_>, state: &mut ScheduleEditorState, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        ui.strong("Runs");
        iterations_ui(ui, shown, commands);
        add_ui(ui, shown, state, commands);
    });
    summary_ui(ui, shown, state);
    if shown.plan.entries.is_empty() {
        let stated = shown.session.loaded().map_or(0, |loaded| loaded.whole.schedule.len());
        if stated > 0 {
            let entries = match stated {
                1 => "1 entry".to_owned(),
                many => format!("{many} entries"),
            };
            ui.weak(format!(
                "Graphs run and are unloaded as the log says: {entries}. List all graphs to see and change them."
            ));
            return;
        }
        ui.weak(
            "Every graph runs once per iteration, in the order of the files. Add a run to change order, values or \
                 repeats.",
        );
        return;
    }
    let idle = shown.plan.idle_entries(shown.graphs);
    for position in 0..shown.plan.entries.len() {
        ui.push_id(position, |ui| {
            entry::entry_ui(ui, shown, position, idle.contains(&position), state, commands);
        });
    }
}

fn iterations_ui(ui: &mut egui::Ui, shown: Shown<'_>, commands: &mut Vec<Command>) {
    ui.label("iterations").on_hover_text("Number of runs of the whole list");
    let mut iterations = shown.plan.iterations;
    let response = ui.add(count_field(&mut iterations));
    let response = response.named(egui::Role::SpinButton, || "iterations of the schedule");
    if response.changed() {
        commands.push(Command::SetIterations(iterations));
    }
}

/// Buttons that add an entry or remove all.
fn add_ui(ui: &mut egui::Ui, shown: Shown<'_>, state: &mut ScheduleEditorState, commands: &mut Vec<Command>) {
    if shown.graphs.is_empty() {
        return;
    }
    let add = ui.button("Add run").on_hover_text("Append a run of the first graph");
    if std::mem::take(&mut state.wants_focus) {
        // The default runs come first.
        if shown.plan.entries.is_empty() {
            add.request_focus();
        } else {
            state.focus = Some(0);
        }
    }
    if add.clicked() {
        commands.extend(state.add_run(shown.session));
    }
    if shown.plan.entries.is_empty() {
        let hint = "Start from the default schedule: each graph once";
        if button_ui(ui, egui::Button::new("List all graphs"), hint) {
            commands.extend(state.list_graphs(shown.session));
        }
    } else {
        let hint = "Remove all entries: every graph runs once, in order";
        if button_ui(ui, egui::Button::new("Clear"), hint) {
            commands.push(shown.edited(Vec::clear, None));
        }
    }
}

/// The size of the schedule, and its errors.
fn summary_ui(ui: &mut egui::Ui, shown: Shown<'_>, state: &mut ScheduleEditorState) {
    let plan = shown.session.scheduled();
    match state.count(plan, shown.graphs) {
        Ok(count) => {
            let per_iteration = count / u64::from(plan.iterations.max(1));
            let text = if plan.iterations > 1 {
                format!(
                    "{} per iteration, {} in {}",
                    counted(per_iteration, "run"),
                    grouped(*count),
                    counted(u64::from(plan.iterations), "iteration")
                )
            } else {
                counted(*count, "run")
            };
            groups_ui(ui, text, shown.plan.concurrent_groups().len());
        }
        Err(error) => {
            ui.label(RichText::new(error.to_string()).color(shown.theme.bad));
        }
    }
    let groups = shown.plan.concurrent_groups();
    for finding in shown
        .session
        .findings()
        .iter()
        .filter(|finding| finding.rule == "R53")
        .take(1)
    {
        let text = "R53: the active policy forbids graphs that run at the same time";
        ui.label(RichText::new(text).color(shown.theme.bad))
            .on_hover_text(&finding.message);
    }
    let is_alone = |entry: &ScheduleEntry| {
        let number = entry.group.filter(|_| entry.kind == EntryKind::Run);
        number.filter(|number| groups.iter().all(|(known, _)| known != number))
    };
    for number in shown.plan.entries.iter().filter_map(is_alone) {
        ui.weak(format!(
            "Group {number} has one run, so nothing runs at the same time. Add a neighboring run to the group."
        ));
    }
}

/// The number of runs, and the meaning of groups.
fn groups_ui(ui: &mut egui::Ui, runs: String, n_groups: usize) {
    if n_groups == 0 {
        ui.weak(runs);
        return;
    }
    let groups = counted(n_groups as u64, "concurrent group");
    ui.weak(format!("{runs}; {groups}: drawn one graph after another"))
        .on_hover_text(
            "Graphs of a group hold their arenas, weights, inputs and outputs from the group's first step to its last. \
         Reserved bytes of static graphs are exact under policies 0 and 3. Peak live and pools of dynamic graphs are \
         simulated one graph after another: lower bounds. Policies 2 and 4 forbid graphs that run at the same time \
         and are simulated one graph after another.",
        );
}
