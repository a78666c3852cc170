//! From requested bytes to the size of the block, its pool and the segment it would need.

use super::{Allocator, EXACT_LIMIT, LARGE_POOL, MIN_BLOCK, Request, SMALL_LIMIT, SMALL_POOL, SMALL_SEGMENT};
use crate::device::Device;
use crate::event::Observer;
use crate::settings::{INTERVALS, Settings};

/// Pages and segments of `page_size:1g`.
const HUGE_PAGE: u64 = 1 << 30;

impl<D: Device, O: Observer> Allocator<D, O> {
    pub(super) fn request(&self, requested: u64, stream: u64) -> Request {
        let size = round_up(&self.settings, requested.saturating_add(self.rules.spare_bytes));
        let is_small = size <= SMALL_LIMIT;
        let pool = match self.private.route(stream, self.rules.open_pool) {
            Some(private) if is_small => private.small,
            Some(private) => private.large,
            None if is_small => SMALL_POOL,
            None => LARGE_POOL,
        };
        Request {
            requested,
            size,
            stream,
            pool,
            segment: self.segment(size),
            expands: self.settings.expandable,
        }
    }

    fn segment(&self, size: u64) -> u64 {
        if size <= SMALL_LIMIT {
            SMALL_SEGMENT
        } else if self.settings.npu.huge_pages {
            multiple(size, HUGE_PAGE)
        } else if size < EXACT_LIMIT {
            self.settings.large_segment
        } else {
            multiple(size, SMALL_SEGMENT)
        }
    }
}

/// Which interval of the list of divisions a size is in.
fn interval(bytes: u64) -> usize {
    let mib = (bytes >> 20).max(1);
    (mib.ilog2() as usize).min(INTERVALS - 1)
}

/// The next multiple, or the last one below 2^64.
pub(super) fn multiple(bytes: u64, unit: u64) -> u64 {
    bytes
        .checked_next_multiple_of(unit)
        .unwrap_or(u64::MAX - u64::MAX % unit)
}

/// Bytes of the block of a request that is split exactly.
pub(crate) fn round(settings: &Settings, requested: u64) -> u64 {
    let spare = settings.version.rules().spare_bytes;
    round_up(settings, requested.saturating_add(spare))
}

fn round_up(settings: &Settings, bytes: u64) -> u64 {
    if bytes < MIN_BLOCK {
        return MIN_BLOCK;
    }
    let divisions = settings.divisions[interval(bytes)];
    if divisions > 1 && bytes > MIN_BLOCK.saturating_mul(divisions) {
        if bytes.is_power_of_two() {
            return bytes;
        }
        let power = 1 << bytes.ilog2();
        return multiple(bytes, power / divisions);
    }
    multiple(bytes, MIN_BLOCK)
}

impl Settings {
    /// Bytes of a page of a new expandable segment.
    pub fn page(&self, is_small: bool) -> u64 {
        if is_small {
            return SMALL_SEGMENT;
        }
        if self.npu.huge_pages {
            return HUGE_PAGE;
        }
        match self.npu.segment_page {
            Some(page) if self.large_segment == 20 << 20 => page,
            _ => self.large_segment,
        }
    }
}
