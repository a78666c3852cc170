//! Physical pages under live blocks: a page may have several mappings, but each of its bytes serves one block.

use std::collections::BTreeMap;

/// One mapping of a page.
#[derive(Clone, Copy)]
pub(super) struct Mapped {
    pub(super) bytes: u64,
    /// The page's subject.
    pub(super) page: u32,
    /// Live blocks that use it here.
    pub(super) refs: u32,
}

/// Bytes of each page that live blocks hold: by subject, start and end within the page.
pub(super) type PageUse = BTreeMap<u32, BTreeMap<u64, u64>>;

/// By offset in the region.
pub(super) type Mappings = BTreeMap<u64, Mapped>;

/// Result of touching pages.
pub(super) enum Touched {
    /// All mapped; the bytes of pages that were unused before.
    Fresh(u64),
    /// A byte is not mapped.
    Unmapped,
    /// A live block holds a byte of the page at this offset.
    InUse(u64),
}

/// Uses the pages under `start..end`.
pub(super) fn touch(mapped: &mut Mappings, start: u64, end: u64, page_use: &mut PageUse) -> Touched {
    let mut covered = start;
    let mut fresh = 0;
    let Some(first) = mapped.range(..=start).next_back().map(|(offset, _)| *offset) else {
        return Touched::Unmapped;
    };
    for (offset, page) in mapped.range_mut(first..end) {
        if *offset > covered {
            return Touched::Unmapped;
        }
        let (low, high) = (start.max(*offset) - offset, (end - offset).min(page.bytes));
        covered = covered.max(offset + page.bytes);
        if low >= high {
            continue;
        }
        let used = page_use.entry(page.page).or_default();
        let below = used.range(..high).next_back();
        if below.is_some_and(|(_, used_end)| *used_end > low) {
            return Touched::InUse(offset + low);
        }
        if used.is_empty() {
            fresh += page.bytes;
        }
        used.insert(low, high);
        page.refs += 1;
    }
    if covered >= end {
        Touched::Fresh(fresh)
    } else {
        Touched::Unmapped
    }
}

/// Ends a use; returns the bytes of pages without users.
pub(super) fn untouch(mapped: &mut Mappings, start: u64, end: u64, page_use: &mut PageUse) -> u64 {
    let below = mapped.range(..=start).next_back();
    let first = below.map_or(start, |(offset, _)| *offset);
    let mut idle = 0;
    for (offset, page) in mapped.range_mut(first..end) {
        let (low, high) = (start.max(*offset) - offset, (end - offset).min(page.bytes));
        if low >= high {
            continue;
        }
        page.refs -= 1;
        if let Some(used) = page_use.get_mut(&page.page) {
            used.remove(&low);
            if used.is_empty() {
                idle += page.bytes;
            }
        }
    }
    idle
}
