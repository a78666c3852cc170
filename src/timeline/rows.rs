//! The lifetimes view: one row per tensor of a run, sorted by birth.
//!
//! Rows are read from the session as they are needed: equal runs share their live ranges, so nothing is copied.
//! The rows of a viewport are those alive within its steps; zooming in leaves fewer of them, and they grow.

use std::sync::Arc;

use crate::analysis::Comparison;
use crate::sim::BoundGraph;
use crate::units::{Bytes, Step};
use crate::workload::GraphIdx;

use super::viewport::{Canvas, Viewport};
use super::visible::{Cell, ItemRect, Items, Shape, clip, merge};
use super::{Palette, Selected};

/// No row is higher than this many points.
const MAX_ROW: f64 = 18.0;

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Whose.
    pub tensor: Selected,
    /// First step on the common axis.
    pub start: Step,
    /// Last step, exclusive.
    pub end: Step,
    /// Exact bytes.
    pub bytes: Bytes,
}

#[derive(Clone, Debug, PartialEq)]
struct RunRows {
    bound: Arc<BoundGraph>,
    graph: GraphIdx,
    start: u32,
    n_steps: u32,
}

/// The rows of all runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    runs: Vec<RunRows>,
    palette: Palette,
}

/// The rows that a viewport shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowItems {
    /// The rows, from top to bottom.
    pub rows: Vec<Row>,
    /// What to draw; `block` is a position in `rows`.
    pub items: Items,
    /// Points per row; below 1, rows are merged.
    pub row_height: f64,
}

impl RowItems {
    /// The row at a distance from the top.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked against the rows after the cast"
    )]
    pub fn pick(&self, y: f64) -> Option<&Row> {
        (y >= 0.0 && self.row_height > 0.0)
            .then(|| self.rows.get((y / self.row_height) as usize))
            .flatten()
    }
}

impl Rows {
    pub(super) fn new(comparison: &Comparison, palette: Palette) -> Self {
        let runs = comparison.session.runs.iter().map(|run| RunRows {
            bound: Arc::clone(&run.bound),
            graph: run.graph,
            start: run.start.0,
            n_steps: run.n_steps,
        });
        Self {
            runs: runs.collect(),
            palette,
        }
    }

    /// How many rows there are in all.
    pub fn len(&self) -> usize {
        self.runs
            .iter()
            .map(|run| run.bound.program.lifetimes.items.len())
            .sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A tensor's row. O(lifetimes of its graph).
    pub fn find(&self, tensor: Selected) -> Option<Row> {
        let run = self.runs.get(tensor.run as usize)?;
        let items = &run.bound.program.lifetimes.items;
        let item = items.iter().find(|item| item.tensor == tensor.tensor)?;
        Some(run.row(tensor.run, item))
    }

    /// The row born next after a tensor's (or before it); the first row where none is given.
    pub fn neighbour(&self, tensor: Option<Selected>, is_next: bool) -> Option<Row> {
        let (run, position) = match tensor {
            Some(tensor) => {
                let run = self.runs.get(tensor.run as usize)?;
                let items = &run.bound.program.lifetimes.items;
                let at = items.iter().position(|item| item.tensor == tensor.tensor)?;
                let to = if is_next { Some(at + 1) } else { at.checked_sub(1) };
                (tensor.run, to.filter(|to| *to < items.len())?)
            }
            None => (0, 0),
        };
        let rows = self.runs.get(run as usize)?;
        Some(rows.row(run, rows.bound.program.lifetimes.items.get(position)?))
    }

    /// The rows alive within the steps of a viewport. O(rows of the runs it touches).
    pub fn visible(&self, viewport: &Viewport, canvas: Canvas) -> RowItems {
        let rows = self.alive(viewport);
        let n_rows = f64::from(u32::try_from(rows.len().max(1)).unwrap_or(u32::MAX));
        let row_height = (canvas.height / n_rows).min(MAX_ROW);
        let mut items = Items {
            n_total: rows.len(),
            ..Items::default()
        };
        let mut cells = Vec::new();
        for (block, row) in (0_u32..).zip(&rows) {
            let x0 = viewport.x_from_step(f64::from(row.start.0), canvas.width);
            let x1 = viewport.x_from_step(f64::from(row.end.0), canvas.width).max(x0 + 1.0);
            let y0 = f64::from(block) * row_height;
            let color = self.palette.color(row.tensor.key());
            match Cell::new([x0, y0, x1, y0 + row_height], block, color) {
                Shape::Exact(rect) => items.rects.push(shrink(clip(rect, canvas), row_height)),
                Shape::Narrow(cell) | Shape::Thin(cell) => cells.push(cell),
            }
        }
        merge(cells, |cell| items.marks.push(cell.row(canvas)));
        RowItems {
            rows,
            items,
            row_height,
        }
    }

    fn alive(&self, viewport: &Viewport) -> Vec<Row> {
        let first = self
            .runs
            .partition_point(|run| f64::from(run.start + run.n_steps) <= viewport.t0);
        let mut rows = Vec::new();
        for (idx, run) in (0_u32..).zip(&self.runs).skip(first) {
            if f64::from(run.start) >= viewport.t1 {
                break;
            }
            let items = &run.bound.program.lifetimes.items;
            let alive = items
                .iter()
                .map(|item| run.row(idx, item))
                .filter(|row| f64::from(row.start.0) < viewport.t1 && f64::from(row.end.0) > viewport.t0);
            rows.extend(alive);
        }
        rows
    }
}

impl RunRows {
    fn row(&self, run: u32, item: &crate::workload::Lifetime) -> Row {
        Row {
            tensor: Selected {
                run,
                graph: self.graph,
                tensor: item.tensor,
            },
            start: Step(self.start + item.birth.0),
            end: Step(self.start + item.end.0),
            bytes: item.bytes,
        }
    }
}

/// High rows get a gap between them.
fn shrink(rect: ItemRect, row_height: f64) -> ItemRect {
    let gap = if row_height >= 4.0 { 1.0 } else { 0.0 };
    ItemRect {
        y1: rect.y1 - gap,
        ..rect
    }
}
