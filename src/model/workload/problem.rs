//! Placement problems: buffers with known live ranges that share one arena.
//!
//! ```text
//! offset                      a buffer is a rectangle: lower..upper wide (steps),
//!   |   +----b----+           size high; two that overlap in steps must not
//!   |+--a--+      |           overlap in offsets
//!   +-----------------> step
//! ```
//!
//! A buffer may also have a fixed offset, gaps (steps on which its space is lent to others), and a group (buffers at
//! one address, such as a tensor and its in-place result; members never collide with each other).

use std::sync::Arc;

use super::allocation_order::AllocationOrder;
use super::lifetimes::Lifetimes;
use super::names::Names;
use super::op_list::OpList;
use super::shapes::Shapes;
use crate::progress::{Cancel, Cancelled, Progress};
use crate::units::{Bytes, Step};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// First step, inclusive.
    pub lower: Step,
    /// Last step, exclusive; greater than `lower`.
    pub upper: Step,
    pub size: Bytes,
    /// Divisor of the offset, at least 1.
    pub alignment: u64,
    /// Given offset; `None` where the planner chooses.
    pub offset: Option<u64>,
}

impl Buffer {
    /// With a size rounded up to the alignment, for the planner to place.
    pub fn unplaced(lower: Step, upper: Step, size: Bytes, alignment: u64) -> Self {
        Self {
            lower,
            upper,
            size: size.align_up(alignment),
            alignment: alignment.max(1),
            offset: None,
        }
    }

    /// Whether both are live on some step.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.lower < other.upper && other.lower < self.upper
    }
}

/// Steps `lower..upper` on which a buffer's space may be lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// Position of the buffer.
    pub buffer: u32,
    /// First step, inclusive.
    pub lower: Step,
    /// Last step, exclusive.
    pub upper: Step,
}

/// Buffers to place in one arena, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementProblem {
    pub buffers: Vec<Buffer>,
    /// Sorted; gaps of one buffer are disjoint and within its range, of which at least one step remains.
    pub gaps: Vec<Gap>,
    /// Buffers that share one address: ascending positions, at least two, no buffer in two groups.
    pub groups: Vec<Vec<u32>>,
}

/// A contradiction of a problem. Buffers are given by position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProblemError {
    /// A range without a step.
    #[error("buffer {buffer} ends at step {upper}, not after its start {lower}")]
    EmptyRange { buffer: usize, lower: Step, upper: Step },
    /// An alignment of zero.
    #[error("buffer {buffer} has an alignment of 0; 1 is the least")]
    ZeroAlignment { buffer: usize },
    /// A fixed offset that is no multiple of the alignment.
    #[error("buffer {buffer} is fixed at {offset}, which is no multiple of its alignment {alignment}")]
    MisalignedOffset { buffer: usize, offset: u64, alignment: u64 },
    /// A gap outside its buffer's range, empty, out of order or overlapping the previous one.
    #[error("gap {lower}..{upper} of buffer {buffer} is empty, outside its range, or not behind the gap before")]
    BadGap { buffer: u32, lower: Step, upper: Step },
    /// Gaps that cover a buffer's whole range.
    #[error("the gaps of buffer {buffer} leave no step on which it holds its bytes")]
    NeverLive { buffer: u32 },
    /// A group with an unknown or repeated member, or with fewer than two.
    #[error("group {group} names a buffer that does not exist or is in a group already, or has fewer than two")]
    BadGroup {
        /// Position of the group.
        group: usize,
    },
    /// Members of a group with different fixed offsets.
    #[error("buffers {first} and {second} share an address but are fixed at {first_offset} and {second_offset}")]
    SplitGroup {
        first: u32,
        second: u32,
        first_offset: u64,
        second_offset: u64,
    },
    /// Addresses or alignments beyond 63 bits.
    #[error("the buffers' sizes, offsets and alignments add up to more than 2^62 bytes")]
    TooLarge,
    /// Two fixed buffers that overlap.
    #[error("buffers {first} and {second} are both fixed so that they hold byte {offset} on step {step}")]
    FixedCollide {
        first: usize,
        second: usize,
        /// A common byte.
        offset: u64,
        /// A common step.
        step: Step,
    },
}

