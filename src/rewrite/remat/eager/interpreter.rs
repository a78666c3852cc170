//! The walk over the calls: evictions before ops, recomputations, drops and frees.
//!
//! Candidates are in a vector: a tensor is appended when it becomes resident or loses its last pin, and removed by
//! swapping in the last one. Tensors that cannot be evicted are candidates too if they are larger than the minimum
//! size: that decides among equal scores, where the first wins.

use super::FreeNeighbors;
use super::arena::Arena;
use super::classes::Classes;
use crate::remat::run::{RematKind, RematRequest, RematRun, RematStatus};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{Tape, TapeCall};

pub(super) const NONE: u32 = u32::MAX;

/// State of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Not yet computed.
    Absent,
    /// In memory.
    Resident,
    /// Evicted or dropped: recomputing a neighbour recomputes it.
    Evicted,
    /// Freed for good.
    Freed,
}

#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) place: Place,
    /// Whether its op can run again for it.
    pub(super) has_recipe: bool,
    pub(super) pins: u32,
    /// References of the caller.
    pub(super) held: u32,
    /// Uses by live recipes.
    pub(super) needed: u32,
    pub(super) version: u32,
    pub(super) position: u32,
    /// Bytes that its producer moved in its last execution.
    pub(super) cost: u64,
    pub(super) last_use: Clock,
}

/// Bytes moved, and seconds summed as the original does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    pub(super) moved: u64,
    pub(super) seconds: f64,
}

/// An op of the interpreter.
#[derive(Debug, Default)]
pub(super) struct Recipe {
    /// Storages read, repetitions included.
    pub(super) inputs: Vec<u32>,
    /// Storages made that can be recomputed.
    pub(super) outputs: Vec<u32>,
    /// How many outputs are not freed.
    pub(super) n_alive: u32,
}

pub(super) struct Interpreter<'a> {
    pub(super) tape: &'a Tape,
    pub(super) request: &'a RematRequest,
    pub(super) progress: &'a Progress<'a>,
    pub(super) states: Vec<State>,
    pub(super) recipes: Vec<Recipe>,
    pub(super) candidates: Vec<u32>,
    pub(super) arena: Option<Arena>,
    pub(super) classes: Classes,
    pub(super) clock: Clock,
    pub(super) used: u64,
    pub(super) step: u32,
    pub(super) n_computed: u32,
    pub(super) run: RematRun,
}

/// Contract: [`super::run_eager`].
pub(super) fn run(tape: &Tape, request: &RematRequest, progress: &Progress<'_>) -> Result<RematRun, Cancelled> {
    let mut interpreter = Interpreter::new(tape, request, progress);
    for (position, call) in tape.calls.iter().enumerate() {
        if position.is_multiple_of(64) {
            progress.set("interpreting", position as u64, tape.calls.len() as u64)?;
        }
        if interpreter.call(*call)?.is_break() {
            interpreter.run.status = RematStatus::Thrash;
            break;
        }
    }
    Ok(interpreter.run)
}

pub(super) type Flow = std::ops::ControlFlow<()>;
pub(super) const CONTINUE: Flow = Flow::Continue(());

impl<'a> Interpreter<'a> {
    fn new(tape: &'a Tape, request: &'a RematRequest, progress: &'a Progress<'a>) -> Self {
        let n = tape.tensors.len();
        let state = State {
            place: Place::Absent,
            has_recipe: false,
            pins: 0,
            held: 0,
            needed: 0,
            version: 0,
            position: NONE,
            cost: 0,
            last_use: Clock::default(),
        };
        Self {
            tape,
            request,
            progress,
            states: vec![state; n],
            recipes: tape.ops.iter().map(|_| Recipe::default()).collect(),
            candidates: Vec::new(),
            arena: (request.free_neighbors == FreeNeighbors::Arena).then(|| Arena::new(n)),
            classes: Classes::new(n),
            clock: Clock::default(),
            used: 0,
            step: 0,
            n_computed: 0,
            run: RematRun::new(request, tape.compute()),
        }
    }

    pub(super) fn root(&self, tensor: u32) -> u32 {
        self.tape.tensors[tensor as usize].storage
    }

    pub(super) fn bytes(&self, root: u32) -> u64 {
        self.tape.tensors[root as usize].bytes.0
    }

