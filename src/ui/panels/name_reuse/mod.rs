//! Variable reuse: what `memory_optimize` does to a graph at both levels, what is unsafe about it, and its log.

mod log;

use eframe::egui::{self, RichText};

use self::log::LogState;
use crate::combo::ShowChoices as _;
use crate::panels::PaneCx;
use crate::panels::graph_choice_ui;
use crate::theme::Theme;
use crate::widgets::{Named as _, button_ui, small, wrapped_ui};
use highwater_model::units::{Bytes, grouped};
use highwater_model::workload::GraphIdx;
use highwater_options::keys;
use highwater_rewrite::name_reuse::{ReuseReport, VERSIONS};
use highwater_session::{Command, NamesReport, REUSE_LEVELS, Session};

/// Greatest height of the remarks.
const REMARKS: f32 = 110.0;
/// Remarks listed per kind.
const MANY: usize = 200;

#[derive(Clone, Debug, Default)]
pub struct NameReuseState {
    graph: usize,
    /// Position in [`REUSE_LEVELS`].
    level: usize,
    log: LogState,
}

pub fn name_reuse_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut NameReuseState) {
    let names = names(cx.session);
    state.graph = state.graph.min(names.len().saturating_sub(1));
    options_ui(ui, cx, &names, state);
    let graph = GraphIdx(u32::try_from(state.graph).unwrap_or(0));
    let requested = cx.session.name_reuse();
    if cx.session.answer().is_some() && !cx.session.is_stale() && !requested.wants(&graph) {
        cx.commands.push(Command::ReuseNames(graph));
    }
    if let Some(message) = requested.failure() {
        failure_ui(ui, cx, message, graph);
        return;
    }
    let Some(report) = requested.wanted().filter(|report| report.graph == graph) else {
        ui.weak("Computing…");
        return;
    };
    levels_ui(ui, cx, report, state);
    let level = &report.levels[state.level];
    remarks_ui(ui, level, &report.warnings[state.level], cx.theme);
    ui.separator();
    log::log_ui(ui, cx, report, level, &mut state.log);
}

/// Why there is no report. The request is not repeated, since it would fail again.
fn failure_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, message: &str, graph: GraphIdx) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Variable reuse failed:").color(cx.theme.bad));
        ui.label(message);
    });
    if ui.button("Try again").clicked() {
        cx.commands.push(Command::ReuseNames(graph));
    }
}

/// Graphs or programs.
fn names(session: &Session) -> Vec<&str> {
    let Some(loaded) = session.loaded() else {
        return Vec::new();
    };
    let graphs = loaded.workload.graphs().iter().map(|entry| entry.name.as_str());
    // Of several programs the first one is shown.
    let programs = loaded.workload.programs().iter().map(|program| program.name.as_str());
    graphs.chain(programs.take(1)).collect()
}

/// The graph, and the arguments of the call.
fn options_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, names: &[&str], state: &mut NameReuseState) {
    let options = &cx.session.document().options;
    let text = |key: &str| options.acting(key).to_string();
    ui.horizontal_wrapped(|ui| {
        graph_choice_ui(ui, &mut state.graph, "graph for variable reuse", names);
        version_ui(ui, &text(keys::NAME_REUSE_VERSION), cx.commands);
        let mut skips = text(keys::SKIP_GRADS) == "True";
        let check = ui.checkbox(&mut skips, "skip_grads");
        if check
            .on_hover_text("memory_optimize.skip_grads: skip gradients that optimizers read")
            .changed()
        {
            let text = if skips { "True" } else { "False" };
            cx.commands.push(Command::set_option(keys::SKIP_GRADS, text));
        }
        let skip = text(keys::SKIP_OPT_SET);
        let words = if skip == "None" {
            "skip_opt_set: none".to_owned()
        } else {
            format!("skip_opt_set: {skip}")
        };
        let shown = super::elided(ui, &words, 12.5, 200.0);
        let hint = format!("{words}\nskipped variables; click to show the option");
        if button_ui(ui, egui::Button::new(shown), &hint) {
            cx.option = Some(keys::SKIP_OPT_SET.to_owned());
        }
    });
}

/// The version of the transpiler.
fn version_ui(ui: &mut egui::Ui, acting: &str, commands: &mut Vec<Command>) {
    let row = VERSIONS.iter().find(|row| row.names.contains(&acting));
    let words = |names: &[&str]| match names {
        [number, rest @ ..] if !rest.is_empty() => format!("version {number} (Paddle {})", rest.join(", ")),
        _ => format!("version {acting}"),
    };
    let chosen = row.map_or_else(|| format!("version {acting}"), |row| words(row.names));
    egui::ComboBox::from_id_salt("version of memory_optimize")
        .selected_text(&chosen)
        .show_choices(ui, |ui| {
            for version in VERSIONS {
                let is_chosen = row.is_some_and(|row| row.version == version.version);
                let label = ui.selectable_label(is_chosen, words(version.names));
                if label.on_hover_text(version.summary).clicked() {
                    commands.push(Command::set_option(keys::NAME_REUSE_VERSION, version.release));
                }
            }
        })
        .named(egui::Role::ComboBox, || format!("memory_optimize, {chosen}"));
}

