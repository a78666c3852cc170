//! The application: polls the worker, shows the panes, applies their output.

use eframe::egui::{self, Key, Modifiers};

use super::commands::UiCommand;
use super::dialogs::Dialogs;
use super::document::DocumentState;
use super::dropping::drop_ui;
use super::export_dialog::{ExportDialog, export_dialog_ui};
use super::frame_output::FrameOutput;
use super::help;
use super::keys::{Keyboard, is_covered, keys};
use super::lanes::{KeyboardFocus, LanesState};
use super::pages::{PagesState, pages_ui};
use super::palette::{Known, PaletteState, palette_ui};
use super::panels::PaneCx;
use super::panels::compare::{CompareState, pin_prompt_ui};
use super::panels::device::DeviceState;
use super::panels::flame::FlameState;
use super::panels::inspector::InspectorState;
use super::panels::lane_set::LaneSetState;
use super::panels::lane_table::LaneTableState;
use super::panels::measured_run::MeasuredRunState;
use super::panels::name_reuse::NameReuseState;
use super::panels::options::OptionsState;
use super::panels::peak::PeakState;
use super::panels::schedule::ScheduleState;
use super::panels::schedule_editor::ScheduleEditorState;
use super::panels::search::SearchState;
use super::panels::sweep::{BudgetsState, ConfigurationsState, StrategiesState};
use super::panels::tables::TablesState;
use super::panes::{Layout, Pane, Panes};
use super::persisted::{Persisted, PersistedView};
use super::pictures::Pictures;
use super::recent::{Noted, clock};
use super::status_bar::status_bar_ui;
use super::theme::Theme;
use super::top_bar::{TopBar, top_bar_ui};
use super::visible_texts::VisibleTexts;
use highwater_options::Finding;
use highwater_session::{AllowedOutside, Command, PersistedDocument, Recents, Recoverable, Recovery, Session};

/// The window's state that no file holds.
#[derive(Debug, Default)]
pub struct UiState {
    /// Whether the largest batch is searched while nothing else runs.
    pub has_background_search: bool,
    pub lanes: LanesState,
    pub options: OptionsState,
    /// The budget sweep.
    pub budgets: BudgetsState,
    /// The configuration sweep.
    pub sweep: ConfigurationsState,
    /// Runs under budgets, kept while other lanes are compared.
    pub lane_set: LaneSetState,
    pub lane_table: LaneTableState,
    pub name_reuse: NameReuseState,
    pub compare: CompareState,
    pub measured_run: MeasuredRunState,
    pub planner: StrategiesState,
    pub device: DeviceState,
    pub inspector: InspectorState,
    pub peak: PeakState,
    pub flame: FlameState,
    pub search: SearchState,
    pub tables: TablesState,
    pub schedule: ScheduleState,
    pub schedule_editor: ScheduleEditorState,
    pub document: DocumentState,
    pub dialogs: Dialogs,
    pub export: ExportDialog,
    pub is_help_open: bool,
    /// The documentation.
    pub pages: PagesState,
    /// The position of the finding focused last.
    pub problem: Option<usize>,
    /// Height of the list of problems, where it was drawn.
    pub problems_height: Option<f32>,
    pub palette: PaletteState,
    pub recents: Recents,
    /// Pending pictures.
    pub pictures: Pictures,
}

#[derive(Debug)]
pub struct App {
    pub(super) session: Session,
    pub(super) state: UiState,
    pub(super) panes: Panes,
    has_styled: bool,
    noted: Noted,
    /// Keeps unsaved edits.
    pub(super) recovery: Option<Recovery>,
    /// Recovered edits, until this instance keeps them.
    pub(super) recovered: Option<Recoverable>,
}

impl App {
    pub fn new(session: Session) -> Self {
        Self::restored(session, &Persisted::default())
    }

    /// The window with the layout and view of the last run.
    pub fn restored(mut session: Session, kept: &Persisted) -> Self {
        let mut state = UiState::default();
        state.recents.clone_from(&kept.recents);
        state.palette.used.clone_from(&kept.used);
        state.lanes.layout = kept.view.layout();
        state.lanes.content = kept.view.content;
        state.lanes.axis = kept.view.axis;
        state.lanes.arrangement.restore(&kept.lane_layout);
        state.lanes.has_plain_wheel = kept.view.has_plain_wheel;
        state.inspector.editor.command.clone_from(&kept.editor);
        state.options.shows_rest = kept.view.has_all_options;
        session.allow_outside(&AllowedOutside::with_known(kept.outside.iter().cloned()));
        if !state.recents.list.is_empty() {
            session.apply(Command::FindMissing(state.recents.paths()));
        }
        Self {
            session,
            state,
            panes: Panes::of(kept.layout.as_ref().unwrap_or(&Layout::default())),
            has_styled: false,
            noted: Noted::default(),
            recovery: None,
            recovered: None,
        }
    }

