//! What a point came to.

use crate::Lane;
use highwater_model::units::{Bytes, Nanos};
use highwater_options::Finding;
use highwater_rewrite::remat::RematStatus;
use highwater_sim::fold::ReservedParts;
use highwater_sim::{Params, StaticMemoryPolicy};

/// A point of a space with what it came to.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPoint {
    /// Its number in the space.
    pub idx: u64,
    /// The policy in force.
    pub policy: StaticMemoryPolicy,
    /// What it came to.
    pub outcome: Outcome,
}

/// What a point came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was simulated.
    Ran(PointFigures),
    /// Rules call its configuration an error, so that it was not; never empty.
    Refused(Vec<Refusal>),
    /// It cannot be simulated; a sentence that says why.
    Failed(String),
}

/// An error-level finding about a configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// The rule's id.
    pub rule: &'static str,
    /// What is wrong, a sentence without a final dot.
    pub message: String,
    /// The options and variables at fault.
    pub options: Vec<String>,
}

impl From<&Finding> for Refusal {
    fn from(finding: &Finding) -> Self {
        Self {
            rule: finding.rule,
            message: finding.message.clone(),
            options: finding.options.clone(),
        }
    }
}

/// How a simulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// At its end: it fits on its device.
    Complete,
    /// The device ran out of memory, or refused a request of a trace.
    OutOfMemory,
    /// Computing anew cost more than the limit.
    Thrashes,
    /// A run under a budget had nothing left to evict.
    BudgetTooSmall,
}

impl Ending {
    /// Its name in files, one word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::OutOfMemory => "out_of_memory",
            Self::Thrashes => "thrashes",
            Self::BudgetTooSmall => "budget_too_small",
        }
    }

    /// In a few words for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Complete => "fits",
            Self::OutOfMemory => "out of memory",
            Self::Thrashes => "thrashes",
            Self::BudgetTooSmall => "budget too small",
        }
    }
}

/// The figures of one simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct PointFigures {
    /// How it ended; figures are those until then.
    pub ending: Ending,
    /// Memory of the device, without what others hold.
    pub capacity: Bytes,
    /// The largest device bytes in use.
    pub peak_reserved: Bytes,
    /// Its parts.
    pub reserved: ReservedParts,
    /// The largest requested bytes of feature memory.
    pub peak_live: Bytes,
    /// 1 - peak live / peak reserved of feature memory.
    pub fragmentation: f64,
    /// Driver mallocs.
    pub device_mallocs: u64,
    /// Driver frees.
    pub device_frees: u64,
    /// Physical pages that come, are mapped and unmapped.
    pub page_calls: u64,
    /// Graphs unloaded to make room.
    pub unloads: u64,
    /// Estimated time that the policy's own calls, and computing anew, cost.
    pub overhead: Nanos,
}

impl PointFigures {
    /// Of a lane. O(runs).
    pub(super) fn of(lane: &Lane, params: &Params) -> Self {
        let summary = &lane.summary;
        Self {
            ending: ending(lane),
            capacity: params.device_bytes,
            peak_reserved: summary.peak_reserved,
            reserved: summary.reserved,
            peak_live: summary.peak_live,
            fragmentation: summary.fragmentation,
            device_mallocs: summary.device_mallocs,
            device_frees: summary.device_frees,
            page_calls: summary.pages_allocated + summary.pages_mapped + summary.pages_unmapped,
            unloads: summary.unloads,
            overhead: summary.estimated_overhead,
        }
    }

    /// Calls of the driver that give, take or map memory, counted as those of a lane.
    pub const fn device_calls(&self) -> u64 {
        self.device_mallocs
            .saturating_add(self.device_frees)
            .saturating_add(self.page_calls)
    }

    /// Whether it ran to its end on its device.
    pub fn fits(&self) -> bool {
        self.ending == Ending::Complete
    }
}

fn ending(lane: &Lane) -> Ending {
    let runs = lane.rewrite.iter().flat_map(|rewrite| rewrite.remat.iter().flatten());
    for run in runs {
        match run.answer.status {
            RematStatus::Ok => {}
            RematStatus::Thrash => return Ending::Thrashes,
            RematStatus::OutOfMemory(_) => return Ending::BudgetTooSmall,
        }
    }
    if lane.summary.out_of_memory || lane.refusals.is_some() {
        return Ending::OutOfMemory;
    }
    Ending::Complete
}

impl SweepPoint {
    /// Its figures, where it was simulated.
    pub const fn figures(&self) -> Option<&PointFigures> {
        match &self.outcome {
            Outcome::Ran(figures) => Some(figures),
            _ => None,
        }
    }

    /// Its figures, where it ran to its end on its device: then it may be recommended.
    pub fn fitting(&self) -> Option<&PointFigures> {
        self.figures().filter(|figures| figures.fits())
    }

    /// Its ending in a few words; of what was not simulated, that.
    pub fn label(&self) -> &'static str {
        match &self.outcome {
            Outcome::Ran(figures) => figures.ending.label(),
            Outcome::Refused(_) => "refused by a rule",
            Outcome::Failed(_) => "not simulated",
        }
    }

    /// Why there are no figures, in sentences.
    pub fn why(&self) -> Vec<String> {
        match &self.outcome {
            Outcome::Ran(_) => Vec::new(),
            Outcome::Refused(refusals) => refusals
                .iter()
                .map(|one| format!("{}: {}", one.rule, one.message))
                .collect(),
            Outcome::Failed(why) => vec![why.clone()],
        }
    }
}
