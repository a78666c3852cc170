//! Files that options name, read into plain structs.
//!
//! Reading never fails: what cannot be read is left out and reported as a [`FileError`]. One kind of file is one
//! module; add it to `problems_of`, too.

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// From 1.
    pub line: usize,
    /// The error and the remedy: a sentence without its full stop.
    pub message: String,
}

impl FileError {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// The errors of the file that an option names; none for unknown formats.
pub fn problems_of(key: &str, bytes: &[u8]) -> Vec<FileError> {
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

/// The text of a file; invalid UTF-8 becomes replacement characters, which no name contains.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

/// A text of a file for messages: quoted and cut.
fn quoted(text: &str) -> String {
    const LETTERS: usize = 60;
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("\"{}...\"", &text[..end]),
        None => format!("\"{text}\""),
    }
}

/// `"x" is no known key; did you mean "y"?`. Where none is near and they are few, all known ones are listed.
fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    const FEW: usize = 12;
    let name_in_quotes = quoted(name);
    match nearest_of(name, known.iter().copied()) {
        Some(nearest) => format!("{name_in_quotes} is not a known {what}; did you mean \"{nearest}\"?"),
        None if known.len() <= FEW => format!("{name_in_quotes} is not a known {what}: use {}", known.join(", ")),
        None => format!("{name_in_quotes} is not a known {what}"),
    }
}
