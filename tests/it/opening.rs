//! Opening of files: pipes, devices, gzip, single slices, tables in unreadable forms.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use highwater::progress::{Cancel, Progress};
use highwater::session::{self, Notice, OnFailure, SourceSpec, load, read_source};
use serde_json::Value as Json;

use crate::cli::fails;
use crate::session::session_of;

const HEADER: &str = "Name,Size(KB),Allocation Time(us),Release Time(us),Stream Ptr,Device Type\n";

fn written(folder: &tempfile::TempDir, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("a file");
    path
}

fn inspected(argument: &str, input: Option<&[u8]>) -> Json {
    let mut child = Command::new(env!("CARGO_BIN_EXE_highwater"))
        .args(["inspect", argument, "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.unwrap_or_default()).expect("the program reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

#[test]
fn standard_input_is_read_like_a_file() {
    let table = format!("{HEADER}a,1.5,10,20,7,NPU:0\n");
    let answer = inspected("-", Some(table.as_bytes()));
    assert_eq!(answer["format"], "ascend_profiler");
    assert_eq!(answer["recordings"][0]["peak_live_bytes"], 1536);
    let model = std::fs::read("sample_traces/mobilenet_v2.onnx").expect("a sample");
    assert_eq!(
        inspected("-", Some(&model)),
        inspected("sample_traces/mobilenet_v2.onnx", None)
    );
}

/// `None` on a machine without `mkfifo`.
#[cfg(unix)]
fn named_pipe(folder: &tempfile::TempDir) -> Option<PathBuf> {
    let pipe = folder.path().join("model.onnx");
    let made = Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|status| status.success()) {
        return Some(pipe);
    }
    eprintln!("skipped: there is no mkfifo");
    None
}

#[cfg(unix)]
#[test]
fn a_pipe_with_a_name_is_read_like_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(pipe) = named_pipe(&folder) else { return };
    let model = std::fs::read("sample_traces/mobilenet_v2.onnx").expect("a sample");
    let answer = std::thread::scope(|scope| {
        scope.spawn(|| std::fs::write(&pipe, &model));
        inspected(&pipe.display().to_string(), None)
    });
    assert_eq!(answer, inspected("sample_traces/mobilenet_v2.onnx", None));
}

/// The pipe has no writer, so its reader would wait for ever.
#[cfg(unix)]
#[test]
fn waiting_for_a_pipe_can_be_cancelled() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(pipe) = named_pipe(&folder) else { return };
    let cancel = Cancel::at_look(3);
    let read = read_source(&SourceSpec::Path(pipe), &Progress::silent(&cancel));
    let error = read.expect_err("it is cancelled").to_string();
    assert!(error.contains("cancelled"), "{error}");
}

/// The user's Cancel ends the wait for a configuration, and what was sent after it is done.
#[cfg(unix)]
#[test]
fn waiting_for_a_configuration_can_be_cancelled() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(pipe) = named_pipe(&folder) else { return };
    let mut session = session_of("resnet50");
    session.apply(session::Command::ImportConfig(pipe.clone()));
    let gone = folder.path().join("gone");
    session.apply(session::Command::FindMissing(vec![gone.clone()]));
    session.apply(session::Command::Cancel);
    session.settle();
    assert!(session.is_missing(&gone) && session.notice().is_none());
    let pipe = folder.path().join("config");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .is_ok_and(|status| status.success())
    );
    std::thread::scope(|scope| {
        scope.spawn(|| std::fs::write(&pipe, r#"{"options": {"external_weight": true}}"#));
        session.apply(session::Command::ImportConfig(pipe.clone()));
        session.settle();
    });
    assert!(
        matches!(session.notice(), Some(Notice::Done(_))),
        "{:?}",
        session.notice()
    );
}

#[cfg(unix)]
#[test]
fn devices_and_empty_folders_are_reported() {
    fails(&["inspect", "/dev/null"], "it is a device; name a file or a pipe");
    fails(&["inspect", "/dev/zero"], "it is a device");
}

#[test]
fn tables_in_unsupported_forms_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = format!("{HEADER}a,1.5,10,20,7,NPU:0\n");
    let utf16: Vec<u8> = table.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, content, expected) in [
        (
            "semicolons.csv",
            table.replace(',', ";").into_bytes(),
            "divided by semicolons",
        ),
        ("tabs.csv", table.replace(',', "\t").into_bytes(), "divided by tabs"),
        ("wide.csv", utf16, "UTF-16"),
    ] {
        let path = written(&folder, name, &content);
        fails(&["inspect", &path.display().to_string()], expected);
    }
    let path = written(&folder, "empty.csv", HEADER.as_bytes());
    let answer = inspected(&path.display().to_string(), None);
    assert_eq!(answer["recordings"].as_array().map_or(0, Vec::len), 0);
    assert!(answer.to_string().contains("the table has no rows"), "{answer}");
}

