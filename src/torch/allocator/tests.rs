//! After every command of any program the allocator's structures agree with each other, and under default settings
//! with a model that searches a plain list.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{Allocator, Use};
use crate::block::{BlockId, Kind, NONE, ORDINARY};
use crate::device::{Device as _, DeviceSpec, Order, SimulatedDevice};
use crate::private_pools::Filter;
use crate::settings::Settings;
use crate::version::Version;

type Tested = Allocator<SimulatedDevice, ()>;

fn device(total: u64, order: Order) -> SimulatedDevice {
    SimulatedDevice::new(DeviceSpec { total, other: 0, order })
}

/// Everything that must hold between two commands.
fn verify(allocator: &Tested) {
    let free: Vec<BlockId> = allocator.pools.iter().flat_map(crate::pool::Pool::iter).collect();
    let free_set: BTreeSet<BlockId> = free.iter().copied().collect();
    assert_eq!(free.len(), free_set.len(), "no block is free twice");
    let unmapped: BTreeSet<BlockId> = allocator
        .pools
        .iter()
        .flat_map(|pool| pool.unmapped.iter().map(|(_, _, id)| *id))
        .collect();
    let [
        mut allocated,
        mut active,
        mut reserved,
        mut requested,
        mut split,
        mut splits,
    ] = [0; 6];
    for (id, block) in allocator.blocks.iter() {
        let is_free = block.kind == Kind::Idle && block.is_available();
        assert_eq!(free_set.contains(&id), is_free, "pools hold exactly the free blocks");
        assert_eq!(unmapped.contains(&id), block.kind == Kind::Unmapped);
        if block.next != NONE {
            let next = &allocator.blocks[block.next];
            assert_eq!(
                (next.prev, next.addr),
                (id, block.addr + block.size),
                "neighbours touch"
            );
            assert_eq!((next.pool, next.stream), (block.pool, block.stream));
            let both = block.is_available() && next.is_available() && block.kind == next.kind;
            assert!(!both, "free neighbours are merged");
        }
        if block.kind != Kind::Unmapped {
            reserved += block.size;
        }
        if block.kind == Kind::Live {
            allocated += block.size;
        }
        if block.kind != Kind::Unmapped && !is_free {
            active += block.size;
            requested += block.requested;
        }
        if is_free && block.range == ORDINARY && block.is_split() {
            split += block.size;
            splits += 1;
        }
    }
    let stats = &allocator.stats;
    let counted = [stats.allocated, stats.active, stats.reserved, stats.requested].map(|mark| mark.current);
    assert_eq!(counted, [allocated, active, reserved, requested]);
    assert_eq!((stats.inactive_split_bytes, stats.inactive_splits), (split, splits));
    assert_eq!(
        allocator.device.total() - allocator.device.free_bytes(),
        reserved,
        "the device agrees"
    );
    let segments = allocator.segments();
    let ordinary = segments.iter().filter(|segment| !segment.is_expandable).count();
    assert_eq!(stats.segments, ordinary as u64);
    for segment in &segments {
        let mut at = segment.addr;
        for block in &segment.blocks {
            assert_eq!(block.addr, at, "blocks tile their segment");
            at += block.size;
        }
        assert_eq!(at, segment.addr + segment.size);
    }
    for pair in segments.windows(2) {
        assert!(pair[0].addr + pair[0].size <= pair[1].addr, "segments do not overlap");
    }
}

