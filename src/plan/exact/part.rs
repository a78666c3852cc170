//! One partition as the search sees it: flat arrays of shapes, sections and neighbors, heights in units of the
//! greatest common divisor.
//!
//! Time is cut into *sections*. Where every shape is one rectangle, only the sections matter in which no other
//! section's shapes are all contained: those that begin with a birth and end with an end (the maximal cliques of the
//! interval graph), because two rectangles meet if they meet in one of these. Otherwise every cut is kept.
//! Complexity: O(sections x shapes live at once + pairs that meet). Beyond [`MOST_SHAPES`], [`MOST_COVER`]
//! and [`MOST_PAIRS`] there is no [`Part`] and so no search.

use super::height::Height;
use super::lists::Lists;
use crate::progress::{Cancelled, Progress};
use crate::workload::Shapes;

/// Most pairs of a section and a shape that is live in it.
const MOST_COVER: usize = 32_000_000;

/// Most ordered pairs of shapes that meet.
const MOST_PAIRS: usize = 64_000_000;

/// Most shapes of a partition in which one has gaps: all pairs are tried.
const MOST_WITH_GAPS: usize = 6_000;

/// Most shapes, so that preparing them takes no time that anyone would notice.
const MOST_SHAPES: usize = 50_000;

/// A run of sections on which a shape is `size` high.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span<T> {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) size: T,
}

/// One partition. Shapes are numbered by ascending first section.
#[derive(Debug)]
pub(super) struct Part<T> {
    /// Bytes of one unit of height.
    pub(super) unit: u64,
    /// The problem's item of each shape.
    pub(super) items: Vec<u32>,
    /// Where each shape is live, and how high.
    pub(super) spans: Lists<Span<T>>,
    /// The first section of each shape.
    pub(super) lower: Vec<usize>,
    /// The end of each shape's sections.
    pub(super) upper: Vec<usize>,
    /// The largest size of each shape, in bytes and not rounded up: what ends within the capacity.
    pub(super) bytes: Vec<u64>,
    /// Divides every height that a plan can have, in bytes.
    pub(super) grain: u64,
    /// No plan is lower, in bytes.
    pub(super) bound: u64,
    /// Divisors of the offsets, in units; empty where all are 1.
    pub(super) alignments: Vec<T>,
    /// Offsets that are given; empty where none is.
    pub(super) fixed: Vec<Option<T>>,
    /// Shapes that can stand in for each other have the same number.
    pub(super) twins: Vec<u32>,
    /// The shapes that are live in each section.
    pub(super) live: Lists<u32>,
    /// The shapes that each one meets, with the distance that the other keeps if it stands above.
    pub(super) neighbors: Lists<(u32, T)>,
    /// For each section, the first shape that begins there or later; one more at the end.
    pub(super) starts: Vec<usize>,
    /// The sum of sizes in each section.
    pub(super) totals: Vec<T>,
    /// Whether a shape has sections in its range in which it is not live.
    pub(super) has_gaps: bool,
    /// Whether a size was rounded up.
    pub(super) is_padded: bool,
}

impl<T: Height> Part<T> {
    pub(super) fn n_shapes(&self) -> usize {
        self.items.len()
    }

    pub(super) fn n_sections(&self) -> usize {
        self.totals.len()
    }

    /// The next offset at which a shape may stand, from `offset` on.
    pub(super) fn align_up(&self, shape: usize, offset: T) -> T {
        match self.alignments.get(shape) {
            Some(alignment) => offset.align_up(*alignment),
            None => offset,
        }
    }

    pub(super) fn fixed(&self, shape: usize) -> Option<T> {
        self.fixed.get(shape).copied().flatten()
    }

    /// Whether the shapes are rectangles that may stand anywhere.
    pub(super) fn is_plain(&self) -> bool {
        !self.has_gaps
            && !self.is_padded
            && self.alignments.is_empty()
            && self.fixed.is_empty()
            && self.spans.values.len() == self.items.len()
    }
}

