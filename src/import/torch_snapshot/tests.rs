//! Small snapshots written by hand: results, refusals, and damage.

#[path = "../../../benches/pickle_writer.rs"]
mod pickle_writer;

use std::sync::Arc;

use super::*;
use crate::test_help::{messages, recordings};
use highwater_model::progress::Cancel;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{BlockAddress, MarkKind, Recording};
use pickle_writer::{Py, Writer, frame, segment, synthetic};

mod fast_path;
mod gaps;
mod host;
mod notes;
mod range;
mod texts;

fn read(bytes: &[u8]) -> Result<(Vec<Arc<Recording>>, Diagnostics), ImportError> {
    recordings(import, "test.pickle", bytes)
}

fn refused(bytes: &[u8]) -> String {
    read(bytes).map(|_| ()).expect_err("this is no snapshot").to_string()
}

fn pickle(value: &Py, protocol: u8) -> Vec<u8> {
    let mut writer = Writer::new(protocol);
    writer.value(value);
    writer.finish()
}

fn block(address: i64, size: i64, requested: i64, state: &str) -> Py {
    Py::Dict(vec![
        ("address", address.into()),
        ("size", size.into()),
        ("requested_size", requested.into()),
        ("state", state.into()),
        ("frames", Py::List(Vec::new())),
    ])
}

fn event(action: &str, address: i64, size: i64, time: Option<i64>) -> Py {
    let mut pairs = vec![
        ("action", action.into()),
        (if action == "oom" { "device_free" } else { "addr" }, address.into()),
        ("size", size.into()),
        ("stream", 7.into()),
    ];
    if let Some(time) = time {
        pairs.push(("time_us", time.into()));
    }
    Py::Dict(pairs)
}

fn snapshot_of(segments: Vec<Py>, traces: Vec<Vec<Py>>) -> Py {
    Py::Dict(vec![
        ("segments", Py::List(segments)),
        ("device_traces", Py::List(traces.into_iter().map(Py::List).collect())),
    ])
}

/// A segment that predates the trace, one that is allocated and one that is freed; blocks of every kind.
fn small() -> Py {
    let frames = || {
        Py::Shared(
            1,
            Box::new(Py::List(vec![
                frame("malloc", "??", 0),
                frame("_call_impl", "/site-packages/torch/nn/modules/module.py", 1518),
                frame("conv2d", "/site-packages/torch/nn/modules/conv.py", 458),
                frame("main", "/home/user/train.py", 3),
            ])),
        )
    };
    let with_frames = |mut event: Py| {
        if let Py::Dict(pairs) = &mut event {
            pairs.push(("frames", frames()));
            pairs.push(("compile_context", "3/0".into()));
        }
        event
    };
    let blocks = vec![
        block(0x1000, 512, 500, "active_allocated"),
        block(0x1200, 1024, 600, "active_allocated"),
        block(0x1600, 512, 512, "inactive"),
        block(0x1800, 512, 100, "active_pending_free"),
    ];
    let trace = vec![
        event("free_requested", 0x9000, 64, Some(10)),
        event("free_completed", 0x9000, 64, Some(10)),
        event("segment_free", 0x9000, 0x400, Some(11)),
        event("segment_alloc", 0x3000, 0x1000, Some(12)),
        with_frames(event("alloc", 0x3000, 4000, Some(13))),
        with_frames(event("alloc", 0x1200, 600, Some(14))),
        event("free_requested", 0x3000, 4000, Some(15)),
        event("oom", 99, 1 << 40, Some(16)),
        event("free_completed", 0x3000, 4000, Some(17)),
        event("free_requested", 0x1800, 100, Some(18)),
        event("snapshot", 0, 0, Some(19)),
    ];
    let mut all = snapshot_of(
        vec![
            segment(0x1000, 2560, "small", blocks),
            segment(0x3000, 0x1000, "large", vec![block(0x3000, 0x1000, 0, "inactive")]),
        ],
        vec![trace, Vec::new()],
    );
    if let Py::Dict(pairs) = &mut all {
        let inner = Py::Dict(vec![("1", 0.into()), ("2", 8.into())]);
        let settings = vec![
            ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:False".into()),
            ("max_split_size", (-1).into()),
            ("garbage_collection_threshold", Py::Float(0.5)),
            ("expandable_segments", Py::Bool(false)),
            ("roundup_power2_divisions", inner),
        ];
        pairs.push(("allocator_settings", Py::Dict(settings)));
        let note = |stage: &str, time: i64| {
            Py::Dict(vec![
                ("stage", stage.into()),
                ("name", "step".into()),
                ("device", 0.into()),
                ("time_us", time.into()),
            ])
        };
        pairs.push((
            "external_annotations",
            Py::List(vec![note("START", 12), note("END", 99)]),
        ));
    }
    all
}

