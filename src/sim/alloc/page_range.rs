//! A virtual range with pages on demand, divided into slots of one page each.
//!
//! ```text
//! range   |..............|  span A  |span B|        occupied from the high slot down
//! slots   |  .  |  i  |  b  |  b2 |  b  |  r  |     . empty   i idle page   b busy   b2 shared by two   r returned
//! listed  slots whose page became idle              the last listed one is claimed first
//! ```
//!
//! In: parts of the range whose use begins or ends. Out: slots with pages, and driver calls. Rules: pages are taken
//! from the high slot downwards; two neighbours share the slot between them; a page stays in its slot until the part is
//! recycled, and then goes to the shared pages, still mapped. Releasing the range unmaps in page order, each from its
//! lowest address. A slot is listed when it becomes idle and keeps its position until it is claimed: in use and idle
//! again, its position is unchanged; entries of slots that are not idle are dropped on the way. Invariants: a slot with
//! references holds a page; a busy slot without references was claimed for a stitched block; a slot is listed at most
//! once. Untouched slots cost nothing.

mod walk;

pub use walk::Walked;

use super::RunError;
use super::driver::{Address, Driver, Shortage};
use super::shared_pages::{PageIdx, PagePlace, SharedPages};
use highwater_model::units::Bytes;

/// More slots than any device can back; requests beyond are a shortage.
const MAX_SLOTS: u64 = 1 << 23;

/// The end at which a range is used first: slots are stored from there to the last touched one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grows {
    /// From the low end (arenas, fixed memory).
    Up,
    /// From the high end (pools).
    Down,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlotState {
    /// No page, and none was recycled.
    #[default]
    Empty,
    /// Its page was recycled.
    Returned,
    /// An unused page.
    Idle,
    /// A page in use: by neighbours in the range, or (without references) by a stitched block.
    Busy,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SlotPage {
    #[default]
    Never,
    Held,
    /// Taken away, and not replaced.
    Returned,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    place: PagePlace,
    /// Users in the range.
    refs: u32,
    /// Mappings of its page that the engine counts: one here, and one in each stitched block.
    maps: u32,
    page: SlotPage,
    /// Whether its page is in use; with two users of a slot, one that backs off can leave it unused.
    is_used: bool,
    is_listed: bool,
}

impl Slot {
    fn state(&self) -> SlotState {
        match self.page {
            SlotPage::Held if self.is_used => SlotState::Busy,
            SlotPage::Held => SlotState::Idle,
            SlotPage::Returned => SlotState::Returned,
            SlotPage::Never => SlotState::Empty,
        }
    }

    fn has_page(&self) -> bool {
        self.page == SlotPage::Held
    }

    /// Whether another part may claim its page.
    fn is_free(&self) -> bool {
        self.has_page() && self.refs == 0 && !self.is_used
    }
}

/// First and last slot of a part, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    pub first: u64,
    pub last: u64,
}

/// A virtual range with its slots.
#[derive(Clone, Debug)]
pub struct PageRange {
    base: Address,
    page: u64,
    n_slots: u64,
    grows: Grows,
    /// Touched slots, from the end at which the range is used first.
    slots: Vec<Slot>,
    /// Slots that became idle, by index in `slots`, in order of listing.
    listed: Vec<u32>,
    /// Slots that the last walk chose to stitch.
    chosen: Vec<u64>,
    pages: u64,
}

impl PageRange {
    /// Reserves a range of at least `bytes`, rounded up to whole pages, and joins the users of the pages; `None` where
    /// the driver does not support it.
    pub fn reserve(bytes: Bytes, grows: Grows, shared: &mut SharedPages, driver: &mut Driver) -> Option<Self> {
        let page = shared.page_bytes().get();
        // Truncated to the address space, in whole pages.
        let n_slots = bytes.get().div_ceil(page).min((1 << 62) / page);
        let base = driver.reserve(Bytes(n_slots * page))?;
        shared.join();
        Some(Self {
            base,
            page,
            n_slots,
            grows,
            slots: Vec::new(),
            listed: Vec::new(),
            chosen: Vec::new(),
            pages: 0,
        })
    }