/// Builds the arrays of a partition's items, all of which have pieces; `None` where it is too large to search.
pub(super) fn build<T: Height>(
    shapes: &Shapes,
    mut items: Vec<u32>,
    progress: &Progress<'_>,
) -> Result<Option<Part<T>>, Cancelled> {
    if items.len() > MOST_SHAPES {
        return Ok(None);
    }
    let step = common_alignment(shapes, &items);
    let unit = unit(shapes, &items);
    let is_shaped = items.iter().any(|item| shapes.items[*item as usize].n_pieces > 1);
    let times = section_times(shapes, &items, is_shaped);
    let section = |time: u32| times.partition_point(|start| *start < time);
    items.sort_by_cached_key(|item| {
        let hull = &shapes.items[*item as usize];
        (section(hull.lower), section(hull.upper), *item)
    });
    let (spans, cover) = spans(shapes, &items, &times, (step, unit));
    if cover > MOST_COVER {
        return Ok(None);
    }
    let hull = |item: &u32| &shapes.items[*item as usize];
    let lower: Vec<usize> = items.iter().map(|item| section(hull(item).lower)).collect();
    let upper: Vec<usize> = items.iter().map(|item| section(hull(item).upper)).collect();
    let has_alignment = items.iter().any(|item| !unit.is_multiple_of(hull(item).alignment));
    let scaled = |item: &u32| T::of((hull(item).alignment / gcd(unit, hull(item).alignment)).max(1));
    let alignments = if has_alignment {
        items.iter().map(scaled).collect()
    } else {
        Vec::new()
    };
    let fixed_of = |item: &u32| hull(item).fixed.map(|offset| T::of(offset / unit));
    let has_fixed = items.iter().any(|item| hull(item).fixed.is_some());
    let fixed = if has_fixed {
        items.iter().map(fixed_of).collect()
    } else {
        Vec::new()
    };
    let (live, totals) = live_lists(&spans, times.len());
    let bytes: Vec<u64> = items.iter().map(|item| hull(item).size).collect();
    progress.check()?;
    let mut part = Part {
        unit,
        grain: bytes.iter().fold(unit, |grain, size| gcd(grain, *size)),
        bound: 0,
        is_padded: bytes.iter().any(|size| size % step != 0),
        bytes,
        twins: twins(shapes, &items, &lower, &upper),
        starts: (0..=times.len())
            .map(|time| lower.partition_point(|start| *start < time))
            .collect(),
        has_gaps: has_gaps(&spans, items.len()),
        neighbors: Lists::new(),
        items,
        spans,
        lower,
        upper,
        alignments,
        fixed,
        live,
        totals,
    };
    part.bound = bound(shapes, &part);
    Ok(neighbor_lists(shapes, &part, step, progress)?.map(|neighbors| {
        part.neighbors = neighbors;
        part
    }))
}

/// The sections of each shape's pieces, and how many there are in sum.
fn spans<T: Height>(
    shapes: &Shapes,
    items: &[u32],
    times: &[u32],
    (step, unit): (u64, u64),
) -> (Lists<Span<T>>, usize) {
    let section = |time: u32| times.partition_point(|start| *start < time);
    let mut spans = Lists::new();
    let mut cover = 0;
    for item in items {
        for piece in shapes.pieces_of(*item) {
            let span = Span {
                lower: section(piece.lower),
                upper: section(piece.upper),
                size: T::of(piece.size.next_multiple_of(step) / unit),
            };
            cover += span.upper - span.lower;
            spans.values.push(span);
        }
        spans.close();
    }
    (spans, cover)
}

/// What divides every offset. Nothing above a shape can use the bytes between its end and the next multiple, so sizes
/// are rounded up to multiples, except where a shape has to end within the capacity.
fn common_alignment(shapes: &Shapes, items: &[u32]) -> u64 {
    let alignments = items.iter().map(|item| shapes.items[*item as usize].alignment);
    alignments.fold(0, gcd).max(1)
}

/// The unit in which all heights that matter are whole: it divides every size (rounded up) and fixed offset, and for
/// every alignment one divides the other, so that rounding up stays within the multiples.
pub(super) fn unit(shapes: &Shapes, items: &[u32]) -> u64 {
    let step = common_alignment(shapes, items);
    let mut unit = 0;
    for item in items {
        unit = gcd(unit, shapes.items[*item as usize].fixed.unwrap_or(0));
        for piece in shapes.pieces_of(*item) {
            unit = gcd(unit, piece.size.next_multiple_of(step));
        }
    }
    let mut alignments: Vec<u64> = items
        .iter()
        .map(|item| shapes.items[*item as usize].alignment)
        .collect();
    alignments.sort_unstable();
    alignments.dedup();
    loop {
        let before = unit;
        for alignment in &alignments {
            if unit % alignment != 0 {
                unit = gcd(unit, *alignment);
            }
        }
        if unit == before {
            return unit.max(1);
        }
    }
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    x
}

/// The largest sum of sizes in a section, of which only the highest shape's need not be rounded up; or the end of a
/// fixed shape, or the largest size.
fn bound<T: Height>(shapes: &Shapes, part: &Part<T>) -> u64 {
    let mut most_padding = vec![0; part.n_sections()];
    let mut bound = 0;
    for (shape, item) in part.items.iter().enumerate() {
        let fixed = shapes.items[*item as usize].fixed.unwrap_or(0);
        bound = bound.max(fixed + part.bytes[shape]);
        for (span, piece) in part.spans.of(shape).iter().zip(shapes.pieces_of(*item)) {
            let padding = span.size.wide() * part.unit - piece.size;
            for most in &mut most_padding[span.lower..span.upper] {
                *most = padding.max(*most);
            }
        }
    }
    let sums = part.totals.iter().map(|total| total.wide() * part.unit);
    sums.zip(most_padding)
        .map(|(sum, padding)| sum - padding)
        .fold(bound, u64::max)
}

