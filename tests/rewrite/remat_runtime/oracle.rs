//! A second, plain implementation of the runtime, straight from the description: new sets and walks for every cost, a
//! list as pool, recursion. Slow; for small tapes.

use std::collections::{BTreeMap, BTreeSet};

use highwater_model::workload::{Tape, TapeCall};

use super::Event;

/// What it computes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: &'static str,
    pub(crate) peak: u64,
    pub(crate) remat: u64,
    pub(crate) collateral: u64,
    pub(crate) events: Vec<Event>,
}

/// Runs a tape without ops that must not run twice.
pub(crate) fn run(tape: &Tape, heuristic: &'static str, budget: u64, limit: f64) -> Answer {
    let n = tape.tensors.len();
    let mut plain = Plain {
        tape,
        heuristic,
        budget,
        limit,
        clock: 1,
        last: vec![0; n],
        resident: vec![false; n],
        pinned: vec![false; n],
        locks: vec![0; n],
        references: vec![0; n],
        defined: vec![false; n],
        born: BTreeSet::new(),
        pool: Vec::new(),
        class: BTreeMap::new(),
        classes: Vec::new(),
        used: 0,
        answer: Answer {
            status: "ok",
            peak: 0,
            remat: 0,
            collateral: 0,
            events: Vec::new(),
        },
    };
    if let Err(status) = plain.play() {
        plain.answer.status = status;
    }
    plain.answer
}

struct Plain<'a> {
    tape: &'a Tape,
    heuristic: &'static str,
    budget: u64,
    limit: f64,
    clock: u64,
    // By storage.
    last: Vec<u64>,
    resident: Vec<bool>,
    pinned: Vec<bool>,
    locks: Vec<u32>,
    references: Vec<u32>,
    // By tensor.
    defined: Vec<bool>,
    born: BTreeSet<u32>,
    pool: Vec<u32>,
    /// The class of an evicted storage: a place in `classes`.
    class: BTreeMap<u32, usize>,
    /// What each class costs; a merged one says where it went.
    classes: Vec<Result<i128, usize>>,
    used: u64,
    answer: Answer,
}

