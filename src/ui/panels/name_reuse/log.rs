//! The log of name reuse, character for character; a line selects its tensors.

use std::sync::{Arc, Weak};

use eframe::egui::{self, RichText};

use crate::numbers::count_f32;
use crate::panels::PaneCx;
use crate::widgets::{Named as _, keep_arrows, named_button_ui, small, walked_row};
use highwater_analysis::{Comparison, LaneSet};
use highwater_model::units::grouped;
use highwater_rewrite::name_reuse::{LogLine, NameReuse, ReuseReport};
use highwater_session::{Command, NamesReport, Selected, Session};

const HEIGHT: f32 = 17.0;
const PAGE: usize = 10;

#[derive(Clone, Debug, Default)]
pub(super) struct LogState {
    filter: String,
    known: Option<Filtered>,
    selected: Option<usize>,
    /// The line that gets the keyboard.
    focus: Option<usize>,
}

/// Lines that match the filter.
#[derive(Clone, Debug)]
struct Filtered {
    report: Weak<NamesReport>,
    level: *const ReuseReport,
    filter: String,
    lines: Vec<usize>,
}

pub(super) fn log_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    report: &Arc<NamesReport>,
    level: &ReuseReport,
    state: &mut LogState,
) {
    let log = &level.reuse.log;
    filter_lines(report, level, state);
    let Some(known) = state.known.clone() else { return };
    ui.horizontal_wrapped(|ui| {
        ui.strong("Log");
        let field = egui::TextEdit::singleline(&mut state.filter)
            .hint_text("filter")
            .desired_width(150.0);
        ui.add(field).named(egui::Role::TextInput, || "filter the log");
        ui.weak(extent(known.lines.len() as u64, &level.reuse));
        let copy = ui.add_enabled_ui(!log.is_empty(), |ui| {
            named_button_ui(ui, small("Copy"), "copy the log", "Copy the lines that are shown")
        });
        if copy.inner {
            let lines: Vec<&str> = known.lines.iter().map(|line| &*log[*line].text).collect();
            ui.ctx().copy_text(lines.join("\n"));
        }
        ui.weak("click: select the variable; Shift: select the variable that it reuses");
    });
    if log.is_empty() {
        ui.weak("The pass prints nothing at this level.");
        return;
    }
    let mut area = egui::ScrollArea::both()
        .id_salt("log of variable reuse")
        .auto_shrink([false, false]);
    if let Some(offset) = walk(ui, &known.lines, state) {
        area = area.vertical_scroll_offset(offset);
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    area.show_rows(ui, HEIGHT, known.lines.len(), |ui, rows| {
        for row in rows {
            let number = known.lines[row];
            line_ui(ui, cx, report, number, &log[number], state);
        }
    });
}

/// How many lines are shown. A very long log is cut after its first lines.
fn extent(shown: u64, reuse: &NameReuse) -> String {
    let (kept, all) = (reuse.log.len() as u64, reuse.n_log_lines);
    let of = if kept < all {
        format!("first {} of {} lines", grouped(kept), grouped(all))
    } else {
        format!("{} lines", grouped(all))
    };
    if shown == kept {
        of
    } else {
        let the = if kept < all { "the " } else { "" };
        format!("{} of {the}{of}", grouped(shown))
    }
}

/// Filters again where report, level or filter changed.
fn filter_lines(report: &Arc<NamesReport>, level: &ReuseReport, state: &mut LogState) {
    let is_known = state.known.as_ref().is_some_and(|known| {
        std::ptr::eq(known.report.as_ptr(), Arc::as_ptr(report))
            && std::ptr::eq(known.level, level)
            && known.filter == state.filter
    });
    if is_known {
        return;
    }
    let wanted = state.filter.to_lowercase();
    let lines = level.reuse.log.iter().enumerate();
    let lines = lines.filter(|(_, line)| wanted.is_empty() || line.text.to_lowercase().contains(&wanted));
    state.selected = None;
    state.known = Some(Filtered {
        report: Arc::downgrade(report),
        level,
        filter: state.filter.clone(),
        lines: lines.map(|(number, _)| number).collect(),
    });
}

/// Keys while a line has the keyboard; returns the scroll offset.
fn walk(ui: &egui::Ui, lines: &[usize], state: &mut LogState) -> Option<f32> {
    let here = ui.memory(egui::Memory::focused)?;
    let here = lines.iter().position(|line| line_id(*line) == here)?;
    let next = walked_row(ui, Some(here), lines.len(), PAGE)?;
    state.focus = Some(lines[next]);
    let top = count_f32(next) * HEIGHT;
    Some((top - ui.available_height() * 0.4).max(0.0))
}

fn line_id(number: usize) -> egui::Id {
    egui::Id::unique(("log line of variable reuse", number))
}

/// The line's id is fixed, so that it keeps the keyboard while lines scroll.
fn line_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    report: &NamesReport,
    number: usize,
    line: &LogLine,
    state: &mut LogState,
) {
    let (session, theme) = (cx.session, cx.theme);
    let is_hit = line.text.starts_with("!!!") || line.text.starts_with("Hit Cache");
    let color = if is_hit { theme.text } else { theme.text_weak };
    let font = egui::FontId::monospace(11.5);
    let galley = ui.painter().layout_no_wrap(line.text.to_string(), font, color);
    let width = (galley.size().x + 8.0).max(ui.available_width());
    let (_, area) = ui.allocate_space(egui::vec2(width, HEIGHT));
    let response = ui.interact(area, line_id(number), egui::Sense::click());
    let is_selected = state.selected == Some(number);
    let response = response.named_choice(egui::Role::Button, is_selected, || &*line.text);
    if is_selected {
        ui.painter()
            .rect_filled(area, 2, ui.visuals().selection.bg_fill.gamma_multiply(0.5));
    }
    if response.hovered() || response.has_focus() {
        let stroke = egui::Stroke::new(1.0, theme.accent());
        ui.painter().rect_stroke(area, 2, stroke, egui::StrokeKind::Inside);
    }
    let at = egui::pos2(area.left() + 4.0, area.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, color);
    if state.focus == Some(number) {
        state.focus = None;
        response.request_focus();
    }
    if response.has_focus() {
        keep_arrows(ui, response.id, false, true);
    }
    if response.clicked() {
        response.request_focus();
        state.selected = Some(number);
        let [variable, cache] = report.tensors_of(line);
        let is_shifted = ui.input(|input| input.modifiers.shift);
        let tensor = if is_shifted {
            cache.or(variable)
        } else {
            variable.or(cache)
        };
        let selected = session
            .answer()
            .and_then(|(comparison, _)| shown(session, comparison, tensor?));
        if selected.is_some() {
            cx.commands.push(Command::Select(selected));
        }
    }
    response.on_hover_ui_at_pointer(|ui| about_ui(ui, line));
}

/// The variables of a line.
fn about_ui(ui: &mut egui::Ui, line: &LogLine) {
    let words = match &line.variables {
        [Some(variable), Some(cache)] if variable != cache => {
            format!("click: select {variable}; with Shift: {cache}")
        }
        [Some(name), _] | [None, Some(name)] => format!("click: select {name}"),
        [None, None] => "no variable".to_owned(),
    };
    ui.label(words);
    ui.label(RichText::new(format!("block {}, op {}", line.block, line.op)).weak());
}

/// The tensor that lanes show for a variable: lanes of name reuse have every variable, others one tensor per storage.
fn shown(session: &Session, comparison: &Comparison, tensor: Selected) -> Option<Selected> {
    let graphs = comparison.workload.graphs();
    if graphs.is_empty() || session.document().lanes == LaneSet::NameReuse {
        return Some(tensor);
    }
    let graph = &graphs.get(tensor.graph.0 as usize)?.graph;
    let root = graph.storages()[graph.tensors()[tensor.tensor].storage].root;
    let run = comparison
        .axis
        .runs
        .iter()
        .position(|run| run.run.graph == tensor.graph)?;
    Some(Selected {
        run: u32::try_from(run).ok()?,
        graph: tensor.graph,
        tensor: root,
    })
}
