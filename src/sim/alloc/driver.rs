//! The driver of a simulated device: memory, virtual ranges, physical pages, and the log of every call.
//!
//! ```text
//! device offsets    |block 0|..guard..|block 1|..guard..|            bump, never reused, 2 MiB steps
//! virtual offsets   |range 0........|range 1....|                    bump, 2 MiB steps, no limit
//! pages             1, 2, 3 ...                                      handles; count as device memory
//! ```
//!
//! In: calls of the allocators. Out: addresses, and the calls as a log that the caller takes after each command.
//! Invariants: bytes in use (blocks and pages) never exceed the device; the log is in call order. Bytes are counted
//! exactly; the driver has no fragmentation.
//!
//! Source: the fake device under which the engine's own allocators produced the recorded answers.

pub use super::call::{Address, Call, PageHandle, PoolKey};
use highwater_model::units::Bytes;

/// Step of addresses, and guard between device blocks, so that no two are adjacent.
const GRANULE: u64 = 2 << 20;

/// End of both spaces: far above every device, and sums of offsets do not overflow.
const SPACE_END: u64 = 1 << 62;

/// A request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    pub requested: Bytes,
}

/// Driver calls by kind, and cleared bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Successful device mallocs.
    pub mallocs: u64,
    pub frees: u64,
    pub page_allocs: u64,
    pub page_frees: u64,
    pub maps: u64,
    pub unmaps: u64,
    pub reserves: u64,
    pub releases: u64,
    /// Waits for a stream.
    pub synchronizations: u64,
    pub memsets: u64,
    pub memset_bytes: u64,
    /// Refused mallocs and pages.
    pub failures: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverRules {
    pub capacity: Bytes,
    /// Whether it supports virtual ranges.
    pub can_reserve: bool,
    /// Whether notes of allocators are logged.
    pub has_notes: bool,
}

#[derive(Clone, Debug)]
pub struct Driver {
    rules: DriverRules,
    in_use: u64,
    peak: u64,
    next_device: u64,
    next_virtual: u64,
    next_page: u32,
    calls: Vec<Call>,
    counts: CallCounts,
}

impl Driver {
    pub fn new(rules: DriverRules) -> Self {
        Self {
            rules,
            in_use: 0,
            peak: 0,
            next_device: 0,
            next_virtual: 0,
            next_page: 1,
            calls: Vec::new(),
            counts: CallCounts::default(),
        }
    }

    pub fn capacity(&self) -> Bytes {
        self.rules.capacity
    }

    pub fn in_use(&self) -> Bytes {
        Bytes(self.in_use)
    }

    /// Largest bytes in use so far.
    pub fn peak(&self) -> Bytes {
        Bytes(self.peak)
    }

    pub fn available(&self) -> Bytes {
        Bytes(self.rules.capacity.get() - self.in_use)
    }

    pub fn counts(&self) -> &CallCounts {
        &self.counts
    }

    /// Calls since the last [`Self::clear_calls`].
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Keeps the memory of the list.
    pub fn clear_calls(&mut self) {
        self.calls.clear();
    }

    /// Device memory of exactly `bytes`.
    ///
    /// # Errors
    /// [`Shortage`] for 0 bytes, and where the device has no room.
    pub fn malloc(&mut self, bytes: Bytes) -> Result<Address, Shortage> {
        let at = self.next_device;
        let next = at.saturating_add(round_up(bytes.get())).saturating_add(GRANULE);
        if bytes == Bytes::ZERO || next > SPACE_END || !self.charge(bytes.get()) {
            self.counts.failures += 1;
            self.calls.push(Call::MallocFailed { bytes: bytes.get() });
            return Err(Shortage { requested: bytes });
        }
        self.next_device = next;
        self.counts.mallocs += 1;
        self.calls.push(Call::Malloc { at, bytes: bytes.get() });
        Ok(Address::device(at))
    }

    /// `bytes` as requested.
    pub fn free(&mut self, at: Address, bytes: Bytes) {
        self.in_use -= bytes.get();
        self.counts.frees += 1;
        self.calls.push(Call::Free {
            at: at.offset(),
            bytes: bytes.get(),
        });
    }

