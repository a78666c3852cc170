//! The export of the configuration: what would be written in each form, its differences from the file that was opened, findings, and the
//! buttons that copy and save it.
//!
//! The preview is made once per change of the settings; a frame copies nothing. Errors have to be confirmed, each change of the settings withdraws that.

use eframe::egui::{self, Align, Layout, RichText, Role};

use super::commands::UiCommand;
use super::dialogs::Purpose;
use super::panels::PaneCx;
use super::panels::options::fixes_ui;
use super::panels::problems::icon;
use super::theme::Theme;
use super::widgets::{Named as _, wrapped_ui};
use highwater_analysis::Brevity;
use highwater_model::diagnostics::Severity;
use highwater_model::units::counted;
use highwater_options::{Finding, keys};
use highwater_session::{Command, ConfigExport, ConfigForm, ConfigPreview, Notice, Session, files_text};

/// The largest size, and the margin to the window.
const LARGEST: egui::Vec2 = egui::vec2(1080.0, 760.0);
const MARGIN: egui::Vec2 = egui::vec2(60.0, 60.0);
/// Height of the list of differences, and of everything around the preview.
const DIFFERENCES: f32 = 74.0;
const AROUND: f32 = DIFFERENCES + 176.0;
/// Width of the findings.
const FINDINGS: f32 = 300.0;

#[derive(Debug, Default)]
pub struct ExportDialog {
    is_open: bool,
    form: ConfigForm,
    preview: Option<ConfigPreview>,
    /// Whether the user exports in spite of the errors.
    is_confirmed: bool,
    last: LastButton,
    has_focus: bool,
}

/// The outcome of the last button.
#[derive(Debug, Default)]
enum LastButton {
    #[default]
    Nothing,
    /// A file is being written; the dialog closes once it is there.
    Saving,
    Told(Notice),
}

impl ExportDialog {
    pub fn open(&mut self) {
        *self = Self {
            is_open: true,
            form: self.form,
            ..Self::default()
        };
    }

    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// The commands that write the chosen form to a path.
    pub fn save(&mut self, form: ConfigForm, path: &std::path::Path, session: &Session) -> Vec<Command> {
        // The file dialog of the system leaves the window usable meanwhile.
        if !self.is_open {
            return Vec::new();
        }
        if !self
            .preview
            .as_ref()
            .is_some_and(|known| session.is_current_preview(known))
        {
            let why = "the settings changed; check the preview and save again";
            self.last = LastButton::Told(Notice::Failed(why.to_owned()));
            return Vec::new();
        }
        let path = match form.path(path) {
            Ok(path) => path,
            Err(why) => {
                self.last = LastButton::Told(Notice::Failed(why));
                return Vec::new();
            }
        };
        let errors = self.preview.as_ref().map(|preview| preview.errors.clone());
        let confirmed = errors.filter(|_| self.is_confirmed).unwrap_or_default();
        self.last = LastButton::Saving;
        vec![Command::DismissNotice, Command::ExportConfig { path, confirmed }]
    }

    /// Takes the outcome of a file that is being written.
    fn follow(&mut self, session: &Session) {
        let Some(notice) = session.notice().filter(|_| self.is_saving()) else {
            return;
        };
        self.is_open &= matches!(notice, Notice::Failed(_));
        self.last = LastButton::Told(notice.clone());
    }

    const fn is_saving(&self) -> bool {
        matches!(self.last, LastButton::Saving)
    }

    /// Makes the preview again where the settings or figures changed.
    fn refresh(&mut self, session: &Session) {
        let known = self.preview.as_ref();
        if known.is_some_and(|known| session.is_current_preview(known)) {
            return;
        }
        let preview = session.config_preview();
        self.is_confirmed &= known.is_some_and(|known| known.has_same_settings(&preview));
        self.preview = Some(preview);
    }
}

