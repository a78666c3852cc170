//! Options become engine parameters: the only place that knows both. Invalid values act as their defaults, or clamped
//! where the vendor clamps, so lowering never fails; [`super::check`] reports them.

mod device;
mod passes;
mod precision;

pub use device::{figure_option, resolve_device, sets_a_figure};
pub use passes::{idle_dtr_options, name_reuse};

use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Alignment, Device};
use highwater_plan::{NO_REUSE, Strategy, default_strategy, find};
use highwater_rewrite::name_reuse::NameReuseRequest;
use highwater_rewrite::remat::{OpRates, RematRequest};
use highwater_rewrite::{OpTypes, Precision, PrecisionMode, WorkspaceTable};
use highwater_sim::{ArenaBehaviour, Params, StaticMemoryPolicy, VariablePages};

use super::effective::{effective_device_id, has_shape_range};
use super::environment::Environment;
use super::files::Files;
use super::occupied::occupied_memory;
use super::policy::{clears_separately, effective_policy, has_policy, is_policy_unknown, policy_conditions};
use super::rows::{BEFORE_PAGES, DEFAULT_WORKSPACES, ON, SHAPES_RELEASE, UNLOAD_AFTER_RUN, keys};
use super::shape_range::ShapeRanges;
use super::store::{Condition, Options};

/// Variables of a loop on the device: iterations per loop, the counter, a zero and a one.
const LOOP_VARIABLES: u32 = 4;

/// The engine's parameters.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, each of one option")]
pub struct Lowered {
    /// Sizes and costs of the simulation.
    pub params: Params,
    /// The effective policy.
    pub policy: StaticMemoryPolicy,
    /// Whether a script computes the policy.
    pub is_policy_unknown: bool,
    /// The conditions of a script under which the policy was set.
    pub policy_conditions: Vec<Condition>,
    /// Whether GE runs under these settings, so that a policy is in force.
    pub has_policy: bool,
    /// Whether each op clears its own outputs, so that these live and share memory like others. Otherwise outputs that
    /// are cleared together are kept apart for the whole graph.
    pub atomic_clean_separate: bool,
    /// Whether every graph allocates op by op, static shapes included.
    pub all_dynamic: bool,
    /// Whether training graphs run only their forward part.
    pub inference: bool,
    /// Whether ops that read a shape alone keep the tensor alive.
    pub shapes_keep_alive: bool,
    /// Sizes of feature memory are rounded up to a multiple of this; `None` applies the engine's rule.
    pub tensor_rounding: Option<Bytes>,
    /// How events of measured runs are aligned to the steps of graphs.
    pub alignment: Alignment,
    /// Part of the name of the annotation at which separate recordings begin together; empty for none.
    pub annotation: String,
    /// The changes of tensor widths.
    pub precision: Precision,
    /// Op types that run on the host; `None` where every op runs on the device.
    pub host_ops: Option<OpTypes>,
    /// Scratch memory by op type, for ops whose source states none; `None` where it is not estimated.
    pub workspaces: Option<WorkspaceTable>,
    /// Ranges of input shapes, from which symbolic dimensions take values; `None` where shapes are fixed.
    pub shape_ranges: Option<ShapeRanges>,
    /// The number of values that a dimension takes from its range.
    pub shape_samples: u32,
    /// The strategy that places static arenas.
    pub strategy: &'static Strategy,
    /// Whether the engine's option against reuse made that choice, so that no lane may have another.
    pub no_reuse: bool,
    /// The run of graphs under a memory budget, which is the eviction threshold; `None` where that is unset.
    pub dtr: RematRequest,
    /// The parameters of name reuse.
    pub name_reuse: NameReuseRequest,
    /// Whether names are reused: some option of the pass is set.
    pub reuses_names: bool,
    /// The rates that estimate the time of ops.
    pub rates: OpRates,
    pub device_id: u32,
    /// Memory that other processes hold on the device; `params.device_bytes` is the rest.
    pub occupied: Bytes,
    /// Settings of the user whose effect is an estimate.
    pub estimates: Vec<Estimate>,
}

