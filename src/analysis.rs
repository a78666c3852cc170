//! Workload + Options -> Comparison: the whole pipeline as one pure call, with progress and cancel.
//!
//! In: a [`Request`]. Out: a [`Comparison`]: the same session simulated under every policy, on one step
//! axis. Deterministic: the same request gives an equal comparison.

use std::sync::Arc;

use crate::diagnostics::Diagnostics;
use crate::sim::fold::{Curves, Summary};
use crate::sim::{DeviceSession, Simulation, StaticMemoryPolicy};
use crate::units::Step;
use crate::workload::{Axis, Device, Workload};

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
    /// The first step whose reserved bytes differ from policy 0; `None` where none does.
    pub first_divergence: Option<Step>,
}

/// Which lane needs least, and why it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Best {
    /// The policy with the lowest peak that runs to its end.
    pub policy: StaticMemoryPolicy,
    /// A sentence with figures.
    pub why: String,
}

/// Every policy's simulation of one session.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What runs.
    pub workload: Arc<Workload>,
    /// The common step axis.
    pub axis: Axis,
    /// What the device has to hold.
    pub session: DeviceSession,
    /// The device.
    pub device: Device,
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
    /// Oddities of this comparison.
    pub diagnostics: Diagnostics,
}
