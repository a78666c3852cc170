//! Files that options name, read into plain structs.
//!
//! In: the bytes of a file. Out: what it says, and [`FileProblem`]s with their lines. Reading never fails: what
//! is not understood is left out and reported. One kind of file is one module; add it to `problems_of`, too.
//! Deliberately not here: disks, and rules across options (`checks`).

mod aoe;
mod custom_dtypes;
mod fusion_switch;
mod json;
mod lines;
mod mix_list;
mod op_cache;
mod op_debug;
mod op_precision;

pub use aoe::{AoeConfig, aoe_config};
pub use custom_dtypes::{CustomDtypes, custom_dtypes};
pub use fusion_switch::{FusionSwitches, fusion_switches};
pub use mix_list::{MixList, mix_list};
pub use op_cache::{OpCache, op_cache};
pub(super) use op_cache::{cache_size, remain_ratio};
pub use op_debug::{OpDebugConfig, op_debug_config};
pub use op_precision::{OpPrecisionModes, op_precision_modes};

use std::borrow::Cow;
use std::fmt;

use super::rows::keys;
use super::suggest::nearest_of;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what to do: a sentence without a final dot.
    pub message: String,
}

impl FileProblem {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// What is wrong with the file that an option names; nothing for files whose format is not known here.
pub fn problems_of(key: &str, bytes: &[u8]) -> Vec<FileProblem> {
    match key {
        keys::OP_DEBUG_CONFIG => op_debug_config(bytes).1,
        keys::MODIFY_MIXLIST => mix_list(bytes).1,
        keys::FUSION_SWITCH_FILE => fusion_switches(bytes).1,
        keys::OP_PRECISION_MODE => op_precision_modes(bytes).1,
        keys::AOE_CONFIG_FILE => aoe_config(bytes).1,
        keys::CUSTOMIZE_DTYPES => custom_dtypes(bytes).1,
        _ => Vec::new(),
    }
}

/// The text of a file; bytes that are no UTF-8 become replacement characters, which no name has.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

/// A text from a file as it stands in a message: in quotes, and not too long.
fn quoted(text: &str) -> String {
    const LETTERS: usize = 60;
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("\"{}...\"", &text[..end]),
        None => format!("\"{text}\""),
    }
}

/// ""x" is no known key; did you mean "y"?", for a name that is none of the known ones. Where none is near and they
/// are few, all of them.
fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    const FEW: usize = 12;
    let name_in_quotes = quoted(name);
    match nearest_of(name, known.iter().copied()) {
        Some(nearest) => format!("{name_in_quotes} is no known {what}; did you mean \"{nearest}\"?"),
        None if known.len() <= FEW => format!("{name_in_quotes} is no known {what}: use {}", known.join(", ")),
        None => format!("{name_in_quotes} is no known {what}"),
    }
}