    /// Searches the largest batch while nothing else runs.
    #[must_use]
    pub fn with_background_search(mut self) -> Self {
        self.state.has_background_search = true;
        self
    }

    /// Opens the path field instead of system dialogs, for tests.
    #[must_use]
    pub fn with_typed_paths(mut self) -> Self {
        self.state.dialogs.are_typed = true;
        self
    }

    /// The state to persist.
    pub fn kept(&self) -> Persisted {
        Persisted {
            layout: Some(self.panes.layout()),
            document: PersistedDocument::of(&self.session),
            recents: self.state.recents.clone(),
            used: self.state.palette.used.clone(),
            view: PersistedView::of(&self.state.lanes, self.state.options.shows_rest),
            lane_layout: self.state.lanes.arrangement.kept(),
            editor: self.state.inspector.editor.command.clone(),
            outside: self.session.allowed_outside().known().cloned().collect(),
            unreadable: Vec::new(),
        }
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// For tests.
    pub fn apply(&mut self, command: Command) {
        self.session.apply(command);
    }

    /// The panes in front with their rectangles in points, for tests.
    pub fn shown_panes(&self) -> Vec<(Pane, egui::Rect)> {
        self.panes.shown().collect()
    }

    /// Waits for the worker and for path look-ups, for tests and benches.
    pub fn settle(&mut self) {
        self.session.settle();
        self.state.dialogs.settle();
    }

    /// One frame: polls the worker, shows the window, applies its output.
    pub fn show(&mut self, ui: &mut egui::Ui) {
        let kept = egui::Id::unique("overlays of the memory maps");
        if !std::mem::replace(&mut self.has_styled, true) {
            super::theme::style(ui.ctx());
            ui.ctx().add_plugin(VisibleTexts);
            // Zooming the window is a command.
            ui.ctx().options_mut(|options| options.zoom_with_keyboard = false);
            let marks = ui.ctx().data_mut(|data| data.get_persisted(kept));
            self.state.lanes.marks = marks.unwrap_or_default();
        }
        let marks = self.state.lanes.marks;
        self.session.poll();
        self.noted.note(&mut self.session, &mut self.state.recents);
        self.follow_document(ui.ctx());
        let mut commands = self.frame(ui);
        if self.state.has_background_search && commands.is_empty() {
            let wanted = self.session.wanted_batch_search();
            commands.extend(wanted.map(Command::FindLargestBatch));
        }
        if self.state.lanes.marks != marks {
            ui.ctx()
                .data_mut(|data| data.insert_persisted(kept, self.state.lanes.marks));
        }
        if let Some(name) = self.session.take_stepped() {
            // Scrolls to the option that undo or redo changed.
            self.state.options.jump = Some(name);
        }
        let changes = |command: &Command| {
            !matches!(
                command,
                Command::PictureDevice(..)
                    | Command::Paint(_)
                    | Command::ListRows(_)
                    | Command::ExplainPeak(_)
                    | Command::DrawFlame(_)
                    | Command::CompareLanes(..)
                    | Command::FindLargestBatch(_)
            )
        };
        if commands.iter().any(changes) {
            // Shows the effects of an edit (findings, stale lanes) in the same frame.
            ui.ctx().request_discard("the session changed");
        }
        for command in commands {
            if let Some(command) = self.filtered(command) {
                self.session.apply(command);
            } else {
                ui.ctx().request_repaint();
            }
        }
        self.settle_recovered();
    }

    /// Shows the window; returns the session's commands.
    fn frame(&mut self, ui: &mut egui::Ui) -> Vec<Command> {
        let theme = Theme::of(ui.visuals());
        let mut output = FrameOutput::default();
        let state = &self.state;
        let has_field = state.options.has_search_focus || state.search.has_focus;
        // The search field exists once there is an answer; letters typed before are kept for it.
        let is_typing_ahead = state.search.wants_focus && self.session.answer().is_none();
        if is_typing_ahead {
            self.state.search.type_ahead(ui);
        }
        let state = &self.state;
        let is_searching = has_field && ui.ctx().text_edit_focused();
        let is_in_dialog = state.dialogs.is_open()
            || state.palette.is_open()
            || state.lanes.is_noting()
            || state.compare.is_asking()
            || state.export.is_open()
            || self.has_document_prompt();
        let keyboard = Keyboard {
            is_in_dialog,
            is_elsewhere: is_in_dialog || is_searching || is_typing_ahead,
            is_in_drawing: state.lanes.keyboard == KeyboardFocus::Drawing
                && (self.panes.is_in_front(Pane::Policies) || self.panes.is_maximized()),
        };
        // Fields and menus take Escape first; what it means in the drawing waits until nothing runs.
        let is_free = !keyboard.is_elsewhere && !is_covered(ui.ctx());
        if is_free && self.session.can_cancel() && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
        {
            output.commands.push(Command::Cancel);
        }
        keys(ui, keyboard, &mut output.window_commands);
        if output.window_commands.contains(&UiCommand::OpenPalette) {
            self.state.palette.open_ahead(ui);
        }
        // The search receives letters that follow its shortcut in the same frame.
        self.state.options.wants_search |= output.window_commands.contains(&UiCommand::SearchOptions);
        self.state.search.wants_focus |= output.window_commands.contains(&UiCommand::Search);
        let now = |command| self.now(command, theme.is_dark);
        let bar = TopBar {
            session: &self.session,
            theme: &theme,
            recents: &self.state.recents,
            panes: &self.panes,
            lanes: &self.state.lanes,
            now: &now,
        };
        top_bar_ui(ui, &bar, &mut output);
        let reading = self.state.lanes.reading_text.as_deref();
        let reading = reading.or(self.state.lane_table.hovered.as_deref());
        status_bar_ui(ui, &self.session, reading, &theme, &mut output);
        self.state.lanes.begin(self.state.pictures.lane());
        egui::CentralPanel::no_frame().show(ui, |ui| {
            let cx = PaneCx {
                session: &self.session,
                theme: &theme,
                commands: &mut output.commands,
                window_commands: &mut output.window_commands,
                option: None,
            };
            self.panes.ui(ui, cx, &mut self.state);
        });
        self.dialogs_ui(ui.ctx(), &theme, &mut output);
        drop_ui(ui, &theme, &mut output.commands);
        if !output.window_commands.is_empty() {
            // Shows the command's effect without waiting for input.
            ui.ctx().request_repaint();
        }
        self.state.lanes.is_covered = is_covered(ui.ctx());
        self.apply_output(output, ui.ctx())
    }

    /// Shows the modals in front of the panes.
    fn dialogs_ui(&mut self, ctx: &egui::Context, theme: &Theme, output: &mut FrameOutput) {
        help::help_ui(ctx, &mut self.state.is_help_open);
        pages_ui(ctx, &mut self.state.pages, theme);
        if let Some(key) = self.state.dialogs.take_returned() {
            self.state.options.jump = Some(key.to_owned());
        }
        self.state.dialogs.poll(&mut output.commands);
        self.state.dialogs.ui(ctx, &mut output.commands);
        self.document_ui(ctx, theme, &mut output.commands);
        let mut cx = PaneCx {
            session: &self.session,
            theme,
            commands: &mut output.commands,
            window_commands: &mut output.window_commands,
            option: None,
        };
        pin_prompt_ui(ctx, &mut cx, &mut self.state.compare);
        let is_asking_path = self.state.dialogs.is_open();
        export_dialog_ui(ctx, &mut cx, &mut self.state.export, is_asking_path);
        let mut palette = std::mem::take(&mut self.state.palette);
        let now = |command| self.now(command, theme.is_dark);
        let known = Known {
            session: &self.session,
            recents: &self.state.recents,
            clock: clock(),
            now: &now,
        };
        if let Some(choice) = palette_ui(ctx, &mut palette, &known, theme) {
            output.choose(&choice, &self.state.recents);
        }
        self.state.palette = palette;
        if let Some((path, purpose)) = self.state.dialogs.take_picture() {
            self.picture(path, purpose, ctx, theme, &mut output.commands);
        }
        self.state.pictures.poll(ctx, &self.state.lanes, &mut output.commands);
    }

    /// Focuses the field of the next finding: errors first, as in the list of problems.
    pub(super) fn next_problem(&mut self) {
        let mut findings: Vec<&Finding> = self.session.findings().iter().collect();
        findings.sort_by_key(|finding| finding.severity);
        let named: Vec<&String> = findings.iter().filter_map(|finding| finding.options.first()).collect();
        if !named.is_empty() {
            let next = self.state.problem.map_or(0, |last| (last + 1) % named.len());
            self.state.problem = Some(next);
            self.state.options.jump = Some(named[next].clone());
        }
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.show(ui);
    }

    /// The background of every pane: software renderers spend most of a frame on filling large areas twice.
    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }

    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        self.kept().write(storage);
    }
}
