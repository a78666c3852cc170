//! Name reuse: what `memory_optimize` does to a graph at both levels, what is unsafe about it, and its log, line by line.

mod log;

use eframe::egui::{self, RichText};

use self::log::LogState;
use crate::combo::ShowChoices as _;
use crate::panels::empty::other_ui;
use crate::panels::graph_choice_ui;
use crate::theme::Theme;
use highwater_model::units::{Bytes, grouped};
use highwater_model::workload::GraphIdx;
use highwater_options::keys;
use highwater_rewrite::name_reuse::{ReuseReport, VERSIONS};
use highwater_session::{Command, NamesReport, REUSE_LEVELS, Session};

/// The most room of what is unsafe or odd, before it scrolls.
const REMARKS: f32 = 110.0;
/// Remarks of a kind that are listed.
const MANY: usize = 200;

/// What the panel remembers.
#[derive(Clone, Debug, Default)]
pub struct NameReuseState {
    graph: usize,
    /// Position in [`REUSE_LEVELS`].
    level: usize,
    log: LogState,
    /// An option that the user wants to edit.
    pub jump: Option<String>,
}

/// Draws the pane.
pub fn name_reuse_ui(
    ui: &mut egui::Ui,
    session: &Session,
    state: &mut NameReuseState,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let names = names(session);
    if names.is_empty() {
        let why = "Names are reused in graphs and in programs of blocks; what is open is neither.";
        other_ui(ui, why, "resnet50", commands);
        return;
    }
    state.graph = state.graph.min(names.len() - 1);
    options_ui(ui, session, &names, state, commands);
    let graph = GraphIdx(u32::try_from(state.graph).unwrap_or(0));
    if session.answer().is_some() && !session.is_stale() && !session.has_name_reuse(graph) {
        commands.push(Command::ReuseNames(graph));
    }
    if let Some(message) = session.name_reuse_failure() {
        failure_ui(ui, message, graph, theme, commands);
        return;
    }
    let Some(report) = session.name_reuse().filter(|report| report.graph == graph) else {
        ui.weak("Working it out…");
        return;
    };
    levels_ui(ui, session, report, state, theme, commands);
    let level = &report.levels[state.level];
    remarks_ui(ui, level, &report.warnings[state.level], theme);
    ui.separator();
    log::log_ui(ui, (session, report, level), &mut state.log, theme, commands);
}

/// Why there is no answer. Nothing asks again by itself, since the same would come of it.
fn failure_ui(ui: &mut egui::Ui, message: &str, graph: GraphIdx, theme: &Theme, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Names could not be reused:").color(theme.bad));
        ui.label(message);
    });
    if ui.button("Try again").clicked() {
        commands.push(Command::ReuseNames(graph));
    }
}

/// What names can be reused in.
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
fn options_ui(
    ui: &mut egui::Ui,
    session: &Session,
    names: &[&str],
    state: &mut NameReuseState,
    commands: &mut Vec<Command>,
) {
    let options = &session.document().options;
    let text = |key: &str| options.acting(key).to_string();
    ui.horizontal_wrapped(|ui| {
        graph_choice_ui(ui, &mut state.graph, "graph to reuse names in", names);
        version_ui(ui, &text(keys::NAME_REUSE_VERSION), commands);
        let mut skips = text(keys::SKIP_GRADS) == "True";
        let check = ui.checkbox(&mut skips, "skip_grads");
        if check
            .on_hover_text("memory_optimize.skip_grads: gradients that optimizers read are left alone")
            .changed()
        {
            commands.push(Command::SetOption {
                key: keys::SKIP_GRADS.to_owned(),
                text: if skips { "True" } else { "False" }.to_owned(),
            });
        }
        let skip = text(keys::SKIP_OPT_SET);
        let words = if skip == "None" {
            "skip_opt_set: none".to_owned()
        } else {
            format!("skip_opt_set: {skip}")
        };
        let shown = super::elided(ui, &words, 12.5, 200.0);
        if ui
            .button(shown)
            .on_hover_text(format!(
                "{words}\nvariables that are left alone; a click goes to the option"
            ))
            .clicked()
        {
            state.jump = Some(keys::SKIP_OPT_SET.to_owned());
        }
    });
}

/// Which version of the transpiler.
fn version_ui(ui: &mut egui::Ui, acting: &str, commands: &mut Vec<Command>) {
    let row = VERSIONS.iter().find(|row| row.names.contains(&acting));
    let words = |names: &[&str]| match names {
        [number, rest @ ..] if !rest.is_empty() => format!("version {number} (Paddle {})", rest.join(", ")),
        _ => format!("version {acting}"),
    };
    let chosen = row.map_or_else(|| format!("version {acting}"), |row| words(row.names));
    let combo = egui::ComboBox::from_id_salt("version of memory_optimize")
        .selected_text(&chosen)
        .show_choices(ui, |ui| {
            for version in VERSIONS {
                let is_chosen = row.is_some_and(|row| row.version == version.version);
                let label = ui.selectable_label(is_chosen, words(version.names));
                if label.on_hover_text(version.summary).clicked() {
                    commands.push(Command::SetOption {
                        key: keys::NAME_REUSE_VERSION.to_owned(),
                        text: version.names[0].to_owned(),
                    });
                }
            }
        });
    combo.response.widget_info(|| {
        let label = format!("memory_optimize, {chosen}");
        egui::WidgetInfo::labeled(egui::Role::ComboBox, true, label)
    });
}

