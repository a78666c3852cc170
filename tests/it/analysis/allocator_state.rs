//! The state of a recorded allocator: equal to a count byte by byte, and equal to the tables of real snapshots.

use highwater::analysis::{AllocatorState, AllocatorSums, PieceKind};
use highwater::units::{Bytes, Step};
use highwater::workload::{BlockAddress, RecordedBlock, RecordedNames, RecordedRegion, Recording, Source, pooled_kind};
use proptest::prelude::*;

use crate::snapshots::{block, event, pickle, segment, snapshot};
use crate::support::{files, name, read, shared};

const N_STEPS: u32 = 12;
/// Addresses of the random recordings.
const SPACE: u64 = 120;

/// Begin, end, first address, bytes.
type Extent = (u32, u32, u64, u64);

fn extents(most_bytes: u64, most: usize) -> impl Strategy<Value = Vec<Extent>> {
    let extent = (0..N_STEPS, 1..=N_STEPS, 0..SPACE, 1..=most_bytes);
    let extent = extent.prop_map(|(birth, steps, from, bytes)| (birth, (birth + steps).min(N_STEPS), from, bytes));
    prop::collection::vec(extent, 0..most).prop_map(disjoint)
}

/// Those that share no byte at any step with an earlier one.
fn disjoint(all: Vec<Extent>) -> Vec<Extent> {
    let mut kept: Vec<Extent> = Vec::new();
    for one in all {
        let meets =
            |other: &Extent| one.0 < other.1 && other.0 < one.1 && one.2 < other.2 + other.3 && other.2 < one.2 + one.3;
        if !kept.iter().any(meets) {
            kept.push(one);
        }
    }
    kept
}

/// Blocks wait for their stream on their last `wait` steps; every third states held bytes, one of them requested less.
fn recording(regions: &[Extent], blocks: &[Extent], wait: u32) -> Recording {
    let mut names = RecordedNames::default();
    let kinds = [
        names.intern("large"),
        names.intern("expandable"),
        names.intern(&pooled_kind("expandable", (1, 2))),
    ];
    let mut blocks = blocks.to_vec();
    blocks.sort_unstable();
    let blocks = blocks
        .iter()
        .enumerate()
        .map(|(number, (birth, end, from, held))| RecordedBlock {
            held: Bytes(*held),
            address: BlockAddress::new(*from),
            freed_at: Step(end.saturating_sub(wait).max(birth + 1)),
            is_freed: *end < N_STEPS,
            ..RecordedBlock::new(
                kinds[0],
                Step(*birth),
                Step(*end),
                Bytes(held - u64::from(number % 3 == 0 && *held > 1)),
            )
        });
    let regions = regions.iter().map(|(birth, end, from, bytes)| RecordedRegion {
        address: *from,
        bytes: Bytes(*bytes),
        birth: Step(*birth),
        end: Step(*end),
        stream: from / 40,
        kind: kinds[(from % 3) as usize],
        is_older: false,
    });
    Recording {
        n_steps: N_STEPS,
        blocks: blocks.collect(),
        regions: regions.collect(),
        names: names.finish(),
        ..Recording::default()
    }
}

/// The piece of every byte, from all blocks and regions.
fn byte_by_byte(recording: &Recording, event: Step) -> Vec<Option<PieceKind>> {
    let is_in = |from: u64, bytes: u64, at: u64| from <= at && at < from + bytes;
    let of_byte = |at: u64| {
        let block = recording.blocks.iter().find(|block| {
            let address = block.address.map_or(u64::MAX, BlockAddress::get);
            block.birth <= event && event < block.end && is_in(address, block.held.get(), at)
        });
        let mut regions = recording.regions.iter();
        regions.find(|region| {
            region.birth <= event && event < region.end && is_in(region.address, region.bytes.get(), at)
        })?;
        Some(match block {
            Some(block) if block.freed_at <= event => PieceKind::AwaitingFree,
            Some(_) => PieceKind::Active,
            None => PieceKind::Inactive,
        })
    };
    (0..2 * SPACE).map(of_byte).collect()
}

fn total<'a>(sums: impl Iterator<Item = &'a AllocatorSums>, of: impl Fn(&AllocatorSums) -> u64) -> u64 {
    sums.map(of).sum()
}