    pub fn base(&self) -> Address {
        self.base
    }

    /// A multiple of the page.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.n_slots * self.page)
    }

    /// Bytes of a slot.
    pub fn page_bytes(&self) -> u64 {
        self.page
    }

    /// Slots that hold a page.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Bytes of the pages in its slots.
    pub fn held(&self) -> Bytes {
        Bytes(self.pages.saturating_mul(self.page))
    }

    /// The slots that `offset..offset + bytes` touches; `None` where it is empty or exceeds the range.
    pub fn touched(&self, offset: u64, bytes: u64) -> Option<Touched> {
        let end = offset.checked_add(bytes)?;
        (bytes > 0 && end <= self.bytes().get()).then(|| Touched {
            first: offset / self.page,
            last: (end - 1) / self.page,
        })
    }

    /// Ends the use of a part; the pages stay in their slots.
    pub fn vacate(&mut self, offset: u64, bytes: Bytes) {
        if let Some(Touched { first, last }) = self.touched(offset, bytes.get()) {
            self.leave_slots(first, last);
        }
    }

    /// Moves the idle pages of a part to the shared pages, low slots first. O(slots ever touched).
    pub fn recycle(&mut self, offset: u64, bytes: Bytes, shared: &mut SharedPages) {
        let Some(Touched { first, last }) = self.touched(offset, bytes.get()) else {
            return;
        };
        let kept = self.kept();
        for at in first.max(kept.start)..(last + 1).min(kept.end) {
            if self.peek(at).is_some_and(Slot::is_free) {
                self.give_back(at, shared);
            }
        }
    }

    /// Gives the page of a slot to the shared pages, unless the engine counts another mapping of it.
    fn give_back(&mut self, at: u64, shared: &mut SharedPages) {
        let slot = self.slot(at);
        slot.maps = slot.maps.saturating_sub(1);
        if slot.maps > 0 || !slot.has_page() {
            return;
        }
        slot.page = SlotPage::Returned;
        if let Some(page) = slot.place.mapped() {
            shared.put(page);
        }
        self.pages -= 1;
    }

    /// Ends the range: its pages go to the shared pages, low slots first, its mappings and addresses to the driver, and
    /// it leaves the users of the pages. O(n log n) in slots ever touched.
    pub fn release(mut self, shared: &mut SharedPages, driver: &mut Driver) {
        let mut mapped: Vec<(PageIdx, u64)> = Vec::new();
        for at in self.kept() {
            let address = self.address(at);
            let slot = self.slot(at);
            if let Some(page) = slot.place.mapped() {
                mapped.push((page, address.offset()));
                if slot.has_page() {
                    shared.put(page);
                }
            }
        }
        mapped.sort_unstable();
        for (_, offset) in mapped {
            driver.unmap(Address::virtual_space(offset));
        }
        driver.release(self.base, self.bytes());
        shared.leave(driver);
    }

    /// State of a slot, and its users in the range.
    pub fn state_and_refs(&self, at: u64) -> (SlotState, u32) {
        self.peek(at)
            .map_or((SlotState::Empty, 0), |slot| (slot.state(), slot.refs))
    }

    pub fn state(&self, at: u64) -> SlotState {
        self.state_and_refs(at).0
    }

    /// Users in the range.
    pub fn refs(&self, at: u64) -> u32 {
        self.state_and_refs(at).1
    }

    /// The page mapped at a slot, in use or not.
    pub fn page(&self, at: u64) -> Option<PageIdx> {
        self.peek(at).and_then(|slot| slot.place.mapped())
    }

    /// Takes a page for a slot without one, which becomes busy.
    ///
    /// # Errors
    /// [`Shortage`] where no page can be had.
    pub fn fill(&mut self, at: u64, shared: &mut SharedPages, driver: &mut Driver) -> Result<(), Shortage> {
        if self.index(at) >= MAX_SLOTS {
            let requested = shared.page_bytes();
            return Err(Shortage { requested });
        }
        let address = self.address(at);
        let slot = self.slot(at);
        shared.take(&mut slot.place, address, driver)?;
        slot.page = SlotPage::Held;
        slot.is_used = true;
        slot.refs = 1;
        slot.maps = 1;
        self.pages += 1;
        Ok(())
    }

    pub fn has_page(&self, at: u64) -> bool {
        self.peek(at).is_some_and(Slot::has_page)
    }

    /// Claims the last listed idle slot for a stitched block: in use, without users in the range.
    fn claim_listed(&mut self) -> Option<u64> {
        loop {
            let at = self.listed.pop().map(|index| self.index(u64::from(index)))?;
            let slot = self.slot(at);
            slot.is_listed = false;
            if slot.is_free() {
                slot.is_used = true;
                return Some(at);
            }
        }
    }

    /// Makes a slot busy for a stitched block; false where it already is.
    pub fn claim(&mut self, at: u64) -> bool {
        !std::mem::replace(&mut self.slot(at).is_used, true)
    }

    /// Ends the use of a slot by a stitched block; it is listed, unless the range has users of it.
    pub fn unclaim(&mut self, at: u64) {
        let slot = self.slot(at);
        if slot.has_page() {
            slot.is_used = false;
            self.list(at);
        }
    }

    /// Counts a mapping of a slot's page in a stitched block.
    pub fn count_map(&mut self, at: u64) {
        let slot = self.slot(at);
        slot.maps = slot.maps.saturating_add(1);
    }

    /// Counts the end of such a mapping.
    pub fn count_unmap(&mut self, at: u64) {
        let slot = self.slot(at);
        if slot.has_page() {
            slot.maps = slot.maps.saturating_sub(1);
        }
    }

    /// Lists a slot whose page is free, unless it is listed.
    pub fn list(&mut self, at: u64) {
        let index = self.index32(at);
        let slot = self.slot(at);
        if slot.is_free() && !std::mem::replace(&mut slot.is_listed, true) {
            self.listed.push(index);
        }
    }

    pub fn address(&self, at: u64) -> Address {
        self.base.plus(at * self.page)
    }

    /// Removes a user from every slot of `first..=last`, low ones first; those without users become idle.
    fn leave_slots(&mut self, first: u64, last: u64) {
        let kept = self.kept();
        let (first, end) = (first.max(kept.start), last.saturating_add(1).min(kept.end));
        for at in first..end {
            let slot = self.slot(at);
            if slot.has_page() && slot.refs > 0 {
                slot.refs -= 1;
                if slot.refs == 0 {
                    slot.is_used = false;
                    self.list(at);
                }
            }
        }
    }

    /// Converts between a position and an index in `slots`.
    #[inline]
    fn index(&self, at: u64) -> u64 {
        match self.grows {
            Grows::Up => at,
            Grows::Down => self.n_slots - 1 - at,
        }
    }

    fn index32(&self, at: u64) -> u32 {
        u32::try_from(self.index(at)).unwrap_or(u32::MAX)
    }

    /// Positions of the touched slots, ascending.
    fn kept(&self) -> std::ops::Range<u64> {
        let kept = self.slots.len() as u64;
        match self.grows {
            Grows::Up => 0..kept,
            Grows::Down => self.n_slots - kept..self.n_slots,
        }
    }

    #[inline]
    fn peek(&self, at: u64) -> Option<&Slot> {
        usize::try_from(self.index(at))
            .ok()
            .and_then(|index| self.slots.get(index))
    }

    /// The slot at a position; untouched slots are created, fewer than [`MAX_SLOTS`].
    #[inline]
    fn slot(&mut self, at: u64) -> &mut Slot {
        let index = self.index32(at) as usize;
        if index >= self.slots.len() {
            self.touch(index);
        }
        &mut self.slots[index]
    }

    #[cold]
    fn touch(&mut self, index: usize) {
        self.slots.resize(index + 1, Slot::default());
    }
}

#[cfg(test)]
#[path = "page_range_tests.rs"]
mod tests;
