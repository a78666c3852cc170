//! The events of a recording in order: what each did, and the call stack of each that is no allocation.
//!
//! ```text
//! number of an event    (stack + 1) * 16 + action, 7 bits a byte, the lowest first; the last byte is below 128
//! ```
//!
//! A recording may have many millions of events, so they take a byte or two each: allocations have their stack in their block, and
//! addresses and sizes are those of blocks and regions. Reading an event costs at most a page.

use super::StackIdx;
use crate::units::{Bytes, Step};

/// What an event did, as snapshots name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventAction {
    Alloc,
    FreeRequested,
    FreeCompleted,
    SegmentAlloc,
    SegmentFree,
    SegmentMap,
    SegmentUnmap,
    Snapshot,
    OutOfMemory,
    /// A note, or an event that could not be read.
    #[default]
    Other,
    /// Of a recording that does not tell the request from the completion.
    Free,
}

impl EventAction {
    /// In the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Alloc,
        Self::FreeRequested,
        Self::FreeCompleted,
        Self::SegmentAlloc,
        Self::SegmentFree,
        Self::SegmentMap,
        Self::SegmentUnmap,
        Self::Snapshot,
        Self::OutOfMemory,
        Self::Other,
        Self::Free,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Alloc => "alloc",
            Self::FreeRequested => "free_requested",
            Self::FreeCompleted => "free_completed",
            Self::SegmentAlloc => "segment_alloc",
            Self::SegmentFree => "segment_free",
            Self::SegmentMap => "segment_map",
            Self::SegmentUnmap => "segment_unmap",
            Self::Snapshot => "snapshot",
            Self::OutOfMemory => "oom",
            Self::Other => "other",
            Self::Free => "free",
        }
    }

    /// Whether it begins a segment or a range of one.
    pub const fn begins_region(self) -> bool {
        matches!(self, Self::SegmentAlloc | Self::SegmentMap)
    }

    /// Whether it ends a segment or a range of one.
    pub const fn ends_region(self) -> bool {
        matches!(self, Self::SegmentFree | Self::SegmentUnmap)
    }
}

/// Events that are found together.
const PAGE: usize = 512;

const ACTION_BITS: u32 = 4;

/// What the very first event frees, requests to free or gives back: blocks and segments end behind the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedAtFirst {
    pub address: u64,
    pub bytes: Bytes,
    pub stream: u64,
}

/// The events of a recording that states them one by one; empty for others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventLog {
    pages: Vec<Box<[u8]>>,
    /// The last page.
    open: Vec<u8>,
    n: usize,
}

impl EventLog {
    pub const fn len(&self) -> usize {
        self.n
    }

    pub const fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Adds the next event. The stack of an allocation is that of its block.
    pub fn push(&mut self, action: EventAction, stack: Option<StackIdx>) {
        if self.n > 0 && self.n.is_multiple_of(PAGE) {
            self.pages.push(self.open.as_slice().into());
            self.open.clear();
        }
        let stack = stack.map_or(0, |stack| stack.idx() as u64 + 1);
        let mut number = stack << ACTION_BITS | action as u64;
        while number > 0x7f {
            self.open.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.open.push((number & 0x7f) as u8);
        self.n += 1;
    }

    /// What an event did and its stack; `None` for an unknown event. O(page).
    pub fn get(&self, event: Step) -> Option<(EventAction, Option<StackIdx>)> {
        let event = event.idx();
        if event >= self.n {
            return None;
        }
        let mut bytes = self.pages.get(event / PAGE).map_or(&*self.open, |page| page).iter();
        for _ in 0..event % PAGE {
            bytes.find(|byte| **byte < 0x80)?;
        }
        let (mut number, mut shift) = (0_u64, 0);
        for byte in bytes {
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if *byte < 0x80 {
                break;
            }
        }
        let action = EventAction::ALL.get((number & ((1 << ACTION_BITS) - 1)) as usize)?;
        let stack = (number >> ACTION_BITS).checked_sub(1);
        let stack = stack.and_then(|stack| StackIdx::new(u32::try_from(stack).ok()?));
        Some((*action, stack))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_comes_back() {
        let event = |number: usize| {
            let action = EventAction::ALL[number % EventAction::ALL.len()];
            let stack = match number % 3 {
                0 => None,
                1 => StackIdx::new(u32::try_from(number).expect("small")),
                _ => StackIdx::new(u32::MAX - 1 - u32::try_from(number).expect("small")),
            };
            (action, stack)
        };
        for n in [0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE + 7] {
            let mut log = EventLog::default();
            for number in 0..n {
                let (action, stack) = event(number);
                log.push(action, stack);
            }
            assert_eq!(log.len(), n);
            for number in 0..n {
                let step = Step(u32::try_from(number).expect("small"));
                assert_eq!(log.get(step), Some(event(number)), "{number} of {n}");
            }
            assert_eq!(log.get(Step(u32::try_from(n).expect("small"))), None);
        }
    }
}