/// Shows the dialog, unless a path is being typed for it.
pub fn export_dialog_ui(ctx: &egui::Context, cx: &mut PaneCx<'_>, state: &mut ExportDialog, is_asking_path: bool) {
    if !state.is_open {
        return;
    }
    state.follow(cx.session);
    if is_asking_path {
        // The keyboard comes back behind the path.
        state.has_focus = false;
    }
    if is_asking_path || !state.is_open {
        return;
    }
    state.refresh(cx.session);
    let size = (ctx.content_rect().size() - MARGIN).clamp(egui::Vec2::ZERO, LARGEST);
    let modal = egui::Modal::new(egui::Id::unique("export configuration")).show(ctx, |ui| {
        ui.set_width(size.x);
        content_ui(ui, cx, state, size.y)
    });
    let is_closed = modal.inner || modal.should_close();
    if is_closed {
        state.is_open = false;
        ctx.request_repaint();
    }
}

/// Returns whether Close was clicked.
fn content_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut ExportDialog, height: f32) -> bool {
    ui.heading("Export configuration");
    tabs_ui(ui, state);
    let ExportDialog {
        preview: Some(preview),
        form,
        ..
    } = &*state
    else {
        return false;
    };
    let form = *form;
    let export = preview.export(form);
    differences_ui(ui, preview, cx.theme);
    recommended_ui(ui, cx);
    ui.separator();
    let height = (height - AROUND).max(80.0);
    ui.horizontal_top(|ui| {
        ui.set_height(height);
        let width = (ui.available_width() - FINDINGS - ui.spacing().item_spacing.x).max(120.0);
        ui.allocate_ui_with_layout(egui::vec2(width, height), Layout::top_down(Align::Min), |ui| {
            ui.set_width(width);
            files_ui(ui, export, form, cx.theme);
        });
        ui.vertical(|ui| findings_ui(ui, cx, export, form));
    });
    ui.separator();
    buttons_ui(ui, cx, state)
}

/// The confirmation of errors, and the buttons; returns whether Close was clicked.
fn buttons_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut ExportDialog) -> bool {
    let Some(preview) = &state.preview else {
        return false;
    };
    let form = state.form;
    let (export, n_errors) = (preview.export(form), preview.errors.len());
    confirmation_ui(ui, n_errors, &mut state.is_confirmed);
    let is_empty = export.nothing.is_some();
    let is_allowed = !is_empty && (n_errors == 0 || state.is_confirmed);
    let is_saving = matches!(state.last, LastButton::Saving);
    let row = ui.horizontal(|ui| {
        let copy = ui.add_enabled(is_allowed, egui::Button::new("Copy"));
        if copy.on_hover_text("Copy the whole preview").clicked() {
            ui.ctx().copy_text(copied_text(export));
            state.last = LastButton::Told(Notice::Done("copied".to_owned()));
        }
        let save = ui.add_enabled(is_allowed && !is_saving, egui::Button::new("Save as…"));
        if save.clicked() {
            state.last = LastButton::Nothing;
            let purpose = Purpose::ExportConfig(form);
            cx.window_commands.push(UiCommand::AskPath(purpose));
        }
        let is_closed = ui.button("Close").clicked();
        told_ui(ui, &state.last, cx.theme);
        is_closed
    });
    row.inner
}

/// The choice of the form, and what its files carry.
fn tabs_ui(ui: &mut egui::Ui, state: &mut ExportDialog) {
    ui.horizontal(|ui| {
        for form in ConfigForm::ALL {
            let is_chosen = state.form == form;
            let tab = ui.selectable_label(is_chosen, form.title());
            let tab = tab.named_choice(Role::Tab, is_chosen, || form.title());
            if is_chosen && !std::mem::replace(&mut state.has_focus, true) {
                tab.request_focus();
            }
            if tab.clicked() && !is_chosen {
                state.form = form;
                state.last = LastButton::Nothing;
            }
        }
        ui.separator();
        ui.add(egui::Label::new(RichText::new(state.form.content()).weak()).truncate());
    });
}

