//! Whole stories out of short logs.

use super::*;
use highwater_model::progress::Cancel;
use highwater_model::workload::{LogLevel, LoggedEventKind, LoggedProcess, PolicyFrom};

pub(super) fn told(text: &str) -> Vec<Arc<LoggedProcess>> {
    let mut input = Input::from_bytes("plog", text.as_bytes()).expect("memory");
    assert!(detect(&input), "{text}");
    let cancel = Cancel::new();
    let source = import(&mut input, &Progress::silent(&cancel), &mut Diagnostics::new()).expect("a log");
    of_source(&source)
}

fn of_source(source: &Source) -> Vec<Arc<LoggedProcess>> {
    let Source::Recordings(recordings) = source else {
        panic!("recordings")
    };
    for recording in recordings {
        assert_eq!(recording.check(), Ok(()));
    }
    let processes = recordings.iter().map(|one| one.process.clone().expect("a process"));
    processes.collect()
}

/// A record of the process 7 at a time of one minute.
fn record(second: &str, text: &str) -> String {
    format!("[INFO] GE(7,python3):2026-07-13-08:00:{second} [a.cc:1]9 F:{text}\n")
}

fn run(prefix: &str) -> String {
    [
        ("01.000.000", "PreRun start: graph node size 2, session id 0, graph id 11, graph name g_11."),
        (
            "01.000.100",
            "[IMAS]AfterAssignMemory : g_11_11 memoffset[96], memtype[2], theory_min[80], zero_copy[16], total_size[99], \
             no_reuse[16], streams[1], topo_mode[BFS], mop[], io_reuse[0:0], alloc_mode[], smp[0]",
        ),
        ("01.000.200", "[IMAS]InitFeatureMapAndP2PMem graph_11 MallocMemory type[F] memaddr[0x1] mem_size[96]Bytes"),
        ("02.000.000", "graph id[11] need to unload other models, if have any, release_all[0], is_enough[0]"),
    ]
    .map(|(second, text)| format!("{prefix}{}", record(second, text)))
    .concat()
}

#[test]
fn a_run_log_alone_tells_arenas_and_policy() {
    let processes = told(&run(""));
    let process = &processes[0];
    assert_eq!((process.pid, process.level), (Some(7), LogLevel::Default));
    assert_eq!(process.policy, Some((0, PolicyFrom::Summary)));
    assert_eq!(
        (process.graphs[0].arena, process.graphs[0].plan.as_deref()),
        (Some(80), None)
    );
    let event = process.events[0];
    assert_eq!(
        (event.kind, event.feature_map, event.weights),
        (LoggedEventKind::Load, Some(96), None)
    );
    assert_eq!((event.reserved, process.reserved_peak), (None, None));
}

#[test]
fn printed_again_behind_a_path_it_counts_once() {
    let text = format!("{}\n{}", run("ascend/log/run/plog/plog-7_1.log:4:"), run(""));
    let processes = told(&text);
    assert_eq!(
        (processes.len(), processes[0].repeated, processes[0].events.len()),
        (1, 4, 1)
    );
    assert_eq!(processes[0].name.as_deref(), Some("python3"));
}

#[test]
fn run_and_debug_log_are_one_story() {
    let debug = record(
        "01.000.150",
        "[IMAS]Set g_11_11 name[a] optype[T] output[0] offset to [0] streamid[0] memtype[2] size[64] realsize[64] \
         noalignsize[32] life time begin[1] life time end[2] child[0:0:0:0:1] isref[0]",
    ) + &run("").replace("01.000.100", "01.000.107");
    let files = [
        Text("x/debug/plog/plog-7.log".to_owned(), debug),
        Text("x/run/plog/plog-7.log".to_owned(), run("")),
    ];
    for order in [[0, 1], [1, 0]] {
        let list: Vec<&dyn LogFile> = order.iter().map(|file| &files[*file] as &dyn LogFile).collect();
        let cancel = Cancel::new();
        let source = import_files(&list, &Progress::silent(&cancel), &mut Diagnostics::new());
        let processes = of_source(&source.expect("a log"));
        assert_eq!((processes[0].repeated, processes[0].level), (4, LogLevel::Info));
        assert_eq!((processes[0].plans["g_11_11"].len(), processes[0].events.len()), (1, 1));
    }
}

struct Text(String, String);

impl LogFile for Text {
    fn path(&self) -> &str {
        &self.0
    }

