//! `explain`: the text of the sample, its keys, several files as one log, text before the first record, snapshots.

mod texts;

use std::io::Write as _;
use std::process::{Command, Stdio};

use expect_test::expect;
use highwater::analysis::LogStory;
use highwater::export::{Answer as _, LogAnswer};
use highwater::progress::{Cancel, Progress};
use highwater::session::{SourceSpec, read_story};
use tempfile::NamedTempFile;

use super::{fails, json, run, text_of};
use crate::session::settled;
use crate::snapshots::{block, called_from, event, file, segment, snapshot};

const SAMPLE: &str = "sample_traces/out_of_memory.plog";

fn answer(arguments: &[&str]) -> String {
    text_of(&[&["explain"], arguments].concat(), 0).replace('\u{a0}', " ")
}

/// The sample's run log, its debug log, and the text of its terminal.
fn parts() -> [String; 3] {
    let text = std::fs::read_to_string(SAMPLE).expect("a sample");
    let mut parts = [String::new(), String::new(), String::new()];
    for line in text.lines() {
        let part = match line {
            line if line.starts_with("[ERROR]") => 1,
            line if line.starts_with("[INFO]") => 0,
            _ => 2,
        };
        parts[part].push_str(&format!("{line}\n"));
    }
    parts
}

#[test]
fn the_sample_is_explained() {
    expect![[r#"
        python3 (40518), device 0

        Device memory 31.75 GiB; policy 0 (from smp in the summary of a compiled graph); log level default.

        GE did not get 25.84 GiB for graph 21 (feature map) on device 0 at 2026-07-12 09:20:29.181.

        - Exactly 27 748 928 512 B.
        - One request, reported 2 times by the driver.
        - GE evicted graph 11 (feature map 33.36 MiB) before it.
        - The plan of graph 21 is optimal: its size equals the peak of live bytes.
        - The driver counts 5.413 GiB for the modules of this process. 26.33 GiB of 31.75 GiB belong to none of them, yet the request failed: to other processes, to the system, or free; the log cannot tell which.
        - Whether a setting could have served it is unknown: the log does not state how much the device had free, and in which pieces.
        - Reduce the batch or shapes of graph 21: no policy helps: graph 21 alone needs 25.84 GiB, and no other graph was loaded.
        - Set ge.exec.reuseZeroCopyMemory=1: the 2.874 GiB of inputs and outputs of graph 21 are then memory that the program passes in, not part of the feature map.
        - Reduce the 5.000 GiB of APP: APP is the program itself, by aclrtMalloc, such as torch_npu's pool.
        - Run npu-smi info: it lists all processes on the device; the log covers only those above.

        driver's module  at the failure       last       peak            exact
        APP                   5.000 GiB  5.000 GiB  5.000 GiB  5 368 709 120 B
        HCCL                  400.0 MiB  400.0 MiB  400.0 MiB    419 430 400 B
        RUNTIME               20.08 MiB  20.08 MiB  20.08 MiB     21 053 440 B
        GE                    2.074 MiB  2.074 MiB  36.07 MiB     37 826 560 B
        UNKNOWN               384.0 KiB  384.0 KiB  384.0 KiB        393 216 B
        The peaks are of different times, so their sum is only an upper bound.

        module and kind            at the failure       last       peak            exact
        UNKNOWN MEM_DEV_SMALL_HBM       384.0 KiB  384.0 KiB  384.0 KiB        393 216 B
        RUNTIME MEM_DEV_SMALL_HBM       80.00 KiB  80.00 KiB  80.00 KiB         81 920 B
        GE MEM_DEV_SMALL_HBM            76.00 KiB  76.00 KiB  76.00 KiB         77 824 B
        HCCL MEM_DEV_HUGE_HBM           400.0 MiB  400.0 MiB  400.0 MiB    419 430 400 B
        RUNTIME MEM_DEV_HUGE_HBM        20.00 MiB  20.00 MiB  20.00 MiB     20 971 520 B
        APP MEM_DEV_HUGE_HBM            5.000 GiB  5.000 GiB  5.000 GiB  5 368 709 120 B
        GE MEM_DEV_HUGE_HBM             2.000 MiB  2.000 MiB  36.00 MiB     37 748 736 B

        graph  state        weights  feature map             exact  lower bound      arena  inputs and outputs
        11     evicted    68.00 KiB    33.36 MiB      34 980 864 B    32.16 MiB  32.21 MiB           1.150 MiB
        21     requested    unknown    25.84 GiB  27 748 928 512 B    25.84 GiB  22.97 GiB           2.874 GiB

        policy                GE needs  from
        0 (active)  at least 25.88 GiB  feature maps 25.88 GiB + weights 68.00 KiB; without variables and weights of graph 21
        2           at least 25.84 GiB  estimate: the largest feature map 25.84 GiB + weights 68.00 KiB; as documented, GE's blocks can take more; without variables and weights of graph 21
        3           at least 25.88 GiB  feature maps 25.88 GiB + weights 68.00 KiB; without variables and weights of graph 21
        4           at least 25.84 GiB  estimate: the largest feature map 25.84 GiB in pages of 8 MiB + weights 68.00 KiB; as documented, GE's blocks can take more; without variables and weights of graph 21

        To see more

        - The log has no placements or variables, and of weights at most those of unloaded graphs: it was written at the default level. Run again with ASCEND_MODULE_LOG_LEVEL=GE=1 and ASCEND_HOST_LOG_FILE_NUM=1000 (atc: --log=info) to have them.

        For a ticket

        python3 (40518): GE did not get 25.84 GiB for graph 21 (feature map) on device 0 at 2026-07-12 09:20:29.181; then allocated: APP 5.000 GiB, HCCL 400.0 MiB, RUNTIME 20.08 MiB, 2 other modules; 26.33 GiB of 31.75 GiB belong to no module of this process (used by others, or free); GE had evicted graph 11; policy 0. Reduce the batch or shapes of graph 21: no policy helps: graph 21 alone needs 25.84 GiB, and no other graph was loaded.
    "#]]
    .assert_eq(&answer(&[SAMPLE]));
}

#[test]
fn markdown_has_the_same_words() {
    let text = answer(&[SAMPLE, "--format", "markdown"]);
    assert!(text.starts_with("### python3 (40518), device 0\n"), "{text}");
    assert!(
        text.contains("\n| APP | 5.000 GiB | 5.000 GiB | 5.000 GiB | 5 368 709 120 B |\n"),
        "{text}"
    );
    let last = text.trim_end().lines().last().unwrap_or_default();
    assert!(
        last.contains("did not get 25.84 GiB") && last.contains("no policy helps"),
        "{last}"
    );
}

#[test]
fn json_has_every_key() {
    let answer = json(&["explain", SAMPLE, "--format", "json"], 0);
    let keys = |value: &serde_json::Value| {
        let object = value.as_object().expect("an object");
        object.keys().cloned().collect::<Vec<String>>().join(" ")
    };
    assert_eq!(
        keys(&answer),
        "sentence try processes missing requests more_requests statements diagnostics"
    );
    assert_eq!(keys(&answer["try"]), "action setting reason needs_version");
    let process = &answer["processes"][0];
    assert_eq!(
        keys(process),
        "pid name device device_total level policy ge_reserved_peak requests more_requests modules graphs arena pools policies"
    );
    let request = &process["requests"][0];
    assert_eq!(
        keys(request),
        "time who requested memory device graph_id purpose refused_by driver_lines allocated reserved free total allowed outside_pool \
         allocated_by_modules of_no_module evicted sentence remarks try"
    );
    assert_eq!(request["requested"], 27_748_928_512_u64);
    assert_eq!(request["allocated_by_modules"], 5_811_761_152_u64);
    assert_eq!(request["evicted"], serde_json::json!([11]));
    assert_eq!(keys(&process["modules"][0]), "device module at_failure last peak");
    assert_eq!(
        keys(&process["graphs"][0]),
        "graph_id name state loaded weights feature_map lower_bound"
    );
    assert_eq!(keys(&process["policies"][0]), "policy active bytes basis why");
}

#[test]
fn files_named_one_by_one_are_one_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = ["run.log", "debug.log", "terminal.txt"].map(|name| folder.path().join(name).display().to_string());
    for (path, text) in paths.iter().zip(parts()) {
        std::fs::write(path, text).expect("a file");
    }
    let [run_log, debug_log, terminal] = &paths;
    let whole = answer(&[SAMPLE]);
    for order in [[debug_log, terminal, run_log], [run_log, debug_log, terminal]] {
        assert_eq!(answer(&order.map(String::as_str)), whole);
    }
    assert_eq!(answer(&[&folder.path().display().to_string()]), whole);
    // `inspect` has one answer, too.
    let inspected = json(&["inspect", debug_log, terminal, run_log, "--format", "json"], 0);
    let processes = inspected["cann_log"]["processes"].as_array().expect("one log");
    assert_eq!(
        (processes.len(), processes[0]["driver"].as_array().map(Vec::len)),
        (1, Some(8))
    );
    // Error lines alone say what is missing.
    let alone = answer(&[debug_log]);
    assert!(alone.contains("add ~/ascend/log/run/plog"), "{alone}");
    assert!(answer(&[terminal]).contains("This is terminal text"));
}

#[test]
fn the_first_record_may_come_late() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.txt").display().to_string();
    let [_, _, terminal] = parts();
    let launcher = "step 1: loss 0.5\n".repeat(8000);
    std::fs::write(&path, format!("{launcher}{terminal}")).expect("a file");
    assert!(answer(&[&path]).contains("GE did not get 25.84 GiB"));
    let inspected = json(&["inspect", &path, "--open-as", "cann_log", "--format", "json"], 0);
    assert_eq!(inspected["cann_log"]["processes"][0]["pid"], 40518);
    // Beside another log it is read as well.
    assert!(answer(&[&path, SAMPLE]).contains("driver's module"));
}

