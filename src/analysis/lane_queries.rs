//! What a lane was simulated under and how it does: figures, whether it fits, its name.
//!
//! In: a comparison and the position of a lane. Out: facts that hold for this lane. Lanes of the options share theirs; a pinned
//! lane has a device, values and estimates of its own, and what a recording does not state is not known.

use super::{Comparison, Figure, LaneId, Metric, PinnedLane, ScratchSource};
use highwater_model::graph::Bindings;
use highwater_model::units::{Bytes, Step, counted};
use highwater_model::workload::Device;
use highwater_options::Estimate;
use highwater_rewrite::remat::OpRates;
use highwater_sim::{OutOfMemory, Params};

/// Whether a lane fits on its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// There is no capacity to compare with.
    Unknown,
    /// It runs to its end with so much left of the capacity.
    Yes {
        /// What is left.
        left: Bytes,
        /// The capacity.
        capacity: Bytes,
    },
    /// It runs to its end, and its peak is above the capacity.
    Above {
        /// By how much.
        by: Bytes,
        /// The capacity.
        capacity: Bytes,
    },
    /// It runs out of memory; on which step, where that is known.
    OutOfMemory(Option<Step>),
    /// A run does not reach its end under its memory budget.
    StopsUnderBudget,
    /// So many requests of a trace are refused.
    Refuses(u64),
}

impl Fit {
    /// Whether there is nothing against it.
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Unknown | Self::Yes { .. })
    }

    /// In words; none where there is no capacity.
    pub fn text(self) -> String {
        match self {
            Self::Unknown => String::new(),
            Self::Yes { left, capacity } => format!("yes, {left} left of {capacity}"),
            Self::Above { by, capacity } => format!("no, {by} above {capacity}"),
            Self::OutOfMemory(Some(step)) => format!("no, out of memory at step {step}"),
            Self::OutOfMemory(None) => "no, it ran out of memory".to_owned(),
            Self::StopsUnderBudget => "no, a run does not reach its end under its budget".to_owned(),
            Self::Refuses(count) => format!("no, {} refused", counted(count, "request")),
        }
    }

    /// In a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Yes { .. } => "yes",
            _ => "no",
        }
    }
}

impl Comparison {
    /// What a pinned lane was simulated under; `None` for other lanes.
    pub fn pinned(&self, lane: usize) -> Option<&PinnedLane> {
        self.lanes.get(lane)?.pinned.as_deref()
    }

    /// Whether a lane shows a pinned configuration.
    pub fn is_pinned_lane(&self, lane: usize) -> bool {
        self.pinned(lane).is_some()
    }

    /// The device of a lane.
    pub fn device_of(&self, lane: usize) -> &Device {
        self.pinned(lane).map_or(&self.device, |pinned| &pinned.device)
    }

    /// Sizes and costs that a lane was simulated with.
    pub fn params_of(&self, lane: usize) -> &Params {
        self.pinned(lane).map_or(&self.params, |pinned| &pinned.params)
    }

    /// Rates that estimate what ops of a lane take.
    pub fn rates_of(&self, lane: usize) -> OpRates {
        self.pinned(lane).map_or(self.rates, |pinned| pinned.rates)
    }

    /// Memory that others hold on the device of a lane.
    pub fn occupied_of(&self, lane: usize) -> Bytes {
        self.pinned(lane).map_or(self.occupied, |pinned| pinned.occupied)
    }

    /// Whether the figures of a lane are lower bounds.
    pub fn is_lower_bound(&self, lane: usize) -> bool {
        self.pinned(lane).map_or(self.lower_bound, |pinned| pinned.lower_bound)
    }

    /// What the figures of a lane hold of scratch memory.
    pub fn scratch_of(&self, lane: usize) -> ScratchSource {
        self.pinned(lane).map_or(self.scratch, |pinned| pinned.scratch)
    }

    /// Settings of a lane whose effect is an estimate.
    pub fn estimates_of(&self, lane: usize) -> &[Estimate] {
        self.pinned(lane).map_or(&self.estimates, |pinned| &pinned.estimates)
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
            _ => !self.is_measured_lane(lane),
        };
        self.lanes.get(lane).filter(|_| is_stated).map(|lane| metric.of(lane))
    }

    /// Whether a lane fits on its device.
    pub fn fit(&self, lane: usize) -> Fit {
        let Some(row) = self.lanes.get(lane) else {
            return Fit::Unknown;
        };
        let failed: Option<&OutOfMemory> = row.simulation.out_of_memory.as_ref();
        if failed.is_some() || row.summary.out_of_memory {
            return Fit::OutOfMemory(failed.map(|failed| failed.step));
        }
        if row.stops_under_budget() {
            return Fit::StopsUnderBudget;
        }
        if let Some(refusals) = row.refusals {
            return Fit::Refuses(refusals.count);
        }
        if !self.has_capacity() || self.is_measured_lane(lane) {
            return Fit::Unknown;
        }
        let (capacity, peak) = (self.device_of(lane).memory(), row.summary.peak_reserved);
        if peak > capacity {
            let by = peak.saturating_sub(capacity);
            return Fit::Above { by, capacity };
        }
        let left = capacity.saturating_sub(peak);
        Fit::Yes { left, capacity }
    }

    /// The lane of a name: its title (`policy 2`, `pinned small`), a number of a policy, or the name of a pin or a recording
    /// alone.
    ///
    /// # Errors
    /// The titles there are, with commas between.
    pub fn lane_named(&self, name: &str) -> Result<usize, String> {
        let name = name.trim();
        let titles: Vec<String> = self.lanes.iter().map(|lane| self.lane_title(lane.id)).collect();
        let exact = titles.iter().position(|title| title == name);
        let own = || self.lanes.iter().position(|lane| lane.title.as_deref() == Some(name));
        let number = || {
            let number: u8 = name.parse().ok()?;
            let of_policy = |lane: &super::Lane| match lane.id {
                LaneId::Policy(policy) => policy.number() == number,
                _ => false,
            };
            self.lanes.iter().position(of_policy)
        };
        exact.or_else(own).or_else(number).ok_or_else(|| titles.join(", "))
    }

    /// The lanes of the options themselves: neither pinned nor measured.
    pub fn own_lanes(&self) -> impl Iterator<Item = &super::Lane> + Clone {
        self.simulated_lanes().filter(|lane| lane.pinned.is_none())
    }
}
