//! How the lanes stand: their order and heights, which are folded or hidden, on which scale.
//!
//! Lanes are known by what they show, so that an arrangement outlives an answer. Everything can be done from the menu of a
//! lane's header, by mouse or keyboard; the lower edge of a lane can be dragged.

use eframe::egui::containers::menu::{MenuButton, MenuConfig};
use eframe::egui::{self, CursorIcon, PopupCloseBehavior, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::frame::LaneFrame;
use super::{LaneAction, LaneLayout, LanesInput, LanesState};
use highwater_analysis::{Comparison, LaneId};
use highwater_model::units::{Bytes, counted};
use highwater_timeline::{LaneView, Timeline};

/// How one lane stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneStand {
    /// Which lane.
    pub id: LaneId,
    /// Its height as a share of a plain lane's.
    pub share: f32,
    /// Whether only its header and a low curve are shown.
    pub is_folded: bool,
    /// Whether it is not shown at all.
    pub is_hidden: bool,
}

/// How all lanes stand, from top to bottom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrangement {
    stands: Vec<LaneStand>,
    /// Lanes that earlier answers had, as they stood: what is compared changes to and fro.
    away: Vec<LaneStand>,
    /// Whether every lane has a vertical scale of its own.
    pub has_own_scales: bool,
}

/// Heights of lanes, as shares of a plain lane's.
pub(super) const SHARES: (f32, f32) = (0.4, 6.0);
/// Points at the lower edge of a lane that can be dragged.
const EDGE: f32 = 7.0;

impl Arrangement {
    /// How lanes stand, from top to bottom, also those of earlier answers.
    pub(super) fn stands(&self) -> impl Iterator<Item = &LaneStand> {
        self.stands.iter().chain(&self.away)
    }

    /// Lets lanes stand so.
    pub(super) fn set_stands(&mut self, stands: Vec<LaneStand>) {
        (self.stands, self.away) = (stands, Vec::new());
    }

    /// Takes the lanes of an answer: known ones stay where they are, those of earlier answers stand as they stood, new ones
    /// come last.
    pub(super) fn adopt(&mut self, comparison: &Comparison) {
        let lanes = &comparison.lanes;
        let is_there = |stand: &LaneStand| lanes.iter().any(|lane| lane.id == stand.id);
        let (stay, gone): (Vec<LaneStand>, Vec<LaneStand>) = self.stands.iter().partition(|stand| is_there(stand));
        let (back, away): (Vec<LaneStand>, Vec<LaneStand>) = self.away.iter().partition(|stand| is_there(stand));
        self.stands = stay.into_iter().chain(back).collect();
        self.away = gone.into_iter().chain(away).collect();
        for lane in lanes {
            if !self.stands.iter().any(|stand| stand.id == lane.id) {
                self.stands.push(LaneStand {
                    id: lane.id,
                    share: 1.0,
                    is_folded: false,
                    is_hidden: false,
                });
            }
        }
        if self.stands.iter().all(|stand| stand.is_hidden) {
            self.show_all();
        }
    }

    /// The lanes that are shown, from top to bottom, with their positions in the answer.
    pub(super) fn shown(&self, comparison: &Comparison) -> Vec<(usize, LaneStand)> {
        let shown = self.stands.iter().filter(|stand| !stand.is_hidden);
        let position = |id: LaneId| comparison.lanes.iter().position(|lane| lane.id == id);
        shown.filter_map(|stand| Some((position(stand.id)?, *stand))).collect()
    }

    /// How far the addresses of a lane reach, as a share of those of the highest lane; 1 where all have one scale.
    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    pub(super) fn reach(&self, timeline: &Timeline, lane: &LaneView) -> f64 {
        let height = |bytes: Bytes| bytes.get().max(1) as f64;
        if self.has_own_scales {
            height(lane.height) / height(timeline.height)
        } else {
            1.0
        }
    }

    /// The lanes that are shown, from top to bottom.
    pub fn shown_lanes(&self, comparison: &Comparison) -> Vec<LaneId> {
        self.shown(comparison).into_iter().map(|(_, stand)| stand.id).collect()
    }

    /// How many lanes are hidden.
    pub fn n_hidden(&self) -> usize {
        self.stands.iter().filter(|stand| stand.is_hidden).count()
    }

    /// Shows every lane again.
    pub fn show_all(&mut self) {
        self.stands.iter_mut().for_each(|stand| stand.is_hidden = false);
    }

    /// Folds every lane, or unfolds all where every one is folded.
    pub fn fold_all(&mut self) {
        let is_folded = !self.stands.iter().all(|stand| stand.is_folded);
        self.stands.iter_mut().for_each(|stand| stand.is_folded = is_folded);
    }

    fn stand_mut(&mut self, id: LaneId) -> Option<&mut LaneStand> {
        self.stands.iter_mut().find(|stand| stand.id == id)
    }

    /// Moves a lane one place up or down, past the next one that is shown.
    fn shift(&mut self, id: LaneId, is_up: bool) {
        let shown = |stand: &LaneStand| !stand.is_hidden;
        let Some(from) = self.stands.iter().position(|stand| stand.id == id) else {
            return;
        };
        let to = if is_up {
            self.stands[..from].iter().rposition(shown)
        } else {
            let behind = self.stands[from + 1..].iter().position(shown);
            behind.map(|offset| from + 1 + offset)
        };
        if let Some(to) = to {
            let stand = self.stands.remove(from);
            self.stands.insert(to, stand);
        }
    }
}