#[test]
fn slices_that_are_opened_together_are_one_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let slice = |number: u32, rows: &str| {
        let name = format!("operator_memory_slice_{number}_20240101.csv");
        SourceSpec::Path(written(&folder, &name, format!("{HEADER}{rows}").as_bytes()))
    };
    let sources = [
        slice(1, "b,2,20,30,7,NPU:0\n"),
        slice(0, "a,1,10,40,7,NPU:0\n"),
        slice(3, "c,4,25,,7,NPU:0\n"),
    ];
    let cancel = Cancel::new();
    let loaded = load(&sources, false, OnFailure::Stop, &Progress::silent(&cancel)).expect("whole tables");
    let recordings = loaded.workload.recordings();
    assert_eq!(recordings.len(), 1);
    assert_eq!(recordings[0].blocks.len(), 3);
    assert_eq!(recordings[0].peaks().live.0.get(), 7 << 10);
    assert_eq!(loaded.reports.len(), 3);
    let said: Vec<&str> = loaded
        .diagnostics
        .entries()
        .iter()
        .map(|entry| entry.message.as_str())
        .collect();
    assert!(said.iter().any(|text| text.contains("slices 2 of")), "{said:?}");
}

#[test]
fn files_of_one_name_are_called_after_their_folders_in_the_order_of_ranks() {
    let folder = tempfile::tempdir().expect("a folder");
    let ranks = [10, 2, 0, 1];
    let path = |rank: u32| folder.path().join(format!("rank{rank}/OUT/operator_memory.csv"));
    for rank in ranks {
        let path = path(rank);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, format!("{HEADER}a,{},10,20,7,NPU:0\n", rank + 1)).expect("a file");
    }
    let lanes = |sources: &[SourceSpec]| -> Vec<String> {
        let cancel = Cancel::new();
        let loaded = load(sources, false, OnFailure::Stop, &Progress::silent(&cancel)).expect("tables");
        let recordings = loaded.workload.recordings().iter();
        recordings.map(|recording| recording.name.clone()).collect()
    };
    let given = ranks.map(|rank| SourceSpec::Path(path(rank)));
    assert_eq!(
        lanes(&given),
        ranks.map(|rank| format!("rank{rank} operator_memory.csv: NPU:0"))
    );
    assert_eq!(
        lanes(&[SourceSpec::Path(folder.path().to_owned())]),
        [0, 1, 2, 10].map(|rank| format!("rank{rank}/OUT operator_memory: NPU:0"))
    );
    std::fs::write(path(0).with_extension("csv.gz"), b"").expect("a file");
    std::fs::copy(path(0), path(0).with_extension("txt")).expect("a copy");
    let all = lanes(&[SourceSpec::Path(folder.path().to_owned())]);
    assert_eq!(
        all[..2],
        ["csv", "txt"].map(|ending| format!("rank0/OUT operator_memory.{ending}: NPU:0"))
    );
}

