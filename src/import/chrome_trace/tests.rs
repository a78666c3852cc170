//! Small traces written by hand.

use std::sync::Arc;

use super::*;
use crate::test_help::recordings;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{MarkKind, RecordedMemory, Recording, TotalKind};

fn read(text: &str) -> Result<(Vec<Arc<Recording>>, Diagnostics), ImportError> {
    recordings(import, "test.json", text.as_bytes())
}

fn memory(ts: &str, address: u64, bytes: i64, device: (i64, i64)) -> String {
    format!(
        r#"{{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 2, "ts": {ts},
        "args": {{"Total Reserved": 0, "Total Allocated": {}, "Bytes": {bytes}, "Device Id": {}, "Device Type": {}, "Addr": {address}}}}}"#,
        bytes.unsigned_abs(),
        device.1,
        device.0
    )
}

fn op(name: &str, ts: &str, dur: &str) -> String {
    format!(
        r#"{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":2,"ts":{ts},"dur":{dur},"args":{{"Input Dims":[[1,[2]]]}}}}"#
    )
}

fn small() -> String {
    let cpu = (0, -1);
    let cuda = (1, 0);
    let events = [
        // Not sorted by time.
        memory("4384110449279.001", 7, -100, cpu),
        op("aten::conv2d", "4384110449270.000", "8.700"),
        op("aten::_convolution", "4384110449271.5", "7.19"),
        op("aten::relu", "4384110449279", "2"),
        memory("4384110449278.678", 7, 100, cpu),
        memory("4384110449278.679", 8, 50, cuda),
        memory("4384110449290", 9, -5, cpu),
        memory("4384110449291", 10, 1, cpu),
        r#"{"ph":"i","name":"[OutOfMemory]","pid":1,"tid":2,"ts":4384110449280,"args":{"Bytes":77,"Device Id":-1,"Device Type":0}}"#
            .to_owned(),
        r#"{"ph":"i","name":"[memory]","ts":"soon","args":{"Addr":1,"Bytes":2}}"#.to_owned(),
        r#"{"ph":"M","name":"process_name","args":"odd","ts":null}"#.to_owned(),
        "{}".to_owned(),
    ];
    events.join(",\n")
}

#[test]
fn blocks_have_exact_times_and_the_innermost_op() {
    let (recordings, diagnostics) = read(&format!(
        r#"{{"schemaVersion":1,"traceEvents":[{}],"traceName":"x"}}"#,
        small()
    ))
    .expect("a trace");
    let names: Vec<&str> = recordings.iter().map(|recording| recording.name.as_str()).collect();
    assert_eq!(names, ["CPU", "CUDA:0"]);
    let cpu = &recordings[0];
    assert_eq!(cpu.check(), Ok(()));
    assert_eq!(cpu.n_steps, 4);
    let expected = [Nanos(4_384_110_449_278_678), Nanos(4_384_110_449_279_001)];
    assert!(cpu.times.iter().take(2).eq(expected));
    let rows: Vec<_> = cpu
        .blocks
        .iter()
        .map(|block| (block.birth.0, block.end.0, block.bytes.get(), cpu.text(block.name)))
        .collect();
    assert_eq!(
        rows,
        [
            (0, 2, 5, "block"),
            (0, 1, 100, "aten::_convolution"),
            (3, 4, 1, "block")
        ]
    );
    assert!(cpu.blocks[0].is_older && cpu.blocks[0].is_freed && !cpu.blocks[2].is_freed);
    let total = cpu.total(TotalKind::Allocated).expect("a curve");
    assert_eq!(total.samples[0], (Step(0), Bytes(100)));
    assert!(cpu.total(TotalKind::Reserved).is_none());
    assert_eq!(
        (cpu.marks[0].step, cpu.marks[0].kind, cpu.marks[0].bytes),
        (Step(2), MarkKind::OutOfMemory, Bytes(77))
    );
    assert_eq!(cpu.text(cpu.marks[0].text), "aten::relu");
    assert_eq!(recordings[1].text(recordings[1].blocks[0].name), "aten::_convolution");
    let said: Vec<_> = diagnostics
        .entries()
        .iter()
        .map(|entry| (entry.count, entry.place.as_str()))
        .collect();
    // The totals of these events contradict their sum.
    assert_eq!(said, [(1, "event 9"), (1, "CPU"), (1, "CPU")]);
}

