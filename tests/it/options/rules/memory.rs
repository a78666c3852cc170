//! Memory policies, with the engine's own keys and the variable; the active policy.

use highwater::options::{
    Environment, GE_USE_STATIC_MEMORY as VARIABLE, Options, Value, clears_separately, effective_policy,
};

use super::{Case, case};
use highwater::diagnostics::Severity;
use highwater::options::{Finding, SeenFiles, check};

const POLICY: &str = "memory_config.static_memory_policy";
const ATOMIC: &str = "memory_config.atomic_clean_policy";
const COPIES: &str = "graph_max_parallel_model_num";
const ENGINE: &str = "ge.exec.staticMemoryPolicy";
const ENGINE_ATOMIC: &str = "ge.exec.atomicCleanPolicy";
const INFERENCE: (&str, &str) = ("graph_run_mode", "0");

pub(super) const CASES: &[Case] = &[
    case(&[(COPIES, "1")], ""),
    case(&[(COPIES, "2147483647"), INFERENCE], ""),
    case(&[(COPIES, "0")], "R19E"),
    case(&[(COPIES, "2147483648")], "R19E"),
    case(&[(COPIES, "two")], "R19E"),
    case(&[(COPIES, "4")], "R48W"),
    case(&[(COPIES, "4"), ("graph_run_mode", "1")], "R48W"),
    case(&[(COPIES, "4"), INFERENCE], ""),
    case(&[(COPIES, "4"), INFERENCE, (POLICY, "0")], ""),
    case(&[(COPIES, "4"), INFERENCE, (POLICY, "2")], "R20E"),
    case(&[(COPIES, "4"), INFERENCE, (POLICY, "1")], "R20E R49I"),
    case(&[(COPIES, "4"), INFERENCE, (POLICY, "3")], "R52I"),
    case(&[(COPIES, "4"), INFERENCE, (POLICY, "4")], "R20E R52I"),
    case(&[(COPIES, "4"), INFERENCE], "R20E R51W").with(&[(VARIABLE, "2")]),
    case(&[(COPIES, "4"), (POLICY, "2")], "R20E R48W"),
    case(&[(COPIES, "1"), (POLICY, "2")], ""),
    case(&[(COPIES, "0"), (POLICY, "2")], "R19E"),
    case(&[("graph_run_mode", "1")], ""),
    case(&[(POLICY, "0")], ""),
    case(&[(POLICY, "2")], ""),
    case(&[(POLICY, "1")], "R49I"),
    case(&[(POLICY, "5")], "R49E"),
    case(&[(POLICY, "-1")], "R49E"),
    case(&[(POLICY, "abc")], "R49E"),
    case(&[(POLICY, "")], "R49E"),
    case(&[(ATOMIC, "0")], ""),
    case(&[(ATOMIC, "1")], "R50I"),
    case(&[(ATOMIC, "")], ""),
    case(&[(ATOMIC, "2")], "R50E"),
    case(&[(ATOMIC, "-1")], "R50E"),
    case(&[(ATOMIC, "yes")], "R50E"),
    case(&[], "R51W").with(&[(VARIABLE, "2")]),
    // The constructor writes the default of the policy.
    case(&[(ATOMIC, "1")], "R50I R51E R51W").with(&[(VARIABLE, "2")]),
    case(&[(ATOMIC, "0")], "R51E R51W").with(&[(VARIABLE, "9")]),
    case(&[("memory_config.variable_use_1g_huge_page", "1")], "R51E R51W R52I").with(&[(VARIABLE, "3")]),
    case(&[("memory_config", "make()")], "R51W").with(&[(VARIABLE, "2")]),
    case(&[(ENGINE_ATOMIC, "1")], "R50I R51W").with(&[(VARIABLE, "2")]),
    case(&[], "").with(&[(VARIABLE, "")]),
    case(&[], "R51W").with(&[(VARIABLE, "abc")]),
    case(&[(POLICY, "2")], "").with(&[(VARIABLE, "")]),
    case(&[(POLICY, "2")], "R51E R51W").with(&[(VARIABLE, "2")]),
    case(&[(POLICY, "0")], "R51E R51W").with(&[(VARIABLE, "0")]),
    case(&[(POLICY, "3")], "R51E R51W R52I").with(&[(VARIABLE, "2")]),
    case(&[(POLICY, "abc")], "R49E R51E R51W").with(&[(VARIABLE, "2")]),
    case(&[(POLICY, "3")], "R52I"),
    case(&[(POLICY, "4")], "R52I"),
    case(&[], "R51W R52I").with(&[(VARIABLE, "4")]),
    case(&[], "R51W").with(&[(VARIABLE, "0")]),
    // The engine's own keys.
    case(&[(ENGINE, "2")], ""),
    case(&[(ENGINE, "1")], "R49I"),
    case(&[(ENGINE, "5")], "R49E"),
    case(&[(ENGINE, "3")], "R52I"),
    case(&[(ENGINE, "2")], "R51E R51W").with(&[(VARIABLE, "2")]),
    case(&[(ENGINE, "2"), (POLICY, "2")], ""),
    case(&[(ENGINE, "2"), (POLICY, "3")], "R49W"),
    case(&[(ENGINE, "0"), (POLICY, "4")], "R49W"),
    case(&[(ENGINE, "2"), (POLICY, "2")], "R51E R51W").with(&[(VARIABLE, "2")]),
    case(&[(COPIES, "4"), INFERENCE, (ENGINE, "2")], "R20E"),
    case(&[(COPIES, "4"), INFERENCE, (ENGINE, "0"), (POLICY, "2")], "R49W"),
    case(&[(ENGINE_ATOMIC, "1")], "R50I"),
    case(&[(ENGINE_ATOMIC, "2")], "R50E"),
    case(&[(ENGINE_ATOMIC, "1"), (ATOMIC, "1")], "R50I"),
    case(&[(ENGINE_ATOMIC, "1"), (ATOMIC, "0")], "R50W R50I"),
    case(&[(POLICY, " 2")], ""),
    case(&[(ENGINE, " 2")], "R49E"),
    case(&[("memory_config.variable_use_1g_huge_page", "2")], ""),
    case(&[("memory_config.memory_optimization_policy", "MemoryPriority")], ""),
    case(&[("memory_config.memory_optimization_policy", "memory")], "K1E"),
    case(&[("memory_config", "MemoryConfig(**settings)")], ""),
    case(&[("memory_config", "yes")], "K1E"),
];

