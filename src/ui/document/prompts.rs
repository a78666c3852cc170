//! Prompts about the document: unsaved changes, recovered edits, missing or changed sources.

use std::path::Path;

use eframe::egui::{self, Key, RichText, Ui};

use super::DocumentState;
use crate::dialogs::{Dialogs, Purpose};
use crate::theme::Theme;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_session::{Outside, Recoverable, Session, SourceSpec};

/// The decision about unsaved changes.
#[derive(Clone, Copy)]
pub(super) enum Leave {
    Save,
    Discard,
    /// Keeps the document open.
    Stay,
}

/// The decision about edits that a crash left.
#[derive(Clone, Copy)]
pub(super) enum Offer {
    Recover,
    Discard,
    /// Offers them again at the next start.
    Later,
}

/// The decision about a file that another program changed.
#[derive(Clone, Copy)]
pub(super) enum Conflict {
    /// Overwrites the file.
    Overwrite,
    /// Asks for another path.
    Elsewhere,
    Leave,
}

/// A question with a button for each answer: text, tooltip, answer.
struct Prompt<'a, A> {
    id: &'static str,
    width: f32,
    title: String,
    buttons: &'a [(&'a str, &'a str, A)],
    /// The position of the button that gets the keyboard.
    focused: usize,
    /// The answer of Esc, and of a click outside.
    otherwise: A,
}

impl<A: Copy> Prompt<'_, A> {
    /// `has_focus` says whether the button has got the keyboard.
    fn ui(&self, ctx: &egui::Context, has_focus: &mut bool, content: impl FnOnce(&mut Ui)) -> Option<A> {
        let mut answer = None;
        let modal = egui::Modal::new(egui::Id::unique(self.id)).show(ctx, |ui| {
            ui.set_width(self.width);
            ui.heading(&self.title);
            content(ui);
            ui.add_space(6.0);
            ui.horizontal(|ui| {
                for (position, (text, hint, own)) in self.buttons.iter().enumerate() {
                    let mut button = ui.button(*text);
                    if !hint.is_empty() {
                        button = button.on_hover_text(*hint);
                    }
                    if position == self.focused && !std::mem::replace(has_focus, true) {
                        button.request_focus();
                    }
                    if button.clicked() {
                        answer = Some(*own);
                    }
                }
            });
        });
        let answer = answer.or_else(|| modal.should_close().then_some(self.otherwise));
        *has_focus &= answer.is_none();
        answer
    }
}

/// Asks about the document's file that another program changed.
pub(super) fn conflict_prompt_ui(ctx: &egui::Context, path: &Path, has_focus: &mut bool) -> Option<Conflict> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let prompt = Prompt {
        id: "changed file",
        width: 460.0,
        title: format!("{name} was changed by another program"),
        buttons: &[
            ("Save anyway", "", Conflict::Overwrite),
            ("Save as…", "Save under another name and keep both", Conflict::Elsewhere),
            ("Cancel", "", Conflict::Leave),
        ],
        focused: 1,
        otherwise: Conflict::Leave,
    };
    prompt.ui(ctx, has_focus, |ui| {
        ui.label("The file changed after it was opened or saved here. Saving anyway overwrites these changes.");
        ui.weak(path.display().to_string());
    })
}

/// Asks about unsaved changes.
pub(super) fn leaving_prompt_ui(ctx: &egui::Context, name: &str, has_focus: &mut bool) -> Option<Leave> {
    let prompt = Prompt {
        id: "unsaved changes",
        width: 420.0,
        title: format!("Save the changes to {name}?"),
        buttons: &[
            ("Save changes", "", Leave::Save),
            ("Discard changes", "", Leave::Discard),
            ("Cancel", "", Leave::Stay),
        ],
        focused: 0,
        otherwise: Leave::Stay,
    };
    prompt.ui(ctx, has_focus, |ui| {
        ui.label("Changes after the last save are lost without saving.");
    })
}

/// Offers edits that a crash left.
pub(super) fn recovery_ui(ctx: &egui::Context, offered: &Recoverable, has_focus: &mut bool) -> Option<Offer> {
    let prompt = Prompt {
        id: "recovery",
        width: 460.0,
        title: format!("Recover unsaved changes to {}?", offered.name()),
        buttons: &[
            (
                "Recover",
                "Open the recovered edits; save them to keep them",
                Offer::Recover,
            ),
            ("Discard", "Delete the recovered edits", Offer::Discard),
            ("Later", "Ask again at the next start", Offer::Later),
        ],
        focused: 0,
        otherwise: Offer::Later,
    };
    prompt.ui(ctx, has_focus, |ui| {
        ui.label(offered.sentence());
        if let Some(path) = offered.kept.path() {
            ui.weak(path.display().to_string());
        }
    })
}

/// Asks whether a document may read the files that it names outside its folder.
pub(super) fn outside_ui(ctx: &egui::Context, outside: &Outside, has_focus: &mut bool) -> Option<bool> {
    let hint = "Open the document. It asks again only if it names other files";
    let prompt = Prompt {
        id: "files outside",
        width: 560.0,
        title: "Read files outside the document's folder?".to_owned(),
        buttons: &[("Read them", hint, true), ("Cancel", "", false)],
        focused: 1,
        otherwise: false,
    };
    prompt.ui(ctx, has_focus, |ui| {
        wrapped_ui(ui, format!("{} names:", outside.document.display()));
        egui::ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
            for path in &outside.paths {
                wrapped_ui(ui, path.display().to_string());
            }
        });
    })
}

/// Lists missing and changed sources, each with a button that locates it.
pub(super) fn locate_ui(
    ctx: &egui::Context,
    session: &Session,
    troubles: &[(usize, String)],
    state: &mut DocumentState,
    dialogs: &mut Dialogs,
    theme: &Theme,
) {
    let mut is_done = troubles.is_empty();
    let mut wanted = None;
    let modal = egui::Modal::new(egui::Id::unique("locate sources")).show(ctx, |ui| {
        ui.set_width(560.0);
        ui.heading(format!("Sources of {}", session.document_name()));
        ui.label("The other files of the document are open. Locate a missing file to read it from its new place.");
        egui::ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
            for (position, sentence) in troubles {
                ui.add_space(6.0);
                wrapped_ui(ui, RichText::new(sentence).color(theme.bad));
                let name = session.document().sources.get(*position).map(SourceSpec::title);
                let name = name.unwrap_or_default();
                let button = ui.button("Locate…");
                let button = button.named(egui::Role::Button, || format!("locate {name}"));
                if !std::mem::replace(&mut state.has_focus, true) {
                    button.request_focus();
                }
                if button.clicked() {
                    wanted = Some(*position);
                }
            }
        });
        ui.add_space(6.0);
        is_done |= ui.button("Close").clicked();
    });
    if let Some(position) = wanted {
        dialogs.ask(Purpose::Locate(position), ctx);
        is_done = true;
    }
    if is_done || modal.should_close() || ctx.input(|input| input.key_pressed(Key::Escape)) {
        state.is_locating = false;
    }
}
