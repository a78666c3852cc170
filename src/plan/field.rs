//! Input of every heuristic: shapes on compressed steps, the load of each step, and orders.
//!
//! Two shapes overlap in time iff they overlap on a step on which one of their pieces begins. So only such steps are
//! kept, at most one per piece, and numbered from 0. The compression keeps overlaps, the order of lives that differ by
//! a kept step, and the peak of the load. O(n + steps), or O(n log n) where steps are far apart.

use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{Item, Shapes};

/// Elements between two checks of the cancel flag: about 3 ms of work.
const CHUNK: usize = 32_768;

/// Shapes on compressed steps, one entry per shape. A shape of no bytes has an empty range.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub(super) shapes: &'a Shapes,
    /// First compressed step.
    pub(super) lower: Vec<u32>,
    /// End, exclusive.
    pub(super) upper: Vec<u32>,
    /// Number of compressed steps, at least 1.
    pub(super) n_steps: u32,
    ranks: Ranks,
}

impl<'a> Field<'a> {
    /// # Errors
    /// [`Cancelled`] once the flag is set.
    pub(super) fn new(shapes: &'a Shapes, progress: &Progress<'_>) -> Result<Self, Cancelled> {
        let ranks = Ranks::new(shapes, progress)?;
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        lower.reserve_exact(shapes.items.len());
        upper.reserve_exact(shapes.items.len());
        for items in shapes.items.chunks(CHUNK) {
            progress.check()?;
            lower.extend(items.iter().map(|item| ranks.of(item.lower)));
            upper.extend(items.iter().map(|item| ranks.of(item.upper)));
        }
        Ok(Self {
            shapes,
            lower,
            upper,
            n_steps: ranks.count.max(1),
            ranks,
        })
    }

    pub(super) fn items(&self) -> &'a [Item] {
        &self.shapes.items
    }

    /// Compressed steps on which a shape is live.
    pub(super) fn life(&self, item: u32) -> u32 {
        self.upper[item as usize] - self.lower[item as usize]
    }

    /// Whether a shape has bytes and no fixed offset.
    pub(super) fn is_free(&self, item: u32) -> bool {
        let item = &self.shapes.items[item as usize];
        item.fixed.is_none() && item.n_pieces > 0
    }

    /// The free shapes, sorted by a key; the earlier shape on a tie.
    ///
    /// # Errors
    /// [`Cancelled`] once the flag is set.
    pub(super) fn free_by<K: Ord + Copy>(
        &self,
        progress: &Progress<'_>,
        key: impl Fn(u32) -> K,
    ) -> Result<Vec<u32>, Cancelled> {
        let mut keyed: Vec<(K, u32)> = Vec::with_capacity(self.items().len());
        for (idx, _) in (0_u32..).zip(self.items()) {
            if self.is_free(idx) {
                keyed.push((key(idx), idx));
            }
            if (idx as usize).is_multiple_of(CHUNK) {
                progress.check()?;
            }
        }
        let sorted = progress.sorted(keyed)?;
        Ok(sorted.into_iter().map(|(_, idx)| idx).collect())
    }

    /// The compressed steps, sorted by a key; the earlier step on a tie.
    ///
    /// # Errors
    /// [`Cancelled`] once the flag is set.
    pub(super) fn steps_by<K: Ord + Copy>(
        &self,
        progress: &Progress<'_>,
        key: impl Fn(u32) -> K,
    ) -> Result<Vec<u32>, Cancelled> {
        let keyed = (0..self.n_steps).map(|step| (key(step), step)).collect();
        Ok(progress.sorted(keyed)?.into_iter().map(|(_, step)| step).collect())
    }

    /// Live bytes by compressed step.
    pub(super) fn load(&self) -> Vec<u64> {
        let mut change = vec![(0_u64, 0_u64); self.n_steps as usize + 1];
        for piece in &self.shapes.pieces {
            change[self.ranks.of(piece.lower) as usize].0 += piece.size;
            change[self.ranks.of(piece.upper) as usize].1 += piece.size;
        }
        let mut live = 0_u64;
        let steps = change[..self.n_steps as usize].iter();
        steps
            .map(|(born, dead)| {
                live = live + born - dead;
                live
            })
            .collect()
    }

    /// Pairs of shapes whose hulls overlap in time, counted both ways: the work of gap filling. O(n).
    pub(super) fn meetings(&self) -> u64 {
        let n_steps = self.n_steps as usize;
        let (mut born, mut dead) = (vec![0_u64; n_steps + 1], vec![0_u64; n_steps + 1]);
        for (lower, upper) in self
            .lower
            .iter()
            .zip(&self.upper)
            .filter(|(lower, upper)| lower < upper)
        {
            born[*lower as usize] += 1;
            dead[*upper as usize] += 1;
        }
        let (mut before, mut gone) = (0_u64, 0_u64);
        let mut meetings = 0_u64;
        for step in 0..n_steps {
            gone += dead[step];
            let live = before - gone;
            // Shapes born on a step overlap the live ones, and each other.
            let newcomers = born[step];
            meetings += newcomers * (2 * live + newcomers.saturating_sub(1));
            before += newcomers;
        }
        meetings
    }

    /// The highest end of a fixed shape.
    pub(super) fn fixed_top(&self) -> u64 {
        let ends = self.items().iter().filter_map(|item| Some(item.fixed? + item.size));
        ends.max().unwrap_or(0)
    }

    /// The highest end of any shape.
    pub(super) fn footprint(&self, offsets: &[u64]) -> u64 {
        let ends = offsets
            .iter()
            .zip(self.items())
            .map(|(offset, item)| offset + item.size);
        ends.max().unwrap_or(0)
    }

    /// Fixed offsets; 0 for all other shapes.
    pub(super) fn blank_offsets(&self) -> Vec<u64> {
        self.items().iter().map(|item| item.fixed.unwrap_or(0)).collect()
    }
}

/// The number of kept steps before a step.
#[derive(Debug)]
struct Ranks {
    count: u32,
    /// By step, where steps are dense.
    table: Vec<u32>,
    /// The kept steps, where they are far apart.
    steps: Vec<u32>,
}

impl Ranks {
    fn new(shapes: &Shapes, progress: &Progress<'_>) -> Result<Self, Cancelled> {
        let last = shapes.pieces.iter().map(|piece| piece.upper).max().unwrap_or(0) as usize;
        if last <= shapes.pieces.len() * 8 + 1024 {
            let mut table = vec![0_u32; last + 1];
            for piece in &shapes.pieces {
                table[piece.lower as usize] = 1;
            }
            progress.check()?;
            let mut count = 0;
            for rank in &mut table {
                let is_kept = *rank;
                *rank = count;
                count += is_kept;
            }
            return Ok(Self {
                count,
                table,
                steps: Vec::new(),
            });
        }
        let steps: Vec<u32> = shapes.pieces.iter().map(|piece| piece.lower).collect();
        let mut steps = progress.sorted(steps)?;
        steps.dedup();
        Ok(Self {
            count: u32::try_from(steps.len()).unwrap_or(u32::MAX),
            table: Vec::new(),
            steps,
        })
    }

    fn of(&self, step: u32) -> u32 {
        if let Some(rank) = self.table.get(step as usize) {
            return *rank;
        }
        u32::try_from(self.steps.partition_point(|kept| *kept < step)).unwrap_or(u32::MAX)
    }
}
