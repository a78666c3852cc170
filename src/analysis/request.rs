//! The question of a comparison: a workload, its configuration and the lanes to compare.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::configuration::Configuration;
use super::lane_set::{LaneSet, LaneStrategies};
use super::pin::Pin;
use super::plan_search::PlanSearch;
use super::what_if::AllocatorSetting;
use highwater_model::workload::{Device, DeviceError, RecordingRules, SchedulePlan, Workload};
use highwater_options::{Environment, Lowered, Options, SeenFiles, keys, lower, resolve_device};
use highwater_plan::Limits;
use highwater_sim::{POLICIES, StaticMemoryPolicy, VariablePages};

/// What to compare.
#[derive(Clone, Debug)]
pub struct Request {
    pub workload: Arc<Workload>,
    /// Iterations and values of symbolic dimensions.
    pub plan: SchedulePlan,
    /// Symbolic dimensions whose value in `plan` is an assumption: then nothing is recommended.
    pub assumed_dims: BTreeSet<String>,
    pub options: Options,
    pub environment: Environment,
    /// The files that options name, as last probed.
    pub files: Arc<SeenFiles>,
    pub device: Device,
    /// The policies to simulate; empty means all.
    pub policies: Vec<StaticMemoryPolicy>,
    /// Placement strategies of single lanes; other lanes take the one of the options.
    pub strategies: LaneStrategies,
    /// Allocator settings to simulate beside recordings: a lane each.
    pub allocator_settings: Vec<AllocatorSetting>,
    /// What lines of recorded call stacks are.
    pub recording_rules: RecordingRules,
    pub lanes: LaneSet,
    pub search: PlanSearch,
    /// Pinned configurations: a lane each behind the others.
    pub pins: Vec<Pin>,
}

impl Request {
    /// Every lane of a workload under a configuration, on its device; an unknown profile, which the rules report, acts as the
    /// default one. Files that options name count as missing.
    pub fn new(workload: impl Into<Arc<Workload>>, configuration: Configuration) -> Self {
        let Configuration {
            options,
            environment,
            plan,
        } = configuration;
        Self {
            workload: workload.into(),
            plan,
            assumed_dims: BTreeSet::new(),
            device: acting_device(&options),
            options,
            environment,
            files: Arc::default(),
            policies: Vec::new(),
            strategies: LaneStrategies::default(),
            allocator_settings: Vec::new(),
            recording_rules: RecordingRules::default(),
            lanes: LaneSet::Policies,
            search: Limits::DEFAULT_NODES.into(),
            pins: Vec::new(),
        }
    }

    /// The engine parameters of the options, and of a log's engine where they leave its version open.
    pub(super) fn lowered(&self) -> Lowered {
        let mut lowered = lower(&self.options, &self.environment, &self.device, &*self.files);
        if self.is_logged_without_pages() && lowered.params.variable_pages == VariablePages::OfPolicy {
            lowered.params.variable_pages = VariablePages::Exact;
        }
        lowered
    }

    /// Whether the engine of a log prints variables and no pages of them, as engines before 8.5 do, and the options name no
    /// version.
    pub(super) fn is_logged_without_pages(&self) -> bool {
        let processes = || self.workload.recordings().iter().filter_map(|one| one.process.as_ref());
        let variables = || processes().filter_map(|process| process.variables);
        !self.options.is_set(keys::ENGINE_VERSION)
            && variables().any(|variables| variables.logic.is_some())
            && variables().all(|variables| variables.pages.is_none())
    }

    /// The policies to simulate, ascending.
    pub(super) fn wanted_policies(&self) -> Vec<StaticMemoryPolicy> {
        let all = POLICIES.iter().map(|row| row.policy);
        all.filter(|policy| self.policies.is_empty() || self.policies.contains(policy))
            .collect()
    }

    pub fn configuration(&self) -> Configuration {
        Configuration {
            options: self.options.clone(),
            environment: self.environment.clone(),
            plan: self.plan.clone(),
        }
    }

    /// The workload under one configuration, simulated under its own policy alone.
    ///
    /// # Errors
    /// [`DeviceError`]: the options name an unknown device profile.
    pub fn configured(&self, configuration: &Configuration) -> Result<Self, DeviceError> {
        Ok(Self {
            device: resolve_device(&configuration.options)?,
            policies: vec![configuration.policy()],
            files: self.files.clone(),
            recording_rules: self.recording_rules.clone(),
            search: self.search.clone(),
            ..Self::new(self.workload.clone(), configuration.clone())
        })
    }
}

/// The device that options name, with the memory that they state.
pub fn acting_device(options: &Options) -> Device {
    resolve_device(options).unwrap_or_else(|_reported| {
        let mut options = options.clone();
        options.reset(keys::DEVICE);
        resolve_device(&options).expect("the default profile is bundled")
    })
}
