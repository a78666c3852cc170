//! The memory map of a lane: address by time, a block per tensor, one mesh.

use eframe::egui::{Align2, Color32, Painter, Rect, Shape, Stroke, StrokeKind, Ui, Vec2, pos2, vec2};

use super::canvas::{Quads, SMALL, beside, canvas_of, left_axis, on_canvas, text_in, text_with_ground};
use super::frame::LaneFrame;
use super::holdings::{self, Place};
use super::marks::{self, HolePicture};
use super::{LanesInput, LanesState, Selected, constant, eviction_interval, pictures};
use crate::numbers::{at_least_one, to_points};
use crate::theme::Theme;
use highwater_sim::RegionKind;
use highwater_timeline::{Arrows, ItemRect, Items, LaneView, Owner, RematMarkKind, View, byte_ticks, tensor_name};

/// Least height of an outlined region.
const LEAST_OUTLINED: f32 = 4.0;
/// Least height of a segment with a line below.
const LEAST_BORDER: f32 = 2.0;
/// Blocks of this many points are drawn on top of a picture, so that they stay sharp while the view moves.
const LEAST_ABOVE: f64 = 6.0;
/// Least size of a match with an outline.
const LEAST_FOUND: f32 = 6.0;
const MOST_FOUND: usize = 2_000;
const MIN_LABEL_WIDTH: f32 = 60.0;
const MIN_LABEL_HEIGHT: f32 = 12.0;
/// Labels per lane; about 200 with four lanes.
const MOST_LABELS: usize = 50;

/// Returns the numbers of shapes and of blocks, gaps and edges.
pub(super) fn paint(
    ui: &Ui,
    frame: &LaneFrame,
    input: &LanesInput<'_>,
    state: &LanesState,
    picture: &mut Option<HolePicture>,
) -> [(usize, usize); 4] {
    let Some(viewport) = frame.view(state) else {
        return [(0, 0); 4];
    };
    let (rect, theme) = (frame.map, input.theme);
    if rect.height() < 1.0 {
        return [(0, 0); 4];
    }
    let lane = &input.timeline.lanes[frame.lane];
    let outer = ui.painter();
    outer.rect_filled(rect, 0, theme.canvas);
    let most = at_least_one((rect.height() / 22.0).min(8.0));
    let y = |address: f64| rect.top() + to_points(viewport.y_from_address(address, f64::from(rect.height())));
    let floor = frame.scale.floor;
    let ticks = byte_ticks(viewport.a0 - floor, viewport.a1 - floor, most);
    left_axis(outer, rect, &ticks, |bytes| y(floor + bytes), theme);
    let painter = ui.painter_at(rect);
    let is_picture = pictures::is_picture(lane, &viewport, state.marks.has_holes);
    let items = if is_picture {
        lane.visible_large(viewport, canvas_of(rect), LEAST_ABOVE)
    } else {
        lane.visible(viewport, canvas_of(rect))
    };
    let arrows = marks::arrows(lane, input, state, &viewport, rect.height());
    let regions = region_rects(lane, &viewport, rect);
    let ground = Place {
        lane,
        viewport: &viewport,
        rect,
        theme,
    };
    holdings::paint(&painter, &ground, &regions);
    let mut holes = (0, 0);
    if is_picture {
        paint_large(&painter, frame.lane, rect, viewport, input, state);
        holes = (0, lane.n_gaps_within(&viewport));
    } else if state.marks.has_holes {
        holes = marks::paint_holes(&painter, rect, lane, &viewport, state.axis, theme, picture);
    }
    paint_blocks(&painter, rect, &items, frame.lane, lane, input, &arrows);
    let painter = ui.painter_at(beside(rect));
    for (region, place) in &regions {
        outline_region(&painter, *place, lane, *region, theme);
    }
    holdings::paint_breaks(&painter, &ground, &regions);
    paint_found(&painter, rect, &items, lane, input);
    paint_labels(&painter, rect, &items, lane, input);
    let id = input.comparison.lanes[frame.lane].id;
    if let Some((_, what)) = state.highlight.filter(|(lane, _)| *lane == id) {
        holdings::paint_highlight(&painter, &ground, &regions, what);
    }
    outlines(&painter, rect, &viewport, lane, input, state);
    marks::paint_edges(&painter, rect, lane, &viewport, &arrows, theme);
    let hovered = marks::hovered_arrows(lane, state, &viewport);
    marks::paint_edges(&painter, rect, lane, &viewport, &hovered, theme);
    outer.rect_stroke(rect, 0, Stroke::new(1.0, theme.frame), StrokeKind::Outside);
    constant::paint(ui, frame, input, state);
    [
        (items.n_drawn(), items.n_total),
        holes,
        (arrows.list.len(), arrows.n_total),
        (hovered.list.len(), hovered.n_total),
    ]
}

