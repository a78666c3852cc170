//! Errors of a query: problem, position, hint.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} (character {at}): {help}")]
pub struct QueryError {
    /// Character position from 1; after the last where something is missing at the end.
    pub at: usize,
    pub what: String,
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
