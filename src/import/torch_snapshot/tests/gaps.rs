//! Gaps of a trace: blocks that appear, segments that are freed without a kind.

use super::*;

#[test]
fn a_block_that_appears_is_not_called_older() {
    let trace = vec![
        event("alloc", 0x1000, 8, None),
        event("free_completed", 0x2000, 64, None),
        event("alloc", 0x3000, 8, None),
        event("free_completed", 0x2000, 32, None),
    ];
    let (recordings, diagnostics) = read(&pickle(&snapshot_of(Vec::new(), vec![trace]), 4)).expect("a snapshot");
    let recording = &recordings[0];
    assert_eq!(recording.check(), Ok(()));
    let unseen: Vec<(Step, Step, u64, bool)> = recording
        .blocks
        .iter()
        .filter(|block| block.is_older)
        .map(|block| (block.birth, block.end, block.bytes.get(), block.appears()))
        .collect();
    assert_eq!(unseen, [(Step(0), Step(1), 64, false), (Step(1), Step(3), 32, true)]);
    let said = messages(&diagnostics);
    assert!(
        said.contains("older than the trace, which keeps only the last events; it counts from the first step on x1")
    );
    assert!(said.contains("allocates it no more x1"), "{said}");
}

/// Every event has the address and the size that the file states, also the first ones of a ring, whose blocks are older.
#[test]
fn events_at_the_start_of_a_ring_state_what_the_file_does() {
    const MIB: i64 = 1 << 20;
    let (a, b) = (0x1000_0000, 0x2000_0000);
    for trace in [
        &[
            ("free_completed", a, 20),
            ("free_requested", b, 30),
            ("free_completed", b, 30),
        ][..],
        &[("free_completed", a, 20), ("free_completed", b, 30)],
        &[
            ("free_requested", a, 20),
            ("free_requested", b, 30),
            ("free_completed", a, 20),
            ("free_completed", b, 30),
        ],
        &[("free_requested", a, 20), ("free_completed", a, 20), ("alloc", a, 10)],
        &[
            ("segment_free", a, 20),
            ("segment_free", b, 30),
            ("segment_free", 0x3000_0000, 40),
        ],
        &[("segment_unmap", a, 20), ("segment_unmap", b, 40)],
        &[("alloc", a, 20), ("free_requested", a, 20), ("free_completed", a, 20)],
    ] {
        let events = trace
            .iter()
            .map(|(action, address, mib)| event(action, *address, mib * MIB, None));
        // A long trace releases its rows on the way.
        let rest = (0..20_000).map(|_| event("snapshot", 0, 0, None));
        let bytes = pickle(&snapshot_of(Vec::new(), vec![events.chain(rest).collect()]), 4);
        let (recordings, _) = read(&bytes).expect("a snapshot");
        assert_eq!(recordings[0].check(), Ok(()), "{trace:?}");
        let n_events = u32::try_from(trace.len()).expect("few");
        let found = recordings[0].events_in(0..n_events);
        let facts = found
            .iter()
            .map(|event| (event.action.name(), event.address, event.bytes));
        let facts: Vec<_> = facts.collect();
        let stated = trace.iter().map(|(action, address, mib)| {
            let bytes = u64::try_from(mib * MIB).expect("positive");
            (
                *action,
                Some(u64::try_from(*address).expect("positive")),
                Some(Bytes(bytes)),
            )
        });
        assert_eq!(facts, stated.collect::<Vec<_>>());
    }
}

fn kinds_of_freed(kind_of_the_last: &str) -> Vec<(u64, String)> {
    const MIB: i64 = 1 << 20;
    let trace = vec![
        // What the first event ends is gone after it.
        event("segment_free", 0x5000_0000, 2 * MIB, None),
        event("segment_free", 0x1000_0000, 2 * MIB, None),
        event("segment_free", 0x2000_0000, 24 * MIB, None),
        event("segment_free", 0x3000_0000, 3 * MIB, None),
    ];
    let last = segment(0x4000_0000, 2 * MIB, kind_of_the_last, Vec::new());
    let (recordings, diagnostics) = read(&pickle(&snapshot_of(vec![last], vec![trace]), 4)).expect("a snapshot");
    let told = messages(&diagnostics).contains("does not state its kind: its size tells it");
    assert_eq!(told, kind_of_the_last == "small");
    let regions = recordings[0].regions.iter();
    let freed = regions.filter(|region| region.address < 0x4000_0000);
    freed
        .map(|region| (region.address >> 28, recordings[0].text(region.kind).to_owned()))
        .collect()
}

#[test]
fn the_kind_of_a_freed_segment_is_told_by_its_size_or_not_at_all() {
    let of = |kinds: [&str; 3]| (1_u64..).zip(kinds.map(str::to_owned)).collect::<Vec<_>>();
    assert_eq!(kinds_of_freed("small"), of(["small", "large", "unknown"]));
    // Segments at the end that are cut in another way: the rule is not that of this allocator.
    assert_eq!(kinds_of_freed("large"), of(["unknown", "unknown", "unknown"]));
}

