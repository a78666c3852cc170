//! Recognises XLA's dumps by their first bytes.
//!
//! Texts start with distinct words; a `HloProto` is told from other protobufs by its messages.

use super::cursor::Cursor;
use super::dump::{ASSIGNMENT, RANGES};
use super::shape::{self, ShapeNotes};
use super::text::header_of;
use crate::proto_kind::{self, ProtoKind};

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
    if is_text_module(text) {
        return Some(Form::Text);
    }
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//"));
    let first = lines.next()?;
    if first == ASSIGNMENT || first.starts_with(RANGES) {
        return Some(Form::Dump);
    }
    let second = lines.next().unwrap_or("");
    let is_report = (first.starts_with("Total bytes used: ") && second == "Used values:")
        || (first.starts_with("Memory Space: ") && second.starts_with("Total bytes: "));
    is_report.then_some(Form::Report)
}

/// A header of a module, or a computation with its first instruction, perhaps behind comments.
fn is_text_module(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.skip_blanks();
    if cursor.rest().starts_with("HloModule ") {
        return true;
    }
    let Ok(Some(header)) = header_of(cursor.rest()) else {
        return false;
    };
    let mut cursor = Cursor::new(&cursor.rest()[header.length..]);
    cursor.skip_blanks();
    let name = cursor.until(|letter| letter == '=' || letter == '\n');
    if name.trim().is_empty() || !cursor.eat('=') || shape::parse(&mut cursor, &mut ShapeNotes::default()).is_err() {
        return false;
    }
    cursor.skip_blanks();
    !cursor.word().is_empty() && cursor.peek() == Some('(')
}

fn is_proto(head: &[u8]) -> bool {
    matches!(proto_kind::kind(head), Some(ProtoKind::Hlo | ProtoKind::HloModule))
}

/// Whether a file that was opened as a module is a text.
pub(super) fn is_text(head: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < 32 && !byte.is_ascii_whitespace();
    !head.iter().take(512).any(is_control)
}

/// Whether a binary file is a module without the message around it.
pub(super) fn is_bare_module(head: &[u8]) -> bool {
    let wanted = [ProtoKind::Hlo, ProtoKind::HloModule];
    proto_kind::kind_among(head, &wanted) == Some(ProtoKind::HloModule)
}
