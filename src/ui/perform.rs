//! The dispatch of window commands, one arm for each, and the states of toggles.

use eframe::egui;

use super::app::App;
use super::commands::UiCommand;
use super::dialogs::Purpose;
use super::lanes::{LaneContent, LaneLayout};
use super::panels::lane_set::{kind_words, next_lanes};
use super::panes::{Pane, Panes};
use highwater_session::{Command, Notice};
use highwater_timeline::ColoringRequest;

impl App {
    /// Performs a window command; pushes commands for the session.
    #[expect(clippy::too_many_lines, reason = "one arm per command")]
    pub(super) fn perform(&mut self, command: UiCommand, ctx: &egui::Context, commands: &mut Vec<Command>) {
        let state = &mut self.state;
        match command {
            UiCommand::Open => state.dialogs.ask(Purpose::Open, ctx),
            UiCommand::Add => state.dialogs.ask(Purpose::Add, ctx),
            UiCommand::OpenPath => state.dialogs.type_path(Purpose::Open, None),
            UiCommand::ExportConfig => state.dialogs.ask(Purpose::ExportConfig, ctx),
            UiCommand::ImportConfig => state.dialogs.ask(Purpose::ImportConfig, ctx),
            UiCommand::ExportTable => state.dialogs.ask(Purpose::ExportTable, ctx),
            UiCommand::Search => {
                self.panes.show(Pane::Policies);
                state.search.wants_focus |= !state.search.has_focus;
            }
            UiCommand::ExportPeak => {
                self.panes.show(Pane::Peak);
                state.dialogs.ask(Purpose::ExportPeak, ctx);
            }
            UiCommand::GotoStep => self.state.lanes.begin_goto(),
            UiCommand::Bookmark => {
                if !state.lanes.begin_note() {
                    let words = "point at a step of a lane, or pin one, to bookmark it";
                    self.session.notify(Notice::Failed(words.to_owned()));
                }
            }
            UiCommand::CopyCommandLine => {
                let line = self.session.command_line();
                self.session.notify(Notice::Done(format!("copied: {line}")));
                ctx.copy_text(line);
            }
            UiCommand::PreviousSelection => commands.push(Command::StepSelection { is_back: true }),
            UiCommand::NextSelection => commands.push(Command::StepSelection { is_back: false }),
            UiCommand::ColorBy(by) => commands.push(Command::SetLook(ColoringRequest { by, hidden: Vec::new() })),
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
            UiCommand::ToggleView => state.lanes.content = state.lanes.content.next(),
            UiCommand::OpenFolder => state.dialogs.ask(Purpose::OpenFolder, ctx),
            UiCommand::BudgetSweep if self.session.is_budget_sweep_running() => commands.push(Command::StopBudgetSweep),
            UiCommand::BudgetSweep => {
                self.panes.show(Pane::Budgets);
                commands.push(Command::StartBudgetSweep(state.budgets.graph()));
            }
            UiCommand::NextLanes => commands.extend(next_lanes(&self.session, &mut state.lane_set)),
            UiCommand::NextDifference => commands.extend(self.next_difference()),
            UiCommand::ToggleHelp => state.is_help_open = !state.is_help_open,
            UiCommand::Quit => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
            UiCommand::OpenPalette => {
                if !state.palette.is_open() {
                    state.palette.open();
                }
                self.session.apply(Command::FindMissing(state.recents.paths()));
            }
            UiCommand::TogglePane(pane) => {
                self.panes.toggle(pane);
                state.tables.wants_focus |= pane == Pane::Tables;
                state.compare.wants_focus |= pane == Pane::Compare;
                state.schedule_editor.wants_focus |= pane == Pane::Schedule;
            }
            UiCommand::AddRun | UiCommand::ListGraphs => self.schedule(command == UiCommand::AddRun),
            UiCommand::PinConfiguration => state.compare.ask_name(&self.session),
            UiCommand::Save => self.save(ctx),
            UiCommand::SaveAs => {
                self.commit_note();
                self.state.dialogs.ask(Purpose::SaveDocument, ctx);
            }
            UiCommand::LocateSources => state.document.locate(),
            UiCommand::ToggleHoles => state.lanes.marks.has_holes = !state.lanes.marks.has_holes,
            UiCommand::NextEdges => state.lanes.marks.edges = state.lanes.marks.edges.next(),
            UiCommand::ToggleEvents => state.lanes.marks.has_events = !state.lanes.marks.has_events,
            UiCommand::ToggleScales => {
                let arrangement = &mut state.lanes.arrangement;
                arrangement.has_own_scales = !arrangement.has_own_scales;
            }
            UiCommand::ToggleWheel => state.lanes.has_plain_wheel = !state.lanes.has_plain_wheel,
            UiCommand::ToggleDetails => self.panes.toggle_details(),
            UiCommand::MaximizeLanes => self.panes.toggle_maximized(),
            UiCommand::ResetLayout => self.panes = Panes::new(),
            UiCommand::Larger => egui::gui_zoom::zoom_in(ctx),
            UiCommand::Smaller => egui::gui_zoom::zoom_out(ctx),
            UiCommand::UsualSize => ctx.set_zoom_factor(1.0),
            UiCommand::ForgetRecent => state.recents.list.clear(),
            UiCommand::NextAxis => self.next_axis(),
            UiCommand::NextRows => self.state.lanes.next_rows(),
            UiCommand::Sweep if self.session.is_sweep_running() => self.session.apply(Command::StopSweep),
            UiCommand::Sweep | UiCommand::Recommend => {
                self.start_sweep(command == UiCommand::Recommend, ctx);
            }
            UiCommand::Measure(how) => self.measure(how, ctx),
            UiCommand::Export(form) => state.dialogs.ask(Purpose::Export(form), ctx),
            UiCommand::ExportWindow => state.dialogs.ask(Purpose::SavePicture(None), ctx),
            UiCommand::ExportLane | UiCommand::DrawLane => {
                let lane = self.lane_to_draw();
                let purpose = match (command, lane) {
                    (_, None) => return,
                    (UiCommand::DrawLane, Some(lane)) => Purpose::DrawLane(lane),
                    (_, Some(lane)) => Purpose::SavePicture(Some(lane)),
                };
                self.state.dialogs.ask(purpose, ctx);
            }
        }
    }

