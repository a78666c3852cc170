//! Check of a plan, independent of every strategy and of the shapes that they place: a sweep over births looks at the
//! neighbours of whoever is born, O(n log n); where it finds a collision, and wherever there are groups, every pair of
//! buffers that are live on one step is looked at, O(n^2) at worst.
//!
//! A buffer with gaps is live on what is left of its range; members of a group stand at one offset and never collide
//! with each other.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt;

use super::problem::{PlacementProblem, Plan};
use highwater_model::progress::{Cancel, Cancelled, Progress};

/// How many buffers are passed over between two looks at the cancel flag.
const CHUNK: usize = 32_768;

/// How many live buffers are looked at between two looks at the flag: about 2 ms.
const LOOKS: usize = 1_000_000;

/// What is wrong with a plan. Buffers are given by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanDefect {
    /// A buffer has no offset, or there are offsets too many.
    Count {
        /// Offsets in the plan.
        offsets: usize,
        /// Buffers in the problem.
        buffers: usize,
    },
    /// An offset is not a multiple of the buffer's alignment.
    Misaligned {
        /// Position of the buffer.
        buffer: usize,
        /// Its offset.
        offset: u64,
        /// Its alignment.
        alignment: u64,
    },
    /// A buffer with a fixed offset stands elsewhere.
    Moved {
        /// Position of the buffer.
        buffer: usize,
        /// Its offset.
        offset: u64,
        /// Where it is fixed.
        fixed: u64,
    },
    /// Two members of a group stand at different offsets.
    Split {
        /// Position of the one buffer.
        first: usize,
        /// Position of the other.
        second: usize,
        /// Offset of the one.
        first_offset: u64,
        /// Offset of the other.
        second_offset: u64,
    },
    /// Two buffers hold the same byte on the same step.
    Overlap {
        /// Position of the one buffer.
        first: usize,
        /// Position of the other.
        second: usize,
        /// The first byte that both hold.
        offset: u64,
        /// The first step on which both do.
        step: u32,
    },
    /// The footprint is not the highest end.
    Footprint {
        /// As stated.
        stated: u64,
        /// As found.
        actual: u64,
    },
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

/// Checks counts, alignment, fixed offsets, groups, the footprint, and that no two live buffers overlap.
///
/// # Errors
/// The first defect in that order; of overlaps the first in the order of births.
pub fn verify(problem: &PlacementProblem, plan: &Plan) -> Result<(), PlanDefect> {
    // Nobody can set this flag.
    verify_with(problem, plan, &Progress::silent(&Cancel::new())).unwrap_or(Ok(()))
}

/// The same, for problems that take a while.
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

/// Everything but overlaps.
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

/// Members of a group stand at one offset.
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
    /// Its group; its own position, beyond all groups, where it has none.
    group: usize,
}

/// What every buffer holds when, by birth.
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

/// Whether no two of them meet, found by neighbours: what is live stands sorted by its bytes, so whoever is born has to
/// look at one below and one above. O(n log n). Members of groups may share bytes, and this does not know them.
fn are_apart(held: &[Held]) -> bool {
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

/// Neighbours first, since that is quick and mostly all there is to say; pair by pair where they meet or groups are
/// about, to name the first two.
fn overlaps(
    problem: &PlacementProblem,
    plan: &Plan,
    progress: &Progress<'_>,
) -> Result<Result<(), PlanDefect>, Cancelled> {
    let held = all_held(problem, plan, progress)?;
    if problem.groups.is_empty() && are_apart(&held) {
        return Ok(Ok(()));
    }
    let mut live: Vec<Held> = Vec::new();
    let mut looked_at = 0;
    for new in held {
        looked_at += live.len() + 16;
        if looked_at > LOOKS {
            looked_at = 0;
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
