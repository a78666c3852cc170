//! Tests of page pools: hand-written sequences, one rule each.

use super::super::driver::{Address, Call, DriverRules};
use super::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const PAGE: u64 = 8 * MIB;
const POOL: PoolKey = PoolKey(0);

/// Pools over a device, with grants by name.
struct Lab {
    pools: PagePools,
    device: SimulatedDevice,
}

impl Lab {
    fn new(capacity: u64, expands: bool) -> Self {
        let capacity = Bytes(capacity);
        Self {
            pools: PagePools::new(PagePoolRules::of_device(capacity, None, expands)),
            device: SimulatedDevice::new(DriverRules {
                capacity,
                can_reserve: true,
                has_notes: false,
            }),
        }
    }

    fn try_allocate(&mut self, bytes: u64) -> Option<Grant> {
        self.device.driver.clear_calls();
        self.pools.allocate(POOL, Bytes(bytes), &mut self.device).ok()
    }

    fn allocate(&mut self, bytes: u64) -> Grant {
        self.try_allocate(bytes).expect("room")
    }

    fn free(&mut self, grant: Grant) {
        self.pools.free(POOL, grant.id, &mut self.device);
    }

    fn manage(&mut self, order: Order) {
        self.device.driver.clear_calls();
        self.pools.manage(order, &mut self.device);
    }

    fn figures(&self) -> PoolFigures {
        self.pools.figures(Some(POOL)).expect("the pool is there")
    }

    fn device_figures(&self) -> PoolFigures {
        self.pools.figures(None).expect("a pool was there")
    }

    fn calls(&self) -> &[Call] {
        self.device.driver.calls()
    }
}

fn is_map(call: &Call) -> bool {
    matches!(call, Call::Map { .. })
}

#[test]
fn requests_are_rounded_to_pages_and_small_ones_share_a_device_block_from_its_tail() {
    let mut lab = Lab::new(1024 * MIB, false);
    let first = lab.allocate(1);
    assert_eq!(
        (first.at, first.bytes),
        (Address::device(2 * MIB - 64 * KIB), Bytes::kib(64))
    );
    let second = lab.allocate(64 * KIB + 1);
    assert_eq!(
        (second.at, second.bytes),
        (Address::device(2 * MIB - 192 * KIB), Bytes::kib(128))
    );
    assert_eq!(lab.allocate(0).bytes, Bytes::kib(64));
    assert_eq!(lab.device.driver.counts().mallocs, 1);
    let figures = lab.figures();
    assert_eq!(
        (figures.occupied, figures.live, figures.requested),
        (256 * KIB, 256 * KIB, 64 * KIB + 2)
    );
    assert_eq!(lab.device_figures().occupied, 2 * MIB);
}

#[test]
fn a_whole_block_of_100_pages_refuses_one_small_request_and_is_split_for_the_second() {
    let mut lab = Lab::new(1024 * MIB, false);
    let whole = lab.allocate(100 * 64 * KIB);
    lab.free(whole);
    let first = lab.allocate(64 * KIB);
    assert_ne!(first.at.offset() / MIB, 6, "the counter is 1, not above 100 * 0.01");
    let second = lab.allocate(64 * KIB);
    assert_eq!(second.at, Address::device(99 * 64 * KIB));
}

#[test]
fn the_front_of_the_smallest_layer_that_fits_is_taken_and_neighbours_merge() {
    let mut lab = Lab::new(1024 * MIB, false);
    let grants = [3, 5, 4, 4].map(|mib| lab.allocate(mib * MIB));
    for grant in grants {
        lab.free(grant);
    }
    assert_eq!(lab.allocate(4 * MIB).at, grants[3].at, "freed last, taken first");
    assert_eq!(
        lab.allocate(3 * MIB + 1).at.offset(),
        grants[2].at.offset() + 4 * MIB - 49 * 64 * KIB
    );
    assert_eq!(lab.allocate(5 * MIB).at, grants[1].at);
}

#[test]
fn over_the_threshold_idle_blocks_go_down_before_the_pool_grows() {
    let mut lab = Lab::new(100 * MIB, false);
    let first = lab.allocate(50 * MIB);
    let second = lab.allocate(30 * MIB);
    lab.free(first);
    let third = lab.allocate(60 * MIB);
    let calls: Vec<_> = lab.calls().to_vec();
    let malloc = Call::Malloc {
        at: 84 * MIB,
        bytes: 60 * MIB,
    };
    let free = Call::Free { at: 0, bytes: 50 * MIB };
    assert_eq!(calls, [Call::Synchronize, free, malloc]);
    assert_eq!((lab.figures().recycles, lab.device_figures().recycles), (1, 1));
    assert!(lab.try_allocate(96 * MIB).is_none(), "above the threshold");
    assert_eq!(lab.calls(), [Call::Synchronize]);
    lab.free(second);
    lab.free(third);
    assert_eq!(lab.figures().grants_freed, 3);
}

