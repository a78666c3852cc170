//! Elements of a recording: blocks, regions, curves, single events, ops, lines of stacks.

use std::num::{NonZeroU32, NonZeroU64};

use super::{Category, CategoryBasis, RecordedName};
use crate::units::{Bytes, Nanos, Step};

/// The address of a block. `Option` needs no extra bytes; the largest number is no address.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockAddress(NonZeroU64);

impl BlockAddress {
    /// `None` for the largest number.
    pub const fn new(address: u64) -> Option<Self> {
        match NonZeroU64::new(!address) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    pub const fn get(self) -> u64 {
        !self.0.get()
    }
}

impl std::fmt::Debug for BlockAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.get())
    }
}

/// A position in [`Recording::stacks`](super::Recording::stacks). `Option` needs no extra bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StackIdx(NonZeroU32);

impl StackIdx {
    /// `None` for the largest number.
    pub const fn new(position: u32) -> Option<Self> {
        match NonZeroU32::new(!position) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    pub const fn idx(self) -> usize {
        !self.0.get() as usize
    }
}

impl std::fmt::Debug for StackIdx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.idx())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedBlock {
    /// The requesting op, or the innermost frame of the caller.
    pub name: RecordedName,
    /// First step on which it is held; 0 where it predates the recording.
    pub birth: Step,
    /// Exclusive; `n_steps` where the recording ends before.
    pub end: Step,
    /// The step on which the owner freed it, at most `end`: from then on the allocator waits for its stream.
    pub freed_at: Step,
    /// Requested bytes.
    pub bytes: Bytes,
    /// Bytes that the allocator holds for it, rounding included; equal to `bytes` where the tool does not state them.
    pub held: Bytes,
    /// `None` where the tool does not state it.
    pub address: Option<BlockAddress>,
    /// [`RecordedBlock::NO_STREAM`] where the tool does not state it.
    pub stream: u64,
    /// The call stack: position in [`Recording::stacks`](super::Recording::stacks).
    pub stack: Option<StackIdx>,
    /// What it is for: an inference.
    pub category: Category,
    /// What the category rests on.
    pub basis: CategoryBasis,
    /// Whether the recording does not show its allocation: it predates the recording, or appears at `birth` without a
    /// request (see [`Self::appears`]).
    pub is_older: bool,
    /// Whether the recording shows its end.
    pub is_freed: bool,
}

impl RecordedBlock {
    /// The value of an unknown stream.
    pub const NO_STREAM: u64 = u64::MAX;

    /// A block that is held from `birth` to `end`; address, stream, call stack and its end within the recording are not
    /// stated.
    pub const fn new(name: RecordedName, birth: Step, end: Step, bytes: Bytes) -> Self {
        Self {
            name,
            birth,
            end,
            freed_at: end,
            bytes,
            held: bytes,
            address: None,
            stream: Self::NO_STREAM,
            stack: None,
            category: Category::Unknown,
            basis: CategoryBasis::Nothing,
            is_older: false,
            is_freed: false,
        }
    }

    /// Ends the block at a step.
    pub const fn end_at(&mut self, step: Step) {
        (self.end, self.freed_at) = (step, step);
    }

    /// `None` where the tool does not state it.
    pub const fn stated_stream(&self) -> Option<u64> {
        match self.stream {
            Self::NO_STREAM => None,
            stream => Some(stream),
        }
    }

    /// Whether it appears within the recording without a request: the recording has a gap.
    pub const fn appears(&self) -> bool {
        self.is_older && self.birth.0 > 0
    }
}

/// A range of addresses that the allocator holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedRegion {
    pub address: u64,
    pub bytes: Bytes,
    /// First step on which it is held; 0 where it predates the recording.
    pub birth: Step,
    /// Exclusive.
    pub end: Step,
    pub stream: u64,
    /// `large`, `small` or `expandable`, with the private pool: see [`Recording::segment_kind`](super::Recording::segment_kind).
    pub kind: RecordedName,
    /// Whether it predates the recording.
    pub is_older: bool,
}

