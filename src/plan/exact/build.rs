//! Builds the flat arrays of a partition.
//!
//! Time is divided into *sections*. Where every shape is one rectangle, only sections matter whose set of shapes
//! contains no other section's set: those that begin with a birth and end with an end (the maximal cliques of the
//! interval graph), because two rectangles overlap in time iff they share one of these. Otherwise every section is
//! kept. O(sections x live shapes + overlapping pairs, where a shape is more than one rectangle). Beyond
//! [`MAX_SHAPES`], [`MAX_COVER`] and [`MAX_PAIRS`] there is no [`Part`] and no search.
//!
//! One partition is built at a time. At the limits it takes 64 MB for the cover and as much for each of the two lanes,
//! at most 128 MB for pairs, and at most 24 MB per lane for failed states: less than 400 MB.

use super::flags::CancelCheck;
use super::height::Height;
use super::lists::Lists;
use super::part::{Part, Span};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::Shapes;

/// Most pairs of a section and a live shape.
const MAX_COVER: usize = 16_000_000;

/// Most stored ordered pairs of overlapping shapes.
const MAX_PAIRS: usize = 8_000_000;

/// Most shapes of a partition with gaps: all pairs are tested.
const MAX_WITH_GAPS: usize = 6_000;

/// Most shapes, which bounds the time of preparation.
const MAX_SHAPES: usize = 50_000;

/// Builds the arrays of a partition's items, all of which have pieces; `None` where it is too large to search.
pub(super) fn build<T: Height>(
    shapes: &Shapes,
    items: &[u32],
    progress: &Progress<'_>,
) -> Result<Option<Part<T>>, Cancelled> {
    let mut check = CancelCheck::new(progress);
    let Some(mut part) = outline::<T>(shapes, items, &mut check)? else {
        return Ok(None);
    };
    if !part.is_rectangles() {
        let Some(pairs) = pairs(shapes, &part, &mut check)? else {
            return Ok(None);
        };
        part.pairs = pairs;
    }
    Ok(Some(part))
}

/// A lower bound of the height from sums, in bytes; 0 where the partition is too large to search.
pub(super) fn least_height(shapes: &Shapes, items: &[u32], progress: &Progress<'_>) -> Result<u64, Cancelled> {
    let part = outline::<u64>(shapes, items, &mut CancelCheck::new(progress))?;
    Ok(part.map_or(0, |part| part.bound))
}

/// Everything except the pairs.
fn outline<T: Height>(
    shapes: &Shapes,
    items: &[u32],
    check: &mut CancelCheck<'_>,
) -> Result<Option<Part<T>>, Cancelled> {
    if items.len() > MAX_SHAPES {
        return Ok(None);
    }
    let (step, unit) = (common_alignment(shapes, items), unit(shapes, items));
    let is_shaped = items.iter().any(|item| shapes.items[*item as usize].n_pieces > 1);
    let times = section_times(shapes, items, is_shaped);
    let section = |time: u32| times.partition_point(|start| *start < time);
    let mut items = items.to_vec();
    items.sort_by_cached_key(|item| {
        let hull = &shapes.items[*item as usize];
        (section(hull.lower), section(hull.upper), *item)
    });
    let hull = |item: &u32| &shapes.items[*item as usize];
    let (spans, cover) = spans(shapes, &items, &times, step, unit);
    check.spend(items.len() * 64)?;
    if cover > MAX_COVER {
        return Ok(None);
    }
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
    let (live, totals) = live_lists(&spans, times.len(), check)?;
    let bytes: Vec<u64> = items.iter().map(|item| hull(item).size).collect();
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
        pairs: Lists::new(),
        peaks: peaks(&lower, &upper, &totals, check)?,
        items,
        spans,
        lower,
        upper,
        alignments,
        fixed,
        live,
        totals,
    };
    part.bound = bound(shapes, &part, check)?;
    Ok(Some(part))
}

