//! Explanation of a step of a lane: live tensors by group, and ways to lower the peak; and events between two steps.
//!
//! In: a comparison and a [`PeakRequest`]. Out: a [`PeakReport`]. Where the source does not state the readers of a block, a
//! sentence takes the place of the figures. Figures are exact: bytes of tensors add up to the live curve, with the rest
//! to the reserved one. O(events * (1 + tensors left out)), and walks over the ops of the runs with live tensors.

mod advice;
mod groups;
mod range;
mod set;
mod uses;

use std::borrow::Cow;

use super::changes::Changes;
use super::peak_contributors::PeakContributors;
use super::ranks::RankSpread;
use super::{Attribute, Grouping, HeldTensor, Selected};
use highwater_analysis::{Comparison, LaneKind};
use highwater_model::lists::Lists;
use highwater_model::progress::{Cancel, Cancelled, Progress};
use highwater_model::units::{Bytes, Step};

use advice::Places;
pub use advice::{IdleSteps, IdleTensor, LeftOut, OpUse, PeakWithout, RetainingOp, Uses};
pub use groups::{EqualMembers, GroupPart, LiveGroup};
pub use range::{CurveStats, RangeStats, StepRange, Tally};
pub use set::{LiveMember, LiveSet, ReservedRest};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PeakAt {
    /// The first step with the most live bytes; if these are not recorded, with the most reserved ones.
    #[default]
    Peak,
    Step(Step),
    /// The step of the range with the most live bytes, and figures of the range.
    Range(StepRange),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakRequest {
    /// By position.
    pub lane: usize,
    pub at: PeakAt,
    pub by: Attribute,
    /// What the groups are divided into.
    pub within: Option<Attribute>,
    /// Maximum length of rankings.
    pub n_first: usize,
    /// Position of the baseline lane: compared at its own peak, or at the same step.
    pub against: Option<usize>,
}

/// Maximum number of tensors or groups for which the peak without them is computed.
const MOST_LEFT_OUT: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeakReport {
    pub ask: PeakRequest,
    pub set: LiveSet,
    /// Most bytes first.
    pub groups: Vec<LiveGroup>,
    pub group_of: Vec<u32>,
    in_groups: Lists<u32>,
    /// Members with one label and one size as one row; of a recording, which has many.
    pub equal: Vec<EqualMembers>,
    /// Or why uses are unknown.
    pub uses: Result<Uses, &'static str>,
    /// The lane's peak without each of the largest members, or of a recording without each of the largest groups; or why
    /// that is unknown.
    pub without: Result<Vec<PeakWithout>, &'static str>,
    /// The largest live bytes of the lane, and the first step that has them.
    pub peak: (Bytes, Option<Step>),
    pub range: Option<RangeStats>,
    /// For a range: members born before it.
    pub alive_before: Option<Tally>,
    /// At the peak of one of several recordings: all of them beside each other.
    pub ranks: Option<RankSpread>,
    /// Differences from the baseline; `None` without one, or where it has no such step.
    pub changes: Option<Changes>,
}

/// The step at which the peak of a lane is explained; `None` for a lane without steps.
pub fn peak_step(comparison: &Comparison, lane: usize) -> Option<Step> {
    let summary = &comparison.lanes.get(lane)?.summary;
    let (_, states_live) = comparison.states(lane);
    let live = summary.peak_live_step.filter(|_| states_live);
    live.or(summary.peak_reserved_step)
}

impl PeakReport {
    /// `None` where lane or step do not exist.
    pub fn new(comparison: &Comparison, ask: PeakRequest) -> Option<Self> {
        let cancel = Cancel::new();
        let made = Self::checked(comparison, ask, &Progress::silent(&cancel));
        made.expect("the flag is not shared, so nothing is cancelled")
    }

    /// As [`Self::new`]; the flag is checked between the parts.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn checked(
        comparison: &Comparison,
        ask: PeakRequest,
        progress: &Progress<'_>,
    ) -> Result<Option<Self>, Cancelled> {
        let grouping = Grouping::new(comparison, ask.by);
        let within = ask.within.map(|within| Grouping::new(comparison, within));
        let range = match ask.at {
            PeakAt::Range(range) => RangeStats::new(comparison, ask.lane, range, &grouping),
            PeakAt::Peak | PeakAt::Step(_) => None,
        };
        progress.check()?;
        let step = match (ask.at, &range) {
            (PeakAt::Step(step), _) => Some(step),
            (PeakAt::Range(_), stats) => stats.as_ref().map(|stats| {
                let curve = stats.live.as_ref().or(stats.reserved.as_ref());
                curve.map_or(stats.range.start, |curve| curve.peak.1)
            }),
            (PeakAt::Peak, _) => peak_step(comparison, ask.lane),
        };
        let step = step.filter(|step| step.0 < comparison.axis.n_steps);
        let Some((row, step)) = comparison.lanes.get(ask.lane).zip(step) else {
            return Ok(None);
        };
        let set = LiveSet::new(comparison, ask.lane, step);
        let held = |member: &LiveMember| HeldTensor {
            tensor: member.tensor,
            bytes: member.bytes,
            n_steps: member.n_steps(),
        };
        progress.check()?;
        let against = ask.against.filter(|other| *other != ask.lane);
        let changes = against.and_then(|other| changes_from(comparison, ask.lane, other, ask.at, step));
        progress.check()?;
        let held: Vec<HeldTensor> = set.members.iter().map(held).collect();
        let (groups, group_of) = groups::gather(&held, &grouping, within.as_ref());
        let members_by_group: Vec<(usize, u32)> = group_of.iter().map(|group| *group as usize).zip(0..).collect();
        let is_recorded = comparison.is_measured_lane(ask.lane);
        let equal = if is_recorded {
            groups::equal(&set, |member| tensor_label(comparison, member.tensor))
        } else {
            Vec::new()
        };
        progress.check()?;
        let n_left_out = ask.n_first.min(MOST_LEFT_OUT);
        let places = if is_recorded {
            Places::of_groups(comparison.session_of(ask.lane), &grouping, &groups, n_left_out)
        } else {
            Places::of_members(&set, n_left_out)
        };
        let uses = advice::uses_of(comparison, ask.lane, &set, ask.n_first);
        progress.check()?;
        let without = advice::without(comparison, ask.lane, &places);
        progress.check()?;
        Ok(Some(Self {
            ask,
            in_groups: Lists::of_pairs(groups.len(), members_by_group.iter().copied()),
            alive_before: range.as_ref().map(|stats| alive_before(&set, stats.range.start)),
            groups,
            group_of,
            equal,
            uses,
            without,
            peak: row.curves.live.first_maximum(),
            ranks: ranks(comparison, ask, progress),
            changes,
            set,
            range,
        }))
    }

    /// Largest first, with their positions among all members.
    pub fn members_of(&self, group: u32) -> impl ExactSizeIterator<Item = (u32, &LiveMember)> {
        let members = self.in_groups.of(group as usize).iter();
        members.map(|member| (*member, &self.set.members[*member as usize]))
    }

    /// The label and the live bytes of what is left out.
    pub fn left_out<'a>(&'a self, comparison: &'a Comparison, left_out: LeftOut) -> (Cow<'a, str>, Bytes) {
        let nothing = (Cow::Borrowed(""), Bytes::ZERO);
        match left_out {
            LeftOut::Member(member) => {
                let member = self.set.members.get(member as usize);
                member.map_or(nothing, |member| {
                    (tensor_label(comparison, member.tensor), member.bytes)
                })
            }
            LeftOut::Group(group) => {
                let group = self.groups.get(group as usize);
                group.map_or(nothing, |group| (Cow::Borrowed(&*group.text), group.bytes))
            }
        }
    }

    /// Percentage of the step's live bytes.
    pub fn share(&self, bytes: Bytes) -> f64 {
        bytes.percent_of(self.set.live)
    }
}

