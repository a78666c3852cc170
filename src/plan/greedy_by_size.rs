//! Greedy by size with best fit: the largest buffer first, into the smallest gap that fits.
//!
//! Ties: earlier birth, then file order; among gaps the smallest, the lowest on a tie; above all
//! neighbours where no gap fits. The order is that of TensorFlow Lite's planner (Pisarchyk and Lee,
//! "Efficient Memory Management for Deep Neural Net Inference", 2020), described there, written here
//! anew. Complexity: up to [`SCAN_LIMIT`] buffers one scan over all placed buffers each, which stand sorted by offset,
//! O(n^2) with a tiny constant; above it O(n * overlaps * log) through an index over steps, so that buffers that
//! never meet cost nothing.

use super::problem::{Placement, PlanError, Task};
use crate::progress::{Cancelled, Progress};
use crate::units::Bytes;
use crate::workload::Item;

/// Up to so many buffers, scanning all placed ones beats looking for neighbours and sorting them.
const SCAN_LIMIT: usize = 16_384;

/// Offsets by the rule above. Shapes with gaps and groups are placed as the rectangles around them.
pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    let items = &task.shapes.items;
    let offsets = if items.len() <= SCAN_LIMIT {
        place_by(items, task.progress, Scan::default())
    } else {
        place_by(items, task.progress, StepIndex::new(items))
    };
    Ok(Placement::of(offsets?))
}

/// Finds what is in a buffer's way.
trait Neighbours {
    /// Clears `found` and fills it with offset and size of every placed buffer that overlaps `buffer` in steps, by
    /// ascending offset.
    fn find(&self, buffer: &Item, found: &mut Vec<(u64, u64)>);
    /// Remembers a placed buffer.
    fn add(&mut self, buffer: &Item, offset: u64);
}

fn place_by(buffers: &[Item], progress: &Progress<'_>, mut placed: impl Neighbours) -> Result<Vec<u64>, Cancelled> {
    let mut order: Vec<u32> = (0_u32..).zip(buffers).map(|(idx, _)| idx).collect();
    order.sort_unstable_by_key(|idx| {
        let buffer = &buffers[*idx as usize];
        (
            buffer.fixed.is_none(),
            std::cmp::Reverse(buffer.size),
            buffer.lower,
            *idx,
        )
    });
    let mut offsets = vec![0_u64; buffers.len()];
    let mut neighbours: Vec<(u64, u64)> = Vec::new();
    let total = order.len() as u64;
    for (done, idx) in (0_u64..).zip(order) {
        if done % 256 == 0 {
            progress.set("planning", done, total)?;
        }
        let buffer = &buffers[idx as usize];
        placed.find(buffer, &mut neighbours);
        let offset = buffer.fixed.unwrap_or_else(|| best_gap(buffer, &neighbours));
        offsets[idx as usize] = offset;
        placed.add(buffer, offset);
    }
    Ok(offsets)
}

/// The lowest offset of the smallest gap between `neighbours` (offset and size, ascending) that fits.
fn best_gap(buffer: &Item, neighbours: &[(u64, u64)]) -> u64 {
    let mut best: Option<(u64, u64)> = None;
    let mut end = 0_u64;
    for (offset, size) in neighbours {
        let start = Bytes(end).align_up(buffer.alignment).get();
        if *offset >= start && offset - start >= buffer.size {
            let gap = offset - end;
            if best.is_none_or(|(smallest, _)| gap < smallest) {
                best = Some((gap, start));
            }
        }
        end = end.max(offset.saturating_add(*size));
    }
    best.map_or_else(|| Bytes(end).align_up(buffer.alignment).get(), |(_, start)| start)
}

/// Placed buffers, by ascending offset.
#[derive(Default)]
struct Scan {
    placed: Vec<Placed>,
}

#[derive(Clone, Copy)]
struct Placed {
    offset: u64,
    size: u64,
    lower: u32,
    upper: u32,
}

impl Neighbours for Scan {
    fn find(&self, buffer: &Item, found: &mut Vec<(u64, u64)>) {
        found.clear();
        let (lower, upper) = (buffer.lower, buffer.upper);
        let overlaps = self
            .placed
            .iter()
            .filter(|other| other.lower < upper && lower < other.upper);
        found.extend(overlaps.map(|other| (other.offset, other.size)));
    }

    fn add(&mut self, buffer: &Item, offset: u64) {
        let position = self.placed.partition_point(|other| other.offset < offset);
        self.placed.insert(
            position,
            Placed {
                offset,
                size: buffer.size,
                lower: buffer.lower,
                upper: buffer.upper,
            },
        );
    }
}

/// Placed buffers by step: a binary tree over steps in which each buffer stands at the highest node
/// whose middle step it covers, so that a query visits only nodes that it can meet.
struct StepIndex {
    n_steps: u32,
    nodes: Vec<Vec<Placed>>,
}

impl StepIndex {
    fn new(items: &[Item]) -> Self {
        let n_steps = items.iter().map(|buffer| buffer.upper).max().unwrap_or(0);
        let n_nodes = (n_steps as usize).max(1);
        Self {
            n_steps,
            nodes: vec![Vec::new(); n_nodes],
        }
    }
}

impl Neighbours for StepIndex {
    fn find(&self, buffer: &Item, found: &mut Vec<(u64, u64)>) {
        found.clear();
        let (lower, upper) = (buffer.lower, buffer.upper);
        let mut stack = vec![(0_u32, self.n_steps)];
        while let Some((low, high)) = stack.pop() {
            if low >= high || lower >= high || upper <= low {
                continue;
            }
            let middle = low + (high - low) / 2;
            let node = self.nodes[middle as usize].iter();
            let overlaps = node.filter(|other| other.lower < upper && lower < other.upper);
            found.extend(overlaps.map(|other| (other.offset, other.size)));
            stack.push((low, middle));
            stack.push((middle + 1, high));
        }
        found.sort_unstable();
    }

    fn add(&mut self, buffer: &Item, offset: u64) {
        let (mut low, mut high) = (0, self.n_steps);
        while low < high {
            let middle = low + (high - low) / 2;
            if buffer.upper <= middle {
                high = middle;
            } else if buffer.lower > middle {
                low = middle + 1;
            } else {
                self.nodes[middle as usize].push(Placed {
                    offset,
                    size: buffer.size,
                    lower: buffer.lower,
                    upper: buffer.upper,
                });
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Cancel;

    #[test]
    fn both_ways_to_find_neighbours_give_the_same_plan() {
        let mut state = 88_172_645_463_325_252_u64;
        let mut random = move |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let small = |number: u64| u32::try_from(number).unwrap_or(0);
        for round in 0..200 {
            let buffers = (0..=round).map(|_| {
                let lower = small(random(60));
                Item {
                    lower,
                    upper: lower + 1 + small(random(30)),
                    size: random(9) * 32,
                    alignment: 1 << random(8),
                    fixed: None,
                    first_piece: 0,
                    n_pieces: 1,
                }
            });
            let items: Vec<Item> = buffers.collect();
            let cancel = Cancel::new();
            let progress = Progress::silent(&cancel);
            let scanned = place_by(&items, &progress, Scan::default());
            assert_eq!(scanned, place_by(&items, &progress, StepIndex::new(&items)));
        }
    }
}
