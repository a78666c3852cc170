//! One whole configuration: everything that a user can choose for a workload.
//!
//! In: options, environment, schedule. Out: the [`Request`] that simulates a workload so configured. The device, the
//! strategy, the policy and the passes are options, so that a configuration is what can be pinned, swept, recommended
//! and exported.

mod differences;

pub use differences::Difference;

use highwater_model::workload::{DeviceError, SchedulePlan};
use highwater_options::{Environment, Options, effective_policy, resolve_device};
use highwater_sim::StaticMemoryPolicy;

use super::{LaneSet, LaneStrategies, Request};

/// One whole configuration of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configuration {
    /// Overrides.
    pub options: Options,
    /// Environment variables.
    pub environment: Environment,
    /// Iterations and values of symbolic dimensions.
    pub plan: SchedulePlan,
}

impl Configuration {
    /// The policy in force.
    pub fn policy(&self) -> StaticMemoryPolicy {
        effective_policy(&self.options, &self.environment)
    }
}

impl Request {
    /// The configuration that this request asks about.
    pub fn configuration(&self) -> Configuration {
        Configuration {
            options: self.options.clone(),
            environment: self.environment.clone(),
            plan: self.plan.clone(),
        }
    }

    /// The same workload under one configuration, simulated under its own policy alone.
    ///
    /// # Errors
    /// [`DeviceError`]: the options name a device profile that is not known.
    pub fn configured(&self, configuration: &Configuration) -> Result<Self, DeviceError> {
        Ok(Self {
            workload: self.workload.clone(),
            plan: configuration.plan.clone(),
            device: resolve_device(&configuration.options)?,
            policies: vec![configuration.policy()],
            options: configuration.options.clone(),
            environment: configuration.environment.clone(),
            files: self.files.clone(),
            strategies: LaneStrategies::default(),
            lanes: LaneSet::Policies,
            search_nodes: self.search_nodes,
            pins: Vec::new(),
        })
    }
}
