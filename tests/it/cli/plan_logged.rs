//! Logs of CANN with placements: `plan` shows the log's plan beside others, `compare` every policy with the log's schedule.

use serde_json::Value as Json;

use crate::cli::plan::{file, says, text};
use crate::cli::{fails, json};
use crate::support;

fn log(name: &str) -> Option<String> {
    let folder = support::shared("corpus/made/plog")?;
    Some(folder.join(name).to_string_lossy().into_owned())
}

/// Without the spaces that do not break.
fn plain(text: &str) -> String {
    text.replace(['\u{a0}', '\u{202f}'], " ")
}

#[test]
fn a_logs_plan_is_beside_those_of_the_strategies() {
    for (name, graph, count, arena) in [
        ("p0_train_eval", "graph_11", 71, "33 775 104 B"),
        ("p2_train_eval.debug.log", "graph_21", 14, "38 536 192 B"),
        ("old_2020.log", "graph_1", 14, "2 409 472 B"),
        ("garbled.log", "graph_1", 13, "38 536 192 B"),
    ] {
        let Some(path) = log(name) else { return };
        let shown = plain(&text(&["plan", &path, "--graph", graph], 0));
        let equal = format!("The log's plan of {graph} equals the simulation: {count} of {count} offsets.");
        let sizes = format!("The log says the arena of {graph} is {arena}; simulated {arena}: equal.");
        says(&shown, &["ge_default", "\nlog ", &equal, &sizes]);
        let answer = json(
            &["plan", &path, "--graph", graph, "--strategy", "log", "--format", "json"],
            0,
        );
        let bytes: u64 = arena.replace([' ', 'B'], "").parse().expect("a number");
        assert_eq!(
            (&answer["footprint_bytes"], &answer["verified"]),
            (&Json::from(bytes), &Json::from(true))
        );
    }
}

#[test]
fn a_log_is_simulated_under_every_policy_with_its_own_schedule() {
    const OLDER: &[&str] = &["--set", "simulation.engine_version=8.0"];
    for (name, more, own, peaks) in [
        (
            "p0_train_eval",
            &[][..],
            "80 583 168 B at most in the log, under policy 0; simulated 80 583 168 B: equal.",
            [80_583_168, 53_778_944, 86_874_624, 58_864_640],
        ),
        (
            "p2_train_eval.debug.log",
            &[],
            "53 778 944 B at most in the log, under policy 2; simulated 53 778 944 B: equal.",
            [80_583_168, 53_778_944, 86_874_624, 58_864_640],
        ),
        (
            "p2_train_eval.debug.log",
            OLDER,
            "simulated 52 585 472 B: 1 193 472 B less, all of it variables: 1 page of 2.000 MiB in the log, 903 680 B \
             simulated.",
            [79_389_696, 52_585_472, 79_389_696, 51_379_712],
        ),
        (
            "garbled.log",
            &[],
            "43 427 328 B at most in the log, under policy 0; simulated 43 427 328 B: equal.",
            [43_427_328, 46_203_904, 43_427_328, 50_398_208],
        ),
    ] {
        let Some(path) = log(name) else { return };
        let arguments = |last: &[&'static str]| {
            let all = ["compare", &path].into_iter().chain(more.iter().copied());
            all.chain(last.iter().copied())
                .map(str::to_owned)
                .collect::<Vec<String>>()
        };
        let shown_by = arguments(&[]);
        let shown_by: Vec<&str> = shown_by.iter().map(String::as_str).collect();
        let shown = plain(&text(&shown_by, 0));
        says(&shown, &["measured ", own]);
        assert!(!shown.contains("no op names"), "{shown}");
        let answered_by = arguments(&["--format", "json"]);
        let answered_by: Vec<&str> = answered_by.iter().map(String::as_str).collect();
        let answer = json(&answered_by, 0);
        let policies = answer["policies"].as_array().expect("policies").iter();
        let own: Vec<u64> = policies
            .filter_map(|lane| lane["peak_reserved_bytes"].as_u64())
            .collect();
        assert_eq!(own, peaks, "{name}");
    }
}

#[test]
fn a_log_without_pages_of_variables_is_of_an_older_engine() {
    let Some(path) = log("old_2020.log") else { return };
    let shown = plain(&text(&["compare", &path], 0));
    says(&shown, &["an engine before 8.5 is simulated"]);
    let other = plain(&text(&["compare", &path, "--set", "simulation.engine_version=8.5"], 0));
    says(&other, &["Simulated 4 847 104 B under 0"]);
    let newer = log("p2_train_eval.debug.log").expect("it is in the same folder");
    assert!(!text(&["compare", &newer], 0).contains("engine_version"));
}