    fn call(&mut self, call: TapeCall) -> Result<Flow, Cancelled> {
        match call {
            TapeCall::Call(op) => {
                let flow = self.op(op)?;
                for output in &self.tape.ops[op as usize].outputs {
                    let root = self.root(*output);
                    self.states[root as usize].held += 1;
                }
                return Ok(flow);
            }
            TapeCall::Retain(tensor) => {
                let root = self.root(tensor);
                self.states[root as usize].held += 1;
            }
            TapeCall::Release(tensor) => {
                let root = self.root(tensor);
                let state = &mut self.states[root as usize];
                let was_held = state.held > 0;
                state.held = state.held.saturating_sub(1);
                if was_held && state.held == 0 {
                    self.release(root);
                }
            }
        }
        Ok(CONTINUE)
    }

    fn op(&mut self, number: u32) -> Result<Flow, Cancelled> {
        self.step = number;
        let op = &self.tape.ops[number as usize];
        let roots = op
            .outputs
            .iter()
            .copied()
            .filter(|output| self.root(*output) == *output);
        let roots: Vec<u32> = roots.collect();
        if op.is_source {
            self.put(&roots);
            return Ok(CONTINUE);
        }
        let inputs: Vec<u32> = op.inputs.iter().map(|input| self.root(*input)).collect();
        if self.restore_inputs(&inputs)?.is_break() {
            return Ok(Flow::Break(()));
        }
        if roots.is_empty() {
            // It makes views or writes over memory of the caller: it needs its inputs and no new memory.
            for input in &inputs {
                self.unpin(*input);
            }
            return Ok(CONTINUE);
        }
        self.make_room()?;
        let start = self.clock;
        let moved = self.moved(&inputs, roots.iter());
        self.advance(moved);
        for (position, output) in roots.iter().enumerate() {
            let has_recipe =
                !op.is_non_recomputable && self.bytes(*output) >= self.request.factors.evictee_minimum_size.0;
            let state = &mut self.states[*output as usize];
            (state.last_use, state.cost, state.has_recipe) = (start, moved, has_recipe);
            self.begin_class(*output, moved);
            self.enter(*output);
            self.event(RematKind::Compute, *output, |event| event.is_sibling = position > 0);
            if has_recipe {
                self.recipes[number as usize].outputs.push(*output);
            }
        }
        let recipe = &mut self.recipes[number as usize];
        recipe.n_alive = u32::try_from(recipe.outputs.len()).unwrap_or(NONE);
        if recipe.n_alive > 0 {
            for input in &inputs {
                self.states[*input as usize].needed += 1;
            }
            self.recipes[number as usize].inputs.clone_from(&inputs);
        }
        for input in &inputs {
            self.unpin(*input);
        }
        self.note_over_budget();
        Ok(CONTINUE)
    }

    /// Pins the inputs of an op, recomputing missing ones.
    fn restore_inputs(&mut self, inputs: &[u32]) -> Result<Flow, Cancelled> {
        for input in inputs {
            self.pin(*input);
        }
        for input in inputs {
            self.states[*input as usize].last_use = self.clock;
            if self.states[*input as usize].place != Place::Resident && self.regenerate(*input)?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(CONTINUE)
    }

    fn put(&mut self, roots: &[u32]) {
        for root in roots {
            self.states[*root as usize].last_use = self.clock;
            self.enter(*root);
            self.event(RematKind::Put, *root, |_| {});
        }
        self.note_over_budget();
    }

    fn note_over_budget(&mut self) {
        let threshold = self.request.budget.map_or(0, |budget| budget.0);
        if threshold > 0 && self.used > threshold {
            self.run.counts.steps_over_budget += 1;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the original weighs in floating point")]
    fn begin_class(&mut self, root: u32, cost: u64) {
        self.classes.begin(root, cost as f64);
    }

    /// Bytes that an op reads (each mention) and makes.
    pub(super) fn moved<'t>(&self, inputs: &'t [u32], outputs: impl Iterator<Item = &'t u32>) -> u64 {
        let all = inputs.iter().chain(outputs).map(|root| self.bytes(*root));
        all.fold(0, u64::saturating_add)
    }

    #[expect(clippy::cast_precision_loss, reason = "the original's clock is in floating point")]
    pub(super) fn advance(&mut self, moved: u64) {
        self.clock.moved = self.clock.moved.saturating_add(moved);
        self.clock.seconds += moved as f64 / 1e8;
    }
}