/// The plan recorded in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedPlan {
    /// In the order of the problem's buffers.
    pub offsets: Vec<u64>,
    /// The planner, in a few words.
    pub maker: String,
}

/// A problem of a file, with names and other facts for users and exports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProblemEntry {
    /// The name shown to users.
    pub name: String,
    pub problem: PlacementProblem,
    /// The buffers' names, in their order.
    pub ids: Names,
    /// The file's time of each step, where times are compressed to steps; otherwise empty.
    pub times: Vec<u64>,
    /// One offset for every buffer.
    pub recorded: Option<RecordedPlan>,
    /// The capacity stated by the file.
    pub capacity: Option<Bytes>,
    /// The order of allocations and frees, where the file states more than steps.
    pub order: Option<AllocationOrder>,
    /// The ops of this arena, where the file lists ops.
    pub ops: Option<Arc<OpList>>,
}

impl ProblemEntry {
    /// The file's time of a step.
    pub fn time(&self, step: Step) -> u64 {
        self.times.get(step.idx()).copied().unwrap_or(u64::from(step.0))
    }
}

impl PlacementProblem {
    /// Sizes are rounded up to `alignment`; ranges do not change.
    pub fn from_lifetimes(lifetimes: &Lifetimes, alignment: u64) -> Self {
        let items = lifetimes.items.iter();
        Self::of(items.map(|item| Buffer::unplaced(item.birth, item.end, item.bytes, alignment)))
    }

    /// Buffers without gaps and groups.
    pub fn of(buffers: impl IntoIterator<Item = Buffer>) -> Self {
        Self {
            buffers: buffers.into_iter().collect(),
            ..Self::default()
        }
    }

    /// O(log gaps).
    pub fn gaps_of(&self, buffer: usize) -> &[Gap] {
        let low = self.gaps.partition_point(|gap| (gap.buffer as usize) < buffer);
        let high = self.gaps.partition_point(|gap| (gap.buffer as usize) <= buffer);
        &self.gaps[low..high]
    }

    /// Checks the requirements of every planner. O(n log n).
    ///
    /// # Errors
    /// The first fault, in the order of [`ProblemError`].
    pub fn validate(&self) -> Result<(), ProblemError> {
        self.check_rows()?;
        if self.buffers.iter().any(|buffer| buffer.offset.is_some()) {
            Shapes::new(self).check_fixed()?;
        }
        Ok(())
    }

    /// The shapes of a valid problem.
    ///
    /// # Errors
    /// [`Cancelled`] once the flag is set; within, the first fault.
    pub fn checked(&self, progress: &Progress<'_>) -> Result<Result<Shapes, ProblemError>, Cancelled> {
        progress.check()?;
        if let Err(error) = self.check_rows() {
            return Ok(Err(error));
        }
        let shapes = Shapes::of(self, progress)?;
        progress.check()?;
        Ok(shapes.check_fixed().map(|()| shapes))
    }

    /// Everything except overlaps of fixed buffers.
    fn check_rows(&self) -> Result<(), ProblemError> {
        self.check_buffers()?;
        self.check_gaps()?;
        self.check_groups()?;
        self.check_magnitude()
    }

    fn check_buffers(&self) -> Result<(), ProblemError> {
        for (idx, buffer) in self.buffers.iter().enumerate() {
            if buffer.upper <= buffer.lower {
                return Err(ProblemError::EmptyRange {
                    buffer: idx,
                    lower: buffer.lower,
                    upper: buffer.upper,
                });
            }
            if buffer.alignment == 0 {
                return Err(ProblemError::ZeroAlignment { buffer: idx });
            }
            if let Some(offset) = buffer.offset.filter(|offset| offset % buffer.alignment != 0) {
                return Err(ProblemError::MisalignedOffset {
                    buffer: idx,
                    offset,
                    alignment: buffer.alignment,
                });
            }
        }
        Ok(())
    }

