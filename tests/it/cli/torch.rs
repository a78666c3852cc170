//! The caching allocators of PyTorch and `torch_npu` on the command line: traces, snapshots, settings.

use std::io::Read as _;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::{fails, json as answer_of, run, says, text_of};
use crate::snapshots::{block, event, file, segment, snapshot};
use crate::support::shared;

const MIB: u64 = 1 << 20;
const LARGE: u64 = 0x7000_0000_0000;
const SMALL: u64 = 0x7100_0000_0000;

/// A run of a few requests under default settings: 22 MiB reserved.
pub(super) fn small_run() -> Json {
    let (second, rest) = (LARGE + 3_000_320, LARGE + 5_000_704);
    let trace = [
        ("segment_alloc", LARGE, 20 * MIB),
        ("alloc", LARGE, 3_000_000),
        ("alloc", second, 2_000_000),
        ("segment_alloc", SMALL, 2 * MIB),
        ("alloc", SMALL, 1000),
        ("free_requested", LARGE, 3_000_000),
        ("free_completed", LARGE, 3_000_000),
        // The rest of the block is below 1 MiB, so it is not split.
        ("alloc", LARGE, 2_500_000),
    ];
    let trace = (1..).zip(trace);
    let trace = trace.map(|(time, (action, address, size))| event(action, address, size, time));
    let large = vec![
        block(LARGE, 3_000_320, 2_500_000, "active_allocated"),
        block(second, 2_000_384, 2_000_000, "active_allocated"),
        block(rest, LARGE + 20 * MIB - rest, 0, "inactive"),
    ];
    let small = vec![
        block(SMALL, 1024, 1000, "active_allocated"),
        block(SMALL + 1024, 2 * MIB - 1024, 0, "inactive"),
    ];
    let segments = vec![
        segment(LARGE, 20 * MIB, "large", large),
        segment(SMALL, 2 * MIB, "small", small),
    ];
    snapshot(segments, trace.collect())
}

fn unpacked(path: &Path) -> String {
    let file = std::fs::File::open(path).expect("the answer can be read");
    let mut text = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .expect("UTF-8");
    text
}

#[test]
fn events_of_traces_are_the_golden_answers() {
    for (folder_of, trace, key, version) in [
        ("conformance/torch_alloc/answers", "pool_release", "exp", "2.15"),
        ("conformance/torch_alloc/answers", "huge", "throw", "2.15"),
        ("conformance/torch_alloc/answers", "edges_all", "ms64_r64", "2.15"),
        ("conformance/torch_alloc/answers", "exp_oom", "def", "2.15"),
        ("conformance/torch_alloc/answers_v29", "edges_down", "ms64", "2.9"),
        ("conformance/torch_alloc/answers_v212", "edges_down", "def", "2.12"),
        ("pending/torch_alloc/answers_v29", "pool_oom", "ms64", "2.9"),
        ("pending/torch_alloc/answers_v29", "pool_overflow", "exp", "2.9"),
    ] {
        let Some(answers) = shared(folder_of) else {
            return;
        };
        let folder = answers.parent().expect("a folder above");
        let configs: Json = serde_json::from_slice(&std::fs::read(folder.join("configs.json")).unwrap()).unwrap();
        let wanted = answers.join(format!("{trace}.{key}.jsonl.gz"));
        let path = folder.join("traces").join(format!("{trace}.trace.gz"));
        let path = path.to_str().expect("UTF-8");
        let conf = configs[key].as_str().expect("settings");
        let output = run(&[
            "replay",
            path,
            "--allocator",
            "torch",
            "--conf",
            conf,
            "--torch",
            version,
            "--events",
        ]);
        assert_eq!(output.status.code(), Some(0), "{trace} {key}");
        let ours = String::from_utf8(output.stdout).expect("UTF-8");
        let wanted = unpacked(&wanted);
        for (line, (ours, wanted)) in ours.lines().zip(wanted.lines()).enumerate() {
            assert_eq!(ours, wanted, "{trace} {key}: line {line}");
        }
        assert_eq!(ours.len(), wanted.len(), "{trace} {key}");
    }
}

