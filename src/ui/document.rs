//! The document in the window: its name in the title, what is asked before changes would be lost, sources that are gone or
//! changed, edits that a crash left, and how the window shows it as a value that is saved with it.

mod prompts;

use std::path::{Path, PathBuf};

use eframe::egui::{self, ViewportCommand};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use self::prompts::{Conflict, Leave, Offer, conflict_prompt_ui, leaving_prompt_ui, locate_ui, recovery_ui};
use super::app::App;
use super::dialogs::Purpose;
use super::lanes::SavedLaneLayout;
use super::panes::bookmark_of;
use super::persisted::PersistedView;
use super::theme::Theme;
use highwater_session::{Command, Notice, Recovery, Session, SourceSpec, lane_of, lane_text};
use highwater_timeline::{ColorBy, ColoringRequest, Viewport};

/// The version of the view's form.
const VIEW_VERSION: u64 = 1;

/// What comes after changes were saved or given up.
#[derive(Clone, Debug)]
enum Next {
    /// The window closes.
    Close,
    /// Other sources are opened.
    Open(Vec<SourceSpec>),
}

/// How far leaving a document with changes is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Leaving {
    /// It is asked what becomes of the changes, if anything is to be left.
    #[default]
    Asking,
    /// The document is being saved.
    Saving,
    /// The window may close.
    Allowed,
}

/// What the window remembers of the document between frames.
#[derive(Debug, Default)]
pub struct DocumentState {
    /// What waits until it is said what becomes of the changes.
    next: Option<Next>,
    /// How far that is.
    leaving: Leaving,
    /// The file that somebody else changed, until it is said what becomes of it.
    conflict: Option<PathBuf>,
    /// Whether sources that are gone or changed are listed.
    is_locating: bool,
    /// Those that were listed last.
    seen: Vec<(usize, String)>,
    /// The window's title.
    title: String,
    /// Steps and addresses to look at as soon as there is an answer.
    viewport: Option<Viewport>,
    /// Whether the keyboard was given to the prompt.
    has_focus: bool,
}

impl DocumentState {
    /// Whether something is asked.
    const fn is_open(&self) -> bool {
        self.next.is_some() || self.is_locating || self.conflict.is_some()
    }

    /// Lists the sources that are gone or changed.
    pub(super) const fn locate(&mut self) {
        self.is_locating = true;
        self.has_focus = false;
    }

    /// Asks what becomes of the changes before others are opened.
    fn ask(&mut self, next: Next) {
        self.next = Some(next);
        self.leaving = Leaving::Asking;
        self.has_focus = false;
    }
}

/// How the window shows a document.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct DocumentView {
    version: u64,
    lanes: PersistedView,
    /// First and last visible step.
    steps: Option<(f64, f64)>,
    /// Lowest and highest visible address.
    addresses: Option<(f64, f64)>,
    /// What colours stand for.
    color_by: Option<String>,
    /// The groups of colours that step back.
    hidden_groups: Vec<String>,
    /// The lanes of which one is taken from the other.
    difference: Option<(String, String)>,
    /// Order and heights of lanes, which are folded or hidden.
    arrangement: Option<SavedLaneLayout>,
}

impl App {
    /// Keeps edits that are not saved yet in a folder, and offers what others left there.
    pub fn recover_from(&mut self, folder: Option<&std::path::Path>) {
        match folder.map(Recovery::start) {
            None => {}
            Some(Ok(recovery)) => self.recovery = Some(recovery),
            Some(Err(error)) => self.session.notify(Notice::Failed(format!(
                "edits that are not saved cannot be kept for recovery: {error}"
            ))),
        }
    }

