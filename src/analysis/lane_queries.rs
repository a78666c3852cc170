//! Facts about one lane: its settings, its figures, whether it fits.
//!
//! Lanes of the options share their settings; a pinned lane has its own. Figures that a recording does not state are
//! `None`.

use super::allocator_state::AllocatorState;
use super::comparison::Comparison;
use super::lane::Lane;
use super::lane_set::LaneKind;
use super::metrics::{COMPARED, Figure, FigureDifference, Metric};
use super::pin::PinnedLane;
use super::recorded_failures::{DeviceTotal, RecordedFailure, RecordedFailures, recorded_failure};
use super::selection::are_overheads_equivalent;
use super::workspaces::ScratchSource;
use highwater_model::graph::Bindings;
use highwater_model::units::{Bytes, Nanos, Step, counted};
use highwater_model::workload::{AllocatorSimulation, Device, MarkKind};
use highwater_sim::{OutOfMemory, Params};

/// Where a capacity comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacitySource {
    /// The device of the lane's settings.
    Device,
    /// The recording.
    Recording {
        /// Whether the device may have more.
        is_lower_bound: bool,
    },
}

/// The memory that a lane is checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneCapacity {
    pub bytes: Bytes,
    pub source: CapacitySource,
}

impl LaneCapacity {
    /// `80.00 GiB, as the recording states it`.
    pub fn text(&self, device: &str) -> String {
        let bytes = self.bytes;
        match self.source {
            CapacitySource::Device => format!("{bytes} of {device}"),
            CapacitySource::Recording { is_lower_bound: false } => format!("{bytes}, as the recording states it"),
            CapacitySource::Recording { is_lower_bound: true } => {
                format!("at least {bytes}: free and reserved bytes where a request failed")
            }
        }
    }
}

/// A peak with its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanePeak {
    pub bytes: Bytes,
    /// `None` where the lane has no steps.
    pub step: Option<Step>,
    /// Of live bytes; else of reserved ones.
    pub is_live: bool,
}

/// Whether a lane fits on its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// There is no capacity to compare with.
    Unknown,
    /// It runs to its end.
    Yes {
        /// Unused bytes of the capacity.
        left: Bytes,
        capacity: Bytes,
    },
    /// It runs to its end with a peak above the capacity.
    Above { by: Bytes, capacity: Bytes },
    /// It runs out of memory, on this step where it is known: what the axis counts, and the number as people read it.
    OutOfMemory(Option<(&'static str, Step)>),
    /// A run does not reach its end under its memory budget.
    StopsUnderBudget,
    /// Requests of a trace are refused.
    Refuses(u64),
    /// A rule, by its name, forbids the policy; the run alone would reach its end.
    Forbidden(&'static str),
    /// Paddle's pass ends in an exception.
    Raises,
}

/// What a difference from another lane means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Not significant.
    Equivalent,
    Better,
    Worse,
}

impl Fit {
    /// Whether nothing speaks against it.
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Unknown | Self::Yes { .. })
    }

    /// Empty where there is no capacity.
    pub fn text(self) -> String {
        match self {
            Self::Unknown => String::new(),
            _ => format!("{}, {}", self.word(), self.why()),
        }
    }

    /// What the word does not say.
    pub fn why(self) -> String {
        match self {
            Self::Unknown => String::new(),
            Self::Yes { left, capacity } => format!("{left} left of {capacity}"),
            Self::Above { by, capacity } => format!("{by} above {capacity}"),
            Self::OutOfMemory(Some((word, step))) => format!("out of memory at {word} {step}"),
            Self::OutOfMemory(None) => "it ran out of memory".to_owned(),
            Self::StopsUnderBudget => "a run stops under its budget".to_owned(),
            Self::Refuses(count) => format!("{} refused", counted(count, "request")),
            Self::Forbidden(rule) => format!("{rule} forbids it"),
            Self::Raises => "Paddle raises an exception".to_owned(),
        }
    }

    /// [`Self::why`] for a narrow place beside the marks of the lane, which say whether memory runs out.
    pub fn why_short(self) -> String {
        match self {
            Self::Yes { left, .. } => format!("{left} left"),
            Self::Above { by, .. } => format!("{by} above"),
            Self::OutOfMemory(Some((word, step))) => format!("{word} {step}"),
            Self::StopsUnderBudget => "stops".to_owned(),
            Self::Raises => "exception".to_owned(),
            _ => self.why(),
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Yes { .. } => "yes",
            _ => "no",
        }
    }
}

impl Comparison {
    /// The settings of a pinned lane; `None` for other lanes.
    pub fn pinned(&self, lane: usize) -> Option<&PinnedLane> {
        self.lanes.get(lane)?.pinned.as_deref()
    }

    pub fn is_pinned_lane(&self, lane: usize) -> bool {
        self.pinned(lane).is_some()
    }

