//! What documents say otherwise: advice of `compare` with its settings, lanes of variable reuse, statuses of `remat`.

use serde_json::{Value as Json, json};

use crate::cli::{json, run, text_of};

fn advice<'a>(answer: &'a Json, rule: &str) -> Vec<&'a Json> {
    let all = answer["advice"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().filter(|advice| advice["rule"] == rule).collect()
}

/// Writes two graphs of which the second has one tensor that fits into no block of the first.
fn two_graphs() -> tempfile::NamedTempFile {
    let tensor = |id: &str, mib: u64| json!({"id": id, "bytes": mib << 20});
    let input = json!([{"id": "x", "bytes": 1024}]);
    let file = tempfile::Builder::new().suffix(".json").tempfile().expect("a file");
    let graphs = json!({"highwater_graph": 1, "graphs": [
        {"name": "small", "inputs": input, "outputs": ["c"], "nodes": [
            {"op": "A", "inputs": ["x"], "outputs": [tensor("a", 100)]},
            {"op": "B", "inputs": ["a"], "outputs": [tensor("b", 90)]},
            {"op": "C", "inputs": ["a", "b"], "outputs": [tensor("c", 1)]},
        ]},
        {"name": "big", "inputs": input, "outputs": ["e"], "nodes": [
            {"op": "A", "inputs": ["x"], "outputs": [tensor("d", 300)]},
            {"op": "C", "inputs": ["d"], "outputs": [tensor("e", 1)]},
        ]},
    ]});
    std::fs::write(file.path(), graphs.to_string()).expect("written");
    file
}

#[test]
fn training_without_precision_mode_shows_what_the_documented_default_changes() {
    let answer = json(&["compare", "sample:resnet50", "--format", "json"], 0);
    let [found] = advice(&answer, "C2")[..] else {
        panic!("{}", answer["advice"]);
    };
    let message = found["message"].as_str().unwrap_or("");
    assert!(message.contains("from 3.119\u{a0}GiB to 2.400\u{a0}GiB"), "{message}");
    assert_eq!(
        found["set"],
        json!([{"setting": "precision_mode", "value": "allow_fp32_to_fp16"}])
    );
    let flag = "precision_mode=allow_fp32_to_fp16";
    let applied = json(&["compare", "sample:resnet50", "--set", flag, "--format", "json"], 0);
    assert_eq!(applied["policies"][0]["peak_reserved_bytes"], 2_577_140_224_u64);
    assert!(advice(&applied, "C2").is_empty());
    // Inference follows the file.
    let inference = json(&["compare", "sample:mobilenet", "--format", "json"], 0);
    assert!(advice(&inference, "C2").is_empty());
}

#[test]
fn dimensions_with_one_value_are_said_to_be_simulated_as_static() {
    let static_run = [
        "compare",
        "sample:bert",
        "--dim",
        "batch=2",
        "--dim",
        "seq=16",
        "--format",
        "json",
    ];
    let answer = json(&static_run, 0);
    let [found] = advice(&answer, "C1")[..] else {
        panic!("{}", answer["advice"]);
    };
    assert_eq!(
        found["set"],
        json!([{"setting": "compile_dynamic_mode", "value": true}])
    );
    let dynamic = [&static_run[..], &["--set", "compile_dynamic_mode=True"]].concat();
    assert!(advice(&json(&dynamic, 0), "C1").is_empty());
}

#[test]
fn dimensions_that_the_advice_leaves_out_are_counted() {
    let file = tempfile::Builder::new().suffix(".json").tempfile().expect("a file");
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let graph = json!({"highwater_graph": 1, "outputs": ["y"],
        "inputs": [{"id": "x", "shape": names, "dtype": "float32"}],
        "nodes": [{"op": "A", "inputs": ["x"], "outputs": [{"id": "y", "shape": names, "dtype": "float32"}]}]});
    std::fs::write(file.path(), graph.to_string()).expect("written");
    let path = file.path().display().to_string();
    let values: Vec<String> = names.iter().map(|name| format!("{name}=2")).collect();
    let mut arguments = vec!["compare", &path, "--format", "json"];
    arguments.extend(values.iter().flat_map(|value| ["--dim", value]));
    let answer = json(&arguments, 0);
    let [found] = advice(&answer, "C1")[..] else {
        panic!("{}", answer["advice"]);
    };
    let message = found["message"].as_str().unwrap_or_default();
    assert!(message.contains("(a=2, b=2, c=2, d=2 and 3 more)"), "{message}");
}

