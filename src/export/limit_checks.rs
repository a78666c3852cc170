//! Limits on a lane and its baseline: which hold, which are broken, and which cannot be decided.

use highwater_analysis::{Figure, Limit};
use highwater_model::units::Bytes;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Holds,
    /// Broken or undecidable, and why. The answer is "no".
    Broken(String),
    /// Nothing to compare with, because the baseline ended early, and why. The answer is not "no" for it.
    Open(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitCheck {
    /// The limit as it was typed.
    pub limit: String,
    pub outcome: Outcome,
}

/// A figure of a lane or of its baseline; `None` where it is not recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct LimitedFigure {
    pub(super) figure: Option<Figure>,
    /// Whether the run ended early, so that the figure is a lower bound.
    pub(super) ends_early: bool,
}

impl LimitCheck {
    /// `capacity` is that of the lane.
    pub(super) fn new(limit: &Limit, now: LimitedFigure, before: LimitedFigure, capacity: Option<Bytes>) -> Self {
        Self {
            limit: limit.text.clone(),
            outcome: match limit.within(capacity) {
                Ok(limit) => outcome(&limit, now, before),
                Err(why) => Outcome::Broken(why),
            },
        }
    }

    pub const fn is_broken(&self) -> bool {
        matches!(self.outcome, Outcome::Broken(_))
    }

    /// Why the limit does not hold or cannot be decided.
    pub fn why(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Holds => None,
            Outcome::Broken(why) | Outcome::Open(why) => Some(why),
        }
    }
}

fn outcome(limit: &Limit, now: LimitedFigure, before: LimitedFigure) -> Outcome {
    let label = limit.metric.label;
    let Some(figure) = now.figure else {
        return Outcome::Broken(format!("{label} is not recorded, so the limit cannot be checked"));
    };
    if before.ends_early && limit.needs_before() && !now.ends_early {
        return Outcome::Open(format!(
            "the baseline stopped early, so its {label} is unknown; write it again from a run that completes"
        ));
    }
    if limit.needs_before() && before.figure.is_none() {
        return Outcome::Broken(format!("the baseline does not state its {label}"));
    }
    match (limit.broken(figure, before.figure), now.ends_early) {
        (None, false) => Outcome::Holds,
        (Some(why), false) => Outcome::Broken(why),
        (Some(why), true) if !before.ends_early => {
            Outcome::Broken(format!("{why}; the run stops early, so the figure ends there"))
        }
        (_, true) => Outcome::Broken(format!(
            "the run stops early: {label} is {figure} until then and unknown for the whole run"
        )),
    }
}