#[test]
fn standard_input_is_a_log_too() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_highwater"))
        .args(["explain", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(parts()[2].as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(String::from_utf8_lossy(&output.stdout).contains("did not get"));
}

/// The engine's pool frees what it cached and requests again; only a failure after that counts.
#[test]
fn a_request_that_was_repeated_does_not_end_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plog-77.log");
    let record = |module: &str, second: u32, text: &str| {
        format!("[ERROR] {module}(77,python3):2026-07-11-10:14:{second}.123.686 [a.cc:1]77 {text}\n")
    };
    let failed = |bytes: u64| {
        format!("halMemAlloc failed, drvRetCode=6, size={bytes}(bytes), type=2, moduleId=45, drvFlag=1, drvDevId=0, x")
    };
    let retry = "Alloc: Failed to apply for memory. We will try to free memory from memory pool, the above or this error log \
                 can be ignored. Try to free cached memory...";
    let mut log = record("DRV", 10, &failed(2 << 30)) + &record("GE", 11, retry);
    std::fs::write(&path, &log).expect("written");
    let path = path.to_str().expect("text");
    let explained = answer(&[path]);
    assert!(
        explained.contains("the log shows no failure of that request"),
        "{explained}"
    );
    let text_of = |command: &str| {
        let output = run(&[command, path]);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    assert!(text_of("inspect").contains("1 request failed, its repetition did not"));
    let compared = text_of("compare");
    assert!(!compared.contains("out of memory"), "{compared}");
    assert!(compared.contains("`highwater explain`"), "{compared}");
    log += &record("DRV", 20, &failed(3 << 30));
    std::fs::write(path, &log).expect("written");
    let ticket = answer(&[path]);
    let ticket = ticket.lines().last().expect("a line").replace('\u{a0}', " ");
    assert!(ticket.starts_with("python3 (77): GE did not get 3.000 GiB"), "{ticket}");
}

#[test]
fn what_is_no_log_is_refused() {
    let output = run(&["explain", "sample_traces/small_plan.csv"]);
    assert_eq!(output.status.code(), Some(1));
    let remarks = String::from_utf8_lossy(&output.stderr);
    assert!(remarks.contains("states nothing of memory"), "{remarks}");
    fails(&["explain", "/nowhere"], "/nowhere");
    fails(&["explain", SAMPLE, "--format", "csv"], "use text or json");
    // A folder without logs is an answer, too.
    let folder = tempfile::tempdir().expect("a folder");
    let told = || {
        let output = run(&["explain", &folder.path().display().to_string()]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let empty = told();
    assert!(
        empty.contains("states nothing of memory: the folder is empty"),
        "{empty}"
    );
    std::fs::write(folder.path().join("table.csv"), "a,b\n1,2\n").expect("a file");
    let table = told();
    assert!(
        table.contains("no log, text or snapshot is among its 1 file"),
        "{table}"
    );
}

/// Whatever is cut or changed, there is an answer.
#[test]
fn damaged_logs_are_explained() {
    let seed = std::fs::read("tests/mutate/seeds/plog.log").expect("a seed");
    let text = [std::fs::read(SAMPLE).expect("a sample"), seed].concat();
    let cancel = Cancel::new();
    let mut n_read = 0;
    for round in 0..200 {
        let mut bytes = text.clone();
        for change in 0..round % 40 {
            let at = (round * 7919 + change * 104_729) % bytes.len();
            bytes[at] = b"0123456789[](),:=. \n\0"[(round + change) % 21];
        }
        let from = round * 31 % 2000;
        let source = SourceSpec::Bytes {
            name: "plog.log".to_owned(),
            bytes: bytes[from..bytes.len() - round * 97 % 20_000].into(),
        };
        let Ok(stated) = read_story(&[source], &Progress::silent(&cancel)) else {
            continue;
        };
        let recordings = stated.recordings.iter().map(|recording| &**recording);
        let story = LogStory::of_recordings(recordings, &Progress::silent(&cancel)).expect("a log");
        let answer = LogAnswer {
            story: &story,
            import: &stated.diagnostics,
        };
        assert!(answer.page().text().ends_with(&format!("{}\n", story.ticket())));
        assert!(serde_json::to_value(answer.json()).is_ok());
        n_read += 1;
    }
    assert!(n_read > 150, "{n_read}");
}

#[test]
fn the_old_name_is_the_same_command() {
    let of = |command: &str| text_of(&[command, SAMPLE, "--format", "json"], 0);
    assert_eq!(of("explain-log"), of("explain"));
    let help = text_of(&["--help"], 0);
    assert!(help.contains("explain") && !help.contains("explain-log"), "{help}");
}

/// Of each request what the contract has, `null` where it is unknown.
#[test]
fn requests_have_the_keys_of_the_contract() {
    let answer = json(&["explain", SAMPLE, "--format", "json"], 0);
    let request = &answer["requests"][0];
    assert_eq!(request["asked_bytes"], 27_748_928_512_u64);
    assert_eq!((&request["memory"], &request["device"]), (&"device".into(), &0.into()));
    assert_eq!(
        request["by"],
        serde_json::json!({"process": "python3 (40518)", "line": null, "kernel": null, "graph": 21})
    );
    for key in ["free_bytes", "reserved_bytes", "allocated_bytes", "limit_bytes"] {
        assert_eq!(request.get(key), Some(&serde_json::Value::Null), "{key}");
    }
    assert_eq!(request["served_by_setting"], "unknown");
    let tries = request["try"].as_array().expect("a list");
    assert!(
        tries
            .iter()
            .any(|one| one["setting"] == "ge.exec.reuseZeroCopyMemory=1")
    );
    for key in ["setting", "why", "needs_version"] {
        assert!(tries.iter().all(|one| one.get(key).is_some()), "{key}");
    }
    assert_eq!(answer["statements"], serde_json::json!([]));
}

pub(super) const MIB: u64 = 1 << 20;

/// Segments of 200, 200 and 150 MiB, of which two were full before, with 232 MiB in use, and a request that failed with 50 MiB free on the device.
pub(super) fn failed_run(requested: u64) -> NamedTempFile {
    let place = |mib: u64| 0x7f00_0000_0000 + mib * MIB;
    let grown = |mib: u64, size: u64| event("segment_alloc", place(mib), size * MIB, 1);
    let kept = |mib: u64, size: u64| called_from(event("alloc", place(mib), size * MIB, 1), "keep");
    let used = |mib: u64, size: u64| event("alloc", place(mib), size * MIB, 1);
    let freed = |mib: u64, size: u64| {
        ["free_requested", "free_completed"].map(|action| event(action, place(mib), size * MIB, 1))
    };
    let mut trace = vec![grown(0, 200), used(0, 200), grown(1000, 200), used(1000, 200)];
    trace.extend(freed(0, 200).into_iter().chain(freed(1000, 200)));
    trace.extend([
        kept(0, 16),
        used(16, 120),
        kept(136, 16),
        used(1000, 100),
        kept(1100, 50),
        grown(2000, 150),
        kept(2000, 150),
    ]);
    trace.extend(freed(16, 120).into_iter().chain(freed(1000, 100)));
    let mut failed = called_from(event("oom", 50 * MIB, requested * MIB, 1), "forward");
    failed["frames"][0]["line"] = 30.into();
    trace.push(failed);
    for (time, event) in trace.iter_mut().enumerate() {
        event["time_us"] = time.into();
    }
    let live = |mib: u64, size: u64| block(place(mib), size * MIB, size * MIB, "active_allocated");
    let free = |mib: u64, size: u64| block(place(mib), size * MIB, 0, "inactive");
    let segments = vec![
        segment(
            place(0),
            200 * MIB,
            "large",
            vec![live(0, 16), free(16, 120), live(136, 16), free(152, 48)],
        ),
        segment(
            place(1000),
            200 * MIB,
            "large",
            vec![free(1000, 100), live(1100, 50), free(1150, 50)],
        ),
        segment(place(2000), 150 * MIB, "large", vec![live(2000, 150)]),
    ];
    file(&snapshot(segments, trace))
}

fn explained(file: &NamedTempFile) -> (serde_json::Value, String) {
    let path = file.path().to_str().expect("text");
    let json = json(&["explain", path, "--format", "json"], 0);
    (json["requests"][0].clone(), answer(&[path]))
}

/// 232 MiB are live, so 180 MiB more fit into the 600 MiB, but not into one piece.
#[test]
fn a_snapshot_tells_which_setting_serves_its_failed_request() {
    let (request, text) = explained(&failed_run(180));
    assert_eq!(request["asked_bytes"], 180 * MIB);
    assert_eq!(request["by"]["line"], "train.py:30");
    assert_eq!(
        (&request["free_bytes"], &request["reserved_bytes"]),
        (&(50 * MIB).into(), &(550 * MIB).into())
    );
    assert_eq!(
        (&request["allocated_bytes"], &request["largest_free_bytes"]),
        (&(232 * MIB).into(), &(120 * MIB).into())
    );
    assert_eq!(
        request["holders"],
        serde_json::json!([{"name": "keep (train.py:7)", "bytes": 232 * MIB}])
    );
    assert_eq!(request["served_by_setting"], "yes");
    assert_eq!(
        request["try"][0]["setting"],
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
    );
    assert!(text.contains("Held then by keep (train.py:7): 232.0 MiB."), "{text}");
    assert!(text.contains("replayed"), "{text}");
}

/// A text of the same failure is no other request.
#[test]
fn a_request_that_a_snapshot_and_a_text_tell_counts_once() {
    let snapshot = failed_run(180);
    let file_of = |suffix: &str, content: &[u8]| {
        let mut file = tempfile::Builder::new().suffix(suffix).tempfile().expect("a file");
        std::io::Write::write_all(&mut file, content).expect("written");
        file
    };
    let text = |mib: u64| {
        let text = format!(
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {mib}.00 MiB. GPU 0 has a total capacity of 612.00 MiB of which \
             50.00 MiB is free. Of the allocated memory 232.00 MiB is allocated by PyTorch, and 318.00 MiB is reserved by PyTorch but \
             unallocated.\n"
        );
        file_of(".txt", text.as_bytes())
    };
    for (mib, count) in [(180, 1), (60, 2), (181, 2), (179, 2)] {
        let text = text(mib);
        let paths = [&snapshot, &text].map(|file| file.path().to_str().expect("text"));
        let answer = json(&["explain", paths[0], paths[1], "--format", "json"], 0);
        assert_eq!(answer["requests"].as_array().map(Vec::len), Some(count), "{answer}");
        // One that cannot be read does not hide the others.
        let damaged = file_of(".pickle", b"\x80\x04}q\x00(X\x0d\x00\x00\x00device_traces");
        let again = json(
            &[
                "explain",
                paths[0],
                paths[1],
                damaged.path().to_str().expect("text"),
                "--format",
                "json",
            ],
            0,
        );
        assert_eq!(again["requests"], answer["requests"], "{again}");
        assert!(again["diagnostics"].to_string().contains("cut off"), "{again}");
        let asked = |size: u64| {
            answer["requests"]
                .to_string()
                .contains(&format!("\"asked_bytes\":{size}"))
        };
        assert!(asked(180 * MIB) && asked(mib * MIB), "{answer}");
    }
}

#[test]
fn a_snapshot_tells_that_no_setting_serves_its_failed_request() {
    let (request, text) = explained(&failed_run(400));
    assert_eq!(request["served_by_setting"], "no");
    assert!(
        request["try"]
            .as_array()
            .expect("a list")
            .iter()
            .all(|one| one["setting"].is_null())
    );
    assert!(
        text.contains("232.0 MiB are live, with the 400.0 MiB more than the 600.0 MiB that the process had"),
        "{text}"
    );
    let (request, text) = explained(&failed_run(2048));
    assert_eq!(request["served_by_setting"], "no");
    assert!(
        text.contains("2.000 GiB are more than the 600.0 MiB that the process had"),
        "{text}"
    );
}

/// An event without free bytes of the device states none.
#[test]
fn a_snapshot_without_free_bytes_has_no_sure_answer() {
    let used = vec![block(0x1000, 60 * MIB, 60 * MIB, "active_allocated")];
    let mut failed = event("oom", 0, 200 * MIB, 9);
    let fields = failed.as_object_mut().expect("an object");
    fields.remove("device_free");
    fields.insert("addr".to_owned(), 0.into());
    let trace = vec![
        event("segment_alloc", 0x1000, 60 * MIB, 1),
        event("alloc", 0x1000, 60 * MIB, 2),
        failed,
    ];
    let (request, text) = explained(&file(&snapshot(vec![segment(0x1000, 60 * MIB, "large", used)], trace)));
    assert_eq!(request["asked_bytes"], 200 * MIB);
    assert_eq!(request["free_bytes"], serde_json::Value::Null);
    assert_eq!(request["served_by_setting"], "unknown");
    assert!(text.contains("does not state what the device had free"), "{text}");
    assert!(!text.contains("0 B free"), "{text}");
}

/// Without an event of a failed request, or without events, that is said.
#[test]
fn snapshots_without_a_failed_request_say_so() {
    let used = || vec![block(0x1000, 4096, 4096, "active_allocated")];
    let event = event("alloc", 0x1000, 4096, 5);
    for (trace, words) in [
        (vec![event], "without an event of a failed request"),
        (Vec::new(), "_record_memory_history"),
        (Vec::new(), "reserved are live then, the largest part no call stack"),
    ] {
        let file = file(&snapshot(vec![segment(0x1000, 2 * MIB, "small", used())], trace));
        let path = file.path().to_str().expect("text").to_owned();
        let output = run(&["explain", &path]);
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(words), "{text}");
    }
}

/// A log, the terminal's text and a snapshot in one folder are one story.
#[test]
fn texts_and_snapshots_are_one_story() {
    let folder = tempfile::tempdir().expect("a folder");
    let [_, _, terminal] = parts();
    std::fs::write(folder.path().join("terminal.txt"), terminal).expect("a file");
    std::fs::copy(failed_run(400).path(), folder.path().join("failed.pickle")).expect("a file");
    let both = json(
        &["explain", folder.path().to_str().expect("text"), "--format", "json"],
        0,
    );
    let asked = both["requests"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["asked_bytes"].clone());
    let asked: Vec<serde_json::Value> = asked.collect();
    assert_eq!(asked, [27_748_928_512_u64.into(), serde_json::Value::from(400 * MIB)]);
}

/// The window opens a snapshot with the page of the command; a snapshot without a failed request has none.
#[test]
fn the_window_has_the_page_of_a_snapshot() {
    let page_of = |file: &NamedTempFile| {
        let session = settled(vec![SourceSpec::Path(file.path().to_owned())]);
        session.loaded().expect("it opens").log_page().cloned()
    };
    let failed = failed_run(400);
    let page = page_of(&failed).expect("a page");
    let markdown = text_of(
        &["explain", failed.path().to_str().expect("text"), "--format", "markdown"],
        0,
    );
    assert_eq!(page.markdown.trim_end(), markdown.trim_end());
    assert!(
        page.ticket.contains("No setting could have served it"),
        "{}",
        page.ticket
    );
    let used = vec![block(0x1000, 4096, 4096, "active_allocated")];
    let plain = snapshot(
        vec![segment(0x1000, 2 * MIB, "small", used)],
        vec![event("alloc", 0x1000, 4096, 5)],
    );
    assert!(page_of(&file(&plain)).is_none());
}
