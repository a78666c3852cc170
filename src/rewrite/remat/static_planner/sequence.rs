//! The sequence to execute: the tape's own ops, copies before the ops that need them, and ops with changed inputs.
//!
//! A copy precedes the op whose step requested it, in the order of recomputation. An op that reads a result of a copy,
//! or of an op that was itself redone for that reason, is redone with other inputs. All results of a copy replace the
//! earlier ones for later readers, including results that were resident. Storages represent their views.

use super::model::{Model, NONE};
use crate::remat::run::{RematEvent, RematKind};
use highwater_model::workload::Tape;

/// Origin of an op in the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedKind {
    /// The tape's own op with its own inputs.
    Own,
    /// The tape's own op with other inputs.
    Redone,
    /// An inserted copy.
    Copy,
}

/// One op of the sequence. Its results are those of the op of the tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedOp {
    pub op: u32,
    pub kind: PlannedKind,
    /// Index of this repetition of the op, copies and redone ones counted together from 0; 0 for its own.
    pub number: u32,
    /// Position of the tape's op for which it runs: itself, or the op that needs the copy.
    pub step: u32,
    /// Root tensors that it reads, in argument order, each with the position of its producer in the sequence.
    pub inputs: Vec<(u32, u32)>,
}

impl PlannedOp {
    /// Suffix of the original's names of the op and its results.
    pub fn suffix(&self) -> String {
        match self.kind {
            PlannedKind::Own => String::new(),
            PlannedKind::Redone => format!(":recomp{}", self.number),
            PlannedKind::Copy => format!(":dup{}", self.number),
        }
    }
}

/// The whole sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedSequence {
    /// In order of execution.
    pub ops: Vec<PlannedOp>,
    /// By tensor of the tape: the position of its last producer.
    pub latest: Vec<u32>,
}

impl PlannedSequence {
    /// From the events of a run; ops after the last step of a stopped run are unchanged.
    pub(super) fn new(tape: &Tape, model: &Model, events: &[RematEvent]) -> Self {
        let mut sequence = Self {
            ops: Vec::with_capacity(tape.ops.len()),
            latest: vec![NONE; tape.tensors.len()],
        };
        let mut numbers = vec![0_u32; tape.ops.len()];
        let mut copies = events
            .iter()
            .filter(|event| event.kind == RematKind::Rematerialize)
            .peekable();
        let mut steps = model.steps.iter().peekable();
        for (op, own) in (0_u32..).zip(&tape.ops) {
            if steps.next_if(|step| step.op == op).is_some() {
                while let Some(copy) = copies.next_if(|event| event.step == op) {
                    let maker = tape.tensors[copy.tensor as usize].op;
                    sequence.push(tape, maker, op, PlannedKind::Copy, &mut numbers);
                }
            }
            let reads_other = own.inputs.iter().any(|input| {
                let maker = sequence.latest[tape.tensors[*input as usize].storage as usize];
                maker != NONE && sequence.ops[maker as usize].kind != PlannedKind::Own
            });
            let kind = if reads_other {
                PlannedKind::Redone
            } else {
                PlannedKind::Own
            };
            sequence.push(tape, op, op, kind, &mut numbers);
        }
        sequence
    }

    fn push(&mut self, tape: &Tape, op: u32, step: u32, kind: PlannedKind, numbers: &mut [u32]) {
        let own = &tape.ops[op as usize];
        let inputs = own.inputs.iter().map(|input| {
            let root = tape.tensors[*input as usize].storage;
            (root, self.latest[root as usize])
        });
        let mut planned = PlannedOp {
            op,
            kind,
            number: 0,
            step,
            inputs: inputs.collect(),
        };
        if kind != PlannedKind::Own {
            planned.number = numbers[op as usize];
            numbers[op as usize] += 1;
        }
        let position = u32::try_from(self.ops.len()).unwrap_or(NONE);
        self.ops.push(planned);
        for output in &own.outputs {
            self.latest[*output as usize] = position;
        }
    }

    /// The peak of planned bytes by plain liveness: from the op that makes a storage to the last reader of this
    /// version, all results of a copy included, externals left out.
    pub fn liveness_peak(&self, tape: &Tape) -> u64 {
        let mut makings = Vec::with_capacity(self.ops.len());
        let mut first = Vec::with_capacity(self.ops.len());
        for (position, planned) in (0_u32..).zip(&self.ops) {
            first.push(makings.len());
            for output in &tape.ops[planned.op as usize].outputs {
                makings.push((position, *output, position));
            }
            for (root, maker) in &planned.inputs {
                let Some(from) = first.get(*maker as usize) else {
                    continue;
                };
                let results = tape.ops[self.ops[*maker as usize].op as usize].outputs.iter();
                if let Some(offset) = results.clone().position(|output| output == root) {
                    makings[from + offset].2 = position;
                }
            }
        }
        let mut ends = vec![0_u64; self.ops.len() + 1];
        let (mut live, mut peak) = (0_u64, 0_u64);
        let mut makings = makings.into_iter().peekable();
        for position in 0..self.ops.len() {
            live = live.saturating_sub(ends[position]);
            while let Some((_, output, last)) = makings.next_if(|making| making.0 as usize == position) {
                let tensor = &tape.tensors[output as usize];
                if !tensor.is_external && tensor.storage == output {
                    live = live.saturating_add(tensor.bytes.0);
                    let end = &mut ends[last as usize + 1];
                    *end = end.saturating_add(tensor.bytes.0);
                }
            }
            peak = peak.max(live);
        }
        peak
    }
}
