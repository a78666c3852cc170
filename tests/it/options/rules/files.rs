//! Files named by options: states, contents, and paths that are checked.

use highwater::options::{Environment, Options, aoe_config, custom_dtypes, fusion_switches, mix_list, paths_of};

use super::{Case, FOLDER, LOCKED, MISSING, UNREADABLE, case};

const MIXED: (&str, &str) = ("precision_mode_v2", "mixed_float16");
const LIST: (&str, &str) = ("modify_mixlist", "/l");
const SWITCHES: (&str, &str) = ("fusion_switch_file", "/f");
const MODES: (&str, &str) = ("op_precision_mode", "/m");
const AOE: (&str, &str) = ("aoe_config_file", "/a");
const DTYPES: (&str, &str) = ("customize_dtypes", "/t");
const DEBUG: (&str, &str) = ("op_debug_config", "/d");

const REFERENCE_LIST: &str = r#"{
  "black-list": {                  // Blocklist
     "to-remove": [                // Move an operator.
     "Xlog1py"
     ],
     "to-add": [
     "Matmul",
     "Cast"
     ]
  },
  "white-list": { "to-remove": [ "Conv2D" ], "to-add": [ "Bias" ] }
}"#;
const REFERENCE_AOE: &str = r#"{
       "tune_ops_name":["bert/embeddings/add","loss/MatMul"],
       "tune_ops_type":["Add", "Mul"]
       "tune_optimization_level":"O1",
       "feature":["deeper_opat"]
}"#;
const REFERENCE_SWITCHES: &str = r#"{"Switch":{
  "GraphFusion":{"ALL":"off","SoftmaxFusionPass":"on"},
  "UBFusion":{"ALL":"off","TbePool2dQuantFusionPass":"on"}}}"#;
const REFERENCE_DTYPES: &str = "# By name
resnet/block1/Relu::InputDtype:float16,int8,OutputDtype:float16,int8
# By type
OpType::Relu:InputDtype:float16,int8,OutputDtype:float16,int8
";

