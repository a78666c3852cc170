//! The commands of a report reproduce the report: with odd file names, with pins, of documents.

use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

const GRAPH: &str = r#"{"highwater_graph": 1, "name": "main", "nodes": [
    {"name": "a", "op": "A", "inputs": ["x"], "outputs": [{"id": "y", "shape": ["batch", 65536], "dtype": "float32"}]},
    {"name": "b", "op": "B", "inputs": ["y"], "outputs": [{"id": "z", "shape": ["batch"], "dtype": "float32"}]}],
    "inputs": [{"id": "x", "shape": ["batch", 8], "dtype": "float32"}], "outputs": ["z"]}"#;

const DOCUMENT: &str = r#"{"highwater_document": 1, "sources": [{"path": "sub/net.json"}, {"path": "../-dash.json"}],
    "settings": {"highwater_config": 1, "options": {"graph_run_mode": 0},
        "schedule": {"dims": {"batch": [4]}, "entries": [{"graph": "net", "repeats": 2}, {"graph": "-dash", "dims": {"batch": "8"}}]}},
    "pins": [{"name": "four", "configuration": {"options": {"memory_config.static_memory_policy": 4}}}]}"#;

/// A folder with a graph of an odd name, a configuration, and a document in a folder.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("-dash.json", GRAPH);
    write("dir a/sub/net.json", GRAPH);
    write("dir a/döc.highwater", DOCUMENT);
    write(
        "p 4.json",
        r#"{"highwater_config": 1, "options": {"memory_config.static_memory_policy": 4}}"#,
    );
    folder
}

#[track_caller]
fn done(mut command: Command, folder: &Path) {
    let output = command.current_dir(folder).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater"));
    command.args(arguments);
    command
}

#[test]
fn the_commands_of_a_page_run_unchanged() {
    const DOCUMENT_NAME: &str = "dir a/döc.highwater";
    for (arguments, expected) in [
        (
            &["./-dash.json", "--dim", "batch=2", "--pin", "x y=p 4.json"][..],
            "highwater export ./-dash.json --dim batch=2 --pin 'x y=p 4.json'",
        ),
        (
            &[DOCUMENT_NAME, "--allow-outside"],
            "highwater export 'dir a/döc.highwater' --allow-outside",
        ),
        (
            &[
                DOCUMENT_NAME,
                "--allow-outside",
                "--set",
                "memory_config.static_memory_policy=2",
                "--dim",
                "batch=2",
                "--pin",
                "x=p 4.json",
            ],
            "highwater export 'dir a/döc.highwater' --allow-outside --set memory_config.static_memory_policy=2 --dim batch=2 --pin 'x=p 4.json'",
        ),
        (
            &[
                DOCUMENT_NAME,
                "--allow-outside",
                "--graph=-dash",
                "--run=-dash*3",
                "--iterations",
                "2",
            ],
            "highwater export 'dir a/döc.highwater' --allow-outside --graph=-dash '--run=-dash*3' --iterations 2",
        ),
    ] {
        let folder = folder();
        done(
            program(&[&["export"], arguments, &["--to", "first.html"]].concat()),
            folder.path(),
        );
        let html = std::fs::read_to_string(folder.path().join("first.html")).unwrap();
        let command = html.split("<code>highwater export ").nth(1).unwrap();
        let command = command.split("</code>").next().unwrap().replace("&#39;", "'");
        let command = format!("highwater export {command}").replace("report.html", "second.html");
        assert_eq!(command, format!("{expected} --to second.html"));
        assert!(!html.contains(folder.path().to_str().unwrap()), "no absolute path");
        assert!(!html.contains("are not in the commands"));
        let mut shell = Command::new("/bin/sh");
        let bin = Path::new(env!("CARGO_BIN_EXE_highwater")).parent().unwrap();
        shell.args(["-c", &command]).env("PATH", bin);
        done(shell, folder.path());
        assert!(
            html == std::fs::read_to_string(folder.path().join("second.html")).unwrap(),
            "{command}"
        );
    }
}

#[test]
fn sources_of_a_document_are_reported_by_their_names() {
    let folder = folder();
    done(
        program(&["export", "dir a/döc.highwater", "--allow-outside", "--to", "c.json"]),
        folder.path(),
    );
    let config: Json = serde_json::from_slice(&std::fs::read(folder.path().join("c.json")).unwrap()).unwrap();
    assert_eq!(config["sources"], serde_json::json!(["sub/net.json", "../-dash.json"]));
    done(
        program(&["export", "dir a/döc.highwater", "--allow-outside", "--to", "trace.json"]),
        folder.path(),
    );
    let trace = std::fs::read(folder.path().join("trace.json")).unwrap();
    let trace: Json = serde_json::from_slice(&trace).unwrap();
    assert_eq!(
        trace["otherData"]["sources"],
        serde_json::json!(["sub/net.json", "../-dash.json"])
    );
}
