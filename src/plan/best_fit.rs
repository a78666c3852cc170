//! Best fit in order of birth, as in an allocator that merges free neighbours: the smallest gap that fits.
//!
//! Ties: buffers of one step in file order; of equal gaps the lowest; the arena grows where no gap fits. Buffers that
//! die on a step are free for those born on it. Two ordered trees hold the gaps, by offset and by size: O(n log n)
//! where all alignments are equal and divide the sizes, since every gap then begins at a multiple. A gap that only
//! alignment makes too small is skipped: O(n * gaps) at worst. Shapes with gaps and groups count as their bounding
//! rectangles; free ones are above the highest fixed end.

use std::collections::{BTreeMap, BTreeSet};

use super::field::Field;
use super::gaps::Align;
use super::problem::{Placement, PlanError, Task};

pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let births = field.free_by(task.progress, |idx| field.lower[idx as usize])?;
    let deaths = field.free_by(task.progress, |idx| field.upper[idx as usize])?;
    let mut offsets = field.blank_offsets();
    let mut gaps = FreeRanges::above(field.fixed_top());
    let mut dying = deaths.into_iter().peekable();
    for (done, idx) in (0_u64..).zip(&births) {
        if done % 4096 == 0 {
            task.progress.set("fitting births", done, births.len() as u64)?;
        }
        let now = field.lower[*idx as usize];
        while let Some(dead) = dying.next_if(|dead| field.upper[*dead as usize] <= now) {
            let start = offsets[dead as usize];
            gaps.free(start, start + field.items()[dead as usize].size);
        }
        let item = &field.items()[*idx as usize];
        offsets[*idx as usize] = gaps.take(item.size, Align(item.alignment));
    }
    Ok(Placement::of(offsets))
}

/// The free ranges. The last one has no end, so that every buffer fits.
struct FreeRanges {
    ends: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
}

impl FreeRanges {
    fn above(floor: u64) -> Self {
        let mut gaps = Self {
            ends: BTreeMap::new(),
            by_size: BTreeSet::new(),
        };
        gaps.insert(floor, u64::MAX);
        gaps
    }

    fn insert(&mut self, start: u64, end: u64) {
        if start < end {
            self.ends.insert(start, end);
            self.by_size.insert((end - start, start));
        }
    }

    fn remove(&mut self, start: u64, end: u64) {
        self.ends.remove(&start);
        self.by_size.remove(&(end - start, start));
    }

    fn take(&mut self, size: u64, align: Align) -> u64 {
        let fits = self
            .by_size
            .range((size, 0)..)
            .find(|(room, start)| align.up(*start) - start <= room - size);
        let Some((room, start)) = fits.copied() else {
            return 0;
        };
        let (offset, end) = (align.up(start), start + room);
        self.remove(start, end);
        self.insert(start, offset);
        self.insert(offset + size, end);
        offset
    }

    fn free(&mut self, start: u64, end: u64) {
        let (mut start, mut end) = (start, end);
        let before = self.ends.range(..start).next_back().map(|(from, to)| (*from, *to));
        if let Some((from, _)) = before.filter(|(_, to)| *to == start) {
            self.remove(from, start);
            start = from;
        }
        if let Some(to) = self.ends.get(&end).copied() {
            self.remove(end, to);
            end = to;
        }
        self.insert(start, end);
    }
}