    /// Reserves a virtual range without memory; `None` where the driver does not support it.
    pub fn reserve(&mut self, bytes: Bytes) -> Option<Address> {
        let at = self.next_virtual;
        let next = at.saturating_add(round_up(bytes.get()));
        if !self.rules.can_reserve || next > SPACE_END {
            self.calls.push(Call::ReserveFailed { bytes: bytes.get() });
            return None;
        }
        self.next_virtual = next;
        self.counts.reserves += 1;
        self.calls.push(Call::Reserve { at, bytes: bytes.get() });
        Some(Address::virtual_space(at))
    }

    pub fn release(&mut self, at: Address, bytes: Bytes) {
        self.counts.releases += 1;
        self.calls.push(Call::Release {
            at: at.offset(),
            bytes: bytes.get(),
        });
    }

    /// # Errors
    /// [`Shortage`] where the device has no room.
    pub fn page_alloc(&mut self, bytes: Bytes) -> Result<PageHandle, Shortage> {
        if self.next_page == u32::MAX || !self.charge(bytes.get()) {
            self.counts.failures += 1;
            self.calls.push(Call::PageAllocFailed { bytes: bytes.get() });
            return Err(Shortage { requested: bytes });
        }
        let page = PageHandle(self.next_page);
        self.next_page += 1;
        self.counts.page_allocs += 1;
        self.calls.push(Call::PageAlloc {
            page,
            bytes: bytes.get(),
        });
        Ok(page)
    }

    pub fn page_free(&mut self, page: PageHandle, bytes: Bytes) {
        self.in_use -= bytes.get();
        self.counts.page_frees += 1;
        self.calls.push(Call::PageFree {
            page,
            bytes: bytes.get(),
        });
    }

    pub fn map(&mut self, at: Address, page: PageHandle, bytes: Bytes) {
        self.counts.maps += 1;
        self.calls.push(Call::Map {
            at: at.offset(),
            page,
            bytes: bytes.get(),
        });
    }

    /// Unmaps the page at an address.
    pub fn unmap(&mut self, at: Address) {
        self.counts.unmaps += 1;
        self.calls.push(Call::Unmap { at: at.offset() });
    }

    pub fn memset(&mut self, at: Address, bytes: Bytes) {
        self.counts.memsets += 1;
        self.counts.memset_bytes = self.counts.memset_bytes.saturating_add(bytes.get());
        self.calls.push(Call::Memset { at, bytes: bytes.get() });
    }

    pub fn synchronize(&mut self) {
        self.counts.synchronizations += 1;
        self.calls.push(Call::Synchronize);
    }

    /// Logs a note, if enabled.
    pub fn note(&mut self, note: Call) {
        if self.rules.has_notes {
            self.calls.push(note);
        }
    }

    fn charge(&mut self, bytes: u64) -> bool {
        if bytes > self.rules.capacity.get() - self.in_use {
            return false;
        }
        self.in_use += bytes;
        self.peak = self.peak.max(self.in_use);
        true
    }
}

const fn round_up(bytes: u64) -> u64 {
    bytes.div_ceil(GRANULE).saturating_mul(GRANULE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver(capacity: Bytes) -> Driver {
        Driver::new(DriverRules {
            capacity,
            can_reserve: true,
            has_notes: false,
        })
    }

    #[test]
    fn blocks_are_never_neighbours_and_addresses_never_come_back() {
        let mut driver = driver(Bytes::mib(16));
        let first = driver.malloc(Bytes(100)).expect("room");
        let second = driver.malloc(Bytes::mib(3)).expect("room");
        assert_eq!((first.offset(), second.offset()), (0, Bytes::mib(4).get()));
        driver.free(first, Bytes(100));
        assert_eq!(driver.malloc(Bytes(1)).expect("room").offset(), Bytes::mib(10).get());
        assert_eq!(driver.in_use(), Bytes::mib(3) + Bytes(1));
    }

    #[test]
    fn what_does_not_fit_or_is_nothing_fails() {
        let mut driver = driver(Bytes(100));
        assert_eq!(driver.malloc(Bytes(101)), Err(Shortage { requested: Bytes(101) }));
        assert_eq!(driver.malloc(Bytes::ZERO), Err(Shortage { requested: Bytes::ZERO }));
        assert_eq!(driver.page_alloc(Bytes(101)), Err(Shortage { requested: Bytes(101) }));
        assert_eq!(driver.counts().failures, 3);
        assert_eq!(driver.in_use(), Bytes::ZERO);
    }
}