#[cfg(unix)]
#[test]
fn more_files_are_read_than_may_be_open_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..80 {
        let name = format!("memory_record_slice_{number}_7.csv");
        let rows = format!("Component,Timestamp(us),Total Allocated(KB)\nGE,{number},5\n");
        written(&folder, &name, rows.as_bytes());
        let module = format!("HloModule m{number}\n\nENTRY e {{\n  ROOT p = f32[2]{{0}} parameter(0)\n}}\n");
        written(&folder, &format!("module_{number}.txt"), module.as_bytes());
    }
    let program = env!("CARGO_BIN_EXE_highwater");
    let output = Command::new("sh")
        .args([
            "-c",
            "ulimit -n 30 && exec \"$0\" inspect \"$1\" --format json",
            program,
        ])
        .arg(folder.path())
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let answer: Json = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(answer["graphs"].as_array().map(Vec::len), Some(80));
    assert_eq!(answer["recordings"].as_array().map(Vec::len), Some(1));
    assert_eq!(answer["recordings"][0]["steps"], 80, "{}", answer["recordings"]);
    let said = answer["diagnostics"].to_string();
    assert!(
        !said.contains("header occurs again") && !said.contains("missing"),
        "{said}"
    );
}

#[test]
fn a_single_slice_asks_for_the_earlier_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(
        &folder,
        "memory_slice_1_7.csv",
        format!("{HEADER}a,1,10,20,7,NPU:0\n").as_bytes(),
    );
    let answer = inspected(&path.display().to_string(), None);
    assert!(
        answer.to_string().contains("slices 0 of the table are missing"),
        "{answer}"
    );
}

#[cfg(unix)]
#[test]
fn a_graph_from_a_pipe_is_not_called_after_its_number() {
    let graph = b"node { name: 'x' op: 'NoOp' }\n";
    for argument in ["-", "/dev/stdin"] {
        assert_eq!(inspected(argument, Some(graph))["graphs"][0]["name"], "standard input");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(&folder, "g.pbtxt", graph);
    let output = Command::new("sh")
        .args([
            "-c",
            "cat \"$1\" | \"$0\" inspect /dev/fd/7 7<&0 --format json",
            env!("CARGO_BIN_EXE_highwater"),
        ])
        .arg(path)
        .output()
        .expect("a shell");
    let answer: Json = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(answer["graphs"][0]["name"], "piped input");
}

#[test]
fn a_dimension_without_a_recording_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(&folder, "m.csv", format!("{HEADER}a,1,10,20,7,NPU:0\n").as_bytes());
    let path = path.display().to_string();
    let answer = crate::cli::json(&["compare", &path, "--dim", "M=3", "--format", "json"], 0);
    assert!(
        answer["diagnostics"].to_string().contains("--dim M changes nothing"),
        "{answer}"
    );
}

#[test]
fn readable_files_are_answered_despite_unreadable_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = written(&folder, "m.csv", format!("{HEADER}a,1,10,20,7,NPU:0\n").as_bytes());
    let bad = written(&folder, "bad.bin", b"\x01\x02\x03");
    let (good, bad) = (good.display().to_string(), bad.display().to_string());
    let answer = crate::cli::json(&["inspect", &bad, &good, "--format", "json"], 2);
    let files = answer["files"].as_array().expect("a list");
    assert_eq!((files.len(), &files[0]["format"]), (1, &Json::from("ascend_profiler")));
    let output = crate::cli::run(&["inspect", &good, &bad]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("bad.bin: "), "{error}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("m.csv (ascend_profiler)"));
    fails(&["inspect", "-", "-"], "standard input (-) can be read only once");
    fails(&["compare", "-", "-"], "standard input (-) can be read only once");
}

