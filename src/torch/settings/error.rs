//! Why settings are refused: one sentence with what is accepted.

use super::table::OptionRow;
use crate::version::Version;

/// What the version refuses.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// No such key, or not in this version.
    #[error("`{key}` is not a key of {version}'s allocator{hint}")]
    UnknownKey {
        /// As written.
        key: String,
        /// The version that was asked.
        version: Version,
        /// Where it is known, or how a key that is close is written.
        hint: String,
    },
    /// The text ends after a key.
    #[error("the text ends where `{key}` needs a value: write {key}:VALUE")]
    MissingValue {
        /// The key.
        key: &'static str,
    },
    /// Another token than the separator.
    #[error("`{wanted}` is missing before `{got}`: pairs are written KEY:VALUE, with commas between them")]
    Separator {
        /// The separator.
        wanted: char,
        /// What is there.
        got: String,
    },
    /// Not one of the two words.
    #[error("`{key}` is True or False in exactly this spelling, not `{got}`")]
    NotAFlag {
        /// The key.
        key: &'static str,
        /// What was written.
        got: String,
    },
    /// Does not start with digits, or has too many.
    #[error("`{key}` needs a whole number below 2^64, and `{got}` does not start with one")]
    NotACount {
        /// The key.
        key: &'static str,
        /// What was written.
        got: String,
    },
    /// Does not start with a number.
    #[error("`{key}` needs a number, and `{got}` does not start with one that fits")]
    NotAReal {
        /// The key.
        key: &'static str,
        /// What was written.
        got: String,
    },
    /// A number or word that is not accepted.
    #[error("`{key}` takes {accepted}, not {got}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// What is accepted.
        accepted: &'static str,
        /// What was written.
        got: String,
    },
    /// A split size below its smallest value.
    #[error("`{key}` is too small: {got} MiB; use at least {smallest} MiB")]
    TooSmall {
        /// The key.
        key: &'static str,
        /// MiB that were written.
        got: u64,
        /// The least MiB.
        smallest: u64,
    },
    /// A large segment of 10 MiB or less.
    #[error("`large_segment_size_mb` must be above 10 MiB, not {got}")]
    LargeSegment {
        /// MiB that were written.
        got: u64,
    },
    /// Divisions that are no power of two.
    #[error(
        "divisions of `roundup_power2_divisions` are a power of two (in a list also 0, which turns rounding off), not {got}"
    )]
    Divisions {
        /// What was written.
        got: u64,
    },
    /// A boundary that is no power of two.
    #[error("a size in the list of `roundup_power2_divisions` is a power of two in MiB or `>`, not {got}")]
    Boundary {
        /// What was written.
        got: u64,
    },
    /// A list without its end.
    #[error("the list of `roundup_power2_divisions` has no closing `]`")]
    ListNotClosed,
    /// `torch_npu` reads one of the two variables.
    #[error("torch_npu refuses PYTORCH_NPU_ALLOC_CONF and PYTORCH_ALLOC_CONF set at once: unset one of them")]
    BothVariables,
    /// `torch_npu` excludes the two.
    #[error("torch_npu refuses `expandable_segments:True` together with `{key}`: leave one of them out")]
    RefusedPair {
        /// The other key.
        key: &'static str,
    },
}

impl SettingsError {
    pub(super) fn out_of_range(option: &'static OptionRow, got: &impl ToString) -> Self {
        Self::OutOfRange {
            key: option.key,
            accepted: option.accepted,
            got: got.to_string(),
        }
    }
}
