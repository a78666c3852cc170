//! The pane of the lanes: summary, kind of lanes, lanes; the start page where nothing is open.

use eframe::egui::{self, RichText};

use super::Pane;
use super::docking::Docking;
use crate::app::UiState;
use crate::commands::UiCommand;
use crate::lanes::{Drawn, LanesCx, LanesInput, lanes_ui};
use crate::panels::empty::start_ui;
use crate::panels::lane_set::{has_lane_set, kind_ui, lane_set_ui};
use crate::panels::overview::overview_ui;
use crate::panels::search::search_ui;
use crate::theme::Theme;
use crate::widgets::wrapped_ui;
use highwater_analysis::Comparison;
use highwater_model::units::Step;
use highwater_session::{Bookmark, Command, Loaded};
use highwater_timeline::OpOccurrence;

impl Docking<'_> {
    pub(super) fn policies_ui(&mut self, ui: &mut egui::Ui) {
        let (session, theme) = (self.cx.session, self.cx.theme);
        let is_log = session.answer().is_none() && session.loaded().and_then(Loaded::log_page).is_some();
        match session.problem() {
            Some(problem) if is_log => return log_alone_ui(ui, problem, self.cx.window_commands),
            Some(problem) => problem_ui(ui, problem, theme),
            None => {}
        }
        let Some((comparison, timeline)) = session.answer() else {
            start_ui(ui, &mut self.cx, &self.state.recents);
            return;
        };
        let selected = self.state.lanes.selected_lane;
        self.state.lane_table.n_hidden = self.state.lanes.arrangement.n_hidden();
        overview_ui(ui, &mut self.cx, comparison, selected, &mut self.state.lane_table);
        let look = session.look();
        let lanes = LanesInput {
            drawn: Drawn {
                look: Some(&look),
                order: Some(session.look_order()),
                pictures: session.pictures(),
                version: session.picture_version(),
                difference: session.difference().last(),
                areas: session.areas(),
                lifetimes: session.lifetimes(),
                rows_picture: session.rows_picture(),
                content: session.content_order(),
            },
            matches: session.search().matches.as_deref(),
            comparison,
            timeline,
            selected: session.selection(),
            is_stale: session.is_stale(),
            baseline: Some(session.baseline(comparison)),
            theme,
        };
        if has_lane_set(session) {
            ui.horizontal_wrapped(|ui| {
                if lane_set_ui(ui, &mut self.cx, &mut self.state.lane_set) {
                    self.cx.window_commands.push(UiCommand::ShowPane(Pane::Budgets));
                }
            });
        }
        self.state.lanes.set_bookmarks(session);
        let mut cx = LanesCx {
            input: &lanes,
            state: &mut self.state.lanes,
            commands: self.cx.commands,
            window_commands: self.cx.window_commands,
        };
        lanes_ui(ui, &mut cx);
        if let Some((step, lane, note)) = self.state.lanes.take_note() {
            let bookmark = bookmark_of(comparison, step, lane, note);
            self.cx.commands.push(Command::AddBookmark(bookmark));
        }
    }
}

impl Docking<'_> {
    /// The kind of lanes and the search, right of the tabs.
    pub(super) fn lanes_bar_ui(&mut self, ui: &mut egui::Ui) {
        /// Room of the tabs of this place.
        const TABS: f32 = 330.0;
        const ONE_TAB: f32 = 120.0;
        /// Least and greatest width, so that no answer of a search moves anything.
        const WIDTH: (f32, f32) = (330.0, 560.0);
        let (session, theme) = (self.cx.session, self.cx.theme);
        let Some(input) = LanesInput::of(session, theme) else {
            return;
        };
        let selected = self.state.lanes.selected_lane;
        let selected = selected.and_then(|id| input.comparison.position(id));
        let selected = selected.filter(|_| input.timeline.has_lane_rows());
        let lane = selected.unwrap_or_else(|| self.state.lanes.lane_of_rows(&input));
        let width = (ui.available_width() - TABS).clamp(WIDTH.0, WIDTH.1);
        // The tab of the lanes stays readable.
        let room = (ui.available_width() - ONE_TAB).max(0.0);
        let size = egui::vec2(width.min(room), ui.available_height());
        let layout = egui::Layout::left_to_right(egui::Align::Center);
        ui.allocate_ui_with_layout(size, layout, |ui| {
            ui.set_clip_rect(ui.max_rect().intersect(ui.clip_rect()));
            kind_ui(ui, &mut self.cx, &mut self.state.lane_set);
            let UiState {
                search, lanes: view, ..
            } = &mut *self.state;
            search_ui(ui, &mut self.cx, search, view, lane);
        });
    }
}

/// A log that tells of requests, but of no memory over time.
fn log_alone_ui(ui: &mut egui::Ui, why: &str, commands: &mut Vec<UiCommand>) {
    ui.add_space(6.0);
    wrapped_ui(ui, RichText::new(why).weak());
    ui.add_space(4.0);
    if ui.button("Show what the log tells").clicked() {
        commands.push(UiCommand::ShowPane(Pane::Log));
    }
}

/// The error in place of an answer.
fn problem_ui(ui: &mut egui::Ui, problem: &str, theme: &Theme) {
    ui.add_space(6.0);
    ui.label(RichText::new("There is nothing to show").strong().color(theme.bad));
    ui.label(problem);
    ui.add_space(6.0);
}

/// A bookmark on a step, with the lane by position.
pub(crate) fn bookmark_of(comparison: &Comparison, step: Step, lane: Option<usize>, note: String) -> Bookmark {
    let lane = lane.and_then(|lane| comparison.lanes.get(lane)).map(|lane| lane.id);
    let turn = OpOccurrence::of(comparison, step);
    Bookmark { step, turn, note, lane }
}
