//! Allocator settings of a recording: which setting lowers the reserved bytes, what it costs, and its line to copy.

use eframe::egui::{self, RichText};

use crate::panels::PaneCx;
use crate::theme::Theme;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_analysis::{AllocatorFit, TriedSetting};
use highwater_model::units::{Bytes, counted, grouped, signed_percent_text};
use highwater_model::workload::{Recording, Workload};
use highwater_session::{Command, FoundSettings, Session, setting_version};

/// Settings of the search that the table lists.
const MOST_ROWS: usize = 40;

/// Recordings of at most this many events are searched when the pane opens.
const MOST_EVENTS: u32 = 200_000;

#[derive(Clone, Debug, Default)]
pub(super) struct AllocatorState {
    draft: String,
}

/// Whether a workload is recordings of PyTorch or `torch_npu` whose requests can be replayed.
pub fn is_for(workload: &Workload) -> bool {
    let is_replayed = |one: &Recording| !one.blocks.is_empty() && !one.recorder.starts_with("TensorFlow");
    workload.graphs().is_empty() && workload.recordings().iter().any(|one| is_replayed(one))
}

pub(super) fn allocator_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut AllocatorState) {
    let session = cx.session;
    let device = session.replay_memory();
    let found = session.found_settings().filter(|found| found.device == device);
    let is_idle = found.is_none() && !session.is_searching_settings() && session.settings_search_failure().is_none();
    if is_idle && n_events(session) <= MOST_EVENTS {
        cx.commands.push(Command::FindSettings(device));
    }
    actions_ui(ui, cx, state, device);
    if session.is_searching_settings() {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.weak("replaying the recording under other settings");
        });
    }
    if let Some(why) = session.settings_search_failure() {
        wrapped_ui(ui, RichText::new(why).color(cx.theme.bad));
    }
    let Some(found) = found else {
        let text = "Find replays the recorded requests under a few hundred settings of PyTorch's or torch_npu's allocator \
                    and recommends the one with the lowest reserved peak.";
        wrapped_ui(ui, RichText::new(text).weak());
        return;
    };
    for fit in &found.fits {
        fit_ui(ui, fit, cx.theme);
    }
    answer_ui(ui, cx, found);
    ui.separator();
    ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
    egui::ScrollArea::both()
        .id_salt("settings")
        .auto_shrink([false, false])
        .show(ui, |ui| table_ui(ui, cx, found));
}

fn n_events(session: &Session) -> u32 {
    let recordings = session
        .answer()
        .map_or(&[][..], |(comparison, _)| comparison.workload.recordings());
    recordings.iter().map(|one| one.n_steps).max().unwrap_or(0)
}

/// A field for settings, and the search.
fn actions_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut AllocatorState, device: Option<Bytes>) {
    let mut problem = None;
    ui.horizontal_wrapped(|ui| {
        let hint = "settings, such as expandable_segments:True";
        let field = egui::TextEdit::singleline(&mut state.draft)
            .hint_text(hint)
            .desired_width(300.0);
        let field = ui.add(field).named_field(&state.draft, || "allocator settings");
        problem = setting_version(&state.draft).err();
        let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let add = ui.add_enabled(problem.is_none(), egui::Button::new("Add lane"));
        let add =
            add.on_hover_text("Simulate the recording under these settings, as a lane; empty text is the default");
        if problem.is_none() && (add.clicked() || is_entered) {
            cx.commands.push(Command::AddSettings(std::mem::take(&mut state.draft)));
        }
        let find = ui.button("Find the lowest peak");
        if find
            .on_hover_text("Replay the recording under a few hundred settings")
            .clicked()
        {
            cx.commands.push(Command::FindSettings(device));
        }
        match device {
            Some(device) => ui.weak(format!("on a device of {device}")),
            None => ui
                .weak("device memory unknown: requests never fail")
                .on_hover_text("Set simulation.device_memory in the panel to count failed requests and retries"),
        };
    });
    if let Some(problem) = problem.filter(|_| !state.draft.trim().is_empty()) {
        wrapped_ui(ui, RichText::new(problem).color(cx.theme.bad));
    }
}

/// Whether the simulation reproduces the recording.
fn fit_ui(ui: &mut egui::Ui, fit: &AllocatorFit, theme: &Theme) {
    let mut sentence = fit.sentence();
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let text = RichText::new(sentence);
    let text = if fit.is_exact() {
        text.color(theme.good)
    } else {
        text.weak()
    };
    wrapped_ui(ui, text);
}

/// The recommendation with its line to copy.
fn answer_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, found: &FoundSettings) {
    let Some(winner) = found.winner() else {
        let text = RichText::new("Requests fail under every setting.")
            .strong()
            .color(cx.theme.bad);
        wrapped_ui(ui, text);
        return;
    };
    wrapped_ui(ui, RichText::new(recommendation(found, winner)).strong());
    if found.search.winner != Some(found.search.recorded) {
        copy_ui(ui, cx, found, winner);
    }
    let neutral = found.search.keys.iter().filter(|key| key.is_neutral);
    let neutral: Vec<&str> = neutral.map(|key| key.key).collect();
    if !neutral.is_empty() {
        let text = format!("no change of the peak: {}", neutral.join(", "));
        wrapped_ui(ui, RichText::new(text).weak());
    }
}

