//! A step of a lane explained: who is live, by group, what would lower it; and what happens between two steps.
//!
//! In: a comparison and a [`PeakAsk`]. Out: a [`PeakReport`], which says nothing that the source does not state: where nobody
//! knows who reads a block, the report has a sentence in the place of the figures. Every figure is exact: the tensors' bytes
//! are the live curve, with the rest they are the reserved one. Made on the worker: O(events * (1 + tensors left out)), and
//! walks of the ops of the runs that have live tensors.

mod advice;
mod groups;
mod range;
mod set;
mod uses;

use std::borrow::Cow;

use super::changes::Changes;
use super::peak_contributors::PeakContributors;
use super::{Attribute, Grouping, Held, Selected};
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, Step};

pub use advice::{Holder, IdleMember, IdleSteps, UsedBy, Uses, Without};
pub use groups::LiveGroup;
pub use range::{CurveStats, RangeStats, StepRange, Tally};
pub use set::{LiveMember, LiveSet, Rest};

/// What is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PeakAt {
    /// The first step with the most live bytes; where these are not recorded, with the most reserved ones.
    #[default]
    Peak,
    /// A step.
    Step(Step),
    /// The steps of a range, and of them that with the most live bytes.
    Range(StepRange),
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakAsk {
    /// The lane, by position.
    pub lane: usize,
    /// Where.
    pub at: PeakAt,
    /// By what tensors are grouped.
    pub by: Attribute,
    /// How many entries rankings have at most.
    pub n_first: usize,
    /// The lane, by position, whose bytes are told beside: at its own peak, or at the same step.
    pub against: Option<usize>,
}

/// Without how many of the largest tensors the peak is worked out.
const MOST_LEFT_OUT: usize = 8;

/// A step explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeakReport {
    /// What was asked.
    pub ask: PeakAsk,
    /// Who is live on the step.
    pub set: LiveSet,
    /// The same by group, most bytes first.
    pub groups: Vec<LiveGroup>,
    /// By member the position of its group.
    pub group_of: Vec<u32>,
    /// Members by group, largest first, and where each group begins among them, with the end.
    in_groups: (Vec<u32>, Vec<u32>),
    /// Who waits and for whom; or why that is not known.
    pub uses: Result<Uses, &'static str>,
    /// What the lane's peak would be without the largest members; or why that is not known.
    pub without: Result<Vec<Without>, &'static str>,
    /// The largest live bytes of the lane, and the first step that has them.
    pub peak: (Bytes, Option<Step>),
    /// What happens in the range, where one is asked about.
    pub range: Option<RangeStats>,
    /// Members that were held before the range began; `None` where no range is asked about.
    pub alive_before: Option<Tally>,
    /// What this lane holds otherwise than another; `None` where none is asked about, or it has no such step.
    pub changes: Option<Changes>,
}

/// The step that the peak of a lane is explained at; `None` where the lane has no step.
pub fn peak_step(comparison: &Comparison, lane: usize) -> Option<Step> {
    let summary = &comparison.lanes.get(lane)?.summary;
    let (_, states_live) = comparison.states(lane);
    let live = summary.peak_live_step.filter(|_| states_live);
    live.or(summary.peak_reserved_step)
}

