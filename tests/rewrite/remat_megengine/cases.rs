//! Small cases by hand, straight from the rules.

use highwater_model::progress::{Cancel, Progress};
use highwater_model::workload::Tape;
use highwater_rewrite::remat::{RematKind, RematRequest, RematRun, RematStatus, plan_static, remat};

use super::{request, tape};

/// x -> a -> b -> c, then d reads a and c.
const DIAMOND: &str = r#"{"vars": [{"name": "a", "bytes": 10}, {"name": "b", "bytes": 10}, {"name": "c", "bytes": 10},
    {"name": "d", "bytes": 10}],
  "ops": [{"name": "fa", "outputs": ["a"]}, {"name": "fb", "inputs": ["a"], "outputs": ["b"]},
    {"name": "fc", "inputs": ["b"], "outputs": ["c"]}, {"name": "fd", "inputs": ["c", "a"], "outputs": ["d"]}]}"#;

fn run(tape: &Tape, request: &RematRequest) -> RematRun {
    let cancel = Cancel::new();
    remat(tape, request, &Progress::silent(&cancel)).unwrap()
}

fn story(tape: &Tape, run: &RematRun) -> String {
    let name = |number: u32| &tape.tensors[number as usize].name;
    let words = run
        .events
        .iter()
        .map(|event| format!("{}:{}{}", event.kind.name(), name(event.tensor), event.copy));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn reaching_the_threshold_exactly_evicts() {
    let tape = tape("d.json", DIAMOND);
    let run_at = |budget| run(&tape, &request("megengine", Some(budget), (0, 1.0, 1.0)));
    assert_eq!(run_at(31).counts.evictions, 0);
    assert_eq!(
        story(&tape, &run_at(30)),
        "compute:a0 compute:b0 evict:a0 compute:c0 free:b0 rematerialize:a1 compute:d0 free:c0 free:d0",
        "what was recomputed is never freed"
    );
}

#[test]
fn over_the_threshold_without_a_candidate_is_counted_and_no_error() {
    let tape = tape("d.json", DIAMOND);
    let run = run(&tape, &request("megengine", Some(5), (0, 1.0, 1.0)));
    assert_eq!(run.status, RematStatus::Ok);
    assert!(run.counts.steps_over_budget > 0);
}

#[test]
fn a_copy_precedes_its_reader_and_the_reader_is_recomputed() {
    let tape = tape("d.json", DIAMOND);
    let cancel = Cancel::new();
    let plan = plan_static(
        &tape,
        &request("megengine", Some(30), (0, 1.0, 1.0)),
        &Progress::silent(&cancel),
    )
    .unwrap();
    let ops = plan.sequence.ops.iter();
    let names: Vec<String> = ops
        .map(|op| format!("{}{}", tape.ops[op.op as usize].name, op.suffix()))
        .collect();
    assert_eq!(names, ["fa", "fb", "fc", "fa:dup0", "fd:recomp0"]);
    assert_eq!(plan.moved_by_copies, 10);
}

#[test]
fn what_must_run_once_and_what_is_small_stays() {
    let once = DIAMOND.replace(r#""fa","#, r#""fa", "flags": ["IMPURE_FUNC"],"#);
    let tape = tape("d.json", once);
    assert_eq!(
        run(&tape, &request("megengine", Some(25), (0, 1.0, 1.0)))
            .counts
            .evictions,
        0
    );
    let plain = super::tape("d.json", DIAMOND);
    assert_eq!(
        run(&plain, &request("megengine", Some(30), (11, 1.0, 1.0)))
            .counts
            .evictions,
        0
    );
}

#[test]
fn too_much_recomputation_stops_as_thrashing() {
    let tape = tape("d.json", DIAMOND);
    let limited = RematRequest {
        thrash_limit: Some(0.0),
        ..request("megengine", Some(30), (0, 1.0, 1.0))
    };
    assert_eq!(run(&tape, &limited).status, RematStatus::Thrash);
}

/// A long chain whose end is evicted by a large result, and then needed: all before it is gone.
fn chain(n: usize) -> String {
    let vars: Vec<String> = (0..n).map(|at| format!(r#"{{"name": "v{at}", "bytes": 8}}"#)).collect();
    let op = |at: usize| {
        let inputs = if at == 0 {
            String::new()
        } else {
            format!(r#""v{}""#, at - 1)
        };
        format!(r#"{{"name": "f{at}", "inputs": [{inputs}], "outputs": ["v{at}"]}}"#)
    };
    let ops: Vec<String> = (0..n).map(op).collect();
    format!(
        r#"{{"vars": [{}, {{"name": "w", "bytes": 1000}}, {{"name": "u", "bytes": 8}}],
          "ops": [{}, {{"name": "large", "outputs": ["w"]}}, {{"name": "end", "inputs": ["v{}"], "outputs": ["u"]}}]}}"#,
        vars.join(","),
        ops.join(","),
        n - 1
    )
}

#[test]
fn chains_of_any_length_need_no_stack() {
    let tape = tape("c.json", chain(20_000));
    let run = run(&tape, &request("megengine", Some(1004), (0, 1.0, 1.0)));
    assert_eq!(run.counts.rematerializations, 20_000);
    assert_eq!(run.events.iter().map(|event| event.chain).max(), Some(20_000));
}

#[test]
fn the_eager_interpreter_drops_what_others_need_and_frees_it_later() {
    let script = r#"[["P", "x", 8], ["O", "f", 0, ["x"], [["a", 16]]], ["O", "g", 0, ["a"], [["b", 32]]], ["D", "a"], ["D", "b"]]"#;
    let tape = tape("s.json", script);
    let run = run(&tape, &request("megengine_eager", None, (0, 1.0, 1.0)));
    assert_eq!(
        story(&tape, &run),
        "put:x0 compute:a0 compute:b0 drop:a0 free:b0 free:a0"
    );
    assert_eq!((run.peak.0, run.events.last().unwrap().memory_after.0), (56, 8));
    assert!(run.events.iter().all(|event| event.kind != RematKind::Evict));
}

#[test]
fn the_eager_interpreter_counts_ops_that_end_over_the_threshold() {
    let script = r#"[["P", "x", 8], ["O", "f", 0, ["x"], [["a", 16]]], ["O", "g", 1, ["a"], [["b", 32]]], ["D", "b"]]"#;
    let tape = tape("s.json", script);
    let count = |budget| {
        let counts = run(&tape, &request("megengine_eager", budget, (0, 1.0, 1.0))).counts;
        counts.steps_over_budget
    };
    assert_eq!(
        [None, Some(56), Some(55), Some(24), Some(23), Some(7)].map(count),
        [0, 0, 1, 1, 2, 3]
    );
}

#[test]
fn the_eager_interpreter_cannot_drop_what_is_smaller_than_the_minimum() {
    let script = r#"[["P", "x", 8], ["O", "f", 0, ["x"], [["a", 16]]], ["O", "g", 0, ["a"], [["b", 32]]], ["D", "a"], ["D", "b"]]"#;
    let tape = tape("s.json", script);
    let story_of = |minimum| {
        story(
            &tape,
            &run(&tape, &request("megengine_eager", None, (minimum, 1.0, 1.0))),
        )
    };
    assert_eq!(
        story_of(17),
        "put:x0 compute:a0 compute:b0 free:b0 free:a0",
        "without a recipe it cannot be dropped"
    );
    assert_eq!(story_of(16), "put:x0 compute:a0 compute:b0 drop:a0 free:b0 free:a0");
}

#[test]
fn the_time_of_a_plan_is_that_of_its_steps() {
    let graph = r#"{"vars": [{"name": "w", "bytes": 10, "flags": ["PERSISTENT_DEVICE_VALUE"]}, {"name": "a", "bytes": 10},
        {"name": "v", "bytes": 10, "flags": ["PERSISTENT_DEVICE_VALUE"]}],
      "ops": [{"name": "f", "inputs": ["w"], "outputs": ["a"]}, {"name": "update", "inputs": ["w", "a"], "outputs": ["v"]}]}"#;
    let tape = tape("u.json", graph);
    let run = run(&tape, &request("megengine", None, (0, 1.0, 1.0)));
    assert_eq!((run.base_compute.0, tape.compute().0), (100, 200));
}
