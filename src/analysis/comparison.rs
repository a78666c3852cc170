//! The answer to a request: lanes on one axis.
//!
//! Invariants: graphs are numbered as in the workload; the recording of lane `Measured(n)` is numbered behind them, at `n`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::arena::with_plans;
use super::assumption::Assumption;
use super::calibration::Calibration;
use super::lane::Lane;
use super::lane_set::{LaneId, LaneKind};
use super::lowest_peak::LowestPeak;
use super::name_context::NameContext;
use super::pin::PinFailure;
use super::recommended::Recommended;
use super::recording_figures::RecordingFigures;
use super::request::Request;
use super::reuse_lanes::ReuseLane;
use super::run_differences::RunDifferences;
use super::selection::{LaneGoal, are_peaks_equivalent, granule};
use super::workspaces::{EstimatedWorkspaces, ScratchSource};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Id as _, TensorId};
use highwater_model::units::Bytes;
use highwater_model::workload::{
    AllocationTrace, AllocatorSimulation, Axis, Device, GraphIdx, RecordedBlock, Recording, Workload,
};
use highwater_options::{Condition, Estimate, Finding, Lowered, keys, policy_depends_on};
use highwater_rewrite::remat::OpRates;
use highwater_sim::{DeviceSession, Params, StaticMemoryPolicy, TraceRequest};

/// Every lane of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The request's workload; of its graphs the forward parts, where the run mode is inference.
    pub workload: Arc<Workload>,
    /// Symbolic dimensions whose value is an assumption: figures are those of the assumed values, and nothing is recommended.
    pub assumed_dims: BTreeSet<String>,
    /// The common step axis.
    pub axis: Axis,
    pub session: DeviceSession,
    /// The device, with the memory that the options give it and other processes leave.
    pub device: Device,
    pub device_id: u32,
    /// Memory that other processes hold on it.
    pub occupied: Bytes,
    /// The lanes of the options, ascending; behind them pins, then recordings.
    pub lanes: Vec<Lane>,
    /// Pins without a lane.
    pub pin_failures: Vec<PinFailure>,
    /// The policy that options and environment combine to.
    pub active_policy: StaticMemoryPolicy,
    /// Whether a script computes the policy, so that `active_policy` is that of an unset option.
    pub is_policy_unknown: bool,
    /// The conditions of a script under which `active_policy` was set.
    pub policy_conditions: Vec<Condition>,
    /// Whether a policy is in force: not where all options are of frameworks without policies.
    pub has_policy: bool,
    /// `None` where policies are not compared or none runs to its end.
    pub lowest_peak: Option<LowestPeak>,
    /// One per goal; empty where policies are not compared or none fits.
    pub recommendations: Vec<Recommended>,
    /// Why all policies are equivalent, where they are: a sentence with the difference in bytes.
    pub equivalence: Option<String>,
    /// The memory of the device where the user chose it: the default says nothing about the device of a recording.
    pub chosen_memory: Option<Bytes>,
    /// Whether figures are lower bounds, or estimates where `scratch` says so.
    pub lower_bound: bool,
    pub scratch: ScratchSource,
    /// Settings learned from recordings.
    pub calibrations: Vec<Calibration>,
    /// Figures of the recordings, where these alone are open, in the order of the lanes.
    pub recordings: Vec<RecordingFigures>,
    /// How far aligned runs are from the first; empty where runs are not aligned.
    pub run_differences: Vec<RunDifferences>,
    pub workspaces: EstimatedWorkspaces,
    /// The requests of an allocation trace, by tensor; empty for every other source.
    pub requests: Vec<TraceRequest>,
    /// Sizes and costs of the lanes that are not pinned.
    pub params: Params,
    /// Rates that estimate the time of ops.
    pub rates: OpRates,
    /// Settings of the user whose effect is an estimate.
    pub estimates: Vec<Estimate>,
    /// Paddle's executor without and with variable reuse; empty where the options do not call it.
    pub reuse_lanes: Vec<ReuseLane>,
    /// Set options that change memory in reality and not here.
    pub without_effect: Vec<&'static str>,
    /// What a document says otherwise, each with the setting that simulates it.
    pub advice: Vec<Finding>,
    /// An assumption that moves the peak of the active policy.
    pub assumption: Option<Assumption>,
    pub diagnostics: Diagnostics,
}

/// The memory of the device, where the user chose it.
pub(super) fn chosen_memory(request: &Request, lowered: &Lowered) -> Option<Bytes> {
    let is_chosen = request.options.is_set(keys::DEVICE) || request.options.is_set(keys::DEVICE_MEMORY);
    is_chosen.then_some(lowered.params.device_bytes)
}

