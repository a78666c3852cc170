//! Rectangles of a lane for the graphics device: rows of whole numbers in buffers that never change.
//!
//! In: a lane's blocks or gaps. Out: their rows, class by class (so that rectangles of similar life and size are
//! adjacent); and for a view the ranges of rows that meet it, and whether they hold rectangles larger or smaller than a
//! pixel. Ranges outside the view are not visited, nor are passes over certainly large or certainly small ones.
//!
//! ```text
//! row    start | end | base, low half | bytes, low half | base, bits 32..48, bytes, bits 32..48
//! ```

use std::ops::Range;

use super::block::LaneView;
use super::index::{ClassPart, RectColumns};
use super::viewport::{Canvas, Viewport};

/// Rows hold addresses below this.
pub const MOST_ADDRESS: u64 = 1 << 48;

/// Sizes this close to a pixel count as both larger and smaller, because devices compute with fewer digits.
const DOUBT: f64 = 1.0 / 256.0;

/// Blocks or gaps of a lane, class by class.
#[derive(Clone, Copy)]
pub struct Rects<'a> {
    columns: &'a RectColumns,
}

/// A run of rectangles in the order of classes that may meet a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RectRun {
    pub range: Range<usize>,
    /// Whether any may be at least a pixel wide and high.
    pub has_large: bool,
    /// Whether any may be narrower or lower than a pixel.
    pub has_small: bool,
}

impl LaneView {
    pub fn block_rects(&self) -> Rects<'_> {
        Rects { columns: &self.blocks }
    }

    pub fn gap_rects(&self) -> Rects<'_> {
        Rects { columns: &self.gaps }
    }
}

impl<'a> Rects<'a> {
    pub fn len(self) -> usize {
        self.columns.len()
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Numbers of rectangles; `range` counts in the order of classes. O(classes + results).
    pub fn numbers(self, range: Range<usize>) -> impl Iterator<Item = usize> + 'a {
        self.columns.index.in_classes(range)
    }

    /// Rows; `range` counts in the order of classes, addresses are below [`MOST_ADDRESS`]. O(classes + results).
    pub fn rows(self, range: Range<usize>) -> impl Iterator<Item = [u32; 5]> + 'a {
        let columns = self.columns;
        self.numbers(range).map(move |idx| {
            let (base, bytes) = (columns.base.at(idx), columns.bytes.at(idx));
            let highs = high(base) & 0xffff | high(bytes) << 16;
            [columns.start[idx], columns.end[idx], low(base), low(bytes), highs]
        })
    }

    /// The runs that may meet a view drawn on so many pixels: all rectangles that do, and at most as many others. Runs
    /// ascend; adjacent runs differ in their flags. O(classes log rectangles).
    pub fn met(self, view: &Viewport, canvas: Canvas) -> Vec<RectRun> {
        let (step, byte) = (canvas.width / view.steps(), canvas.height / view.bytes());
        // Rounding to the nearest pixel may move rectangles by half a pixel.
        let margin = 1.0 / step;
        let mut runs: Vec<RectRun> = Vec::new();
        for part in self.columns.parts((view.t0 - margin, view.t1 + margin)) {
            let run = run_of(part, step, byte);
            match runs.last_mut() {
                Some(last) if last.range.end == run.range.start && last.is_like(&run) => last.range.end = run.range.end,
                _ => runs.push(run),
            }
        }
        runs
    }
}

impl RectRun {
    fn is_like(&self, other: &Self) -> bool {
        (self.has_large, self.has_small) == (other.has_large, other.has_small)
    }
}

/// `step` and `byte` are their sizes in pixels.
fn run_of(part: ClassPart, step: f64, byte: f64) -> RectRun {
    let is_at_least = |least: f64, scale: f64| least * scale >= 1.0 + DOUBT;
    let is_below = |most: f64, scale: f64| most * scale < 1.0 - DOUBT;
    RectRun {
        has_large: !(is_below(part.steps.1, step) || is_below(part.bytes.1, byte)),
        has_small: !(is_at_least(part.steps.0, step) && is_at_least(part.bytes.0, byte)),
        range: part.range,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
const fn low(number: u64) -> u32 {
    number as u32
}

const fn high(number: u64) -> u32 {
    (number >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::super::index::{ClassPart, RectColumns};
    use super::{Canvas, RectRun, Rects, Viewport, run_of};

    #[test]
    fn rows_hold_the_halves_of_addresses() {
        let rows = [
            (3, 5, 0x1_2345_6789, 7),
            (4, 900, 0xffff_ffff_ffff, 0x2_0000_0001),
            (9, 10, 0, 7),
        ];
        let columns = RectColumns::of(&rows, |row| *row);
        let rects = Rects { columns: &columns };
        let order: Vec<usize> = rects.numbers(0..rects.len()).collect();
        assert_eq!(order, [2, 0, 1], "class by class");
        let rows: Vec<[u32; 5]> = rects.rows(1..3).collect();
        assert_eq!(rows, [[3, 5, 0x2345_6789, 7, 1], [4, 900, 0xffff_ffff, 1, 0x0002_ffff]]);
        let view = Viewport {
            t0: 0.0,
            t1: 20.0,
            a0: 0.0,
            a1: 64.0,
        };
        let canvas = Canvas {
            width: 20.0,
            height: 64.0,
        };
        // Only the last is certainly larger than a pixel both ways: the others live about as long as a pixel is wide.
        let run = |range, has_small| RectRun {
            range,
            has_large: true,
            has_small,
        };
        assert_eq!(rects.met(&view, canvas), [run(0..1, true), run(1..3, false)]);
    }

    #[test]
    fn a_class_is_large_or_small_only_beyond_rounding() {
        let cases = [
            ((1.0, 1.0), (1.0, 2.0), (2.0, 2.0), (true, false)),
            ((1.0, 1.0), (1.0, 2.0), (1.0, 2.0), (true, true)),
            ((1.0, 1.0), (1.0, 2.0), (0.9, 9.0), (false, true)),
            ((2.0, 3.0), (0.0, 2.0), (9.0, 9.0), (true, true)),
            ((2.0, 3.0), (4.0, 8.0), (9.0, 0.1), (false, true)),
            ((2.0, 3.0), (4.0, 8.0), (0.4, 9.0), (true, true)),
        ];
        for (steps, bytes, scale, wanted) in cases {
            let range = 0..1;
            let run = run_of(ClassPart { range, steps, bytes }, scale.0, scale.1);
            assert_eq!((run.has_large, run.has_small), wanted, "{steps:?} {bytes:?} {scale:?}");
        }
    }
}
