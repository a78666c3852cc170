//! Allocations and frees in a lane between two steps.
//!
//! ```text
//!            |<------- range ------->|
//!   ======a==|======                           alive before, freed inside
//!            |    ====b====                    allocated and freed inside
//!            |             ====c=====|=====    allocated inside
//! ```
//!
//! Invariant: before + allocated - freed = after.

use super::super::{Grouping, HeldTensor, Selected};
use super::groups::{LiveGroup, gather};
use highwater_analysis::Comparison;
use highwater_model::graph::TensorId;
use highwater_model::units::{Bytes, Step};
use highwater_sim::fold::{Block, StepBytes, blocks};
use highwater_sim::{Simulation, Subject};

/// Half-open and not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepRange {
    pub start: Step,
    /// Exclusive; above `start`.
    pub end: Step,
}

impl StepRange {
    /// The steps from one to the other, both inclusive, in any order; `None` for an axis without steps.
    pub fn between(a: Step, b: Step, n_steps: u32) -> Option<Self> {
        let last = n_steps.checked_sub(1)?;
        let (low, high) = (a.min(b).0.min(last), a.max(b).0.min(last));
        Some(Self {
            start: Step(low),
            end: Step(high + 1),
        })
    }

    pub const fn n_steps(self) -> u32 {
        self.end.0.saturating_sub(self.start.0)
    }

    pub const fn last(self) -> Step {
        Step(self.end.0.saturating_sub(1))
    }

    pub fn contains(self, step: Step) -> bool {
        self.start <= step && step < self.end
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurveStats {
    /// The largest value, and the first step that has it.
    pub peak: (Bytes, Step),
    /// The smallest value, and the first step that has it.
    pub minimum: (Bytes, Step),
    pub sum: u128,
    pub n_steps: u32,
}

impl CurveStats {
    /// `None` where the curve has none of the steps. O(steps).
    pub fn new(curve: &StepBytes, range: StepRange) -> Option<Self> {
        let mut stats: Option<Self> = None;
        for step in range.start.0..range.end.0 {
            let Some(value) = curve.get(step as usize).copied() else {
                break;
            };
            let at = (value, Step(step));
            let known = stats.get_or_insert(Self {
                peak: at,
                minimum: at,
                sum: 0,
                n_steps: 0,
            });
            if value > known.peak.0 {
                known.peak = at;
            }
            if value < known.minimum.0 {
                known.minimum = at;
            }
            known.sum += u128::from(value.get());
            known.n_steps += 1;
        }
        stats
    }

    /// Rounded down to whole bytes.
    pub fn mean(&self) -> Bytes {
        let mean = self.sum / u128::from(self.n_steps.max(1));
        Bytes(u64::try_from(mean).unwrap_or(u64::MAX))
    }
}

/// Number of tensors, and the sum of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub count: u64,
    pub bytes: Bytes,
}

impl Tally {
    pub(crate) fn add(&mut self, bytes: Bytes) {
        self.count += 1;
        self.bytes += bytes;
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeStats {
    pub range: StepRange,
    /// `None` where it is not recorded.
    pub live: Option<CurveStats>,
    /// `None` where it is not recorded.
    pub reserved: Option<CurveStats>,
    /// Held on the step before the range, or at the start of the trace.
    pub before: Tally,
    pub allocated: Tally,
    pub freed: Tally,
    /// Held after the last step.
    pub after: Tally,
    /// All tensors held at some time within the range; one that is allocated twice counts twice.
    pub groups: Vec<LiveGroup>,
}

impl RangeStats {
    /// `None` for an unknown lane, or a range without steps. O(events + steps of the range).
    pub fn new(comparison: &Comparison, lane: usize, range: StepRange, grouping: &Grouping) -> Option<Self> {
        let row = comparison.lanes.get(lane)?;
        let range = StepRange::between(range.start, range.last(), comparison.axis.n_steps)?;
        let (states_reserved, states_live) = comparison.states(lane);
        let stats = |curve: &StepBytes, is_stated: bool| is_stated.then(|| CurveStats::new(curve, range)).flatten();
        let session = comparison.session_of(lane);
        let mut answer = Self {
            range,
            live: stats(&row.curves.live, states_live),
            reserved: stats(&row.curves.reserved, states_reserved),
            before: Tally::default(),
            allocated: Tally::default(),
            freed: Tally::default(),
            after: Tally::default(),
            groups: Vec::new(),
        };
        let mut held = Vec::new();
        for block in blocks(&row.simulation) {
            let Some((run, tensor, bytes)) = asked_by(&row.simulation, &block) else {
                continue;
            };
            if !answer.count(&block, bytes) {
                continue;
            }
            if let Some(tensor) = Selected::in_session(session, run, tensor) {
                held.push(HeldTensor {
                    tensor,
                    bytes,
                    n_steps: (block.end.0 - block.start.0).max(1),
                });
            }
        }
        answer.groups = gather(&held, grouping, None).0;
        Some(answer)
    }

    /// Counts a block; returns whether it meets the range.
    fn count(&mut self, block: &Block, bytes: Bytes) -> bool {
        let StepRange { start, end } = self.range;
        let is_older = block.start < start && block.end >= start;
        let is_new = self.range.contains(block.start);
        if is_older {
            self.before.add(bytes);
        }
        if is_new {
            self.allocated.add(bytes);
        }
        let is_held = is_older || is_new;
        if is_held && block.end < end {
            self.freed.add(bytes);
        } else if is_held {
            self.after.add(bytes);
        }
        is_held
    }
}

/// The tensor of a block, and its requested bytes.
fn asked_by(simulation: &Simulation, block: &Block) -> Option<(u32, TensorId, Bytes)> {
    let row = simulation.subject(block.subject);
    match row.subject {
        Subject::Tensor { run, tensor, .. } => Some((run, tensor, row.requested)),
        _ => None,
    }
}