/// An effect of an option that no public source confirms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    pub key: &'static str,
    /// The effect, as a phrase behind the name.
    pub effect: &'static str,
}

pub static ESTIMATES: &[Estimate] = &[
    estimate(keys::PRECISION_MODE, "changes widths by op class"),
    estimate(keys::PRECISION_MODE_V2, "changes widths by op class"),
    estimate(keys::MODIFY_MIXLIST, "changes the assumed list of kept ops"),
    estimate(
        keys::CUSTOMIZE_DTYPES,
        "takes the widths of the named ops from the file",
    ),
    estimate(
        keys::KEPT_OPS,
        "approximates the compiler's list of ops excluded from mixed precision",
    ),
    estimate(
        keys::MIX_COMPILE_MODE,
        "leaves the ops of simulation.host_ops on the host",
    ),
    estimate(
        keys::HOST_OPS,
        "approximates the compiler's choice of ops that stay on the host",
    ),
    estimate(keys::INPUT_FUSION_SIZE, "gathers small inputs in one buffer per graph"),
    estimate(
        keys::INPUT_STAGING_BUFFERS,
        "approximates the runtime's number of buffers",
    ),
    estimate(keys::DYNAMIC_INPUT, "samples a few shapes of the range"),
    estimate(keys::DYNAMIC_INPUTS_SHAPE_RANGE, "samples a few shapes of the range"),
    estimate(keys::SHAPE_SAMPLES, "approximates the shapes that occur"),
    estimate(
        keys::WORKSPACE_ESTIMATE,
        "estimates scratch memory by op type where the source states none",
    ),
    estimate(
        keys::WORKSPACE_TABLE,
        "approximates the scratch memory of the real kernels",
    ),
    estimate(keys::TENSOR_ROUNDING, "approximates the rounding of the real allocator"),
    estimate(keys::MALLOC_NS, "approximates the time of a device malloc"),
    estimate(keys::FREE_NS, "approximates the time of a device free"),
    estimate(keys::MAP_NS, "approximates the time of mapping a page"),
    estimate(keys::UNMAP_NS, "approximates the time of unmapping a page"),
    estimate(
        keys::RESERVE_NS,
        "approximates the time of reserving or releasing a virtual range",
    ),
    estimate(keys::SYNC_NS, "approximates the time of a wait for a stream"),
    estimate(keys::LAUNCH_NS, "approximates the time of a launch"),
    estimate(
        keys::MEMSET_BYTES_PER_SECOND,
        "approximates the bandwidth of clearing device memory",
    ),
    estimate(
        keys::RELOAD_BYTES_PER_SECOND,
        "approximates the bandwidth of loading graphs again",
    ),
    estimate(
        keys::FLOPS_PER_SECOND,
        "approximates the rate at which ops are recomputed",
    ),
    estimate(
        keys::OP_BYTES_PER_SECOND,
        "approximates the bandwidth at which ops are recomputed",
    ),
    estimate(
        keys::OP_LAUNCH_NS,
        "adds a fixed time to ops whose time the source does not state",
    ),
];

const fn estimate(key: &'static str, effect: &'static str) -> Estimate {
    Estimate { key, effect }
}

