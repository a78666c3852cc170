//! The command line: exit codes, one line of error, JSON fields, files written whole.

mod advice;
mod baseline;
mod call_sites;
mod compare;
mod explain;
mod export;
mod failed_requests;
mod flame;
mod genai;
mod help;
mod hostile;
mod inspect;
mod learn;
mod no_history;
mod peak;
mod pins;
pub(crate) mod plan;
mod plan_dumped;
mod plan_logged;
mod recorded_claims;
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

/// Standard output as a text.
#[track_caller]
pub(crate) fn text_of(arguments: &[&str], code: i32) -> String {
    let (found, text, error) = told(arguments);
    assert_eq!(found, code, "{arguments:?}: {error}");
    text
}

/// Exit code, standard output and standard error.
pub(crate) fn told(arguments: &[&str]) -> (i32, String, String) {
    let output = run(arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let code = output.status.code().expect("it ends by itself");
    (code, text(output.stdout), text(output.stderr))
}

#[track_caller]
pub(crate) fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "lacks \"{part}\":\n{text}");
    }
}

/// A folder with files.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("UTF-8").to_owned()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.at(name), content).expect("it can be written");
        self.at(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).expect("a text")
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// The words of a command line in which `@` is the folder, as in `inspect @a.json`. The folder's name may have blanks.
    pub(crate) fn line(&self, line: &str) -> Vec<String> {
        let folder = self.at("");
        let words = line.split(' ').filter(|word| !word.is_empty());
        words.map(|word| word.replace('@', &folder)).collect()
    }
}

pub(crate) fn words(line: &[String]) -> Vec<&str> {
    line.iter().map(String::as_str).collect()
}

#[test]
fn a_folder_with_blanks_stays_one_word() {
    let folder = tempfile::Builder::new().prefix("two words ").tempdir();
    let place = Place(folder.expect("a folder"));
    place.write("p.csv", "id,lower,upper,size\na,0,1,4\n");
    let answer = json(&words(&place.line("inspect  @p.csv --format json")), 0);
    assert_eq!(answer["lifetimes"][0]["peak_live_bytes"], 4);
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
    let text = text_of(&["plan", "sample:mobilenet", "--format", "csv"], 0);
    assert!(text.starts_with("id,lower,upper,size,offset\n"), "{text}");
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
    let place = Place::new();
    let line =
        "export sample:resnet50 --to @config.json --set memory_config.static_memory_policy=2 --device generic-16GB";
    text_of(&words(&place.line(line)), 0);
    let path = &place.at("config.json");
    assert_eq!(
        json(&["check", path, "--format", "json"], 0)["effective"]["effective_policy"],
        2
    );
    let answer = json(&["compare", "sample:resnet50", "--config", path, "--format", "json"], 0);
    assert_eq!(answer["effective_policy"], 2);
    assert_eq!(answer["device"]["name"], "generic-16GB");
}

#[test]
fn export_writes_scripts_that_check_reads() {
    let place = Place::new();
    let settings = "--set memory_config.static_memory_policy=2 --env GE_USE_STATIC_MEMORY=3 --force";
    for (name, policy) in [("config.py", 4), ("config.sh", 3)] {
        let path = &place.at(name);
        let line = format!("export sample:resnet50 --to @{name} {settings}");
        text_of(&words(&place.line(&line)), 0);
        let code = i32::from(policy == 4);
        let answer = json(&["check", path, "--format", "json"], code);
        assert_eq!(answer["effective"]["effective_policy"], policy);
        let answer = json(
            &["compare", "sample:resnet50", "--config", path, "--format", "json"],
            code,
        );
        assert_eq!(answer["effective_policy"], policy);
    }
    let path = place.write("broken.py", "config = NPURunCon fig(\n");
    fails(&["check", &path], "line 1, column 20");
}

#[test]
fn bad_usage_and_bad_input_are_one_line_and_exit_2() {
    let place = Place::new();
    place.write("random.bin", [0x93_u8, 0x11, 0xfe, 0x00, 0x42].repeat(100));
    for (line, expected) in [
        ("inspect @random.bin", "random.bin"),
        ("inspect /no/such/file.onnx", "/no/such/file.onnx"),
        ("inspect @", "folder"),
        ("inspect", "FILE"),
        ("compare sample:none", "resnet50"),
        ("compare sample:resnet50 --device toaster", "generic-32GB"),
        ("compare sample:resnet50 --device-memory lots", "--device-memory"),
        ("compare sample:resnet50 --device-memory 0", "--device-memory"),
        ("compare sample:resnet50 --iterations 90000", "iterations"),
        ("compare sample:resnet50 --frobnicate", "frobnicate"),
        ("compare sample:bert --dim seq=1 --dim seq=2", "twice"),
        ("comapre sample:resnet50", "comapre"),
        ("plan sample:mobilenet --alignment 18446744073709551615", "--alignment"),
        ("plan sample:mobilenet --alignment 0", "--alignment"),
        ("plan sample:mobilenet --strategy magic", "greedy_by_size"),
        ("plan sample:resnet50 --deadline=-1", "deadline"),
        ("remat /no/such/file.log --budget 0.5", "/no/such/file.log"),
        ("remat sample:mobilenet", "--budget"),
        ("remat sample:mobilenet --budget 0", "--budget"),
        ("remat sample:mobilenet --budget 0.5 --heuristic fifo", "dtr_eq"),
        ("inspect sample:bert --dim batch=9223372036854775808", "2^63"),
        (
            "check --set static_memory_polici=2",
            "memory_config.static_memory_policy",
        ),
        ("check --set nonsense", "KEY=VALUE"),
        ("export sample:resnet50 --to report.pdf", "report.pdf"),
        ("manual /no/such/folder", "/no/such/folder"),
        // Without a display the window is one sentence.
        ("", "highwater compare"),
    ] {
        fails(&words(&place.line(line)), expected);
    }
}

