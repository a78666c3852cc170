//! Page pools by random requests: live memory never overlaps, in physical pages either.
//!
//! The check is independent of the pools: it follows the driver's call log to the physical location of grants.

use std::collections::BTreeMap;

use highwater::sim::alloc::{
    Address, Call, DriverRules, DynamicMemory as _, Grant, Order, PagePoolRules, PagePools, PoolKey, SimulatedDevice,
};
use highwater::units::Bytes;
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

/// A step of a test.
#[derive(Clone, Debug)]
enum Deed {
    Allocate(u32, u64),
    /// Frees a live grant, by its turn.
    Free(usize),
    Order(Order),
}

/// A physical location: device memory (0) or a page's handle, start and end in it.
type Piece = (u32, u64, u64);

struct Live {
    pool: PoolKey,
    grant: Grant,
    requested: u64,
    pieces: Vec<Piece>,
}

struct World {
    pools: PagePools,
    device: SimulatedDevice,
    live: Vec<Live>,
    blocks: BTreeMap<u64, u64>,
    pages: BTreeMap<u32, u64>,
    mapped: BTreeMap<u64, u32>,
    log: Vec<Call>,
}

impl World {
    fn new(capacity: u64, (expands, can_reserve): (bool, bool)) -> Self {
        let capacity = Bytes(capacity);
        Self {
            pools: PagePools::new(PagePoolRules::of_device(capacity, None, expands)),
            device: SimulatedDevice::new(DriverRules {
                capacity,
                can_reserve,
                has_notes: true,
            }),
            live: Vec::new(),
            blocks: BTreeMap::new(),
            pages: BTreeMap::new(),
            mapped: BTreeMap::new(),
            log: Vec::new(),
        }
    }

    fn run(&mut self, deed: &Deed) {
        self.device.driver.clear_calls();
        let mut fresh = None;
        match *deed {
            Deed::Allocate(pool, bytes) => {
                let pool = PoolKey(pool);
                if let Ok(grant) = self.pools.allocate(pool, Bytes(bytes), &mut self.device) {
                    assert!(grant.bytes.get() >= bytes);
                    fresh = Some((pool, grant, bytes));
                }
            }
            Deed::Free(turn) => {
                if !self.live.is_empty() {
                    let gone = self.live.swap_remove(turn % self.live.len());
                    self.pools.free(gone.pool, gone.grant.id, &mut self.device);
                }
            }
            Deed::Order(order) => {
                self.pools.manage(order, &mut self.device);
                if let Order::Destroy(key) = order {
                    self.live.retain(|live| live.pool != key);
                }
            }
        }
        self.follow();
        if let Some((pool, grant, requested)) = fresh {
            let pieces = self.pieces(&grant);
            self.live.push(Live {
                pool,
                grant,
                requested,
                pieces,
            });
        }
        self.check();
    }

    /// Reads new entries of the call log.
    fn follow(&mut self) {
        for call in self.device.driver.calls() {
            match *call {
                Call::Malloc { at, bytes } => assert_eq!(self.blocks.insert(at, bytes), None),
                Call::Free { at, bytes } => assert_eq!(self.blocks.remove(&at), Some(bytes)),
                Call::PageAlloc { page, bytes } => assert_eq!(self.pages.insert(page.0, bytes), None),
                Call::PageFree { page, bytes } => {
                    assert_eq!(self.pages.remove(&page.0), Some(bytes));
                    assert!(!self.mapped.values().any(|mapped| *mapped == page.0), "unmapped first");
                }
                Call::Map { at, page, .. } => {
                    assert!(self.pages.contains_key(&page.0));
                    assert_eq!(self.mapped.insert(at, page.0), None, "nothing is mapped there");
                }
                Call::Unmap { at } => assert!(self.mapped.remove(&at).is_some()),
                _ => {}
            }
        }
        self.log.extend_from_slice(self.device.driver.calls());
    }

    fn pieces(&self, grant: &Grant) -> Vec<Piece> {
        let (mut at, end) = (grant.at.offset(), grant.at.offset() + grant.bytes.get());
        if !grant.at.is_virtual() {
            return vec![(0, at, end)];
        }
        let mut pieces = Vec::new();
        while at < end {
            let (base, page) = self.mapped.range(..=at).next_back().expect("memory is mapped");
            let page_end = base + self.pages[page];
            assert!(at < page_end, "memory is mapped at {at}");
            let to = end.min(page_end);
            pieces.push((*page, at - base, to - base));
            at = to;
        }
        pieces
    }

