//! Tests of the shared blocks: blocks of a load, pages of a run, and their return.

use super::super::test_support::{calls, device, plain};
use super::*;

const A: StaticGraph = StaticGraph(0);
const B: StaticGraph = StaticGraph(1);
const C: StaticGraph = StaticGraph(2);

fn load(memory: &mut SegmentArena, graph: StaticGraph, mib: &[u64], device: &mut SimulatedDevice) -> LoadedSegments {
    memory.load(graph, &plain(mib), device).expect("room")
}

fn run(memory: &mut SegmentArena, graph: StaticGraph, device: &mut SimulatedDevice) {
    memory.begin(graph, device).expect("no other holder of pages");
    memory.finish(graph, device);
}

#[test]
fn a_segment_needs_the_rest_of_one_block() {
    for (segments_of_b, reserved) in [(&[300][..], 400), (&[200, 100], 300)] {
        let (mut memory, mut device) = (SegmentArena::on_device(), device(Bytes::gib(1)));
        load(&mut memory, A, &[100], &mut device);
        load(&mut memory, B, segments_of_b, &mut device);
        load(&mut memory, C, &[200], &mut device);
        assert_eq!(device.driver.in_use(), Bytes::mib(reserved));
        for graph in [A, B, C] {
            memory.unload(graph, &mut device);
        }
        assert_eq!(device.driver.in_use(), Bytes::ZERO);
    }
}

#[test]
fn blocks_above_2_mib_are_rounded_and_sorted_by_total_the_older_first() {
    let (mut memory, mut device) = (SegmentArena::on_device(), device(Bytes::gib(1)));
    let mut segments = plain(&[1, 3, 1]);
    for segment in &mut segments {
        segment.is_zero_copy = true;
    }
    memory.load(A, &segments, &mut device).expect("room");
    let figures = memory.figures().expect("an arena");
    let blocks: Vec<(u64, u64)> = figures
        .blocks
        .iter()
        .map(|block| (block.at.offset() >> 20, block.total.get() >> 20))
        .collect();
    assert_eq!(blocks, [(4, 4), (0, 1), (10, 1)]);
    assert_eq!(figures.peak, Bytes::mib(5));
}

#[test]
fn the_callers_segment_needs_no_memory() {
    let (mut memory, mut device) = (SegmentArena::on_device(), device(Bytes::gib(1)));
    let mut segments = plain(&[100, 20]);
    segments[1].by_caller = true;
    let loaded = memory.load(A, &segments, &mut device).expect("room");
    assert_eq!(loaded.segments[1].at, Some(Address::device(100 << 20)));
    assert_eq!(device.driver.in_use(), Bytes::mib(100));
}

#[test]
fn a_refused_block_fails_the_load_and_leaves_what_was_there() {
    let (mut memory, mut device) = (SegmentArena::on_device(), device(Bytes::mib(150)));
    load(&mut memory, A, &[100], &mut device);
    let refused = memory.load(B, &plain(&[120]), &mut device);
    assert_eq!(
        refused,
        Err(Shortage {
            requested: Bytes::mib(120)
        })
    );
    assert_eq!(memory.placed_before_failure().base, None);
    assert_eq!(memory.figures().map(|figures| figures.users), Some(1));
    memory.unload(B, &mut device);
    load(&mut memory, C, &[90], &mut device);
    assert_eq!(device.driver.in_use(), Bytes::mib(100));
}

#[test]
fn a_segment_of_no_bytes_is_refused_by_the_driver_alone() {
    let mut segments = plain(&[100, 0]);
    segments[1].is_zero_copy = true;
    for (mut memory, is_loaded) in [(SegmentArena::on_device(), false), (SegmentArena::in_range(), true)] {
        let mut device = device(Bytes::gib(1));
        assert_eq!(memory.load(A, &segments, &mut device).is_ok(), is_loaded);
        memory.unload(A, &mut device);
        assert_eq!(device.driver.in_use(), Bytes::ZERO);
    }
}

#[test]
fn a_load_that_fails_clears_nothing_and_the_only_user_takes_its_blocks_along() {
    for mut memory in [SegmentArena::on_device(), SegmentArena::in_range()] {
        let mut device = device(Bytes::mib(150));
        let mut segments = plain(&[80, 100]);
        segments[1].has_gap = true;
        assert!(memory.load(A, &segments, &mut device).is_err());
        let left = memory.placed_before_failure();
        assert_eq!((left.base, left.active.len()), (None, 0));
        assert!(left.segments[0].at.is_some() && left.segments[1].at.is_none());
        assert!(!calls(&device).contains(&"memset"));
        assert_eq!(device.driver.in_use(), Bytes::ZERO);
        load(&mut memory, A, &[120], &mut device);
    }
}

