//! Changes that a script makes after a configuration line: followed for literals, reported otherwise.

use expect_test::expect;
use highwater::options::Value;
use highwater::script::read_config;

use super::python::{reads, value_behind};

#[test]
fn changes_by_literals_are_followed() {
    for (setup, expression, expected) in [
        ("d = {}\nd.update(n=4)", "d['n']", 4),
        ("d = {'n': 1}\nd.update({'n': 4})", "d['n']", 4),
        ("d = {'n': 1}\nd |= {'n': 4}", "d['n']", 4),
        ("d = {}\nd.setdefault('n', 4)", "d['n']", 4),
        ("d = {'n': 4}\nd.setdefault('n', 5)", "d['n']", 4),
        (
            "d = {'n': 4, 'm': 5}\ndel d['m']",
            "d['n'] if 'm' not in ['n'] else 0",
            4,
        ),
        ("d = {'n': 4}\nd.pop('n')", "d.get('n', 7)", 7),
        ("l = []\nl.append(4)", "l[0]", 4),
        ("l = [1]\nl.extend([2, 4])\nl.remove(2)", "l[1]", 4),
        ("l = [1]\nl += [4]", "l[1]", 4),
        ("d = {'n': 4}\nprint(len(d), d.keys())", "d['n']", 4),
        ("d = {'n': 4}\ne = dict(d)\ne['n'] = 5", "d['n']", 4),
        ("c = C()\nclass C:\n    n = 4", "C.n", 4),
        ("class C:\n    n: int = 5\nc = C(n=4)", "c.n", 4),
        (
            "class C:\n    def __init__(self, n=5):\n        self.n = n\nc = C(n=4)",
            "c.n",
            4,
        ),
        ("for n in [3, 4]:\n    m = n", "m", 4),
    ] {
        let (value, messages) = value_behind(setup, expression);
        assert_eq!(value, Some(Value::Int(expected)), "{setup}: {messages:?}");
        assert!(messages.is_empty(), "{setup}: {messages:?}");
    }
}

