//! Physical pages of one size, shared by every virtual range of the device.
//!
//! ```text
//! pages       1 used   2 free   3 used   4 free        in order of creation
//! free list   4, 3, 2                                  last listed, first taken; 3 went back to the place that it
//!                                                      was mapped at, and keeps its position
//! ```
//!
//! In: a place (one page-sized slot of a range) that needs a page. Out: the page, mapped there, and driver calls.
//! Rules: a place gets the page that it held last, if it is unused, without any call where it is still mapped;
//! otherwise its stale mapping is removed, and it gets the last listed page or a new one. Returning a page is no call.
//! A page that a place takes back stays on the free list, which skips it while it is used; returning it again does not
//! move it. Invariants: a page has at most one user; an unused page is on the free list; pages are returned to the
//! device only when the last user of this allocator leaves.

use super::driver::{Address, Driver, PageHandle, Shortage};
use highwater_model::units::Bytes;

const NONE: u32 = u32::MAX;

/// More pages than any device has; keeps counts in range for any device of a trace.
const MAX_PAGES: usize = 1 << 22;

/// A page of one [`SharedPages`], by order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageIdx(pub u32);

/// The page history of a slot.
#[derive(Clone, Copy, Debug)]
pub struct PagePlace {
    page: u32,
    is_mapped: bool,
}

impl Default for PagePlace {
    fn default() -> Self {
        Self {
            page: NONE,
            is_mapped: false,
        }
    }
}

impl PagePlace {
    /// The page mapped here, in use or not.
    pub fn mapped(&self) -> Option<PageIdx> {
        self.is_mapped.then_some(PageIdx(self.page))
    }
}

#[derive(Clone, Copy, Debug)]
struct Page {
    handle: PageHandle,
    is_used: bool,
    is_listed: bool,
    /// The next page of the free list.
    next: u32,
}

/// Physical pages of one size.
#[derive(Clone, Debug)]
pub struct SharedPages {
    page_bytes: u64,
    pages: Vec<Page>,
    /// The head of the free list.
    first_free: u32,
    users: u32,
}

impl SharedPages {
    /// `page_bytes` is at least 1.
    pub fn new(page_bytes: Bytes) -> Self {
        Self {
            page_bytes: page_bytes.get().max(1),
            pages: Vec::new(),
            first_free: NONE,
            users: 0,
        }
    }

    pub fn page_bytes(&self) -> Bytes {
        Bytes(self.page_bytes)
    }

    /// Bytes of all pages, used or free.
    pub fn held(&self) -> Bytes {
        Bytes((self.pages.len() as u64).saturating_mul(self.page_bytes))
    }

    /// The driver's handle of a page.
    pub fn handle(&self, page: PageIdx) -> PageHandle {
        self.pages[page.0 as usize].handle
    }

    /// Adds a range as user.
    pub fn join(&mut self) {
        self.users = self.users.saturating_add(1);
    }

    /// Removes a range that holds no page; the last one returns all pages to the device, in order.
    pub fn leave(&mut self, driver: &mut Driver) {
        self.users = self.users.saturating_sub(1);
        if self.users > 0 {
            return;
        }
        for page in self.pages.drain(..) {
            driver.page_free(page.handle, Bytes(self.page_bytes));
        }
        self.first_free = NONE;
    }

    /// Maps a page at a place at address `at`. O(1).
    ///
    /// # Errors
    /// [`Shortage`] where no page is free and the device has no room for a new one.
    pub fn take(&mut self, place: &mut PagePlace, at: Address, driver: &mut Driver) -> Result<PageIdx, Shortage> {
        if let Some(known) = self.pages.get(place.page as usize) {
            if !known.is_used {
                let page = place.page;
                self.pages[page as usize].is_used = true;
                self.map(place, page, at, driver);
                return Ok(PageIdx(page));
            }
            // After a failed request a place remembers one past the end; that page may have another user by now.
            if !place.is_mapped {
                return Err(self.shortage());
            }
            driver.unmap(at);
            place.is_mapped = false;
        }
        let page = match self.pop() {
            Some(page) => page,
            None => self.new_page(place, driver)?,
        };
        self.map(place, page, at, driver);
        Ok(PageIdx(page))
    }

    /// Returns a page; it stays mapped, and on the free list where it never left it. O(1).
    pub fn put(&mut self, page: PageIdx) {
        let state = &mut self.pages[page.0 as usize];
        state.is_used = false;
        if !state.is_listed {
            state.is_listed = true;
            state.next = std::mem::replace(&mut self.first_free, page.0);
        }
    }

    fn shortage(&self) -> Shortage {
        Shortage {
            requested: Bytes(self.page_bytes),
        }
    }

    fn new_page(&mut self, place: &mut PagePlace, driver: &mut Driver) -> Result<u32, Shortage> {
        let next = self.pages.len();
        place.page = u32::try_from(next).unwrap_or(NONE);
        if next >= MAX_PAGES {
            return Err(self.shortage());
        }
        let handle = driver.page_alloc(Bytes(self.page_bytes))?;
        self.pages.push(Page {
            handle,
            is_used: true,
            is_listed: false,
            next: NONE,
        });
        Ok(place.page)
    }

