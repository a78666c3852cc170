//! The outcome of a point.

use crate::lane::Lane;
use highwater_model::units::{Bytes, Nanos};
use highwater_options::Finding;
use highwater_rewrite::remat::RematStatus;
use highwater_sim::fold::ReservedParts;
use highwater_sim::{Params, StaticMemoryPolicy};

#[derive(Clone, Debug, PartialEq)]
pub struct SweepPoint {
    /// The number in the space.
    pub idx: u64,
    /// The active policy.
    pub policy: StaticMemoryPolicy,
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Ran(PointFigures),
    /// Error-level findings, which forbid the simulation; never empty.
    Refused(Vec<Finding>),
    /// Why it cannot be simulated, in a sentence.
    Failed(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// It fits on its device.
    Complete,
    /// The device ran out of memory, or refused a request of a trace.
    OutOfMemory,
    /// Recomputation cost more than the limit.
    Thrashes,
    /// A run under a budget had nothing left to evict.
    BudgetTooSmall,
}

impl Ending {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::OutOfMemory => "out_of_memory",
            Self::Thrashes => "thrashes",
            Self::BudgetTooSmall => "budget_too_small",
        }
    }

    pub const fn label(self) -> &'static str {
        match self {
            Self::Complete => "fits",
            Self::OutOfMemory => "out of memory",
            Self::Thrashes => "thrashes",
            Self::BudgetTooSmall => "budget too small",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PointFigures {
    /// The figures are those until this end.
    pub ending: Ending,
    /// Memory of the device that other processes leave.
    pub capacity: Bytes,
    pub peak_reserved: Bytes,
    /// The parts of the peak.
    pub reserved: ReservedParts,
    /// The peak of requested bytes of feature memory.
    pub peak_live: Bytes,
    /// 1 - peak live / peak reserved of feature memory.
    pub fragmentation: f64,
    pub device_mallocs: u64,
    pub device_frees: u64,
    /// Physical pages allocated, mapped and unmapped.
    pub page_calls: u64,
    /// Graphs unloaded to make room.
    pub unloads: u64,
    /// Estimated time of the policy's calls and of recomputation.
    pub overhead: Nanos,
}

impl PointFigures {
    /// O(runs).
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

    /// Driver calls that allocate, free or map memory, as counted for a lane.
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
    /// The figures, where it was simulated.
    pub const fn figures(&self) -> Option<&PointFigures> {
        match &self.outcome {
            Outcome::Ran(figures) => Some(figures),
            _ => None,
        }
    }

    /// The figures, where it ran to its end on its device and may be recommended.
    pub fn fitting(&self) -> Option<&PointFigures> {
        self.figures().filter(|figures| figures.fits())
    }

    /// The ending, or that it was not simulated, in a few words.
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
