//! Allocator settings of a recording: which setting lowers the reserved bytes, what it costs, and its line to copy.

use eframe::egui::{self, RichText};

use super::points::{Action, Cell, Column, Mark, Points, Tone};
use super::table::TableState;
use super::{PointsState, results_ui};
use crate::numbers::to_f64;
use crate::panels::PaneCx;
use crate::theme::Theme;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_analysis::{AllocatorFit, Figure, IGNORED_ON_WINDOWS, TriedSetting, conf_text, python_line, shell_line};
use highwater_model::units::{Bytes, counted, grouped, signed_percent_text};
use highwater_model::workload::{Recording, Workload};
use highwater_session::{Command, FoundSettings, Session, setting_version};

const PEAK: &str = "peak";
const AGAINST: &str = "against replayed";
const RETRIES: &str = "retries";
const CALLS: &str = "device calls";

/// Recordings of at most this many events are searched when the pane opens.
const MOST_EVENTS: u32 = 200_000;

#[derive(Clone, Debug)]
pub(super) struct SettingsState {
    draft: String,
    points: PointsState,
}

impl Default for SettingsState {
    fn default() -> Self {
        let points = PointsState {
            table: TableState::by(PEAK),
            ..PointsState::default()
        };
        Self {
            draft: String::new(),
            points,
        }
    }
}

/// Whether a workload is recordings of PyTorch or `torch_npu` whose requests can be replayed.
pub fn is_for(workload: &Workload) -> bool {
    let is_replayed = |one: &Recording| {
        let is_torch = !one.is_host && one.recorder.starts_with("PyTorch memory");
        is_torch || one.lists_device_blocks() && !one.recorder.starts_with("TensorFlow")
    };
    workload.graphs().is_empty() && workload.recordings().iter().any(|one| is_replayed(one))
}

pub(super) fn settings_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut SettingsState) {
    let session = cx.session;
    if let Some(mut why) = session.missing_history() {
        capitalize(&mut why);
        wrapped_ui(ui, RichText::new(why));
        return;
    }
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
    remarks_ui(ui, found);
    answer_ui(ui, cx, found);
    ui.separator();
    let settings = TriedSettings { session, found };
    results_ui(ui, cx, &settings, &mut state.points, None);
}

fn n_events(session: &Session) -> u32 {
    let recordings = session
        .answer()
        .map_or(&[][..], |(comparison, _)| comparison.workload.recordings());
    recordings.iter().map(|one| one.n_steps).max().unwrap_or(0)
}

/// A field for settings, and the search.
fn actions_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut SettingsState, device: Option<Bytes>) {
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

fn capitalize(sentence: &mut str) {
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
}

/// Whether the simulation reproduces the recording.
fn fit_ui(ui: &mut egui::Ui, fit: &AllocatorFit, theme: &Theme) {
    let mut sentence = fit.sentence();
    capitalize(&mut sentence);
    let text = RichText::new(sentence);
    let text = if fit.is_exact() {
        text.color(theme.good)
    } else {
        text.weak()
    };
    wrapped_ui(ui, text);
}

/// Failed requests, the memory of the device, what predates the recording, and settings of newer releases.
fn remarks_ui(ui: &mut egui::Ui, found: &FoundSettings) {
    let mut remarks: Vec<String> = found.fits.iter().flat_map(AllocatorFit::failure_sentences).collect();
    if let Some((device, true)) = found.replayed_memory() {
        remarks.push(format!("replayed on a device of {device}, the least that it had"));
    }
    if found.search.uncertainty > Bytes::ZERO {
        let uncertainty = found.search.uncertainty;
        remarks.push(format!(
            "uncertainty: {uncertainty}, by which the replay misses the recorded peak; no setting is preferred for less"
        ));
    }
    remarks.extend(found.search.newer_sentence(&found.fits));
    if found.fits.iter().any(|fit| fit.is_windows) {
        remarks.push(IGNORED_ON_WINDOWS.to_owned());
    }
    for mut remark in remarks {
        capitalize(&mut remark);
        wrapped_ui(ui, RichText::new(remark).weak());
    }
}

/// The line to copy, and keys that do not matter.
fn answer_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, found: &FoundSettings) {
    let Some(winner) = found.winner() else {
        let mut text = found.search.why_none(&found.fits);
        capitalize(&mut text);
        wrapped_ui(ui, RichText::new(text).strong().color(cx.theme.bad));
        return;
    };
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
    let replayed = found.search.replayed();
    let against = if replayed.lost() > winner.lost() {
        format!(" and serves {}", counted(replayed.lost(), "request that failed"))
    } else {
        let percent = signed_percent_text(peak.percent_above(replayed.peak()));
        format!(
            ", {percent} against the {} of the recorded settings, replayed",
            replayed.peak()
        )
    };
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
    let (variable, conf) = (found.variable(), &winner.conf);
    let (shell, python) = (
        shell_line(variable, conf, found.fits.iter().any(|fit| fit.is_windows)),
        python_line(variable, conf),
    );
    ui.horizontal_wrapped(|ui| {
        ui.monospace(&shell);
        if ui.button("Copy").on_hover_text("Copy the line for a shell").clicked() {
            ui.ctx().copy_text(shell.clone());
        }
        let button = ui.button("Copy for Python");
        let hint = format!("{python}, before torch is imported");
        if button.on_hover_text(hint).clicked() {
            ui.ctx().copy_text(python.clone());
        }
        if !has_lane(cx.session, conf) && ui.button("Show as a lane").clicked() {
            cx.commands.push(Command::AddSettings(conf.clone()));
        }
    });
}

