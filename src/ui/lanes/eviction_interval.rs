//! Intervals in which a tensor is evicted: hatched in its row and between its blocks.

use eframe::egui::{Painter, Pos2, Rect, pos2};

use super::marks::Hatched;
use crate::theme::Theme;

pub(super) fn hatched(painter: &Painter, places: &[Rect], theme: &Theme) {
    let mut mesh = Hatched::new(painter.ctx(), "hatch of evictions", theme.gap);
    for place in places {
        mesh.add(*place);
    }
    mesh.paint(painter);
}

/// A thin hatched line from each block of a tensor to the next.
pub(super) fn connectors(blocks: &[(Rect, u32, u32)], rect: Rect) -> Vec<Rect> {
    const HALF_WIDTH: f32 = 2.5;
    let mut places = Vec::new();
    for pair in blocks.windows(2) {
        let ((before, _, end), (after, start, _)) = (pair[0], pair[1]);
        if end >= start || before.right() > rect.right() || after.left() < rect.left() {
            continue;
        }
        let (from, to) = (before.right(), after.left());
        if to - from < 1.0 {
            continue;
        }
        let (y0, y1) = (before.center().y, after.center().y);
        let line = |a: Pos2, b: Pos2| Rect::from_two_pos(a, b).expand(HALF_WIDTH).intersect(rect);
        places.push(line(pos2(from + HALF_WIDTH, y0), pos2(to - HALF_WIDTH, y0)));
        if (y1 - y0).abs() > after.height() / 2.0 + HALF_WIDTH {
            let reach = y1 - after.height() / 2.0 * (y1 - y0).signum();
            places.push(line(pos2(to - HALF_WIDTH, y0), pos2(to - HALF_WIDTH, reach)));
        }
    }
    places.retain(Rect::is_positive);
    places
}
