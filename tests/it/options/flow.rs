//! Scripts whose flow depends on flags and conditions, objects that are not passed, types that Python refuses.

use expect_test::expect;

use super::python::reads;

/// The idiom of BERT: the defaults of the flags would stop the script.
#[test]
fn a_guard_of_flags_does_not_end_the_flow() {
    for guard in [
        "if not FLAGS.do_train and not FLAGS.do_eval:\n    raise ValueError('one of them')\n",
        "if not FLAGS.do_train:\n    sys.exit(1)\n",
        "if FLAGS.do_train is False:\n    exit()\n",
        "if not (FLAGS.do_train or FLAGS.do_eval):\n    raise SystemExit\n",
        "if os.environ.get('RANK_SIZE', '0') == '0':\n    sys.exit(0)\n",
        "if unknown():\n    quit()\n",
        "if FLAGS.do_train:\n    pass\nelse:\n    sys.exit(1)\n",
    ] {
        let text = format!(
            "import os, sys\nflags.DEFINE_bool('do_train', False, '')\nflags.DEFINE_bool('do_eval', False, '')\n{guard}\
             NPURunConfig(deterministic=1)\n"
        );
        let (document, warnings) = highwater::script::read_config("train.py", text.as_bytes()).unwrap();
        assert!(document.options.is_set("deterministic"), "{guard}{warnings:?}");
    }
}