pub(super) const CASES: &[Case] = &[
    case(&[MODES], "K6W").seeing(&[("/m", MISSING)]),
    case(&[MODES], "K6W").seeing(&[("/m", FOLDER)]),
    case(&[MODES], "K6W").seeing(&[("/m", UNREADABLE)]),
    case(&[MODES], "").seeing(&[("/m", "[ByOpType]\nA=high_precision\n[ByNodeName]\nx=keep_fp16\n")]),
    case(&[MODES], "K6W").seeing(&[("/m", "[ByOpType]\nA=precise\n")]),
    case(&[MODES], "K6W").seeing(&[("/m", "A=high_precision\n")]),
    case(&[MODES], "K6W").seeing(&[("/m", "[ByType]\nA=high_precision\n")]),
    case(&[MODES], "K6W").seeing(&[("/m", "[ByOpType]\nA\n")]),
    case(&[MIXED, LIST], "").seeing(&[("/l", REFERENCE_LIST)]),
    case(&[MIXED, LIST], "K6W").seeing(&[("/l", r#"{"black_list": {}}"#)]),
    case(&[MIXED, LIST], "K6W").seeing(&[("/l", r#"{"black-list": {"add": ["A"]}}"#)]),
    case(&[MIXED, LIST], "K6W").seeing(&[("/l", r#"{"black-list": {"to-add": "A"}}"#)]),
    case(&[MIXED, LIST], "K6W").seeing(&[("/l", "")]),
    case(&[MIXED, LIST], "K6W").seeing(&[(
        "/l",
        r#"{"black-list": {"to-add": ["A"]}, "white-list": {"to-add": ["A"]}}"#,
    )]),
    case(&[SWITCHES], "").seeing(&[("/f", REFERENCE_SWITCHES)]),
    case(&[SWITCHES], "K6W").seeing(&[("/f", r#"{"Switch": {"GraphFusion": {"ALL": "of"}}}"#)]),
    case(&[SWITCHES], "K6W").seeing(&[("/f", r#"{"Switch": {"Fusion": {}}}"#)]),
    case(&[SWITCHES], "K6W").seeing(&[("/f", r#"{"switch": {}}"#)]),
    case(&[SWITCHES], "K6W").seeing(&[("/f", r#"{"Switch": {"UBFusion": {"ALL": "off",}}}"#)]),
    case(&[MIXED, LIST], "").seeing(&[("/l", r#"{"black-list": {"to-add": ["A",]}}"#)]),
    case(&[DTYPES], "K6W").seeing(&[("/t", "OpType::Relu::InputDtype:float16\n")]),
    case(&[AOE, ("aoe_mode", "2")], "K6W").seeing(&[("/a", REFERENCE_AOE)]),
    case(&[AOE, ("aoe_mode", "2")], "").seeing(&[("/a", r#"{"tune_ops_type": ["Add"]}"#)]),
    case(&[AOE, ("aoe_mode", "2")], "K6W").seeing(&[("/a", r#"{"tune_optimization_level": "O3"}"#)]),
    case(&[AOE, ("aoe_mode", "2")], "K6W").seeing(&[("/a", r#"{"feature": ["deep"]}"#)]),
    case(&[DTYPES], "").seeing(&[("/t", REFERENCE_DTYPES)]),
    case(&[DTYPES], "K6W").seeing(&[("/t", "OpType::Relu:InputDtype:float17\n")]),
    case(&[DTYPES], "K6W").seeing(&[("/t", "Relu float16\n")]),
    case(&[DEBUG], "R29W K6W").seeing(&[("/d", "op_debug_config=omm\n")]),
    case(&[DEBUG], "K6W").seeing(&[("/d", "op_debug_confi=oom\nop_debug_list=A")]),
    case(&[("distribute_config", "/x")], "").seeing(&[("/x", "anything")]),
    case(&[("debug_dir", "/x")], "R44I K6W").seeing(&[("/x", "a file")]),
    case(&[("debug_dir", "/x")], "R44I").seeing(&[("/x", LOCKED)]),
    case(&[("model_dir", "/x")], "").seeing(&[("/x", MISSING)]),
];

#[test]
fn the_references_examples_are_read() {
    let (list, problems) = mix_list(REFERENCE_LIST.as_bytes());
    assert_eq!(problems, []);
    assert_eq!(
        (list.black_add, list.black_remove),
        (vec!["Matmul".to_owned(), "Cast".to_owned()], vec!["Xlog1py".to_owned()])
    );
    assert_eq!(
        (list.white_add, list.white_remove),
        (vec!["Bias".to_owned()], vec!["Conv2D".to_owned()])
    );

    let (aoe, problems) = aoe_config(REFERENCE_AOE.as_bytes());
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["line 3: a comma is missing at the end of this item: add it"]);
    assert_eq!(aoe.features, ["deeper_opat"]);
    assert_eq!(aoe.types, ["Add", "Mul"]);

    let (switches, problems) = fusion_switches(REFERENCE_SWITCHES.as_bytes());
    assert_eq!(problems, []);
    assert_eq!(
        switches.graph,
        [("ALL".to_owned(), false), ("SoftmaxFusionPass".to_owned(), true)]
    );

    let (dtypes, problems) = custom_dtypes(REFERENCE_DTYPES.as_bytes());
    assert_eq!(problems, []);
    assert_eq!(dtypes[0].name, "resnet/block1/Relu");
    assert!(dtypes[1].is_type && !dtypes[0].is_type);
    assert_eq!(dtypes[1].name, "Relu");
    assert_eq!(dtypes[1].inputs, ["float16", "int8"]);
    assert_eq!(dtypes[1].outputs, dtypes[1].inputs);
}

#[test]
fn problems_name_their_line_and_the_nearest_name() {
    for (text, message) in [
        (
            "{\n\"black-lst\": {}}",
            "line 2: \"black-lst\" is not a known list; did you mean \"black-list\"?",
        ),
        ("{\n\n", "line 3: the file ends too early: \"}\" is missing"),
        (
            "{\"black-list\": {\"to-add\": [\"A\n",
            "line 1: unterminated text: add the closing quote",
        ),
        ("{} x", "line 1: text after the end: remove it"),
        ("[1]", "line 1: the file must be an object: { ... }"),
    ] {
        let (_, problems) = mix_list(text.as_bytes());
        assert_eq!(problems[0].to_string(), message, "{text}");
    }
    let (_, problems) = mix_list("[".repeat(100_000).as_bytes());
    assert!(problems[0].message.contains("nested"), "{problems:?}");
}

#[test]
fn paths_are_those_that_rules_look_at() {
    let mut options = Options::new();
    let mut environment = Environment::new();
    assert!(paths_of(&options, &environment).paths.is_empty());
    for (key, text) in [
        ("op_debug_config", "/d.cfg"),
        ("modify_mixlist", "/d.cfg"),
        ("op_compiler_cache_dir", "/cache/"),
        ("precision_mode", "force_fp16"),
    ] {
        options.set_text(key, text).unwrap();
    }
    environment.set("AOE_MODE", "2");
    let mut paths = paths_of(&options, &environment).paths;
    paths.sort();
    assert_eq!(paths, ["./", "/cache/", "/cache/op_cache.ini", "/d.cfg"]);
    options.set_text("work_path", "/w").unwrap();
    assert!(!paths_of(&options, &environment).paths.contains(&"./".to_owned()));
}
