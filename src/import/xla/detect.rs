//! Recognises XLA's dumps by their first bytes.
//!
//! Texts start with distinct words. A `HloProto` is distinguished from other protobufs, TensorFlow graphs above all, by the nested
//! start of its first computation: module { name, entry, computation { name, instruction { name, opcode, shape.

use super::dump::{ASSIGNMENT, RANGES};

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
    let Some(module) = inside(head, 0x0a) else { return false };
    let Some((name, rest)) = taken(module, 0x0a) else {
        return false;
    };
    let Some((entry, rest)) = taken(rest, 0x12) else {
        return false;
    };
    let Some(computation) = inside(rest, 0x1a) else {
        return false;
    };
    let Some((computation_name, rest)) = taken(computation, 0x0a) else {
        return false;
    };
    let Some(instruction) = inside(rest, 0x12) else {
        return false;
    };
    let Some((instruction_name, rest)) = taken(instruction, 0x0a) else {
        return false;
    };
    let Some((opcode, _)) = taken(rest, 0x12) else {
        return false;
    };
    let is_name = |name: &[u8]| !name.is_empty() && name.iter().all(|byte| byte.is_ascii_graphic() || *byte >= 0x80);
    let is_opcode = opcode
        .iter()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-');
    is_opcode
        && !opcode.is_empty()
        && [name, entry, computation_name, instruction_name]
            .into_iter()
            .all(is_name)
}

/// The content of the first field, as far as the head has it.
fn inside(bytes: &[u8], tag: u8) -> Option<&[u8]> {
    let (len, start) = length(bytes, tag)?;
    Some(&bytes[start..start.saturating_add(len).min(bytes.len())])
}

/// The whole content of the first field, and the bytes behind it.
fn taken(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (len, start) = length(bytes, tag)?;
    let end = start.checked_add(len)?;
    Some((bytes.get(start..end)?, &bytes[end..]))
}

fn length(bytes: &[u8], tag: u8) -> Option<(usize, usize)> {
    if bytes.first() != Some(&tag) {
        return None;
    }
    let mut len = 0_u64;
    for (turn, byte) in bytes[1..].iter().take(9).enumerate() {
        len |= u64::from(byte & 0x7f) << (7 * turn);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(len).ok()?, turn + 2));
        }
    }
    None
}