fn check(recording: &Recording, event: Step) {
    let state = AllocatorState::new(recording, event).expect("there are segments");
    let bytes = byte_by_byte(recording, event);
    let count = |kind: PieceKind| bytes.iter().filter(|byte| **byte == Some(kind)).count() as u64;
    let sums = &state.sums;
    assert_eq!(sums.reserved.get(), bytes.iter().flatten().count() as u64);
    if state.overlapping == 0 && state.outside.0 == 0 {
        assert_eq!(sums.active.get(), count(PieceKind::Active));
        assert_eq!(sums.awaiting_free.get(), count(PieceKind::AwaitingFree));
        assert_eq!((sums.inactive_split + sums.free).get(), count(PieceKind::Inactive));
    }
    for segment in &state.segments {
        let mut at = segment.address;
        for piece in &segment.pieces {
            assert_eq!(piece.address, at, "pieces follow each other");
            at += piece.bytes.get();
            let byte = bytes[piece.address as usize].expect("within a region");
            let is_gap = matches!(piece.kind, PieceKind::Inactive | PieceKind::Free);
            // A block outside the segments, or one that overlaps the end of its segment, may reach into another.
            assert!(
                state.outside.0 > 0
                    || state.overlapping > 0
                    || byte == if is_gap { PieceKind::Inactive } else { piece.kind }
            );
        }
        let end = segment.address + segment.bytes.get();
        assert!(at == end || state.overlapping > 0, "pieces fill the segment");
        let is_free = segment.pieces.len() == 1 && segment.pieces[0].kind == PieceKind::Free;
        assert_eq!(is_free, segment.pieces.iter().all(|piece| piece.block.is_none()));
    }
    let parts: [fn(&AllocatorSums) -> u64; 9] = [
        |sums| sums.reserved.get(),
        |sums| sums.active.get(),
        |sums| sums.awaiting_free.get(),
        |sums| sums.requested.get(),
        |sums| sums.inactive_split.get(),
        |sums| sums.free.get(),
        |sums| sums.segments,
        |sums| sums.gaps,
        |sums| sums.unstated_blocks,
    ];
    for of in parts {
        assert_eq!(total(state.segments.iter().map(|one| &one.sums), of), of(sums));
        assert_eq!(total(state.pools.iter().map(|one| &one.sums), of), of(sums));
    }
    let gaps = state.segments.iter().flat_map(|segment| &segment.pieces);
    let gaps = gaps.filter(|piece| piece.block.is_none()).map(|piece| piece.bytes);
    assert_eq!(sums.largest_free, gaps.max().unwrap_or_default());
    let live = recording
        .blocks
        .iter()
        .filter(|one| one.birth <= event && event < one.end);
    let placed = sums.active_blocks + sums.awaiting_blocks;
    assert_eq!(placed + state.outside.0, live.count() as u64, "no block is lost");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn states_equal_a_count_byte_by_byte(
        regions in extents(40, 8), blocks in extents(9, 30), wait in 0..4_u32
    ) {
        let recording = recording(&regions, &blocks, wait);
        prop_assert_eq!(recording.check(), Ok(()));
        for event in 0..N_STEPS {
            if regions.is_empty() {
                prop_assert!(AllocatorState::new(&recording, Step(event)).is_none());
            } else {
                check(&recording, Step(event));
            }
        }
        prop_assert!(AllocatorState::new(&recording, Step(N_STEPS)).is_none());
    }
}

fn recorded(value: &serde_json::Value) -> Recording {
    let imported = read("test.pickle", &pickle(value)).expect("a snapshot");
    let Source::Recordings(recordings) = imported.source else {
        panic!("recordings")
    };
    Recording::clone(&recordings[0])
}

