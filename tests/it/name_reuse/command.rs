//! The command `highwater reuse`.

use std::io::Write as _;

use tempfile::NamedTempFile;

use crate::cli::{fails, json, run};

const SMALL: &str = r#"{"blocks": [{"vars": [
  {"name": "d", "shape": [-1, 8], "dtype": "FP32"}, {"name": "aa", "shape": [-1, 8], "dtype": "FP32"},
  {"name": "b", "shape": [-1, 8], "dtype": "FP32"}, {"name": "c", "shape": [-1, 8], "dtype": "FP32"}],
 "ops": [{"type": "x", "inputs": {"X": ["d"]}, "outputs": {"Out": ["aa"]}},
         {"type": "x", "inputs": {"X": ["aa"]}, "outputs": {"Out": ["b"]}},
         {"type": "x", "inputs": {"X": ["b"]}, "outputs": {"Out": ["c"]}}]}]}"#;

fn file() -> (NamedTempFile, String) {
    let mut file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    file.write_all(SMALL.as_bytes()).unwrap();
    let path = file.path().to_string_lossy().into_owned();
    (file, path)
}

#[test]
fn reuse_has_the_fields_of_the_contract() {
    let (_file, path) = file();
    let answer = json(
        &["reuse", &path, "--print-log", "--dim", "batch=4", "--format", "json"],
        0,
    );
    assert_eq!(answer["level"], 0);
    assert_eq!(answer["hits"], 1);
    assert!(answer["exception"].is_null());
    assert_eq!(
        answer["log"][0],
        "!!! 0,  c[-1, 8] => aa[-1, 8], cache idx 0, pool size 1"
    );
    let rename = serde_json::json!({"variable": "c", "cache": "aa", "block": 0, "op_index": 2, "cfg_op_index": 2});
    assert_eq!(answer["renames"][0], rename);
    assert_eq!(answer["unsafe"], serde_json::json!([]));
    let bytes = ["bytes_before", "bytes_after", "peak_before_bytes", "peak_after_bytes"]
        .map(|key| answer[key].as_u64().unwrap());
    assert_eq!(bytes, [512, 384, 256, 256]);
    assert!(answer["warnings"].to_string().contains("deprecated"));
}

#[test]
fn a_value_of_a_flag_counts_also_where_a_sample_suggests_it() {
    let arguments = "reuse sample:bert --dim seq=64 --dim batch=8 --format json";
    let answer = json(&arguments.split(' ').collect::<Vec<_>>(), 0);
    assert!(answer["bytes_before"].as_u64() > Some(0), "{answer}");
}

#[test]
fn flags_override_options() {
    let (_file, path) = file();
    let with = |more: &[&str], code: i32| {
        let mut arguments = vec!["reuse", path.as_str(), "--format", "json"];
        arguments.extend(more);
        json(&arguments, code)
    };
    assert_eq!(with(&["--set", "memory_optimize.level=1"], 0)["level"], 1);
    assert_eq!(
        with(&["--set", "memory_optimize.level=1", "--level", "0"], 0)["level"],
        0
    );
    let refused = with(&["--level", "-1"], 1);
    assert_eq!(refused["exception"], "ValueError: only support opt_level 0 or 1.");
    assert_eq!(with(&["--skip", "aa", "--skip-kind", "str"], 1)["hits"], 0);
    assert_eq!(with(&["--skip", "aa"], 0)["hits"], 0);
    let near = with(&["--skip", "bb"], 0)["warnings"].to_string();
    assert!(near.contains("did you mean \\\"b\\\"?"), "{near}");
    assert_eq!(with(&["--version-line", "1.6"], 0)["hits"], 0);
    fails(&["reuse", &path, "--version-line", "9"], "no version \"9\"");
    let no_number = "memory_optimize.level is \"abc\", not a number";
    fails(&["reuse", &path, "--set", "memory_optimize.level=abc"], no_number);
    fails(&["reuse", &path, "--skip-kind", "dict"], "no such kind");
    fails(&["reuse", &path, "--graph", "other"], "no graph \"other\"");
    fails(&["reuse", "sample:bert"], "--dim batch=VALUE");
    fails(&["reuse", "sample:resnet50", "--format", "csv"], "--format csv");
}

#[test]
fn text_begins_with_the_lines_of_the_original() {
    let (_file, path) = file();
    let output = run(&["reuse", &path, "--print-log"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("!!! 0,  c[-1, 8] => aa[-1, 8], cache idx 0, pool size 1\n\nreuse"),
        "{text}"
    );
    let graph = run(&["reuse", "sample:resnet50", "--level", "1"]);
    assert_eq!(graph.status.code(), Some(0));
    let inspect = json(&["inspect", &path, "--format", "json"], 0);
    assert_eq!(inspect["format"], "paddle_program");
    assert_eq!(inspect["lifetimes"][0]["count"], 4);
}