#[test]
fn other_pools_are_recycled_in_order_of_creation_until_one_helps() {
    let mut lab = Lab::new(100 * MIB, false);
    for (key, mib) in [(2, 30), (1, 30), (3, 30)] {
        let key = PoolKey(key);
        let grant = lab.pools.allocate(key, Bytes::mib(mib), &mut lab.device).expect("room");
        lab.pools.free(key, grant.id, &mut lab.device);
    }
    lab.allocate(60 * MIB);
    let synced = lab.calls().iter().filter(|call| **call == Call::Synchronize).count();
    assert_eq!(synced, 3, "own, pool 2, pool 1");
    let recycles = [2, 1, 3].map(|key| lab.pools.figures(Some(PoolKey(key))).expect("there").recycles);
    assert_eq!(recycles, [1, 1, 0]);
}

#[test]
fn a_destroyed_pool_leaves_its_blocks_to_the_device_pool() {
    let mut lab = Lab::new(100 * MIB, false);
    let live = lab.allocate(10 * MIB);
    let idle = lab.allocate(20 * MIB);
    lab.free(idle);
    lab.allocate(5 * MIB);
    lab.manage(Order::Destroy(POOL));
    assert_eq!(lab.pools.figures(Some(POOL)), None);
    assert_eq!((lab.device_figures().idle, lab.device_figures().live), (30 * MIB, 0));
    lab.pools.free(POOL, live.id, &mut lab.device);
    lab.manage(Order::RecycleDevice);
    assert_eq!(lab.device.driver.in_use(), Bytes::ZERO);
}

#[test]
fn an_expandable_pool_takes_pages_from_the_top_of_its_range_and_keeps_them_when_it_frees() {
    let mut lab = Lab::new(1024 * MIB, true);
    let grant = lab.allocate(12 * MIB);
    let range = lab.figures().idle + 12 * MIB;
    assert_eq!(range, (1024 * MIB * 95 / 100 - PAGE).div_ceil(PAGE) * PAGE);
    assert_eq!(grant.at, Address::virtual_space(range - 12 * MIB));
    let maps: Vec<u64> = lab.calls().iter().filter(|call| is_map(call)).map(mapped_at).collect();
    assert_eq!(maps, [range - PAGE, range - 2 * PAGE]);
    lab.free(grant);
    assert_eq!(lab.allocate(16 * MIB).at, Address::virtual_space(range - 16 * MIB));
    assert_eq!(lab.calls(), []);
    lab.manage(Order::Recycle(POOL));
    assert_eq!(lab.figures().occupied, 16 * MIB, "live pages stay");
}

fn mapped_at(call: &Call) -> u64 {
    match call {
        Call::Map { at, .. } => *at,
        _ => 0,
    }
}

#[test]
fn scattered_pages_are_stitched_where_the_pool_holds_more_than_its_peak_needs() {
    let mut lab = Lab::new(1024 * MIB, true);
    let grants: Vec<Grant> = (0..8).map(|_| lab.allocate(PAGE)).collect();
    for grant in grants.iter().step_by(2) {
        lab.free(*grant);
    }
    let stitched = lab.allocate(4 * PAGE - 1);
    assert!(stitched.is_stitched);
    assert_eq!(stitched.bytes, Bytes(4 * PAGE));
    let first = lab.figures().idle;
    let slots = lab.pools.stitched_slots(POOL, stitched.id);
    let steps: Vec<u32> = slots.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(steps, [2, 2, 2], "freed last, joined first");
    assert_eq!(
        (lab.figures().occupied, lab.figures().live_stitched),
        (8 * PAGE, 4 * PAGE)
    );
    lab.free(stitched);
    assert_eq!((lab.figures().idle, lab.figures().idle_stitched), (first, 4 * PAGE));
    let again = lab.allocate(4 * PAGE);
    assert_eq!(again.at, stitched.at, "kept blocks serve again");
    assert_eq!(lab.calls(), []);
    lab.free(again);
    lab.manage(Order::Recycle(POOL));
    assert_eq!((lab.figures().idle_stitched, lab.figures().occupied), (0, 4 * PAGE));
    assert_eq!(lab.device.driver.counts().unmaps, 4);
}

#[test]
fn a_span_whose_page_a_stitched_block_uses_is_held_back_and_freed_after_the_request() {
    let mut lab = Lab::new(1024 * MIB, true);
    let grants: Vec<Grant> = (0..8).map(|_| lab.allocate(PAGE)).collect();
    for grant in grants.iter().step_by(2) {
        lab.free(*grant);
    }
    let idle = lab.figures().idle;
    let stitched = lab.allocate(4 * PAGE);
    let elsewhere = lab.allocate(PAGE);
    assert!(
        grants.iter().all(|grant| grant.at != elsewhere.at),
        "all four holes are held back"
    );
    assert_eq!(lab.figures().idle, idle - PAGE);
    lab.free(stitched);
    lab.free(elsewhere);
    assert_eq!(lab.figures().idle, idle);
}

