//! Pinned host memory: `host_segments` and `host_traces`, in the form in which torch 2.15 writes them.

use super::{Py, event, pickle, read, small};
use crate::test_help::{shows, tells};
use highwater_model::workload::Recording;

fn put(dict: &mut Py, key: &'static str, value: Py) {
    let Py::Dict(pairs) = dict else { panic!("a dict") };
    pairs.retain(|(known, _)| *known != key);
    pairs.push((key, value));
}

/// Segments of one block each, of device -1, all of them "small"; the trace is one list, whose sizes are rounded ones.
fn host() -> (Py, Vec<Py>) {
    let one = |address: i64, size: i64, state: &str| {
        let mut all = super::segment(address, size, "small", vec![super::block(address, size, size, state)]);
        put(&mut all, "device", (-1).into());
        all
    };
    let segments = vec![
        one(0x10_0000, 128, "active_allocated"),
        one(0x20_0000, 8 << 20, "inactive"),
    ];
    let trace = vec![
        event("segment_alloc", 0x10_0000, 128, Some(1)),
        event("alloc", 0x10_0000, 128, Some(2)),
        event("segment_alloc", 0x20_0000, 8 << 20, Some(3)),
        event("alloc", 0x20_0000, 8 << 20, Some(4)),
        event("free_requested", 0x10_0000, 128, Some(5)),
        event("free_completed", 0x10_0000, 128, Some(6)),
        event("alloc", 0x10_0000, 128, Some(7)),
        event("free_requested", 0x20_0000, 8 << 20, Some(8)),
        event("free_completed", 0x20_0000, 8 << 20, Some(9)),
        event("segment_free", 0x900_0000, 2 << 20, Some(10)),
    ];
    (Py::List(segments), trace)
}

const WANTED: &str = "
    host, pinned, 10 steps: 1000 +1000 +2000 +3000 +4000 +5000 +6000 +7000 +8000 +9000
    block no call stack 1..5 128 @0x100000 stream 7, freed at 4
    block no call stack 3..8 8388608 @0x200000 stream 7, freed at 7
    block no call stack 6..10 128 @0x100000 stream 7
    region pinned 0..10 0x100000+0x80
    region pinned 0..9 0x9000000+0x200000
    region pinned 2..10 0x200000+0x800000";

#[test]
fn pinned_memory_is_a_device_of_the_host() {
    let (segments, trace) = host();
    for trace in [
        Py::List(trace.clone()),
        Py::List(vec![Py::List(trace.clone())]),
        Py::List(vec![Py::List(trace[..4].to_vec()), Py::List(trace[4..].to_vec())]),
    ] {
        let mut alone = Py::Dict(vec![
            ("segments", Py::List(Vec::new())),
            ("device_traces", Py::List(vec![Py::List(Vec::new())])),
        ]);
        let mut with_device = small();
        for all in [&mut alone, &mut with_device] {
            put(all, "host_segments", segments.clone());
            put(all, "host_traces", trace.clone());
        }
        let (recordings, diagnostics) = read(&pickle(&alone, 4)).expect("a snapshot");
        shows(&recordings, WANTED);
        assert!(recordings[0].is_host && recordings[0].device_memory.is_none());
        tells(
            &diagnostics,
            &[
                ("pinned memory of the host", 1),
                ("no segments and no events", 0),
                ("not known", 0),
            ],
        );
        // Nothing of the device changes; annotations are on the clock of the process.
        let (both, _) = read(&pickle(&with_device, 4)).expect("a snapshot");
        let (device, _) = read(&pickle(&small(), 4)).expect("a snapshot");
        shows(
            &both[1..],
            &format!("{WANTED}\n    Note at 9 0 bytes: step begins\n    Note at 9 0 bytes: step ends"),
        );
        let keys = both[0].fields.iter();
        let own = keys.filter(|key| !key.starts_with("top.host")).cloned().collect();
        let without_keys = Recording {
            fields: own,
            ..Recording::clone(&both[0])
        };
        assert_eq!(without_keys, *device[0]);
        assert!(!both[0].is_host);
    }
}

#[test]
fn empty_lists_of_the_host_are_no_device() {
    let mut all = small();
    put(&mut all, "host_segments", Py::List(Vec::new()));
    put(&mut all, "host_traces", Py::List(Vec::new()));
    let (recordings, diagnostics) = read(&pickle(&all, 4)).expect("a snapshot");
    assert_eq!(recordings.len(), 1);
    tells(&diagnostics, &[("pinned memory", 0), ("not known", 0)]);
}

#[test]
fn a_trace_that_the_device_and_the_host_share_is_refused() {
    let events: Vec<Py> = (0..2000)
        .map(|number| event("alloc", number * 512, 512, Some(number)))
        .collect();
    let shared = || Py::Shared(9, Box::new(Py::List(events.clone())));
    let all = Py::Dict(vec![
        ("device_traces", Py::List(vec![shared()])),
        ("host_traces", shared()),
    ]);
    let error = read(&pickle(&all, 4)).expect_err("listed twice").to_string();
    assert!(error.contains("listed more often"), "{error}");
}