/// Files that people take for models, wherever they are named.
#[test]
fn files_that_are_not_read_are_named_with_a_way_to_one_that_opens() {
    let folder = tempfile::tempdir().expect("a folder");
    for part in ["tfjs", "saved", "saved/variables"] {
        std::fs::create_dir(folder.path().join(part)).expect("an own folder");
    }
    let file = |name: &str, content: &[u8]| written(&folder, name, content).display().to_string();
    let om = file("model.om", b"IMOD\0\x01\0\x01\x02\xff");
    let web = file(
        "tfjs/model.json",
        b"{\"format\": \"layers-model\", \"modelTopology\": {}}",
    );
    file("tfjs/group1-shard1of1.bin", &[1, 2, 0xff]);
    file("saved/variables/variables.index", b"\0\0\x06\x08\x01\x1a\x02\x08\x01\0");
    let old = file(
        "old.pth",
        b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.",
    );
    let weights = file("weights.pt", b"\x80\x02}q\0U\x01wq\x01K\x01s.");
    let caffe = file("net.caffemodel", b"\x0a\x05lenet\x12\x02\x01\x02");
    let within = |name: &str| folder.path().join(name).display().to_string();
    let (tfjs, saved) = (within("tfjs"), within("saved"));
    let model = "sample_traces/mobilenet_v2.onnx";
    for (arguments, expected) in [
        (&["inspect", &om][..], "atc --mode=1 --om=FILE.om --json=FILE.json"),
        (&["inspect", "--open-as", "xla", &om], "it cannot be read as xla"),
        (&["inspect", "--open-as", "xla", &om], "atc --mode=1"),
        (&["inspect", &tfjs], "model.json: it is a model of TensorFlow.js"),
        (&["inspect", &saved], "variables.index: it is a part of a checkpoint"),
        (&["inspect", &old], "torch.onnx.export"),
        (&["inspect", &weights], "torch.onnx.export"),
        (&["inspect", &caffe], "atc --framework=0"),
        (&["check", &om], "not a configuration: it is an offline model"),
        (&["check", &web], "TensorFlow.js"),
        (&["check", &old], "torch.onnx.export"),
        (&["check", model], "`highwater compare`"),
        (&["compare", "sample:lenet", "--config", &om], "atc --mode=1"),
    ] {
        let output = crate::cli::run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn content_opened_as_another_format_is_reported_by_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = written(&folder, "m.csv", format!("{HEADER}a,1,10,20,7,NPU:0\n").as_bytes());
    let table = table.display().to_string();
    let model = "sample_traces/mobilenet_v2.onnx";
    for (format, path, found) in [
        ("onnx", table.as_str(), "ascend_profiler"),
        ("tflite", model, "onnx"),
        ("xla", model, "onnx"),
        ("native", model, "onnx"),
    ] {
        let output = crate::cli::run(&["inspect", "--open-as", format, path]);
        let error = String::from_utf8_lossy(&output.stderr);
        let expected = format!("the content looks like {found}, leave out --open-as");
        assert!(error.contains(&expected), "{format}: {error}");
        assert!(
            !error.contains("cut off") && !error.contains("export it again"),
            "{error}"
        );
    }
}

#[test]
fn contradictory_rows_are_reported() {
    let header = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),\
                  Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),\
                  Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),\
                  Release Total Active(MB),Stream Ptr,Device Type\n";
    let folder = tempfile::tempdir().expect("a folder");
    for (size, is_told) in [("1000000000", true), ("1000", false)] {
        let table = format!("{header}huge,{size},10.0,20.0,20.0,10,10,1,2,1,0,2,0,7,NPU:0\n");
        let path = written(&folder, "m.csv", table.as_bytes()).display().to_string();
        for command in ["inspect", "compare"] {
            let answer = crate::cli::json(&[command, &path, "--format", "json"], 0);
            let said = answer["diagnostics"].to_string();
            assert_eq!(said.contains("more than twice"), is_told, "{said}");
        }
    }
}

/// MindSpore dumps a graph after every pass, and its plan at several stages.
#[test]
fn a_folder_of_mindspore_dumps_is_one_graph() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = include_bytes!("../mutate/seeds/CPU_somas_tensor_offset_0.ir");
    let dump = include_bytes!("../mutate/seeds/graph_build_0_0094.ir");
    let inspect = || {
        let folder = folder.path().display().to_string();
        let output = crate::cli::run(&["inspect", &folder, "--format", "json"]);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an answer as JSON");
        let graphs = answer["graphs"].as_array().expect("a list of graphs").iter();
        let names: Vec<String> = graphs.map(|graph| graph["name"].to_string()).collect();
        names.join(" ")
    };
    for name in ["31_validate_0032.ir", "graph_build_0_0094.ir", "34_execute_0096.ir"] {
        written(&folder, name, dump);
    }
    assert_eq!(inspect(), "\"kernel_graph0\"");
    for name in ["CPU_somas_initial_info_0.ir", "CPU_somas_tensor_offset_0.ir"] {
        written(&folder, name, plan);
    }
    assert_eq!(inspect(), "\"CPU_somas_tensor_offset_0.ir\"");
}
