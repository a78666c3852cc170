//! Workload + Options -> Comparison: the whole pipeline as one pure call, with progress and cancel.
//!
//! In: a [`Request`]. Out: a [`Comparison`]: the same session simulated under every policy, on one step
//! axis. Deterministic: the same request gives an equal comparison; threads only share the lanes out.

mod inference;
mod inspect;
mod remarks;
mod samples;
mod session;
mod shapes;

use std::sync::Arc;

use crate::diagnostics::Diagnostics;
use crate::options::{Environment, Estimate, Lowered, Options, SeenFiles, lower};
use crate::plan::{PlanError, Strategy};
use crate::progress::{Cancelled, Progress};
use crate::sim::fold::{Curves, Summary, curves, summary};
use crate::sim::{DeviceSession, POLICIES, Params, Simulation, StaticMemoryPolicy, simulate};
use crate::units::{Bytes, Step};
use crate::workload::{Axis, Device, ScheduleError, SchedulePlan, Workload};

pub use inspect::{GraphFigures, Inspection, LifetimeFigures, inspect};
pub use session::{LOOP_VARIABLES, engine_size};
pub use shapes::bound_plan;

/// Most tensors, copies included, that concurrent graphs may have in sum: about a gibibyte of events in four lanes.
const MAX_COPIED_TENSORS: u64 = 2_000_000;

/// What to compare.
#[derive(Clone, Debug)]
pub struct Request {
    /// The graphs.
    pub workload: Arc<Workload>,
    /// Iterations and values of symbolic dimensions.
    pub plan: SchedulePlan,
    /// Overrides.
    pub options: Options,
    /// Environment variables.
    pub environment: Environment,
    /// The files that options name, as they were when somebody looked.
    pub files: Arc<SeenFiles>,
    /// The device.
    pub device: Device,
    /// The policies to simulate; none means all.
    pub policies: Vec<StaticMemoryPolicy>,
    /// How static arenas are placed.
    pub strategy: &'static Strategy,
}

/// One policy's simulation with its folds.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// The policy.
    pub policy: StaticMemoryPolicy,
    /// The event log.
    pub simulation: Simulation,
    /// Curves, one value a step of the common axis.
    pub curves: Curves,
    /// Exact figures.
    pub summary: Summary,
    /// The first step whose reserved bytes differ from policy 0; `None` where none does or where policy 0
    /// was not simulated.
    pub first_divergence: Option<Step>,
}

impl Lane {
    /// Why the run ended early, in a sentence with figures; `None` where it did not.
    pub fn out_of_memory_text(&self) -> Option<String> {
        let failed = self.simulation.out_of_memory.as_ref()?;
        Some(format!(
            "policy {} runs out of memory at step {}: {} are asked for while {} of {} are in use",
            self.policy.number(),
            failed.step,
            failed.requested,
            failed.in_use,
            self.simulation.device_bytes
        ))
    }
}

/// Which lane needs least, and why it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Best {
    /// The policy with the lowest peak that runs to its end; the smallest number on a tie.
    pub policy: StaticMemoryPolicy,
    /// A sentence with figures.
    pub why: String,
}

/// Every policy's simulation of one session.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What runs: the request's graphs, or the forward parts of these.
    pub workload: Arc<Workload>,
    /// The common step axis.
    pub axis: Axis,
    /// What the device has to hold.
    pub session: DeviceSession,
    /// The device, with the memory that the options give it and others leave.
    pub device: Device,
    /// Its id.
    pub device_id: u32,
    /// Memory that others hold on it.
    pub occupied: Bytes,
    /// One lane per policy, ascending.
    pub lanes: Vec<Lane>,
    /// The policy that options and environment put in force.
    pub configured: StaticMemoryPolicy,
    /// The lane that needs least; `None` where every lane runs out of memory.
    pub best: Option<Best>,
    /// Why the lanes are alike, where they are: a sentence with the difference in bytes.
    pub alike: Option<String>,
    /// Whether no op states its scratch memory: then peaks are lower bounds.
    pub lower_bound: bool,
    /// Settings of the user whose effect is an estimate.
    pub estimates: Vec<Estimate>,
    /// Oddities of this comparison.
    pub diagnostics: Diagnostics,
}

impl Comparison {
    /// The lane of a policy.
    pub fn lane(&self, policy: StaticMemoryPolicy) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.policy == policy)
    }
}

/// Why there is no comparison.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    /// The workload holds no graph.
    #[error("there is no graph to run; open a model (ONNX or the native JSON), or place a problem with `plan`")]
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
    /// No such strategy.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The user stopped it.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

fn quoted(symbols: &[String]) -> String {
    let texts: Vec<String> = symbols.iter().map(|name| format!("\"{name}\"")).collect();
    texts.join(", ")
}

