//! Workload + Options -> Comparison: the whole pipeline as one pure call, with progress and cancel.
//!
//! In: a [`Request`]. Out: a [`Comparison`]: the same session simulated under every policy, on one step
//! axis. Deterministic: the same request gives an equal comparison; threads only share the lanes out.

mod alignment;
mod allocation_order;
mod bodies;
mod budget_sweep;
mod calibration;
mod comparison;
mod configuration;
mod dumped;
mod error;
mod explain;
mod inference;
mod inspect;
mod lane_queries;
mod lanes;
mod limits;
mod lowering;
mod measured;
mod measured_pass;
mod measured_remarks;
mod metrics;
mod name_context;
mod name_reuse;
mod passes;
mod pins;
mod policies;
mod problem;
mod recorded;
mod remarks;
mod rewriting;
mod run_lanes;
mod session;
mod shapes;
mod shortage;
mod slots;
pub mod sweep;
mod tapes;
mod trace;
mod workspaces;

use std::sync::Arc;

use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::{Device, SchedulePlan, Workload};
use highwater_options::{Environment, Lowered, Options, SeenFiles, lower};
use highwater_plan::Effort;
use highwater_sim::{DeviceSession, POLICIES, Params, StaticMemoryPolicy};

pub use alignment::off_by;
pub use allocation_order::arena_order;
pub use budget_sweep::{BudgetSweepPoint, BudgetSweepTask, SWEEP_RATIOS, feasible_limit, sweep};
pub use calibration::{Calibration, LearnedSetting, calibrations};
pub use comparison::{Comparison, Lane, LowestPeak};
pub use configuration::{Configuration, Difference};
pub use dumped::{USUAL_ALIGNMENT, common_alignment, dumped_plan, dumped_problems, with_inputs};
pub use error::AnalysisError;
pub use explain::Remark;
pub use inspect::{DumpFigures, GraphFigures, Inspection, LifetimeFigures, inspect, inspect_with, tensor_count};
pub use lane_queries::Fit;
pub use lanes::{LaneId, LaneSet, LaneStrategies, Plans, RematLane};
pub use limits::{Bound, Limit, LimitError};
pub use measured_pass::{OpRun, measured_pass};
pub use metrics::{COMPARED, Figure, METRICS, Metric};
pub use passes::{MAX_PASS_LANES, graph_tapes, part_of};
pub use pins::{MOST_PINS, Pin, PinFailure, PinFit, PinnedLane, repin};
pub use recorded::{RecordingFigures, recording_figures};
pub use rewriting::{LaneRewrite, RunRemat};
pub use session::{LOOP_VARIABLES, arena_problem, engine_size};
pub use shapes::bound_plan;
pub use shortage::OutOfMemoryReport;
pub use tapes::opening_lanes;
pub use workspaces::{EstimatedWorkspaces, ScratchSource};

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
    /// How the static arenas of single lanes are placed; the options say how the others' are.
    pub strategies: LaneStrategies,
    /// What is compared.
    pub lanes: LaneSet,
    /// Most nodes of each search for a plan.
    pub search_nodes: u64,
    /// Configurations that are kept to compare with: a lane each behind the others.
    pub pins: Vec<Pin>,
}

impl Request {
    /// The policies to simulate, ascending.
    fn wanted_policies(&self) -> Vec<StaticMemoryPolicy> {
        let all = POLICIES.iter().map(|row| row.policy);
        all.filter(|policy| self.policies.is_empty() || self.policies.contains(policy))
            .collect()
    }

    /// Whether some lane's plan is searched for, which may take seconds.
    pub fn has_search(&self) -> bool {
        if let Some(entry) = self.workload.problems().first() {
            let lanes = lanes::problem_lanes(entry, &self.strategies);
            return lanes.iter().any(|(_, strategy)| strategy.effort == Effort::Search);
        }
        if self.workload.graphs().is_empty() {
            return false;
        }
        let lowered = lower(&self.options, &self.environment, &self.device, &*self.files);
        let policies: Vec<StaticMemoryPolicy> = POLICIES.iter().map(|row| row.policy).collect();
        let lanes = policies::wanted_lanes(self, &lowered, &policies);
        lanes.iter().any(|(_, strategy)| strategy.effort == Effort::Search) || pins::has_search(self)
    }
}

/// Runs the pipeline: schedule, live ranges, plans, one simulation per policy and per pin, folds.
///
/// # Errors
/// [`AnalysisError`]; out of memory is an answer, not an error, and so is a pin that cannot be simulated.
pub fn compare(request: &Request, progress: &Progress<'_>) -> Result<Comparison, AnalysisError> {
    let lowered = lower(&request.options, &request.environment, &request.device, &*request.files);
    let mut comparison = compare_unpinned(request, &lowered, progress)?;
    if pins::can_stand_beside(request) {
        pins::add_pins(&mut comparison, request, &[], progress)?;
    } else {
        pins::leave_out(&mut comparison, request);
    }
    if !request.workload.graphs().is_empty() {
        alignment::add_recordings(&mut comparison, lowered.strategy, lowered.alignment, progress)?;
    }
    Ok(comparison)
}

/// The lanes of the options themselves.
fn compare_unpinned(
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    if !request.workload.problems().is_empty() {
        return problem::compare_problem(request, lowered, progress);
    }
    if !request.workload.traces().is_empty() {
        return trace::compare_trace(request, lowered, progress);
    }
    if !request.workload.tapes().is_empty() {
        return tapes::compare_tape(request, lowered, progress);
    }
    if !request.workload.programs().is_empty() {
        return passes::compare_program(request, lowered, progress);
    }
    if request.workload.graphs().is_empty() && !request.workload.recordings().is_empty() {
        return measured::compare_recordings(request, lowered, progress);
    }
    let (running, diagnostics) = running_request(request, lowered, progress)?;
    let taught = calibration::taught(&running, lowered, progress)?;
    let mut comparison = if running.lanes == LaneSet::Policies {
        policies::compare_policies(request, running, lowered.clone(), diagnostics, progress)?
    } else {
        passes::compare_passes(&running, lowered, diagnostics, progress)?
    };
    comparison.calibrations = taught;
    Ok(comparison)
}

/// The request with the graphs that run and the values that the options give to dimensions.
fn running_request(
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> Result<(Request, Diagnostics), AnalysisError> {
    session::check_names(request)?;
    let renamed;
    let request = if request.plan.names.is_empty() {
        request
    } else {
        renamed = Request {
            workload: Arc::new(request.workload.renamed(&request.plan)?),
            ..request.clone()
        };
        &renamed
    };
    let (mut plan, mut diagnostics) = shapes::bind(&request.workload, &request.plan, lowered);
    let workload = inference::running_workload(request, lowered, &mut diagnostics);
    bodies::report(&workload, &plan, progress, &mut diagnostics)?;
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
