//! Configurations written as Python, and read back.

use expect_test::expect;
use highwater::options::{Float, TABLE, Value, find};
use highwater::script::{
    ConfigDocument, ConfigExport, PythonPart, from_json, json_of, read_config, to_json, to_python,
};
use proptest::prelude::*;

/// A document with every kind of entry, and an expression that is not Python.
fn sample() -> ConfigDocument {
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
    document
}

/// The script for the adapter.
fn adapter(document: &ConfigDocument) -> String {
    to_python(document, PythonPart::Adapter).unwrap()
}

/// All scripts in one text.
fn written(document: &ConfigDocument) -> String {
    let scripts = scripts(document).into_iter();
    scripts.map(|(name, text)| format!("== {name}\n{text}")).collect()
}

/// All scripts, each with its name.
fn scripts(document: &ConfigDocument) -> Vec<(String, String)> {
    let script = |part: PythonPart| {
        let text = to_python(document, part)?;
        Some((part.path("a.py".as_ref(), document).display().to_string(), text))
    };
    PythonPart::ALL.into_iter().filter_map(script).collect()
}

#[test]
fn a_document_is_written_in_the_style_of_the_reference() {
    let mut document = sample();
    let lines = [
        "# highwater: work_path = {\"python\":\"oh (no\"}\n",
        "# highwater: op_debug_level = {\"python\":\"FLAGS.level\"}\n",
    ];
    let text = adapter(&document);
    assert!(lines.iter().all(|line| text.contains(line)), "{text}");
    document.options.reset("work_path");
    expect![[r#"
        == a.py
        # A configuration, written by highwater.

        import os
        import tensorflow as tf
        from npu_bridge.npu_init import *

        os.environ["GE_USE_STATIC_MEMORY"] = "it's \"2\""

        mem_config = MemoryConfig(atomic_clean_policy=1, static_memory_policy=2)

        config = NPURunConfig(
            iterations_per_loop=100,
            session_config=tf.ConfigProto(allow_soft_placement=True),
            distribute="strategy",
            precision_mode="allow_mix_precision",
            memory_config=mem_config,
            deterministic=1,
        )

        # Options of the engine. NPURunConfig and the adapter's sessions take none of them; GE's own Python API does.
        ge_options = {
            "ge.exec.disableReuseMemory": "1",
        }


        def ge_session(graph_id, graph):
            # Call it after GeApi.ge_initialize(...).
            from ge.session import Session

            session = Session(ge_options)
            session.add_graph(graph_id, graph)
            return session

        # Options that NPURunConfig does not take; pass session_config to it or to the session.
        session_config = tf.ConfigProto()
        custom_op = session_config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["use_off_line"].b = True
        custom_op.parameter_map["job"].s = tf.compat.as_bytes("worker")

        # Expressions in these comments have names that are not defined here; their options are at their defaults.
        # highwater: op_debug_level = {"python":"FLAGS.level"}
        # highwater: simulation.device_memory = 25769803776
        # highwater: "new option" = {"a":[1]}
        == a_megengine.py
        # A configuration, written by highwater.
        # MegEngine's part: pass dtr_config to the decorator, @trace(symbolic=True, dtr_config=dtr_config).

        from megengine.jit import DTRConfig

        dtr_config = DTRConfig(eviction_threshold=3221225472)
        == a_paddle.py
        # A configuration, written by highwater.
        # Paddle's part: run it once the program is built, before its executor runs.

        import paddle.fluid as fluid

        # Paddle 1.0 to 1.5; later 1.x and 2.x only warn, and 3.x has no paddle.fluid.
        fluid.memory_optimize(fluid.default_main_program(), level=1)
    "#]]
    .assert_eq(&written(&document));
    expect![[r#"
        == a.py
        # A configuration, written by highwater.
    "#]]
    .assert_eq(&written(&ConfigDocument::new()));
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
                document.unknown_options.insert(key, json_of(&value));
            }
        }
        document
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn python_exports_are_read_back(document in document()) {
        let text = written(&document);
        let mut read = ConfigDocument::default();
        for (name, text) in scripts(&document) {
            let part = read_config(&name, text.as_bytes());
            let (part, _) = part.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
            read.options.extend(&part.options);
            read.environment.extend(&part.environment);
            read.unknown_options.extend(part.unknown_options);
        }
        prop_assert_eq!(&read.options, &document.options, "{}", text);
        prop_assert_eq!(&read.environment, &document.environment, "{}", text);
        prop_assert_eq!(&read.unknown_options, &document.unknown_options, "{}", text);
    }

    #[test]
    fn json_exports_are_read_back(document in document()) {
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
fn written_scripts_are_valid_python() {
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
    for (_, text) in scripts(&document) {
        parse(&text);
    }
}

/// Whether Python 3 parses a script, where there is one.
fn parse(text: &str) {
    let mut command = std::process::Command::new("python3");
    command.args(["-c", "import ast, sys; ast.parse(sys.stdin.buffer.read())"]);
    let Ok(mut child) = command.stdin(std::process::Stdio::piped()).spawn() else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, text.as_bytes()).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success(), "{text}");
}

#[test]
fn options_of_the_engine_are_texts_that_its_own_api_takes() {
    let mut document = ConfigDocument::default();
    for (key, text) in [
        ("ge.exec.staticMemoryPolicy", "2"),
        ("ge.experiment.memory_pool_threshold", "16"),
        ("ge.exec.inputReuseMemIndexes", "0,1"),
    ] {
        document.options.set_text(key, text).unwrap();
    }
    let text = adapter(&document);
    let (read, remarks) = read_config("a.py", text.as_bytes()).unwrap();
    assert!(remarks.entries().is_empty(), "{remarks:?}");
    assert!(read.options.overrides().eq(document.options.overrides()), "{text}");
    expect![[r#"
        # A configuration, written by highwater.

        # Options of the engine. NPURunConfig and the adapter's sessions take none of them; GE's own Python API does.
        ge_options = {
            "ge.exec.staticMemoryPolicy": "2",
            "ge.experiment.memory_pool_threshold": "16",
        }
        ge_graph_options = {
            "ge.exec.inputReuseMemIndexes": "0,1",
        }


        def ge_session(graph_id, graph):
            # Call it after GeApi.ge_initialize(...).
            from ge.session import Session

            session = Session(ge_options)
            session.add_graph(graph_id, graph, ge_graph_options)
            return session
    "#]]
    .assert_eq(&text);
    // A value that is no text in the engine stays a comment.
    document
        .options
        .set("ge.exec.disableReuseMemory", Value::Int(1))
        .unwrap();
    let text = adapter(&document);
    assert!(
        text.contains("\n# highwater: ge.exec.disableReuseMemory = 1\n"),
        "{text}"
    );
}

#[test]
fn schedule_device_and_evaluation_are_kept_in_python() {
    let json = r#"{"highwater_config": 1, "options": {"graph_run_mode": 1}, "evaluation": true,
        "device": {"name": "generic-16GB", "memory_bytes": 1234567890},
        "schedule": {"iterations": 3, "dims": {"seq": [8, 16]}, "names": {"g": "train"}}}"#;
    let (document, _) = from_json(json.as_bytes()).unwrap();
    let text = adapter(&document);
    let (read, remarks) = read_config("a.py", text.as_bytes()).unwrap();
    assert!(remarks.entries().is_empty(), "{remarks:?}");
    assert_eq!(read.schedule, document.schedule, "{text}");
    assert_eq!(read.device, document.device);
    assert!(read.evaluation);
    let broken = text.replace("\"iterations\":3", "\"iterations\":\"x\"");
    let (read, remarks) = read_config("a.py", broken.as_bytes()).unwrap();
    assert_eq!(read.schedule, None);
    assert!(remarks.entries()[0].message.contains("not readable"), "{remarks:?}");
}

/// What exports of scripts have, and how many files they are.
#[test]
fn exports_of_scripts_have_what_the_scripts_set() {
    let torchair = "import os\nos.environ['GE_USE_STATIC_MEMORY'] = '2'\nimport torch, torch_npu, torchair\n\
                    backend = torchair.get_npu_backend()\n";
    let engine = "import ge\noptions = {'ge.exec.staticMemoryPolicy': '4', 'ge.socVersion': 'Ascend910B'}\n";
    let pool = "import mindspore as ms\nms.set_device('Ascend', 0)\nms.runtime.set_memory(max_size='10GB')\n";
    let older = "import tensorflow as tf\nconfig = tf.ConfigProto()\n\
                 op = config.graph_options.rewrite_options.custom_optimizers.add()\nop.name = 'NpuOptimizer'\n\
                 op.parameter_map['jit_compile'].b = False\nsession = tf.Session(config=config)\n";
    let shell = "export MS_ALLOC_CONF=memory_recycle:True\nmsrun --worker_num=8 train.py\n";
    let marks = "export GE_USE_STATIC_MEMORY=\u{201c}2\u{201d}\npython train.py\n";
    for (name, text, has, lacks) in [
        ("a.py", torchair, "highwater framework: torchair", "mem_config"),
        (
            "a.py",
            engine,
            "    \"ge.socVersion\": \"Ascend910B\",\n",
            "highwater: ge.",
        ),
        ("a.py", pool, "", "static_memory_policy"),
        ("a.py", older, "left out: jit_compile", "parameter_map"),
        (
            "a.sh",
            shell,
            "os.environ[\"MS_ALLOC_CONF\"] = \"memory_recycle:True\"",
            "mem_config",
        ),
        ("a.sh", marks, "\u{201c}2\u{201d}", "mem_config"),
    ] {
        let (document, _) = read_config(name, text.as_bytes()).unwrap();
        let export = ConfigExport::new(&document, std::path::Path::new("run.py"), Vec::new()).unwrap();
        assert_eq!(export.files.len(), 1, "{text}: {:?}", export.files);
        let written = &export.files[0].text;
        assert!(written.contains(has) && !written.contains(lacks), "{text}: {written}");
        let (read, remarks) = read_config("run.py", written.as_bytes()).unwrap();
        assert_eq!(read.unknown_options, document.unknown_options, "{written}");
        let remarks = remarks.entries().iter().map(|remark| remark.message.as_str());
        assert!(remarks.clone().all(|remark| !remark.contains("U+")), "{written}");
    }
}
