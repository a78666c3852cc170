//! Lanes of allocator settings beside recordings and graphs, and measured runs of eager programs beside graphs.

use serde_json::{Value as Json, json};

use super::torch::small_run;
use super::{fails, json as answer_of};
use crate::snapshots::pickle;
use crate::support::shared;

fn simulated(answer: &Json) -> Vec<&Json> {
    let lanes = answer["measured"].as_array().expect("lanes").iter();
    lanes.filter(|lane| lane["simulation"].is_object()).collect()
}

/// Every lane of `compare` has the figures that `replay` gives to its settings.
#[track_caller]
fn check_lanes(file: &str, confs: &[&str]) {
    let with_confs = |command: &[&str]| {
        let mut arguments: Vec<&str> = command.to_vec();
        arguments.extend(["--format", "json"]);
        arguments.extend(confs.iter().flat_map(|conf| ["--conf", conf]));
        answer_of(&arguments, 0)
    };
    let compared = with_confs(&["compare", file]);
    let replayed = with_confs(&["replay", file, "--allocator", "torch"]);
    let lanes = simulated(&compared);
    let runs = replayed["runs"].as_array().expect("several runs");
    assert_eq!((lanes.len(), runs.len()), (confs.len(), confs.len()));
    for (lane, run) in lanes.iter().zip(runs) {
        let simulation = &lane["simulation"];
        let peak = &run["peak_reserved_bytes"];
        for (found, wanted) in [
            (&lane["peak_reserved_bytes"], peak),
            (&simulation["peak_reserved_bytes"], peak),
            (&simulation["conf"], &run["conf"]),
            (&simulation["device_calls"], &run["device_calls"]),
            (&simulation["ooms"], &run["ooms"]),
            (&simulation["num_alloc_retries"], &run["num_alloc_retries"]),
            (
                &simulation["measured_peak_reserved_bytes"],
                &replayed["recorded_peak_reserved_bytes"],
            ),
        ] {
            assert_eq!(found, wanted, "{}", run["conf"]);
        }
        // The program's own bytes do not depend on the allocator.
        assert_eq!(lane["peak_live_bytes"], compared["measured"][0]["peak_live_bytes"]);
    }
}

#[test]
fn settings_are_lanes_with_the_figures_of_their_replay() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.pickle");
    std::fs::write(&path, pickle(&small_run())).expect("the file can be written");
    let path = path.to_str().expect("UTF-8");
    check_lanes(path, &["-", "expandable_segments:True", "max_split_size_mb:20"]);
    fails(&["compare", path, "--conf", "max_split_size_mb:19"], "at least 20 MiB");
    // A document keeps the lanes.
    let document = folder.path().join("run.highwater");
    let settings = json!([{"settings": "expandable_segments:True"}, {"settings": "", "torch": "2.9"}]);
    let text = json!({"highwater_document": 1, "sources": [{"path": "run.pickle"}], "allocator_settings": settings});
    std::fs::write(&document, text.to_string()).expect("the document can be written");
    let answer = answer_of(&["compare", document.to_str().expect("UTF-8"), "--format", "json"], 0);
    let versions: Vec<&Json> = simulated(&answer)
        .iter()
        .map(|lane| &lane["simulation"]["allocator"])
        .collect();
    // What is chosen for one lane is the recording's release in all.
    assert_eq!(versions, ["torch 2.9", "torch 2.9"]);
}

#[test]
fn lanes_of_real_snapshots_have_the_figures_of_their_replay() {
    let Some(folder) = shared("corpus/fetched/torch_snapshots") else {
        return;
    };
    for name in ["npu_snapshot_1768383987920985470.pkl", "npu_snapshot_expandable.pkl"] {
        let path = folder.join(name);
        check_lanes(
            path.to_str().expect("UTF-8"),
            &["-", "max_split_size_mb:64", "expandable_segments:True"],
        );
    }
}

