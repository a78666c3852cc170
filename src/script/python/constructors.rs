//! Classes with options as arguments, and the order of their arguments.

use highwater_options::{GROUPS, Group, find, nearest_of};

/// In the order of `NPURunConfig`.
pub(in super::super) const RUN_CONFIG_ARGUMENTS: &[&str] = &[
    "iterations_per_loop",
    "profiling_config",
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "distribute",
    "enable_data_pre_proc",
    "precision_mode",
    "enable_reduce_precision",
    "variable_format_optimize",
    "mix_compile_mode",
    "hcom_parallel",
    "graph_memory_max_size",
    "variable_memory_max_size",
    "dump_config",
    "stream_max_parallel_num",
    "is_tailing_optimization",
    "horovod_mode",
    "graph_run_mode",
    "op_debug_level",
    "enable_scope_fusion_passes",
    "enable_exception_dump",
    "op_select_implmode",
    "optypelist_for_implmode",
    "dynamic_input_config",
    "aoe_mode",
    "work_path",
    "buffer_optimize",
    "enable_small_channel",
    "fusion_switch_file",
    "enable_compress_weight",
    "compress_weight_conf",
    "op_compiler_cache_mode",
    "op_compiler_cache_dir",
    "debug_dir",
    "hcom_multi_mode",
    "dynamic_input",
    "dynamic_graph_execute_mode",
    "dynamic_inputs_shape_range",
    "train_distribute",
    "eval_distribute",
    "local_rank_id",
    "local_device_list",
    "session_device_id",
    "distribute_config",
    "modify_mixlist",
    "op_precision_mode",
    "device_type",
    "soc_config",
    "hccl_timeout",
    "op_wait_timeout",
    "op_execute_timeout",
    "HCCL_algorithm",
    "customize_dtypes",
    "op_debug_config",
    "memory_config",
    "experimental_config",
    "topo_sorting_mode",
    "aoe_config_file",
    "insert_op_file",
    "stream_sync_timeout",
    "event_sync_timeout",
    "external_weight",
    "deterministic",
    "frozen_variable",
    "variable_placement",
    "jit_compile",
    "precision_mode_v2",
    "ac_parallel_enable",
    "quant_dumpable",
    "input_fusion_size",
    "compile_dynamic_mode",
    "graph_max_parallel_model_num",
    "export_compile_stat",
    "aicore_num",
    "oo_constant_folding",
    "input_batch_cpy",
    "shape_generalization_mode",
    "all_tensor_not_empty",
    "auto_multistream_parallel_mode",
    "oo_level",
    "optimization_switch",
];

/// Arguments that only older releases of `NPURunConfig` take.
const OLDER_ARGUMENTS: &[&str] = &["auto_tune_mode", "enable_auto_mix_precision"];

/// Its arguments are the options without a group.
pub(in super::super) static RUN_CONFIG: Group = Group {
    key: "",
    class: "NPURunConfig",
    positional: RUN_CONFIG_ARGUMENTS,
    is_argument: false,
    called_field: None,
};

pub(super) fn find_class(name: &str) -> Option<&'static Group> {
    if name == RUN_CONFIG.class {
        return Some(&RUN_CONFIG);
    }
    GROUPS.iter().find(|group| group.class == name)
}

/// The `TypeError` that Python raises for an argument that a class does not take, as a sentence; `None` where it takes it.
pub(super) fn refusal(group: &Group, name: &str) -> Option<String> {
    let is_taken = group.positional.contains(&name)
        || (group.class == RUN_CONFIG.class && OLDER_ARGUMENTS.contains(&name))
        || (!group.key.is_empty() && find(&format!("{}.{name}", group.key)).is_some());
    if is_taken {
        return None;
    }
    let hint = match nearest_of(name, group.positional.iter().copied()) {
        Some(nearest) => format!("; did you mean {nearest}?"),
        None => String::new(),
    };
    Some(format!(
        "{} takes no argument {name}, so that Python raises a TypeError{hint}",
        group.class
    ))
}

/// The number of first arguments that are no options: `memory_optimize` has a program.
pub(super) fn n_others_in_front(group: &Group) -> usize {
    usize::from(group.class == "memory_optimize")
}
