//! Why there is no comparison.

use highwater_model::graph::{Bindings, Graph, Sizes};
use highwater_model::progress::Cancelled;
use highwater_model::workload::{DeviceError, ScheduleError};
use highwater_plan::PlanError;
use highwater_sim::{MAX_TRACE_EVENTS, TraceStop};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    #[error("no graph to simulate; open a model or an allocation trace, or place a problem with `plan`")]
    NoGraph,
    #[error("dimension{} {} {} no value; set it with {}", if symbols.len() > 1 { "s" } else { "" }, quoted(symbols), if symbols.len() > 1 { "have" } else { "has" }, flags(symbols))]
    Unbound { symbols: Vec<String> },
    #[error("no graph has a dimension \"{name}\"; {known}")]
    UnknownSymbol {
        name: String,
        /// A clause that lists the known names.
        known: String,
    },
    #[error("the sizes of {graph} add up to more than 2^62 bytes; correct its shapes or the values of its dimensions")]
    TooManyBytes { graph: String },
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    #[error("the schedule has more than 4 000 000 steps; use fewer iterations or values")]
    TooManySteps,
    #[error(
        "graph_max_parallel_model_num is {copies}: {copies} copies of {tensors} tensors exceed the limit of {limit}; \
         use fewer copies"
    )]
    TooManyCopies { copies: u32, tensors: u64, limit: u64 },
    #[error(
        "the recordings have no block, no curve above zero and no event; open kernel times together with their graph"
    )]
    EmptyRecordings,
    #[error(
        "no memory over time is stated, so there is nothing to draw; the tab Log and `highwater explain` show what is"
    )]
    LogWithoutCurves,
    #[error(
        "the recordings have {events} events in total, more than the limit of {limit}; open fewer or shorter ones; \
         `highwater inspect` reads recordings of any length"
    )]
    RecordingsTooLong { events: u64, limit: u64 },
    /// The trace is too long to be kept as events.
    #[error("the trace has {commands} commands, more than the limit of {limit}; split it, or use `highwater replay`")]
    TraceTooLong { commands: u64, limit: u64 },
    /// The replay has too many events to be kept.
    #[error(
        "the replay exceeds the limit of {MAX_TRACE_EVENTS} events under a policy; split the trace, or use `highwater \
         replay`"
    )]
    TooManyEvents,
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// The sizes of a graph under a binding.
///
/// # Errors
/// [`AnalysisError::TooManyBytes`].
pub(super) fn counted_sizes(graph: &Graph, bindings: &Bindings) -> Result<Sizes, AnalysisError> {
    let sizes = graph.sizes(bindings);
    match sizes.total() {
        Some(_) => Ok(sizes),
        None => Err(AnalysisError::TooManyBytes {
            graph: graph.name().to_owned(),
        }),
    }
}

impl From<TraceStop> for AnalysisError {
    fn from(stop: TraceStop) -> Self {
        match stop {
            TraceStop::Cancelled => Self::Cancelled(Cancelled),
            TraceStop::TooManyEvents => Self::TooManyEvents,
        }
    }
}

fn quoted(symbols: &[String]) -> String {
    let texts: Vec<String> = symbols.iter().map(|name| format!("\"{name}\"")).collect();
    texts.join(", ")
}

fn flags(symbols: &[String]) -> String {
    let texts: Vec<String> = symbols.iter().map(|name| format!("--dim {name}=VALUE")).collect();
    texts.join(" ")
}
