//! Call sites on the command line: the peak by line of the program, two runs, ranks of a job, rules of a document.

use std::collections::BTreeMap;
use std::path::Path;

use highwater::workload::{FrameKind, FrameRules, REQUESTER_RULES, Recording, Source};
use serde_json::{Value as Json, json};

use super::{json as answer_of, run, text_of};
use crate::snapshots::{block, event, pickle, segment, snapshot};
use crate::support::{read, shared};

/// An allocation whose stack is lines `file:line function`, innermost first.
fn allocation(address: u64, size: u64, stack: &[&str]) -> Json {
    let mut event = event("alloc", address, size, address);
    let frames = stack.iter().map(|line| {
        let (place, function) = line.split_once(' ').expect("a function");
        let (file, line) = place.rsplit_once(':').expect("a line");
        json!({"filename": file, "name": function, "line": line.parse::<u32>().expect("a number")})
    });
    event["frames"] = frames.collect();
    event
}

fn write(folder: &Path, name: &str, trace: Vec<Json>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, pickle(&snapshot(Vec::new(), trace))).expect("the file can be written");
    path.to_str().expect("UTF-8").to_owned()
}

const LIBRARY: &str = "/env/lib/python3.11/site-packages/torch/nn/functional.py:9 linear";

fn groups(answer: &Json) -> Vec<(&str, u64, u64)> {
    let rows = answer["groups"].as_array().expect("groups").iter();
    let row = |row: &'_ Json| {
        (
            row["bytes"].as_u64().expect("bytes"),
            row["count"].as_u64().expect("a count"),
        )
    };
    rows.map(|group| (group["name"].as_str().expect("a name"), row(group).0, row(group).1))
        .collect()
}

#[test]
fn the_peak_of_a_recording_is_by_call_site() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = vec![
        allocation(0x1000, 100, &[LIBRARY, "/w/model.py:10 forward", "/w/train.py:3 main"]),
        allocation(0x2000, 100, &[LIBRARY, "/w/model.py:10 forward", "/w/train.py:3 main"]),
        allocation(0x3000, 50, &["/w/model.py:12 forward", "/w/train.py:3 main"]),
        allocation(0x4000, 7, &["/w/train.py:4 main"]),
    ];
    let file = write(folder.path(), "a.pickle", trace);
    for (by, wanted) in [
        (
            None,
            &[
                ("forward (model.py:10)", 200, 2),
                ("forward (model.py:12)", 50, 1),
                ("main (train.py:4)", 7, 1),
            ][..],
        ),
        (Some("function"), &[("forward", 250, 3), ("main", 7, 1)]),
        (Some("file"), &[("model.py", 250, 3), ("train.py", 7, 1)]),
        (Some("module"), &[("model", 250, 3), ("train", 7, 1)]),
    ] {
        let mut arguments = vec!["peak", &file, "--format", "json"];
        arguments.extend(by.iter().flat_map(|by| ["--group-by", by]));
        let answer = answer_of(&arguments, 0);
        assert_eq!(groups(&answer), wanted, "{by:?}");
    }
    let answer = answer_of(&["peak", &file, "--format", "json"], 0);
    // Without one of two equal blocks little changes; without their call site both are gone.
    assert_eq!(answer["without"][0]["group"], "forward (model.py:10)");
    assert_eq!(answer["without"][0]["lowers_by_bytes"], 200);
    assert_eq!(answer["groups"][0]["sizes"], json!([{"bytes": 100, "count": 2}]));
    let csv = text_of(&["peak", &file, "--format", "csv"], 0);
    let header = "call_site,function,module,category,op,group,recording,bytes,held_bytes,share,birth,end,address,stream,segment,alive_before,file,annotation,compile_context,user_metadata";
    assert!(csv.starts_with(header), "{csv}");
    assert!(csv.contains("forward (model.py:12),forward,model,"), "{csv}");
    let text = text_of(&["peak", &file, "--group-by", "function"], 0);
    assert!(
        text.contains("by function") && text.contains("savings if removed"),
        "{text}"
    );
}

