//! Hand-made runs.

use super::*;
use highwater_model::graph::{Bindings, OpId};
use highwater_model::workload::{Run, TapeCall, TapeOp, TapeTensor};
use highwater_rewrite::remat::{
    Choice, GraphTape, HEURISTICS, NO_CHOICE, RematCounts, RematEvent, RematRun, RematShortage, sequence,
};

/// `x` from outside, then a chain `a`, `b`, `c`, and `d` that reads `c` and `a`.
fn chain() -> GraphTape {
    let ops: [(&str, &[u32]); 5] = [("x", &[]), ("a", &[0]), ("b", &[1]), ("c", &[2]), ("d", &[3, 1])];
    let mut tape = GraphTape::default();
    for (number, (name, inputs)) in (0_u32..).zip(ops) {
        tape.tape.tensors.push(TapeTensor {
            name: name.into(),
            storage: number,
            bytes: Bytes(10),
            op: number,
            is_external: number == 0,
        });
        tape.tape.ops.push(TapeOp {
            name: format!("op {name}").into(),
            time: Nanos(u64::from(number) * 100),
            inputs: inputs.to_vec(),
            outputs: vec![number],
            is_source: number == 0,
            is_non_recomputable: false,
        });
        tape.tape.calls.push(TapeCall::Call(number));
        tape.tensors.push(TensorId(number));
        tape.ops.push(number.checked_sub(1).map(OpId));
    }
    tape
}

fn event(step: u32, kind: RematKind, tensor: u32, memory: u64) -> RematEvent {
    RematEvent {
        step,
        kind,
        tensor,
        copy: u32::from(kind == RematKind::Rematerialize),
        chain: u32::from(kind == RematKind::Rematerialize),
        clock: 0,
        memory_after: Bytes(memory),
        choice: if kind == RematKind::Evict { 0 } else { NO_CHOICE },
        is_sibling: false,
    }
}

fn events() -> Vec<RematEvent> {
    use RematKind::{Compute, Evict, Free, Rematerialize};
    vec![
        event(1, Compute, 1, 20),
        event(2, Compute, 2, 30),
        event(3, Evict, 1, 20),
        event(3, Compute, 3, 30),
        event(3, Free, 2, 20),
        event(4, Rematerialize, 1, 30),
        event(4, Compute, 4, 40),
    ]
}

fn run(heuristic: &str, events: Vec<RematEvent>, status: RematStatus) -> RematRun {
    let choice = Choice {
        score: 0.25,
        compute: 100.0,
        memory: 0.0,
        staleness: 7,
        bytes: Bytes(10),
        candidates: 3,
        ties: 2,
    };
    RematRun {
        heuristic: HEURISTICS.iter().find(|row| row.name == heuristic).expect("known"),
        budget: Some(Bytes(30)),
        status,
        base_compute: Nanos(1000),
        remat_compute: Nanos(100),
        peak: Bytes(40),
        peak_step: 0,
        counts: RematCounts::default(),
        events,
        choices: vec![choice],
    }
}

/// Consecutive runs on an axis with `wait` idle steps before each recomputed slot.
fn lane(runs: &[RematRun], wait: u32) -> LaneRemat {
    let tape = Arc::new(chain());
    let (mut axis, mut rewrite) = (Axis::default(), LaneRewrite::default());
    for answer in runs {
        let sequence = sequence(&tape.tape, answer);
        let mut steps = Vec::new();
        let mut at = 0;
        for slot in &sequence.slots {
            at += if slot.is_recomputed { wait } else { 0 };
            steps.push(at);
            at += 1;
        }
        steps.push(at);
        axis.runs.push(AxisRun {
            start: Step(axis.n_steps),
            n_steps: at,
            run: Run {
                graph: GraphIdx(0),
                iteration: 0,
                bindings: Bindings::new(),
            },
            slots: None,
        });
        axis.n_steps += at;
        rewrite.remat.push(Some(Arc::new(RunRemat {
            answer: answer.clone(),
            tape: Arc::clone(&tape),
            sequence,
            steps: steps.into(),
            thrash_limit: Some(1.0),
        })));
    }
    LaneRemat::new(&rewrite, &axis)
}

fn marks(lane: &LaneRemat) -> Vec<(u32, RematMarkKind, Option<u32>)> {
    let tensor = |mark: &RematMark| mark.tensor.map(|tensor| tensor.tensor.0);
    lane.marks
        .iter()
        .map(|mark| (mark.step.0, mark.kind, tensor(mark)))
        .collect()
}

#[test]
fn evictions_and_recomputations_are_marks_around_an_interval() {
    use RematMarkKind::{Evict, Rematerialize};
    let lane = lane(&[run("dtr", events(), RematStatus::Ok)], 0);
    assert_eq!(marks(&lane), [(2, Evict, Some(1)), (3, Rematerialize, Some(1))]);
    let eviction_intervals: Vec<(u32, u32)> = lane
        .eviction_intervals
        .iter()
        .map(|interval| (interval.from.0, interval.to.0))
        .collect();
    assert_eq!(eviction_intervals, [(2, 3)]);
    assert_eq!(
        lane.eviction_intervals_of(lane.eviction_intervals[0].tensor),
        &lane.eviction_intervals[..]
    );
    // Op a was recomputed alone, for the tensor that was evicted to make room for op c.
    let [eviction] = &lane.evictions[..] else {
        panic!("{:?}", lane.evictions);
    };
    let cost = RecomputationCost {
        n_ops: 1,
        time: Nanos(100),
    };
    assert_eq!(lane.cost(eviction), Some(cost));
    assert_eq!(lane.evicted_mark(eviction).step, Step(2));
    assert_eq!(lane.recomputed_mark(eviction).map(|mark| mark.step), Some(Step(3)));
    assert_eq!(
        lane.reason(lane.evicted_mark(eviction)),
        "score 0.2500, lowest of 3 candidates"
    );
    assert_eq!(lane.bands, [(Step(3), Step(4))]);
    assert_eq!(lane.recomputed_at(Step(3)).map(|op| lane.op_name(op)), Some("op a"));
    assert_eq!(lane.verdict(), RematOutcome::Over, "its peak is above its budget");
    let sums = lane.sums();
    assert_eq!((sums.evictions, sums.recomputed), (1, 1));
    assert!((sums.overhead - 1.1).abs() < 1e-9);
}

