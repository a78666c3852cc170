//! Variables and options whose values are unknown before the run: rules on presence fire, others do not.

use highwater::export::{Answer as _, CheckReport};
use highwater::options::{GE_USE_STATIC_MEMORY, Value};

use super::{Case, case, fired};

const OOM: (&str, &str) = ("/d.cfg", "op_debug_config=oom\nop_debug_list=Add");
const AOE: (&str, &str) = ("/a.json", r#"{"feature": ["deeper_opat"]}"#);

/// Settings, unreadable variables, and the rules that fire.
const UNREAD: &[(Case, &[&str], &str)] = &[
    (case(&[], ""), &["TF_CONFIG"], ""),
    (case(&[("distribute", "MirroredStrategy()")], ""), &["TF_CONFIG"], "R5E"),
    (case(&[("stream_sync_timeout", "60000")], ""), &["TF_CONFIG"], ""),
    (case(&[("stream_sync_timeout", "60000")], ""), &["RANK_SIZE"], ""),
    (
        case(&[("stream_sync_timeout", "60000")], ""),
        &["HCCL_EXEC_TIMEOUT"],
        "",
    ),
    (
        case(&[("stream_sync_timeout", "60000"), ("hccl_timeout", "600")], ""),
        &["HCCL_EXEC_TIMEOUT"],
        "R27I R28W",
    ),
    (
        case(&[("stream_sync_timeout", "60000")], "").with(&[("RANK_SIZE", "8")]),
        &["TF_CONFIG"],
        "R28E",
    ),
    (case(&[], ""), &["HCCL_EXEC_TIMEOUT"], ""),
    (case(&[], ""), &["ASCEND_DEVICE_ID"], ""),
    (case(&[], "").with(&[("DEVICE_ID", "x")]), &["ASCEND_DEVICE_ID"], ""),
    (case(&[("session_device_id", "1")], ""), &["ASCEND_DEVICE_ID"], "R45I"),
    (case(&[], ""), &["RANK_SIZE", "CM_WORKER_SIZE"], "K5E"),
    (case(&[], ""), &[GE_USE_STATIC_MEMORY], "R51W"),
    (
        case(&[("memory_config.static_memory_policy", "2")], ""),
        &[GE_USE_STATIC_MEMORY],
        "R51E R51W",
    ),
    (
        case(&[("ge.exec.staticMemoryPolicy", "0")], ""),
        &[GE_USE_STATIC_MEMORY],
        "R51E R51W",
    ),
    (case(&[], ""), &["NPU_COLLECT_PATH"], "R43I"),
    (
        case(&[("op_debug_config", "/d.cfg")], "").seeing(&[OOM]),
        &["NPU_COLLECT_PATH"],
        "R25E R43I R56I",
    ),
    (case(&[], ""), &["AOE_MODE"], ""),
    (
        case(&[("aoe_config_file", "/a.json")], "").seeing(&[AOE]),
        &["AOE_MODE"],
        "",
    ),
    (case(&[], ""), &["ASCEND_MAX_OP_CACHE_SIZE"], ""),
    (case(&[], ""), &["ASCEND_WORK_PATH", "ASCEND_CACHE_PATH"], ""),
    (case(&[("external_weight", "True")], ""), &["ASCEND_WORK_PATH"], "R35I"),
];

#[test]
fn unread_variables_count_as_set_and_no_more() {
    for (case, names, expected) in UNREAD {
        let mut settings = case.settings();
        for name in *names {
            settings.environment.set_unread(name);
        }
        assert_eq!(fired(&settings), *expected, "{names:?} of {case:?}");
        for finding in settings.check() {
            for fix in &finding.fixes {
                let mut mended = settings.clone();
                fix.apply(&mut mended.options, &mut mended.environment);
                assert!(!mended.check().contains(&finding), "{finding:?}");
            }
        }
    }
}

#[test]
fn an_unread_variable_leaves_the_policy_open() {
    let mut settings = case(&[("memory_config.static_memory_policy", "3")], "").settings();
    let report = |settings: &super::Settings| {
        CheckReport::of(&settings.options, &settings.environment, &settings.files)
            .page()
            .text()
    };
    assert!(report(&settings).contains("active policy: 3 (dynamic expansion)\n"));
    settings.environment.set_unread(GE_USE_STATIC_MEMORY);
    let text = report(&settings);
    assert!(
        text.contains("dynamic expansion), combined with GE_USE_STATIC_MEMORY of the run\n"),
        "{text}"
    );
}

#[test]
fn computed_options_count_as_set_and_no_more() {
    for (keys, expected) in [
        (&["precision_mode", "precision_mode_v2"][..], "R10W"),
        (&["enable_compress_weight", "compress_weight_conf"], "R36W"),
        (&["dynamic_input"], "R46W"),
        (&["graph_memory_max_size"], "R46W R46I"),
        (&["memory_config.static_memory_policy"], ""),
        (&["memory_config.atomic_clean_policy"], ""),
        (&["ge.exec.staticMemoryPolicy", "ge.exec.atomicCleanPolicy"], ""),
        (&["dump_config.dump_step", "dump_config.enable_dump"], ""),
        (&["graph_max_parallel_model_num", "quant_dumpable"], ""),
        (&["stream_sync_timeout", "hccl_timeout"], ""),
        (&["input_fusion_size", "external_weight"], ""),
    ] {
        let mut settings = case(&[], "").settings();
        for key in keys {
            settings.options.set(key, Value::Python("chosen()".to_owned())).unwrap();
        }
        assert_eq!(fired(&settings), expected, "{keys:?}");
    }
    let mut settings = case(&[], "").with(&[(GE_USE_STATIC_MEMORY, "2")]).settings();
    let policy = Value::Python("FLAGS.policy".to_owned());
    settings
        .options
        .set("memory_config.static_memory_policy", policy)
        .unwrap();
    assert_eq!(fired(&settings), "R51W");
}
