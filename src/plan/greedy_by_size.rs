//! Greedy by size with best fit: the largest buffer first, into the smallest gap that fits.
//!
//! Ties: earlier birth, then file order; among gaps the smallest, the lowest on a tie; above all
//! neighbours where no gap fits. The order is that of TensorFlow Lite's planner (Pisarchyk and Lee,
//! "Efficient Memory Management for Deep Neural Net Inference", 2020), described there, written here
//! anew. Complexity: O(n * overlaps): placed neighbours are found through an index over steps, so
//! buffers that never meet cost nothing.

use super::problem::{Buffer, Problem};
use crate::progress::{Cancelled, Progress};
use crate::units::Bytes;

/// Offsets by the rule above.
pub(super) fn place(problem: &Problem, progress: &Progress<'_>) -> Result<Vec<u64>, Cancelled> {
    let buffers = &problem.buffers;
    let mut order: Vec<u32> = (0_u32..).zip(buffers).map(|(idx, _)| idx).collect();
    order.sort_unstable_by_key(|idx| {
        let buffer = &buffers[*idx as usize];
        (std::cmp::Reverse(buffer.size), buffer.lower, *idx)
    });
    let mut offsets = vec![0_u64; buffers.len()];
    let mut index = StepIndex::new(problem);
    let mut neighbours: Vec<(u64, u64)> = Vec::new();
    let total = order.len() as u64;
    for (done, idx) in (0_u64..).zip(order) {
        if done % 256 == 0 {
            progress.set("planning", done, total)?;
        }
        let buffer = &buffers[idx as usize];
        neighbours.clear();
        index.for_each_overlap(buffer, &mut |other| {
            let size = buffers[other as usize].size.get();
            neighbours.push((offsets[other as usize], size));
        });
        neighbours.sort_unstable();
        let offset = best_gap(buffer, &neighbours);
        offsets[idx as usize] = offset;
        index.insert(idx, buffer);
    }
    Ok(offsets)
}

/// The lowest offset of the smallest gap between `neighbours` (offset and size, ascending) that fits.
fn best_gap(buffer: &Buffer, neighbours: &[(u64, u64)]) -> u64 {
    let mut best: Option<(u64, u64)> = None;
    let mut end = 0_u64;
    for (offset, size) in neighbours {
        let start = Bytes(end).align_up(buffer.alignment).get();
        if *offset >= start && offset - start >= buffer.size.get() {
            let gap = offset - end;
            if best.is_none_or(|(smallest, _)| gap < smallest) {
                best = Some((gap, start));
            }
        }
        end = end.max(offset.saturating_add(*size));
    }
    best.map_or_else(|| Bytes(end).align_up(buffer.alignment).get(), |(_, start)| start)
}

/// Placed buffers by step: a binary tree over steps in which each buffer stands at the highest node
/// whose middle step it covers, so that a query visits only nodes that it can meet.
struct StepIndex {
    n_steps: u32,
    nodes: Vec<Vec<Entry>>,
}

#[derive(Clone, Copy)]
struct Entry {
    lower: u32,
    upper: u32,
    buffer: u32,
}

impl StepIndex {
    fn new(problem: &Problem) -> Self {
        let n_steps = problem.buffers.iter().map(|buffer| buffer.upper.0).max().unwrap_or(0);
        let n_nodes = (n_steps as usize).max(1);
        Self {
            n_steps,
            nodes: vec![Vec::new(); n_nodes],
        }
    }

    fn insert(&mut self, idx: u32, buffer: &Buffer) {
        let (mut low, mut high) = (0, self.n_steps);
        while low < high {
            let middle = low + (high - low) / 2;
            if buffer.upper.0 <= middle {
                high = middle;
            } else if buffer.lower.0 > middle {
                low = middle + 1;
            } else {
                self.nodes[middle as usize].push(Entry {
                    lower: buffer.lower.0,
                    upper: buffer.upper.0,
                    buffer: idx,
                });
                return;
            }
        }
    }

    /// Calls `visit` for every placed buffer that overlaps `buffer` in steps.
    fn for_each_overlap(&self, buffer: &Buffer, visit: &mut dyn FnMut(u32)) {
        let (lower, upper) = (buffer.lower.0, buffer.upper.0);
        let mut stack = vec![(0_u32, self.n_steps)];
        while let Some((low, high)) = stack.pop() {
            if low >= high || lower >= high || upper <= low {
                continue;
            }
            let middle = low + (high - low) / 2;
            for entry in &self.nodes[middle as usize] {
                if entry.lower < upper && lower < entry.upper {
                    visit(entry.buffer);
                }
            }
            stack.push((low, middle));
            stack.push((middle + 1, high));
        }
    }
}
