//! Tests of virtual ranges: pages of slots, their order, and their return.

use super::super::driver::{Call, DriverRules};
use super::*;

const PAGE: Bytes = Bytes::mib(8);
const KIB: u64 = 1024;

fn parts(pages: u64) -> (SharedPages, Driver) {
    let rules = DriverRules {
        capacity: Bytes(PAGE.get() * pages),
        can_reserve: true,
        has_notes: false,
    };
    (SharedPages::new(PAGE), Driver::new(rules))
}

fn range(grows: Grows, shared: &mut SharedPages, driver: &mut Driver) -> PageRange {
    PageRange::reserve(Bytes::mib(60), grows, shared, driver).expect("the driver reserves")
}

#[test]
fn pages_are_taken_from_the_high_slot_and_neighbours_share_one() {
    for grows in [Grows::Up, Grows::Down] {
        let (mut shared, mut driver) = parts(9);
        let mut range = range(grows, &mut shared, &mut driver);
        assert_eq!(range.bytes(), Bytes::mib(64));
        driver.clear_calls();
        range.occupy(0, Bytes::mib(12), &mut shared, &mut driver).expect("room");
        let mapped = |call: &Call| match call {
            Call::Map { at, .. } => Some(*at),
            _ => None,
        };
        let slots: Vec<u64> = driver.calls().iter().filter_map(mapped).collect();
        assert_eq!(slots, [PAGE.get(), 0]);
        range
            .occupy(12 * KIB * KIB, Bytes::mib(4), &mut shared, &mut driver)
            .expect("room");
        assert_eq!((range.pages(), range.refs(1), range.refs(0)), (2, 2, 1));
        range.vacate(0, Bytes::mib(12));
        assert_eq!((range.state(1), range.state(0)), (SlotState::Busy, SlotState::Idle));
    }
}

#[test]
fn recycled_pages_serve_other_ranges_last_returned_first() {
    let (mut shared, mut driver) = parts(9);
    let mut first = range(Grows::Up, &mut shared, &mut driver);
    let mut second = range(Grows::Up, &mut shared, &mut driver);
    first.occupy(0, Bytes::mib(16), &mut shared, &mut driver).expect("room");
    first.vacate(0, Bytes::mib(16));
    first.recycle(0, Bytes::mib(64), &mut shared);
    assert_eq!((first.pages(), first.state(1)), (0, SlotState::Returned));
    second.occupy(0, Bytes::mib(8), &mut shared, &mut driver).expect("room");
    assert_eq!(
        second.page(0),
        Some(PageIdx(0)),
        "the high slot took page 0 and returned it last"
    );
    assert_eq!(driver.in_use(), Bytes::mib(16));
}

#[test]
fn a_page_in_use_stops_the_walk_and_undoes_it() {
    let (mut shared, mut driver) = parts(9);
    let mut range = range(Grows::Up, &mut shared, &mut driver);
    range.occupy(PAGE.get(), PAGE, &mut shared, &mut driver).expect("room");
    let answer = range.occupy(0, Bytes::mib(24), &mut shared, &mut driver);
    assert_eq!(answer, Err(RunError::MemoryInUse));
    let states = [0, 1, 2].map(|at| range.state(at));
    assert_eq!(states, [SlotState::Empty, SlotState::Busy, SlotState::Idle]);
}

#[test]
fn a_shortage_returns_the_pages_of_the_walk() {
    let (mut shared, mut driver) = parts(2);
    let mut range = range(Grows::Up, &mut shared, &mut driver);
    let answer = range.occupy(0, Bytes::mib(24), &mut shared, &mut driver);
    assert_eq!(answer, Err(RunError::Shortage(Shortage { requested: PAGE })));
    assert_eq!(
        (range.pages(), range.state(2), range.state(1)),
        (0, SlotState::Returned, SlotState::Returned)
    );
    assert_eq!(range.claim_listed(), None, "what a failed walk used is not listed");
    range.release(&mut shared, &mut driver);
    assert_eq!(driver.in_use(), Bytes::ZERO);
}

#[test]
fn the_slot_listed_last_is_claimed_first_and_reuse_keeps_a_slots_place() {
    let (mut shared, mut driver) = parts(9);
    let mut range = range(Grows::Down, &mut shared, &mut driver);
    range.occupy(0, Bytes::mib(24), &mut shared, &mut driver).expect("room");
    range.vacate(0, Bytes::mib(24));
    range.occupy(PAGE.get(), PAGE, &mut shared, &mut driver).expect("idle");
    range.vacate(PAGE.get(), PAGE);
    range
        .occupy(2 * PAGE.get(), PAGE, &mut shared, &mut driver)
        .expect("idle");
    let claimed = [(); 4].map(|()| range.claim_listed());
    assert_eq!(claimed, [Some(1), Some(0), None, None], "busy 2 is dropped");
    range.vacate(2 * PAGE.get(), PAGE);
    assert_eq!(range.claim_listed(), Some(2));
}

#[test]
fn a_released_range_leaves_the_order_of_free_pages_alone() {
    let (mut shared, mut driver) = parts(9);
    let mut first = range(Grows::Up, &mut shared, &mut driver);
    let mut second = range(Grows::Up, &mut shared, &mut driver);
    for range in [&mut first, &mut second] {
        range.occupy(0, PAGE, &mut shared, &mut driver).expect("room");
        range.occupy(PAGE.get(), PAGE, &mut shared, &mut driver).expect("room");
        range.vacate(0, Bytes(2 * PAGE.get()));
    }
    first.recycle(0, Bytes::mib(64), &mut shared);
    second.recycle(0, Bytes::mib(64), &mut shared);
    first.release(&mut shared, &mut driver);
    let mut third = range(Grows::Up, &mut shared, &mut driver);
    third.occupy(0, Bytes::mib(24), &mut shared, &mut driver).expect("room");
    let pages = [2, 1, 0].map(|at| third.page(at));
    assert_eq!(pages, [3, 2, 1].map(|page| Some(PageIdx(page))));
}

#[test]
fn parts_out_of_the_range_are_refused() {
    let (mut shared, mut driver) = parts(9);
    let mut range = range(Grows::Up, &mut shared, &mut driver);
    for offset in [Bytes::mib(64).get(), u64::MAX] {
        assert!(range.occupy(offset, PAGE, &mut shared, &mut driver).is_err());
        range.vacate(offset, PAGE);
        range.recycle(offset, PAGE, &mut shared);
    }
    assert_eq!(range.occupy(0, Bytes::ZERO, &mut shared, &mut driver), Ok(()));
}