/// Both levels side by side; a click shows one of them below.
fn levels_ui(
    ui: &mut egui::Ui,
    session: &Session,
    report: &NamesReport,
    state: &mut NameReuseState,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    egui::Grid::new("levels of name reuse")
        .num_columns(7)
        .spacing([12.0, 2.0])
        .show(ui, |ui| {
            let heads = [
                ("", ""),
                ("renamed", "variables that took the name of a dead one"),
                (
                    "bytes in sum",
                    "variables that do not outlive the run, one slot for each name that is left",
                ),
                (
                    "bytes at the peak",
                    "what lives at once, by plain liveness; a name has the size that it is declared with",
                ),
                ("unsafe", "renames that change what an op sees"),
                ("log", "lines that print_log=True prints"),
            ];
            for (head, meaning) in heads {
                ui.label(RichText::new(head).small().weak()).on_hover_text(meaning);
            }
            ui.end_row();
            for (position, level) in report.levels.iter().enumerate() {
                let is_chosen = state.level == position;
                let words = format!("level {}", REUSE_LEVELS[position]);
                let response = ui.selectable_label(is_chosen, &words);
                response.widget_info(|| {
                    egui::WidgetInfo::selected(egui::Role::RadioButton, true, is_chosen, format!("show {words}"))
                });
                if response.clicked() {
                    state.level = position;
                }
                ui.label(grouped(level.reuse.hits() as u64));
                let figures = &level.figures;
                change_ui(ui, figures.bytes_before, figures.bytes_after, theme);
                change_ui(ui, figures.peak_before, figures.peak_after, theme);
                let unsafe_text = RichText::new(grouped(level.findings.len() as u64));
                ui.label(if level.findings.is_empty() {
                    unsafe_text
                } else {
                    unsafe_text.color(theme.bad).strong()
                });
                ui.label(format!("{} lines", grouped(level.reuse.n_log_lines)));
                set_ui(ui, session, position, commands);
                ui.end_row();
            }
        });
    if let Some(batch) = report.batch {
        let words = format!("a dimension -1 counts as {batch}; set the dimension batch for another value");
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

/// Makes a level the configuration.
fn set_ui(ui: &mut egui::Ui, session: &Session, position: usize, commands: &mut Vec<Command>) {
    let level = REUSE_LEVELS[position].to_string();
    let options = &session.document().options;
    let is_set =
        options.is_set(keys::MEMORY_OPTIMIZE_LEVEL) && options.acting(keys::MEMORY_OPTIMIZE_LEVEL).to_string() == level;
    if is_set {
        ui.weak("configured")
            .on_hover_text("memory_optimize.level is set so: every lane reuses names");
    } else if ui
        .small_button(format!("Set level {level}"))
        .on_hover_text(format!("sets memory_optimize.level to {level}, for every lane"))
        .clicked()
    {
        commands.push(Command::SetOption {
            key: keys::MEMORY_OPTIMIZE_LEVEL.to_owned(),
            text: level,
        });
    }
}

/// The exception, then what is unsafe, then what the caller should know.
fn remarks_ui(ui: &mut egui::Ui, level: &ReuseReport, warnings: &[String], theme: &Theme) {
    if let Some(exception) = &level.reuse.exception {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new("It ends in").color(theme.bad));
            ui.label(RichText::new(exception).monospace().color(theme.bad));
            ui.label("What was renamed before stays.");
        });
    }
    let findings = level
        .findings
        .iter()
        .map(|finding| ("error", theme.bad, finding.message.as_str()));
    let hazards = warnings.iter().map(|warning| ("warning", theme.peak, warning.as_str()));
    let remarks = findings.take(MANY).chain(hazards.take(MANY));
    egui::ScrollArea::vertical()
        .id_salt("remarks about name reuse")
        .max_height(REMARKS)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            for (severity, color, message) in remarks {
                let mut job = egui::text::LayoutJob::default();
                let font = egui::FontId::proportional(11.5);
                let part = |color| egui::TextFormat::simple(font.clone(), color);
                job.append(&format!("{severity}  "), 0.0, part(color));
                job.append(message, 0.0, part(theme.text));
                ui.add(egui::Label::new(job).wrap());
            }
            if level.findings.len() > MANY {
                ui.weak(format!("{MANY} of {} unsafe renames listed", level.findings.len()));
            }
            if warnings.len() > MANY {
                ui.weak(format!("{MANY} of {} warnings listed", warnings.len()));
            }
        });
}
