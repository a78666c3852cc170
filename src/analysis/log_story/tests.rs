//! Stories of made-up processes.

use super::*;
use crate::verdict::Served;
use highwater_model::workload::{
    DeviceFree, DriverRow, LogLevel, LogTime, LoggedEvent, LoggedEventKind, LoggedFailure, LoggedGraph, LoggedPlace,
    RefusedBy,
};

fn load(graph: u64, at: i64, feature_map: u64) -> LoggedEvent {
    LoggedEvent {
        kind: LoggedEventKind::Load,
        at: Some(LogTime(at)),
        graph: Some(graph),
        model: Some(graph + 100),
        feature_map: Some(feature_map),
        weights: Some(1 << 20),
        reserved: None,
        freed: None,
        shared: None,
        n_before: 0,
    }
}

fn gone(kind: LoggedEventKind, graph: u64, at: i64) -> LoggedEvent {
    LoggedEvent {
        kind,
        feature_map: None,
        weights: None,
        ..load(graph, at, 0)
    }
}

/// The engine's request for graph 21 at the time 100.
fn engine(requested: u64) -> LoggedFailure {
    LoggedFailure {
        at: Some(LogTime(100)),
        purpose: Some("feature map,used for op input and output".to_owned()),
        requested: Some(requested),
        who: Some("GE".to_owned()),
        graph: Some(21),
        ..LoggedFailure::default()
    }
}

fn graph(id: u64, total: u64) -> LoggedGraph {
    LoggedGraph {
        id,
        total: Some(total),
        ..LoggedGraph::default()
    }
}

/// Graph 11 of 3 GiB is loaded, and graph 21 of 2 GiB is not.
fn two_graphs(policy: Option<u64>) -> LoggedProcess {
    LoggedProcess {
        pid: Some(7),
        policy: policy.map(|policy| (policy, PolicyFrom::Summary)),
        graphs: vec![graph(11, 3 << 30), graph(21, 2 << 30)],
        events: vec![load(11, 1, 3 << 30)],
        failures: vec![engine(2 << 30)],
        ..LoggedProcess::default()
    }
}

fn story(process: LoggedProcess) -> LogStory {
    LogStory::new(&[Arc::new(process)])
}

/// The first action, with plain blanks.
fn action(process: LoggedProcess) -> String {
    let advice = story(process).advice.expect("advice");
    advice.action.replace('\u{a0}', " ")
}

fn reason(process: LoggedProcess) -> String {
    story(process).advice.expect("advice").reason.replace('\u{a0}', " ")
}

#[test]
fn graphs_that_do_not_share_are_told_to() {
    assert_eq!(action(two_graphs(Some(0))), "Set static_memory_policy=2");
    assert_eq!(action(two_graphs(Some(3))), "Set static_memory_policy=4");
    let words = reason(two_graphs(Some(0)));
    assert!(
        words.contains("graphs 11, 21 share one arena: at least 3.000 GiB instead of 5.000 GiB"),
        "{words}"
    );
    assert!(reason(two_graphs(None)).contains("does not tell the active policy"));
    let words = reason(two_graphs(Some(2)));
    assert_eq!(words, "static graphs share one arena already under policy 2");
}

#[test]
fn no_policy_helps_a_graph_that_is_alone() {
    for kind in [LoggedEventKind::Evict, LoggedEventKind::Unload] {
        let mut process = two_graphs(Some(0));
        process.events.push(gone(kind, 11, 50));
        assert_eq!(action(process.clone()), "Reduce the batch or shapes of graph 21");
        assert!(reason(process).starts_with("no policy helps: graph 21 alone needs 2.000 GiB"));
    }
    // What happens after the request does not count.
    let mut process = two_graphs(Some(0));
    process.events.push(gone(LoggedEventKind::Evict, 11, 101));
    assert_eq!(action(process), "Set static_memory_policy=2");
}

