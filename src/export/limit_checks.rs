//! Limits beside a lane and what it is compared with: which hold, which are broken, and of which nobody can say.

use super::against::Against;
use highwater_analysis::{Figure, Limit, Metric};

/// What becomes of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Holds,
    /// It is broken, or nobody can say that it holds: why. The answer is "no".
    Broken(String),
    /// There is nothing that it could be compared with, as what was before ended early: why. The answer is not "no" for it.
    Open(String),
}

/// A limit, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitChecks {
    /// The limit, as it was written.
    pub limit: String,
    /// What becomes of it.
    pub outcome: Outcome,
}

impl LimitChecks {
    /// Whether the answer is "no" for it.
    pub const fn is_broken(&self) -> bool {
        matches!(self.outcome, Outcome::Broken(_))
    }

    /// Why it does not hold, or why nobody can say.
    pub fn why(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Holds => None,
            Outcome::Broken(why) | Outcome::Open(why) => Some(why),
        }
    }

    pub(super) fn new(against: &Against<'_>, limit: &Limit) -> Self {
        let (now, before) = (against.now(limit.metric), against.before(limit.metric));
        Self {
            limit: limit.text.clone(),
            outcome: outcome(against, limit, now, before),
        }
    }
}

fn outcome(against: &Against<'_>, limit: &Limit, now: Option<Figure>, before: Option<Figure>) -> Outcome {
    let Metric { label, .. } = limit.metric;
    let Some(now) = now else {
        return Outcome::Broken(format!("{label} is not recorded, so that nobody can say"));
    };
    if against.ended_early_before() && limit.needs_before() && !against.lane.ends_early() {
        return Outcome::Open(format!(
            "the baseline did not run to its end, so that its {label} is not known and there is nothing to compare with; \
             write the baseline again from a run that fits"
        ));
    }
    if limit.needs_before() && before.is_none() {
        return Outcome::Broken(format!(
            "the baseline does not say its {label}, so that nobody can compare"
        ));
    }
    let why = limit.broken(now, before);
    match (why, against.lane.ends_early()) {
        (None, false) => Outcome::Holds,
        (Some(why), false) => Outcome::Broken(why),
        (Some(why), true) if !against.ended_early_before() => Outcome::Broken(format!(
            "{why}; and the run ends early, so that this is the figure until then"
        )),
        (_, true) => Outcome::Broken(format!(
            "the run ends early: {label} is {now} until then, and nobody can say what it would be"
        )),
    }
}
