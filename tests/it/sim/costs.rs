//! Costs of calls, from hand-written logs.

use super::*;
use highwater::sim::alloc::{Address, PoolFigures};
use highwater::sim::fold::{Cause, PoolIdle};
use highwater::sim::{PoolRow, Region, RegionId, SpanCounts, SubjectId, SubjectRow};
use highwater::units::Nanos;

/// An event: step, kind, region, subject, offset and bytes.
type Written = (u32, EventKind, u32, u32, (u64, u64));

/// A log of two steps: region 0 variables, 1 a pool block of 100 bytes, 2 an arena of 60; subject 1 and 2 tensors of
/// 10 and 20 bytes, 3 the pool of graph 0.
fn log(events: &[Written]) -> Simulation {
    let region = |kind, bytes| Region {
        kind,
        graph: None,
        bytes: Bytes(bytes),
        io: Bytes::ZERO,
        at: Address::device(0).into(),
    };
    let subject = |subject, requested| SubjectRow {
        subject,
        requested: Bytes(requested),
    };
    let tensor = |idx| Subject::Tensor {
        run: 0,
        tensor: TensorId(idx),
        copy: 0,
    };
    let pool = |graph| PoolRow {
        graph,
        figures: PoolFigures {
            occupied: 100,
            requested_peak: 30,
            ..PoolFigures::default()
        },
    };
    Simulation {
        policy: Dynamic,
        n_steps: 2,
        device_bytes: Bytes(1000),
        events: events
            .iter()
            .map(|(step, kind, region, subject, (offset, bytes))| Event {
                step: Step(*step),
                kind: *kind,
                region: RegionId(*region),
                subject: SubjectId(*subject),
                offset: *offset,
                bytes: Bytes(*bytes),
            })
            .collect(),
        regions: vec![
            region(RegionKind::Variables, 0),
            region(RegionKind::PoolBlock, 100),
            region(RegionKind::Arena, 60),
        ],
        subjects: [
            subject(Subject::Session, 0),
            subject(tensor(0), 10),
            subject(tensor(1), 20),
            subject(Subject::Pool(0), 0),
        ]
        .into_iter()
        .collect(),
        pools: vec![pool(None), pool(Some(GraphIdx(0)))],
        spans: SpanCounts { splits: 3, merges: 1 },
        out_of_memory: None,
    }
}

/// Costs that can be told apart in a sum.
fn prices() -> Params {
    Params {
        malloc_cost: Nanos(1),
        free_cost: Nanos(10),
        map_cost: Nanos(100),
        unmap_cost: Nanos(1_000),
        reserve_cost: Nanos(10_000),
        sync_cost: Nanos(100_000),
        launch_cost: Nanos(1_000_000),
        memset_bytes_per_second: 2_000_000_000,
        reload_bytes_per_second: 500_000_000,
        ..params(Bytes(1000))
    }
}

#[test]
fn every_call_has_a_cost() {
    use EventKind::*;
    for (kind, bytes, expected) in [
        (DeviceMalloc, 60, Some((Cause::Malloc, 1))),
        (DeviceFree, 60, Some((Cause::Free, 10))),
        (Map, 8, Some((Cause::Map, 100))),
        (Unmap, 8, Some((Cause::Unmap, 1_000))),
        (Reserve, 8, Some((Cause::Reserve, 10_000))),
        (Release, 8, Some((Cause::Reserve, 10_000))),
        (Sync, 0, Some((Cause::Synchronize, 100_000))),
        (Reload, 50, Some((Cause::Reload, 100))),
        (Memset, 61, Some((Cause::LoadMemset, 30))),
        (Clear, 60, Some((Cause::Clear, 1_000_030))),
        (Memset, u64::MAX, Some((Cause::LoadMemset, u64::MAX / 2))),
        (Reload, u64::MAX, Some((Cause::Reload, u64::MAX))),
        // Ranges of stitched pages are reserved and mapped; these are counted there.
        (Stitch, 8, None),
        (PageAlloc, 8, None),
        (PageFree, 8, None),
        (Alloc, 8, None),
        (Grant, 8, None),
        (Recycle, 0, None),
        (Unload, 0, None),
        (Reallocate, 0, None),
        (Run, 0, None),
    ] {
        let rows = fold::overhead(&log(&[(0, kind, 2, 0, (0, bytes)); 3]), &prices());
        let found: Vec<(Cause, u64, u64)> = rows.iter().map(|row| (row.cause, row.count, row.time.0)).collect();
        let wanted = expected.map(|(cause, time)| (cause, 3, time.saturating_mul(3)));
        assert_eq!(found, Vec::from_iter(wanted), "{kind:?} {bytes}");
    }
}

