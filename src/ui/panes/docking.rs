//! How panes are drawn where they are docked: tabs, titles, content.

use eframe::egui;
use egui_tiles::{Behavior, SimplificationOptions, TabState, Tile, TileId, Tiles, UiResponse};

use super::words::{files_title, lanes_title, problems_title};
use super::{Pane, PanesInput, tab};
use crate::app::UiState;
use crate::panels::budgets::budgets_ui;
use crate::panels::compare::{compare_ui, pin_button_ui};
use crate::panels::device::device_ui;
use crate::panels::empty::{no_answer_ui, problem_line_ui};
use crate::panels::files::files_ui;
use crate::panels::inspector::inspector_ui;
use crate::panels::measured_run::measured_run_ui;
use crate::panels::name_reuse::name_reuse_ui;
use crate::panels::options::options_ui;
use crate::panels::peak::peak_ui;
use crate::panels::planner::planner_ui;
use crate::panels::problems::problems_ui;
use crate::panels::schedule::schedule_ui;
use crate::panels::schedule_editor::schedule_editor_ui;
use crate::panels::sweep::sweep_ui;
use crate::panels::tables::tables_ui;
use highwater_session::Command;

/// What the docked tree draws with.
pub(super) struct Docking<'a> {
    pub(super) input: &'a PanesInput<'a>,
    pub(super) state: &'a mut UiState,
    pub(super) commands: &'a mut Vec<Command>,
    /// Whether a step was pinned to look at the device there.
    pub(super) shows_device: bool,
    /// Whether the sweep was asked for.
    pub(super) shows_budgets: bool,
    /// Panes whose tabs were closed; they go once the frame is drawn.
    pub(super) closed: Vec<Pane>,
    /// Whether a tensor was selected in a list that is still to be read.
    pub(super) keeps_pane: bool,
    /// The tabs that were in front when they were drawn last; one that comes to the front is brought into sight.
    pub(super) in_front: &'a mut Vec<TileId>,
}

impl Behavior<Pane> for Docking<'_> {
    fn tab_title_for_pane(&mut self, pane: &Pane) -> egui::WidgetText {
        match pane {
            Pane::Configuration => "Configuration".into(),
            Pane::Policies => lanes_title(self.input).into(),
            Pane::Inspector => "Inspector".into(),
            Pane::Budgets => "Budgets".into(),
            Pane::Sweep => "Sweep".into(),
            Pane::NameReuse => "Name reuse".into(),
            Pane::Compare => "Compare".into(),
            Pane::Planner => "Planner".into(),
            Pane::Device => "Device".into(),
            Pane::Problems => problems_title(self.input).into(),
            Pane::Files => files_title(self.input).into(),
            Pane::Peak => "Peak".into(),
            Pane::MeasuredRun => "Measured".into(),
            Pane::Tables => "Tables".into(),
            Pane::Schedule => "Schedule".into(),
        }
    }

    fn tab_ui(
        &mut self,
        tiles: &mut Tiles<Pane>,
        ui: &mut egui::Ui,
        id: egui::Id,
        tile: TileId,
        state: &TabState,
    ) -> egui::Response {
        tab::tab_ui(self, tiles, ui, id, tile, state)
    }

    fn pane_ui(&mut self, ui: &mut egui::Ui, _tile: TileId, pane: &mut Pane) -> UiResponse {
        self.framed_ui(ui, *pane);
        UiResponse::None
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions {
            all_panes_must_have_tabs: true,
            ..SimplificationOptions::default()
        }
    }

    /// Panes are moved one by one: what drags all panes of a place would take the keyboard without a name.
    fn is_tile_draggable(&self, tiles: &Tiles<Pane>, tile: TileId) -> bool {
        matches!(tiles.get(tile), Some(Tile::Pane(_)))
    }

    fn gap_width(&self, _style: &egui::Style) -> f32 {
        3.0
    }
}

/// Panes are laid out at least this large, in points; a smaller one shows the upper left part of that.
const SMALLEST: egui::Vec2 = egui::vec2(240.0, 120.0);

/// A child at the place of `ui`, grown to the right and downwards to `size`; what is outside of `ui` is cut off.
fn at_least(ui: &mut egui::Ui, size: egui::Vec2) -> egui::Ui {
    let place = ui.max_rect();
    let grown = egui::Rect::from_min_size(place.min, place.size().max(size));
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(grown));
    child.shrink_clip_rect(place);
    child
}