#[test]
fn a_graph_runs_under_settings_beside_the_policies() {
    let arguments = [
        "compare",
        "sample:mobilenet",
        "--conf",
        "-",
        "--conf",
        "expandable_segments:True",
        "--format",
        "json",
    ];
    let answer = answer_of(&arguments, 0);
    let lanes = simulated(&answer);
    let titles: Vec<&Json> = lanes.iter().map(|lane| &lane["title"]).collect();
    assert_eq!(
        titles,
        ["torch 2.15: default settings", "torch 2.15: expandable_segments:True"]
    );
    assert_eq!(answer["policies"].as_array().expect("policies").len(), 4);
    let bytes = |lane: &Json, key: &str| lane[key].as_u64().expect("bytes");
    for lane in lanes {
        let policy = &answer["policies"][0];
        // Variables and inputs are requests, too.
        assert!(bytes(lane, "peak_live_bytes") >= bytes(policy, "peak_live_bytes"));
        assert!(bytes(lane, "peak_reserved_bytes") >= bytes(lane, "peak_live_bytes"));
    }
}

/// An op with a temporary of 100 bytes, and one without, in a trace and in a graph.
#[test]
fn ops_of_a_trace_match_a_graph_by_type_and_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = |ts: u64, address: u64, bytes: i64| {
        json!({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts,
               "args": {"Addr": address, "Bytes": bytes, "Device Type": 0, "Device Id": -1}})
    };
    let op = |name: &str, ts: u64, dur: u64| json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": {}});
    let events = json!([
        op("aten::conv2d", 10, 50),
        op("aten::convolution", 11, 40),
        memory(12, 1, 64),
        memory(13, 2, 100),
        memory(20, 2, -100),
        op("aten::relu_", 70, 5),
        memory(80, 1, -64),
    ]);
    let trace = folder.path().join("run.trace.json");
    std::fs::write(&trace, json!({"traceEvents": events}).to_string()).expect("the trace can be written");
    let tensor = |id: &str| json!({"id": id, "shape": [16], "dtype": "float32", "bytes": 64});
    let nodes = json!([
        {"name": "convolution", "op": "aten.convolution.default", "inputs": ["x"], "outputs": [tensor("convolution")]},
        {"name": "relu_", "op": "aten.relu_.default", "inputs": ["convolution"], "outputs": [
            {"id": "relu_", "shape": [16], "dtype": "float32", "bytes": 64, "alias_of": "convolution"}]},
        {"name": "out", "op": "aten.neg.default", "inputs": ["relu_"], "outputs": [tensor("out")]},
    ]);
    let input = json!({"id": "x", "shape": [16], "dtype": "float32", "bytes": 64, "role": "batch"});
    let graph = json!({"highwater_graph": 1, "nodes": nodes, "inputs": [input], "outputs": ["out"]});
    let path = folder.path().join("graph.json");
    std::fs::write(&path, graph.to_string()).expect("the graph can be written");
    let files = [path.to_str().expect("UTF-8"), trace.to_str().expect("UTF-8")];
    let answer = answer_of(&["compare", files[0], files[1], "--format", "json"], 0);
    let told = answer["diagnostics"].to_string().replace('\u{a0}', " ");
    assert!(
        told.contains("2 of 3 ops have measured times, and 100 B of scratch memory"),
        "{told}"
    );
    assert_eq!(answer["measured"][0]["fits_by_construction"], true);
    assert_eq!(answer["policies"][0]["peak_live_bytes"], 164);
}

#[test]
fn the_scratch_memory_of_a_trace_explains_the_peak_of_its_graph() {
    let Some(folder) = shared("corpus/made") else {
        return;
    };
    let graph = folder.join("torch_train/resnet18_b8_sgd_small.json");
    for kind in ["native", "mkldnn"] {
        let trace = folder.join(format!("kineto/resnet18_b8_cpu_{kind}.trace.json.gz"));
        let files = [&graph, &trace].map(|path| path.to_str().expect("UTF-8"));
        let answer = answer_of(&["compare", files[0], files[1], "--format", "json"], 0);
        let measured = answer["measured"][0]["peak_live_bytes"].as_u64().expect("bytes");
        let simulated = answer["policies"][0]["peak_live_bytes"].as_u64().expect("bytes");
        // Without scratch memory it is 11.5 % and 2.2 % less.
        assert!(
            simulated.abs_diff(measured) * 100 <= measured,
            "{kind}: {simulated} {measured}"
        );
    }
}
