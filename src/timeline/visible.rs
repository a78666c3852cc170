//! Rectangles to draw: blocks culled to a viewport; those of at least a pixel exactly, smaller ones merged into marks.
//!
//! ```text
//!   +----+  exact            narrower than a pixel: one column of cells, each cell of the largest block in it
//!   |    |  ---- mark        lower than a pixel: one row of runs, likewise
//!   +----+
//! ```

use super::block::LaneView;
use super::index::{Least, RectColumns};
use super::viewport::{Canvas, Scale, View, Viewport};
use highwater_model::units::Step;

/// A block in points from the top left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ItemRect {
    pub x0: f32,
    pub y0: f32,
    pub x1: f32,
    pub y1: f32,
    pub block: u32,
    pub color: u8,
}

/// A mark for blocks smaller than a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ItemMark {
    /// At least one pixel wide and high; its `block` is the largest one merged.
    pub rect: ItemRect,
    pub n_blocks: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Items {
    /// Blocks of at least a pixel on both axes.
    pub rects: Vec<ItemRect>,
    pub marks: Vec<ItemMark>,
    pub n_total: usize,
}

impl Items {
    pub fn n_drawn(&self) -> usize {
        self.rects.len() + self.marks.len()
    }
}

impl RectColumns {
    pub(super) fn scaled(&self, idx: usize, scale: &Scale<'_>) -> [f64; 4] {
        let base = self.base.at(idx);
        [
            scale.x(self.start[idx]),
            scale.y(base.saturating_add(self.bytes.at(idx))),
            scale.x(self.end[idx]),
            scale.y(base),
        ]
    }
}

/// O(visible rectangles log visible rectangles + classes log rectangles).
pub(super) fn visible(columns: &RectColumns, color: impl Fn(usize) -> u8, view: View<'_>, canvas: Canvas) -> Items {
    let mut items = Items::default();
    let scale = Scale::new(view, canvas);
    let (mut narrow, mut thin) = (Vec::new(), Vec::new());
    let mut add = |idx: usize| {
        let rect = columns.scaled(idx, &scale);
        if !is_within(rect, canvas) {
            return;
        }
        items.n_total += 1;
        let block = u32::try_from(idx).unwrap_or(u32::MAX);
        match Cell::new(rect, block, color(idx)) {
            Shape::Exact(exact) => items.rects.push(clip(exact, canvas)),
            Shape::Narrow(cell) => narrow.push(cell),
            Shape::Thin(cell) => thin.push(cell),
        }
    };
    let met = columns.met_in_order((view.t0, view.t1));
    met.into_iter().for_each(&mut add);
    merge(narrow, |cell| items.marks.push(cell.column(canvas)));
    merge(thin, |cell| items.marks.push(cell.row(canvas)));
    items
}

impl LaneView {
    /// The blocks within a viewport; `canvas` is in pixels. O(visible blocks log visible blocks + classes log blocks).
    pub fn visible<'v>(&self, view: impl Into<View<'v>>, canvas: Canvas) -> Items {
        visible(&self.blocks, |idx| self.blocks.color[idx], view.into(), canvas)
    }

    /// Number of blocks that meet the steps of a viewport, at any address. O(log blocks).
    pub fn n_within(&self, viewport: &Viewport) -> usize {
        self.blocks.count(viewport.t0, viewport.t1)
    }

    /// Number of gaps that meet the steps of a viewport, at any address. O(log gaps).
    pub fn n_gaps_within(&self, viewport: &Viewport) -> usize {
        self.gaps.count(viewport.t0, viewport.t1)
    }

    /// The blocks within a viewport that are at least `pixels` wide and high; a picture shows the others. O(classes log
    /// blocks + results).
    pub fn visible_large<'v>(&self, view: impl Into<View<'v>>, canvas: Canvas, pixels: f64) -> Items {
        let color = |idx: usize| self.blocks.color[idx];
        visible_large(&self.blocks, color, view.into(), canvas, pixels)
    }

    /// The regions within a viewport by position, with their places: left, top, right, bottom, at most two points outside
    /// the canvas.
    pub fn visible_regions(&self, view: &View<'_>, canvas: Canvas) -> impl Iterator<Item = (usize, [f64; 4])> {
        // A region that ends at an edge of the picture touches it.
        let around = view.widened(1.0 / canvas.width.max(1.0));
        let x = move |step: Step| {
            let x = view.x_from_step(f64::from(step.0), canvas.width);
            x.clamp(-2.0, canvas.width + 2.0)
        };
        #[expect(
            clippy::cast_precision_loss,
            reason = "points of a picture need no more than 53 bits"
        )]
        let y = move |at: u64| {
            let y = view.y_from_address(at as f64, canvas.height);
            y.clamp(-2.0, canvas.height + 2.0)
        };
        let regions = self.regions_within(around.t0, around.t1).into_iter();
        regions.map(move |idx| {
            let region = &self.regions[idx];
            let top = y(region.base.saturating_add(region.bytes.get()));
            (idx, [x(region.start), top, x(region.end), y(region.base)])
        })
    }

    /// Left, top, right, bottom.
    pub fn rect<'v>(&self, block: usize, view: impl Into<View<'v>>, canvas: Canvas) -> [f64; 4] {
        self.blocks.scaled(block, &Scale::new(view.into(), canvas))
    }
}