    fn read(&self, take: &mut dyn FnMut(&mut Input<'_>) -> Result<(), ImportError>) -> Result<(), ImportError> {
        take(&mut Input::from_bytes("plog", self.1.as_bytes())?)
    }
}

#[test]
fn terminal_text_has_a_process_where_it_names_one() {
    let text = "(Worker pid=1070) ERROR 07-12 23:38:48 [x.py:932] torch.OutOfMemoryError: NPU out of memory. Tried to allocate \
                1.19 GiB (NPU 0; 60.97 GiB total capacity; 57.42 GiB already allocated; 57.42 GiB current active; 412.50 MiB free; \
                58.11 GiB reserved in total by PyTorch).If x\n\
                [rank3]: RuntimeError: NPU out of memory. Tried to allocate 3.00 GiB (NPU 3; 60.96 GiB total capacity; 4.24 GiB \
                already allocated; 4.24 GiB current active; 7.47 MiB free; 4.31 GiB reserved in total by PyTorch) If x\n\
                RuntimeError: NPU out of memory. device id: 4\n\
                [PID: 1079] 2026-07-12-23:42:40.002.711 X(EL0019): Failed to allocate 3221291008 bytes device memory requested by the \
                GE module.\n        Solution: none\n        Call aclrtMalloc fail, purpose: page caching, type = 2, size:3221291008, \
                device_id:3[FUNC:A]\n";
    let processes = told(text);
    let pids: Vec<_> = processes
        .iter()
        .map(|one| (one.pid, one.failures.len(), one.device))
        .collect();
    assert_eq!(
        pids,
        [(Some(1070), 1, Some(0)), (None, 1, Some(4)), (Some(1079), 1, Some(3))]
    );
    let joined = &processes[2].failures[0];
    assert_eq!(
        (joined.requested, joined.who.as_deref()),
        (Some(3_221_291_008), Some("torch"))
    );
    assert_eq!(joined.free, Some(7_832_863));
    assert_eq!(processes[2].level, LogLevel::Terminal);
}

#[test]
fn a_sentence_and_the_code_below_it_are_one_request() {
    let text = "(Worker pid=7) ERROR torch.OutOfMemoryError: NPU out of memory. Tried to allocate 1.19 GiB (NPU 0; 60.97 GiB total \
                capacity; 57.42 GiB already allocated; 57.42 GiB current active; 412.50 MiB free; 58.11 GiB reserved in total by \
                PyTorch).If x\n\
                (Worker pid=7) ERROR [ERROR] 2026-07-12-23:40:02 (PID:7, Device:0, RankID:0) ERR00100 PTA call acl api failed\n\
                (Worker pid=7) ERROR EL0004: [PID: 7] 2026-07-12-23:40:02.155.290 Failed to allocate memory.\n";
    let processes = told(text);
    assert_eq!((processes.len(), processes[0].failures.len()), (1, 1));
    assert_eq!(processes[0].failures[0].requested, Some(1_277_752_771));
}

#[test]
fn other_text_is_no_log() {
    for text in [
        "2026-07-13 08:00:00 INFO started\n",
        "[INFO] GE started\n",
        "a,b,c\n1,2,3\n",
        "raise RuntimeError(f\"NPU out of memory. Tried to allocate {size}\")\n",
        "",
    ] {
        let input = Input::from_bytes("x.log", text.as_bytes()).expect("memory");
        assert!(!detect(&input), "{text}");
    }
}

#[test]
fn the_graph_of_a_request_is_the_last_compiled_one_by_time() {
    let compile = |second: &str, id: u64| {
        let text = format!("PreRun start: graph node size 2, session id 0, graph id {id}, graph name g_{id}.");
        record(second, &text)
    };
    let text =
        "[drv api] halMemAlloc failed:size=4096(bytes), type=2, moduleId=45, drvFlag=1, drvRetCode=6, device_id=0";
    let failure = record("03.000.000", text).replace("[INFO] GE", "[ERROR] RUNTIME");
    let lines = [
        compile("01.000.000", 11),
        compile("02.000.000", 21),
        compile("04.000.000", 31),
        failure,
    ];
    // A debug log before the run log, as `cat log/*/plog/*.log` joins them, and the other way round.
    for order in [[3, 0, 1, 2], [0, 1, 2, 3], [0, 1, 3, 2]] {
        let processes = told(&order.map(|line| lines[line].as_str()).concat());
        assert_eq!(processes[0].failures[0].graph, Some(21), "{order:?}");
    }
}