/// The engine's parameters under these settings on this device. `simulation.device_memory` replaces the device's size.
pub fn lower(options: &Options, environment: &Environment, device: &Device, files: &dyn Files) -> Lowered {
    let device_id = effective_device_id(options, environment);
    let occupied = occupied_memory(&options.text(keys::OCCUPIED_MEMORY)).unwrap_or_default();
    let occupied = occupied.get(&device_id).copied().unwrap_or(Bytes::ZERO);
    let mut lowered = Lowered {
        params: params(options, device, occupied),
        policy: effective_policy(options, environment),
        is_policy_unknown: is_policy_unknown(options),
        policy_conditions: policy_conditions(options, environment),
        has_policy: has_policy(options, environment),
        atomic_clean_separate: clears_separately(options),
        all_dynamic: options.is_on(keys::COMPILE_DYNAMIC_MODE),
        inference: options.acting(keys::GRAPH_RUN_MODE).as_int() == Some(0),
        shapes_keep_alive: options.text(keys::SHAPES_KEEP_ALIVE) != SHAPES_RELEASE,
        tensor_rounding: options.bytes(keys::TENSOR_ROUNDING),
        alignment: Alignment::find(&options.text(keys::MEASURED_ALIGNMENT)).unwrap_or_default(),
        annotation: options.text(keys::MEASURED_ANNOTATION).trim().to_owned(),
        precision: precision::precision(options, files),
        host_ops: options
            .is_on(keys::MIX_COMPILE_MODE)
            .then(|| OpTypes::parse(&options.text(keys::HOST_OPS))),
        workspaces: workspaces(options),
        shape_ranges: shape_ranges(options),
        shape_samples: options.number(keys::SHAPE_SAMPLES).unwrap_or(1),
        strategy: strategy(options),
        no_reuse: is_reuse_off(options),
        dtr: passes::dtr(options),
        name_reuse: passes::name_reuse(options),
        reuses_names: passes::reuses_names(options),
        rates: passes::rates(options, device),
        device_id,
        occupied,
        estimates: Vec::new(),
    };
    lowered.estimates = ESTIMATES
        .iter()
        .filter(|row| options.is_set(row.key) && acts(row.key, &lowered, options))
        .copied()
        .collect();
    lowered
}

/// The strategy that places static arenas: without reuse where the engine's option says so.
fn strategy(options: &Options) -> &'static Strategy {
    if is_reuse_off(options) {
        return find(NO_REUSE).unwrap_or_else(|_listed| default_strategy());
    }
    let name = options.text(keys::PLACEMENT_STRATEGY);
    find(&name).unwrap_or_else(|_reported| default_strategy())
}

fn is_reuse_off(options: &Options) -> bool {
    options.text(keys::ENGINE_DISABLE_REUSE_MEMORY) == "1"
}

fn params(options: &Options, device: &Device, occupied: Bytes) -> Params {
    let mut params = Params::for_device(device);
    if let Some(bytes) = options.bytes(keys::DEVICE_MEMORY) {
        params.device_bytes = bytes;
    }
    params.device_bytes = params.device_bytes.saturating_sub(occupied).max(Bytes(1));
    let copies: Option<u32> = options.number(keys::GRAPH_MAX_PARALLEL_MODEL_NUM);
    params.feature_copies = copies.unwrap_or(1).max(1);
    params.share_weights = options.is_on(keys::EXTERNAL_WEIGHT);
    params.variables_on_host = options.text(keys::VARIABLE_PLACEMENT) == "Host";
    params.variable_pages = match options.acting(keys::VARIABLE_USE_1G_HUGE_PAGE).as_int() {
        Some(1) => VariablePages::Huge,
        Some(2) => VariablePages::HugeFirst,
        _ if options.text(keys::ENGINE_VERSION) == BEFORE_PAGES => VariablePages::Exact,
        _ => VariablePages::OfPolicy,
    };
    let iterations = options.acting(keys::ITERATIONS_PER_LOOP).as_int().unwrap_or(1);
    params.loop_variables = if iterations > 1 { LOOP_VARIABLES } else { 0 };
    if let Some(bytes) = options.bytes(keys::INPUT_FUSION_SIZE) {
        params.input_fusion_size = bytes;
    }
    if let Some(buffers) = options.number(keys::INPUT_STAGING_BUFFERS) {
        params.staging_buffers = buffers;
    }
    params.io_by_caller = options.text(keys::ENGINE_REUSE_ZERO_COPY_MEMORY) == "1";
    let gib = options.number(keys::ENGINE_MEMORY_POOL_THRESHOLD);
    params.pool_threshold = gib.and_then(|gib: u64| gib.checked_mul(Bytes::gib(1).get())).map(Bytes);
    params.unloads_after_run = options.text(keys::UNLOAD_GRAPHS) == UNLOAD_AFTER_RUN;
    if options.text(keys::POLICY_2_BEHAVIOUR) == ArenaBehaviour::Documented.name() {
        params.arena_behaviour = ArenaBehaviour::Documented;
    }
    set_costs(&mut params, options);
    params
}

