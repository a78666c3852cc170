//! What the driver is asked, as values: addresses, pages, pools, and one call of the log.

/// The bit that tells virtual offsets from device offsets.
const VIRTUAL: u64 = 1 << 63;

/// An address of the simulated device: an offset in device memory or in the virtual space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(u64);

impl Address {
    /// An offset in device memory.
    pub const fn device(offset: u64) -> Self {
        Self(offset & !VIRTUAL)
    }

    /// An offset in the virtual space.
    pub const fn virtual_space(offset: u64) -> Self {
        Self(offset | VIRTUAL)
    }

    /// Whether it lies in the virtual space.
    pub const fn is_virtual(self) -> bool {
        self.0 & VIRTUAL != 0
    }

    /// The offset in its space.
    pub const fn offset(self) -> u64 {
        self.0 & !VIRTUAL
    }

    /// The address `bytes` behind.
    #[must_use]
    pub const fn plus(self, bytes: u64) -> Self {
        Self(self.0 + bytes)
    }
}

/// A physical page; handles count from 1 and are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageHandle(pub u32);

/// A pool of dynamic memory, as its user numbers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolKey(pub u32);

/// One call, in the order in which calls were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Device memory was given.
    Malloc {
        /// Offset in device memory.
        at: u64,
        /// Bytes.
        bytes: u64,
    },
    /// Device memory was refused.
    MallocFailed {
        /// Bytes asked for.
        bytes: u64,
    },
    /// Device memory was given back.
    Free {
        /// Offset in device memory.
        at: u64,
        /// Bytes.
        bytes: u64,
    },
    /// A virtual range was reserved.
    Reserve {
        /// Offset in the virtual space.
        at: u64,
        /// Bytes.
        bytes: u64,
    },
    /// The driver cannot reserve ranges.
    ReserveFailed {
        /// Bytes asked for.
        bytes: u64,
    },
    /// A virtual range was given back.
    Release {
        /// Offset in the virtual space.
        at: u64,
        /// Bytes.
        bytes: u64,
    },
    /// A physical page was given.
    PageAlloc {
        /// The page.
        page: PageHandle,
        /// Bytes.
        bytes: u64,
    },
    /// A physical page was refused.
    PageAllocFailed {
        /// Bytes asked for.
        bytes: u64,
    },
    /// A physical page was given back.
    PageFree {
        /// The page.
        page: PageHandle,
        /// Bytes.
        bytes: u64,
    },
    /// A page was mapped.
    Map {
        /// Offset in the virtual space.
        at: u64,
        /// The page.
        page: PageHandle,
        /// Bytes.
        bytes: u64,
    },
    /// What is mapped at an offset was unmapped.
    Unmap {
        /// Offset in the virtual space.
        at: u64,
    },
    /// Memory was set to zero.
    Memset {
        /// From where.
        at: Address,
        /// Bytes.
        bytes: u64,
    },
    /// A stream was waited for.
    Synchronize,
    /// No driver call: a pool got a block from the device's pool.
    Grant {
        /// Who.
        pool: PoolKey,
        /// Where.
        at: Address,
        /// Bytes.
        bytes: u64,
    },
    /// No driver call: a pool gave a block back to the device's pool.
    Return {
        /// Who.
        pool: PoolKey,
        /// Where.
        at: Address,
        /// Bytes.
        bytes: u64,
    },
    /// No driver call: a pool begins to give back what is idle; `None` is the device's pool.
    Recycle {
        /// Who.
        pool: Option<PoolKey>,
    },
    /// No driver call: scattered pages were joined into one range (its mappings precede this).
    Stitch {
        /// Who.
        pool: PoolKey,
        /// Offset of the range in the virtual space.
        at: u64,
        /// Bytes.
        bytes: u64,
    },
    /// No driver call: a span was cut.
    Split,
    /// No driver call: two idle neighbours were joined.
    Merge,
}

impl Call {
    /// Whether the driver was called; others are notes of the allocators.
    pub const fn is_of_driver(&self) -> bool {
        !matches!(
            self,
            Self::Grant { .. }
                | Self::Return { .. }
                | Self::Recycle { .. }
                | Self::Stitch { .. }
                | Self::Split
                | Self::Merge
        )
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn calls_stay_small() {
        assert!(size_of::<super::Call>() <= 24);
    }
}
