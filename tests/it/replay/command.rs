//! `highwater replay`, and the other commands on a trace: fields, texts, exit codes.

use crate::cli::{fails, json, run};

/// A file in a temporary folder.
struct File {
    _folder: tempfile::TempDir,
    path: String,
}

fn file(text: &str) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.trace");
    std::fs::write(&path, text).unwrap();
    File {
        path: path.to_string_lossy().into_owned(),
        _folder: folder,
    }
}

const SMALL: &str = "device 1G\na x 3M\na y 2G\nload G 10M\nexec G\nf x\n";

#[track_caller]
fn text(arguments: &[&str]) -> String {
    let output = run(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_summary_has_the_fields_of_the_contract() {
    let file = file(SMALL);
    for (policy, allocator) in [
        ("0", "page_pools"),
        ("1", "page_pools"),
        ("3", "expandable_pools"),
        ("4", "expandable_pools"),
    ] {
        let answer = json(&["replay", &file.path, "--policy", policy, "--format", "json"], 0);
        assert_eq!(answer["allocator"], allocator);
        for field in [
            "events",
            "peak_reserved_bytes",
            "peak_live_bytes",
            "device_mallocs",
            "device_frees",
            "elapsed_ns",
        ] {
            assert!(answer[field].is_u64(), "{field}");
        }
        assert_eq!((&answer["events"], &answer["failed"]), (&5.into(), &1.into()));
        assert_eq!(answer["peak_live_bytes"], 13 << 20);
    }
    let answer = json(
        &["replay", &file.path, "--policy", "0", "--legacy", "--format", "json"],
        0,
    );
    assert_eq!(answer["allocator"], "legacy");
}

#[test]
fn messages_state_failure_and_place() {
    let file = file(SMALL);
    let said = text(&["replay", &file.path, "--policy", "2"]);
    for part in [
        "policy 2, page_pools",
        "peak reserved",
        "1 of them failed",
        "\"a\" in line 3",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let said = text(&["replay", &file.path, "--policy", "2", "--device-memory", "4GiB"]);
    assert!(!said.contains("failed") && said.contains("4.000"), "{said}");
}

#[test]
fn events_are_lines_and_a_failed_request_is_an_answer() {
    let file = file(SMALL);
    for more in [&[][..], &["--format", "json"], &["--documented"]] {
        let mut arguments = vec!["replay", file.path.as_str(), "--policy", "2", "--events"];
        arguments.extend(more);
        let lines: Vec<serde_json::Value> = text(&arguments)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 7);
        assert_eq!((&lines[0]["header"], &lines[6]["final"]), (&1.into(), &1.into()));
        assert_eq!(lines[2]["ok"], false);
    }
}

#[test]
fn bad_usage_is_one_line() {
    let small = file(SMALL);
    let path = small.path.as_str();
    fails(&["replay", path], "--policy");
    fails(
        &["replay", path, "--policy", "5"],
        "--policy 5: expected 0, 1 (which is 2), 2, 3 or 4",
    );
    fails(&["replay", path, "--policy", "two"], "--policy two: expected 0");
    fails(&["replay", path, "--policy", "0", "--documented"], "--policy 2");
    fails(
        &["replay", path, "--policy", "0", "--format", "csv"],
        "use text or json",
    );
    fails(
        &["replay", path, "--policy", "0", "--device-memory", "lots"],
        "--device-memory",
    );
    fails(
        &["replay", path, "--policy", "0", "--device-memory", "9000TiB"],
        "expected 1 byte to",
    );
    fails(
        &["replay", "sample:resnet50", "--policy", "0"],
        "not an allocation trace",
    );
    fails(&["replay", "nowhere.trace", "--policy", "0"], "nowhere.trace");
    let wrong = file("a x 3M\na y 3X\n");
    fails(&["replay", &wrong.path, "--policy", "0"], "\"3X\" is no size at line 2");
}

#[test]
fn other_commands_know_traces() {
    let file = file("a x 3M\na y 2M\nf x\na x 4M\nload G 10M 5M:n\nunload G\n");
    let answer = json(&["inspect", &file.path, "--format", "json"], 0);
    assert_eq!(answer["format"], "allocation_trace");
    let entry = &answer["lifetimes"][0];
    assert_eq!(
        (&entry["count"], &entry["peak_live_bytes"]),
        (&4.into(), &(16 << 20).into())
    );
    assert_eq!(entry["bytes"], 19 << 20);
    let answer = json(&["plan", &file.path, "--format", "json"], 0);
    assert_eq!(
        (&answer["buffers"], &answer["footprint_bytes"]),
        (&4.into(), &(16 << 20).into())
    );
    let rows = text(&["plan", &file.path, "--format", "csv"]);
    assert!(
        rows.contains("x,0,2,3145728,") && rows.contains("x#2,3,6,") && rows.contains("load G,4,5,10485760,"),
        "{rows}"
    );
    assert!(text(&["completions", "bash"]).contains("replay"));
    assert!(text(&["replay", "--help"]).contains("--events"));
}