/// Shows the picture of a lane with too many blocks for a frame.
fn paint_large(painter: &Painter, lane: usize, rect: Rect, view: View<'_>, input: &LanesInput<'_>, state: &LanesState) {
    let theme = input.theme;
    let tint = theme.picture_tint(input.selected.is_some());
    if !pictures::paint(painter, rect, &view, lane, &state.caches.textures, state.axis, tint) {
        let center = (rect.center(), Align2::CENTER_CENTER);
        text_with_ground(
            painter,
            center,
            "drawing …".to_owned(),
            (theme.text_weak, theme.canvas),
            rect,
        );
    }
}

/// One mesh of all blocks; a selection dims unrelated ones.
fn paint_blocks(
    painter: &Painter,
    rect: Rect,
    items: &Items,
    number: usize,
    lane: &LaneView,
    input: &LanesInput<'_>,
    arrows: &Arrows,
) {
    let theme = input.theme;
    let others = marks::others(arrows);
    let mut quads = Quads::with_capacity(items.n_drawn());
    add_items(&mut quads, items, rect, |item| {
        let color = theme.block(input.drawn.color(number, lane, item.block));
        if input.selected.is_none() || lane.tensor(item.block) == input.selected {
            return color;
        }
        marks::beside(theme, color, others.binary_search(&item.block).is_ok())
    });
    quads.paint(painter);
}

/// Outlines matches; smaller ones are brighter and larger, so that each is seen.
fn paint_found(painter: &Painter, rect: Rect, items: &Items, lane: &LaneView, input: &LanesInput<'_>) {
    let Some(matches) = input.matches else { return };
    let stroke = Stroke::new(2.0, input.theme.found);
    let is_found = |item: &&ItemRect| lane.tensor(item.block).is_some_and(|tensor| matches.contains(tensor));
    let mut small = Quads::default();
    let marks = items.marks.iter().map(|mark| &mark.rect);
    for item in items.rects.iter().chain(marks).filter(is_found).take(MOST_FOUND) {
        let place = on_canvas(item, rect);
        if place.width().min(place.height()) >= LEAST_FOUND {
            painter.rect_stroke(place, 0, stroke, StrokeKind::Inside);
        } else {
            small.add(place.expand(0.5), input.theme.found.gamma_multiply(0.6));
        }
    }
    small.paint(painter);
}

/// Marks on top of exact blocks, so that nothing small is covered.
pub(super) fn add_items(quads: &mut Quads, items: &Items, rect: Rect, color: impl Fn(&ItemRect) -> Color32) {
    for item in &items.rects {
        let mut place = on_canvas(item, rect);
        if place.width() >= 4.0 {
            place.max.x -= 1.0;
        }
        if place.height() >= 4.0 {
            place.min.y += 1.0;
        }
        quads.add(place, color(item));
    }
    for mark in &items.marks {
        quads.add(on_canvas(&mark.rect, rect), color(&mark.rect));
    }
}

fn region_rects(lane: &LaneView, viewport: &View<'_>, rect: Rect) -> Vec<(usize, Rect)> {
    let places = lane.visible_regions(viewport, canvas_of(rect)).map(|(idx, place)| {
        let [left, top, right, bottom] = place.map(to_points);
        let place = Rect::from_min_max(pos2(left, top), pos2(right, bottom));
        (idx, place.translate(rect.min.to_vec2()))
    });
    places.filter(|(_, place)| place.intersects(rect)).collect()
}

fn outline_region(painter: &Painter, place: Rect, lane: &LaneView, region: usize, theme: &Theme) {
    if place.width() < 2.0 {
        return;
    }
    if place.height() < LEAST_OUTLINED {
        // Segments of recordings are many and low: a line separates them.
        if lane.regions[region].kind == RegionKind::Segment && place.height() >= LEAST_BORDER {
            painter.hline(place.x_range(), place.bottom(), Stroke::new(0.5, theme.region_outline));
        }
        return;
    }
    painter.rect_stroke(place, 0, Stroke::new(1.0, theme.region_outline), StrokeKind::Inside);
    let region = &lane.regions[region];
    let is_resident = matches!(region.owner, Owner::Variables | Owner::Weights | Owner::InputOutput);
    let seen = place.intersect(painter.clip_rect());
    if is_resident && seen.width() >= MIN_LABEL_WIDTH && seen.height() >= MIN_LABEL_HEIGHT {
        let text = format!("{} {}", region.label, region.bytes);
        text_in(painter, seen.shrink2(vec2(4.0, 0.0)), &text, (SMALL, theme.text));
    }
}

