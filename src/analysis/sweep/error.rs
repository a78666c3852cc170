//! Why a sweep cannot be made.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    #[error("axis {text}: {why}")]
    Axis {
        /// As the user wrote it.
        text: String,
        /// The mistake, and the expected form.
        why: String,
    },
    #[error("axis {name} is given twice; use one list: {name}=VALUE,VALUE")]
    Twice {
        /// The thing that both vary.
        name: String,
    },
    #[error(
        "the axes have {} combinations, more than the limit of {limit}; use fewer values", 
        size.map_or_else(|| "more than 2^64".to_owned(), |size| size.to_string())
    )]
    TooLarge {
        /// `None` above 2^64 - 1.
        size: Option<u64>,
        limit: u64,
    },
    #[error("{name}: sweeps need graphs or allocation traces; this is {what}")]
    NothingRuns {
        name: String,
        /// The content of the workload instead.
        what: &'static str,
    },
    /// A capacity together with an axis over the device's memory.
    #[error("an axis already varies the device's memory; remove it or --capacity")]
    CapacityTwice,
}
