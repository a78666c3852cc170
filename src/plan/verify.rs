//! Check of a plan, independent of strategies and of the shapes that they place: a sweep over births compares each
//! buffer with its neighbours in address order, O(n log n); after a collision, and wherever there are groups, all pairs
//! of buffers that are live on one step are compared, O(n^2) at worst.
//!
//! A buffer with gaps is live on the rest of its range; members of a group have one offset and never collide with each
//! other.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt;

use super::problem::{PlacementProblem, Plan};
use highwater_model::progress::{Cancel, Cancelled, Progress};

/// Buffers between two checks of the cancel flag.
const CHUNK: usize = 32_768;

/// Comparisons of live buffers between two checks of the flag: about 2 ms.
const WORK_PER_CHECK: usize = 1_000_000;

/// A defect of a plan. Buffers are given by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanDefect {
    /// Buffers without offset, or too many offsets.
    Count {
        /// Offsets in the plan.
        offsets: usize,
        /// Buffers in the problem.
        buffers: usize,
    },
    /// An offset is not a multiple of the buffer's alignment.
    Misaligned { buffer: usize, offset: u64, alignment: u64 },
    /// A fixed buffer is at another offset.
    Moved {
        buffer: usize,
        offset: u64,
        /// Its fixed offset.
        fixed: u64,
    },
    /// Two members of a group have different offsets.
    Split {
        first: usize,
        second: usize,
        first_offset: u64,
        second_offset: u64,
    },
    /// Two buffers overlap in bytes and steps.
    Overlap {
        first: usize,
        second: usize,
        /// The first common byte.
        offset: u64,
        /// The first common step.
        step: u32,
    },
    /// The footprint is not the highest end.
    Footprint { stated: u64, actual: u64 },
}

impl PlanDefect {
    /// The defect in a sentence, with `name` for the buffer at a position and `time` for a step.
    pub fn sentence(&self, name: &dyn Fn(usize) -> String, time: &dyn Fn(u32) -> u64) -> String {
        match self {
            Self::Count { offsets, buffers } => format!("the plan has {offsets} offsets for {buffers} buffers"),
            Self::Misaligned {
                buffer,
                offset,
                alignment,
            } => format!(
                "buffer {} starts at {offset}, which is no multiple of {alignment}",
                name(*buffer)
            ),
            Self::Moved { buffer, offset, fixed } => {
                format!("buffer {} starts at {offset} but is fixed at {fixed}", name(*buffer))
            }
            Self::Split {
                first,
                second,
                first_offset,
                second_offset,
            } => format!(
                "buffers {} and {} share an address but start at {first_offset} and {second_offset}",
                name(*first),
                name(*second)
            ),
            Self::Overlap {
                first,
                second,
                offset,
                step,
            } => format!(
                "buffers {} and {} both hold byte {offset} at step {}",
                name(*first),
                name(*second),
                time(*step)
            ),
            Self::Footprint { stated, actual } => {
                format!("the plan states a footprint of {stated} bytes, its buffers end at {actual}")
            }
        }
    }
}

impl fmt::Display for PlanDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(&|position| position.to_string(), &u64::from))
    }
}

impl std::error::Error for PlanDefect {}

/// Checks counts, alignment, fixed offsets, groups, the footprint, and overlaps.
///
/// # Errors
/// The first defect in that order; of overlaps the first in the order of births.
pub fn verify(problem: &PlacementProblem, plan: &Plan) -> Result<(), PlanDefect> {
    // This flag is never set.
    verify_with(problem, plan, &Progress::silent(&Cancel::new())).unwrap_or(Ok(()))
}

/// [`verify`] with a cancel flag.
///
/// # Errors
/// [`Cancelled`] once the flag is set; within, the first defect.
pub fn verify_with(
    problem: &PlacementProblem,
    plan: &Plan,
    progress: &Progress<'_>,
) -> Result<Result<(), PlanDefect>, Cancelled> {
    progress.check()?;
    match of_each(problem, plan) {
        Ok(()) => overlaps(problem, plan, progress),
        Err(defect) => Ok(Err(defect)),
    }
}

/// Everything except overlaps.
fn of_each(problem: &PlacementProblem, plan: &Plan) -> Result<(), PlanDefect> {
    if plan.offsets.len() != problem.buffers.len() {
        return Err(PlanDefect::Count {
            offsets: plan.offsets.len(),
            buffers: problem.buffers.len(),
        });
    }
    let mut actual = 0;
    for (idx, (buffer, offset)) in problem.buffers.iter().zip(&plan.offsets).enumerate() {
        if offset % buffer.alignment.max(1) != 0 {
            return Err(PlanDefect::Misaligned {
                buffer: idx,
                offset: *offset,
                alignment: buffer.alignment,
            });
        }
        if let Some(fixed) = buffer.offset.filter(|fixed| fixed != offset) {
            return Err(PlanDefect::Moved {
                buffer: idx,
                offset: *offset,
                fixed,
            });
        }
        actual = actual.max(offset.saturating_add(buffer.size.get()));
    }
    together(problem, plan)?;
    if actual != plan.footprint.get() {
        return Err(PlanDefect::Footprint {
            stated: plan.footprint.get(),
            actual,
        });
    }
    Ok(())
}

