//! Arrangement of the lanes: order, heights, which are collapsed or hidden, one y-axis or several.
//!
//! A lane is identified by its id, so that an arrangement outlives an answer. The menu of a lane's header does
//! everything by pointer and keyboard; the lower edge of a lane can be dragged.

use eframe::egui::{self, CursorIcon, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::LanesCx;
use super::frame::LaneFrame;
use super::lane_scale::LaneScale;
use super::{LaneLayout, LanesInput, LanesState};
use crate::commands::UiCommand;
use crate::dialogs::Purpose;
use crate::numbers::to_f64;
use crate::widgets::{Named as _, stay_open_menu_ui};
use highwater_analysis::{Comparison, LaneId};
use highwater_model::units::Bytes;
use highwater_session::Command;
use highwater_timeline::{LaneView, Timeline, reading_order};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneEntry {
    pub id: LaneId,
    /// Height, as a share of a plain lane's.
    pub share: f32,
    /// Shows only the header and a low curve.
    pub is_folded: bool,
    pub is_hidden: bool,
}

/// From top to bottom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrangement {
    entries: Vec<LaneEntry>,
    /// Lanes of earlier answers, which come back with them.
    away: Vec<LaneEntry>,
    /// Gives every lane its own y-axis.
    pub has_own_scales: bool,
}

/// Least and greatest height, as shares of a plain lane's.
pub(super) const SHARES: (f32, f32) = (0.4, 6.0);
/// Height of the edge that can be dragged, in points.
const EDGE: f32 = 7.0;

impl Arrangement {
    /// From top to bottom, with the lanes of earlier answers.
    pub(super) fn entries(&self) -> impl Iterator<Item = &LaneEntry> {
        self.entries.iter().chain(&self.away)
    }

    pub(super) fn set_entries(&mut self, entries: Vec<LaneEntry>) {
        (self.entries, self.away) = (entries, Vec::new());
    }

    /// Takes the lanes of an answer: known lanes keep their places, lanes of earlier answers come back to theirs, new
    /// ones come last.
    pub(super) fn adopt(&mut self, comparison: &Comparison) {
        let lanes = &comparison.lanes;
        let is_there = |entry: &LaneEntry| lanes.iter().any(|lane| lane.id == entry.id);
        let (stay, gone): (Vec<LaneEntry>, Vec<LaneEntry>) = self.entries.iter().partition(|entry| is_there(entry));
        let (back, away): (Vec<LaneEntry>, Vec<LaneEntry>) = self.away.iter().partition(|entry| is_there(entry));
        self.entries = stay.into_iter().chain(back).collect();
        self.away = gone.into_iter().chain(away).collect();
        for lane in lanes {
            if !self.entries.iter().any(|entry| entry.id == lane.id) {
                self.entries.push(LaneEntry {
                    id: lane.id,
                    share: 1.0,
                    is_folded: false,
                    is_hidden: false,
                });
            }
        }
        if self.entries.iter().all(|entry| entry.is_hidden) {
            self.show_all();
        }
    }

    /// Puts ranks of a job in the order in which they are read; lanes of others stay.
    pub(super) fn sort(&mut self, comparison: &Comparison) {
        let order = reading_order(comparison);
        if order.iter().copied().eq(0..order.len()) {
            return;
        }
        let rank = |entry: &LaneEntry| {
            let position = comparison.position(entry.id);
            position.and_then(|position| order.iter().position(|lane| *lane == position))
        };
        self.entries.sort_by_key(rank);
    }

    /// From top to bottom, with positions in the answer.
    pub(super) fn shown(&self, comparison: &Comparison) -> Vec<(usize, LaneEntry)> {
        let shown = self.entries.iter().filter(|entry| !entry.is_hidden);
        let position = |id: LaneId| comparison.position(id);
        shown.filter_map(|entry| Some((position(entry.id)?, *entry))).collect()
    }

