//! Pins on the command line: single ones or those of a document, in every form of the answer, and lanes compared with a
//! chosen one.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::cli::{fails, json, run, text_of};

const SESSION: [&str; 6] = ["compare", "sample:bert", "--dim", "seq=128", "--dim", "batch=8"];

/// A configuration in a file, as a `--pin` argument.
fn pin(folder: &Path, name: &str, settings: &[&str]) -> String {
    let path: PathBuf = folder.join(format!("{}.json", name.replace([' ', '='], "_")));
    let path = path.to_str().expect("a path of letters");
    let output = run(&[
        &["export", "sample:bert", "--dim", "seq=128"],
        settings,
        &["--to", path],
    ]
    .concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    format!("{name}={path}")
}

fn with<'a>(pins: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let pins = pins.iter().flat_map(|pin| ["--pin", pin.as_str()]);
    SESSION.into_iter().chain(pins).chain(more.iter().copied()).collect()
}

#[test]
fn pins_are_lanes_of_every_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let pins = [
        pin(
            folder.path(),
            "batch=16",
            &["--dim", "batch=16", "--set", "memory_config.static_memory_policy=4"],
        ),
        pin(
            folder.path(),
            "small",
            &["--dim", "batch=8", "--set", "simulation.device_memory=100MiB"],
        ),
    ];
    let answer = json(&with(&pins, &["--format", "json"]), 0);
    let plain = json(&[&SESSION[..], &["--format", "json"]].concat(), 0);
    assert_eq!(answer["policies"], plain["policies"], "policies are as without pins");
    assert_eq!(plain.get("pins"), None);
    let of = |field: &str| -> Vec<&Json> {
        let pins = answer["pins"].as_array().expect("pins");
        pins.iter().map(|pin| &pin[field]).collect()
    };
    assert_eq!(of("name"), ["batch=16", "small"]);
    assert_eq!(of("policy"), [4, 0]);
    assert_eq!(of("fits"), [true, false]);
    assert_eq!(
        answer["pins"][0]["on_axis"][0],
        "Dimensions have other values than the axis shows."
    );
    let settings = answer["pins"][0]["differences"].as_array().expect("differences");
    let settings: Vec<&str> = settings.iter().filter_map(|row| row["setting"].as_str()).collect();
    assert_eq!(settings, ["memory_config.static_memory_policy", "batch"]);
    let text = text_of(&with(&pins, &[]), 0);
    assert!(
        text.contains("\npinned batch=16: memory_config.static_memory_policy: 4, not 0; batch: 16, not 8\n"),
        "{text}"
    );
    let page = text_of(&with(&pins, &["--format", "markdown"]), 0);
    assert!(
        page.contains("| pinned small | dynamic allocation |")
            && page.contains("**out of memory**")
            && page.contains("- pinned small: `simulation.device_memory`"),
        "{page}"
    );
}

#[test]
fn lanes_are_compared_with_a_chosen_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let pins = [pin(folder.path(), "batch 16", &["--dim", "batch=16"])];
    let beside = |baseline: &str, top: &str| {
        let arguments = ["--baseline-lane", baseline, "--top", top, "--format", "json"];
        json(&with(&pins, &arguments), 0)["beside"].clone()
    };
    let answer = beside("batch 16", "3");
    assert_eq!(answer["lane"], "pinned batch 16");
    let others = answer["others"].as_array().expect("lanes");
    assert_eq!(others.len(), 4);
    assert_eq!(
        (&others[0]["lane"], &others[0]["fits"]),
        (&Json::from("policy 0"), &Json::from(true))
    );
    let metric = |name: &str| {
        let metrics = others[0]["metrics"].as_array().expect("metrics");
        metrics
            .iter()
            .find(|row| row["metric"] == name)
            .expect("a metric")
            .clone()
    };
    let peak = metric("peak_live");
    assert!(
        peak["now"].as_u64() < peak["before"].as_u64() && peak["percent"].as_f64() < Some(0.0),
        "{peak}"
    );
    assert!(metric("device_calls")["now"].is_u64());
    let changes = others[0]["changes"].as_array().expect("changes");
    let n_smaller = changes.iter().filter(|row| row["kind"] == "smaller").count();
    assert!((1..=3).contains(&n_smaller), "{changes:?}");
    // Lane 2 as the baseline.
    let others = beside("2", "1")["others"].clone();
    assert_eq!(others[3]["lane"], "pinned batch 16");
    let text = text_of(&with(&pins, &["--baseline-lane", "policy 0", "--top", "2"]), 0);
    for part in [
        "\nLanes compared with policy 0\n",
        "\npinned batch 16 compared with policy 0\n",
        "device calls",
        "bigger",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let page = text_of(&with(&pins, &["--baseline-lane", "0", "--format", "markdown"]), 0);
    assert!(
        page.contains("Lanes compared with policy 0") && page.contains("| pinned batch 16 |"),
        "{page}"
    );
    // Limits apply to the active lane against the chosen one.
    let limit = ["--baseline-lane", "batch 16", "--fail-if", "peak_live>+0%"];
    assert_eq!(run(&with(&pins, &limit)).status.code(), Some(0));
    fails(
        &with(&pins, &["--baseline-lane", "gone"]),
        "lanes are policy 0, policy 2, policy 3, policy 4, pinned batch 16",
    );
}

#[test]
fn documents_carry_their_pins() {
    let folder = tempfile::tempdir().expect("a folder");
    let pins = [pin(folder.path(), "batch 16", &["--dim", "batch=16"])];
    let path = folder.path().join("x.highwater");
    let path = path.to_str().expect("a path of letters");
    let export = [
        "export",
        "sample:bert",
        "--dim",
        "seq=128",
        "--dim",
        "batch=8",
        "--pin",
        &pins[0],
        "--to",
        path,
    ];
    assert!(run(&export).status.success());
    let answer = json(&["compare", path, "--format", "json"], 0);
    assert_eq!(answer["pins"][0]["name"], "batch 16");
    // A second pin of the same name is rejected.
    fails(
        &["compare", path, "--pin", &pins[0]],
        "a pin \"batch 16\" exists already",
    );
    let again = folder.path().join("y.highwater");
    let again = again.to_str().expect("a path of letters");
    assert!(run(&["export", path, "--to", again]).status.success());
    assert_eq!(json(&["compare", again, "--format", "json"], 0)["pins"], answer["pins"]);
}

#[test]
fn invalid_pins_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let broken = folder.path().join("broken.json");
    std::fs::write(&broken, "{\"highwater_config\": 99}").expect("it can be written");
    let broken = format!("a={}", broken.display());
    for (pin, part) in [
        ("nothing", "expected --pin NAME=CONFIG.json"),
        ("a=", "expected --pin NAME=CONFIG.json"),
        ("=x.json", "a pin needs a name"),
        ("a=/nowhere/x.json", "/nowhere/x.json"),
        (&broken, "line 1, column 24: configuration version 99"),
    ] {
        fails(&[&SESSION[..], &["--pin", pin]].concat(), part);
    }
}