#[test]
fn a_part_that_begins_without_a_page_is_held_back_in_whole_pages_beyond_the_span() {
    let mut lab = Lab::new(1024 * MIB, true);
    let grants = [(); 3].map(|()| lab.allocate(PAGE));
    let below = grants[2].at.offset();
    lab.free(grants[0]);
    lab.free(grants[2]);
    let stitched = lab.allocate(2 * PAGE);
    assert!(stitched.is_stitched, "busy, live, busy");
    let peak = lab.allocate(4 * PAGE);
    lab.free(peak);
    lab.free(grants[1]);
    lab.manage(Order::Recycle(POOL));
    // The third span ends 2 MiB above the slot in the middle and is 3 MiB long. The page above that slot conflicts, so
    // 8 MiB are held back, and not the rest of the slot that would be free.
    let grant = lab.allocate(3 * MIB);
    assert_eq!(grant.at, Address::virtual_space(below - 3 * MIB));
    assert!(!grant.is_stitched);
}

#[test]
fn every_kept_block_that_a_request_tests_is_counted() {
    let mut lab = Lab::new(1024 * MIB, true);
    let grants: Vec<Grant> = (0..8).map(|_| lab.allocate(PAGE)).collect();
    for grant in grants.iter().step_by(2) {
        lab.free(*grant);
    }
    let before = lab.figures().requests_met;
    let stitched = lab.allocate(2 * PAGE);
    assert_eq!(
        lab.figures().requests_met - before,
        3,
        "the replaced span, its shadow, the block"
    );
    lab.free(stitched);
    let hole = lab.allocate(PAGE);
    assert_eq!(hole.at, grants[6].at, "a page of the kept block");
    let before = lab.figures().requests_met;
    let other = lab.allocate(2 * PAGE);
    assert_ne!(other.at, stitched.at);
    assert_eq!(lab.figures().requests_met - before, 4, "and the refused block");
}

#[test]
fn a_failing_page_gives_the_pages_of_the_walk_to_the_shared_pages() {
    let mut lab = Lab::new(64 * MIB, true);
    let block = lab.device.driver.malloc(Bytes(40 * MIB)).expect("room");
    assert!(lab.try_allocate(32 * MIB).is_none());
    assert_eq!(
        (lab.figures().occupied, lab.device.page_bytes_held()),
        (0, Bytes(24 * MIB))
    );
    lab.device.driver.free(block, Bytes(40 * MIB));
    assert_eq!(lab.allocate(24 * MIB).bytes, Bytes(24 * MIB));
    assert!(lab.calls().is_empty(), "the pages were still mapped");
}

#[test]
fn pools_share_pages_and_the_last_one_gives_them_back() {
    let mut lab = Lab::new(1024 * MIB, true);
    let grant = lab.allocate(16 * MIB);
    lab.free(grant);
    lab.manage(Order::Recycle(POOL));
    let other = PoolKey(7);
    lab.pools
        .allocate(other, Bytes(16 * MIB), &mut lab.device)
        .expect("room");
    assert_eq!(lab.device.driver.in_use(), Bytes(16 * MIB));
    lab.manage(Order::Destroy(other));
    assert_eq!(lab.device.driver.in_use(), Bytes(16 * MIB), "one pool is left");
    lab.manage(Order::Destroy(POOL));
    assert_eq!(lab.device.driver.in_use(), Bytes::ZERO);
}

#[test]
fn the_threshold_is_95_percent_or_what_the_user_gives_below() {
    let of = |own: Option<u64>| PagePoolRules::of_device(Bytes::gib(64), own.map(Bytes::gib), true).threshold;
    assert_eq!(of(None), Bytes(65_283_502_899));
    assert_eq!(of(Some(32)), Bytes::gib(32));
    assert_eq!(of(Some(0)), of(None));
    assert_eq!(of(Some(61)), of(None));
}

#[test]
fn degenerate_devices_refuse_and_never_panic() {
    for capacity in [0, 1, 64 * KIB, 2 * MIB - 1, 2 * MIB, 3 * MIB, PAGE, 9 * MIB, u64::MAX] {
        for expands in [false, true] {
            let mut lab = Lab::new(capacity, expands);
            let sizes = [0, 1, 64 * KIB, 2 * MIB, u64::MAX / 2, u64::MAX];
            for bytes in sizes.into_iter().filter(|bytes| !expands || *bytes < 1 << 40) {
                if let Some(grant) = lab.try_allocate(bytes) {
                    lab.free(grant);
                }
            }
            lab.manage(Order::Recycle(POOL));
            lab.manage(Order::Destroy(POOL));
            lab.manage(Order::RecycleDevice);
            assert_eq!(lab.device.driver.in_use(), Bytes::ZERO, "{capacity} {expands}");
        }
    }
}
