//! The static planner against an oracle written straight from the rules: no memory of costs between searches, the search
//! for what is over at every making of room, uses as one list with times.

use std::collections::BTreeMap;

use highwater_model::progress::{Cancel, Progress};
use highwater_rewrite::remat::{RematKind, remat};
use proptest::prelude::*;

use super::{request, tape};

const END: u64 = u64::MAX - 1;

/// An op of a random graph: which earlier variables it reads (positions from the end), sizes that it makes, whether once.
type RandomOp = (Vec<usize>, Vec<u64>, bool);

#[derive(Clone)]
struct Use {
    time: u64,
    op: usize,
    is_copy: bool,
    is_done: bool,
}

struct Oracle {
    ops: Vec<(Vec<usize>, Vec<usize>, bool)>,
    sizes: Vec<u64>,
    producer: Vec<usize>,
    uses: Vec<Vec<Use>>,
    version: Vec<u32>,
    resident: Vec<usize>,
    pins: Vec<u32>,
    usage: u64,
    budget: u64,
    factors: (u64, f64, f64),
    events: Vec<(char, usize, usize, u32, u64)>,
}

impl Oracle {
    fn is_resident(&self, variable: usize) -> bool {
        self.resident.contains(&variable)
    }

    fn est(&self, op: usize) -> f64 {
        let (inputs, outputs, _) = &self.ops[op];
        inputs.iter().chain(outputs).map(|v| self.sizes[*v]).sum::<u64>() as f64 / 1e8
    }

    fn backward(&self, v: usize) -> (f64, f64) {
        let op = self.producer[v];
        let (mut seconds, mut bytes) = (self.est(op), self.sizes[v] as f64);
        for input in self.ops[op].0.iter().filter(|input| !self.is_resident(**input)) {
            let (more, room) = self.backward(*input);
            seconds += more;
            bytes += room;
        }
        (seconds, bytes)
    }

    fn forward(&self, v: usize, memo: &mut BTreeMap<usize, f64>) -> f64 {
        if let Some(known) = memo.get(&v) {
            return *known;
        }
        let mut count = 1.0;
        for reader in &self.uses[v][1..] {
            if reader.is_copy && !reader.is_done {
                continue;
            }
            for output in &self.ops[reader.op].1 {
                if reader.is_copy && self.version[*output] == 0 {
                    count += 1.0;
                } else if !self.is_resident(*output) {
                    count += self.forward(*output, memo);
                }
            }
        }
        memo.insert(v, count);
        count
    }

    fn next(&self, v: usize, step: u64) -> u64 {
        let times = self.uses[v][1..].iter().map(|reader| reader.time);
        times
            .filter(|time| *time > step && *time < END)
            .min()
            .map_or(END, |time| time - step)
    }

    fn event(&mut self, kind: char, step: usize, v: usize) {
        self.events.push((kind, step, v, self.version[v], self.usage));
    }

    fn leave(&mut self, v: usize) {
        self.resident.retain(|other| *other != v);
        self.usage -= self.sizes[v];
    }

    fn enter(&mut self, v: usize) {
        self.resident.push(v);
        self.usage += self.sizes[v];
    }

    fn free(&mut self, v: usize, step: usize) {
        let is_needed = self.uses[v].iter().any(|reader| reader.time > step as u64);
        if !self.is_resident(v) || self.pins[v] > 0 || is_needed {
            return;
        }
        self.leave(v);
        self.event('F', step, v);
        for input in self.ops[self.producer[v]].0.clone() {
            self.free(input, step);
        }
    }

    fn make_room(&mut self, op: usize, step: usize) {
        let over = self
            .resident
            .iter()
            .filter(|v| self.pins[**v] == 0 && self.next(**v, step as u64) == END);
        for v in over.copied().collect::<Vec<_>>() {
            self.free(v, step);
        }
        let needed: u64 = self.ops[op].1.iter().map(|v| self.sizes[*v]).sum();
        while self.usage + needed >= self.budget {
            let mut memo = BTreeMap::new();
            let mut best: Option<(usize, f64)> = None;
            for v in &self.resident {
                let is_candidate =
                    self.pins[*v] == 0 && self.sizes[*v] >= self.factors.0 && !self.ops[self.producer[*v]].2;
                if !is_candidate {
                    continue;
                }
                let (seconds, bytes) = self.backward(*v);
                let cost = (self.forward(*v, &mut memo) * seconds).powf(self.factors.2);
                let value =
                    cost * bytes.powf(self.factors.1) / self.sizes[*v] as f64 / self.next(*v, step as u64) as f64;
                if best.is_none_or(|(_, lowest)| value < lowest) {
                    best = Some((*v, value));
                }
            }
            let Some((v, _)) = best else { break };
            self.leave(v);
            self.event('E', step, v);
        }
    }

    fn regenerate(&mut self, v: usize, step: usize) {
        let op = self.producer[v];
        if self.ops[op].2 || self.events.len() > 5000 {
            return;
        }
        let inputs = self.ops[op].0.clone();
        for input in &inputs {
            self.pins[*input] += 1;
        }
        let copy = Use {
            time: END,
            op,
            is_copy: true,
            is_done: false,
        };
        let mut places = Vec::new();
        for input in &inputs {
            if !self.is_resident(*input) {
                self.regenerate(*input, step);
            }
            self.uses[*input].push(copy.clone());
            places.push((*input, self.uses[*input].len() - 1));
        }
        self.make_room(op, step);
        for (input, place) in places {
            self.uses[input][place].is_done = true;
        }
        self.uses[v][0] = Use { is_done: true, ..copy };
        self.version[v] += 1;
        self.enter(v);
        self.event('R', step, v);
        for input in &inputs {
            self.pins[*input] -= 1;
        }
    }

