//! Every recorded plan of the static planner below `HIGHWATER_SHARED`: decisions first, then every figure.

use std::fmt::Write as _;

use highwater_model::progress::{Cancel, Progress};
use highwater_model::workload::Tape;
use highwater_rewrite::remat::{PlannedSequence, RematEvent, RematKind, StaticPlan, plan_static};
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

use super::{recorded, request, tape};
use crate::support;

#[test]
fn recorded_plans_are_equal() {
    let Some(folder) = support::shared("conformance/megdtr") else {
        return;
    };
    let (mut n_cases, mut n_other_orders, mut n_left_out) = (0, 0, 0);
    let mut wrong = Vec::new();
    for (path, bytes, file) in recorded(&folder) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let tape = tape(&name, bytes);
        assert_eq!(tape.name, file["name"].as_str().unwrap());
        check_baseline(&tape, &file["baseline"], &name);
        for case in file["cases"].as_array().unwrap() {
            if !case["result"]["error"].is_null() {
                n_left_out += 1;
                continue;
            }
            n_cases += 1;
            let is_equal = check_case(&tape, case);
            n_other_orders += usize::from(case["result"]["order_independent"] == json!(false) && is_equal.is_ok());
            if let Err(difference) = is_equal {
                wrong.push(format!("{name} {}: {difference}", case["config"]));
            }
        }
    }
    eprintln!("{n_cases} plans, {n_other_orders} of them equal though they depend on an order, {n_left_out} left out");
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(5)].join("\n")
    );
}

fn plan(tape: &Tape, budget: Option<u64>, factors: (u64, f64, f64)) -> StaticPlan {
    let cancel = Cancel::new();
    plan_static(tape, &request("megengine", budget, factors), &Progress::silent(&cancel)).unwrap()
}

#[track_caller]
fn check_baseline(tape: &Tape, baseline: &Json, name: &str) {
    let plan = plan(tape, None, (0, 1.0, 1.0));
    let found = json!({
        "planner_peak": plan.run.peak.0,
        "planner_peak_step": planned_step(&plan, plan.run.peak_step),
        "work_bytes": plan.moved,
        "n_plan_steps": plan.planned_steps,
        "final_seq_liveness_peak": plan.sequence_peak.0,
    });
    assert_eq!(&found, baseline, "{name} without a limit");
}

/// The number of a step among planned ones, from the events at it.
fn planned_step(plan: &StaticPlan, op: u32) -> u64 {
    plan.run
        .events
        .iter()
        .find(|event| event.step == op)
        .map_or(0, |event| event.clock)
}

fn check_case(tape: &Tape, case: &Json) -> Result<(), String> {
    let (config, result) = (&case["config"], &case["result"]);
    let factors = (
        config["evictee_minimum_size"].as_u64().unwrap(),
        config["recomp_memory_factor"].as_f64().unwrap(),
        config["recomp_time_factor"].as_f64().unwrap(),
    );
    let plan = plan(tape, config["eviction_threshold"].as_u64(), factors);
    let same = |what: &str, found: Json, expected: &Json| {
        if &found == expected {
            Ok(())
        } else {
            Err(format!("{what} is {found} and should be {expected}"))
        }
    };
    same("er_sha256", json!(digest(tape, &plan)), &result["er_sha256"])?;
    let counts = &plan.run.counts;
    let figures = [
        ("n_evictions", counts.evictions),
        ("evicted_bytes", counts.evicted_bytes.0),
        ("n_recomputed_vars", counts.rematerializations),
        ("n_dup_ops", n_copies(&plan.sequence)),
        ("n_frees", counts.frees),
        ("planner_peak", plan.run.peak.0),
        ("planner_peak_step", planned_step(&plan, plan.run.peak_step)),
        ("steps_at_or_over_threshold", counts.steps_over_budget),
        ("final_seq_liveness_peak", plan.sequence_peak.0),
        ("work_bytes_original", plan.moved),
        ("work_bytes_original", plan.run.base_compute.0 / 10),
        ("work_bytes_recomputed", plan.moved_by_copies),
    ];
    for (what, found) in figures {
        same(what, json!(found), &result[what])?;
    }
    for (what, moved) in [
        ("est_time_original", plan.moved),
        ("est_time_recomputed", plan.moved_by_copies),
    ] {
        let expected = result[what].as_f64().unwrap();
        if (moved as f64 / 1e8 - expected).abs() > 1e-12 * expected {
            return Err(format!("{what} is {} and should be {expected}", moved as f64 / 1e8));
        }
    }
    check_events(tape, &plan, result)?;
    check_sequence(tape, &plan.sequence, result)
}

fn n_copies(sequence: &PlannedSequence) -> u64 {
    let kinds = sequence.ops.iter().map(highwater_rewrite::remat::PlannedOp::suffix);
    kinds.filter(|suffix| suffix.starts_with(":dup")).count() as u64
}

