//! Configurations from Python scripts and notebooks, and back.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use highwater::export::{ConfigDocument, from_json, read_config, to_json, to_python};
use highwater::options::{Float, TABLE, Value, find};
use proptest::prelude::*;

/// Everything that a text says: options, unknown options, variables, remarks; or the error.
pub(super) fn summary(name: &str, text: &str) -> String {
    let (document, warnings) = match read_config(name, text.as_bytes()) {
        Ok(read) => read,
        Err(error) => return format!("error: {error}\n"),
    };
    let mut lines = String::new();
    for (key, value) in document.options.overrides() {
        writeln!(lines, "{key} = {value:?}").unwrap();
    }
    for (key, json) in &document.unknown_options {
        writeln!(lines, "unknown {key} = {json}").unwrap();
    }
    for (name, text) in document.environment.iter() {
        writeln!(lines, "env {name} = {text:?}").unwrap();
    }
    for entry in warnings.entries() {
        writeln!(lines, "{}: {}", entry.severity, entry.message).unwrap();
    }
    lines
}

fn reads(name: &str, text: &str, expected: &Expect) {
    expected.assert_eq(&summary(name, text));
}

/// The one option that `NPURunConfig(iterations_per_loop=...)` sets behind the lines of `setup`.
fn value_behind(setup: &str, expression: &str) -> (Option<Value>, Vec<String>) {
    let text = format!("{setup}\nNPURunConfig(iterations_per_loop={expression})\n");
    let (document, warnings) = read_config("train.py", text.as_bytes()).unwrap();
    let messages = warnings.entries().iter().map(|entry| entry.message.clone()).collect();
    (document.options.get("iterations_per_loop").cloned(), messages)
}

