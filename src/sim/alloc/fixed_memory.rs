//! Fixed feature memory: one pool of the session for ops whose addresses must not change, such as collectives.
//!
//! ```text
//! fixed A 10   |AAAAA|                 one virtual range of the whole device; every graph gets its start
//! fixed B 30   |AAAAA|+++++++++++|     grows by the difference, never shrinks while it has a user
//! unfixed all  |                       the last user releases the range
//! ```
//!
//! In: requests of graphs. Out: the pool's address and size, driver calls. Pages are small (2 MiB) where no pool
//! expands; otherwise they are those of the pools. Invariant: the size is the largest request since the pool was empty.

use std::collections::BTreeSet;

use super::page_range::{Grows, PageRange};
use super::{Address, Driver, RunError, SharedPages, Shortage, SimulatedDevice, StaticGraph};
use highwater_model::units::Bytes;

#[derive(Debug)]
pub struct FixedMemory {
    has_small_pages: bool,
    range: Option<PageRange>,
    /// Whether a range was refused once: the engine never asks again.
    is_refused: bool,
    size: Bytes,
    users: BTreeSet<StaticGraph>,
}

impl FixedMemory {
    /// Pages of 2 MiB, where no pool expands.
    pub fn of_small_pages() -> Self {
        Self::with(true)
    }

    /// Shares its pages with expandable pools and arenas.
    pub fn of_shared_pages() -> Self {
        Self::with(false)
    }

    fn with(has_small_pages: bool) -> Self {
        Self {
            has_small_pages,
            range: None,
            is_refused: false,
            size: Bytes::ZERO,
            users: BTreeSet::new(),
        }
    }

    pub fn size(&self) -> Bytes {
        self.size
    }

    pub fn has_user(&self, graph: StaticGraph) -> bool {
        self.users.contains(&graph)
    }

    /// The start of the pool, grown to `bytes` where it is smaller; `None` where no request needed bytes.
    ///
    /// # Errors
    /// [`Shortage`] where pages or the range cannot be had; the graph is then no user. A range that was reserved for
    /// it stays, with its pages among the shared ones, until the last user of a later request leaves.
    pub fn request(
        &mut self,
        graph: StaticGraph,
        bytes: Bytes,
        device: &mut SimulatedDevice,
    ) -> Result<Option<Address>, Shortage> {
        let at = if bytes > self.size {
            Some(self.grow(bytes, device)?)
        } else {
            self.range.as_ref().map(PageRange::base)
        };
        self.users.insert(graph);
        Ok(at)
    }

    /// Removes a user; the last one releases the range.
    pub fn withdraw(&mut self, graph: StaticGraph, device: &mut SimulatedDevice) {
        if self.users.remove(&graph) && self.users.is_empty() {
            self.release(device);
        }
    }

    fn release(&mut self, device: &mut SimulatedDevice) {
        self.size = Bytes::ZERO;
        if let Some(range) = self.range.take() {
            let (pages, driver) = parts(self.has_small_pages, device);
            range.release(pages, driver);
        }
    }

    fn grow(&mut self, bytes: Bytes, device: &mut SimulatedDevice) -> Result<Address, Shortage> {
        let shortage = Shortage { requested: bytes };
        if self.range.is_none() && !self.is_refused {
            let capacity = device.driver.capacity();
            let (pages, driver) = parts(self.has_small_pages, device);
            // More than the device holds counts as a refusal, too.
            if bytes <= capacity {
                self.range = PageRange::reserve(capacity, Grows::Up, pages, driver);
            }
            self.is_refused = self.range.is_none();
        }
        let range = self.range.as_mut().ok_or(shortage)?;
        let more = bytes.saturating_sub(self.size);
        let (pages, driver) = parts(self.has_small_pages, device);
        let grown = range.occupy(self.size.get(), more, pages, driver);
        grown.map_err(|error| match error {
            RunError::Shortage(refused) => refused,
            RunError::MemoryInUse => shortage,
        })?;
        self.size = bytes;
        Ok(range.base())
    }
}

/// The pages of the pool, and the driver.
fn parts(has_small_pages: bool, device: &mut SimulatedDevice) -> (&mut SharedPages, &mut Driver) {
    let pages = if has_small_pages {
        &mut device.small_pages
    } else {
        &mut device.pages
    };
    (pages, &mut device.driver)
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{calls, device};
    use super::*;

    #[test]
    fn the_pool_is_as_large_as_the_largest_request_and_goes_with_the_last_user() {
        let (mut memory, mut device) = (FixedMemory::of_small_pages(), device(Bytes::gib(1)));
        let mut found = Vec::new();
        for (graph, mib) in [(0, 10), (1, 31), (2, 20), (3, 33)] {
            let at = memory.request(StaticGraph(graph), Bytes::mib(mib), &mut device);
            found.push((
                at.expect("room").map(Address::offset),
                device.driver.in_use().get() >> 20,
            ));
        }
        assert_eq!(found, [(Some(0), 10), (Some(0), 32), (Some(0), 32), (Some(0), 34)]);
        for graph in 0..4 {
            assert_eq!(memory.size(), Bytes::mib(33));
            memory.withdraw(StaticGraph(graph), &mut device);
        }
        assert_eq!((memory.size(), device.driver.in_use()), (Bytes::ZERO, Bytes::ZERO));
    }

    #[test]
    fn what_cannot_be_had_leaves_the_pool_and_its_users_alone() {
        let (mut memory, mut device) = (FixedMemory::of_shared_pages(), device(Bytes::mib(20)));
        memory
            .request(StaticGraph(0), Bytes::mib(6), &mut device)
            .expect("room");
        let refused = memory.request(StaticGraph(1), Bytes::mib(30), &mut device);
        assert!(refused.is_err());
        assert_eq!((memory.size(), memory.has_user(StaticGraph(1))), (Bytes::mib(6), false));
        memory.withdraw(StaticGraph(0), &mut device);
        assert_eq!(device.driver.in_use(), Bytes::ZERO);
        assert!(calls(&device).contains(&"release"));
    }

    #[test]
    fn nothing_asked_for_is_nothing_given() {
        let (mut memory, mut device) = (FixedMemory::of_small_pages(), device(Bytes::mib(20)));
        assert_eq!(memory.request(StaticGraph(0), Bytes::ZERO, &mut device), Ok(None));
        assert!(device.driver.calls().is_empty());
    }
}
