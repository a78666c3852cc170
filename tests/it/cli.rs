//! The command line as users run it: exit codes, one line of error, JSON fields, files written whole.

use std::process::{Command, Output};

use serde_json::Value as Json;

pub(crate) fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_highwater"))
        .args(arguments)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .expect("the program starts")
}

#[track_caller]
pub(crate) fn json(arguments: &[&str], code: i32) -> Json {
    let output = run(arguments);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

#[track_caller]
pub(crate) fn fails(arguments: &[&str], expected: &str) {
    let output = run(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
    assert_eq!(error.trim_end().lines().count(), 1, "one line: {error}");
    assert!(error.contains(expected), "{arguments:?}: {error}");
    let mut parts: Vec<&str> = error.trim_end().split(": ").filter(|part| part.len() > 12).collect();
    let n_parts = parts.len();
    parts.sort_unstable();
    parts.dedup();
    assert_eq!(parts.len(), n_parts, "said twice: {error}");
    assert!(output.stdout.is_empty());
}

#[test]
fn inspect_has_the_fields_of_the_contract() {
    let answer = json(&["inspect", "sample:resnet50", "--format", "json"], 0);
    assert_eq!(answer["format"], "native");
    let graph = &answer["graphs"][0];
    for field in [
        "name",
        "ops",
        "tensors",
        "weights_bytes",
        "state_bytes",
        "input_bytes",
        "activation_bytes",
        "peak_live_bytes",
        "peak_live_step",
        "aliased_peak_live_bytes",
        "aliased_peak_live_step",
        "symbolic_dims",
        "unknown_shape_tensors",
        "dynamic",
    ] {
        assert!(!graph[field].is_null(), "{field}");
    }
    assert_eq!(graph["aliased_peak_live_bytes"], 2_763_672_996_u64);
    assert_eq!(graph["aliased_peak_live_step"], 350);
}

#[test]
fn an_unbound_dimension_has_no_peak_and_says_how_to_get_one() {
    let answer = json(&["inspect", "sample:bert", "--format", "json"], 0);
    assert!(answer["graphs"][0]["peak_live_bytes"].is_null());
    assert_eq!(answer["graphs"][0]["dynamic"], true);
    let text = answer["diagnostics"].to_string();
    assert!(text.contains("--dim seq=N") && text.contains("--dim batch=N"), "{text}");
    let bound = json(
        &[
            "inspect",
            "sample:bert",
            "--dim",
            "batch=8",
            "--dim",
            "seq=128",
            "--format",
            "json",
        ],
        0,
    );
    assert_eq!(bound["graphs"][0]["peak_live_bytes"], 40_898_560);
    fails(&["plan", "sample:bert"], "--dim");
}

#[test]
fn compare_has_the_fields_of_the_contract() {
    let answer = json(&["compare", "sample:resnet50", "--format", "json"], 0);
    let numbers: Vec<u64> = answer["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["policy"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [0, 2, 3, 4]);
    for row in answer["policies"].as_array().unwrap() {
        for field in [
            "policy",
            "label",
            "peak_reserved_bytes",
            "peak_reserved_step",
            "peak_live_bytes",
            "fragmentation",
            "device_mallocs",
            "device_frees",
            "reallocations",
            "pages_mapped",
            "unloads",
            "out_of_memory",
            "estimated_overhead_ns",
            "lower_bound",
            "internal_waste_bytes",
            "largest_free_bytes",
            "virtual_bytes",
            "pages_allocated",
            "pages_unmapped",
            "stitches",
            "recycles",
            "synchronizations",
            "splits",
            "merges",
            "clears",
            "cleared_bytes",
        ] {
            assert!(!row[field].is_null(), "{field}");
        }
        let parts = &row["reserved"];
        let sum: u64 = ["features", "weights", "variables", "io"]
            .iter()
            .map(|part| parts[part].as_u64().unwrap())
            .sum();
        assert_eq!(row["peak_reserved_bytes"].as_u64(), Some(sum));
        for field in ["first_divergence_step", "reach_rate", "external_fragmentation"] {
            assert!(row.as_object().unwrap().contains_key(field), "{field}");
        }
        let behaviour = (row["policy"] == 2).then_some("engine");
        assert_eq!(row["arena_behaviour"].as_str(), behaviour);
        let causes = row["overhead"].as_array().unwrap();
        let time: u64 = causes.iter().map(|cause| cause["estimated_ns"].as_u64().unwrap()).sum();
        assert_eq!(row["estimated_overhead_ns"].as_u64(), Some(time));
        assert!(
            causes
                .iter()
                .all(|cause| cause["cause"].is_string() && cause["count"].as_u64() > Some(0))
        );
    }
    assert_eq!(answer["effective_policy"], 0);
    assert_eq!(answer["best"]["policy"], 2);
    let again = run(&["compare", "sample:resnet50", "--format", "json"]);
    let first = run(&["compare", "sample:resnet50", "--format", "json"]);
    assert_eq!(again.stdout, first.stdout, "two runs are equal byte for byte");
}

#[test]
fn compare_says_no_where_the_answer_is_no() {
    let small = [
        "compare",
        "sample:resnet50",
        "--device-memory",
        "1GiB",
        "--format",
        "json",
    ];
    let answer = json(&small, 1);
    assert_eq!(answer["policies"][0]["out_of_memory"], true);
    assert!(answer["best"].is_null());
    let conflict = [
        "compare",
        "sample:mobilenet",
        "--set",
        "memory_config.static_memory_policy=3",
        "--env",
        "GE_USE_STATIC_MEMORY=2",
        "--format",
        "json",
    ];
    assert_eq!(json(&conflict, 1)["effective_policy"], 4);
    let chosen = json(
        &["compare", "sample:mobilenet", "--policies", "0,1", "--format", "json"],
        0,
    );
    assert_eq!(chosen["policies"].as_array().unwrap().len(), 2);
    let other = json(
        &["compare", "sample:mobilenet", "--policies", "2", "--format", "json"],
        0,
    );
    assert_eq!(other["policies"].as_array().unwrap().len(), 1);
}

#[test]
fn one_static_graph_says_that_the_policies_are_alike() {
    let answer = json(&["compare", "sample:mobilenet", "--format", "json"], 0);
    assert!(
        answer["alike"]
            .as_str()
            .unwrap()
            .contains("several graphs or changing shapes")
    );
}

#[test]
fn plan_answers_fits_and_lists_csv() {
    let answer = json(&["plan", "sample:resnet50", "--format", "json"], 0);
    assert_eq!(answer["verified"], true);
    assert!(answer["footprint_bytes"].as_u64() >= answer["lower_bound_bytes"].as_u64());
    assert!(answer["fits"].is_null());
    let no = json(
        &["plan", "sample:resnet50", "--capacity", "1GiB", "--format", "json"],
        1,
    );
    assert_eq!(no["fits"], false);
    let edges = json(
        &[
            "plan",
            "sample:mobilenet",
            "--strategy",
            "greedy_by_size",
            "--edges",
            "--format",
            "json",
        ],
        0,
    );
    assert_eq!(
        edges["reuse_edges"].as_u64(),
        Some(edges["edges"].as_array().unwrap().len() as u64)
    );
    let csv = run(&["plan", "sample:mobilenet", "--format", "csv"]);
    let text = String::from_utf8(csv.stdout).unwrap();
    assert!(text.starts_with("id,lower,upper,size,offset\n"), "{text}");
    fails(&["plan", "sample:mobilenet", "--strategy", "magic"], "greedy_by_size");
}

#[test]
fn check_reports_rules_and_effective_values() {
    assert_eq!(json(&["check", "--format", "json"], 0)["findings"], Json::Array(vec![]));
    let answer = json(
        &[
            "check",
            "--set",
            "mix_compile_mode=true",
            "--set",
            "iterations_per_loop=10",
            "--format",
            "json",
        ],
        1,
    );
    assert_eq!(answer["findings"][0]["rule"], "R3");
    assert_eq!(answer["effective"]["iterations_per_loop"], 10);
    fails(
        &["check", "--set", "static_memory_polici=2"],
        "memory_config.static_memory_policy",
    );
    fails(&["check", "--set", "nonsense"], "KEY=VALUE");
}

#[test]
fn options_lists_the_tables() {
    let answer = json(&["options", "--format", "json"], 0);
    let keys: Vec<&str> = answer["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["key"].as_str().unwrap())
        .collect();
    assert!(keys.contains(&"memory_config.static_memory_policy"));
    assert!(answer["rules"].to_string().contains("R51"));
    assert_eq!(answer["environment"][0]["name"], "GE_USE_STATIC_MEMORY");
}

#[test]
fn export_writes_a_configuration_that_check_and_compare_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    let path = path.to_str().unwrap();
    let output = run(&[
        "export",
        "sample:resnet50",
        "--to",
        path,
        "--set",
        "memory_config.static_memory_policy=2",
        "--device",
        "generic-16GB",
    ]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        json(&["check", path, "--format", "json"], 0)["effective"]["effective_policy"],
        2
    );
    let answer = json(&["compare", "sample:resnet50", "--config", path, "--format", "json"], 0);
    assert_eq!(answer["effective_policy"], 2);
    assert_eq!(answer["device"]["name"], "generic-16GB");
    fails(&["export", "sample:resnet50", "--to", "report.pdf"], "report.pdf");
}

#[test]
fn export_writes_scripts_that_check_reads() {
    let folder = tempfile::tempdir().unwrap();
    for (name, policy) in [("config.py", 4), ("config.sh", 3)] {
        let path = folder.path().join(name);
        let path = path.to_str().unwrap();
        let setting = [
            "--set",
            "memory_config.static_memory_policy=2",
            "--env",
            "GE_USE_STATIC_MEMORY=3",
        ];
        let output = run(&[&["export", "sample:resnet50", "--to", path], &setting[..]].concat());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{error}");
        let code = i32::from(policy == 4);
        let answer = json(&["check", path, "--format", "json"], code);
        assert_eq!(answer["effective"]["effective_policy"], policy);
        let answer = json(
            &["compare", "sample:resnet50", "--config", path, "--format", "json"],
            code,
        );
        assert_eq!(answer["effective_policy"], policy);
    }
    let path = folder.path().join("broken.py");
    std::fs::write(&path, "config = NPURunCon fig(\n").unwrap();
    fails(&["check", path.to_str().unwrap()], "line 1, column 20");
}

#[test]
fn bad_usage_and_bad_input_are_one_line_and_exit_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("random.bin");
    std::fs::write(&path, [0x93_u8, 0x11, 0xfe, 0x00, 0x42].repeat(100)).unwrap();
    fails(&["inspect", path.to_str().unwrap()], "random.bin");
    fails(&["inspect", "/no/such/file.onnx"], "/no/such/file.onnx");
    fails(&["inspect", folder.path().to_str().unwrap()], "folder");
    fails(&["inspect"], "FILE");
    fails(&["compare", "sample:none"], "resnet50");
    fails(&["compare", "sample:resnet50", "--device", "toaster"], "generic-32GB");
    fails(
        &["compare", "sample:resnet50", "--device-memory", "lots"],
        "--device-memory",
    );
    fails(&["compare", "sample:resnet50", "--dim", "seq=3"], "seq");
    fails(
        &["plan", "sample:mobilenet", "--alignment", "18446744073709551615"],
        "--alignment",
    );
    fails(&["plan", "sample:mobilenet", "--alignment", "0"], "--alignment");
    fails(&["remat", "/no/such/file.log", "--budget", "0.5"], "/no/such/file.log");
    fails(&["remat", "sample:mobilenet"], "--budget");
    fails(&["remat", "sample:mobilenet", "--budget", "0"], "--budget");
    fails(
        &["remat", "sample:mobilenet", "--budget", "0.5", "--heuristic", "fifo"],
        "dtr_eq",
    );
    fails(&["comapre", "sample:resnet50"], "comapre");
    fails(
        &["inspect", "sample:bert", "--dim", "batch=9223372036854775808"],
        "2^63",
    );
    fails(&["compare", "sample:bert", "--dim", "seq=1", "--dim", "seq=2"], "twice");
    fails(&["compare", "sample:resnet50", "--iterations", "90000"], "iterations");
    fails(
        &["compare", "sample:resnet50", "--device-memory", "0"],
        "--device-memory",
    );
    fails(&["plan", "sample:resnet50", "--deadline=-1"], "deadline");
    fails(&["compare", "sample:resnet50", "--frobnicate"], "frobnicate");
}

#[test]
fn standard_input_is_a_file() {
    use std::io::Write as _;
    let mut child = Command::new(env!("CARGO_BIN_EXE_highwater"))
        .args(["inspect", "-", "--format", "json"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let sample = highwater::session::sample("mobilenet").unwrap();
    child.stdin.take().unwrap().write_all(sample.files[0].bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["format"], "onnx");
}

#[test]
fn help_version_and_completions_exit_0() {
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["compare", "--help"],
        &["completions", "bash"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn without_a_display_the_window_is_one_sentence_and_exit_2() {
    fails(&[], "highwater compare");
}

#[test]
fn compare_names_estimates_and_what_others_hold() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("mix.json");
    std::fs::write(&list, r#"{"black-list": {"to-add": ["Conv"]}} // convolutions stay"#).expect("a file");
    let list = format!("modify_mixlist={}", list.display());
    let mixed = [
        "compare",
        "sample:mobilenet",
        "--set",
        "precision_mode=allow_mix_precision",
    ];
    let occupied = [
        "--set",
        "simulation.occupied_memory=0:2GiB,1:4GiB",
        "--env",
        "DEVICE_ID=1",
    ];
    let plain = json(&[&mixed[..2], &["--format", "json"]].concat(), 0);
    let narrow = json(&[&mixed[..], &occupied, &["--format", "json"]].concat(), 0);
    let kept = json(&[&mixed[..], &["--set", &list, "--format", "json"]].concat(), 0);
    assert_eq!(
        (&plain["estimates"], &plain["occupied_bytes"]),
        (&serde_json::json!([]), &serde_json::json!(0))
    );
    assert_eq!(
        (&narrow["device_id"], &narrow["occupied_bytes"]),
        (&serde_json::json!(1), &serde_json::json!(4_u64 << 30))
    );
    assert_eq!(narrow["device"]["memory_bytes"], 28_u64 << 30);
    assert_eq!(narrow["estimates"], serde_json::json!(["precision_mode"]));
    assert_eq!(
        kept["estimates"],
        serde_json::json!(["precision_mode", "modify_mixlist"])
    );
    let live = |answer: &Json| answer["policies"][0]["peak_live_bytes"].as_u64().expect("bytes");
    assert!(live(&narrow) < live(&kept) && live(&kept) <= live(&plain));
    let text = String::from_utf8(run(&[&mixed[..], &occupied].concat()).stdout).expect("text");
    assert!(
        text.contains("estimate: precision_mode changes widths by op class"),
        "{text}"
    );
    assert!(
        text.contains("with 28.00\u{a0}GiB left; others hold 4.000\u{a0}GiB on device 1"),
        "{text}"
    );
}

#[test]
fn compare_says_how_policy_2_acts_and_what_scratch_is() {
    let base = ["compare", "sample:mobilenet", "--policies", "2"];
    let settings = [
        "--set",
        "simulation.policy_2_behaviour=documented",
        "--set",
        "simulation.workspace_estimate=on",
        "--set",
        "simulation.malloc_ns=7",
    ];
    let text = |arguments: &[&str]| String::from_utf8(run(arguments).stdout).expect("text");
    let (plain, changed) = (text(&base), text(&[&base[..], &settings].concat()));
    assert!(
        plain.contains("as the engine does") && plain.contains("kernel scratch not included"),
        "{plain}"
    );
    assert!(
        changed.contains("as documented") && changed.contains("Kernel scratch is an estimate"),
        "{changed}"
    );
    assert!(
        changed.contains("estimate: simulation.workspace_estimate gives ops"),
        "{changed}"
    );
    let answer = json(&[&base[..], &settings, &["--format", "json"]].concat(), 0);
    assert_eq!(answer["scratch"], "estimated");
    assert_eq!(answer["policies"][0]["arena_behaviour"], "documented");
    assert_eq!(answer["policies"][0]["lower_bound"], true);
    let malloc = &answer["policies"][0]["overhead"][0];
    assert_eq!(malloc["cause"], "malloc");
    assert_eq!(malloc["estimated_ns"].as_u64(), malloc["count"].as_u64().map(|n| 7 * n));
}