#[test]
fn a_small_snapshot_is_read_whole_in_every_protocol() {
    for protocol in 2..=5 {
        let (recordings, diagnostics) = read(&pickle(&small(), protocol)).expect("a snapshot");
        assert_eq!(recordings.len(), 1);
        let recording = &recordings[0];
        assert_eq!(recording.check(), Ok(()));
        assert_eq!((recording.name.as_str(), recording.n_steps), ("device0", 11));
        assert!(recording.times.iter().take(2).eq([Nanos(10_000), Nanos(10_000)]));
        let of = |address: u64| {
            let mut blocks = recording.blocks.iter();
            *blocks
                .find(|block| block.address == BlockAddress::new(address))
                .expect("a block")
        };
        // Predates the trace, freed on the first event, which still holds it.
        let older = of(0x9000);
        assert_eq!((older.birth, older.freed_at, older.end), (Step(0), Step(1), Step(1)));
        assert_eq!((older.is_older, older.is_freed, older.bytes), (true, true, Bytes(64)));
        // Never mentioned: older and still there, with both sizes.
        let kept = of(0x1000);
        assert_eq!((kept.is_older, kept.is_freed, kept.end), (true, false, Step(11)));
        assert_eq!((kept.bytes, kept.held), (Bytes(500), Bytes(512)));
        let pending = of(0x1800);
        assert_eq!((pending.freed_at, pending.end), (Step(9), Step(11)));
        let seen = of(0x3000);
        assert_eq!((seen.birth, seen.freed_at, seen.end), (Step(4), Step(6), Step(8)));
        assert_eq!((seen.bytes, seen.held, seen.stream), (Bytes(4000), Bytes(4000), 7));
        assert_eq!(recording.block_name(&seen), "main (train.py:3)");
        let stack = &recording.stacks[seen.stack.expect("a stack").idx()];
        let lines: Vec<&str> = stack
            .iter()
            .map(|line| recording.text(recording.frames[*line as usize].function))
            .collect();
        assert_eq!(lines, ["malloc", "_call_impl", "conv2d", "main", "compile context"]);
        let last = of(0x1200);
        assert_eq!((last.is_freed, last.held, last.stack), (false, Bytes(1024), seen.stack));
        assert_eq!(recording.blocks.len(), 5);

        regions_marks_and_settings(recording);
        let said = messages(&diagnostics);
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains("older than the trace") && said.contains("x3"), "{said}");
    }
}

fn regions_marks_and_settings(recording: &Recording) {
    let regions: Vec<_> = recording
        .regions
        .iter()
        .map(|region| {
            (
                region.address,
                region.birth.0,
                region.end.0,
                recording.text(region.kind),
            )
        })
        .collect();
    assert_eq!(
        regions,
        [
            (0x1000, 0, 11, "small"),
            (0x9000, 0, 2, "unknown"),
            (0x3000, 3, 11, "large")
        ]
    );
    let marks: Vec<_> = recording
        .marks
        .iter()
        .map(|mark| (mark.step.0, mark.kind, recording.text(mark.text)))
        .collect();
    assert_eq!(
        marks,
        [
            (3, MarkKind::Note, "step begins"),
            (7, MarkKind::OutOfMemory, "99 bytes free on the device"),
            (10, MarkKind::Snapshot, ""),
            (10, MarkKind::Note, "step ends"),
        ]
    );
    let phases = recording.phases.iter();
    let phases: Vec<_> = phases
        .map(|one| (recording.text(one.name), one.start.0, one.end.0))
        .collect();
    assert_eq!(phases, [("step", 3, 11)], "the end is behind the last event");
    assert_eq!(recording.step_marks(), recording.phases);
    assert_eq!(recording.settings[1], ("max_split_size".to_owned(), "-1".to_owned()));
    assert_eq!(
        recording.settings[5],
        ("roundup_power2_divisions.2".to_owned(), "8".to_owned())
    );
}

