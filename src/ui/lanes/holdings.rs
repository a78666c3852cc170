//! The ground of the memory maps: whose each piece of memory is, in coloured bands below the tensors.
//!
//! ```text
//! block    |device pool |pool of A    |      each granted block outlined
//! range    |  . . . . . |#|#|#|#|#|#|#|      pages as a grid where one is high enough; no memory: no band
//! stitched |//////////////|                  hatched
//! ```

use eframe::egui::{Painter, Rangef, Rect, Shape, Stroke, StrokeKind, pos2};

use super::canvas::{Quads, canvas_of, on_canvas};
use super::marks::Hatched;
use super::pinned_step::{HoveredRegion, is_of};
use crate::numbers::{to_f64, to_points};
use crate::theme::Theme;
use highwater_timeline::{ItemRect, LaneView, Owner, View};

/// Least height of a page drawn alone.
const LEAST_PAGE: f32 = 5.0;
/// Page lines per lane.
const MOST_LINES: usize = 600;
/// Least height of a granted block with an outline.
const LEAST_BLOCK: f32 = 5.0;
/// Least height of a highlight with an outline.
const LEAST_HIGHLIGHT: f32 = 10.0;

#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) lane: &'a LaneView,
    pub(super) viewport: &'a View<'a>,
    pub(super) rect: Rect,
    pub(super) theme: &'a Theme,
}

impl Place<'_> {
    fn y(&self, address: u64) -> f32 {
        let canvas = canvas_of(self.rect);
        let y = self.viewport.y_from_address(to_f64(address), canvas.height);
        self.rect.top() + to_points(y.clamp(-2.0, canvas.height + 2.0))
    }
}

/// Paints the bands. `regions` are positions of regions with their places on the screen.
pub(super) fn paint(painter: &Painter, place: &Place<'_>, regions: &[(usize, Rect)]) {
    let Place { lane, theme, .. } = place;
    let mut quads = Quads::with_capacity(regions.len());
    for (idx, rect) in regions {
        let region = &lane.regions[*idx];
        let color = if region.is_paged {
            theme.range
        } else {
            theme.owner(region.owner)
        };
        quads.add(*rect, color);
    }
    let items = lane.visible_owned_ranges(place.viewport, canvas_of(place.rect));
    let color = |item: &ItemRect| theme.owner(lane.owned_ranges.owner[item.block as usize]);
    let mut stitched = Hatched::new(painter.ctx(), "stitched", theme.stitched);
    for item in items.rects.iter().chain(items.marks.iter().map(|mark| &mark.rect)) {
        let rect = on_canvas(item, place.rect);
        quads.add(rect, color(item));
        if matches!(lane.owned_ranges.owner[item.block as usize], Owner::Stitched(_)) {
            stitched.add(rect);
        }
    }
    quads.paint(painter);
    stitched.paint(painter);
    let mut n_lines = 0;
    for item in &items.rects {
        let rect = on_canvas(item, place.rect);
        if rect.width() < 2.0 {
            continue;
        }
        if lane.owned_ranges.n_pages[item.block as usize] > 0 {
            page_lines(painter, place, item.block as usize, rect, &mut n_lines);
        } else if rect.height() >= LEAST_BLOCK {
            painter.rect_stroke(rect, 0, Stroke::new(1.0, theme.granted), StrokeKind::Inside);
        }
    }
}

/// Lines between pages.
fn page_lines(painter: &Painter, place: &Place<'_>, holding: usize, rect: Rect, n_lines: &mut usize) {
    let holdings = &place.lane.owned_ranges;
    let (base, n_pages) = (holdings.base.at(holding), u64::from(holdings.n_pages[holding]));
    let page = holdings.bytes.at(holding) / n_pages.max(1);
    if place.y(base) - place.y(base.saturating_add(page)) < LEAST_PAGE && n_pages > 1 {
        return;
    }
    let stroke = Stroke::new(1.0, place.theme.granted);
    for number in 0..=n_pages {
        let y = place.y(base.saturating_add(page.saturating_mul(number)));
        if place.rect.y_range().contains(y) && *n_lines < MOST_LINES {
            painter.hline(rect.x_range(), y, stroke);
            *n_lines += 1;
        }
    }
}

/// Dashed lines where the display addresses of a range leave out addresses that nothing touches.
pub(super) fn paint_breaks(painter: &Painter, place: &Place<'_>, regions: &[(usize, Rect)]) {
    let stroke = Stroke::new(1.0, place.theme.region_outline);
    for (idx, rect) in regions.iter().filter(|(_, rect)| rect.height() >= 12.0) {
        for address in place.lane.regions[*idx].breaks.iter().take(64) {
            let y = place.y(*address);
            if place.rect.y_range().contains(y) {
                let line = [pos2(rect.left(), y), pos2(rect.right(), y)];
                painter.extend(Shape::dashed_line(&line, stroke, 2.0, 4.0));
            }
        }
    }
}

/// Outlines the highlight of the device pane.
pub(super) fn paint_highlight(painter: &Painter, place: &Place<'_>, regions: &[(usize, Rect)], what: HoveredRegion) {
    let Place { lane, theme, .. } = place;
    let stroke = Stroke::new(1.5, theme.selection);
    // Low pieces are tinted instead.
    let outline = |rect: Rect| {
        let rect = Rect::from_x_y_ranges(at_least(rect.x_range()), at_least(rect.y_range()));
        painter.rect_filled(rect, 0, theme.highlight());
        if rect.height() >= LEAST_HIGHLIGHT {
            painter.rect_stroke(rect, 0, stroke, StrokeKind::Inside);
        }
    };
    for (idx, rect) in regions {
        if what.is(&lane.regions[*idx]) {
            outline(*rect);
        }
    }
    let HoveredRegion::Pool(owner) = what else { return };
    let items = lane.visible_owned_ranges(place.viewport, canvas_of(place.rect));
    for item in items.rects.iter().chain(items.marks.iter().map(|mark| &mark.rect)) {
        if is_of(lane.owned_ranges.owner[item.block as usize], owner) {
            outline(on_canvas(item, place.rect));
        }
    }
}

fn at_least(range: Rangef) -> Rangef {
    if range.span() < 3.0 {
        return Rangef::point(range.center()).expand(1.5);
    }
    range
}
