//! Small tapes whose answers follow from the rules by hand.

use highwater_model::progress::{Cancel, Cancelled, Progress};
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Tape, TapeCall, TapeOp, TapeTensor};
use highwater_rewrite::remat::{HEURISTICS, RematKind, RematStatus, remat};

use super::{Event, events, request, run};

/// Adds an op; `results` are bytes, or the tensor that a view is of.
fn op(tape: &mut Tape, time: u64, inputs: &[u32], results: &[Result<u64, u32>]) -> Vec<u32> {
    let number = tape.ops.len() as u32;
    let first = tape.tensors.len() as u32;
    let outputs: Vec<u32> = (first..).take(results.len()).collect();
    for (tensor, result) in outputs.iter().zip(results) {
        let (storage, bytes) = match result {
            Ok(bytes) => (*tensor, *bytes),
            Err(base) => (tape.tensors[*base as usize].storage, 0),
        };
        tape.tensors.push(TapeTensor {
            name: format!("t{tensor}").into(),
            storage,
            bytes: Bytes(bytes),
            op: number,
            is_external: false,
        });
    }
    tape.ops.push(TapeOp {
        name: format!("op{number}").into(),
        time: Nanos(time),
        inputs: inputs.to_vec(),
        outputs: outputs.clone(),
        is_source: false,
        is_non_recomputable: false,
    });
    tape.calls.push(TapeCall::Call(number));
    outputs
}

fn constant(tape: &mut Tape, bytes: u64) -> u32 {
    let tensor = op(tape, 0, &[], &[Ok(bytes)])[0];
    tape.tensors[tensor as usize].is_external = true;
    tape.ops.last_mut().unwrap().is_source = true;
    tensor
}

fn release(tape: &mut Tape, tensor: u32) {
    tape.calls.push(TapeCall::Release(tensor));
}

/// A constant of 10, then a chain of ops that make 10 bytes in 5 ns each.
fn chain(length: u32) -> Tape {
    let mut tape = Tape::default();
    let mut last = constant(&mut tape, 10);
    for _ in 0..length {
        last = op(&mut tape, 5, &[last], &[Ok(10)])[0];
    }
    tape
}

fn plain(letter: char, tensor: u32, clock: u64, bytes: u64) -> Event {
    Event(letter, tensor, clock, bytes, None)
}

#[test]
fn a_chain_comes_back_in_order() {
    let mut tape = chain(3);
    tape.kept = vec![1];
    let run = run(&tape, &request("lru", Some(30)));
    // For the third result the first is evicted (it was used at 6, the second is locked); at the end it comes back: of
    // the second (used at 11) and the third (used at 16) the older one goes.
    let expected = [
        plain('C', 0, 1, 10),
        plain('P', 0, 1, 10),
        plain('C', 1, 6, 20),
        plain('C', 2, 11, 30),
        Event('E', 1, 11, 20, Some(6.0)),
        plain('C', 3, 16, 30),
        Event('E', 2, 16, 20, Some(11.0)),
        plain('R', 1, 21, 30),
        plain('P', 1, 21, 30),
    ];
    assert_eq!(events(&tape, &run), expected);
    assert_eq!(
        (run.status, run.remat_compute, run.peak, run.peak_step),
        (RematStatus::Ok, Nanos(5), Bytes(30), 2)
    );
    let steps: Vec<u32> = run.events.iter().map(|event| event.step).collect();
    assert_eq!(steps, [0, 0, 1, 2, 3, 3, 4, 4, 4]);
    let choice = run.choices[0];
    assert_eq!(
        (choice.candidates, choice.ties, choice.staleness, choice.bytes),
        (1, 1, 5, Bytes(10))
    );
}

#[test]
fn the_last_of_equal_minima_goes_and_the_first_of_zeros() {
    let mut tape = Tape::default();
    let x = constant(&mut tape, 1);
    for _ in 0..3 {
        op(&mut tape, 5, &[x], &[Ok(10)]);
    }
    op(&mut tape, 5, &[x], &[Ok(10)]);
    let evicted = |tape: &Tape, heuristic: &str| {
        let run = run(tape, &request(heuristic, Some(31)));
        let event = run
            .events
            .iter()
            .find(|event| event.kind == RematKind::Evict)
            .copied()
            .unwrap();
        (event.tensor, run.choices[0].ties, run.choices[0].score)
    };
    assert_eq!(evicted(&tape, "largest"), (3, 3, 0.1));
    assert_eq!(evicted(&tape, "msps"), (3, 3, 0.5));
    assert_eq!(evicted(&tape, "lru"), (1, 1, 6.0));
    for free in [2, 3] {
        tape.ops[free].time = Nanos(0);
    }
    assert_eq!(evicted(&tape, "msps"), (2, 1, 0.0));
    // At the moment at which it was used everything costs infinity.
    for op in &mut tape.ops {
        op.time = Nanos(0);
    }
    assert_eq!(evicted(&tape, "dtr"), (3, 3, f64::INFINITY));
}

