//! File dialogs that never block the window, with a path field where the system has none.
//!
//! The system's dialog runs on a separate thread. It answers `None` both when the user cancels and when the
//! machine has no dialog service; within `NO_ANSWER` it can only be the latter, so the path field opens then.

mod path_check;
mod purpose;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use eframe::egui;

pub use purpose::Purpose;

use path_check::PathCheck;

use super::panels::files::format_ui;
use super::panels::options::select_all;
use highwater_import::IMPORTERS;
use highwater_options::PathKind;
use highwater_session::{Command, DOCUMENT_EXTENSION};

#[derive(Default)]
pub struct Dialogs {
    running: Option<Running>,
    prompt: Option<Prompt>,
    /// The last typed path of each purpose.
    last: Vec<(Purpose, String)>,
    /// The option whose path prompt just closed: its field gets the focus back.
    returned: Option<&'static str>,
    picture: Option<(PathBuf, Purpose)>,
    /// Whether the path field opens instead of the system's dialog.
    pub(super) are_typed: bool,
}

struct Running {
    purpose: Purpose,
    answer: Receiver<Option<Vec<PathBuf>>>,
    start: Instant,
}

struct Prompt {
    purpose: Purpose,
    text: String,
    reason: Option<&'static str>,
    /// The import format; detected where `None`.
    format: Option<&'static str>,
    wants_focus: bool,
    /// Whether the file exists.
    path_check: PathCheck,
}

impl Prompt {
    /// Whether the path is accepted; overwriting a file needs a second confirmation.
    fn accepts(&mut self, is_entered: bool, path: &Path, ctx: &egui::Context) -> bool {
        match self.path_check {
            _ if is_entered && !self.purpose.writes() => true,
            PathCheck::Taken => is_entered,
            PathCheck::Free => true,
            PathCheck::Running(_) => false,
            PathCheck::Unknown => {
                if is_entered {
                    self.path_check = PathCheck::start(self.purpose.written(path), ctx);
                }
                false
            }
        }
    }
}

impl std::fmt::Debug for Dialogs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialogs")
            .field("has_prompt", &self.prompt.is_some())
            .finish_non_exhaustive()
    }
}

/// Users do not cancel this soon; a busy machine without a dialog service takes this long to answer.
const NO_ANSWER: Duration = Duration::from_millis(1500);

const NO_SERVICE: &str = "This machine has no file dialog service. Type a path, drag a file onto the window, or name \
files when you start highwater.";

const NO_SERVICE_TO_SAVE: &str = "This machine has no file dialog service: type a path.";

impl Dialogs {
    /// Opens the system's dialog on a separate thread.
    pub fn ask(&mut self, purpose: Purpose, ctx: &egui::Context) {
        if self.running.is_some() {
            return;
        }
        if self.are_typed {
            self.type_path(purpose, Some(NO_SERVICE));
            return;
        }
        let (sender, answer) = bounded(1);
        let wake = ctx.clone();
        let thread = std::thread::Builder::new()
            .name("file-dialog".to_owned())
            .spawn(move || {
                // The window may have closed.
                drop(sender.send(choose(purpose)));
                wake.request_repaint();
            });
        match thread {
            Ok(_) => {
                self.running = Some(Running {
                    purpose,
                    answer,
                    start: now(),
                });
            }
            Err(_) => self.type_path(purpose, Some(NO_SERVICE)),
        }
    }

    /// Opens the path field with the last path of the purpose.
    pub fn type_path(&mut self, purpose: Purpose, reason: Option<&'static str>) {
        let usual = purpose.row().usual_name;
        let last = self.last.iter().find(|(known, _)| *known == purpose);
        let text = last.map_or(&usual, |(_, text)| text);
        let reason = reason.map(|words| if purpose.writes() { NO_SERVICE_TO_SAVE } else { words });
        self.prompt = Some(Prompt {
            purpose,
            text: text.to_owned(),
            reason,
            format: None,
            wants_focus: true,
            path_check: PathCheck::Unknown,
        });
    }

    /// Waits for the look-up of the typed path, for tests.
    pub fn settle(&mut self) {
        if let Some(prompt) = &mut self.prompt {
            prompt.path_check.settle();
        }
    }

    /// Whether the path field is open; it has the focus then.
    pub fn is_open(&self) -> bool {
        self.prompt.is_some()
    }

    /// Takes the system dialog's answer. Never waits.
    pub fn poll(&mut self, commands: &mut Vec<Command>) {
        let Some(running) = &self.running else {
            return;
        };
        let Ok(answer) = running.answer.try_recv() else {
            return;
        };
        let (purpose, waited) = (running.purpose, now().duration_since(running.start));
        self.running = None;
        match answer {
            Some(paths) => self.take(purpose, &paths, None, commands),
            None if waited < NO_ANSWER => self.type_path(purpose, Some(NO_SERVICE)),
            None => {}
        }
    }