/// Applies the costs that replace those of the profile.
fn set_costs(params: &mut Params, options: &Options) {
    let costs = [
        (keys::MALLOC_NS, &mut params.malloc_cost),
        (keys::FREE_NS, &mut params.free_cost),
        (keys::MAP_NS, &mut params.map_cost),
        (keys::UNMAP_NS, &mut params.unmap_cost),
        (keys::RESERVE_NS, &mut params.reserve_cost),
        (keys::SYNC_NS, &mut params.sync_cost),
        (keys::LAUNCH_NS, &mut params.launch_cost),
    ];
    for (key, cost) in costs {
        *cost = options.number(key).map_or(*cost, Nanos);
    }
    let bandwidths = [
        (keys::MEMSET_BYTES_PER_SECOND, &mut params.memset_bytes_per_second),
        (keys::RELOAD_BYTES_PER_SECOND, &mut params.reload_bytes_per_second),
    ];
    for (key, bandwidth) in bandwidths {
        *bandwidth = options.number(key).unwrap_or(*bandwidth).max(1);
    }
}

/// A table that cannot be read acts as the default one.
fn workspaces(options: &Options) -> Option<WorkspaceTable> {
    if options.text(keys::WORKSPACE_ESTIMATE) != ON {
        return None;
    }
    let given = WorkspaceTable::parse(&options.text(keys::WORKSPACE_TABLE)).ok();
    given.or_else(|| WorkspaceTable::parse(DEFAULT_WORKSPACES).ok())
}

fn shape_ranges(options: &Options) -> Option<ShapeRanges> {
    if !has_shape_range(options) {
        return None;
    }
    ShapeRanges::parse(options.acting(keys::DYNAMIC_INPUTS_SHAPE_RANGE).as_text()?).ok()
}

/// Whether an estimate has an effect under these settings.
fn acts(key: &str, lowered: &Lowered, options: &Options) -> bool {
    let is_newer_set = !options.text(keys::PRECISION_MODE_V2).is_empty();
    let params = &lowered.params;
    match key {
        // A setting of the user is no estimate.
        key if sets_a_figure(key) => false,
        keys::PRECISION_MODE => lowered.precision.mode != PrecisionMode::Keep && !is_newer_set,
        keys::PRECISION_MODE_V2 => lowered.precision.mode != PrecisionMode::Keep && is_newer_set,
        keys::CUSTOMIZE_DTYPES => !lowered.precision.customized.is_empty(),
        keys::MODIFY_MIXLIST | keys::KEPT_OPS => lowered.precision.mode.is_mixed(),
        keys::MIX_COMPILE_MODE | keys::HOST_OPS => lowered.host_ops.is_some(),
        keys::WORKSPACE_ESTIMATE | keys::WORKSPACE_TABLE => lowered.workspaces.is_some(),
        keys::INPUT_FUSION_SIZE => params.staging_buffers > 0,
        keys::INPUT_STAGING_BUFFERS => params.input_fusion_size > Bytes::ZERO,
        keys::OP_LAUNCH_NS => lowered.rates.launch > Nanos(0),
        keys::DYNAMIC_INPUT | keys::DYNAMIC_INPUTS_SHAPE_RANGE | keys::SHAPE_SAMPLES => lowered.shape_ranges.is_some(),
        _ => true,
    }
}
