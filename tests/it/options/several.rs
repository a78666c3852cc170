//! Scripts that make several configurations: by loops, lists, functions and session configurations.

use expect_test::expect;

use super::python::reads;

fn read_of(text: &str, of: Option<&str>) -> highwater::script::ConfigDocument {
    highwater::script::read_config_of("train.py", text.as_bytes(), of)
        .unwrap()
        .0
}

/// The configurations with the device of each, by their names.
pub(super) fn devices(text: &str) -> Vec<(String, Option<i64>)> {
    let read = |of| {
        highwater::script::read_config_of("train.py", text.as_bytes(), of)
            .unwrap()
            .0
    };
    let names = read(None).script.configurations;
    names
        .into_iter()
        .map(|name| {
            let document = read_of(text, Some(&name));
            let device = document
                .options
                .get("session_device_id")
                .and_then(|value| value.as_int());
            (name, device)
        })
        .collect()
}

pub(super) fn expected(names: &[(&str, i64)]) -> Vec<(String, Option<i64>)> {
    names
        .iter()
        .map(|(name, device)| ((*name).to_owned(), Some(*device)))
        .collect()
}

#[test]
fn each_round_and_each_call_makes_a_configuration() {
    for (text, names) in [
        (
            "configs = []\nfor i in range(2):\n    configs.append(NPURunConfig(session_device_id=i))\n",
            &[("configs[0]", 0), ("configs[1]", 1)][..],
        ),
        (
            "configs = []\nfor i in range(2):\n    config = NPURunConfig(session_device_id=i)\n    configs.append(config)\n",
            &[("configs[0]", 0), ("configs[1]", 1)],
        ),
        (
            "configs = [NPURunConfig(session_device_id=i) for i in range(2)]\n",
            &[("configs[0]", 0), ("configs[1]", 1)],
        ),
        (
            "config0 = NPURunConfig(session_device_id=0)\nconfig1 = NPURunConfig(session_device_id=1)\n\
             for config in [config0, config1]:\n    NPUEstimator(f, config=config)\n",
            &[("config0", 0), ("config1", 1)],
        ),
        (
            "def make(device):\n    config = NPURunConfig(session_device_id=device)\n    return config\n\
             a = make(0)\nb = make(device=1)\n",
            &[("a", 0), ("b", 1)],
        ),
        (
            "def make(device=3):\n    return NPURunConfig(session_device_id=device)\n\
             def main():\n    a = make()\n    b = make(1)\nmain()\n",
            &[("a", 3), ("b", 1)],
        ),
        (
            "def make(**kw):\n    return NPURunConfig(**kw)\nkw = dict(session_device_id=4)\n\
             a = make(**kw)\nb = make(session_device_id=1)\n",
            &[("a", 4), ("b", 1)],
        ),
        (
            "def make(i):\n    return NPURunConfig(session_device_id=i)\nconfigs = {}\nfor i, name in enumerate(['x', 'y']):\n    \
             configs[name] = make(i)\n",
            &[("configs[\"x\"]", 0), ("configs[\"y\"]", 1)],
        ),
        (
            "for i in range(2):\n    NPUEstimator(f, config=NPURunConfig(session_device_id=i))\n",
            &[("line 2 (line 2, number 1)", 0), ("line 2 (line 2, number 2)", 1)],
        ),
    ] {
        assert_eq!(devices(text), expected(names), "{text}");
    }
}

