//! Every recorded run of the eager interpreter below `HIGHWATER_SHARED`.
//!
//! A run is compared event by event, each eviction with its score and what went into it, then its figures.

use highwater_model::progress::{Cancel, Progress};
use highwater_model::workload::Tape;
use highwater_rewrite::remat::{FreeNeighbors, RematKind, RematRequest, RematRun, remat};
use serde_json::{Value as Json, json};

use super::{is_near, recorded, request, tape};
use crate::support;

#[test]
fn recorded_runs_agree() {
    let Some(folder) = support::shared("conformance/megdtr_eager") else {
        return;
    };
    let (mut n_runs, mut n_scores) = (0, 0);
    let mut wrong = Vec::new();
    for (path, bytes, file) in recorded(&folder) {
        let name = support::name(&path);
        let tape = tape(&name, bytes);
        for case in file["cases"].as_array().unwrap() {
            if !case["result"]["error"].is_null() {
                continue;
            }
            n_runs += 1;
            if let Err(difference) = check(&tape, case, &mut n_scores) {
                wrong.push(format!("{name} {}: {difference}", case["config"]));
            }
        }
    }
    eprintln!(
        "{} of {n_runs} runs are equal, {n_scores} scores compared",
        n_runs - wrong.len()
    );
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(5)].join("\n")
    );
}

fn run(tape: &Tape, config: &Json) -> RematRun {
    let minimum = config["evictee_minimum_size"].as_u64().unwrap();
    let is_arena = config["free_neighbors"] == json!("arena");
    let request = RematRequest {
        free_neighbors: if is_arena {
            FreeNeighbors::Arena
        } else {
            FreeNeighbors::Zero
        },
        ..request(
            "megengine_eager",
            config["eviction_threshold"].as_u64(),
            (minimum, 1.0, 1.0),
        )
    };
    let cancel = Cancel::new();
    remat(tape, &request, &Progress::silent(&cancel)).unwrap()
}

fn check(tape: &Tape, case: &Json, n_scores: &mut u32) -> Result<(), String> {
    let result = &case["result"];
    let run = run(tape, &case["config"]);
    let expected = result["events"].as_array().unwrap();
    for (at, (event, expected)) in run.events.iter().zip(expected).enumerate() {
        let letter = match event.kind {
            RematKind::Put => "P",
            RematKind::Compute => "A",
            RematKind::Rematerialize => "R",
            RematKind::Free => "X",
            RematKind::Drop => "D",
            _ => "E",
        };
        let name = &tape.tensors[event.tensor as usize].name;
        let found = json!([letter, name, event.memory_after.0]);
        let choice = run.choices.get(event.choice as usize);
        if found.as_array().unwrap()[..] != expected.as_array().unwrap()[..3] {
            return Err(format!("event {at} is {found} and should be {expected}"));
        }
        let Some(choice) = choice else { continue };
        *n_scores += 1;
        let number = |at: usize| expected[at].as_f64().unwrap();
        let age = number(6) - number(7);
        let same = is_near(choice.score, number(3))
            && is_near(choice.compute, number(4))
            && is_near(choice.memory, number(5))
            && (choice.staleness as f64 / 1e8 - age).abs() < 1e-6
            && is_near(event.clock as f64 / 1e8, number(6))
            && json!(choice.bytes.0) == expected[8];
        if !same {
            return Err(format!("event {at}: {choice:?} and should be {expected}"));
        }
    }
    if run.events.len() < expected.len() {
        return Err(format!("{} events and more were recorded", run.events.len()));
    }
    let clock = run.events.last().map_or(0, |event| event.clock) as f64 / 1e8;
    if !is_near(clock, result["final_timestamp"].as_f64().unwrap()) {
        return Err(format!("the clock ends at {clock}, not {}", result["final_timestamp"]));
    }
    let figures = [
        ("peak_used", run.peak.0),
        ("n_evict", run.counts.evictions),
        ("n_regen", run.counts.rematerializations + run.counts.collateral),
        ("n_events", run.events.len() as u64),
    ];
    for (what, found) in figures {
        if json!(found) != result[what] {
            return Err(format!("{what} is {found} and should be {}", result[what]));
        }
    }
    Ok(())
}
