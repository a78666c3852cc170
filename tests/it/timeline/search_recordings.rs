//! Queries over several recordings: what matches in which lane, and the way from match to match through all lanes.

use highwater::progress::{Cancel, Progress};
use highwater::timeline::{Matches, Query, Selected, Timeline};
use highwater::units::{Bytes, Nanos, Step};
use highwater::workload::{
    BlockAddress, CallSites, FrameRules, RecordedBlock, RecordedFrame, RecordedNames, RecordedRegion, Recording,
    StackIdx, pooled_kind,
};

use super::flame::comparison_of;

/// Birth, end, bytes, stack, address, stream.
type Row = (u32, u32, u64, u32, u64, u64);

/// Two call sites, `forward` and `loss`, both called by `main`.
fn recording(name: &str, first_time: u64, rows: &[Row]) -> Recording {
    let mut names = RecordedNames::default();
    let block_name = names.intern("block");
    let frames = [
        ("forward", "/run/model.py", 24),
        ("loss", "/run/loss.py", 9),
        ("main", "/run/train.py", 72),
    ];
    let frames = frames.map(|(function, file, line)| RecordedFrame {
        function: names.intern(function),
        file: names.intern(file),
        line,
    });
    let block = |row: &Row| RecordedBlock {
        stack: StackIdx::new(row.3),
        address: BlockAddress::new(row.4),
        stream: row.5,
        is_freed: true,
        ..RecordedBlock::new(block_name, Step(row.0), Step(row.1), Bytes(row.2))
    };
    let region = |(address, kind): (u64, &str), names: &mut RecordedNames| RecordedRegion {
        kind: names.intern(kind),
        address,
        bytes: Bytes(0x1000),
        birth: Step(0),
        end: Step(4),
        stream: 0,
        is_older: false,
    };
    let private = pooled_kind("large", (0, 4));
    let regions = [(0x1000, "small"), (0x2000, &*private), (0x3000, "large")];
    let regions = regions.map(|one| region(one, &mut names)).to_vec();
    let mut recording = Recording {
        regions,
        name: name.to_owned(),
        n_steps: 4,
        times: (0..4).map(|event| Nanos((first_time + event * 10) * 1000)).collect(),
        blocks: rows.iter().map(block).collect(),
        frames: frames.to_vec(),
        stacks: vec![[0, 2].into(), [1, 2].into()],
        names: names.finish(),
        ..Recording::default()
    };
    assert_eq!(recording.check(), Ok(()));
    recording.call_sites = CallSites::new(&recording, &FrameRules::default());
    recording
}

/// Matches as `lane.block`, in order.
fn found(matches: &Matches, all: &[(usize, Selected)]) -> String {
    let holding = all.iter().filter(|(_, tensor)| matches.contains(*tensor));
    let texts = holding.map(|(lane, tensor)| format!("{lane}.{}", tensor.tensor.0));
    texts.collect::<Vec<_>>().join(" ")
}

#[test]
fn all_lanes_are_searched_and_walked_through() {
    let comparison = comparison_of(vec![
        recording("a", 0, &[(0, 4, 100, 0, 0x1000, 0), (1, 3, 200, 1, 0x2000, 7)]),
        recording("b", 5, &[(0, 2, 100, 1, 0x1000, 0), (2, 4, 300, 0, 0x3000, 7)]),
    ]);
    assert!(comparison.has_common_axis());
    let timeline = Timeline::new(&comparison);
    let rows_of = |lane: usize| timeline.rows_of(lane).iter().map(move |row| (lane, row.tensor));
    let all: Vec<(usize, Selected)> = (0..2).flat_map(rows_of).collect();
    for (text, wanted, bytes) in [
        ("loss", "0.1 1.0", 300),
        ("at:model.py:24", "0.0 1.1", 400),
        ("at:/run/model.py:24", "0.0 1.1", 400),
        ("at:model.py:2", "", 0),
        ("at:train.py:72", "", 0),
        ("stack:train.py:72", "0.0 0.1 1.0 1.1", 700),
        ("stack:main -stack:loss", "0.0 1.1", 400),
        ("train.py:72", "0.0 0.1 1.0 1.1", 700),
        ("72", "", 0),
        ("stream:7", "0.1 1.1", 500),
        ("address:0x2000..0x3000", "0.1 1.1", 500),
        ("address:0x1063", "0.0 1.0", 200),
        ("address:0x1064", "", 0),
        ("pool:large", "0.1 1.1", 500),
        ("pool:\"(0, 4)\"", "0.1", 200),
        ("pool:small size:100", "0.0 1.0", 200),
        ("live:1", "0.0 0.1 1.0", 400),
        ("live:3", "0.0 1.1", 400),
        ("size:100", "0.0 1.0", 200),
        ("lane:2 address:0x1000", "1.0", 100),
    ] {
        let query = Query::parse(text).expect(text);
        let matches = query.matches(&comparison, &timeline, 1, &Progress::silent(&Cancel::new()));
        let matches = matches.expect("no cancel");
        assert_eq!(found(&matches, &all), wanted, "{text}");
        let n_found = wanted.split_whitespace().count();
        assert_eq!(
            (matches.len(), matches.bytes(), matches.n_rows()),
            (n_found, Bytes(bytes), 4),
            "{text}"
        );
        walk(&matches, &all, text);
    }
}

/// From the lane that was asked first through all lanes and round, both ways.
#[track_caller]
fn walk(matches: &Matches, all: &[(usize, Selected)], text: &str) {
    let inside: Vec<(usize, Selected)> = all.iter().copied().filter(|one| matches.contains(one.1)).collect();
    let first = inside.iter().position(|(lane, _)| *lane == 1).unwrap_or(0);
    let mut at = None;
    for ahead in 0..inside.len() * 2 {
        let next = matches.neighbour(at, true).expect("a match");
        let place = (first + ahead) % inside.len();
        assert_eq!((next.lane, next.row.tensor), inside[place], "{text}");
        assert_eq!(matches.position(next.row.tensor), Some(place), "{text}");
        let back = matches.neighbour(Some(next.row.tensor), false).expect("a match");
        let before = (place + inside.len() - 1) % inside.len();
        assert_eq!((back.lane, back.row.tensor), inside[before], "{text}");
        at = Some(next.row.tensor);
    }
    assert_eq!(matches.neighbour(None, true).is_none(), inside.is_empty(), "{text}");
}
