//! The answer to a request: lanes on one axis, and what can be asked of them.
//!
//! In: what the lanes were made of. Out: names, recordings and sessions of lanes. Invariants: graphs that lanes speak of are
//! numbered as in the workload; the recording of lane `Measured(n)` is numbered behind them, at `n`.

use std::sync::Arc;

use super::calibration::Calibration;
use super::lanes::{LaneId, Plans};
use super::shortage::OutOfMemoryReport;
use super::workspaces::{EstimatedWorkspaces, ScratchSource};
use super::{LaneRewrite, PinFailure, PinnedLane, Remark, lanes, trace};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Id as _, TensorId};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{AllocationTrace, Axis, Device, GraphIdx, RecordedBlock, Recording, Workload};
use highwater_options::{Estimate, Finding};
use highwater_plan::Strategy;
use highwater_rewrite::remat::{OpRates, RematStatus};
use highwater_sim::fold::{Curves, Summary};
use highwater_sim::{DeviceSession, Params, Refusals, Simulation, StaticMemoryPolicy, TraceRequest};

/// One simulation with its folds.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// What it shows.
    pub id: LaneId,
    /// The policy; of a problem's lane the one under which an arena is as large as its plan.
    pub policy: StaticMemoryPolicy,
    /// What it is called, where that is neither its policy nor its strategy.
    pub title: Option<String>,
    /// What the device has to hold in it, where that differs from lane to lane.
    pub session: Option<Arc<DeviceSession>>,
    /// What rewriting did to its graphs, where anything was rewritten.
    pub rewrite: Option<Arc<LaneRewrite>>,
    /// How its static arenas are placed.
    pub strategy: &'static Strategy,
    /// Whether that was chosen for this lane alone.
    pub chosen: bool,
    /// The plans of its static graphs.
    pub plans: Plans,
    /// The event log.
    pub simulation: Simulation,
    /// Curves, one value a step of the common axis.
    pub curves: Curves,
    /// Whether several events may share a step, as where a long recording stands beside a short graph: what lay beside
    /// or followed what within a step cannot be told from steps then.
    pub shares_steps: bool,
    /// Exact figures.
    pub summary: Summary,
    /// The first step whose reserved bytes differ from policy 0; `None` where none does or where policy 0
    /// was not simulated.
    pub first_divergence: Option<Step>,
    /// Where the peak comes from, and where the lane parts from policy 0.
    pub explanation: Vec<Remark>,
    /// Why the run ended early, where it did.
    pub out_of_memory_report: Option<OutOfMemoryReport>,
    /// Requests of an allocation trace that were refused; the trace goes on after them.
    pub refusals: Option<Refusals>,
    /// What forbids its policy beside the other settings and the schedule: error-level findings.
    pub forbidden: Vec<Finding>,
    /// What it was simulated under, where that is not what the other lanes were: a pinned configuration.
    pub pinned: Option<Arc<PinnedLane>>,
}

impl Lane {
    /// Whether some run under a memory budget does not reach its end.
    pub fn stops_under_budget(&self) -> bool {
        let rewrites = self.rewrite.iter();
        let mut runs = rewrites.flat_map(|rewrite| rewrite.remat.iter().flatten());
        runs.any(|run| run.answer.status != RematStatus::Ok)
    }