#[test]
fn groups_are_divided_and_notes_are_groups() {
    let folder = tempfile::tempdir().expect("a folder");
    let noted = |mut event: Json, key: &str, text: &str| {
        event[key] = text.into();
        event
    };
    let trace = vec![
        allocation(0x1000, 100, &["/w/model.py:10 forward"]),
        noted(
            allocation(0x2000, 60, &["/w/model.py:12 forward"]),
            "compile_context",
            "0/1",
        ),
        allocation(0x3000, 50, &["/w/model.py:10 forward"]),
        noted(
            allocation(0x4000, 7, &["/w/train.py:4 main"]),
            "user_metadata",
            "epoch 3",
        ),
    ];
    let mut whole = snapshot(Vec::new(), trace);
    let annotation =
        |stage: &str, name: &str, time: u64| json!({"stage": stage, "name": name, "device": 0, "time_us": time});
    whole["external_annotations"] = json!([
        annotation("START", "step", 0x2000),
        annotation("START", "inner", 0x3000),
        annotation("END", "inner", 0x4000),
    ]);
    let path = folder.path().join("a.pickle");
    std::fs::write(&path, pickle(&whole)).expect("the file can be written");
    let file = path.to_str().expect("UTF-8");
    let answer = |by: &str| answer_of(&["peak", file, "--group-by", by, "--format", "json"], 0);
    for (by, wanted) in [
        ("file", &[("model.py", 210, 3), ("train.py", 7, 1)][..]),
        (
            "annotation",
            &[("outside every annotation", 100, 1), ("step", 67, 2), ("inner", 50, 1)],
        ),
        ("compile_context", &[("not stated", 157, 3), ("0/1", 60, 1)]),
        ("user_metadata", &[("not stated", 210, 3), ("epoch 3", 7, 1)]),
    ] {
        assert_eq!(groups(&answer(by)), wanted, "{by}");
    }
    let of_file = answer("file");
    assert_eq!(
        of_file["groups"][0]["parts"],
        json!([
            {"name": "forward (model.py:10)", "bytes": 150, "count": 2},
            {"name": "forward (model.py:12)", "bytes": 60, "count": 1},
        ])
    );
    assert_eq!(of_file["tensors"][1]["recorded"]["compile_context"], "0/1");
    let divided = answer("annotation, file");
    assert_eq!(
        divided["groups"][1]["parts"][0],
        json!({"name": "model.py", "bytes": 60, "count": 1})
    );
    assert!(answer("function")["groups"][0]["parts"].is_null());
    let text = text_of(&["peak", file, "--group-by", "file", "--top", "1"], 0);
    assert!(
        text.contains("forward (model.py:10)") && text.contains("and 1 more"),
        "{text}"
    );
}

