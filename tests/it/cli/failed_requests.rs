//! Failed requests of recordings in `inspect`, `peak`, `compare`, the report and exported events: the same facts everywhere.

use serde_json::{Value as Json, json as value};
use tempfile::NamedTempFile;

use super::explain::{MIB, failed_run};
use super::{json, text_of, told};
use crate::snapshots::{block, called_from, event, file, segment, snapshot};

fn path(file: &NamedTempFile) -> &str {
    file.path().to_str().expect("text")
}

fn plain(text: &str) -> String {
    text.replace(['\u{a0}', '\u{2009}', '\u{202f}'], " ")
}

/// The event of the failed request of [`failed_run`].
const EVENT: u64 = 19;

#[test]
fn every_answer_tells_the_same_of_a_failed_request() {
    let file = failed_run(180);
    let inspected = json(&["inspect", path(&file), "--format", "json"], 0);
    let failed = &inspected["failed_requests"][0];
    let event = EVENT.to_string();
    for (key, wanted) in [
        ("event", value!(EVENT)),
        ("step", value!(EVENT)),
        ("requested_bytes", value!(180 * MIB)),
        ("line", value!("train.py:30")),
        ("call_site", value!("forward (train.py:30)")),
        ("stack", value!(["/home/user/train.py:30 forward"])),
        ("device_free_bytes", value!(50 * MIB)),
        ("largest_free_bytes", value!(120 * MIB)),
        ("reserved_bytes", value!(550 * MIB)),
        ("live_bytes", value!(232 * MIB)),
        ("live_blocks", value!(4)),
        ("device_at_least_bytes", value!(600 * MIB)),
        ("outside_allocator_bytes", Json::Null),
        ("served", value!("yes")),
    ] {
        assert_eq!(failed[key], wanted, "{key}: {failed}");
    }
    assert_eq!(failed["pools"][0]["pool"], "default pool");
    assert_eq!(failed["pools"][0]["kind"], "large");
    assert_eq!(failed["pools"][0]["reserved_bytes"], 550 * MIB);
    assert_eq!(
        failed["call_sites"][0],
        value!({"call_site": "keep (train.py:7)", "blocks": 4, "bytes": 232 * MIB})
    );
    assert_eq!(
        failed["settings"][0]["setting"],
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
    );
    let peak = json(&["peak", path(&file), "--format", "json"], 0);
    let at_event = json(&["peak", path(&file), "--step", &event, "--format", "json"], 0);
    let compared = json(&["compare", path(&file), "--format", "json"], 0);
    for other in [
        &peak["failed_requests"],
        &at_event["failed_requests"],
        &compared["measured"][0]["failed_requests"],
    ] {
        assert_eq!(other, &inspected["failed_requests"]);
    }
    let elsewhere = json(&["peak", path(&file), "--step", "3", "--format", "json"], 0);
    assert!(elsewhere.get("failed_requests").is_none(), "{elsewhere}");
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.html");
    text_of(&["export", path(&file), "--to", report.to_str().expect("text")], 0);
    let report = std::fs::read_to_string(&report).expect("a report");
    let texts = [
        text_of(&["inspect", path(&file)], 0),
        text_of(&["peak", path(&file)], 0),
        text_of(&["peak", path(&file), "--step", &event], 0),
        text_of(&["compare", path(&file)], 0),
        text_of(&["compare", path(&file), "--format", "markdown"], 0),
        report,
    ];
    for text in texts {
        // Markdown escapes underscores.
        let text = plain(&text).replace('\\', "");
        for words in [
            "failed request at event 19",
            "forward (train.py:30)",
            "the device has at least 600.0 MiB (reserved + free)",
            "A setting could have served it",
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            "keep (train.py:7)",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
        assert!(!text.contains("8 388 608 TiB"), "{text}");
    }
}

/// What is neither free nor reserved is known where the device's memory is.
#[test]
fn memory_outside_the_allocator_needs_the_total_of_the_device() {
    let file = failed_run(400);
    let of = |memory: &str| {
        let answer = json(
            &["compare", path(&file), "--device-memory", memory, "--format", "json"],
            0,
        );
        answer["measured"][0]["failed_requests"][0].clone()
    };
    let known = of("1GiB");
    assert_eq!(known["outside_allocator_bytes"], 424 * MIB);
    assert_eq!(known["device_total_from"], "settings");
    assert_eq!(known["served"], "no");
    assert_eq!(of("512MiB")["outside_allocator_bytes"], Json::Null);
    let text = text_of(&["peak", path(&file), "--device-memory", "512MiB"], 0);
    assert!(
        plain(&text).contains("is smaller than the 600.0 MiB that were reserved and free"),
        "{text}"
    );
    // The message of the failed request states it.
    let message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 400.00 MiB. GPU 0 has a total capacity of 1.00 GiB of \
                   which 50.00 MiB is free. Of the allocated memory 232.00 MiB is allocated by PyTorch, and 318.00 MiB is reserved \
                   by PyTorch but unallocated.\n";
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("terminal.txt");
    std::fs::write(&text, message).expect("a file");
    let both = json(
        &["explain", path(&file), text.to_str().expect("text"), "--format", "json"],
        0,
    );
    let requests = both["requests"].as_array().expect("a list");
    let recorded = requests.iter().find(|one| one["by"]["line"] == "train.py:30");
    assert_eq!(
        recorded.map(|one| &one["total_bytes"]),
        Some(&value!(1024 * MIB)),
        "{both}"
    );
}

/// A device with room for the segment did not lack memory.
#[test]
fn a_limit_refuses_what_the_device_has() {
    let used = vec![block(0x1000, 60 * MIB, 60 * MIB, "active_allocated")];
    let trace = vec![
        event("segment_alloc", 0x1000, 60 * MIB, 1),
        event("alloc", 0x1000, 60 * MIB, 2),
        event("oom", 1000 * MIB, 200 * MIB, 9),
    ];
    let file = file(&snapshot(vec![segment(0x1000, 60 * MIB, "large", used)], trace));
    let failed = json(&["inspect", path(&file), "--format", "json"], 0)["failed_requests"][0].clone();
    assert_eq!(failed["served"], "unknown");
    let why = failed["served_why"].as_str().expect("text");
    assert!(why.contains("set_per_process_memory_fraction"), "{why}");
}

/// Two devices whose events share an axis: numbers of events are those of the device, which `peak --step` takes.
#[test]
fn numbers_of_failed_requests_are_events_of_their_device() {
    let used = |device: u64| {
        let blocks = vec![block(0x1000, 4 * MIB, 4 * MIB, "active_allocated")];
        let mut one = segment(0x1000, 20 * MIB, "large", blocks);
        one["device"] = device.into();
        one
    };
    let churn = |n: u64, start: u64| -> Vec<Json> {
        let first = [
            event("segment_alloc", 0x1000, 20 * MIB, start),
            called_from(event("alloc", 0x1000, 4 * MIB, start + 1), "keep"),
        ];
        let turns = (0..n).flat_map(|turn| {
            ["alloc", "free_requested", "free_completed"]
                .map(|action| event(action, 0x1000 + 8 * MIB, MIB + 1, start + 2 + turn))
        });
        first.into_iter().chain(turns).collect()
    };
    let mut failing = churn(400, 1001);
    failing.push(event("oom", MIB, 64 * MIB, 9000));
    let n_events = failing.len() as u64;
    let both = value!({"segments": [used(0), used(1)], "device_traces": [churn(600, 1000), failing]});
    let file = file(&both);
    let compared = json(&["compare", path(&file), "--format", "json"], 0);
    let failed = &compared["measured"][1]["failed_requests"][0];
    assert_eq!(failed["step"], n_events - 1);
    let text = plain(&text_of(&["compare", path(&file)], 0));
    assert!(text.contains("out of memory at event 1 202"), "{text}");
    // The number as it is written, with its blanks.
    for step in ["1202", "1\u{a0}202"] {
        let at = text_of(&["peak", path(&file), "--lane", "2", "--step", step], 0);
        assert!(plain(&at).contains("failed request at event 1 202"), "{at}");
    }
    let (code, _, error) = told(&["peak", path(&file), "--lane", "2", "--step", "1203"]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("exceeds the last event, 1202"), "{error}");
}

/// An event of a failed request is in no region, and a simulation's unlimited device is no figure of a recording.
#[test]
fn an_exported_failed_request_has_no_region() {
    let file = failed_run(400);
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace.json");
    text_of(&["export", path(&file), "--to", trace.to_str().expect("text")], 0);
    let trace: Json = serde_json::from_slice(&std::fs::read(&trace).expect("a file")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    let failed = events
        .iter()
        .find(|event| event["name"] == "out of memory")
        .expect("an event");
    assert_eq!(failed["args"]["region"], Json::Null, "{failed}");
    assert_eq!(failed["args"]["bytes"], 400 * MIB);
}
