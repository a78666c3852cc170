//! Help: one screen per command, examples that run, and the formats that `highwater formats` lists.

use std::path::Path;
use std::process::Command;

use super::{fails, json, run, text_of};

const MAX_LINES: usize = 60;
const MAX_WIDTH: usize = 100;

fn help(arguments: &[&str]) -> String {
    text_of(arguments, 0)
}

/// The commands as the program's help lists them.
fn commands() -> Vec<String> {
    let help = help(&["--help"]);
    let listed = help.split("\nWithout a command").next().unwrap_or_default();
    let rows = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let names = rows.filter(|row| row.starts_with(|letter: char| letter.is_ascii_lowercase()));
    names
        .filter_map(|row| row.split(' ').next())
        .map(str::to_owned)
        .collect()
}

/// The lines below "Examples:", which end the help.
fn examples(help: &str) -> Vec<&str> {
    let Some((_, lines)) = help.split_once("\nExamples:\n") else {
        return Vec::new();
    };
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

#[test]
fn every_help_is_one_screen_with_two_examples_at_its_end() {
    let commands = commands();
    assert!(commands.len() > 15, "{commands:?}");
    let mut pages = vec![(vec!["--help"], String::new())];
    pages.extend(
        commands
            .iter()
            .map(|name| (vec![name.as_str(), "--help"], format!("highwater {name} "))),
    );
    for (arguments, start) in pages {
        let text = help(&arguments);
        assert!(
            text.lines().count() < MAX_LINES,
            "{} lines:\n{text}",
            text.lines().count()
        );
        for line in text.lines().filter(|line| !line.trim_start().starts_with("highwater ")) {
            assert!(line.chars().count() <= MAX_WIDTH, "{arguments:?}: {line}");
        }
        let first = text.lines().next().unwrap_or_default();
        assert!(
            first.len() > 20 && !first.starts_with("Usage"),
            "{arguments:?}: {first}"
        );
        assert_eq!(text.lines().nth(1), Some(""), "one sentence: {text}");
        let examples = examples(&text);
        assert_eq!(examples.len(), 2, "{text}");
        for example in examples {
            let is_own = format!("{example} ").starts_with(&start);
            assert!(is_own && example.starts_with("highwater "), "{arguments:?}: {example}");
        }
        for command in ["-h", "--help"] {
            let same = help(&[&arguments[..arguments.len() - 1], &[command]].concat());
            assert_eq!(same, text, "{arguments:?} {command}");
        }
    }
}

#[test]
fn every_example_of_the_help_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_traces");
    for entry in std::fs::read_dir(samples).expect("samples are there") {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a name");
        std::fs::copy(&path, folder.path().join(name)).expect("it can be copied");
    }
    let mut pages = vec![help(&["--help"])];
    pages.extend(commands().iter().map(|name| help(&[name, "--help"])));
    for page in &pages {
        for example in examples(page) {
            let words = example.split_whitespace().skip(1);
            let output = Command::new(env!("CARGO_BIN_EXE_highwater"))
                .args(words)
                .current_dir(folder.path())
                .output()
                .expect("the program starts");
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{example}: {error}");
        }
    }
}

#[test]
fn a_start_without_restoring_says_that_edits_are_recovered() {
    let text = help(&["--help"]);
    let line = text.lines().find(|line| line.contains("--no-restore"));
    assert!(line.is_some_and(|line| line.contains("recovered")), "{text}");
}

#[test]
fn formats_lists_every_importer_and_explains_each() {
    let list = help(&["formats"]);
    let answer = json(&["formats", "--format", "json"], 0);
    let rows = answer["formats"].as_array().expect("a list");
    assert_eq!(rows.len(), highwater::import::IMPORTERS.len());
    for (row, importer) in rows.iter().zip(highwater::import::IMPORTERS) {
        assert_eq!(row["name"], importer.name);
        assert!(!importer.detected_by.is_empty(), "{}", importer.name);
        let line = list
            .lines()
            .find(|line| line.starts_with(&format!("{} ", importer.name)));
        let line = line.unwrap_or_else(|| panic!("{} is not in {list}", importer.name));
        assert!(
            line.contains(importer.title) && line.contains(importer.detected_by),
            "{line}"
        );
        let page = help(&["formats", importer.name]);
        for part in ["Files: *.", "Detected by: ", "Read: ", "Counted: "] {
            assert!(page.contains(part), "{}: {page}", importer.name);
        }
        assert!(page.contains(&format!("--open-as {}", importer.name)), "{page}");
        let one = json(&["formats", importer.name, "--format", "json"], 0);
        assert!(
            one["page"].as_str().is_some_and(|page| page.contains("Read: ")),
            "{one}"
        );
    }
    fails(&["formats", "onx"], "known: planner_problem");
}

#[test]
fn painters_of_earlier_versions_give_one_note() {
    for painter in ["auto", "gpu", "picture"] {
        let output = run(&["--painter", painter]);
        let error = String::from_utf8_lossy(&output.stderr);
        let mut lines = error.lines();
        let note = lines.next().unwrap_or_default();
        assert!(
            note.starts_with("highwater: --painter has no effect any more"),
            "{error}"
        );
        // The window cannot open without a display.
        assert_eq!(lines.count(), 1, "{error}");
        assert_eq!(output.status.code(), Some(2), "{error}");
    }
    fails(&["--painter", "laser"], "laser");
}
