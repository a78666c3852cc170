//! Methods with several calls, counters, comprehensions, aliases of entries, arguments as dictionaries, lists of optimizers.

use super::python::value_behind;
use super::several::{devices, expected};
use highwater::options::Value;

#[test]
fn each_call_of_a_method_makes_a_configuration() {
    let method = "    def _config(self, device=7):\n        return NPURunConfig(session_device_id=device)\n";
    for (text, names) in [
        (
            format!(
                "class T:\n{method}    def run(self):\n        a = self._config(0)\n        b = self._config(device=1)\n"
            ),
            &[("a", 0), ("b", 1)][..],
        ),
        (
            format!("class T:\n{method}t = T()\na = t._config()\nb = t._config(1)\n"),
            &[("a", 7), ("b", 1)],
        ),
        (
            format!("class B:\n{method}class T(B):\n    def run(self):\n        a = self._config(3)\n        b = self._config(4)\n"),
            &[("a", 3), ("b", 4)],
        ),
        (
            "class T:\n    @staticmethod\n    def make(device):\n        return NPURunConfig(session_device_id=device)\n\
             a = T.make(5)\nb = T.make(6)\n"
                .to_owned(),
            &[("a", 5), ("b", 6)],
        ),
    ] {
        assert_eq!(devices(&text), expected(names), "{text}");
    }
}

#[test]
fn counted_rounds_are_followed() {
    for (text, names) in [
        (
            "i = 0\nconfigs = []\nwhile i < 2:\n    configs.append(NPURunConfig(session_device_id=i))\n    i += 1\n",
            &[("configs[0]", 0), ("configs[1]", 1)][..],
        ),
        (
            "n = 2\ni = n\nconfigs = []\nwhile i > 0:\n    i -= 1\n    configs.append(NPURunConfig(session_device_id=i))\n",
            &[("configs[0]", 1), ("configs[1]", 0)],
        ),
    ] {
        assert_eq!(devices(text), expected(names), "{text}");
    }
    for unknown in [
        "i = 0\nwhile i < 100:\n    i += 1\n",
        "i = 0\nwhile i < n:\n    i += 1\n",
        "i = 0\nwhile i < 3:\n    i += f()\n",
        "i = 0\nwhile i < 3:\n    if x:\n        continue\n    i += 1\n",
    ] {
        let (value, messages) = value_behind(unknown, "i");
        assert!(
            matches!(value, Some(Value::Python(_))),
            "{unknown}{value:?} {messages:?}"
        );
    }
    assert_eq!(
        value_behind("i = 0\nwhile i < 3:\n    i += 1", "i").0,
        Some(Value::Int(3))
    );
}

#[test]
fn dictionaries_and_generators_over_literals_are_followed() {
    let call = "custom = NPURunConfig(**d)\n";
    for setup in [
        "d = {k: v for k, v in [('deterministic', 1), ('hccl_timeout', 5)]}\n",
        "d = dict((k, v) for k, v in [('deterministic', 1), ('hccl_timeout', 5)])\n",
        "d = dict([('deterministic', 1)], hccl_timeout=5)\n",
        "d = dict(zip(['deterministic', 'hccl_timeout'], [1, 5]))\n",
        "a = {'deterministic': 1, 'hccl_timeout': 5, 'x': None}\nd = {k: v for k, v in a.items() if v is not None}\n",
        "d = {k: i + 1 for i, k in enumerate(['deterministic'])}\nd['hccl_timeout'] = sum_of = 5\n",
    ] {
        let (document, remarks) = highwater::script::read_config("a.py", format!("{setup}{call}").as_bytes()).unwrap();
        let read = |key: &str| document.options.get(key).and_then(Value::as_int);
        assert_eq!(
            (read("deterministic"), read("hccl_timeout")),
            (Some(1), Some(5)),
            "{setup}{remarks:?}"
        );
    }
    assert_eq!(
        value_behind("", "len(list(x for x in [1, 2, 3]))").0,
        Some(Value::Int(3))
    );
    assert_eq!(
        value_behind("", "len(','.join(str(x) for x in (1, 2)))").0,
        Some(Value::Int(3))
    );
}

#[test]
fn entries_of_a_parameter_map_have_aliases() {
    for text in [
        "entry = o.parameter_map['dynamic_input']\nentry.b = True\n",
        "entry = o.parameter_map.get_or_create('dynamic_input')\nentry.b = 1\n",
        "m = o.parameter_map\nentry = m['dynamic_input']\nentry.b = True\n",
    ] {
        let text = format!(
            "c = tf.ConfigProto()\no = c.graph_options.rewrite_options.custom_optimizers.add()\no.name = 'NpuOptimizer'\n{text}run(c)\n"
        );
        let (document, remarks) = highwater::script::read_config("a.py", text.as_bytes()).unwrap();
        let value = document.options.get("dynamic_input");
        assert_eq!(value, Some(&Value::Bool(true)), "{text}{remarks:?}");
    }
}

