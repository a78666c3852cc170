//! The output of a frame: commands for the session and for the window.

use eframe::egui;

use super::app::App;
use super::commands::UiCommand;
use super::lanes::{LaneContent, LanesInput, LanesState, Measuring};
use super::palette::Choice;
use super::panes::Pane;
use super::pictures::Wanted;
use super::theme::Theme;
use crate::dialogs::Purpose;
use highwater_analysis::LaneId;
use highwater_session::{Command, ExportForm, ExportLanes, LaneInView, Notice, Recents, SourceSpec};
use highwater_timeline::AxisKind;

/// The requests of a frame.
#[derive(Debug, Default)]
pub struct FrameOutput {
    pub window_commands: Vec<UiCommand>,
    /// Session commands.
    pub commands: Vec<Command>,
}

/// Width and height of drawings, in pixels.
const DRAWING: (f64, f64) = (1200.0, 600.0);

impl FrameOutput {
    /// Adds the choice of the palette.
    pub(super) fn choose(&mut self, choice: &Choice, recents: &Recents) {
        match *choice {
            Choice::Command(command) => self.window_commands.push(command),
            Choice::Pane(pane) => self.window_commands.push(UiCommand::ShowPane(pane)),
            Choice::Sample(sample) => self.commands.push(Command::Open(vec![SourceSpec::Sample(sample)])),
            Choice::Recent(position) => {
                let recent = recents.list.get(position);
                self.commands
                    .extend(recent.map(|recent| Command::Open(recent.sources())));
            }
            Choice::Option(name) => self.window_commands.push(UiCommand::ShowOption(name)),
            Choice::Step(step) => self.window_commands.push(UiCommand::PinStep(step)),
        }
    }
}

impl App {
    /// Copies the explained step.
    pub(super) fn copy_peak(&mut self, ctx: &egui::Context) {
        let Some(text) = self.session.peak_text() else { return };
        let first = text.lines().next().unwrap_or_default();
        self.session.notify(Notice::Done(format!("copied: {first}")));
        ctx.copy_text(text);
        // The notice is drawn above the lanes.
        ctx.request_repaint();
    }

    /// Performs the window's requests; returns the session's commands.
    pub(super) fn apply_output(&mut self, output: FrameOutput, ctx: &egui::Context) -> Vec<Command> {
        let FrameOutput {
            window_commands,
            mut commands,
        } = output;
        for command in window_commands {
            self.perform(command, ctx, &mut commands);
        }
        let is_wanted = self.state.options.jump.is_some() || self.state.options.wants_search;
        if is_wanted && !self.panes.is_in_front(Pane::Configuration) {
            self.panes.show(Pane::Configuration);
            ctx.request_repaint();
        }
        commands
    }

    /// Adds a run to the schedule, or lists every graph; brings the pane to the front.
    pub(super) fn schedule(&mut self, is_one_run: bool) {
        self.panes.show(Pane::Schedule);
        let editor = &mut self.state.schedule_editor;
        let edit = if is_one_run {
            editor.add_run(&self.session)
        } else {
            editor.list_graphs(&self.session)
        };
        if let Some(edit) = edit {
            self.session.apply(edit);
        }
    }

    /// Runs the configuration sweep, or requests its recommendation.
    pub(super) fn start_sweep(&mut self, is_to_recommend: bool, ctx: &egui::Context) {
        self.panes.show(Pane::Sweep);
        // The points take the focus, also from the field of an axis.
        if let Some(id) = ctx.memory(egui::Memory::focused) {
            ctx.memory_mut(|memory| memory.surrender_focus(id));
        }
        self.state.sweep.focus_points();
        match self.state.sweep.order(&self.session) {
            Ok(order) if is_to_recommend => {
                let goal = self.state.sweep.goal(&order);
                self.session.apply(Command::Recommend(Box::new(order), goal));
            }
            Ok(order) => self.session.apply(Command::StartSweep(Box::new(order))),
            Err(why) => self.session.notify(Notice::Failed(why)),
        }
    }

    pub const fn lanes(&self) -> &LanesState {
        &self.state.lanes
    }

    /// Switches to the next time axis that the data has; where there is only one, shows the reason.
    pub(super) fn next_axis(&mut self) {
        let Some((comparison, timeline)) = self.session.answer() else {
            return;
        };
        let (axes, word) = (&timeline.axes, comparison.axis_word());
        let next = axes.next(self.state.lanes.axis);
        let is_alone = next == axes.effective(self.state.lanes.axis);
        let reasons = AxisKind::ALL.into_iter().filter_map(|kind| axes.why_not(kind));
        let reasons: Vec<&str> = reasons.collect();
        self.state.lanes.axis = next;
        if is_alone {
            let text = format!("the axis shows {word}s only. {}", reasons.join(" "));
            self.session.notify(Notice::Done(text));
        }
    }

