//! Hostile names: from files, arguments and paths.

use std::path::Path;
use std::process::Output;

use highwater::visible::is_hidden;
use serde_json::{Value as Json, json};

use super::run;

/// Escape sequences, a bell, return, delete, C1, bidirectional controls.
const NASTY: &str = "=x\u{1b}[31m\u{7}\r\u{7f}\u{9b}2J\u{202e}\u{2066}\u{200f}";

/// A chain whose graph, ops and tensors have such names.
fn graph() -> String {
    let name = |part: &str| format!("{NASTY}{part}");
    let node = |at: usize| {
        json!({
            "name": name(&format!("op{at}")), "op": name("kind"),
            "inputs": [name(&format!("t{at}"))],
            "outputs": [{"id": name(&format!("t{}", at + 1)), "shape": [64, 4], "dtype": "float32"}],
        })
    };
    let graph = json!({
        "highwater_graph": 1, "name": name("graph"),
        "nodes": (0..6).map(node).collect::<Vec<_>>(),
        "inputs": [{"id": name("t0"), "shape": [64, 4], "dtype": "float32"}],
        "outputs": [name("t6")],
    });
    graph.to_string()
}

#[track_caller]
fn is_clean(what: &str, output: &Output) {
    for (stream, bytes) in [("output", &output.stdout), ("error", &output.stderr)] {
        let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{what}: {stream}: {error}"));
        let hidden = text.find(is_hidden);
        let around = hidden.map(|at| text[at..].chars().take(20).collect::<String>());
        assert_eq!(around, None, "{what}: {stream}");
    }
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn no_control_character_reaches_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = written(folder.path(), &format!("{NASTY}.json"), &graph());
    let broken = written(
        folder.path(),
        &format!("{NASTY}broken.json"),
        "{\"highwater_graph\": 1, \"nodes\": \u{1b}",
    );
    let tables = written(
        folder.path(),
        &format!("operator_memory_{NASTY}.csv"),
        &format!("Name,Size(KB),Allocation Time(us),Release Time(us)\n\"{NASTY}\",1,2,3\n\"{NASTY}\",x,2,\u{1b}\n"),
    );
    let config = written(
        folder.path(),
        &format!("{NASTY}config.json"),
        &format!("{{{:?}: 1}}", "\u{1b}key"),
    );
    let plan = folder.path().join("plan.csv");
    let file = file.as_str();
    let nasty_set = format!("{NASTY}=1");
    let commands: Vec<Vec<&str>> = vec![
        vec!["inspect", file],
        vec!["inspect", file, "--format", "json"],
        vec!["inspect", &broken],
        vec!["inspect", &tables],
        vec!["compare", &tables],
        vec!["compare", file],
        vec!["compare", file, "--format", "json"],
        vec!["compare", file, "--format", "markdown"],
        vec!["compare", file, "--set", &nasty_set],
        vec!["compare", file, "--config", &config],
        vec!["compare", file, "--graph", NASTY],
        vec!["compare", file, "--device", NASTY],
        vec!["compare", file, "--dim", &nasty_set],
        vec!["compare", file, "--policies", NASTY],
        vec!["compare", file, "--no-such-flag", NASTY],
        vec!["peak", file],
        vec!["peak", file, "--format", "json"],
        vec!["peak", file, "--format", "csv"],
        vec!["plan", file],
        vec!["plan", file, "--edges", "--explain"],
        vec!["plan", file, "--format", "csv"],
        vec!["plan", file, "--why", NASTY],
        vec!["reuse", file, "--level", "1", "--print-log"],
        vec!["remat", file, "--budget", "0.9", "--heuristic", "dtr", "--events"],
        vec!["export", file, "--to", "plan.csv", "--preview"],
        vec!["export", file, "--to", "timeline.svg", "--preview"],
        vec!["check", "--set", &nasty_set],
        vec!["check", &config],
        vec!["formats", NASTY],
        vec!["replay", file],
        vec![NASTY],
    ];
    for command in commands {
        let output = run(&command);
        is_clean(&command.join(" "), &output);
        if command.contains(&"json") && output.status.success() {
            let answer: Json = serde_json::from_slice(&output.stdout).expect("JSON");
            assert!(answer.to_string().contains('\u{202e}'), "values stay what they are");
        }
    }
    let path = plan.to_str().expect("UTF-8");
    is_clean("export", &run(&["export", file, "--to", path]));
    let table = std::fs::read_to_string(plan).expect("a table");
    assert_eq!(table.find(is_hidden), None);
}

#[test]
fn texts_are_no_formulas_in_spreadsheets() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = "id,lower,upper,size\n=1+1,0,2,4\n-x,0,2,4\n-7,2,4,4\n\"@a,b\",1,3,4\nplain,0,1,8\n";
    let file = written(folder.path(), "problem.csv", problem);
    let csv = |arguments: &[&str]| String::from_utf8(run(arguments).stdout).expect("UTF-8");
    let ids = |text: &str| -> Vec<String> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader.records().map(|row| row.expect("a row")[0].to_owned()).collect()
    };
    let guarded = csv(&["plan", &file, "--format", "csv"]);
    assert_eq!(ids(&guarded), ["'=1+1", "'-x", "-7", "'@a,b", "plain"]);
    let raw = csv(&["plan", &file, "--format", "csv", "--raw"]);
    assert_eq!(ids(&raw), ["=1+1", "-x", "-7", "@a,b", "plain"]);
    // Both are read back with the ids of the file.
    for text in [guarded, raw.clone()] {
        let again = written(folder.path(), "again.csv", &text);
        assert_eq!(
            csv(&["plan", &again, "--format", "csv", "--raw", "--strategy", "as_dumped"]),
            raw
        );
    }
    for (flags, expected) in [(&[][..], "'=1+1"), (&["--raw"][..], "=1+1")] {
        let to = folder.path().join("plan.csv");
        let mut arguments = vec!["export", &file, "--to", to.to_str().expect("UTF-8")];
        arguments.extend(flags);
        assert!(run(&arguments).status.success());
        let table = std::fs::read_to_string(&to).expect("a table");
        assert!(table.contains(&format!(",{expected},")), "{table}");
    }
}
