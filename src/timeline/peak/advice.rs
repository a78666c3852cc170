//! Ways to lower the live bytes of a step: idle tensors, ops that tensors are kept for, the peak without single
//! tensors.
//!
//! ```text
//! used by conv_3                          used by conv_3_backward
//!      |<------------ idle steps ------------->|
//!      41                 step 97             180
//! ```
//!
//! In: live tensors and their uses. Out: rankings with exact figures. A tensor is idle between its last use at or
//! before the step and its next use; without a next use, to its end.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::{Grouping, HeldTensor, Selected, TensorKey};
use super::groups::LiveGroup;
use super::set::{LiveMember, LiveSet};
use super::uses::{Around, RunUses, Use, around, unknown};
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, Step};
use highwater_sim::fold::live_peaks_without;
use highwater_sim::{DeviceSession, Subject, SubjectRow};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpUse {
    pub step: Step,
    pub op: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleSteps {
    /// Steps between the last and the next use.
    pub n_steps: u32,
    /// Bytes times idle steps.
    pub weight: u128,
}

/// An idle tensor, with its last and its next use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleTensor {
    /// Position among the members.
    pub member: u32,
    pub idle: IdleSteps,
    /// The last use; `None` before the first.
    pub since: Option<OpUse>,
    /// The next use; `None` after the last.
    pub until: Option<OpUse>,
}

/// An op for which tensors are kept live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetainingOp {
    /// It reads them next, or is their last use on the step itself.
    pub by: OpUse,
    pub bytes: Bytes,
    pub count: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// By member; `None` where the ops of its run are unknown.
    pub idle: Vec<Option<IdleSteps>>,
    /// The first few by bytes times idle steps; all above 0.
    pub longest: Vec<IdleTensor>,
    /// The first few by bytes.
    pub holders: Vec<RetainingOp>,
    /// Number and bytes of tensors without a further use.
    pub unread: (u64, Bytes),
}

/// What is left out of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// A tensor, in any run of its graph: position among the members.
    Member(u32),
    /// All recorded blocks of a group, whenever they are live: position among the groups.
    Group(u32),
}

/// The peak of a lane's live bytes without something, all else unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakWithout {
    pub left_out: LeftOut,
    pub peak: Bytes,
    pub step: Option<Step>,
    pub lowers_by: Bytes,
}

/// Walks the ops of the runs that have members.
///
/// # Errors
/// Why uses are unknown.
pub(super) fn uses_of(
    comparison: &Comparison,
    lane: usize,
    set: &LiveSet,
    n_first: usize,
) -> Result<Uses, &'static str> {
    if let Some(why) = unknown(comparison, lane) {
        return Err(why);
    }
    let mut by_run: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (position, member) in (0_u32..).zip(&set.members) {
        by_run.entry(member.tensor.run).or_default().push(position);
    }
    let mut found = vec![None; set.members.len()];
    for (run, positions) in by_run {
        let Some(uses) = RunUses::new(comparison, lane, run) else {
            continue;
        };
        let member = |position: &u32| &set.members[*position as usize];
        let tensors: Vec<Selected> = positions.iter().map(|position| member(position).tensor).collect();
        let around = around(&uses, &tensors, set.step);
        for (position, around) in positions.iter().zip(around) {
            found[*position as usize] = Some(within_life(around, member(position)));
        }
    }
    Ok(rank(comparison, lane, set, &found, n_first))
}

/// A use outside the live range belongs to another live range of the tensor.
fn within_life(around: Around, member: &LiveMember) -> Around {
    Around {
        last: around.last.filter(|used| used.step >= member.birth),
        next: around.next.filter(|used| used.step < member.end),
    }
}

/// The steps between the last and the next use.
fn idle_steps(around: Around, member: &LiveMember) -> IdleSteps {
    let end = around.next.map_or(member.end.0, |used| used.step.0);
    let start = around.last.map_or(member.birth.0, |used| used.step.0 + 1);
    let n_steps = end.saturating_sub(start);
    IdleSteps {
        n_steps,
        weight: u128::from(member.bytes.get()) * u128::from(n_steps),
    }
}