#[test]
fn evicted_graphs_are_wanted_and_unloaded_ones_are_not() {
    let needs = |kind: LoggedEventKind| {
        let mut process = two_graphs(Some(0));
        process.events.push(load(11, 2, 3 << 30));
        process.events.push(gone(kind, 11, 50));
        process.events.push(gone(kind, 11, 51));
        let story = story(process);
        let needs = &story.processes[0].needs;
        needs
            .iter()
            .map(|need| need.bytes.unwrap_or(0) >> 30)
            .collect::<Vec<u64>>()
    };
    assert_eq!(needs(LoggedEventKind::Evict), [8, 3, 8, 3]);
    assert_eq!(needs(LoggedEventKind::Unload), [6, 3, 6, 3]);
}

#[test]
fn memory_of_unknown_purpose_has_no_policy() {
    let mut process = two_graphs(Some(0));
    process.failures[0].purpose = None;
    // Its size tells that it is the feature map.
    assert_eq!(action(process.clone()), "Set static_memory_policy=2");
    process.failures[0].requested = Some(77);
    assert!(reason(process.clone()).starts_with("the log does not tell what the memory is for"));
    process.failures[0].purpose = Some("weights memory in inference network".to_owned());
    process.events.clear();
    assert_eq!(action(process), "Store the weights in a smaller type");
}

/// Without the graphs and the policy no one can tell that no policy helps.
#[test]
fn a_request_of_an_unknown_graph_has_no_sure_answer() {
    let served = |process: LoggedProcess| story(process).verdict.expect("an answer").served;
    let alone = LoggedProcess {
        failures: vec![LoggedFailure {
            graph: None,
            ..engine(12 << 30)
        }],
        ..LoggedProcess::default()
    };
    assert_eq!(served(alone.clone()), Served::Unknown);
    let mut of_graph = alone;
    of_graph.failures[0].graph = Some(21);
    assert_eq!(served(of_graph), Served::Unknown);
    let mut known = two_graphs(Some(0));
    known.events.clear();
    assert_eq!(served(known), Served::No);
    assert_eq!(served(two_graphs(Some(2))), Served::No);
}

/// Policies are of GE's graphs: a text of torch without any has no advice of them.
#[test]
fn a_framework_without_graphs_has_no_policy() {
    let mut process = LoggedProcess {
        failures: vec![LoggedFailure {
            purpose: Some("page caching".to_owned()),
            ..engine(1 << 30)
        }],
        ..LoggedProcess::default()
    };
    assert!(action(process.clone()).contains("static_memory_policy"));
    process.versions.insert("torch_npu".to_owned(), "2.5.1".to_owned());
    let told = format!("{:?}", story(process.clone()));
    assert!(!told.contains("static_memory_policy"), "{told}");
    process.events = vec![load(11, 1, 3 << 30)];
    assert!(action(process).contains("static_memory_policy"));
}

#[test]
fn pools_of_dynamic_graphs_have_a_policy_of_theirs() {
    let pool = |policy: Option<u64>| {
        let mut process = two_graphs(policy);
        process.failures[0].purpose = Some("page caching".to_owned());
        action(process)
    };
    assert_eq!(pool(Some(0)), "Set static_memory_policy=3");
    assert_eq!(pool(Some(2)), "Set static_memory_policy=4");
    assert_eq!(pool(Some(3)), "Reduce the batch or shapes of graph 21");
}

#[test]
fn a_check_states_its_limit() {
    let mut process = two_graphs(Some(0));
    process.failures[0].refused = RefusedBy::Check;
    process.failures[0].allowed = Some(1 << 30);
    let story = story(process);
    let request = &story.processes[0].requests[0];
    assert!(
        request.sentence.contains("refused by GE's check"),
        "{}",
        request.sentence
    );
    assert!(
        request
            .remarks
            .iter()
            .any(|remark| remark.starts_with("GE allows 1.000")),
        "{:?}",
        request.remarks
    );
}

fn torch(figures: [u64; 5]) -> LoggedProcess {
    let [requested, allocated, reserved, free, total] = figures.map(|mib| Some(mib << 20));
    LoggedProcess {
        failures: vec![LoggedFailure {
            requested,
            allocated,
            reserved,
            free,
            total,
            who: Some("torch".to_owned()),
            ..LoggedFailure::default()
        }],
        ..LoggedProcess::default()
    }
}

