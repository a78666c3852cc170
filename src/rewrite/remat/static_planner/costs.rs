//! f, b and m: the cost of evicting a variable, cached over searches and invalidated exactly where it changes.
//!
//! ```text
//! b(v) = seconds of v's producer + b of those of its inputs that are not resident
//! m(v) = bytes of v             + m of the same
//! f(v) = 1 + f of what is not resident among the results of v's readers
//! ```
//!
//! Results of a finished copy count too. Of these, one that was never recomputed counts 1 whether its first version is
//! resident or not: it belongs to the copy only and has no readers. A copy under construction has none.
//!
//! Invariant: where a known value was summed from others, these are known. So invalidation walks from the change to its
//! dependents, and stops at unknown ones. Sums run in declared order: a cached value and a fresh one are equal to the
//! bit.

use super::model::Model;

/// A copy of an op: for which variable, and whether its results exist.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub step: u32,
    pub is_finished: bool,
}

/// State of a variable.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub is_resident: bool,
    /// Number of recomputations.
    pub version: u32,
    /// Copies that read it.
    pub copies: Vec<u32>,
}

/// The three values of every variable.
#[derive(Debug)]
pub(super) struct Costs {
    forward: Vec<f64>,
    backward: Vec<(f64, f64)>,
    knows_forward: Vec<bool>,
    knows_backward: Vec<bool>,
    stack: Vec<u32>,
}

impl Costs {
    pub(super) fn new(n_variables: usize) -> Self {
        Self {
            forward: vec![0.0; n_variables],
            backward: vec![(0.0, 0.0); n_variables],
            knows_forward: vec![false; n_variables],
            knows_backward: vec![false; n_variables],
            stack: Vec::new(),
        }
    }

    /// Whether both are known: then nothing changed since [`Self::of`].
    pub(super) fn knows(&self, variable: u32) -> bool {
        self.knows_forward[variable as usize] && self.knows_backward[variable as usize]
    }

    /// (f·b, m) of a variable.
    pub(super) fn of(&mut self, model: &Model, states: &[State], copies: &[Copy], variable: u32) -> (f64, f64) {
        self.learn_forward(model, states, copies, variable);
        self.learn_backward(model, states, variable);
        let (seconds, bytes) = self.backward[variable as usize];
        (self.forward[variable as usize] * seconds, bytes)
    }

    /// Invalidates after a change of residency, or a new version.
    pub(super) fn forget(&mut self, model: &Model, states: &[State], variable: u32) {
        let producer = &model.steps[model.variables[variable as usize].producer as usize];
        self.stack.extend(&producer.inputs);
        while let Some(input) = self.stack.pop() {
            if std::mem::replace(&mut self.knows_forward[input as usize], false) && !states[input as usize].is_resident
            {
                let producer = &model.steps[model.variables[input as usize].producer as usize];
                self.stack.extend(&producer.inputs);
            }
        }
        self.push_results(model, variable);
        while let Some(result) = self.stack.pop() {
            if std::mem::replace(&mut self.knows_backward[result as usize], false)
                && !states[result as usize].is_resident
            {
                self.push_results(model, result);
            }
        }
    }

    fn push_results(&mut self, model: &Model, variable: u32) {
        for reader in &model.variables[variable as usize].readers {
            self.stack.extend(&model.steps[*reader as usize].outputs);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the original weighs in floating point")]
    fn learn_backward(&mut self, model: &Model, states: &[State], variable: u32) {
        self.stack.push(variable);
        while let Some(&top) = self.stack.last() {
            if self.knows_backward[top as usize] {
                self.stack.pop();
                continue;
            }
            let info = &model.variables[top as usize];
            let producer = &model.steps[info.producer as usize];
            let missing = || {
                producer
                    .inputs
                    .iter()
                    .filter(|input| !states[**input as usize].is_resident)
            };
            let before = self.stack.len();
            self.stack
                .extend(missing().filter(|input| !self.knows_backward[**input as usize]));
            if self.stack.len() > before {
                continue;
            }
            let (mut seconds, mut bytes) = (producer.seconds, info.bytes as f64);
            for input in missing() {
                seconds += self.backward[*input as usize].0;
                bytes += self.backward[*input as usize].1;
            }
            self.backward[top as usize] = (seconds, bytes);
            self.knows_backward[top as usize] = true;
            self.stack.pop();
        }
    }

    fn learn_forward(&mut self, model: &Model, states: &[State], copies: &[Copy], variable: u32) {
        self.stack.push(variable);
        while let Some(&top) = self.stack.last() {
            if self.knows_forward[top as usize] {
                self.stack.pop();
                continue;
            }
            let readers = &model.variables[top as usize].readers;
            let before = self.stack.len();
            for reader in readers {
                let outputs = model.steps[*reader as usize].outputs.iter();
                let unknown =
                    |output: &&u32| !states[**output as usize].is_resident && !self.knows_forward[**output as usize];
                self.stack.extend(outputs.filter(unknown));
            }
            if self.stack.len() > before {
                continue;
            }
            let mut count = 1.0;
            for reader in readers {
                for output in &model.steps[*reader as usize].outputs {
                    if !states[*output as usize].is_resident {
                        count += self.forward[*output as usize];
                    }
                }
            }
            for copy in &states[top as usize].copies {
                let copy = copies[*copy as usize];
                if !copy.is_finished {
                    continue;
                }
                for output in &model.steps[copy.step as usize].outputs {
                    let state = &states[*output as usize];
                    if state.version == 0 {
                        count += 1.0;
                    } else if !state.is_resident {
                        count += self.forward[*output as usize];
                    }
                }
            }
            self.forward[top as usize] = count;
            self.knows_forward[top as usize] = true;
            self.stack.pop();
        }
    }
}
