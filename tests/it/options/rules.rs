//! Each rule on settings that it accepts and refuses; the policy in force; no panic on anything.

use std::collections::BTreeSet;

use highwater::diagnostics::Severity;
use highwater::options::{
    CHECKS, Environment, Finding, GE_USE_STATIC_MEMORY, NoFiles, Options, TABLE, Value, effective_policy,
};

type Settings<'a> = &'a [(&'a str, &'a str)];

const POLICY: &str = "memory_config.static_memory_policy";
const ATOMIC: &str = "memory_config.atomic_clean_policy";
const COPIES: &str = "graph_max_parallel_model_num";

/// The findings about settings that name no files.
fn check(options: &Options, environment: &Environment) -> Vec<Finding> {
    highwater::options::check(options, environment, &NoFiles)
}

fn options_of(settings: Settings<'_>) -> Options {
    let mut options = Options::new();
    for (key, text) in settings {
        options.set_text(key, text).unwrap();
    }
    options
}

fn environment_of(text: Option<&str>) -> Environment {
    let mut environment = Environment::new();
    if let Some(text) = text {
        environment.set(GE_USE_STATIC_MEMORY, text);
    }
    environment
}

/// What fires, as `R49E R51W`, in order and without repeats.
fn fired(settings: Settings<'_>, variable: Option<&str>) -> String {
    let mut names: Vec<String> = Vec::new();
    for finding in check(&options_of(settings), &environment_of(variable)) {
        let letter = match finding.severity {
            Severity::Error => 'E',
            Severity::Warning => 'W',
            Severity::Info => 'I',
        };
        let name = format!("{}{letter}", finding.rule);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(" ")
}

fn assert_cases(cases: &[(Settings<'_>, Option<&str>, &str)]) {
    for (settings, variable, expected) in cases {
        assert_eq!(fired(settings, *variable), *expected, "{settings:?} {variable:?}");
    }
}

#[test]
fn loops_and_run_modes() {
    assert_cases(&[
        (&[], None, ""),
        (&[("iterations_per_loop", "10")], None, ""),
        (&[("iterations_per_loop", "1")], None, ""),
        (&[("iterations_per_loop", "0")], None, "R1E"),
        (&[("iterations_per_loop", "-5")], None, "R1E"),
        (&[("iterations_per_loop", "abc")], None, "R1E"),
        (&[("iterations_per_loop", "1.5")], None, "R1E"),
        (&[("mix_compile_mode", "True")], None, ""),
        (&[("mix_compile_mode", "0")], None, ""),
        (&[("mix_compile_mode", "2")], None, "R2E"),
        (&[("mix_compile_mode", "yes")], None, "R2E"),
        (&[("mix_compile_mode", "")], None, "R2E"),
        (&[("mix_compile_mode", "True"), ("iterations_per_loop", "1")], None, ""),
        (&[("mix_compile_mode", "False"), ("iterations_per_loop", "9")], None, ""),
        (
            &[("mix_compile_mode", "True"), ("iterations_per_loop", "9")],
            None,
            "R3E",
        ),
        (
            &[("mix_compile_mode", "True"), ("iterations_per_loop", "0")],
            None,
            "R1E",
        ),
        (&[("graph_run_mode", "0")], None, ""),
        (&[("graph_run_mode", "1")], None, ""),
        (&[("graph_run_mode", "2")], None, "R6E"),
        (&[("graph_run_mode", "-1")], None, "R6E"),
        (&[("graph_run_mode", "train")], None, "R6E"),
    ]);
}

#[test]
fn precision() {
    assert_cases(&[
        (&[("precision_mode", "allow_mix_precision")], None, ""),
        (&[("precision_mode_v2", "mixed_float16")], None, ""),
        (&[("precision_mode", "force_fp32"), ("precision_mode_v2", "")], None, ""),
        (
            &[("precision_mode", "force_fp32"), ("precision_mode_v2", "origin")],
            None,
            "R10E",
        ),
        (
            &[("precision_mode", "nonsense"), ("precision_mode_v2", "fp16")],
            None,
            "R10E R11E",
        ),
        (&[("precision_mode", "")], None, ""),
        (&[("precision_mode", "fp16")], None, "R11E"),
        (&[("precision_mode_v2", "force_fp16")], None, "R11E"),
        (&[("precision_mode_v2", "FP16")], None, "R11E"),
        (&[("precision_mode", "allow_mix_precision_bf16")], None, ""),
        (&[("precision_mode", "force_fp16")], None, "R13W"),
        (
            &[("precision_mode", "force_fp16"), ("graph_run_mode", "1")],
            None,
            "R13W",
        ),
        (&[("precision_mode", "force_fp16"), ("graph_run_mode", "0")], None, ""),
        (
            &[("precision_mode", "force_fp16"), ("graph_run_mode", "5")],
            None,
            "R6E R13W",
        ),
    ]);
}

#[test]
fn placement_and_inputs() {
    let mixed = ("mix_compile_mode", "True");
    assert_cases(&[
        (&[("variable_placement", "Device")], None, ""),
        (&[("variable_placement", "host")], None, "R16E"),
        (&[("variable_placement", "1")], None, "R16E"),
        (&[("variable_placement", "")], None, "R16E"),
        (&[("variable_placement", "Host")], None, "R17E R17I"),
        (
            &[("variable_placement", "Host"), ("mix_compile_mode", "False")],
            None,
            "R17E R17I",
        ),
        (&[("variable_placement", "Host"), mixed], None, "R17I"),
        (&[("variable_placement", "Device"), mixed], None, ""),
        (&[("input_fusion_size", "0")], None, ""),
        (&[("input_fusion_size", "32MiB")], None, ""),
        (&[("input_fusion_size", "33554433")], None, "R18W"),
        (&[("input_fusion_size", "-1")], None, "R18W"),
        (&[("input_fusion_size", "a lot")], None, "R18E"),
    ]);
}

#[test]
fn concurrent_graphs() {
    let inference = ("graph_run_mode", "0");
    assert_cases(&[
        (&[(COPIES, "1")], None, ""),
        (&[(COPIES, "2147483647"), inference], None, ""),
        (&[(COPIES, "0")], None, "R19E"),
        (&[(COPIES, "2147483648")], None, "R19E"),
        (&[(COPIES, "two")], None, "R19E"),
        (&[(COPIES, "4")], None, "R20W R48W"),
        (&[(COPIES, "4"), ("graph_run_mode", "1")], None, "R20W R48W"),
        (&[(COPIES, "4"), inference], None, ""),
        (&[(COPIES, "4"), inference, (POLICY, "0")], None, ""),
        (&[(COPIES, "4"), inference, (POLICY, "2")], None, "R20E"),
        (&[(COPIES, "4"), inference, (POLICY, "1")], None, "R20E R49I"),
        (&[(COPIES, "4"), inference, (POLICY, "3")], None, "R52I"),
        (&[(COPIES, "4"), inference, (POLICY, "4")], None, "R20E R52I"),
        (&[(COPIES, "4"), inference], Some("2"), "R20E R51W"),
        (&[(COPIES, "4"), (POLICY, "2")], None, "R20E R20W R48W"),
        (&[(COPIES, "1"), (POLICY, "2")], None, ""),
        (&[(COPIES, "0"), (POLICY, "2")], None, "R19E"),
        (&[("graph_run_mode", "1")], None, ""),
    ]);
}

#[test]
fn memory_policies() {
    assert_cases(&[
        (&[(POLICY, "0")], None, ""),
        (&[(POLICY, "2")], None, ""),
        (&[(POLICY, "1")], None, "R49I"),
        (&[(POLICY, "5")], None, "R49E"),
        (&[(POLICY, "-1")], None, "R49E"),
        (&[(POLICY, "abc")], None, "R49E"),
        (&[(POLICY, "")], None, "R49E"),
        (&[(ATOMIC, "0")], None, ""),
        (&[(ATOMIC, "1")], None, ""),
        (&[(ATOMIC, "")], None, ""),
        (&[(ATOMIC, "2")], None, "R50E"),
        (&[(ATOMIC, "-1")], None, "R50E"),
        (&[(ATOMIC, "yes")], None, "R50E"),
        (&[], Some("2"), "R51W"),
        (&[], Some(""), ""),
        (&[], Some("abc"), "R51W"),
        (&[(POLICY, "2")], Some(""), ""),
        (&[(POLICY, "2")], Some("2"), "R51E R51W"),
        (&[(POLICY, "0")], Some("0"), "R51E R51W"),
        (&[(POLICY, "3")], Some("2"), "R51E R51W R52I"),
        (&[(POLICY, "abc")], Some("2"), "R49E R51E R51W"),
        (&[(POLICY, "3")], None, "R52I"),
        (&[(POLICY, "4")], None, "R52I"),
        (&[], Some("4"), "R51W R52I"),
        (&[], Some("0"), "R51W"),
    ]);
}

#[test]
fn own_options() {
    assert_cases(&[
        (&[("external_weight", "True")], None, ""),
        (&[("external_weight", "2")], None, "K1E"),
        (&[("external_weight", "abc")], None, "K1E"),
        (&[("simulation.device_memory", "64GiB")], None, ""),
        (&[("simulation.device_memory", "0")], None, "K1E"),
        (&[("simulation.device_memory", "lots")], None, "K1E"),
        (&[("simulation.device", "generic-16GB")], None, ""),
        (&[("simulation.device", "abacus")], None, "K1E"),
    ]);
}

#[test]
fn messages_say_what_to_do() {
    let options = options_of(&[
        (POLICY, "3"),
        ("iterations_per_loop", "abc"),
        ("input_fusion_size", "-1"),
    ]);
    let findings = check(&options, &environment_of(Some("2")));
    let messages: Vec<&str> = findings.iter().map(|found| found.message.as_str()).collect();
    assert_eq!(
        messages[0],
        "iterations_per_loop is \"abc\", not an integer: use 1 or more"
    );
    assert_eq!(
        messages[1],
        "input_fusion_size is -1: use 0 to 33554432 bytes; until then it is clamped to 0"
    );
    assert!(
        messages[2].contains("policy 4 (static and dynamic expansion)"),
        "{}",
        messages[2]
    );
    assert_eq!(findings[2].options, [POLICY, GE_USE_STATIC_MEMORY]);
    let unknown = check(&Options::new(), &environment_of(Some("5")));
    assert_eq!(unknown.len(), 2);
    assert!(unknown[1].message.contains("selects no policy"));
}

#[test]
fn typed_values_of_the_wrong_type_are_reported() {
    for (key, value, rule) in [
        ("iterations_per_loop", Value::from("10"), "R1"),
        ("iterations_per_loop", Value::Bool(false), "R1"),
        ("mix_compile_mode", Value::Int(1), "R2"),
        ("graph_run_mode", Value::from("1"), "R6"),
        ("precision_mode", Value::Int(1), "R11"),
        ("variable_placement", Value::Bool(true), "R16"),
        ("memory_config.static_memory_policy", Value::Bool(true), "R49"),
        ("simulation.device", Value::Int(1), "K1"),
    ] {
        let mut options = Options::new();
        options.set(key, value).unwrap();
        let rules: Vec<&str> = check(&options, &Environment::new()).iter().map(|f| f.rule).collect();
        assert_eq!(rules, [rule], "{key}");
    }
}

/// Flags as written in the facts: static in {1, 2, 4}, dynamic in {3, 4}; the two inputs are joined.
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
            let options = option.map_or_else(Options::new, |text| options_of(&[(POLICY, text)]));
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

/// A small generator of numbers (xorshift), so that failures repeat.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn value(&mut self) -> Value {
        const TEXTS: [&str; 12] = [
            "",
            "abc",
            "2",
            "Host",
            "force_fp16",
            "fp16",
            "None",
            "1GiB",
            "-1",
            "\u{1F600}",
            "generic-32GB",
            "9e99",
        ];
        const INTS: [i64; 10] = [0, 1, 2, 3, 4, 5, -1, i64::MIN, i64::MAX, 33_554_433];
        match self.below(4) {
            0 => Value::Bool(self.below(2) == 0),
            1 => Value::Int(INTS[self.below(INTS.len())]),
            2 => Value::Unset,
            _ => Value::from(TEXTS[self.below(TEXTS.len())]),
        }
    }
}

#[test]
fn no_setting_makes_a_rule_panic_and_answers_repeat() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let device = highwater::options::resolve_device(&Options::new()).unwrap();
    let mut seen: BTreeSet<(&str, Severity)> = BTreeSet::new();
    for _ in 0..20_000 {
        let mut options = Options::new();
        for row in TABLE {
            if numbers.below(2) == 0 {
                options.set(row.key, numbers.value()).unwrap();
            } else if numbers.below(4) == 0 {
                let choices = row.kind.choices();
                if !choices.is_empty() {
                    options
                        .set(row.key, choices[numbers.below(choices.len())].0.clone())
                        .unwrap();
                }
            }
        }
        let mut environment = Environment::new();
        if numbers.below(2) == 0 {
            environment.set(GE_USE_STATIC_MEMORY, &numbers.value().to_string());
        }
        let findings = check(&options, &environment);
        assert_eq!(findings, check(&options.clone(), &environment.clone()));
        assert!(
            !highwater::export::CheckReport::of(&options, &environment, &NoFiles)
                .to_text()
                .is_empty()
        );
        let lowered = highwater::options::lower(&options, &environment, &device, &NoFiles);
        assert!(lowered.params.feature_copies >= 1);
        for finding in findings {
            assert!(
                !finding.message.ends_with('.') && !finding.options.is_empty(),
                "{finding:?}"
            );
            seen.insert((finding.rule, finding.severity));
        }
    }
    let declared: BTreeSet<(&str, Severity)> = CHECKS
        .iter()
        .flat_map(|check| check.outcomes.iter().map(|outcome| (check.id, outcome.severity)))
        .filter(|(id, _)| *id != "R53")
        .collect();
    assert_eq!(seen, declared);
}