    /// Stores the path for the window's pictures and exports, else makes a session command.
    fn take(&mut self, purpose: Purpose, paths: &[PathBuf], format: Option<&'static str>, commands: &mut Vec<Command>) {
        if purpose.is_of_window() {
            self.picture = paths.first().map(|path| (path.clone(), purpose));
        } else {
            commands.extend(purpose.command(paths, format));
        }
    }

    /// Path and purpose of a picture; `None` when taken.
    pub fn take_picture(&mut self) -> Option<(PathBuf, Purpose)> {
        self.picture.take()
    }

    pub fn ui(&mut self, ctx: &egui::Context, commands: &mut Vec<Command>) {
        let Some(prompt) = &mut self.prompt else {
            return;
        };
        let purpose = prompt.purpose;
        let row = purpose.row();
        // Enter removed the focus; the field gets it back, so that Enter confirms.
        prompt.wants_focus |= prompt.path_check.poll();
        let mut is_done = false;
        let mut entered = None;
        let modal = egui::Modal::new(egui::Id::unique("path prompt")).show(ctx, |ui| {
            ui.set_width(460.0);
            ui.heading(row.title);
            if let Purpose::PickPath { key, .. } = purpose {
                ui.label(key);
            }
            if let Some(reason) = prompt.reason {
                ui.label(reason);
            }
            if !row.note.is_empty() {
                ui.weak(&row.note);
            }
            ui.add_space(4.0);
            let label = ui.label("Path");
            let field = egui::TextEdit::singleline(&mut prompt.text)
                .desired_width(f32::INFINITY)
                .hint_text(row.example);
            let field = ui.add(field).labelled_by(label.id);
            if std::mem::take(&mut prompt.wants_focus) {
                field.request_focus();
                select_all(ui, &field, &prompt.text);
            }
            let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
            if field.changed() {
                prompt.path_check = PathCheck::Unknown;
            }
            if matches!(purpose, Purpose::Open | Purpose::OpenFolder | Purpose::Add) {
                ui.horizontal(|ui| {
                    ui.label("Open as");
                    format_ui(ui, "prompt format", &mut prompt.format);
                });
            }
            ui.add_space(6.0);
            let is_taken = matches!(prompt.path_check, PathCheck::Taken);
            if is_taken {
                ui.label("The file exists. Replace overwrites it.");
            }
            ui.horizontal(|ui| {
                let has_text = !prompt.text.trim().is_empty();
                let verb = if is_taken { "Replace" } else { row.verb };
                let is_clicked = ui.add_enabled(has_text, egui::Button::new(verb)).clicked();
                let path = at_home(prompt.text.trim());
                if prompt.accepts(has_text && (is_clicked || is_entered), &path, ctx) {
                    entered = Some((path, prompt.format));
                    self.last.retain(|(known, _)| *known != purpose);
                    self.last.push((purpose, prompt.text.clone()));
                    is_done = true;
                }
                is_done |= ui.button("Close").clicked();
            });
        });
        if let Some((path, format)) = entered {
            self.take(purpose, &[path], format, commands);
        }
        if is_done || modal.should_close() {
            if let Purpose::PickPath { key, .. } = purpose {
                self.returned = Some(key);
            }
            self.prompt = None;
        }
    }

    /// The option whose path prompt just closed; `None` when taken.
    pub fn take_returned(&mut self) -> Option<&'static str> {
        self.returned.take()
    }
}

/// Expands a leading `~/`, as shells do.
fn at_home(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the window owns a clock; it tells a missing service from a cancel"
)]
fn now() -> Instant {
    Instant::now()
}

fn choose(purpose: Purpose) -> Option<Vec<PathBuf>> {
    let row = purpose.row();
    let dialog = rfd::FileDialog::new().set_title(row.title);
    let path = match purpose {
        Purpose::Open | Purpose::Add => {
            let mut extensions: Vec<&str> = IMPORTERS.iter().flat_map(|row| row.extensions).copied().collect();
            extensions.extend(["gz", DOCUMENT_EXTENSION]);
            return dialog
                .add_filter("graphs, recordings and documents", &extensions)
                .add_filter("all files", &["*"])
                .pick_files();
        }
        Purpose::OpenFolder
        | Purpose::PickPath {
            kind: PathKind::Directory,
            ..
        } => dialog.pick_folder(),
        Purpose::Locate(_)
        | Purpose::PickPath {
            kind: PathKind::File, ..
        } => dialog.pick_file(),
        Purpose::ImportConfig => dialog
            .add_filter(
                "configurations and scripts",
                &["json", "py", "sh", "bash", "env", "ipynb"],
            )
            .add_filter("all files", &["*"])
            .pick_file(),
        Purpose::SaveDocument
        | Purpose::ExportConfig(_)
        | Purpose::Export(_)
        | Purpose::ExportTable
        | Purpose::ExportPeak
        | Purpose::ExportFlame
        | Purpose::SavePicture(_)
        | Purpose::DrawLane(_) => {
            let dialog = dialog.set_file_name(row.usual_name);
            let filters = row.filters.iter();
            let dialog = filters.fold(dialog, |dialog, (name, endings)| dialog.add_filter(*name, endings));
            dialog.save_file()
        }
    };
    path.map(|path| vec![path])
}