/// Totals that differ from the sum of the events by a constant tell what was allocated before the trace, by device.
#[test]
fn what_was_allocated_before_counts_from_the_first_step() {
    let event = |ts: &str, address: u64, bytes: i64, allocated: u64, device: (i64, i64)| {
        let text = memory(ts, address, bytes, device);
        text.replace(
            &format!("\"Total Allocated\": {}", bytes.unsigned_abs()),
            &format!("\"Total Allocated\": {allocated}"),
        )
    };
    let (cuda, other) = ((1, 0), (1, 1));
    let constant = [
        event("1.0", 7, 100, 1100, cuda),
        // A block from before the trace.
        event("2.0", 9, -300, 800, cuda),
        event("3.0", 7, -100, 700, cuda),
        // Nothing was there before.
        event("3.0", 7, 50, 50, other),
    ];
    let (recordings, diagnostics) = read(&format!("[{}]", constant.join(","))).expect("a trace");
    let older = |recording: &Recording| -> Vec<(u32, u32, u64, bool)> {
        let older = recording.blocks.iter().filter(|block| block.is_older);
        let rows = older.map(|block| (block.birth.0, block.end.0, block.bytes.get(), block.is_freed));
        rows.collect()
    };
    assert_eq!(older(&recordings[0]), [(0, 1, 300, true), (0, 3, 700, false)]);
    assert_eq!(recordings[0].peaks().live, (Bytes(1100), Some(Step(0))));
    assert!(older(&recordings[1]).is_empty());
    let texts: Vec<&str> = diagnostics
        .entries()
        .iter()
        .map(|entry| entry.message.as_str())
        .collect();
    assert!(
        texts
            .iter()
            .any(|text| text.contains("700\u{a0}B were allocated before the trace")),
        "{texts:?}"
    );
    let changing = [event("1.0", 7, 100, 1100, cuda), event("2.0", 8, 100, 1300, cuda)];
    let (recordings, diagnostics) = read(&format!("[{}]", changing.join(","))).expect("a trace");
    assert!(older(&recordings[0]).is_empty());
    let texts: Vec<&str> = diagnostics
        .entries()
        .iter()
        .map(|entry| entry.message.as_str())
        .collect();
    assert!(texts.iter().any(|text| text.contains("by 1000 to 1100 B")), "{texts:?}");
}

#[test]
fn bare_lists_are_read_also_without_their_end() {
    let whole = format!("[{}]", small());
    let (recordings, _) = read(&whole).expect("a trace");
    let (open, diagnostics) = read(&whole[..whole.len() - 1]).expect("a trace");
    assert_eq!(recordings[0].blocks, open[0].blocks);
    assert!(diagnostics.entries()[0].message.contains("no end"));
}

#[test]
fn what_is_missing_or_damaged_is_told() {
    for (text, expected) in [
        (format!("[{}]", op("a", "1", "2")), "profile_memory=True"),
        ("{\"traceEvents\": [".to_owned(), "cut off"),
        ("{\"traceEvents\": [}".to_owned(), "not JSON"),
        ("{\"traceEvents\": [3]}".to_owned(), "line 1"),
        (format!("[{}] x", small()), "not JSON"),
    ] {
        let error = read(&text).map(|_| ()).expect_err(&text).to_string();
        assert!(error.contains(expected), "{text}\n{error}");
    }
}

#[test]
fn a_large_trace_without_memory_events_is_recognised_without_reading_it_as_json() {
    let op = "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 1, \"ts\": 1.5, \"dur\": 2.5},\n";
    let memory = "{\"ph\": \"i\", \"name\": \"[memory]\", \"pid\": 1, \"tid\": 1, \"ts\": 2.5, \"args\": {\"Addr\": 94, \"Bytes\": 512}},\n";
    let events = op.repeat((5 << 20) / 2 / op.len());
    let trace = |events: &str| {
        format!(
            "{{\"schemaVersion\": 1, \"traceEvents\": [{events}{}]}}",
            op.trim_end().trim_end_matches(',')
        )
    };
    // The end is no JSON: it is never reached.
    let text = trace(&events).replace("]}", "]?");
    let error = read(&text).map(|_| ()).expect_err("no memory events").to_string();
    assert!(
        error.contains("no [memory] events") && error.contains("profile_memory=True"),
        "{error}"
    );
    let behind_all_ops = trace(&(events + memory));
    assert!(read(&behind_all_ops).is_ok());
}

#[test]
fn user_annotations_are_phases_and_the_device_states_its_memory() {
    let annotation = |name: &str, ts: &str, dur: &str| op(name, ts, dur).replace("cpu_op", "user_annotation");
    let events = [
        annotation("ProfilerStep#1", "1.0", "4.0"),
        annotation("ProfilerStep#2", "5.0", "9.0"),
        annotation("Optimizer.step#SGD.step", "6.5", "1.0"),
        // Contains no event of memory.
        annotation("forward", "2.1", "0.1"),
        memory("2.0", 16, 100, (1, 1)),
        memory("3.0", 16, -100, (1, 1)),
        memory("7.0", 16, 100, (1, 1)),
        memory("8.0", 99, 100, (0, -1)),
    ];
    let text = format!(
        r#"{{"deviceProperties": [{{"id": 0, "totalGlobalMem": 7}}, {{"id": 1, "name": "A", "totalGlobalMem": 85899345920}}],
            "traceEvents": [{}]}}"#,
        events.join(",")
    );
    let (recordings, _) = read(&text).expect("a trace");
    let cuda = &recordings[1];
    assert_eq!(cuda.check(), Ok(()));
    let phases = cuda.phases.iter();
    let phases: Vec<_> = phases
        .map(|one| (cuda.text(one.name), one.start.0, one.end.0))
        .collect();
    assert_eq!(
        phases,
        [
            ("ProfilerStep#1", 0, 2),
            ("ProfilerStep#2", 2, 3),
            ("Optimizer.step#SGD.step", 2, 3)
        ]
    );
    assert_eq!(cuda.step_marks().len(), 2);
    let stated = RecordedMemory {
        bytes: Bytes(85_899_345_920),
        is_lower_bound: false,
    };
    assert_eq!((cuda.device_memory, recordings[0].device_memory), (Some(stated), None));
}
