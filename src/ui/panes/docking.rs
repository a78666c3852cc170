//! Drawing of docked panes: tabs, titles, content.

use eframe::egui;
use egui_tiles::{Behavior, SimplificationOptions, TabState, Tile, TileId, Tiles, UiResponse};

use super::words::{files_title, lanes_title, problems_title};
use super::{Pane, tab};
use crate::app::UiState;
use crate::panels::PaneCx;
use crate::panels::compare::{compare_ui, pin_button_ui};
use crate::panels::device::device_ui;
use crate::panels::empty::{no_answer_ui, problem_line_ui};
use crate::panels::files::files_ui;
use crate::panels::flame::flame_ui;
use crate::panels::inspector::inspector_ui;
use crate::panels::log::log_ui;
use crate::panels::measured_run::measured_run_ui;
use crate::panels::name_reuse::name_reuse_ui;
use crate::panels::options::options_ui;
use crate::panels::peak::peak_ui;
use crate::panels::problems::problems_ui;
use crate::panels::recording::recording_facts_ui;
use crate::panels::schedule::schedule_ui;
use crate::panels::schedule_editor::schedule_editor_ui;
use crate::panels::sweep::{budgets_ui, strategies_ui, sweep_ui};
use crate::panels::tables::tables_ui;
use crate::widgets::Named as _;
use highwater_analysis::study_of;
use highwater_session::Command;

pub(super) struct Docking<'a> {
    pub(super) cx: PaneCx<'a>,
    pub(super) state: &'a mut UiState,
    /// The tabs of the row below the lanes, and its panes.
    pub(super) low_tabs: Option<TileId>,
    pub(super) low: Vec<TileId>,
    /// Whether that row shows more than its tabs.
    pub(super) is_low_open: bool,
    /// Closed tabs, which disappear after the frame.
    pub(super) closed: Vec<Pane>,
    /// A tensor was selected in a list that should stay visible.
    pub(super) keeps_pane: bool,
    /// Tabs that were in front in the last frame; a tab that comes to the front is scrolled to.
    pub(super) in_front: &'a mut Vec<TileId>,
}

impl Behavior<Pane> for Docking<'_> {
    fn tab_title_for_pane(&mut self, pane: &Pane) -> egui::WidgetText {
        match pane {
            Pane::Configuration => "Configuration".into(),
            Pane::Policies => lanes_title(self.cx.session).into(),
            Pane::Log => "Log".into(),
            Pane::Inspector => "Inspector".into(),
            Pane::Budgets => "Budgets".into(),
            Pane::Sweep => "Sweep".into(),
            Pane::NameReuse => "Variable reuse".into(),
            Pane::Compare => "Compare".into(),
            Pane::Planner => "Planner".into(),
            Pane::Device => "Device".into(),
            Pane::Problems => problems_title(&self.cx).into(),
            Pane::Files => files_title(self.cx.session).into(),
            Pane::Peak => "Peak".into(),
            Pane::Flame => "Flame".into(),
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

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<Pane>,
        ui: &mut egui::Ui,
        tile: TileId,
        tabs: &egui_tiles::Tabs,
        _scroll_offset: &mut f32,
    ) {
        if self.low_tabs == Some(tile) {
            self.low_row_button_ui(ui);
            return;
        }
        let active = tabs.active.and_then(|tile| tiles.get(tile));
        if matches!(active, Some(Tile::Pane(Pane::Policies))) {
            self.lanes_bar_ui(ui);
        }
    }

    fn pane_ui(&mut self, ui: &mut egui::Ui, _tile: TileId, pane: &mut Pane) -> UiResponse {
        // Nothing of a collapsed row is drawn.
        if ui.available_height() > 4.0 {
            self.framed_ui(ui, *pane);
        }
        UiResponse::None
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions {
            all_panes_must_have_tabs: true,
            ..SimplificationOptions::default()
        }
    }

    /// Panes are dragged one by one: a handle for all panes of a place would be focusable without a name.
    fn is_tile_draggable(&self, tiles: &Tiles<Pane>, tile: TileId) -> bool {
        matches!(tiles.get(tile), Some(Tile::Pane(_)))
    }

    fn gap_width(&self, _style: &egui::Style) -> f32 {
        3.0
    }
}

/// Panes have at least this layout, in points; smaller ones show its upper left part.
const SMALLEST: egui::Vec2 = egui::vec2(240.0, 120.0);

/// A child grown to the right and downwards to `size`, clipped to `ui`.
fn at_least(ui: &mut egui::Ui, size: egui::Vec2) -> egui::Ui {
    let place = ui.max_rect();
    let grown = egui::Rect::from_min_size(place.min, place.size().max(size));
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(grown));
    child.shrink_clip_rect(place);
    child
}