/// How a recording was simulated from a measured one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocatorSimulation {
    /// The name of the measured recording.
    pub measured: String,
    /// The text of the settings; empty for the default.
    pub settings: String,
    /// The environment variable that holds them.
    pub variable: &'static str,
    /// `torch 2.15`, `torch_npu`.
    pub version: String,
    /// Requests that first released everything cached.
    pub retries: u64,
    /// Requests that failed.
    pub failures: u64,
    pub device_calls: u64,
    /// Peak of the reserved bytes.
    pub peak: Bytes,
    /// Of the measured recording.
    pub measured_peak: Bytes,
    /// Of the measured settings, simulated: its difference from `measured_peak` is the error of the simulation.
    pub replayed_peak: Bytes,
    /// Whether the measured recording replays exactly.
    pub is_exact: bool,
}

impl AllocatorSimulation {
    /// Whether the requests are those of a graph, so that nothing was measured.
    pub fn is_of_graph(&self) -> bool {
        self.measured.is_empty()
    }
}

/// The memory of the recorded device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedMemory {
    pub bytes: Bytes,
    /// Whether the device may have more: a snapshot states free bytes only where a request failed, so that bytes of
    /// other processes are unknown.
    pub is_lower_bound: bool,
}

/// The quantity of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TotalKind {
    /// Live bytes.
    Allocated,
    /// Reserved bytes.
    Reserved,
    /// Bytes that are live or wait for a stream.
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
    pub kind: TotalKind,
    /// Values by ascending step; each holds until the next.
    pub samples: Vec<(Step, Bytes)>,
}

impl RecordedTotal {
    /// The curves that have samples.
    pub fn known(curves: impl IntoIterator<Item = (TotalKind, Vec<(Step, Bytes)>)>) -> Vec<Self> {
        let curves = curves.into_iter().map(|(kind, samples)| Self { kind, samples });
        curves.filter(|curve| !curve.samples.is_empty()).collect()
    }

    /// The value at a step; `None` before the first. O(log samples).
    pub fn at(&self, step: Step) -> Option<Bytes> {
        let n_before = self.samples.partition_point(|(at, _)| *at <= step);
        Some(self.samples.get(n_before.checked_sub(1)?)?.1)
    }

    /// The largest value and its first step.
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

/// The kind of a single event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkKind {
    /// A request failed.
    OutOfMemory,
    /// A snapshot was taken.
    Snapshot,
    /// An annotation of the user or a framework.
    Note,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedMark {
    pub step: Step,
    pub kind: MarkKind,
    /// May be empty.
    pub text: RecordedName,
    /// Bytes of the event; 0 where it has none.
    pub bytes: Bytes,
    /// Of a failed request, where the tool states more than its bytes.
    pub failed: Option<FailedRequest>,
}

/// What a tool states of a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedRequest {
    /// Free bytes of the device, where the tool states them.
    pub free: Option<Bytes>,
    pub stream: u64,
    pub stack: Option<StackIdx>,
}

/// A measured op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedOp {
    /// In a graph of the same model, the name of the node.
    pub name: RecordedName,
    pub kind: RecordedName,
    /// 0 where it was lost.
    pub start: Nanos,
    pub time: Nanos,
    /// Scratch memory while it ran.
    pub scratch: Bytes,
    /// Bytes that it left allocated for later runs.
    pub persistent: Bytes,
}

impl RecordedOp {
    /// Whether its start is known.
    pub fn states_start(&self) -> bool {
        self.start > Nanos(0)
    }
}

/// A line of a stack that is a note instead of a call: its function is the name of its kind, its file the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteKind {
    /// Of the user.
    UserMetadata,
    /// What was being compiled.
    CompileContext,
    /// The node of an FX graph that became the line of generated code inside it.
    FxNode,
    /// A line of the forward pass that made the node of the autograd graph, as `file:line function`.
    ForwardPass,
}

impl NoteKind {
    pub const ALL: [Self; 4] = [
        Self::UserMetadata,
        Self::CompileContext,
        Self::FxNode,
        Self::ForwardPass,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::UserMetadata => "user metadata",
            Self::CompileContext => "compile context",
            Self::FxNode => "FX node",
            Self::ForwardPass => "forward pass",
        }
    }
}

/// A line of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordedFrame {
    pub function: RecordedName,
    pub file: RecordedName,
    /// 0 where there is none.
    pub line: u32,
}

impl RecordedFrame {
    /// `None` for a call.
    pub fn note(&self, recording: &super::Recording) -> Option<NoteKind> {
        if self.line > 0 {
            return None;
        }
        let name = recording.text(self.function);
        NoteKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