#[test]
fn every_event_has_its_action_and_its_stack() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |mut event: Json, line: u32| {
        event["frames"] = json!([{"filename": "/w/run.py", "name": "f", "line": line}]);
        event
    };
    let mut oom = at(event("oom", 0, 4096, 6), 7);
    oom["device_free"] = 1024.into();
    let trace = vec![
        at(event("segment_alloc", 0x1000, 0x20_0000, 1), 1),
        at(event("alloc", 0x1000, 512, 2), 2),
        at(event("free_requested", 0x1000, 512, 3), 3),
        at(event("free_completed", 0x1000, 512, 4), 4),
        at(event("segment_free", 0x1000, 0x20_0000, 5), 5),
        oom,
    ];
    let path = folder.path().join("a.pickle");
    std::fs::write(&path, pickle(&snapshot(Vec::new(), trace))).expect("the file can be written");
    let file = path.to_str().expect("UTF-8");
    let answer = answer_of(&["peak", file, "--events", "0..9", "--format", "json"], 0);
    let rows = answer["events"].as_array().expect("events").iter();
    let row = |row: &Json| {
        let text = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
        let bytes = &row["bytes"];
        [
            text("action"),
            text("address"),
            bytes.to_string(),
            text("call_site"),
            text("block"),
        ]
        .join(" ")
    };
    let rows: Vec<String> = rows.map(row).collect();
    assert_eq!(
        rows,
        [
            "segment_alloc 0x1000 2097152 f (run.py:1) -",
            "alloc 0x1000 512 f (run.py:2) f (run.py:2)",
            "free_requested 0x1000 512 f (run.py:3) f (run.py:2)",
            "free_completed 0x1000 512 f (run.py:4) f (run.py:2)",
            "segment_free 0x1000 2097152 f (run.py:5) -",
            "oom - 4096 f (run.py:7) -",
        ]
    );
    assert_eq!(answer["events"][4]["stack"], json!(["/w/run.py:5 f"]));
    let one = text_of(&["peak", file, "--events", "4..5"], 0);
    assert!(one.contains("segment_free") && one.contains("/w/run.py:5 f"), "{one}");
    let csv = text_of(&["peak", file, "--events", "2..4", "--format", "csv"], 0);
    assert!(
        csv.lines().nth(2).is_some_and(|row| row.ends_with(",/w/run.py:4 f")),
        "{csv}"
    );
    let state = answer_of(&["peak", file, "--segments", "--step", "2", "--format", "json"], 0);
    assert_eq!(state["last_event"]["action"], "free_requested");
    let output = run(&["peak", file, "--events", "6..7"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("exceeds the last event, 5"), "{error}");
}

/// Live bytes at the peak by the innermost line of the user, summed from the lines of every stack.
fn summed(recording: &Recording) -> BTreeMap<(String, u32, String), u64> {
    let step = recording.peaks().live.1.expect("a peak");
    let mut sums = BTreeMap::new();
    for block in recording
        .blocks
        .iter()
        .filter(|block| block.birth <= step && step < block.end)
    {
        let is_users = |file: &str| {
            file.ends_with(".py")
                && !file.contains("site-packages")
                && !file.contains("/torch/")
                && !file.starts_with('<')
        };
        let line = recording
            .stack_of(block)
            .find(|frame| is_users(recording.text(frame.file)));
        let key = line.map_or_else(
            || (String::new(), 0, String::new()),
            |frame| {
                (
                    recording.text(frame.file).to_owned(),
                    frame.line,
                    recording.text(frame.function).to_owned(),
                )
            },
        );
        *sums.entry(key).or_default() += block.bytes.get();
    }
    sums
}

#[test]
fn call_sites_of_real_snapshots_equal_a_sum_over_their_lines() {
    let Some(folder) = shared("corpus/fetched/torch_snapshots") else {
        return;
    };
    for name in [
        "mosaic_output.pickle",
        "npu_snapshot_expandable.pkl",
        "npu_snapshot_1768383987920985470.pkl",
    ] {
        let path = folder.join(name);
        let bytes = std::fs::read(&path).expect("the snapshot can be read");
        let imported = read(name, &bytes).expect("it opens");
        let Source::Recordings(recordings) = imported.source else {
            panic!("no recording in {name}")
        };
        let answer = answer_of(&["peak", path.to_str().expect("UTF-8"), "--format", "json"], 0);
        let mut found: Vec<u64> = groups(&answer).iter().map(|(_, bytes, _)| *bytes).collect();
        let highest = recordings
            .iter()
            .max_by_key(|one| one.peaks().live.0)
            .expect("a recording");
        let mut wanted: Vec<u64> = summed(highest).into_values().collect();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{name}");
    }
}

