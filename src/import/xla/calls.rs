//! The computations that instructions run: calls, loops, branches.
//!
//! In: a [`Module`]. Out: uses of each computation, instructions numbered by position. A call's operand number k is the parameter
//! with that number, node by node of its shape (a tuple has one for itself and those of its elements); its result is the
//! root. Operands and result of what starts asynchronously are wrapped in tuples, so that it stays opaque.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::model::{Instruction, Module};
use highwater_model::graph::{Id as _, OpId, TensorId};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{BodyMap, BodyUse, UseKind};

/// By computation and instruction: its first tensor, as `build` numbers them; one more at the end.
pub(super) fn first_tensors(module: &Module) -> Vec<Vec<u32>> {
    let of_computation = |instructions: &[Instruction]| {
        let mut firsts = Vec::with_capacity(instructions.len() + 1);
        let mut next = 0_u32;
        firsts.push(next);
        for instruction in instructions {
            next = next.saturating_add(instruction.shape.nodes());
            firsts.push(next);
        }
        firsts
    };
    let computations = module.computations.iter();
    computations
        .map(|computation| of_computation(&computation.instructions))
        .collect()
}

pub(super) fn uses(
    module: &Module,
    firsts: &[Vec<u32>],
    number: u32,
    progress: &Progress<'_>,
) -> Result<Vec<BodyUse>, Cancelled> {
    let mut uses = Vec::new();
    let mut known: BTreeMap<u32, Parameters> = BTreeMap::new();
    for (at, instruction) in module.computations[number as usize].instructions.iter().enumerate() {
        if at % 1024 == 0 {
            progress.check()?;
        }
        let kind = match &*instruction.opcode {
            "while" => UseKind::Loop,
            "conditional" => UseKind::Branch,
            _ => UseKind::Call,
        };
        for called in &instruction.called {
            let mut mapped = None;
            if &*instruction.opcode == "call"
                && let Some(body) = module.computations.get(*called as usize)
            {
                let parameters = match known.entry(*called) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(slot) => {
                        progress.check()?;
                        slot.insert(parameters(&body.instructions))
                    }
                };
                mapped = map(module, firsts, number, at, *called, body.root, parameters);
            }
            uses.push(BodyUse {
                graph: number,
                op: OpId::from_idx(at),
                body: *called,
                kind,
                map: mapped,
            });
        }
    }
    Ok(uses)
}

type Parameters = BTreeMap<u64, usize>;

fn parameters(instructions: &[Instruction]) -> Parameters {
    let is_parameter = |one: &(usize, &Instruction)| &*one.1.opcode == "parameter";
    let parameters = instructions.iter().enumerate().filter(is_parameter);
    parameters
        .map(|(position, parameter)| (parameter.number, position))
        .collect()
}

/// The mapping of a call; `None` where shapes differ.
fn map(
    module: &Module,
    firsts: &[Vec<u32>],
    caller: u32,
    at: usize,
    target: u32,
    root: u32,
    parameters: &Parameters,
) -> Option<BodyMap> {
    let nodes = |computation: u32, at: usize| -> Option<std::ops::Range<u32>> {
        let firsts = firsts.get(computation as usize)?;
        Some(*firsts.get(at)?..*firsts.get(at + 1)?)
    };
    let pairs = |one: std::ops::Range<u32>, other: std::ops::Range<u32>| {
        let is_same = one.len() == other.len();
        is_same.then(|| one.map(TensorId).zip(other.map(TensorId)).collect::<Vec<_>>())
    };
    let instruction = &module.computations[caller as usize].instructions[at];
    let mut inputs = Vec::new();
    for (operand, number) in instruction.operands.iter().zip(0_u64..) {
        let parameter = *parameters.get(&number)?;
        inputs.extend(pairs(nodes(target, parameter)?, nodes(caller, *operand as usize)?)?);
    }
    Some(BodyMap {
        inputs,
        results: pairs(nodes(caller, at)?, nodes(target, root as usize)?)?,
    })
}
