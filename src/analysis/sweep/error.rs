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
    #[error("axis {name} is there twice; write all its values in one list: {name}=VALUE,VALUE")]
    Twice {
        /// The thing that both vary.
        name: String,
    },
    #[error(
        "the axes have {} combinations, and {limit} can be simulated at most; take fewer values", 
        size.map_or_else(|| "more than 2^64".to_owned(), |size| size.to_string())
    )]
    TooLarge {
        /// `None` above 2^64 - 1.
        size: Option<u64>,
        limit: u64,
    },
    #[error("{name}: configurations are tried on graphs and allocation traces; this is {what}")]
    NothingRuns {
        name: String,
        /// The content of the workload instead.
        what: &'static str,
    },
    /// A capacity together with an axis over the device's memory.
    #[error("the capacity is the device's memory, which an axis varies already: leave out one of them")]
    CapacityTwice,
}
