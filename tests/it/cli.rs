//! The command line: exit codes, one line of error, JSON fields, files written whole.

mod advice;
mod baseline;
mod call_sites;
mod compare;
mod explain_log;
mod export;
mod flame;
mod help;
mod hostile;
mod inspect;
mod learn;
mod peak;
mod pins;
pub(crate) mod plan;
mod plan_dumped;
mod plan_logged;
mod settings_lanes;
mod threads;
mod torch;
mod verdict;
mod verified;

use std::ffi::OsStr;
use std::process::{Command, Output};

use serde_json::Value as Json;

pub(crate) fn run(arguments: &[&str]) -> Output {
    run_os(arguments)
}

pub(crate) fn run_os(arguments: &[impl AsRef<OsStr>]) -> Output {
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
            "--force",
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
fn input_files_are_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_traces/");
    let copy = |name: &str, target: &str| {
        let path = folder.path().join(target);
        std::fs::copy(format!("{samples}{name}"), &path).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let model = copy("mobilenet_v2.onnx", "net.json");
    let run = copy("lenet_training.runmeta.pb.gz", "run.json");
    let graph = copy("lenet_training.pb", "lenet.pb");
    let cases: [&[&str]; 6] = [
        &["export", &model, "--to", &model],
        &["export", &model, "--as", "report", "--to", &model],
        &["compare", &model, "--svg", &model],
        &["learn", &run, &graph, "--to", &run],
        &[
            "export",
            &graph,
            "--open-as",
            "tensorflow",
            "--as",
            "trace",
            "--to",
            &graph,
        ],
        &["export", &model, &graph, "--to", &model],
    ];
    for case in cases {
        let files: Vec<Vec<u8>> = [&model, &run, &graph].map(|path| std::fs::read(path).unwrap()).into();
        fails(case, "not overwritten");
        let after: Vec<Vec<u8>> = [&model, &run, &graph].map(|path| std::fs::read(path).unwrap()).into();
        assert!(files == after, "{case:?}");
    }
}

#[test]
fn no_file_that_a_command_reads_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (model, other) = (at("model.tflite"), at("other.svg"));
    for path in [&model, &other] {
        std::fs::copy(
            format!("{}/sample_traces/lstm_tiny.tflite", env!("CARGO_MANIFEST_DIR")),
            path,
        )
        .unwrap();
    }
    let (schedule, script, document, link) = (at("s.json"), at("run.py"), at("d.json"), at("link.svg"));
    std::fs::write(&schedule, r#"{"iterations": 2}"#).unwrap();
    std::fs::write(&script, "from npu_bridge.npu_init import *\nconfig = NPURunConfig()\n").unwrap();
    let (list, pin, named) = (
        at("list.html"),
        format!("a={script}"),
        format!("modify_mixlist={}", at("list.html")),
    );
    std::fs::write(&list, "{}").unwrap();
    let saved = at("d.highwater");
    assert!(run(&["export", &model, "--to", &saved]).status.success());
    std::fs::rename(&saved, &document).unwrap();
    let (config, of_other, folder_source) = (at("c.json"), at("other.highwater"), at("run"));
    assert!(run(&["export", &model, "--to", &config]).status.success());
    assert!(run(&["export", &other, "--to", &of_other]).status.success());
    let in_folder = at("run/net.tflite");
    std::fs::create_dir(&folder_source).unwrap();
    std::fs::copy(&model, &in_folder).unwrap();
    let (pinned, table) = (format!("a={config}"), at("tensors.csv"));
    let mut cases: Vec<(Vec<&str>, &str)> = vec![
        (vec!["compare", &model, "--baseline", &other, "--svg", &other], &other),
        (
            vec!["export", &model, "--schedule", &schedule, "--to", &schedule],
            &schedule,
        ),
        (
            vec![
                "export",
                "--schedule",
                &schedule,
                "--set",
                "memory_config.static_memory_policy=2",
                "--to",
                &schedule,
            ],
            &schedule,
        ),
        (vec!["export", &model, "--config", &script, "--to", &script], &script),
        (vec!["export", &model, "--pin", &pin, "--to", &script], &script),
        (vec!["export", &model, "--set", &named, "--to", &list], &list),
        (vec!["export", &document, "--to", &document], &document),
        (vec!["compare", &document, "--svg", &document], &document),
        (vec!["learn", &document, "--to", &document], &document),
        (vec!["compare", &model, "--config", &config, "--svg", &config], &config),
        (
            vec!["export", &model, "--config", &config, "--as", "report", "--to", &config],
            &config,
        ),
        (vec!["export", &model, "--pin", &pinned, "--to", &config], &config),
        (
            vec!["compare", &model, "--baseline", &of_other, "--svg", &other],
            &other,
        ),
    ];
    if cfg!(unix) {
        std::fs::hard_link(&other, &link).unwrap();
        cases.push((vec!["compare", &other, "--svg", &link], &other));
        cases.push((vec!["export", &other, "--to", &link], &other));
        std::fs::hard_link(&in_folder, &table).unwrap();
        cases.push((vec!["export", &folder_source, "--to", &table], &in_folder));
    }
    for (arguments, read) in cases {
        let before = std::fs::read(read).unwrap();
        fails(&arguments, "not overwritten");
        assert!(std::fs::read(read).unwrap() == before, "{arguments:?}");
    }
    // A configuration may replace the configuration that it was read from.
    assert!(
        run(&["export", &model, "--config", &config, "--to", &config])
            .status
            .success()
    );
}

/// Times near 2^64 in all that is drawn and written.
#[test]
fn times_that_add_up_to_more_than_64_bits_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let long = at("long.json");
    for times in [vec![u64::MAX, 0], vec![1 << 62; 8], vec![17_900_000_000_000_000_000, 1]] {
        let node = |at: usize| {
            serde_json::json!({"op": "a", "time_ns": times[at], "inputs": [format!("t{at}")],
                   "outputs": [{"id": format!("t{}", at + 1), "bytes": 4}]})
        };
        let graph = serde_json::json!({"highwater_graph": 1, "nodes": (0..times.len()).map(node).collect::<Vec<_>>(),
                           "inputs": [{"id": "t0", "bytes": 4}]});
        std::fs::write(&long, graph.to_string()).unwrap();
        for name in [
            "tensors.csv",
            "report.html",
            "timeline.svg",
            "trace.json",
            "timeline.png",
        ] {
            let output = run(&["export", &long, "--to", &at(name)]);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{times:?}, {name}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let output = run(&["compare", &long, "--map", "--svg", &at("c.svg"), "--axis", "estimated"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A closed pipe is no error, a full device is one.
#[cfg(target_os = "linux")]
#[test]
fn completions_survive_a_closed_output() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let command = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_highwater"));
            command
                .args(["completions", shell])
                .stderr(std::process::Stdio::piped());
            command
        };
        let mut child = command().stdout(std::process::Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{shell}");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command().stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{shell}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains("standard output"), "{error}");
    }
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
fn the_version_names_the_commit_and_the_features() {
    let output = run(&["--version"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let rest = text.strip_prefix(concat!("highwater ", env!("CARGO_PKG_VERSION"), " (commit "));
    assert!(rest.is_some_and(|rest| rest.contains(", features: ")), "{text}");
}

#[test]
fn every_listed_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&["manual", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    let page = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let main = page("highwater.1");
    for command in ["compare", "explain-log", "recommend", "replay"] {
        assert!(main.contains(&command.replace('-', "\\-")), "{command}");
        assert!(page(&format!("highwater-{command}.1")).contains("SYNOPSIS"));
    }
    fails(&["manual", "/no/such/folder"], "/no/such/folder");
}

#[test]
fn without_a_display_the_window_is_one_sentence_and_exit_2() {
    fails(&[], "highwater compare");
}