/// The menu of all lanes, and how many are hidden.
pub(super) fn lanes_menu_ui(ui: &mut Ui, state: &mut LanesState) {
    let arrangement = &mut state.arrangement;
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (button, _) = MenuButton::new("Lanes").config(config).ui(ui, |ui| {
        for (layout, words, explanation) in [
            (LaneLayout::Stacked, "Stacked", "Lanes one below the other (L)"),
            (LaneLayout::SideBySide, "Side by side", "Two lanes in a row (L)"),
        ] {
            ui.radio_value(&mut state.layout, layout, words)
                .on_hover_text(explanation);
        }
        ui.separator();
        ui.checkbox(&mut arrangement.has_own_scales, "Own scales")
            .on_hover_text("Every lane on a vertical scale of its own, instead of one for all (Y)");
        if ui.button("Fold or unfold all lanes").clicked() {
            arrangement.fold_all();
        }
    });
    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, "how lanes are arranged"));
    button.on_hover_text("Stacked or side by side, one scale or own scales");
    let n_hidden = arrangement.n_hidden();
    if n_hidden > 0 {
        let text = format!("{} hidden: show", counted(n_hidden as u64, "lane"));
        if ui.button(text).clicked() {
            arrangement.show_all();
        }
    }
}

/// The menu of a lane's header.
pub(super) fn menu_ui(
    ui: &mut Ui,
    frame: &LaneFrame,
    input: &LanesInput<'_>,
    state: &mut LanesState,
    actions: &mut Vec<LaneAction>,
) {
    let id = input.comparison.lanes[frame.lane].id;
    let title = input.comparison.lane_title(id);
    let menu = ui.menu_button("…", |ui| {
        lane_menu_ui(ui, id, input, state, actions);
    });
    let label = format!("arrange {title}");
    menu.response
        .widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
    menu.response
        .on_hover_text("Fold, hide or move this lane, or compare it with another");
}

fn lane_menu_ui(
    ui: &mut Ui,
    id: LaneId,
    input: &LanesInput<'_>,
    state: &mut LanesState,
    actions: &mut Vec<LaneAction>,
) {
    let arrangement = &mut state.arrangement;
    let n_shown = arrangement.stands.iter().filter(|stand| !stand.is_hidden).count();
    let Some(stand) = arrangement.stand_mut(id) else { return };
    let fold = if stand.is_folded { "Unfold" } else { "Fold" };
    if ui.button(fold).on_hover_text("Header and a low curve alone").clicked() {
        stand.is_folded = !stand.is_folded;
    }
    if ui.button("Plain height").clicked() {
        (stand.share, stand.is_folded) = (1.0, false);
    }
    let hide = ui.add_enabled(n_shown > 1, egui::Button::new("Hide"));
    if hide
        .on_disabled_hover_text("It is the only lane that is shown")
        .clicked()
    {
        stand.is_hidden = true;
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
            for stand in &mut arrangement.stands {
                stand.is_hidden = is_this_alone && stand.id != id;
            }
        }
    }
    if ui.button("Fold or unfold all lanes").clicked() {
        arrangement.fold_all();
    }
    ui.separator();
    let words = [
        "Write it as it is seen, with title and time axis",
        "Write what is in view of it, text as text",
    ];
    if ui.button("Save picture (PNG)…").on_hover_text(words[0]).clicked() {
        actions.push(LaneAction::SavePicture(id));
    }
    if ui.button("Save drawing (SVG)…").on_hover_text(words[1]).clicked() {
        actions.push(LaneAction::SaveDrawing(id));
    }
    let others: Vec<LaneId> = input.comparison.lanes.iter().map(|lane| lane.id).collect();
    if others.len() > 1 {
        ui.separator();
        ui.menu_button("Difference to", |ui| {
            for other in others.into_iter().filter(|other| *other != id) {
                if ui.button(input.comparison.lane_title(other)).clicked() {
                    actions.push(LaneAction::SetDifference(Some((id, other))));
                }
            }
        });
    }
}

/// The lower edge of a lane, which changes its height.
pub(super) fn edge_ui(ui: &Ui, frame: &LaneFrame, plain: f32, input: &LanesInput<'_>, state: &mut LanesState) {
    let id = input.comparison.lanes[frame.lane].id;
    let bottom = frame.outer.bottom();
    let edge = Rect::from_min_max(pos2(frame.body.left(), bottom - EDGE), pos2(frame.body.right(), bottom));
    let response = ui.interact(edge, ui.scope_id().with(("edge", frame.lane)), Sense::drag());
    let title = format!("height of {}", input.comparison.lane_title(id));
    response.widget_info(|| WidgetInfo::labeled(Role::Splitter, true, &title));
    if response.hovered() || response.dragged() {
        ui.set_cursor_icon(CursorIcon::ResizeVertical);
        let middle = edge.center_bottom() - vec2(0.0, EDGE / 2.0);
        let grip = Rect::from_center_size(middle, vec2(40.0, 2.0));
        ui.painter().rect_filled(grip, 1, input.theme.accent());
    }
    if response.dragged()
        && let Some(stand) = state.arrangement.stand_mut(id)
    {
        let moved = response.drag_delta().y / plain.max(1.0);
        stand.share = (stand.share + moved).clamp(SHARES.0, SHARES.1);
        stand.is_folded = false;
    }
}
