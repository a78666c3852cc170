//! Effective values.

use highwater::options::DefaultValue as V;
use highwater::options::{effective_device_id, effective_values};

use super::{Case, case};

const EFFECTIVE: &[(Case, &str, V)] = &[
    (case(&[("hccl_timeout", "600")], ""), "hccl_timeout", V::Int(544)),
    (case(&[("hccl_timeout", "30")], ""), "hccl_timeout", V::Int(68)),
    (case(&[("hccl_timeout", "0")], ""), "hccl_timeout", V::Int(1836)),
    (case(&[], ""), "hccl_timeout", V::Int(1836)),
    (
        case(&[], "").with(&[("HCCL_EXEC_TIMEOUT", "200")]),
        "hccl_timeout",
        V::Int(136),
    ),
    (
        case(&[], "").with(&[("HCCL_EXEC_TIMEOUT", "x")]),
        "hccl_timeout",
        V::Int(1836),
    ),
    (
        case(&[("hccl_timeout", "69")], "").with(&[("HCCL_EXEC_TIMEOUT", "200")]),
        "hccl_timeout",
        V::Int(68),
    ),
    (
        case(&[], "").with(&[("ASCEND_DEVICE_ID", "3"), ("DEVICE_ID", "4")]),
        "session_device_id",
        V::Int(3),
    ),
    (
        case(&[], "").with(&[("DEVICE_ID", "4")]),
        "session_device_id",
        V::Int(4),
    ),
    (
        case(&[], "").with(&[("ASCEND_DEVICE_ID", "x"), ("DEVICE_ID", "4")]),
        "session_device_id",
        V::Int(0),
    ),
    (case(&[("session_device_id", "-7")], ""), "session_device_id", V::Int(0)),
    (
        case(&[("session_device_id", "2")], "").with(&[("DEVICE_ID", "4")]),
        "session_device_id",
        V::Int(2),
    ),
    (
        case(&[("session_device_id", "first")], "").with(&[("DEVICE_ID", "4")]),
        "session_device_id",
        V::Int(4),
    ),
    (case(&[], "").with(&[("AOE_MODE", "2")]), "aoe_mode", V::Text("2")),
    (
        case(&[("aoe_mode", "1")], "").with(&[("AOE_MODE", "2")]),
        "aoe_mode",
        V::Text("1"),
    ),
    (case(&[], "").with(&[("AOE_MODE", "7")]), "aoe_mode", V::Unset),
    (case(&[("graph_run_mode", "0")], ""), "enable_small_channel", V::Int(1)),
    (case(&[], ""), "enable_small_channel", V::Int(0)),
    (
        case(&[], "").with(&[("NPU_COLLECT_PATH", "/n")]),
        "enable_exception_dump",
        V::Int(1),
    ),
    (
        case(&[("op_debug_level", "1")], ""),
        "op_compiler_cache_mode",
        V::Text("disable"),
    ),
    (
        case(&[("op_debug_config", "/d")], ""),
        "op_compiler_cache_mode",
        V::Text("enable"),
    ),
    (
        case(&[("op_debug_config", "/d")], "").seeing(&[("/d", "op_debug_config=oom")]),
        "op_compiler_cache_mode",
        V::Text("disable"),
    ),
    (
        case(&[("op_debug_config", "/d")], "").seeing(&[("/d", "op_debug_config=oom\nop_debug_list=A")]),
        "op_compiler_cache_mode",
        V::Text("enable"),
    ),
    (
        case(&[("input_fusion_size", "64MiB")], ""),
        "input_fusion_size",
        V::Int(33_554_432),
    ),
    (case(&[], ""), "compile_dynamic_mode", V::Bool(false)),
    (case(&[], ""), "dynamic_input", V::Bool(false)),
    (case(&[], ""), "ac_parallel_enable", V::Text("0")),
    (case(&[], ""), "quant_dumpable", V::Text("0")),
    (case(&[], ""), "precision_mode", V::Unset),
    (case(&[], ""), "op_wait_timeout", V::Int(120)),
    (case(&[("op_wait_timeout", "5")], ""), "op_wait_timeout", V::Int(5)),
    (case(&[], ""), "stream_max_parallel_num", V::Unset),
    (case(&[], ""), "ge.exec.disableReuseMemory", V::Text("0")),
    (case(&[], ""), "dump_config.dump_step", V::Unset),
    (case(&[("external_weight", "2")], ""), "external_weight", V::Bool(true)),
    (case(&[], ""), "work_path", V::Text("./")),
    (
        case(&[], "").with(&[("ASCEND_WORK_PATH", "/w")]),
        "debug_dir",
        V::Text("/w"),
    ),
    (
        case(&[("debug_dir", "/d")], "").with(&[("ASCEND_WORK_PATH", "/w")]),
        "debug_dir",
        V::Text("/d"),
    ),
    (case(&[], ""), "op_compiler_cache_dir", V::Text("$HOME/atc_data")),
    (
        case(&[("dynamic_inputs_shape_range", "data:[1]")], ""),
        "dynamic_inputs_shape_range",
        V::Unset,
    ),
    (
        case(&[("ge.exec.staticMemoryPolicy", "3")], ""),
        "memory_config.static_memory_policy",
        V::Int(3),
    ),
    (
        case(&[("memory_config.static_memory_policy", "3")], ""),
        "ge.exec.staticMemoryPolicy",
        V::Text("3"),
    ),
    (
        case(&[("ge.exec.atomicCleanPolicy", "1")], ""),
        "memory_config.atomic_clean_policy",
        V::Int(1),
    ),
    (case(&[], ""), "save_checkpoints_steps", V::Int(100)),
    (
        case(&[("save_checkpoints_secs", "9")], ""),
        "save_checkpoints_steps",
        V::Unset,
    ),
];

#[test]
fn effective_values_follow_environment_files_and_rules() {
    for (case, key, value) in EFFECTIVE {
        let settings = case.settings();
        let values = effective_values(&settings.options, &settings.environment, &settings.files);
        let acting = values
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.clone());
        assert_eq!(acting, Some(value.value()), "{key} of {case:?}");
    }
    let settings = case(&[], "").with(&[("ASCEND_DEVICE_ID", "5")]).settings();
    assert_eq!(effective_device_id(&settings.options, &settings.environment), 5);
}
