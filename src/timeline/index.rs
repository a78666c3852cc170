//! Index of rectangles (steps by addresses) by time and by size on a picture.
//!
//! ```text
//! class       life 1, ..1 KiB    life 2..3, ..1 KiB    life 512..1023, ..1 MiB    ...
//! rectangles  . .. .. . ...      - - --  -  --         -----------    ---------
//! ```
//!
//! A class holds the rectangles with equal powers of two of life and bytes. Lives within a class differ by less than a
//! factor of two, so the rectangles that meet a time span start in the span or at most one longest life before it: a
//! binary search finds them and at most as many others. Searches of short lives do not visit long ones, and rectangles
//! of at least a pixel are in few classes.

use super::amounts::Amounts;
use super::viewport::{Canvas, View};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RectIndex {
    /// By (life, size), ascending; none is empty.
    classes: Vec<Class>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Class {
    /// Powers of two of the life and of the bytes: `2^life <= steps < 2^(life + 1)`.
    powers: (u8, u8),
    longest: u32,
    /// Numbers of rectangles, ascending; so are their starts.
    ids: Vec<u32>,
}

/// Scanning this many ends costs as much as finding one rectangle by class and sorting it in.
const SCANNED: usize = 32;

/// The exponent of the largest power of two that is not above a number; 0 for 0.
fn power(number: u64) -> u8 {
    u8::try_from(number.max(1).ilog2()).unwrap_or(u8::MAX)
}

impl RectIndex {
    /// `start` ascends. O(rectangles log rectangles).
    pub(super) fn new(start: &[u32], end: &[u32], bytes: &Amounts) -> Self {
        // 32 powers of lives by 64 powers of bytes.
        let mut buckets: Vec<Class> = Vec::new();
        let mut place = vec![usize::MAX; 32 * 64];
        for (id, ((start, end), bytes)) in (0_u32..).zip(start.iter().zip(end).zip(bytes.iter())) {
            let life = end.saturating_sub(*start);
            let powers = (power(u64::from(life)), power(bytes));
            let slot = &mut place[usize::from(powers.0) * 64 + usize::from(powers.1)];
            if *slot == usize::MAX {
                *slot = buckets.len();
                buckets.push(Class {
                    powers,
                    longest: 0,
                    ids: Vec::new(),
                });
            }
            let class = &mut buckets[*slot];
            class.longest = class.longest.max(life);
            class.ids.push(id);
        }
        for class in &mut buckets {
            class.ids.shrink_to_fit();
        }
        buckets.sort_unstable_by_key(|class| class.powers);
        Self { classes: buckets }
    }
}

/// Powers of two of the smallest life and bytes that a search visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Least {
    life: u8,
    size: u8,
}

impl Least {
    /// Rectangles that may be at least so many pixels wide and high. On a time axis a life of any length may be wide.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a view's steps and bytes are positive; casts of floats saturate"
    )]
    pub(super) fn pixels(pixels: f64, view: &View<'_>, canvas: Canvas) -> Self {
        let least = |span: f64, points: f64| power((span / points.max(1.0) * pixels).floor().max(1.0) as u64);
        Self {
            life: match view.axis() {
                Some(_) => 0,
                None => least(view.steps(), canvas.width),
            },
            size: least(view.bytes(), canvas.height),
        }
    }
}

/// Rectangles as columns, sorted by start and then display address, with an index by time and size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RectColumns {
    pub start: Vec<u32>,
    /// Exclusive; above `start`.
    pub end: Vec<u32>,
    pub base: Amounts,
    pub bytes: Amounts,
    pub(super) index: RectIndex,
}

impl RectColumns {
    /// `start` ascends. O(rectangles log rectangles).
    pub(super) fn new(start: Vec<u32>, end: Vec<u32>, base: Amounts, bytes: Amounts) -> Self {
        Self {
            index: RectIndex::new(&start, &end, &bytes),
            start,
            end,
            base,
            bytes,
        }
    }

    /// From rows sorted by start; `rect` returns start, end, display address and bytes.
    pub(super) fn of<T>(rows: &[T], rect: impl Fn(&T) -> (u32, u32, u64, u64)) -> Self {
        let rects = || rows.iter().map(&rect);
        Self::new(
            rects().map(|(start, ..)| start).collect(),
            rects().map(|(_, end, ..)| end).collect(),
            Amounts::of(rects().map(|(.., base, _)| base)),
            Amounts::of(rects().map(|(.., bytes)| bytes)),
        )
    }

