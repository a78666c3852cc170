//! Where an arena's blocks come from: device memory (policy 2), or one virtual range with pages (policy 4).
//!
//! ```text
//! range    | block 0 | block 1 |........................|    cut from the start, byte for byte
//! slots    |   p   |   p   |  p  |                           neighbours share the slot between them
//! ```
//!
//! In: new blocks, parts that are used and no longer used. Out: addresses, driver calls. Invariant: what is held is
//! known part by part, so that it is given back exactly once.

use super::super::page_range::{Grows, PageRange};
use super::super::{Address, RunError, Shortage, SimulatedDevice};
use highwater_model::units::Bytes;

/// Device blocks above this are rounded up to a multiple of it.
const LARGE: u64 = 2 << 20;

/// Where blocks come from.
#[derive(Debug)]
pub(super) enum Backing {
    /// Device memory.
    Device,
    /// A virtual range, with device memory where that fails.
    Range(BackingRange),
}

/// A range of the whole device's size, reserved when the first block is made.
#[derive(Debug, Default)]
pub(super) struct BackingRange {
    range: Option<PageRange>,
    used: u64,
}

/// A block that was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackedRange {
    /// Where.
    pub(super) at: Address,
    /// Its bytes after rounding.
    pub(super) total: Bytes,
}

impl Backing {
    /// A new block. In a range it is used from now on.
    pub(super) fn make(&mut self, bytes: Bytes, device: &mut SimulatedDevice) -> Result<BackedRange, Shortage> {
        if let Self::Range(range) = self
            && let Some(at) = range.make(bytes, device)
        {
            return Ok(BackedRange { at, total: bytes });
        }
        let total = if bytes.get() > LARGE {
            bytes.align_up(LARGE)
        } else {
            bytes
        };
        let at = device.driver.malloc(total)?;
        Ok(BackedRange { at, total })
    }

    /// Begins to use a part; nothing happens to device memory.
    pub(super) fn occupy(
        &mut self,
        (at, bytes): (Address, Bytes),
        device: &mut SimulatedDevice,
    ) -> Result<(), RunError> {
        match self.range_of(at) {
            Some(range) => {
                let offset = at.offset() - range.base().offset();
                range.occupy(offset, bytes, (&mut device.pages, &mut device.driver))
            }
            None => Ok(()),
        }
    }

    /// Ends the use of parts: slots that nobody uses any more give their pages back.
    pub(super) fn recycle(&mut self, parts: &[(Address, Bytes)], device: &mut SimulatedDevice) {
        for (at, bytes) in parts {
            if let Some(range) = self.range_of(*at) {
                let offset = at.offset() - range.base().offset();
                range.vacate(offset, *bytes);
                range.recycle(offset, *bytes, &mut device.pages);
            }
        }
    }

    /// Ends the range; what it held is free.
    pub(super) fn release(&mut self, device: &mut SimulatedDevice) {
        if let Self::Range(state) = self {
            state.used = 0;
            if let Some(range) = state.range.take() {
                range.release((&mut device.pages, &mut device.driver));
            }
        }
    }

    /// Bytes of the range that blocks were cut from.
    pub(super) fn range_used(&self) -> Bytes {
        match self {
            Self::Device => Bytes::ZERO,
            Self::Range(range) => Bytes(range.used),
        }
    }

    /// Bytes of pages that the range holds.
    pub(super) fn held(&self) -> Bytes {
        match self {
            Self::Device => Bytes::ZERO,
            Self::Range(state) => state.range.as_ref().map_or(Bytes::ZERO, PageRange::held),
        }
    }

    fn range_of(&mut self, at: Address) -> Option<&mut PageRange> {
        match self {
            Self::Range(state) if at.is_virtual() => state.range.as_mut(),
            _ => None,
        }
    }
}

impl BackingRange {
    /// The next part of the range with pages; `None` where there is no range, no room in it, or no page.
    fn make(&mut self, bytes: Bytes, device: &mut SimulatedDevice) -> Option<Address> {
        if self.range.is_none() {
            let capacity = device.driver.capacity();
            self.range = PageRange::reserve(capacity, Grows::Up, (&mut device.pages, &mut device.driver));
        }
        let range = self.range.as_mut()?;
        let offset = self.used;
        let end = offset
            .checked_add(bytes.get())
            .filter(|end| *end <= range.bytes().get())?;
        range
            .occupy(offset, bytes, (&mut device.pages, &mut device.driver))
            .ok()?;
        self.used = end;
        Some(range.base().plus(offset))
    }
}