fn options_of(key: &str, text: &str) -> Options {
    let mut options = Options::new();
    options.set_text(key, text).unwrap();
    options
}

fn environment_of(text: Option<&str>) -> Environment {
    let mut environment = Environment::new();
    if let Some(text) = text {
        environment.set(VARIABLE, text);
    }
    environment
}

#[test]
fn the_policy_in_force_joins_option_and_variable() {
    let texts = [
        None,
        Some("0"),
        Some("1"),
        Some("2"),
        Some("3"),
        Some("4"),
        Some("5"),
        Some(""),
        Some("abc"),
    ];
    let expected = [
        // variable: unset 0 1 2 3 4 5 "" abc
        [0, 0, 2, 2, 3, 4, 0, 0, 0], // option unset
        [0, 0, 2, 2, 3, 4, 0, 0, 0], // 0
        [2, 2, 2, 2, 4, 4, 2, 2, 2], // 1
        [2, 2, 2, 2, 4, 4, 2, 2, 2], // 2
        [3, 3, 4, 4, 3, 4, 3, 3, 3], // 3
        [4, 4, 4, 4, 4, 4, 4, 4, 4], // 4
        [0, 0, 2, 2, 3, 4, 0, 0, 0], // 5
        [0, 0, 2, 2, 3, 4, 0, 0, 0], // empty
        [0, 0, 2, 2, 3, 4, 0, 0, 0], // abc
    ];
    for (option, row) in texts.iter().zip(expected) {
        for (variable, number) in texts.iter().zip(row) {
            let options = option.map_or_else(Options::new, |text| options_of(POLICY, text));
            let policy = effective_policy(&options, &environment_of(*variable));
            assert_eq!(policy.number(), number, "option {option:?}, variable {variable:?}");
        }
    }
    let mut options = Options::new();
    options.set(POLICY, Value::from("2")).unwrap();
    assert_eq!(effective_policy(&options, &Environment::new()).number(), 2);
    assert_eq!(
        effective_policy(&Options::new(), &environment_of(Some(" 2"))).number(),
        0
    );
}

#[test]
fn the_engines_own_keys_win_over_the_fields() {
    for (field, engine, number) in [("2", "3", 3), ("4", "0", 0), ("abc", "4", 4), ("2", "9", 0)] {
        let mut options = options_of(POLICY, field);
        options.set_text(ENGINE, engine).unwrap();
        assert_eq!(
            effective_policy(&options, &Environment::new()).number(),
            number,
            "{field} {engine}"
        );
    }
    let mut options = options_of(ATOMIC, "1");
    assert!(clears_separately(&options));
    options.set_text(ENGINE_ATOMIC, "0").unwrap();
    assert!(!clears_separately(&options));
}

#[test]
fn a_policy_that_a_framework_writes_conflicts_with_the_variable() {
    for (import, writes, mend) in [
        (
            "import torchair\nmodel = torch.compile(model, backend=torchair.get_npu_backend())\n",
            "torchair writes ge.exec.staticMemoryPolicy=2",
            "has no setting for it",
        ),
        (
            "import mindspore as ms\nstep = ms.jit(step, backend=\"GE\")\n",
            "MindSpore writes ge.exec.staticMemoryPolicy=2",
            "in ge_options",
        ),
    ] {
        let text = format!("import os\nos.environ['GE_USE_STATIC_MEMORY'] = '3'\n{import}");
        let (document, _) = highwater::script::read_config("train.py", text.as_bytes()).unwrap();
        let findings = check(&document.options, &document.environment, &SeenFiles::default());
        let of_rule: Vec<&Finding> = findings.iter().filter(|finding| finding.rule == "R51").collect();
        let error = of_rule.iter().find(|finding| finding.severity == Severity::Error);
        let message = &error.unwrap_or_else(|| panic!("{findings:?}")).message;
        assert!(message.contains(writes) && message.contains(mend), "{message}");
        assert!(
            of_rule
                .iter()
                .all(|finding| !finding.message.contains("static_memory_policy to")),
            "{of_rule:?}"
        );
    }
}