    /// The y-axis of a lane's map; `has_floor` where constant regions are outside the scale.
    pub(super) fn scale(&self, timeline: &Timeline, lane: &LaneView, has_floor: bool) -> LaneScale {
        let share = |part: Bytes, whole: Bytes| to_f64(part.get().max(1)) / to_f64(whole.get().max(1));
        let (floor, reach) = if has_floor {
            (lane.floor(), share(lane.drawn_height(), timeline.drawn_height()))
        } else {
            (Bytes(0), share(lane.height, timeline.height))
        };
        LaneScale {
            floor: to_f64(floor.get()),
            reach: if self.has_own_scales { reach } else { 1.0 },
        }
    }

    pub fn shown_lanes(&self, comparison: &Comparison) -> Vec<LaneId> {
        self.shown(comparison).into_iter().map(|(_, entry)| entry.id).collect()
    }

    pub fn n_hidden(&self) -> usize {
        self.entries.iter().filter(|entry| entry.is_hidden).count()
    }

    pub fn show_all(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.is_hidden = false);
    }

    /// Hides all other lanes, or shows all where they are hidden.
    pub fn show_alone(&mut self, lane: LaneId) {
        let is_alone = self.entries.iter().all(|entry| entry.is_hidden != (entry.id == lane));
        for entry in &mut self.entries {
            entry.is_hidden = !is_alone && entry.id != lane;
        }
    }

    /// Collapses every lane, or expands all where every one is collapsed.
    pub fn fold_all(&mut self) {
        let is_folded = !self.entries.iter().all(|entry| entry.is_folded);
        self.entries.iter_mut().for_each(|entry| entry.is_folded = is_folded);
    }

    fn entry_mut(&mut self, id: LaneId) -> Option<&mut LaneEntry> {
        self.entries.iter_mut().find(|entry| entry.id == id)
    }

    /// Moves a lane up or down past the next one that is shown.
    fn shift(&mut self, id: LaneId, is_up: bool) {
        let shown = |entry: &LaneEntry| !entry.is_hidden;
        let Some(from) = self.entries.iter().position(|entry| entry.id == id) else {
            return;
        };
        let to = if is_up {
            self.entries[..from].iter().rposition(shown)
        } else {
            let behind = self.entries[from + 1..].iter().position(shown);
            behind.map(|offset| from + 1 + offset)
        };
        if let Some(to) = to {
            let entry = self.entries.remove(from);
            self.entries.insert(to, entry);
        }
    }
}

/// The menu of all lanes.
pub(super) fn lanes_menu_ui(ui: &mut Ui, state: &mut LanesState) {
    let arrangement = &mut state.arrangement;
    let button = stay_open_menu_ui(ui, "Lanes", |ui| {
        for (layout, words, explanation) in [
            (LaneLayout::Stacked, "Stacked", "Lanes one below the other (L)"),
            (LaneLayout::SideBySide, "Side by side", "Two lanes in a row (L)"),
        ] {
            ui.radio_value(&mut state.layout, layout, words)
                .on_hover_text(explanation);
        }
        ui.separator();
        ui.checkbox(&mut arrangement.has_own_scales, "Independent y-axes")
            .on_hover_text("Scale the y-axis of each lane separately (Y)");
        if ui.button("Collapse or expand all lanes").clicked() {
            arrangement.fold_all();
        }
        if ui.button("Show all lanes").clicked() {
            arrangement.show_all();
        }
    });
    let button = button.named(Role::Button, || "lane arrangement");
    button.on_hover_text("Layout of lanes and their y-axes");
}

pub(super) fn menu_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, frame: &LaneFrame) {
    let id = cx.input.comparison.lanes[frame.lane].id;
    let title = cx.input.comparison.lane_title(id);
    let menu = ui.menu_button("…", |ui| {
        lane_menu_ui(ui, cx, id);
    });
    let label = format!("arrange {title}");
    menu.response
        .widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
    menu.response
        .on_hover_text("Collapse, hide or move this lane, or compare it with another");
}

