//! `compare` as a gate of continuous integration: the verdict names the broken limit, contributions add up, and figures
//! that cannot be compared are reported as such.

use serde_json::Value as Json;

use crate::cli::{Place, fails, json, run};

const BERT: [&str; 6] = ["compare", "sample:bert", "--dim", "seq=128", "--dim", "batch=8"];

/// The answer of `compare`, as a file.
fn kept(place: &Place, arguments: &[&str]) -> String {
    place.write("kept.json", run(&[arguments, &["--format", "json"]].concat()).stdout)
}

/// Exit code and standard output.
fn told(arguments: &[&str]) -> (i32, String) {
    let (code, text, _) = super::told(arguments);
    (code, text)
}

/// A training graph with the live peak, and a small graph after it with the reserved peak.
fn two<'a>(second: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["compare", "sample:mixed", "--run", "train", "--run", second], more].concat()
}

fn sum(rows: &Json, field: &str) -> i64 {
    let rows = rows.as_array().expect("rows").iter();
    rows.map(|row| row[field].as_i64().expect("bytes")).sum()
}

#[test]
fn growth_of_reserved_bytes_is_reported_by_graph() {
    let place = Place::new();
    let (small, large) = ("main_graph[seq=128; batch=1]", "main_graph[seq=128; batch=8]");
    let path = &kept(&place, &two(small, &[]));
    let gate = ["--baseline", path, "--fail-if", "peak_reserved>+0%"];
    let answer = json(&two(large, &[&gate[..], &["--format", "json"]].concat()), 1);
    for policy in answer["policies"].as_array().expect("policies") {
        let peak = &policy["at_peak_reserved"];
        let others = peak["others"]["bytes"].as_i64().expect("bytes");
        let held = sum(&peak["tensors"], "bytes") + others + sum(&peak["rest"], "bytes");
        assert_eq!(peak["reserved_bytes"], policy["peak_reserved_bytes"]);
        assert_eq!(Some(held), peak["reserved_bytes"].as_i64(), "{}", policy["policy"]);
    }
    let beside = &answer["baseline"];
    let metric = |name: &str| {
        let rows = beside["metrics"].as_array().expect("metrics");
        let row = rows.iter().find(|row| row["metric"] == name).expect("a metric");
        row["now"].as_i64().unwrap() - row["before"].as_i64().unwrap()
    };
    assert_eq!(metric("peak_live"), 0);
    let rows = &beside["changes_at_peak_reserved"];
    let unlisted = beside["unlisted_at_peak_reserved_bytes"].as_i64().expect("bytes");
    assert_eq!(sum(rows, "difference_bytes") + unlisted, metric("peak_reserved"));
    let is_arena = |row: &Json| row["graph"] == "main_graph" && row["name"] == "arena: reserved, unused";
    assert!(rows.as_array().expect("rows").iter().any(is_arena), "{rows}");
    for format in ["text", "markdown"] {
        let (_, text) = told(&two(large, &[&gate[..], &["--format", format]].concat()));
        assert!(text.contains("arena: reserved, unused (main"), "{format}: {text}");
        assert!(!text.contains("same size as before"), "{format}: {text}");
    }
}

#[test]
fn an_earlier_answer_without_reserved_holders_says_so() {
    let place = Place::new();
    let path = &kept(&place, &BERT);
    let mut answer: Json = serde_json::from_str(&place.read("kept.json")).expect("JSON");
    for policy in answer["policies"].as_array_mut().expect("policies") {
        policy.as_object_mut().expect("a lane").remove("at_peak_reserved");
    }
    answer.as_object_mut().expect("an answer").remove("settings");
    place.write("kept.json", answer.to_string());
    let grown = [
        "compare",
        "sample:bert",
        "--dim",
        "seq=128",
        "--dim",
        "batch=9",
        "--baseline",
        path,
    ];
    let (_, text) = told(&grown);
    assert!(text.contains("write it again with this version"), "{text}");
    let answer = json(&[&grown[..], &["--format", "json"]].concat(), 0);
    assert_eq!(answer["baseline"]["changes_at_peak_reserved"], Json::Null);
    let (_, text) = told(&[&BERT[..], &["--baseline", path]].concat());
    assert!(text.contains("same size as before"), "{text}");
    assert!(!text.contains("requests differ"), "{text}");
}