#[test]
fn recorded_runs_replay_exactly() {
    let Some(folder) = shared("corpus/fetched/torch_snapshots") else {
        return;
    };
    for (name, events) in [
        ("npu_snapshot_1768383987920985470.pkl", 9700),
        ("npu_snapshot_expandable.pkl", 8092),
    ] {
        let path = folder.join(name);
        let arguments = ["replay", path.to_str().expect("UTF-8"), "--allocator", "torch"];
        let answer = answer_of(&[&arguments[..], &["--format", "json"]].concat(), 0);
        assert_eq!(answer["events"], events, "{name}");
        assert_eq!(answer["identical"], events, "{name}");
        assert_eq!(answer["torch"], "npu");
        assert_eq!(answer["first_difference"], Json::Null);
    }
}

#[test]
fn a_snapshot_replays_exactly_and_under_other_settings() {
    let file = file(&small_run());
    let path = file.path().to_str().expect("UTF-8");
    let arguments = ["replay", path, "--allocator", "torch", "--format", "json"];
    let answer = answer_of(&arguments, 0);
    assert_eq!(answer["events"], 8, "{answer}");
    assert_eq!(answer["identical"], 8, "{answer}");
    assert_eq!(answer["recorded_peak_reserved_bytes"], 22 * MIB);
    assert_eq!(answer["peak_reserved_bytes"], 22 * MIB);
    assert_eq!(answer["replayed_error_percent"], 0.0);
    let several = ["--conf", "large_segment_size_mb:64", "--conf", "-", "--torch", "2.15"];
    let answer = answer_of(&[&arguments[..], &several].concat(), 0);
    let peaks: Vec<&Json> = answer["runs"]
        .as_array()
        .expect("runs")
        .iter()
        .map(|run| &run["peak_reserved_bytes"])
        .collect();
    assert_eq!(peaks, [&json!(66 * MIB), &json!(22 * MIB)]);
    let text = text_of(&["replay", path, "--allocator", "torch"], 0);
    assert!(text.contains("replays exactly (8 of 8 events)"), "{text}");
    // On a device that is too small a request fails.
    let answer = answer_of(
        &[&arguments[..], &["--device-memory", "21MiB", "--conf", "-"]].concat(),
        0,
    );
    assert!(answer["ooms"].as_u64() > Some(0), "{answer}");
}

#[test]
fn the_events_of_a_snapshot_are_those_of_its_settings() {
    let snapshot = small_run();
    let file = file(&snapshot);
    let path = file.path().to_str().expect("UTF-8");
    let text = text_of(&["replay", path, "--allocator", "torch", "--events"], 0);
    let lines: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    let numbers: Vec<Option<u64>> = lines.iter().map(|line| line["event"].as_u64()).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(4), Some(5), Some(7), None], "{text}");
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let simulated: Vec<(Json, Json)> = lines
        .iter()
        .flat_map(|line| list(&line["events"]))
        .map(|event| (event[0].clone(), event[2].clone()))
        .collect();
    let recorded: Vec<(Json, Json)> = list(&snapshot["device_traces"][0])
        .iter()
        .map(|event| (event["action"].clone(), event["size"].clone()))
        .collect();
    assert_eq!(simulated, recorded);
    let last = lines.last().expect("a closing line");
    assert_eq!(
        (&last["end"], &last["peak_reserved_bytes"]),
        (&json!(true), &json!(22 * MIB))
    );
}

#[test]
fn a_setting_leaves_as_the_variable_of_the_recorded_framework() {
    let file = file(&small_run());
    let path = file.path().to_str().expect("UTF-8");
    let conf = "max_split_size_mb:64";
    for (to, line) in [
        ("run.json", "\"PYTORCH_CUDA_ALLOC_CONF\": \"max_split_size_mb:64\""),
        ("run.sh", "export PYTORCH_CUDA_ALLOC_CONF='max_split_size_mb:64'"),
        (
            "run.py",
            "os.environ[\"PYTORCH_CUDA_ALLOC_CONF\"] = \"max_split_size_mb:64\"",
        ),
    ] {
        let text = text_of(&["export", path, "--conf", conf, "--to", to, "--preview"], 0);
        assert!(text.contains(line), "{to}: {text}");
    }
    let two = [
        "export",
        path,
        "--conf",
        conf,
        "--conf",
        "-",
        "--to",
        "run.json",
        "--preview",
    ];
    fails(&two, "one --conf");
}

