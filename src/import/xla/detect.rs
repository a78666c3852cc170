//! Recognises XLA's dumps by their first bytes.
//!
//! Texts start with distinct words. A `HloProto` is distinguished from other protobufs, TensorFlow graphs above all, by the nested
//! start of its first computation: module { name, entry, computation { name, instruction { name, opcode, shape.

use super::dump::{ASSIGNMENT, RANGES};
use crate::proto_head::fields;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    /// `HloProto`.
    Proto,
    /// A buffer assignment or live ranges.
    Dump,
    /// A list for people that lacks what is needed.
    Report,
}

/// The part of a dump that a file holds, where several files make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Module,
    Assignment,
    Ranges,
}

/// The part of a dump that a file with this head is.
pub(crate) fn part(head: &[u8]) -> Option<Part> {
    match form(head)? {
        Form::Text | Form::Proto => Some(Part::Module),
        Form::Dump => {
            let head = head.trim_ascii_start();
            let is_assignment = head.starts_with(ASSIGNMENT.as_bytes());
            Some(if is_assignment { Part::Assignment } else { Part::Ranges })
        }
        Form::Report => None,
    }
}

pub(super) fn form(head: &[u8]) -> Option<Form> {
    if is_proto(head) {
        return Some(Form::Proto);
    }
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or(""),
    };
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//"));
    let first = lines.next()?;
    if first.starts_with("HloModule ") {
        return Some(Form::Text);
    }
    if first == ASSIGNMENT || first.starts_with(RANGES) {
        return Some(Form::Dump);
    }
    let second = lines.next().unwrap_or("");
    let is_report = (first.starts_with("Total bytes used: ") && second == "Used values:")
        || (first.starts_with("Memory Space: ") && second.starts_with("Total bytes: "));
    is_report.then_some(Form::Report)
}

fn is_proto(head: &[u8]) -> bool {
    let is_name = |name: &[u8]| !name.is_empty() && name.iter().all(|byte| byte.is_ascii_graphic() || *byte >= 0x80);
    let is_letter = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    first_texts(head).is_some_and(|(names, opcode)| {
        !opcode.is_empty() && opcode.iter().all(is_letter) && names.into_iter().all(is_name)
    })
}

/// The names of the module, the entry, the first computation and its first instruction, and the opcode of that.
fn first_texts(head: &[u8]) -> Option<([&[u8]; 4], &[u8])> {
    let mut module = fields(fields(head).next()??.part(1)?);
    let name = module.next()??.whole(1)?;
    let entry = module.next()??.whole(2)?;
    let mut computation = fields(module.next()??.part(3)?);
    let computation_name = computation.next()??.whole(1)?;
    let mut instruction = fields(computation.next()??.part(2)?);
    let instruction_name = instruction.next()??.whole(1)?;
    let opcode = instruction.next()??.whole(2)?;
    Some(([name, entry, computation_name, instruction_name], opcode))
}