#[test]
fn one_change_between_two_runs_is_the_first_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let run_of = |line: u32, size: u64| {
        let forward = format!("/w/model.py:{line} forward");
        vec![
            allocation(0x1000, 4096, &[LIBRARY, &forward, "/w/train.py:3 main"]),
            allocation(0x2000, 8192, &["/w/data.py:5 batch", "/w/train.py:2 main"]),
            allocation(0x3000, size, &["/w/model.py:40 loss", "/w/train.py:4 main"]),
        ]
    };
    let before = write(folder.path(), "before.pickle", run_of(10, 1 << 20));
    // A line was added above, and the loss became larger.
    let after = write(folder.path(), "after.pickle", run_of(11, 3 << 20));
    let peak = answer_of(&["peak", &after, "--baseline", &before, "--format", "json"], 0);
    let compare = answer_of(&["compare", &after, "--baseline", &before, "--format", "json"], 0);
    for changes in [&peak["against"]["changes"], &compare["baseline"]["changes"]] {
        let changes = changes.as_array().expect("changes");
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert_eq!(
            (&changes[0]["kind"], &changes[0]["name"]),
            (&json!("bigger"), &json!("loss (model.py:40)"))
        );
        assert_eq!(changes[0]["difference_bytes"], 2 << 20);
    }
    let answer = folder.path().join("before.json");
    let written = run(&["compare", &before, "--format", "json"]);
    std::fs::write(&answer, written.stdout).expect("the answer can be written");
    let by_answer = answer_of(
        &[
            "compare",
            &after,
            "--baseline",
            answer.to_str().expect("UTF-8"),
            "--format",
            "json",
        ],
        0,
    );
    assert_eq!(by_answer["baseline"]["changes"], compare["baseline"]["changes"]);
}

#[test]
fn ranks_of_a_folder_are_compared_with_their_median() {
    let folder = tempfile::tempdir().expect("a folder");
    for rank in 0..24_u64 {
        let size = if rank == 5 { 9 << 20 } else { 1 << 20 };
        let trace = vec![
            allocation(0x1000 + rank, 4096, &["/w/model.py:10 forward"]),
            allocation(0x9000_0000, size, &["/w/cache.py:3 keep"]),
        ];
        write(folder.path(), &format!("rank_{rank}.pickle"), trace);
    }
    let answer = answer_of(&["peak", folder.path().to_str().expect("UTF-8"), "--format", "json"], 0);
    let ranks = &answer["ranks"];
    assert_eq!(
        (&ranks["count"], &ranks["median_live_bytes"]),
        (&json!(24), &json!((1 << 20) + 4096))
    );
    assert_eq!(
        (&ranks["recordings"][0]["rank"], &ranks["groups"][0]["name"]),
        (&json!(5), &json!("keep (cache.py:3)"))
    );
    let sentence = ranks["sentence"].as_str().expect("a sentence").replace('\u{a0}', " ");
    assert!(
        sentence.starts_with("rank 5 is the worst: +8.000 MiB over the median"),
        "{sentence}"
    );
    // The recording that is explained is the highest one.
    assert_eq!(groups(&answer)[0], ("keep (cache.py:3)", 9 << 20, 1));
}

#[test]
fn rules_of_a_document_change_call_sites() {
    let folder = tempfile::tempdir().expect("a folder");
    let stack = ["/w/megatron/layers.py:7 forward", "/w/pretrain.py:80 main"];
    write(folder.path(), "a.pickle", vec![allocation(0x1000, 64, &stack)]);
    let document = folder.path().join("a.highwater");
    let of = |rules: Json| {
        let text = json!({"highwater_document": 1, "sources": [{"path": "a.pickle"}], "frame_rules": rules});
        std::fs::write(&document, text.to_string()).expect("the document can be written");
        answer_of(&["peak", document.to_str().expect("UTF-8"), "--format", "json"], 0)
    };
    assert_eq!(groups(&of(json!([])))[0].0, "forward (layers.py:7)");
    assert_eq!(
        groups(&of(json!([{"kind": "library", "file": "/megatron/"}])))[0].0,
        "main (pretrain.py:80)"
    );
}