#[test]
fn loads_of_the_log_are_at_the_runs_of_their_graphs() {
    let Some(path) = log("p2_train_eval.debug.log") else {
        return;
    };
    let answer = json(&["compare", &path, "--format", "json"], 0);
    let runs = answer["workload"]["runs"].as_array().expect("runs");
    let runs: Vec<(&str, u64)> = runs
        .iter()
        .filter_map(|run| Some((run["graph"].as_str()?, run["start_step"].as_u64()?)))
        .collect();
    assert_eq!(
        runs,
        [("graph_1", 0), ("graph_11", 1), ("graph_21", 52), ("graph_21", 66)]
    );
}

const DEFAULT_LEVEL: &str = "[INFO] GE(7,python3):2026-07-13-08:00:01.000.000 [a.cc:1]9 F:PreRun start: graph node size 2, \
                             session id 0, graph id 11, graph name g_11.\n\
                             [INFO] GE(7,python3):2026-07-13-08:00:01.000.200 [a.cc:1]9 F:[IMAS]InitFeatureMapAndP2PMem \
                             graph_11 MallocMemory type[F] memaddr[0x1] mem_size[96]Bytes\n";

#[test]
fn a_log_without_placements_says_which_variable_gives_them() {
    let file = file("plog-7_1.log", DEFAULT_LEVEL);
    fails(&["plan", &file.path], "ASCEND_MODULE_LOG_LEVEL=GE=1");
}

/// One process with two tensors, the second in the memory of the first, and a graph that is loaded twice.
fn process(pid: u32, offset: u32) -> String {
    let record = |second: u32, text: &str| {
        format!("[INFO] GE({pid},python3):2026-07-13-08:00:{second:02}.000.000 [a.cc:1]9 F:{text}\n")
    };
    let set = |op: &str, offset: u32, begin: u32, end: u32| {
        format!(
            "[IMAS]Set g_11 name[{op}] optype[Relu] output[0] offset to [{offset}] streamid[0] memtype[2] size[512] \
             realsize[320] noalignsize[288] life time begin[{begin}] life time end[{end}] child[0:1:0:0:1] isref[0] \
             batch[], block_type[]"
        )
    };
    [
        record(1, "PreRun start: graph node size 2, session id 0, graph id 11, graph name g."),
        record(1, &set("a", offset, 1, 2)),
        record(1, &set("b", 0, 3, 4)),
        record(
            2,
            "[IMAS]AfterAssignMemory : g_11 memoffset[1024], memtype[2], theory_min[512], zero_copy[0], total_size[1024], \
             no_reuse[0], streams[1], topo_mode[BFS], mop[], io_reuse[0:0], alloc_mode[], smp[0]",
        ),
        record(3, "[IMAS]InitFeatureMapAndP2PMem graph_11 MallocMemory type[F] memaddr[0x1] mem_size[1024]Bytes"),
    ]
    .concat()
}

#[test]
fn processes_are_told_apart_and_differences_are_named() {
    let two = process(7, 512) + &process(8, 0);
    let file = file("two.log", &two);
    let shown = plain(&text(&["plan", &file.path], 0));
    says(
        &shown,
        &[
            "another: \"python3 (8): graph_11 as logged\"",
            "The log's plan of python3 (7): graph_11 differs from the simulation: 1 of 2 tensors lie elsewhere; first \
             \"a:0\", at 512 in the log and at 0 in the simulation.",
            "is 1 024 B; simulated 512 B: 512 B less.",
        ],
    );
    let other = plain(&text(&["plan", &file.path, "--graph", "python3 (8): graph_11"], 0));
    says(
        &other,
        &[
            "equals the simulation: 2 of 2 offsets",
            "do not reach the end of its arena: 512 B",
        ],
    );
    // Together they are recordings; each alone has lanes under all policies.
    says(&text(&["compare", &file.path], 0), &["measured, not simulated"]);
    let alone = plain(&text(&["compare", &file.path, "--graph", "python3 (7)"], 0));
    says(
        &alone,
        &[
            "graphs: graph_11 (4 ops)",
            "GE held 1 024 B at most in the log, under policy 0",
        ],
    );
}

/// The dump of the graph of [`process`] with two more ops, one of them under another name, and offsets.
fn dump(offsets: &str) -> String {
    let op = |name: &str, input: &str, more: &str| {
        format!(
            "op {{ name: '{name}' type: 'Relu' {input} {more} output_desc {{ dtype: DT_INT8 shape {{ dim: 280 }} }} }}\n"
        )
    };
    let [a, b] = match offsets.split_once(' ') {
        Some((a, b)) => [a, b].map(|offset| format!("output_i: {offset}")),
        None => [String::new(), String::new()],
    };
    let ops = [
        op("a", "", &a),
        op("b", "input: 'a:0'", &b),
        op("end", "input: 'b:0'", ""),
    ];
    format!("graph {{ name: 'g' {} }}", ops.concat())
}

