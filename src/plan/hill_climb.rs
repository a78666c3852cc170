//! Hill climbing over orders of gap filling: a buffer that blocks the peak buffer is moved behind it.
//!
//! Starts from the order of greedy by size, lowest gap. Each round takes the highest buffer (the earlier shape on a
//! tie) and one of the buffers below it that it touches (seeded random choice), swaps the two in the order, and fills
//! again from there on. A change that raises the footprint is undone. Ends at the bound, when a plan fits the capacity,
//! after [`PATIENCE`] rounds without gain, or with the nodes. A node is a placement among up to [`NODE`] neighbours;
//! more neighbours count as more nodes. Anytime: the plan never gets worse.

use std::cmp::Reverse;

use super::field::Field;
use super::gaps::{Fit, Placed, Scratch, Windows};
use super::problem::{Placement, PlanError, Task};
use super::random::Random;
use highwater_model::progress::Cancelled;

/// Neighbours per node.
const NODE: usize = 64;

/// Most rounds without gain.
const PATIENCE: u64 = 2_000;

pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let order = field.free_by(task.progress, |idx| {
        let item = &field.items()[idx as usize];
        (Reverse(item.size), item.lower)
    })?;
    let mut climb = Climb::new(&field, order);
    climb.fill_from(0, task)?;
    let target = task.target();
    let mut random = Random::new(1);
    let mut idle = 0;
    let mut footprint = field.footprint(&climb.offsets);
    while footprint > target && idle < PATIENCE && climb.nodes < task.limits.nodes && !task.limits.is_stopped() {
        task.progress.set("climbing", climb.nodes, task.limits.nodes)?;
        idle += 1;
        let Some((blocker, peak)) = climb.choose(footprint, &mut random) else {
            break;
        };
        let before = climb.offsets.clone();
        climb.lift_from(blocker);
        climb.order.swap(blocker, peak);
        climb.fill_from(blocker, task)?;
        let changed = field.footprint(&climb.offsets);
        if changed > footprint {
            climb.lift_from(blocker);
            climb.order.swap(blocker, peak);
            climb.put_back(blocker, before);
        } else if changed < footprint {
            idle = 0;
            footprint = changed;
        }
    }
    Ok(Placement {
        nodes: climb.nodes,
        ..Placement::of(climb.offsets)
    })
}

struct Climb<'a> {
    field: &'a Field<'a>,
    order: Vec<u32>,
    offsets: Vec<u64>,
    /// Holds a prefix of the order, or all of it.
    placed: Windows,
    scratch: Scratch,
    nodes: u64,
}

impl<'a> Climb<'a> {
    fn new(field: &'a Field<'a>, order: Vec<u32>) -> Self {
        Self {
            field,
            order,
            offsets: field.blank_offsets(),
            placed: Windows::with_fixed(field),
            scratch: Scratch::default(),
            nodes: 0,
        }
    }

    /// The positions of a buffer that the highest one is on top of, and of the highest one. `None` where it is fixed,
    /// or only touches later buffers, fixed ones or none.
    fn choose(&self, footprint: u64, random: &mut Random) -> Option<(usize, usize)> {
        let is_highest = |idx: &u32| self.end(*idx) == footprint;
        let highest = self.order.iter().copied().filter(is_highest).min()?;
        let peak = self.order.iter().position(|idx| *idx == highest)?;
        let offset = self.offsets[highest as usize];
        let (field, at) = (self.field, highest as usize);
        let is_below = |idx: u32| {
            let other = idx as usize;
            field.lower[other] < field.upper[at]
                && field.lower[at] < field.upper[other]
                && self.offsets[other] < offset
                && self.end(idx) + field.items()[at].alignment > offset
        };
        let earlier = (0..peak).filter(|position| is_below(self.order[*position]));
        let blockers: Vec<usize> = earlier.collect();
        let chosen = random.below(blockers.len() as u64);
        blockers
            .get(usize::try_from(chosen).unwrap_or(0))
            .map(|blocker| (*blocker, peak))
    }

    fn end(&self, idx: u32) -> u64 {
        self.offsets[idx as usize] + self.field.items()[idx as usize].size
    }

    /// Removes everything from a position on from the index.
    fn lift_from(&mut self, from: usize) {
        for idx in &self.order[from..] {
            self.placed
                .remove(&Placed::new(self.field, *idx, self.offsets[*idx as usize]));
        }
    }

    /// Restores everything from a position on.
    fn put_back(&mut self, from: usize, offsets: Vec<u64>) {
        self.offsets = offsets;
        for idx in &self.order[from..] {
            self.placed
                .add(Placed::new(self.field, *idx, self.offsets[*idx as usize]));
        }
    }

    /// Fills the order from a position on.
    fn fill_from(&mut self, from: usize, task: &Task<'_>) -> Result<(), Cancelled> {
        for (done, idx) in self.order[from..].iter().enumerate() {
            if done % 256 == 0 {
                task.progress.check()?;
            }
            let near = self.placed.around(self.field, *idx);
            self.nodes += 1 + (near.len() / NODE) as u64;
            let gap = self.scratch.gap(self.field, *idx, near, Fit::First);
            self.offsets[*idx as usize] = gap.offset;
            self.placed.add(Placed::new(self.field, *idx, gap.offset));
        }
        Ok(())
    }
}