    fn run(&mut self) {
        for step in 0..self.ops.len() {
            let (inputs, outputs, _) = self.ops[step].clone();
            for input in &inputs {
                self.pins[*input] += 1;
            }
            for input in &inputs {
                if !self.is_resident(*input) {
                    self.regenerate(*input, step);
                }
            }
            self.make_room(step, step);
            for output in &outputs {
                self.enter(*output);
                self.event('A', step, *output);
            }
            for input in &inputs {
                self.pins[*input] -= 1;
            }
            for v in inputs.iter().chain(&outputs) {
                let mine = self.uses[*v]
                    .iter()
                    .filter(|reader| !reader.is_copy)
                    .map(|reader| reader.time);
                if mine.max() == Some(step as u64) {
                    self.free(*v, step);
                }
            }
        }
    }
}

fn oracle(graph: &[RandomOp], budget: u64, factors: (u64, f64, f64)) -> (Oracle, String) {
    let mut oracle = Oracle {
        ops: Vec::new(),
        sizes: Vec::new(),
        producer: Vec::new(),
        uses: Vec::new(),
        version: Vec::new(),
        resident: Vec::new(),
        pins: Vec::new(),
        usage: 0,
        budget,
        factors,
        events: Vec::new(),
    };
    let mut ops = Vec::new();
    for (at, (reads, sizes, is_non_recomputable)) in graph.iter().enumerate() {
        let n = oracle.sizes.len();
        let mut inputs: Vec<usize> = Vec::new();
        let named: Vec<usize> = reads.iter().filter(|_| n > 0).map(|back| n - 1 - back % n).collect();
        for input in &named {
            if !inputs.contains(input) {
                inputs.push(*input);
                oracle.uses[*input].push(Use {
                    time: at as u64,
                    op: at,
                    is_copy: false,
                    is_done: true,
                });
            }
        }
        let outputs: Vec<usize> = (n..n + sizes.len()).collect();
        for size in sizes {
            oracle.sizes.push(*size);
            oracle.producer.push(at);
            oracle.uses.push(vec![Use {
                time: at as u64,
                op: at,
                is_copy: false,
                is_done: true,
            }]);
        }
        let text = |list: &[usize]| list.iter().map(|v| format!("\"v{v}\"")).collect::<Vec<_>>().join(",");
        let flag = if *is_non_recomputable { "\"IMPURE_FUNC\"" } else { "" };
        ops.push(format!(
            r#"{{"name": "f{at}", "flags": [{flag}], "inputs": [{}], "outputs": [{}]}}"#,
            text(&named),
            text(&outputs)
        ));
        oracle.ops.push((inputs, outputs, *is_non_recomputable));
    }
    oracle.version = vec![0; oracle.sizes.len()];
    oracle.pins = vec![0; oracle.sizes.len()];
    let vars = oracle
        .sizes
        .iter()
        .enumerate()
        .map(|(v, size)| format!(r#"{{"name": "v{v}", "bytes": {size}}}"#));
    let text = format!(
        r#"{{"vars": [{}], "ops": [{}]}}"#,
        vars.collect::<Vec<_>>().join(","),
        ops.join(",")
    );
    (oracle, text)
}

fn random_op() -> impl Strategy<Value = RandomOp> {
    let reads = proptest::collection::vec(0_usize..12, 0..4);
    let sizes = proptest::collection::vec(prop_oneof![Just(64_u64), 1_u64..200], 1..4);
    (reads, sizes, proptest::bool::weighted(0.08))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_planner_decides_as_the_rules_say(
        graph in proptest::collection::vec(random_op(), 3..28),
        part in 0.3..0.95_f64,
        powers in prop_oneof![Just((1.0, 1.0)), Just((0.0, 1.0)), Just((1.0, 0.0)), Just((0.5, 2.0)), Just((2.0, 0.5))],
        minimum in prop_oneof![Just(0_u64), Just(40)],
    ) {
        let (mut free, text) = oracle(&graph, u64::MAX, (0, 1.0, 1.0));
        free.run();
        let peak = free.events.iter().map(|event| event.4).max().unwrap_or(0);
        let (budget, factors) = (((peak as f64 * part) as u64).max(1), (minimum, powers.0, powers.1));
        let (mut expected, _) = oracle(&graph, budget, factors);
        expected.run();
        prop_assume!(expected.events.len() <= 5000);
        let tape = tape("r.json", text);
        let cancel = Cancel::new();
        let run = remat(&tape, &request("megengine", Some(budget), factors), &Progress::silent(&cancel)).unwrap();
        let found: Vec<_> = run.events.iter().map(|event| {
            let kind = match event.kind {
                RematKind::Compute => 'A',
                RematKind::Free => 'F',
                RematKind::Evict => 'E',
                _ => 'R',
            };
            (kind, event.clock as usize, event.tensor as usize, event.copy, event.memory_after.0)
        }).collect();
        prop_assert_eq!(found, expected.events);
    }
}
