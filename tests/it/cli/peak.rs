//! `highwater peak`: fields, forms, choices, one line of error.

use serde_json::Value as Json;

use crate::cli::{fails, json, run, text_of};
use crate::snapshots::{block, called_from, event, file, segment, snapshot};

fn sum(rows: &Json, field: &str) -> u64 {
    let rows = rows.as_array().expect("a list").iter();
    rows.map(|row| row[field].as_u64().expect("a number")).sum()
}

#[test]
fn peak_has_the_fields_of_the_contract() {
    let answer = json(&["peak", "sample:resnet50", "--format", "json"], 0);
    let live = answer["live_bytes"].as_u64().expect("live bytes");
    let reserved = answer["reserved_bytes"].as_u64().expect("reserved bytes");
    assert_eq!(
        live,
        sum(&answer["tensors"], "bytes") + answer["unlisted_bytes"].as_u64().unwrap()
    );
    assert_eq!(live, sum(&answer["groups"], "bytes"));
    assert_eq!(live + sum(&answer["rest"], "bytes"), reserved);
    assert_eq!(answer["peak_live_bytes"].as_u64(), Some(live));
    assert_eq!(answer["peak_live_step"], answer["step"]);
    let tensors = answer["tensors"].as_array().unwrap();
    assert_eq!(answer["tensors_total"].as_u64(), Some(tensors.len() as u64));
    for field in [
        "tensor",
        "graph",
        "run",
        "bytes",
        "share",
        "birth",
        "end",
        "copies",
        "group",
        "idle_steps",
    ] {
        assert!(!tensors[0][field].is_null(), "{field}");
    }
    assert!(tensors[0]["alive_before"].is_null());
    for list in ["idle", "held_for", "without"] {
        assert!(!answer[list].as_array().expect(list).is_empty(), "{list}");
    }
    assert!(answer["uses_unknown"].is_null() && answer["range"].is_null());
    // The figures of the comparison.
    let compared = json(&["compare", "sample:resnet50", "--format", "json"], 0);
    assert_eq!(compared["policies"][0]["peak_live_bytes"].as_u64(), Some(live));
    let again = run(&["peak", "sample:resnet50", "--format", "json"]);
    assert_eq!(serde_json::from_slice::<Json>(&again.stdout).unwrap(), answer);
}

#[test]
fn a_range_lists_allocations_and_frees() {
    let answer = json(
        &[
            "peak",
            "sample:resnet50",
            "--policy",
            "3",
            "--range",
            "40..90",
            "--group-by",
            "op_type",
            "--top",
            "3",
            "--format",
            "json",
        ],
        0,
    );
    let range = &answer["range"];
    assert_eq!(
        (&answer["policy"], &answer["group_by"]),
        (&Json::from(3), &Json::from("op_type"))
    );
    let bytes = |what: &str| range[what]["bytes"].as_u64().unwrap();
    assert_eq!(bytes("before") + bytes("allocated"), bytes("after") + bytes("freed"));
    assert_eq!(range["live"]["peak_bytes"], answer["live_bytes"]);
    assert_eq!(range["live"]["steps"].as_u64(), Some(50));
    assert_eq!(answer["tensors"].as_array().unwrap().len(), 3);
    assert!(answer["tensors"][0]["alive_before"].is_boolean());
}

