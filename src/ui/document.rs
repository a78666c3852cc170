//! The document in the window: title, prompts about unsaved changes, missing or changed sources, and recovered edits,
//! and the view that is saved with the document.

mod prompts;

use std::path::{Path, PathBuf};

use eframe::egui::{self, ViewportCommand};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use self::prompts::{
    Conflict, Leave, Offer, conflict_prompt_ui, leaving_prompt_ui, locate_ui, outside_ui, recovery_ui,
};
use super::app::App;
use super::dialogs::Purpose;
use super::lanes::{SavedLaneLayout, whole_units};
use super::panes::bookmark_of;
use super::persisted::PersistedView;
use super::theme::Theme;
use highwater_session::{Command, Notice, Recovery, Session, SourceSpec, lane_of, lane_text};
use highwater_timeline::{ColorBy, ColoringRequest, Viewport};

/// The version of [`DocumentView`] in files.
const VIEW_VERSION: u64 = 1;

/// The action that waits until changes are saved or discarded.
#[derive(Clone, Debug)]
enum Next {
    Close,
    Open(Vec<SourceSpec>),
}

/// The progress of leaving a document with changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Leaving {
    /// The user is asked about the changes, if an action waits.
    #[default]
    Asking,
    Saving,
    /// The window may close.
    Allowed,
}

/// The state of prompts and title between frames.
#[derive(Debug, Default)]
pub struct DocumentState {
    /// The action that waits for the user's decision about the changes.
    next: Option<Next>,
    leaving: Leaving,
    /// The document's file that another program changed, until the user decides.
    conflict: Option<PathBuf>,
    /// Whether the list of missing and changed sources is open.
    is_locating: bool,
    /// The sources that were listed last.
    seen: Vec<(usize, String)>,
    title: String,
    /// The viewport for the next answer.
    viewport: Option<Viewport>,
    /// Whether the prompt has had the focus.
    has_focus: bool,
}

impl DocumentState {
    /// Whether a prompt is open.
    const fn is_open(&self) -> bool {
        self.next.is_some() || self.is_locating || self.conflict.is_some()
    }

    /// Opens the list of missing and changed sources.
    pub(super) const fn locate(&mut self) {
        self.is_locating = true;
        self.has_focus = false;
    }

    /// Asks about the changes before the action.
    fn ask(&mut self, next: Next) {
        self.next = Some(next);
        self.leaving = Leaving::Asking;
        self.has_focus = false;
    }
}

/// The view of a document in its file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct DocumentView {
    version: u64,
    lanes: PersistedView,
    /// First and last visible step.
    steps: Option<(f64, f64)>,
    /// Lowest and highest visible byte above the constant regions. Earlier versions stored addresses under another name.
    above_floor: Option<(f64, f64)>,
    /// The colour attribute.
    color_by: Option<String>,
    /// The dimmed groups.
    hidden_groups: Vec<String>,
    /// Minuend and subtrahend of the difference.
    difference: Option<(String, String)>,
    /// Order and heights of lanes; collapsed and hidden ones.
    arrangement: Option<SavedLaneLayout>,
}

impl App {
    /// Keeps unsaved edits in a folder, and offers edits that crashed instances left there.
    pub fn recover_from(&mut self, folder: Option<&std::path::Path>) {
        match folder.map(Recovery::start) {
            None => {}
            Some(Ok(recovery)) => self.recovery = Some(recovery),
            Some(Err(error)) => self.session.notify(Notice::Failed(format!(
                "unsaved edits cannot be stored for recovery: {error}"
            ))),
        }
    }

