//! The names of options that code needs, each once.

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
/// How static arenas are placed.
pub const PLACEMENT_STRATEGY: &str = "simulation.placement_strategy";
/// Device buffers for gathered inputs.
pub const INPUT_STAGING_BUFFERS: &str = "simulation.input_staging_buffers";
/// Op types that mixed precision leaves alone.
pub const KEPT_OPS: &str = "simulation.kept_ops";
/// Op types that stay on the host under mixed computing.
pub const HOST_OPS: &str = "simulation.host_ops";
/// Shapes drawn from a range.
pub const SHAPE_SAMPLES: &str = "simulation.shape_samples";
/// When graphs leave the device.
pub const UNLOAD_GRAPHS: &str = "simulation.unload_graphs";
/// What policy 2 does when its arena must grow.
pub const POLICY_2_BEHAVIOUR: &str = "simulation.policy_2_behaviour";
/// To a multiple of what tensors are rounded up.
pub const TENSOR_ROUNDING: &str = "simulation.tensor_rounding";
/// What puts measured runs on the steps of graphs.
pub const MEASURED_ALIGNMENT: &str = "simulation.measured_alignment";
/// Whether ops that read shapes alone keep tensors alive.
pub const SHAPES_KEEP_ALIVE: &str = "simulation.shapes_keep_alive";
/// Whether scratch memory is estimated where the source states none.
pub const WORKSPACE_ESTIMATE: &str = "simulation.workspace_estimate";
/// Scratch memory by op type.
pub const WORKSPACE_TABLE: &str = "simulation.workspace_table";
/// Time of a device malloc.
pub const MALLOC_NS: &str = "simulation.malloc_ns";
/// Time of a device free.
pub const FREE_NS: &str = "simulation.free_ns";
/// Time of mapping a page.
pub const MAP_NS: &str = "simulation.map_ns";
/// Time of unmapping a page.
pub const UNMAP_NS: &str = "simulation.unmap_ns";
/// Time of reserving or releasing a virtual range.
pub const RESERVE_NS: &str = "simulation.reserve_ns";
/// Time of a wait for a stream.
pub const SYNC_NS: &str = "simulation.sync_ns";
/// Time of launching an op.
pub const LAUNCH_NS: &str = "simulation.launch_ns";
/// Bandwidth of clearing device memory.
pub const MEMSET_BYTES_PER_SECOND: &str = "simulation.memset_bytes_per_second";
/// Bandwidth of loading weights again.
pub const RELOAD_BYTES_PER_SECOND: &str = "simulation.reload_bytes_per_second";
/// The device of the session.
pub const SESSION_DEVICE_ID: &str = "session_device_id";
/// The strategy of distributed training.
pub const DISTRIBUTE: &str = "distribute";
/// Whether AI CPU ops run beside AI Core ops.
pub const AC_PARALLEL_ENABLE: &str = "ac_parallel_enable";
/// Whether all shapes become dynamic.
pub const COMPILE_DYNAMIC_MODE: &str = "compile_dynamic_mode";
/// What is dumped where an operator fails.
pub const ENABLE_EXCEPTION_DUMP: &str = "enable_exception_dump";
/// The file of operator debugging.
pub const OP_DEBUG_CONFIG: &str = "op_debug_config";
/// Where debug files go.
pub const DEBUG_DIR: &str = "debug_dir";
/// When results of fusion are written.
pub const EXPORT_COMPILE_STAT: &str = "export_compile_stat";
/// Dumps of operator data.
pub const DUMP_CONFIG: &str = "dump_config";
/// Whether operator data are dumped.
pub const ENABLE_DUMP: &str = "dump_config.enable_dump";
/// Where dumps go.
pub const DUMP_PATH: &str = "dump_config.dump_path";
/// Which steps are dumped.
pub const DUMP_STEP: &str = "dump_config.dump_step";
/// Whether inputs or outputs are dumped.
pub const DUMP_MODE: &str = "dump_config.dump_mode";
/// Whether overflows are looked for.
pub const ENABLE_DUMP_DEBUG: &str = "dump_config.enable_dump_debug";
/// Which overflows are looked for.
pub const DUMP_DEBUG_MODE: &str = "dump_config.dump_debug_mode";
/// Whether values or statistics are dumped.
pub const DUMP_DATA: &str = "dump_config.dump_data";
/// Whether data before quantization can be dumped.
pub const QUANT_DUMPABLE: &str = "quant_dumpable";
/// The file of fusion switches.
pub const FUSION_SWITCH_FILE: &str = "fusion_switch_file";
/// Whether buffers are optimized.
pub const BUFFER_OPTIMIZE: &str = "buffer_optimize";
/// The file of mixed precision lists.
pub const MODIFY_MIXLIST: &str = "modify_mixlist";
/// An option without support.
pub const ENABLE_REDUCE_PRECISION: &str = "enable_reduce_precision";
/// The file of data types of single operators.
pub const CUSTOMIZE_DTYPES: &str = "customize_dtypes";
/// The file of operator precision modes.
pub const OP_PRECISION_MODE: &str = "op_precision_mode";
/// How many tasks engines run at a time.
pub const STREAM_MAX_PARALLEL_NUM: &str = "stream_max_parallel_num";
/// Whether the last gradients are sent beside computing.
pub const IS_TAILING_OPTIMIZATION: &str = "is_tailing_optimization";
/// Whether small channels are optimized.
pub const ENABLE_SMALL_CHANNEL: &str = "enable_small_channel";
/// What AOE tunes.
pub const AOE_MODE: &str = "aoe_mode";
/// Where AOE works.
pub const WORK_PATH: &str = "work_path";
/// The file of operators that AOE tunes.
pub const AOE_CONFIG_FILE: &str = "aoe_config_file";
/// How the cache of compiled operators is used.
pub const OP_COMPILER_CACHE_MODE: &str = "op_compiler_cache_mode";
/// Where the cache of compiled operators is.
pub const OP_COMPILER_CACHE_DIR: &str = "op_compiler_cache_dir";
/// The rank of the process on its server.
pub const LOCAL_RANK_ID: &str = "local_rank_id";
/// Devices that the main process feeds.
pub const LOCAL_DEVICE_LIST: &str = "local_device_list";
/// How long collective communication may take.
pub const HCCL_TIMEOUT: &str = "hccl_timeout";
/// How long the wait for a stream may take.
pub const STREAM_SYNC_TIMEOUT: &str = "stream_sync_timeout";
/// Whether operators are compiled online.
pub const JIT_COMPILE: &str = "jit_compile";
/// Experimental options.
pub const EXPERIMENTAL_CONFIG: &str = "experimental_config";
/// Recomputation and slicing.
pub const GRAPH_MEMORY_OPTIMIZE_CONFIG: &str = "experimental_config.graph_memory_optimize_config";
/// Whether inputs are fetched on the device.
pub const ENABLE_DATA_PRE_PROC: &str = "enable_data_pre_proc";
/// Whether variables are kept in the device's format.
pub const VARIABLE_FORMAT_OPTIMIZE: &str = "variable_format_optimize";
/// The older choice of operator debugging.
pub const OP_DEBUG_LEVEL: &str = "op_debug_level";
/// The older choice between precision and speed.
pub const OP_SELECT_IMPLMODE: &str = "op_select_implmode";
/// Op types of that choice.
pub const OPTYPELIST_FOR_IMPLMODE: &str = "optypelist_for_implmode";
/// Whether inputs are dynamic.
pub const DYNAMIC_INPUT: &str = "dynamic_input";
/// How dynamic inputs are run.
pub const DYNAMIC_GRAPH_EXECUTE_MODE: &str = "dynamic_graph_execute_mode";
/// Shape ranges of dynamic inputs.
pub const DYNAMIC_INPUTS_SHAPE_RANGE: &str = "dynamic_inputs_shape_range";
/// A size without effect.
pub const GRAPH_MEMORY_MAX_SIZE: &str = "graph_memory_max_size";
/// A size without effect.
pub const VARIABLE_MEMORY_MAX_SIZE: &str = "variable_memory_max_size";
/// Steps between checkpoints.
pub const SAVE_CHECKPOINTS_STEPS: &str = "save_checkpoints_steps";
/// Seconds between checkpoints.
pub const SAVE_CHECKPOINTS_SECS: &str = "save_checkpoints_secs";
/// Whether Horovod drives training.
pub const HOROVOD_MODE: &str = "horovod_mode";
/// Input shapes in steps.
pub const DYNAMIC_INPUT_CONFIG: &str = "dynamic_input_config";
/// Shapes with dimensions that vary.
pub const INPUT_SHAPE: &str = "dynamic_input_config.input_shape";
/// Values of dimensions that vary.
pub const DYNAMIC_DIMS: &str = "dynamic_input_config.dynamic_dims";
/// Which inputs vary.
pub const DYNAMIC_NODE_TYPE: &str = "dynamic_input_config.dynamic_node_type";
/// Whether both kinds of graphs are compiled.
pub const COMPILE_HYBRID_MODE: &str = "dynamic_input_config.compile_hybrid_mode";
/// Whether all weights are compressed.
pub const ENABLE_COMPRESS_WEIGHT: &str = "enable_compress_weight";
/// The file of weights to compress.
pub const COMPRESS_WEIGHT_CONF: &str = "compress_weight_conf";
/// AI cores to use.
pub const AICORE_NUM: &str = "aicore_num";
/// How streams are split.
pub const AUTO_MULTISTREAM_PARALLEL_MODE: &str = "auto_multistream_parallel_mode";
/// The engine's own memory policy.
pub const ENGINE_STATIC_MEMORY_POLICY: &str = "ge.exec.staticMemoryPolicy";
/// The engine's own choice of who clears outputs.
pub const ENGINE_ATOMIC_CLEAN_POLICY: &str = "ge.exec.atomicCleanPolicy";
/// Whether static graphs do without reuse.
pub const ENGINE_DISABLE_REUSE_MEMORY: &str = "ge.exec.disableReuseMemory";
/// Whether the caller holds inputs and outputs.
pub const ENGINE_REUSE_ZERO_COPY_MEMORY: &str = "ge.exec.reuseZeroCopyMemory";
/// The threshold of page pools.
pub const ENGINE_MEMORY_POOL_THRESHOLD: &str = "ge.experiment.memory_pool_threshold";
/// The engine's directory of weights.
pub const ENGINE_EXTERNAL_WEIGHT_DIR: &str = "ge.externalWeightDir";
/// Bytes from which on tensors are evicted.
pub const DTR_EVICTION_THRESHOLD: &str = "dtr.eviction_threshold";
/// Bytes of the smallest tensor that is evicted.
pub const DTR_EVICTEE_MINIMUM_SIZE: &str = "dtr.evictee_minimum_size";
/// Weight of memory in the choice.
pub const DTR_RECOMP_MEMORY_FACTOR: &str = "dtr.recomp_memory_factor";
/// Weight of time in the choice.
pub const DTR_RECOMP_TIME_FACTOR: &str = "dtr.recomp_time_factor";
/// Variables left alone.
pub const SKIP_OPT_SET: &str = "memory_optimize.skip_opt_set";
/// Whether reuse is printed.
pub const PRINT_LOG: &str = "memory_optimize.print_log";
/// How far reuse goes.
pub const MEMORY_OPTIMIZE_LEVEL: &str = "memory_optimize.level";
/// Whether gradients are left alone.
pub const SKIP_GRADS: &str = "memory_optimize.skip_grads";
/// The bytes from which on tensors are evicted.
pub const EVICTION_THRESHOLD: &str = "dtr.eviction_threshold";
/// The bytes below which a tensor is never evicted.
pub const EVICTEE_MINIMUM_SIZE: &str = "dtr.evictee_minimum_size";
/// The exponent of the memory of computing anew.
pub const RECOMP_MEMORY_FACTOR: &str = "dtr.recomp_memory_factor";
/// The exponent of the time of computing anew.
pub const RECOMP_TIME_FACTOR: &str = "dtr.recomp_time_factor";
/// What is evicted.
pub const REMAT_HEURISTIC: &str = "simulation.remat_heuristic";
/// When a run counts as thrashing.
pub const THRASH_LIMIT: &str = "simulation.thrash_limit";
/// Free bytes beside a tensor.
pub const FREE_NEIGHBORS: &str = "simulation.free_neighbors";
/// The seed of the heuristic that draws.
pub const REMAT_SEED: &str = "simulation.remat_seed";
/// The rate of floating point operations.
pub const FLOPS_PER_SECOND: &str = "simulation.flops_per_second";
/// The bandwidth of ops.
pub const OP_BYTES_PER_SECOND: &str = "simulation.op_bytes_per_second";
/// What every op takes besides its operations and bytes.
pub const OP_LAUNCH_NS: &str = "simulation.op_launch_ns";
/// The version of the pass that reuses names.
pub const NAME_REUSE_VERSION: &str = "simulation.memory_optimize_version";
