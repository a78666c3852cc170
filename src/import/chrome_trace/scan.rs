//! Whether a trace has memory events, before it is read as JSON.
//!
//! Most traces of the PyTorch profiler have none, and some hold gigabytes. The profiler writes memory events behind all
//! ops, so the beginning of a file does not show them; but its header states `profile_memory`, and where that is missing,
//! a search for the names of the events costs a fraction of reading them.

use std::io::Read as _;

use crate::json_stream::Counted;
use crate::{ImportError, Input};
use highwater_model::progress::Progress;

/// Smaller files are read at once, so that damage has a place.
const SMALL: u64 = 1 << 20;
const PIECE: usize = 1 << 20;
const NAMES: [&[u8]; 2] = [b"[memory]", b"[OutOfMemory]"];
const LONGEST: usize = 13;

/// Whether the file may have memory events. Where its header does not say so, it is searched up to the first one.
pub(super) fn may_have_memory(input: &mut Input<'_>, progress: &Progress<'_>) -> Result<bool, ImportError> {
    let len = input.len();
    if len <= SMALL || crate::json_key::has_key(input.head(), "profile_memory") {
        return Ok(true);
    }
    let mut reader = Counted::new(input.reader()?, len, progress);
    let mut piece = Vec::with_capacity(PIECE + LONGEST);
    loop {
        // A name may lie across two pieces.
        let kept = piece.len().saturating_sub(LONGEST - 1);
        piece.drain(..kept);
        let before = piece.len();
        let read = reader.by_ref().take(PIECE as u64).read_to_end(&mut piece);
        if let Err(error) = read {
            progress.check()?;
            return Err(error.into());
        }
        if has_name(&piece) {
            return Ok(true);
        }
        if piece.len() == before {
            return Ok(false);
        }
    }
}

fn has_name(mut text: &[u8]) -> bool {
    while let Some(at) = text.iter().position(|byte| *byte == b'[') {
        text = &text[at..];
        if NAMES.iter().any(|name| text.starts_with(name)) {
            return true;
        }
        text = &text[1..];
    }
    false
}
