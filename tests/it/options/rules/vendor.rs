//! Accepted and rejected settings after the unit tests of the TensorFlow adapter, and bools where it takes numbers.

use highwater::options::Value;

use super::{Case, case, fired, typed};

const DUMP: (&str, &str) = ("dump_config.enable_dump", "True");
const DUMP_PATH: (&str, &str) = ("dump_config.dump_path", "/dump");

pub(super) const CASES: &[Case] = &[
    case(&[("dump_config.dump_data", "sta")], "R39E"),
    case(&[DUMP, DUMP_PATH, ("dump_config.dump_step", "yyy")], "R39E"),
    case(&[DUMP, DUMP_PATH, ("dump_config.dump_step", "0|2-1")], "R39E"),
    case(&[("enable_exception_dump", "4")], "R7E"),
    case(&[("aoe_mode", "3")], "R21E"),
    case(&[("precision_mode", "force_Dp32")], "R11E"),
    case(&[("precision_mode_v2", "invalid")], "R11E"),
    case(&[("memory_config.variable_use_1g_huge_page", "3")], "K1E"),
    case(&[("modify_mixlist", "list")], "R12E"),
    case(&[("modify_mixlist", "list"), ("precision_mode_v2", "fp16")], "R12E"),
    case(
        &[
            ("modify_mixlist", "list"),
            ("precision_mode", "force_fp16"),
            ("graph_run_mode", "0"),
        ],
        "R12E",
    ),
    case(
        &[("precision_mode_v2", "fp16"), ("precision_mode", "force_fp32")],
        "R10E",
    ),
    case(&[("jit_compile", "True")], "R4E R54I"),
    case(&[("jit_compile", "False")], "R4E R54I"),
    case(&[("jit_compile", "2")], "R4E R54I"),
    case(&[("jit_compile", "2"), ("aicore_num", "2|2")], "R4E R54I"),
    case(&[("variable_placement", "sss")], "R16E"),
    case(&[("op_select_implmode", "xxx")], "R31E R46W"),
    case(&[("export_compile_stat", "3")], "R40E"),
    case(&[("shape_generalization_mode", "ADAPTIVE")], ""),
    case(&[("shape_generalization_mode", "adaptive")], "K1E"),
    case(&[("deterministic", "1")], ""),
    case(&[("deterministic", "2")], "K1E"),
];

#[test]
fn typed_values_of_the_wrong_type_are_reported() {
    for (key, value, expected) in [
        ("iterations_per_loop", Value::from("10"), "R1E"),
        ("iterations_per_loop", Value::Bool(false), "R1E"),
        ("iterations_per_loop", Value::Bool(true), ""),
        ("mix_compile_mode", Value::Int(1), "R2E"),
        ("jit_compile", Value::Bool(true), "R4E R54I"),
        ("distribute", Value::Int(1), "R5E"),
        ("graph_run_mode", Value::from("1"), "R6E"),
        ("graph_run_mode", Value::Bool(true), ""),
        ("enable_exception_dump", Value::from("1"), "R7E"),
        ("enable_exception_dump", Value::Bool(true), "R44I"),
        ("dump_config", Value::Bool(true), "R8E"),
        ("horovod_mode", Value::Int(1), "R9E"),
        ("precision_mode", Value::Int(1), "R11E"),
        ("variable_placement", Value::Bool(true), "R16E"),
        ("aoe_mode", Value::Int(2), "R21E"),
        ("hccl_timeout", Value::from("600"), "R27E"),
        ("memory_config.static_memory_policy", Value::Bool(true), "R49E"),
        ("memory_optimize.level", Value::Bool(true), "M4W"),
        ("simulation.device", Value::Int(1), "K1E"),
    ] {
        let settings = typed(key, value.clone());
        assert_eq!(fired(&settings), expected, "{key} = {value:?}");
        // A value of the wrong type only is mended into the right one.
        if let Some(finding) = settings.check().first()
            && matches!(
                key,
                "iterations_per_loop" | "jit_compile" | "mix_compile_mode" | "aoe_mode" | "hccl_timeout"
            )
        {
            assert_eq!(finding.fixes.len(), 1, "{key}");
        }
    }
}

#[test]
fn a_bare_name_may_be_a_strategy() {
    let mut settings = typed("distribute", Value::Python("strategy".to_owned()));
    settings.options.set("mix_compile_mode", Value::Bool(true)).unwrap();
    assert_eq!(fired(&settings), "R5E");
    settings
        .environment
        .set("TF_CONFIG", r#"{"cluster": {"worker": ["a:1"]}}"#);
    assert_eq!(fired(&settings), "");
}