/// That another policy than the exported one is recommended, with a button that takes it. The row keeps its height.
fn recommended_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    let goal = cx.session.document().goal;
    let answer = cx.session.answer().filter(|_| !cx.session.is_provisional());
    let comparison = answer.map(|(comparison, _)| comparison);
    let ends = comparison.map(|comparison| comparison.trade()).unwrap_or_default();
    let other = ends.iter().find(|end| end.is_of(goal) && !end.is_active);
    let height = ui.spacing().interact_size.y;
    ui.horizontal(|ui| {
        ui.set_min_height(height);
        let (Some(end), Some(comparison)) = (other, comparison) else {
            return;
        };
        let (number, active) = (end.recommended.policy.number(), comparison.active_policy.number());
        let button = ui.button(format!("Take policy {number}"));
        if button
            .on_hover_text(format!("Set static_memory_policy to {number} and export that"))
            .clicked()
        {
            let number = number.to_string();
            cx.commands
                .push(Command::set_option(keys::STATIC_MEMORY_POLICY, number));
        }
        let text = format!(
            "Policy {active} is exported; recommended ({}): {}",
            goal.label(),
            end.text(Brevity::Whole)
        );
        ui.add(egui::Label::new(RichText::new(text).color(cx.theme.text)).truncate());
    });
}

/// What is written otherwise than in the file that was opened. The list keeps its height.
fn differences_ui(ui: &mut egui::Ui, preview: &ConfigPreview, theme: &Theme) {
    let (differences, base) = (&preview.differences, &preview.base);
    if differences.is_empty() {
        ui.strong(format!("No difference from {base}"));
    } else {
        let count = counted(differences.len() as u64, "difference");
        ui.strong(format!("{count} from {base}"));
    }
    let area = egui::ScrollArea::vertical().id_salt("differences");
    let area = area
        .auto_shrink(false)
        .max_height(DIFFERENCES)
        .min_scrolled_height(DIFFERENCES);
    area.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        for row in differences {
            let (here, other) = row.texts();
            ui.horizontal_wrapped(|ui| {
                ui.label(RichText::new(format!("{}:", row.name)).strong());
                ui.label(RichText::new(format!("{other} ->")).color(theme.text_weak));
                ui.label(here);
            });
        }
    });
}

/// The files as they are written; why there is none.
fn files_ui(ui: &mut egui::Ui, export: &ConfigExport, form: ConfigForm, theme: &Theme) {
    if let Some(why) = &export.nothing {
        wrapped_ui(ui, format!("The {} form is empty: {why}.", form.title()));
        return;
    }
    // A solid scroll bar shows that there is more.
    ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
    let area = egui::ScrollArea::vertical()
        .id_salt(("preview", form))
        .auto_shrink(false);
    area.show(ui, |ui| {
        for file in &export.files {
            let name = file.path.display().to_string();
            if export.files.len() > 1 {
                ui.label(RichText::new(&name).monospace().color(theme.text_weak));
            }
            let mut text: &str = &file.text;
            let field = egui::TextEdit::multiline(&mut text).code_editor().desired_rows(1);
            let field = ui.add(field.desired_width(f32::INFINITY));
            drop(field.named_field(&file.text, || format!("preview of {name}")));
        }
    });
}

fn copied_text(export: &ConfigExport) -> String {
    match &export.files[..] {
        [file] => file.text.clone(),
        files => files_text(files),
    }
}

/// Findings of the configuration with their fixes, remarks on files, and notes on the chosen form.
fn findings_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, export: &ConfigExport, form: ConfigForm) {
    ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
    let area = egui::ScrollArea::vertical().id_salt("findings").auto_shrink(false);
    area.show(ui, |ui| {
        ui.strong("Findings");
        let mut findings: Vec<&Finding> = cx.session.findings().iter().collect();
        findings.sort_by_key(|finding| finding.severity);
        for (position, finding) in findings.iter().enumerate() {
            ui.push_id(("finding", position), |ui| {
                line_ui(ui, finding.severity, finding.rule, &finding.message, cx.theme);
                fixes_ui(ui, finding, cx.commands);
            });
        }
        let remarks = cx.session.config_remarks();
        for (name, of_file) in remarks {
            let short = name.rsplit(['/', '\\']).next().unwrap_or(name);
            for remark in of_file.entries() {
                line_ui(ui, remark.severity, short, &remark.message, cx.theme);
            }
        }
        if findings.is_empty() && remarks.is_empty() {
            ui.weak("The configuration breaks no rule.");
        }
        if form == ConfigForm::Json && cx.session.is_stale() {
            ui.weak("The predicted peaks are added once they are computed.");
        }
        if !export.notes.is_empty() {
            ui.add_space(6.0);
            ui.strong(format!("Notes on {}", form.title()));
        }
        for note in &export.notes {
            wrapped_ui(ui, RichText::new(note).color(cx.theme.text_weak));
        }
    });
}

