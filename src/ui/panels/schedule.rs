//! The session: graphs, schedule (iterations, values of symbolic dimensions), device.

use std::collections::BTreeMap;

use eframe::egui::{self, RichText};

use crate::combo::ShowChoices as _;
use crate::panels::PaneCx;
use crate::theme::Theme;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_analysis::{ScheduleChoice, study_of, tensor_count};
use highwater_model::graph::Phase;
use highwater_session::{Command, Session};

/// Texts in editing.
#[derive(Debug, Default)]
pub struct ScheduleState {
    dims: BTreeMap<String, String>,
}

pub fn schedule_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut ScheduleState) {
    graphs_ui(ui, cx);
    ui.add_space(4.0);
    let choice = notes_ui(ui, cx.session);
    if choice == ScheduleChoice::Fixed {
        return;
    }
    egui::Grid::new("schedule")
        .num_columns(2)
        .spacing([8.0, 5.0])
        .show(ui, |ui| {
            if choice == ScheduleChoice::Device {
                device_ui(ui, cx);
                return;
            }
            iterations_ui(ui, cx);
            let symbols = cx
                .session
                .loaded()
                .map(|loaded| loaded.workload.symbols())
                .unwrap_or_default();
            for symbol in &symbols {
                dim_ui(ui, cx, symbol, state);
            }
            device_ui(ui, cx);
        });
    evaluation_ui(ui, cx);
}

/// Why the schedule is fixed; returns the parts that are not.
fn notes_ui(ui: &mut egui::Ui, session: &Session) -> ScheduleChoice {
    let Some(loaded) = session.loaded() else {
        return ScheduleChoice::Any;
    };
    let study = study_of(&loaded.workload);
    for note in study.schedule_notes(&loaded.workload) {
        let label = wrapped_ui(ui, RichText::new(note.text).small());
        if !note.tooltip.is_empty() {
            label.on_hover_text(note.tooltip);
        }
    }
    study.schedule_choice()
}

/// Files listed without a scroll bar, and the height of longer lists.
const MOST_FILES: usize = 5;
const FILES_HEIGHT: f32 = 92.0;

fn sources_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    let document = cx.session.document();
    let unread: BTreeMap<usize, &str> = cx.session.unread().collect();
    for (position, source) in document.sources.iter().enumerate() {
        ui.horizontal(|ui| {
            if document.sources.len() > 1 {
                let button = ui.small_button("×").on_hover_text("Remove this file from the session");
                if button.clicked() {
                    cx.commands.push(Command::Remove(position));
                }
            }
            if let Some(why) = unread.get(&position) {
                unread_ui(ui, &source.title(), why, cx.theme);
            }
            ui.add(egui::Label::new(RichText::new(source.title()).strong()).truncate())
                .on_hover_text(source.label());
        });
    }
}

/// The mark of a file that could not be read.
fn unread_ui(ui: &mut egui::Ui, title: &str, why: &str, theme: &Theme) {
    let mark = ui
        .label(RichText::new("not read").color(theme.bad))
        .named(egui::Role::Label, || format!("{title} is not read: {why}"));
    mark.on_hover_text(why);
}

fn graphs_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    let n_files = cx.session.document().sources.len();
    if n_files > MOST_FILES {
        ui.label(format!("{n_files} files"));
        let area = egui::ScrollArea::vertical().id_salt("files").max_height(FILES_HEIGHT);
        area.show(ui, |ui| sources_ui(ui, cx));
        ui.add_space(4.0);
    } else {
        sources_ui(ui, cx);
    }
    let Some(loaded) = cx.session.loaded() else {
        return;
    };
    let graphs = loaded.workload.graphs();
    for entry in graphs.iter().take(MOST_FILES) {
        let graph = &entry.graph;
        let n_tensors = tensor_count(entry);
        let text = format!("{}: {} ops, {n_tensors} tensors", entry.name, graph.ops().len());
        let others = (graph.tensors().len() as u64).saturating_sub(n_tensors);
        let label = ui.add(egui::Label::new(RichText::new(&text).small()).truncate());
        label.on_hover_text(format!(
            "{text}\ntensor count as in inspect; {others} more are inputs, weights and workspaces"
        ));
    }
    if let Some(rest) = graphs.get(MOST_FILES..).filter(|rest| !rest.is_empty()) {
        ui.label(RichText::new(format!("and {} more graphs, listed under Show", rest.len())).small());
    }
    part_ui(ui, cx);
}