fn ranks(comparison: &Comparison, ask: PeakRequest, progress: &Progress<'_>) -> Option<RankSpread> {
    let is_asked = ask.at == PeakAt::Peak && comparison.is_measured_lane(ask.lane);
    is_asked.then(|| RankSpread::new(comparison.workload.recordings(), ask.by, progress))?
}

/// Differences from a lane at its peak, or at the same step.
fn changes_from(comparison: &Comparison, lane: usize, other: usize, at: PeakAt, step: Step) -> Option<Changes> {
    comparison.lanes.get(other)?;
    let other_step = match at {
        PeakAt::Peak => peak_step(comparison, other)?,
        PeakAt::Step(_) | PeakAt::Range(_) => step,
    };
    let before = PeakContributors::at(comparison, other, other_step, usize::MAX);
    let after = PeakContributors::at(comparison, lane, step, usize::MAX);
    Some(Changes::new(&before, &after))
}

fn alive_before(set: &LiveSet, start: Step) -> Tally {
    let mut tally = Tally::default();
    for member in set.members.iter().filter(|member| member.birth < start) {
        tally.add(member.bytes);
    }
    tally
}

/// The name of a tensor, else a label with its number. O(1).
pub fn tensor_label(comparison: &Comparison, tensor: Selected) -> Cow<'_, str> {
    if let Some((trace, request)) = comparison.request(tensor.tensor) {
        return Cow::Owned(trace.label(&request.lifetime));
    }
    let name = comparison.tensor_name(tensor.graph, tensor.tensor);
    let noun = comparison.study_of_graph(tensor.graph).words().tensor;
    if name.is_empty() {
        Cow::Owned(format!("{noun} {}", tensor.tensor.0))
    } else if comparison.lane_kind() == LaneKind::Strategies {
        Cow::Owned(format!("{noun} {name}"))
    } else {
        Cow::Borrowed(name)
    }
}
