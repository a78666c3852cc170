//! `compare` with an earlier answer: every metric is read back, growth is attributed to tensors, limits decide the exit
//! code.

use highwater::analysis::METRICS;
use highwater::export::Baseline;
use serde_json::Value as Json;

use crate::cli::{Place, fails, json, run, says, text_of, words};

/// The answer of `compare`, as a file.
fn kept(place: &Place, arguments: &[&str]) -> String {
    let all = [&["compare"], arguments, &["--format", "json"]].concat();
    place.write("kept.json", run(&all).stdout)
}

/// The answer that others are compared with.
fn of_batch_8(place: &Place) -> String {
    kept(place, &["sample:bert", "--dim", "seq=128", "--dim", "batch=8"])
}

/// A session compared with the same under other settings.
fn beside<'a>(path: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let session = ["compare", "sample:bert", "--dim", "seq=128", "--baseline", path];
    [&session, more].concat()
}

#[test]
fn every_metric_is_read_back() {
    let place = Place::new();
    for sample in ["resnet50", "mixed", "bert"] {
        let source = format!("sample:{sample}");
        let path = kept(&place, &[&source]);
        let baseline = Baseline::read(place.read("kept.json").as_bytes()).expect(sample);
        for metric in METRICS {
            assert!(baseline.lane.figure(metric).is_some(), "{sample}: {}", metric.name);
        }
        let answer = json(&["compare", &source, "--baseline", &path, "--format", "json"], 0);
        let beside = &answer["baseline"];
        for row in beside["metrics"].as_array().expect("metrics") {
            assert_eq!(
                (&row["before"], row["percent"].as_f64()),
                (&row["now"], Some(0.0)),
                "{sample}: {row}"
            );
        }
        assert_eq!(beside["changes"], Json::Array(Vec::new()), "{sample}");
        assert_eq!(beside["unlisted_bytes"], 0, "{sample}");
    }
}

#[test]
fn growth_is_attributed_to_tensors() {
    let place = Place::new();
    let path = of_batch_8(&place);
    let answer = json(&beside(&path, &["--dim", "batch=16", "--format", "json"]), 0);
    let beside_it = &answer["baseline"];
    let changes = beside_it["changes"].as_array().expect("changes");
    let differences = changes.iter().filter(|row| row["is_tensor"] == true);
    let told: i64 = differences
        .map(|row| row["difference_bytes"].as_i64().expect("bytes"))
        .sum();
    let live = beside_it["metrics"].as_array().expect("metrics");
    let live = live
        .iter()
        .find(|row| row["metric"] == "peak_live")
        .expect("live bytes");
    let grew = live["now"].as_i64().unwrap() - live["before"].as_i64().unwrap();
    assert!(grew > 0);
    assert_eq!(told + beside_it["unlisted_bytes"].as_i64().unwrap(), grew);
    let largest = &changes
        .iter()
        .find(|row| row["kind"] == "bigger")
        .expect("something grew");
    let (before, now) = (
        largest["before_bytes"].as_u64().unwrap(),
        largest["now_bytes"].as_u64().unwrap(),
    );
    assert_eq!(now, 2 * before, "{largest}");
}

#[test]
fn limits_decide_the_exit_code() {
    let place = Place::new();
    let path = of_batch_8(&place);
    for (batch, limits, code) in [
        ("8", &["peak_reserved>+5%"][..], 0),
        ("8", &["peak_reserved>=+0%"], 1),
        ("8", &["peak_reserved>=+1"], 0),
        ("16", &["peak_reserved>+5%"], 1),
        ("16", &["peak_reserved>+500%"], 0),
        ("16", &["peak_reserved>+500%", "peak_live>+1MiB"], 1),
        ("4", &["peak_reserved>+0%", "peak_live>+0"], 0),
        ("16", &["peak_reserved>1TiB", "device_mallocs>1000000"], 0),
        ("16", &["peak_reserved>1KiB"], 1),
    ] {
        let dim = format!("batch={batch}");
        let mut more = vec!["--dim", &dim];
        for limit in limits {
            more.extend(["--fail-if", limit]);
        }
        for format in ["text", "json", "markdown"] {
            let arguments = [&beside(&path, &more)[..], &["--format", format]].concat();
            says(&text_of(&arguments, code), limits);
        }
    }
    // A limit on an absolute figure needs no baseline.
    let alone = text_of(&["compare", "sample:bert", "--fail-if", "peak_reserved>1KiB"], 1);
    says(&alone, &["fails peak_reserved>1KiB: peak reserved is "]);
}

