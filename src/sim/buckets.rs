//! Positions of items by step: births and ends of tensors.

use highwater_model::units::Step;

/// In list order within a step; one allocation serves all runs.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Buckets {
    /// Sorts items by step; steps outside the run are left out. O(items + steps).
    pub(super) fn fill(&mut self, n_steps: u32, steps: impl Iterator<Item = Step> + Clone) {
        let inside = |step: &Step| step.0 < n_steps;
        self.starts.clear();
        self.starts.resize(n_steps as usize + 2, 0);
        for step in steps.clone().filter(inside) {
            self.starts[step.idx() + 2] += 1;
        }
        for step in 2..self.starts.len() {
            self.starts[step] += self.starts[step - 1];
        }
        let n_items = self.starts.last().copied().unwrap_or(0);
        self.items.clear();
        self.items.resize(n_items as usize, 0);
        for (item, step) in (0_u32..).zip(steps).filter(|(_, step)| inside(step)) {
            // One position ahead, so that filling leaves each start in place.
            let next = &mut self.starts[step.idx() + 1];
            self.items[*next as usize] = item;
            *next += 1;
        }
    }

    pub(super) fn of(&self, step: u32) -> &[u32] {
        let at = step as usize;
        &self.items[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}