#[test]
fn neighbourhoods_count_as_described() {
    // a -> b -> c -> last; a and b are let go of.
    let mut tape = Tape::default();
    let input = constant(&mut tape, 0);
    let a = op(&mut tape, 100, &[input], &[Ok(40)])[0];
    let b = op(&mut tape, 10, &[a], &[Ok(40)])[0];
    let c = op(&mut tape, 1000, &[b], &[Ok(10)])[0];
    release(&mut tape, a);
    release(&mut tape, b);
    let last = op(&mut tape, 7, &[c], &[Ok(90)])[0];
    op(&mut tape, 1, &[last], &[Ok(10)]);
    let score = |heuristic: &str| {
        let run = run(&tape, &request(heuristic, Some(100)));
        assert_eq!(
            run.events
                .iter()
                .filter(|event| event.kind == RematKind::EagerEvict)
                .count(),
            2
        );
        (run.choices[0].score, run.choices[0].compute, run.choices[0].staleness)
    };
    // For the last op c has to go. The clock is 1118, c was used at 1111. a and b are evicted ancestors; the new result
    // of the current op counts as evicted, but is reached through d alone, which is there.
    assert_eq!(score("dtr"), (1110.0 / 70.0, 1110.0, 7));
    assert_eq!(score("dtr_eq"), (1110.0 / 70.0, 1110.0, 7));
    assert_eq!(score("dtr_local"), (1000.0 / 70.0, 1000.0, 7));
    assert_eq!(score("msps"), (111.0, 1110.0, 7));
    assert_eq!(score("lru"), (1111.0, 1000.0, 7));
    assert_eq!(score("largest"), (0.1, 1000.0, 7));
}

#[test]
fn a_view_comes_back_after_its_base() {
    let mut tape = Tape::default();
    let x = constant(&mut tape, 0);
    let base = op(&mut tape, 5, &[x], &[Ok(10)])[0];
    let view = op(&mut tape, 2, &[base], &[Err(base)])[0];
    let other = op(&mut tape, 5, &[x], &[Ok(10)])[0];
    op(&mut tape, 1, &[view], &[Ok(0)]);
    tape.kept = vec![base];
    let run = run(&tape, &request("lru", Some(10)));
    let expected = [
        plain('C', x, 1, 0),
        plain('P', x, 1, 0),
        plain('C', base, 6, 10),
        plain('C', view, 8, 10),
        Event('E', base, 8, 0, Some(8.0)),
        plain('C', other, 13, 10),
        Event('E', other, 13, 0, Some(13.0)),
        plain('R', base, 18, 10),
        plain('R', view, 20, 10),
        plain('C', 4, 21, 10),
        plain('P', base, 21, 10),
    ];
    assert_eq!(events(&tape, &run), expected);
    let chains: Vec<u32> = run.events.iter().map(|event| event.chain).collect();
    assert_eq!(chains, [0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0]);
}

#[test]
fn a_sibling_that_is_there_is_computed_twice_and_given_back() {
    let mut tape = Tape::default();
    let x = constant(&mut tape, 0);
    let both = op(&mut tape, 5, &[x], &[Ok(10), Ok(20)]);
    release(&mut tape, both[1]);
    op(&mut tape, 1, &[both[0]], &[Ok(1)]);
    tape.kept = vec![both[1], both[0]];
    let run = run(&tape, &request("lru", Some(100)));
    let told: Vec<(RematKind, u32, u64, bool)> = run
        .events
        .iter()
        .map(|event| (event.kind, event.tensor, event.memory_after.get(), event.is_sibling))
        .collect();
    assert_eq!(
        told[2..],
        [
            (RematKind::Compute, 1, 30, false),
            (RematKind::Compute, 2, 30, true),
            (RematKind::EagerEvict, 2, 10, false),
            (RematKind::Compute, 3, 11, false),
            (RematKind::Rematerialize, 2, 41, false),
            (RematKind::Pin, 2, 31, false),
            (RematKind::Pin, 1, 31, false),
        ]
    );
    assert_eq!((run.counts.collateral, run.counts.rematerialized_bytes), (0, Bytes(30)));
}

