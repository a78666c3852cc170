//! Why there is no space.

/// Why there is no space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    /// An axis that cannot be read.
    #[error("axis {text}: {why}")]
    Axis {
        /// As it was written.
        text: String,
        /// What is wrong, and what to write.
        why: String,
    },
    /// Two axes over the same thing.
    #[error("axis {name} is there twice; write all its values in one list: {name}=VALUE,VALUE")]
    Twice {
        /// What both vary.
        name: String,
    },
    /// More combinations than can be counted, or than are simulated at most.
    #[error(
        "the axes have {} combinations, and {limit} can be simulated at most; take fewer values", 
        size.map_or_else(|| "more than 2^64".to_owned(), |size| size.to_string())
    )]
    TooLarge {
        /// How many there are; `None` above 2^64 - 1.
        size: Option<u64>,
        /// The limit.
        limit: u64,
    },
    /// Nothing that runs.
    #[error("{name}: configurations are tried on graphs and allocation traces; this is {what}")]
    NothingRuns {
        /// The workload.
        name: String,
        /// What it is instead.
        what: &'static str,
    },
    /// A capacity beside an axis over the device's memory.
    #[error("the capacity is the device's memory, which an axis varies already: leave out one of them")]
    CapacityTwice,
}