fn paint_labels(painter: &Painter, rect: Rect, items: &Items, lane: &LaneView, input: &LanesInput<'_>) {
    let mut places: Vec<(Rect, u32)> = items
        .rects
        .iter()
        .map(|item| (on_canvas(item, rect).intersect(rect), item.block))
        .filter(|(place, _)| place.width() >= MIN_LABEL_WIDTH && place.height() >= MIN_LABEL_HEIGHT)
        .collect();
    places.sort_by(|(a, _), (b, _)| b.area().total_cmp(&a.area()));
    for (place, block) in places.into_iter().take(MOST_LABELS) {
        if let Some(tensor) = lane.tensor(block) {
            let name = tensor_name(input.comparison, tensor);
            text_in(
                painter,
                place.shrink2(vec2(4.0, 0.0)),
                name,
                (SMALL, input.theme.on_tensor()),
            );
        }
    }
}

/// Outlines the hovered and the selected tensor.
fn outlines(
    painter: &Painter,
    rect: Rect,
    viewport: &View<'_>,
    lane: &LaneView,
    input: &LanesInput<'_>,
    state: &LanesState,
) {
    let theme = input.theme;
    let marked = [
        (state.hovered, Stroke::new(1.5, theme.hover)),
        (input.selected, Stroke::new(2.5, theme.selection)),
    ];
    for (tensor, stroke) in marked {
        let Some(tensor) = tensor else { continue };
        paint_away(painter, rect, viewport, lane, tensor, input);
        for block in lane.blocks_of(tensor) {
            let place = place_of(lane, block, viewport, rect);
            if place.intersects(rect) {
                painter.rect_stroke(place, 0, stroke, StrokeKind::Outside);
                if input.selected == Some(tensor) && place.width().min(place.height()) < LEAST_FOUND {
                    point_at(painter, place, rect, stroke.color);
                }
            }
        }
    }
}

/// Half the width and the height of an arrow.
const ARROW: Vec2 = vec2(4.5, 8.0);

/// An arrow at a block that is too small to be seen, from the side that has room.
fn point_at(painter: &Painter, place: Rect, rect: Rect, color: Color32) {
    let is_above = place.top() - ARROW.y - 2.0 >= rect.top();
    let (tip, way) = if is_above {
        (place.center_top() - vec2(0.0, 2.5), -1.0)
    } else {
        (place.center_bottom() + vec2(0.0, 2.5), 1.0)
    };
    let base = tip.y + way * ARROW.y;
    let corners = vec![tip, pos2(tip.x - ARROW.x, base), pos2(tip.x + ARROW.x, base)];
    painter.add(Shape::convex_polygon(corners, color, Stroke::NONE));
}

/// Hatched lines between the blocks of an evicted tensor.
fn paint_away(
    painter: &Painter,
    rect: Rect,
    viewport: &View<'_>,
    lane: &LaneView,
    tensor: Selected,
    input: &LanesInput<'_>,
) {
    let mut blocks: Vec<(Rect, u32, u32)> = lane
        .blocks_of(tensor)
        .map(|block| {
            let idx = block as usize;
            let place = place_of(lane, block, viewport, rect);
            (place, lane.blocks.start[idx], lane.blocks.end[idx])
        })
        .collect();
    if blocks.len() < 2 {
        return;
    }
    blocks.sort_by_key(|(_, start, end)| (*start, *end));
    let places = eviction_interval::connectors(&blocks, rect);
    eviction_interval::hatched(painter, &places, input.theme);
    let color = input.theme.remat_mark(RematMarkKind::Evict);
    for place in places {
        painter.rect_stroke(place, 0, Stroke::new(0.75, color), StrokeKind::Outside);
    }
}

/// At least 2 points wide and high.
fn place_of(lane: &LaneView, block: u32, viewport: &View<'_>, rect: Rect) -> Rect {
    let canvas = canvas_of(rect);
    let [x0, y0, x1, y1] = lane.rect(block as usize, viewport, canvas);
    let x = |x: f64| to_points(x.clamp(-9.0, canvas.width + 9.0));
    let y = |y: f64| to_points(y.clamp(-9.0, canvas.height + 9.0));
    let min = pos2(x(x0), y(y0));
    let max = pos2(x(x1).max(min.x + 2.0), y(y1).max(min.y + 2.0));
    Rect::from_min_max(min, max).translate(rect.min.to_vec2())
}