/// Both levels side by side; a click shows one below.
fn levels_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, report: &NamesReport, state: &mut NameReuseState) {
    egui::Grid::new("levels of variable reuse")
        .num_columns(7)
        .spacing([12.0, 2.0])
        .show(ui, |ui| {
            let heads = [
                ("", ""),
                ("renamed", "variables that reuse a dead variable"),
                ("total bytes", "non-persistable variables, one slot per remaining name"),
                (
                    "peak bytes",
                    "peak of live bytes by liveness; each name has its declared size",
                ),
                ("unsafe", "renames that change the inputs of an op"),
                ("log", "lines that print_log=True prints"),
            ];
            for (head, meaning) in heads {
                ui.label(RichText::new(head).small().weak()).on_hover_text(meaning);
            }
            ui.end_row();
            for (position, level) in report.levels.iter().enumerate() {
                let is_chosen = state.level == position;
                let words = format!("level {}", REUSE_LEVELS[position]);
                let response =
                    ui.selectable_label(is_chosen, &words)
                        .named_choice(egui::Role::RadioButton, is_chosen, || format!("show {words}"));
                if response.clicked() {
                    state.level = position;
                }
                ui.label(grouped(level.reuse.hits() as u64));
                let figures = &level.figures;
                change_ui(ui, figures.bytes_before, figures.bytes_after, cx.theme);
                change_ui(ui, figures.peak_before, figures.peak_after, cx.theme);
                let unsafe_text = RichText::new(grouped(level.findings.len() as u64));
                ui.label(if level.findings.is_empty() {
                    unsafe_text
                } else {
                    unsafe_text.color(cx.theme.bad).strong()
                });
                ui.label(format!("{} lines", grouped(level.reuse.n_log_lines)));
                set_ui(ui, cx, position);
                ui.end_row();
            }
        });
    if let Some(batch) = report.batch {
        let words = format!("a dimension of -1 is {batch}; set the dimension batch to change it");
        ui.label(RichText::new(words).small().weak());
    }
}

/// Bytes before and after.
fn change_ui(ui: &mut egui::Ui, before: Bytes, after: Bytes, theme: &Theme) {
    let text = RichText::new(format!("{before} to {after}"));
    let text = if after > before { text.color(theme.bad) } else { text };
    ui.label(text)
        .on_hover_text(format!("{} before, {} after", before.exact(), after.exact()));
}

/// The button that makes a level active.
fn set_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, position: usize) {
    let level = REUSE_LEVELS[position].to_string();
    let options = &cx.session.document().options;
    let is_set =
        options.is_set(keys::MEMORY_OPTIMIZE_LEVEL) && options.acting(keys::MEMORY_OPTIMIZE_LEVEL).to_string() == level;
    if is_set {
        ui.weak("configured")
            .on_hover_text("memory_optimize.level has this value: every lane reuses variables");
    } else if button_ui(
        ui,
        small(&format!("Set level {level}")),
        &format!("Sets memory_optimize.level to {level}, for every lane"),
    ) {
        cx.commands
            .push(Command::set_option(keys::MEMORY_OPTIMIZE_LEVEL, level));
    }
}

/// The exception, then unsafe reuse, then hints for the caller.
fn remarks_ui(ui: &mut egui::Ui, level: &ReuseReport, warnings: &[String], theme: &Theme) {
    if let Some(exception) = &level.reuse.exception {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new("Ends with exception").color(theme.bad));
            ui.label(RichText::new(exception).monospace().color(theme.bad));
            ui.label("Earlier renames remain.");
        });
    }
    let findings = level
        .findings
        .iter()
        .map(|finding| ("error", theme.bad, finding.message.as_str()));
    let hazards = warnings.iter().map(|warning| ("warning", theme.peak, warning.as_str()));
    let remarks = findings.take(MANY).chain(hazards.take(MANY));
    egui::ScrollArea::vertical()
        .id_salt("warnings of variable reuse")
        .max_height(REMARKS)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            for (severity, color, message) in remarks {
                let mut job = egui::text::LayoutJob::default();
                let font = egui::FontId::proportional(11.5);
                let part = |color| egui::TextFormat::simple(font.clone(), color);
                job.append(&format!("{severity}  "), 0.0, part(color));
                job.append(message, 0.0, part(theme.text));
                wrapped_ui(ui, job);
            }
            if level.findings.len() > MANY {
                ui.weak(format!("{MANY} of {} unsafe renames listed", level.findings.len()));
            }
            if warnings.len() > MANY {
                ui.weak(format!("{MANY} of {} warnings listed", warnings.len()));
            }
        });
}