    /// For tests.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_ref()
    }

    /// The view for the document's file.
    pub(super) fn document_view(&self) -> Json {
        let lanes = &self.state.lanes;
        let seen = lanes.viewport.filter(|_| !lanes.shows_everything());
        let view = DocumentView {
            version: VIEW_VERSION,
            lanes: PersistedView::of(lanes, self.state.options.shows_rest),
            steps: seen.map(|seen| (seen.t0, seen.t1)),
            above_floor: seen
                .filter(|_| !lanes.marks.has_constant_to_scale)
                .map(|seen| (seen.a0, seen.a1)),
            color_by: Some(self.session.look_order().by.words().to_owned()),
            hidden_groups: self.session.look_order().hidden.clone(),
            arrangement: Some(lanes.arrangement.kept()),
            difference: self
                .session
                .difference()
                .key()
                .map(|(first, second)| (lane_text(*first), lane_text(*second))),
        };
        serde_json::to_value(view).unwrap_or_default()
    }

    /// Restores the view of a document; ignores unreadable parts.
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
        // Without addresses all are visible: the next answer cuts the view to what there is.
        let addresses = view
            .above_floor
            .unwrap_or((0.0, f64::from(u32::MAX) * f64::from(u32::MAX)));
        let seen = view.steps.map(|steps| (steps, addresses));
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

    /// Follows changes of the document before a frame: title, prompts, view, leaving.
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
            self.commit_note();
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
            // A failed save shows a notice and keeps the changes.
            if self.session.has_to_be_saved() {
                // Changes of another program are resolved first.
                state.next = state.next.take().filter(|_| state.conflict.is_some());
            } else {
                self.perform_waiting(ctx);
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

    fn perform_waiting(&mut self, ctx: &egui::Context) {
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

    /// Filters a command for the session: saving adds the view; a command that would lose changes waits for a prompt.
    pub(super) fn filtered(&mut self, command: Command) -> Option<Command> {
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

    /// Saves to the document's file, or asks for a path.
    pub(super) fn save(&mut self, ctx: &egui::Context) {
        self.commit_note();
        match self.session.file_path().map(Path::to_owned) {
            Some(path) => {
                let view = Some(self.document_view());
                self.session.apply(Command::SaveDocument { path, view });
            }
            None => self.state.dialogs.ask(Purpose::SaveDocument, ctx),
        }
    }

    /// Commits an open bookmark note before the document is saved or left.
    pub(super) fn commit_note(&mut self) {
        self.state.lanes.end_note();
        let Some((comparison, _)) = self.session.answer() else {
            return;
        };
        if let Some((step, lane, note)) = self.state.lanes.take_note() {
            let bookmark = bookmark_of(comparison, step, lane, note);
            self.session.apply(Command::AddBookmark(bookmark));
        }
    }

    /// Whether a prompt about the document is open; it takes the keyboard.
    pub(super) fn has_document_prompt(&self) -> bool {
        self.state.document.is_open()
            || self.session.outside().is_some()
            || self
                .recovery
                .as_ref()
                .is_some_and(|recovery| recovery.offered().is_some())
    }

    /// Shows the first pending prompt about the document.
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
        } else if let Some(outside) = self.session.outside() {
            let decided = outside_ui(ctx, outside, &mut self.state.document.has_focus);
            commands.extend(decided.map(Command::DecideOutside));
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

    /// Asks about a file that another program changed.
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
            // The file stays for the next start.
            Offer::Later => {}
        }
    }

    /// Takes over the recovered edits, so that this instance keeps them.
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
            Some(Leave::Discard) => self.perform_waiting(ctx),
            Some(Leave::Stay) => state.next = None,
            Some(Leave::Save) if self.session.file_path().is_some() => {
                state.leaving = Leaving::Saving;
                self.save(ctx);
            }
            Some(Leave::Save) => {
                // The path is chosen first; the user closes again afterwards.
                state.next = None;
                self.save(ctx);
            }
        }
        ctx.request_repaint();
    }
}

/// The window's title: the document and a mark for unsaved changes.
fn title_of(session: &Session) -> String {
    let mark = if session.is_changed() { "• " } else { "" };
    let answer = session.answer().map(|(comparison, _)| comparison);
    let capacity = answer.and_then(|comparison| comparison.capacity_of(comparison.main_lane()?));
    let capacity = capacity.map_or_else(String::new, |capacity| format!(" · {}", whole_units(capacity.bytes)));
    format!("{mark}{}{capacity} – highwater", session.document_name())
}

/// Adds the extension of documents where the path has none.
pub(super) fn with_extension(path: &Path) -> std::path::PathBuf {
    if path.extension().is_some() {
        return path.to_owned();
    }
    path.with_extension(highwater_session::DOCUMENT_EXTENSION)
}