#[test]
fn causes_are_ordered_and_add_up() {
    use EventKind::*;
    let simulation = log(&[
        (0, Clear, 0, 0, (0, 20)),
        (0, DeviceMalloc, 2, 0, (0, 60)),
        (0, DeviceMalloc, 1, 0, (0, 100)),
        (1, Sync, 0, 0, (0, 0)),
        (1, Clear, 0, 0, (0, 40)),
    ]);
    let summary = fold::summary(&simulation, &fold::curves(&simulation), &prices());
    let names: Vec<(&str, u64)> = summary
        .overhead
        .iter()
        .map(|row| (row.cause.name(), row.count))
        .collect();
    assert_eq!(names, [("malloc", 2), ("synchronize", 1), ("clear", 2)]);
    assert_eq!(summary.estimated_overhead, Nanos(2 + 100_000 + 2_000_000 + 10 + 20));
    assert_eq!((summary.clears, summary.cleared), (2, Bytes(60)));
    assert_eq!((summary.device_mallocs, summary.synchronizations), (2, 1));
    assert_eq!((summary.splits, summary.merges), (3, 1));
    for (position, cause) in Cause::ALL.iter().enumerate() {
        assert_eq!(*cause as usize, position);
    }
}

#[test]
fn waste_and_idle_memory_are_those_of_the_peak() {
    use EventKind::*;
    let events = [
        // 100 bytes of which a graph's pool is granted 70 at the top, with 10 + 20 live in it.
        (0, DeviceMalloc, 1, 0, (0, 100)),
        (0, Grant, 1, 3, (30, 70)),
        (0, Alloc, 1, 1, (90, 10)),
        (1, Alloc, 1, 2, (50, 25)),
        (1, DeviceMalloc, 2, 0, (0, 60)),
        (1, Reserve, 0, 0, (0, 500)),
    ];
    let summary = |n: usize| {
        let simulation = log(&events[..n]);
        fold::summary(&simulation, &fold::curves(&simulation), &prices())
    };
    let idle = |bytes, largest| PoolIdle {
        bytes: Bytes(bytes),
        largest: Bytes(largest),
    };
    // 30 are left of the device's block, 60 of the graph's.
    let first = summary(3);
    assert_eq!((first.internal_waste, first.pool_idle), (Bytes(90), idle(90, 60)));
    // The first step with the peak counts: without the arena that is still step 0.
    assert_eq!(summary(4).pool_idle, idle(90, 60));
    let whole = summary(6);
    assert_eq!(whole.internal_waste, Bytes(160 - 30));
    assert_eq!(whole.pool_idle, idle(30 + 20 + 15, 30));
    assert_eq!(whole.virtual_bytes, Bytes(500));
    assert_eq!(whole.reach_rate, Some(30.0));
    for (idle, fragmentation) in [(idle(0, 0), None), (idle(80, 20), Some(0.75)), (idle(8, 8), Some(0.0))] {
        assert_eq!(idle.fragmentation(), fragmentation);
    }
    let mut alone = log(&events);
    alone.pools.clear();
    let summary = fold::summary(&alone, &fold::curves(&alone), &prices());
    assert_eq!((summary.pool_idle, summary.reach_rate), (PoolIdle::default(), None));
}
