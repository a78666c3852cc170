//! Memory of an arena's blocks: device memory (policy 2), or one virtual range with pages (policy 4).
//!
//! ```text
//! range    | block 0 | block 1 |........................|    cut from the start, byte for byte
//! slots    |   p   |   p   |  p  |                           neighbours share the slot between them
//! ```
//!
//! In: new blocks, parts whose use begins or ends. Out: addresses, driver calls. Invariant: held parts are tracked, so
//! that each is returned exactly once.

use super::super::page_range::{Grows, PageRange};
use super::super::{Address, RunError, Shortage, SimulatedDevice};
use highwater_model::units::Bytes;

/// Larger device blocks are rounded up to a multiple of it.
const LARGE: u64 = 2 << 20;

#[derive(Debug)]
pub(super) enum Backing {
    Device,
    /// A virtual range, with device memory as fallback.
    Range(BackingRange),
}

/// A range of the device's size, reserved for the first block.
#[derive(Debug, Default)]
pub(super) struct BackingRange {
    range: Option<PageRange>,
    used: u64,
    /// Whether a range was refused once: the engine never asks again.
    is_refused: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct BackedRange {
    pub(super) at: Address,
    /// Bytes after rounding.
    pub(super) total: Bytes,
}

impl Backing {
    /// Allocates a block; in a range its use begins.
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

    /// Begins the use of a part; no effect on device memory.
    pub(super) fn occupy(&mut self, at: Address, bytes: Bytes, device: &mut SimulatedDevice) -> Result<(), RunError> {
        match self.range_of(at) {
            Some(range) => {
                let offset = at.offset() - range.base().offset();
                range.occupy(offset, bytes, &mut device.pages, &mut device.driver)
            }
            None => Ok(()),
        }
    }

    /// Ends the use of parts: slots without users return their pages.
    pub(super) fn recycle(&mut self, parts: &[(Address, Bytes)], device: &mut SimulatedDevice) {
        for (at, bytes) in parts {
            if let Some(range) = self.range_of(*at) {
                let offset = at.offset() - range.base().offset();
                range.vacate(offset, *bytes);
                range.recycle(offset, *bytes, &mut device.pages);
            }
        }
    }

    /// Releases the range and everything in it.
    pub(super) fn release(&mut self, device: &mut SimulatedDevice) {
        if let Self::Range(state) = self {
            state.used = 0;
            if let Some(range) = state.range.take() {
                range.release(&mut device.pages, &mut device.driver);
            }
        }
    }

    /// Whether blocks are cut from a range, or can be.
    pub(super) fn has_range(&self) -> bool {
        match self {
            Self::Device => false,
            Self::Range(range) => !range.is_refused,
        }
    }

    /// Bytes of the range that blocks were cut from.
    pub(super) fn range_used(&self) -> Bytes {
        match self {
            Self::Device => Bytes::ZERO,
            Self::Range(range) => Bytes(range.used),
        }
    }

    /// Whether a part of the range has no page somewhere. O(slots of the part).
    pub(super) fn lacks_pages(&self, at: Address, bytes: Bytes) -> bool {
        let Self::Range(state) = self else { return false };
        if !at.is_virtual() || bytes == Bytes::ZERO {
            return false;
        }
        let Some(range) = &state.range else { return true };
        let touched = range.touched(at.offset().saturating_sub(range.base().offset()), bytes.get());
        touched.is_none_or(|part| (part.first..=part.last).any(|slot| !range.has_page(slot)))
    }

    /// Bytes of pages in the range.
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
        if self.range.is_none() && !self.is_refused {
            let capacity = device.driver.capacity();
            // More than the device holds counts as a refusal, too.
            if bytes <= capacity {
                self.range = PageRange::reserve(capacity, Grows::Up, &mut device.pages, &mut device.driver);
            }
            self.is_refused = self.range.is_none();
        }
        let range = self.range.as_mut()?;
        let offset = self.used;
        let end = offset
            .checked_add(bytes.get())
            .filter(|end| *end <= range.bytes().get())?;
        range
            .occupy(offset, bytes, &mut device.pages, &mut device.driver)
            .ok()?;
        self.used = end;
        Some(range.base().plus(offset))
    }
}
