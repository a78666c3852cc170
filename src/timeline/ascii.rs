//! The memory map of a lane as text, for the command line, documents and tests.
//!
//! ```text
//! peak 12 B at step 2
//! |  bb.|
//! |aabb.|      a letter per tensor, `.` reserved but free, `:` free in what a graph's pool was granted,
//! |aa:cc|      `=` free in pages of a range; blank: not reserved, or a range without memory
//! | E R |      under a budget: E evicted, R recomputed, * both, T given up as thrashing, X out of memory
//! ```

use std::fmt::Write as _;

use indexmap::IndexSet;

use highwater_model::units::Bytes;

use super::block::LaneView;
use super::remat::{LaneRemat, RematMarkKind};
use super::viewport::{Canvas, View, Viewport};

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

impl LaneView {
    /// The map in a grid of at least 1 by 1 characters. Each cell shows the block that covers most of it. O(blocks x
    /// cells that each covers).
    pub fn ascii(&self, width: u16, height: u16) -> String {
        let grid = Grid::new(self, width.max(1), height.max(1));
        let peak = self.reserved.max();
        let step = (0..self.reserved.n_steps()).find(|step| self.reserved.at(as_step(*step)) == peak);
        let mut text = format!("peak {} at step {}\n", plain(peak), step.unwrap_or(0));
        for row in grid.cells.chunks(usize::from(width.max(1))) {
            let line: String = row.iter().map(|cell| char::from(cell.letter)).collect();
            writeln!(text, "|{line}|").expect("writing to a string cannot fail");
        }
        if let Some(remat) = self.remat.as_deref().filter(|remat| !remat.marks.is_empty()) {
            let n_steps = as_step(self.reserved.n_steps().max(1));
            writeln!(text, "|{}|", remat_line(remat, n_steps, width.max(1))).expect("writing to a string cannot fail");
        }
        text
    }
}

/// Evictions and recomputations, one letter per column.
fn remat_line(remat: &LaneRemat, n_steps: u32, width: u16) -> String {
    let viewport = Viewport {
        t0: 0.0,
        t1: f64::from(n_steps),
        a0: 0.0,
        a1: 1.0,
    };
    let mut line = vec![' '; usize::from(width)];
    for column in remat.columns(viewport, u32::from(width)) {
        let has = |kind: RematMarkKind| column.count(kind) > 0;
        let is_recomputed = has(RematMarkKind::Rematerialize) || has(RematMarkKind::Sibling);
        line[column.column as usize] = match (has(RematMarkKind::Evict), is_recomputed) {
            _ if has(RematMarkKind::OutOfMemory) => 'X',
            _ if has(RematMarkKind::Thrash) => 'T',
            (true, true) => '*',
            (true, false) => 'E',
            (false, _) => 'R',
        };
    }
    line.into_iter().collect()
}

fn as_step(step: usize) -> u32 {
    u32::try_from(step).unwrap_or(u32::MAX)
}

/// Formats bytes with plain spaces.
fn plain(bytes: u64) -> String {
    Bytes(bytes).to_string().replace('\u{a0}', " ")
}

#[derive(Clone, Copy)]
struct GridCell {
    letter: u8,
    coverage: f64,
}

struct Grid {
    cells: Vec<GridCell>,
    width: u16,
    height: u16,
}

impl Grid {
    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    fn new(lane: &LaneView, width: u16, height: u16) -> Self {
        let empty = GridCell {
            letter: b' ',
            coverage: 0.0,
        };
        let mut grid = Self {
            cells: vec![empty; usize::from(width) * usize::from(height)],
            width,
            height,
        };
        let viewport = Viewport {
            t0: 0.0,
            t1: f64::from(as_step(lane.reserved.n_steps().max(1))),
            a0: 0.0,
            a1: lane.height.get().max(1) as f64,
        };
        let view = View::from(viewport);
        let canvas = Canvas {
            width: f64::from(width),
            height: f64::from(height),
        };
        let place = |(start, end): (u32, u32), (low, high): (u64, u64)| {
            [
                view.x_from_step(f64::from(start), canvas.width),
                viewport.y_from_address(high as f64, canvas.height),
                view.x_from_step(f64::from(end), canvas.width),
                viewport.y_from_address(low as f64, canvas.height),
            ]
        };
        for region in lane.regions.iter().filter(|region| !region.is_paged) {
            let high = region.base.saturating_add(region.bytes.get());
            grid.fill(place((region.start.0, region.end.0), (region.base, high)), b'.', 1e-9);
        }
        let owned_ranges = &lane.owned_ranges;
        for idx in 0..owned_ranges.len() {
            let letter = if owned_ranges.n_pages[idx] > 0 { b'=' } else { b':' };
            let high = owned_ranges.base.at(idx).saturating_add(owned_ranges.bytes.at(idx));
            let rect = place(
                (owned_ranges.start[idx], owned_ranges.end[idx]),
                (owned_ranges.base.at(idx), high),
            );
            grid.fill(rect, letter, 1e-6);
        }
        let mut tensors = IndexSet::new();
        for (idx, subject) in lane.blocks.subject.iter().enumerate() {
            let (rank, _) = tensors.insert_full(*subject);
            let letter = LETTERS[rank % LETTERS.len()];
            grid.fill(lane.rect(idx, view, canvas), letter, 1.0);
        }
        grid
    }

    /// Sets the cells that the rectangle covers more than their present content does. `weight` scales its coverage.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the grid before the cast"
    )]
    fn fill(&mut self, [x0, y0, x1, y1]: [f64; 4], letter: u8, weight: f64) {
        let clamp = |value: f64, most: u16| value.clamp(0.0, f64::from(most)) as u16;
        for row in clamp(y0.floor(), self.height)..clamp(y1.ceil(), self.height) {
            let high = overlap(y0, y1, f64::from(row));
            for column in clamp(x0.floor(), self.width)..clamp(x1.ceil(), self.width) {
                let coverage = overlap(x0, x1, f64::from(column)) * high * weight;
                let cell = &mut self.cells[usize::from(row) * usize::from(self.width) + usize::from(column)];
                if coverage > cell.coverage {
                    *cell = GridCell { letter, coverage };
                }
            }
        }
    }
}

/// The covered part of the cell `at..at + 1`.
fn overlap(low: f64, high: f64, at: f64) -> f64 {
    (high.min(at + 1.0) - low.max(at)).max(0.0)
}
