//! The lifetimes view: a row per tensor that is alive within the view, on the same time axis.

use eframe::egui::{Align2, Painter, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::canvas::{Quads, SMALL, canvas_of, cursor_line, on_canvas, text_in};
use super::measure::Plot;
use super::{
    LaneAction, LaneLayout, LanesInput, Parts, away, frame, gestures, map, measure, range, remat, ruler, searched,
    tooltip,
};
use crate::timeline::{RematMarkKind, RowItems, Selected, View};

const MIN_LABEL_WIDTH: f32 = 60.0;
const MIN_LABEL_HEIGHT: f32 = 11.0;
const MOST_LABELS: usize = 200;

/// Ruler and rows.
pub(super) fn rows_ui(ui: &mut Ui, area: Rect, (input, state, actions): Parts<'_, '_>) {
    let grid = frame::Grid::new(
        area,
        &[frame::Wanted::PLAIN],
        LaneLayout::Stacked,
        (ruler::height(input.timeline), 0.0),
    );
    let top = area.top() + grid.ruler_height;
    let body = Rect::from_x_y_ranges(
        grid.plot_x(0),
        eframe::egui::Rangef::new(top + 4.0, area.bottom() - 8.0),
    );
    let response = ui.interact(body, ui.scope_id().with("lifetimes"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "lifetimes"));
    let plot = Plot {
        lane: 0,
        body,
        map: body,
        reach: 1.0,
    };
    gestures::navigate(ui, &response, plot, state);
    state.cursor = gestures::cursor(ui, body, grid.plot_x(0), state);
    ruler::ruler_ui(ui, grid.ruler(0), input, state);
    let Some(viewport) = state.view_in(input.timeline) else {
        return;
    };
    let lane = state.lane_of_rows(input);
    let rows = input.timeline.rows_of(lane).visible(viewport, canvas_of(body));
    let pos = response.hover_pos().or_else(|| response.interact_pointer_pos());
    let row = pos.and_then(|pos| rows.pick(f64::from(pos.y - body.top())));
    let tensor = row.map(|row| row.tensor);
    state.hovered = tensor;
    if response.double_clicked() {
        state.fit();
    } else if response.clicked() {
        response.request_focus();
        actions.push(LaneAction::Select(tensor));
    }
    state.drawn = (rows.items.n_drawn(), rows.items.n_total);
    paint(ui, body, &rows, (input, &viewport), [state.hovered, input.selected]);
    if rows.rows.is_empty() {
        nothing_ui(ui, body, input, lane);
    }
    paint_gap_marks(ui, body, &rows, (input, lane));
    range::paint(ui, body, input, state);
    measure::paint(ui, plot, input, state);
    cursor_line(ui, body, state, input.theme);
    if let Some(tensor) = tensor.filter(|_| !response.dragged()) {
        response.on_hover_ui_at_pointer(|ui| tooltip::tensor_ui(ui, tensor, (input, &*state), (lane, None)));
    }
    ui.advance_cursor_after_rect(area);
}

fn paint(
    ui: &Ui,
    rect: Rect,
    rows: &RowItems,
    (input, viewport): (&LanesInput<'_>, &View<'_>),
    marked: [Option<Selected>; 2],
) {
    let theme = input.theme;
    let painter = ui.painter_at(rect.expand2(vec2(frame::GUTTER, 1.0)));
    painter.rect_filled(rect, 0, theme.canvas);
    let tensor_of = |block: u32| rows.rows.get(block as usize).map(|row| row.tensor);
    let mut quads = Quads::with_capacity(rows.items.n_drawn());
    map::add_items(&mut quads, &rows.items, rect, |item| {
        searched::color(input, tensor_of(item.block), theme.tensor(item.color))
    });
    quads.paint(&painter.with_clip_rect(rect));
    searched::paint(&painter.with_clip_rect(rect), rect, rows, (input, viewport));
    let gaps: Vec<Rect> = rows.gaps.iter().map(|gap| on_canvas(gap, rect)).collect();
    away::hatched(&painter.with_clip_rect(rect), &gaps, theme);
    paint_labels(&painter.with_clip_rect(rect), rect, rows, input);
    for (tensor, stroke) in marked
        .into_iter()
        .zip([Stroke::new(1.5, theme.hover), Stroke::new(2.5, theme.selection)])
    {
        outline(&painter, rect, (rows, input), (tensor, stroke));
    }
    painter.rect_stroke(rect, 0, Stroke::new(1.0, theme.frame), StrokeKind::Outside);
    let n_rows = format!("{} rows", rows.rows.len());
    let pos = pos2(rect.left() - 6.0, rect.top() + 7.0);
    painter.text(pos, Align2::RIGHT_CENTER, n_rows, SMALL, theme.text_weak);
}

/// Why there is no row.
fn nothing_ui(ui: &Ui, rect: Rect, input: &LanesInput<'_>, lane: usize) {
    let has_blocks = input
        .timeline
        .lanes
        .get(lane)
        .is_some_and(|view| !view.blocks.is_empty());
    let words = match (has_blocks, input.comparison.is_measured_lane(lane)) {
        (false, true) => "The file lists no blocks.",
        (_, true) => "No block is held within these events.",
        _ => "No tensor is alive within these steps.",
    };
    let color = input.theme.text_weak;
    ui.painter_at(rect)
        .text(rect.center(), Align2::CENTER_CENTER, words, SMALL, color);
}

/// An eviction at the beginning of each gap and the way back at its end, where there is room for both.
fn paint_gap_marks(ui: &Ui, rect: Rect, rows: &RowItems, (input, lane): (&LanesInput<'_>, usize)) {
    const LEAST: f32 = 8.0;
    if input.timeline.lanes.get(lane).is_none_or(|lane| lane.remat.is_none()) {
        return;
    }
    let painter = ui.painter_at(rect);
    for gap in &rows.gaps {
        let place = on_canvas(gap, rect);
        if place.height() < LEAST || place.width() < LEAST {
            continue;
        }
        let inset = vec2(4.0, 0.0);
        let ends = [
            (place.left_center() + inset, RematMarkKind::Evict),
            (place.right_center() - inset, RematMarkKind::Rematerialize),
        ];
        for (at, kind) in ends {
            if place.width() >= 2.0 * LEAST || kind == RematMarkKind::Evict {
                remat::mark(&painter, at, kind, input.theme);
            }
        }
    }
}

/// Names on rows that are wide enough; beside short ones where there is room.
fn paint_labels(painter: &Painter, rect: Rect, rows: &RowItems, input: &LanesInput<'_>) {
    if rows.row_height < f64::from(MIN_LABEL_HEIGHT) {
        return;
    }
    let mut last = None;
    for (n, item) in rows.items.rects.iter().enumerate().take(MOST_LABELS) {
        // A row with several pieces is named once where that is enough, and never between pieces.
        let is_last = rows.items.rects.get(n + 1).is_none_or(|next| next.block != item.block);
        if last.replace(item.block) == Some(item.block) && !is_last {
            continue;
        }
        let Some(row) = rows.rows.get(item.block as usize) else {
            continue;
        };
        let name = map::tensor_name(input, row.tensor);
        let place = on_canvas(item, rect).intersect(rect);
        if place.width() >= MIN_LABEL_WIDTH {
            text_in(
                painter,
                place.shrink2(vec2(4.0, 0.0)),
                name,
                (SMALL, input.theme.on_tensor()),
            );
        } else if is_last && rect.right() - place.right() >= MIN_LABEL_WIDTH {
            let beside = Rect::from_min_max(
                pos2(place.right() + 4.0, place.top()),
                pos2(rect.right(), place.bottom()),
            );
            text_in(painter, beside, name, (SMALL, input.theme.text_weak));
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "points on a screen fit f32"
)]
fn outline(
    painter: &Painter,
    rect: Rect,
    (rows, input): (&RowItems, &LanesInput<'_>),
    (tensor, stroke): (Option<Selected>, Stroke),
) {
    let Some(idx) = tensor.and_then(|tensor| rows.rows.iter().position(|row| row.tensor == tensor)) else {
        return;
    };
    let height = rows.row_height as f32;
    let top = rect.top() + idx as f32 * height;
    let items = rows.items.rects.iter().filter(|item| item.block as usize == idx);
    let whole = items.map(|item| on_canvas(item, rect)).reduce(Rect::union);
    let place =
        whole.unwrap_or_else(|| Rect::from_min_max(pos2(rect.left(), top), pos2(rect.right(), top + height.max(2.0))));
    painter
        .with_clip_rect(rect)
        .rect_stroke(place, 0, stroke, StrokeKind::Outside);
    if input.selected == tensor {
        let pos = pos2(rect.left() - 6.0, place.center().y.max(rect.top() + 20.0));
        painter.text(pos, Align2::RIGHT_CENTER, "selected", SMALL, input.theme.selection);
    }
}