/// The choice of a part of the files: a graph, a called graph, a compiler's arena.
fn part_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    const WHOLE: &str = "whole session";
    const MOST_PARTS: usize = 300;
    let Some(loaded) = cx.session.loaded() else { return };
    // A single graph is the whole session.
    let parts = match loaded.whole.graphs() {
        [_] => loaded.parts.get(1..).unwrap_or_default(),
        _ => &loaded.parts[..],
    };
    if parts.is_empty() {
        return;
    }
    let before = cx.session.document().part.clone();
    let mut chosen = before.clone();
    ui.horizontal(|ui| {
        let label = ui
            .label("show")
            .on_hover_text("Show the whole session or one graph or recording");
        egui::ComboBox::from_id_salt("part")
            .width(ui.available_width())
            .selected_text(before.as_deref().unwrap_or(WHOLE))
            .truncate()
            .height(420.0)
            .show_choices(ui, |ui| {
                let choice = ui.selectable_value(&mut chosen, None, WHOLE);
                choice.on_hover_text("All graphs, in order");
                for part in parts.iter().take(MOST_PARTS) {
                    let words = part.of.words();
                    let choice = ui.selectable_value(&mut chosen, Some(part.name.clone()), &part.name);
                    choice.on_hover_text(words);
                }
                if let Some(rest) = parts.get(MOST_PARTS..).filter(|rest| !rest.is_empty()) {
                    ui.weak(format!("and {} more: highwater compare FILE --graph NAME", rest.len()));
                }
            })
            .labelled_by(label.id);
    });
    if chosen != before {
        cx.commands.push(Command::ShowPart(chosen));
    }
}

/// A field of a count from 1 on. It never changes what was given: what is too much for a simulation is refused there, with the limit.
pub(super) fn count_field(count: &mut u32) -> egui::DragValue<'_> {
    egui::DragValue::new(count)
        .range(1..=u32::MAX)
        .clamp_existing_to_range(false)
        .speed(0.1)
}

fn iterations_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    let label = ui
        .label("iterations")
        .on_hover_text("Number of runs of the whole schedule");
    let mut iterations = cx.session.document().plan.iterations;
    if ui.add(count_field(&mut iterations)).labelled_by(label.id).changed() {
        cx.commands.push(Command::SetIterations(iterations));
    }
    ui.end_row();
}

/// A symbolic dimension: one value, or a list with one run each.
fn dim_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, symbol: &str, state: &mut ScheduleState) {
    let label = ui
        .label(symbol)
        .on_hover_text("A symbolic dimension of the graph: one value, or a list such as 64,128,256 with one run each");
    let values = cx.session.dim_values(symbol).to_vec();
    let current = text_from_values(&values);
    let text = state.dims.entry(symbol.to_owned()).or_insert_with(|| current.clone());
    let parsed = values_from_text(text);
    let bound = cx.session.bound_dims().get(symbol);
    let hint = bound.map_or_else(String::new, |values| text_from_values(values));
    let field = egui::TextEdit::singleline(text)
        .desired_width(f32::INFINITY)
        .hint_text(hint);
    let response = ui.add(field).labelled_by(label.id);
    if response.changed() {
        let is_empty = text.trim().is_empty();
        if let Some(values) = values_from_text(text).or_else(|| is_empty.then(Vec::new)) {
            cx.commands.push(Command::SetDim {
                name: symbol.to_owned(),
                values,
            });
        }
    } else if !response.has_focus() && parsed.clone().unwrap_or_default() != values {
        *text = current;
    }
    ui.end_row();
    if parsed.is_none() && !text.trim().is_empty() && response.has_focus() {
        ui.label("");
        let text = "write whole numbers from 1, separated by commas";
        ui.label(RichText::new(text).small().color(ui.visuals().error_fg_color));
        ui.end_row();
    }
    if bound.is_some() {
        ui.label("");
        ui.label(RichText::new("from the shape range; entered values take precedence").small())
            .on_hover_text("Values of dynamic_inputs_shape_range; values entered here replace them");
        ui.end_row();
    }
    if cx.session.assumed_dims().contains(symbol) {
        ui.label("");
        ui.label(RichText::new("1 is assumed: type the value you run with").small());
        ui.end_row();
    }
}

fn device_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    let label = ui.label("device");
    let current = cx.session.document().device();
    let combo = egui::ComboBox::from_id_salt("device").width(150.0);
    let response = super::profile_choice_ui(ui, cx, combo, &current).labelled_by(label.id);
    response.on_hover_text(format!("{}\n{}", current.summary, current.marks_sentence()));
    ui.end_row();
}

/// The checkbox for an evaluation graph, where it is possible.
fn evaluation_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    let document = cx.session.document();
    if document.with_evaluation || can_add_evaluation(cx.session) {
        let mut is_on = document.with_evaluation;
        let text = "also run the forward phase as an evaluation graph";
        if ui.checkbox(&mut is_on, text).changed() {
            cx.commands.push(Command::SetEvaluation(is_on));
        }
    }
}

/// Whether the session is one training graph, of which an evaluation graph can be derived.
pub fn can_add_evaluation(session: &Session) -> bool {
    let Some(loaded) = session.loaded() else {
        return false;
    };
    let graphs = loaded.workload.graphs();
    graphs.len() == 1 && graphs[0].graph.ops().iter().any(|op| op.phase == Phase::Backward)
}

/// Values that make shapes change: the current one and its fractions.
pub fn changing_values(session: &Session, symbol: &str) -> Vec<u64> {
    let base = session.dim_values(symbol).first().copied().unwrap_or(1).max(1);
    let base = if base < 8 { 64 } else { base };
    vec![base, base / 2, base * 3 / 4, base / 4, base]
}

fn text_from_values(values: &[u64]) -> String {
    values.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

pub(super) fn values_from_text(text: &str) -> Option<Vec<u64>> {
    let values: Option<Vec<u64>> = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().ok().filter(|value| *value > 0))
        .collect();
    values.filter(|values| !values.is_empty())
}