#[test]
fn settings_of_torch_follow_the_figures() {
    let expandable = "Set PYTORCH_NPU_ALLOC_CONF=expandable_segments:True";
    // Unused bytes, or these with free ones, suffice.
    assert_eq!(action(torch([500, 10_000, 11_000, 0, 12_000])), expandable);
    assert_eq!(action(torch([1500, 10_000, 11_000, 600, 12_000])), expandable);
    // Nothing is unused.
    assert_eq!(
        action(torch([1500, 29_000, 29_100, 600, 32_000])),
        "Reduce the batch, or recompute activations"
    );
    // Most of the device is outside the pool.
    assert_eq!(action(torch([500, 4000, 4100, 10, 32_000])), "Run npu-smi info");
    assert_eq!(action(torch([50, 4000, 4100, 10, 32_000])), "Run npu-smi info");
    // A limit counts like a device.
    let mut limited = torch([500, 10_000, 10_100, 9000, 32_000]);
    limited.failures[0].allowed = Some(10_200 << 20);
    assert_eq!(action(limited), "Raise per_process_memory_fraction");
    let refused = |refused: RefusedBy| {
        let mut process = torch([500, 10_000, 11_000, 0, 12_000]);
        process.failures[0].refused = refused;
        action(process)
    };
    assert_eq!(refused(RefusedBy::Fraction), "Raise per_process_memory_fraction");
    assert_eq!(refused(RefusedBy::Workspace), "Set TASK_QUEUE_ENABLE=1");
    let mut bare = torch([500, 0, 0, 0, 0]);
    bare.failures[0].reserved = None;
    assert_eq!(action(bare), "Add torch_npu's whole sentence");
}

#[test]
fn modules_are_summed_and_the_rest_is_of_no_module() {
    let row = |kind: &str, module: &str, bytes: Option<u64>| DriverRow {
        kind: kind.to_owned(),
        device: Some(0),
        module: module.to_owned(),
        at_failure: bytes,
        at_main_failure: bytes,
        current: bytes,
        peak: bytes,
    };
    let mut process = two_graphs(Some(0));
    process.device_total = Some(8 << 30);
    process.driver = vec![
        row("SMALL", "APP", Some(1 << 20)),
        row("HUGE", "APP", Some(2 << 30)),
        row("HUGE", "HCCL", None),
    ];
    let unsure = story(process.clone());
    let modules = &unsure.processes[0].modules;
    assert_eq!(
        (modules[0].at_failure, modules[1].at_failure),
        (Some((2 << 30) + (1 << 20)), None)
    );
    assert_eq!(unsure.processes[0].requests[0].allocated_by_modules, None);
    process.driver.pop();
    let story = story(process);
    let request = &story.processes[0].requests[0];
    assert_eq!(request.of_no_module, Some((6 << 30) - (1 << 20)));
    let words = request.remarks.join(" ");
    assert!(words.contains("yet the request failed"), "{words}");
    assert!(
        request.advice[1].action.starts_with("Reduce the 2.001"),
        "{:?}",
        request.advice
    );
}

#[test]
fn what_the_log_lacks_is_told_once() {
    let bare = LoggedProcess {
        level: LogLevel::Default,
        ..LoggedProcess::default()
    };
    let missing = LogStory::new(&[Arc::new(bare.clone()), Arc::new(bare)]).missing;
    assert_eq!(missing.len(), 2);
    assert!(missing[0].contains("~/ascend/log/run/plog"));
    assert!(missing[1].contains("ASCEND_MODULE_LOG_LEVEL=GE=1") && missing[1].contains("--log=info"));
    let run_log_alone = LoggedProcess {
        level: LogLevel::Default,
        device_total: Some(8 << 30),
        ..LoggedProcess::default()
    };
    assert!(story(run_log_alone).missing[0].contains("~/ascend/log/debug/plog"));
    let mut cut = two_graphs(Some(0));
    cut.level = LogLevel::Info;
    cut.graphs[0].plan = Some("g".to_owned());
    let place = LoggedPlace {
        offset: Some(0),
        block: Some(1 << 30),
        ..LoggedPlace::default()
    };
    cut.plans
        .insert("g".to_owned(), [("a:output:0".to_owned(), place)].into_iter().collect());
    let missing = story(cut).missing;
    assert!(
        missing[0].contains("2.000\u{a0}GiB of the plan of graph 11"),
        "{missing:?}"
    );
}

