//! Configurations that are written: without a graph, with errors, with nothing to say, for several frameworks.

use std::path::Path;

use highwater::script::read_config;

use super::{Place, json, text_of, told};

#[test]
fn a_configuration_is_converted_without_a_graph() {
    let place = Place::new();
    let script = place.write(
        "train.py",
        "from npu_bridge.npu_init import *\nmem = MemoryConfig(static_memory_policy=2)\n\
         config = NPURunConfig(memory_config=mem, iterations_per_loop=10)\n",
    );
    let (code, stdout, stderr) = told(&[
        "export",
        "--config",
        &script,
        "--to",
        &place.at("a.json"),
        "--iterations",
        "4",
    ]);
    assert_eq!(
        (code, stdout.as_str()),
        (0, &*format!("wrote {}\n", place.at("a.json"))),
        "{stderr}"
    );
    text_of(
        &["export", "--config", &place.at("a.json"), "--to", &place.at("b.py")],
        0,
    );
    text_of(
        &["export", "--config", &place.at("b.py"), "--to", &place.at("c.json")],
        0,
    );
    assert_eq!(place.read("a.json"), place.read("c.json"));
    let effective = &json(&["check", &place.at("b.py"), "--format", "json"], 0)["effective"];
    assert_eq!(effective["iterations_per_loop"], 10);
    assert_eq!(effective["effective_policy"], 2);
    for arguments in [
        &["export", "--to", &place.at("d.json")][..],
        &["export", "--config", &script, "--to", &place.at("d.html")],
        &["export", "--config", &script, "--to", &place.at("d.highwater")],
        &["export", "--config", &script, "--to", &script],
    ] {
        let (code, _, stderr) = told(arguments);
        assert_eq!(code, 2, "{arguments:?} {stderr}");
    }
    assert_eq!(place.names(), ["a.json", "b.py", "c.json", "train.py"]);
}

#[test]
fn what_is_open_or_left_out_is_told_and_written() {
    let place = Place::new();
    let script = place.write(
        "open.py",
        "import os\nos.environ[\"ASCEND_DEVICE_ID\"] = str(rank)\n\
         mem = MemoryConfig(static_memory_policy=int(os.environ.get(\"P\", 2)))\n\
         config = NPURunConfig(memory_config=mem, session_config=tf.ConfigProto(), iterations_per_loop=FLAGS.n)\n",
    );
    let stdout = text_of(&["export", "--config", &script, "--to", &place.at("a.py")], 0);
    let text = place.read("a.py");
    for words in [
        "left out: variables that the script computes: ASCEND_DEVICE_ID",
        "memory_config.static_memory_policy takes the default of the environment variable P",
    ] {
        assert!(
            stdout.contains(words) && text.contains(&format!("# {words}")),
            "{stdout}{text}"
        );
    }
    assert!(text.contains("import tensorflow as tf\n"), "{text}");
    assert!(
        text.contains("\n# highwater: iterations_per_loop = {\"python\":\"FLAGS.n\"}\n"),
        "{text}"
    );
    assert!(
        stdout.contains("iterations_per_loop is unknown before the script runs (FLAGS.n)"),
        "{stdout}"
    );
}