#[test]
fn a_run_out_of_memory_comes_first_and_fails_every_limit() {
    let place = Place::new();
    let path = &kept(&place, &BERT);
    let gate = [
        "--device-memory",
        "90MiB",
        "--baseline",
        path,
        "--fail-if",
        "peak_reserved>+5%",
        "--fail-if",
        "peak_live>1TiB",
    ];
    let gate = [&BERT[..], &gate].concat();
    let (code, page) = told(&[&gate[..], &["--format", "markdown"]].concat());
    assert_eq!(code, 1);
    let first = page.lines().find(|line| line.starts_with("- ")).expect("a verdict");
    for part in [
        "- :x: policy 0, which is active, runs out of memory.",
        " requests ",
        " is sufficient for the whole session",
    ] {
        assert!(first.contains(part), "{part}: {page}");
    }
    assert!(
        !page.contains(":white_check_mark:") && !page.contains("-100.0 %"),
        "{page}"
    );
    let row = page.lines().find(|line| line.starts_with("| **policy 0** |"));
    assert!(row.is_some_and(|row| row.contains("**out of memory**")), "{page}");
    assert!(
        page.contains("| figure | before | now, until out of memory |"),
        "{page}"
    );
    let (_, text) = told(&gate);
    assert!(!text.contains("\nholds "), "{text}");
    assert!(
        text.contains("\nfails: policy 0, which is active, runs out of memory."),
        "{text}"
    );
    assert!(text.contains("unknown for the whole run"), "{text}");
    let answer = json(&[&gate[..], &["--format", "json"]].concat(), 1);
    assert_eq!(answer["baseline"]["changes"], Json::Null);
}

#[test]
fn a_baseline_that_ended_early_gives_no_relative_limit() {
    let place = Place::new();
    let path = &kept(&place, &[&BERT[..], &["--device-memory", "90MiB"]].concat());
    let gate = [&BERT[..], &["--baseline", path, "--fail-if", "peak_reserved>+5%"]].concat();
    let (code, page) = told(&[&gate[..], &["--format", "markdown"]].concat());
    assert_eq!(code, 0, "{page}");
    for part in [
        "- :warning: `peak_reserved>+5%`: the baseline stopped early",
        "| before, until out of memory | now |",
        "generic-32GB with 90.00 MiB before, generic-32GB with 32.00 GiB now",
    ] {
        assert!(page.replace('\u{a0}', " ").contains(part), "{part}: {page}");
    }
    assert!(!page.contains("(new)"), "{page}");
    let limit = &json(&[&gate[..], &["--format", "json"]].concat(), 0)["baseline"]["limits"][0];
    assert_eq!(limit["is_broken"], false);
    assert!(
        limit["why"].as_str().is_some_and(|why| why.contains("stopped early")),
        "{limit}"
    );
    let absolute = [&BERT[..], &["--baseline", path, "--fail-if", "peak_reserved>1KiB"]].concat();
    assert_eq!(told(&absolute).0, 1);
}

#[test]
fn changed_requests_are_reported() {
    let place = Place::new();
    let path = &kept(&place, &BERT);
    for (arguments, part) in [
        (&["--dim", "batch=16"][..], "batch of main_graph: 8 before, 16 now"),
        (
            &["--dim", "batch=8", "--iterations", "3"],
            "1 iteration before, 3 iterations now",
        ),
        (
            &["--dim", "batch=8", "--run", "main_graph*2"],
            "1 run before, 2 runs now",
        ),
        (
            &["--dim", "batch=8", "--device-memory", "1GiB"],
            "generic-32GB with 32.00 GiB before, generic-32GB with 1.000 GiB now",
        ),
        (
            &["--dim", "batch=8", "--set", "memory_config.atomic_clean_policy=1"],
            "memory_config.atomic_clean_policy 0 before, 1 now",
        ),
        (
            &["--dim", "batch=8", "--env", "GE_USE_STATIC_MEMORY=2"],
            "policy 0 before, policy 2 now.",
        ),
    ] {
        let session = ["compare", "sample:bert", "--dim", "seq=128", "--baseline", path];
        let (_, text) = told(&[&session[..], arguments].concat());
        let expected = format!("warning: The requests differ: {part}");
        assert!(text.replace('\u{a0}', " ").contains(&expected), "{arguments:?}: {text}");
    }
    let (_, same) = told(&[&BERT[..], &["--baseline", path]].concat());
    assert!(!same.contains("warning: "), "{same}");
    let (code, page) = told(&["compare", "sample:mixed", "--baseline", path, "--format", "markdown"]);
    assert_eq!(code, 0);
    let first = page.lines().find(|line| line.starts_with("- ")).expect("a verdict");
    assert!(
        first.contains(":warning: The baseline has other graphs: main\\_graph"),
        "{page}"
    );
}