#[test]
fn the_segments_and_what_pins_them_are_of_one_event() {
    let file = file(&small_run());
    let path = file.path().to_str().expect("UTF-8");
    let answer = answer_of(&["peak", path, "--segments", "--format", "json"], 0);
    assert_eq!(answer["pinned"]["event"], answer["event"], "{answer}");
    // With the most live bytes, not at the first event with the most reserved ones.
    assert_eq!(answer["event"], 4, "{answer}");
}

#[test]
fn refused_settings_and_other_files_are_errors_of_one_line() {
    let snapshot = file(&small_run());
    let path = snapshot.path().to_str().expect("UTF-8");
    fn with<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&["replay", file, "--allocator", "torch"][..], more].concat()
    }
    fails(&with(path, &["--conf", "max_split_size_mb:19"]), "max_split_size_mb");
    fails(&with(path, &["--conf", "nonsense:1"]), "nonsense");
    fails(&with(path, &["--torch", "1.13"]), "2.15");
    fails(&with(path, &["--events", "--conf", "-", "--conf", "-"]), "--events");
    fails(
        &with(
            path,
            &[
                "--torch",
                "npu",
                "--conf",
                "expandable_segments:True,max_split_size_mb:64",
            ],
        ),
        "max_split_size_mb",
    );
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in [
        ("unknown.trace", "device total=1000 other=0 order=up\nfrobnicate 1\n"),
        ("size.trace", "device total=1000 other=0 order=up\nalloc 1 many 0\n"),
        ("device.trace", "device total=none other=0 order=up\n"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("the file can be written");
        fails(&with(path.to_str().expect("UTF-8"), &[]), name);
    }
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_traces/lenet_training.pb");
    fails(&with(model.to_str().expect("UTF-8"), &[]), "memory snapshot");
}

#[test]
fn check_accepts_and_refuses_settings_as_torch_does() {
    let Some(folder) = shared("conformance/torch_alloc") else {
        return;
    };
    let cases = std::fs::read_to_string(folder.join("config_cases.jsonl")).expect("the cases can be read");
    for line in cases.lines() {
        let case: Json = serde_json::from_str(line).expect("an object");
        let conf = case["conf"].as_str().expect("settings");
        let is_accepted = case["accepted"] == true;
        let arguments = ["check", "--alloc-conf", conf, "--format", "json"];
        let answer = answer_of(&arguments, i32::from(!is_accepted));
        assert_eq!(answer["accepted"], case["accepted"], "{conf}");
        if is_accepted {
            let blocks = answer["blocks"].as_array().expect("blocks");
            let wanted = case["blocks"].as_array().expect("blocks");
            for (position, ours) in blocks.iter().enumerate() {
                let wanted = wanted.get(position).unwrap_or(&Json::Null);
                assert_eq!(ours, wanted, "{conf}: request {position}");
            }
            assert_eq!(answer["reserved"], case["reserved"], "{conf}");
        } else {
            assert!(
                answer["message"].as_str().is_some_and(|text| !text.is_empty()),
                "{conf}"
            );
        }
    }
}