#[test]
fn texts_and_tables_are_written() {
    let text = text_of(&["peak", "sample:mobilenet", "--step", "5", "--format", "csv"], 0);
    assert!(
        text.starts_with("tensor,graph,run,bytes,share,birth,end,copies,group,alive_before,idle_steps\n"),
        "{text}"
    );
    let answer = json(&["peak", "sample:mobilenet", "--step", "5", "--format", "json"], 0);
    assert_eq!(
        text.lines().count() as u64,
        answer["tensors_total"].as_u64().unwrap() + 1
    );
    let told = text_of(&["peak", "sample:resnet50", "--top", "2"], 0);
    for words in [
        "policy 0: the live peak, step",
        "by role",
        "longest idle",
        "savings if removed",
        "and ",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let measured = text_of(&["peak", "sample:measured"], 0);
    assert!(measured.contains("A recording has no readers"), "{measured}");
}

/// The worst rank of a job may hold memory that no tensor explains.
#[test]
fn ranks_are_compared_where_no_tensor_is_live() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("torch_npu_workspace_memory_record.csv");
    let head =
        "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n";
    let rows = [("PTA", 6), ("PTA+GE", 6), ("WORKSPACE", 64)];
    let rows = rows.map(|(who, held)| format!("{who},1795861411449428.476\t,{held}.0,{held}.0,{held}.0,9,NPU:0\n"));
    std::fs::write(&path, head.to_owned() + &rows.concat()).expect("it can be written");
    let path = path.to_str().expect("a path of letters");
    let text = text_of(&["peak", path], 0).replace('\u{a0}', " ");
    for words in [
        "No live tensors at this step.",
        "WORKSPACE is the worst: +58.00 MiB over the median.",
        "6.000 MiB   6 291 456 B          0 B",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let report = folder.path().join("report.html");
    let to = report.to_str().expect("a path of letters");
    text_of(&["export", path, "--to", to], 0);
    let page = std::fs::read_to_string(to).expect("a page");
    assert!(page.contains("WORKSPACE is the worst"));
}

#[test]
fn the_op_of_the_peak_has_type_and_name_everywhere() {
    let step = "sample_traces/lenet_training.pb";
    let title = |text: String| text.lines().next().expect("a title").to_owned();
    let title = title(text_of(&["peak", step, "--top", "2"], 0));
    let (_, op) = title.split_once(": the live peak, step ").expect("a step");
    let words: Vec<&str> = op.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    let [_, kind, name] = words[..] else { panic!("{title}") };
    assert!(name.contains('/') && name.contains(kind), "{title}");
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.html");
    let to = report.to_str().expect("a path of letters");
    text_of(&["export", step, "--to", to], 0);
    let page = std::fs::read_to_string(to).expect("a page");
    assert!(page.contains(&format!(", {kind} {name}")), "{title}");
}

#[test]
fn cut_lists_tell_what_was_left_out() {
    let snapshot = "sample_traces/language_model.snapshot.pickle.gz";
    let text = text_of(&["peak", snapshot, "--top", "2"], 0).replace('\u{a0}', " ");
    let rest = text.lines().find(|line| line.contains("more group"));
    assert!(
        rest.is_some_and(|line| line.starts_with("and ") && line.ends_with(" %")),
        "{text}"
    );
    assert!(text.contains(" more (`highwater peak --top N` lists more)"), "{text}");
    let text = text_of(&["peak", snapshot, "--growth=4"], 0).replace('\u{a0}', " ");
    assert!(text.contains(" growth ") && text.contains(" exact "), "{text}");
}

#[test]
fn requests_of_every_graph_of_a_trace_have_groups() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("loads.trace");
    std::fs::write(&path, "device 1G\nload enc/a 4M\nload dec/b 2M\nload dec/c 1M\n").expect("it can be written");
    let path = path.to_str().expect("a path of letters");
    let answer = json(&["peak", path, "--group-by", "scope", "--format", "json"], 0);
    let groups = answer["groups"].as_array().expect("groups");
    let texts: Vec<&str> = groups.iter().filter_map(|group| group["name"].as_str()).collect();
    assert_eq!(texts, ["enc", "dec"], "{answer}");
}

#[test]
fn bad_usage_is_one_line() {
    for (arguments, expected) in [
        (&["--step", "100000"][..], "exceeds the last step, "),
        (&["--range", "9..9"], "expected FIRST..END"),
        (&["--range", "7"], "expected FIRST..END"),
        (&["--policy", "9"], "--policy 9: expected 0, 1 (which is 2), 2, 3 or 4"),
        (&["--lane", "7"], "no such lane"),
        (&["--group-by", "magic"], "op_type"),
        (&["--format", "schema"], "`options`"),
        (&["--step", "1", "--range", "1..2"], "cannot be used with"),
    ] {
        let all: Vec<&str> = ["peak", "sample:mobilenet"].iter().chain(arguments).copied().collect();
        fails(&all, expected);
    }
}

