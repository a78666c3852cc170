//! The application: drains the worker, shows the panes, applies what they asked for.

use eframe::egui::{self, Key};

use super::commands::{COMMANDS, CommandRow, UiCommand};
use super::dialogs::{Dialogs, Purpose};
use super::help;
use super::lanes::{LaneContent, LaneLayout, LanesState};
use super::panels::budgets::BudgetsState;
use super::panels::device::DeviceState;
use super::panels::inspector::InspectorState;
use super::panels::lane_set::{LaneSetState, kind_words, next_lanes};
use super::panels::name_reuse::NameReuseState;
use super::panels::options::OptionsState;
use super::panels::peak::PeakState;
use super::panels::planner::PlannerState;
use super::panels::schedule::ScheduleState;
use super::panes::{Pane, Panes, PanesInput};
use super::theme::Theme;
use super::top_bar::top_bar_ui;
use crate::options::Finding;
use crate::session::{Command, Notice, Session, SourceSpec};

/// View state: what the window remembers and no file holds.
#[derive(Debug, Default)]
pub struct UiState {
    /// The lanes' view.
    pub lanes: LanesState,
    /// The option panel's texts.
    pub options: OptionsState,
    /// The sweep.
    pub budgets: BudgetsState,
    /// Lanes of runs under budgets while others are compared.
    pub lane_set: LaneSetState,
    /// Name reuse and its log.
    pub name_reuse: NameReuseState,
    /// The planner's table.
    pub planner: PlannerState,
    /// The device's tables.
    pub device: DeviceState,
    /// The explained peak.
    pub peak: PeakState,
    /// Which lane the inspector explains.
    pub inspector: InspectorState,
    /// The schedule's texts.
    pub schedule: ScheduleState,
    /// The dialog that is open.
    pub dialogs: Dialogs,
    /// Whether the list of keys is open.
    pub is_help_open: bool,
    /// The finding that was looked at last.
    pub problem: Option<usize>,
}

/// The program's window.
#[derive(Debug)]
pub struct App {
    session: Session,
    state: UiState,
    panes: Panes,
    has_styled: bool,
}

impl App {
    /// The window of a session.
    pub fn new(session: Session) -> Self {
        Self {
            session,
            state: UiState::default(),
            panes: Panes::new(),
            has_styled: false,
        }
    }

    /// The session, for tests.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Applies a command, for tests.
    pub fn apply(&mut self, command: Command) {
        self.session.apply(command);
    }

    /// Waits for the worker, for tests and benches.
    pub fn settle(&mut self) {
        self.session.settle();
    }

    /// One frame: takes the worker's answers, shows everything, applies what was asked for.
    pub fn show(&mut self, ui: &mut egui::Ui) {
        let kept = egui::Id::unique("marks of the memory maps");
        if !std::mem::replace(&mut self.has_styled, true) {
            super::theme::style(ui.ctx());
            let marks = ui.ctx().data_mut(|data| data.get_persisted(kept));
            self.state.lanes.marks = marks.unwrap_or_default();
        }
        let marks = self.state.lanes.marks;
        self.session.poll();
        let commands = self.frame(ui);
        if self.state.lanes.marks != marks {
            ui.ctx()
                .data_mut(|data| data.insert_persisted(kept, self.state.lanes.marks));
        }
        if let Some(name) = self.session.take_stepped() {
            // What undo or redo changed comes into view.
            self.state.options.jump = Some(name);
        }
        let changes = |command: &Command| !matches!(command, Command::PictureDevice(..) | Command::ExplainPeak(_));
        if commands.iter().any(changes) {
            // What an edit changes (findings beside their fields, stale lanes) is seen in the same frame.
            ui.ctx().request_discard("the session changed");
        }
        for command in commands {
            self.session.apply(command);
        }
    }

    /// Shows everything and returns what the user asked for.
    fn frame(&mut self, ui: &mut egui::Ui) -> Vec<Command> {
        let theme = Theme::of(ui.visuals());
        let mut commands = Vec::new();
        let mut asked = Vec::new();
        let is_asking = self.state.dialogs.is_open() || self.state.lanes.is_noting();
        let is_elsewhere = is_asking || self.state.options.has_search_focus;
        keys(ui, (is_asking, is_elsewhere), &mut asked);
        // The search takes the letters that follow its shortcut in the same frame.
        self.state.options.wants_search |= asked.contains(&UiCommand::SearchOptions);
        let now = |command| self.now(command, theme.is_dark);
        top_bar_ui(ui, &self.session, (&theme, &now), &mut asked, &mut commands);
        let input = PanesInput {
            session: &self.session,
            theme: &theme,
        };
        egui::CentralPanel::no_frame().show(ui, |ui| {
            self.panes.ui(ui, &input, &mut self.state, &mut commands);
        });
        help::help_ui(ui.ctx(), &mut self.state.is_help_open);
        if let Some(key) = self.state.dialogs.take_returned() {
            self.state.options.jump = Some(key.to_owned());
        }
        if let Some((key, kind)) = self.state.options.pick.take() {
            self.state.dialogs.ask(Purpose::PickPath { key, kind }, ui.ctx());
        }
        if std::mem::take(&mut self.state.peak.wants_export) {
            self.state.dialogs.ask(Purpose::ExportPeak, ui.ctx());
        }
        if std::mem::take(&mut self.state.peak.wants_copy) {
            self.copy_peak(ui.ctx());
        }
        self.state.dialogs.poll(&mut commands);
        self.state.dialogs.ui(ui.ctx(), &mut commands);
        drop_ui(ui, &theme, &mut commands);
        if !asked.is_empty() {
            // What a command changes is seen at once, not with the next movement of the pointer.
            ui.ctx().request_repaint();
        }
        for command in asked {
            self.perform(command, ui.ctx(), &mut commands);
        }
        commands
    }