#[test]
fn expandable_segments_are_regions_by_range() {
    let trace = vec![
        event("segment_map", 0x2000, 0x1000, None),
        event("alloc", 0x1800, 0x1000, None),
        event("free_completed", 0x1800, 0x1000, None),
        event("segment_unmap", 0x1800, 0x1000, None),
        event("segment_map", 0x1800, 0x400, None),
    ];
    let segments = vec![
        segment(0x1000, 0xc00, "expandable", Vec::new()),
        segment(0x2800, 0x800, "expandable", Vec::new()),
    ];
    let (recordings, diagnostics) = read(&pickle(&snapshot_of(segments, vec![trace]), 4)).expect("a snapshot");
    let regions: Vec<_> = recordings[0]
        .regions
        .iter()
        .map(|region| (region.address, region.bytes.get(), region.birth.0, region.end.0))
        .collect();
    assert_eq!(
        regions,
        [
            (0x1000, 0x800, 0, 5),
            (0x1800, 0x800, 0, 3),
            (0x2000, 0x800, 0, 3),
            (0x2800, 0x800, 0, 5),
            (0x1800, 0x400, 4, 5),
        ]
    );
    drop(diagnostics);
}

#[test]
fn what_does_not_fit_is_counted() {
    let trace = vec![
        event("alloc", 0x1000, 10, Some(5)),
        event("alloc", 0x1000, 20, Some(4)),
        event("free_completed", 0x1000, 21, Some(6)),
        event("alloc", 0x8000, 8, Some(7)),
        event("free_completed", 0x8000, 8, Some(8)),
        event("dance", 1, 1, Some(9)),
        event("alloc", -1, 1, Some(9)),
        event("alloc", 0x1100, -5, Some(9)),
        event("segment_map", 0x7000, 0x100, Some(9)),
        Py::Nothing,
    ];
    let blocks = vec![
        block(0x1000, 256, 256, "active_allocated"),
        block(0x8000, 256, 256, "active_allocated"),
    ];
    let segments = vec![segment(0x1000, 4096, "large", blocks)];
    let (recordings, diagnostics) = read(&pickle(&snapshot_of(segments, vec![trace]), 4)).expect("a snapshot");
    assert_eq!(recordings[0].check(), Ok(()));
    let said = messages(&diagnostics);
    for expected in [
        "no event and is left out x1",
        "no address or size that can be read and is left out x2",
        "an action that is not known; it is shown as a note x1",
        "neither freed in the trace nor live at the end",
        "is live although the trace frees its address",
        "not that of its free",
        "outside every segment x1",
        "is unmapped nowhere",
        "do not add up to its size x1",
        "the time of an event is out of order",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    // The vanished block ends where its address is given away again.
    let first = recordings[0].blocks.iter().find(|block| block.bytes == Bytes(10));
    let first = first.expect("the block");
    assert_eq!((first.birth, first.end, first.is_freed), (Step(0), Step(1), false));
}

#[test]
fn segments_without_a_trace_are_held_from_the_start() {
    let blocks = vec![block(0x1000, 512, 500, "active_allocated")];
    let segments = Py::List(vec![segment(0x1000, 512, "small", blocks)]);
    for whole in [snapshot_of(vec![], vec![vec![], vec![]]), segments] {
        let (recordings, diagnostics) = read(&pickle(&whole, 4)).expect("a snapshot");
        assert_eq!((recordings.len(), recordings[0].n_steps), (1, 1));
        let is_empty = recordings[0].blocks.is_empty();
        assert_eq!(is_empty, messages(&diagnostics).contains("_record_memory_history"));
    }
}

#[test]
fn protocol_0_and_its_text_forms_are_read() {
    let text = "(dp0\nVsegments\np1\n(lp2\n(dp3\nVaddress\np4\nL4096L\nsVtotal_size\nI512\nsVblocks\n(l(dVsize\nI512\nsS'state'\n\
                Vactive\\u005fallocated\nsasVis_expandable\nI01\nsasVdevice_traces\n(l(l(dVaction\nValloc\nsVaddr\nL4096\nsVsize\nI500\nsaas.";
    let mut input = Input::from_bytes("old.pickle", text.as_bytes()).expect("memory can be read");
    assert!(detect(&input));
    let cancel = Cancel::new();
    let mut diagnostics = Diagnostics::new();
    let Ok(Source::Recordings(recordings)) = import(&mut input, &Progress::silent(&cancel), &mut diagnostics) else {
        panic!("a snapshot")
    };
    let block = recordings[0].blocks[0];
    assert_eq!(
        (block.bytes, block.held, block.is_older),
        (Bytes(500), Bytes(512), false)
    );
    assert_eq!(recordings[0].text(recordings[0].regions[0].kind), "expandable");
}

#[test]
fn nothing_is_ever_imported() {
    for (bytes, expected) in [
        (&b"\x80\x02cos\nsystem\n."[..], "import os.system at byte 2"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "import os.system at byte 14"),
        (b"(ios\nsystem\n.", "import os.system at byte 1"),
        (b"\x80\x02NN\x81.", "call a function or to build an object at byte 4"),
        (b"\x80\x02)R.", "call a function"),
        (b"\x80\x02}b.", "build an object"),
        (b"\x80\x02NNo.", "build an object"),
        (b"\x80\x02\x82\x01.", "extension"),
        (b"Pid\n.", "outside"),
        (b"\x80\x02NQ.", "outside"),
        (b"\x80\x05\x97.", "buffer"),
    ] {
        let error = refused(bytes);
        assert!(
            error.contains(expected) && error.contains("nothing of it was run"),
            "{error}"
        );
    }
}

#[test]
fn hostile_pickles_are_refused() {
    let nested = [&b"\x80\x04"[..], &b"(".repeat(1 << 20), b"."].concat();
    let lists = [&b"\x80\x04"[..], &b"]0".repeat(1 << 20), b"."].concat();
    let memo = [&b"\x80\x04N"[..], &b"\x94".repeat(1 << 20), b"."].concat();
    for (bytes, expected) in [
        (&b"\x80\x04"[..], "ends at byte 2"),
        (b"\x80\x04.", "takes a value where there is none at byte 2"),
        (b"\x80\x040.", "where there is none"),
        (b"\x80\x04u.", "looks for a mark"),
        (b"\x80\x04}(Nu.", "a key without a value"),
        (b"\x80\x04]NNs.", "no dict"),
        (b"\x80\x04N]s.", "takes a value"),
        (b"\x80\x04N(Ne.", "no list"),
        (b"\x80\x04\x86.", "more values than there are"),
        (b"\x80\x04h\x05.", "place 5 of the memo is empty"),
        (b"\x80\x04Nr\xff\xff\xff\xff.", "beyond the size of the file"),
        (
            b"\x80\x04\x8d\0\0\0\0\0\0\0\x10aa.",
            "in the middle of 1\u{a0}152\u{a0}921\u{a0}504\u{a0}606\u{a0}846\u{a0}976 bytes that begin at",
        ),
        (b"\x80\x04\x8b\xff\xff\xff\xff.", "negative length"),
        (b"\x80\x09N.", "protocol 9"),
        (b"\x80\x04\xff.", "0xff is no opcode"),
        (b"\x80\x04N.", "no memory snapshot"),
        (b"\x80\x04}.", "no memory snapshot"),
        (b"(Ixyz\n.", "cannot be read"),
        (&nested, "nested deeper"),
        (&lists, "more lists, dicts and texts"),
        (&memo, "beyond the size of the file"),
    ] {
        let error = refused(bytes);
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}

#[test]
fn lists_that_are_shared_or_hold_themselves_are_not_followed() {
    // A list of itself as segments and as traces.
    let own = b"\x80\x04}(\x8c\x08segments]\x94h\x00a\x8c\x0ddevice_tracesh\x00u.";
    let (recordings, _) = read(own).expect("a snapshot of nothing");
    assert_eq!(recordings.len(), 1);
    // One trace with one event, listed a thousand times over.
    let mut bomb = b"\x80\x04}(\x8c\x0ddevice_traces]\x94(](}\x94(\x8c\x06action\x8c\x05allocu".to_vec();
    bomb.extend(b"h\x01".repeat(3000));
    bomb.extend(b"e\x94");
    bomb.extend(b"h\x02".repeat(3000));
    bomb.extend(b"eu.");
    assert!(refused(&bomb).contains("more often than they were written"));
}

#[test]
fn long_stacks_are_cut_and_too_many_devices_refused() {
    let lines: Vec<Py> = (0..5000).map(|line| frame("deep", "deep.py", line)).collect();
    let mut alloc = event("alloc", 1, 1, None);
    if let Py::Dict(pairs) = &mut alloc {
        pairs.push(("frames", Py::List(lines)));
    }
    let (recordings, diagnostics) = read(&pickle(&snapshot_of(vec![], vec![vec![alloc]]), 4)).expect("a snapshot");
    assert_eq!(recordings[0].stacks[0].len(), 4096);
    assert_eq!(recordings[0].block_name(&recordings[0].blocks[0]), "deep (deep.py)");
    assert!(messages(&diagnostics).contains("only the innermost are kept x1"));
    let many = vec![vec![event("alloc", 1, 1, None)]; 300];
    assert!(refused(&pickle(&snapshot_of(vec![], many), 4)).contains("300 devices"));
}

#[test]
fn numbers_beyond_every_device_are_no_sizes() {
    let mut pickle =
        b"\x80\x04}(\x8c\x0ddevice_traces](](}(\x8c\x06action\x8c\x05alloc\x8c\x04addrK\x01\x8c\x04size".to_vec();
    let front = pickle.clone();
    for size in [
        &b"\x8a\x09\0\0\0\0\0\0\0\0\x01"[..],
        b"\x8b\x20\0\0\0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        b"G\0\0\0\0\0\0\0\0",
        b"N",
        b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x80",
    ] {
        pickle.clone_from(&front);
        pickle.extend(size);
        pickle.extend(b"ueeu.");
        let (recordings, diagnostics) = read(&pickle).expect("a snapshot");
        assert!(recordings[0].blocks.is_empty());
        assert!(messages(&diagnostics).contains("no address or size"));
    }
}

#[test]
fn cut_off_pickles_name_the_byte() {
    let whole = pickle(&small(), 4);
    for len in 3..whole.len() {
        let error = refused(&whole[..len]);
        assert!(error.contains(&format!("byte {len}")), "{len}: {error}");
    }
}

#[test]
fn many_events_are_read_in_batches() {
    let (recordings, diagnostics) = read(&synthetic(3000, 5)).expect("a snapshot");
    let recording = &recordings[0];
    assert_eq!((recording.n_steps, recording.blocks.len()), (6000, 3000));
    assert!(recording.blocks.iter().all(|block| block.is_freed && !block.is_older));
    assert_eq!(recording.stacks.len(), 200);
    assert!(recording.peaks().seen.0 > Bytes(0));
    assert_eq!(
        messages(&diagnostics),
        "the blocks of a segment do not add up to its size x1 at segments of device 0\n"
    );
}

#[test]
fn blocks_that_do_not_say_what_was_asked_for_are_told() {
    let unsaid = Py::Dict(vec![
        ("address", 1536.into()),
        ("size", 512.into()),
        ("state", "active_allocated".into()),
        ("frames", Py::List(Vec::new())),
    ]);
    let blocks = vec![block(1024, 512, 500, "active_allocated"), unsaid];
    let whole = Py::Dict(vec![
        ("segments", Py::List(vec![segment(1024, 1024, "small", blocks)])),
        ("device_traces", Py::List(Vec::new())),
    ]);
    let (recordings, diagnostics) = read(&pickle(&whole, 4)).expect("a snapshot");
    assert_eq!(recordings[0].peaks().live.0, Bytes(1012));
    let told = messages(&diagnostics);
    assert!(
        told.contains("no requested_size") && told.contains("rounding included"),
        "{told}"
    );
    assert!(told.contains("x1 at device 0"), "{told}");
}
