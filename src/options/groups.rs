//! Objects whose fields are options: `memory_config = MemoryConfig(static_memory_policy=2)`.
//!
//! A field of a group has the key `GROUP.FIELD`. Positional arguments of a constructor keep its order.

use super::rows::TABLE;

#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The first part of its keys; also the argument of `NPURunConfig` that takes the object, where there is one.
    pub key: &'static str,
    /// The class (or function) whose arguments the fields are.
    pub class: &'static str,
    /// In the order of the constructor.
    pub positional: &'static [&'static str],
    /// Whether an argument of `NPURunConfig` takes the object.
    pub is_argument: bool,
    /// The field whose default acts by the call alone, so that a call without arguments sets it; `None` where a call without
    /// arguments changes nothing.
    pub called_field: Option<&'static str>,
}

pub static GROUPS: &[Group] = &[
    Group {
        key: "memory_config",
        class: "MemoryConfig",
        positional: &[
            "atomic_clean_policy",
            "static_memory_policy",
            "memory_optimization_policy",
            "variable_use_1g_huge_page",
        ],
        is_argument: true,
        called_field: None,
    },
    Group {
        key: "dump_config",
        class: "DumpConfig",
        positional: &[
            "enable_dump",
            "dump_path",
            "dump_step",
            "dump_mode",
            "enable_dump_debug",
            "dump_debug_mode",
            "dump_data",
            "dump_layer",
        ],
        is_argument: true,
        called_field: None,
    },
    Group {
        key: "profiling_config",
        class: "ProfilingConfig",
        positional: &["enable_profiling", "profiling_options"],
        is_argument: true,
        called_field: None,
    },
    Group {
        key: "experimental_config",
        class: "ExperimentalConfig",
        positional: &[
            "logical_device_cluster_deploy_mode",
            "logical_device_id",
            "model_deploy_mode",
            "model_deploy_devicelist",
            "graph_memory_optimize_config",
            "enable_graph_parallel",
            "graph_parallel_option_path",
            "graph_compiler_cache_dir",
            "resource_config_path",
            "accelerate_train_mode",
        ],
        is_argument: true,
        called_field: None,
    },
    Group {
        key: "dynamic_input_config",
        class: "DynamicInputConfig",
        positional: &[
            "input_shape",
            "dynamic_dims",
            "dynamic_node_type",
            "compile_hybrid_mode",
        ],
        is_argument: true,
        called_field: None,
    },
    Group {
        key: "dtr",
        class: "DTRConfig",
        positional: &[
            "eviction_threshold",
            "evictee_minimum_size",
            "recomp_memory_factor",
            "recomp_time_factor",
        ],
        is_argument: false,
        called_field: Some("eviction_threshold"),
    },
    Group {
        key: "memory_optimize",
        class: "memory_optimize",
        // The first argument is the program, which is no option.
        positional: &["skip_opt_set", "print_log", "level", "skip_grads"],
        is_argument: false,
        called_field: Some("level"),
    },
];

/// The group of a key's first part.
pub fn find_group(key: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.key == key)
}

/// Whether this is the first part of some key: `memory_config`, `simulation`.
pub fn has_fields(name: &str) -> bool {
    TABLE.iter().any(|row| row.group().is_some_and(|group| group == name))
}
