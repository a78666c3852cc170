//! The two file forms: what they become, and what is wrong with broken ones.

use highwater_model::workload::{Source, TapeCall};

use super::{read, tape};

const GRAPH: &str = r#"{"vars": [
    {"name": "x", "bytes": 100, "flags": ["PERSISTENT_DEVICE_VALUE"]}, {"name": "a", "bytes": 20, "flags": []},
    {"name": "mask", "bytes": 5, "flags": []}, {"name": "y", "bytes": 30, "flags": []}],
  "ops": [{"name": "src", "flags": [], "inputs": [], "outputs": ["x"]},
    {"name": "f", "flags": [], "inputs": ["x", "x"], "outputs": ["a"]},
    {"name": "drop", "flags": ["IMPURE_FUNC"], "inputs": ["a"], "outputs": ["mask"]},
    {"name": "g", "flags": [], "inputs": ["a", "mask", "a"], "outputs": ["y"]}]}"#;

const SCRIPT: &str = r#"[["P", "x", 100], ["O", "f", 0, ["x", "x"], [["a", 20]]],
    ["O", "g", 1, ["a"], [["y", 7], ["z", 9]]], ["D", "a"], ["D", "y"]]"#;

#[test]
fn a_graph_becomes_a_tape() {
    for text in [
        GRAPH.to_owned(),
        format!(r#"{{"name": "n", "description": "d", "graph": {GRAPH}, "cases": [1]}}"#),
    ] {
        let imported = read("g.json", &text).unwrap();
        assert_eq!(imported.format, "dtr_graph");
        let tape = tape("g.json", &text);
        let times: Vec<u64> = tape.ops.iter().map(|op| op.time.0).collect();
        assert_eq!(times, [0, 200, 250, 550], "10 ns a planned byte, duplicates once");
        assert!(tape.ops[0].is_source && tape.ops[2].is_non_recomputable && tape.tensors[0].is_external);
        assert_eq!(tape.ops[3].inputs, [1, 2, 1]);
        assert_eq!(tape.kept, [3]);
        let (a, mask) = (TapeCall::Release(1), TapeCall::Release(2));
        assert_eq!(tape.calls[4..], [a, mask], "behind the last reader, each once");
    }
}

#[test]
fn a_script_becomes_a_tape() {
    for text in [
        SCRIPT.to_owned(),
        format!(r#"{{"name": "n", "deletes": true, "script": {SCRIPT}, "cases": []}}"#),
    ] {
        assert_eq!(read("s.json", &text).unwrap().format, "dtr_script");
        let tape = tape("s.json", &text);
        assert_eq!(tape.ops[1].time.0, 2200, "each mention is read");
        assert!(tape.ops[0].is_source && tape.ops[2].is_non_recomputable);
        assert_eq!(tape.kept, [3]);
    }
}

#[test]
fn a_cut_head_is_recognised() {
    let mut vars = String::new();
    for number in 0..3000 {
        vars.push_str(&format!(r#"{{"name": "v{number}", "bytes": 8, "flags": []}},"#));
    }
    let text = GRAPH.replace(r#""vars": ["#, &format!(r#""vars": [{vars}"#));
    assert!(text.len() > 100_000);
    assert!(matches!(read("g.json", &text).unwrap().source, Source::Tapes(_)));
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let error = read("x.json", text).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}\nhas no {expected}");
}

#[test]
fn broken_files_are_errors_with_a_place() {
    check_error(
        &GRAPH.replace(r#""inputs": ["a"]"#, r#""inputs": ["y"]"#),
        "nothing above makes the variable \"y\" at ops[2]",
    );
    check_error(
        &GRAPH.replace(r#""inputs": ["a"]"#, r#""inputs": ["q"]"#),
        "\"q\" is not among \"vars\" at ops[2]",
    );
    check_error(
        &GRAPH.replace(r#""name": "mask""#, r#""name": "a""#),
        "declared twice at vars[2]",
    );
    check_error(
        &GRAPH.replace(r#""outputs": ["y"]"#, r#""outputs": ["a"]"#),
        "made a second time at ops[3]",
    );
    check_error(
        &GRAPH.replace(r#""bytes": 20"#, r#""bytes": 18446744073709551615"#),
        "more than 2^53 bytes",
    );
    check_error(&GRAPH.replace(r#""bytes": 20"#, r#""bytes": -1"#), "line 2");
    check_error(&GRAPH[..GRAPH.len() - 20], "cut off");
    check_error(
        &SCRIPT.replace(r#"["D", "y"]"#, r#"["D", "a"]"#),
        "\"a\" was deleted above at entry 4",
    );
    check_error(
        &SCRIPT.replace(r#"["D", "y"]"#, r#"["D", "q"]"#),
        "nothing above makes the variable \"q\" at entry 4",
    );
    check_error(&SCRIPT.replace(r#"["D", "y"]"#, r#"["K", "y"]"#), "none of P, O and D");
    check_error(
        &SCRIPT.replace(r#"["D", "y"]"#, r#"["P", "y", 1]"#),
        "made a second time at entry 4",
    );
    check_error(
        &SCRIPT.replace(r#"["D", "y"]"#, r#"["P", "b"]"#),
        "ends where bytes should be",
    );
}
