//! Hostile names: from files, arguments and paths.

use std::path::Path;
use std::process::Output;

use highwater::visible::is_hidden;
use serde_json::{Value as Json, json};

use super::{Place, run, says, text_of, told};

/// Escape sequences, a bell, return, delete, C1, bidirectional controls, a separator of lines.
const NASTY: &str = "=x\u{1b}[31m\u{7}\r\u{7f}\u{9b}2J\u{202e}\u{2066}\u{200f}\u{2028}";

/// A chain whose graph, ops and tensors have such names.
fn graph() -> String {
    let name = |part: &str| format!("{NASTY}{part}");
    let node = |at: usize| {
        json!({
            "name": name(&format!("op{at}")), "op": name("kind"),
            "inputs": [name(&format!("t{at}"))],
            "outputs": [{"id": name(&format!("t{}", at + 1)), "shape": [64, 4], "dtype": "float32"}],
        })
    };
    let graph = json!({
        "highwater_graph": 1, "name": name("graph"),
        "nodes": (0..6).map(node).collect::<Vec<_>>(),
        "inputs": [{"id": name("t0"), "shape": [64, 4], "dtype": "float32"}],
        "outputs": [name("t6")],
    });
    graph.to_string()
}

#[track_caller]
fn is_clean(what: &str, output: &Output) {
    for (stream, bytes) in [("output", &output.stdout), ("error", &output.stderr)] {
        let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{what}: {stream}: {error}"));
        let hidden = text.find(is_hidden);
        let around = hidden.map(|at| text[at..].chars().take(20).collect::<String>());
        assert_eq!(around, None, "{what}: {stream}");
    }
}

#[test]
fn no_control_character_reaches_the_terminal() {
    let place = Place::new();
    let file = place.write(&format!("{NASTY}.json"), graph());
    let broken = place.write(
        &format!("{NASTY}broken.json"),
        "{\"highwater_graph\": 1, \"nodes\": \u{1b}",
    );
    let tables = place.write(
        &format!("operator_memory_{NASTY}.csv"),
        format!("Name,Size(KB),Allocation Time(us),Release Time(us)\n\"{NASTY}\",1,2,3\n\"{NASTY}\",x,2,\u{1b}\n"),
    );
    let config = place.write(&format!("{NASTY}config.json"), format!("{{{:?}: 1}}", "\u{1b}key"));
    let plan = &place.at("plan.csv");
    let file = file.as_str();
    let nasty_set = format!("{NASTY}=1");
    let commands: Vec<Vec<&str>> = vec![
        vec!["inspect", file],
        vec!["inspect", file, "--format", "json"],
        vec!["inspect", &broken],
        vec!["inspect", &tables],
        vec!["compare", &tables],
        vec!["compare", file],
        vec!["compare", file, "--format", "json"],
        vec!["compare", file, "--format", "markdown"],
        vec!["compare", file, "--set", &nasty_set],
        vec!["compare", file, "--config", &config],
        vec!["compare", file, "--graph", NASTY],
        vec!["compare", file, "--device", NASTY],
        vec!["compare", file, "--dim", &nasty_set],
        vec!["compare", file, "--policies", NASTY],
        vec!["compare", file, "--no-such-flag", NASTY],
        vec!["peak", file],
        vec!["peak", file, "--format", "json"],
        vec!["peak", file, "--format", "csv"],
        vec!["plan", file],
        vec!["plan", file, "--edges", "--explain"],
        vec!["plan", file, "--format", "csv"],
        vec!["plan", file, "--why", NASTY],
        vec!["reuse", file, "--level", "1", "--print-log"],
        vec!["remat", file, "--budget", "0.9", "--heuristic", "dtr", "--events"],
        vec!["export", file, "--to", "plan.csv", "--preview"],
        vec!["export", file, "--to", "timeline.svg", "--preview"],
        vec!["check", "--set", &nasty_set],
        vec!["check", &config],
        vec!["formats", NASTY],
        vec!["replay", file],
        vec![NASTY],
    ];
    for command in commands {
        let output = run(&command);
        is_clean(&command.join(" "), &output);
        if command.contains(&"json") && output.status.success() {
            let answer: Json = serde_json::from_slice(&output.stdout).expect("JSON");
            assert!(answer.to_string().contains('\u{202e}'), "values stay what they are");
        }
    }
    is_clean("export", &run(&["export", file, "--to", plan]));
    let table = std::fs::read_to_string(plan).expect("a table");
    assert_eq!(table.find(is_hidden), None);
}