/// Names that are not defined in the written file are in comments alone.
#[test]
fn written_python_has_no_undefined_names() {
    let place = Place::new();
    let script = place.write(
        "train.py",
        "import sys\npolicy = int(sys.argv[1])\nmem = MemoryConfig(static_memory_policy=policy)\n\
         config = NPURunConfig(memory_config=mem, iterations_per_loop=10, model_dir=FLAGS.out,\n    \
         session_config=tf.ConfigProto(device_count=int(os.environ.get(\"N\", 1))))\n",
    );
    let to = place.at("out.py");
    text_of(&["export", "--config", &script, "--to", &to], 0);
    let text = place.read("out.py");
    let statements: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let statements = statements.join("\n");
    for name in ["policy", "FLAGS", "sys"] {
        assert!(!statements.contains(name), "{text}");
    }
    for line in [
        "import os",
        "import tensorflow as tf",
        "    session_config=tf.ConfigProto(",
    ] {
        assert!(statements.contains(line), "{text}");
    }
    for line in [
        "# highwater: memory_config.static_memory_policy = {\"python\":\"policy\"}\n",
        "# highwater: model_dir = {\"python\":\"FLAGS.out\"}\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let of = |path: &str| {
        let bytes = std::fs::read(path).unwrap();
        read_config(path, &bytes).unwrap().0.options
    };
    assert!(of(&to).overrides().eq(of(&script).overrides()), "{text}");
    let alone = place.write(
        "alone.py",
        "NPURunConfig(memory_config=MemoryConfig(static_memory_policy=f()))\n",
    );
    let (code, _, stderr) = told(&["export", "--config", &alone, "--to", &place.at("nothing.py")]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("(f())") && stderr.contains(".json"), "{stderr}");
}

#[test]
fn settings_of_flags_are_written_without_a_configuration() {
    let place = Place::new();
    let variable = ["--env", "GE_USE_STATIC_MEMORY=2"];
    for to in ["a.json", "a.py", "a.sh"] {
        let path = place.at(to);
        text_of(&[&["export"][..], &variable, &["--to", &path]].concat(), 0);
        let (read, _) = read_config(to, place.read(to).as_bytes()).unwrap();
        assert_eq!(read.environment.get("GE_USE_STATIC_MEMORY"), Some("2"), "{to}");
    }
    let option = ["--set", "precision_mode=force_fp16", "--iterations", "3"];
    text_of(&[&["export"][..], &option, &["--to", &place.at("b.json")]].concat(), 0);
    let (read, _) = read_config("b.json", place.read("b.json").as_bytes()).unwrap();
    assert_eq!(read.schedule.map(|plan| plan.iterations), Some(3));
    for nothing in [&[][..], &["--iterations", "1"]] {
        let (code, _, stderr) = told(&[&["export", "--to", &place.at("c.json")][..], nothing].concat());
        assert_eq!(code, 2, "{stderr}");
        assert!(
            stderr.contains("--config FILE") && stderr.contains("--env NAME=VALUE"),
            "{stderr}"
        );
    }
}

/// Scripts of frameworks without policies.
#[test]
fn other_frameworks_have_no_policy() {
    let place = Place::new();
    for (name, script, class) in [
        (
            "engine.py",
            "dtr_config = DTRConfig(eviction_threshold=3*1024**3)\n",
            "DTRConfig(",
        ),
        ("fluid.py", "fluid.memory_optimize(main)\n", "memory_optimize("),
    ] {
        let script = place.write(name, script);
        let checked = text_of(&["check", &script], 0);
        assert!(!checked.contains("active policy"), "{checked}");
        let compared = told(&["compare", "sample:lenet", "--config", &script]).1;
        assert!(!compared.contains("active"), "{compared}");
        for to in ["out.py", "out.json"] {
            let (code, stdout, stderr) = told(&["export", "--config", &script, "--to", &place.at(to)]);
            assert_eq!((code, &*stdout), (0, &*format!("wrote {}\n", place.at(to))), "{stderr}");
            let text = place.read(to);
            let (read, _) = read_config(to, text.as_bytes()).unwrap();
            assert!(!read.options.is_set("memory_config.static_memory_policy"), "{text}");
        }
        let text = place.read("out.py");
        assert!(text.contains(class) && !text.contains("NPURunConfig"), "{text}");
    }
    // Options of highwater go with the part that there is.
    let both = place.write(
        "both.json",
        "{\"dtr.eviction_threshold\": 5, \"memory_optimize.level\": 1, \"simulation.thrash_limit\": 2}",
    );
    let stdout = text_of(&["export", "--config", &both, "--to", &place.at("both.py")], 0);
    assert!(
        stdout.contains("both_paddle.py") && !stdout.contains("megengine"),
        "{stdout}"
    );
    let text = place.read("both.py");
    assert!(
        text.contains("DTRConfig(") && text.contains("# highwater: simulation.thrash_limit = 2"),
        "{text}"
    );
}

