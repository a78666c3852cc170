//! Hand-written recordings and their logs.

use super::*;
use crate::event::SubjectRow;
use crate::fold::curves;
use crate::verify_log;
use highwater_model::graph::TensorId;
use highwater_model::progress::Cancel;
use highwater_model::workload::{BlockAddress, RecordedMark, RecordedName, RecordedNames, RecordedRegion};

fn block(life: (u32, u32), bytes: u64, address: Option<u64>) -> RecordedBlock {
    RecordedBlock {
        address: address.and_then(BlockAddress::new),
        stream: 0,
        is_freed: true,
        ..RecordedBlock::new(RecordedName(0), Step(life.0), Step(life.1), Bytes(bytes))
    }
}

fn recorded_region(life: (u32, u32), address: u64, bytes: u64, kind: RecordedName) -> RecordedRegion {
    RecordedRegion {
        address,
        bytes: Bytes(bytes),
        birth: Step(life.0),
        end: Step(life.1),
        stream: 0,
        kind,
        is_older: false,
    }
}

fn log(recording: &Recording) -> RecordedLog {
    assert_eq!(recording.check(), Ok(()));
    let recording = &Arc::new(recording.clone());
    let cancel = Cancel::new();
    let named: Arc<[u32]> = (0..recording.n_steps).collect();
    let log = |steps: EventSteps| {
        let made = recorded_log(recording, steps, recording.n_steps, &Progress::silent(&cancel));
        made.expect("no cancel")
    };
    let made = log(EventSteps::Own(recording.n_steps));
    assert_eq!(made.simulation, log(EventSteps::Named(named)).simulation);
    made
}

fn values(curve: &crate::fold::StepBytes) -> Vec<u64> {
    curve.iter().map(|bytes| bytes.get()).collect()
}

#[test]
fn addresses_of_64_bits_stay_exact() {
    let mut names = RecordedNames::default();
    let (large, expandable) = (names.intern("large"), names.intern("expandable"));
    let (one, two) = (0xffff_8000_0000_0000_u64, 0x8000_0000_0000_1000_u64);
    let recording = Recording {
        n_steps: 3,
        names: names.finish(),
        regions: vec![
            recorded_region((0, 3), one, 100, large),
            recorded_region((0, 2), two, 50, expandable),
        ],
        blocks: vec![block((0, 2), 60, Some(one + 40)), block((0, 2), 8, Some(two + 42))],
        ..Recording::default()
    };
    let log = log(&recording);
    assert_eq!(log.n_stacked, 0);
    let found: Vec<u64> = log.simulation.regions.iter().map(|region| region.at.offset()).collect();
    assert!(found.contains(&one) && found.contains(&two), "{found:x?}");
    let unmap = log
        .simulation
        .events
        .iter()
        .find(|event| event.kind == EventKind::Unmap);
    assert_eq!(unmap.map(|event| event.offset), Some(0));
}

#[test]
fn segments_and_expandable_ranges_are_memory_under_their_blocks() {
    let mut names = RecordedNames::default();
    let (large, expandable) = (names.intern("large"), names.intern("expandable"));
    let recording = Recording {
        n_steps: 6,
        names: names.finish(),
        regions: vec![
            recorded_region((0, 5), 1000, 100, large),
            recorded_region((1, 6), 4000, 50, expandable),
            recorded_region((2, 6), 4050, 50, expandable),
        ],
        blocks: vec![
            block((0, 3), 60, Some(1000)),
            block((2, 4), 80, Some(4010)),
            block((3, 5), 60, Some(1000)),
        ],
        ..Recording::default()
    };
    let log = log(&recording);
    assert_eq!((log.n_stacked, verify_log(&log.simulation)), (0, Ok(())));
    let curves = curves(&log.simulation);
    assert_eq!(values(&curves.reserved), [100, 150, 200, 200, 200, 100]);
    assert_eq!(values(&curves.live), [60, 60, 140, 140, 60, 0]);
}

#[test]
fn blocks_without_a_known_place_are_stacked_and_reserve_nothing() {
    let recording = Recording {
        n_steps: 4,
        names: ["x"].into_iter().collect(),
        blocks: vec![
            block((0, 2), 5, None),
            block((1, 3), 7, Some(77)),
            block((2, 4), 4, None),
        ],
        ..Recording::default()
    };
    let log = log(&recording);
    assert_eq!(log.n_stacked, 3);
    let curves = curves(&log.simulation);
    assert_eq!(values(&curves.live), [5, 12, 11, 4]);
    assert_eq!(values(&curves.reserved), [0; 4]);
    let offsets: Vec<u64> = log
        .simulation
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Alloc)
        .map(|event| event.offset)
        .collect();
    assert_eq!(offsets, [0, 5, 0]);
}

#[test]
fn a_failed_request_is_in_the_log() {
    let recording = Recording {
        n_steps: 2,
        names: ["x"].into_iter().collect(),
        blocks: vec![block((0, 2), 5, None)],
        marks: vec![RecordedMark {
            step: Step(1),
            kind: MarkKind::OutOfMemory,
            text: RecordedName(0),
            bytes: Bytes(9),
            failed: None,
        }],
        ..Recording::default()
    };
    let failed = log(&recording).simulation.out_of_memory.expect("a failed request");
    assert_eq!((failed.step, failed.requested), (Step(1), Bytes(9)));
}

#[test]
fn a_log_reads_the_same_from_blocks_and_from_a_list() {
    let mut names = RecordedNames::default();
    let (large, expandable) = (names.intern("large"), names.intern("expandable"));
    let recording = Recording {
        n_steps: 7,
        names: names.finish(),
        regions: vec![
            recorded_region((0, 5), 1000, 100, large),
            recorded_region((1, 6), 4000, 50, expandable),
            recorded_region((2, 7), 1100, 50, large),
        ],
        blocks: vec![
            block((0, 3), 60, Some(1000)),
            block((1, 2), 7, None),
            block((2, 4), 40, Some(4010)),
            block((3, 7), 30, Some(1010)),
            block((3, 5), 9, Some(77)),
        ],
        ..Recording::default()
    };
    let log = log(&recording).simulation;
    let events: Vec<Event> = log.events.iter().collect();
    let listed = Simulation {
        events: events.iter().copied().collect(),
        subjects: log.subjects.iter().collect(),
        ..log.clone()
    };
    assert_eq!(listed, log);
    assert_eq!(curves(&listed), curves(&log));
    assert_eq!(events.len(), log.events.len());
    assert_eq!(log.events.last(), events.last().copied());
    assert_eq!(log.events.get(events.len()), None);
    assert!(log.events.from(3).eq(events[3..].iter().copied()));
    for step in 0..8 {
        let before = events.partition_point(|event| event.step.0 < step);
        assert_eq!(log.events.partition_point(|event| event.step.0 < step), before);
    }
    let of = |tensor: u32| {
        let is_it =
            |row: &SubjectRow| matches!(row.subject, Subject::Tensor { tensor: TensorId(n), .. } if n == tensor);
        log.subjects.iter().find(is_it).map(|row| row.requested)
    };
    assert_eq!([of(0), of(4), of(5)], [Some(Bytes(60)), Some(Bytes(9)), None]);
}
