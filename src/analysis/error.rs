//! Why there is no comparison.

use highwater_model::progress::Cancelled;
use highwater_model::workload::{DeviceError, ScheduleError};
use highwater_plan::PlanError;
use highwater_sim::{MAX_TRACE_EVENTS, TraceStop};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    #[error(
        "there is no graph to run; open a model (ONNX or the native JSON) or an allocation trace, or place a problem with \
         `plan`"
    )]
    NoGraph,
    #[error("dimension{} {} {} no value; give one with {}", if symbols.len() > 1 { "s" } else { "" }, quoted(symbols), if symbols.len() > 1 { "have" } else { "has" }, flags(symbols))]
    Unbound { symbols: Vec<String> },
    #[error("no graph has a dimension \"{name}\"; {known}")]
    UnknownSymbol {
        name: String,
        /// A clause that lists the known names.
        known: String,
    },
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    #[error("the schedule has more than 4 000 000 steps; use fewer iterations or values")]
    TooManySteps,
    #[error(
        "graph_max_parallel_model_num is {copies}: {copies} copies of {tensors} tensors are more than the {limit} that \
         can be simulated; use fewer"
    )]
    TooManyCopies { copies: u32, tensors: u64, limit: u64 },
    #[error(
        "the recordings hold nothing: no block, no curve above zero, no event (times of kernels alone are no lane: open them \
         beside the graph that ran)"
    )]
    EmptyRecordings,
    #[error(
        "the recordings have {events} events in sum, and {limit} can be shown as lanes at most, because every lane keeps its \
         curves event by event; open fewer, or a part (one slice of a table, fewer steps in the profiler); `highwater inspect` \
         shows the figures of recordings of any length"
    )]
    RecordingsTooLong { events: u64, limit: u64 },
    /// The trace is too long to be kept as events.
    #[error(
        "the trace has {commands} commands, and {limit} can be compared at most; split it, or count alone with `highwater \
         replay`"
    )]
    TraceTooLong { commands: u64, limit: u64 },
    /// The replay has too many events to be kept.
    #[error(
        "the replay has more than {MAX_TRACE_EVENTS} events under a policy, the limit; split the trace, or count alone \
         with `highwater replay`"
    )]
    TooManyEvents,
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
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