#[test]
fn documented_figures_of_policy_2_are_named_where_the_engine_differs() {
    let file = two_graphs();
    let path = file.path().display().to_string();
    let run = |memory: &str, code| {
        json(
            &[
                "compare",
                &path,
                "--device-memory",
                memory,
                "--format",
                "json",
                "--set",
                "memory_config.static_memory_policy=2",
            ],
            code,
        )
    };
    let answer = run("1GiB", 0);
    let lane = &answer["policies"][1];
    assert!(lane["documented"]["peak_reserved_bytes"].as_u64() < lane["peak_reserved_bytes"].as_u64());
    let set = json!([{"setting": "simulation.policy_2_behaviour", "value": "documented"}]);
    assert_eq!(advice(&answer, "C3")[0]["set"], set);
    let short = run("400MiB", 1);
    assert_eq!(short["policies"][1]["out_of_memory"], true);
    assert_eq!(short["policies"][1]["documented"]["out_of_memory"], false);
    assert!(!advice(&short, "C3").is_empty());
}

#[test]
fn promised_gains_are_the_figures_of_the_comparison() {
    let policy = "memory_config.static_memory_policy=3";
    let answer = json(&["compare", "sample:resnet50", "--set", policy, "--format", "json"], 0);
    let found = answer["diagnostics"].to_string();
    assert!(found.contains("4.000\u{a0}MiB more than policy 0"), "{found}");
}

#[test]
fn variable_reuse_is_compared_with_paddles_executor() {
    let plain = json(&["compare", "sample:resnet50", "--format", "json"], 0);
    assert!(plain.get("rewrites").is_none());
    let answer = json(
        &[
            "compare",
            "sample:resnet50",
            "--set",
            "memory_optimize.level=0",
            "--format",
            "json",
        ],
        0,
    );
    let lanes = answer["rewrites"].as_array().expect("two lanes");
    assert_eq!(lanes[0]["lane"], "variable_reuse_off");
    assert_eq!(lanes[1]["lane"], "variable_reuse");
    assert!(lanes[0]["variables_bytes"].as_u64() > lanes[1]["variables_bytes"].as_u64());
    assert!(lanes[0]["peak_reserved_bytes"].as_u64() > lanes[1]["peak_reserved_bytes"].as_u64());
}

/// A list has no `update`, by which Paddle 1.2 adds gradients; a set has.
#[test]
fn an_exception_of_paddle_is_a_failed_lane_beside_the_others() {
    let arguments = |command, skip| {
        let mut arguments = vec![command, "sample:lenet"];
        for setting in [
            skip,
            "memory_optimize.skip_grads=True",
            "memory_optimize.level=1",
            "simulation.memory_optimize_version=1.2",
        ] {
            arguments.extend(["--set", setting]);
        }
        arguments
    };
    let (list, set) = (
        "memory_optimize.skip_opt_set=['x']",
        "memory_optimize.skip_opt_set={'x'}",
    );
    let exception = "AttributeError: 'list' object has no attribute 'update'";
    let as_json = |mut arguments: Vec<&str>, code| {
        arguments.extend(["--format", "json"]);
        json(&arguments, code)
    };
    assert_eq!(as_json(arguments("reuse", list), 1)["exception"], exception);
    let answer = as_json(arguments("compare", list), 1);
    let [off, on] = &answer["rewrites"].as_array().unwrap()[..] else {
        panic!("{}", answer["rewrites"]);
    };
    assert!(
        off["variables_bytes"].is_u64() && off.get("exception").is_none(),
        "{off}"
    );
    assert!(on["exception"] == exception && on["variables_bytes"].is_null(), "{on}");
    assert_eq!(answer["policies"].as_array().unwrap().len(), 4);
    let text = text_of(&arguments("compare", list), 1);
    assert!(text.contains(&format!("failed: Paddle raises {exception}")), "{text}");
    assert!(text.contains("variable_reuse_off"), "{text}");
    assert!(as_json(arguments("reuse", set), 0)["exception"].is_null());
    let answer = as_json(arguments("compare", set), 0);
    assert!(
        answer["rewrites"][1]["variables_bytes"].is_u64(),
        "{}",
        answer["rewrites"]
    );
}

