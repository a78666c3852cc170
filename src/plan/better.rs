//! Smaller plans, reported while a search runs.
//!
//! Which plans are reported, and when, depends on timing; the plan that the search ends with does not.

use std::sync::Mutex;

use super::problem::{Plan, Planned, Task};
use highwater_model::units::Bytes;

/// Gets each plan that is smaller than all before it, in descending order of footprint. The calls come from threads of
/// the search, one at a time.
pub type Watch<'a> = &'a (dyn Fn(Planned) + Sync);

/// The reports of one search.
pub(super) struct Better<'a> {
    strategy: &'static str,
    watch: Watch<'a>,
    /// The footprint of the last report.
    lowest: Mutex<Option<Bytes>>,
}

impl std::fmt::Debug for Better<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Better")
            .field("strategy", &self.strategy)
            .field("lowest", &self.lowest)
            .finish_non_exhaustive()
    }
}

impl<'a> Better<'a> {
    pub(super) const fn new(strategy: &'static str, watch: Watch<'a>) -> Self {
        Self {
            strategy,
            watch,
            lowest: Mutex::new(None),
        }
    }

    /// Reports a plan where it is smaller than those before. `bound` is the best proved lower bound so far. O(n).
    pub(super) fn offer(&self, task: &Task<'_>, offsets: &[u64], bound: u64) {
        let plan = Plan::new(task.problem, task.shapes.spread(offsets));
        // No thread panics while it holds the lock, unless the watch does.
        let Ok(mut lowest) = self.lowest.lock() else { return };
        if lowest.is_some_and(|lowest| lowest <= plan.footprint) {
            return;
        }
        *lowest = Some(plan.footprint);
        (self.watch)(Planned {
            strategy: self.strategy,
            plan,
            lower_bound: task.shapes.peak_live(task.progress).unwrap_or(Bytes(task.bound)),
            proved_bound: Bytes(task.bound.max(bound)),
            n_fixed: task.problem.n_fixed(),
            nodes: 0,
            tried: Vec::new(),
            regions: Vec::new(),
            is_unfinished: true,
        });
    }
}