impl Docking<'_> {
    /// Opens or collapses the row below the lanes.
    fn low_row_button_ui(&mut self, ui: &mut egui::Ui) {
        let words = if self.is_low_open {
            "collapse the row"
        } else {
            "open the row"
        };
        let (area, button) = ui.allocate_exact_size(egui::vec2(22.0, 18.0), egui::Sense::click());
        let button = button.named(egui::Role::Button, || words);
        let (center, to) = (area.center(), if self.is_low_open { 3.0 } else { -3.0 });
        let triangle = vec![
            center + egui::vec2(-5.0, -to),
            center + egui::vec2(5.0, -to),
            center + egui::vec2(0.0, to),
        ];
        let color = ui.style().interact(&button).fg_stroke.color;
        let shape = egui::epaint::PathShape::convex_polygon(triangle, color, egui::Stroke::NONE);
        ui.painter().add(shape);
        if button.on_hover_text(words).clicked() {
            self.is_low_open = !self.is_low_open;
        }
    }

    pub(super) fn framed_ui(&mut self, ui: &mut egui::Ui, pane: Pane) {
        let margin = if pane == Pane::Policies { 4 } else { 8 };
        let mut ui = at_least(ui, SMALLEST);
        egui::Frame::NONE.inner_margin(margin).show(&mut ui, |ui| {
            let row = pane.row();
            if row.needs_answer && self.cx.session.answer().is_none() {
                no_answer_ui(ui, &mut self.cx, row);
                return;
            }
            if row.needs_answer {
                problem_line_ui(ui, self.cx.session, self.cx.theme);
            }
            if row.follows_answer() && self.cx.session.is_provisional() {
                ui.multiply_opacity(crate::theme::STALE);
            }
            self.content_ui(ui, pane);
        });
    }

    fn content_ui(&mut self, ui: &mut egui::Ui, pane: Pane) {
        let n_before = self.cx.commands.len();
        let (cx, state) = (&mut self.cx, &mut *self.state);
        match pane {
            Pane::Configuration => configuration_ui(ui, cx, state),
            Pane::Policies => self.policies_ui(ui),
            Pane::Log => log_ui(ui, cx),
            Pane::Sweep => sweep_ui(ui, cx, &mut state.sweep, &mut state.lanes),
            Pane::Budgets => budgets_ui(ui, cx, &mut state.budgets),
            Pane::NameReuse => name_reuse_ui(ui, cx, &mut state.name_reuse),
            Pane::Compare => {
                let selected = state.lanes.selected_lane;
                compare_ui(ui, cx, &mut state.compare, selected);
                self.keeps_pane |= has_selection(&self.cx.commands[n_before..]);
            }
            Pane::Planner => strategies_ui(ui, cx, &mut state.planner),
            Pane::Inspector => inspector_ui(ui, cx, &mut state.inspector, &mut state.lanes),
            Pane::Device => device_ui(
                ui,
                cx,
                (&mut state.device, &mut state.inspector.editor),
                &mut state.lanes,
            ),
            Pane::Peak => {
                peak_ui(ui, cx, &mut state.peak, &mut state.lanes);
                self.keeps_pane |= has_selection(&self.cx.commands[n_before..]);
            }
            Pane::Flame => flame_ui(ui, cx, &mut state.flame, &mut state.peak, &state.lanes),
            Pane::Tables => tables_ui(ui, cx, &mut state.tables, &mut state.lanes),
            Pane::Schedule => schedule_editor_ui(ui, cx, &mut state.schedule_editor),
            Pane::MeasuredRun => measured_run_ui(ui, cx, &mut state.measured_run),
            Pane::Files => files_ui(ui, cx),
            Pane::Problems => state.problems_height = problems_ui(ui, cx),
        }
        if let Some(option) = self.cx.option.take() {
            self.state.options.jump = Some(option);
        }
    }
}

fn configuration_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut UiState) {
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.strong("Session");
            // No option acts on a recording, so a pinned configuration would show nothing.
            let study = cx.session.loaded().map(|loaded| study_of(&loaded.workload));
            if study.is_none_or(|study| study.option_subject().is_some()) {
                let words = ["Pin this configuration…"; 2];
                pin_button_ui(ui, cx.session, &mut state.compare, words);
            }
        });
        schedule_ui(ui, cx, &mut state.schedule);
        ui.separator();
        if let Some((comparison, _)) = cx.session.answer() {
            recording_facts_ui(ui, comparison, cx.theme);
        }
        options_ui(ui, cx, &mut state.options);
    });
}

fn has_selection(commands: &[Command]) -> bool {
    commands.iter().any(|command| matches!(command, Command::Select(_)))
}
