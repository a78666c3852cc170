//! What a recording is made of: blocks, regions, curves, single events, ops, lines of stacks.

use std::num::{NonZeroU32, NonZeroU64};

use super::RecordedName;
use crate::units::{Bytes, Nanos, Step};

/// The address of a block. An `Option` of it takes no more room than the number, of which the largest is no address.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockAddress(NonZeroU64);

impl BlockAddress {
    /// The address; `None` for the largest number.
    pub const fn new(address: u64) -> Option<Self> {
        match NonZeroU64::new(!address) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The number.
    pub const fn get(self) -> u64 {
        !self.0.get()
    }
}

impl std::fmt::Debug for BlockAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.get())
    }
}

/// A position in [`Recording::stacks`](super::Recording::stacks). An `Option` of it takes no more room than the number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StackIdx(NonZeroU32);

impl StackIdx {
    /// The position; `None` for the largest number.
    pub const fn new(position: u32) -> Option<Self> {
        match NonZeroU32::new(!position) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The number.
    pub const fn idx(self) -> usize {
        !self.0.get() as usize
    }
}

impl std::fmt::Debug for StackIdx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.idx())
    }
}

/// A block that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedBlock {
    /// What it is called: the op that asked, or the innermost frame of the caller.
    pub name: RecordedName,
    /// First step on which it is held; 0 where it is older than the recording.
    pub birth: Step,
    /// The first step on which it is held no longer; `n_steps` where the recording ends before.
    pub end: Step,
    /// The step on which the owner gave it back, at most `end`: from then on the allocator waits for its stream.
    pub given_back: Step,
    /// Bytes asked for.
    pub bytes: Bytes,
    /// Bytes that the allocator holds for it, rounding included; equal to `bytes` where the tool does not say.
    pub held: Bytes,
    /// Where it stands; `None` where the tool does not say.
    pub address: Option<BlockAddress>,
    /// Its stream; [`RecordedBlock::NO_STREAM`] where the tool does not say.
    pub stream: u64,
    /// Who called, where the tool kept it: position in [`Recording::stacks`](super::Recording::stacks).
    pub stack: Option<StackIdx>,
    /// Whether the recording does not show its beginning: it was there before, or appears at `birth` without having been
    /// asked for (see [`Self::appears`]).
    pub is_older: bool,
    /// Whether the recording shows its end.
    pub is_freed: bool,
}

impl RecordedBlock {
    /// Stands for a stream that the tool does not name.
    pub const NO_STREAM: u64 = u64::MAX;

    /// Its stream, where the tool names one.
    pub const fn stated_stream(&self) -> Option<u64> {
        match self.stream {
            Self::NO_STREAM => None,
            stream => Some(stream),
        }
    }

    /// Whether it is there from the middle of the recording on, although nothing asked for it: the recording has a hole.
    pub const fn appears(&self) -> bool {
        self.is_older && self.birth.0 > 0
    }
}

/// A range of addresses that the allocator holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedRegion {
    /// Its first address.
    pub address: u64,
    /// Its bytes.
    pub bytes: Bytes,
    /// First step on which it is held; 0 where it is older than the recording.
    pub birth: Step,
    /// The first step on which it is held no longer.
    pub end: Step,
    /// Its stream.
    pub stream: u64,
    /// What kind of region: `large`, `small`, `expandable`.
    pub kind: RecordedName,
}

/// What a curve of a recording counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TotalKind {
    /// Bytes in use.
    Allocated,
    /// Bytes taken from the device.
    Reserved,
    /// Bytes in use or waiting for a stream.
    Active,
}

impl TotalKind {
    /// The name shown to users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allocated => "allocated",
            Self::Reserved => "reserved",
            Self::Active => "active",
        }
    }
}

/// A curve that the file states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedTotal {
    /// What it counts.
    pub kind: TotalKind,
    /// Values by ascending step; each holds until the next.
    pub samples: Vec<(Step, Bytes)>,
}

impl RecordedTotal {
    /// The largest value and the first step with it.
    pub fn peak(&self) -> (Bytes, Option<Step>) {
        let mut peak = (Bytes::ZERO, None);
        for (step, bytes) in &self.samples {
            if peak.1.is_none() || *bytes > peak.0 {
                peak = (*bytes, Some(*step));
            }
        }
        peak
    }
}

/// What a single event says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkKind {
    /// A request failed.
    OutOfMemory,
    /// A snapshot was taken.
    Snapshot,
    /// Something that the user or a framework noted.
    Note,
}

/// A single event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedMark {
    /// When.
    pub step: Step,
    /// What.
    pub kind: MarkKind,
    /// Its text; may be empty.
    pub text: RecordedName,
    /// Bytes that it speaks of; 0 where none.
    pub bytes: Bytes,
}

/// An op as it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedOp {
    /// Its name, which in a graph of the same model is that of the node.
    pub name: RecordedName,
    /// Its type.
    pub kind: RecordedName,
    /// When it began; 0 where that was lost.
    pub start: Nanos,
    /// How long it took.
    pub time: Nanos,
    /// Scratch memory that it held while it ran.
    pub scratch: Bytes,
    /// Bytes that it left behind for later runs.
    pub persistent: Bytes,
}

impl RecordedOp {
    /// Whether it is known when it began.
    pub fn states_start(&self) -> bool {
        self.start > Nanos(0)
    }
}

/// A line of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordedFrame {
    /// The function.
    pub function: RecordedName,
    /// The file.
    pub file: RecordedName,
    /// The line in it; 0 where there is none.
    pub line: u32,
}
