//! The dispatch of window commands, one arm for each, and the states of toggles.

use eframe::egui;

use super::app::App;
use super::commands::UiCommand;
use super::dialogs::Purpose;
use super::keys::pane_of;
use super::lanes::{LaneContent, LaneLayout, Wish};
use super::panels::lane_set::{kind_words, next_lanes};
use super::panes::{Pane, Panes};
use highwater_session::{Command, Notice};
use highwater_timeline::ColoringRequest;

impl App {
    /// Performs a window command; pushes commands for the session.
    #[expect(clippy::too_many_lines, reason = "one arm per command")]
    pub(super) fn perform(&mut self, command: UiCommand, ctx: &egui::Context, commands: &mut Vec<Command>) {
        if let Some(why) = pane_of(command).and_then(|pane| pane.why_not(&self.session)) {
            self.session.notify(Notice::Failed(why.to_owned()));
            return;
        }
        let state = &mut self.state;
        match command {
            UiCommand::AskPath(purpose) => state.dialogs.ask(purpose, ctx),
            UiCommand::OpenPath => state.dialogs.type_path(Purpose::Open, None),
            UiCommand::Search => {
                self.panes.show(Pane::Policies);
                state.search.wants_focus |= !state.search.has_focus;
            }
            UiCommand::ExportPeak => {
                self.panes.show(Pane::Peak);
                state.dialogs.ask(Purpose::ExportPeak, ctx);
            }
            UiCommand::ExportFlame => {
                self.panes.show(Pane::Flame);
                state.dialogs.ask(Purpose::ExportFlame, ctx);
            }
            UiCommand::ExportConfig => state.export.open(),
            UiCommand::ZoomToSelection => self.state.lanes.wish = Some(Wish::ZoomToSelection),
            UiCommand::GotoStep => self.state.lanes.begin_goto(),
            UiCommand::Bookmark => {
                if !state.lanes.begin_note() {
                    let words = "point at a step of a lane, or pin a step, to bookmark it";
                    self.session.notify(Notice::Failed(words.to_owned()));
                }
            }
            UiCommand::CopyCommandLine => {
                let line = self.session.command_line();
                self.session.notify(Notice::Done(format!("copied: {line}")));
                ctx.copy_text(line);
            }
            UiCommand::SayCopied(what) => self.session.notify(Notice::Done(format!("copied: {what}"))),
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
                // Part of this frame was drawn in the old theme.
                ctx.request_discard("the theme changed");
            }
            UiCommand::ToggleLayout => {
                state.lanes.layout = match state.lanes.layout {
                    LaneLayout::Stacked => LaneLayout::SideBySide,
                    LaneLayout::SideBySide => LaneLayout::Stacked,
                };
            }
            UiCommand::ToggleView => state.lanes.content = state.lanes.content.next(),
            UiCommand::BudgetSweep if self.session.is_budget_sweep_running() => commands.push(Command::StopBudgetSweep),
            UiCommand::BudgetSweep => {
                self.panes.show(Pane::Budgets);
                commands.push(Command::StartBudgetSweep(state.budgets.graph()));
            }
            UiCommand::NextLanes => commands.extend(next_lanes(&self.session, &mut state.lane_set)),
            UiCommand::NextDifference => commands.extend(self.next_difference()),
            UiCommand::Documentation => state.pages.toggle(),
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
            UiCommand::OpenOrClosePane(pane) if self.panes.is_open(pane) => self.panes.close(pane),
            UiCommand::ShowPane(pane) | UiCommand::OpenOrClosePane(pane) => self.panes.show(pane),
            UiCommand::ExplainLane(lane) => {
                state.tables.follow_lane();
                state
                    .lanes
                    .explain(lane, self.session.answer().map(|(comparison, _)| &**comparison));
            }
            UiCommand::ShowLaneAlone(lane) => state.lanes.arrangement.show_alone(lane),
            UiCommand::ShowAllLanes => state.lanes.arrangement.show_all(),
            UiCommand::ShowOption(name) => state.options.jump = Some(name.to_owned()),
            UiCommand::PinStep(step) => self.go_to(step, ctx),
            UiCommand::CopyPeak => self.copy_peak(ctx),
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
        let (lanes, marks) = (&self.state.lanes, &self.state.lanes.marks);
        let either = |is_it, yes, no| Some(if is_it { yes } else { no });
        let on_off = |is_on| either(is_on, "on", "off");
        let content = match lanes.content {
            LaneContent::MemoryMap => "memory map",
            LaneContent::Areas => "areas",
            LaneContent::Lifetimes => "lifetimes",
            LaneContent::Curves => "curves",
        };
        let is_stacked = lanes.layout == LaneLayout::Stacked;
        let color = self.session.look_order().by;
        let is_budget_sweep = self.session.is_budget_sweep_running();
        let states = [
            (UiCommand::ToggleView, Some(content)),
            (UiCommand::ToggleLayout, either(is_stacked, "stacked", "side by side")),
            (UiCommand::NextAxis, Some(lanes.shown_axis().name())),
            (UiCommand::NextRows, Some(lanes.rows_by.words())),
            (UiCommand::NextLanes, kind_words(&self.session)),
            (UiCommand::BudgetSweep, is_budget_sweep.then_some("running")),
            (UiCommand::Sweep, self.session.is_sweep_running().then_some("running")),
            (UiCommand::ToggleHoles, on_off(marks.has_holes)),
            (UiCommand::NextEdges, Some(marks.edges.words())),
            (
                UiCommand::ToggleDetails,
                either(self.panes.shows_details(), "shown", "aside"),
            ),
            (
                UiCommand::MaximizeLanes,
                either(self.panes.is_maximized(), "alone", "all panes"),
            ),
            (UiCommand::ToggleTheme, either(is_dark, "dark", "light")),
            (UiCommand::ToggleEvents, on_off(marks.has_events)),
            (UiCommand::ToggleScales, on_off(lanes.arrangement.has_own_scales)),
            (UiCommand::ToggleWheel, on_off(lanes.has_plain_wheel)),
            (UiCommand::ColorBy(color), Some("chosen")),
        ];
        let (_, state) = states.into_iter().find(|(known, _)| *known == command)?;
        state
    }
}