#[test]
fn what_does_not_fit_says_what_is_missing() {
    let mut tape = Tape::default();
    let x = constant(&mut tape, 3);
    let a = op(&mut tape, 5, &[x], &[Ok(10)])[0];
    let b = op(&mut tape, 5, &[x], &[Ok(20)])[0];
    op(&mut tape, 5, &[a, b], &[Ok(15)]);
    let run = run(&tape, &request("dtr", Some(40)));
    let RematStatus::OutOfMemory(shortage) = run.status else {
        panic!("{:?}", run.status)
    };
    assert_eq!(
        (shortage.op, shortage.requested, shortage.in_use, shortage.short),
        (3, Bytes(15), Bytes(33), Bytes(8))
    );
    assert_eq!(shortage.held, [b, a, x]);
    assert_eq!(run.peak, Bytes(33));
}

#[test]
fn thrashing_ends_a_run_where_it_is_asked_to() {
    let mut tape = Tape::default();
    let x = constant(&mut tape, 0);
    let a = op(&mut tape, 100, &[x], &[Ok(10)])[0];
    let b = op(&mut tape, 100, &[x], &[Ok(10)])[0];
    for turn in 0..20 {
        op(&mut tape, 1, &[if turn % 2 == 0 { a } else { b }], &[Ok(0)]);
    }
    let mut request = request("lru", Some(10));
    let thrashes = run(&tape, &request);
    assert_eq!(
        (thrashes.status.clone(), thrashes.remat_compute),
        (RematStatus::Thrash, Nanos(300))
    );
    assert_eq!(
        thrashes.events.last().map(|event| event.kind),
        Some(RematKind::Rematerialize)
    );
    request.thrash_limit = None;
    let patient = run(&tape, &request);
    assert_eq!(
        (patient.status.clone(), patient.remat_compute),
        (RematStatus::Ok, Nanos(2000))
    );
    assert!((patient.overhead() - (1.0 + 2000.0 / 220.0)).abs() < 1e-12);
}

#[test]
fn without_a_budget_constants_are_given_up_too() {
    let mut tape = chain(2);
    release(&mut tape, 0);
    op(&mut tape, 5, &[2], &[Ok(5)]);
    let free = run(&tape, &request("dtr", None));
    assert_eq!(
        (free.peak, free.counts.frees, free.counts.eager_evictions),
        (Bytes(30), 1, 0)
    );
    let held = run(&tape, &request("dtr", Some(1000)));
    assert_eq!((held.peak, held.counts.frees), (Bytes(35), 0));
}

#[test]
fn an_update_in_place_costs_nothing_and_stays() {
    let mut tape = Tape::default();
    let w = constant(&mut tape, 10);
    let g = op(&mut tape, 5, &[w], &[Ok(10)])[0];
    let updated = op(&mut tape, 5, &[w, g], &[Ok(10)])[0];
    tape.tensors[updated as usize].is_external = true;
    release(&mut tape, g);
    release(&mut tape, updated);
    op(&mut tape, 5, &[updated], &[Ok(10)]);
    let run = run(&tape, &request("dtr_eq", Some(20)));
    assert_eq!(run.status, RematStatus::Ok);
    assert_eq!(
        events(&tape, &run)[3..5],
        [plain('C', updated, 11, 20), plain('P', updated, 11, 20)]
    );
}

#[test]
fn an_op_without_results_needs_its_inputs_all_the_same() {
    let mut tape = chain(3);
    op(&mut tape, 7, &[1], &[]);
    op(&mut tape, 1, &[3], &[Ok(0)]);
    let run = run(&tape, &request("lru", Some(30)));
    assert_eq!(run.status, RematStatus::Ok);
    let clocks: Vec<u64> = run.events.iter().map(|event| event.clock).collect();
    assert_eq!(*clocks.last().unwrap(), 1 + 15 + 5 + 7 + 1);
}

