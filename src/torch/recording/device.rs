//! A device that answers with the addresses of a recording.

use crate::device::{Device, LAST_ADDRESS};
use crate::event::{Action, Event};

/// Where addresses go that the recording does not know.
const ELSEWHERE: u64 = 1 << 60;

/// The device of a recorded run.
#[derive(Clone, Debug)]
pub(super) struct RecordedDevice {
    /// (address, bytes) of segments in order of their allocation.
    segments: std::vec::IntoIter<(u64, u64)>,
    /// Addresses of maps in their order, and how many were made.
    maps: Vec<u64>,
    mapped: usize,
    elsewhere: u64,
    total: u64,
    /// Free bytes while nothing more fits.
    pub(super) full: Option<u64>,
    /// Nothing more fits until so many segments and runs of pages were given back.
    pub(super) awaited: u32,
}

impl RecordedDevice {
    pub(super) fn new(events: &[Event], total: u64) -> Self {
        let of = |action| events.iter().filter(move |event| event.action == action);
        let segments: Vec<(u64, u64)> = of(Action::SegmentAlloc).map(|event| (event.addr, event.size)).collect();
        Self {
            segments: segments.into_iter(),
            maps: of(Action::SegmentMap).map(|event| event.addr).collect(),
            mapped: 0,
            elsewhere: ELSEWHERE,
            total,
            full: None,
            awaited: 0,
        }
    }

    fn has_room(&self) -> bool {
        self.full.is_none() && self.awaited == 0
    }

    fn other_address(&mut self, size: u64) -> Option<u64> {
        let addr = self.elsewhere;
        let end = addr.checked_add(size.checked_next_multiple_of(2 << 20)?)?;
        self.elsewhere = end;
        (end <= LAST_ADDRESS).then_some(addr)
    }
}

impl Device for RecordedDevice {
    fn total(&self) -> u64 {
        self.total
    }

    fn free_bytes(&self) -> u64 {
        self.full.unwrap_or(0)
    }

    fn malloc(&mut self, size: u64) -> Option<u64> {
        if !self.has_room() {
            return None;
        }
        match self.segments.as_slice().first() {
            Some((addr, recorded)) if *recorded == size => {
                let addr = *addr;
                self.segments.next();
                let end = addr.checked_add(size)?;
                (end <= LAST_ADDRESS).then_some(addr)
            }
            _ => self.other_address(size),
        }
    }

    fn free(&mut self, _: u64, _: u64) {
        self.awaited = self.awaited.saturating_sub(1);
    }

    fn reserve(&mut self, size: u64) -> Option<u64> {
        match self.maps.get(self.mapped) {
            Some(addr) if addr.checked_add(size).is_some_and(|end| end <= LAST_ADDRESS) => Some(*addr),
            _ => self.other_address(size),
        }
    }

    fn unreserve(&mut self, _: u64, _: u64) {}

    fn create(&mut self, _: u64, _: u64) -> bool {
        self.has_room()
    }

    fn map(&mut self, _: u64, _: u64, _: u64) {
        self.mapped += 1;
    }

    fn unmap(&mut self, _: u64, _: u64, _: u64) {
        self.awaited = self.awaited.saturating_sub(1);
    }

    fn record_event(&mut self, _: u64) {}

    fn sync_event(&mut self, _: u64) {}

    fn sync_stream(&mut self, _: u64) {}

    fn sync_device(&mut self) {}
}
