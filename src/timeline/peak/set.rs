//! Tensors that are live on a step of a lane, and the rest of the reserved bytes.
//!
//! ```text
//! reserved  |== tensors ==|unlisted|rounding| idle |weights|variables|io|elsewhere|
//!           |<----- live ---------->|<-------------- rest ------------------------>|
//! ```
//!
//! Invariants: bytes of tensors and `unlisted` add up to the lane's live curve on the step; with the rest they add up
//! to its reserved curve plus the surplus: bytes of buffers that share a place, or of recorded blocks outside the
//! regions that the file states.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::Selected;
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, Step};
use highwater_sim::fold::{Moment, moment, most_reserved_moment};
use highwater_sim::{Event, EventKind, MemoryChange, Simulation, Subject};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveMember {
    pub tensor: Selected,
    /// Exact bytes, of all copies.
    pub bytes: Bytes,
    pub birth: Step,
    /// Exclusive; the end of the axis if it is never freed.
    pub end: Step,
    pub n_copies: u32,
}

impl LiveMember {
    /// At least 1.
    pub const fn n_steps(&self) -> u32 {
        let steps = self.end.0.saturating_sub(self.birth.0);
        if steps == 0 { 1 } else { steps }
    }
}

/// Reserved bytes that belong to no tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReservedRest {
    /// Allocated beyond the requested bytes.
    Rounding,
    /// Reserved for feature memory without a tensor.
    Idle,
    Weights,
    Variables,
    InputOutput,
    /// Reserved at another moment of the same step.
    Elsewhere,
    /// Of a recording: outside the blocks and regions that the file lists.
    Unlisted,
}

impl ReservedRest {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Rounding => "rounding by allocators",
            Self::Idle => "reserved, unused",
            Self::Weights => "weights",
            Self::Variables => "variables",
            Self::InputOutput => "inputs and outputs",
            Self::Elsewhere => "reserved at another moment of the step",
            Self::Unlisted => "reserved, of nothing that the file lists",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveSet {
    pub step: Step,
    /// The largest first, then the earliest.
    pub members: Vec<LiveMember>,
    /// Live bytes without a listed tensor, for files that state a curve but no blocks.
    pub unlisted: Bytes,
    /// The value of the lane's live curve.
    pub live: Bytes,
    /// The value of the lane's reserved curve; `None` if it is not recorded.
    pub reserved: Option<Bytes>,
    /// Parts above 0 of the reserved bytes that belong to no tensor.
    pub rest: Vec<(ReservedRest, Bytes)>,
    /// Excess of live bytes and rest over the reserved ones: buffers that share a place, or blocks outside the regions
    /// that a recording states.
    pub surplus: Bytes,
}

impl LiveSet {
    /// Empty for an unknown lane or step. O(events + tensors log tensors).
    pub fn new(comparison: &Comparison, lane: usize, step: Step) -> Self {
        let Some(row) = comparison.lanes.get(lane) else {
            return Self::default();
        };
        let live = row.curves.live.get(step.idx()).copied().unwrap_or_default();
        Self::at(comparison, lane, step, live, &moment(&row.simulation, step))
    }

    /// The live set at the moment of a step at which most is reserved, and that moment. Live bytes may be below the
    /// lane's curve. `None` for an unknown lane. O(events + tensors log tensors).
    pub(crate) fn most_reserved(comparison: &Comparison, lane: usize, step: Step) -> Option<(Self, Moment)> {
        let row = comparison.lanes.get(lane)?;
        let moment = most_reserved_moment(&row.simulation, step);
        Some((Self::at(comparison, lane, step, moment.live, &moment), moment))
    }

    fn at(comparison: &Comparison, lane: usize, step: Step, live: Bytes, moment: &Moment) -> Self {
        let row = &comparison.lanes[lane];
        let members = members(comparison, lane, moment);
        let listed: Bytes = members.iter().map(|member| member.bytes).sum();
        let mut set = Self {
            step,
            members,
            unlisted: live.saturating_sub(listed),
            live,
            ..Self::default()
        };
        if comparison.states(lane).0 {
            let reserved = row.curves.reserved.get(step.idx()).copied().unwrap_or_default();
            set.add_rest(moment, reserved, comparison.is_measured_lane(lane));
        }
        set
    }

    fn add_rest(&mut self, moment: &Moment, reserved: Bytes, is_measured: bool) {
        let parts = moment.parts;
        let mut rest = vec![
            (ReservedRest::Rounding, moment.rounded.saturating_sub(moment.live)),
            (ReservedRest::Idle, parts.features.saturating_sub(moment.rounded)),
            (ReservedRest::Weights, parts.weights),
            (ReservedRest::Variables, parts.variables),
            (ReservedRest::InputOutput, parts.io),
        ];
        let known = self.live + rest.iter().map(|(_, bytes)| *bytes).sum();
        let other = if is_measured {
            ReservedRest::Unlisted
        } else {
            ReservedRest::Elsewhere
        };
        rest.push((other, reserved.saturating_sub(known)));
        rest.retain(|(_, bytes)| *bytes > Bytes::ZERO);
        self.surplus = known.saturating_sub(reserved);
        self.reserved = Some(reserved);
        self.rest = rest;
    }
}

const NONE: u32 = u32::MAX;

/// Tensors that hold bytes at a moment, copies merged.
fn members(comparison: &Comparison, lane: usize, moment: &Moment) -> Vec<LiveMember> {
    let simulation = &comparison.lanes[lane].simulation;
    // By subject.
    let mut births = vec![NONE; simulation.subjects.len()];
    let mut ends = vec![NONE; simulation.subjects.len()];
    let before = simulation.events.iter().take(moment.n_events);
    for event in before {
        match event.kind.block_change() {
            Some(MemoryChange::Take) if is_tensor(simulation, &event) => {
                births[event.subject.0 as usize] = event.step.0;
            }
            Some(MemoryChange::Release) => births[event.subject.0 as usize] = NONE,
            Some(MemoryChange::Take) | None => {}
        }
    }
    let behind = simulation.events.from(moment.n_events);
    for event in behind.filter(|event| event.kind == EventKind::Free) {
        let end = &mut ends[event.subject.0 as usize];
        *end = (*end).min(event.step.0);
    }
    let session = comparison.session_of(lane);
    let mut members: BTreeMap<Selected, LiveMember> = BTreeMap::new();
    let live = simulation.subjects.iter().zip(births.iter().zip(&ends));
    for (row, (birth, end)) in live.filter(|(_, (birth, _))| **birth != NONE) {
        let (birth, end) = (Step(*birth), Step((*end).min(simulation.n_steps)));
        let Subject::Tensor { run, tensor, .. } = row.subject else {
            continue;
        };
        let Some(tensor) = Selected::in_session(session, run, tensor) else {
            continue;
        };
        let member = members.entry(tensor).or_insert(LiveMember {
            tensor,
            bytes: Bytes::ZERO,
            birth,
            end,
            n_copies: 0,
        });
        member.bytes += row.requested;
        member.birth = member.birth.min(birth);
        member.end = member.end.max(end);
        member.n_copies += 1;
    }
    let mut members: Vec<LiveMember> = members.into_values().collect();
    members.sort_by_key(|member| (Reverse(member.bytes), member.birth, member.tensor));
    members
}

fn is_tensor(simulation: &Simulation, event: &Event) -> bool {
    matches!(simulation.subject(event.subject).subject, Subject::Tensor { .. })
}
