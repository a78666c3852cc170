//! Every recorded answer of the original simulator below `HIGHWATER_SHARED`: baselines, sweep, traces, tables of tensors.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use highwater_model::units::Bytes;
use highwater_model::workload::{Source, Tape};
use highwater_rewrite::remat::{RematKind, RematRun};
use serde_json::{Value as Json, json};

use super::{Event, events, request, run};
use crate::support;

/// Names of the original and here.
const HEURISTICS: &[(&str, &str)] = &[
    ("DTR", "dtr"),
    ("DTREqClass", "dtr_eq"),
    ("DTRLocal", "dtr_local"),
    ("MSPS", "msps"),
    ("LRU", "lru"),
    ("LargestStorage", "largest"),
];

fn heuristic(name: &Json) -> &'static str {
    let name = name.as_str().unwrap();
    HEURISTICS.iter().find(|(original, _)| *original == name).unwrap().1
}

fn rows(path: &Path) -> Vec<Json> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn unpacked(path: &Path) -> Json {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    serde_json::from_str(&text).unwrap()
}

fn tape(folder: &Path, log: &str) -> Arc<Tape> {
    let bytes = std::fs::read(folder.join("logs").join(log)).unwrap();
    let imported = support::read(log, &bytes).unwrap_or_else(|error| panic!("{log}: {error}"));
    assert_eq!(imported.format, "dtr_log", "{log}");
    match imported.source {
        Source::Tapes(mut tapes) => tapes.remove(0),
        other => panic!("{log}: {other:?}"),
    }
}

/// The tape of each model and its baseline.
fn models(folder: &Path) -> BTreeMap<String, (Arc<Tape>, Json)> {
    let rows = rows(&folder.join("baselines.jsonl"));
    let model = |row: Json| {
        let tape = tape(folder, row["log"].as_str().unwrap());
        (row["model"].as_str().unwrap().to_owned(), (tape, row))
    };
    rows.into_iter().map(model).collect()
}

fn status(run: &RematRun) -> &'static str {
    match run.status.name() {
        "ok" => "ok",
        "thrash" => "THRASH",
        _ => "OOM",
    }
}

/// What a row records of a run, as far as it does not depend on the machine.
fn figures(tape: &Tape, run: &RematRun) -> Json {
    let first = run
        .events
        .iter()
        .filter(|event| event.kind == RematKind::Compute && !event.is_sibling);
    let model_ns: u64 = first
        .clone()
        .map(|event| tape.ops[tape.tensors[event.tensor as usize].op as usize].time.0)
        .sum();
    let evals: u64 = run.choices.iter().map(|choice| u64::from(choice.candidates)).sum();
    json!({
        "status": status(run), "budget": run.budget.map(Bytes::get), "remat_ns": run.remat_compute.0,
        "model_ns": model_ns, "clock": run.events.last().map(|event| event.clock), "peak": run.peak.get(),
        "evict_heur": run.counts.evictions, "evict_eager": run.counts.eager_evictions,
        "evict_heur_bytes": run.counts.evicted_bytes.get(), "compute_model": first.count(),
        "remat_ops": run.counts.rematerializations, "remat_collateral": run.counts.collateral,
        "remat_bytes": run.counts.rematerialized_bytes.get(), "evals": evals,
    })
}

/// A sentence for each figure that a row has otherwise.
fn differences(row: &Json, figures: &Json) -> Vec<String> {
    let figures = figures.as_object().unwrap().iter();
    let wrong = figures.filter(|(key, value)| row.get(*key).is_some_and(|recorded| recorded != *value));
    wrong
        .map(|(key, value)| format!("{key} {} recorded, got {value}", row[key]))
        .collect()
}

fn folder() -> Option<std::path::PathBuf> {
    support::shared("conformance/simrd")
}

#[test]
fn every_log_can_be_read_and_run() {
    let Some(folder) = folder() else { return };
    for path in support::files(&folder.join("logs"), ".log") {
        let tape = tape(&folder, &support::name(&path));
        let run = run(&tape, &request("lru", None));
        assert_eq!(status(&run), "ok", "{}", path.display());
        assert_eq!(run.remat_compute.0, 0);
    }
}

