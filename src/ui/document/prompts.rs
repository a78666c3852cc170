//! Prompts about the document: unsaved changes, recovered edits, missing or changed sources.

use std::path::Path;

use eframe::egui::{self, Key, RichText};

use super::DocumentState;
use crate::dialogs::{Dialogs, Purpose};
use crate::theme::Theme;
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

/// Asks about the document's file that another program changed.
pub(super) fn conflict_prompt_ui(ctx: &egui::Context, path: &Path, has_focus: &mut bool) -> Option<Conflict> {
    let mut choice = None;
    let modal = egui::Modal::new(egui::Id::unique("changed file")).show(ctx, |ui| {
        ui.set_width(460.0);
        let name = path.file_name().map_or_else(
            || path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        );
        ui.heading(format!("{name} was changed by another program"));
        ui.label("The file changed after it was opened or saved here. Saving anyway overwrites these changes.");
        ui.weak(path.display().to_string());
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            if ui.button("Save anyway").clicked() {
                choice = Some(Conflict::Overwrite);
            }
            let elsewhere = ui
                .button("Save as…")
                .on_hover_text("Save under another name and keep both");
            if !std::mem::replace(has_focus, true) {
                elsewhere.request_focus();
            }
            if elsewhere.clicked() {
                choice = Some(Conflict::Elsewhere);
            }
            if ui.button("Cancel").clicked() {
                choice = Some(Conflict::Leave);
            }
        });
    });
    choice.or_else(|| modal.should_close().then_some(Conflict::Leave))
}

/// Asks about unsaved changes.
pub(super) fn leaving_prompt_ui(ctx: &egui::Context, name: &str, has_focus: &mut bool) -> Option<Leave> {
    let mut choice = None;
    let modal = egui::Modal::new(egui::Id::unique("unsaved changes")).show(ctx, |ui| {
        ui.set_width(420.0);
        ui.heading(format!("Save the changes to {name}?"));
        ui.label("Changes after the last save are lost without saving.");
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            let save = ui.button("Save changes");
            if !std::mem::replace(has_focus, true) {
                save.request_focus();
            }
            if save.clicked() {
                choice = Some(Leave::Save);
            }
            if ui.button("Discard changes").clicked() {
                choice = Some(Leave::Discard);
            }
            if ui.button("Cancel").clicked() {
                choice = Some(Leave::Stay);
            }
        });
    });
    choice.or_else(|| modal.should_close().then_some(Leave::Stay))
}

/// Offers edits that a crash left.
pub(super) fn recovery_ui(ctx: &egui::Context, offered: &Recoverable, has_focus: &mut bool) -> Option<Offer> {
    let mut choice = None;
    let modal = egui::Modal::new(egui::Id::unique("recovery")).show(ctx, |ui| {
        ui.set_width(460.0);
        ui.heading(format!("Recover unsaved changes to {}?", offered.name()));
        ui.label(offered.sentence());
        if let Some(path) = offered.kept.path() {
            ui.weak(path.display().to_string());
        }
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            let recover = ui
                .button("Recover")
                .on_hover_text("Open the recovered edits; save them to keep them");
            if !std::mem::replace(has_focus, true) {
                recover.request_focus();
            }
            if recover.clicked() {
                choice = Some(Offer::Recover);
            }
            if ui
                .button("Discard")
                .on_hover_text("Delete the recovered edits")
                .clicked()
            {
                choice = Some(Offer::Discard);
            }
            if ui
                .button("Later")
                .on_hover_text("Ask again at the next start")
                .clicked()
            {
                choice = Some(Offer::Later);
            }
        });
    });
    let choice = choice.or_else(|| modal.should_close().then_some(Offer::Later));
    if choice.is_some() {
        *has_focus = false;
    }
    choice
}

/// Asks whether a document may read the files that it names outside its folder.
pub(super) fn outside_ui(ctx: &egui::Context, outside: &Outside, has_focus: &mut bool) -> Option<bool> {
    let mut choice = None;
    let modal = egui::Modal::new(egui::Id::unique("files outside")).show(ctx, |ui| {
        ui.set_width(560.0);
        ui.heading("Read files outside the document's folder?");
        ui.add(egui::Label::new(format!("{} names:", outside.document.display())).wrap());
        egui::ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
            for path in &outside.paths {
                ui.add(egui::Label::new(path.display().to_string()).wrap());
            }
        });
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            let read = ui
                .button("Read them")
                .on_hover_text("Open the document. It asks again only if it names other files");
            if read.clicked() {
                choice = Some(true);
            }
            let cancel = ui.button("Cancel");
            if !std::mem::replace(has_focus, true) {
                cancel.request_focus();
            }
            if cancel.clicked() {
                choice = Some(false);
            }
        });
    });
    let choice = choice.or_else(|| modal.should_close().then_some(false));
    if choice.is_some() {
        *has_focus = false;
    }
    choice
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
                ui.add(egui::Label::new(RichText::new(sentence).color(theme.bad)).wrap());
                let button = ui.button("Locate…");
                let name = session.document().sources.get(*position).map(SourceSpec::title);
                button.widget_info(|| {
                    let name = format!("locate {}", name.clone().unwrap_or_default());
                    egui::WidgetInfo::labeled(egui::Role::Button, true, name)
                });
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