impl Comparison {
    /// Lanes on an axis, with the device and the parameters of the options.
    pub(super) fn new(
        request: &Request,
        lowered: &Lowered,
        axis: Axis,
        session: DeviceSession,
        lanes: Vec<Lane>,
        diagnostics: Diagnostics,
    ) -> Self {
        let mut device = request.device.clone();
        device.set_memory(lowered.params.device_bytes);
        Self {
            workload: Arc::clone(&request.workload),
            assumed_dims: request.assumed_dims.clone(),
            axis,
            session,
            device,
            device_id: lowered.device_id,
            occupied: lowered.occupied,
            lanes,
            pin_failures: Vec::new(),
            active_policy: lowered.policy,
            is_policy_unknown: lowered.is_policy_unknown,
            policy_conditions: lowered.policy_conditions.clone(),
            has_policy: lowered.has_policy,
            lowest_peak: None,
            recommendations: Vec::new(),
            equivalence: None,
            chosen_memory: chosen_memory(request, lowered),
            lower_bound: false,
            scratch: ScratchSource::Stated,
            calibrations: Vec::new(),
            recordings: Vec::new(),
            run_differences: Vec::new(),
            workspaces: EstimatedWorkspaces::default(),
            requests: Vec::new(),
            params: lowered.params.clone(),
            rates: lowered.rates,
            estimates: Vec::new(),
            reuse_lanes: Vec::new(),
            advice: Vec::new(),
            assumption: None,
            without_effect: Vec::new(),
            diagnostics,
        }
    }

    /// Whether Paddle raises an exception where the options call its pass, so that a lane failed.
    pub fn has_exception(&self) -> bool {
        let of_lanes = self.lanes.iter().any(|lane| lane.exception().is_some());
        of_lanes || self.reuse_lanes.iter().any(|lane| lane.figures.is_err())
    }

    /// The number of iterations on the axis.
    pub fn iterations(&self) -> u64 {
        let last = self.axis.runs.last();
        last.map_or(1, |run| u64::from(run.run.iteration) + 1)
    }

    /// The names of what runs in a session that is simulated with `params`.
    pub(super) fn names<'a>(&'a self, session: &'a DeviceSession, params: &Params) -> NameContext<'a> {
        NameContext {
            trace: self.trace().map(|trace| (trace, &self.requests[..])),
            ..NameContext::new(&self.workload, &self.axis, session, &self.workspaces, params)
        }
    }