    /// Whether a run does not reach its end, for want of memory or under a budget: figures are those until then.
    pub fn ends_early(&self) -> bool {
        self.summary.out_of_memory || self.stops_under_budget()
    }

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
pub struct LowestPeak {
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
    /// One lane per policy, ascending; behind them pins, then recordings.
    pub lanes: Vec<Lane>,
    /// Pins that have no lane.
    pub pin_failures: Vec<PinFailure>,
    /// The policy that options and environment put in force.
    pub active_policy: StaticMemoryPolicy,
    /// The lane that needs least; `None` where every lane runs out of memory.
    pub lowest_peak: Option<LowestPeak>,
    /// Why the lanes are alike, where they are: a sentence with the difference in bytes.
    pub equivalence: Option<String>,
    /// Whether no op states its scratch memory: then peaks are lower bounds, or estimates where `scratch` says so.
    pub lower_bound: bool,
    /// What the figures hold of scratch memory.
    pub scratch: ScratchSource,
    /// What recordings teach the simulation.
    pub calibrations: Vec<Calibration>,
    /// Names of the scratch memory that is estimated.
    pub workspaces: EstimatedWorkspaces,
    /// The requests of an allocation trace, by the number of their tensor; none of anything else.
    pub requests: Vec<TraceRequest>,
    /// Sizes and costs that every lane was simulated with.
    pub params: Params,
    /// Rates that estimate what ops take.
    pub rates: OpRates,
    /// Settings of the user whose effect is an estimate.
    pub estimates: Vec<Estimate>,
    /// Oddities of this comparison.
    pub diagnostics: Diagnostics,
}

impl Comparison {
    /// The lane of a policy.
    pub fn lane(&self, policy: StaticMemoryPolicy) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.id == LaneId::Policy(policy))
    }

    /// Whether this is a placement problem: then lanes are strategies, and there is no device.
    pub fn is_problem(&self) -> bool {
        !self.workload.problems().is_empty()
    }

    /// The allocation trace that this is of: then a step is a command, and a tensor is a request.
    pub fn trace(&self) -> Option<&AllocationTrace> {
        self.workload.traces().first().map(|trace| &**trace)
    }

    /// The pools and static graphs of the trace, in the order of first appearance.
    pub fn trace_graphs(&self) -> impl Iterator<Item = &str> {
        let graphs = if self.trace().is_some() {
            &self.session.graphs[..]
        } else {
            &[]
        };
        graphs.iter().skip(1).map(|graph| graph.name.as_str())
    }

    /// A request of the trace by the number of its tensor.
    pub fn request(&self, tensor: TensorId) -> Option<(&AllocationTrace, &TraceRequest)> {
        Some((self.trace()?, self.requests.get(tensor.idx())?))
    }

    /// A block of a recording, where lanes are measured.
    pub fn recorded_block(&self, graph: GraphIdx, tensor: TensorId) -> Option<(&Recording, &RecordedBlock)> {
        let recording = self.recording(self.measured_lane(graph)?)?;
        Some((recording, recording.blocks.get(tensor.idx())?))
    }

    /// The lane of a recording by the graph that its blocks are said to be of; `None` for a graph that is one.
    pub fn measured_lane(&self, graph: GraphIdx) -> Option<LaneId> {
        let position = graph.idx().checked_sub(self.workload.graphs().len())?;
        let id = LaneId::Measured(u8::try_from(position).ok()?);
        self.lanes.iter().any(|lane| lane.id == id).then_some(id)
    }

    /// How many requests of a trace a lane refuses, in a sentence; `None` where it refuses none.
    pub fn refusal_text(&self, lane: &Lane) -> Option<String> {
        let refusals = lane.refusals?;
        let first = trace::command_text(self.trace()?, refusals.first);
        let number = lane.policy.number();
        Some(match refusals.count {
            1 => format!("policy {number} refuses a request: {first}"),
            count => format!("policy {number} refuses {count} requests, the first is {first}"),
        })
    }

    /// Whether there is a capacity to compare peaks with: the device's, or the one that a problem's file states. What was
    /// measured ran on a device of its own.
    pub fn has_capacity(&self) -> bool {
        !self.is_measured()
            && self
                .workload
                .problems()
                .first()
                .is_none_or(|entry| entry.capacity.is_some())
    }

    /// The lane that texts without a choice speak of: the configured policy; of a problem the smallest footprint, the
    /// first on a tie.
    pub fn main_lane(&self) -> Option<usize> {
        if self.compares_passes() || self.is_measured() {
            return (!self.lanes.is_empty()).then_some(0);
        }
        if !self.is_problem() {
            let configured = LaneId::Policy(self.active_policy);
            return self.lanes.iter().position(|lane| lane.id == configured);
        }
        let lanes = self.lanes.iter().enumerate();
        lanes
            .min_by_key(|(position, lane)| (lane.summary.peak_reserved, *position))
            .map(|(position, _)| position)
    }

    /// What the device of a lane has to hold: the session with the lane's plans.
    pub fn lane_session(&self, lane: usize) -> DeviceSession {
        lanes::with_plans(self.session_of(lane), &self.lanes[lane].plans, self.is_problem())
    }

    /// What the device has to hold in a lane, before anything is placed.
    pub fn session_of(&self, lane: usize) -> &DeviceSession {
        let own = self.lanes.get(lane).and_then(|lane| lane.session.as_deref());
        own.unwrap_or(&self.session)
    }

    /// Whether lanes differ in what was rewritten, and not in their policy.
    pub fn compares_passes(&self) -> bool {
        self.lanes.iter().any(|lane| matches!(lane.id, LaneId::Pass(_)))
    }

    /// Whether every lane is a recording of a real run: then nothing is simulated.
    pub fn is_measured(&self) -> bool {
        let mut lanes = self.lanes.iter();
        !self.lanes.is_empty() && lanes.all(|lane| matches!(lane.id, LaneId::Measured(_)))
    }

    /// Whether a lane shows a recording, alone or beside what was simulated.
    pub fn is_measured_lane(&self, lane: usize) -> bool {
        let lane = self.lanes.get(lane);
        lane.is_some_and(|lane| matches!(lane.id, LaneId::Measured(_)))
    }

    /// Whether it is known what a lane reserves, and what is live in it: a recording may state one of them alone.
    pub fn states(&self, lane: usize) -> (bool, bool) {
        let id = self.lanes.get(lane).map(|lane| lane.id);
        let recording = id.and_then(|id| self.recording(id));
        recording.map_or((true, true), |recording| {
            (recording.states_reserved(), recording.states_live())
        })
    }

    /// What a place on the common axis is called: an event of a recording, else a step.
    pub fn axis_word(&self) -> &'static str {
        if self.is_measured() { "event" } else { "step" }
    }

    /// The lanes that were simulated or planned.
    pub fn simulated_lanes(&self) -> impl Iterator<Item = &Lane> + Clone {
        let lanes = self.lanes.iter();
        lanes.filter(|lane| !matches!(lane.id, LaneId::Measured(_)))
    }

    /// The recording of a lane that shows one.
    pub fn recording(&self, lane: LaneId) -> Option<&Recording> {
        let LaneId::Measured(position) = lane else { return None };
        let with_content = self.workload.recordings().iter().filter(|one| one.has_content());
        with_content.map(|one| &**one).nth(usize::from(position))
    }

    /// What a lane is called: its policy, or its position and strategy.
    pub fn lane_title(&self, id: LaneId) -> String {
        match id {
            LaneId::Policy(policy) => format!("policy {}", policy.number()),
            LaneId::Problem(position) => {
                let lane = self.lanes.iter().find(|lane| lane.id == id);
                let label = lane.map_or("", |lane| lane.strategy.label);
                format!("lane {}: {label}", u32::from(position) + 1)
            }
            LaneId::Measured(_) if !self.is_measured() => {
                let lane = self.lanes.iter().find(|lane| lane.id == id);
                format!("measured {}", lane.and_then(|lane| lane.title.as_deref()).unwrap_or(""))
            }
            LaneId::Pinned(_) => {
                let lane = self.lanes.iter().find(|lane| lane.id == id);
                format!("pinned {}", lane.and_then(|lane| lane.title.as_deref()).unwrap_or(""))
            }
            LaneId::Pass(position) | LaneId::Measured(position) => {
                let lane = self.lanes.iter().find(|lane| lane.id == id);
                let title = lane.and_then(|lane| lane.title.as_deref()).unwrap_or("");
                format!("lane {}: {title}", u32::from(position) + 1)
            }
        }
    }

    /// A lane in one or two letters: the number of its policy, `p1` of a pin, `m1` of a recording beside others, else its position.
    pub fn lane_mark(&self, id: LaneId) -> String {
        match id {
            LaneId::Policy(policy) => policy.number().to_string(),
            LaneId::Pinned(position) => format!("p{}", u32::from(position) + 1),
            LaneId::Measured(position) if !self.is_measured() => format!("m{}", u32::from(position) + 1),
            LaneId::Problem(position) | LaneId::Pass(position) | LaneId::Measured(position) => {
                (u32::from(position) + 1).to_string()
            }
        }
    }

    /// The name of a tensor of a graph, of an estimated workspace, of a problem's buffer, or of a trace's request; empty
    /// where it has none.
    pub fn tensor_name(&self, graph: GraphIdx, tensor: TensorId) -> &str {
        if let Some(entry) = self.workload.problems().first() {
            return entry.ids.get(tensor.idx());
        }
        if let Some((trace, request)) = self.request(tensor) {
            return trace.name(request.lifetime.name);
        }
        if let Some(program) = self.workload.programs().first() {
            let block = program.blocks.get(graph.idx());
            let variable = block.and_then(|block| block.variables.get_index(tensor.idx()));
            return variable.map_or("", |(name, _)| &**name);
        }
        if let Some(tape) = self.workload.tapes().first() {
            return tape.tensors.get(tensor.idx()).map_or("", |tensor| &tensor.name);
        }
        if let Some((recording, block)) = self.recorded_block(graph, tensor) {
            return recording.text(block.name);
        }
        self.workspaces.tensor_name(&self.workload, graph, tensor)
    }
}