    fn map(&self, place: &mut PagePlace, page: u32, at: Address, driver: &mut Driver) {
        if place.page == page && place.is_mapped {
            return;
        }
        driver.map(at, self.pages[page as usize].handle, Bytes(self.page_bytes));
        *place = PagePlace { page, is_mapped: true };
    }

    /// Takes the first unused page of the list. Pages in use are dropped from the list.
    fn pop(&mut self) -> Option<u32> {
        while self.first_free != NONE {
            let page = self.first_free;
            let state = &mut self.pages[page as usize];
            self.first_free = state.next;
            state.is_listed = false;
            if !std::mem::replace(&mut state.is_used, true) {
                return Some(page);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Call, DriverRules};
    use super::*;

    const PAGE: Bytes = Bytes::mib(8);

    fn parts(pages: u64) -> (SharedPages, Driver) {
        let rules = DriverRules {
            capacity: Bytes(PAGE.get() * pages),
            can_reserve: true,
            has_notes: false,
        };
        let mut shared = SharedPages::new(PAGE);
        shared.join();
        (shared, Driver::new(rules))
    }

    fn at(slot: u64) -> Address {
        Address::virtual_space(slot * PAGE.get())
    }

    #[test]
    fn a_place_gets_its_own_page_back_without_a_call() {
        let (mut shared, mut driver) = parts(2);
        let mut place = PagePlace::default();
        let page = shared.take(&mut place, at(0), &mut driver).expect("room");
        shared.put(page);
        driver.clear_calls();
        assert_eq!(shared.take(&mut place, at(0), &mut driver), Ok(page));
        assert_eq!(driver.calls(), []);
    }

    #[test]
    fn the_page_returned_last_serves_others_and_its_stale_mapping_goes_when_the_place_needs_one() {
        let (mut shared, mut driver) = parts(3);
        let mut places = [PagePlace::default(); 3];
        let first = shared.take(&mut places[0], at(0), &mut driver).expect("room");
        let second = shared.take(&mut places[1], at(1), &mut driver).expect("room");
        shared.put(first);
        shared.put(second);
        driver.clear_calls();
        assert_eq!(shared.take(&mut places[2], at(2), &mut driver), Ok(second));
        assert_eq!(shared.take(&mut places[1], at(1), &mut driver), Ok(first));
        let [second, first] = [second, first].map(|page| shared.handle(page));
        let map = |slot, page| Call::Map {
            at: at(slot).offset(),
            page,
            bytes: PAGE.get(),
        };
        let unmap = Call::Unmap { at: at(1).offset() };
        assert_eq!(driver.calls(), [map(2, second), unmap, map(1, first)]);
    }

    #[test]
    fn after_a_failure_a_place_mistakes_the_next_page_for_its_own() {
        let (mut shared, mut driver) = parts(2);
        let mut places = [PagePlace::default(); 3];
        let block = driver.malloc(PAGE).expect("room");
        let first = shared.take(&mut places[0], at(0), &mut driver).expect("room");
        assert!(shared.take(&mut places[1], at(1), &mut driver).is_err());
        driver.free(block, PAGE);
        let second = shared.take(&mut places[2], at(2), &mut driver).expect("room");
        shared.put(first);
        driver.clear_calls();
        let refused = shared.take(&mut places[1], at(1), &mut driver);
        assert!(refused.is_err(), "in use and not mapped here");
        assert_eq!(driver.calls(), []);
        shared.put(second);
        assert_eq!(shared.take(&mut places[1], at(1), &mut driver), Ok(second));
    }

    #[test]
    fn pages_go_back_with_the_last_user_only() {
        let (mut shared, mut driver) = parts(2);
        shared.join();
        let mut place = PagePlace::default();
        let page = shared.take(&mut place, at(0), &mut driver).expect("room");
        shared.put(page);
        shared.leave(&mut driver);
        assert_eq!((driver.in_use(), shared.held()), (PAGE, PAGE));
        shared.leave(&mut driver);
        assert_eq!((driver.in_use(), shared.held()), (Bytes::ZERO, Bytes::ZERO));
    }

    #[test]
    fn a_page_that_its_place_takes_back_keeps_its_turn() {
        let (mut shared, mut driver) = parts(3);
        let mut places = [PagePlace::default(); 4];
        for (slot, place) in places.iter_mut().take(3).enumerate() {
            shared.take(place, at(slot as u64), &mut driver).expect("room");
        }
        for page in [2, 1, 0] {
            shared.put(PageIdx(page));
        }
        let again = shared.take(&mut places[1], at(1), &mut driver).expect("free");
        shared.put(again);
        assert_eq!(shared.take(&mut places[3], at(3), &mut driver), Ok(PageIdx(0)));
        let used = shared.take(&mut places[1], at(1), &mut driver).expect("free");
        assert_eq!(used, PageIdx(1));
        let other = shared.take(&mut places[0], at(0), &mut driver);
        assert_eq!(other, Ok(PageIdx(2)), "page 1 is passed over");
    }
}