/// The rectangles within a viewport that are at least `pixels` wide and high.
pub(super) fn visible_large(
    columns: &RectColumns,
    color: impl Fn(usize) -> u8,
    view: View<'_>,
    canvas: Canvas,
    pixels: f64,
) -> Items {
    let scale = Scale::new(view, canvas);
    let mut items = Items {
        n_total: columns.count(view.t0, view.t1),
        ..Items::default()
    };
    let least = Least::pixels(pixels, &view, canvas);
    for idx in columns.met((view.t0, view.t1), least) {
        let rect = columns.scaled(idx, &scale);
        let is_large = rect[2] - rect[0] >= pixels && rect[3] - rect[1] >= pixels;
        if !is_large || !is_within(rect, canvas) {
            continue;
        }
        let block = u32::try_from(idx).unwrap_or(u32::MAX);
        if let Shape::Exact(exact) = Cell::new(rect, block, color(idx)) {
            items.rects.push(clip(exact, canvas));
        }
    }
    items
}

fn is_within([x0, y0, x1, y1]: [f64; 4], canvas: Canvas) -> bool {
    x1 > 0.0 && x0 < canvas.width && y1 > 0.0 && y0 < canvas.height
}

/// A block smaller than a pixel: `line` is its pixel column or row, `from..to` its extent along it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    line: u16,
    from: f32,
    to: f32,
    weight: f32,
    n_blocks: u32,
    block: u32,
    color: u8,
}

pub(super) enum Shape {
    Exact(ItemRect),
    Narrow(Cell),
    Thin(Cell),
}

impl Cell {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "points on a screen fit f32; a line lies within the picture"
    )]
    #[expect(clippy::new_ret_no_self, reason = "a block is sorted into one of three shapes")]
    pub(super) fn new([x0, y0, x1, y1]: [f64; 4], block: u32, color: u8) -> Shape {
        let (width, height) = (x1 - x0, y1 - y0);
        let cell = |line: f64, from: f64, to: f64| Self {
            line: line as u16,
            from: from.max(-2.0) as f32,
            to: to as f32,
            weight: (width.max(1e-6) * height.max(1e-6)) as f32,
            n_blocks: 1,
            block,
            color,
        };
        if width < 1.0 {
            Shape::Narrow(cell(x0.max(0.0), y0.floor(), y1.ceil().max(y0.floor() + 1.0)))
        } else if height < 1.0 {
            Shape::Thin(cell(y0.max(0.0), x0, x1))
        } else {
            Shape::Exact(ItemRect {
                x0: x0 as f32,
                y0: y0 as f32,
                x1: x1 as f32,
                y1: y1 as f32,
                block,
                color,
            })
        }
    }

    /// Orders by place along the line: non-negative floats order as their bits do.
    fn key(&self) -> (u32, u32) {
        ((self.from + 4.0).max(0.0).to_bits(), self.block)
    }

    fn column(self, canvas: Canvas) -> ItemMark {
        let line = f32::from(self.line);
        self.mark([line, self.from, line + 1.0, self.to], canvas)
    }

    pub(super) fn row(self, canvas: Canvas) -> ItemMark {
        let line = f32::from(self.line);
        self.mark([self.from, line, self.to, line + 1.0], canvas)
    }

    fn mark(self, [x0, y0, x1, y1]: [f32; 4], canvas: Canvas) -> ItemMark {
        let rect = ItemRect {
            x0,
            y0,
            x1,
            y1,
            block: self.block,
            color: self.color,
        };
        ItemMark {
            rect: clip(rect, canvas),
            n_blocks: self.n_blocks,
        }
    }
}

/// Clips a rectangle slightly outside the picture, so that huge coordinates never reach the screen.
#[expect(clippy::cast_possible_truncation, reason = "points on a screen fit f32")]
pub(super) fn clip(rect: ItemRect, canvas: Canvas) -> ItemRect {
    let (right, bottom) = (canvas.width as f32 + 2.0, canvas.height as f32 + 2.0);
    ItemRect {
        x0: rect.x0.clamp(-2.0, right),
        x1: rect.x1.clamp(-2.0, right),
        y0: rect.y0.clamp(-2.0, bottom),
        y1: rect.y1.clamp(-2.0, bottom),
        ..rect
    }
}

/// Merges cells that share pixels: a covered cell is absorbed (the largest gives its colour), the part beyond continues
/// as a new cell.
pub(super) fn merge(cells: Vec<Cell>, mut emit: impl FnMut(Cell)) {
    let mut cells = by_line(cells);
    for line in cells.chunk_by_mut(|a, b| a.line == b.line) {
        if !line.is_sorted_by_key(Cell::key) {
            line.sort_unstable_by_key(Cell::key);
        }
        merge_line(line, &mut emit);
    }
}

/// Cells sorted by line, stable. Blocks come sorted by time, so columns are in order already, and rows need one
/// counting pass.
fn by_line(cells: Vec<Cell>) -> Vec<Cell> {
    if cells.is_sorted_by_key(|cell| cell.line) {
        return cells;
    }
    let n_lines = cells.iter().map(|cell| usize::from(cell.line) + 1).max().unwrap_or(0);
    let mut places = vec![0_u32; n_lines + 1];
    for cell in &cells {
        places[usize::from(cell.line) + 1] += 1;
    }
    for line in 1..places.len() {
        places[line] += places[line - 1];
    }
    let mut sorted = cells.clone();
    for cell in cells {
        let place = &mut places[usize::from(cell.line)];
        sorted[*place as usize] = cell;
        *place += 1;
    }
    sorted
}

fn merge_line(cells: &[Cell], emit: &mut impl FnMut(Cell)) {
    let Some((first, rest)) = cells.split_first() else {
        return;
    };
    let mut open = *first;
    for next in rest {
        if next.from >= open.to - 0.25 {
            emit(open);
            open = *next;
        } else if next.to > open.to + 0.5 {
            emit(open);
            open = Cell { from: open.to, ..*next };
        } else {
            open.n_blocks += 1;
            if next.weight > open.weight {
                (open.weight, open.block, open.color) = (next.weight, next.block, next.color);
            }
        }
    }
    emit(open);
}
