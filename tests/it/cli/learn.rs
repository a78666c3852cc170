//! `highwater learn`: settings learned from runs, and that `compare` accepts them.

use serde_json::Value as Json;

use crate::cli::{fails, json, run};

const GRAPH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_traces/lenet_training.pb");
const RUN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/sample_traces/lenet_training.runmeta.pb.gz"
);

fn keys(answer: &Json) -> Vec<&str> {
    let settings = answer["learned"][0]["settings"].as_array().expect("settings");
    settings.iter().map(|one| one["key"].as_str().expect("a key")).collect()
}

#[test]
fn a_traced_step_teaches_rates_and_scratch_memory() {
    let answer = json(&["learn", GRAPH, RUN, "--format", "json"], 0);
    assert_eq!(
        keys(&answer),
        [
            "simulation.op_bytes_per_second",
            "simulation.op_launch_ns",
            "simulation.workspace_estimate",
            "simulation.workspace_table"
        ]
    );
    for setting in answer["learned"][0]["settings"].as_array().unwrap() {
        for field in ["now", "learned", "from"] {
            assert!(setting[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
        }
    }
    let notes = answer["learned"][0]["notes"].as_array().expect("notes");
    assert_eq!(notes.len(), 3, "what could not be learned is told: {notes:?}");
    let fit = notes[0].as_str().expect("a sentence");
    assert!(
        fit.starts_with("96 ops took 201.6") && fit.contains("the median error per op"),
        "{fit}"
    );
    let again = run(&["learn", GRAPH, RUN, "--format", "json"]);
    assert_eq!(serde_json::from_slice::<Json>(&again.stdout).unwrap(), answer);
}

#[test]
fn learned_settings_are_accepted_by_compare() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("learned.json");
    let config = config.to_str().unwrap();
    json(&["learn", GRAPH, RUN, "--to", config, "--format", "json"], 0);
    // The graph without the run: its ops hold the bytes of the run.
    let peak = |arguments: &[&str]| {
        let answer = json(&[&["compare", GRAPH, "--format", "json"], arguments].concat(), 0);
        answer["policies"][0]["peak_live_bytes"].as_u64().expect("a peak")
    };
    let (plain, learned) = (peak(&[]), peak(&["--config", config]));
    let beside = json(&["compare", GRAPH, RUN, "--format", "json"], 0);
    let traced = beside["policies"][0]["peak_live_bytes"].as_u64().expect("a peak");
    assert!(plain < traced && learned >= traced, "{plain} {traced} {learned}");
}

#[test]
fn settings_are_chosen_by_key_and_errors_are_reported() {
    let answer = json(
        &[
            "learn",
            GRAPH,
            RUN,
            "--only",
            "simulation.workspace_table",
            "--format",
            "json",
        ],
        0,
    );
    assert_eq!(keys(&answer), ["simulation.workspace_table"]);
    fails(
        &["learn", GRAPH, RUN, "--only", "precision_mode"],
        "learned settings: simulation.",
    );
    fails(&["learn", GRAPH], "no measurement in it");
    fails(&["learn", GRAPH, RUN, "--format", "csv"], "csv");
}