#[test]
fn usage_is_constant_while_the_lane_is_idle() {
    let lane = lane(&[run("dtr", events(), RematStatus::Ok)], 2);
    let usage: Vec<u64> = (0..7).map(|step| lane.usage.at(step)).collect();
    assert_eq!(usage, [20, 30, 30, 30, 30, 30, 40]);
    assert!(lane.waits_at(Step(3)) && lane.waits_at(Step(4)) && !lane.waits_at(Step(5)));
    assert_eq!(lane.budget, Some(Bytes(30)));
}

#[test]
fn counters_belong_to_the_run_of_the_step() {
    let twice = [
        run("dtr", events(), RematStatus::Ok),
        run("dtr", events(), RematStatus::Ok),
    ];
    let lane = lane(&twice, 0);
    let counts = |step: u32| {
        let counters = lane.counters(Step(step));
        (counters.evictions, counters.recomputed, counters.time)
    };
    let expected = [
        (1, (0, 0, Nanos(0))),
        (2, (1, 0, Nanos(0))),
        (4, (1, 1, Nanos(100))),
        (5, (0, 0, Nanos(0))),
        (9, (1, 1, Nanos(100))),
        (99, (0, 0, Nanos(0))),
    ];
    for (step, counted) in expected {
        assert_eq!(counts(step), counted, "step {step}");
    }
    let counters = lane.counters(Step(9));
    assert!((counters.share - 0.1).abs() < 1e-9 && counters.limit == Some(1.0));
}

#[test]
fn a_column_counts_all_merged_marks() {
    let lane = lane(
        &[
            run("dtr", events(), RematStatus::Ok),
            run("dtr", events(), RematStatus::Ok),
        ],
        0,
    );
    let viewport = crate::Viewport {
        t0: 0.0,
        t1: 10.0,
        a0: 0.0,
        a1: 1.0,
    };
    let columns = lane.columns(viewport, 2);
    let counts: Vec<(u32, u32, u32)> = columns
        .iter()
        .map(|column| {
            (
                column.column,
                column.count(RematMarkKind::Evict),
                column.count(RematMarkKind::Rematerialize),
            )
        })
        .collect();
    assert_eq!(counts, [(0, 1, 1), (1, 1, 1)]);
    assert_eq!(lane.marks_within(columns[1].steps).len(), 2);
    let all: u32 = lane.columns(viewport, 1).iter().map(RematColumn::total).sum();
    assert_eq!(all as usize, lane.marks.len());
}

#[test]
fn the_facts_of_a_mark_state_its_reason() {
    let lane = lane(&[run("dtr", events(), RematStatus::Ok)], 0);
    let facts = lane.facts(&lane.marks[0]);
    assert_eq!((&*facts.tensor, &*facts.op, &*facts.for_op), ("a", "op a", "op c"));
    let row = |facts: &RematFacts, name: &str| {
        let found = facts.rows.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| text.replace('\u{a0}', " "))
    };
    for (name, text) in [
        ("score", "0.2500"),
        ("cost", "est. 100 ns"),
        ("staleness", "7 ns"),
        ("chosen from", "3 candidates, 2 with this score"),
    ] {
        assert_eq!(row(&facts, name).as_deref(), Some(text), "{name}");
    }
    let facts = lane.facts(&lane.marks[1]);
    assert_eq!(row(&facts, "chain").as_deref(), Some("1 op recomputed to have it"));
    assert_eq!(row(&facts, "op cost").as_deref(), Some("est. 100 ns"));
}

#[test]
fn an_early_end_is_a_mark_with_a_report() {
    let mut early = events();
    early.truncate(5);
    let shortage = RematShortage {
        op: 4,
        requested: Bytes(10),
        in_use: Bytes(30),
        short: Bytes(10),
        held: vec![3, 0],
    };
    let failed = lane(&[run("dtr", early.clone(), RematStatus::OutOfMemory(shortage))], 0);
    assert_eq!(marks(&failed).last(), Some(&(3, RematMarkKind::OutOfMemory, None)));
    assert_eq!(failed.verdict(), RematOutcome::OutOfMemory);
    let report = failed.oom_report().expect("a report");
    assert_eq!(
        report.sentence(failed.budget).replace('\u{a0}', " "),
        "Out of memory within the budget of 30 B at op op d: it requests 10 B while 30 B are in use and no tensor can \
         be evicted; 10 B are short."
    );
    let held: Vec<(bool, &str)> = report
        .held
        .iter()
        .map(|(tensor, name, _)| (tensor.is_some(), &**name))
        .collect();
    assert_eq!(held, [(true, "c"), (false, "x")]);
    let thrashing = lane(&[run("dtr", early, RematStatus::Thrash)], 0);
    assert_eq!(thrashing.verdict(), RematOutcome::Thrash);
    assert_eq!(marks(&thrashing).last().map(|mark| mark.1), Some(RematMarkKind::Thrash));
}