    fn check_gaps(&self) -> Result<(), ProblemError> {
        let mut before: Option<&Gap> = None;
        for gap in &self.gaps {
            let is_inside = self
                .buffers
                .get(gap.buffer as usize)
                .is_some_and(|buffer| buffer.lower <= gap.lower && gap.upper <= buffer.upper);
            let is_behind = before.is_none_or(|before| {
                before.buffer < gap.buffer || (before.buffer == gap.buffer && before.upper <= gap.lower)
            });
            if !is_inside || !is_behind || gap.lower >= gap.upper {
                return Err(ProblemError::BadGap {
                    buffer: gap.buffer,
                    lower: gap.lower,
                    upper: gap.upper,
                });
            }
            before = Some(gap);
        }
        for gaps in self.gaps.chunk_by(|one, other| one.buffer == other.buffer) {
            let buffer = &self.buffers[gaps[0].buffer as usize];
            let lent: u64 = gaps.iter().map(|gap| u64::from(gap.upper.0 - gap.lower.0)).sum();
            if lent >= u64::from(buffer.upper.0 - buffer.lower.0) {
                return Err(ProblemError::NeverLive { buffer: gaps[0].buffer });
            }
        }
        Ok(())
    }

    fn check_groups(&self) -> Result<(), ProblemError> {
        let mut is_taken = vec![false; self.buffers.len()];
        for (idx, group) in self.groups.iter().enumerate() {
            let mut fixed: Option<(u32, u64)> = None;
            let is_known = |member: &u32| (*member as usize) < self.buffers.len();
            if group.len() < 2 || !group.is_sorted() || !group.iter().all(is_known) {
                return Err(ProblemError::BadGroup { group: idx });
            }
            for member in group {
                if std::mem::replace(&mut is_taken[*member as usize], true) {
                    return Err(ProblemError::BadGroup { group: idx });
                }
                let Some(offset) = self.buffers[*member as usize].offset else {
                    continue;
                };
                match fixed {
                    Some((first, first_offset)) if first_offset != offset => {
                        return Err(ProblemError::SplitGroup {
                            first,
                            second: *member,
                            first_offset,
                            second_offset: offset,
                        });
                    }
                    _ => fixed = Some((*member, offset)),
                }
            }
        }
        Ok(())
    }

    /// No strategy can then exceed 63 bits: the highest fixed end, and everything else stacked above it.
    fn check_magnitude(&self) -> Result<(), ProblemError> {
        const LIMIT: u64 = 1 << 62;
        let mut sum = 0_u64;
        let mut top = 0_u64;
        for buffer in &self.buffers {
            let padded = buffer
                .size
                .get()
                .checked_add(buffer.alignment)
                .ok_or(ProblemError::TooLarge)?;
            sum = sum.checked_add(padded).ok_or(ProblemError::TooLarge)?;
            let end = buffer
                .offset
                .unwrap_or(0)
                .checked_add(padded)
                .ok_or(ProblemError::TooLarge)?;
            top = top.max(end);
        }
        for group in &self.groups {
            let mut alignment = 1_u64;
            for member in group {
                alignment = lcm(alignment, self.buffers[*member as usize].alignment).ok_or(ProblemError::TooLarge)?;
            }
            let fixed = group.iter().find_map(|member| self.buffers[*member as usize].offset);
            if fixed.is_some_and(|offset| offset % alignment != 0) {
                let buffer = group[0] as usize;
                return Err(ProblemError::MisalignedOffset {
                    buffer,
                    offset: fixed.unwrap_or(0),
                    alignment,
                });
            }
            sum = sum.checked_add(alignment).ok_or(ProblemError::TooLarge)?;
        }
        match sum.checked_add(top) {
            Some(total) if total <= LIMIT => Ok(()),
            _ => Err(ProblemError::TooLarge),
        }
    }

    /// Buffers whose offsets are fixed.
    pub fn n_fixed(&self) -> u64 {
        self.buffers.iter().filter(|buffer| buffer.offset.is_some()).count() as u64
    }

    /// The peak of live bytes, whatever offsets are fixed. O(n log n).
    pub fn peak_live(&self) -> Bytes {
        // This flag is never set.
        let silent = Cancel::new();
        Shapes::new(self)
            .peak_live(&Progress::silent(&silent))
            .unwrap_or_default()
    }

    /// The peak of live bytes, a lower bound of every plan. Gaps count nothing, a group counts its largest live member,
    /// and no bound is below a fixed buffer's end. O(n log n).
    pub fn lower_bound(&self) -> Bytes {
        Shapes::new(self).lower_bound()
    }
}

/// `None` beyond 64 bits.
pub(super) fn lcm(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a.checked_div(x).and_then(|a| a.checked_mul(b))
}