fn digest(tape: &Tape, plan: &StaticPlan) -> String {
    let mut lines = String::new();
    for event in &plan.run.events {
        let letter = match event.kind {
            RematKind::Evict => 'E',
            RematKind::Rematerialize => 'R',
            _ => continue,
        };
        let name = &tape.tensors[event.tensor as usize].name;
        writeln!(lines, "{letter} {} {name} {}", event.clock, event.copy).unwrap();
    }
    Sha256::digest(lines).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn row(tape: &Tape, plan: &StaticPlan, event: &RematEvent) -> Json {
    let name = &tape.tensors[event.tensor as usize].name;
    let letter = match event.kind {
        RematKind::Compute => "A",
        RematKind::Free => "F",
        RematKind::Evict => "E",
        _ => "R",
    };
    let mut row = vec![
        json!(letter),
        json!(event.clock),
        json!(name),
        json!(event.copy),
        json!(event.memory_after.0),
    ];
    if let Some(choice) = plan.run.choices.get(event.choice as usize) {
        row.extend([json!(choice.candidates), json!(choice.compute), json!(choice.memory)]);
    }
    Json::Array(row)
}

/// Rows in order; runs of ends of life between other events as sets without the usage in between.
fn in_order(rows: &[Json]) -> Vec<Json> {
    let mut ordered: Vec<Json> = Vec::new();
    for group in rows.chunk_by(|one, other| one[0] == "F" && other[0] == "F") {
        let mut group = group.to_vec();
        if group[0][0] == "F" {
            for row in &mut group {
                row.as_array_mut().unwrap().truncate(4);
            }
            group.sort_by_key(Json::to_string);
        }
        ordered.extend(group);
    }
    ordered
}

fn check_events(tape: &Tape, plan: &StaticPlan, result: &Json) -> Result<(), String> {
    let kind = result["events_kind"].as_str().unwrap();
    let decisions = |event: &&RematEvent| matches!(event.kind, RematKind::Evict | RematKind::Rematerialize);
    let events = plan.run.events.iter().filter(|event| kind == "all" || decisions(event));
    let limit = if kind.ends_with("first_1500") { 1500 } else { usize::MAX };
    let found: Vec<Json> = events.take(limit).map(|event| row(tape, plan, event)).collect();
    let (found, expected) = (in_order(&found), in_order(result["events"].as_array().unwrap()));
    match found.iter().zip(&expected).position(|(one, other)| one != other) {
        Some(at) => Err(format!("event {at} is {} and should be {}", found[at], expected[at])),
        None if found.len() != expected.len() => Err(format!("{} events, not {}", found.len(), expected.len())),
        None => Ok(()),
    }
}

fn check_sequence(tape: &Tape, sequence: &PlannedSequence, result: &Json) -> Result<(), String> {
    let name_of = |tensor: u32, maker: u32| {
        let suffix = sequence
            .ops
            .get(maker as usize)
            .map(highwater_rewrite::remat::PlannedOp::suffix);
        format!("{}{}", tape.tensors[tensor as usize].name, suffix.unwrap_or_default())
    };
    let op_name = |at: usize| {
        let planned = &sequence.ops[at];
        format!("{}{}", tape.ops[planned.op as usize].name, planned.suffix())
    };
    // Ops that only bring what the file declares without an op are none of the original's.
    let own: Vec<usize> = (0..sequence.ops.len())
        .filter(|at| !tape.ops[sequence.ops[*at].op as usize].name.starts_with("source of "))
        .collect();
    if let Some(expected) = result["final_sequence"].as_array() {
        let found = own.iter().map(|at| {
            if expected[0].is_string() {
                return json!(op_name(*at));
            }
            let planned = &sequence.ops[*at];
            let inputs: Vec<String> = planned
                .inputs
                .iter()
                .map(|(tensor, maker)| name_of(*tensor, *maker))
                .collect();
            let outputs = tape.ops[planned.op as usize].outputs.iter();
            let outputs: Vec<String> = outputs.map(|tensor| name_of(*tensor, *at as u32)).collect();
            json!([op_name(*at), inputs, outputs])
        });
        let found: Vec<Json> = found.collect();
        if &found != expected {
            return Err(format!("final_sequence is {}", json!(found)));
        }
    }
    if result["final_sequence_dups"].is_array() {
        let found = own.iter().enumerate().map(|(position, at)| (position, op_name(*at)));
        let found: Vec<Json> = found
            .filter(|(_, name)| name.contains(":dup"))
            .map(|pair| json!(pair))
            .collect();
        if json!(found) != result["final_sequence_dups"] {
            return Err(format!("final_sequence_dups is {}", json!(found)));
        }
    }
    if let Some(expected) = result["final_endpoints"].as_array() {
        let mut is_read = vec![false; tape.tensors.len()];
        tape.ops
            .iter()
            .flat_map(|op| &op.inputs)
            .for_each(|input| is_read[*input as usize] = true);
        let ends = (0..tape.tensors.len()).filter(|tensor| !is_read[*tensor]);
        let mut found: Vec<String> = ends
            .map(|tensor| name_of(tensor as u32, sequence.latest[tensor]))
            .collect();
        let mut expected: Vec<&str> = expected.iter().map(|name| name.as_str().unwrap()).collect();
        found.sort();
        expected.sort_unstable();
        if found != expected {
            return Err(format!("final_endpoints is {}", json!(found)));
        }
    }
    Ok(())
}