fn play(allocator: &mut Tested, live: &mut Vec<BlockId>, (choice, size, stream): (u8, u64, u8)) {
    let stream = u64::from(stream);
    let pick = usize::try_from(size).unwrap_or(0) % live.len().max(1);
    match choice {
        0..=7 => {
            let size = match choice {
                0..=3 => size % 3000,
                4 | 5 => size % (2 << 20),
                _ => size % (40 << 20),
            };
            live.extend(allocator.alloc(size, stream).ok().flatten().map(|grant| grant.block));
        }
        8..=11 if !live.is_empty() => assert!(allocator.free(live.swap_remove(pick))),
        12 if !live.is_empty() => assert!(allocator.record_stream(live[pick], stream)),
        13 => allocator.finish_stream(stream),
        14 if size % 4 == 0 => allocator.empty_cache(),
        15 => allocator.begin_pool(stream, if size % 2 == 0 { Filter::Any } else { Filter::Stream(1) }),
        16 => allocator.end_pool(stream),
        17 => allocator.release_pool_use(stream),
        18 => allocator.use_pool_on_oom(stream),
        19 if size % 8 == 0 => allocator.never_split_pool(stream),
        20 => allocator.set_fraction([0.3, 0.8, 1.0][pick % 3]),
        21 => {
            let confs = [
                "expandable_segments:True",
                "expandable_segments:False",
                "max_split_size_mb:32",
                "",
            ];
            let conf = confs[usize::try_from(size % 4).unwrap_or(0)];
            let changed = allocator.apply(conf);
            assert!(changed.is_ok() || allocator.settings.version == Version::Npu);
        }
        22 => allocator.empty_pool(stream),
        23 if !live.is_empty() => {
            let block = live.swap_remove(pick);
            assert!(allocator.free_later(block));
            if size % 3 > 0 {
                assert!(allocator.complete(block));
            }
        }
        _ => {}
    }
}

/// Only the driver's own segments are freed when the limit of splits is lowered while a segment is split.
#[test]
fn parts_of_segments_are_kept_when_the_limit_of_splits_changes() {
    let settings = Settings::new(Version::Torch2_15);
    let mut allocator = Allocator::new(device(100 << 20, Order::Up), (), settings);
    let whole = allocator.alloc(90 << 20, 0).expect("it fits").expect("it is not empty");
    assert!(allocator.free(whole.block));
    allocator.alloc(20 << 20, 0).expect("it fits");
    allocator.apply("max_split_size_mb:32").expect("right");
    assert!(
        allocator.alloc(80 << 20, 0).is_err(),
        "70 MiB of a split segment are free"
    );
    verify(&allocator);
    assert_eq!(allocator.stats.reserved.current, 90 << 20);
}