/// The sections of each shape's pieces, and their total number.
fn spans<T: Height>(shapes: &Shapes, items: &[u32], times: &[u32], step: u64, unit: u64) -> (Lists<Span<T>>, usize) {
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

/// A divisor of every offset. Bytes between the end of a shape and the next multiple are unusable, so sizes are rounded
/// up to multiples, except where a shape must end within the capacity.
fn common_alignment(shapes: &Shapes, items: &[u32]) -> u64 {
    let alignments = items.iter().map(|item| shapes.items[*item as usize].alignment);
    alignments.fold(0, gcd).max(1)
}

/// The unit of all heights: it divides every size (rounded up) and fixed offset, and for every alignment one divides
/// the other, so that rounding up stays within the multiples.
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

/// The largest sum of sizes in a section, where only the highest shape is not rounded up; or the end of a fixed shape,
/// or the largest size.
fn bound<T: Height>(shapes: &Shapes, part: &Part<T>, check: &mut CancelCheck<'_>) -> Result<u64, Cancelled> {
    let mut most_padding = vec![0; part.n_sections()];
    let mut bound = 0;
    for (shape, item) in part.items.iter().enumerate() {
        let fixed = shapes.items[*item as usize].fixed.unwrap_or(0);
        bound = bound.max(fixed + part.bytes[shape]);
        for (span, piece) in part.spans.of(shape).iter().zip(shapes.pieces_of(*item)) {
            let padding = span.size.wide() * part.unit - piece.size;
            if padding == 0 {
                continue;
            }
            check.spend(span.upper - span.lower)?;
            for most in &mut most_padding[span.lower..span.upper] {
                *most = padding.max(*most);
            }
        }
    }
    let sums = part.totals.iter().map(|total| total.wide() * part.unit);
    let sums = sums.zip(most_padding).map(|(sum, padding)| sum - padding);
    Ok(sums.fold(bound, u64::max))
}

/// The first step of each kept section.
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
    // Ends come before births on the same step: a birth followed by an end begins a section that counts.
    let pairs = cuts.windows(2).filter(|pair| pair[0].1 && !pair[1].1);
    pairs.map(|pair| pair[0].0).collect()
}

/// The shapes of each section, and the sum of their sizes.
fn live_lists<T: Height>(
    spans: &Lists<Span<T>>,
    n_sections: usize,
    check: &mut CancelCheck<'_>,
) -> Result<(Lists<u32>, Vec<T>), Cancelled> {
    let mut totals = vec![T::ZERO; n_sections];
    let mut counts = vec![0; n_sections];
    for span in &spans.values {
        check.spend(span.upper - span.lower)?;
        for section in span.lower..span.upper {
            counts[section] += 1;
            totals[section] += span.size;
        }
    }
    let (mut live, mut next) = Lists::of_lengths(&counts);
    for (number, shape) in (0_u32..).zip(0..spans.starts().len() - 1) {
        for span in spans.of(shape) {
            check.spend(span.upper - span.lower)?;
            for next in &mut next[span.lower..span.upper] {
                live.values[*next] = number;
                *next += 1;
            }
        }
    }
    Ok((live, totals))
}

/// The largest total in the range of each shape.
fn peaks<T: Height>(
    lower: &[usize],
    upper: &[usize],
    totals: &[T],
    check: &mut CancelCheck<'_>,
) -> Result<Vec<T>, Cancelled> {
    let mut peaks = Vec::with_capacity(lower.len());
    for (lower, upper) in lower.iter().zip(upper) {
        check.spend(upper - lower)?;
        peaks.push(totals[*lower..*upper].iter().max().copied().unwrap_or(T::ZERO));
    }
    Ok(peaks)
}

/// For each shape the others that are live in one of its sections; `None` where there are too many.
fn pairs<T: Height>(
    shapes: &Shapes,
    part: &Part<T>,
    check: &mut CancelCheck<'_>,
) -> Result<Option<Lists<(u32, T)>>, Cancelled> {
    let n_shapes = part.n_shapes();
    if part.has_gaps && n_shapes > MAX_WITH_GAPS {
        return Ok(None);
    }
    let step = common_alignment(shapes, &part.items);
    let mut lists: Lists<(u32, T)> = Lists::new();
    let mut found: Vec<u32> = Vec::new();
    for (number, shape) in (0_u32..).zip(0..n_shapes) {
        found.clear();
        let (lower, upper) = (part.lower[shape], part.upper[shape]);
        if part.has_gaps {
            found.extend((0_u32..).take(part.starts[upper]));
        } else {
            let first = part.starts[lower + 1];
            found.extend(part.live.of(lower));
            found.extend((0_u32..).take(part.starts[upper]).skip(first));
        }
        let n_pieces = part.spans.of(shape).len();
        for other in &found {
            check.spend(n_pieces + part.spans.of(*other as usize).len())?;
            let distance = match (shapes.pieces_of(part.items[shape]), part.has_gaps) {
                ([piece], false) => piece.size,
                _ => shapes.separation(part.items[shape], part.items[*other as usize]),
            };
            if *other != number && distance > 0 {
                let distance = T::of(distance.next_multiple_of(step) / part.unit);
                lists.values.push((*other, distance));
            }
        }
        lists.close();
        if lists.values.len() > MAX_PAIRS {
            return Ok(None);
        }
    }
    Ok(Some(lists))
}

/// Equal numbers for shapes that are equal in everything and not fixed.
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