    fn check(&self) {
        let mut all: Vec<Piece> = Vec::new();
        for live in &self.live {
            assert_eq!(
                self.pieces(&live.grant),
                live.pieces,
                "memory stays where it is while it lives"
            );
            all.extend(&live.pieces);
        }
        all.sort_unstable();
        for pair in all.windows(2) {
            assert!(pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1, "{pair:?} overlap");
        }
        for (handle, from, to) in all {
            let block = self.blocks.range(..=from).next_back();
            assert!(
                handle != 0 || block.is_some_and(|(at, bytes)| to <= at + bytes),
                "in a block"
            );
        }
        self.check_sums();
    }

    fn check_sums(&self) {
        let used = self.device.driver.in_use().get();
        assert!(used <= self.device.driver.capacity().get());
        let pages: u64 = self.pages.values().sum();
        assert_eq!(used, self.blocks.values().sum::<u64>() + pages);
        assert_eq!(pages, self.device.page_bytes_held().get());
        let Some(below) = self.pools.figures(None) else { return };
        assert_eq!((below.occupied, below.idle + below.live), (used - pages, used - pages));
        assert_eq!(below.theory, below.live);
        let mut blocks = 0;
        for key in (0..4).map(PoolKey) {
            let Some(figures) = self.pools.figures(Some(key)) else {
                continue;
            };
            let own = || self.live.iter().filter(|live| live.pool == key);
            assert_eq!(figures.theory, own().map(|live| live.grant.bytes.get()).sum::<u64>());
            assert_eq!(figures.requested, own().map(|live| live.requested).sum::<u64>());
            let stitched = own().filter(|live| live.grant.is_stitched);
            assert_eq!(
                figures.live_stitched,
                stitched.map(|live| live.grant.bytes.get()).sum::<u64>()
            );
            assert!(figures.requested <= figures.theory && figures.theory <= figures.occupied);
            assert!(figures.occupied <= figures.occupied_peak && figures.theory <= figures.theory_peak);
            blocks += figures.occupied;
        }
        assert!(blocks >= below.live && blocks <= below.live + pages);
    }

    fn end(&mut self) {
        for key in (0..4).map(PoolKey) {
            self.run(&Deed::Order(Order::Destroy(key)));
        }
        self.run(&Deed::Order(Order::RecycleDevice));
        assert_eq!(self.device.driver.in_use(), Bytes::ZERO);
        assert!(self.mapped.is_empty());
    }
}

fn deed() -> impl Strategy<Value = Deed> {
    let bytes = prop_oneof![
        6 => (1_u64..200).prop_map(|pages| pages * 64 * 1024 - 7),
        6 => (1_u64..80).prop_map(|mib| mib * MIB),
        4 => (1_u64..8).prop_map(|pages| pages * 8 * MIB),
        1 => Just(0),
        1 => Just(u64::MAX),
    ];
    let pool = prop_oneof![8 => Just(0_u32), 2 => 1_u32..4];
    let order = (pool.clone(), 0_u32..8).prop_map(|(pool, kind)| match (PoolKey(pool), kind) {
        (key, 0) => Order::Create(key),
        (key, 1) => Order::Synchronize(key),
        (key, 2..=5) => Order::Recycle(key),
        (_, 6) => Order::RecycleDevice,
        (key, _) => Order::Destroy(key),
    });
    prop_oneof![
        20 => (pool, bytes).prop_map(|(pool, bytes)| Deed::Allocate(pool, bytes)),
        18 => any::<usize>().prop_map(Deed::Free),
        1 => order.prop_map(Deed::Order),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn live_memory_never_overlaps_and_is_all_freed(
        deeds in proptest::collection::vec(deed(), 1..160),
        mib in prop_oneof![Just(2000_u64), 20_u64..700],
        expands in any::<bool>(),
    ) {
        let mut world = World::new(mib * MIB, (expands, true));
        for deed in &deeds {
            world.run(deed);
        }
        world.end();
    }

    #[test]
    fn pools_that_cannot_expand_are_plain_page_pools(
        deeds in proptest::collection::vec(deed(), 1..60),
        mib in 20_u64..700,
    ) {
        let [plain, expandable] = [false, true].map(|expands| {
            let mut world = World::new(mib * MIB, (expands, false));
            for deed in &deeds {
                world.run(deed);
            }
            let grants: Vec<(Address, Bytes)> = world.live.iter().map(|live| (live.grant.at, live.grant.bytes)).collect();
            let is_seen = |call: &Call| !matches!(call, Call::ReserveFailed { .. });
            let log: Vec<Call> = world.log.into_iter().filter(is_seen).collect();
            (grants, log, *world.device.driver.counts())
        });
        prop_assert_eq!(plain, expandable);
    }
}