#[test]
fn other_changes_make_a_value_unknown() {
    for (setup, line) in [
        ("d = {'n': 4}\nchange(d)", 2),
        ("d = {'n': 4}\nchange([d])", 2),
        ("d = {'n': 4}\nchange(x=d)", 2),
        ("d = {'n': 4}\nd.mangle()", 2),
        ("d = {'n': 4}\nd.update(f())", 2),
        ("d = {'n': 4}\nd[k] = 5", 2),
        ("d = {'n': 4}\ne = d\ne['n'] = 5", 3),
        ("d = {'n': 4}\ne = {'inner': d}\ne['inner']['n'] = 5", 3),
        ("d = {'n': 4}\nif x:\n    d['n'] = 5", 3),
        ("d = {'n': 4}\nfor i in x:\n    d['n'] += i", 3),
        ("d = {'n': 4}\ndef f():\n    d['n'] = 5\nf()", 3),
        ("d = {'n': 4}\ndef g():\n    d['n'] = 5\ndef f():\n    g()\nf()", 3),
        ("class C:\n    pass\nd = C(n=4)\nsetattr(d, 'n', 5)", 4),
    ] {
        let expression = if setup.contains("class") { "d.n" } else { "d['n']" };
        let (value, messages) = value_behind(setup, expression);
        assert!(matches!(value, Some(Value::Python(_))), "{setup}: {value:?}");
        let is_told = |message: &String| message.contains(&format!("line {line}")) || message.contains("computed");
        assert!(messages.iter().any(is_told), "{setup}: {messages:?}");
    }
    let (value, messages) = value_behind("n = 1\ndef f():\n    global n\n    n = 2\nf()", "n");
    assert!(matches!(value, Some(Value::Python(_))), "{messages:?}");
    assert!(messages[0].contains("line 4"), "{messages:?}");
    reads(
        "a.py",
        "d = {'op_wait_timeout': 5}\nchange(d)\nNPURunConfig(**d)\n",
        &expect![[r#"
            op_wait_timeout = Python("d")
            warning: line 3: op_wait_timeout may be changed in line 2 (change(d)); set it by hand
            warning: line 3: NPURunConfig(...) takes arguments that are computed when the script runs; set them by hand
        "#]],
    );
}

#[test]
fn parameters_equal_the_arguments_of_the_calls() {
    for (calls, expected) in [
        ("f()", Some(5)),
        ("f(7)", Some(7)),
        ("f(loop=7)\nf(7)", Some(7)),
        ("f(7)\nf(8)", Some(8)),
        ("f(7)\nf()", Some(5)),
        ("f(x)", None),
        ("f(*x)", None),
    ] {
        let text = format!("def f(loop=5):\n    NPURunConfig(iterations_per_loop=loop)\n{calls}\n");
        let (document, warnings) = read_config("a.py", text.as_bytes()).unwrap();
        let value = document.options.get("iterations_per_loop").and_then(Value::as_int);
        assert_eq!(value, expected, "{calls}: {warnings:?}");
        assert_eq!(warnings.entries().len(), 1, "{calls}: {warnings:?}");
    }
}

#[test]
fn assignments_behind_a_constructor_count() {
    let text = "m = MemoryConfig(static_memory_policy=1)\nm.static_memory_policy = 2\n\
                c = NPURunConfig(iterations_per_loop=1, memory_config=m)\nc.iterations_per_loop = 10\n\
                c._precision_mode = 'force_fp16'\nm.atomic_clean_policy = 1\nc = c.replace(hccl_timeout=700)\n\
                setattr(c, 'deterministic', 1)\nc.parameter_map['dump_path'].CopyFrom(a)\n";
    reads(
        "a.py",
        text,
        &expect![[r#"
            memory_config.static_memory_policy = Int(2)
            memory_config.atomic_clean_policy = Int(1)
            precision_mode = Text("force_fp16")
            iterations_per_loop = Int(10)
            warning: line 7: c.replace(hccl_timeout=700) changes a configuration in a way that is not followed; set it by hand
            warning: line 8: setattr(c, 'deterministic', 1) changes a configuration in a way that is not followed; set it by hand
            warning: line 9: c.parameter_map['dump_path'].CopyFrom(a) changes a configuration in a way that is not followed; set it by hand
        "#]],
    );
}

#[test]
fn groups_of_the_second_adapter_are_kept() {
    let text = "o = npu.global_options()\no.aoe_config.aoe_mode = '2'\no.aoe_config.work_path = '/w'\n\
                o.aoe_config.aoe_config_file = '/a'\no.experimental.a.b = 1\no.dump_config.enable_dump = True\n\
                o.memory_config.memory_optimization_policy = 'MemoryPriority'\no.strange.x = f()\n";
    reads(
        "a.py",
        text,
        &expect![[r#"
            memory_config.memory_optimization_policy = Text("MemoryPriority")
            dump_config.enable_dump = Bool(true)
            aoe_mode = Text("2")
            work_path = Text("/w")
            aoe_config_file = Text("/a")
            unknown experimental.a.b = 1
            unknown strange.x = {"python":"f()"}
            warning: line 5: no option "experimental.a.b"; highwater options lists them; it is kept unchanged
            warning: line 8: strange.x is computed when the script runs (f()); set it by hand
            warning: line 8: no option "strange.x"; highwater options lists them; it is kept unchanged
        "#]],
    );
}

#[test]
fn one_configuration_of_several_is_taken() {
    let text = "a = NPURunConfig(iterations_per_loop=5, memory_config=MemoryConfig(1))\n\
                b = NPURunConfig(deterministic=1)\nDTRConfig(1, 2)\nDTRConfig(3)\n\
                x.parameter_map['hccl_timeout'].i = 1\n\
                o = add()\no.parameter_map['graph_run_mode'].i = 1\no.parameter_map['hccl_timeout'].i = 2\n\
                p = add()\np.parameter_map['hccl_timeout'].i = 2\n";
    reads(
        "a.py",
        text,
        &expect![[r"
        deterministic = Int(1)
        hccl_timeout = Int(2)
        dtr.eviction_threshold = Int(3)
        warning: line 1: this NPURunConfig(...) is ignored: the one in line 2 is taken, and they differ in deterministic, iterations_per_loop, memory_config.atomic_clean_policy
        warning: line 3: this DTRConfig(...) is ignored: the one in line 4 is taken, and they differ in dtr.evictee_minimum_size, dtr.eviction_threshold
        warning: line 5: this parameter_map is ignored: the one in line 10 is taken, and they differ in hccl_timeout
        warning: line 7: this parameter_map is ignored: the one in line 10 is taken, and they differ in graph_run_mode
    "]],
    );
}

#[test]
fn loops_over_literals_are_followed() {
    let text = "for k, v in [('GE_USE_STATIC_MEMORY', '2'), ('JOB_ID', '1')]:\n    os.environ[k] = v\n\
                for k, v in {'precision_mode': b'force_fp32', 'debug_dir': b'/d'}.items():\n    \
                o.parameter_map[k].s = v\nfor k in ['enable_dump', 'mix_compile_mode']:\n    \
                o.parameter_map[k].b = True\nfor k, v in x:\n    os.environ[k] = v\n";
    reads(
        "a.py",
        text,
        &expect![[r#"
            mix_compile_mode = Bool(true)
            debug_dir = Text("/d")
            precision_mode = Text("force_fp32")
            dump_config.enable_dump = Bool(true)
            env GE_USE_STATIC_MEMORY = "2"
            env JOB_ID = "1"
            warning: line 8: os.environ[k] is a variable computed at run time; set it by hand
        "#]],
    );
}