impl Docking<'_> {
    /// A pane with room around it.
    pub(super) fn framed_ui(&mut self, ui: &mut egui::Ui, pane: Pane) {
        let margin = if pane == Pane::Policies { 4 } else { 8 };
        ui.painter().rect_filled(ui.max_rect(), 0, self.input.theme.panel);
        let mut ui = at_least(ui, SMALLEST);
        egui::Frame::NONE.inner_margin(margin).show(&mut ui, |ui| {
            let row = pane.row();
            if row.needs_answer && self.input.session.answer().is_none() {
                let asked = &mut self.state.asked;
                no_answer_ui(ui, self.input.session, row, self.input.theme, asked, self.commands);
                return;
            }
            if row.needs_answer {
                problem_line_ui(ui, self.input.session, self.input.theme);
            }
            self.content_ui(ui, pane);
        });
    }

    fn content_ui(&mut self, ui: &mut egui::Ui, pane: Pane) {
        match pane {
            Pane::Configuration => self.configuration_ui(ui),
            Pane::Policies => self.policies_ui(ui),
            Pane::Sweep => {
                let UiState { space, lanes, .. } = &mut *self.state;
                sweep_ui(ui, self.input.session, space, lanes, self.input.theme, self.commands);
                if let Some(option) = self.state.space.take_jump() {
                    self.state.options.jump = Some(option);
                }
            }
            Pane::Budgets => {
                let state = &mut self.state.budgets;
                budgets_ui(ui, self.input.session, state, self.input.theme, self.commands);
            }
            Pane::NameReuse => self.name_reuse_ui(ui),
            Pane::Compare => {
                let n_before = self.commands.len();
                let state = &mut self.state.compare;
                compare_ui(ui, self.input.session, state, self.input.theme, self.commands);
                self.keeps_pane |= has_selection(&self.commands[n_before..]);
            }
            Pane::Planner => planner_ui(
                ui,
                self.input.session,
                &mut self.state.planner,
                self.input.theme,
                self.commands,
            ),
            Pane::Inspector => {
                let state = &mut self.state.inspector;
                inspector_ui(ui, self.input.session, state, self.input.theme, self.commands);
            }
            Pane::Device => {
                let UiState { device, lanes, .. } = &mut *self.state;
                device_ui(ui, self.input.session, device, lanes, self.input.theme, self.commands);
            }
            Pane::Peak => {
                let n_before = self.commands.len();
                let UiState { peak, lanes, .. } = &mut *self.state;
                peak_ui(ui, self.input.session, peak, lanes, self.input.theme, self.commands);
                self.keeps_pane |= has_selection(&self.commands[n_before..]);
            }
            Pane::Tables => {
                let UiState { tables, lanes, .. } = &mut *self.state;
                let jump = tables_ui(ui, self.input.session, tables, lanes, self.input.theme, self.commands);
                if jump.is_some() {
                    self.state.options.jump = jump;
                }
            }
            Pane::Schedule => {
                let UiState {
                    schedule_editor, asked, ..
                } = &mut *self.state;
                let state = (schedule_editor, asked);
                schedule_editor_ui(ui, self.input.session, state, self.input.theme, self.commands);
            }
            Pane::MeasuredRun => self.measured_run_ui(ui),
            Pane::Files => files_ui(ui, self.input.session, self.input.theme, self.commands),
            Pane::Problems => {
                if let Some(option) = problems_ui(ui, self.input.session, self.input.theme, self.commands) {
                    self.state.options.jump = Some(option);
                }
            }
        }
    }
}

impl Docking<'_> {
    fn name_reuse_ui(&mut self, ui: &mut egui::Ui) {
        let state = &mut self.state.name_reuse;
        name_reuse_ui(ui, self.input.session, state, self.input.theme, self.commands);
        if let Some(option) = state.jump.take() {
            self.state.options.jump = Some(option);
        }
    }

    fn measured_run_ui(&mut self, ui: &mut egui::Ui) {
        let state = &mut self.state.measured_run;
        measured_run_ui(ui, self.input.session, state, self.input.theme, self.commands);
        if let Some(option) = state.jump.take() {
            self.state.options.jump = Some(option);
        }
    }

    fn configuration_ui(&mut self, ui: &mut egui::Ui) {
        let Self {
            input, state, commands, ..
        } = self;
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                ui.strong("Session");
                let words = ["Pin this configuration…"; 2];
                pin_button_ui(ui, input.session, &mut state.compare, words);
            });
            schedule_ui(ui, input.session, input.theme, &mut state.schedule, commands);
            ui.separator();
            options_ui(ui, input.session, &mut state.options, input.theme, commands);
        });
    }
}

/// Whether some command selects a tensor, in a list that is still to be read.
fn has_selection(commands: &[Command]) -> bool {
    commands.iter().any(|command| matches!(command, Command::Select(_)))
}
