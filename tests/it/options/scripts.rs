//! Whole scripts: their form, several configurations in one, notebooks, and nesting limits.

use std::fmt::Write as _;

use expect_test::expect;
use highwater::options::Value;
use highwater::script::read_config;

use super::python::reads;

#[test]
fn a_script_with_very_many_configurations_is_read_in_part() {
    let nested = format!("{}7{}", "NPURunConfig(iter = ".repeat(80), ")".repeat(80));
    let script = format!("config = [{}]\n", vec![nested.as_str(); 40].join(","));
    let (_, warnings) = read_config("many.py", script.as_bytes()).unwrap();
    let is_told = |text: &str| text.contains("at most 1000 configurations are read");
    assert!(
        warnings.entries().iter().any(|entry| is_told(&entry.message)),
        "{warnings:?}"
    );
}

#[test]
fn several_configurations_are_compared() {
    let text = "a = NPURunConfig(iterations_per_loop=1, deterministic=1)\n\
                b = NPURunConfig(iterations_per_loop=2, deterministic=1)\n\
                c = NPURunConfig(iterations_per_loop=2, deterministic=1)\n";
    reads(
        "a.py",
        text,
        &expect![[r"
            deterministic = Int(1)
            iterations_per_loop = Int(2)
            warning: line 1: this NPURunConfig(...) is ignored: the one in line 3 is taken, and they differ in iterations_per_loop
            info: line 2: this NPURunConfig(...) equals the one in line 3
        "]],
    );
    let text = "a = MemoryConfig(0, 2)\nb = MemoryConfig(1, 3)\nNPURunConfig(memory_config=a)\n";
    reads(
        "a.py",
        text,
        &expect![[r#"
            memory_config.static_memory_policy = Int(2)
            memory_config.atomic_clean_policy = Int(0)
            warning: line 2: this MemoryConfig(...) is not passed to NPURunConfig, so that it sets nothing
        "#]],
    );
    let text = "NPURunConfig(1, 2, iterations_per_loop=3, *a, nonsense=4, memory_config=MemoryConfig(x=1), **k)\n";
    reads(
        "a.py",
        text,
        &expect![[r#"
            iterations_per_loop = Int(3)
            profiling_config = Int(2)
            error: line 1: NPURunConfig takes no argument nonsense, so that Python raises a TypeError
            error: line 1: MemoryConfig takes no argument x, so that Python raises a TypeError
            warning: line 1: NPURunConfig(...) takes arguments that are computed when the script runs; set them by hand
        "#]],
    );
}

#[test]
fn the_form_is_recognised() {
    let python = "NPURunConfig(deterministic=1)\n";
    let shell = "export GE_USE_STATIC_MEMORY=2\n";
    let json = "{\"deterministic\": 1}";
    for (name, text) in [
        ("a.py", python),
        ("a", python),
        ("a.json", python),
        ("a.sh", python),
        ("-", python),
        ("a.json", json),
        ("a.py", json),
        ("a", json),
        ("a.sh", json),
    ] {
        let (document, _) = read_config(name, text.as_bytes()).unwrap();
        assert!(document.options.is_set("deterministic"), "{name}: {text}");
    }
    for name in ["a.sh", "a.env", ".env", "Dockerfile", "a.py", "a.json", "a"] {
        let (document, _) = read_config(name, shell.as_bytes()).unwrap();
        assert_eq!(document.environment.get("GE_USE_STATIC_MEMORY"), Some("2"), "{name}");
    }
    for (name, text, expected) in [
        (
            "a.json",
            "hello",
            expect![[r"
            error: line 1, column 1: expected value
        "]],
        ),
        (
            "a.json",
            "{\"ge.exec.staticMemoryPolicy\": \"2\",}",
            expect![[r"
            error: line 1, column 36: trailing comma
        "]],
        ),
        (
            "a.txt",
            "hello world",
            expect![[r"
            error: line 1, column 1: neither a configuration (JSON) nor a Python or shell script that sets an option or a variable
        "]],
        ),
        (
            "a.py",
            "x = 1",
            expect![[r"
            warning: nothing in it sets an option; highwater reads a call of NPURunConfig(...) or another class of options, custom_op.parameter_map[...], npu.global_options() or os.environ[...]
        "]],
        ),
        (
            "a.py",
            "x = (1",
            expect![[r"
            error: line 1, column 7: unexpected EOF while parsing
        "]],
        ),
        (
            "a.sh",
            "python train.py",
            expect![[r"
            warning: nothing in it sets an option; highwater reads export NAME=value of a variable that has an effect here
        "]],
        ),
    ] {
        reads(name, text, &expected);
    }
    let (document, _) = read_config("a.py", b"# \xc4\xe3\xba\xc3\nNPURunConfig(deterministic=1)").unwrap();
    assert!(document.options.is_set("deterministic"));
}

#[test]
fn a_notebook_is_read() {
    let notebook = r#"{"nbformat": 4, "cells": [
        {"cell_type": "markdown", "source": ["NPURunConfig(deterministic=0)"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "!pip install x\n", "n = 3"]},
        {"cell_type": "code", "source": "%%bash\nexport A=1"},
        {"cell_type": "code", "source": "%%time\nNPURunConfig(iterations_per_loop=n)"}]}"#;
    for name in ["a.ipynb", "a.json", "a"] {
        reads(
            name,
            notebook,
            &expect![[r"
                iterations_per_loop = Int(3)
            "]],
        );
    }
}

#[test]
fn no_script_is_too_deep_or_too_long() {
    let n = 50_000;
    let chain = |part: &str| format!("x = {}1\n", part.repeat(n));
    let wrapped = |open: &str, close: &str| format!("x = {}1{}\n", open.repeat(n), close.repeat(n));
    let deep = [
        "(".repeat(100_000),
        "[".repeat(100_000),
        "{".repeat(100_000),
        "{1:".repeat(n),
        "f(".repeat(n),
        "lambda x, y: ".repeat(n),
        "f'{".repeat(n),
        "x if y else ".repeat(n),
        "-".repeat(n),
        "x = not ".repeat(n),
        wrapped("(", ")"),
        wrapped("[", "]"),
        wrapped("f(", ")"),
        chain("not "),
        chain("-"),
        chain("~"),
        chain("1+"),
        chain("1**"),
        chain("a if b else "),
        chain("await "),
        chain("lambda: "),
        chain("lambda a, b: "),
        format!("x{}\n", ".a".repeat(n)),
        format!("x{}\n", "[0, 1]".repeat(n)),
        format!("x{}\n", "(1, 2)".repeat(n)),
        format!("x = 1{}\n", " and 1".repeat(n)),
        format!("x = 1{}\n", " < 1".repeat(n)),
        (0..2000).fold(String::new(), |text, depth| text + &" ".repeat(depth) + "if x:\n"),
    ];
    for text in &deep {
        for text in [text.clone(), format!("NPURunConfig(deterministic={text}")] {
            drop(read_config("a.py", text.as_bytes()));
        }
    }
    let error = read_config(
        "a.py",
        format!("x = 1\ny = '''\n'''\nz = {}", "(".repeat(1000)).as_bytes(),
    )
    .unwrap_err();
    assert_eq!(
        (error.line, error.reason.as_str()),
        (4, "the script is nested too deep to be a configuration")
    );
    let nested = format!(
        "x = {}1{}\nx = 1{}\nNPURunConfig(deterministic=1)\n",
        "(".repeat(390),
        ")".repeat(390),
        "+1".repeat(390)
    );
    assert!(read_config("a.py", nested.as_bytes()).is_ok());
    let mut long = String::from("x = 1\ny = 'a'\n");
    for line in 0..20_000 {
        writeln!(long, "x = [x, x]\nif a{line}:\n    y{line} = {line}\n    y = y + y\nz = MemoryConfig(z)\nNPURunConfig(deterministic={line})").unwrap();
    }
    let (document, remarks) = read_config("a.py", long.as_bytes()).unwrap();
    assert_eq!(document.options.get("deterministic"), Some(&Value::Int(999)));
    let is_told = |text: &str| text.contains("at most 1000 configurations are read");
    assert!(remarks.entries().iter().any(|one| is_told(&one.message)));
}