#[test]
fn events_state_the_private_pool_of_a_freed_segment() {
    let with_pool = |key: &'static str, pool: [i64; 2]| {
        let first = event("segment_alloc", 0x2000_0000, 2 << 20, None);
        let mut freed = event("segment_free", 0x1000_0000, 2 << 20, None);
        let Py::Dict(pairs) = &mut freed else { panic!("a dict") };
        pairs.push((key, Py::List(pool.map(Py::from).to_vec())));
        let (recordings, diagnostics) =
            read(&pickle(&snapshot_of(Vec::new(), vec![vec![first, freed]]), 4)).expect("a snapshot");
        assert!(!messages(&diagnostics).contains(key), "{}", messages(&diagnostics));
        let freed = recordings[0]
            .regions
            .iter()
            .find(|region| region.address == 0x1000_0000);
        let region = freed.expect("it was there before");
        recordings[0].segment_kind(region.kind).1.map(str::to_owned)
    };
    for (pool, expected) in [([0, 4], Some("(0, 4)")), ([3, 0], Some("(3, 0)")), ([0, 0], None)] {
        for key in ["pool_id", "segment_pool_id"] {
            assert_eq!(with_pool(key, pool).as_deref(), expected, "{key} {pool:?}");
        }
    }
}

#[test]
fn a_pickle_of_tiny_dicts_takes_no_more_than_the_file_allows() {
    let mut bytes = b"\x80\x04](".to_vec();
    bytes.extend(b"}(K\x01K\x02u".repeat(1 << 20));
    bytes.extend(b"e.");
    assert!(refused(&bytes).contains("more"), "{}", refused(&bytes));
}

#[test]
fn bytes_behind_the_end_are_told() {
    let mut bytes = synthetic(3, 2);
    let (_, clean) = read(&bytes).expect("whole");
    assert!(!messages(&clean).contains("behind the end"));
    bytes.extend(b"more of it");
    let (recordings, told) = read(&bytes).expect("whole");
    assert_eq!(recordings.len(), 1);
    assert!(
        messages(&told).contains("behind the end of the snapshot"),
        "{}",
        messages(&told)
    );
}

#[test]
fn a_block_without_the_bytes_asked_for_contradicts_nothing_that_fits_in_it() {
    let bare = |address: i64, size: i64| {
        Py::Dict(vec![
            ("address", address.into()),
            ("size", size.into()),
            ("state", "active_allocated".into()),
        ])
    };
    let said = |size: i64| {
        let trace = vec![event("alloc", 0x1000, size, None)];
        let segments = vec![segment(0x1000, 512, "small", vec![bare(0x1000, 512)])];
        let (_, diagnostics) = read(&pickle(&snapshot_of(segments, vec![trace]), 4)).expect("a snapshot");
        messages(&diagnostics)
    };
    assert!(!said(500).contains("the size of an allocation"), "{}", said(500));
    assert!(
        said(600).contains("the size of an allocation is not that"),
        "{}",
        said(600)
    );
}

#[test]
fn a_time_out_of_order_leaves_the_others() {
    let times = |times: &[i64]| {
        let events = (0_i64..).zip(times);
        let trace = events.map(|(n, time)| event("alloc", 0x1000 * (n + 1), 8, Some(*time)));
        let snapshot = snapshot_of(Vec::new(), vec![trace.collect()]);
        let (recordings, diagnostics) = read(&pickle(&snapshot, 4)).expect("a snapshot");
        assert_eq!(recordings[0].check(), Ok(()));
        let times: Vec<u64> = recordings[0].times.iter().map(|time| time.0 / 1000).collect();
        (times, messages(&diagnostics))
    };
    let (found, said) = times(&[5, 6, 2, 7, 900, 8]);
    assert_eq!(found, [5, 6, 6, 7, 7, 8]);
    assert!(
        said.contains("out of order") && said.contains("x2 at device_traces[0][2, 4]"),
        "{said}"
    );
    assert_eq!(times(&[9, 1, 2, 3]).0, [1, 1, 2, 3]);
    let (found, said) = times(&[4, 3, 2, 1]);
    assert!(found.is_empty() && said.contains("only the order is kept"), "{said}");
}

#[test]
fn without_a_trace_nothing_is_older_than_it() {
    let segments = vec![segment(
        0x1000,
        512,
        "small",
        vec![block(0x1000, 512, 500, "active_allocated")],
    )];
    let (_, diagnostics) = read(&pickle(&snapshot_of(segments, Vec::new()), 4)).expect("a snapshot");
    let said = messages(&diagnostics);
    assert!(
        said.contains("no history: the snapshot holds the state at one moment") && !said.contains("older"),
        "{said}"
    );
}
