//! Why there is no comparison.

use highwater_model::progress::Cancelled;
use highwater_model::workload::{DeviceError, ScheduleError};
use highwater_plan::PlanError;
use highwater_sim::{MAX_TRACE_EVENTS, TraceStop};

/// Why there is no comparison.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    /// The workload holds no graph.
    #[error(
        "there is no graph to run; open a model (ONNX or the native JSON) or an allocation trace, or place a problem with \
         `plan`"
    )]
    NoGraph,
    /// Symbolic dimensions without a value.
    #[error("dimension{} {} {} no value; give one with {}", if symbols.len() > 1 { "s" } else { "" }, quoted(symbols), if symbols.len() > 1 { "have" } else { "has" }, flags(symbols))]
    Unbound {
        /// Their names.
        symbols: Vec<String>,
    },
    /// A value for a dimension that no graph has.
    #[error("no graph has a dimension \"{name}\"; {known}")]
    UnknownSymbol {
        /// The name.
        name: String,
        /// A clause that lists the names there are.
        known: String,
    },
    /// Too many runs.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// More steps than the axis can count.
    #[error("the schedule has more than 4 000 000 steps; use fewer iterations or values")]
    TooManySteps,
    /// More concurrent copies than can be simulated.
    #[error(
        "graph_max_parallel_model_num is {copies}: {copies} copies of {tensors} tensors are more than the {limit} that \
         can be simulated; use fewer"
    )]
    TooManyCopies {
        /// Copies asked for.
        copies: u32,
        /// Tensors of the schedule.
        tensors: u64,
        /// Tensors in sum that are simulated at most.
        limit: u64,
    },
    /// Recordings without an event.
    #[error(
        "the recordings hold nothing: no block, no curve above zero, no event (times of kernels alone are no lane: open them \
         beside the graph that ran)"
    )]
    EmptyRecordings,
    /// Recordings that are too long for one axis.
    #[error(
        "the recordings have {events} events in sum, and {limit} can be shown as lanes at most, because every lane keeps its \
         curves event by event; open fewer, or a part (one slice of a table, fewer steps in the profiler); `highwater inspect` \
         shows the figures of recordings of any length"
    )]
    RecordingsTooLong {
        /// Their events.
        events: u64,
        /// Events that are shown at most.
        limit: u64,
    },
    /// An allocation trace that is too long to be kept as events.
    #[error(
        "the trace has {commands} commands, and {limit} can be compared at most; split it, or count alone with `highwater \
         replay`"
    )]
    TraceTooLong {
        /// Its commands.
        commands: u64,
        /// Commands that are compared at most.
        limit: u64,
    },
    /// An allocation trace whose replay does too much to be kept as events.
    #[error(
        "the replay has more than {MAX_TRACE_EVENTS} events under a policy, the limit; split the trace, or count alone \
         with `highwater replay`"
    )]
    TooManyEvents,
    /// No such device profile.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// No such strategy.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The user stopped it.
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
