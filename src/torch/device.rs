//! The device below the allocator: what it is asked for, and a simulated one.

/// What the allocator asks of a device. Sizes and addresses in bytes.
pub trait Device {
    /// Size of the device's memory.
    fn total(&self) -> u64;
    /// Bytes that nothing uses.
    fn free_bytes(&self) -> u64;
    /// Memory with an address; none: the device is full.
    fn malloc(&mut self, size: u64) -> Option<u64>;
    /// Gives back what [`Device::malloc`] gave.
    fn free(&mut self, addr: u64, size: u64);
    /// A range of addresses without memory; none: there are no more addresses.
    fn reserve(&mut self, size: u64) -> Option<u64>;
    /// Gives a range of addresses back.
    fn unreserve(&mut self, addr: u64, size: u64);
    /// Makes physical pages, all or none; false: the device is full.
    fn create(&mut self, page: u64, count: u64) -> bool;
    /// Puts created pages at an address.
    fn map(&mut self, page: u64, addr: u64, count: u64);
    /// Takes pages from an address and gives them back.
    fn unmap(&mut self, page: u64, addr: u64, count: u64);
    /// Records an event on a stream.
    fn record_event(&mut self, stream: u64);
    /// Waits for the oldest event of a stream.
    fn sync_event(&mut self, stream: u64);
    /// Waits for a stream.
    fn sync_stream(&mut self, stream: u64);
    /// Waits for the whole device.
    fn sync_device(&mut self);
}

/// One call that a device saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Memory was allocated: bytes, address.
    Malloc(u64, u64),
    /// Bytes that did not fit.
    MallocFailed(u64),
    /// Memory was given back: bytes, address.
    Free(u64, u64),
    /// Addresses were reserved: bytes, address.
    Reserve(u64, u64),
    /// Reserved addresses were given back: bytes, address.
    Unreserve(u64, u64),
    /// Pages were made: bytes of a page, count.
    Create(u64, u64),
    /// A page of these bytes could not be made.
    CreateFailed(u64),
    /// Pages were mapped: bytes of a page, address, count.
    Map(u64, u64, u64),
    /// Pages were unmapped and released: bytes of a page, address, count.
    Unmap(u64, u64, u64),
    /// Pages that were never mapped were released: bytes of a page, count.
    Release(u64, u64),
    /// An event was recorded on a stream.
    RecordEvent(u64),
    /// An event of a stream was waited for.
    SyncEvent(u64),
    /// A stream was waited for.
    SyncStream(u64),
    /// The device was waited for.
    SyncDevice,
}

/// In which direction new addresses go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Later segments have higher addresses.
    Up,
    /// Later segments have lower addresses.
    Down,
}

/// How a simulated device is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceSpec {
    /// Bytes of memory.
    pub total: u64,
    /// Bytes that others use.
    pub other: u64,
    /// Direction of addresses.
    pub order: Order,
}

/// New addresses are multiples of this.
const STEP: u64 = 2 << 20;

/// Addresses end here.
pub(crate) const LAST_ADDRESS: u64 = 1 << 63;

/// A device that counts bytes. Addresses are never used twice.
#[derive(Clone, Debug)]
pub struct SimulatedDevice {
    spec: DeviceSpec,
    used: u64,
    next_segment: u64,
    next_range: u64,
    count: u64,
    calls: Option<Vec<Call>>,
    /// Nothing more fits, whatever is free.
    pub(crate) is_full: bool,
}

impl SimulatedDevice {
    /// A device without a log of its calls.
    pub fn new(spec: DeviceSpec) -> Self {
        let (next_segment, next_range) = match spec.order {
            Order::Up => (0, 1 << 40),
            Order::Down => (1 << 39, 1 << 43),
        };
        Self {
            spec,
            used: 0,
            next_segment,
            next_range,
            count: 0,
            calls: None,
            is_full: false,
        }
    }

    /// Bytes that a request can get.
    fn room(&self) -> u64 {
        if self.is_full { 0 } else { self.free_bytes() }
    }

    /// Adds a log of its calls.
    #[must_use]
    pub fn with_calls(mut self) -> Self {
        self.calls = Some(Vec::new());
        self
    }

    /// New addresses start here, above everything that a recorded start state uses, and `bytes` of it are in use.
    #[must_use]
    pub fn after(mut self, addr: u64, bytes: u64) -> Self {
        let addr = addr.checked_next_multiple_of(STEP).unwrap_or(addr);
        self.next_segment = self.next_segment.max(addr);
        self.next_range = self.next_range.max(self.next_segment.saturating_add(1 << 40));
        self.used = bytes;
        self
    }

    /// Calls so far that reached the device.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Moves the logged calls out.
    pub fn take_calls(&mut self) -> Vec<Call> {
        self.calls.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn log(&mut self, call: Call) {
        self.count += 1;
        if let Some(calls) = &mut self.calls {
            calls.push(call);
        }
    }

    /// New addresses; none: they are used up.
    fn addresses(order: Order, next: &mut u64, size: u64) -> Option<u64> {
        let step = size.checked_next_multiple_of(STEP)?;
        match order {
            Order::Up => {
                let addr = *next;
                *next = addr.checked_add(step).filter(|end| *end <= LAST_ADDRESS)?;
                Some(addr)
            }
            Order::Down => {
                *next = next.checked_sub(step)?;
                Some(*next)
            }
        }
    }
}

impl Device for SimulatedDevice {
    fn total(&self) -> u64 {
        self.spec.total
    }

    fn free_bytes(&self) -> u64 {
        self.spec
            .total
            .saturating_sub(self.spec.other.saturating_add(self.used))
    }

    fn malloc(&mut self, size: u64) -> Option<u64> {
        if size > self.room() {
            self.log(Call::MallocFailed(size));
            return None;
        }
        let addr = Self::addresses(self.spec.order, &mut self.next_segment, size)?;
        self.used += size;
        self.log(Call::Malloc(size, addr));
        Some(addr)
    }

    fn free(&mut self, addr: u64, size: u64) {
        self.used = self.used.saturating_sub(size);
        self.log(Call::Free(size, addr));
    }

    fn reserve(&mut self, size: u64) -> Option<u64> {
        let addr = Self::addresses(self.spec.order, &mut self.next_range, size)?;
        self.log(Call::Reserve(size, addr));
        Some(addr)
    }

    fn unreserve(&mut self, addr: u64, size: u64) {
        self.log(Call::Unreserve(size, addr));
    }

    fn create(&mut self, page: u64, count: u64) -> bool {
        let fitting = self.room() / page.max(1);
        if fitting >= count {
            self.used += page.saturating_mul(count);
            self.log(Call::Create(page, count));
            return true;
        }
        if fitting > 0 {
            self.log(Call::Create(page, fitting));
        }
        self.log(Call::CreateFailed(page));
        if fitting > 0 {
            self.log(Call::Release(page, fitting));
        }
        false
    }

    fn map(&mut self, page: u64, addr: u64, count: u64) {
        self.log(Call::Map(page, addr, count));
    }

    fn unmap(&mut self, page: u64, addr: u64, count: u64) {
        self.used = self.used.saturating_sub(page.saturating_mul(count));
        self.log(Call::Unmap(page, addr, count));
    }

    fn record_event(&mut self, stream: u64) {
        self.log(Call::RecordEvent(stream));
    }

    fn sync_event(&mut self, stream: u64) {
        self.log(Call::SyncEvent(stream));
    }

    fn sync_stream(&mut self, stream: u64) {
        self.log(Call::SyncStream(stream));
    }

    fn sync_device(&mut self) {
        self.log(Call::SyncDevice);
    }
}
