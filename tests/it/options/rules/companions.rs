//! The two companions: `DTRConfig` and `memory_optimize`.

use highwater::options::{Edit, Value};

use super::{Case, case, fired, typed};

const THRESHOLD: &str = "dtr.eviction_threshold";
const SKIPPED: &str = "memory_optimize.skip_opt_set";

pub(super) const CASES: &[Case] = &[
    case(&[(THRESHOLD, "1GiB")], ""),
    case(&[(THRESHOLD, "0")], "D1E"),
    case(&[(THRESHOLD, "-5")], "D1E"),
    case(&[(THRESHOLD, "much")], "D1E"),
    case(&[("dtr.recomp_time_factor", "0.5")], "D1E"),
    case(&[(THRESHOLD, "1"), ("dtr.evictee_minimum_size", "0")], ""),
    case(&[(THRESHOLD, "1"), ("dtr.evictee_minimum_size", "-1")], "D2E"),
    case(&[(THRESHOLD, "1"), ("dtr.recomp_memory_factor", "0")], ""),
    case(&[(THRESHOLD, "1"), ("dtr.recomp_memory_factor", "-0.5")], "D2E"),
    case(&[(THRESHOLD, "1"), ("dtr.recomp_time_factor", "1.5")], ""),
    case(&[(THRESHOLD, "1"), ("dtr.recomp_time_factor", "fast")], "D2E"),
    case(&[("memory_optimize.level", "0")], "M4W"),
    case(&[("memory_optimize.level", "1")], "M4W"),
    case(&[("memory_optimize.level", "2")], "M1E M4W"),
    case(&[(SKIPPED, "[\"fc\", 'x']")], "M4W"),
    case(&[(SKIPPED, "[\"fc\", \"x\"]")], "M4W"),
    case(&[(SKIPPED, "fc")], "M2E M4W"),
    case(&[(SKIPPED, "{\"fc\", 'x'}")], "M4W"),
    case(&[(SKIPPED, "('fc')")], "M2E M4W"),
    case(&[(SKIPPED, "('fc', 'x')")], "M2E M4W"),
    case(&[(SKIPPED, "{}")], "M2E M4W"),
    case(&[(SKIPPED, "[1]")], "M3E M4W"),
    case(&[("memory_optimize.print_log", "True")], "M4W"),
    case(&[("memory_optimize.skip_grads", "2")], "M4W K1E"),
];

#[test]
fn skipped_variables_are_a_list_or_set_of_names() {
    let names = || vec![Value::from("a"), Value::from("b")];
    for (value, expected, mended) in [
        (Value::List(names()), "M4W", None),
        (Value::Tuple(names()), "M2E M4W", Some(Value::List(names()))),
        (Value::from("fc"), "M2E M4W", Some(Value::List(vec![Value::from("fc")]))),
        (Value::from("a, b"), "M2E M4W", Some(Value::List(names()))),
        (Value::from("{'a': 1}"), "M2E M4W", None),
        (Value::from(""), "M2E M4W", None),
        (Value::Int(3), "M2E M4W", None),
        (
            Value::List(vec![Value::Int(3), Value::from("a")]),
            "M3E M4W",
            Some(Value::List(vec![Value::from("a")])),
        ),
        (Value::List(vec![Value::Python("x.name".to_owned())]), "M4W", None),
        (Value::Python("names()".to_owned()), "M4W", None),
    ] {
        let settings = typed(SKIPPED, value.clone());
        assert_eq!(fired(&settings), expected, "{value:?}");
        let edit = settings.check()[0].fixes.first().map(|fix| fix.edits[0].clone());
        let expected = mended.map(|value| Edit::Option { key: SKIPPED, value });
        assert_eq!(edit, expected, "{value:?}");
    }
}

#[test]
fn computed_values_fire_no_value_rules() {
    for (key, text, expected) in [
        (THRESHOLD, "total() * 2", ""),
        ("dtr.recomp_time_factor", "factor", "D1E"),
        ("memory_optimize.level", "level", "M4W"),
        ("iterations_per_loop", "FLAGS.loop", ""),
        ("jit_compile", "FLAGS.jit", "R54I"),
        ("session_device_id", "rank", ""),
    ] {
        assert_eq!(fired(&typed(key, Value::Python(text.to_owned()))), expected, "{key}");
    }
    let mut settings = typed("variable_placement", Value::from("Host"));
    settings
        .options
        .set("mix_compile_mode", Value::Python("mixed".to_owned()))
        .unwrap();
    assert_eq!(fired(&settings), "R17I");
}