/// A segment with a block, a gap and a block that waits for its stream, and a free segment of another stream.
/// Two runs at the same time: each peaks at its own event 1.
#[test]
fn events_of_several_recordings_are_those_of_the_explained_one() {
    let of = |mib: u64, offset: u64| {
        let trace = vec![
            event("alloc", 0x1000, 512, 10 + offset),
            event("alloc", 0x2000, mib << 20, 20 + offset),
            event("free_completed", 0x2000, mib << 20, 30 + offset),
        ];
        let blocks = vec![block(0x1000, 64 << 20, 64 << 20, "inactive")];
        file(&snapshot(vec![segment(0x1000, 64 << 20, "large", blocks)], trace))
    };
    let (one, other) = (of(4, 0), of(8, 1));
    let [one, other] = [&one, &other].map(|file| file.path().to_str().expect("a path").to_owned());
    let answer = json(&["peak", &one, &other, "--format", "json"], 0);
    assert_eq!((answer["event"].as_u64(), answer["step"].as_u64()), (Some(1), Some(3)));
    let at = json(&["peak", &one, &other, "--step", "1", "--format", "json"], 0);
    assert_eq!(
        (&at["lane"], &at["step"], &at["live_bytes"]),
        (&answer["lane"], &answer["step"], &answer["live_bytes"])
    );
    let output = run(&["peak", &one, &other]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("the live peak, event 1\n"), "{text}");
    fails(
        &["peak", &one, &other, "--step", "3"],
        "--step 3 exceeds the last event, 2",
    );
    // The number in front of a title is that of the flag.
    let title = answer["lane"].as_str().expect("a title");
    assert!(title.starts_with("lane 2: "), "{title}");
    let chosen = json(&["peak", &one, &other, "--lane", "2", "--format", "json"], 0);
    assert_eq!(chosen["lane"], answer["lane"]);
}

fn two_segments() -> Json {
    let used = segment(
        0x1000,
        0x1000,
        "small",
        vec![
            block(0x1000, 0x200, 0x1f0, "active_allocated"),
            block(0x1200, 0x600, 0x600, "inactive"),
            block(0x1800, 0x800, 0x800, "active_pending_free"),
        ],
    );
    let mut free = segment(0x8000, 0x2000, "large", vec![block(0x8000, 0x2000, 0, "inactive")]);
    free["stream"] = 9.into();
    free["segment_pool_id"] = serde_json::json!([0, 4]);
    let trace = vec![
        called_from(event("alloc", 0x1000, 0x1f0, 5), "embed"),
        called_from(event("alloc", 0x1800, 0x800, 6), "attend"),
        event("free_requested", 0x1800, 0x800, 7),
    ];
    snapshot(vec![used, free], trace)
}

