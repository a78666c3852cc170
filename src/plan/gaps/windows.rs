//! Index of placed shapes by time: the possible neighbours of a shape, by ascending offset.
//!
//! ```text
//! steps    0        w        2w       3w
//! level 0  [------------------------------...   one window over everything
//! level 1  [ window 0       ][ window 2       ]
//!                   [ window 1       ]          windows of 2w steps, every w steps
//! ```
//!
//! Each level halves the windows of the previous one. A placed shape is in every window that it overlaps; a shape of at
//! most w steps lies within one window of that level, so one list holds all its possible neighbours and few others.
//! Levels are halved while a shape is in at most [`MAX_WINDOWS`] windows on average and their lists are longer than
//! [`SHORT_LIST`]; of these, the levels that shapes query are kept, up to [`MAX_ENTRIES`] in total: memory O(n *
//! levels) below that, without a graph of overlaps.
//!
//! A list is sorted when it is read. Adding and removing: O(windows). A read: O(list), and O(k log k) for the k changes
//! since the last one.

use super::list::List;
use crate::field::Field;
use highwater_model::progress::{Cancelled, Progress};

/// Most windows of one level per shape, on average.
const MAX_WINDOWS: u64 = 4;

const MAX_LEVELS: u32 = 20;

/// Lists with at most this many shapes on average are not divided further.
const SHORT_LIST: u64 = 64;

/// Most entries of all levels but the first: half a gigabyte.
const MAX_ENTRIES: u64 = 1 << 24;

/// A shape with its offset. `lower..upper` are compressed steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) offset: u64,
    /// Offset plus size.
    pub(crate) end: u64,
    pub(crate) lower: u32,
    pub(crate) upper: u32,
    pub(crate) item: u32,
}