    /// The mark of the active policy in texts; `None` where no policy is in force.
    pub fn in_force(&self) -> Option<&'static str> {
        let mark = if self.is_policy_unknown {
            "active if unset, unknown here"
        } else {
            "active"
        };
        self.has_policy.then_some(mark)
    }

    /// The words behind that mark: the conditions of a script under which the policy was set; empty without any.
    pub fn in_force_if(&self) -> String {
        policy_depends_on(&self.policy_conditions)
    }

    pub fn lane(&self, policy: StaticMemoryPolicy) -> Option<&Lane> {
        self.lane_of(LaneId::Policy(policy))
    }

    fn lane_of(&self, id: LaneId) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.id == id)
    }

    pub fn position(&self, id: LaneId) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.id == id)
    }

    /// The assumption that moves the answer by more than any recommended change, and significantly.
    pub fn headline_assumption(&self) -> Option<&Assumption> {
        let assumption = self.assumption.as_ref()?;
        let active = self.lane(self.active_policy)?.summary.peak_reserved;
        let moves = |recommended: &Recommended| {
            let peak = self.lane(recommended.policy).map(|lane| lane.summary.peak_reserved);
            peak.map_or(0, |peak| peak.get().abs_diff(active.get()))
        };
        let most = self.recommendations.iter().map(moves).max().unwrap_or(0);
        let is_alike = are_peaks_equivalent(assumption.peak, assumption.changed, granule(self.active_policy));
        (assumption.moves().get() > most && !is_alike).then_some(assumption)
    }

    /// Why nothing is recommended, where dimensions have no value.
    pub fn assumed_sentence(&self) -> Option<String> {
        let dims: Vec<&str> = self.assumed_dims.iter().map(String::as_str).collect();
        (!dims.is_empty()).then(|| {
            let verb = if dims.len() == 1 { "has" } else { "have" };
            let dims = dims.join(", ");
            format!("Nothing is recommended: {dims} {verb} no value, and 1 is assumed, of which all figures are.")
        })
    }

    /// The recommended policy of a goal; `None` where policies are not compared or none fits.
    pub fn recommended(&self, goal: LaneGoal) -> Option<&Recommended> {
        self.recommendations.iter().find(|one| one.goal == goal)
    }

    /// Whether the peaks of two lanes do not differ significantly.
    pub fn are_equivalent(&self, one: usize, other: usize) -> bool {
        let (Some(one), Some(other)) = (self.lanes.get(one), self.lanes.get(other)) else {
            return false;
        };
        let granule = granule(one.policy).max(granule(other.policy));
        are_peaks_equivalent(one.summary.peak_reserved, other.summary.peak_reserved, granule)
    }

    /// Why the different peaks of two lanes count as equal: the granule of their allocators, or the exactness of the
    /// simulation. `None` where they are equal or differ significantly.
    pub fn equivalence_text(&self, one: usize, other: usize) -> Option<String> {
        let peak = |lane: usize| self.lanes[lane].summary.peak_reserved;
        if !self.are_equivalent(one, other) || peak(one) == peak(other) {
            return None;
        }
        let granule = granule(self.lanes[one].policy).max(granule(self.lanes[other].policy));
        let apart = Bytes(peak(one).get().abs_diff(peak(other).get()));
        Some(if apart <= granule {
            format!(
                "{apart} apart: below the allocator's granule of {} MiB",
                granule.get() >> 20
            )
        } else {
            format!("{apart} apart: within 0.5 %, the accuracy of the simulation")
        })
    }

    /// What the lanes of the options differ in.
    pub fn lane_kind(&self) -> LaneKind {
        match self.lanes.first().map(|lane| lane.id) {
            Some(LaneId::Problem(_)) => LaneKind::Strategies,
            Some(LaneId::Pass(_)) => LaneKind::Passes,
            Some(LaneId::Measured(_)) => LaneKind::Recordings,
            Some(LaneId::Policy(_) | LaneId::Pinned(_)) | None => LaneKind::Policies,
        }
    }

    /// The allocation trace: then a step is a command, and a tensor is a request.
    pub fn trace(&self) -> Option<&AllocationTrace> {
        self.workload.traces().first().map(|trace| &**trace)
    }

    /// A request of the trace by its tensor.
    pub fn request(&self, tensor: TensorId) -> Option<(&AllocationTrace, &TraceRequest)> {
        Some((self.trace()?, self.requests.get(tensor.idx())?))
    }

    /// The recording with that graph index of its blocks, where a lane shows it.
    pub fn recording_of(&self, graph: GraphIdx) -> Option<&Recording> {
        self.recording(self.measured_lane(graph)?)
    }

    /// A block of a recording, where a lane shows it.
    pub fn recorded_block(&self, graph: GraphIdx, tensor: TensorId) -> Option<(&Recording, &RecordedBlock)> {
        let recording = self.recording_of(graph)?;
        Some((recording, recording.blocks.get(tensor.idx())?))
    }

    /// The lane of a recording by the graph index of its blocks; `None` for the index of a graph.
    pub fn measured_lane(&self, graph: GraphIdx) -> Option<LaneId> {
        let position = graph.idx().checked_sub(self.workload.graphs().len())?;
        let id = LaneId::Measured(u16::try_from(position).ok()?);
        self.lane_of(id).map(|lane| lane.id)
    }

    /// How many requests of a trace a lane refuses, in a sentence; `None` where it refuses none.
    pub fn refusal_text(&self, lane: &Lane) -> Option<String> {
        let refusals = lane.refusals?;
        let first = self.trace()?.step_text(refusals.first);
        let number = lane.policy.number();
        Some(match refusals.count {
            1 => format!("policy {number} refuses a request: {first}"),
            count => format!("policy {number} refuses {count} requests, the first is {first}"),
        })
    }

    /// The lane that texts use where none is chosen: the active policy, the strategy with the lowest footprint (the first
    /// on a tie), the measured recording with the highest live peak (the first on a tie), or the first
    /// pass.
    pub fn main_lane(&self) -> Option<usize> {
        match self.lane_kind() {
            LaneKind::Passes => Some(0),
            LaneKind::Recordings => {
                let lanes = self.lanes.iter().enumerate();
                let highest = lanes.min_by_key(|(_, lane)| {
                    let summary = &lane.summary;
                    let is_simulated = self.simulation(lane.id).is_some();
                    let is_host = self.recording(lane.id).is_some_and(|one| one.is_host);
                    (
                        is_simulated,
                        is_host,
                        std::cmp::Reverse((summary.peak_live, summary.peak_reserved)),
                    )
                });
                highest.map(|(position, _)| position)
            }
            LaneKind::Policies => {
                let active = LaneId::Policy(self.active_policy);
                self.lanes.iter().position(|lane| lane.id == active)
            }
            LaneKind::Strategies => {
                let lanes = self.lanes.iter().enumerate();
                let lowest = lanes.min_by_key(|(position, lane)| (lane.summary.peak_reserved, *position));
                lowest.map(|(position, _)| position)
            }
        }
    }

    /// The device session of a lane with its plans.
    pub fn lane_session(&self, lane: usize) -> DeviceSession {
        let is_whole = self.lane_kind() == LaneKind::Strategies;
        with_plans(self.session_of(lane), &self.lanes[lane].plans, is_whole)
    }

    /// The device session of a lane before anything is placed.
    pub fn session_of(&self, lane: usize) -> &DeviceSession {
        let own = self.lanes.get(lane).and_then(|lane| lane.session.as_deref());
        own.unwrap_or(&self.session)
    }

    /// Whether a lane shows a recording.
    pub fn is_measured_lane(&self, lane: usize) -> bool {
        self.lanes.get(lane).is_some_and(Lane::is_measured)
    }

    /// Whether the reserved and the live bytes of a lane are known: a recording may state one of them alone.
    pub fn states(&self, lane: usize) -> (bool, bool) {
        let id = self.lanes.get(lane).map(|lane| lane.id);
        let recording = id.and_then(|id| self.recording(id));
        recording.map_or((true, true), |recording| {
            (recording.states_reserved(), recording.states_live())
        })
    }

    /// The lanes that were simulated or planned.
    pub fn simulated_lanes(&self) -> impl Iterator<Item = &Lane> + Clone {
        self.lanes.iter().filter(|lane| !lane.is_measured())
    }

    /// How the recording of a lane was simulated; `None` for what was measured.
    pub fn simulation(&self, lane: LaneId) -> Option<&AllocatorSimulation> {
        self.recording(lane)?.simulation.as_ref()
    }

    /// The recording of a lane that shows one.
    pub fn recording(&self, lane: LaneId) -> Option<&Recording> {
        self.shared_recording(lane).map(|one| &**one)
    }

    /// [`Self::recording`] for a holder that outlives the comparison.
    pub fn shared_recording(&self, lane: LaneId) -> Option<&Arc<Recording>> {
        let LaneId::Measured(position) = lane else { return None };
        let mut with_content = self.workload.recordings().iter().filter(|one| one.has_content());
        with_content.nth(usize::from(position))
    }

    /// The name of a lane: its policy, or its position and its strategy or title.
    pub fn lane_title(&self, id: LaneId) -> String {
        let lane = self.lane_of(id);
        let title = lane.and_then(|lane| lane.title.as_deref()).unwrap_or("");
        match id {
            LaneId::Policy(policy) => format!("policy {}", policy.number()),
            LaneId::Problem(_) => {
                let label = lane.map_or("", |lane| lane.strategy.label);
                format!("lane {}: {label}", self.lane_number(id))
            }
            LaneId::Measured(_) if self.simulation(id).is_some() && self.lane_kind() != LaneKind::Recordings => {
                title.to_owned()
            }
            LaneId::Measured(_) if self.lane_kind() != LaneKind::Recordings => format!("measured {title}"),
            LaneId::Pinned(_) => format!("pinned {title}"),
            LaneId::Pass(_) => title.to_owned(),
            LaneId::Measured(_) => format!("lane {}: {title}", self.lane_number(id)),
        }
    }

    /// The name of a lane by position; empty beyond the last.
    pub fn title_of(&self, lane: usize) -> String {
        let lane = self.lanes.get(lane);
        lane.map_or_else(String::new, |lane| self.lane_title(lane.id))
    }

    /// The position of a lane from 1, which flags like `--lane` take.
    fn lane_number(&self, id: LaneId) -> usize {
        self.position(id).map_or(0, |at| at + 1)
    }

    /// A lane in one or two characters: the number of its policy, a letter of a run under a budget or a level of reuse,
    /// `p1` of a pin, `m1` of a recording next to simulated lanes, else its position.
    pub fn lane_mark(&self, id: LaneId) -> String {
        match id {
            LaneId::Policy(policy) => policy.number().to_string(),
            LaneId::Pinned(position) => format!("p{}", u32::from(position) + 1),
            LaneId::Measured(position) if self.lane_kind() != LaneKind::Recordings => {
                format!("m{}", u32::from(position) + 1)
            }
            LaneId::Pass(position) => letter(position),
            LaneId::Problem(_) | LaneId::Measured(_) => self.lane_number(id).to_string(),
        }
    }
}

/// `A`, `B`, ... `Z`, `A1`, ...
fn letter(position: u8) -> String {
    let letter = char::from(b'A' + position % 26);
    match position / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}
