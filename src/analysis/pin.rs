//! Pinned configurations: a configuration kept under a name, its lane's settings, and why it may have no lane.

use std::sync::Arc;

use super::configuration::Configuration;
use super::lane_set::LaneId;
use super::workspaces::ScratchSource;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::Bytes;
use highwater_model::workload::{Axis, Device, SchedulePlan};
use highwater_options::{Estimate, Finding};
use highwater_rewrite::remat::OpRates;
use highwater_sim::{DeviceSession, Params};

/// Most pins that have lanes.
pub const MAX_PINS: usize = 16;

/// A configuration that is kept under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    pub name: String,
    pub configuration: Configuration,
    /// Whether it has no schedule and takes the current one of the settings.
    pub follows_schedule: bool,
}

/// Most characters of a pin's name.
const LONGEST_NAME: usize = 200;

impl Pin {
    pub const fn new(name: String, configuration: Configuration) -> Self {
        Self {
            name,
            configuration,
            follows_schedule: false,
        }
    }

    /// The pin with this schedule, where it follows the settings.
    #[must_use]
    pub fn with_schedule(&self, plan: &SchedulePlan) -> Self {
        let mut pin = self.clone();
        if pin.follows_schedule {
            pin.configuration.plan.clone_from(plan);
        }
        pin
    }

    /// The name without surrounding blanks, if a pin may have it next to `others`.
    ///
    /// # Errors
    /// A clause: the name is empty, too long, not one line, or taken.
    pub fn checked_name<'a>(name: &'a str, mut others: impl Iterator<Item = &'a str>) -> Result<&'a str, String> {
        let name = name.trim();
        if name.is_empty() {
            return Err("a pin needs a name, e.g. \"policy 4, batch 16\"".to_owned());
        }
        if name.chars().any(char::is_control) {
            return Err("the name of a pin is one line without control characters".to_owned());
        }
        let length = name.chars().count();
        if length > LONGEST_NAME {
            return Err(format!(
                "the name of a pin has {length} letters; the limit is {LONGEST_NAME}"
            ));
        }
        if others.any(|other| other == name) {
            return Err(format!(
                "a pin \"{name}\" exists already; choose another name or remove that pin"
            ));
        }
        Ok(name)
    }

    /// The name, with a number appended where it is taken.
    pub fn free_name<'a>(name: &str, others: &(impl Iterator<Item = &'a str> + Clone)) -> String {
        let numbered = |number: u32| match number {
            1 => name.to_owned(),
            number => format!("{name} ({number})"),
        };
        let mut free = (1..)
            .map(numbered)
            .filter(|name| others.clone().all(|other| other != name));
        free.next().unwrap_or_default()
    }
}

/// Why a pin has no lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinFailure {
    /// Position of the pin.
    pub position: usize,
    pub name: String,
    /// A clause.
    pub why: String,
}

/// The settings that a pinned lane was simulated with, and its alignment to the common axis.
#[derive(Clone, Debug, PartialEq)]
pub struct PinnedLane {
    pub configuration: Configuration,
    /// The device, with the memory that the pin gives it and other processes leave.
    pub device: Device,
    /// Memory that other processes hold on it.
    pub occupied: Bytes,
    pub params: Params,
    pub rates: OpRates,
    /// Whether its figures are lower bounds.
    pub lower_bound: bool,
    pub scratch: ScratchSource,
    /// Settings whose effect is an estimate.
    pub estimates: Vec<Estimate>,
    /// Findings of the rules about its settings.
    pub findings: Vec<Finding>,
    /// Diagnostics of the comparison of the pin alone.
    pub diagnostics: Diagnostics,
    /// The axis of that comparison, with its values of dimensions.
    pub axis: Axis,
    /// By position of its session's runs: the run of `axis`; `None` for a run of the common axis that it lacks.
    pub runs: Vec<Option<u32>>,
    pub fit: PinFit,
    /// The session on its own steps, which its plans place; `None` where the lane's own session has these.
    pub(super) own_session: Option<Arc<DeviceSession>>,
}

/// How the runs and steps of a pinned lane align with the common axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PinFit {
    /// Runs of the pin.
    pub n_runs: u32,
    /// Runs that are aligned with a run of the common axis.
    pub n_placed: u32,
    /// Aligned runs whose dimensions have other values on the common axis.
    pub n_other_values: u32,
    /// Runs of the common axis during which the lane waits.
    pub n_waiting: u32,
    /// Whether several of its steps share one.
    pub shares_steps: bool,
}

impl PinFit {
    /// Sentences about it; empty where its steps are those of the common axis.
    pub fn sentences(&self) -> Vec<String> {
        let mut texts = Vec::new();
        let n_left = self.n_runs - self.n_placed;
        if n_left > 0 {
            texts.push(format!(
                "The schedule differs: {} of {} runs match{} runs of the axis; events of the other{} share steps.",
                self.n_placed,
                self.n_runs,
                if self.n_placed == 1 { "es" } else { "" },
                if n_left == 1 { "" } else { "s" },
            ));
        } else if self.shares_steps {
            texts.push("Recomputed ops without a step on the axis share the step of the next op.".to_owned());
        }
        if self.n_waiting > 0 {
            texts.push(match self.n_waiting {
                1 => "One run of the axis is missing in its schedule.".to_owned(),
                count => format!("{count} runs of the axis are missing in its schedule."),
            });
        }
        if self.n_other_values > 0 {
            texts.push(match (self.n_other_values, self.n_runs) {
                (_, 1) => "Dimensions have other values than the axis shows.".to_owned(),
                (1, _) => "In one run, dimensions have other values than the axis shows.".to_owned(),
                (count, _) => format!("In {count} runs, dimensions have other values than the axis shows."),
            });
        }
        texts
    }
}

/// The lane of a pin, by its position.
pub(super) fn lane_id(position: usize) -> LaneId {
    LaneId::Pinned(u8::try_from(position).unwrap_or(u8::MAX))
}