#[test]
fn an_earlier_peak_lets_a_load_succeed_that_got_no_memory() {
    let (mut memory, mut device) = (SegmentArena::on_device(), device(Bytes::mib(210)));
    load(&mut memory, A, &[50, 50], &mut device);
    load(&mut memory, B, &[100, 60], &mut device);
    let peak = memory.figures().map(|figures| figures.peak);
    assert_eq!(peak, Some(Bytes::mib(160)));
    let mut late = plain(&[80, 75]);
    late[1].is_zero_copy = true;
    let loaded = memory.load(C, &late, &mut device).expect("the peak was larger");
    assert_eq!((loaded.base, loaded.active.len()), (None, 0));
}

#[test]
fn pages_that_a_stopped_run_left_idle_are_claimed_and_a_new_block_is_device_memory_for_ever() {
    let (mut memory, mut device) = (SegmentArena::in_range(), device(Bytes::gib(1)));
    load(&mut memory, A, &[160], &mut device);
    run(&mut memory, A, &mut device);
    load(&mut memory, B, &[80], &mut device);
    assert_eq!(memory.begin(A, &mut device), Err(RunError::MemoryInUse));
    let loaded = memory.load(C, &plain(&[150, 16]), &mut device).expect("room");
    assert!(
        loaded
            .segments
            .iter()
            .any(|one| one.at.is_some_and(|at| !at.is_virtual()))
    );
    for graph in [A, B, C] {
        memory.unload(graph, &mut device);
    }
    assert_eq!(device.driver.in_use(), Bytes::mib(16), "the engine loses it");
}

#[test]
fn graphs_share_pages_over_time() {
    let (mut memory, mut device) = (SegmentArena::in_range(), device(Bytes::gib(1)));
    let mut reserved = Vec::new();
    for (graph, mib) in [(A, 100), (B, 300), (C, 200)] {
        load(&mut memory, graph, &[mib], &mut device);
        run(&mut memory, graph, &mut device);
        reserved.push(device.driver.in_use().get() >> 20);
    }
    assert_eq!(reserved, [104, 304, 304]);
    for graph in [A, C, B, B] {
        run(&mut memory, graph, &mut device);
        assert_eq!(memory.figures().map(|figures| figures.pages), Some(Bytes::ZERO));
    }
    for graph in [A, B, C] {
        memory.unload(graph, &mut device);
    }
    assert_eq!(device.driver.in_use(), Bytes::ZERO);
}

#[test]
fn a_graph_that_waits_for_its_first_run_keeps_others_from_running() {
    let (mut memory, mut device) = (SegmentArena::in_range(), device(Bytes::gib(1)));
    load(&mut memory, A, &[100], &mut device);
    run(&mut memory, A, &mut device);
    load(&mut memory, B, &[90], &mut device);
    assert_eq!(memory.begin(A, &mut device), Err(RunError::MemoryInUse));
    run(&mut memory, B, &mut device);
    run(&mut memory, A, &mut device);
}

#[test]
fn unloading_before_a_run_gives_pages_back_and_so_does_unloading_amid_one() {
    let (mut memory, mut device) = (SegmentArena::in_range(), device(Bytes::gib(1)));
    load(&mut memory, A, &[64], &mut device);
    run(&mut memory, A, &mut device);
    for _ in 0..2 {
        load(&mut memory, B, &[64], &mut device);
        memory.unload(B, &mut device);
    }
    memory.begin(A, &mut device).expect("no holder of pages");
    load(&mut memory, B, &[1], &mut device);
    memory.unload(A, &mut device);
    run(&mut memory, B, &mut device);
    memory.unload(B, &mut device);
    assert_eq!(device.driver.in_use(), Bytes::ZERO);
}

#[test]
fn without_ranges_and_without_pages_blocks_are_device_memory() {
    let mut device = SimulatedDevice::new(super::super::DriverRules {
        capacity: Bytes::mib(100),
        can_reserve: false,
        has_notes: false,
    });
    let mut memory = SegmentArena::in_range();
    load(&mut memory, A, &[50], &mut device);
    run(&mut memory, A, &mut device);
    assert_eq!(device.driver.in_use(), Bytes::mib(50));
    memory.unload(A, &mut device);
    assert_eq!(device.driver.in_use(), Bytes::ZERO);
    let named = calls(&device);
    assert_eq!(named[1..], ["malloc", "memset", "free"]);
}
