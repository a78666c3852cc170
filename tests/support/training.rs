//! Recordings of training whose every block is known: a model's steps run through the simulated allocator of torch, and
//! the part of its history that a ring would hold.

#[path = "training/frames.rs"]
mod frames;
#[path = "training/model.rs"]
mod model;
#[path = "training/record.rs"]
mod record;

pub(crate) use model::Model;
pub(crate) use record::{Known, record};

use frames::{Caller, frames};
use model::Role;

use highwater_model::workload::Category;

/// Releases whose stacks differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// 1.13: modules are called by one function, states are made in `step`.
    Old,
    /// 2.1 to 2.15.
    New,
}

/// What stacks hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stacks {
    None,
    Python,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Optimizer {
    Sgd,
    Momentum,
    AdamSingle,
    AdamForeach,
    /// Without temporaries, with a count of steps on the device.
    AdamFused,
}

impl Optimizer {
    fn file(self) -> &'static str {
        match self {
            Self::Sgd | Self::Momentum => "sgd",
            Self::AdamSingle | Self::AdamForeach | Self::AdamFused => "adamw",
        }
    }

    fn n_states(self) -> usize {
        match self {
            Self::Sgd => 0,
            Self::Momentum => 1,
            Self::AdamSingle | Self::AdamForeach | Self::AdamFused => 2,
        }
    }
}

/// A part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    Forward,
    Backward,
    Optimizer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zero {
    /// Gradients are freed before the forward pass.
    First,
    /// Gradients are freed after the optimizer.
    Last,
    /// Gradients stay and are set to 0.
    Kept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Average {
    None,
    Modules,
    Hand,
}

/// Where the history begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Process,
    /// Before the first step: the model is there.
    Built,
    /// Before the third step.
    WarmedUp,
    /// Within the third step, at a part of a pass.
    Within(Pass),
    /// The ring lost what is before the middle of the third step's pass; stacks of living blocks are known.
    Ring(Pass),
}

/// What happens, and how it is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) name: &'static str,
    pub(crate) stacks: Stacks,
    pub(crate) release: Release,
    pub(crate) optimizer: Optimizer,
    pub(crate) zero: Zero,
    pub(crate) average: Average,
    pub(crate) start: Start,
    /// Backward passes for each step of the optimizer.
    pub(crate) n_parts: usize,
    /// Parameters of half the size, whose masters the optimizer holds.
    pub(crate) has_masters: bool,
    /// Of eight parameters, how many have no gradient.
    pub(crate) frozen: usize,
    pub(crate) is_inference: bool,
    /// The pass of the last step in which a request fails, and whether the program frees what it held then.
    pub(crate) failure: Option<(Pass, bool)>,
    pub(crate) n_steps: usize,
}

impl Run {
    pub(crate) const PLAIN: Self = Self {
        name: "from the start",
        stacks: Stacks::Python,
        release: Release::New,
        optimizer: Optimizer::AdamForeach,
        zero: Zero::Last,
        average: Average::None,
        start: Start::Process,
        n_parts: 1,
        has_masters: false,
        frozen: 0,
        is_inference: false,
        failure: None,
        n_steps: 4,
    };
}

/// Right categories of a block: the first is what it is, the others may be said as well.
pub(crate) type Truth = &'static [Category];

const PARAMETER: Truth = &[Category::Parameter];
const BUFFER: Truth = &[Category::Parameter];
const AVERAGE: Truth = &[Category::Unknown];
/// They are the parameters that the optimizer changes.
const MASTER: Truth = &[Category::OptimizerState, Category::Parameter];
const STATE: Truth = &[Category::OptimizerState];
const GRADIENT: Truth = &[Category::Gradient];
const INPUT: Truth = &[Category::Input];
const ACTIVATION: Truth = &[Category::Activation];
const TEMPORARY: Truth = &[Category::Temporary];
/// Made again for the backward pass: saved or not; and 4 bytes of the loss.
const EITHER: Truth = &[Category::Activation, Category::Temporary];

/// A command to the allocator.
enum Command {
    Alloc {
        id: usize,
        bytes: u64,
        frames: Vec<String>,
        truth: Truth,
    },
    Free(usize),
    /// A request that fails.
    Fail,
    /// The history begins here.
    Begin,
}

