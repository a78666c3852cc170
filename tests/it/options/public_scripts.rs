//! Training scripts as public repositories have them: what they set is read, and nothing in them is an error.

use std::path::{Path, PathBuf};

use highwater::diagnostics::Severity;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/scripts")
}

/// Options that are read of each script, without their sections, as texts.
const EXPECTED: [(&str, &[(&str, &str)]); 12] = [
    (
        "bert_estimator.py",
        &[
            ("precision_mode", "allow_mix_precision"),
            ("iterations_per_loop", "100"),
        ],
    ),
    (
        "resnet_session.py",
        &[("precision_mode", "force_fp16"), ("graph_run_mode", "0")],
    ),
    (
        "keras_fit.py",
        &[("precision_mode", "allow_mix_precision"), ("mix_compile_mode", "False")],
    ),
    (
        "horovod_like.py",
        &[("hccl_timeout", "600"), ("iterations_per_loop", "10")],
    ),
    ("yaml_driven.py", &[]),
    (
        "absl_flags.py",
        &[
            ("precision_mode_v2", "mixed_float16"),
            ("memory_config.static_memory_policy", "4"),
        ],
    ),
    (
        "python2_session.py",
        &[("precision_mode", "allow_mix_precision"), ("hccl_timeout", "1800")],
    ),
    ("several_devices.py", &[("memory_config.static_memory_policy", "2")]),
    (
        "gan_two_graphs.py",
        &[
            ("memory_config.static_memory_policy", "3"),
            ("mix_compile_mode", "True"),
        ],
    ),
    (
        "estimator_branches.py",
        &[("precision_mode", "allow_mix_precision"), ("hcom_parallel", "True")],
    ),
    (
        "config_class.py",
        &[("memory_config.static_memory_policy", "0"), ("graph_run_mode", "0")],
    ),
    ("tf2_custom_loop.py", &[("precision_mode", "allow_mix_precision")]),
];

#[test]
fn scripts_of_repositories_are_read_without_errors() {
    let mut wrong = Vec::new();
    for (name, expected) in EXPECTED {
        let bytes = std::fs::read(folder().join(name)).unwrap();
        let (document, remarks) = highwater::script::read_config(name, &bytes).unwrap();
        let options = highwater::session::options_of(&document);
        let files = highwater::session::look_at_files(&options, &document.environment);
        let findings = highwater::options::check(&options, &document.environment, &files);
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        wrong.extend(errors.map(|finding| format!("{name}: {}: {}", finding.rule, finding.message)));
        let errors = remarks
            .entries()
            .iter()
            .filter(|entry| entry.severity == Severity::Error);
        wrong.extend(errors.map(|entry| format!("{name}: {}", entry.message)));
        for (key, value) in expected {
            let read = options.get(key).map(ToString::to_string);
            if read.as_deref() != Some(value) {
                wrong.push(format!(
                    "{name}: {key} is {read:?} instead of {value}; {:#?}",
                    remarks.entries()
                ));
            }
        }
        wrong.extend((!document.options.overrides().any(|_| true)).then(|| format!("{name}: nothing is read")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A text is bytes in Python 2.
#[test]
fn texts_are_bytes_in_scripts_of_python_2() {
    let set = "o.parameter_map['precision_mode'].s = 'force_fp32'\n";
    for (older, is_python_2) in [
        ("print 'x'\n", true),
        ("exec 'x'\n", true),
        ("if a: print 'x'\n", true),
        ("try:\n    pass\nexcept ValueError, e:\n    pass\n", true),
        ("raise ValueError, 'x'\n", true),
        ("x = 0777\n", true),
        ("print('x')\n", false),
        ("try:\n    pass\nexcept (ValueError, KeyError):\n    pass\n", false),
        ("x = (\n", false),
    ] {
        let (_, remarks) = highwater::script::read_config("a.py", format!("{set}{older}").as_bytes()).unwrap();
        let is_warned = remarks
            .entries()
            .iter()
            .any(|entry| entry.message.contains("takes bytes"));
        assert_eq!(!is_warned, is_python_2, "{older}{remarks:?}");
    }
}