fn line_ui(ui: &mut egui::Ui, severity: Severity, source: &str, message: &str, theme: &Theme) {
    ui.add_space(2.0);
    let title = format!("{} {source}", icon(severity));
    ui.label(RichText::new(title).color(theme.severity(severity)).strong());
    wrapped_ui(ui, message);
}

/// The second confirmation of errors; its row is there without errors, too.
fn confirmation_ui(ui: &mut egui::Ui, n_errors: usize, is_confirmed: &mut bool) {
    ui.horizontal(|ui| {
        ui.set_min_height(20.0);
        if n_errors > 0 {
            let words = format!("Export despite {}", counted(n_errors as u64, "error"));
            ui.checkbox(is_confirmed, words);
        } else {
            ui.weak("No errors");
        }
    });
}

fn told_ui(ui: &mut egui::Ui, last: &LastButton, theme: &Theme) {
    let (text, color) = match last {
        LastButton::Told(Notice::Done(text)) => (text, theme.text_weak),
        LastButton::Told(Notice::Failed(text)) => (text, theme.bad),
        LastButton::Nothing | LastButton::Saving => return,
    };
    ui.add(egui::Label::new(RichText::new(text).color(color)).truncate())
        .on_hover_text(text);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ConfigForm, ExportDialog, LastButton};
    use highwater_model::workload::DeviceProfiles;
    use highwater_session::{Command, Document, Notice, Session, Worker};

    fn session() -> Session {
        let worker = Worker::start(|| {}).expect("a worker");
        let profiles = DeviceProfiles::bundled().expect("profiles");
        let mut session = Session::new(Document::new(Vec::new()), profiles, worker);
        session.settle();
        session
    }

    /// The file dialog of a system leaves the window usable meanwhile.
    #[test]
    fn a_path_is_taken_while_the_dialog_is_open_and_shows_the_current_settings() {
        let mut session = session();
        let mut dialog = ExportDialog::default();
        let save = |dialog: &mut ExportDialog, session: &Session| {
            dialog.save(ConfigForm::Json, Path::new("config.json"), session).len()
        };
        assert_eq!(save(&mut dialog, &session), 0, "it was closed");
        dialog.open();
        dialog.refresh(&session);
        assert_eq!(save(&mut dialog, &session), 2);
        dialog.open();
        dialog.refresh(&session);
        session.apply(Command::set_option("hccl_timeout", "700"));
        assert_eq!(save(&mut dialog, &session), 0, "the settings changed");
        assert!(matches!(&dialog.last, LastButton::Told(Notice::Failed(why)) if why.contains("settings changed")));
        dialog.refresh(&session);
        assert_eq!(save(&mut dialog, &session), 2);
    }

    #[test]
    fn the_preview_is_made_once_per_change() {
        let session = session();
        let mut dialog = ExportDialog::default();
        dialog.open();
        dialog.refresh(&session);
        let made = |dialog: &ExportDialog| {
            let preview = dialog.preview.as_ref().expect("a preview");
            std::ptr::from_ref(
                preview
                    .export(ConfigForm::Json)
                    .files
                    .first()
                    .map_or("", |file| file.text.as_str()),
            )
        };
        let first = made(&dialog);
        dialog.refresh(&session);
        assert_eq!(made(&dialog), first);
    }
}
