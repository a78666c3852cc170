//! What `recommend` and `replay` claim of failed requests, releases of torch and rings of events that overflowed.

use serde_json::{Value as Json, json};

use super::{json as answer_of, text_of};
use crate::snapshots::{block, event, file, segment, snapshot};

const MIB: u64 = 1 << 20;
const A: u64 = 0x7000_0000_0000;
const SAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/sample_traces/language_model.snapshot.pickle.gz"
);

/// A segment of 100 MiB is cut in two, its first half freed; then a request fails while 40 MiB of the device are free.
fn failed(request: u64, n_dropped: usize) -> Json {
    let trace = [
        ("segment_alloc", A, 100 * MIB),
        ("alloc", A, 100 * MIB),
        ("free_requested", A, 100 * MIB),
        ("free_completed", A, 100 * MIB),
        ("alloc", A, 50 * MIB),
        ("alloc", A + 50 * MIB, 50 * MIB),
        ("free_requested", A, 50 * MIB),
        ("free_completed", A, 50 * MIB),
        ("oom", 40 * MIB, request),
    ];
    let trace = (1..).zip(trace).skip(n_dropped);
    let trace = trace.map(|(time, (action, address, size))| event(action, address, size, time));
    let blocks = vec![
        block(A, 50 * MIB, 0, "inactive"),
        block(A + 50 * MIB, 50 * MIB, 50 * MIB, "active_allocated"),
    ];
    snapshot(vec![segment(A, 100 * MIB, "large", blocks)], trace.collect())
}

#[test]
fn a_failed_request_stays_failed_unless_a_setting_serves_it() {
    // Request, events that the ring lost, exit code, what is known, requests that fail as recorded and as recommended.
    for (request, n_dropped, code, servable, failures) in [
        (80 * MIB, 0, 0, "tried", [json!(1), json!(0)]),
        (91 * MIB, 0, 1, "never", [json!(1), Json::Null]),
        (80 * MIB, 5, 1, "unknown", [json!(1), Json::Null]),
    ] {
        let file = file(&failed(request, n_dropped));
        let path = file.path().to_str().expect("UTF-8");
        let answer = answer_of(&["recommend", path, "--format", "json"], code);
        let recording = &answer["recordings"][0];
        assert_eq!(recording["identical"], recording["events"], "{answer}");
        assert_eq!(recording["replayed_error_percent"], 0.0, "{servable}");
        let request = &recording["failed_requests"][0];
        assert_eq!(request["servable"], servable, "{request}");
        assert_eq!(request["live_bytes"], 50 * MIB);
        assert_eq!(answer["device_bytes"], 140 * MIB, "reserved and free");
        assert_eq!(
            [&answer["replayed"]["ooms"], &answer["recommended"]["ooms"]],
            [&failures[0], &failures[1]],
            "{servable}"
        );
        let text = text_of(&["recommend", path], code);
        assert!(text.contains("the least that it had"), "{text}");
        assert!(
            servable != "never" || text.contains("no setting can serve the request of 91.00"),
            "{text}"
        );
        let replay = text_of(&["replay", path, "--allocator", "torch"], 0);
        assert!(replay.contains("differ from the recorded peak by 0.0 %"), "{replay}");
    }
    let file = file(&failed(80 * MIB, 0));
    let path = file.path().to_str().expect("UTF-8");
    let answer = answer_of(&["recommend", path, "--format", "json"], 0);
    assert_ne!(answer["recommended"]["conf"], "", "another setting serves it");
    // A larger device is what was asked for.
    for size in [["--device-memory", "1GiB"], ["--capacity", "1GiB"]] {
        let answer = answer_of(&[&["recommend", path, "--format", "json"], &size[..]].concat(), 0);
        assert_eq!(answer["device_bytes"], 1024 * MIB);
        let request = &answer["recordings"][0]["failed_requests"][0];
        assert_eq!(request["servable"], "tried", "{request}");
        assert_eq!(answer["replayed"]["ooms"], 0, "the larger device serves it");
        assert_eq!(answer["uncertainty_bytes"], 0, "the failure is no error of the replay");
    }
    // A request that fails is no defect of the lane.
    let verified = super::run(&["compare", path, "--conf", "-", "--verify"]);
    let error = String::from_utf8_lossy(&verified.stderr);
    assert!(
        verified.status.success() && error.contains("verified: 1 simulation"),
        "{error}"
    );
    let answer = answer_of(&["recommend", path, "--format", "json", "--device-memory", "90MiB"], 1);
    let request = &answer["recordings"][0]["failed_requests"][0];
    assert_eq!(request["servable"], "never", "{request}");
}

