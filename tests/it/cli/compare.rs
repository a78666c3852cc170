//! `highwater compare`: fields, exit codes, notes on estimates.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::cli::{json, run, text_of};

#[test]
fn compare_has_the_fields_of_the_contract() {
    let answer = json(&["compare", "sample:resnet50", "--format", "json"], 0);
    let numbers: Vec<u64> = answer["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["policy"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [0, 2, 3, 4]);
    for row in answer["policies"].as_array().unwrap() {
        for field in [
            "policy",
            "label",
            "peak_reserved_bytes",
            "peak_reserved_step",
            "peak_live_bytes",
            "fragmentation",
            "device_mallocs",
            "device_frees",
            "reallocations",
            "pages_mapped",
            "unloads",
            "out_of_memory",
            "estimated_overhead_ns",
            "lower_bound",
            "internal_waste_bytes",
            "largest_free_bytes",
            "virtual_bytes",
            "pages_allocated",
            "pages_unmapped",
            "stitches",
            "recycles",
            "synchronizations",
            "splits",
            "merges",
            "clears",
            "cleared_bytes",
        ] {
            assert!(!row[field].is_null(), "{field}");
        }
        let parts = &row["reserved"];
        let sum: u64 = ["features", "weights", "variables", "io"]
            .iter()
            .map(|part| parts[part].as_u64().unwrap())
            .sum();
        assert_eq!(row["peak_reserved_bytes"].as_u64(), Some(sum));
        for field in ["first_divergence_step", "reach_rate", "external_fragmentation"] {
            assert!(row.as_object().unwrap().contains_key(field), "{field}");
        }
        let behaviour = (row["policy"] == 2).then_some("engine");
        assert_eq!(row["arena_behaviour"].as_str(), behaviour);
        let causes = row["overhead"].as_array().unwrap();
        let time: u64 = causes.iter().map(|cause| cause["estimated_ns"].as_u64().unwrap()).sum();
        assert_eq!(row["estimated_overhead_ns"].as_u64(), Some(time));
        assert!(
            causes
                .iter()
                .all(|cause| cause["cause"].is_string() && cause["count"].as_u64() > Some(0))
        );
    }
    assert_eq!(answer["effective_policy"], 0);
    assert_eq!(answer["best"]["policy"], 2);
    let again = run(&["compare", "sample:resnet50", "--format", "json"]);
    let first = run(&["compare", "sample:resnet50", "--format", "json"]);
    assert_eq!(again.stdout, first.stdout, "two runs are equal byte for byte");
}

#[test]
fn compare_says_no_where_the_answer_is_no() {
    let small = [
        "compare",
        "sample:resnet50",
        "--device-memory",
        "1GiB",
        "--format",
        "json",
    ];
    let answer = json(&small, 1);
    assert_eq!(answer["policies"][0]["out_of_memory"], true);
    assert!(answer["best"].is_null());
    let conflict = [
        "compare",
        "sample:mobilenet",
        "--set",
        "memory_config.static_memory_policy=3",
        "--env",
        "GE_USE_STATIC_MEMORY=2",
        "--format",
        "json",
    ];
    assert_eq!(json(&conflict, 1)["effective_policy"], 4);
    let chosen = json(
        &["compare", "sample:mobilenet", "--policies", "0,1", "--format", "json"],
        0,
    );
    assert_eq!(chosen["policies"].as_array().unwrap().len(), 2);
    let other = json(
        &["compare", "sample:mobilenet", "--policies", "2", "--format", "json"],
        0,
    );
    assert_eq!(other["policies"].as_array().unwrap().len(), 1);
}

#[test]
fn one_static_graph_says_that_the_policies_are_alike() {
    let alike = |sample: &str| {
        let answer = json(&["compare", sample, "--format", "json"], 0);
        answer["alike"].as_str().map(str::to_owned)
    };
    assert!(alike("sample:lenet").is_some_and(|text| text.contains("One static graph")));
    // A granule is more than 5 % of the peak here, so the difference counts.
    assert_eq!(alike("sample:mobilenet"), None);
}

#[test]
fn compare_names_estimates_and_other_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("mix.json");
    std::fs::write(&list, r#"{"black-list": {"to-add": ["Conv"]}} // convolutions stay"#).expect("a file");
    let list = format!("modify_mixlist={}", list.display());
    let mixed = [
        "compare",
        "sample:mobilenet",
        "--set",
        "precision_mode=allow_mix_precision",
    ];
    let occupied = [
        "--set",
        "simulation.occupied_memory=0:2GiB,1:4GiB",
        "--env",
        "DEVICE_ID=1",
    ];
    let plain = json(&[&mixed[..2], &["--format", "json"]].concat(), 0);
    let narrow = json(&[&mixed[..], &occupied, &["--format", "json"]].concat(), 0);
    let kept = json(&[&mixed[..], &["--set", &list, "--format", "json"]].concat(), 0);
    assert_eq!(
        (&plain["estimates"], &plain["occupied_bytes"]),
        (&serde_json::json!([]), &serde_json::json!(0))
    );
    assert_eq!(
        (&narrow["device_id"], &narrow["occupied_bytes"]),
        (&serde_json::json!(1), &serde_json::json!(4_u64 << 30))
    );
    assert_eq!(narrow["device"]["memory_bytes"], 28_u64 << 30);
    assert_eq!(narrow["estimates"], serde_json::json!(["precision_mode"]));
    assert_eq!(
        kept["estimates"],
        serde_json::json!(["precision_mode", "modify_mixlist"])
    );
    let live = |answer: &Json| answer["policies"][0]["peak_live_bytes"].as_u64().expect("bytes");
    assert!(live(&narrow) < live(&kept) && live(&kept) <= live(&plain));
    let text = text_of(&[&mixed[..], &occupied].concat(), 0);
    assert!(
        text.contains("estimate: precision_mode changes widths by op class"),
        "{text}"
    );
    assert!(
        text.contains("with 28.00\u{a0}GiB available; other processes hold 4.000\u{a0}GiB on device 1"),
        "{text}"
    );
}

#[test]
fn compare_reports_the_mode_of_policy_2_and_scratch_memory() {
    let base = ["compare", "sample:mobilenet", "--policies", "2"];
    let settings = [
        "--set",
        "simulation.policy_2_behaviour=documented",
        "--set",
        "simulation.workspace_estimate=on",
        "--set",
        "simulation.malloc_ns=7",
    ];
    let text = |arguments: &[&str]| text_of(arguments, 0);
    let (plain, changed) = (text(&base), text(&[&base[..], &settings].concat()));
    assert!(
        plain.contains("matches GE") && plain.contains("kernel scratch not included"),
        "{plain}"
    );
    assert!(
        changed.contains("as documented") && changed.contains("Kernel scratch is an estimate"),
        "{changed}"
    );
    assert!(
        changed.contains("estimate: simulation.workspace_estimate estimates scratch memory"),
        "{changed}"
    );
    let answer = json(&[&base[..], &settings, &["--format", "json"]].concat(), 0);
    assert_eq!(answer["scratch"], "estimated");
    assert_eq!(answer["policies"][0]["arena_behaviour"], "documented");
    assert_eq!(answer["policies"][0]["lower_bound"], true);
    let malloc = &answer["policies"][0]["overhead"][0];
    assert_eq!(malloc["cause"], "malloc");
    assert_eq!(malloc["estimated_ns"].as_u64(), malloc["count"].as_u64().map(|n| 7 * n));
}

/// All keys of an object, recursively.
fn keys(value: &Json, found: &mut BTreeSet<String>) {
    match value {
        Json::Object(object) => {
            for (key, inside) in object {
                found.insert(key.clone());
                keys(inside, found);
            }
        }
        Json::Array(list) => list.iter().for_each(|inside| keys(inside, found)),
        _ => {}
    }
}

#[test]
fn every_field_is_documented() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let earlier = run(&["compare", "sample:mixed", "--format", "json"]).stdout;
    let earlier = file("earlier.json", &earlier);
    let pin = file("pin.json", br#"{"memory_config": {"static_memory_policy": 4}}"#);
    let pin = format!("other={pin}");
    let cases: [&[&str]; 8] = [
        &["sample:resnet50"],
        &["sample:resnet50", "--device-memory", "1GiB"],
        &["sample:mixed", "--run", "train @1", "--run", "evaluate @1"],
        &["sample:mixed", "--baseline", &earlier, "--fail-if", "peak_reserved>+0%"],
        &["sample:mixed", "--pin", &pin, "--baseline-lane", "other"],
        &["sample:bert", "--baseline", &earlier],
        &["sample:resnet50", "--set", "dtr.eviction_threshold=200MiB"],
        &["sample:measured"],
    ];
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/compare.md")).unwrap();
    let mut known = BTreeSet::new();
    for case in cases {
        let output = run(&[&["compare"], case, &["--format", "json"]].concat());
        let answer: Json = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{case:?}: {error}: {}", String::from_utf8_lossy(&output.stderr)));
        keys(&answer, &mut known);
        if let Some(runs) = answer["workload"]["runs"].as_array() {
            // Names of dimensions are keys too.
            for dims in runs.iter().filter_map(|run| run["dims"].as_object()) {
                for dim in dims.keys() {
                    known.remove(dim);
                }
            }
        }
    }
    for field in [
        "forbidden_by",
        "out_of_memory_story",
        "beside",
        "baseline",
        "remat",
        "measured",
        "pins",
    ] {
        assert!(known.contains(field), "no case has {field}");
    }
    let missing: Vec<&String> = known.iter().filter(|key| !text.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "docs/compare.md has no {missing:?}");
}
