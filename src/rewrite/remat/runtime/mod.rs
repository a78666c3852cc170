//! The runtime of the DTR paper's simulator: replays a tape under a budget without lookahead; an evicted storage is
//! recomputed, with everything that it needs, when an op reads it.
//!
//! In: a [`Tape`], a request, a rule. Out: a [`RematRun`] with every decision. Storages of the caller (constants,
//! parameters, feeds) stay resident; results of non-recomputable ops are never evicted. With a budget, a storage that the
//! caller releases is evicted at once and can return as an input of others; without one it is freed for good. Out of
//! memory and thrashing are answers.
//!
//! Files: `wiring` (which storage is made from which), `storage_state` (current states), `pool` and `choose` (the
//! decision), `rule` (the interface of heuristics), `reach`, `dtr_eq_class` and `simple_rules` (heuristics), `machine`,
//! `materialize` and `non_recomputable` (execution).

mod choose;
mod dtr_eq_class;
mod machine;
mod materialize;
mod non_recomputable;
mod pool;
mod quotient;
mod reach;
mod rule;
mod simple_rules;
mod storage_state;
mod wiring;

use super::run::{RematRequest, RematRun};
use dtr_eq_class::DtrEqClass;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::Tape;
use machine::Machine;
use reach::Reach;
use simple_rules::{DtrLocal, Largest, Lru, Random};

/// The cost of an eviction candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeRule {
    Dtr,
    /// Union-find classes.
    DtrEqClass,
    DtrLocal,
    Msps,
    Lru,
    Largest,
    Random,
}

/// O(tape) without evictions; a choice scans all candidates once, in floats.
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
    // Without a budget nothing is evicted: the cheapest rule suffices.
    let rule = if request.budget.is_none() {
        RuntimeRule::Lru
    } else {
        rule
    };
    match rule {
        RuntimeRule::Dtr => Machine::new(tape, request, Reach::<true>::new(n, n_ops)).run(progress),
        RuntimeRule::DtrEqClass => Machine::new(tape, request, DtrEqClass::new(n)).run(progress),
        RuntimeRule::DtrLocal => Machine::new(tape, request, DtrLocal).run(progress),
        RuntimeRule::Msps => Machine::new(tape, request, Reach::<false>::new(n, n_ops)).run(progress),
        RuntimeRule::Lru => Machine::new(tape, request, Lru).run(progress),
        RuntimeRule::Largest => Machine::new(tape, request, Largest).run(progress),
        RuntimeRule::Random => Machine::new(tape, request, Random(request.seed)).run(progress),
    }
}