/// A segment that no rule of torch takes for the request after it.
#[test]
fn nothing_is_recommended_where_the_rules_reproduce_nothing() {
    let trace = vec![event("segment_alloc", A, 64 * MIB, 1), event("alloc", A, 20 * MIB, 2)];
    let blocks = vec![
        block(A, 20 * MIB, 20 * MIB, "active_allocated"),
        block(A + 20 * MIB, 44 * MIB, 0, "inactive"),
    ];
    let file = file(&snapshot(vec![segment(A, 64 * MIB, "large", blocks)], trace));
    let path = file.path().to_str().expect("UTF-8");
    let answer = answer_of(&["recommend", path, "--format", "json"], 1);
    assert_eq!(
        (&answer["recommended"], &answer["recordings"][0]["identical"]),
        (&Json::Null, &json!(0))
    );
    let text = text_of(&["recommend", path], 1);
    assert!(text.contains("does not replay (0 of 2 events)"), "{text}");
    assert!(
        text.contains("reproduce nothing of a recording") && !text.contains("survivors"),
        "{text}"
    );
}

/// The event that takes the snapshot is none of the program.
#[test]
fn the_state_at_one_moment_is_told_alike() {
    let held = segment(A, 2 * MIB, "small", vec![block(A, 2 * MIB, MIB, "active_allocated")]);
    let file = file(&snapshot(vec![held], vec![event("snapshot", 0, 0, 1)]));
    let path = file.path().to_str().expect("UTF-8");
    assert!(text_of(&["inspect", path], 0).contains("none: the state at one moment"));
    assert!(text_of(&["recommend", path], 1).contains("the state at one moment and no events"));
}

#[test]
fn last_steps_that_nothing_marks_are_told_by_their_reason() {
    for (has_times, reason) in [(true, "no annotation marks steps; record"), (false, "have no times")] {
        let mut all = failed(80 * MIB, 0);
        for event in all["device_traces"][0].as_array_mut().expect("events") {
            let event = event.as_object_mut().expect("an event");
            if !has_times {
                event.remove("time_us");
            }
        }
        let file = file(&all);
        let path = file.path().to_str().expect("UTF-8");
        super::fails(&["inspect", path, "--last-steps", "2"], reason);
    }
}

/// A device that had 100 MiB when the first request failed and 200 MiB later: each request is judged by what it had then.
#[test]
fn each_failed_request_is_judged_by_the_device_of_its_moment() {
    let mut trace = vec![
        event("segment_alloc", A, 60 * MIB, 1),
        event("alloc", A, 60 * MIB, 2),
        event("oom", 40 * MIB, 60 * MIB, 3),
    ];
    let more = A + 0x1000_0000;
    trace.extend([
        event("segment_alloc", more, 120 * MIB, 4),
        event("alloc", more, 120 * MIB, 5),
        event("oom", 20 * MIB, 40 * MIB, 6),
    ]);
    let held = |at, size| segment(at, size, "large", vec![block(at, size, size, "active_allocated")]);
    let file = file(&snapshot(vec![held(A, 60 * MIB), held(more, 120 * MIB)], trace));
    let path = file.path().to_str().expect("UTF-8");
    let answer = answer_of(&["recommend", path, "--format", "json"], 1);
    let requests = answer["recordings"][0]["failed_requests"].as_array().expect("a list");
    let judged: Vec<_> = requests
        .iter()
        .map(|one| (&one["servable"], &one["device_bytes"]))
        .collect();
    let never = json!("never");
    assert_eq!(judged, [(&never, &json!(100 * MIB)), (&never, &json!(200 * MIB))]);
    let verified = super::run(&["compare", path, "--conf", "-", "--verify"]);
    let error = String::from_utf8_lossy(&verified.stderr);
    assert!(
        verified.status.success() && error.contains("verified: 1 simulation"),
        "{error}"
    );
    let explained = text_of(&["explain", path], 0);
    assert!(
        explained.replace('\u{a0}', " ").contains("more than the 100.0 MiB"),
        "{explained}"
    );
}

