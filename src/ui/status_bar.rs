//! The bar at the bottom: findings, what figures leave out or estimate, the step under the pointer, the last message, the
//! state of the worker.

use eframe::egui::{self, Align, Layout, RichText};

use super::commands::UiCommand;
use super::frame_output::FrameOutput;
use super::panels::problems::counts;
use super::panels::sweep::{Found, found_text};
use super::panels::width_of;
use super::panes::Pane;
use super::theme::Theme;
use super::widgets::Named as _;
use highwater_analysis::{Comparison, LaneKind};
use highwater_model::units::counted;
use highwater_model::workload::DeviceFigure;
use highwater_session::{Command, Notice, Session};

/// Room for the state and the reading, in points: notes without it give way.
const BESIDE_NOTES: f32 = 440.0;

/// Width of the progress bar of a search, whose text is long.
const SEARCH_WIDTH: f32 = 240.0;

pub(super) fn status_bar_ui(
    ui: &mut egui::Ui,
    session: &Session,
    reading: Option<&str>,
    theme: &Theme,
    output: &mut FrameOutput,
) {
    egui::Panel::bottom("status bar").show(ui, |ui| {
        ui.horizontal(|ui| {
            findings_ui(ui, session, theme, output);
            if let Some((comparison, _)) = session.answer() {
                let size = egui::TextStyle::Body.resolve(ui.style()).size;
                for (text, why) in notes(comparison) {
                    if ui.available_width() - width_of(ui, &text, size) >= BESIDE_NOTES {
                        ui.separator();
                        ui.weak(text).on_hover_text(why);
                    }
                }
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                status_ui(ui, session, theme, &mut output.commands);
                notice_ui(ui, session, theme, &mut output.commands);
                if let Some(error) = &session.search().error {
                    ui.separator();
                    let text = RichText::new(error.to_string()).color(theme.bad);
                    ui.add(egui::Label::new(text).truncate());
                }
                if let Some(reading) = reading {
                    ui.separator();
                    ui.add(egui::Label::new(reading).truncate());
                }
            });
        });
    });
}

/// The number of findings; a click shows them.
fn findings_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme, output: &mut FrameOutput) {
    let (errors, warnings) = counts(session);
    let text = format!(
        "{}, {}",
        counted(errors as u64, "error"),
        counted(warnings as u64, "warning")
    );
    let color = if errors > 0 { theme.bad } else { theme.text_weak };
    let button = ui.add(egui::Button::new(RichText::new(&text).color(color)).frame(false));
    let button = button.named(egui::Role::Button, || format!("show problems: {text}"));
    if button.on_hover_text("Show errors and warnings").clicked() {
        output.window_commands.push(UiCommand::ShowPane(Pane::Problems));
    }
}

/// Lower bounds and estimates among the figures, each with the details.
fn notes(comparison: &Comparison) -> Vec<(String, String)> {
    let mut notes = Vec::new();
    if comparison.lane_kind() == LaneKind::Recordings {
        return notes;
    }
    if let Some(note) = comparison.scratch.note() {
        let text = if comparison.lower_bound {
            "figures are lower bounds"
        } else {
            "workspaces are estimates"
        };
        notes.push((text.to_owned(), note.to_owned()));
    }
    let (estimated, set) = comparison.device.marks();
    if !estimated.is_empty() || !set.is_empty() {
        let why = format!(
            "{} of {} device parameters are assumed\n{}",
            estimated.len(),
            DeviceFigure::ALL.len(),
            comparison.device.marks_sentence()
        );
        notes.push(("timings are estimates".to_owned(), why));
    }
    if !comparison.estimates.is_empty() {
        let effects = comparison.estimates.iter();
        let texts: Vec<String> = effects.map(|one| format!("{} {}", one.key, one.effect)).collect();
        notes.push(("the effect of options is estimated".to_owned(), texts.join("\n")));
    }
    notes
}

/// A progress bar with Cancel while the worker is busy, else whether the answer is current.
fn status_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme, commands: &mut Vec<Command>) {
    if let Some(busy) = session.busy() {
        if ui.button("Cancel").clicked() {
            commands.push(Command::Cancel);
        }
        let bar = egui::ProgressBar::new(busy.fraction);
        if let Some(found) = session.found_plan() {
            let (footprint, bound) = (found.planned.plan.footprint, found.planned.proved_bound);
            ui.add(
                bar.desired_width(SEARCH_WIDTH)
                    .text(Found::Searching.words(footprint, bound)),
            )
            .on_hover_text(found_text(found, Found::Searching));
        } else {
            ui.add(bar.desired_width(160.0).text(format!("{}…", busy.stage)));
        }
        return;
    }
    if let Some(file) = session.exporting() {
        if ui.button("Cancel").clicked() {
            commands.push(Command::Cancel);
        }
        let name = file.path.file_name().unwrap_or(file.path.as_os_str()).to_string_lossy();
        let bar = egui::ProgressBar::new(file.fraction).desired_width(160.0);
        ui.add(bar.text(format!("writing {name}…"))).on_hover_text(file.stage);
        return;
    }
    if session.problem().is_some() {
        ui.label(RichText::new("no answer").color(theme.bad));
    } else if session.is_stale() {
        ui.label(RichText::new("cancelled; the picture is older than the settings").color(theme.bad));
    } else if let Some((comparison, _)) = session.answer() {
        let counted = |count: usize, noun| highwater_model::units::counted(count as u64, noun);
        let steps = |noun| counted(comparison.axis.n_steps as usize, noun);
        ui.weak(if comparison.lane_kind() == highwater_analysis::LaneKind::Recordings {
            format!("{}, {}", counted(comparison.lanes.len(), "recording"), steps("event"))
        } else {
            format!("{}, {}", counted(comparison.axis.runs.len(), "run"), steps("step"))
        });
    }
}

/// A notice with a button that dismisses it, in the bar, where it moves nothing.
fn notice_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme, commands: &mut Vec<Command>) {
    let Some(notice) = session.notice() else {
        return;
    };
    let (text, color) = match notice {
        Notice::Done(text) => (text, theme.good),
        Notice::Failed(text) => (text, theme.bad),
    };
    ui.separator();
    if ui.small_button("×").on_hover_text("Dismiss this message").clicked() {
        commands.push(Command::DismissNotice);
    }
    let label = egui::Label::new(RichText::new(short_notice(text)).color(color)).truncate();
    ui.add(label).on_hover_text(text);
}

/// A message cut to a line: a long path must not cut the reason, and of several lines the first one is shown.
fn short_notice(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let line = match first.split_once(": ") {
        Some((path, reason)) => match path.rsplit_once(['/', '\\']) {
            Some((_, name)) if !path.contains(' ') && !name.is_empty() => format!("{name}: {reason}"),
            _ => first.to_owned(),
        },
        None => first.to_owned(),
    };
    match lines.count() {
        0 => line,
        more => format!("(1 of {}) {line}", more + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::short_notice;

    #[test]
    fn a_notice_keeps_its_reason() {
        for (text, short) in [
            (
                "/no/such/folder/report.html: cannot be written",
                "report.html: cannot be written",
            ),
            (r"C:\out\a.json: cannot be read: gone", "a.json: cannot be read: gone"),
            ("saved /tmp/a.html", "saved /tmp/a.html"),
            ("what was open last: /a/b: gone", "what was open last: /a/b: gone"),
            ("a.json: cut off\nb.json: cut off", "(1 of 2) a.json: cut off"),
        ] {
            assert_eq!(short_notice(text), short);
        }
    }
}