#[test]
fn settings_are_recommended_for_a_snapshot_and_for_several() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_traces/language_model.snapshot.pickle.gz");
    let sample = sample.to_str().expect("UTF-8");
    let arguments = ["recommend", sample, "--goal", "lowest-peak", "--format", "json"];
    let answer = answer_of(&arguments, 0);
    let recommended = &answer["recommended"];
    assert_eq!(recommended["conf"], "expandable_segments:True", "{recommended}");
    assert_eq!(
        recommended["shell"],
        "export PYTORCH_CUDA_ALLOC_CONF='expandable_segments:True'"
    );
    assert_eq!(
        recommended["python"],
        "os.environ[\"PYTORCH_CUDA_ALLOC_CONF\"] = \"expandable_segments:True\""
    );
    assert_eq!(answer["recordings"][0]["events"], answer["recordings"][0]["identical"]);
    assert_eq!(answer["device_bytes"], Json::Null);
    // The figures are those of a replay under that setting.
    let replay = answer_of(
        &[
            "replay",
            sample,
            "--allocator",
            "torch",
            "--conf",
            "expandable_segments:True",
            "--format",
            "json",
        ],
        0,
    );
    for key in [
        "peak_reserved_bytes",
        "device_calls",
        "num_alloc_retries",
        "difference_bytes",
    ] {
        assert_eq!(recommended[key], replay[key], "{key}");
    }
    let text = text_of(&arguments[..4], 0);
    for part in [
        "replays exactly",
        "recommended  expandable_segments:True",
        "limits unknown",
        "Speed is not predicted",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let own = file(&small_run());
    let own = own.path().to_str().expect("UTF-8");
    let answer = answer_of(
        &["recommend", sample, own, "--goal", "lowest-peak", "--format", "json"],
        0,
    );
    assert_eq!(answer["recordings"].as_array().map(Vec::len), Some(2));
    // A profiler trace has no segments to compare with.
    let arguments = ["recommend", "sample:measured", "--goal", "lowest-peak"];
    let text = text_of(&arguments, 0);
    assert!(
        text.contains("lists no segments") && !text.contains("in part"),
        "{text}"
    );
    let answer = answer_of(&[&arguments[..], &["--format", "json"]].concat(), 0);
    assert!(
        answer["recommended"]["difference_bytes"].as_i64() <= Some(0),
        "{answer}"
    );
    // Nothing serves 7 MB from 4 MiB.
    let answer = answer_of(&["recommend", own, "--device-memory", "4MiB", "--format", "json"], 1);
    assert_eq!(answer["recommended"], Json::Null);
    fails(&["recommend", own, "--goal", "largest:batch"], "lowest-peak");
    fails(&["recommend", own, "--torch", "1.0"], "2.15");
    let graph = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_traces/lenet_training.pb");
    fails(
        &["recommend", graph.to_str().expect("UTF-8"), "--torch", "2.15"],
        "snapshots",
    );
}

#[test]
fn settings_of_scripts_and_launchers_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = "expandable_segments:True,max_split_size_mb:64";
    for (name, text) in [
        (
            "a.py",
            format!("import os\nos.environ[\"PYTORCH_CUDA_ALLOC_CONF\"] = \"{conf}\"\n"),
        ),
        (
            "b.py",
            format!("import torch\ntorch.cuda.memory._set_allocator_settings(\"{conf}\")\n"),
        ),
        (
            "c.py",
            format!("from torch.cuda.memory import _set_allocator_settings as s\ns(env=\"{conf}\")\n"),
        ),
        (
            "d.py",
            format!("import torch\ntorch._C._accelerator_setAllocatorSettings(\"{conf}\")\n"),
        ),
        (
            "e.py",
            "import os, torch\nos.environ[\"PYTORCH_CUDA_ALLOC_CONF\"] = \"expandable_segments:True\"\n\
             torch.cuda.memory._set_allocator_settings(\"max_split_size_mb:64\")\n"
                .to_owned(),
        ),
        (
            "a.sh",
            format!("export PYTORCH_CUDA_ALLOC_CONF={conf}\npython train.py\n"),
        ),
        (
            "compose.yaml",
            format!("services:\n  train:\n    environment:\n      - PYTORCH_CUDA_ALLOC_CONF={conf}\n"),
        ),
        (
            "pod.yml",
            format!("env:\n  - name: PYTORCH_CUDA_ALLOC_CONF\n    value: \"{conf}\"\n"),
        ),
        (
            "launch.json",
            format!(
                "{{\n  // Launch\n  \"configurations\": [{{\"env\": {{\"PYTORCH_CUDA_ALLOC_CONF\": \"{conf}\",}}}}]\n}}\n"
            ),
        ),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the file can be written");
        let answer = answer_of(&["check", path.to_str().expect("UTF-8"), "--format", "json"], 0);
        let findings = answer["findings"].as_array().expect("findings");
        let grows = |finding: &&Json| {
            finding["message"]
                .as_str()
                .is_some_and(|text| text.contains("without bound"))
        };
        assert_eq!(findings.iter().filter(grows).count(), 1, "{name}: {answer}");
    }
    // What a setter does not reset stays; what it resets goes.
    let path = folder.path().join("f.py");
    let text = "import os, torch_npu\nos.environ[\"PYTORCH_NPU_ALLOC_CONF\"] = \"max_split_size_mb:64\"\n\
                torch_npu.npu.memory._set_allocator_settings(\"expandable_segments:True\")\n";
    std::fs::write(&path, text).expect("the file can be written");
    let answer = answer_of(&["check", path.to_str().expect("UTF-8"), "--format", "json"], 0);
    assert_eq!(answer["findings"], json!([]));
    let refused = folder.path().join("refused.yaml");
    std::fs::write(&refused, "env:\n  PYTORCH_CUDA_ALLOC_CONF: max_split_size_mb:19\n").expect("it can be written");
    let answer = answer_of(&["check", refused.to_str().expect("UTF-8"), "--format", "json"], 1);
    assert_eq!(answer["findings"][0]["rule"], "K9");
}