#[test]
fn markdown_names_changes() {
    let place = Place::new();
    let path = of_batch_8(&place);
    let more = "--dim batch=16 --fail-if peak_reserved>+5% --format markdown --top 3";
    let text = text_of(&beside(&path, &words(&place.line(more))), 1);
    for part in [
        "### Device memory of ",
        "- :x: `peak_reserved>+5%`: peak reserved grew from ",
        "| lane | | peak reserved |",
        "**policy 0** compared with ",
        "<details><summary>Changed tensors at the peak of live bytes</summary>",
        "| bigger |",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for table in text.split("\n\n").filter(|part| part.starts_with('|')) {
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let mut lines = table.lines().filter(|line| line.starts_with('|'));
        let first = bars(lines.next().expect("a heading"));
        assert!(lines.all(|line| bars(line) == first), "{table}");
    }
}

#[test]
fn errors_of_compare_take_one_line() {
    let place = Place::new();
    for (text, expected) in [
        ("", "line 1, column 0: not JSON"),
        ("{\"policies\": [", "line 1, column 14: not JSON"),
        ("{}", "no \"policies\" in it, so it is not an answer of `compare`"),
        ("[1]", "no \"policies\" in it"),
        ("{\"policies\": [{}]}", "its \"effective_policy\" is not a policy"),
        (
            "{\"policies\": [{\"policy\": 2}], \"effective_policy\": 0}",
            "no figures of its active policy 0",
        ),
        (
            "{\"policies\": [{\"policy\": 0, \"at_peak\": 5}], \"effective_policy\": 0}",
            "its \"at_peak\" cannot be read",
        ),
    ] {
        fails(&beside(&place.write("bad.json", text), &[]), expected);
    }
    fails(&beside(&place.at("none.json"), &[]), "none.json");
    let sparse = place.write(
        "sparse.json",
        "{\"policies\": [{\"policy\": 0}], \"effective_policy\": 0}",
    );
    let text = text_of(&beside(&sparse, &["--fail-if", "peak_reserved>+5%"]), 1);
    says(&text, &["the baseline does not state its peak reserved"]);
    for (more, expected) in [
        (
            &["--fail-if", "peak>+5%"][..],
            "unknown metric \"peak\"; known: peak_reserved",
        ),
        (&["--policies", "4"], "policy 0 is active but missing in --policies"),
    ] {
        fails(&beside(&sparse, more), expected);
    }
    fails(
        &["compare", "sample:bert", "--fail-if", "peak_live>+5%"],
        "add --baseline FILE",
    );
}

#[test]
fn a_document_takes_the_graph_that_is_looked_at() {
    let place = Place::new();
    let path = &place.at("session.highwater");
    text_of(
        &words(&place.line("export sample:bert --dim seq=64 --as report --to @session.highwater")),
        0,
    );
    assert!(
        place.read("session.highwater").starts_with("<!"),
        "--as wins over the name"
    );
    text_of(&["export", "sample:mixed", "--graph", "train", "--to", path], 0);
    let document: Json = serde_json::from_str(&place.read("session.highwater")).expect("JSON");
    assert_eq!(document["part"], "train");
    let answer = json(&["compare", path, "--format", "json"], 0);
    assert_eq!(answer["workload"]["graphs"], Json::from(vec!["train"]));
}
