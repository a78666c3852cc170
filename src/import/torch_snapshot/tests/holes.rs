//! What a trace does not say: blocks that appear, segments that are freed without a kind.

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

fn kinds_of_freed(kind_of_the_last: &str) -> Vec<(u64, String)> {
    const MIB: i64 = 1 << 20;
    let trace = vec![
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
        messages(&told).contains("behind the end of the pickle"),
        "{}",
        messages(&told)
    );
}