#[test]
fn a_log_beside_the_graph_of_its_run_is_joined_tensor_by_tensor() {
    let log = file("plog-7_1.log", &process(7, 512));
    for (offsets, parts) in [
        (
            "512 0",
            vec![
                "graph 11 of the log of plog-7_1.log: python3 (7) is this graph: 2 of its 2 placements join 2 of 3 tensors (2 by name); not joined in the graph: end:0",
                "all 2 joined offsets are where the log says, in the dump",
            ],
        ),
        ("0 0", vec!["\"a:0\" is at 512 in the log and at 0 in the dump"]),
        ("", vec!["2 of its 2 placements join"]),
    ] {
        let dump = file("ge_proto_1.txt", &dump(offsets));
        let shown = plain(&text(&["compare", &dump.path, &log.path], 0));
        says(&shown, &["measured "]);
        says(&shown, &parts);
        let answer = json(&["compare", &dump.path, &log.path, "--format", "json"], 0);
        let remarks = answer["measured"][0]["remarks"].to_string();
        assert!(remarks.contains("1 of 1 load of the log"), "{remarks}");
    }
    let other = file(
        "other.pbtxt",
        &dump("")
            .replace("'a'", "'p'")
            .replace("'b'", "'q'")
            .replace("a:0", "p:0")
            .replace("b:0", "q:0")
            .replace("280", "64"),
    );
    says(
        &text(&["compare", &other.path, &log.path], 0),
        &["no graph of the log joins"],
    );
}

#[test]
fn a_log_beside_op_lists_is_compared_with_what_is_planned_for_them() {
    let (Some(log), Some(train)) = (log("p0_train_eval"), log("train.ops")) else {
        return;
    };
    let shown = plain(&text(&["compare", &log, &train], 0));
    says(
        &shown,
        &[
            "graph 11 of the log of p0_train_eval: python3 (21034) is this graph: 74 of its 74 placements join 74 of 74 \
             tensors (74 by name)",
            "all 71 joined offsets are where the log says, as GE plans this list",
        ],
    );
    let changed = std::fs::read_to_string(&train)
        .expect("readable")
        .replacen("out=602144", "out=802144", 1);
    let changed = file("train.ops", &changed);
    let shown = plain(&text(&["compare", &log, &changed.path], 0));
    says(
        &shown,
        &["\"preproc/Cast:0\" has 602112 B in the log and 802112 B here"],
    );
}

#[test]
fn settings_of_the_log_are_named_and_a_failed_load_runs_where_it_failed() {
    let failing = "[INFO] GE(7,python3):2026-07-13-08:00:05.000.000 [a.cc:1]9 F:PreRun start: graph node size 2, session id 0, \
                   graph id 21, graph name h.\n\
                   [INFO] GE(7,python3):2026-07-13-08:00:06.000.000 [a.cc:1]9 F:[IMAS]Set h_21 name[c] optype[Relu] output[0] \
                   offset to [0] streamid[0] memtype[2] size[1048576] realsize[1048096] noalignsize[1048064] life time begin[1] \
                   life time end[2] child[0:1:0:0:1] isref[0] batch[], block_type[]\n\
                   [INFO] GE(7,python3):2026-07-13-08:00:06.500.000 [a.cc:1]9 F:Total memory size is 68719476736\n\
                   [ERROR] GE(7,python3):2026-07-13-08:00:07.000.000 [a.cc:1]9 F: ErrorNo: 1343225857(Parameter's invalid!)\
                   [Malloc][Memory] failed, no enough memory for size = 1048576, device_id = 0\n";
    let log = file("plog-7_1.log", &(process(7, 512).replace("smp[0]", "smp[2]") + failing));
    let shown = plain(&text(&["compare", &log.path], 0));
    says(
        &shown,
        &[
            "2 runs",
            "--set memory_config.static_memory_policy=2",
            "--set simulation.device_memory=68719476736",
        ],
    );
    let answer = json(&["compare", &log.path, "--format", "json"], 0);
    let runs = answer["workload"]["runs"].as_array().expect("runs").iter();
    let runs: Vec<&str> = runs.filter_map(|run| run["graph"].as_str()).collect();
    assert_eq!(runs, ["graph_11", "graph_21"]);
}

#[test]
fn lanes_take_the_plan_of_the_log_on_request() {
    // The log leaves 512 bytes between two tensors that never meet.
    let log = file("plog-7_1.log", &process(7, 512));
    let peaks = |more: &[&str]| {
        let arguments: Vec<&str> = ["compare", &log.path, "--format", "json"]
            .iter()
            .chain(more)
            .copied()
            .collect();
        let answer = json(&arguments, 0);
        let policies = answer["policies"].as_array().expect("policies").iter();
        policies
            .filter_map(|lane| lane["peak_reserved_bytes"].as_u64())
            .collect::<Vec<_>>()
    };
    assert_eq!((peaks(&[])[0], peaks(&["--strategy", "log"])[0]), (512, 1024));
    let shown = plain(&text(&["compare", &log.path, "--strategy", "log"], 0));
    says(
        &shown,
        &["GE held 1 024 B at most in the log, under policy 0; simulated 1 024 B: equal."],
    );
    fails(
        &["compare", "sample:lenet", "--strategy", "log"],
        "the source carries no offsets",
    );
}
