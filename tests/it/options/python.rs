//! Configurations from Python scripts: followed or reported.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use highwater::options::{ENVIRONMENT, Float, Value};
use highwater::script::read_config;

/// The meaning of a text: options, unknown options, variables, remarks; or the error.
fn summary(name: &str, text: &str) -> String {
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
    for row in ENVIRONMENT
        .iter()
        .filter(|row| document.environment.is_unread(row.name))
    {
        writeln!(lines, "env {} is unread", row.name).unwrap();
    }
    for entry in warnings.entries() {
        writeln!(lines, "{}: {}", entry.severity, entry.message).unwrap();
    }
    lines
}

pub(super) fn reads(name: &str, text: &str, expected: &Expect) {
    expected.assert_eq(&summary(name, text));
}

#[test]
fn a_set_that_changes_is_not_what_it_was() {
    for change in ["s.add(2)", "t = s\nt.update([2])", "s.discard(1)"] {
        let (value, messages) = value_behind(&format!("s = {{1}}\n{change}"), "s");
        let is_stale = value == Some(Value::Set(vec![Value::Int(1)]));
        assert!(!is_stale && !messages.is_empty(), "{change}: {value:?} {messages:?}");
    }
}

/// The single option that `NPURunConfig(iterations_per_loop=...)` sets after the lines of `setup`.
pub(super) fn value_behind(setup: &str, expression: &str) -> (Option<Value>, Vec<String>) {
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
            info: line 36: this is ignored: "args.over_dump" in line 35 takes the default of the flag --over_dump of line 26
            info: line 40: iterations_per_loop takes the default of the parameter "loop" of main()
            info: line 42: model_dir takes the default of the flag --model_dir of line 23
            info: line 44: save_checkpoints_steps takes the default of the flag --save-steps of line 24
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
            warning: line 27: graph_run_mode keeps its default: the adapter reads the field .i of this entry, and .s is set
            warning: line 29: parameter_map["static_memory_polcy"] has no effect, since the adapter does not read it: did you mean "static_memory_policy"?
            warning: line 30: mix_compile_mode is set only where this condition holds; it is taken as set
            warning: line 35: this parameter_map sets nothing: its optimizer is named "TensorRTOptimizer" in line 34, and TensorFlow finds the adapter's by the name NpuOptimizer alone
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
            iterations_per_loop = Int(5)
            hcom_parallel = Bool(true)
            graph_memory_max_size = Text("27917287424")
            ge.exec.staticMemoryPolicy = Text("2")
            ge.exec.disableReuseMemory = Text("0")
            env ASCEND_DEVICE_ID = "1"
            env RANK_SIZE = "8"
            info: line 9: iterations_per_loop takes the default of the environment variable LOOP in line 9
        "#]],
    );
}

#[test]
fn companions_are_read() {
    reads(
        "c.py",
        include_str!("../fixtures/scripts/companions.py"),
        &expect![[r#"
            dtr.eviction_threshold = Int(3221225472)
            dtr.evictee_minimum_size = Int(1048576)
            memory_optimize.skip_opt_set = Set([Text("fc_0.tmp_0")])
            memory_optimize.level = Int(1)
            error: line 4: eviction_threshold is "3GB", a text, for which DTRConfig raises a TypeError: write the bytes, 3221225472 (KB, MB and GB are powers of 1024 in MegEngine)
        "#]],
    );
}

#[test]
fn a_syntax_error_does_not_hide_the_rest() {
    reads(
        "old.py",
        include_str!("../fixtures/scripts/old.py"),
        &expect![[r"
        iterations_per_loop = Int(7)
        warning: line 2: Simple statements must be separated by newlines or semicolons; what follows may be missing
    "]],
    );
    reads(
        "bad.py",
        "print 'x'\nx = (1,\n",
        &expect![[r"
        error: line 1, column 7: Simple statements must be separated by newlines or semicolons
    "]],
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
fn texts_are_put_together() {
    let int = |number| Some(Value::Int(number));
    let text = |text: &str| Some(Value::from(text));
    for (setup, expression, expected) in [
        ("", "','.join(['a', 'b'])", text("a,b")),
        ("", "'%s-%d%%' % ('a', 3)", text("a-3%")),
        ("", "'%s' % 3", text("3")),
        ("", "'{}:{1}{{{k}}}'.format('a', 2, k='c')", text("a:2{c}")),
        ("", "str.encode('x')", text("x")),
        ("", "'x'.encode()", text("x")),
        ("", "len([1, 2])", int(2)),
        (
            "d = {'a': [1, True, None, 2.5], 'b': {'c': 'x\\\"\u{e9}'}}",
            "json.dumps(d)",
            text(r#"{"a": [1, true, null, 2.5], "b": {"c": "x\"\u00e9"}}"#),
        ),
    ] {
        let (value, messages) = value_behind(setup, expression);
        assert_eq!(value, expected, "{setup}; {expression}: {messages:?}");
        assert!(messages.is_empty(), "{setup}; {expression}: {messages:?}");
    }
}

#[test]
fn values_known_only_to_the_running_script_are_reported() {
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
            "n = 1\nfor i in range(m):\n    n += 1",
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
            "line 2: iterations_per_loop takes the default of the environment variable N in line 2",
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
            warning: line 2: this NPURunConfig(...) is ignored: the one in line 9 is taken, and they differ in deterministic
            warning: line 3: A is set only where this condition holds; it is taken as set
            warning: line 8: deterministic is computed when the script runs (x); set it by hand
            warning: line 8: this NPURunConfig(...) is ignored: the one in line 9 is taken, and they differ in deterministic
            warning: line 9: deterministic is a parameter of the lambda of line 9; set it by hand
            info: line 11: this is ignored: "False" in line 10 is false
        "#]],
    );
}
