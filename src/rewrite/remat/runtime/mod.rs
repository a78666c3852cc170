//! The runtime of the DTR paper's simulator: a tape is replayed under a budget, without a look ahead; what is evicted is
//! computed anew, with everything that it needs, when an op reads it.
//!
//! In: a [`Tape`], a request, a rule. Out: a [`RematRun`] with every decision. What a tape's caller owns (constants,
//! parameters, feeds) is resident for ever; what an op that must not run twice computes is never evicted. With a budget,
//! what nobody refers to any more is evicted at once and can come back as an input of others; without one it is given
//! up for good. Out of memory and thrashing are answers.
//!
//! The room: `wiring` (who is made from whom), `states` (what every storage is now), `pool` and `choose` (the decision),
//! `rule` and one file per heuristic, `machine`, `materialize` and `once` (what happens).

mod choose;
mod dtr;
mod dtr_eq_class;
mod dtr_local;
mod largest;
mod lru;
mod machine;
mod materialize;
mod msps;
mod non_recomputable;
mod pool;
mod quotient;
mod random;
mod reach;
mod rule;
mod storage_state;
mod wiring;

use super::run::{RematRequest, RematRun};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::Tape;
use machine::Machine;

/// What a storage costs when it is considered for eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeRule {
    /// Full evicted neighbourhood.
    Dtr,
    /// Union-find classes.
    DtrEqClass,
    /// Own cost alone.
    DtrLocal,
    /// Evicted ancestors.
    Msps,
    /// Least recently used.
    Lru,
    /// Largest storage.
    Largest,
    /// Seeded.
    Random,
}

/// Runs a tape. Linear in the tape without evictions; a choice looks at all candidates once, in floats.
///
/// # Errors
/// [`Cancelled`].
pub fn run_runtime(
    tape: &Tape,
    request: &RematRequest,
    rule: RuntimeRule,
    progress: &Progress<'_>,
) -> Result<RematRun, Cancelled> {
    let (n, n_ops) = (tape.tensors.len(), tape.ops.len());
    // Without a budget nothing is chosen: the cheapest rule will do.
    let rule = if request.budget.is_none() {
        RuntimeRule::Lru
    } else {
        rule
    };
    match rule {
        RuntimeRule::Dtr => Machine::new(tape, request, dtr::Dtr::new(n, n_ops)).run(progress),
        RuntimeRule::DtrEqClass => Machine::new(tape, request, dtr_eq_class::DtrEqClass::new(n)).run(progress),
        RuntimeRule::DtrLocal => Machine::new(tape, request, dtr_local::DtrLocal).run(progress),
        RuntimeRule::Msps => Machine::new(tape, request, msps::Msps::new(n, n_ops)).run(progress),
        RuntimeRule::Lru => Machine::new(tape, request, lru::Lru).run(progress),
        RuntimeRule::Largest => Machine::new(tape, request, largest::Largest).run(progress),
        RuntimeRule::Random => Machine::new(tape, request, random::Random::new(request.seed)).run(progress),
    }
}