#[test]
fn guards_in_functions_do_not_end_them() {
    reads(
        "a.py",
        "flags.DEFINE_bool('do_train', False, '')\ndef main(_):\n    if not FLAGS.do_train:\n        return\n    \
         NPURunConfig(deterministic=1)\n",
        &expect![[r#"
            deterministic = Int(1)
        "#]],
    );
}

#[test]
fn statements_behind_an_end_are_reported() {
    reads(
        "a.py",
        "NPURunConfig(deterministic=1)\nif False:\n    os.environ['A'] = '1'\nif True:\n    pass\nelse:\n    \
         os.environ['B'] = '1'\nsys.exit(0)\nos.environ['C'] = '1'\nx = 1\nos.environ['D'] = '1'\n",
        &expect![[r#"
            deterministic = Int(1)
            info: line 3: this is ignored: "False" in line 2 is false
            info: line 7: this is ignored: the condition in line 4 holds
            warning: line 9: lines up to 11 are ignored: the flow ends in line 8 (sys.exit(0))
        "#]],
    );
}

#[test]
fn one_branch_is_taken_of_those_that_exclude_each_other() {
    reads(
        "a.py",
        "if args.p == 'a':\n    o.parameter_map['precision_mode'].s = b'allow_mix_precision'\n\
         elif args.p == 'b':\n    o.parameter_map['precision_mode_v2'].s = b'mixed_float16'\n\
         if args.q:\n    o.parameter_map['hccl_timeout'].i = 1\nelse:\n    o.parameter_map['hccl_timeout'].i = 2\n",
        &expect![[r#"
            precision_mode_v2 = Text("mixed_float16")
            hccl_timeout = Int(2)
            warning: line 2: precision_mode is ignored: it is set in a branch that excludes the one of line 3, which is taken
            warning: line 3: precision_mode_v2 is set only where this condition holds; it is taken as set
            warning: line 5: hccl_timeout is set only where this condition holds; it is taken as set
            warning: line 8: hccl_timeout is 1 in another branch, in line 6; the value here is taken
        "#]],
    );
}

#[test]
fn what_follows_a_guard_excludes_its_branch() {
    reads(
        "a.py",
        "def f():\n    if args.p:\n        o.parameter_map['enable_dump'].b = True\n        return\n    \
         o.parameter_map['enable_dump_debug'].b = True\n",
        &expect![[r#"
            dump_config.enable_dump_debug = Bool(true)
            warning: line 3: dump_config.enable_dump is ignored: it is set in a branch that excludes the one of line 2, which is taken
        "#]],
    );
}

#[test]
fn fields_are_read_as_protobuf_and_the_adapter_do() {
    reads(
        "a.py",
        "o.parameter_map['dynamic_input'].b = 1\no.parameter_map['op_debug_level'].i = True\n\
         o.parameter_map['hccl_timeout'].i = '4'\no.parameter_map['static_memory_policy'].s = b'2'\n\
         o.parameter_map['min_group_size'].b = 1\no.parameter_map['auto_tune_mode'].s = b'RL,GA'\n\
         o.parameter_map['profiling_mode'].b = True\no.parameter_map['jit_compile'].s = 4\n",
        &expect![[r#"
            profiling_config.enable_profiling = Bool(true)
            op_debug_level = Int(1)
            dynamic_input = Bool(true)
            min_group_size = Bool(true)
            auto_tune_mode = Text("RL,GA")
            error: line 3: hccl_timeout is "4", for which protobuf raises a TypeError: the field .i takes an integer
            warning: line 4: memory_config.static_memory_policy keeps its default: the adapter reads the field .i of this entry, and .s is set
            error: line 8: jit_compile is 4, for which protobuf raises a TypeError: the field .s takes bytes
        "#]],
    );
}

#[test]
fn arguments_that_python_refuses_are_errors() {
    reads(
        "a.py",
        "NPURunConfig(precison_mode='x', nonsense=1, memory_config=MemoryConfig(static_memory_policy='4', policy=2))\n",
        &expect![[r#"
            memory_config.static_memory_policy = Text("4")
            error: line 1: NPURunConfig takes no argument precison_mode, so that Python raises a TypeError; did you mean precision_mode?
            error: line 1: NPURunConfig takes no argument nonsense, so that Python raises a TypeError
            error: line 1: static_memory_policy is "4", a text, for which MemoryConfig raises a TypeError: write the number without quotes
            error: line 1: MemoryConfig takes no argument policy, so that Python raises a TypeError
        "#]],
    );
}

#[test]
fn objects_that_are_not_passed_set_nothing() {
    for (text, expected) in [
        (
            "m = MemoryConfig(static_memory_policy=2)\nNPURunConfig(session_config=sc)\n",
            None,
        ),
        (
            "m = MemoryConfig(static_memory_policy=2)\nNPURunConfig(memory_config=m)\n",
            Some(2),
        ),
        (
            "m = MemoryConfig(static_memory_policy=2)\nNPURunConfig(memory_config=make())\n",
            Some(2),
        ),
        (
            "m = MemoryConfig(static_memory_policy=2)\nNPURunConfig(**more)\n",
            Some(2),
        ),
        ("m = MemoryConfig(static_memory_policy=2)\n", Some(2)),
        // It is passed to an object that is taken first.
        (
            "e = ExperimentalConfig()\nm = MemoryConfig(static_memory_policy=2)\ne.graph_memory_optimize_config = m\n",
            None,
        ),
        (
            "c = NPURunConfig(memory_config=MemoryConfig(static_memory_policy=2))\n\
             c._memory_config._static_memory_policy = 4\n",
            Some(4),
        ),
    ] {
        let (document, warnings) = highwater::script::read_config("train.py", text.as_bytes()).unwrap();
        let policy = document.options.get("memory_config.static_memory_policy");
        assert_eq!(policy.and_then(|value| value.as_int()), expected, "{text}{warnings:?}");
    }
}

#[test]
fn defaults_of_lookups_are_assumed() {
    reads(
        "a.py",
        "NPURunConfig(deterministic=int(os.environ.get('D', 1)), iterations_per_loop=cfg.get('loops', 2), \
         hccl_timeout=getattr(args, 'timeout', 3), precision_mode=cfg.get('mode'))\n\
         opts = {'hcom_parallel': True, 'mix_compile_mode': False}\nfor k, v in opts.items():\n    \
         o.parameter_map[k].b = v\n",
        &expect![[r#"
            deterministic = Int(1)
            mix_compile_mode = Bool(false)
            precision_mode = Python("cfg.get('mode')")
            iterations_per_loop = Int(2)
            hcom_parallel = Bool(true)
            hccl_timeout = Int(3)
            info: line 1: deterministic takes the default of the environment variable D in line 1
            info: line 1: iterations_per_loop takes the default of cfg.get('loops', 2) in line 1
            info: line 1: hccl_timeout takes the default of getattr(args, 'timeout', 3) in line 1
            warning: line 1: precision_mode is computed when the script runs (cfg.get('mode')); set it by hand
        "#]],
    );
}

#[test]
fn calls_beside_the_configuration_have_to_agree() {
    reads(
        "a.py",
        "c = NPURunConfig(iterations_per_loop=300)\nestimator.train(input_fn, max_steps=1000)\n\
         tf.estimator.TrainSpec(f, 900)\nNPUOptimizer(opt, is_tailing_optimization=True)\n",
        &expect![[r#"
            iterations_per_loop = Int(300)
            warning: line 2: 1000 steps are no multiple of iterations_per_loop 300: the last loop runs beyond them or is dropped; use a multiple
            warning: line 4: is_tailing_optimization is True in NPUOptimizer and False in the configuration: both have to be the same
        "#]],
    );
}

#[test]
fn one_of_several_configurations_can_be_chosen() {
    let text = "a = NPURunConfig(session_device_id=0, deterministic=1)\nb = NPURunConfig(session_device_id=1)\n\
                f(NPURunConfig(session_device_id=2))\n";
    let read = |of| highwater::script::read_config_of("train.py", text.as_bytes(), of);
    for (of, device) in [(None, 2), (Some("a"), 0), (Some("b"), 1), (Some("line 3"), 2)] {
        let (document, _) = read(of).unwrap();
        assert_eq!(document.script.configurations, ["a", "b", "line 3"]);
        assert_eq!(document.script.left_out.len(), 2);
        let found = document
            .options
            .get("session_device_id")
            .and_then(|value| value.as_int());
        assert_eq!(found, Some(device), "{of:?}");
        assert_eq!(document.options.is_set("deterministic"), device == 0);
    }
    let error = read(Some("c")).unwrap_err().to_string();
    assert!(error.contains("no configuration c; there are a, b, line 3"), "{error}");
}

/// The working directory of a script is unknown, so its folder and the three around it count.
#[test]
fn relative_paths_are_looked_for_around_the_script() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("a/b/c");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(root.path().join("switch.cfg"), "").unwrap();
    std::fs::write(folder.join("debug.cfg"), "").unwrap();
    let script = folder.join("train.py");
    let text = "NPURunConfig(fusion_switch_file='switch.cfg', op_debug_config='debug.cfg', modify_mixlist='no.json')\n";
    let (document, _) = highwater::script::read_config(&script.display().to_string(), text.as_bytes()).unwrap();
    let options = highwater::session::options_of(&document);
    let files = highwater::session::look_at_files(&options, &document.environment);
    let is_there = |path: &str| highwater::options::Files::look(&files, path) != highwater::options::FileState::Missing;
    assert_eq!(
        ["switch.cfg", "debug.cfg", "no.json"].map(is_there),
        [true, true, false]
    );
}

/// Another command line may choose other branches.
#[test]
fn conflicts_under_assumed_conditions_are_warnings() {
    let text = "flags.DEFINE_bool('over_dump', True, '')\nflags.DEFINE_bool('dump', True, '')\nif FLAGS.over_dump:\n    \
                o.parameter_map['enable_dump_debug'].b = True\nif FLAGS.dump:\n    \
                o.parameter_map['enable_dump'].b = True\n";
    let (document, _) = highwater::script::read_config("train.py", text.as_bytes()).unwrap();
    let findings = highwater::options::check(&document.options, &document.environment, &highwater::options::NoFiles);
    let found: Vec<String> = findings
        .iter()
        .filter(|finding| finding.rule == "K7")
        .map(|finding| format!("{}: {}", finding.severity, finding.message))
        .collect();
    expect![[r#"warning: enable_dump and enable_dump_debug are both on, which GE rejects: keep one of them (when both conditions hold: "FLAGS.over_dump" (line 3) and "FLAGS.dump" (line 5))"#]].assert_eq(&found.join("\n"));
}

/// The configuration of a script that flags switch off is still its configuration.
#[test]
fn defaults_of_flags_do_not_hide_the_only_configuration() {
    reads(
        "a.py",
        "flags.DEFINE_bool('do_train', False, '')\nif FLAGS.do_train:\n    \
         c = NPURunConfig(memory_config=MemoryConfig(static_memory_policy=2))\n",
        &expect![[r#"
            memory_config.static_memory_policy = Int(2)
            warning: line 2: memory_config.static_memory_policy is set only where this condition holds; it is taken as set
        "#]],
    );
}

#[test]
fn the_configuration_that_an_estimator_takes_is_chosen() {
    reads(
        "a.py",
        "c = NPURunConfig(deterministic=1)\ne = NPUEstimator(f, config=c)\nprint(NPURunConfig().model_dir)\n",
        &expect![[r#"
            deterministic = Int(1)
            warning: line 3: this NPURunConfig(...) is ignored: the one in line 1 is taken, and they differ in deterministic
        "#]],
    );
}

#[test]
fn loops_with_choices_and_arguments_of_methods_are_followed() {
    reads(
        "a.py",
        "opts = {'graph_run_mode': 0, 'precision_mode': 'force_fp32', 'hcom_parallel': None}\n\
         for k, v in opts.items():\n    if v is None:\n        continue\n    if isinstance(v, int):\n        \
         o.parameter_map[k].i = v\n    else:\n        o.parameter_map[k].s = tf.compat.as_bytes(v)\n\
         class R:\n    def build(self, policy=4):\n        \
         return NPURunConfig(memory_config=MemoryConfig(static_memory_policy=policy))\nR().build(policy=2)\n",
        &expect![[r#"
            memory_config.static_memory_policy = Int(2)
            graph_run_mode = Int(0)
            precision_mode = Text("force_fp32")
            info: line 11: memory_config.static_memory_policy takes what the call of build() in line 12 passes
        "#]],
    );
}

/// Nothing is known of what the script computes, so that it is no error.
#[test]
fn computed_values_do_not_conflict() {
    let text = "NPURunConfig(save_checkpoints_secs=FLAGS.a, save_checkpoints_steps=FLAGS.b)\n";
    let (document, _) = highwater::script::read_config("train.py", text.as_bytes()).unwrap();
    let findings = highwater::options::check(&document.options, &document.environment, &highwater::options::NoFiles);
    let is_error = |finding: &&highwater::options::Finding| finding.severity.name() == "error";
    assert_eq!(findings.iter().find(is_error), None);
}