#[test]
fn segments_are_listed_as_text_json_and_csv() {
    let file = file(&two_segments());
    let path = file.path().to_str().unwrap();
    let answer = json(&["peak", path, "--segments", "--step", "2", "--format", "json"], 0);
    assert_eq!(
        (&answer["event"], &answer["time_ns"]),
        (&Json::from(2), &Json::from(7000))
    );
    let sums = &answer["allocator"];
    for (field, expected) in [
        ("reserved_bytes", 0x3000),
        ("active_bytes", 0x200),
        ("awaiting_free_bytes", 0x800),
        ("inactive_split_bytes", 0x600),
        ("free_segment_bytes", 0x2000),
        ("largest_free_bytes", 0x2000),
        ("rounding_bytes", 0x10),
        ("blocks_of_unstated_size", 0),
    ] {
        assert_eq!(sums[field].as_u64(), Some(expected), "{field}");
    }
    assert_eq!(sums["exact"], true);
    let segments = answer["segments"].as_array().unwrap();
    assert_eq!(
        (segments.len(), &segments[1]["private_pool"]),
        (2, &Json::from("(0, 4)"))
    );
    assert_eq!(segments[0]["pieces"][0]["name"], "embed (train.py:7)");
    assert_eq!(answer["pools"].as_array().unwrap().len(), 2);

    let csv = text_of(&["peak", path, "--segments", "--step", "2", "--format", "csv"], 0);
    let expected = "segment,segment_bytes,stream,kind,private_pool,address,state,bytes,requested_bytes,exact,block,name\n\
                    0x1000,4096,0,small,,0x1000,active,512,496,true,0,embed (train.py:7)\n\
                    0x1000,4096,0,small,,0x1200,inactive,1536,,true,,\n\
                    0x1000,4096,0,small,,0x1800,awaiting free,2048,2048,true,1,attend (train.py:7)\n\
                    0x8000,8192,9,large,\"(0, 4)\",0x8000,free,8192,,true,,\n";
    assert_eq!(csv, expected);

    let text = text_of(&["peak", path, "--segments"], 0);
    expect_test::expect![[r#"
        FILE, lane 1: device0: the allocator after event 1

        Event 1: alloc 2.000 KiB at 0x1800, by attend (train.py:7)

        allocator
        reserved                12.00 KiB in 2 segments  12 288 B
        active                  2.500 KiB in 2 blocks     2 560 B
        awaiting free           0 B in 0 blocks               0 B
        inactive                1.500 KiB in 1 gap        1 536 B
        free                    8.000 KiB in 1 segment    8 192 B
        largest free            8.000 KiB                 8 192 B
        rounding inside blocks  16 B                         16 B

        9.500 KiB of 12.00 KiB reserved hold no block: 8.000 KiB in 1 whole segment; 1.500 KiB in gaps beside blocks, which serve requests up to 1.500 KiB.

        stream  kind   private pool  segments   reserved     active  awaiting free   inactive       free  largest free
             0  small                       1  4.000 KiB  2.500 KiB            0 B  1.500 KiB        0 B     1.500 KiB
             9  large  (0, 4)               1  8.000 KiB        0 B            0 B        0 B  8.000 KiB     8.000 KiB

        segment  stream  kind   private pool  blocks   reserved     active  awaiting free   inactive       free  largest free  map
        0x1000        0  small                     2  4.000 KiB  2.500 KiB            0 B  1.500 KiB        0 B     1.500 KiB  ###.........############
        0x8000        9  large  (0, 4)             0  8.000 KiB        0 B            0 B        0 B  8.000 KiB     8.000 KiB  ........................

        map: # active, ~ awaiting free, . inactive or free

        Partly free after event 1: 4.000 KiB reserved for 2.500 KiB of live blocks in 1 segment; 2 blocks in 2 call sites pin them.

        pinned by            segments  blocks       live     pinned  by it alone
        attend (train.py:7)         1       1  2.000 KiB  1.500 KiB          0 B
        embed (train.py:7)          1       1      512 B  1.500 KiB          0 B
    "#]].assert_eq(&text.replace(file.path().file_name().unwrap().to_str().unwrap(), "FILE"));
}

#[test]
fn segments_need_a_recording_that_lists_them() {
    fails(&["peak", "sample:resnet50", "--segments"], "recorded facts");
    let file = file(&two_segments());
    let path = file.path().to_str().unwrap();
    fails(&["peak", path, "--segments", "--step", "3"], "exceeds the last");
}

#[test]
fn events_of_several_recordings_are_their_own() {
    let (one, other) = (file(&two_segments()), file(&two_segments()));
    let path = one.path().to_str().unwrap();
    let both = [path, other.path().to_str().unwrap()];
    let answer = json(&["compare", both[0], both[1], "--format", "json"], 0);
    for lane in 0..2 {
        let recording = &answer["measured"][lane];
        let event = recording["peak_live_event"].as_u64().unwrap();
        assert_eq!(event, 1, "{recording}");
        assert!(recording["peak_live_step"].as_u64() >= Some(event), "{recording}");
        let (number, step) = ((lane + 1).to_string(), event.to_string());
        let at = [&["peak"][..], &both, &["--lane", &number, "--format", "json"]].concat();
        let peak = json(&at, 0);
        let there = json(&[&at[..], &["--step", &step]].concat(), 0);
        assert_eq!(peak["live_bytes"], there["live_bytes"]);
        assert_eq!(peak["live_bytes"], recording["peak_live_bytes"], "{peak}");
    }
    // One device in two files is no job with ranks.
    let text = text_of(&["peak", both[0], both[1]], 0);
    assert!(!text.contains("rank 0"), "{text}");

    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("tensors.csv");
    let to = to.to_str().unwrap();
    fails(&["export", both[0], both[1], "--to", to], "--lane N");
    assert!(
        run(&["export", both[0], both[1], "--lane", "2", "--to", to])
            .status
            .success()
    );
    let table = std::fs::read_to_string(to).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|heading| *heading == name).expect(name);
    let births: Vec<&str> = rows[1..].iter().map(|row| row[column("birth")]).collect();
    assert_eq!(births, ["0", "1"], "{table}");
}

/// Four steps marked by annotations; each leaves a block behind, and another frees its block. The request of the third fails.
fn leaking() -> Json {
    let mut trace = Vec::new();
    let mut annotations = Vec::new();
    for step in 0..4_u64 {
        let time = 100 * step;
        let (kept, freed) = (0x1000 + 0x1000 * step, 0x8000);
        let note = |stage: &str, name: String, at: u64| serde_json::json!({"stage": stage, "name": name, "device": 0, "time_us": at});
        annotations.push(note("START", format!("ProfilerStep#{step}"), time));
        annotations.push(note("END", format!("ProfilerStep#{step}"), time + 50));
        trace.push(called_from(event("alloc", kept, 0x1000, time + 1), "cache"));
        trace.push(called_from(event("alloc", freed, 0x800, time + 2), "temporary"));
        trace.push(event("free_requested", freed, 0x800, time + 3));
        trace.push(event("free_completed", freed, 0x800, time + 4));
    }
    let mut blocks: Vec<Json> = (1..5)
        .map(|at| block(0x1000 * at, 0x1000, 0x1000, "active_allocated"))
        .collect();
    blocks.push(block(0x5000, 0xb000, 0, "inactive"));
    let mut whole = snapshot(vec![segment(0x1000, 0xf000, "large", blocks)], trace);
    whole["external_annotations"] = annotations.into();
    whole
}

#[test]
fn blocks_that_grow_from_step_to_step_are_listed() {
    let file = file(&leaking());
    let path = file.path().to_str().unwrap();
    let answer = json(
        &["peak", path, "--growth", "--device-memory", "72KiB", "--format", "json"],
        0,
    );
    assert_eq!(
        (&answer["steps_from"], &answer["rows_total"]),
        (&Json::from("annotations"), &Json::from(1))
    );
    let row = &answer["rows"][0];
    assert_eq!(row["name"], "cache (train.py:7)");
    assert_eq!(row["live_bytes"], serde_json::json!([0x1000, 0x2000, 0x3000, 0x4000]));
    assert_eq!(
        (&row["slope_bytes_per_step"], &row["growth_bytes"]),
        (&Json::from(4096.0), &Json::from(0x3000))
    );
    // 72 KiB less the segment of 60 KiB.
    assert_eq!(
        (&answer["headroom_bytes"], &answer["full_after_steps"]),
        (&Json::from(0x3000), &Json::from(3))
    );
    let csv = text_of(&["peak", path, "--growth=4", "--format", "csv"], 0);
    assert!(csv.ends_with("\ncache (train.py:7),4096,3,12288,4096,16384\n"), "{csv}");
    let text = text_of(&["peak", path, "--growth"], 0);
    assert!(
        text.contains("growth over 4 steps") && text.contains("The capacity is unknown"),
        "{text}"
    );
    fails(&["peak", path, "--growth=2"], "2 parts are too few");
    fails(&["peak", "sample:resnet50", "--growth"], "no recording");
}

#[test]
fn recordings_are_checked_against_the_capacity() {
    let file = file(&leaking());
    let path = file.path().to_str().unwrap();
    let fits = |arguments: &[&str]| {
        let arguments: Vec<&str> = ["compare", path, "--format", "json"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        json(&arguments, 0)["measured"][0].clone()
    };
    // The default device is not that of the recording.
    let unknown = fits(&[]);
    assert!(
        unknown["fits"].is_null() && unknown["capacity_bytes"].is_null(),
        "{unknown}"
    );
    let small = fits(&["--device-memory", "59KiB"]);
    assert_eq!(
        (&small["fits"], &small["headroom_bytes"]),
        (&Json::from(false), &Json::from(-1024))
    );
    let large = fits(&["--device-memory", "61KiB"]);
    assert_eq!(
        (&large["fits"], &large["headroom_bytes"]),
        (&Json::from(true), &Json::from(1024))
    );
    for (memory, limit, code) in [
        ("61KiB", "peak_reserved>100%", 0),
        ("61KiB", "peak_reserved>90%", 1),
        ("59KiB", "peak_reserved>100%", 1),
    ] {
        let output = run(&["compare", path, "--device-memory", memory, "--fail-if", limit]);
        assert_eq!(output.status.code(), Some(code), "{memory} {limit}");
    }
    let output = run(&["compare", path, "--fail-if", "peak_reserved>90%"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("no capacity is known"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_failed_request_states_a_lower_bound_of_the_device() {
    let mut whole = leaking();
    let trace = whole["device_traces"][0].as_array_mut().unwrap();
    trace.insert(9, event("oom", 0x400, 1 << 30, 204));
    let file = file(&whole);
    let path = file.path().to_str().unwrap();
    let answer = json(&["compare", path, "--format", "json"], 0);
    let lane = &answer["measured"][0];
    assert_eq!(lane["capacity_bytes"].as_u64(), Some(0xf400));
    assert_eq!(
        (&lane["capacity_is_lower_bound"], &lane["fits"]),
        (&Json::from(true), &Json::from(false))
    );
    let text = text_of(&["compare", path], 0);
    assert!(text.contains("device memory: at least 61.00"), "{text}");
}

#[test]
fn blocks_are_found_by_the_language_of_find() {
    let file = file(&two_segments());
    let path = file.path().to_str().unwrap();
    let answer = json(&["peak", path, "--find", "attend size:>1KiB", "--format", "json"], 0);
    let summary = ["count", "of", "bytes"].map(|field| answer["lanes"][0][field].as_u64());
    assert_eq!(summary, [Some(1), Some(2), Some(0x800)], "{answer}");
    assert_eq!(answer["lanes"][0]["rows"][0]["bytes"], 0x800);
    let same = json(&["peak", path, "--find", "attend size>1KiB", "--format", "json"], 0);
    assert_eq!(same["lanes"], answer["lanes"], "without a colon");
    let text = text_of(&["peak", path, "--find", "-attend"], 0);
    assert!(
        text.contains("1 block of 2 match -attend") && text.contains("embed"),
        "{text}"
    );
    let csv = text_of(&["peak", path, "--find", "", "--format", "csv"], 0);
    assert_eq!(csv.lines().count(), 3, "{csv}");
    fails(&["peak", path, "--find", "size:>x"], "--find size:>x");
    // All recordings are searched, unless one is chosen.
    let both = |more: &[&str]| {
        json(
            &[&["peak", path, path, "--find", "attend", "--format", "json"], more].concat(),
            0,
        )
    };
    let lanes = |answer: &Json| answer["lanes"].as_array().map(Vec::len);
    assert_eq!((lanes(&both(&[])), lanes(&both(&["--lane", "2"]))), (Some(2), Some(1)));
    let csv = text_of(&["peak", path, path, "--find", "attend", "--format", "csv"], 0);
    assert_eq!(
        csv.lines().filter(|line| line.starts_with(['1', '2'])).count(),
        2,
        "{csv}"
    );
    let language = text_of(&["peak", path, "--find", "?"], 0);
    assert!(
        language.contains("size:>1MiB") && language.contains("compile:"),
        "{language}"
    );
}
