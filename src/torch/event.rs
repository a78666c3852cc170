//! Entries of the allocator's memory history.

use std::fmt::Write as _;

use crate::allocator::Grant;

/// What an entry records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A block was handed out; size = requested bytes.
    Alloc,
    /// The program gave a block back; size = requested bytes.
    FreeRequested,
    /// The block became free; size = requested bytes.
    FreeCompleted,
    /// A segment was allocated on the device.
    SegmentAlloc,
    /// A segment was given back to the device.
    SegmentFree,
    /// Pages were mapped into an expandable segment.
    SegmentMap,
    /// Pages of an expandable segment were unmapped.
    SegmentUnmap,
    /// A request failed; address = free bytes of the device, size = rounded bytes.
    OutOfMemory,
}

impl Action {
    /// Every action with the name that snapshots use.
    pub const NAMES: [(Self, &'static str); 8] = [
        (Self::Alloc, "alloc"),
        (Self::FreeRequested, "free_requested"),
        (Self::FreeCompleted, "free_completed"),
        (Self::SegmentAlloc, "segment_alloc"),
        (Self::SegmentFree, "segment_free"),
        (Self::SegmentMap, "segment_map"),
        (Self::SegmentUnmap, "segment_unmap"),
        (Self::OutOfMemory, "oom"),
    ];

    /// The name in snapshots.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// The action of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|row| row.1 == name).map(|row| row.0)
    }
}

/// One entry of the memory history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub action: Action,
    /// Device address; free device bytes for [`Action::OutOfMemory`].
    pub addr: u64,
    /// Bytes.
    pub size: u64,
    /// Handle of the stream.
    pub stream: u64,
    /// Number of the private pool; none: a default pool.
    pub pool: Option<u64>,
}

impl Event {
    /// Bytes by which reserved memory grew.
    pub fn reserved_change(&self) -> i64 {
        let bytes = i64::try_from(self.size).unwrap_or(i64::MAX);
        match self.action {
            Action::SegmentAlloc | Action::SegmentMap => bytes,
            Action::SegmentFree | Action::SegmentUnmap => -bytes,
            _ => 0,
        }
    }

    /// Writes `[action, address, bytes, stream]`, with the private pool as a fifth item.
    pub fn write_json(&self, out: &mut String) {
        let Self { addr, size, stream, .. } = self;
        let name = self.action.name();
        let written = match self.pool {
            Some(pool) => write!(out, "[\"{name}\",{addr},{size},{stream},{pool}]"),
            None => write!(out, "[\"{name}\",{addr},{size},{stream}]"),
        };
        debug_assert!(written.is_ok(), "a String takes every text");
    }
}

/// Who reads the memory history while it is written.
pub trait Observer {
    /// Called for every entry, in order.
    fn event(&mut self, event: Event);

    /// Called before an input of a recording, with its position in the history; none: a block of the start.
    fn input(&mut self, _position: Option<u32>) {}

    /// Called after an allocation of a recording was granted.
    fn granted(&mut self, _id: u32, _grant: &Grant) {}
}

impl Observer for () {
    fn event(&mut self, _: Event) {}
}

impl Observer for Vec<Event> {
    fn event(&mut self, event: Event) {
        self.push(event);
    }
}