impl Plain<'_> {
    fn root(&self, tensor: u32) -> u32 {
        self.tape.tensors[tensor as usize].storage
    }

    fn bytes(&self, tensor: u32) -> u64 {
        self.tape.tensors[tensor as usize].bytes.get()
    }

    fn tensors(&self, storage: u32) -> Vec<u32> {
        let born = self.born.iter().copied();
        born.filter(|tensor| self.root(*tensor) == storage).collect()
    }

    fn ops(&self, storage: u32) -> BTreeSet<u32> {
        let tensors = self.tensors(storage);
        tensors
            .iter()
            .map(|tensor| self.tape.tensors[*tensor as usize].op)
            .collect()
    }

    fn own(&self, storage: u32) -> i128 {
        let ops = self.ops(storage);
        ops.iter()
            .map(|op| i128::from(self.tape.ops[*op as usize].time.0))
            .sum()
    }

    fn parents(&self, storage: u32) -> BTreeSet<u32> {
        let ops = self.ops(storage);
        let inputs = ops.iter().flat_map(|op| &self.tape.ops[*op as usize].inputs);
        inputs.map(|tensor| self.root(*tensor)).collect()
    }

    fn children(&self, storage: u32) -> BTreeSet<u32> {
        let tensors = self.tensors(storage);
        let reads = |op: &u32| {
            let inputs = &self.tape.ops[*op as usize].inputs;
            inputs.iter().any(|input| tensors.contains(input))
        };
        let born = self.born.iter();
        let readers = born.filter(|tensor| reads(&self.tape.tensors[**tensor as usize].op));
        readers.map(|tensor| self.root(*tensor)).collect()
    }

    fn is_evicted(&self, storage: u32) -> bool {
        self.born.contains(&storage) && !self.resident[storage as usize]
    }

    fn reached(&self, from: u32, next: impl Fn(&Self, u32) -> BTreeSet<u32>) -> i128 {
        let mut found = BTreeSet::new();
        let mut todo = vec![from];
        while let Some(storage) = todo.pop() {
            for other in next(self, storage) {
                if self.is_evicted(other) && found.insert(other) {
                    todo.push(other);
                }
            }
        }
        found.iter().map(|storage| self.own(*storage)).sum()
    }

    fn find(&self, mut class: usize) -> usize {
        while let Err(other) = self.classes[class] {
            class = other;
        }
        class
    }

    fn adjacent_classes(&self, storage: u32) -> BTreeSet<usize> {
        let neighbors = &self.parents(storage) | &self.children(storage);
        let classes = neighbors.iter().filter_map(|neighbor| self.class.get(neighbor));
        classes.map(|class| self.find(*class)).collect()
    }

    fn cost(&self, storage: u32) -> f64 {
        let own = self.own(storage);
        let bytes = i128::from(self.bytes(storage));
        let stale = i128::from(self.clock - self.last[storage as usize]);
        let up = |plain: &Self, storage| plain.parents(storage);
        let down = |plain: &Self, storage| plain.children(storage);
        let (numerator, denominator) = match self.heuristic {
            "dtr" => (
                own + self.reached(storage, up) + self.reached(storage, down),
                bytes * stale,
            ),
            "dtr_eq" => {
                let classes = self.adjacent_classes(storage);
                let sum: i128 = classes.iter().map(|class| self.classes[*class].unwrap()).sum();
                (own + sum, bytes * stale)
            }
            "dtr_local" => (own, bytes * stale),
            "msps" => (own + self.reached(storage, up), bytes),
            "lru" => (self.last[storage as usize].into(), 1),
            "largest" => (1, bytes),
            other => panic!("{other}"),
        };
        if denominator == 0 {
            f64::INFINITY
        } else {
            numerator as f64 / denominator as f64
        }
    }

    fn choose(&self) -> Option<(u32, f64)> {
        let mut best = None;
        for storage in &self.pool {
            let cost = self.cost(*storage);
            if best.is_none_or(|(_, lowest)| cost <= lowest) {
                best = Some((*storage, cost));
            }
            if cost == 0.0 {
                break;
            }
        }
        best
    }

    fn evict(&mut self, storage: u32) {
        self.pool.retain(|other| *other != storage);
        self.used -= self.bytes(storage);
        let adjacent = self.adjacent_classes(storage);
        self.resident[storage as usize] = false;
        for tensor in self.tensors(storage) {
            self.defined[tensor as usize] = false;
        }
        let mut sum = self.own(storage);
        let new = self.classes.len();
        for class in adjacent {
            sum += self.classes[class].unwrap();
            self.classes[class] = Err(new);
        }
        self.classes.push(Ok(sum));
        self.class.insert(storage, new);
    }

    fn lock(&mut self, storage: u32) {
        self.locks[storage as usize] += 1;
        self.pool.retain(|other| *other != storage);
    }

    fn event(&mut self, letter: char, tensor: u32, cost: Option<f64>) {
        let event = Event(letter, tensor, self.clock, self.used, cost);
        self.answer.events.push(event);
    }

    fn pin(&mut self, storage: u32) {
        if !self.pinned[storage as usize] {
            self.pinned[storage as usize] = true;
            self.lock(storage);
            self.event('P', storage, None);
        }
    }

    fn materialize(&mut self, tensor: u32, is_first: bool) -> Result<(), &'static str> {
        let tape = self.tape;
        let op = &tape.ops[tape.tensors[tensor as usize].op as usize];
        for input in &op.inputs {
            let root = self.root(*input);
            self.last[root as usize] = self.clock;
        }
        let (there, missing): (Vec<u32>, Vec<u32>) = op.inputs.iter().partition(|input| self.defined[**input as usize]);
        for input in there {
            self.lock(self.root(input));
        }
        for input in missing {
            if !self.defined[input as usize] {
                self.materialize(input, false)?;
            }
            self.lock(self.root(input));
        }
        let need: u64 = op.outputs.iter().map(|output| self.bytes(*output)).sum();
        while self.used + need > self.budget {
            let (storage, cost) = self.choose().ok_or("OOM")?;
            self.evict(storage);
            self.event('E', storage, Some(cost));
        }
        self.clock += op.time.0;
        self.used += need;
        self.answer.peak = self.answer.peak.max(self.used);
        self.event(if is_first { 'C' } else { 'R' }, tensor, None);
        let siblings = op.outputs.iter().copied().filter(|output| *output != tensor);
        for output in siblings.chain([tensor]) {
            if self.defined[output as usize] {
                self.used -= self.bytes(output);
                continue;
            }
            self.answer.collateral += u64::from(!is_first && output != tensor);
            self.defined[output as usize] = true;
            let root = self.root(output);
            if !self.resident[root as usize] {
                self.resident[root as usize] = true;
                if let Some(class) = self.class.remove(&root) {
                    let class = self.find(class);
                    let left = self.classes[class].unwrap() - self.own(root);
                    self.classes[class] = Ok(left);
                }
                self.pool.push(root);
            }
        }
        for input in &op.inputs {
            let root = self.root(*input);
            self.locks[root as usize] -= 1;
            if self.locks[root as usize] == 0 {
                self.pool.push(root);
            }
        }
        if !is_first {
            self.answer.remat += op.time.0;
        }
        if self.answer.remat as f64 > self.limit {
            Err("THRASH")
        } else {
            Ok(())
        }
    }

    fn play(&mut self) -> Result<(), &'static str> {
        for call in &self.tape.calls {
            match *call {
                TapeCall::Call(number) => {
                    let op = &self.tape.ops[number as usize];
                    self.born.extend(&op.outputs);
                    self.materialize(op.outputs[0], true)?;
                    for output in &op.outputs {
                        let root = self.root(*output);
                        self.references[root as usize] += 1;
                        self.last[root as usize] = self.clock;
                        if self.tape.tensors[*output as usize].is_external {
                            self.pin(root);
                        }
                    }
                }
                TapeCall::Retain(tensor) => {
                    let root = self.root(tensor);
                    self.references[root as usize] += 1;
                }
                TapeCall::Release(tensor) => {
                    let root = self.root(tensor);
                    let number = root as usize;
                    self.references[number] -= 1;
                    if self.references[number] == 0 && self.resident[number] && !self.pinned[number] {
                        self.evict(root);
                        self.event('F', root, None);
                    }
                }
            }
        }
        for tensor in &self.tape.kept {
            if !self.defined[*tensor as usize] {
                self.materialize(*tensor, false)?;
            }
            self.pin(self.root(*tensor));
        }
        Ok(())
    }
}
