//! Matches of a search in the lifetimes: outlined; other rows are dimmed.
//!
//! Matches are painted over marks of many rows, so that none is hidden.

use eframe::egui::{Color32, Painter, Rect, Stroke, StrokeKind, pos2};

use super::LanesInput;
use super::canvas::Quads;
use super::rows::Shown;
use crate::numbers::to_points;
use highwater_timeline::Selected;

/// Least height of a row with an outline.
const LEAST_OUTLINED: f64 = 4.0;

/// Dims a tensor that does not match, or is not selected.
pub(super) fn color(input: &LanesInput<'_>, tensor: Option<Selected>, color: Color32) -> Color32 {
    let is_selected = tensor.is_some() && tensor == input.selected;
    match input.matches {
        // Colours of non-matches are dimmed already.
        None if input.selected.is_some() && !is_selected => input.theme.dimmed(color),
        _ => color,
    }
}

/// Outlines matches; low rows get a line, so that marks of many rows hide none.
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
        let x = |step: u32| to_points(shown.view.x_from_step(f64::from(step), width).clamp(-4.0, width + 4.0));
        let left = body.left() + x(row.start.0);
        let right = (body.left() + x(row.end.0)).max(left + 1.0);
        let top = body.top() + to_points(top - sight.0);
        let height = if is_outlined {
            to_points(layout.row_height) - 1.0
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