#[test]
fn inputs_and_outputs_can_be_the_memory_of_the_program() {
    let mut process = two_graphs(Some(2));
    process.graphs[1].zero_copy = Some(1 << 30);
    process.graphs[1].arena = Some(1 << 30);
    let request = |process: &LoggedProcess| story(process.clone()).processes[0].requests[0].clone();
    let is_told = |process: &LoggedProcess| {
        let settings: Vec<Option<String>> = request(process).advice.into_iter().map(|one| one.setting).collect();
        settings.contains(&Some("ge.exec.reuseZeroCopyMemory=1".to_owned()))
    };
    assert!(is_told(&process));
    // The request is without them already.
    process.failures[0].requested = Some(1 << 30);
    assert!(!is_told(&process));
    process.failures[0].requested = Some(2 << 30);
    process.graphs[1].zero_copy = Some(1 << 20);
    assert!(!is_told(&process));
}

#[test]
fn a_request_that_was_retried_is_not_what_a_process_failed_at() {
    let mut process = two_graphs(Some(2));
    let retried = LoggedFailure {
        was_retried: true,
        ..engine(7 << 30)
    };
    process.failures.insert(0, retried.clone());
    let both = story(process.clone());
    assert!(both.sentence.contains("2.000\u{a0}GiB"), "{}", both.sentence);
    let requests = &both.processes[0].requests;
    assert_eq!(requests[1].failure, retried);
    assert!(
        requests[1]
            .remarks
            .iter()
            .any(|remark| remark.contains("requested again"))
    );
    process.failures.truncate(1);
    assert!(
        story(process)
            .sentence
            .contains("the log shows no failure of that request")
    );
}

#[test]
fn free_memory_is_told_with_its_time() {
    let mut process = two_graphs(Some(0));
    process.device_free = Some(DeviceFree {
        at: Some(LogTime(90)),
        free: 1 << 30,
        total: Some(8 << 30),
    });
    let story = story(process);
    let words = story.processes[0].requests[0].remarks.join(" ").replace('\u{a0}', " ");
    assert!(
        words.contains("GE read 1.000 GiB of 8.000 GiB free at 0000-03-01"),
        "{words}"
    );
}

#[test]
fn the_sentence_is_of_the_request_with_most_figures() {
    let unknown = LoggedProcess {
        pid: Some(1),
        failures: vec![LoggedFailure {
            at: Some(LogTime(1)),
            who: Some("torch".to_owned()),
            ..LoggedFailure::default()
        }],
        ..LoggedProcess::default()
    };
    let known = torch([500, 10_000, 11_000, 0, 12_000]);
    let quiet = LoggedProcess::default();
    let story = LogStory::new(&[Arc::new(quiet), Arc::new(unknown), Arc::new(known)]);
    assert!(
        story.sentence.starts_with("torch did not get 500.0"),
        "{}",
        story.sentence
    );
    assert!(
        story.sentence.ends_with("1 other request failed, too."),
        "{}",
        story.sentence
    );
    assert!(story.processes[2].requests.is_empty());
}

#[test]
fn many_requests_are_counted() {
    let mut process = two_graphs(Some(0));
    process.failures = vec![engine(1); 1040];
    let story = story(process);
    assert_eq!(
        (story.processes[0].requests.len(), story.processes[0].n_more_requests),
        (1000, 40)
    );
    assert!(
        story.sentence.contains("other requests failed, too"),
        "{}",
        story.sentence
    );
}