/// Pinned host memory as torch 2.15 writes it: two blocks, one of them free again.
fn pinned_host() -> Vec<(&'static str, Json)> {
    let one = |address: u64, size: u64, state: &str| {
        let mut all = segment(address, size, "small", vec![block(address, size, size, state)]);
        all["device"] = json!(-1);
        all
    };
    let trace = [
        ("segment_alloc", 0x10_0000, 64 * MIB),
        ("alloc", 0x10_0000, 64 * MIB),
        ("segment_alloc", 0x900_0000, 8 * MIB),
        ("alloc", 0x900_0000, 8 * MIB),
        ("free_requested", 0x900_0000, 8 * MIB),
        ("free_completed", 0x900_0000, 8 * MIB),
    ];
    let trace = (1..).zip(trace);
    let trace: Vec<Json> = trace
        .map(|(time, (action, address, size))| event(action, address, size, time))
        .collect();
    let segments = json!([
        one(0x10_0000, 64 * MIB, "active_allocated"),
        one(0x900_0000, 8 * MIB, "inactive"),
    ]);
    vec![("host_segments", segments), ("host_traces", trace.into())]
}

#[test]
fn pinned_host_memory_counts_for_no_device() {
    let mut both = small_run();
    let mut alone = snapshot(Vec::new(), Vec::new());
    for (key, value) in pinned_host() {
        both[key] = value.clone();
        alone[key] = value;
    }
    let [plain, both, alone] = [&small_run(), &both, &alone].map(file);
    let [plain, both, alone] = [&plain, &both, &alone].map(|file| file.path().to_str().expect("UTF-8"));

    let inspected = answer_of(&["inspect", both, "--format", "json"], 0);
    let recordings = &inspected["recordings"];
    let memory = |position: usize| [&recordings[position]["name"], &recordings[position]["memory"]];
    assert_eq!(memory(0), ["device0", "device"]);
    assert_eq!(memory(1), ["host, pinned", "host"]);
    assert_eq!(recordings[1]["peak_live_bytes"], 72 * MIB);
    let text = text_of(&["inspect", alone], 0);
    assert!(text.contains("pinned, of the host; not of a device"), "{text}");

    // The host has more live bytes, but the lane of the device is the one that is explained, compared and replayed.
    let answer = |arguments: &[&str]| answer_of(&[arguments, &["--format", "json"]].concat(), 0);
    let peak = |path: &str| answer(&["peak", path])["live_bytes"].clone();
    assert_eq!(peak(both), peak(plain));
    assert_eq!(peak(alone), 72 * MIB);
    let tried = |path: &str| answer(&["recommend", path])["tried"].clone();
    assert_eq!(tried(both), tried(plain));
    let check = |path: &str| answer(&["replay", path, "--allocator", "torch"])["check"].clone();
    assert_eq!(check(both), check(plain));

    // A capacity is the device's.
    let compared = answer(&["compare", both, "--device-memory", "32MiB", "--conf", "-"]);
    let lanes = compared["measured"].as_array().expect("lanes");
    let fits: Vec<&Json> = lanes.iter().map(|lane| &lane["fits"]).collect();
    assert_eq!((fits.len(), fits[1]), (3, &Json::Null), "{compared}");
    for command in [&["recommend", alone][..], &["replay", alone, "--allocator", "torch"]] {
        assert!(text_of(command, 1).contains("pinned memory of the host"), "{command:?}");
    }
}