#[test]
fn an_error_finding_is_part_of_the_verdict() {
    let erring = [
        "--set",
        "memory_config.static_memory_policy=9",
        "--fail-if",
        "peak_reserved>1TiB",
    ];
    let (code, page) = told(&[&BERT[..], &erring, &["--format", "markdown"]].concat());
    assert_eq!(code, 1, "{page}");
    let first = page.lines().find(|line| line.starts_with("- ")).expect("a verdict");
    assert!(first.starts_with("- :x: `R"), "{page}");
}

#[test]
fn an_answer_is_no_configuration() {
    let place = Place::new();
    let path = &kept(&place, &BERT);
    let pin = format!("before={path}");
    let part = "this is an answer of `compare`, not a configuration: compare with it by --baseline FILE";
    fails(&[&BERT[..], &["--pin", &pin]].concat(), part);
    fails(&[&BERT[..], &["--config", path]].concat(), part);
    let document = &place.at("x.highwater");
    assert_eq!(
        told(&["export", "sample:bert", "--dim", "seq=128", "--to", document]).0,
        0
    );
    fails(
        &[&BERT[..], &["--config", document]].concat(),
        "this is a document, not a configuration",
    );
    let plan = &place.write("plan.json", run(&["inspect", "sample:bert", "--format", "json"]).stdout);
    fails(
        &[&BERT[..], &["--config", plan]].concat(),
        "an answer of `inspect`, not a configuration",
    );
}

#[test]
fn a_graph_in_json_is_no_configuration() {
    let place = Place::new();
    let text = r#"{"highwater_graph": 1, "nodes": [{"op": "Relu", "inputs": [], "outputs": []}]}"#;
    let path = &place.write("graph.json", text);
    fails(&["check", path], "not a configuration but");
    fails(&[&BERT[..], &["--config", path]].concat(), "not a configuration but");
    // A launcher's file may have the same keys.
    for (value, policy) in [("2", "active policy: 2"), ("${POLICY}", "active policy: 0")] {
        let text = serde_json::json!({"nodes": 4, "env": {"GE_USE_STATIC_MEMORY": value}}).to_string();
        place.write("graph.json", text);
        let (code, text) = told(&["check", path]);
        assert!(code == 0 && text.contains(policy), "{text}");
    }
}

#[test]
fn a_pin_reports_schedule_differences() {
    let place = Place::new();
    let path = &place.at("p.json");
    let own = [
        "--dim",
        "batch=32",
        "--run",
        "main_graph[seq=64; batch=4]*2",
        "--set",
        "simulation.device_memory=2GiB",
        "--to",
        path,
    ];
    assert_eq!(told(&[&["export", "sample:mixed"], &own[..]].concat()).0, 0);
    let pin = format!("own={path}");
    let session = ["compare", "sample:mixed", "--pin", &pin, "--format"];
    let (_, text) = told(&[&session[..], &["text"]].concat());
    let (_, page) = told(&[&session[..], &["markdown"]].concat());
    let (text, page) = (text.replace('\u{a0}', " "), page.replace('\u{a0}', " "));
    let part =
        "simulation.device_memory: 2.000 GiB, not None; schedule: main_graph[batch=4; seq=64]*2, not every graph once";
    assert!(text.contains(part), "{text}");
    assert!(!text.contains("batch: "), "{text}");
    let part =
        "`simulation.device_memory`: 2.000 GiB, not None; `schedule`: main\\_graph\\[batch=4; seq=64\\]\\*2, not ";
    assert!(page.contains(part) && !page.contains("`batch`"), "{page}");
}

#[test]
fn a_measured_lane_reports_the_error_of_each_simulated_peak() {
    let file = |name: &str| format!("{}/sample_traces/{name}", env!("CARGO_MANIFEST_DIR"));
    let (run, graph) = (file("lenet_training.runmeta.pb.gz"), file("lenet_training.pb"));
    let (_, text) = told(&["compare", &run, &graph]);
    let (_, errors) = text
        .split_once("\nSimulated peaks compared with measured ")
        .expect("a table");
    let rows: Vec<&str> = errors.lines().filter(|line| line.starts_with("policy 0 ")).collect();
    assert!(rows[0].contains(" (+") && rows[0].contains(" %)"), "{text}");
    assert!(text.contains("fits by construction"), "{text}");
}
