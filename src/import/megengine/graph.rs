//! An op sequence with variables, as a tape.
//!
//! A variable with one of the flags below is the caller's. One that no op makes is brought by a source op in front of all
//! ops; if it is to be planned, that op runs once. What ops read that is planned costs time, and what they make; external
//! variables cost none. After its last reader the caller releases a planned variable; one that no op reads is a result
//! of the graph and is kept.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{ADVICE, Draft};
use super::wire::{WireGraph, WireOp, WireVariable};
use crate::ImportError;
use highwater_model::progress::Progress;
use highwater_model::workload::{Tape, TapeCall};

/// Flags of variables whose memory is not planned.
const EXTERNAL: [&str; 4] = [
    "PERSISTENT_DEVICE_VALUE",
    "VOLATILE_CONTENT",
    "NO_SYS_STATIC_MEM_ALLOC",
    "NO_SYS_MEM_ALLOC",
];

/// Flags of ops that must not run a second time.
const NON_RECOMPUTABLE: [&str; 3] = ["IMPURE_FUNC", "NO_AUTOMATIC_DUP", "FORCE_UPDATE_INPUT_VAR"];

type Declared<'a> = BTreeMap<&'a str, (&'a WireVariable, bool)>;

pub(super) fn tape(name: String, wire: &WireGraph, progress: &Progress<'_>) -> Result<Tape, ImportError> {
    let mut draft = Draft::new(name);
    let declared = declare(wire)?;
    add_sources(&mut draft, wire)?;
    for (position, op) in wire.ops.iter().enumerate() {
        if position.is_multiple_of(4096) {
            progress.check()?;
        }
        add(&mut draft, &declared, position, op)?;
    }
    if draft.tape.ops.is_empty() {
        return Err(ImportError::at(
            "there is no op",
            "\"ops\"",
            "the file is cut off or empty, export it again",
        ));
    }
    Ok(release(draft.tape))
}

fn declare(wire: &WireGraph) -> Result<Declared<'_>, ImportError> {
    let mut declared = Declared::new();
    for (position, variable) in wire.vars.iter().enumerate() {
        let is_external = variable.flags.iter().any(|flag| EXTERNAL.contains(&flag.as_str()));
        if declared.insert(&variable.name, (variable, is_external)).is_some() {
            return Err(ImportError::at(
                format!("the variable \"{}\" is declared twice", variable.name),
                format!("vars[{position}]"),
                "give every variable a different name",
            ));
        }
    }
    Ok(declared)
}

/// A source op for each variable that no op makes.
fn add_sources(draft: &mut Draft, wire: &WireGraph) -> Result<(), ImportError> {
    let made: BTreeSet<&str> = wire.ops.iter().flat_map(|op| &op.outputs).map(String::as_str).collect();
    for (position, variable) in wire.vars.iter().enumerate() {
        if made.contains(variable.name.as_str()) {
            continue;
        }
        let is_external = variable.flags.iter().any(|flag| EXTERNAL.contains(&flag.as_str()));
        let place = format!("vars[{position}]");
        let mut op = draft.op(&format!("source of {}", variable.name), Vec::new(), &place)?;
        op.is_source = is_external;
        op.is_non_recomputable = true;
        draft.output(&mut op, &variable.name, variable.bytes, is_external, &place)?;
        draft.finish(op, if is_external { 0 } else { variable.bytes });
    }
    Ok(())
}

fn add(draft: &mut Draft, declared: &Declared<'_>, position: usize, wire: &WireOp) -> Result<(), ImportError> {
    let place = format!("ops[{position}] \"{}\"", wire.name);
    let mut inputs = Vec::with_capacity(wire.inputs.len());
    for name in &wire.inputs {
        if !declared.contains_key(name.as_str()) {
            return Err(undeclared(name, &place));
        }
        inputs.push(draft.number(name, &place)?);
    }
    let mut distinct = inputs.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let planned = |draft: &Draft, tensor: u32| !draft.tape.tensors[tensor as usize].is_external;
    let read = distinct.iter().filter(|input| planned(draft, **input));
    let mut moved: u64 = read.map(|input| draft.bytes(*input)).sum();
    let mut op = draft.op(&wire.name, inputs, &place)?;
    op.is_non_recomputable = wire.flags.iter().any(|flag| NON_RECOMPUTABLE.contains(&flag.as_str()));
    let mut is_source = op.inputs.is_empty() && !wire.outputs.is_empty();
    for name in &wire.outputs {
        let Some((variable, is_external)) = declared.get(name.as_str()) else {
            return Err(undeclared(name, &place));
        };
        draft.output(&mut op, name, variable.bytes, *is_external, &place)?;
        if !is_external {
            moved = moved.saturating_add(variable.bytes);
            is_source = false;
        }
    }
    op.is_source = is_source;
    draft.finish(op, moved);
    Ok(())
}

fn undeclared(name: &str, place: &str) -> ImportError {
    ImportError::at(format!("the variable \"{name}\" is not among \"vars\""), place, ADVICE)
}

/// Puts releases behind last readers, and lists what is kept.
fn release(mut tape: Tape) -> Tape {
    let mut last = vec![None; tape.tensors.len()];
    for (position, op) in tape.ops.iter().enumerate() {
        for input in &op.inputs {
            last[*input as usize] = Some(position);
        }
    }
    let planned = |tensor: &u32| !tape.tensors[*tensor as usize].is_external;
    let numbers = 0..u32::try_from(tape.tensors.len()).unwrap_or(u32::MAX);
    tape.kept = numbers
        .filter(planned)
        .filter(|tensor| last[*tensor as usize].is_none())
        .collect();
    let mut calls = Vec::with_capacity(tape.calls.len() + tape.tensors.len());
    for (position, op) in tape.ops.iter().enumerate() {
        calls.push(TapeCall::Call(u32::try_from(position).unwrap_or(u32::MAX)));
        for input in &op.inputs {
            if planned(input) && last[*input as usize] == Some(position) {
                last[*input as usize] = None;
                calls.push(TapeCall::Release(*input));
            }
        }
    }
    tape.calls = calls;
    tape
}