#[test]
fn baselines_are_equal() {
    let Some(folder) = folder() else { return };
    for (model, (tape, row)) in models(&folder) {
        let run = run(&tape, &request("dtr", None));
        assert_eq!(row["tensors"], tape.tensors.len(), "{model}");
        assert_eq!(row["ops"], tape.ops.len(), "{model}");
        assert_eq!(row["compute"], tape.compute().0, "{model}");
        assert_eq!(row["max_memory"], run.peak.get(), "{model}");
    }
}

#[test]
fn tensors_are_numbered_as_in_the_original() {
    let Some(folder) = folder() else { return };
    let models = models(&folder);
    for path in support::files(&folder, ".json.gz") {
        if !support::name(&path).starts_with("tensors_") {
            continue;
        }
        let recorded = unpacked(&path);
        let model = recorded["model"].as_str().unwrap();
        // Some tables carry the short name of their model.
        let found = models.iter().find(|(name, _)| name.starts_with(model));
        let (_, (tape, _)) = found.unwrap_or_else(|| panic!("{model} has no baseline"));
        let rows: Vec<Json> = (0..)
            .zip(&tape.tensors)
            .map(|(number, tensor): (usize, _)| {
                let op = &tape.ops[tensor.op as usize];
                let bytes = tape.tensors[tensor.storage as usize].bytes.get();
                json!([number, tensor.name, tensor.storage, bytes, op.name, op.time.0])
            })
            .collect();
        assert_eq!(recorded["rows"].as_array().unwrap().len(), rows.len(), "{model}");
        for (recorded, row) in recorded["rows"].as_array().unwrap().iter().zip(&rows) {
            assert_eq!(recorded, row, "{model}");
        }
    }
}

#[test]
fn every_row_of_the_sweep_is_equal() {
    let Some(folder) = folder() else { return };
    let models = models(&folder);
    let mut wrong = Vec::new();
    for row in rows(&folder.join("sweep.jsonl")) {
        let (tape, baseline) = &models[row["model"].as_str().unwrap()];
        let ratio = row["ratio"].as_f64().unwrap();
        let budget = (baseline["max_memory"].as_f64().unwrap() * ratio).floor() as u64;
        let run = run(tape, &request(heuristic(&row["heuristic"]), Some(budget)));
        let found = differences(&row, &figures(tape, &run));
        if !found.is_empty() {
            wrong.push(format!(
                "{} {} {ratio}: {}",
                row["model"],
                row["heuristic"],
                found.join("; ")
            ));
        }
        let overhead = row["overhead"].as_f64().unwrap();
        assert!((run.overhead() - overhead).abs() < 1e-6, "{row}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A recorded event.
fn recorded(event: &Json) -> Event {
    let number = |place: usize| event[place].as_u64().unwrap();
    let cost = event.get(4).map(|cost| match cost.as_str() {
        Some("inf") => f64::INFINITY,
        _ => cost.as_f64().unwrap(),
    });
    let letter = event[0].as_str().unwrap().chars().next().unwrap();
    Event(letter, number(1) as u32, number(2), number(3), cost)
}

#[test]
fn every_decision_is_equal() {
    let Some(folder) = folder() else { return };
    let mut n_traces = 0;
    for path in support::files(&folder, ".json.gz") {
        let name = support::name(&path);
        if !name.starts_with("trace_") {
            continue;
        }
        n_traces += 1;
        let answer = unpacked(&path);
        let tape = tape(&folder, answer["log"].as_str().unwrap());
        let mut request = request(heuristic(&answer["heuristic"]), answer["budget"].as_u64());
        request.thrash_limit = answer["remat_limit"]
            .as_f64()
            .map(|limit| limit / tape.compute().0 as f64);
        let run = run(&tape, &request);
        let mut figures = figures(&tape, &run);
        figures["final_clock"] = figures["clock"].clone();
        figures["tied_choices"] = run.choices.iter().filter(|choice| choice.ties > 1).count().into();
        assert_eq!(differences(&answer, &figures), Vec::<String>::new(), "{name}");
        let told = answer["events"].as_array().unwrap();
        let events = events(&tape, &run);
        for (place, (told, event)) in told.iter().zip(&events).enumerate() {
            assert_eq!(&recorded(told), event, "{name}, event {place}");
        }
        assert_eq!(told.len(), events.len(), "{name}");
    }
    assert!(n_traces > 0, "{} holds no traces", folder.display());
}