/// Members of a group have one offset.
fn together(problem: &PlacementProblem, plan: &Plan) -> Result<(), PlanDefect> {
    for group in &problem.groups {
        for pair in group.windows(2) {
            let (first, second) = (pair[0] as usize, pair[1] as usize);
            if plan.offsets[first] != plan.offsets[second] {
                return Err(PlanDefect::Split {
                    first,
                    second,
                    first_offset: plan.offsets[first],
                    second_offset: plan.offsets[second],
                });
            }
        }
    }
    Ok(())
}

/// Steps `lower..upper` on which a buffer holds the bytes `start..end`.
#[derive(Clone, Copy, Debug)]
struct Held {
    lower: u32,
    upper: u32,
    start: u64,
    end: u64,
    buffer: u32,
    /// Its group; without one its own position, beyond all groups.
    group: usize,
}

/// By birth.
fn all_held(problem: &PlacementProblem, plan: &Plan, progress: &Progress<'_>) -> Result<Vec<Held>, Cancelled> {
    let mut group_of: Vec<usize> = (0..problem.buffers.len())
        .map(|idx| problem.groups.len() + idx)
        .collect();
    for (number, group) in problem.groups.iter().enumerate() {
        for member in group {
            group_of[*member as usize] = number;
        }
    }
    let mut held: Vec<Held> = Vec::with_capacity(problem.buffers.len());
    for (idx, buffer) in problem.buffers.iter().enumerate() {
        if idx.is_multiple_of(CHUNK) {
            progress.check()?;
        }
        let mut lower = buffer.lower.0;
        let start = plan.offsets[idx];
        let gaps = problem.gaps_of(idx).iter().map(|gap| (gap.lower.0, gap.upper.0));
        for (until, next) in gaps.chain([(buffer.upper.0, buffer.upper.0)]) {
            if lower < until && buffer.size.get() > 0 {
                held.push(Held {
                    lower,
                    upper: until,
                    start,
                    end: start.saturating_add(buffer.size.get()),
                    buffer: u32::try_from(idx).unwrap_or(u32::MAX),
                    group: group_of[idx],
                });
            }
            lower = next;
        }
    }
    let births = (0_u32..)
        .zip(&held)
        .map(|(position, held)| (held.lower, held.buffer, position));
    let births = progress.sorted(births.collect())?;
    Ok(births
        .into_iter()
        .map(|(.., position)| held[position as usize])
        .collect())
}

/// Whether no two of them overlap, by neighbours: live ones are sorted by address, so a birth is compared with one
/// below and one above. O(n log n). Ignores groups, whose members may share bytes.
fn are_disjoint(held: &[Held]) -> bool {
    let mut live: BTreeMap<u64, u64> = BTreeMap::new();
    let mut ends: BinaryHeap<Reverse<(u32, u64)>> = BinaryHeap::new();
    for new in held {
        while let Some(Reverse((_, start))) = ends.peek().filter(|end| end.0.0 <= new.lower).copied() {
            ends.pop();
            live.remove(&start);
        }
        let below = live.range(..=new.start).next_back();
        let meets_below = below.is_some_and(|(_, end)| *end > new.start);
        if meets_below || live.range(new.start..new.end).next().is_some() {
            return false;
        }
        live.insert(new.start, new.end);
        ends.push(Reverse((new.upper, new.start)));
    }
    true
}

/// Neighbours first, which is fast and usually sufficient; pair by pair after a collision or with groups, to report the
/// first two.
fn overlaps(
    problem: &PlacementProblem,
    plan: &Plan,
    progress: &Progress<'_>,
) -> Result<Result<(), PlanDefect>, Cancelled> {
    let held = all_held(problem, plan, progress)?;
    if problem.groups.is_empty() && are_disjoint(&held) {
        return Ok(Ok(()));
    }
    let mut live: Vec<Held> = Vec::new();
    let mut work = 0;
    for new in held {
        work += live.len() + 16;
        if work > WORK_PER_CHECK {
            work = 0;
            progress.check()?;
        }
        live.retain(|old| old.upper > new.lower);
        let collision = live
            .iter()
            .find(|old| old.start < new.end && new.start < old.end && old.group != new.group);
        if let Some(old) = collision {
            return Ok(Err(PlanDefect::Overlap {
                first: old.buffer as usize,
                second: new.buffer as usize,
                offset: old.start.max(new.start),
                step: new.lower,
            }));
        }
        live.push(new);
    }
    Ok(Ok(()))
}
