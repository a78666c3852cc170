//! One whole configuration: everything that a user can choose for a workload.
//!
//! Device, strategy, policy and passes are options, so a configuration is what can be pinned, swept, recommended and
//! exported.

mod differences;

pub use differences::Difference;

use highwater_model::workload::SchedulePlan;
use highwater_options::{Environment, Options, effective_policy};
use highwater_sim::StaticMemoryPolicy;

/// One whole configuration of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configuration {
    pub options: Options,
    pub environment: Environment,
    /// Iterations and values of symbolic dimensions.
    pub plan: SchedulePlan,
}

impl Configuration {
    /// The policy that options and environment combine to.
    pub fn policy(&self) -> StaticMemoryPolicy {
        effective_policy(&self.options, &self.environment)
    }
}