fn lane_menu_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, id: LaneId) {
    let arrangement = &mut cx.state.arrangement;
    let n_shown = arrangement.entries.iter().filter(|entry| !entry.is_hidden).count();
    let Some(entry) = arrangement.entry_mut(id) else { return };
    let fold = if entry.is_folded { "Expand" } else { "Collapse" };
    if ui
        .button(fold)
        .on_hover_text("Show only the header and a low curve")
        .clicked()
    {
        entry.is_folded = !entry.is_folded;
    }
    if ui.button("Reset height").clicked() {
        (entry.share, entry.is_folded) = (1.0, false);
    }
    let hide = ui.add_enabled(n_shown > 1, egui::Button::new("Hide"));
    if hide
        .on_disabled_hover_text("The only visible lane cannot be hidden")
        .clicked()
    {
        entry.is_hidden = true;
    }
    ui.separator();
    if ui.button("Move up").clicked() {
        arrangement.shift(id, true);
    }
    if ui.button("Move down").clicked() {
        arrangement.shift(id, false);
    }
    ui.separator();
    for (text, is_this_alone) in [("Show this lane alone", true), ("Show all lanes", false)] {
        if ui.button(text).clicked() {
            for entry in &mut arrangement.entries {
                entry.is_hidden = is_this_alone && entry.id != id;
            }
        }
    }
    if ui.button("Collapse or expand all lanes").clicked() {
        arrangement.fold_all();
    }
    ui.separator();
    let words = [
        "Write the lane as PNG with title and time axis",
        "Write the visible part as SVG with selectable text",
    ];
    if ui.button("Save picture (PNG)…").on_hover_text(words[0]).clicked() {
        cx.window_commands
            .push(UiCommand::AskPath(Purpose::SavePicture(Some(id))));
    }
    if ui.button("Save drawing (SVG)…").on_hover_text(words[1]).clicked() {
        cx.window_commands.push(UiCommand::AskPath(Purpose::DrawLane(id)));
    }
    let others: Vec<LaneId> = cx.input.comparison.lanes.iter().map(|lane| lane.id).collect();
    if others.len() > 1 {
        ui.separator();
        ui.menu_button("Difference to", |ui| {
            for other in others.into_iter().filter(|other| *other != id) {
                if ui.button(cx.input.comparison.lane_title(other)).clicked() {
                    cx.commands.push(Command::SetDifference(Some((id, other))));
                }
            }
        });
    }
}

/// The lower edge of a lane; dragging it changes the height.
pub(super) fn edge_ui(ui: &Ui, frame: &LaneFrame, plain: f32, input: &LanesInput<'_>, state: &mut LanesState) {
    let id = input.comparison.lanes[frame.lane].id;
    let bottom = frame.outer.bottom();
    let edge = Rect::from_min_max(pos2(frame.body.left(), bottom - EDGE), pos2(frame.body.right(), bottom));
    let response = ui.interact(edge, ui.scope_id().with(("edge", frame.lane)), Sense::drag());
    let response = response.named(Role::Splitter, || {
        format!("height of {}", input.comparison.lane_title(id))
    });
    if response.hovered() || response.dragged() {
        ui.set_cursor_icon(CursorIcon::ResizeVertical);
        let middle = edge.center_bottom() - vec2(0.0, EDGE / 2.0);
        let grip = Rect::from_center_size(middle, vec2(40.0, 2.0));
        ui.painter().rect_filled(grip, 1, input.theme.accent());
    }
    if response.dragged()
        && let Some(entry) = state.arrangement.entry_mut(id)
    {
        let moved = response.drag_delta().y / plain.max(1.0);
        entry.share = (entry.share + moved).clamp(SHARES.0, SHARES.1);
        entry.is_folded = false;
    }
}
