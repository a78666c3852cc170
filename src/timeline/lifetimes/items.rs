//! Rectangles to draw of rows: live ranges, and the gaps between them.

use super::{LaneRows, RowLayout, RowWindow};
use crate::viewport::{Canvas, View};
use crate::visible::{Cell, ItemRect, Items, Shape, clip, merge};
use highwater_model::units::Step;

/// In lower rows hatching is not visible.
const LEAST_HATCHED: f64 = 3.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowItems {
    /// Relative to the upper end of the visible part. `block` is a position in the layout; a row may have several live
    /// ranges.
    pub items: Items,
    /// Between live ranges of a row. `block` is a position in the layout.
    pub gaps: Vec<ItemRect>,
}

impl LaneRows {
    /// The visible rows. O(their live ranges).
    pub fn items<'v>(&self, layout: &RowLayout, view: impl Into<View<'v>>, window: &RowWindow) -> RowItems {
        let canvas = Canvas {
            height: window.sight.1 - window.sight.0,
            ..window.canvas
        };
        let mut drawing = Drawing {
            view: view.into(),
            canvas,
            row_height: layout.row_height,
            items: Items {
                n_total: layout.n_alive,
                ..Items::default()
            },
            gaps: Vec::new(),
            cells: Vec::new(),
        };
        for (position, top) in layout.rows_within(window.sight) {
            let row = layout.number(self, position).and_then(|number| self.row(number));
            let Some(row) = row else { continue };
            let color = self.rows.color(row.tensor);
            let (number, top) = (u32::try_from(position).unwrap_or(u32::MAX), top - window.sight.0);
            let mut last: Option<Step> = None;
            self.rows.each_piece(row.tensor, |start, end| {
                if let Some(away) = last.filter(|away| *away < start) {
                    drawing.gap(number, color, top, (away, start));
                }
                drawing.piece(number, color, top, (start, end));
                last = Some(end);
            });
        }
        let Drawing {
            mut items, gaps, cells, ..
        } = drawing;
        merge(cells, |cell| items.marks.push(cell.row(canvas)));
        RowItems { items, gaps }
    }
}

struct Drawing<'a> {
    view: View<'a>,
    canvas: Canvas,
    row_height: f64,
    items: Items,
    gaps: Vec<ItemRect>,
    cells: Vec<Cell>,
}

/// The rectangle of a live range: left, top, right, bottom.
pub(super) fn place(view: &View<'_>, width: f64, top: f64, height: f64, steps: (Step, Step)) -> [f64; 4] {
    let x = |step: Step| view.x_from_step(f64::from(step.0), width);
    [x(steps.0), top, x(steps.1), top + height]
}

impl Drawing<'_> {
    fn place(&self, top: f64, steps: (Step, Step)) -> [f64; 4] {
        let [x0, y0, x1, y1] = place(&self.view, self.canvas.width, top, self.row_height, steps);
        [x0, y0, widened(x0, x1), y1]
    }

    fn piece(&mut self, row: u32, color: u8, top: f64, steps: (Step, Step)) {
        let place = self.place(top, steps);
        if place[2] <= 0.0 || place[0] >= self.canvas.width {
            return;
        }
        match Cell::new(place, row, color) {
            Shape::Exact(rect) => self.items.rects.push(shrink(clip(rect, self.canvas), self.row_height)),
            Shape::Narrow(cell) | Shape::Thin(cell) => self.cells.push(cell),
        }
    }

    /// Gaps are hatched only in rows high enough to show it.
    fn gap(&mut self, row: u32, color: u8, top: f64, steps: (Step, Step)) {
        let place = self.place(top, steps);
        if self.row_height < LEAST_HATCHED || place[2] <= 0.0 || place[0] >= self.canvas.width {
            return;
        }
        if let Shape::Exact(rect) = Cell::new(place, row, color) {
            self.gaps.push(shrink(clip(rect, self.canvas), self.row_height));
        }
    }
}

/// Makes a rectangle at least a pixel wide, not a rounding error less: narrower ones would count as columns, and here
/// all are rows.
fn widened(x0: f64, x1: f64) -> f64 {
    x1.max((x0 + 1.0).next_up())
}

fn shrink(rect: ItemRect, row_height: f64) -> ItemRect {
    let gap = if row_height >= 4.0 { 1.0 } else { 0.0 };
    ItemRect {
        y1: rect.y1 - gap,
        ..rect
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_rows_are_never_columns() {
        for number in 0..200_000_u32 {
            let x0 = f64::from(number) * 0.013_71 - 100.0;
            let place = [x0, 5.0, widened(x0, x0 + 1e-9), 5.2];
            assert!(!matches!(Cell::new(place, 0, 0), Shape::Narrow(_)), "{x0}");
        }
    }
}
