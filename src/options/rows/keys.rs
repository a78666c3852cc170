//! The names of options that code needs, each once.

/// Which device.
pub const SESSION_DEVICE_ID: &str = "session_device_id";
/// Whether every graph is run op by op.
pub const COMPILE_DYNAMIC_MODE: &str = "compile_dynamic_mode";
/// Changes to the lists of mixed precision.
pub const MODIFY_MIXLIST: &str = "modify_mixlist";
/// Whether shapes of inputs vary.
pub const DYNAMIC_INPUT: &str = "dynamic_input";
/// The ranges of their shapes.
pub const DYNAMIC_INPUTS_SHAPE_RANGE: &str = "dynamic_inputs_shape_range";
/// The engine's own name for the atomic clean policy.
pub const GE_ATOMIC_CLEAN_POLICY: &str = "ge.exec.atomicCleanPolicy";
/// Whether static graphs do without reuse.
pub const GE_DISABLE_REUSE_MEMORY: &str = "ge.exec.disableReuseMemory";
/// Whether the caller holds inputs and outputs.
pub const GE_REUSE_ZERO_COPY_MEMORY: &str = "ge.exec.reuseZeroCopyMemory";
/// The threshold of page pools.
pub const GE_MEMORY_POOL_THRESHOLD: &str = "ge.experiment.memory_pool_threshold";
/// What a graph is run for.
pub const GRAPH_RUN_MODE: &str = "graph_run_mode";
/// Who clears outputs that must start as zeros.
pub const ATOMIC_CLEAN_POLICY: &str = "memory_config.atomic_clean_policy";
/// How graphs get device memory.
pub const STATIC_MEMORY_POLICY: &str = "memory_config.static_memory_policy";
/// Whether weights stand in files of their own.
pub const EXTERNAL_WEIGHT: &str = "external_weight";
/// Up to which size inputs are copied together.
pub const INPUT_FUSION_SIZE: &str = "input_fusion_size";
/// Whether ops may stay on the host.
pub const MIX_COMPILE_MODE: &str = "mix_compile_mode";
/// The older choice of numeric precision.
pub const PRECISION_MODE: &str = "precision_mode";
/// The newer choice of numeric precision.
pub const PRECISION_MODE_V2: &str = "precision_mode_v2";
/// Iterations per call.
pub const ITERATIONS_PER_LOOP: &str = "iterations_per_loop";
/// Where variables live.
pub const VARIABLE_PLACEMENT: &str = "variable_placement";
/// Concurrent instances of a graph.
pub const GRAPH_MAX_PARALLEL_MODEL_NUM: &str = "graph_max_parallel_model_num";
/// The device profile.
pub const DEVICE: &str = "simulation.device";
/// The device's memory.
pub const DEVICE_MEMORY: &str = "simulation.device_memory";
/// Pages of variables.
pub const VARIABLE_USE_1G_HUGE_PAGE: &str = "memory_config.variable_use_1g_huge_page";
/// Memory that others hold, by device id.
pub const OCCUPIED_MEMORY: &str = "simulation.occupied_memory";
/// Device buffers for gathered inputs.
pub const INPUT_STAGING_BUFFERS: &str = "simulation.input_staging_buffers";
/// Op types that mixed precision leaves alone.
pub const KEPT_OPS: &str = "simulation.kept_ops";
/// Op types that stay on the host under mixed computing.
pub const HOST_OPS: &str = "simulation.host_ops";
/// Shapes drawn from a range.
pub const SHAPE_SAMPLES: &str = "simulation.shape_samples";
