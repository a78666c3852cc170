//! Random tapes: the same events as the plain implementation, and what must hold of every run.

use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Tape, TapeCall, TapeOp, TapeTensor};
use highwater_rewrite::remat::{RematKind, RematRun, RematStatus};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{events, oracle, request, run};

/// Every heuristic that the plain implementation knows.
const PLAIN: &[&str] = &["dtr", "dtr_eq", "dtr_local", "msps", "lru", "largest"];

/// A step of a made-up program; numbers pick among what there is.
#[derive(Clone, Debug)]
enum Make {
    Constant(u64),
    /// Time, inputs, and for each result its bytes or the input that it is a view of.
    Op(u64, Vec<usize>, Vec<(u64, Option<usize>)>),
    /// Time, inputs, how many of them change.
    Mutate(u64, Vec<usize>, usize),
    Retain(usize),
    Release(usize),
}

fn make() -> impl Strategy<Value = Make> {
    let time = prop_oneof![1 => Just(0_u64), 6 => 1..50_u64, 1 => 1000..100_000_u64];
    let bytes = || prop_oneof![1 => Just(0_u64), 4 => 1..6_u64, 2 => 10..100_u64];
    let result = (bytes(), prop_oneof![3 => Just(None), 1 => (0..3_usize).prop_map(Some)]);
    prop_oneof![
        1 => bytes().prop_map(Make::Constant),
        8 => (time.clone(), vec(0..64_usize, 1..4), vec(result, 1..4)).prop_map(|(time, inputs, results)| Make::Op(time, inputs, results)),
        1 => (time, vec(0..64_usize, 1..3), 1..3_usize).prop_map(|(time, inputs, n)| Make::Mutate(time, inputs, n)),
        1 => (0..64_usize).prop_map(Make::Retain),
        5 => (0..64_usize).prop_map(Make::Release),
    ]
}

/// A program under way: who is referred to how often.
#[derive(Default)]
struct Maker {
    tape: Tape,
    references: Vec<u32>,
}

impl Maker {
    /// Tensors that the caller refers to.
    fn live(&self, pick: usize) -> Option<u32> {
        let live: Vec<u32> = (0..)
            .zip(&self.references)
            .filter(|(_, n)| **n > 0)
            .map(|(tensor, _)| tensor)
            .collect();
        // Recent ones are picked more often.
        live.iter()
            .rev()
            .nth(pick % live.len().max(1).min(1 + pick % 17))
            .copied()
    }

    fn op(&mut self, time: u64, inputs: Vec<u32>, results: &[(u64, Option<u32>)], is_source: bool) -> Vec<u32> {
        let number = self.tape.ops.len() as u32;
        let mut outputs = Vec::new();
        for (bytes, base) in results {
            let tensor = self.tape.tensors.len() as u32;
            self.tape.tensors.push(TapeTensor {
                name: format!("t{tensor}").into(),
                storage: base.unwrap_or(tensor),
                bytes: Bytes(if base.is_some() { 0 } else { *bytes }),
                op: number,
                is_external: is_source,
            });
            self.references.push(1);
            outputs.push(tensor);
        }
        self.tape.ops.push(TapeOp {
            name: format!("op{number}").into(),
            time: Nanos(time),
            inputs,
            outputs: outputs.clone(),
            is_source,
            is_non_recomputable: false,
        });
        self.tape.calls.push(TapeCall::Call(number));
        outputs
    }

    fn release(&mut self, tensor: u32) {
        self.references[tensor as usize] -= 1;
        self.tape.calls.push(TapeCall::Release(tensor));
    }

    fn make(&mut self, make: &Make) {
        match make {
            Make::Constant(bytes) => drop(self.op(0, Vec::new(), &[(*bytes, None)], true)),
            Make::Op(time, picks, results) => {
                let inputs: Vec<u32> = picks.iter().filter_map(|pick| self.live(*pick)).collect();
                let base = |argument: usize| {
                    let tensor = inputs.get(argument)?;
                    Some(self.tape.tensors[*tensor as usize].storage)
                };
                let results: Vec<(u64, Option<u32>)> = results
                    .iter()
                    .map(|(bytes, view)| (*bytes, view.and_then(base)))
                    .collect();
                // A view of the caller's memory is the caller's too, and no op recomputes it.
                let is_own = |(_, base): &(u64, Option<u32>)| {
                    base.is_none_or(|base| !self.tape.tensors[base as usize].is_external)
                };
                let results: Vec<(u64, Option<u32>)> = results.into_iter().filter(is_own).collect();
                if !results.is_empty() {
                    drop(self.op(*time, inputs, &results, false));
                }
            }
            Make::Mutate(time, picks, n) => {
                let inputs: Vec<u32> = picks.iter().filter_map(|pick| self.live(*pick)).collect();
                let mut changed: Vec<u32> = inputs.iter().take(*n).copied().collect();
                changed.dedup();
                let size = |tensor: &u32| {
                    let root = self.tape.tensors[*tensor as usize].storage;
                    (self.tape.tensors[root as usize].bytes.get(), None)
                };
                let results: Vec<(u64, Option<u32>)> = changed.iter().map(size).collect();
                if !results.is_empty() {
                    drop(self.op(*time, inputs, &results, false));
                    for old in changed {
                        self.release(old);
                    }
                }
            }
            Make::Retain(pick) => {
                if let Some(tensor) = self.live(*pick) {
                    self.references[tensor as usize] += 1;
                    self.tape.calls.push(TapeCall::Retain(tensor));
                }
            }
            Make::Release(pick) => {
                if let Some(tensor) = self.live(*pick) {
                    self.release(tensor);
                }
            }
        }
    }
}