    /// Puts the explained step on the clipboard.
    fn copy_peak(&mut self, ctx: &egui::Context) {
        let Some(text) = self.session.peak_text() else { return };
        let first = text.lines().next().unwrap_or_default();
        self.session.notify(Notice::Done(format!("copied: {first}")));
        ctx.copy_text(text);
        // The notice stands above what was drawn.
        ctx.request_repaint();
    }

    /// How a toggle stands, for the menu.
    fn now(&self, command: UiCommand, is_dark: bool) -> Option<&'static str> {
        let lanes = &self.state.lanes;
        Some(match command {
            UiCommand::ToggleView => match lanes.content {
                LaneContent::MemoryMap => "memory map",
                LaneContent::Lifetimes => "lifetimes",
            },
            UiCommand::ToggleLayout => match lanes.layout {
                LaneLayout::Stacked => "stacked",
                LaneLayout::SideBySide => "side by side",
            },
            UiCommand::NextLanes => kind_words(&self.session)?,
            UiCommand::Sweep if self.session.is_sweeping() => "running",
            UiCommand::ToggleHoles if lanes.marks.has_holes => "on",
            UiCommand::ToggleHoles => "off",
            UiCommand::NextEdges => lanes.marks.edges.words(),
            UiCommand::ToggleTheme if is_dark => "dark",
            UiCommand::ToggleTheme => "light",
            _ => return None,
        })
    }

    /// Goes to the field of the next finding: errors first, as in the list of problems.
    fn next_problem(&mut self) {
        let mut findings: Vec<&Finding> = self.session.findings().iter().collect();
        findings.sort_by_key(|finding| finding.severity);
        let named: Vec<&String> = findings.iter().filter_map(|finding| finding.options.first()).collect();
        if !named.is_empty() {
            let next = self.state.problem.map_or(0, |last| (last + 1) % named.len());
            self.state.problem = Some(next);
            self.state.options.jump = Some(named[next].clone());
        }
    }

    fn perform(&mut self, command: UiCommand, ctx: &egui::Context, commands: &mut Vec<Command>) {
        let state = &mut self.state;
        match command {
            UiCommand::Open => state.dialogs.ask(Purpose::Open, ctx),
            UiCommand::Add => state.dialogs.ask(Purpose::Add, ctx),
            UiCommand::OpenPath => state.dialogs.type_path(Purpose::Open, None),
            UiCommand::ExportConfig => state.dialogs.ask(Purpose::ExportConfig, ctx),
            UiCommand::ImportConfig => state.dialogs.ask(Purpose::ImportConfig, ctx),
            UiCommand::CopyCommandLine => {
                let line = self.session.command_line();
                self.session.notify(Notice::Done(format!("copied: {line}")));
                ctx.copy_text(line);
            }
            UiCommand::Undo => commands.push(Command::Undo),
            UiCommand::Redo => commands.push(Command::Redo),
            UiCommand::ResetOptions => commands.push(Command::ResetAll),
            UiCommand::SearchOptions => state.options.wants_search = true,
            UiCommand::NextProblem => self.next_problem(),
            UiCommand::ToggleTheme => {
                let is_dark = ctx.global_style().visuals.dark_mode;
                ctx.set_theme(if is_dark { egui::Theme::Light } else { egui::Theme::Dark });
            }
            UiCommand::ToggleLayout => {
                state.lanes.layout = match state.lanes.layout {
                    LaneLayout::Stacked => LaneLayout::SideBySide,
                    LaneLayout::SideBySide => LaneLayout::Stacked,
                };
            }
            UiCommand::ToggleView => {
                state.lanes.content = match state.lanes.content {
                    LaneContent::MemoryMap => LaneContent::Lifetimes,
                    LaneContent::Lifetimes => LaneContent::MemoryMap,
                };
            }
            UiCommand::ToggleBudgets => self.panes.toggle(Pane::Budgets),
            UiCommand::ToggleNameReuse => self.panes.toggle(Pane::NameReuse),
            UiCommand::ToggleFiles => self.panes.toggle(Pane::Files),
            UiCommand::OpenFolder => state.dialogs.ask(Purpose::OpenFolder, ctx),
            UiCommand::Sweep if self.session.is_sweeping() => commands.push(Command::StopSweep),
            UiCommand::Sweep => {
                self.panes.show(Pane::Budgets);
                commands.push(Command::Sweep(state.budgets.graph()));
            }
            UiCommand::NextLanes => commands.extend(next_lanes(&self.session, &mut state.lane_set)),
            UiCommand::TogglePlanner => self.panes.toggle(Pane::Planner),
            UiCommand::ToggleDevice => self.panes.toggle(Pane::Device),
            UiCommand::TogglePeak => self.panes.toggle(Pane::Peak),
            UiCommand::ExportPeak => {
                self.panes.show(Pane::Peak);
                state.dialogs.ask(Purpose::ExportPeak, ctx);
            }
            UiCommand::Bookmark => {
                if !state.lanes.begin_note() {
                    let words = "point at a step of a lane, or pin one, to bookmark it";
                    self.session.notify(Notice::Failed(words.to_owned()));
                }
            }
            UiCommand::ToggleHoles => state.lanes.marks.has_holes = !state.lanes.marks.has_holes,
            UiCommand::NextEdges => state.lanes.marks.edges = state.lanes.marks.edges.next(),
            UiCommand::ToggleHelp => state.is_help_open = !state.is_help_open,
            UiCommand::Quit => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
        }
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.show(ui);
    }
}