#[test]
fn settings_that_are_not_simulated_are_listed() {
    let flags = [
        "--set",
        "op_precision_mode=/op.ini",
        "--set",
        "hcom_parallel=False",
        "--set",
        "hccl_timeout=600",
    ];
    let answer = json(
        &[&["compare", "sample:mobilenet", "--format", "json"], &flags[..]].concat(),
        0,
    );
    assert_eq!(answer["no_effect"], json!(["hcom_parallel", "op_precision_mode"]));
}

/// The message is also shown in the window, so only the text of the command line names a flag.
#[test]
fn flags_are_named_by_the_command_line_alone() {
    let arguments = ["compare", "sample:resnet50", "--set", "graph_run_mode=1"];
    let answer = json(&[&arguments[..], &["--format", "json"]].concat(), 0);
    let [found] = advice(&answer, "C2")[..] else {
        panic!("{}", answer["advice"]);
    };
    let message = found["message"].as_str().unwrap();
    assert!(
        message.contains("set precision_mode to") && !message.contains("--set"),
        "{message}"
    );
    let output = run(&arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("(--set precision_mode=allow_fp32_to_fp16)\n"), "{text}");
}

/// The file of widths acts only where it is there.
#[test]
fn an_option_whose_file_is_missing_has_no_effect() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("types.cfg");
    let option = format!("customize_dtypes={}", path.display());
    let no_effect = || {
        let output = run(&["compare", "sample:lenet", "--format", "json", "--set", &option]);
        let answer: Json = serde_json::from_slice(&output.stdout).expect("one JSON object");
        answer["no_effect"].clone()
    };
    assert_eq!(no_effect(), json!(["customize_dtypes"]));
    std::fs::write(&path, "OpType::Conv2D:InputDtype:float16,OutputDtype:float16\n").unwrap();
    assert_eq!(no_effect(), Json::Null);
}

/// Above the budget is one thing, recomputation without end another.
#[test]
fn a_run_that_thrashes_above_its_budget_is_over_the_budget() {
    let arguments = [
        "remat",
        "sample:resnet50",
        "--budget",
        "0.3",
        "--set",
        "simulation.thrash_limit=0.01",
    ];
    let answer = json(&[&arguments[..], &["--format", "json"]].concat(), 1);
    assert!(answer["peak_bytes"].as_u64() > answer["budget_bytes"].as_u64());
    assert_eq!(answer["thrashes"], true);
    assert_eq!(answer["status"], "over_budget");
    let output = run(&arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("over budget") && text.contains("simulation.thrash_limit"),
        "{text}"
    );
}

#[test]
fn a_run_above_its_budget_is_no_success() {
    let minimum = "dtr.evictee_minimum_size=1GiB";
    let arguments = [
        "remat",
        "sample:mobilenet",
        "--budget",
        "0.5",
        "--set",
        minimum,
        "--format",
        "json",
    ];
    let answer = json(&arguments, 1);
    assert_eq!(answer["status"], "over_budget");
    assert_eq!(
        answer["evictee_minimum"],
        json!({"bytes": 1_u64 << 30, "rule": "at_least"})
    );
    let other = [&arguments[..], &["--heuristic", "lru"]].concat();
    let answer: Json = serde_json::from_slice(&run(&other).stdout).expect("one JSON object");
    assert_eq!(answer["evictee_minimum"], json!({"bytes": null, "rule": "ignored"}));
    let said = answer["diagnostics"].to_string();
    assert!(
        said.contains("dtr.evictee_minimum_size has no effect under the heuristic lru"),
        "{said}"
    );
}
