//! `highwater peak`: fields, forms, choices, one line of error.

use serde_json::Value as Json;

use crate::cli::{fails, json, run};

fn sum(rows: &Json, field: &str) -> u64 {
    let rows = rows.as_array().expect("a list").iter();
    rows.map(|row| row[field].as_u64().expect("a number")).sum()
}

#[test]
fn peak_has_the_fields_of_the_contract() {
    let answer = json(&["peak", "sample:resnet50", "--format", "json"], 0);
    let live = answer["live_bytes"].as_u64().expect("live bytes");
    let reserved = answer["reserved_bytes"].as_u64().expect("reserved bytes");
    assert_eq!(
        live,
        sum(&answer["tensors"], "bytes") + answer["unlisted_bytes"].as_u64().unwrap()
    );
    assert_eq!(live, sum(&answer["groups"], "bytes"));
    assert_eq!(live + sum(&answer["rest"], "bytes"), reserved);
    assert_eq!(answer["peak_live_bytes"].as_u64(), Some(live));
    assert_eq!(answer["peak_live_step"], answer["step"]);
    let tensors = answer["tensors"].as_array().unwrap();
    assert_eq!(answer["tensors_total"].as_u64(), Some(tensors.len() as u64));
    for field in [
        "tensor",
        "graph",
        "run",
        "bytes",
        "share",
        "birth",
        "end",
        "copies",
        "group",
        "idle_steps",
    ] {
        assert!(!tensors[0][field].is_null(), "{field}");
    }
    assert!(tensors[0]["alive_before"].is_null());
    for list in ["idle", "held_for", "without"] {
        assert!(!answer[list].as_array().expect(list).is_empty(), "{list}");
    }
    assert!(answer["uses_unknown"].is_null() && answer["range"].is_null());
    // The figures of the comparison.
    let compared = json(&["compare", "sample:resnet50", "--format", "json"], 0);
    assert_eq!(compared["policies"][0]["peak_live_bytes"].as_u64(), Some(live));
    let again = run(&["peak", "sample:resnet50", "--format", "json"]);
    assert_eq!(serde_json::from_slice::<Json>(&again.stdout).unwrap(), answer);
}

#[test]
fn a_range_lists_allocations_and_frees() {
    let answer = json(
        &[
            "peak",
            "sample:resnet50",
            "--policy",
            "3",
            "--range",
            "40..90",
            "--group-by",
            "op_type",
            "--top",
            "3",
            "--format",
            "json",
        ],
        0,
    );
    let range = &answer["range"];
    assert_eq!(
        (&answer["policy"], &answer["group_by"]),
        (&Json::from(3), &Json::from("op_type"))
    );
    let bytes = |what: &str| range[what]["bytes"].as_u64().unwrap();
    assert_eq!(bytes("before") + bytes("allocated"), bytes("after") + bytes("freed"));
    assert_eq!(range["live"]["peak_bytes"], answer["live_bytes"]);
    assert_eq!(range["live"]["steps"].as_u64(), Some(50));
    assert_eq!(answer["tensors"].as_array().unwrap().len(), 3);
    assert!(answer["tensors"][0]["alive_before"].is_boolean());
}

#[test]
fn texts_and_tables_are_written() {
    let csv = run(&["peak", "sample:mobilenet", "--step", "5", "--format", "csv"]);
    let text = String::from_utf8(csv.stdout).unwrap();
    assert!(
        text.starts_with("tensor,graph,run,bytes,share,birth,end,copies,group,alive_before,idle_steps\n"),
        "{text}"
    );
    let answer = json(&["peak", "sample:mobilenet", "--step", "5", "--format", "json"], 0);
    assert_eq!(
        text.lines().count() as u64,
        answer["tensors_total"].as_u64().unwrap() + 1
    );
    let told = run(&["peak", "sample:resnet50", "--top", "2"]);
    let told = String::from_utf8(told.stdout).unwrap();
    for words in [
        "policy 0: the live peak, step",
        "by role",
        "longest idle",
        "savings if removed",
        "and ",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let measured = run(&["peak", "sample:measured"]);
    let measured = String::from_utf8(measured.stdout).unwrap();
    assert!(measured.contains("A recording has no readers"), "{measured}");
}

#[test]
fn bad_usage_is_one_line() {
    for (arguments, expected) in [
        (&["--step", "100000"][..], "exceeds the last of"),
        (&["--range", "9..9"], "expected FIRST..END"),
        (&["--range", "7"], "expected FIRST..END"),
        (&["--policy", "9"], "--policy 9: expected 0, 1 (which is 2), 2, 3 or 4"),
        (&["--lane", "7"], "no such lane"),
        (&["--group-by", "magic"], "op_type"),
        (&["--format", "schema"], "`options`"),
        (&["--step", "1", "--range", "1..2"], "cannot be used with"),
    ] {
        let all: Vec<&str> = ["peak", "sample:mobilenet"].iter().chain(arguments).copied().collect();
        fails(&all, expected);
    }
}
