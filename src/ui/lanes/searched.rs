//! What a search found, in the lifetimes: matches are outlined, the rest is dimmed.
//!
//! Where rows are lower than a pixel, marks stand for many rows. Matches are painted over them, so that none is hidden.

use eframe::egui::{Color32, Painter, Rect, Stroke, StrokeKind, pos2};

use super::LanesInput;
use super::canvas::Quads;
use super::rows::Shown;
use highwater_timeline::Selected;

/// Lower rows get no outline: it would be all that is seen of them.
const LEAST_OUTLINED: f64 = 4.0;

/// The colour of a tensor: dimmed where something else is looked for, or selected.
pub(super) fn color(input: &LanesInput<'_>, tensor: Option<Selected>, color: Color32) -> Color32 {
    let is_selected = tensor.is_some() && tensor == input.selected;
    match input.matches {
        // What a search did not find has colours that step back already.
        None if input.selected.is_some() && !is_selected => input.theme.dimmed(color),
        _ => color,
    }
}

/// Outlines of matches; in rows that are too low for one a line, so that marks of many rows hide none.
#[expect(clippy::cast_possible_truncation, reason = "points on a screen fit f32")]
pub(super) fn paint_rows(painter: &Painter, body: Rect, shown: &Shown<'_>, input: &LanesInput<'_>) {
    let Some(matches) = input.matches else { return };
    let (layout, sight) = (&shown.layout, shown.window.sight);
    let is_outlined = layout.row_height >= LEAST_OUTLINED;
    let stroke = Stroke::new(1.0, input.theme.found);
    let width = f64::from(body.width());
    let mut quads = Quads::default();
    for (position, top) in layout.rows_within(sight) {
        let number = layout.number(shown.rows, position);
        let row = number.and_then(|number| shown.rows.row(number));
        let Some(row) = row.filter(|row| matches.contains(row.tensor)) else {
            continue;
        };
        let x = |step: u32| shown.view.x_from_step(f64::from(step), width).clamp(-4.0, width + 4.0) as f32;
        let left = body.left() + x(row.start.0);
        let right = (body.left() + x(row.end.0)).max(left + 1.0);
        let top = body.top() + (top - sight.0) as f32;
        let height = if is_outlined {
            layout.row_height as f32 - 1.0
        } else {
            1.0
        };
        let place = Rect::from_min_max(pos2(left, top), pos2(right, top + height));
        if is_outlined {
            painter.rect_stroke(place, 0, stroke, StrokeKind::Inside);
        } else {
            quads.add(place, input.theme.found);
        }
    }
    quads.paint(painter);
}