/// x -> dropout (mask, y) -> z -> loss, and gradients that read z and the mask.
fn dropout() -> (Tape, [u32; 5]) {
    let mut tape = Tape::default();
    let x = constant(&mut tape, 0);
    let results = op(&mut tape, 5, &[x], &[Ok(10), Ok(40)]);
    let (mask, y) = (results[0], results[1]);
    tape.ops.last_mut().unwrap().is_non_recomputable = true;
    let z = op(&mut tape, 5, &[y], &[Ok(40)])[0];
    let loss = op(&mut tape, 5, &[z], &[Ok(1)])[0];
    release(&mut tape, y);
    let big = op(&mut tape, 500, &[x], &[Ok(60)])[0];
    release(&mut tape, big);
    let gradient = op(&mut tape, 5, &[z, loss], &[Ok(40)])[0];
    release(&mut tape, z);
    op(&mut tape, 5, &[gradient, mask], &[Ok(40)]);
    release(&mut tape, gradient);
    release(&mut tape, mask);
    tape.kept = vec![loss];
    (tape, [mask, y, z, loss, gradient])
}

#[test]
fn what_runs_once_is_kept_for_what_needs_it() {
    let (tape, [mask, y, z, loss, gradient]) = dropout();
    // z is resident when y is let go of: y goes, and z cannot be evicted from there on.
    let plenty = run(&tape, &request("dtr", Some(171)));
    assert_eq!(plenty.status, RematStatus::Ok);
    let freed = |run: &highwater_rewrite::remat::RematRun| -> Vec<u32> {
        let freed = run.events.iter().filter(|event| event.kind == RematKind::Free);
        freed.map(|event| event.tensor).collect()
    };
    // When z goes, what depends on it (loss, the gradient) cannot come back either.
    assert_eq!(freed(&plenty), [y, z, gradient, mask]);
    assert_eq!(plenty.counts.rematerializations, 0);
    // z is evicted for something else before y is let go of: y stays until z is back.
    let mut early = tape;
    let position = early
        .calls
        .iter()
        .position(|call| *call == TapeCall::Release(y))
        .unwrap();
    let call = early.calls.remove(position);
    early.calls.insert(position + 1, call);
    let tight = run(&early, &request("lru", Some(140)));
    assert_eq!(tight.status, RematStatus::Ok, "{:?}", tight.status);
    let place = |kind: RematKind, tensor: u32| {
        let mut events = tight.events.iter();
        events
            .position(|event| event.kind == kind && event.tensor == tensor)
            .unwrap()
    };
    assert!(place(RematKind::Evict, z) < place(RematKind::Rematerialize, z));
    assert!(place(RematKind::Rematerialize, z) < place(RematKind::Free, y));
    assert!(place(RematKind::Free, y) < place(RematKind::Free, z));
    assert!(
        tight
            .events
            .iter()
            .all(|event| event.tensor != loss || event.kind != RematKind::Free)
    );
}

#[test]
fn long_chains_come_back_without_a_deep_stack() {
    let mut tape = chain(50_000);
    for tensor in 1..50_000 {
        release(&mut tape, tensor);
    }
    tape.kept = vec![50_000, 49_999];
    let mut request = request("dtr_eq", Some(1 << 40));
    request.thrash_limit = None;
    let run = run(&tape, &request);
    assert_eq!(run.status, RematStatus::Ok);
    let back = run
        .events
        .iter()
        .rev()
        .find(|event| event.kind == RematKind::Rematerialize);
    assert_eq!(back.map(|event| event.chain), Some(49_999));
}

#[test]
fn sizes_and_times_may_be_absurd() {
    let mut tape = Tape::default();
    let x = constant(&mut tape, u64::MAX);
    let a = op(&mut tape, u64::MAX, &[x], &[Ok(u64::MAX), Err(x)])[0];
    op(&mut tape, u64::MAX, &[a, x], &[Ok(u64::MAX)]);
    release(&mut tape, a);
    release(&mut tape, a);
    tape.kept = vec![a, a];
    for heuristic in HEURISTICS {
        if matches!(heuristic.engine, highwater_rewrite::remat::Engine::Runtime(_)) {
            for budget in [None, Some(0), Some(1 << 63), Some(u64::MAX)] {
                run(&tape, &request(heuristic.name, budget));
            }
        }
    }
    let nothing = run(&Tape::default(), &request("dtr", Some(0)));
    assert_eq!((nothing.status, nothing.peak), (RematStatus::Ok, Bytes(0)));
}

#[test]
fn a_run_can_be_cancelled() {
    let cancel = Cancel::new();
    cancel.cancel();
    let answer = remat(&chain(3), &request("dtr", Some(30)), &Progress::silent(&cancel));
    assert_eq!(answer.unwrap_err(), Cancelled);
}