    pub fn device_of(&self, lane: usize) -> &Device {
        self.pinned(lane).map_or(&self.device, |pinned| &pinned.device)
    }

    pub fn params_of(&self, lane: usize) -> &Params {
        self.pinned(lane).map_or(&self.params, |pinned| &pinned.params)
    }

    /// Whether peaks are lower bounds: tensors or workspaces without a size, or a recording that lists some of its segments.
    pub fn is_lower_bound(&self, lane: usize) -> bool {
        let row = self.lanes.get(lane).filter(|lane| lane.is_measured());
        if let Some((row, recording)) = row.and_then(|row| Some((row, self.recording(row.id)?))) {
            return recording.lacks_regions(row.summary.peak_live, row.summary.peak_reserved);
        }
        self.pinned(lane).map_or(self.lower_bound, |pinned| pinned.lower_bound)
    }

    /// The peak of reserved bytes as far as it is known: a recording that lists some of its segments reserved at least what
    /// was live.
    pub fn least_reserved(&self, lane: usize) -> Bytes {
        let summary = &self.lanes[lane].summary;
        if self.is_measured_lane(lane) && self.is_lower_bound(lane) {
            return summary.peak_live;
        }
        summary.peak_reserved
    }

    /// The peak that represents a lane: of reserved bytes or, where a recording states these in part or not at all, of live
    /// bytes.
    pub fn shown_peak(&self, lane: usize) -> LanePeak {
        let summary = &self.lanes[lane].summary;
        let (states_reserved, states_live) = self.states(lane);
        let is_partial = self.is_measured_lane(lane) && self.is_lower_bound(lane);
        if states_live && (is_partial || !states_reserved) {
            return LanePeak {
                bytes: summary.peak_live,
                step: summary.peak_live_step,
                is_live: true,
            };
        }
        LanePeak {
            bytes: summary.peak_reserved,
            step: summary.peak_reserved_step,
            is_live: false,
        }
    }

    pub fn scratch_of(&self, lane: usize) -> ScratchSource {
        self.pinned(lane).map_or(self.scratch, |pinned| pinned.scratch)
    }

    /// The values of dimensions in a run of a lane; `None` where it has no such run.
    pub fn bindings_of(&self, lane: usize, run: usize) -> Option<&Bindings> {
        let (axis, run) = match self.pinned(lane) {
            Some(pinned) if !pinned.runs.is_empty() => (&pinned.axis, (*pinned.runs.get(run)?)? as usize),
            _ => (&self.axis, run),
        };
        Some(&axis.runs.get(run)?.run.bindings)
    }

    /// A figure of a lane; `None` where a recording does not state it.
    pub fn figure(&self, lane: usize, metric: &Metric) -> Option<Figure> {
        let (states_reserved, states_live) = self.states(lane);
        let is_stated = match metric.name {
            "peak_reserved" => states_reserved,
            "peak_live" => states_live,
            "fragmentation" => self.fragmentation(lane).is_some(),
            // A plan alone calls no device.
            _ if matches!(metric.kind(), Figure::Count(_) | Figure::Nanos(_)) => {
                !self.is_measured_lane(lane) && self.lane_kind() != LaneKind::Strategies
            }
            _ => !self.is_measured_lane(lane),
        };
        let row = self.lanes.get(lane).filter(|_| is_stated)?;
        match metric.name {
            "peak_reserved" => Some(Figure::Bytes(self.least_reserved(lane).get())),
            _ => Some(metric.of(row)),
        }
    }

    /// 1 - peak live / peak reserved of feature memory; `None` where a recording does not state how much of the reserved
    /// bytes is used.
    pub fn fragmentation(&self, lane: usize) -> Option<f64> {
        let row = self.lanes.get(lane)?;
        match &row.recorded {
            Some(recorded) => recorded.fragmentation.share(),
            None => Some(row.summary.fragmentation),
        }
    }

    /// Of a recording with segments, the step with most live bytes of those with most reserved bytes: an allocator reserves
    /// before it allocates.
    pub fn fullest_step(&self, lane: usize) -> Option<Step> {
        let recorded = self.lanes.get(lane)?.recorded.as_ref()?;
        let (event, _) = recorded.fragmentation.at_peak.as_ref()?;
        Some(recorded.steps_of(*event, Step(event.0.saturating_add(1))).0)
    }