#[test]
fn the_page_lists_every_built_in_rule() {
    let page = include_str!("../../../docs/call-sites.md");
    for rule in FrameRules::built_in() {
        let cell = |pattern: &Option<std::borrow::Cow<'static, str>>| {
            pattern
                .as_ref()
                .map_or_else(String::new, |pattern| format!("`{}`", pattern.replace('|', "\\|")))
        };
        let kind = serde_json::to_value(rule.kind).expect("a name");
        let row = format!(
            "| `{}` | {} | {} | {} |",
            kind.as_str().expect("text"),
            cell(&rule.file),
            cell(&rule.function),
            rule.reason
        );
        assert!(page.contains(&row), "docs/call-sites.md lacks {row}");
    }
    assert!(
        FrameRules::built_in()
            .iter()
            .any(|rule| rule.kind == FrameKind::AutogradNode)
    );
    for rule in &REQUESTER_RULES {
        let cell = |pattern: &str| match pattern {
            "" => String::new(),
            pattern => format!("`{}`", pattern.replace('|', "\\|")),
        };
        let (requester, file, function) = (rule.requester.name(), cell(rule.file), cell(rule.function));
        let row = format!("| {requester} | {file} | {function} | {} |", rule.reason);
        assert!(page.contains(&row), "docs/call-sites.md lacks {row}");
    }
}

/// Two steps of training: two parameters, a batch, activations, gradients, moments of the optimizer.
fn training() -> Vec<Json> {
    const CALL: &str = "/env/site-packages/torch/nn/modules/module.py:9 _call_impl";
    const STEP: &str = "/env/site-packages/torch/optim/optimizer.py:9 profile_hook_step";
    let line = "/w/train.py:3 main";
    let free = |address: u64, size: u64| event("free_completed", address, size, 0);
    let mut events = vec![allocation(
        0x1000,
        1 << 20,
        &["/env/torch/nn/modules/linear.py:7 __init__", line],
    )];
    for step in 0..2_u64 {
        let at = |slot: u64| 0x10_0000 * (step + 1) + slot * 0x1000;
        events.push(allocation(at(0), 64 << 10, &["/w/train.py:8 get_batch", line]));
        events.push(allocation(at(1), 512 << 10, &["/w/model.py:4 forward", CALL, line]));
        events.push(allocation(at(2), 256 << 10, &["/w/model.py:5 forward", CALL, line]));
        events.push(free(at(2), 256 << 10));
        events.push(allocation(at(3), 1 << 20, &[]));
        events.push(allocation(at(4), 128 << 10, &[]));
        events.push(free(at(4), 128 << 10));
        events.push(free(at(1), 512 << 10));
        if step == 0 {
            events.push(allocation(
                0x2000,
                2 << 20,
                &["/env/torch/optim/adam.py:7 _init_group", STEP, line],
            ));
        }
        events.push(allocation(
            at(5),
            32 << 10,
            &["/env/torch/optim/adam.py:9 _multi_tensor_adam", STEP, line],
        ));
        events.push(free(at(5), 32 << 10));
        events.push(free(at(3), 1 << 20));
        events.push(free(at(0), 64 << 10));
    }
    for (time, event) in (1_u64..).zip(&mut events) {
        event["time_us"] = json!(time);
    }
    events
}