    /// What keeps edits, for tests.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_ref()
    }

    /// How the window shows the document, as a value for its file.
    pub(super) fn document_view(&self) -> Json {
        let lanes = &self.state.lanes;
        let seen = lanes.viewport.filter(|_| !lanes.shows_everything());
        let view = DocumentView {
            version: VIEW_VERSION,
            lanes: PersistedView::of(lanes),
            steps: seen.map(|seen| (seen.t0, seen.t1)),
            addresses: seen.map(|seen| (seen.a0, seen.a1)),
            color_by: Some(self.session.look_order().by.words().to_owned()),
            hidden_groups: self.session.look_order().hidden.clone(),
            arrangement: Some(lanes.arrangement.kept()),
            difference: self
                .session
                .difference_order()
                .map(|(first, second)| (lane_text(first), lane_text(second))),
        };
        serde_json::to_value(view).unwrap_or_default()
    }

    /// Shows a document as it was shown. What cannot be read of it is left out.
    fn adopt_view(&mut self, view: Json) {
        let Ok(view) = serde_json::from_value::<DocumentView>(view) else {
            return;
        };
        if view.version != VIEW_VERSION {
            return;
        }
        let lanes = &mut self.state.lanes;
        lanes.layout = view.lanes.layout();
        lanes.content = view.lanes.content;
        lanes.axis = view.lanes.axis;
        if let Some(arrangement) = &view.arrangement {
            lanes.arrangement.restore(arrangement);
        }
        let seen = view.steps.zip(view.addresses);
        let seen = seen.filter(|((t0, t1), (a0, a1))| t0 < t1 && a0 < a1);
        self.state.document.viewport = seen.map(|((t0, t1), (a0, a1))| Viewport { t0, t1, a0, a1 });
        let color = ColorBy::all().find(|by| Some(by.words()) == view.color_by.as_deref());
        if let Some(by) = color {
            self.session.apply(Command::SetLook(ColoringRequest {
                by,
                hidden: view.hidden_groups,
            }));
        }
        let difference = view
            .difference
            .map(|(first, second)| (lane_of(&first), lane_of(&second)));
        if let Some((Some(first), Some(second))) = difference {
            self.session.apply(Command::SetDifference(Some((first, second))));
        }
    }

    /// What follows from how the document stands, before a frame.
    pub(super) fn follow_document(&mut self, ctx: &egui::Context) {
        if let Some(view) = self.session.take_view() {
            self.adopt_view(view);
        }
        if let Some(path) = self.session.take_conflict() {
            self.state.document.conflict = Some(path);
            self.state.document.has_focus = false;
        }
        if self.session.busy().is_none()
            && let Some((_, timeline)) = self.session.answer()
            && self.state.lanes.knows(timeline)
            && let Some(viewport) = self.state.document.viewport.take()
        {
            self.state.lanes.viewport = Some(viewport);
        }
        if let Some(recovery) = &mut self.recovery {
            recovery.note(&self.session);
        }
        let is_closing = ctx.input(|input| input.viewport().close_requested());
        if is_closing {
            self.keep_note();
        }
        let state = &mut self.state.document;
        let title = title_of(&self.session);
        if state.title != title {
            state.title.clone_from(&title);
            ctx.send_viewport_cmd(ViewportCommand::Title(title));
        }
        if is_closing && state.leaving != Leaving::Allowed && self.session.has_to_be_saved() {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            state.ask(Next::Close);
        }
        if state.leaving == Leaving::Saving && !self.session.is_saving() {
            state.leaving = Leaving::Asking;
            // A save that failed has its notice; nothing is lost.
            if self.session.has_to_be_saved() {
                // What somebody else wrote is asked about first.
                state.next = state.next.take().filter(|_| state.conflict.is_some());
            } else {
                self.go_on(ctx);
            }
        }
        let troubles = self.session.source_troubles();
        let state = &mut self.state.document;
        if troubles != state.seen && self.session.busy().is_none() {
            if !troubles.is_empty() {
                state.locate();
            }
            state.seen = troubles;
        }
    }

    /// Does what waited for the changes.
    fn go_on(&mut self, ctx: &egui::Context) {
        match self.state.document.next.take() {
            Some(Next::Close) => {
                self.state.document.leaving = Leaving::Allowed;
                ctx.send_viewport_cmd(ViewportCommand::Close);
            }
            Some(Next::Open(sources)) => self.session.apply(Command::Open(sources)),
            None => {}
        }
        ctx.request_repaint();
    }

    /// A command on its way to the session: saving takes the view along, and what would lose changes asks first.
    pub(super) fn passed(&mut self, command: Command) -> Option<Command> {
        match command {
            Command::SaveDocument { path, view: None } => Some(Command::SaveDocument {
                path: with_extension(&path),
                view: Some(self.document_view()),
            }),
            Command::Open(sources) if self.session.has_to_be_saved() => {
                self.state.document.ask(Next::Open(sources));
                None
            }
            other => Some(other),
        }
    }

    /// Saves where the document lies, or asks where.
    pub(super) fn save(&mut self, ctx: &egui::Context) {
        self.keep_note();
        match self.session.file_path().map(Path::to_owned) {
            Some(path) => {
                let view = Some(self.document_view());
                self.session.apply(Command::SaveDocument { path, view });
            }
            None => self.state.dialogs.ask(Purpose::SaveDocument, ctx),
        }
    }

    /// A note that is being written belongs to what is saved or left.
    pub(super) fn keep_note(&mut self) {
        self.state.lanes.end_note();
        let Some((comparison, _)) = self.session.answer() else {
            return;
        };
        if let Some((step, lane, note)) = self.state.lanes.take_note() {
            let bookmark = bookmark_of(comparison, step, lane, note);
            self.session.apply(Command::AddBookmark(bookmark));
        }
    }

    /// Whether something is asked about the document: the keyboard is for that.
    pub(super) fn asks_about_the_document(&self) -> bool {
        self.state.document.is_open()
            || self
                .recovery
                .as_ref()
                .is_some_and(|recovery| recovery.offered().is_some())
    }

    /// What is asked about the document, one thing at a time.
    pub(super) fn document_ui(&mut self, ctx: &egui::Context, theme: &Theme, commands: &mut Vec<Command>) {
        let offered = self.recovery.as_ref().and_then(|recovery| recovery.offered());
        if let Some(offered) = offered {
            if let Some(choice) = recovery_ui(ctx, offered, &mut self.state.document.has_focus) {
                self.settle_offer(choice, commands);
                ctx.request_repaint();
            }
        } else if let Some(path) = self.state.document.conflict.clone() {
            self.conflict_ui(ctx, path);
        } else if self.state.document.next.is_some() {
            self.leaving_ui(ctx);
        } else if self.state.document.is_locating && !self.state.dialogs.is_open() {
            let troubles = self.session.source_troubles();
            locate_ui(
                ctx,
                &self.session,
                &troubles,
                &mut self.state.document,
                &mut self.state.dialogs,
                theme,
            );
        }
    }

    /// What becomes of a file that somebody else changed.
    fn conflict_ui(&mut self, ctx: &egui::Context, path: PathBuf) {
        let Some(choice) = conflict_prompt_ui(ctx, &path, &mut self.state.document.has_focus) else {
            return;
        };
        let view = Some(self.document_view());
        let state = &mut self.state.document;
        state.conflict = None;
        if let Conflict::Overwrite = choice {
            if state.next.is_some() {
                state.leaving = Leaving::Saving;
            }
            self.session.apply(Command::OverwriteDocument { path, view });
        } else {
            state.next = None;
        }
        if let Conflict::Elsewhere = choice {
            self.state.dialogs.ask(Purpose::SaveDocument, ctx);
        }
        ctx.request_repaint();
    }

    fn settle_offer(&mut self, choice: Offer, commands: &mut Vec<Command>) {
        let Some(recovery) = &mut self.recovery else { return };
        let Some(offered) = recovery.take_offered() else { return };
        match choice {
            Offer::Recover => {
                commands.push(Command::Recover(offered.kept.clone()));
                self.recovered = Some(offered);
            }
            Offer::Discard => recovery.discard(offered),
            // It stays where it is, for the next start.
            Offer::Later => {}
        }
    }

    /// What was recovered is this instance's to keep now.
    pub(super) fn settle_recovered(&mut self) {
        if self.session.has_to_be_saved()
            && let (Some(recovery), Some(recovered)) = (&mut self.recovery, self.recovered.take())
        {
            recovery.note(&self.session);
            recovery.discard(recovered);
        }
    }

    fn leaving_ui(&mut self, ctx: &egui::Context) {
        let name = self.session.document_name();
        let state = &mut self.state.document;
        if state.leaving == Leaving::Saving {
            return;
        }
        let choice = leaving_prompt_ui(ctx, &name, &mut state.has_focus);
        match choice {
            None => return,
            Some(Leave::Discard) => self.go_on(ctx),
            Some(Leave::Stay) => state.next = None,
            Some(Leave::Save) if self.session.file_path().is_some() => {
                state.leaving = Leaving::Saving;
                self.save(ctx);
            }
            Some(Leave::Save) => {
                // Where it is to lie has to be said first; leaving is asked for again afterwards.
                state.next = None;
                self.save(ctx);
            }
        }
        ctx.request_repaint();
    }
}

/// The window's title: the document, and whether it is changed.
fn title_of(session: &Session) -> String {
    let mark = if session.is_changed() { "• " } else { "" };
    format!("{mark}{} – highwater", session.document_name())
}

/// A path with the extension of documents, where it has none.
pub(super) fn with_extension(path: &Path) -> std::path::PathBuf {
    if path.extension().is_some() {
        return path.to_owned();
    }
    path.with_extension(highwater_session::DOCUMENT_EXTENSION)
}