fn tape(makes: &[Make]) -> Tape {
    let mut program = Maker::default();
    program.op(0, Vec::new(), &[(3, None)], true);
    for make in makes {
        program.make(make);
    }
    let kept = (0..)
        .zip(&program.references)
        .filter(|(_, n)| **n > 0)
        .map(|(tensor, _)| tensor);
    program.tape.kept = kept.collect();
    program.tape
}

fn tapes(longest: usize) -> impl Strategy<Value = Tape> {
    vec(make(), 1..longest).prop_map(|makes| tape(&makes))
}

/// What must hold of every run.
fn check(tape: &Tape, run: &RematRun) {
    let budget = run.budget.map_or(u64::MAX, Bytes::get);
    let mut copies = vec![None; tape.tensors.len()];
    let (mut clock, mut n_choices) = (1, 0);
    for event in &run.events {
        assert!(event.memory_after.get() <= budget, "{event:?}");
        assert!(event.clock >= clock, "{event:?}");
        clock = event.clock;
        let copy = &mut copies[event.tensor as usize];
        match event.kind {
            RematKind::Compute => assert_eq!((copy.replace(0), event.copy), (None, 0), "{event:?}"),
            RematKind::Rematerialize => {
                assert_eq!(copy.map(|copy: u32| copy + 1), Some(event.copy), "{event:?}");
                assert!(event.chain > 0, "{event:?}");
                *copy = Some(event.copy);
            }
            _ => assert_eq!(*copy, Some(event.copy), "{event:?}"),
        }
        if event.kind == RematKind::Evict {
            let choice = &run.choices[event.choice as usize];
            assert!(choice.ties >= 1 && choice.ties <= choice.candidates, "{choice:?}");
            n_choices += 1;
        }
    }
    assert_eq!((run.choices.len(), run.counts.evictions), (n_choices, n_choices as u64));
    assert!(run.peak.get() <= budget);
    if run.status == RematStatus::Ok {
        assert_eq!(clock, 1 + run.base_compute.0 + run.remat_compute.0);
    }
    if let RematStatus::OutOfMemory(shortage) = &run.status {
        let held: u64 = shortage
            .held
            .iter()
            .map(|root| tape.tensors[*root as usize].bytes.get())
            .sum();
        assert!(held <= shortage.in_use.get());
        assert_eq!(
            shortage.in_use.get() + shortage.requested.get(),
            budget + shortage.short.get()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn the_plain_implementation_gives_the_same_events(tape in tapes(70), part in 0.1..1.1_f64, limit in 0.2..4.0_f64) {
        let peak = run(&tape, &request("lru", None)).peak.get();
        let budget = (peak as f64 * part) as u64;
        for heuristic in PLAIN {
            let mut request = request(heuristic, Some(budget));
            request.thrash_limit = Some(limit);
            let got = run(&tape, &request);
            check(&tape, &got);
            let told = oracle::run(&tape, heuristic, budget, limit * tape.compute().0 as f64);
            let events = events(&tape, &got);
            for (place, (event, told)) in events.iter().zip(&told.events).enumerate() {
                prop_assert_eq!(event, told, "{}, event {}", heuristic, place);
            }
            prop_assert_eq!(events.len(), told.events.len(), "{}", heuristic);
            let status = match got.status { RematStatus::Ok => "ok", RematStatus::Thrash => "THRASH", RematStatus::OutOfMemory(_) => "OOM" };
            prop_assert_eq!(
                (status, got.peak.get(), got.remat_compute.0, got.counts.collateral),
                (told.status, told.peak, told.remat, told.collateral), "{}", heuristic
            );
        }
    }

    #[test]
    fn ops_that_run_once_are_computed_once(tape in tapes(60), part in 0.3..1.1_f64, once in vec(any::<bool>(), 64)) {
        let mut tape = tape;
        for (op, is_non_recomputable) in tape.ops.iter_mut().zip(once.into_iter().cycle()) {
            op.is_non_recomputable = is_non_recomputable && !op.is_source;
        }
        let peak = run(&tape, &request("lru", None)).peak.get();
        for heuristic in ["dtr", "dtr_eq", "msps", "lru", "random"] {
            let got = run(&tape, &request(heuristic, Some((peak as f64 * part) as u64)));
            check(&tape, &got);
            for event in &got.events {
                let is_non_recomputable = tape.ops[tape.tensors[event.tensor as usize].op as usize].is_non_recomputable;
                let is_undone = matches!(event.kind, RematKind::Evict | RematKind::EagerEvict | RematKind::Rematerialize);
                prop_assert!(!(is_non_recomputable && is_undone && !event.is_sibling), "{:?} {:?}", heuristic, event);
            }
        }
        // With all the memory there is, nothing is held longer than it has to be, but for what can come back.
        let free = run(&tape, &request("lru", None));
        prop_assert_eq!(free.counts.rematerializations, 0);
        check(&tape, &free);
    }

    #[test]
    fn chance_is_the_same_for_the_same_seed(tape in tapes(60), part in 0.3..0.9_f64, seed in any::<u64>()) {
        let peak = run(&tape, &request("lru", None)).peak.get();
        let mut request = request("random", Some((peak as f64 * part) as u64));
        request.seed = seed;
        let got = run(&tape, &request);
        check(&tape, &got);
        prop_assert_eq!(&got, &run(&tape, &request));
    }
}