#[test]
fn adjacent_ranges_of_an_expandable_segment_are_one_segment() {
    let mut expandable = segment(
        0x1000,
        0x600,
        "large",
        vec![
            block(0x1000, 0x100, 0x100, "inactive"),
            // Lies on both ranges that were mapped one after the other.
            block(0x1100, 0x300, 0x2c0, "active_allocated"),
            block(0x1400, 0x200, 0x200, "active_pending_free"),
        ],
    );
    expandable["is_expandable"] = true.into();
    expandable["segment_pool_id"] = serde_json::json!([0, 3]);
    let free = segment(0x9000, 0x400, "small", vec![block(0x9000, 0x400, 0, "inactive")]);
    let trace = vec![
        event("segment_map", 0x1000, 0x200, 1),
        event("segment_map", 0x1200, 0x400, 2),
        event("alloc", 0x1100, 0x2c0, 3),
        event("alloc", 0x1400, 0x200, 4),
        event("free_requested", 0x1400, 0x200, 5),
    ];
    let recording = recorded(&snapshot(vec![expandable, free], trace));
    let state = AllocatorState::new(&recording, Step(4)).expect("there are segments");
    assert_eq!((state.segments.len(), state.outside.0, state.overlapping), (2, 0, 0));
    let kinds: Vec<_> = state.segments[0]
        .pieces
        .iter()
        .map(|piece| (piece.kind, piece.bytes.get()))
        .collect();
    assert_eq!(
        kinds,
        [
            (PieceKind::Inactive, 0x100),
            (PieceKind::Active, 0x300),
            (PieceKind::AwaitingFree, 0x200)
        ]
    );
    assert_eq!(
        recording.segment_kind(state.segments[0].kind),
        ("expandable", Some("(0, 3)"))
    );
    let sums = state.sums;
    assert!(sums.is_exact());
    assert_eq!(
        (sums.free_segments, sums.free.get(), sums.largest_free.get()),
        (1, 0x400, 0x400)
    );
    assert_eq!((sums.inactive_split.get(), sums.rounding().get()), (0x100, 0x40));
    assert_eq!(state.pools.len(), 2);
    // After the first event the segment is as large as it was then, and empty.
    let first = AllocatorState::new(&recording, Step(0)).expect("there are segments");
    let sizes: Vec<u64> = first.segments.iter().map(|segment| segment.bytes.get()).collect();
    assert_eq!((sizes, first.sums.free_segments), (vec![0x200, 0x400], 2));
}

#[test]
fn sizes_that_the_file_does_not_state_make_bounds() {
    let segments = vec![segment(
        0x1000,
        0x1000,
        "large",
        vec![block(0x1000, 0x1000, 0, "inactive")],
    )];
    let trace = vec![
        event("alloc", 0x1000, 0x190, 1),
        event("free_requested", 0x1000, 0x190, 2),
        event("free_completed", 0x1000, 0x190, 3),
    ];
    let recording = recorded(&snapshot(segments, trace));
    let during = AllocatorState::new(&recording, Step(0))
        .expect("there are segments")
        .sums;
    assert!(!during.is_exact() && during.at_least() == "\u{2265}\u{a0}");
    assert_eq!((during.active.get(), during.inactive_split.get()), (0x190, 0xe70));
    let after = AllocatorState::new(&recording, Step(2))
        .expect("there are segments")
        .sums;
    assert!(after.is_exact() && after.at_most().is_empty());
    assert_eq!((after.free.get(), after.inactive_split.get()), (0x1000, 0));
}

fn count(recording: &Recording, what: &str) -> u64 {
    let mut counts = recording.counts.iter();
    counts.find(|(name, _)| name == what).map_or(0, |(_, count)| *count)
}

#[test]
fn the_last_event_of_a_snapshot_equals_its_tables() {
    let Some(folder) = shared("corpus/fetched/torch_snapshots") else {
        return;
    };
    let mut n_files = 0;
    for file in files(&folder, "").into_iter().filter(|file| file.is_file()) {
        if ![".pickle", ".pkl"].iter().any(|ending| name(&file).contains(ending)) {
            continue;
        }
        let imported = read(&name(&file), &std::fs::read(&file).unwrap()).unwrap();
        let Source::Recordings(recordings) = imported.source else {
            panic!("recordings")
        };
        for recording in &recordings {
            let Some(state) = AllocatorState::new(recording, Step(recording.n_steps - 1)) else {
                continue;
            };
            n_files += 1;
            let (sums, count) = (&state.sums, |what: &str| count(recording, what));
            let file = name(&file);
            assert!(sums.is_exact(), "{file}: the tables state held bytes");
            assert_eq!(sums.reserved.get(), count("total_size"), "{file}");
            let active = sums.active.get() + if state.outside.0 > 0 { state.outside.1.get() } else { 0 };
            assert_eq!(active, count("bytes active_allocated"), "{file}");
            let pending = count("bytes active_pending_free") + count("bytes active_awaiting_free");
            assert_eq!(sums.awaiting_free.get(), pending, "{file}");
            let blocks = sums.active_blocks + sums.awaiting_blocks + state.outside.0;
            assert_eq!(blocks, count("blocks") - count("blocks inactive"), "{file}");
            if count("bytes inactive") > 0 {
                // The blocks of the table add up to its segments.
                assert_eq!(
                    (sums.inactive_split + sums.free).get(),
                    count("bytes inactive"),
                    "{file}"
                );
                assert_eq!(sums.gaps + sums.free_segments, count("blocks inactive"), "{file}");
                assert_eq!(active + pending, count("active_size"), "{file}");
            }
        }
    }
    assert!(n_files > 0, "the folder holds snapshots with segments");
}
