//! Proofs over nothing: snapshots without events, devices without history, ranges, checks and verifications of nothing.

use serde_json::{Value as Json, json};

use super::torch::small_run;
use super::{fails, json as answer_of, run, text_of};
use crate::snapshots::{block, event, file, segment, snapshot};

const MIB: u64 = 1 << 20;
const ADDRESS: u64 = 0x7000_0000_0000;
const HOW: &str = "torch.cuda.memory._record_memory_history()";

/// A state with a live block of 3 MiB.
fn segments(device: u64) -> Vec<Json> {
    let blocks = vec![
        block(ADDRESS, 3 * MIB, 3 * MIB, "active_allocated"),
        block(ADDRESS + 3 * MIB, 17 * MIB, 0, "inactive"),
    ];
    let mut segment = segment(ADDRESS, 20 * MIB, "large", blocks);
    segment["device"] = json!(device);
    vec![segment]
}

/// Snapshots of which nothing can be replayed.
fn without_requests() -> Vec<(&'static str, Json)> {
    let grown = vec![event("segment_alloc", ADDRESS, 20 * MIB, 1)];
    let noted = vec![event("snapshot", 0, 0, 1), event("snapshot", 0, 0, 2)];
    let freed = vec![
        event("free_requested", ADDRESS + 4 * MIB, MIB, 1),
        event("free_completed", ADDRESS + 4 * MIB, MIB, 2),
    ];
    vec![
        ("no events", snapshot(segments(0), Vec::new())),
        (
            "eight empty traces",
            json!({"segments": segments(0), "device_traces": vec![Vec::<Json>::new(); 8]}),
        ),
        ("segments alone", Json::Array(segments(0))),
        ("nothing", snapshot(Vec::new(), Vec::new())),
        ("segment events alone", snapshot(segments(0), grown)),
        ("notes alone", snapshot(segments(0), noted)),
        ("frees alone", snapshot(segments(0), freed)),
    ]
}

#[test]
fn nothing_is_proved_or_recommended_without_requests() {
    for (what, snapshot) in without_requests() {
        let file = file(&snapshot);
        let path = file.path().to_str().expect("UTF-8");
        for arguments in [&["recommend", path][..], &["replay", path, "--allocator", "torch"]] {
            let text = text_of(arguments, 1);
            assert!(text.contains("no history") && text.contains(HOW), "{what}: {text}");
            for claim in ["replays exactly", "recommended", "export PYTORCH", "%"] {
                assert!(!text.contains(claim), "{what}: {claim}: {text}");
            }
            let answer = answer_of(&[arguments, &["--format", "json"]].concat(), 1);
            assert_eq!(answer["recommended"], Json::Null, "{what}");
            let why = answer["without_history"][0]["why"].as_str().expect("a sentence");
            assert!(why.contains(HOW), "{what}: {why}");
        }
        let events = run(&["replay", path, "--allocator", "torch", "--events"]);
        assert_eq!(events.status.code(), Some(1), "{what}");
    }
}

#[test]
fn the_state_at_one_moment_is_shown_without_history() {
    let file = file(&snapshot(segments(0), Vec::new()));
    let path = file.path().to_str().expect("UTF-8");
    for arguments in [&["inspect", path], &["peak", path], &["compare", path]] {
        let text = text_of(arguments, 0);
        assert!(text.contains("20.00") && text.contains("no history"), "{text}");
    }
    // A lane of other settings would be simulated from nothing.
    let text = text_of(&["compare", path, "--conf", "expandable_segments:True"], 1);
    assert!(
        text.contains("cannot be simulated: no history") && !text.contains("replays exactly"),
        "{text}"
    );
    let range = run(&["peak", path, "--range", "5..9"]);
    assert_eq!(range.status.code(), Some(2));
}

#[test]
fn devices_without_history_are_left_out_and_named() {
    let mut two = small_run();
    two["segments"].as_array_mut().expect("segments").extend(segments(1));
    two["device_traces"].as_array_mut().expect("traces").push(json!([]));
    let file = file(&two);
    let path = file.path().to_str().expect("UTF-8");
    let text = text_of(&["recommend", path], 0);
    assert!(
        text.contains("device0: the recording replays exactly (8 of 8 events)"),
        "{text}"
    );
    assert!(text.contains("device1: no history"), "{text}");
    let answer = answer_of(&["recommend", path, "--format", "json"], 0);
    assert_eq!(answer["recordings"].as_array().map(Vec::len), Some(1));
    assert_eq!(answer["without_history"][0]["recording"], "device1");
    let text = text_of(&["replay", path, "--allocator", "torch"], 0);
    assert!(text.contains("device0") && text.contains("8 of 8 events"), "{text}");
}

#[test]
fn a_range_without_events_and_a_verification_of_nothing_say_so() {
    let file = file(&small_run());
    let path = file.path().to_str().expect("UTF-8");
    fails(&["peak", path, "--range", "100..200"], "exceeds the last event");
    fails(&["peak", path, "--range", "3..3"], "FIRST..END");
    let aligned = run(&["compare", path, "--align", "events"]);
    let error = String::from_utf8_lossy(&aligned.stderr);
    assert!(
        aligned.status.success() && error.contains("--align has no effect"),
        "{error}"
    );
    let output = run(&["compare", path, "--verify"]);
    assert_eq!(output.status.code(), Some(0));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("nothing to verify") && !error.contains("verified: 0"),
        "{error}"
    );
}