#[test]
fn settings_that_the_platform_ignores_are_not_tried() {
    for (file_name, is_windows) in [("D:\\work\\train.py", true), ("/work/train.py", false)] {
        let mut all = failed(80 * MIB, 0);
        for event in all["device_traces"][0].as_array_mut().expect("events") {
            event["frames"] = json!([{"filename": file_name, "name": "f", "line": 3}]);
        }
        let file = file(&all);
        let path = file.path().to_str().expect("UTF-8");
        let answer = answer_of(&["recommend", path, "--format", "json"], 0);
        let runs = answer["runs"].to_string();
        assert_eq!(!runs.contains("expandable_segments"), is_windows, "{runs}");
        let warnings = answer["warnings"].to_string();
        assert_eq!(warnings.contains("ignores it on Windows"), is_windows, "{warnings}");
    }
}

#[test]
fn fields_tell_the_release_and_newer_keys_do_not_win() {
    let arguments = ["recommend", SAMPLE, "--format", "json"];
    let answer = answer_of(&arguments, 0);
    let versions = answer["recordings"][0]["torch_versions"].as_array().expect("names");
    assert!(!versions.contains(&json!("2.11")), "{versions:?}");
    for setting in ["recommended", "runner_up"] {
        assert_eq!(answer[setting]["needs_torch"], Json::Null, "{setting}");
    }
    let newer = |conf: &Json| conf.as_str().is_some_and(|conf| conf.contains("large_segment_size_mb"));
    let runs = answer["runs"].as_array().expect("settings");
    assert!(runs.iter().any(|run| newer(&run["conf"])), "tried");
    for run in runs {
        assert_eq!(run["needs_torch"] == "2.11", newer(&run["conf"]), "{run}");
    }
    assert!(
        !answer["equivalent"]
            .as_array()
            .expect("settings")
            .iter()
            .any(|run| newer(&run["conf"]))
    );
    let answer = answer_of(&[&arguments[..], &["--torch", "2.11"]].concat(), 0);
    assert_eq!(answer["recordings"][0]["torch_versions"], json!(["2.11"]));
    let text = text_of(&["recommend", SAMPLE], 0);
    assert!(text.contains("the release is known by"), "{text}");
}

#[test]
fn a_ring_that_overflowed_is_a_warning_and_no_setting() {
    for (value, expected) in [(json!(true), true), (json!(false), false)] {
        let mut one = failed(80 * MIB, 0);
        one["allocator_settings"] = json!({"PYTORCH_CUDA_ALLOC_CONF": "", "trace_alloc_overflowed": value});
        let file = file(&one);
        let path = file.path().to_str().expect("UTF-8");
        let text = text_of(&["inspect", path], 0);
        assert_eq!(text.contains("the ring of events overflowed"), expected, "{text}");
        assert!(!text.contains("trace_alloc_overflowed"), "{text}");
    }
}

#[test]
fn every_pool_has_its_figures_over_time() {
    let mut graph = segment(0x8000, 0x1000, "large", vec![block(0x8000, 0x1000, 0, "inactive")]);
    graph["segment_pool_id"] = serde_json::json!([0, 2]);
    let usual = segment(
        0x1000,
        0x1000,
        "small",
        vec![block(0x1000, 0x1000, 0x200, "active_allocated")],
    );
    let mut freed = event("segment_free", 0x4000, 0x2000, 8);
    freed["pool_id"] = json!([0, 2]);
    let trace = vec![
        event("alloc", 0x1000, 0x200, 1),
        event("segment_alloc", 0x8000, 0x1000, 2),
        event("alloc", 0x8000, 0x800, 3),
        event("segment_alloc", 0x4000, 0x2000, 4),
        event("alloc", 0x4000, 0x1800, 5),
        event("free_completed", 0x4000, 0x1800, 6),
        event("free_completed", 0x8000, 0x800, 7),
        freed,
    ];
    let file = file(&snapshot(vec![usual, graph], trace));
    let path = file.path().to_str().unwrap();
    let pools = &answer_of(&["inspect", path, "--format", "json"], 0)["recordings"][0]["pools"];
    let figures = |pool: &Json| {
        [
            "peak_reserved_bytes",
            "peak_reserved_event",
            "peak_live_bytes",
            "reserved_at_end_bytes",
        ]
        .map(|field| pool[field].as_u64().expect(field))
    };
    assert_eq!(pools.as_array().map(Vec::len), Some(2), "{pools}");
    assert_eq!(pools[0]["private_pool"], Json::Null);
    assert_eq!(figures(&pools[0]), [0x1000, 0, 0x200, 0x1000]);
    assert_eq!(pools[1]["private_pool"], "(0, 2)");
    assert_eq!(figures(&pools[1]), [0x3000, 3, 0x2000, 0x1000]);
    let text = text_of(&["inspect", path], 0);
    assert!(text.contains("private pool (0, 2)"), "{text}");
}