#[test]
fn arguments_are_read_as_dictionaries() {
    let parser =
        "p = argparse.ArgumentParser()\np.add_argument('--loops', type=int, default=7)\nargs = p.parse_args()\n";
    for expression in [
        "args.loops",
        "vars(args)['loops']",
        "args.__dict__['loops']",
        "getattr(args, 'loops')",
        "getattr(args, 'loops', 3)",
        "vars(args).get('loops')",
        "vars(args).get('loops', 3)",
        "d['loops']",
    ] {
        let (value, messages) = value_behind(&format!("{parser}d = vars(args)"), expression);
        assert_eq!(value, Some(Value::Int(7)), "{expression}: {messages:?}");
    }
    let flags = "flags.DEFINE_integer('loops', 7, '')";
    for expression in ["FLAGS['loops'].value", "FLAGS.flag_values_dict()['loops']"] {
        let (value, messages) = value_behind(flags, expression);
        assert_eq!(value, Some(Value::Int(7)), "{expression}: {messages:?}");
    }
    let (value, _) = value_behind("class C:\n    loops = 4\nc = C()", "vars(c)['loops']");
    assert_eq!(value, Some(Value::Int(4)));
}

#[test]
fn optimizers_come_from_lists_and_parts() {
    let optimizer = "o = rewriter_config_pb2.RewriterConfig.CustomGraphOptimizer()\no.name = 'NpuOptimizer'\n\
                     o.parameter_map['session_device_id'].i = 3\n";
    let list = "graph_options.rewrite_options.custom_optimizers";
    for (text, names) in [
        (
            format!("{optimizer}c = tf.ConfigProto()\nc.{list}.extend([o])\nrun(c)\n"),
            &[("c", 3)][..],
        ),
        (
            format!("{optimizer}c = tf.ConfigProto()\nc.{list}.append(o)\nrun(c)\n"),
            &[("c", 3)],
        ),
        (
            format!(
                "{optimizer}r = RewriterConfig(custom_optimizers=[o])\n\
                 c = tf.ConfigProto(graph_options=tf.GraphOptions(rewrite_options=r))\nrun(c)\n"
            ),
            &[("c", 3)],
        ),
        (
            "r = RewriterConfig()\no = r.custom_optimizers.add(name='NpuOptimizer')\no.parameter_map['session_device_id'].i = 4\n\
             c = tf.ConfigProto()\nc.graph_options.rewrite_options.CopyFrom(r)\nrun(c)\n"
                .to_owned(),
            &[("c", 4)],
        ),
        (
            format!(
                "a = tf.ConfigProto()\no = a.{list}.add(name='NpuOptimizer')\no.parameter_map['session_device_id'].i = 5\n\
                 g = a.{list}.add()\ng.name = 'GradFusionOptimizer'\nb = tf.ConfigProto()\nb.MergeFrom(a)\n\
                 b.{list}[0].parameter_map['session_device_id'].i = 6\nrun(a)\nrun(b)\n"
            ),
            &[("a", 5), ("b", 6)],
        ),
    ] {
        assert_eq!(devices(&text), expected(names), "{text}");
    }
}

/// The findings of a script, with their severities.
fn findings(text: &str) -> Vec<String> {
    let (document, _) = highwater::script::read_config("a.py", text.as_bytes()).unwrap();
    let options = highwater::session::options_of(&document);
    let found = highwater::options::check(&options, &document.environment, &highwater::options::NoFiles);
    found
        .iter()
        .map(|one| format!("{} {}: {}", one.rule, one.severity, one.message))
        .collect()
}

#[test]
fn findings_under_a_condition_name_it() {
    for (text, expected) in [
        (
            "if args.dump:\n    o.parameter_map['enable_dump'].b = True\n",
            "R39 warning: enable_dump is on without dump_path: set dump_path (under the condition \"args.dump\" (line 1))",
        ),
        (
            "if args.p:\n    NPURunConfig(memory_config=MemoryConfig(static_memory_policy=7))\n",
            "(under the condition \"args.p\" (line 1))",
        ),
        (
            "o.parameter_map['enable_dump'].b = True\n",
            "R39 error: enable_dump is on without dump_path: set dump_path",
        ),
    ] {
        let found = findings(text);
        assert!(found.iter().any(|one| one.contains(expected)), "{text}{found:?}");
    }
}

#[test]
fn settings_of_the_eager_interpreter_are_written_as_such() {
    let text = "import megengine as mge\nmge.dtr.eviction_threshold = '5GB'\nmge.dtr.enable()\n";
    let (document, _) = highwater::script::read_config("a.py", text.as_bytes()).unwrap();
    let part = highwater::script::PythonPart::MegEngine;
    let written = highwater::script::to_python(&document, part).unwrap();
    for line in [
        "import megengine as mge\n",
        "mge.dtr.eviction_threshold = 5368709120\n",
        "mge.dtr.enable()\n",
    ] {
        assert!(written.contains(line), "{written}");
    }
    assert!(!written.contains("DTRConfig"), "{written}");
    let (again, _) = highwater::script::read_config("b.py", written.as_bytes()).unwrap();
    assert!(again.options.overrides().eq(document.options.overrides()), "{written}");
}

#[test]
fn the_folder_of_the_script_is_known() {
    for (expression, expected) in [
        ("os.path.join(os.path.dirname(__file__), 'a', 'b.json')", "./a/b.json"),
        (
            "os.path.join(os.path.dirname(os.path.abspath(__file__)), 'b.json')",
            "./b.json",
        ),
        (
            "os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + '/b.json'",
            "../b.json",
        ),
    ] {
        let (value, messages) = value_behind("", expression);
        assert_eq!(value, Some(Value::from(expected)), "{expression}: {messages:?}");
    }
    let (value, _) = value_behind("", "os.path.dirname(path)");
    assert!(matches!(value, Some(Value::Python(_))), "{value:?}");
}
