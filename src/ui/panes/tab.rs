//! The tab of a pane: its title, and on the front tab a cross that closes it.

use eframe::egui::{self, Align2, Response, Role, Sense, Stroke, StrokeKind, TextWrapMode, vec2};
use egui_tiles::{Behavior as _, TabState, Tile, TileId, Tiles};

use super::Pane;
use super::docking::Docking;
use crate::widgets::Named as _;

/// Side of the cross, margin around it, gap to the title.
const CROSS: f32 = 6.0;
const AROUND: f32 = 4.0;
const BESIDE: f32 = 2.0;

pub(super) fn tab_ui(
    docking: &mut Docking<'_>,
    tiles: &Tiles<Pane>,
    ui: &mut egui::Ui,
    id: egui::Id,
    tile: TileId,
    state: &TabState,
) -> Response {
    let text = docking.tab_title_for_tile(tiles, tile);
    let font = egui::TextStyle::Button.resolve(ui.style());
    let galley = text.into_galley(ui, Some(TextWrapMode::Extend), f32::INFINITY, font);
    let margin = docking.tab_title_spacing(ui.visuals());
    let pane = match tiles.get(tile) {
        Some(Tile::Pane(pane)) => Some(*pane),
        _ => None,
    };
    let has_cross = state.active && pane.is_some();
    let cross_room = if has_cross {
        CROSS + 2.0 * AROUND + BESIDE - margin / 2.0
    } else {
        0.0
    };
    let width = galley.size().x + 2.0 * margin + cross_room;
    let (_, rect) = ui.allocate_space(vec2(width, ui.available_height()));
    let tab = ui
        .interact(rect, id, Sense::click_and_drag())
        .on_hover_cursor(docking.tab_hover_cursor_icon());
    let was_in_front = docking.in_front.contains(&tile);
    if state.active && !was_in_front {
        ui.scroll_to_rect_animation(rect, None, egui::style::ScrollAnimation::none());
        docking.in_front.push(tile);
    } else if !state.active && was_in_front {
        docking.in_front.retain(|known| *known != tile);
    }
    let tab = tab.named_choice(Role::Tab, state.active, || galley.text());
    if !ui.is_rect_visible(rect) || state.is_being_dragged {
        return tab;
    }
    let ground = docking.tab_bg_color(ui.visuals(), tiles, tile, state);
    let stroke = docking.tab_outline_stroke(ui.visuals(), tiles, tile, state);
    ui.painter()
        .rect(rect.shrink(0.5), 0, ground, stroke, StrokeKind::Inside);
    if state.active {
        // The tab joins the pane below.
        let stroke = Stroke::new(stroke.width + 1.0, ground);
        ui.painter().hline(rect.x_range(), rect.bottom(), stroke);
    }
    let color = docking.tab_text_color(ui.visuals(), tiles, tile, state);
    let place = Align2::LEFT_CENTER.align_size_within_rect(galley.size(), rect.shrink2(vec2(margin, 0.0)));
    ui.painter().galley(place.min, galley, color);
    if tab.has_focus() {
        let stroke = ui.visuals().widgets.hovered.bg_stroke;
        ui.painter()
            .rect_stroke(rect.shrink(1.0), 2, stroke, StrokeKind::Inside);
    }
    docking.is_low_open |= tab.clicked() && docking.low.contains(&tile);
    let is_middle = tab.clicked_by(egui::PointerButton::Middle);
    if let Some(pane) = pane
        && (has_cross && cross_ui(ui, rect, pane) || is_middle)
    {
        docking.closed.push(pane);
    }
    tab
}

/// Returns whether it was clicked.
fn cross_ui(ui: &egui::Ui, tab: egui::Rect, pane: Pane) -> bool {
    let side = CROSS + 2.0 * AROUND;
    let room = tab.with_max_x(tab.right() - BESIDE);
    let rect = Align2::RIGHT_CENTER.align_size_within_rect(egui::Vec2::splat(side), room);
    let title = pane.row().title;
    let cross = ui
        .interact(rect, ui.scope_id().with(("close", title)), Sense::click())
        .on_hover_cursor(egui::CursorIcon::Default)
        .named(Role::Button, || format!("close the pane {title}"));
    let visuals = ui.style().interact(&cross);
    let painter = ui.painter();
    if cross.hovered() || cross.has_focus() {
        painter.rect_filled(rect, 2, visuals.bg_fill);
    }
    let lines = rect.shrink(AROUND);
    painter.line_segment([lines.left_top(), lines.right_bottom()], visuals.fg_stroke);
    painter.line_segment([lines.right_top(), lines.left_bottom()], visuals.fg_stroke);
    let hint = format!("close {title}; View, Panes opens it again");
    cross.on_hover_text(hint).clicked()
}