    pub fn len(&self) -> usize {
        self.start.len()
    }

    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Number of rectangles that meet the steps `t0..t1` at any address. O(classes log rectangles + twice those that
    /// are alive where the steps begin).
    pub(super) fn count(&self, t0: f64, t1: f64) -> usize {
        // Those that start before `t0` meet the steps where they end behind it; all that start within do.
        let older = self.met((t0, t0.min(t1)), Least::default()).count();
        older + self.born(t1).saturating_sub(self.born(t0.min(t1)))
    }

    /// Number of rectangles that start before a step.
    pub(super) fn born(&self, t1: f64) -> usize {
        self.start.partition_point(|start| f64::from(*start) < t1)
    }

    /// Rectangles of large enough classes that meet the steps `t0..t1`, class by class. O(classes log rectangles +
    /// twice the results).
    pub(super) fn met(&self, steps: (f64, f64), least: Least) -> impl Iterator<Item = usize> {
        let (t0, t1) = steps;
        let is_large = move |class: &&Class| class.powers.0 >= least.life && class.powers.1 >= least.size;
        let classes = self.index.classes.iter().filter(is_large);
        classes.flat_map(move |class| {
            let first = t0 - f64::from(class.longest);
            let low = class
                .ids
                .partition_point(|id| f64::from(self.start[*id as usize]) < first);
            let after = &class.ids[low..];
            let high = after.partition_point(|id| f64::from(self.start[*id as usize]) < t1);
            let within = after[..high].iter().map(|id| *id as usize);
            within.filter(move |id| f64::from(self.end[*id]) > t0)
        })
    }

    /// Rectangles that meet the steps `t0..t1`, ascending. O(results log results + classes log rectangles).
    pub(super) fn met_in_order(&self, steps: (f64, f64)) -> Vec<usize> {
        let mut met = Vec::new();
        self.each_met(steps, |id| met.push(id));
        met
    }

    /// Visits the results of [`Self::met_in_order`].
    pub(super) fn each_met(&self, steps: (f64, f64), mut visit: impl FnMut(usize)) {
        let (t0, t1) = steps;
        let born = self.born(t1);
        // If many of those born are alive, scanning all ends in order is faster than sorting the results of the
        // classes.
        if born <= self.count(t0, t1).saturating_mul(SCANNED) {
            for (id, end) in self.end[..born].iter().enumerate() {
                if f64::from(*end) > t0 {
                    visit(id);
                }
            }
            return;
        }
        let mut met: Vec<usize> = self.met(steps, Least::default()).collect();
        met.sort_unstable();
        met.into_iter().for_each(visit);
    }

    /// Rectangles that contain a step, ascending.
    pub fn alive(&self, step: f64) -> Vec<usize> {
        // Starts and ends are whole, so the next float admits only rectangles that start at the step or before.
        let mut alive: Vec<usize> = self.met((step, step.next_up()), Least::default()).collect();
        alive.sort_unstable();
        alive
    }

    /// The rectangles at an address on a step, class by class.
    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    pub(super) fn hits(&self, step: f64, address: f64) -> impl Iterator<Item = usize> {
        let holds = move |idx: &usize| {
            let base = self.base.at(*idx) as f64;
            (base..base + self.bytes.at(*idx) as f64).contains(&address)
        };
        self.met((step, step.next_up()), Least::default()).filter(holds)
    }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "small whole numbers")]
mod tests {
    use proptest::prelude::*;

    use super::super::viewport::Viewport;
    use super::{Canvas, Least, RectColumns};

    proptest! {
        #[test]
        fn the_index_equals_a_scan(
            mut rects in prop::collection::vec((0_u32..2_000, 1_u32..700, 0_u64..9_000, 1_u64..3_000), 0..120),
            (from, steps) in (0.0..2_500.0, 0.1..900.0),
            pixels in 1.0..6.0,
        ) {
            rects.sort_unstable();
            let start: Vec<u32> = rects.iter().map(|rect| rect.0).collect();
            let end: Vec<u32> = rects.iter().map(|rect| rect.0 + rect.1).collect();
            let base: Vec<u64> = rects.iter().map(|rect| rect.2).collect();
            let bytes: Vec<u64> = rects.iter().map(|rect| rect.3).collect();
            let columns = RectColumns::of(&rects, |rect| (rect.0, rect.0 + rect.1, rect.2, rect.3));
            let (t0, t1) = (from, from + steps);
            let meets = |id: &usize| f64::from(start[*id]) < t1 && f64::from(end[*id]) > t0;
            let wanted: Vec<usize> = (0..rects.len()).filter(meets).collect();
            prop_assert_eq!(columns.count(t0, t1), wanted.len());
            prop_assert_eq!(columns.met_in_order((t0, t1)), wanted.clone());
            let viewport = Viewport { t0, t1, a0: 0.0, a1: 12_000.0 };
            let canvas = Canvas { width: 90.0, height: 60.0 };
            let large: Vec<usize> = columns.met((t0, t1), Least::pixels(pixels, &viewport.into(), canvas)).collect();
            let is_large = |id: &usize| {
                f64::from(end[*id] - start[*id]) >= steps / canvas.width * pixels
                    && bytes[*id] as f64 >= viewport.bytes() / canvas.height * pixels
            };
            for id in wanted.into_iter().filter(is_large) {
                prop_assert!(large.contains(&id), "rectangle {} is large", id);
            }
            let step = from.floor();
            let alive: Vec<usize> =
                (0..rects.len()).filter(|id| f64::from(start[*id]) <= step && f64::from(end[*id]) > step).collect();
            prop_assert_eq!(columns.alive(step), alive.clone());
            for address in [0.0, 512.0, 4_000.5] {
                let first = alive.iter().copied().find(|id| {
                    (base[*id] as f64..(base[*id] + bytes[*id]) as f64).contains(&address)
                });
                prop_assert_eq!(columns.hits(step, address).min(), first);
                let last = alive.iter().copied().rfind(|id| {
                    (base[*id] as f64..(base[*id] + bytes[*id]) as f64).contains(&address)
                });
                prop_assert_eq!(columns.hits(step, address).max(), last);
            }
        }
    }
}
