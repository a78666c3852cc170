//! The computations that instructions run: calls, loops, branches.
//!
//! In: a [`Module`]. Out: uses of each computation, instructions numbered by position. A call's operand number k is the parameter
//! with that number, node by node of its shape (a tuple has one for itself and those of its elements); its result is the
//! root. Operands and result of what starts asynchronously are wrapped in tuples, so that it stays opaque.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::model::{Instruction, Module};
use super::values::Values;
use highwater_model::graph::{Id as _, OpId, TensorId};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{BodyMap, BodyUse, UseKind};

pub(super) fn uses(
    module: &Module,
    values: &[Values],
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
                mapped = map(module, values, number, at, *called, body.root, parameters);
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
    values: &[Values],
    caller: u32,
    at: usize,
    target: u32,
    root: u32,
    parameters: &Parameters,
) -> Option<BodyMap> {
    let nodes = |computation: u32, instruction: u32| Some(values.get(computation as usize)?.of(instruction));
    let pairs = |one: &[u32], other: &[u32]| {
        let pair = |(one, other): (&u32, &u32)| (TensorId(*one), TensorId(*other));
        let is_same = one.len() == other.len();
        is_same.then(|| one.iter().zip(other).map(pair).collect::<Vec<_>>())
    };
    let instruction = &module.computations[caller as usize].instructions[at];
    let mut inputs = Vec::new();
    for (operand, number) in instruction.operands.iter().zip(0_u64..) {
        let parameter = u32::try_from(*parameters.get(&number)?).ok()?;
        inputs.extend(pairs(nodes(target, parameter)?, nodes(caller, *operand)?)?);
    }
    Some(BodyMap {
        inputs,
        results: pairs(nodes(caller, u32::try_from(at).ok()?)?, nodes(target, root)?)?,
    })
}