impl Placed {
    pub(crate) fn new(field: &Field<'_>, item: u32, offset: u64) -> Self {
        let idx = item as usize;
        Self {
            offset,
            end: offset + field.items()[idx].size,
            lower: field.lower[idx],
            upper: field.upper[idx],
            item,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Windows {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    /// Distance of windows in steps; a window is twice as long.
    stride: u32,
    lists: Vec<List>,
}

impl Level {
    fn new(n_steps: u32, stride: u32) -> Self {
        Self {
            stride,
            lists: vec![List::default(); (n_steps / stride) as usize + 1],
        }
    }

    /// The windows that overlap `lower..upper`.
    fn window_range(&mut self, lower: u32, upper: u32) -> &mut [List] {
        let (first, last) = window_range(self.stride, lower, upper);
        &mut self.lists[first..=last]
    }
}

/// The first and the last window that overlap `lower..upper`.
fn window_range(stride: u32, lower: u32, upper: u32) -> (usize, usize) {
    let first = (lower / stride).saturating_sub(1) as usize;
    let last = ((upper - 1) / stride) as usize;
    (first, last)
}

impl Windows {
    /// An empty index for the shapes of a field.
    pub(crate) fn new(field: &Field<'_>) -> Self {
        let levels = strides(field).into_iter();
        Self {
            levels: levels.map(|stride| Level::new(field.n_steps, stride)).collect(),
        }
    }

    /// A single list: the cheapest to update, for small fields in which most shapes overlap.
    pub(crate) fn flat(field: &Field<'_>) -> Self {
        Self {
            levels: vec![Level::new(field.n_steps, field.n_steps)],
        }
    }

    /// An index with the fixed shapes of a field.
    pub(crate) fn with_fixed(field: &Field<'_>) -> Self {
        let mut placed = Self::new(field);
        placed.add_fixed(field);
        placed
    }

    pub(crate) fn add_fixed(&mut self, field: &Field<'_>) {
        for (idx, item) in (0_u32..).zip(field.items()) {
            if let Some(offset) = item.fixed.filter(|_| item.n_pieces > 0) {
                self.add(Placed::new(field, idx, offset));
            }
        }
    }

    /// All placed shapes that overlap a shape's hull in time, and some that do not, by ascending offset.
    pub(crate) fn around(&mut self, field: &Field<'_>, idx: u32) -> &[Placed] {
        let lower = field.lower[idx as usize];
        let life = field.life(idx);
        let finest = self.levels.iter_mut().rev().find(|level| level.stride >= life);
        finest.map_or(&[], |level| level.lists[(lower / level.stride) as usize].in_order())
    }

    /// Ignores shapes without bytes.
    pub(crate) fn add(&mut self, placed: Placed) {
        for level in &mut self.levels {
            for list in level.window_range(placed.lower, placed.upper) {
                list.add(placed);
            }
        }
    }

    /// `placed` must equal the added value.
    pub(crate) fn remove(&mut self, placed: &Placed) {
        for level in &mut self.levels {
            for list in level.window_range(placed.lower, placed.upper) {
                list.remove(*placed);
            }
        }
    }
}

/// Estimated number of placed shapes read while all free shapes of a field are placed: half of the final list that each
/// one queries. O(n * levels).
///
///
/// # Errors
/// [`Cancelled`] once the flag is set.
pub(crate) fn n_reads(field: &Field<'_>, progress: &Progress<'_>) -> Result<u64, Cancelled> {
    let strides = strides(field);
    let all = || (0_u32..).zip(field.items()).filter(|(_, item)| item.n_pieces > 0);
    let mut n_reads = 0_u64;
    for (level, stride) in strides.iter().enumerate() {
        progress.check()?;
        let n_windows = (field.n_steps / stride) as usize + 1;
        let (mut entering, mut leaving) = (vec![0_u64; n_windows + 1], vec![0_u64; n_windows + 1]);
        let mut n_queries = vec![0_u64; n_windows];
        for (idx, _) in all() {
            let (lower, upper) = (field.lower[idx as usize], field.upper[idx as usize]);
            let (first, last) = window_range(*stride, lower, upper);
            entering[first] += 1;
            leaving[last + 1] += 1;
            if field.is_free(idx) && query_level(&strides, field.life(idx)) == level {
                n_queries[(lower / stride) as usize] += 1;
            }
        }
        let mut length = 0_u64;
        for (window, n_queries) in n_queries.into_iter().enumerate() {
            length = length + entering[window] - leaving[window];
            n_reads = n_reads.saturating_add(n_queries.saturating_mul(length) / 2);
        }
    }
    Ok(n_reads)
}

/// The strides of the kept levels, from coarse to fine.
fn strides(field: &Field<'_>) -> Vec<u32> {
    let with_bytes = (0_u32..).zip(field.items()).filter(|(_, item)| item.n_pieces > 0);
    let (mut n_items, mut total_life) = (0_u64, 0_u64);
    for (idx, _) in with_bytes {
        n_items += 1;
        total_life += u64::from(field.life(idx));
    }
    let entries = |stride: u32| 2 * n_items + total_life / u64::from(stride);
    let mut strides = vec![field.n_steps];
    for level in 1..MAX_LEVELS {
        let stride = field.n_steps >> level;
        let coarser = field.n_steps >> (level - 1);
        let is_short = entries(coarser) < SHORT_LIST * u64::from(field.n_steps / coarser);
        if stride < 4 || entries(stride) > n_items * MAX_WINDOWS || is_short {
            break;
        }
        strides.push(stride);
    }
    let mut n_queries = vec![0_u64; strides.len()];
    for (idx, _) in (0_u32..).zip(field.items()).filter(|(idx, _)| field.is_free(*idx)) {
        n_queries[query_level(&strides, field.life(idx))] += 1;
    }
    // The first level serves every shape; of the others the ones that most shapes query, the coarser one on a tie.
    let mut by_asked: Vec<usize> = (1..strides.len()).filter(|level| n_queries[*level] > 0).collect();
    by_asked.sort_by_key(|level| std::cmp::Reverse(n_queries[*level]));
    let mut left = MAX_ENTRIES;
    let mut kept = vec![field.n_steps];
    for level in by_asked {
        if let Some(rest) = left.checked_sub(entries(strides[level])) {
            left = rest;
            kept.push(strides[level]);
        }
    }
    kept.sort_unstable_by_key(|stride| std::cmp::Reverse(*stride));
    kept
}

/// The finest level that has all neighbours of a shape of this many steps in one list.
fn query_level(strides: &[u32], life: u32) -> usize {
    strides.partition_point(|stride| *stride >= life).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaps::{Fit, fill_on};
    use crate::problem::{Buffer, PlacementProblem};
    use highwater_model::progress::Cancel;
    use highwater_model::units::{Bytes, Step};
    use highwater_model::workload::Shapes;

    /// One birth on each step.
    fn short_lives(n_buffers: u32) -> PlacementProblem {
        PlacementProblem::of((0..n_buffers).map(|step| Buffer {
            lower: Step(step),
            upper: Step(step + 1 + step * 7919 % 20),
            size: Bytes(u64::from(step.wrapping_mul(2_654_435_761) >> 20) + 1),
            alignment: 1,
            offset: None,
        }))
    }

    #[test]
    fn what_is_moved_and_looked_at_grows_with_the_shapes_and_not_with_their_square() {
        let cancel = Cancel::new();
        let progress = Progress::silent(&cancel);
        let shapes = Shapes::new(&short_lives(100_000));
        let field = Field::new(&shapes, &progress).expect("no cancel");
        let order = field
            .free_by(&progress, |idx| std::cmp::Reverse(field.items()[idx as usize].size))
            .expect("no cancel");
        let mut placed = Windows::with_fixed(&field);
        let mut offsets = field.blank_offsets();
        let scratch = &mut crate::gaps::Scratch::default();
        let filled = fill_on(&field, &mut placed, &order, Fit::Best, &mut offsets, scratch, &progress);
        filled.expect("no cancel");
        let lists = placed.levels.iter().flat_map(|level| &level.lists);
        let moved: usize = lists.map(|list| list.moved).sum();
        assert!(moved < 200 * order.len(), "{moved} entries moved");
        let n_read = n_reads(&field, &progress).expect("no cancel");
        assert!(n_read < 100 * order.len() as u64, "{n_read} entries looked at");
        // An estimate of the cost of rows must include the coarse lists.
        assert!(n_read > order.len() as u64);
    }
}