    /// The state of a recorded allocator after the last event on a step or before it. O(blocks + segments).
    ///
    /// # Errors
    /// Why it is unknown, in a sentence.
    pub fn allocator_state(&self, lane: usize, step: Step) -> Result<AllocatorState, &'static str> {
        let row = self.lanes.get(lane).ok_or("There is no such lane.")?;
        let recorded = row.recorded.as_ref().zip(self.recording(row.id));
        let (lane, recording) =
            recorded.ok_or("The lane is simulated; segments of the allocator are recorded facts.")?;
        if recording.regions.is_empty() {
            return Err("The file lists no segments of the allocator; memory snapshots of PyTorch and torch_npu do.");
        }
        let event = lane.event_at(step).ok_or("The recording begins later.")?;
        AllocatorState::new(recording, event).ok_or("The recording ends before this step.")
    }

    /// The failed requests of a recording's lane.
    pub fn failures(&self, lane: usize) -> &[RecordedFailure] {
        let recorded = self.lanes.get(lane).and_then(|row| row.recorded.as_ref());
        recorded.map_or(&[], |recorded| &recorded.failures.list)
    }

    /// Failed requests of a recording's lane after those.
    pub fn n_more_failures(&self, lane: usize) -> usize {
        let recorded = self.lanes.get(lane).and_then(|row| row.recorded.as_ref());
        recorded.map_or(0, |recorded| recorded.failures.n_more)
    }

    /// The step of the axis on which a request of a recording failed. O(1).
    pub fn failure_step(&self, lane: usize, failure: &RecordedFailure) -> Step {
        let recorded = self.lanes.get(lane).and_then(|row| row.recorded.as_ref());
        recorded.map_or(failure.event, |recorded| {
            recorded.steps_of(failure.event, Step(failure.event.0 + 1)).0
        })
    }

    /// The request of a recording that failed on a step of the axis, with a replay where there was one. O(blocks + regions).
    pub fn failure_at(&self, lane: usize, step: Step) -> Option<RecordedFailure> {
        let row = self.lanes.get(lane)?;
        let (recorded, recording) = row.recorded.as_ref().zip(self.recording(row.id))?;
        // Several events may share a step.
        let mut failed = recording.marks.iter().filter(|mark| mark.kind == MarkKind::OutOfMemory);
        let event = failed
            .find(|mark| recorded.steps_of(mark.step, Step(mark.step.0 + 1)).0 == step)?
            .step;
        let known = recorded.failures.at(event).cloned();
        known.or_else(|| recorded_failure(recording, event))
    }

    /// The memory of the device of a recording, where a file or the user states it.
    pub fn device_total(&self, lane: usize) -> Option<DeviceTotal> {
        let recording = self.recording(self.lanes.get(lane)?.id)?;
        let all = self.workload.recordings().iter().map(|one| &**one);
        let chosen = self.chosen_memory.map(|memory| memory + self.occupied);
        RecordedFailures::device_total(recording, all, chosen)
    }

    /// The memory that a lane is checked against: of a recording, that of its device where the file states it, else that
    /// of the chosen device, else the least that its device had; `None` where there is none, and for memory of the host.
    pub fn capacity_of(&self, lane: usize) -> Option<LaneCapacity> {
        let row = self.lanes.get(lane)?;
        let of_device = |bytes: Bytes| LaneCapacity {
            bytes,
            source: CapacitySource::Device,
        };
        if !row.is_measured() {
            return self.has_capacity().then(|| of_device(self.device_of(lane).memory()));
        }
        let recording = self.recording(row.id).filter(|one| !one.is_host)?;
        if recording
            .simulation
            .as_ref()
            .is_some_and(AllocatorSimulation::is_of_graph)
        {
            return self.has_capacity().then(|| of_device(self.device.memory()));
        }
        let chosen = self.chosen_memory.map(of_device);
        let Some(stated) = recording.device_memory else {
            return chosen;
        };
        // What a device had at least is not what it has.
        if let Some(chosen) = chosen.filter(|_| stated.is_lower_bound) {
            return Some(chosen);
        }
        // A run that got more shows that its device has more than a lower bound.
        let proven = if stated.is_lower_bound {
            row.summary.peak_reserved
        } else {
            Bytes::ZERO
        };
        Some(LaneCapacity {
            bytes: stated.bytes.max(proven),
            source: CapacitySource::Recording {
                is_lower_bound: stated.is_lower_bound,
            },
        })
    }

    /// A figure of a lane compared with that of another, and what the difference means; `None` where one of the two does not state
    /// it or ends early: bytes before a failure are no peak.
    pub fn difference(&self, lane: usize, other: usize, metric: &Metric) -> Option<(FigureDifference, Effect)> {
        let is_whole = |lane: usize| self.lanes.get(lane).is_some_and(|row| !row.ends_early());
        let both = is_whole(lane) && is_whole(other);
        let (now, before) = self
            .figure(lane, metric)
            .zip(self.figure(other, metric))
            .filter(|_| both)?;
        let is_alike = match (now, before) {
            (Figure::Nanos(now), Figure::Nanos(before)) => are_overheads_equivalent(Nanos(now), Nanos(before)),
            (Figure::Bytes(_), _) if metric.name == "peak_reserved" => self.are_alike(lane, other),
            // What reads as no difference is none.
            (Figure::Share(now), Figure::Share(before)) => (now - before).abs() < 5e-4,
            _ => now == before,
        };
        let difference = now.difference(before);
        let effect = match difference.is_more() {
            _ if is_alike => Effect::Equivalent,
            true => Effect::Worse,
            false => Effect::Better,
        };
        Some((difference, effect))
    }

    /// The same of the peaks: of reserved bytes where both lanes state these, else of live bytes.
    pub fn peak_difference(&self, lane: usize, other: usize) -> Option<(FigureDifference, Effect)> {
        let mut metrics = COMPARED.iter().take(2).filter_map(|name| Metric::find(name));
        metrics.find_map(|metric| self.difference(lane, other, metric))
    }

    /// Whether the reserved peaks of two lanes do not differ significantly; of two recordings only equal ones do not.
    fn are_alike(&self, lane: usize, other: usize) -> bool {
        if self.is_measured_lane(lane) && self.is_measured_lane(other) {
            return self.least_reserved(lane) == self.least_reserved(other);
        }
        self.are_equivalent(lane, other)
    }

    /// The capacity of a lane where drawings show it: up to 1.6 times the highest peak of all lanes.
    pub fn drawn_capacity(&self, lane: usize, highest: Bytes) -> Option<Bytes> {
        let capacity = self.capacity_of(lane)?.bytes;
        let is_near = u128::from(capacity.get()) * 5 <= u128::from(highest.get().max(1)) * 8;
        is_near.then_some(capacity)
    }

    /// The upper edge that drawings of all lanes need: the highest peak, and the capacities that are drawn.
    pub fn drawn_top(&self, highest: Bytes) -> Bytes {
        let drawn = (0..self.lanes.len()).filter_map(|lane| self.drawn_capacity(lane, highest));
        drawn.fold(highest, Bytes::max)
    }

    /// The capacities that recordings are checked against, each once.
    pub fn recorded_capacities(&self) -> Vec<String> {
        let measured = (0..self.lanes.len()).filter(|lane| self.is_measured_lane(*lane));
        let texts = measured.filter_map(|lane| Some(self.capacity_of(lane)?.text(&self.device_of(lane).name)));
        let mut distinct: Vec<String> = Vec::new();
        for text in texts {
            if !distinct.contains(&text) {
                distinct.push(text);
            }
        }
        distinct
    }

    pub fn fit(&self, lane: usize) -> Fit {
        let Some(row) = self.lanes.get(lane) else {
            return Fit::Unknown;
        };
        let failed: Option<&OutOfMemory> = row.simulation.out_of_memory.as_ref();
        if failed.is_some() || row.summary.out_of_memory {
            let step = |failed: &OutOfMemory| (self.axis_word(), self.shown_step(lane, failed.step));
            return Fit::OutOfMemory(failed.map(step));
        }
        if row.stops_under_budget() {
            return Fit::StopsUnderBudget;
        }
        if let Some(refusals) = row.refusals {
            return Fit::Refuses(refusals.count);
        }
        if let Some(finding) = row.forbidden.first() {
            return Fit::Forbidden(finding.rule);
        }
        if row.exception().is_some() {
            return Fit::Raises;
        }
        let peak = match self.states(lane) {
            // A recording whose file lacks segments has more live than reserved bytes.
            (true, _) => row.summary.peak_reserved.max(row.summary.peak_live),
            (false, true) => row.summary.peak_live,
            (false, false) => return Fit::Unknown,
        };
        let Some(LaneCapacity { bytes: capacity, .. }) = self.capacity_of(lane) else {
            return Fit::Unknown;
        };
        if peak > capacity {
            let by = peak.saturating_sub(capacity);
            return Fit::Above { by, capacity };
        }
        let left = capacity.saturating_sub(peak);
        Fit::Yes { left, capacity }
    }

    /// The lane of a name: its title (`policy 2`, `pinned small`), its mark (the number of a policy or a recording), or the
    /// bare name of a pin or a recording.
    ///
    /// # Errors
    /// The existing titles, separated by commas.
    pub fn lane_named(&self, name: &str) -> Result<usize, String> {
        let name = name.trim();
        let titles: Vec<String> = self.lanes.iter().map(|lane| self.lane_title(lane.id)).collect();
        let exact = titles.iter().position(|title| title == name);
        let own = || self.lanes.iter().position(|lane| lane.title.as_deref() == Some(name));
        let mark = || self.lanes.iter().position(|lane| self.lane_mark(lane.id) == name);
        exact.or_else(own).or_else(mark).ok_or_else(|| titles.join(", "))
    }

    /// The lanes of the options, neither pinned nor measured.
    pub fn own_lanes(&self) -> impl Iterator<Item = &Lane> + Clone {
        self.simulated_lanes().filter(|lane| lane.pinned.is_none())
    }
}
