//! Input of the static planner: steps and variables of a tape.
//!
//! In: a [`Tape`]. Out: a [`Model`]. A variable is a storage that is not external; a step is an op that makes at least
//! one. Inputs are storages, in declared order, without duplicates. An op that only makes views or externals is no
//! step: readers of a view read its storage, and the op's own inputs are ignored, as in the original, whose sequence
//! does not contain it.

use highwater_model::units::Nanos;
use highwater_model::workload::Tape;

/// No variable, no step.
pub(super) const NONE: u32 = u32::MAX;

/// A planned op.
#[derive(Debug)]
pub(super) struct Step {
    pub op: u32,
    /// Variables that it reads, without duplicates.
    pub inputs: Vec<u32>,
    /// External storages that it reads.
    pub externals: Vec<u32>,
    /// Variables that it makes.
    pub outputs: Vec<u32>,
    /// Bytes of all outputs.
    pub output_bytes: u64,
    /// Bytes of variables read and made.
    pub moved: u64,
    /// Bytes moved over 10^8.
    pub seconds: f64,
    pub is_non_recomputable: bool,
}

/// A planned storage.
#[derive(Debug)]
pub(super) struct Variable {
    /// The root tensor.
    pub tensor: u32,
    pub bytes: u64,
    /// The step that makes it.
    pub producer: u32,
    /// Ascending.
    pub readers: Vec<u32>,
}

/// A storage of the caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct External {
    pub bytes: u64,
    /// First step that reads it.
    pub first: u32,
    /// Last step that reads it.
    pub last: u32,
}

#[derive(Debug)]
pub(super) struct Model {
    pub steps: Vec<Step>,
    pub variables: Vec<Variable>,
    pub externals: Vec<External>,
}

impl Model {
    pub(super) fn new(tape: &Tape) -> Self {
        let mut model = Self {
            steps: Vec::new(),
            variables: Vec::new(),
            externals: Vec::new(),
        };
        let mut variable_of = vec![NONE; tape.tensors.len()];
        let mut external_of = vec![NONE; tape.tensors.len()];
        let mut seen = vec![NONE; tape.tensors.len()];
        for (number, op) in (0_u32..).zip(&tape.ops) {
            let outputs = || {
                op.outputs
                    .iter()
                    .map(|tensor| (*tensor, &tape.tensors[*tensor as usize]))
            };
            let is_planned = |&(number, tensor): &(u32, &highwater_model::workload::TapeTensor)| {
                !tensor.is_external && tensor.storage == number
            };
            if !outputs().any(|output| is_planned(&output)) {
                continue;
            }
            let at = index(model.steps.len());
            let mut step = Step {
                op: number,
                inputs: Vec::new(),
                externals: Vec::new(),
                outputs: Vec::new(),
                output_bytes: 0,
                moved: 0,
                seconds: 0.0,
                is_non_recomputable: op.is_non_recomputable,
            };
            for tensor in &op.inputs {
                let root = tape.tensors[*tensor as usize].storage;
                if std::mem::replace(&mut seen[root as usize], at) == at {
                    continue;
                }
                if tape.tensors[root as usize].is_external {
                    model.read_external(&mut external_of[root as usize], tape, root, at);
                    step.externals.push(external_of[root as usize]);
                } else if variable_of[root as usize] != NONE {
                    step.inputs.push(variable_of[root as usize]);
                }
            }
            for (tensor, made) in outputs().filter(is_planned) {
                variable_of[tensor as usize] = index(model.variables.len());
                step.outputs.push(index(model.variables.len()));
                step.output_bytes = step.output_bytes.saturating_add(made.bytes.0);
                model.variables.push(Variable {
                    tensor,
                    bytes: made.bytes.0,
                    producer: at,
                    readers: Vec::new(),
                });
            }
            model.finish(step);
        }
        model
    }

    /// Time of all steps, each once; ops that are no steps do not count.
    pub(super) fn compute(&self, tape: &Tape) -> Nanos {
        let times = self.steps.iter().map(|step| tape.ops[step.op as usize].time.0);
        Nanos(times.fold(0, u64::saturating_add))
    }

    fn read_external(&mut self, place: &mut u32, tape: &Tape, root: u32, at: u32) {
        if *place == NONE {
            *place = index(self.externals.len());
            self.externals.push(External {
                bytes: tape.tensors[root as usize].bytes.0,
                first: at,
                last: at,
            });
        }
        self.externals[*place as usize].last = at;
    }

    #[expect(clippy::cast_precision_loss, reason = "the original estimates in floating point")]
    fn finish(&mut self, mut step: Step) {
        let at = index(self.steps.len());
        let mut read = 0_u64;
        for input in &step.inputs {
            let variable = &mut self.variables[*input as usize];
            read = read.saturating_add(variable.bytes);
            variable.readers.push(at);
        }
        step.moved = read.saturating_add(step.output_bytes);
        step.seconds = step.moved as f64 / 1e8;
        self.steps.push(step);
    }
}

/// A count as a number of 32 bits; tapes have no more.
fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
