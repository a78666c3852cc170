//! What is wrong with a query: what, where in the text, and what to write instead.

/// A query that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} (character {at}): {help}")]
pub struct QueryError {
    /// The character at which it is wrong, from 1; behind the last where something is missing at the end.
    pub at: usize,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub help: String,
}

impl QueryError {
    /// An error at a byte of the text.
    pub(super) fn new(text: &str, byte: usize, (what, help): (String, String)) -> Self {
        Self {
            at: text.get(..byte).map_or(0, |before| before.chars().count()) + 1,
            what,
            help,
        }
    }
}