    /// The state of a toggle in the menu; `None` for other commands.
    pub(super) fn now(&self, command: UiCommand, is_dark: bool) -> Option<&'static str> {
        let lanes = &self.state.lanes;
        let on_off = |is_on| if is_on { "on" } else { "off" };
        Some(match command {
            UiCommand::ToggleView => match lanes.content {
                LaneContent::MemoryMap => "memory map",
                LaneContent::Areas => "areas",
                LaneContent::Lifetimes => "lifetimes",
            },
            UiCommand::ToggleLayout => match lanes.layout {
                LaneLayout::Stacked => "stacked",
                LaneLayout::SideBySide => "side by side",
            },
            UiCommand::NextAxis => lanes.shown_axis().name(),
            UiCommand::NextRows => lanes.rows_by.words(),
            UiCommand::NextLanes => kind_words(&self.session)?,
            UiCommand::BudgetSweep if self.session.is_budget_sweep_running() => "running",
            UiCommand::Sweep if self.session.is_sweep_running() => "running",
            UiCommand::ToggleHoles => on_off(lanes.marks.has_holes),
            UiCommand::NextEdges => lanes.marks.edges.words(),
            UiCommand::ToggleDetails if self.panes.shows_details() => "shown",
            UiCommand::ToggleDetails => "aside",
            UiCommand::MaximizeLanes if self.panes.is_maximized() => "alone",
            UiCommand::MaximizeLanes => "all panes",
            UiCommand::ToggleTheme if is_dark => "dark",
            UiCommand::ToggleTheme => "light",
            UiCommand::ToggleEvents => on_off(lanes.marks.has_events),
            UiCommand::ToggleScales => on_off(lanes.arrangement.has_own_scales),
            UiCommand::ToggleWheel => on_off(lanes.has_plain_wheel),
            UiCommand::ColorBy(by) if self.session.look_order().by == by => "chosen",
            UiCommand::Open
            | UiCommand::Add
            | UiCommand::OpenPath
            | UiCommand::Save
            | UiCommand::SaveAs
            | UiCommand::LocateSources
            | UiCommand::ExportConfig
            | UiCommand::Export(_)
            | UiCommand::ImportConfig
            | UiCommand::CopyCommandLine
            | UiCommand::Undo
            | UiCommand::Redo
            | UiCommand::ResetOptions
            | UiCommand::Search
            | UiCommand::TogglePane(_)
            | UiCommand::AddRun
            | UiCommand::ListGraphs
            | UiCommand::ExportTable
            | UiCommand::SearchOptions
            | UiCommand::NextProblem
            | UiCommand::Sweep
            | UiCommand::Recommend
            | UiCommand::OpenFolder
            | UiCommand::BudgetSweep
            | UiCommand::PinConfiguration
            | UiCommand::Bookmark
            | UiCommand::GotoStep
            | UiCommand::ExportPeak
            | UiCommand::ColorBy(_)
            | UiCommand::Measure(_)
            | UiCommand::NextDifference
            | UiCommand::PreviousSelection
            | UiCommand::NextSelection
            | UiCommand::OpenPalette
            | UiCommand::ResetLayout
            | UiCommand::Larger
            | UiCommand::Smaller
            | UiCommand::UsualSize
            | UiCommand::ExportWindow
            | UiCommand::ExportLane
            | UiCommand::DrawLane
            | UiCommand::ForgetRecent
            | UiCommand::ToggleHelp
            | UiCommand::Quit => return None,
        })
    }
}
