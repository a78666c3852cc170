//! Settings, declared once: the table of options, the rules across them, the environment, and how they become engine
//! parameters.
//!
//! One option is one [`OptionRow`] in `rows/`; one rule is one [`Check`] in `checks/`. Parsing, range checks, widgets,
//! help texts and file formats read the tables. [`Options`] are overrides only. A value of the wrong type or out of
//! range is kept, reported by [`check`], and acts as its default. Files that options name are seen through [`Files`]
//! and read in `config_files/`.

mod acts;
mod checks;
mod config_files;
mod dumped_options;
mod effective;
mod engine_names;
pub mod environment;
mod files;
mod finding;
mod framework;
mod groups;
mod kind;
mod lower;
mod occupied;
mod paths;
mod policy;
mod policy_choices;
mod row;
mod rows;
mod section;
mod shape_range;
mod store;
mod suggest;
mod value;

pub use acts::{Acts, OptionSubject};
pub use checks::{CHECKS, Check, Facts, Outcome, Report, allocator_findings, check, check_scheduled, policy_errors};
pub use config_files::{
    AoeConfig, CustomDtypes, FileError, FusionSwitches, MixList, OpCache, OpDebugConfig, OpPrecisionModes, aoe_config,
    custom_dtypes, fusion_switches, mix_list, op_cache, op_debug_config, op_precision_modes, problems_of,
};
pub use dumped_options::{DumpedSettings, dumped_settings};
pub use effective::{EFFECTIVE_POLICY, effective_device_id, effective_values};
pub use engine_names::{EngineName, engine_name, engine_names};
pub use environment::{
    AOE_MODE, ASCEND_CACHE_PATH, ASCEND_DEVICE_ID, ASCEND_MAX_OP_CACHE_SIZE, ASCEND_REMAIN_CACHE_SIZE_RATIO,
    ASCEND_WORK_PATH, CM_WORKER_SIZE, DEVICE_ID, ENVIRONMENT, Environment, EnvironmentRow, GE_USE_STATIC_MEMORY,
    HCCL_EXEC_TIMEOUT, NPU_COLLECT_PATH, PYTORCH_ALLOC_CONF, PYTORCH_CUDA_ALLOC_CONF, PYTORCH_HIP_ALLOC_CONF,
    PYTORCH_NPU_ALLOC_CONF, RANK_SIZE, TF_CONFIG,
};
pub use files::{FileState, Files, NoFiles, SeenFiles};
pub use finding::{Edit, Finding, Fix};
pub use framework::{ChosenFramework, DefaultOrigin, FRAMEWORKS, Framework, FrameworkRow, OptionDefault};
pub use groups::{GROUPS, Group, find_group, has_fields};
pub use kind::{Choice, OptionKind, PathKind};
pub use lower::{
    ESTIMATES, Estimate, Lowered, figure_option, idle_dtr_options, lower, name_reuse, resolve_device, sets_a_figure,
};
pub use occupied::occupied_memory;
pub use paths::{NamedPaths, paths_of};
pub use policy::{
    clears_separately, effective_policy, has_policy, is_policy_unknown, policy_conditions, policy_default,
    policy_depends_on,
};
pub use row::{OptionRow, without_effect};
pub use rows::{TABLE, find, keys};
pub use section::Section;
pub use shape_range::{DimRange, InputSource, RangeGroup, ShapeRangeError, ShapeRanges};
pub use store::{CONTROL_FLOW_CALLS, Condition, OptionError, Options, Origin};
pub use suggest::{nearest_key, nearest_of, nearest_variable, unknown_key};
pub use value::{DefaultValue, Float, Value};

/// Concatenates the parts of a table. `N` must be the sum of their lengths.
const fn joined<T: Copy, const N: usize>(parts: &[&[T]]) -> [T; N] {
    let mut rows = [parts[0][0]; N];
    let mut part = 0;
    let mut filled = 0;
    while part < parts.len() {
        let mut idx = 0;
        while idx < parts[part].len() {
            rows[filled] = parts[part][idx];
            filled += 1;
            idx += 1;
        }
        part += 1;
    }
    assert!(filled == N, "the parts of a table have as many rows as the table");
    rows
}

/// Rows of all parts.
const fn count<T>(parts: &[&[T]]) -> usize {
    let mut sum = 0;
    let mut part = 0;
    while part < parts.len() {
        sum += parts[part].len();
        part += 1;
    }
    sum
}