impl PeakReport {
    /// Explains a step. `None` where there is no such lane, no such step, or no step at all.
    pub fn new(comparison: &Comparison, ask: PeakAsk) -> Option<Self> {
        let row = comparison.lanes.get(ask.lane)?;
        let lane = (comparison, ask.lane);
        let grouping = Grouping::new(comparison, ask.by);
        let range = match ask.at {
            PeakAt::Range(range) => Some(RangeStats::new(lane, range, &grouping)?),
            PeakAt::Peak | PeakAt::Step(_) => None,
        };
        let step = match (ask.at, &range) {
            (PeakAt::Step(step), _) => step,
            (_, Some(stats)) => {
                let curve = stats.live.as_ref().or(stats.reserved.as_ref());
                curve.map_or(stats.range.start, |curve| curve.peak.1)
            }
            _ => peak_step(comparison, ask.lane)?,
        };
        if step.0 >= comparison.axis.n_steps {
            return None;
        }
        let set = LiveSet::new(comparison, ask.lane, step);
        let held = |member: &LiveMember| Held {
            tensor: member.tensor,
            bytes: member.bytes,
            n_steps: member.n_steps(),
        };
        let against = ask.against.filter(|other| *other != ask.lane);
        let changes = against.and_then(|other| changes_from(lane, other, (ask.at, step)));
        let held: Vec<Held> = set.members.iter().map(held).collect();
        let (groups, group_of) = groups::gather(&held, &grouping);
        Some(Self {
            ask,
            in_groups: members_by_group(&group_of, groups.len()),
            alive_before: range.as_ref().map(|stats| alive_before(&set, stats.range.start)),
            groups,
            group_of,
            uses: advice::uses_of(lane, &set, ask.n_first),
            without: advice::without(lane, &set, ask.n_first.min(MOST_LEFT_OUT)),
            peak: row.curves.live.first_maximum(),
            changes,
            set,
            range,
        })
    }

    /// The members of a group, largest first, with their positions among all.
    pub fn members_of(&self, group: u32) -> impl ExactSizeIterator<Item = (u32, &LiveMember)> {
        let (members, starts) = &self.in_groups;
        let group = group as usize;
        let range = starts.get(group).zip(starts.get(group + 1));
        let range = range.map_or(0..0, |(start, end)| *start as usize..*end as usize);
        members[range]
            .iter()
            .map(|member| (*member, &self.set.members[*member as usize]))
    }

    /// How much of the step's live bytes these are, in percent.
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    pub fn share(&self, bytes: Bytes) -> f64 {
        bytes.get() as f64 / self.set.live.get().max(1) as f64 * 100.0
    }
}

/// What a lane holds on a step that another does not hold at its peak, or on the same step.
fn changes_from((comparison, lane): (&Comparison, usize), other: usize, (at, step): (PeakAt, Step)) -> Option<Changes> {
    comparison.lanes.get(other)?;
    let other_step = match at {
        PeakAt::Peak => peak_step(comparison, other)?,
        PeakAt::Step(_) | PeakAt::Range(_) => step,
    };
    let before = PeakContributors::at(comparison, other, other_step, usize::MAX);
    let after = PeakContributors::at(comparison, lane, step, usize::MAX);
    Some(Changes::new(&before, &after))
}

/// Positions of members by group, in their order, and where each group begins, with the end. Linear.
fn members_by_group(group_of: &[u32], n_groups: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; n_groups + 1];
    for group in group_of {
        starts[*group as usize + 1] += 1;
    }
    for group in 0..n_groups {
        starts[group + 1] += starts[group];
    }
    let mut next = starts.clone();
    let mut members = vec![0_u32; group_of.len()];
    for (member, group) in (0_u32..).zip(group_of) {
        let place = &mut next[*group as usize];
        members[*place as usize] = member;
        *place += 1;
    }
    (members, starts)
}

/// Members that came before a step.
fn alive_before(set: &LiveSet, start: Step) -> Tally {
    let mut tally = Tally::default();
    for member in set.members.iter().filter(|member| member.birth < start) {
        tally.add(member.bytes);
    }
    tally
}

/// What a tensor is called, always something: its name, else what it is by number. O(1).
pub fn tensor_label(comparison: &Comparison, tensor: Selected) -> Cow<'_, str> {
    if let Some((trace, request)) = comparison.request(tensor.tensor) {
        return Cow::Owned(trace.label(&request.lifetime));
    }
    let name = comparison.tensor_name(tensor.graph, tensor.tensor);
    let what = if comparison.is_problem() {
        "buffer"
    } else if comparison.measured_lane(tensor.graph).is_some() {
        "block"
    } else {
        "tensor"
    };
    if name.is_empty() {
        Cow::Owned(format!("{what} {}", tensor.tensor.0))
    } else if comparison.is_problem() {
        Cow::Owned(format!("{what} {name}"))
    } else {
        Cow::Borrowed(name)
    }
}