/// Only the adapter's files have a policy, which may hold under a condition of the script alone.
#[test]
fn a_policy_of_one_branch_depends_on_its_condition() {
    let place = Place::new();
    let script = place.write(
        "train.py",
        "if args.static:\n    mem = MemoryConfig(static_memory_policy=2)\nelse:\n    mem = MemoryConfig(static_memory_policy=4)\n\
         config = NPURunConfig(memory_config=mem)\n",
    );
    let words = "depends on the condition \"not args.static\" (line 1)";
    let checked = told(&["check", &script]).1;
    let line = format!("active policy: 4 (static and dynamic expansion), {words}\n");
    assert!(checked.contains(&line), "{checked}");
    let compared = told(&["compare", "sample:lenet", "--config", &script]).1;
    assert!(compared.contains(&format!("active, {words}")), "{compared}");
    let expected = serde_json::json!([{"condition": "not args.static", "line": 1}]);
    for arguments in [
        &["check", &script][..],
        &["compare", "sample:lenet", "--config", &script],
    ] {
        let answer = json(&[arguments, &["--format", "json"]].concat(), 0);
        assert_eq!(answer["effective_policy_depends_on"], expected, "{arguments:?}");
    }
    let plain = place.write(
        "plain.py",
        "NPURunConfig(memory_config=MemoryConfig(static_memory_policy=4))\n",
    );
    assert!(!told(&["check", &plain]).1.contains("depends on"));
}

#[test]
fn the_policy_is_always_stated() {
    let place = Place::new();
    let plain = place.write("plain.json", "{\"graph_run_mode\": 1}");
    let engine = place.write("engine.json", "{\"ge.exec.staticMemoryPolicy\": \"3\"}");
    let shell = place.write("run.sh", "export GE_USE_STATIC_MEMORY=4\n");
    let key = "memory_config.static_memory_policy";
    for (from, states) in [(&plain, true), (&engine, false), (&shell, false)] {
        for to in ["out.json", "out.py"] {
            text_of(&["export", "--config", from, "--to", &place.at(to)], 0);
            let text = place.read(to);
            let (read, _) = read_config(to, text.as_bytes()).unwrap();
            assert_eq!(read.options.is_set(key), states, "{from} {to} {text}");
            if states {
                assert_eq!(read.options.get(key).unwrap().as_int(), Some(0));
            }
        }
    }
}

#[test]
fn errors_are_written_by_force_alone() {
    let place = Place::new();
    let broken = place.write("broken.json", "{\"memory_config.static_memory_policy\": 7}");
    for to in ["out.json", "out.py"] {
        let to = place.at(to);
        let (code, stdout, stderr) = told(&["export", "--config", &broken, "--to", &to]);
        assert_eq!((code, stdout.as_str()), (1, ""));
        assert!(
            stderr.contains("static_memory_policy") && stderr.contains("--force"),
            "{stderr}"
        );
        assert!(!Path::new(&to).exists());
        let (code, _, stderr) = told(&["export", "--config", &broken, "--to", &to, "--force"]);
        assert_eq!(code, 0, "{stderr}");
        assert!(stderr.contains("error: "), "{stderr}");
    }
    let script = place.write(
        "typed.py",
        "m = MemoryConfig(static_memory_policy=\"4\")\nNPURunConfig(memory_config=m)\n",
    );
    let (code, _, stderr) = told(&["export", "--config", &script, "--to", &place.at("typed.json")]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("TypeError"), "{stderr}");
    let (code, _, stderr) = told(&[
        "export",
        "sample:lenet",
        "--config",
        &broken,
        "--to",
        &place.at("graph.json"),
    ]);
    assert_eq!(code, 1, "{stderr}");
    assert!(!Path::new(&place.at("graph.json")).exists());
}

