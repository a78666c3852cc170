//! The table of placement strategies, and the one function that runs a row.

use super::problem::{Plan, Problem};
use super::{greedy_by_size, naive};
use crate::progress::{Cancelled, Progress};

/// One row: a name, a sentence, and how it places buffers.
#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// The name on the command line and in the window.
    pub name: &'static str,
    /// One sentence for help texts.
    pub summary: &'static str,
    place: fn(&Problem, &Progress<'_>) -> Result<Vec<u64>, Cancelled>,
}

/// The name that runs every strategy and keeps the smallest footprint (the earlier row on a tie).
pub const BEST: &str = "best";

/// The name of the strategy that never reuses memory.
pub const NO_REUSE: &str = "naive";

/// Every strategy, best general choice first.
pub static STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "greedy_by_size",
        summary: "the largest buffer first, into the smallest gap that fits",
        place: greedy_by_size::place,
    },
    Strategy {
        name: NO_REUSE,
        summary: "no reuse: every buffer behind the one before",
        place: naive::place,
    },
];

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No row of that name.
    #[error("no placement strategy \"{name}\"; known: {known}")]
    UnknownStrategy {
        /// The name as given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The user stopped it.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// A plan and the strategy that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The strategy's name.
    pub strategy: &'static str,
    /// Its plan.
    pub plan: Plan,
}

/// The row of a name.
///
/// # Errors
/// [`PlanError::UnknownStrategy`] lists the names there are.
pub fn find(name: &str) -> Result<&'static Strategy, PlanError> {
    STRATEGIES.iter().find(|row| row.name == name).ok_or_else(|| {
        let mut known: Vec<&str> = STRATEGIES.iter().map(|row| row.name).collect();
        known.push(BEST);
        PlanError::UnknownStrategy {
            name: name.to_owned(),
            known: known.join(", "),
        }
    })
}

/// Places a problem by one strategy. In debug builds every plan is verified.
///
/// # Errors
/// [`Cancelled`].
pub fn plan(strategy: &'static Strategy, problem: &Problem, progress: &Progress<'_>) -> Result<Planned, Cancelled> {
    let plan = Plan::new(problem, (strategy.place)(problem, progress)?);
    // Beyond 16 EiB addresses saturate and nothing can be told apart; no device is asked to hold such a plan.
    debug_assert!(
        plan.footprint.get() > u64::MAX >> 1 || super::verify(problem, &plan).is_ok(),
        "strategy {}: {:?}",
        strategy.name,
        super::verify(problem, &plan)
    );
    Ok(Planned {
        strategy: strategy.name,
        plan,
    })
}

/// Places a problem by every strategy and keeps the smallest footprint.
///
/// # Errors
/// [`Cancelled`].
pub fn plan_best(problem: &Problem, progress: &Progress<'_>) -> Result<Planned, Cancelled> {
    let mut best: Option<Planned> = None;
    for row in STRATEGIES {
        let candidate = plan(row, problem, progress)?;
        if best
            .as_ref()
            .is_none_or(|best| candidate.plan.footprint < best.plan.footprint)
        {
            best = Some(candidate);
        }
    }
    Ok(best.unwrap_or(Planned {
        strategy: BEST,
        plan: Plan::default(),
    }))
}