proptest! {
    #[test]
    fn structures_agree(
        choices in prop::collection::vec((0..24_u8, any::<u64>(), 0..3_u8), 1..200),
        conf in prop::sample::select(vec![
            "",
            "expandable_segments:True",
            "max_split_size_mb:24",
            "garbage_collection_threshold:0.4,roundup_power2_divisions:4",
        ]),
        version in prop::sample::select(vec![Version::Torch2_9, Version::Torch2_12, Version::Torch2_15, Version::Npu]),
        order in prop::sample::select(vec![Order::Up, Order::Down]),
    ) {
        let settings = Settings::parse(conf, version).expect("right");
        let mut allocator = Allocator::new(device(300 << 20, order), (), settings);
        let mut live = Vec::new();
        for choice in choices {
            play(&mut allocator, &mut live, choice);
            verify(&allocator);
        }
    }

    /// What a state says is enough to go on from it.
    #[test]
    fn states_start_allocators(
        choices in prop::collection::vec((0..14_u8, any::<u64>(), 0..3_u8), 1..120),
        conf in prop::sample::select(vec!["", "max_split_size_mb:24"]),
    ) {
        let settings = Settings::parse(conf, Version::Torch2_11).expect("right");
        let rules = settings.version.rules();
        let mut allocator = Allocator::new(device(80 << 30, Order::Up), (), settings.clone());
        let mut live = Vec::new();
        for choice in choices {
            play(&mut allocator, &mut live, choice);
        }
        let segments = allocator.segments();
        let end = segments.last().map_or(0, |segment| segment.addr + segment.size);
        let spec = DeviceSpec { total: 80 << 30, other: 0, order: Order::Up };
        let again = SimulatedDevice::new(spec).after(end, allocator.stats.reserved.current);
        let (second, held) = Allocator::from_state((again, ()), (settings, rules), &segments, &[]).expect("a state");
        verify(&second);
        prop_assert_eq!(&second.segments(), &segments);
        let blocks = segments.iter().flat_map(|segment| &segment.blocks);
        let active = blocks.filter(|block| block.state != Use::Inactive).count();
        prop_assert_eq!(held.len(), active);
        let counts = |allocator: &Tested| {
            let stats = &allocator.stats;
            (stats.active.current, stats.requested.current, stats.inactive_split_bytes, stats.segments)
        };
        prop_assert_eq!(counts(&second), counts(&allocator));
    }

    /// Default settings of 2.11, one stream, no end of memory: the same addresses as a list that is searched.
    #[test]
    fn a_plain_list_gives_the_same_addresses(choices in prop::collection::vec((0..12_u8, any::<u64>()), 1..250)) {
        let settings = Settings::new(Version::Torch2_11);
        let mut allocator = Allocator::new(device(80 << 30, Order::Up), (), settings);
        let mut list = PlainList::default();
        let mut live: Vec<(BlockId, u64)> = Vec::new();
        for (choice, size) in choices {
            if choice >= 8 && !live.is_empty() {
                let pick = usize::try_from(size).unwrap_or(0) % live.len();
                let (block, addr) = live.swap_remove(pick);
                allocator.free(block);
                list.free(addr);
                continue;
            }
            let size = 1 + size % [600, 100_000, 3 << 20, 50 << 20][usize::from(choice) % 4];
            let grant = allocator.alloc(size, 0).expect("it fits").expect("it is not empty");
            prop_assert_eq!((grant.addr, grant.size), list.alloc(size));
            live.push((grant.block, grant.addr));
        }
        prop_assert_eq!(allocator.stats.reserved.current, list.next);
    }
}

/// Address to (bytes, is in a small segment, is used, is the first of its segment).
#[derive(Default)]
struct PlainList {
    blocks: BTreeMap<u64, (u64, bool, bool, bool)>,
    next: u64,
}

impl PlainList {
    fn alloc(&mut self, requested: u64) -> (u64, u64) {
        let size = requested.div_ceil(512) * 512;
        let is_small = size <= 1 << 20;
        let fits = self
            .blocks
            .iter()
            .filter(|(_, (bytes, small, used, _))| !used && *small == is_small && *bytes >= size);
        let best = fits
            .min_by_key(|(addr, (bytes, ..))| (*bytes, **addr))
            .map(|(addr, _)| *addr);
        let addr = best.unwrap_or_else(|| {
            let bytes = if is_small {
                2 << 20
            } else if size < 10 << 20 {
                20 << 20
            } else {
                size.div_ceil(2 << 20) * (2 << 20)
            };
            self.blocks.insert(self.next, (bytes, is_small, false, true));
            self.next += bytes;
            self.next - bytes
        });
        let (bytes, _, _, is_first) = self.blocks[&addr];
        let splits = if is_small {
            bytes - size >= 512
        } else {
            bytes - size > 1 << 20
        };
        let got = if splits { size } else { bytes };
        self.blocks.insert(addr, (got, is_small, true, is_first));
        if splits {
            self.blocks.insert(addr + size, (bytes - size, is_small, false, false));
        }
        (addr, got)
    }

    fn free(&mut self, addr: u64) {
        self.blocks.entry(addr).and_modify(|block| block.2 = false);
        let addresses: Vec<u64> = self.blocks.keys().copied().collect();
        for pair in addresses.windows(2).rev() {
            let (left, right) = (self.blocks[&pair[0]], self.blocks[&pair[1]]);
            if !left.2 && !right.2 && !right.3 {
                self.blocks.remove(&pair[1]);
                self.blocks.insert(pair[0], (left.0 + right.0, left.1, false, left.3));
            }
        }
    }
}