fn has_lane(session: &Session, conf: &str) -> bool {
    let settings = &session.document().allocator_settings;
    settings.iter().any(|setting| setting.conf == conf)
}

struct TriedSettings<'a> {
    session: &'a Session,
    found: &'a FoundSettings,
}

impl TriedSettings<'_> {
    /// `None` for the recorded peak, the last point.
    fn tried(&self, at: usize) -> Option<&TriedSetting> {
        self.found.search.tried.get(at)
    }

    fn peak(&self, at: usize) -> Bytes {
        let recorded = || self.found.recorded_peak().unwrap_or_default();
        self.tried(at).map_or_else(recorded, TriedSetting::peak)
    }
}

impl Points for TriedSettings<'_> {
    fn nouns(&self) -> &'static str {
        "settings"
    }

    /// The settings, and the recorded peak where it is known.
    fn len(&self) -> usize {
        self.found.search.tried.len() + usize::from(self.found.recorded_peak().is_some())
    }

    fn number(&self) -> u64 {
        self.session.settings_search_number()
    }

    fn is_first(&self, at: usize) -> bool {
        self.tried(at).is_none()
    }

    fn tie(&self, at: usize) -> usize {
        self.tried(at).map_or(0, |tried| tried.pairs.len())
    }

    fn title(&self, at: usize) -> String {
        let Some(tried) = self.tried(at) else {
            return "recorded".to_owned();
        };
        let is_recorded = at == self.found.search.recorded;
        let recorded = if is_recorded { " (recorded, simulated)" } else { "" };
        let needs = tried
            .needs
            .map_or_else(String::new, |version| format!(" (needs {version})"));
        format!("{}{recorded}{needs}", conf_text(&tried.conf))
    }

    fn status(&self, at: usize) -> (Mark, &'static str) {
        match self.tried(at).map_or(0, TriedSetting::lost) {
            0 => (Mark::Fits, ""),
            _ => (Mark::Failed, "requests fail"),
        }
    }

    fn columns(&self) -> Vec<Column<'_>> {
        let figure = |name, meaning, of: fn(&TriedSetting) -> u64| {
            Column::figure(name, meaning, move |at| Some(Figure::Count(of(self.tried(at)?))))
        };
        let failed = |at| {
            let failed = self.tried(at).map(TriedSetting::failed);
            let is_lost = self.tried(at).map_or(0, TriedSetting::lost) > 0;
            let tone = if is_lost { Tone::Bad } else { Tone::Plain };
            Cell::from(failed.map(Figure::Count)).toned(tone)
        };
        let replayed = self.found.search.replayed();
        let uncertainty = self.found.search.uncertainty;
        let against = move |at| match self.tried(at) {
            Some(tried) if tried.lost() == 0 && replayed.lost() == 0 => {
                let percent = tried.peak().percent_above(replayed.peak());
                // Within what predates the recording neither is better.
                let is_known = tried.peak().get().abs_diff(replayed.peak().get()) > uncertainty.get();
                let tone = match percent {
                    ..=-0.5 if is_known => Tone::Good,
                    0.5.. if is_known => Tone::Bad,
                    _ => Tone::Plain,
                };
                Cell::words(percent, signed_percent_text(percent)).toned(tone)
            }
            _ => Cell::EMPTY,
        };
        vec![
            Column::words("settings", "text of the variable", |at| {
                Cell::words(to_f64(at as u64), self.title(at))
            })
            .at_least(150.0),
            Column::figure(PEAK, "peak reserved bytes", |at| Figure::Bytes(self.peak(at).get())),
            Column::figure(AGAINST, "peak against that of the recorded settings, replayed", against),
            figure(
                RETRIES,
                "requests served after cached memory was freed",
                TriedSetting::retries,
            ),
            Column::figure("failed", "requests that failed", failed),
            figure(
                CALLS,
                "calls that allocate, free or map memory",
                TriedSetting::device_calls,
            ),
        ]
    }

    fn brief(&self) -> &'static [&'static str] {
        &[PEAK, AGAINST, RETRIES, CALLS]
    }

    fn verb(&self) -> &'static str {
        "open as a lane"
    }

    fn choose(&self, at: usize) -> Option<Command> {
        let conf = &self.tried(at)?.conf;
        (!has_lane(self.session, conf)).then(|| Command::AddSettings(conf.clone()))
    }

    fn actions(&self, at: usize) -> Vec<Action> {
        let Some(tried) = self.tried(at) else { return Vec::new() };
        let conf = tried.conf.clone();
        let (label, command) = if has_lane(self.session, &conf) {
            ("Close lane", Command::RemoveSettings(conf))
        } else {
            ("Open as a lane", Command::AddSettings(conf))
        };
        let hint = "The recording simulated under these settings";
        vec![(label, hint.to_owned(), command)]
    }

    fn is_lane(&self, at: usize) -> bool {
        self.tried(at).is_some_and(|tried| has_lane(self.session, &tried.conf))
    }

    fn winner(&self) -> Option<u64> {
        Some(self.found.search.winner? as u64)
    }

    fn summary(&self) -> Option<String> {
        Some(recommendation(self.found, self.found.winner()?))
    }
}
