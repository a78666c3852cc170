//! What a search found, in the lifetimes: matches are outlined, the rest is dimmed.
//!
//! Where rows are lower than a pixel, marks stand for many rows. Matches are painted over them, so that none is hidden: at
//! most a few in each line of pixels, found without looking at the rows between.

use eframe::egui::{Color32, Painter, Rect, Stroke, StrokeKind, pos2};

use super::LanesInput;
use super::canvas::{Quads, on_canvas};
use crate::timeline::{Matches, Row, RowItems, Selected, View};

/// Lower rows get no outline: it would be all that is seen of them.
const LEAST_OUTLINED: f64 = 4.0;
/// Matches that are painted in one line of pixels.
const MOST_IN_LINE: usize = 8;

/// The colour of a tensor: dimmed where something else is looked for, or selected.
pub(super) fn color(input: &LanesInput<'_>, tensor: Option<Selected>, color: Color32) -> Color32 {
    let is_selected = tensor.is_some() && tensor == input.selected;
    match input.matches {
        _ if is_selected => color,
        Some(matches) if tensor.is_some_and(|tensor| matches.contains(tensor)) => color,
        Some(_) => input.theme.faded(color),
        None if input.selected.is_some() => input.theme.dimmed(color),
        None => color,
    }
}

/// Outlines of matches; where rows are lower than a pixel the matches themselves.
pub(super) fn paint(painter: &Painter, rect: Rect, rows: &RowItems, (input, viewport): (&LanesInput<'_>, &View<'_>)) {
    let Some(matches) = input.matches else { return };
    if rows.row_height < 1.0 {
        paint_lines(painter, rect, rows, (input, viewport, matches));
    } else if rows.row_height >= LEAST_OUTLINED {
        let stroke = Stroke::new(1.0, input.theme.found);
        let found = rows.items.rects.iter().filter(|item| {
            let row = rows.rows.get(item.block as usize);
            row.is_some_and(|row| matches.contains(row.tensor))
        });
        for item in found {
            painter.rect_stroke(on_canvas(item, rect), 0, stroke, StrokeKind::Inside);
        }
    }
}

type Found<'a, 'b> = (&'a LanesInput<'b>, &'a View<'a>, &'a Matches);

/// The first few matches of every line of pixels.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "lines of a screen, and rows that there are"
)]
fn paint_lines(painter: &Painter, rect: Rect, rows: &RowItems, (input, viewport, matches): Found<'_, '_>) {
    let n_lines = rect.height().ceil().max(0.0) as usize;
    let mut quads = Quads::with_capacity(n_lines);
    for line in 0..n_lines {
        let top = rect.top() + line as f32;
        let position = |line: usize| (line as f64 / rows.row_height) as usize;
        let (first, end) = (position(line), position(line + 1).min(rows.rows.len()));
        let (Some(from), Some(last)) = (
            rows.rows.get(first),
            end.checked_sub(1).and_then(|last| rows.rows.get(last)),
        ) else {
            break;
        };
        let found = matches.between(from.tensor, last.tensor);
        let seen = found.filter(|row| is_seen(row, viewport));
        for row in seen.take(MOST_IN_LINE) {
            let x = |step: u32| viewport.x_from_step(f64::from(step), f64::from(rect.width())) as f32;
            let left = rect.left() + x(row.start.0).max(0.0);
            let right = (rect.left() + x(row.end.0)).max(left + 1.0);
            quads.add(
                Rect::from_min_max(pos2(left, top), pos2(right.min(rect.right()), top + 1.0)),
                input.theme.found,
            );
        }
    }
    quads.paint(painter);
}

fn is_seen(row: &Row, viewport: &View<'_>) -> bool {
    f64::from(row.start.0) < viewport.t1 && f64::from(row.end.0) > viewport.t0
}