fn recommendation(found: &FoundSettings, winner: &TriedSetting) -> String {
    if found.search.winner == Some(found.search.recorded) {
        return "Keep the recorded settings: no other lowers the reserved peak.".to_owned();
    }
    let peak = winner.peak();
    let against = found.recorded_peak().map_or_else(String::new, |recorded| {
        let percent = signed_percent_text(peak.percent_above(recorded));
        format!(", {percent} against the recorded {recorded}")
    });
    let cost = match winner.retries() {
        0 => String::new(),
        1 => ", 1 retry".to_owned(),
        retries => format!(", {} retries", grouped(retries)),
    };
    format!(
        "{} reserves at most {peak}{against}; {}{cost}.",
        conf_text(&winner.conf),
        counted(winner.device_calls(), "device call")
    )
}

/// The line for a shell and for Python.
fn copy_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, found: &FoundSettings, winner: &TriedSetting) {
    let variable = found.variable();
    let (shell, python) = (
        format!("export {variable}='{}'", winner.conf),
        format!("os.environ[\"{variable}\"] = \"{}\"", winner.conf),
    );
    ui.horizontal_wrapped(|ui| {
        ui.monospace(&shell);
        if ui.button("Copy").on_hover_text("Copy the line for a shell").clicked() {
            ui.ctx().copy_text(shell.clone());
        }
        let button = ui.button("Copy for Python");
        if button
            .on_hover_text(format!("{python}, before torch is imported"))
            .clicked()
        {
            ui.ctx().copy_text(python.clone());
        }
        if !has_lane(cx.session, &winner.conf) && ui.button("Show as a lane").clicked() {
            cx.commands.push(Command::AddSettings(winner.conf.clone()));
        }
    });
}

fn conf_text(conf: &str) -> &str {
    match conf.trim() {
        "" => "default settings",
        conf => conf,
    }
}

fn has_lane(session: &Session, conf: &str) -> bool {
    let settings = &session.document().allocator_settings;
    settings.iter().any(|setting| setting.conf == conf)
}

/// The recorded run, and settings by peak.
fn table_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, found: &FoundSettings) {
    let search = &found.search;
    let mut order: Vec<&TriedSetting> = search.tried.iter().collect();
    order.sort_by_key(|tried| (tried.failed(), tried.peak(), tried.pairs.len()));
    let recorded = search.tried.get(search.recorded);
    let settings = &cx.session.document().allocator_settings;
    let is_listed = |tried: &&TriedSetting| settings.iter().any(|setting| setting.conf == tried.conf);
    let shown = recorded.into_iter().chain(order.iter().copied().filter(is_listed));
    let mut shown: Vec<&TriedSetting> = shown.collect();
    for tried in order {
        if shown.len() < MOST_ROWS && !shown.iter().any(|known| known.conf == tried.conf) {
            shown.push(tried);
        }
    }
    let left_out = search.tried.len().saturating_sub(shown.len());
    egui::Grid::new("settings")
        .striped(true)
        .spacing([16.0, 4.0])
        .show(ui, |ui| {
            for title in [
                "lane",
                "settings",
                "peak reserved",
                "against recorded",
                "retries",
                "failed",
                "device calls",
            ] {
                ui.label(RichText::new(title).weak());
            }
            ui.end_row();
            if let Some(peak) = found.recorded_peak() {
                ui.label("");
                ui.label("recorded");
                ui.monospace(peak.to_string()).on_hover_text(peak.exact());
                ui.end_row();
            }
            for tried in shown {
                row_ui(ui, cx, found, tried);
            }
        });
    if left_out > 0 {
        ui.weak(format!("{} more with higher peaks", grouped(left_out as u64)));
    }
}

fn row_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, found: &FoundSettings, tried: &TriedSetting) {
    let name = conf_text(&tried.conf);
    let mut is_lane = has_lane(cx.session, &tried.conf);
    let tick = ui
        .checkbox(&mut is_lane, "")
        .on_hover_text("Show it as a lane")
        .named_choice(egui::Role::CheckBox, is_lane, || format!("lane of {name}"));
    if tick.changed() {
        let conf = tried.conf.clone();
        cx.commands.push(if is_lane {
            Command::AddSettings(conf)
        } else {
            Command::RemoveSettings(conf)
        });
    }
    let is_recorded = found
        .search
        .tried
        .get(found.search.recorded)
        .is_some_and(|one| one.conf == tried.conf);
    let name = if is_recorded {
        format!("{name} (recorded, simulated)")
    } else {
        name.to_owned()
    };
    let is_winner = found.winner().is_some_and(|winner| winner.conf == tried.conf);
    let name = RichText::new(name);
    ui.label(if is_winner { name.strong() } else { name });
    let peak = tried.peak();
    ui.monospace(peak.to_string()).on_hover_text(peak.exact());
    let against = found.recorded_peak().map(|recorded| peak.percent_above(recorded));
    let text = RichText::new(against.map_or_else(String::new, signed_percent_text)).monospace();
    // Within the error of the simulation neither is better.
    ui.label(match against {
        Some(percent) if percent <= -0.5 => text.color(cx.theme.good),
        Some(percent) if percent >= 0.5 => text.color(cx.theme.bad),
        _ => text,
    });
    ui.monospace(grouped(tried.retries()));
    let failed = RichText::new(grouped(tried.failed())).monospace();
    ui.label(if tried.failed() > 0 {
        failed.color(cx.theme.bad)
    } else {
        failed
    });
    ui.monospace(grouped(tried.device_calls()));
    ui.end_row();
}