#[test]
fn parameter_maps_have_the_name_of_their_session_configuration() {
    let set = "graph_options.rewrite_options.custom_optimizers.add(name='NpuOptimizer')";
    for (text, names) in [
        (
            format!(
                "config0 = tf.ConfigProto()\nop0 = config0.{set}\nop0.name = 'NpuOptimizer'\n\
                 op0.parameter_map['session_device_id'].i = 0\nconfig1 = tf.ConfigProto()\nop1 = config1.{set}\n\
                 op1.parameter_map['session_device_id'].i = 1\ntf.Session(config=config0)\ntf.Session(config=config1)\n"
            ),
            &[("config0", 0), ("config1", 1)][..],
        ),
        (
            format!(
                "def make(i):\n    config = tf.ConfigProto()\n    op = config.{set}\n    \
                 op.parameter_map['session_device_id'].i = i\n    return config\n\
                 a = make(0)\nb = make(1)\nrun(a)\nrun(b)\n"
            ),
            &[("a", 0), ("b", 1)],
        ),
        (
            format!(
                "for i in range(2):\n    config = tf.ConfigProto()\n    op = config.{set}\n    op.name = 'NpuOptimizer'\n    \
                 op.parameter_map['session_device_id'].i = i\n    with tf.Session(config=config) as s:\n        s.run(x)\n"
            ),
            &[("config (line 5, number 1)", 0), ("config (line 5, number 2)", 1)],
        ),
        (
            format!(
                "a = tf.ConfigProto()\na.{set}\nb = tf.ConfigProto()\nb.{set}\n\
                 a.graph_options.rewrite_options.custom_optimizers[0].parameter_map['session_device_id'].i = 0\n\
                 b.graph_options.rewrite_options.custom_optimizers[-1].parameter_map.get_or_create('session_device_id').i = 1\n"
            ),
            &[("a", 0), ("b", 1)],
        ),
        (
            format!(
                "a = tf.ConfigProto()\nop = a.{set}\nop.parameter_map['session_device_id'].i = 5\nb = tf.ConfigProto()\n\
                 b.CopyFrom(a)\nb.graph_options.rewrite_options.custom_optimizers[0].parameter_map['session_device_id'].i = 6\n"
            ),
            &[("a", 5), ("b", 6)],
        ),
    ] {
        assert_eq!(devices(&text), expected(names), "{text}");
    }
    let text = format!("c = tf.ConfigProto()\nop = c.{set}\nop.parameter_map['hccl_timeout'].i = 4\nrun(c)\n");
    for of in ["c", "op"] {
        let read = highwater::script::read_config_of("train.py", text.as_bytes(), Some(of));
        assert!(read.unwrap().0.options.is_set("hccl_timeout"), "{of}");
    }
}

#[test]
fn entries_and_optimizers_can_be_removed() {
    let set = "c = tf.ConfigProto()\nop = c.graph_options.rewrite_options.custom_optimizers.add(name='NpuOptimizer')\n\
               op.parameter_map['hccl_timeout'].i = 4\n";
    for removal in [
        "del op.parameter_map['hccl_timeout']",
        "op.parameter_map.pop('hccl_timeout')",
        "op.parameter_map.clear()",
        "c.graph_options.rewrite_options.custom_optimizers.pop()",
    ] {
        let text = format!("{set}{removal}\nNPURunConfig(deterministic=1)\n");
        let (document, _) = highwater::script::read_config("train.py", text.as_bytes()).unwrap();
        assert!(!document.options.is_set("hccl_timeout"), "{removal}");
    }
}