/// Writes the commands of a run.
struct Writer<'a> {
    run: Run,
    model: &'a Model,
    commands: Vec<Command>,
    next: usize,
    gradients: Vec<Option<usize>>,
    states: Vec<Option<usize>>,
    batch: Vec<usize>,
    loss: Option<usize>,
    /// Storages of the pass that runs.
    live: Vec<Option<usize>>,
    has_failed: bool,
}

impl<'a> Writer<'a> {
    fn new(run: Run, model: &'a Model) -> Self {
        Self {
            run,
            model,
            commands: Vec::new(),
            next: 0,
            gradients: vec![None; model.parameters.len()],
            states: vec![None; model.parameters.len() * run.optimizer.n_states()],
            batch: Vec::new(),
            loss: None,
            live: vec![None; model.storages.len()],
            has_failed: false,
        }
    }

    fn alloc(&mut self, bytes: u64, caller: Caller<'_>, truth: Truth) -> usize {
        self.next += 1;
        self.commands.push(Command::Alloc {
            id: self.next,
            bytes,
            frames: frames(caller, self.run.stacks, self.run.release),
            truth,
        });
        self.next
    }

    fn free(&mut self, id: Option<usize>) {
        self.commands.extend(id.map(Command::Free));
    }

    fn bytes_of(&self, parameter: usize) -> u64 {
        self.model.parameters[parameter] / if self.run.has_masters { 2 } else { 1 }
    }

    fn is_frozen(&self, parameter: usize) -> bool {
        self.run.is_inference || parameter % 8 + self.run.frozen >= 8
    }

    fn setup(&mut self) {
        for parameter in 0..self.model.parameters.len() {
            self.alloc(self.bytes_of(parameter), Caller::Setup, PARAMETER);
        }
        for bytes in &self.model.buffers {
            self.alloc(*bytes, Caller::Setup, BUFFER);
        }
        let copies = match self.run.average {
            Average::None => None,
            Average::Modules => Some(Caller::Average),
            Average::Hand => Some(Caller::HandAverage),
        };
        for parameter in 0..self.model.parameters.len() {
            if let Some(caller) = copies {
                self.alloc(self.bytes_of(parameter), caller, AVERAGE);
            }
            if self.run.has_masters {
                self.alloc(self.model.parameters[parameter], Caller::Master, MASTER);
            }
        }
    }

    /// Whether the history begins, or a request fails, in the middle of a pass of a step.
    fn at_middle(&mut self, pass: Pass, (step, is_last): (usize, bool)) {
        if let Start::Within(start) | Start::Ring(start) = self.run.start
            && step == 2
            && start == pass
        {
            self.commands.push(Command::Begin);
        }
        if self.run.failure.is_some_and(|(failure, _)| failure == pass) && step + 1 == self.run.n_steps && is_last {
            self.commands.push(Command::Fail);
            self.has_failed = true;
        }
    }

    fn step(&mut self, step: usize) {
        match (self.run.start, step) {
            (Start::Built, 0) | (Start::WarmedUp, 2) => self.commands.push(Command::Begin),
            _ => {}
        }
        if self.run.zero == Zero::First {
            self.zero();
        }
        for part in 0..self.run.n_parts {
            self.passes((step, part + 1 == self.run.n_parts));
            if self.has_failed {
                self.unwind();
                return;
            }
        }
        if !self.run.is_inference {
            self.optimizer(step);
        }
        if !self.has_failed && self.run.zero == Zero::Last {
            self.zero();
        }
    }

    fn zero(&mut self) {
        for parameter in 0..self.gradients.len() {
            let gradient = self.gradients[parameter].take();
            self.free(gradient);
        }
    }

    /// The program leaves its step.
    fn unwind(&mut self) {
        if self.run.failure.is_some_and(|(_, frees)| frees) {
            for storage in 0..self.live.len() {
                let id = self.live[storage].take();
                self.free(id);
            }
        }
    }

