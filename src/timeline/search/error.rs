//! Errors of a query: problem, position, hint.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} (character {at}): {help}")]
pub struct QueryError {
    /// Character position from 1; after the last where something is missing at the end.
    pub at: usize,
    pub what: String,
    pub help: String,
}