    /// Pins a step and brings the lanes to the front.
    pub(super) fn go_to(&mut self, step: u32, ctx: &egui::Context) {
        let theme = Theme::of(&ctx.global_style().visuals);
        if let Some(input) = LanesInput::of(&self.session, &theme) {
            self.panes.show(Pane::Policies);
            self.state.lanes.go_to(step, &input);
        }
    }

    /// Sets a range or a ruler, like a drag; shows the reason where it cannot.
    pub(super) fn measure(&mut self, how: Measuring, ctx: &egui::Context) {
        let theme = Theme::of(&ctx.global_style().visuals);
        let Some(input) = LanesInput::of(&self.session, &theme) else {
            return;
        };
        self.panes.show(Pane::Policies);
        if let Err(why) = self.state.lanes.measure(how, &input) {
            self.session.notify(Notice::Failed(why.to_owned()));
        }
    }

    /// Shows the difference to the next lane; behind the last, none.
    pub(super) fn next_difference(&mut self) -> Option<Command> {
        let (comparison, _) = self.session.answer()?;
        let shown = self.state.lanes.arrangement.shown_lanes(comparison);
        let now = self.session.difference().key().copied();
        let now = now.filter(|(first, second)| shown.contains(first) && shown.contains(second));
        let first = now.map(|(first, _)| first).or_else(|| self.lane_to_draw())?;
        let mut others = shown.into_iter().filter(|id| *id != first);
        let next = match now {
            Some((_, second)) => others.skip_while(|id| *id != second).nth(1),
            None => others.next(),
        };
        self.panes.show(Pane::Policies);
        Some(Command::SetDifference(next.map(|next| (first, next))))
    }

    /// Lifetimes, where shown, become those of this lane.
    fn show_rows_of(&mut self, lane: LaneId) {
        let position = self
            .session
            .answer()
            .and_then(|(comparison, _)| comparison.position(lane));
        if self.state.lanes.content == LaneContent::Lifetimes
            && let Some(position) = position
        {
            self.state.lanes.rows_lane = Some(position);
        }
    }

    /// The lane whose lifetimes are shown; else the visible lane clicked last, else the first visible one.
    pub(super) fn lane_to_draw(&self) -> Option<LaneId> {
        let (comparison, _) = self.session.answer()?;
        let rows = self.state.lanes.rows_lane.and_then(|lane| comparison.lanes.get(lane));
        if let Some(lane) = rows.filter(|_| self.state.lanes.content == LaneContent::Lifetimes) {
            return Some(lane.id);
        }
        let shown = self.state.lanes.arrangement.shown_lanes(comparison);
        let chosen = self.state.lanes.selected_lane.filter(|id| shown.contains(id));
        chosen.or(shown.first().copied())
    }

    /// The lanes that an export covers: the visible ones, for tables one of them; `None` for all.
    fn lanes_to_export(&self, form: ExportForm) -> Option<Vec<LaneId>> {
        match form.row().lanes {
            ExportLanes::Shown => {
                let (comparison, _) = self.session.answer()?;
                let shown = self.state.lanes.arrangement.shown_lanes(comparison);
                (!shown.is_empty()).then_some(shown)
            }
            ExportLanes::One => self.lane_to_draw().map(|lane| vec![lane]),
            ExportLanes::All => None,
        }
    }

    /// Takes a picture of the window or of a lane, or draws the lane, by the file's extension.
    pub(super) fn picture(
        &mut self,
        path: std::path::PathBuf,
        purpose: Purpose,
        ctx: &egui::Context,
        theme: &Theme,
        commands: &mut Vec<Command>,
    ) {
        match purpose {
            Purpose::SavePicture(lane) => {
                if let Some(lane) = lane {
                    self.panes.show(Pane::Policies);
                    self.show_rows_of(lane);
                }
                self.state.pictures.want(Wanted { lane, path });
                ctx.request_repaint();
            }
            Purpose::Export(form) => {
                let lanes = self.lanes_to_export(form);
                commands.push(Command::Export { form, path, lanes });
            }
            Purpose::ExportConfig(form) => commands.extend(self.state.export.save(form, &path, &self.session)),
            Purpose::DrawLane(lane) => {
                let viewport = self.session.answer().and_then(|(comparison, timeline)| {
                    let position = comparison.position(lane)?;
                    self.state.lanes.viewport_of(timeline, position)
                });
                let Some(viewport) = viewport else { return };
                let view = LaneInView {
                    viewport,
                    axis: self.state.lanes.axis,
                    size: DRAWING,
                    colors: theme.svg(),
                };
                commands.push(Command::DrawLane {
                    path,
                    lane,
                    view: Box::new(view),
                });
            }
            // The session handles the paths of all other purposes.
            Purpose::Open
            | Purpose::OpenFolder
            | Purpose::Add
            | Purpose::SaveDocument
            | Purpose::Locate(_)
            | Purpose::ExportTable
            | Purpose::ExportPeak
            | Purpose::ExportFlame
            | Purpose::ImportConfig
            | Purpose::PickPath { .. } => {}
        }
    }
}