#[test]
fn input_files_are_never_overwritten() {
    let place = Place::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_traces/");
    let copies = [
        ("mobilenet_v2.onnx", "net.json"),
        ("lenet_training.runmeta.pb.gz", "run.json"),
        ("lenet_training.pb", "lenet.pb"),
    ];
    for (name, target) in copies {
        std::fs::copy(format!("{samples}{name}"), place.at(target)).unwrap();
    }
    for line in [
        "export @net.json --to @net.json",
        "export @net.json --as report --to @net.json",
        "compare @net.json --svg @net.json",
        "learn @run.json @lenet.pb --to @run.json",
        "export @lenet.pb --open-as tensorflow --as trace --to @lenet.pb",
        "export @net.json @lenet.pb --to @net.json",
    ] {
        let files = || copies.map(|(_, path)| std::fs::read(place.at(path)).unwrap());
        let before = files();
        fails(&words(&place.line(line)), "not overwritten");
        assert!(before == files(), "{line}");
    }
}

#[test]
fn no_file_that_a_command_reads_is_replaced() {
    let place = Place::new();
    let model = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/sample_traces/lstm_tiny.tflite")).unwrap();
    std::fs::create_dir(place.at("run")).unwrap();
    for name in ["model.tflite", "other.svg", "run/net.tflite"] {
        place.write(name, &model);
    }
    place.write("s.json", r#"{"iterations": 2}"#);
    place.write("run.py", "from npu_bridge.npu_init import *\nconfig = NPURunConfig()\n");
    place.write("list.html", "{}");
    for line in [
        "export @model.tflite --to @d.highwater",
        "export @model.tflite --to @c.json",
        "export @other.svg --to @other.highwater",
    ] {
        text_of(&words(&place.line(line)), 0);
    }
    std::fs::rename(place.at("d.highwater"), place.at("d.json")).unwrap();
    let mut cases = vec![
        (
            "compare @model.tflite --baseline @other.svg --svg @other.svg",
            "other.svg",
        ),
        ("export @model.tflite --schedule @s.json --to @s.json", "s.json"),
        (
            "export --schedule @s.json --set memory_config.static_memory_policy=2 --to @s.json",
            "s.json",
        ),
        ("export @model.tflite --config @run.py --to @run.py", "run.py"),
        ("export @model.tflite --pin a=@run.py --to @run.py", "run.py"),
        (
            "export @model.tflite --set modify_mixlist=@list.html --to @list.html",
            "list.html",
        ),
        ("export @d.json --to @d.json", "d.json"),
        ("compare @d.json --svg @d.json", "d.json"),
        ("learn @d.json --to @d.json", "d.json"),
        ("compare @model.tflite --config @c.json --svg @c.json", "c.json"),
        (
            "export @model.tflite --config @c.json --as report --to @c.json",
            "c.json",
        ),
        ("export @model.tflite --pin a=@c.json --to @c.json", "c.json"),
        (
            "compare @model.tflite --baseline @other.highwater --svg @other.svg",
            "other.svg",
        ),
    ];
    if cfg!(unix) {
        std::fs::hard_link(place.at("other.svg"), place.at("link.svg")).unwrap();
        std::fs::hard_link(place.at("run/net.tflite"), place.at("tensors.csv")).unwrap();
        cases.extend([
            ("compare @other.svg --svg @link.svg", "other.svg"),
            ("export @other.svg --to @link.svg", "other.svg"),
            ("export @run --to @tensors.csv", "run/net.tflite"),
        ]);
    }
    for (line, read) in cases {
        let before = std::fs::read(place.at(read)).unwrap();
        fails(&words(&place.line(line)), "not overwritten");
        assert!(std::fs::read(place.at(read)).unwrap() == before, "{line}");
    }
    // A configuration may replace the configuration that it was read from.
    text_of(
        &words(&place.line("export @model.tflite --config @c.json --to @c.json")),
        0,
    );
}

/// Times near 2^64 in all that is drawn and written.
#[test]
fn times_that_add_up_to_more_than_64_bits_are_drawn() {
    let place = Place::new();
    let long = place.at("long.json");
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
            text_of(&["export", &long, "--to", &place.at(name)], 0);
        }
        text_of(
            &words(&place.line("compare @long.json --map --svg @c.svg --axis estimated")),
            0,
        );
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
        assert!(!text_of(arguments, 0).is_empty());
    }
}

#[test]
fn the_version_names_the_commit_and_the_features() {
    let text = text_of(&["--version"], 0);
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
    for command in ["compare", "explain", "recommend", "replay"] {
        assert!(main.contains(command), "{command}");
        assert!(page(&format!("highwater-{command}.1")).contains("SYNOPSIS"));
    }
}