/// The first step of each section that is kept.
fn section_times(shapes: &Shapes, items: &[u32], is_shaped: bool) -> Vec<u32> {
    let mut cuts: Vec<(u32, bool)> = Vec::new();
    for item in items {
        for piece in shapes.pieces_of(*item) {
            cuts.push((piece.lower, true));
            cuts.push((piece.upper, false));
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    if is_shaped {
        cuts.dedup_by_key(|cut| cut.0);
        return cuts.into_iter().map(|cut| cut.0).collect();
    }
    // Ends come before births on the same step: a birth that an end follows begins a section that counts.
    let pairs = cuts.windows(2).filter(|pair| pair[0].1 && !pair[1].1);
    pairs.map(|pair| pair[0].0).collect()
}

fn live_lists<T: Height>(spans: &Lists<Span<T>>, n_sections: usize) -> (Lists<u32>, Vec<T>) {
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); n_sections];
    let mut totals = vec![T::ZERO; n_sections];
    for (number, shape) in (0_u32..).zip(0..spans.starts().len() - 1) {
        for span in spans.of(shape) {
            for section in span.lower..span.upper {
                lists[section].push(number);
                totals[section] += span.size;
            }
        }
    }
    let mut live = Lists::new();
    for mut list in lists {
        live.values.append(&mut list);
        live.close();
    }
    (live, totals)
}

/// For each shape the others that are live in a section of its own; `None` where there are too many.
fn neighbor_lists<T: Height>(
    shapes: &Shapes,
    part: &Part<T>,
    step: u64,
    progress: &Progress<'_>,
) -> Result<Option<Lists<(u32, T)>>, Cancelled> {
    let n_shapes = part.n_shapes();
    if part.has_gaps && n_shapes > MOST_WITH_GAPS {
        return Ok(None);
    }
    let later = |shape: usize| {
        let first = part.starts[part.lower[shape] + 1];
        first..part.starts[part.upper[shape]].max(first)
    };
    let mut lists: Lists<(u32, T)> = Lists::new();
    if !part.has_gaps {
        let met = |shape: usize| part.live.of(part.lower[shape]).len() - 1 + later(shape).len();
        let n_pairs = (0..n_shapes).map(met).sum();
        if n_pairs > MOST_PAIRS {
            return Ok(None);
        }
        lists.values.reserve_exact(n_pairs);
    }
    let mut found: Vec<u32> = Vec::new();
    for (number, shape) in (0_u32..).zip(0..n_shapes) {
        progress.check()?;
        found.clear();
        let (lower, upper) = (part.lower[shape], part.upper[shape]);
        if part.has_gaps {
            found.extend((0_u32..).take(part.starts[upper]));
        } else {
            found.extend(part.live.of(lower));
            found.extend((0_u32..).take(later(shape).end).skip(later(shape).start));
        }
        for other in &found {
            let distance = match (shapes.pieces_of(part.items[shape]), part.has_gaps) {
                ([piece], false) => piece.size,
                _ => shapes.separation(part.items[shape], part.items[*other as usize]),
            };
            if *other != number && distance > 0 {
                lists
                    .values
                    .push((*other, T::of(distance.next_multiple_of(step) / part.unit)));
            }
        }
        lists.close();
        if lists.values.len() > MOST_PAIRS {
            return Ok(None);
        }
    }
    Ok(Some(lists))
}

/// Equal numbers for shapes that are equal in everything and may stand anywhere.
fn twins(shapes: &Shapes, items: &[u32], lower: &[usize], upper: &[usize]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    let key = |shape: &usize| {
        let item = &shapes.items[items[*shape] as usize];
        let is_single = item.fixed.is_none() && item.n_pieces == 1;
        (!is_single, lower[*shape], upper[*shape], item.size, item.alignment)
    };
    order.sort_by_key(|shape| (key(shape), *shape));
    let mut twins = vec![0; items.len()];
    let mut number = 0;
    for pair in order.windows(2) {
        if key(&pair[0]).0 || key(&pair[0]) != key(&pair[1]) {
            number += 1;
        }
        twins[pair[1]] = number;
    }
    twins
}

fn has_gaps<T: Height>(spans: &Lists<Span<T>>, n_shapes: usize) -> bool {
    (0..n_shapes).any(|shape| spans.of(shape).windows(2).any(|pair| pair[0].upper < pair[1].lower))
}