fn flags(symbols: &[String]) -> String {
    let texts: Vec<String> = symbols.iter().map(|name| format!("--dim {name}=N")).collect();
    texts.join(" ")
}

/// Runs the pipeline: schedule, live ranges, plans, one simulation per policy, folds.
///
/// # Errors
/// [`AnalysisError`]; out of memory is an answer, not an error.
pub fn compare(request: &Request, progress: &Progress<'_>) -> Result<Comparison, AnalysisError> {
    let lowered = lower(&request.options, &request.environment, &request.device, &*request.files);
    let (running, mut diagnostics) = running_request(request, &lowered)?;
    let (axis, session, oddities) = session::device_session(&running, &lowered, progress)?;
    diagnostics.extend(&oddities);
    check_copies(&session, &lowered.params)?;
    let policies: Vec<StaticMemoryPolicy> = POLICIES
        .iter()
        .map(|row| row.policy)
        .filter(|policy| request.policies.is_empty() || request.policies.contains(policy))
        .collect();
    let mut lanes = simulate_all(&session, &policies, &lowered.params, progress)?;
    set_divergence(&mut lanes);
    let mut device = request.device.clone();
    device.memory_bytes = lowered.params.device_bytes.get();
    Ok(Comparison {
        best: remarks::best(&lanes),
        alike: remarks::alike(&session, &lanes),
        lower_bound: remarks::is_lower_bound(&running.workload),
        workload: running.workload,
        axis,
        session,
        device,
        device_id: lowered.device_id,
        occupied: lowered.occupied,
        lanes,
        configured: lowered.policy,
        estimates: lowered.estimates,
        diagnostics,
    })
}

/// The request with the graphs that run and the values that the options give to dimensions.
fn running_request(request: &Request, lowered: &Lowered) -> Result<(Request, Diagnostics), AnalysisError> {
    session::check_names(request)?;
    let (mut plan, mut diagnostics) = shapes::bind(&request.workload, &request.plan, lowered);
    let workload = inference::running_workload(request, lowered, &mut diagnostics);
    // What was cut off may have had dimensions of its own.
    let symbols = workload.symbols();
    plan.dims.retain(|name, _| symbols.contains(name));
    let running = Request {
        workload,
        plan,
        ..request.clone()
    };
    Ok((running, diagnostics))
}

/// Refuses what would take more memory and time than anybody has: every copy of every tensor is simulated.
fn check_copies(session: &DeviceSession, params: &Params) -> Result<(), AnalysisError> {
    let runs = session.runs.iter();
    let tensors: u64 = runs.map(|run| run.bound.program.lifetimes.items.len() as u64).sum();
    let copies = params.feature_copies;
    let is_too_many = tensors.saturating_mul(u64::from(copies)) > MAX_COPIED_TENSORS || copies > u32::from(u16::MAX);
    if copies > 1 && is_too_many {
        return Err(AnalysisError::TooManyCopies {
            copies,
            tensors,
            limit: MAX_COPIED_TENSORS,
        });
    }
    Ok(())
}

/// One lane per policy, in order; each lane is computed by a thread of its own.
fn simulate_all(
    session: &DeviceSession,
    policies: &[StaticMemoryPolicy],
    params: &Params,
    progress: &Progress<'_>,
) -> Result<Vec<Lane>, Cancelled> {
    progress.set("simulating", 0, 1)?;
    let cancel = progress.cancel_flag();
    let lanes: Vec<Result<Lane, Cancelled>> = std::thread::scope(|scope| {
        let handles: Vec<_> = policies
            .iter()
            .map(|policy| scope.spawn(move || lane(session, *policy, params, &Progress::silent(cancel))))
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    progress.set("simulating", 1, 1)?;
    lanes.into_iter().collect()
}

fn lane(
    session: &DeviceSession,
    policy: StaticMemoryPolicy,
    params: &Params,
    progress: &Progress<'_>,
) -> Result<Lane, Cancelled> {
    let simulation = simulate(session, policy, params, progress)?;
    debug_assert_eq!(crate::sim::verify(&simulation, session), Ok(()), "policy {policy:?}");
    let curves = curves(&simulation);
    let summary = summary(&simulation, &curves, params);
    Ok(Lane {
        policy,
        simulation,
        curves,
        summary,
        first_divergence: None,
    })
}

fn set_divergence(lanes: &mut [Lane]) {
    let Some(position) = lanes.iter().position(|lane| lane.policy == StaticMemoryPolicy::Dynamic) else {
        return;
    };
    let reference = lanes[position].curves.reserved.clone();
    for lane in lanes {
        let differs = reference.iter().zip(&lane.curves.reserved).position(|(a, b)| a != b);
        lane.first_divergence = differs.and_then(|step| u32::try_from(step).ok()).map(Step);
    }
}