#[test]
fn ranges_and_alignments_are_stated_in_the_answers() {
    let note = |stage: &str, name: &str, time: u64| json!({"stage": stage, "name": name, "device": 0, "time_us": time});
    let mut first = small_run();
    first["external_annotations"] = json!([
        note("START", "## iteration 3 ##", 3),
        note("END", "## iteration 3 ##", 5)
    ]);
    let mut second = first.clone();
    second["external_annotations"] = json!([note("START", "step 1", 1), note("START", "## iteration 3 ##", 6)]);
    let [first, second] = [&first, &second].map(file);
    let [first, second] = [&first, &second].map(|file| file.path().to_str().expect("UTF-8"));
    let compared = |more: &[&str]| text_of(&[&["compare", first, second], more].concat(), 0);
    let place = "the runs are aligned by annotation: 1 place of equal name (such as ## iteration 3 ##)";
    says(
        &compared(&["--align", "annotation=## Iteration 3 ##"]),
        &[place, "Live bytes less those of"],
    );
    let impossible = "the chosen alignment cannot be used: no annotation of";
    says(
        &compared(&["--align", "steps"]),
        &[impossible, "separate runs begin together"],
    );
    says(
        &compared(&["--align", "call_site"]),
        &["has no allocation with a call site"],
    );
    says(
        &compared(&["--align", "events"]),
        &["aligned by the numbers of their events"],
    );
    let aligned = answer_of(
        &[
            "compare",
            first,
            second,
            "--align",
            "annotation=iteration",
            "--format",
            "json",
        ],
        0,
    );
    let difference = &aligned["differences"][0];
    assert_eq!(
        (&difference["lane"], &difference["from"]),
        (&json!(2), &json!(1)),
        "{aligned}"
    );
    let [least, largest] = ["least", "greatest"].map(|end| &difference[end]);
    assert!(least["bytes"].as_i64() < largest["bytes"].as_i64(), "{difference}");
    let folder = tempfile::tempdir().expect("a folder");
    let curves = folder.path().join("curves.csv");
    let to = curves.to_str().expect("UTF-8");
    let _ = text_of(&["export", first, second, "--align", "events", "--to", to], 0);
    let rows = std::fs::read_to_string(&curves).expect("a table");
    let mut rows = csv::Reader::from_reader(rows.as_bytes());
    let last = rows
        .records()
        .last()
        .expect("a row")
        .expect("a row")
        .iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    assert_eq!(last.len(), 5, "{last:?}");
    fails(
        &["peak", first, second, "--align", "events", "--step", "8"],
        "exceeds the last event, 7",
    );
    // At these events the two runs differ so.
    for end in [least, largest] {
        let live = |lane: &str, event: &Json| {
            let event = event.to_string();
            let peak = [
                "peak",
                first,
                second,
                "--align",
                "annotation=iteration",
                "--format",
                "json",
            ];
            let answer = answer_of(&[&peak[..], &["--lane", lane, "--step", &event]].concat(), 0);
            answer["live_bytes"].as_i64().expect("bytes")
        };
        let apart = live("2", &end["event"]) - live("1", &end["from_event"]);
        assert_eq!(end["bytes"].as_i64(), Some(apart), "{end}");
    }
    fails(
        &["compare", first, second, "--align", "steps=3"],
        "--align steps=3: expected one of ops",
    );

    let inspected = answer_of(&["inspect", second, "--event-range", "3..6", "--format", "json"], 0);
    let recording = &inspected["recordings"][0];
    assert_eq!(recording["event_range"], json!({"first": 3, "end": 6, "of": 8}));
    assert_eq!(recording["peak_live_bytes"], 5_001_000);
    let told = "only events 3 to 5 of 8 are read, event 3 is event 0 here";
    for command in ["inspect", "peak", "compare"] {
        says(&text_of(&[command, second, "--event-range", "3..6"], 0), &[told]);
    }
    says(
        &text_of(&["replay", second, "--allocator", "torch", "--event-range", "3..6"], 0),
        &[told],
    );
    says(
        &text_of(&["peak", second, "--last-steps", "1"], 0),
        &["only events 0 to 7 of 8 are read"],
    );
    for (arguments, why) in [
        (
            ["inspect", second, "--event-range", "8..9"],
            "the file has 8 events, and none is in the range",
        ),
        (["peak", first, "--last-steps", "1"], "no annotation marks steps"),
        (["inspect", "sample:lenet", "--event-range", "0..9"], "has no events"),
    ] {
        let (code, _, error) = super::told(&arguments);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(why), "{error}");
    }
}
