//! Calls of the simulated driver as values: addresses, pages, pools, log entries.

/// The bit that marks virtual offsets.
const VIRTUAL: u64 = 1 << 63;

/// An offset in device memory or in the virtual space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(u64);

impl Address {
    pub const fn device(offset: u64) -> Self {
        Self(offset & !VIRTUAL)
    }

    pub const fn virtual_space(offset: u64) -> Self {
        Self(offset | VIRTUAL)
    }

    pub const fn is_virtual(self) -> bool {
        self.0 & VIRTUAL != 0
    }

    /// Relative to its space.
    pub const fn offset(self) -> u64 {
        self.0 & !VIRTUAL
    }

    #[must_use]
    pub const fn plus(self, bytes: u64) -> Self {
        Self(self.0 + bytes)
    }
}

/// Handles count from 1 and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageHandle(pub u32);

/// A pool of dynamic memory; its user assigns the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolKey(pub u32);

/// An entry of the log, in call order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Malloc {
        /// Offset in device memory.
        at: u64,
        bytes: u64,
    },
    MallocFailed {
        bytes: u64,
    },
    Free {
        /// Offset in device memory.
        at: u64,
        bytes: u64,
    },
    Reserve {
        /// Offset in the virtual space.
        at: u64,
        bytes: u64,
    },
    /// The driver does not support virtual ranges.
    ReserveFailed {
        bytes: u64,
    },
    Release {
        /// Offset in the virtual space.
        at: u64,
        bytes: u64,
    },
    PageAlloc {
        page: PageHandle,
        bytes: u64,
    },
    PageAllocFailed {
        bytes: u64,
    },
    PageFree {
        page: PageHandle,
        bytes: u64,
    },
    Map {
        /// Offset in the virtual space.
        at: u64,
        page: PageHandle,
        bytes: u64,
    },
    /// Unmaps the page at an offset.
    Unmap {
        /// Offset in the virtual space.
        at: u64,
    },
    Memset {
        at: Address,
        bytes: u64,
    },
    /// Waits for a stream.
    Synchronize,
    /// Note: a pool gets a block from the device pool.
    Grant {
        pool: PoolKey,
        at: Address,
        bytes: u64,
    },
    /// Note: a pool returns a block to the device pool.
    Return {
        pool: PoolKey,
        at: Address,
        bytes: u64,
    },
    /// Note: a pool begins to return idle memory; `None` is the device pool.
    Recycle {
        pool: Option<PoolKey>,
    },
    /// Note: scattered pages were joined into one range (after its mappings).
    Stitch {
        pool: PoolKey,
        /// Offset in the virtual space.
        at: u64,
        bytes: u64,
    },
    /// Note: a span was split.
    Split,
    /// Note: two idle neighbours were merged.
    Merge,
}

impl Call {
    /// Whether it is a driver call; the others are notes of allocators.
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
