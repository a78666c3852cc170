//! What documents leave out, files beside a script, configurations that lie in skipped branches, and functions that a script calls.

use expect_test::expect;
use highwater::options::{Environment, SeenFiles, Value, check};
use highwater::script::read_config;

use super::python::{reads, value_behind};

#[test]
fn documents_leave_arguments_out() {
    reads(
        "train.py",
        "config0 = NPURunConfig(..., session_device_id=0, ...)\n",
        &expect![[r#"
            session_device_id = Int(0)
        "#]],
    );
    reads(
        "train.py",
        "mem = MemoryConfig(..., static_memory_policy=2)\nconfig = NPURunConfig(memory_config=mem, ...)\n",
        &expect![[r#"
            memory_config.static_memory_policy = Int(2)
        "#]],
    );
}

#[test]
fn files_beside_the_script_are_known() {
    const SETUP: &str = "import os\nimport os.path as osp\nimport pathlib\nfrom pathlib import Path\n";
    for (name, expression, expected) in [
        ("/job/train.py", "os.path.dirname(__file__)", "/job"),
        (
            "/job/train.py",
            "os.path.join(os.path.dirname(os.path.abspath(__file__)), 'a.cfg')",
            "/job/a.cfg",
        ),
        (
            "/job/run/train.py",
            "osp.join(osp.dirname(osp.dirname(osp.realpath(__file__))), 'a', 'b')",
            "/job/a/b",
        ),
        (
            "train.py",
            "os.path.join(os.path.dirname(__file__), 'a.cfg')",
            "./a.cfg",
        ),
        (
            "/job/train.py",
            "str(Path(__file__).resolve().parent / 'cfg' / 'a.cfg')",
            "/job/cfg/a.cfg",
        ),
        ("/job/train.py", "pathlib.Path('/data', 'x').as_posix()", "/data/x"),
        ("/job/train.py", "Path('/data') / 'x'", "/data/x"),
    ] {
        let text = format!("{SETUP}config = NPURunConfig(op_debug_config={expression})\n");
        let (document, warnings) = read_config(name, text.as_bytes()).unwrap();
        let found = document.options.get("op_debug_config");
        assert_eq!(found, Some(&Value::from(expected)), "{expression}: {warnings:?}");
    }
    // Another function of the same name, and a place that only the run knows.
    for expression in [
        "dirname(__file__)",
        "os.path.join(os.getcwd(), 'a')",
        "Path.home() / 'x'",
    ] {
        let (value, messages) = value_behind("import os\nfrom pathlib import Path", expression);
        assert!(
            !matches!(value, Some(Value::Text(_))) && !messages.is_empty(),
            "{expression}: {value:?}"
        );
    }
}

#[test]
fn a_configuration_with_a_skipped_entry_is_one() {
    let text = "
p = argparse.ArgumentParser()
p.add_argument('--profiling', action='store_true')
args = p.parse_args()
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = 'NpuOptimizer'
if args.profiling:
    custom_op.parameter_map['profiling_mode'].b = True
custom_op.parameter_map['precision_mode'].s = tf.compat.as_bytes('force_fp16')
with tf.Session(config=config) as session:
    pass
";
    let (document, _) = read_config("train.py", text.as_bytes()).unwrap();
    assert_eq!(document.script.configurations, ["config"]);
    assert!(document.script.left_out.is_empty());
}

#[test]
fn a_field_of_older_adapters_is_told_with_their_releases() {
    let entry = "config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = 'NpuOptimizer'
custom_op.parameter_map['jit_compile'].b = False
";
    reads(
        "train.py",
        entry,
        &expect![[r#"
            warning: line 4: jit_compile has the field .b: adapters up to 6.3.RC2 read .b as True or False; since 7.0.RC1 the adapter refuses the session unless .s is auto, true or false
        "#]],
    );
}

#[test]
fn control_flow_that_a_script_converts_is_not_warned_of() {
    let config = "config = NPURunConfig(variable_placement='Host', mix_compile_mode=True)\n";
    for (calls, expected) in [
        (
            "",
            "call tf.enable_control_flow_v2() and tf.enable_resource_variables()",
        ),
        ("tf.enable_control_flow_v2()\n", "call tf.enable_resource_variables()"),
        (
            "tf.enable_control_flow_v2()\ntf.compat.v1.enable_resource_variables()\n",
            "",
        ),
        ("tf.compat.v1.enable_v2_behavior()\n", ""),
        ("tf.disable_v2_behavior()\n", "call tf.enable_control_flow_v2()"),
    ] {
        let text = format!("{calls}{config}");
        let (document, _) = read_config("train.py", text.as_bytes()).unwrap();
        let findings = check(&document.options, &Environment::default(), &SeenFiles::default());
        let said: Vec<&str> = findings
            .iter()
            .filter(|finding| finding.rule == "R17")
            .map(|finding| finding.message.as_str())
            .collect();
        match expected {
            "" => assert!(said.is_empty(), "{calls}: {said:?}"),
            words => assert!(said.len() == 1 && said[0].contains(words), "{calls}: {said:?}"),
        }
    }
}
