//! Breadth: live bytes by step, and the broadest step of each shape's life.
//!
//! The load over compressed steps with a sparse table of range maxima: O(steps log steps) memory and time, then O(1)
//! per query. Used by the orders "greedy by breadth" and by the search, which starts where the load is highest.

use std::cmp::Reverse;

use super::field::Field;
use highwater_model::progress::{Cancelled, Progress};

/// The load of each step and the order of steps by load.
#[derive(Debug)]
pub(super) struct Breadth {
    /// Live bytes on each compressed step.
    pub(super) load: Vec<u64>,
    /// `table[k][step]` is the rank of the broadest among the `2^k` steps from `step` on.
    table: Vec<Vec<u32>>,
    /// Steps by descending load; the earlier one on a tie.
    by_rank: Vec<u32>,
}

impl Breadth {
    pub(super) fn new(field: &Field<'_>, progress: &Progress<'_>) -> Result<Self, Cancelled> {
        let load = field.load();
        let by_rank = field.steps_by(progress, |step| std::cmp::Reverse(load[step as usize]))?;
        let mut ranks = vec![0_u32; load.len()];
        for (rank, step) in (0_u32..).zip(&by_rank) {
            ranks[*step as usize] = rank;
        }
        let mut table = vec![ranks];
        let mut width = 1_usize;
        while width * 2 <= load.len() {
            progress.check()?;
            let finer = &table[table.len() - 1];
            let pairs = finer.iter().zip(&finer[width..]);
            table.push(pairs.map(|(one, other)| *one.min(other)).collect());
            width *= 2;
        }
        Ok(Self { load, table, by_rank })
    }

    /// The rank of a shape's broadest step; 0 is the broadest of all.
    pub(super) fn rank(&self, field: &Field<'_>, idx: u32) -> u32 {
        let (lower, upper) = (field.lower[idx as usize] as usize, field.upper[idx as usize] as usize);
        let Some(level) = (upper - lower).checked_ilog2() else {
            return u32::MAX;
        };
        let level = &self.table[level as usize];
        level[lower].min(level[upper - (1 << (upper - lower).ilog2())])
    }

    /// The largest load during a shape's life.
    pub(super) fn largest(&self, field: &Field<'_>, idx: u32) -> u64 {
        let step = self.by_rank.get(self.rank(field, idx) as usize);
        step.map_or(0, |step| self.load[*step as usize])
    }
}

/// The free shapes by the rank of their broadest step, then by descending size, then by birth.
///
/// # Errors
/// [`Cancelled`] once the flag is set.
pub(super) fn order(field: &Field<'_>, progress: &Progress<'_>) -> Result<Vec<u32>, Cancelled> {
    let breadth = Breadth::new(field, progress)?;
    field.free_by(progress, |idx| {
        let item = &field.items()[idx as usize];
        (breadth.rank(field, idx), Reverse(item.size), item.lower)
    })
}