#[test]
fn a_shell_file_without_variables_is_refused() {
    let place = Place::new();
    let options = place.write("options.json", "{\"memory_config.static_memory_policy\": 2}");
    for force in [&[][..], &["--force"]] {
        let to = place.at("out.sh");
        let arguments = [&["export", "--config", &options, "--to", &to][..], force].concat();
        let (code, _, stderr) = told(&arguments);
        assert_eq!(code, 1, "{stderr}");
        assert!(
            stderr.contains(".py or .json") && stderr.contains("static_memory_policy=2"),
            "{stderr}"
        );
        assert!(!Path::new(&to).exists());
    }
    let stdout = text_of(
        &[
            "export",
            "--config",
            &options,
            "--env",
            "ASCEND_DEVICE_ID=1",
            "--to",
            &place.at("out.sh"),
        ],
        0,
    );
    assert!(
        stdout.contains("left out: memory_config.static_memory_policy"),
        "{stdout}"
    );
    let text = place.read("out.sh");
    assert!(!text.contains("GE_USE_STATIC_MEMORY"), "{text}");
    let (read, remarks) = read_config("out.sh", text.as_bytes()).unwrap();
    assert!(remarks.entries().is_empty(), "{remarks:?}");
    assert_eq!(read.environment.iter().collect::<Vec<_>>(), [("ASCEND_DEVICE_ID", "1")]);
}

#[test]
fn parts_of_other_frameworks_have_files_of_their_own() {
    let place = Place::new();
    let all = place.write(
        "all.json",
        "{\"graph_run_mode\": 1, \"dtr.eviction_threshold\": 3221225472, \"memory_optimize.level\": 1}",
    );
    let to = place.at("run.py");
    let (code, shown, stderr) = told(&["export", "--config", &all, "--to", &to, "--preview"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(place.names(), ["all.json"]);
    let stdout = text_of(&["export", "--config", &all, "--to", &to], 0);
    let names = ["run.py", "run_megengine.py", "run_paddle.py"];
    for name in names {
        assert!(stdout.contains(&format!("wrote {}\n", place.at(name))), "{stdout}");
        assert!(
            shown.contains(&format!("==> {} <==\n{}", place.at(name), place.read(name))),
            "{shown}"
        );
    }
    assert!(
        place
            .read("run_megengine.py")
            .contains("DTRConfig(eviction_threshold=3221225472)")
    );
    assert!(place.read("run_paddle.py").contains("fluid.memory_optimize("));
    assert!(!place.read("run.py").contains("megengine") && !place.read("run.py").contains("paddle"));
    let parts = names.map(|name| place.at(name));
    let configs: Vec<&str> = parts.iter().flat_map(|part| ["--config", part]).collect();
    let whole = place.at("whole.json");
    text_of(&[&["export"][..], &configs, &["--to", &whole]].concat(), 0);
    let of = |name: &str| read_config(name, place.read(name).as_bytes()).unwrap().0.options;
    let mut expected = of("all.json");
    expected.set_text("memory_config.static_memory_policy", "0").unwrap();
    assert!(of("whole.json").overrides().eq(expected.overrides()));
    // A file of the user is never replaced by a part.
    place.write("mine_paddle.py", "print(1)\n");
    text_of(&["export", "--config", &all, "--to", &place.at("mine.py")], 2);
    assert!(!Path::new(&place.at("mine.py")).exists());
}

#[test]
fn a_preview_of_an_answer_writes_nothing() {
    let place = Place::new();
    let to = place.at("plan.csv");
    let stdout = text_of(&["export", "sample:lenet", "--to", &to, "--preview"], 0);
    assert!(stdout.starts_with(&format!("==> {to} <==\nlane,")), "{stdout}");
    let (code, _, _) = told(&["export", "sample:lenet", "--to", &place.at("a.png"), "--preview"]);
    assert_eq!(code, 2);
    let broken = place.write("broken.json", "{\"memory_config.static_memory_policy\": 7}");
    let stdout = text_of(
        &["export", "--config", &broken, "--to", &place.at("b.py"), "--preview"],
        1,
    );
    assert!(stdout.contains("static_memory_policy=7"), "{stdout}");
    assert_eq!(place.names(), ["broken.json"]);
}
