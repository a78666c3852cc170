//! Messages of findings, texts of fixes, and effective values.

use highwater::export::{Answer as _, CheckReport};
use highwater::options::GE_USE_STATIC_MEMORY;

use super::{Case, FOLDER, case};

const POLICY: &str = "memory_config.static_memory_policy";

fn messages(case: Case) -> Vec<String> {
    case.settings().check().into_iter().map(|found| found.message).collect()
}

#[test]
fn messages_state_a_remedy() {
    let settings = case(
        &[
            (POLICY, "3"),
            ("iterations_per_loop", "abc"),
            ("input_fusion_size", "-1"),
        ],
        "",
    )
    .with(&[(GE_USE_STATIC_MEMORY, "2")])
    .settings();
    let findings = settings.check();
    assert_eq!(
        findings[0].message,
        "iterations_per_loop is \"abc\", not an integer: use 1 or more"
    );
    assert_eq!(
        findings[1].message,
        "input_fusion_size is -1: use 0 to 33554432 bytes; it is clamped to 0"
    );
    let joined = &findings[2];
    assert!(
        joined.message.contains("policy 4 (static and dynamic expansion)"),
        "{joined:?}"
    );
    assert_eq!(joined.options, [POLICY, GE_USE_STATIC_MEMORY]);
    assert_eq!(joined.fixes[0].text, "unset GE_USE_STATIC_MEMORY");
    let unknown = messages(case(&[], "").with(&[(GE_USE_STATIC_MEMORY, "5")]));
    assert_eq!(unknown.len(), 2);
    assert!(unknown[1].contains("selects no policy"));
}

#[test]
fn messages_have_places_units_and_one_line() {
    for (case, part) in [
        (
            case(&[("dynamic_inputs_shape_range", "data:[5~3]")], ""),
            "at character 7, the range ends before it starts",
        ),
        (
            case(&[("stream_sync_timeout", "60000")], ""),
            "60000 ms, not above the 1836 s of collective communication (the default of hccl_timeout); in a cluster \
             this",
        ),
        (
            case(&[("stream_sync_timeout", "60000")], "").with(&[("HCCL_EXEC_TIMEOUT", "90")]),
            "the 68 s of collective communication (HCCL_EXEC_TIMEOUT is 90, which acts as 68)",
        ),
        (
            case(&[("dump_config.dump_mode", "both")], ""),
            "dump_mode is \"both\": use input, output or all; it applies only when enable_dump is True",
        ),
        (
            case(&[("op_precision_mode", "/m")], "").seeing(&[("/m", "[ByOpType]\nA=fast")]),
            "op_precision_mode, line 2: \"fast\" is not a known mode: use high_precision,",
        ),
        (
            case(&[("work_path", "/w"), ("aoe_mode", "1")], "").seeing(&[("/w", "file")]),
            "work_path is \"/w\", which is a file",
        ),
        (
            case(&[("buffer_optimize", "say \"on\"")], ""),
            "buffer_optimize is 'say \"on\"': use",
        ),
        (
            case(&[("jit_compile", "a\nb")], ""),
            "jit_compile is \"a b\": use auto, true or false",
        ),
        (
            case(&[], "").with(&[("DEVICE_ID", "3")]),
            "the session runs on device 3 (from DEVICE_ID, a physical id)",
        ),
        (
            case(&[("op_debug_level", "0")], ""),
            "op_debug_level is deprecated: use op_debug_config instead",
        ),
    ] {
        let messages = messages(case);
        assert!(
            messages.iter().any(|message| message.contains(part)),
            "{part}: {messages:?}"
        );
    }
}

#[test]
fn only_the_first_problems_of_a_file_are_reported() {
    static MANY: [(&str, &str); 1] = [("/m", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n")];
    let messages = messages(case(&[("op_precision_mode", "/m")], "").seeing(&MANY));
    assert_eq!(messages.len(), 9);
    assert!(messages[8].contains("3 more such errors"), "{}", messages[8]);
}

#[test]
fn reports_list_fixes_and_deviating_settings() {
    let settings = case(
        &[
            ("hccl_timeout", "600"),
            ("mix_compile_mode", "True"),
            ("iterations_per_loop", "9"),
            ("aoe_mode", "1"),
            ("buffer_optimize", "on"),
        ],
        "",
    )
    .seeing(&[("./", FOLDER)])
    .settings();
    let report = CheckReport::of(&settings.options, &settings.environment, &settings.files);
    let json = serde_json::to_value(report.json()).unwrap();
    assert_eq!(json["findings"][0]["rule"], "R3");
    assert_eq!(
        json["findings"][0]["fixes"],
        serde_json::json!(["set iterations_per_loop to 1"])
    );
    assert_eq!(json["effective"]["hccl_timeout"], 544);
    let text = report.page().text();
    assert!(text.contains("\nhccl_timeout 600 acts as 544 s\n"), "{text}");
    assert_eq!(text.matches(" acts as ").count(), 1, "{text}");
}