/// Shortcuts of the command table. Letters are for a text field while it has the keyboard; a lane that was clicked has
/// it too, but takes only its own letters.
fn keys(ui: &egui::Ui, (is_dialog_open, is_typing_elsewhere): (bool, bool), asked: &mut Vec<UiCommand>) {
    let is_typing = ui.ctx().text_edit_focused() || is_dialog_open;
    // A shortcut with Shift comes first: the one without would take its keys too.
    let has_shift = |row: &CommandRow| row.shortcut.is_some_and(|shortcut| shortcut.modifiers.shift);
    let (with_shift, without): (Vec<&CommandRow>, Vec<&CommandRow>) = COMMANDS.iter().partition(|row| has_shift(row));
    for row in with_shift.into_iter().chain(without) {
        let Some(shortcut) = row.shortcut else {
            continue;
        };
        // Letters are for the field that has the keyboard; function keys are not letters.
        let is_plain = shortcut.modifiers.is_none() && shortcut.logical_key != Key::F8;
        if is_plain && is_typing {
            continue;
        }
        // A field that holds no setting undoes its own letters.
        if is_typing_elsewhere && matches!(row.command, UiCommand::Undo | UiCommand::Redo) {
            continue;
        }
        let is_pressed = if shortcut.logical_key == Key::Questionmark {
            // Keyboards differ in how they reach the question mark, so its modifiers do not matter.
            ui.input(|input| input.key_pressed(Key::Questionmark))
        } else {
            ui.input_mut(|input| input.consume_shortcut(&shortcut))
        };
        if is_pressed {
            asked.push(row.command);
        }
    }
}

/// Files that are held over or dropped onto the window.
fn drop_ui(ui: &egui::Ui, theme: &Theme, commands: &mut Vec<Command>) {
    let is_hovered = ui.input(|input| !input.raw.hovered_files.is_empty());
    if is_hovered {
        let layer = egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop target"));
        let painter = ui.ctx().layer_painter(layer);
        let area = ui.ctx().content_rect();
        painter.rect_filled(area, 0, theme.halo());
        let font = egui::FontId::proportional(22.0);
        painter.text(
            area.center(),
            egui::Align2::CENTER_CENTER,
            "Drop graphs to open them (with Shift: add them to the session), or a configuration or script to read it",
            font,
            theme.text,
        );
    }
    let dropped = ui.input(|input| input.raw.dropped_files.clone());
    if dropped.is_empty() {
        return;
    }
    let sources: Vec<SourceSpec> = dropped.iter().filter_map(|file| source_of(&**file)).collect();
    if !sources.is_empty() {
        let is_added = ui.input(|input| input.modifiers.shift);
        commands.push(if is_added {
            Command::Add(sources)
        } else {
            Command::Open(sources)
        });
    }
}

fn source_of(file: &dyn egui::DroppedFile) -> Option<SourceSpec> {
    let path = file.path();
    if path.exists() {
        return Some(SourceSpec::Path(path.to_owned()));
    }
    let bytes = file.bytes().ok()?;
    Some(SourceSpec::Bytes {
        name: path.display().to_string(),
        bytes: bytes.into(),
    })
}