#[test]
fn texts_are_no_formulas_in_spreadsheets() {
    let place = Place::new();
    let problem = "id,lower,upper,size\n=1+1,0,2,4\n-x,0,2,4\n-7,2,4,4\n\"@a,b\",1,3,4\nplain,0,1,8\n";
    let file = place.write("problem.csv", problem);
    let csv = |arguments: &[&str]| text_of(arguments, 0);
    let ids = |text: &str| -> Vec<String> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader.records().map(|row| row.expect("a row")[0].to_owned()).collect()
    };
    let guarded = csv(&["plan", &file, "--format", "csv"]);
    assert_eq!(ids(&guarded), ["'=1+1", "'-x", "-7", "'@a,b", "plain"]);
    let raw = csv(&["plan", &file, "--format", "csv", "--raw"]);
    assert_eq!(ids(&raw), ["=1+1", "-x", "-7", "@a,b", "plain"]);
    // Both are read back with the ids of the file.
    for content in [guarded, raw.clone()] {
        let again = place.write("again.csv", &content);
        assert_eq!(
            csv(&["plan", &again, "--format", "csv", "--raw", "--strategy", "as_dumped"]),
            raw
        );
    }
    for (flags, expected) in [(&[][..], "'=1+1"), (&["--raw"][..], "=1+1")] {
        text_of(&[&["export", &file, "--to", &place.at("plan.csv")], flags].concat(), 0);
        let table = place.read("plan.csv");
        assert!(table.contains(&format!(",{expected},")), "{table}");
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8_open_and_are_written() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let place = Place::new();
    let named = |name: &[u8]| Path::new(&place.at("")).join(OsStr::from_bytes(name));
    let file = named(b"bad\xff\xfe.json");
    std::fs::write(&file, graph()).expect("a file");
    let of = |arguments: &[&str], file: &Path| {
        let mut all: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        all.insert(1, file.as_os_str().to_owned());
        super::run_os(&all)
    };
    for command in [
        &["inspect"][..],
        &["compare"],
        &["plan"],
        &["peak"],
        &["sweep", "--axis", "memory_config.static_memory_policy=0,2"],
        &["remat", "--budget", "0.9"],
        &["reuse", "--level", "0"],
    ] {
        let output = of(command, &file);
        is_clean(command[0], &output);
        assert!(
            output.status.code() < Some(2),
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let to = OsString::from_vec([place.at("").as_bytes(), b"out\xff.svg"].concat());
    let arguments = ["export".into(), file.as_os_str().to_owned(), "--to".into(), to.clone()];
    assert!(super::run_os(&arguments).status.success());
    assert!(Path::new(&to).exists());
    let output = of(&["compare"], &named(b"missing\xff.json"));
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(
        output.status.code() == Some(2) && error.contains("missing\u{fffd}.json"),
        "{error}"
    );
    let set = OsString::from_vec(b"static_memory_policy=\xff".to_vec());
    let output = super::run_os(&["check".into(), "--set".into(), set]);
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(
        output.status.code() == Some(2) && error.contains("\"static_memory_policy=\u{fffd}\": not UTF-8"),
        "{error}"
    );
}

#[test]
fn errors_are_one_short_line_that_names_the_file() {
    let place = Place::new();
    let long = "x".repeat(50_000);
    for arguments in [
        &["compare", "sample:lenet", "--device", &long][..],
        &["compare", "sample:lenet", "--graph", &long],
        &["compare", "sample:lenet", "--set", &format!("{long}=1")],
        &["formats", &long],
        &["plan", "sample:lenet", "--strategy", &long],
        &["check", "--set", &format!("{long}=1")],
    ] {
        let output = run(arguments);
        let error = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(error.lines().count(), 1, "{}", arguments[0]);
        assert!(
            error.chars().count() < 3_000,
            "{}: {} characters",
            arguments[0],
            error.len()
        );
    }
    let mut n_errors = 0;
    for (at, sample) in std::fs::read_dir("sample_traces")
        .expect("samples")
        .flatten()
        .enumerate()
    {
        let mut bytes = std::fs::read(sample.path()).expect("a sample");
        bytes.truncate(bytes.len() * 2 / 3);
        let name = format!("damaged{at}_{}", sample.file_name().to_string_lossy());
        let path = &place.write(&name, bytes);
        for command in [
            &["inspect", path][..],
            &["compare", path],
            &["compare", "sample:lenet", "--baseline", path],
            &["compare", "sample:lenet", "--config", path],
            &["compare", "sample:lenet", "--schedule", path],
            &["plan", path],
            &["peak", path, "--segments"],
            &["remat", path, "--budget", "0.5"],
            &["reuse", path, "--level", "1"],
            &["replay", path, "--policy", "0"],
            &["replay", path, "--allocator", "torch"],
            &["recommend", path],
            &["check", path],
        ] {
            let output = run(command);
            if output.status.code() == Some(2) {
                let error = String::from_utf8(output.stderr).expect("UTF-8");
                let lines = error.lines().filter(|line| !line.starts_with("highwater: warning"));
                assert_eq!(lines.count(), 1, "{command:?}: {error}");
                assert!(error.contains(&name), "{command:?}: {error}");
                n_errors += 1;
            }
        }
    }
    assert!(n_errors > 50, "{n_errors}");
    let (_, _, error) = told(&["export", "sample:lenet", "--to", &place.at("missing/x.svg")]);
    says(&error, &[&format!("folder {} does not exist", place.at("missing"))]);
}

#[test]
fn sizes_beyond_every_number_are_errors() {
    let place = Place::new();
    let large = json!([4_000_000_000_u64, 1_000_000_000]);
    let of = |role: &str, shape: &Json| {
        json!({
            "highwater_graph": 1, "name": "large",
            "nodes": [
                {"name": "a", "op": "A", "inputs": ["x", "p"], "outputs": [{"id": "y", "shape": shape, "dtype": "float32"}]},
                {"name": "b", "op": "A", "inputs": ["y", "q"], "outputs": [{"id": "z", "shape": [4], "dtype": "float32"}]},
            ],
            "inputs": [
                {"id": "x", "shape": [4], "dtype": "float32"},
                {"id": "p", "shape": if role == "param" { &large } else { shape }, "dtype": "float32", "role": role},
                {"id": "q", "shape": if role == "param" { &large } else { shape }, "dtype": "float32", "role": role},
            ],
            "outputs": ["z"],
        })
        .to_string()
    };
    let file = |name: &str, text: &str| place.write(name, text);
    let weights = file("weights.json", &of("param", &json!([4])));
    let tensors = file("tensors.json", &of("batch", &large));
    let dims = file("dims.json", &of("batch", &json!(["n", 1_000_000_000])));
    let kilobytes = "18014398509481983";
    let table = "Name,Size(KB),Allocation Time(us),Release Time(us)\n";
    let table = file(
        "operator_memory.csv",
        &format!("{table}a,{kilobytes},1,5\nb,{kilobytes},2,6\n"),
    );
    for path in [&weights, &tensors, &table] {
        for command in [
            &["inspect", path][..],
            &["compare", path],
            &["peak", path],
            &["plan", path],
        ] {
            super::fails(command, "2^62 bytes");
        }
    }
    let dim = "n=4000000000";
    for command in [
        &["inspect", &dims, "--dim", dim][..],
        &["compare", &dims, "--dim", dim],
        &["compare", &dims, "--dim", "n=4000000000,3000000000"],
        &["remat", &dims, "--dim", dim, "--budget", "0.5"],
    ] {
        super::fails(command, "2^62 bytes");
    }
}
