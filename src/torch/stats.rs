//! Counters of the allocator.

/// A number of bytes with its highest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watermark {
    /// Bytes now.
    pub current: u64,
    /// Most bytes so far.
    pub peak: u64,
}

impl Watermark {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.current = self.current.wrapping_add(bytes);
        self.peak = self.peak.max(self.current);
    }

    pub(crate) fn subtract(&mut self, bytes: u64) {
        self.current = self.current.wrapping_sub(bytes);
    }
}

/// What the allocator counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bytes of blocks that the program holds.
    pub allocated: Watermark,
    /// Allocated bytes, and those of blocks that wait for other streams.
    pub active: Watermark,
    /// Bytes of device memory.
    pub reserved: Watermark,
    /// Bytes asked for, of active blocks.
    pub requested: Watermark,
    /// Bytes of free blocks of split ordinary segments.
    pub inactive_split_bytes: u64,
    /// Number of ordinary segments.
    pub segments: u64,
    /// Number of free blocks of split ordinary segments.
    pub inactive_splits: u64,
    /// Requests that released everything cached.
    pub alloc_retries: u64,
    /// Requests that failed.
    pub ooms: u64,
    /// Device allocations and maps.
    pub device_allocs: u64,
    /// Device frees and unmaps.
    pub device_frees: u64,
    /// Times that all outstanding events were waited for.
    pub sync_all_streams: u64,
    /// Live allocations of at least the split limit; below zero where the limit was lowered while they lived.
    pub oversize_allocations: i64,
    /// Segments of at least the split limit; below zero likewise.
    pub oversize_segments: i64,
}