#[test]
fn an_estimator_script_is_read() {
    reads(
        "estimator.py",
        include_str!("../fixtures/scripts/estimator.py"),
        &expect![[r#"
            memory_config.static_memory_policy = Int(2)
            memory_config.atomic_clean_policy = Int(0)
            input_fusion_size = Int(33554432)
            precision_mode = Text("allow_mix_precision")
            iterations_per_loop = Int(100)
            hcom_parallel = Bool(true)
            model_dir = Text("./ckpt")
            save_checkpoints_steps = Int(115200)
            session_config = Python("session_config")
            keep_checkpoint_max = Python("kwargs[\"keep\"]")
            env GE_USE_STATIC_MEMORY = "2"
            env JOB_ID = "10086"
            info: line 35: what stands under "args.over_dump" is left out: it takes the default of the flag --over_dump of line 26
            info: line 40: iterations_per_loop takes the default of the parameter "loop" of main()
            info: line 42: model_dir takes the default of the flag --model_dir of line 23
            info: line 44: save_checkpoints_steps takes the default of the flag --save_steps of line 24
            warning: line 45: keep_checkpoint_max is passed to main() in line 30; set it by hand
        "#]],
    );
}

#[test]
fn a_session_script_is_read() {
    reads(
        "session.py",
        include_str!("../fixtures/scripts/session.py"),
        &expect![[r#"
            memory_config.static_memory_policy = Int(3)
            graph_run_mode = Text("1")
            session_device_id = Python("self.device")
            mix_compile_mode = Bool(true)
            precision_mode = Text("force_fp32")
            iterations_per_loop = Int(10)
            profiling_config.enable_profiling = Bool(true)
            use_off_line = Bool(true)
            unknown static_memory_polcy = 2
            info: line 23: iterations_per_loop takes the default of the flag --loop of line 6
            info: line 24: precision_mode takes the default of the flag --precision of line 7
            warning: line 26: session_device_id is computed when the script runs (self.device); set it by hand
            warning: line 29: no option "static_memory_polcy"; did you mean "memory_config.static_memory_policy"? It is kept as it is
            warning: line 30: mix_compile_mode is set only where this condition holds; it is taken as set
        "#]],
    );
}

#[test]
fn a_script_of_the_second_adapter_is_read() {
    reads(
        "keras.py",
        include_str!("../fixtures/scripts/keras.py"),
        &expect![[r#"
            memory_config.static_memory_policy = Int(4)
            deterministic = Int(1)
            precision_mode = Text("allow_mix_precision")
            iterations_per_loop = Python("int(os.environ.get(\"LOOP\", \"5\"))")
            hcom_parallel = Bool(true)
            graph_memory_max_size = Text("27917287424")
            ge.exec.staticMemoryPolicy = Text("2")
            ge.exec.disableReuseMemory = Text("0")
            env ASCEND_DEVICE_ID = "1"
            env RANK_SIZE = "8"
            warning: line 9: iterations_per_loop comes from the environment variable LOOP, which the script does not set (default "5"); set it by hand
        "#]],
    );
}

#[test]
fn companions_are_read() {
    reads(
        "c.py",
        include_str!("../fixtures/scripts/companions.py"),
        &expect![[r#"
            dtr.eviction_threshold = Int(3000000000)
            dtr.evictee_minimum_size = Int(1048576)
            memory_optimize.skip_opt_set = List([Text("fc_0.tmp_0")])
            memory_optimize.level = Int(1)
        "#]],
    );
}

#[test]
fn a_syntax_error_does_not_hide_the_rest() {
    reads(
        "old.py",
        include_str!("../fixtures/scripts/old.py"),
        &expect![[r#"
        iterations_per_loop = Int(7)
        warning: line 2: Simple statements must be separated by newlines or semicolons; what follows may be missing
    "#]],
    );
    reads(
        "bad.py",
        "print 'x'\nx = (1,\n",
        &expect![[r#"
        error: line 1, column 7: Simple statements must be separated by newlines or semicolons
    "#]],
    );
}

#[test]
fn literals_are_followed() {
    let int = |number| Some(Value::Int(number));
    let text = |text: &str| Some(Value::from(text));
    for (setup, expression, expected) in [
        ("", "0x10", int(16)),
        ("", "1_000", int(1000)),
        ("", "-5", int(-5)),
        ("", "-9223372036854775808", int(i64::MIN)),
        ("", "1 << 20", int(1 << 20)),
        ("", "32 * 1024 ** 2", int(32 << 20)),
        ("", "-7 // 2", int(-4)),
        ("", "-7 % 3", int(2)),
        ("", "int('5')", int(5)),
        ("", "int(2.9)", int(2)),
        ("", "True", Some(Value::Bool(true))),
        ("", "not 0", Some(Value::Bool(true))),
        ("", "1.5", Float::new(1.5).map(Value::Float)),
        ("", "3 / 2", Float::new(1.5).map(Value::Float)),
        ("", "'a' \"b\" r'\\c'", text("ab\\c")),
        ("", "b'a' + b'b'", text("ab")),
        ("", "f'plain'", text("plain")),
        ("", "str(26 * 1024)", text("26624")),
        ("", "tf.compat.as_bytes('x')", text("x")),
        ("", "'a'.encode('utf-8')", text("a")),
        ("", "os.path.join('a', 'b')", text("a/b")),
        ("", "5 if 1 < 2 <= 2 else 6", int(5)),
        ("", "None or 7", int(7)),
        (
            "",
            "(1, 'a')",
            Some(Value::Tuple(vec![Value::Int(1), Value::from("a")])),
        ),
        ("", "frozenset(['a'])", Some(Value::List(vec![Value::from("a")]))),
        ("", "{'k': {'l': 3}}['k']['l']", int(3)),
        ("", "[1, 2][-1]", int(2)),
        ("n = 4", "n", int(4)),
        ("n = 4\nn = 5", "n", int(5)),
        ("n = 4\nn *= 3", "n", int(12)),
        ("a, (b, c) = 1, (2, 3)", "a * 100 + b * 10 + c", int(123)),
        ("a, b = 1, 2\na, b = b, a", "a * 10 + b", int(21)),
        ("n: int = 4", "n", int(4)),
        ("class C:\n    n = 4", "C.n", int(4)),
        ("class C:\n    n = 4\nc = C()", "c.n", int(4)),
        ("class C: pass\nC.n = 4\nC.n = 5", "C.n", int(5)),
        ("d = {'n': 4}\nd['n'] = 6", "d['n']", int(6)),
        ("if __name__ == '__main__':\n    n = 4", "n", int(4)),
        ("if x:\n    n = 4\nelse:\n    n = 4", "n", int(4)),
        ("if x:\n    n = 4\nelse:\n    raise ValueError()", "n", int(4)),
        ("n = 4\nif x:\n    raise ValueError()", "n", int(4)),
        ("try:\n    n = 4\nexcept E:\n    n = 4", "n", int(4)),
        ("with open(f) as g:\n    n = 4", "n", int(4)),
        (
            "import os\nos.environ['N'] = '4'",
            "int(os.environ.get('N', '1'))",
            int(4),
        ),
        ("from os import environ as e\ne['N'] = '4'", "int(e['N'])", int(4)),
    ] {
        let (value, messages) = value_behind(setup, expression);
        assert_eq!(value, expected, "{setup}; {expression}: {messages:?}");
        assert!(messages.is_empty(), "{setup}; {expression}: {messages:?}");
    }
}

#[test]
fn what_only_the_running_script_knows_is_told() {
    for (setup, expression, expected) in [
        (
            "",
            "f(x)",
            "line 2: iterations_per_loop is computed when the script runs (f(x)); set it by hand",
        ),
        (
            "n = f()",
            "n",
            "line 2: iterations_per_loop is computed when the script runs (f()); set it by hand",
        ),
        (
            "if x:\n    n = 4\nelse:\n    n = 5",
            "n",
            "line 5: iterations_per_loop has one value in line 2 and another in line 4; set it by hand",
        ),
        (
            "n = 1\nfor i in range(3):\n    n += 1",
            "n",
            "line 4: iterations_per_loop has one value in line 1 and another in line 3; set it by hand",
        ),
        (
            "from consts import n",
            "n",
            "line 2: iterations_per_loop comes from the module consts; set it by hand",
        ),
        (
            "",
            "1 << 80",
            "line 2: iterations_per_loop is a number beyond 64 bits; set it by hand",
        ),
        (
            "",
            "99999999999999999999",
            "line 2: iterations_per_loop is a number beyond 64 bits; set it by hand",
        ),
        (
            "",
            "os.getenv('N', '4')",
            "line 2: iterations_per_loop comes from the environment variable N, which the script does not set (default '4'); set it by hand",
        ),
        (
            "class C:\n    n = 1\n    def f(self):\n        self.n = 2",
            "C.n",
            "line 5: iterations_per_loop is assigned more than once (lines 2 and 4); set it by hand",
        ),
        (
            "parser.add_argument('--n', default=4)",
            "args.n",
            "line 2: iterations_per_loop takes the default of the flag --n of line 1",
        ),
    ] {
        let (value, messages) = value_behind(setup, expression);
        assert!(value.is_some(), "{setup}; {expression}");
        assert_eq!(messages, [expected], "{setup}; {expression}");
    }
}

#[test]
fn functions_and_conditions_are_seen() {
    let text = "n = 1\ndef f():\n    global n\n    n = 2\ndef g(a, b=3):\n    \
                NPURunConfig(op_debug_level=n, deterministic=a, enable_small_channel=b)\n";
    reads(
        "a.py",
        text,
        &expect![[r#"
        deterministic = Python("a")
        enable_small_channel = Int(3)
        op_debug_level = Python("n")
        warning: line 6: op_debug_level has one value in line 1 and another in line 4; set it by hand
        warning: line 6: deterministic is the parameter "a" of g() in line 5; set it by hand
        info: line 6: enable_small_channel takes the default of the parameter "b" of g()
    "#]],
    );
    let text = "if a:\n    NPURunConfig(deterministic=1)\nelif b:\n    os.environ['A'] = '1'\nelse:\n    exit()\n\
                for i in x:\n    NPURunConfig(deterministic=i)\nf = lambda y: NPURunConfig(deterministic=y)\n\
                if False:\n    NPURunConfig(graph_run_mode=1)\n";
    reads(
        "a.py",
        text,
        &expect![[r#"
        deterministic = Python("y")
        env A = "1"
        warning: line 1: A is set only where this condition holds; it is taken as set
        warning: line 8: deterministic is computed when the script runs (x); set it by hand
        warning: line 8: a second NPURunConfig(...) after the one in line 2; they differ in deterministic, and the later one wins where both set an option
        warning: line 9: deterministic is a parameter of the lambda of line 9; set it by hand
        warning: line 9: a second NPURunConfig(...) after the one in line 8; they differ in deterministic, and the later one wins where both set an option
    "#]],
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
        &expect![[r#"
        deterministic = Int(1)
        iterations_per_loop = Int(2)
        warning: line 2: a second NPURunConfig(...) after the one in line 1; they differ in iterations_per_loop, and the later one wins where both set an option
        info: line 3: NPURunConfig(...) says the same as in line 2
    "#]],
    );
    let text = "a = MemoryConfig(0, 2)\nb = MemoryConfig(1, 3)\nNPURunConfig(memory_config=a)\n";
    reads(
        "a.py",
        text,
        &expect![[r#"
        memory_config.static_memory_policy = Int(2)
        memory_config.atomic_clean_policy = Int(0)
        info: line 2: this MemoryConfig(...) is not passed to NPURunConfig and left out
    "#]],
    );
    let text = "NPURunConfig(1, 2, iterations_per_loop=3, *a, nonsense=4, memory_config=MemoryConfig(x=1), **k)\n";
    reads(
        "a.py",
        text,
        &expect![[r#"
        iterations_per_loop = Int(3)
        profiling_config = Int(2)
        unknown memory_config.x = 1
        unknown nonsense = 4
        warning: line 1: NPURunConfig(...) takes arguments that are computed when the script runs; set them by hand
        warning: line 1: no option "memory_config.x"; did you mean "memory_config"? It is kept as it is
        warning: line 1: no option "nonsense"; did you mean "aoe_mode"? It is kept as it is
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
            expect![[r#"
            error: line 1, column 1: expected value
        "#]],
        ),
        (
            "a.json",
            "{\"ge.exec.staticMemoryPolicy\": \"2\",}",
            expect![[r#"
            error: line 1, column 36: trailing comma
        "#]],
        ),
        (
            "a.txt",
            "hello world",
            expect![[r#"
            error: line 1, column 1: neither a configuration (JSON) nor a Python or shell script that sets an option or a variable
        "#]],
        ),
        (
            "a.py",
            "x = 1",
            expect![[r#"
            warning: nothing in it sets an option; highwater reads a call of NPURunConfig(...) or another class of options, custom_op.parameter_map[...], npu.global_options() or os.environ[...]
        "#]],
        ),
        (
            "a.py",
            "x = (1",
            expect![[r#"
            error: line 1, column 7: unexpected EOF while parsing
        "#]],
        ),
        (
            "a.sh",
            "python train.py",
            expect![[r#"
            warning: nothing in it sets an option; highwater reads export NAME=value of a variable that has an effect here
        "#]],
        ),
    ] {
        reads(name, text, &expected);
    }
    let (document, _) = read_config("a.py", b"# \xc4\xe3\xba\xc3\nNPURunConfig(deterministic=1)").unwrap();
    assert!(document.options.is_set("deterministic"));
}

#[test]
fn a_notebook_is_read() {
    let notebook = r##"{"nbformat": 4, "cells": [
        {"cell_type": "markdown", "source": ["NPURunConfig(deterministic=0)"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "!pip install x\n", "n = 3"]},
        {"cell_type": "code", "source": "%%bash\nexport A=1"},
        {"cell_type": "code", "source": "%%time\nNPURunConfig(iterations_per_loop=n)"}]}"##;
    for name in ["a.ipynb", "a.json", "a"] {
        reads(
            name,
            notebook,
            &expect![[r#"
                iterations_per_loop = Int(3)
            "#]],
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
    let (document, _) = read_config("a.py", long.as_bytes()).unwrap();
    assert_eq!(document.options.get("deterministic"), Some(&Value::Int(19_999)));
}

#[test]
fn a_document_is_written_in_the_style_of_the_reference() {
    let mut document = ConfigDocument::new();
    for (key, text) in [
        ("memory_config.static_memory_policy", "2"),
        ("memory_config.atomic_clean_policy", "1"),
        ("precision_mode", "allow_mix_precision"),
        ("iterations_per_loop", "100"),
        ("deterministic", "1"),
        ("session_config", "tf.ConfigProto(allow_soft_placement=True)"),
        ("distribute", "strategy"),
        ("dtr.eviction_threshold", "3GiB"),
        ("memory_optimize.level", "1"),
        ("use_off_line", "True"),
        ("job", "worker"),
        ("ge.exec.disableReuseMemory", "1"),
        ("simulation.device_memory", "24GiB"),
    ] {
        document.options.set_text(key, text).unwrap();
    }
    document
        .options
        .set("op_debug_level", Value::Python("FLAGS.level".to_owned()))
        .unwrap();
    document
        .options
        .set("work_path", Value::Python("oh (no".to_owned()))
        .unwrap();
    document.environment.set("GE_USE_STATIC_MEMORY", "it's \"2\"");
    document
        .unknown_options
        .insert("new option".to_owned(), serde_json::json!({"a": [1]}));
    expect![[r##"
        # A configuration, written by highwater.

        import os
        import paddle.fluid as fluid
        import tensorflow as tf
        from megengine.jit import DTRConfig
        from npu_bridge.npu_init import *

        os.environ["GE_USE_STATIC_MEMORY"] = "it's \"2\""

        mem_config = MemoryConfig(atomic_clean_policy=1, static_memory_policy=2)
        dtr_config = DTRConfig(eviction_threshold=3221225472)
        fluid.memory_optimize(fluid.default_main_program(), level=1)

        config = NPURunConfig(
            iterations_per_loop=100,
            session_config=tf.ConfigProto(allow_soft_placement=True),
            distribute="strategy",
            precision_mode="allow_mix_precision",
            op_debug_level=FLAGS.level,
            memory_config=mem_config,
            deterministic=1,
        )

        ge_options = {
            "ge.exec.disableReuseMemory": "1",
        }

        # Options that NPURunConfig does not take; pass session_config to it or to the session.
        session_config = tf.ConfigProto()
        custom_op = session_config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["use_off_line"].b = True
        custom_op.parameter_map["job"].s = tf.compat.as_bytes("worker")

        # highwater: work_path = {"python":"oh (no"}
        # highwater: simulation.device_memory = 25769803776
        # highwater: "new option" = {"a":[1]}
    "##]]
    .assert_eq(&to_python(&document));
    document.options.reset("work_path");
    expect![[r##"
        # A configuration, written by highwater.

        import os
        import paddle.fluid as fluid
        import tensorflow as tf
        from megengine.jit import DTRConfig
        from npu_bridge.npu_init import *

        os.environ["GE_USE_STATIC_MEMORY"] = "it's \"2\""

        mem_config = MemoryConfig(atomic_clean_policy=1, static_memory_policy=2)
        dtr_config = DTRConfig(eviction_threshold=3221225472)
        fluid.memory_optimize(fluid.default_main_program(), level=1)

        config = NPURunConfig(
            iterations_per_loop=100,
            session_config=tf.ConfigProto(allow_soft_placement=True),
            distribute="strategy",
            precision_mode="allow_mix_precision",
            op_debug_level=FLAGS.level,
            memory_config=mem_config,
            deterministic=1,
        )

        ge_options = {
            "ge.exec.disableReuseMemory": "1",
        }

        # Options that NPURunConfig does not take; pass session_config to it or to the session.
        session_config = tf.ConfigProto()
        custom_op = session_config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["use_off_line"].b = True
        custom_op.parameter_map["job"].s = tf.compat.as_bytes("worker")

        # highwater: simulation.device_memory = 25769803776
        # highwater: "new option" = {"a":[1]}
    "##]]
    .assert_eq(&to_python(&document));
    expect![[r#"
        # A configuration, written by highwater.
    "#]]
    .assert_eq(&to_python(&ConfigDocument::new()));
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![".*", "[a-z\"'\\\\\n\r\t\u{0}\u{2028}é{}#%]{0,12}", "[0-9]{1,3}(GiB|)"];
    let plain = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_filter_map("finite", |number| Float::new(number).map(Value::Float)),
        text.prop_map(Value::Text),
        prop_oneof![
            Just("x"),
            Just("f(y=1)"),
            Just("5"),
            Just("oh (no"),
            Just("config"),
            Just("a\nb"),
            Just("MemoryConfig(0, 2)"),
            Just("DumpConfig(**d)"),
            Just("NPURunConfig(deterministic=1)"),
            Just("os.environ['A']")
        ]
        .prop_map(|text| Value::Python(text.to_owned())),
    ];
    let nested = plain.clone().prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::List),
            proptest::collection::vec(inner, 0..3).prop_map(Value::Tuple),
        ]
    });
    prop_oneof![3 => plain, 1 => nested]
}

fn document() -> impl Strategy<Value = ConfigDocument> {
    let options = proptest::collection::vec((0..TABLE.len(), value()), 0..20);
    let environment = proptest::collection::btree_map(prop_oneof![".*", "[A-Z_]{1,8}"], ".*|[a\n'\"\\\\$`]{0,6}", 0..4);
    let unknown = proptest::collection::btree_map(".*|[a-z_.]{1,8}", value(), 0..3);
    (options, environment, unknown).prop_map(|(options, environment, unknown)| {
        let mut document = ConfigDocument::default();
        for (row, value) in options {
            document.options.set(TABLE[row].key, value).unwrap();
        }
        for (name, text) in environment {
            document.environment.set(&name, &text);
        }
        for (key, value) in unknown {
            if find(&key).is_none() {
                document.unknown_options.insert(key, highwater::export::json_of(&value));
            }
        }
        document
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_as_python_is_read_back(document in document()) {
        let text = to_python(&document);
        let read = read_config("a.py", text.as_bytes());
        let (read, _) = read.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&read.options, &document.options, "{}", text);
        prop_assert_eq!(&read.environment, &document.environment, "{}", text);
        prop_assert_eq!(&read.unknown_options, &document.unknown_options, "{}", text);
    }

    #[test]
    fn what_is_written_as_json_is_read_back(document in document()) {
        let text = to_json(&document);
        let (read, _) = from_json(text.as_bytes()).unwrap();
        prop_assert_eq!(&read.options, &document.options, "{}", text);
        prop_assert_eq!(&read.environment, &document.environment, "{}", text);
    }

    #[test]
    fn no_text_stops_the_reader(parts in proptest::collection::vec(prop_oneof![
        Just("NPURunConfig("), Just("custom_op.parameter_map["), Just("'a'"), Just("]"), Just(".i = "), Just(")"), Just("\n"),
        Just("    "), Just("if x:"), Just("else:"), Just("x = "), Just("x"), Just("**"), Just(","), Just("{"), Just("}"), Just(":"),
        Just("os.environ["), Just("def f(x=1):"), Just("# highwater: a = "), Just("f'{x"), Just("'''"), Just("export A="), Just("${"),
        Just("$("), Just("\\"), Just("\""), Just("é"), Just("1"), Just("MemoryConfig("), Just("=")], 0..60)) {
        let text = parts.concat();
        for name in ["a.py", "a.sh", "a.json", "a.ipynb", "a"] {
            drop(read_config(name, text.as_bytes()));
        }
    }
}

#[test]
fn what_is_written_is_python() {
    let mut document = ConfigDocument::new();
    for (at, row) in TABLE.iter().enumerate() {
        let value = [
            Value::Int(1),
            Value::Bool(true),
            Value::from("a\"'\\\n\u{1}é"),
            Value::Tuple(vec![Value::Int(1)]),
        ][at % 4]
            .clone();
        document.options.set(row.key, value).unwrap();
    }
    let mut command = std::process::Command::new("python3");
    command.args(["-c", "import ast, sys; ast.parse(sys.stdin.buffer.read())"]);
    let Ok(mut child) = command.stdin(std::process::Stdio::piped()).spawn() else {
        println!("skipped: there is no python3");
        return;
    };
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, to_python(&document).as_bytes()).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
}