#[test]
fn categories_follow_who_asked_and_how_long() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a.pickle", training());
    let path = folder.path().join("a.pickle");
    let path = path.to_str().expect("UTF-8");
    let by = |step: &str| {
        let answer = answer_of(
            &[
                "peak",
                path,
                "--group-by",
                "category",
                "--step",
                step,
                "--format",
                "json",
            ],
            0,
        );
        let groups = groups(&answer)
            .into_iter()
            .map(|(name, bytes, count)| format!("{name} {} x{count}", bytes >> 10));
        groups.collect::<Vec<_>>().join(", ")
    };
    // While the optimizer's first temporary is live.
    assert_eq!(
        by("10"),
        "optimizer state 2048 x1, gradient 1024 x1, parameter 1024 x1, input 64 x1, temporary 32 x1"
    );
    // While the backward pass of the second step has a temporary.
    assert_eq!(
        by("19"),
        "optimizer state 2048 x1, gradient 1024 x1, parameter 1024 x1, activation 512 x1, temporary 128 x1, input 64 x1"
    );
    let document = folder.path().join("a.highwater");
    let rules = json!([{"category": "input", "file": "linear"}, {"category": "activation", "function": "_init_group"}]);
    let text = json!({"highwater_document": 1, "sources": [{"path": "a.pickle"}], "category_rules": rules});
    std::fs::write(&document, text.to_string()).expect("the document can be written");
    let arguments = [
        "peak",
        document.to_str().expect("UTF-8"),
        "--group-by",
        "category",
        "--step",
        "10",
        "--format",
        "json",
    ];
    let answer = answer_of(&arguments, 0);
    let found = groups(&answer);
    assert_eq!(found[0], ("activation", 2 << 20, 1), "{found:?}");
    assert_eq!(found[1], ("input", (1 << 20) + (64 << 10), 2), "{found:?}");
}

#[test]
fn call_sites_that_pin_almost_empty_segments_are_listed() {
    const MIB: u64 = 1 << 20;
    const LOG: &[&str] = &[LIBRARY, "/w/metrics.py:3 log"];
    const FORWARD: &[&str] = &["/w/model.py:10 forward"];
    let folder = tempfile::tempdir().expect("a folder");
    let address = |segment: u64| 0x1000_0000 * (segment + 1);
    // By segment: bytes and call site of its blocks. The third is full, the last empty.
    let contents: [&[(u64, &[&str])]; 4] = [
        &[(MIB, LOG)],
        &[(MIB, LOG), (MIB / 2, FORWARD)],
        &[(20 * MIB, FORWARD)],
        &[],
    ];
    let mut trace = Vec::new();
    let mut segments = Vec::new();
    for (number, blocks) in (0..).zip(contents) {
        let start = address(number);
        trace.push(event("segment_alloc", start, 20 * MIB, start));
        let mut end = start;
        let mut states = Vec::new();
        for (bytes, stack) in blocks {
            trace.push(allocation(end, *bytes, stack));
            states.push(block(end, *bytes, *bytes, "active_allocated"));
            end += bytes;
        }
        if end < start + 20 * MIB {
            states.push(block(end, start + 20 * MIB - end, 0, "inactive"));
        }
        segments.push(segment(start, 20 * MIB, "large", states));
    }
    let path = folder.path().join("pinned.pickle");
    std::fs::write(&path, pickle(&snapshot(segments, trace))).expect("the file can be written");
    let path = path.to_str().expect("UTF-8");
    let answer = answer_of(&["peak", path, "--segments", "--format", "json"], 0);
    let pinned = &answer["pinned"];
    assert_eq!(pinned["segments"], 2, "{pinned}");
    assert_eq!(pinned["reserved_bytes"], 40 * MIB);
    assert_eq!(pinned["live_bytes"], 5 * MIB / 2);
    assert_eq!(pinned["gap_bytes"], 40 * MIB - 5 * MIB / 2);
    let sites = json!([
        {
            "name": "log (metrics.py:3)", "segments": 2, "blocks": 2, "live_bytes": 2 * MIB,
            "pinned_bytes": 40 * MIB - 5 * MIB / 2, "pinned_alone_bytes": 19 * MIB,
        },
        {
            "name": "forward (model.py:10)", "segments": 1, "blocks": 1, "live_bytes": MIB / 2,
            "pinned_bytes": 37 * MIB / 2, "pinned_alone_bytes": 0,
        },
    ]);
    assert_eq!(pinned["call_sites"], sites);
    let text = text_of(&["peak", path, "--segments"], 0);
    let text = text.replace('\u{a0}', " ");
    let sentence = "40.00 MiB reserved for 2.500 MiB of live blocks in 2 segments; 3 blocks in 2 call sites pin them";
    assert!(text.contains(sentence), "{text}");
}
