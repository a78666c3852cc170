//! A comparison of a workload under every policy, as far as robustness needs it.

use std::sync::Arc;

use highwater::analysis::{LaneSet, LaneStrategies, Request};
use highwater::options::{Environment, Options};
use highwater::workload::{DeviceProfiles, RecordingRules, SchedulePlan, Workload};

/// Search nodes: a comparison here is about robustness, not about good plans.
const SEARCH_NODES: u64 = 200;

pub(super) fn request(workload: Workload, plan: SchedulePlan) -> Request {
    let profiles = DeviceProfiles::bundled().expect("the profiles are bundled");
    Request {
        workload: Arc::new(workload),
        plan,
        options: Options::default(),
        environment: Environment::default(),
        files: Arc::default(),
        device: profiles
            .find(DeviceProfiles::DEFAULT)
            .expect("the default profile is bundled"),
        policies: Vec::new(),
        strategies: LaneStrategies::default(),
        allocator_settings: Vec::new(),
        recording_rules: RecordingRules::default(),
        lanes: LaneSet::Policies,
        search: SEARCH_NODES.into(),
        pins: Vec::new(),
    }
}
