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
//! references holds a page and is busy; a busy slot without references was claimed for a stitched block; a slot is
//! listed at most once. Untouched slots cost nothing.

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

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    place: PagePlace,
    refs: u32,
    state: SlotState,
    is_listed: bool,
}

impl Slot {
    /// Makes the slot idle; returns whether it must be listed.
    #[inline]
    fn becomes_idle(&mut self) -> bool {
        self.state = SlotState::Idle;
        !std::mem::replace(&mut self.is_listed, true)
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

    /// Begins the use of a part: every slot gets a page or one more reference, from the high one down. O(slots
    /// touched).
    ///
    /// # Errors
    /// [`RunError::MemoryInUse`] where a page has another user, [`RunError::Shortage`] where a page cannot be had.
    /// Slots above it are then released; pages that they got stay with them, idle.
    pub fn occupy(
        &mut self,
        offset: u64,
        bytes: Bytes,
        shared: &mut SharedPages,
        driver: &mut Driver,
    ) -> Result<(), RunError> {
        if bytes == Bytes::ZERO {
            return Ok(());
        }
        let Some(Touched { first, last }) = self.touched(offset, bytes.get()) else {
            return Err(RunError::Shortage(Shortage { requested: bytes }));
        };
        for at in (first..=last).rev() {
            let step = match self.state_and_refs(at) {
                (SlotState::Empty | SlotState::Returned, _) => {
                    self.fill(at, shared, driver).map_err(RunError::Shortage)
                }
                (SlotState::Idle, _) => {
                    self.reuse(at);
                    Ok(())
                }
                (SlotState::Busy, 1..) if at == first || at == last => {
                    self.share(at);
                    Ok(())
                }
                (SlotState::Busy, _) => Err(RunError::MemoryInUse),
            };
            if let Err(error) = step {
                self.leave_slots(at + 1, last);
                return Err(error);
            }
        }
        Ok(())
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
            let index = self.index32(at);
            let slot = &mut self.slots[index as usize];
            if slot.state == SlotState::Idle {
                slot.state = SlotState::Returned;
                if let Some(page) = slot.place.mapped() {
                    shared.put(page);
                }
                self.pages -= 1;
            }
        }
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
                if matches!(slot.state, SlotState::Idle | SlotState::Busy) {
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
            .map_or((SlotState::Empty, 0), |slot| (slot.state, slot.refs))
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
        slot.state = SlotState::Busy;
        slot.refs = 1;
        self.pages += 1;
        Ok(())
    }

    /// Adds a user to a busy slot.
    pub fn share(&mut self, at: u64) {
        let slot = self.slot(at);
        slot.refs = slot.refs.saturating_add(1);
    }

    /// Adds the first user to an idle slot.
    pub fn reuse(&mut self, at: u64) {
        let slot = self.slot(at);
        slot.state = SlotState::Busy;
        slot.refs = 1;
    }

    /// Removes a user; the last one leaves the slot idle.
    pub fn leave(&mut self, at: u64) {
        self.leave_slots(at, at);
    }

    /// Claims the last listed idle slot for a stitched block: busy, without references.
    pub fn claim_listed(&mut self) -> Option<u64> {
        loop {
            let at = self.listed.pop().map(|index| self.index(u64::from(index)))?;
            self.slot(at).is_listed = false;
            if self.state(at) == SlotState::Idle {
                self.claim(at);
                return Some(at);
            }
        }
    }

    /// Makes a slot busy without references, for a stitched block.
    pub fn claim(&mut self, at: u64) {
        let slot = self.slot(at);
        slot.state = SlotState::Busy;
        slot.refs = 0;
    }

    /// Makes a slot idle and lists it, unless it is listed.
    pub fn set_idle(&mut self, at: u64) {
        let index = self.index32(at);
        let slot = self.slot(at);
        slot.refs = 0;
        if slot.becomes_idle() {
            self.listed.push(index);
        }
    }

    /// Makes a slot idle that is about to be claimed.
    pub fn set_idle_unlisted(&mut self, at: u64) {
        let slot = self.slot(at);
        slot.state = SlotState::Idle;
        slot.refs = 0;
    }

    pub fn address(&self, at: u64) -> Address {
        self.base.plus(at * self.page)
    }

    /// Removes a user from every slot of `first..=last`, low ones first.
    fn leave_slots(&mut self, first: u64, last: u64) {
        let kept = self.kept();
        let (first, end) = (first.max(kept.start), last.saturating_add(1).min(kept.end));
        for at in first..end {
            let index = self.index32(at);
            let slot = &mut self.slots[index as usize];
            if slot.refs > 0 {
                slot.refs -= 1;
                if slot.refs == 0 && slot.becomes_idle() {
                    self.listed.push(index);
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