fn rank(comparison: &Comparison, lane: usize, set: &LiveSet, found: &[Option<Around>], n_first: usize) -> Uses {
    let mut uses = Uses::default();
    let mut holders: BTreeMap<(u32, Use), (Bytes, u64)> = BTreeMap::new();
    for (member, around) in set.members.iter().zip(found) {
        let Some(around) = *around else {
            uses.idle.push(None);
            continue;
        };
        uses.idle.push(Some(idle_steps(around, member)));
        let held_by = around.next.or(around.last.filter(|used| used.step == set.step));
        match held_by {
            Some(by) => {
                let sum = holders.entry((member.tensor.run, by)).or_default();
                *sum = (sum.0 + member.bytes, sum.1 + 1);
            }
            None => uses.unread = (uses.unread.0 + 1, uses.unread.1 + member.bytes),
        }
    }
    let words = |run: u32, used: Use| OpUse {
        step: used.step,
        op: RunUses::new(comparison, lane, run).map_or_else(String::new, |uses| uses.text(used.op)),
    };
    let mut holders: Vec<((u32, Use), (Bytes, u64))> = holders.into_iter().collect();
    holders.sort_by_key(|(by, (bytes, _))| (Reverse(*bytes), by.1, by.0));
    holders.truncate(n_first);
    let holder = |((run, used), (bytes, count))| RetainingOp {
        by: words(run, used),
        bytes,
        count,
    };
    uses.holders = holders.into_iter().map(holder).collect();
    let idle = uses.idle.iter().enumerate();
    let mut longest: Vec<(usize, IdleSteps)> = idle.filter_map(|(member, idle)| Some((member, (*idle)?))).collect();
    longest.retain(|(_, idle)| idle.weight > 0);
    longest.sort_by_key(|(member, idle)| (Reverse(idle.weight), *member));
    longest.truncate(n_first);
    let of_member = |(position, idle): (usize, IdleSteps)| {
        let (around, run) = (found[position].unwrap_or_default(), set.members[position].tensor.run);
        IdleTensor {
            member: u32::try_from(position).unwrap_or(u32::MAX),
            idle,
            since: around.last.map(|used| words(run, used)),
            until: around.next.map(|used| words(run, used)),
        }
    };
    uses.longest = longest.into_iter().map(of_member).collect();
    uses
}

/// The tensors that are left out together, by place in the answer.
pub(super) struct Places {
    pub(super) left_out: Vec<LeftOut>,
    of_tensor: BTreeMap<TensorKey, u32>,
}

impl Places {
    /// Each of the first few members alone.
    pub(super) fn of_members(set: &LiveSet, n_first: usize) -> Self {
        let asked = (0_u32..).zip(&set.members).take(n_first);
        Self {
            left_out: asked.clone().map(|(member, _)| LeftOut::Member(member)).collect(),
            of_tensor: asked.map(|(member, live)| (live.tensor.key(), member)).collect(),
        }
    }

    /// All blocks of a recording that are in one of the first few groups. A recording has many equal blocks: without one
    /// of them nothing changes.
    pub(super) fn of_groups(
        session: &DeviceSession,
        grouping: &Grouping,
        groups: &[LiveGroup],
        n_first: usize,
    ) -> Self {
        let places = (0_u32..).zip(groups).take(n_first);
        let place_of: BTreeMap<&str, u32> = places.clone().map(|(place, group)| (&*group.text, place)).collect();
        let mut of_tensor = BTreeMap::new();
        for (number, run) in (0_u32..).zip(&session.runs) {
            for item in run.bound.lifetimes() {
                let Some(tensor) = Selected::in_session(session, number, item.tensor) else {
                    continue;
                };
                let held = HeldTensor {
                    tensor,
                    bytes: item.bytes,
                    n_steps: item.n_steps(),
                };
                let group = grouping.group(&held).map(|group| grouping.text(group));
                if let Some(place) = group.and_then(|text| place_of.get(text)) {
                    of_tensor.insert(tensor.key(), *place);
                }
            }
        }
        Self {
            left_out: places.map(|(place, _)| LeftOut::Group(place)).collect(),
            of_tensor,
        }
    }
}

/// The peak without each of some tensors or groups, recomputed from the log: all copies and live ranges of a tensor in
/// every run of its graph are left out, as a change of the graph would do. O(events * places).
///
/// # Errors
/// Why the peak is unknown.
pub(super) fn without(comparison: &Comparison, lane: usize, places: &Places) -> Result<Vec<PeakWithout>, &'static str> {
    let Some(row) = comparison.lanes.get(lane) else {
        return Ok(Vec::new());
    };
    let session = comparison.session_of(lane);
    let place_of = |row: SubjectRow| {
        let Subject::Tensor { run, tensor, .. } = row.subject else {
            return u32::MAX;
        };
        let graph = session.runs.get(run as usize).map(|run| run.graph);
        let known = graph.and_then(|graph| places.of_tensor.get(&TensorKey { graph, tensor }));
        known.copied().unwrap_or(u32::MAX)
    };
    let left_out: Vec<u32> = row.simulation.subjects.iter().map(place_of).collect();
    let peaks = live_peaks_without(&row.simulation, &left_out, places.left_out.len());
    let (peak, _) = row.curves.live.first_maximum();
    if peaks.first().is_none_or(|(own, _)| *own != peak) {
        return Err("The file states only the live curve, so the peak without a block is not known.");
    }
    let found = places.left_out.iter().zip(peaks.into_iter().skip(1));
    Ok(found
        .map(|(left_out, (left, step))| PeakWithout {
            left_out: *left_out,
            peak: left,
            step,
            lowers_by: peak.saturating_sub(left),
        })
        .collect())
}
