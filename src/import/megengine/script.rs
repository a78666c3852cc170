//! A script of an eager interpreter, as a tape: puts bring external tensors, deletions release.
//!
//! An op costs what it reads (each mention counts) and makes, external tensors included. What is never deleted is kept,
//! external tensors apart.

use super::draft::Draft;
use super::wire::WireEntry;
use crate::ImportError;
use highwater_model::progress::Progress;
use highwater_model::workload::{Tape, TapeCall};

pub(super) fn tape(name: String, entries: &[WireEntry], progress: &Progress<'_>) -> Result<Tape, ImportError> {
    let mut draft = Draft::new(name);
    let mut is_deleted: Vec<bool> = Vec::new();
    for (position, entry) in entries.iter().enumerate() {
        if position.is_multiple_of(4096) {
            progress.check()?;
        }
        let place = format!("entry {position}");
        match entry {
            WireEntry::Put(name, bytes) => {
                let mut op = draft.op(&format!("put {name}"), Vec::new(), &place)?;
                op.is_source = true;
                op.is_non_recomputable = true;
                draft.output(&mut op, name, *bytes, true, &place)?;
                draft.finish(op, 0);
            }
            WireEntry::Op {
                name,
                is_bad,
                inputs,
                outputs,
            } => {
                let numbers = inputs.iter().map(|input| alive(&draft, &is_deleted, input, &place));
                let numbers = numbers.collect::<Result<Vec<u32>, _>>()?;
                let read = numbers.iter().map(|input| draft.bytes(*input));
                let mut moved = read.fold(0, u64::saturating_add);
                let mut op = draft.op(name, numbers, &place)?;
                op.is_non_recomputable = *is_bad;
                for (name, bytes) in outputs {
                    draft.output(&mut op, name, *bytes, false, &place)?;
                    moved = moved.saturating_add(*bytes);
                }
                draft.finish(op, moved);
            }
            WireEntry::Delete(name) => {
                let number = alive(&draft, &is_deleted, name, &place)?;
                is_deleted[number as usize] = true;
                draft.tape.calls.push(TapeCall::Release(number));
            }
        }
        is_deleted.resize(draft.tape.tensors.len(), false);
    }
    if draft.tape.ops.is_empty() {
        return Err(ImportError::at(
            "there is no op",
            "the script",
            "the file is cut off or empty, export it again",
        ));
    }
    let mut tape = draft.tape;
    let numbers = (0_u32..).zip(&tape.tensors).zip(&is_deleted);
    let kept = numbers.filter(|((_, tensor), is_deleted)| !tensor.is_external && !**is_deleted);
    tape.kept = kept.map(|((number, _), _)| number).collect();
    Ok(tape)
}

/// The number of a tensor that was made above and not deleted since.
fn alive(draft: &Draft, is_deleted: &[bool], name: &str, place: &str) -> Result<u32, ImportError> {
    let number = draft.number(name, place)?;
    if is_deleted[number as usize] {
        return Err(ImportError::at(
            format!("the variable \"{name}\" was deleted above"),
            place,
            "move the deletion behind the last entry that names it",
        ));
    }
    Ok(number)
}
