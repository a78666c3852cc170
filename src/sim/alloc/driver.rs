//! The driver of a simulated device: memory, virtual ranges, physical pages, and the log of every call.
//!
//! ```text
//! device offsets    |block 0|..guard..|block 1|..guard..|            bump, never used again, 2 MiB steps
//! virtual offsets   |range 0........|range 1....|                    bump, 2 MiB steps, no limit
//! pages             1, 2, 3 ...                                      handles; count as device memory
//! ```
//!
//! In: calls of the allocators. Out: addresses, and the calls as a log that the caller takes away command by command.
//! Invariants: bytes in use (blocks and pages) never exceed the device; every call that the log holds was made in
//! that order. Bytes are accounted exactly; the driver has no fragmentation of its own.
//!
//! Source: the fake device under which the engine's own allocators gave the answers that these are compared with.

pub use super::call::{Address, Call, PageHandle, PoolKey};
use highwater_model::units::Bytes;

/// Steps of addresses, and the guard between device blocks, so that no two are neighbours.
const GRANULE: u64 = 2 << 20;

/// Where both spaces end: far above every device, and sums of offsets stay in range.
const SPACE_END: u64 = 1 << 62;

/// A request that could not be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Bytes asked for.
    pub requested: Bytes,
}

/// How often each driver call was made, and how much was cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Device mallocs that succeeded.
    pub mallocs: u64,
    /// Device frees.
    pub frees: u64,
    /// Pages given.
    pub page_allocs: u64,
    /// Pages given back.
    pub page_frees: u64,
    /// Mappings.
    pub maps: u64,
    /// Unmappings.
    pub unmaps: u64,
    /// Ranges reserved.
    pub reserves: u64,
    /// Ranges given back.
    pub releases: u64,
    /// Waits for a stream.
    pub synchronizations: u64,
    /// Memory clears.
    pub memsets: u64,
    /// Bytes cleared.
    pub memset_bytes: u64,
    /// Mallocs and pages that were refused.
    pub failures: u64,
}

/// What kind of driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverRules {
    /// Bytes of the device.
    pub capacity: Bytes,
    /// Whether it can reserve virtual ranges.
    pub can_reserve: bool,
    /// Whether notes (calls that are no driver calls) are logged.
    pub has_notes: bool,
}

/// A driver with its log.
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
    /// A device of which nothing is in use.
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

    /// Bytes of the device.
    pub fn capacity(&self) -> Bytes {
        self.rules.capacity
    }

    /// Bytes in use.
    pub fn in_use(&self) -> Bytes {
        Bytes(self.in_use)
    }

    /// The largest bytes that were ever in use.
    pub fn peak(&self) -> Bytes {
        Bytes(self.peak)
    }

    /// Bytes not in use.
    pub fn available(&self) -> Bytes {
        Bytes(self.rules.capacity.get() - self.in_use)
    }

    /// How often each call was made.
    pub fn counts(&self) -> &CallCounts {
        &self.counts
    }

    /// Calls since they were cleared last.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Forgets the calls; their memory is used again.
    pub fn clear_calls(&mut self) {
        self.calls.clear();
    }

    /// Device memory of exactly `bytes`.
    ///
    /// # Errors
    /// [`Shortage`] where nothing is asked for or the device has no room.
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

    /// Gives a block back; `bytes` as it was asked for.
    pub fn free(&mut self, at: Address, bytes: Bytes) {
        self.in_use -= bytes.get();
        self.counts.frees += 1;
        self.calls.push(Call::Free {
            at: at.offset(),
            bytes: bytes.get(),
        });
    }

    /// Reserves a virtual range, which holds no memory yet; `None` where the driver cannot.
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

    /// Gives a virtual range back.
    pub fn release(&mut self, at: Address, bytes: Bytes) {
        self.counts.releases += 1;
        self.calls.push(Call::Release {
            at: at.offset(),
            bytes: bytes.get(),
        });
    }

    /// A physical page.
    ///
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

    /// Gives a physical page back.
    pub fn page_free(&mut self, page: PageHandle, bytes: Bytes) {
        self.in_use -= bytes.get();
        self.counts.page_frees += 1;
        self.calls.push(Call::PageFree {
            page,
            bytes: bytes.get(),
        });
    }

    /// Maps a page.
    pub fn map(&mut self, at: Address, page: PageHandle, bytes: Bytes) {
        self.counts.maps += 1;
        self.calls.push(Call::Map {
            at: at.offset(),
            page,
            bytes: bytes.get(),
        });
    }

    /// Unmaps what is mapped at an address.
    pub fn unmap(&mut self, at: Address) {
        self.counts.unmaps += 1;
        self.calls.push(Call::Unmap { at: at.offset() });
    }

    /// Sets memory to zero.
    pub fn memset(&mut self, at: Address, bytes: Bytes) {
        self.counts.memsets += 1;
        self.counts.memset_bytes = self.counts.memset_bytes.saturating_add(bytes.get());
        self.calls.push(Call::Memset { at, bytes: bytes.get() });
    }

    /// Waits for a stream.
    pub fn synchronize(&mut self) {
        self.counts.synchronizations += 1;
        self.calls.push(Call::Synchronize);
    }

    /// Writes a note into the log, where notes are wanted.
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