    fn passes(&mut self, step: (usize, bool)) {
        let old = std::mem::take(&mut self.batch);
        for bytes in &self.model.batch {
            let id = self.alloc(*bytes, Caller::Batch, INPUT);
            self.batch.push(id);
        }
        for id in old {
            self.free(Some(id));
        }
        let model = self.model;
        let n_forward = model.nodes.iter().filter(|node| !node.is_backward).count();
        for (position, node) in model.nodes.iter().enumerate() {
            if node.is_backward && self.run.is_inference {
                break;
            }
            if position == n_forward / 2 {
                self.at_middle(Pass::Forward, step);
            }
            if position == n_forward + (model.nodes.len() - n_forward) / 2 {
                self.at_middle(Pass::Backward, step);
            }
            if self.has_failed {
                return;
            }
            if position == n_forward {
                let root = self.alloc(4, Caller::Root, TEMPORARY);
                self.free(Some(root));
            }
            self.node(node);
        }
        for storage in 0..self.live.len() {
            if self.run.is_inference {
                let id = self.live[storage].take();
                self.free(id);
            }
        }
    }

    fn node(&mut self, node: &model::Node) {
        for storage in &node.makes {
            let made = &self.model.storages[*storage];
            let caller = match (node.is_backward, node.is_again) {
                (false, _) => Caller::Forward(&node.op, made.bytes),
                (true, true) => Caller::Again(&node.op, made.bytes),
                (true, false) => Caller::Backward,
            };
            match made.role {
                Role::Gradient(parameter) => self.gradient(parameter, caller),
                Role::Loss => {
                    let loss = self.alloc(made.bytes, caller, EITHER);
                    let old = self.loss.replace(loss);
                    self.free(old);
                }
                Role::Saved | Role::Again | Role::Scratch => {
                    let truth = match made.role {
                        _ if self.run.is_inference => EITHER,
                        Role::Saved => ACTIVATION,
                        Role::Again => EITHER,
                        _ => TEMPORARY,
                    };
                    self.live[*storage] = Some(self.alloc(made.bytes, caller, truth));
                }
            }
        }
        for storage in &node.ends {
            let id = self.live[*storage].take();
            self.free(id);
        }
    }

    fn gradient(&mut self, parameter: usize, caller: Caller<'_>) {
        if self.is_frozen(parameter) {
            return;
        }
        let bytes = self.bytes_of(parameter);
        if self.gradients[parameter].is_some() {
            // It is added to the one that is there.
            let part = self.alloc(bytes, caller, TEMPORARY);
            self.free(Some(part));
        } else {
            self.gradients[parameter] = Some(self.alloc(bytes, caller, GRADIENT));
        }
    }

    fn optimizer(&mut self, step: usize) {
        let optimizer = self.run.optimizer;
        let trained: Vec<usize> = (0..self.model.parameters.len())
            .filter(|at| !self.is_frozen(*at))
            .collect();
        for parameter in &trained {
            if *parameter == trained[trained.len() / 2] {
                self.at_middle(Pass::Optimizer, (step, true));
            }
            for state in 0..optimizer.n_states() {
                let place = parameter * optimizer.n_states() + state;
                if self.states[place].is_none() && !self.has_failed {
                    let bytes = self.model.parameters[*parameter];
                    self.states[place] = Some(self.alloc(bytes, Caller::State(optimizer), STATE));
                }
            }
            if self.has_failed {
                return;
            }
        }
        let mut held = Vec::new();
        for parameter in trained {
            let bytes = self.model.parameters[parameter];
            match optimizer {
                Optimizer::AdamForeach => held.push(self.alloc(bytes, Caller::Step(optimizer), TEMPORARY)),
                Optimizer::AdamSingle => {
                    let id = self.alloc(bytes, Caller::Step(optimizer), TEMPORARY);
                    self.free(Some(id));
                }
                Optimizer::Sgd | Optimizer::Momentum | Optimizer::AdamFused => {}
            }
        }
        for id in held {
            self.free(Some(id));
        }
    }
}

/// All commands of a run.
fn commands(run: Run, model: &Model) -> Vec<Command> {
    let mut writer = Writer::new(run, model);
    if run.start == Start::Process {
        writer.commands.push(Command::Begin);
    }
    writer.setup();
    for step in 0..run.n_steps {
        if !writer.has_failed {
            writer.step(step);
        }
    }
    writer.commands
}