#[test]
fn objects_in_lists_are_passed() {
    reads(
        "a.py",
        "modes = [MemoryConfig(static_memory_policy=p) for p in (0, 2, 4)]\nNPURunConfig(memory_config=modes[2])\n",
        &expect![[r#"
            memory_config.static_memory_policy = Int(4)
        "#]],
    );
}

#[test]
fn a_session_configuration_that_is_passed_to_nothing_sets_nothing() {
    let set = "c = tf.ConfigProto()\nop = c.graph_options.rewrite_options.custom_optimizers.add()\n\
               op.name = 'NpuOptimizer'\nop.parameter_map['hccl_timeout'].i = 4\n";
    for (rest, is_set) in [
        ("s = tf.Session()\n", false),
        ("s = tf.Session(config=c)\n", true),
        ("self.c = c\ns = tf.Session()\n", true),
        ("def f():\n    return c\ns = tf.Session()\n", true),
        ("", true),
    ] {
        let text = format!("{set}{rest}");
        let (document, warnings) = highwater::script::read_config("train.py", text.as_bytes()).unwrap();
        assert_eq!(document.options.is_set("hccl_timeout"), is_set, "{rest}{warnings:?}");
    }
}

#[test]
fn conditional_entries_of_dictionaries_are_settings_under_that_condition() {
    reads(
        "a.py",
        "kw = dict(deterministic=1, hccl_timeout=4)\nif unknown():\n    kw['iterations_per_loop'] = 10\n    \
         kw['hccl_timeout'] = 5\nelse:\n    kw.update(jit_compile='auto')\nNPURunConfig(**kw)\n",
        &expect![[r#"
            deterministic = Int(1)
            hccl_timeout = Int(4)
            jit_compile = Text("auto")
            warning: line 1: hccl_timeout is 5 in another branch, in line 4; the value here is taken
            warning: line 2: jit_compile is set only where this condition holds; it is taken as set
            warning: line 3: iterations_per_loop is ignored: it is set in a branch that excludes the one of line 2, which is taken
        "#]],
    );
}

#[test]
fn literal_arguments_and_defaults_of_parsers_hold() {
    reads(
        "a.py",
        "p = argparse.ArgumentParser()\np.add_argument('-t', '--time', dest='timeout', type=int, default=3)\n\
         p.add_argument('--deterministic', type=int, default=0)\np.add_argument('--loops', type=int, default=9)\n\
         p.add_argument('--parallel', action='store_true')\np.set_defaults(loops=7)\n\
         args, rest = p.parse_known_args(['--time', '4', '--deterministic=1', '--parallel'])\n\
         NPURunConfig(hccl_timeout=args.timeout, deterministic=args.deterministic, iterations_per_loop=args.loops, \
         hcom_parallel=args.parallel)\n",
        &expect![[r#"
            deterministic = Int(1)
            iterations_per_loop = Int(7)
            hcom_parallel = Bool(true)
            hccl_timeout = Int(4)
        "#]],
    );
}

#[test]
fn bodies_of_loops_without_rounds_are_left_out() {
    reads(
        "a.py",
        "NPURunConfig(deterministic=1)\nwhile False:\n    os.environ['A'] = '1'\nfor x in []:\n    \
         os.environ['B'] = '1'\nfor x in range(0):\n    os.environ['C'] = '1'\n",
        &expect![[r#"
            deterministic = Int(1)
            info: line 3: this is ignored: the loop of line 2 has no rounds (False)
            info: line 5: this is ignored: the loop of line 4 has no rounds ([])
            info: line 7: this is ignored: the loop of line 6 has no rounds (range(0))
        "#]],
    );
}

#[test]
fn texts_in_fields_of_bytes_are_a_warning() {
    reads(
        "a.py",
        "o.parameter_map['precision_mode'].s = 'force_fp32'\no.parameter_map['jit_compile'].s = 'auto'\n\
         o.parameter_map['graph_memory_max_size'].i = 5\no.parameter_map['variable_memory_max_size'].s = b'5'\n",
        &expect![[r#"
            precision_mode = Text("force_fp32")
            jit_compile = Text("auto")
            variable_memory_max_size = Text("5")
            warning: line 1: the field .s takes bytes, for which protobuf raises a TypeError on a text in Python 3 (and one further line): write b"..." or tf.compat.as_bytes(...)
            warning: line 3: graph_memory_max_size keeps its default: the adapter reads the field .s of this entry, and .i is set
        "#]],
    );
}

#[test]
fn branches_that_defaults_leave_out_can_be_chosen() {
    let text = "flags.DEFINE_string('mode', 'train', '')\nif FLAGS.mode == 'train':\n    \
                c = NPURunConfig(session_device_id=1)\nelse:\n    d = NPURunConfig(session_device_id=2)\n";
    assert_eq!(devices(text), expected(&[("c", 1), ("d", 2)]));
    let (document, _) = highwater::script::read_config("train.py", text.as_bytes()).unwrap();
    assert_eq!(document.script.left_out, ["d"]);
}

/// The directory may come with the condition.
#[test]
fn a_dump_path_under_a_condition_is_a_warning() {
    let text = "if unknown():\n    o.parameter_map['enable_dump'].b = True\n    \
                o.parameter_map['dump_path'].s = b'/nowhere/at/all'\n";
    let (document, _) = highwater::script::read_config("train.py", text.as_bytes()).unwrap();
    let options = highwater::session::options_of(&document);
    let files = highwater::session::look_at_files(&options, &document.environment);
    let findings = highwater::options::check(&options, &document.environment, &files);
    let found = findings.iter().filter(|finding| finding.rule == "R39");
    assert!(
        found.clone().all(|finding| finding.severity.name() == "warning") && found.count() == 1,
        "{findings:?}"
    );
}

#[test]
fn a_configuration_with_its_first_option_in_a_skipped_branch_is_one() {
    let text = "flags.DEFINE_bool('dump', False, '')\nc = tf.ConfigProto()\n\
                op = c.graph_options.rewrite_options.custom_optimizers.add()\nop.name = 'NpuOptimizer'\n\
                if FLAGS.dump:\n    op.parameter_map['enable_dump'].b = True\n\
                op.parameter_map['hccl_timeout'].i = 4\ntf.Session(config=c)\n";
    let (document, _) = highwater::script::read_config("train.py", text.as_bytes()).unwrap();
    let script = &document.script;
    assert_eq!(
        (&*script.configurations, &*script.left_out),
        (&["c".to_owned()][..], &[][..])
    );
}

#[test]
fn the_ellipsis_of_documents_is_no_value() {
    reads(
        "a.py",
        "config = NPURunConfig(..., session_device_id=0)\n",
        &expect![[r#"
            session_device_id = Int(0)
        "#]],
    );
}
