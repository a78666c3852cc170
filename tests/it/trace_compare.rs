//! Allocation traces as comparisons: a lane per policy, names, rejections, settings, views, the command line.

mod random;
mod recorded;

use std::sync::Arc;

use expect_test::expect;
use highwater::analysis::{AnalysisError, Comparison, LaneId, Request, compare};
use highwater::graph::TensorId;
use highwater::progress::{Cancel, Progress};
use highwater::sim::replay::{Replay, ReplayRules};
use highwater::sim::{EventKind, RegionKind, Subject, verify_log};
use highwater::timeline::{Selected, Timeline, facts, step_facts, tensor_name};
use highwater::units::Step;
use highwater::workload::{AllocationTrace, GraphIdx, Source, Workload};

use crate::cli::{json, run};
use crate::replay::trace;
use crate::workloads::configuration;

const MIB: u64 = 1 << 20;

fn request(trace: &Arc<AllocationTrace>, settings: &[(&str, &str)]) -> Request {
    let workload = Workload::new(trace.name.clone(), Source::Traces(vec![Arc::clone(trace)]));
    Request {
        search: 1.into(),
        ..Request::new(workload, configuration(settings, &[]))
    }
}

/// The comparison of a trace, with all invariants checked.
#[track_caller]
fn compared(trace: &Arc<AllocationTrace>, settings: &[(&str, &str)]) -> Comparison {
    let request = request(trace, settings);
    assert!(!request.has_search());
    let comparison = compare(&request, &Progress::silent(&Cancel::new())).unwrap();
    let documented = settings.contains(&("simulation.policy_2_behaviour", "documented"));
    assert_eq!(comparison.lanes.len(), 4);
    for lane in &comparison.lanes {
        let number = lane.policy.number();
        assert_eq!(lane.id, LaneId::Policy(lane.policy));
        assert_eq!(
            verify_log(&lane.simulation),
            Ok(()),
            "policy {number} of {}",
            trace.name
        );
        let rules = ReplayRules {
            is_documented: documented && number == 2,
            ..ReplayRules::new(trace, lane.policy, Some(comparison.device.memory()))
        };
        let summary = Replay::new(trace, rules)
            .run(&Progress::silent(&Cancel::new()))
            .unwrap();
        assert_eq!(
            lane.summary.peak_reserved, summary.peak_reserved,
            "policy {number} of {}",
            trace.name
        );
        let last = lane.curves.reserved.last().copied().unwrap_or_default();
        assert!(last >= summary.reserved, "policy {number}");
        assert_eq!(lane.refusals.map_or(0, |refusals| refusals.count), summary.failed);
        assert_eq!(lane.refusals.map(|refusals| refusals.first.0), summary.first_failure);
        assert!(!lane.summary.out_of_memory);
        assert_eq!(lane.curves.reserved.len(), trace.commands.len());
    }
    comparison
}

/// The comparison of a text whose threshold a plain replay does not know.
fn compared_freely(text: &str, settings: &[(&str, &str)]) -> Comparison {
    compare(&request(&trace(text), settings), &Progress::silent(&Cancel::new())).unwrap()
}

/// Peaks of policies 0, 2, 3 and 4 in MiB.
fn peaks(text: &str, settings: &[(&str, &str)]) -> [u64; 4] {
    let comparison = compared(&trace(text), settings);
    let peak = |position: usize| comparison.lanes[position].summary.peak_reserved.get() / MIB;
    [peak(0), peak(1), peak(2), peak(3)]
}

const GROW_SHRINK: &str = "load A 100M\nexec A\nload B 300M\nexec B\nload C 200M\nexec C\n";

#[test]
fn policies_differ_as_worked_out_by_hand() {
    let documented = [("simulation.policy_2_behaviour", "documented")];
    assert_eq!(peaks(GROW_SHRINK, &[]), [600, 400, 600, 304]);
    assert_eq!(peaks(GROW_SHRINK, &documented), [600, 300, 600, 304]);
    let segments = GROW_SHRINK.replace("load B 300M", "load B 200M 100M");
    assert_eq!(peaks(&segments, &[]), [600, 300, 600, 304]);
    let pools = "a x 3M\na y 20M\nf x\na z 2M\nuse 1\na u 40M\nf u\ndestroy 1\nuse 0\na v 30M\n";
    let [zero, two, three, four] = peaks(pools, &[]);
    assert_eq!((zero, three), (two, four));
    assert_eq!(
        peaks("w W 10M\nfixed A 5M\nfixed B 9M\nunfixed A\nunfixed B\nwf W\n", &[])[1],
        20
    );
    assert_eq!(peaks("# nothing\nend_iteration 1\n", &[]), [0; 4]);
}

#[test]
fn static_graphs_hold_their_block_or_the_arena_while_they_run() {
    let comparison = compared(&trace(GROW_SHRINK), &[]);
    let stays = |position: usize| -> Vec<(u32, u32, u32)> {
        let lane = &comparison.lanes[position].simulation;
        let of_tensor = |block: &highwater::sim::fold::Block| match lane.subject(block.subject).subject {
            Subject::Tensor { tensor, .. } => Some((tensor.0, block.start.0, block.end.0)),
            _ => None,
        };
        highwater::sim::fold::blocks(lane)
            .iter()
            .filter_map(of_tensor)
            .collect()
    };
    assert_eq!(stays(0), [(0, 0, 6), (1, 2, 6), (2, 4, 6)]);
    assert_eq!(stays(1), [(0, 1, 1), (1, 3, 3), (2, 5, 5)]);
    let text = "load A 100M\nbegin A\nload B 90M\nbegin B\nfinish B\nfinish A\nunload A\nunload B\n";
    let documented = [("simulation.policy_2_behaviour", "documented")];
    for settings in [&[][..], &documented] {
        let comparison = compared(&trace(text), settings);
        let live: Vec<u64> = comparison.lanes[1]
            .curves
            .live
            .iter()
            .map(|live| live.get() / MIB)
            .collect();
        // Of two graphs that run in the same bytes the later one is shown.
        assert_eq!(live, [0, 100, 100, 90, 0, 0, 0, 0]);
    }
}

#[test]
fn pages_that_a_graph_takes_along_are_no_longer_held_by_others() {
    // An unload before the first run gives back the pages of the other graph, which runs or waits for its first run.
    for text in [
        "load A 2166K:g\nload B 14219K\nload C 1K 2K 14216K\nbegin B\nunload C\na x 8129K\n",
        "load A 18762K:g\nload B 16385K\nunload B\na x 5761K\nexec A\n",
        // The first block shares a page with the second, whose run gives it back.
        "load A 1K\nload B 22089K\nload C 16384K\nunload B\nbegin A\nexec C\na x 0K\nload D 1K\n",
    ] {
        let text = format!("device 40M\n{text}");
        // The log is verified: no two blocks overlap.
        let comparison = compared(&trace(&text), &[]);
        assert_eq!(comparison.lanes.len(), 4);
    }
}

#[test]
fn a_running_graph_is_let_go_where_the_documented_arena_moves() {
    let text = "load A 10M\nbegin A\nload B 30M\nexec A\nfinish A\nexec A\nload C 20M\nexec C\n";
    let comparison = compared(&trace(text), &[("simulation.policy_2_behaviour", "documented")]);
    let lane = &comparison.lanes[1];
    let kinds = |kind: EventKind| lane.simulation.events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((kinds(EventKind::Reallocate), kinds(EventKind::Reuse)), (1, 1));
    assert_eq!(lane.summary.reallocations, 1);
}

#[test]
fn requests_have_the_names_of_the_file() {
    let text = "use 7\na x 3M\nload A 10M 20M:n\nw W 4M\nfixed A 2M\nexec A\nf x\n";
    let comparison = compared(&trace(text), &[]);
    let names = comparison.study().graph_names(&comparison);
    assert_eq!(names, ["pool 7", "graph A"]);
    let selected = |tensor: u32| Selected {
        run: 0,
        graph: GraphIdx(0),
        tensor: TensorId(tensor),
    };
    let found: Vec<(String, String, u64)> = (0..4)
        .map(|tensor| {
            let facts = facts(&comparison, selected(tensor));
            (facts.name, facts.graph, facts.bytes.unwrap().get() / MIB)
        })
        .collect();
    let row = |name: &str, graph: &str, mib: u64| (name.to_owned(), graph.to_owned(), mib);
    let expected = [
        row("x", "pool 7", 3),
        row("load A", "graph A", 10),
        row("w W", "small.trace", 4),
        row("fixed A", "graph A", 2),
    ];
    assert_eq!(found, expected);
    assert_eq!(tensor_name(&comparison, selected(1)), "A");
    assert_eq!(tensor_name(&comparison, selected(9)), "");
    assert_eq!(step_facts(&comparison, Step(5)).unwrap().op_text(), "exec A");
    let zero = &comparison.lanes[0];
    let kinds: Vec<RegionKind> = zero.simulation.regions.iter().map(|region| region.kind).collect();
    for kind in [
        RegionKind::PoolBlock,
        RegionKind::Arena,
        RegionKind::Weights,
        RegionKind::FixedFeatures,
    ] {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
    let expandable = &comparison.lanes[2].simulation.regions;
    assert!(
        expandable
            .iter()
            .any(|region| region.kind == RegionKind::PagedRange && region.graph == Some(GraphIdx(1)))
    );
}

#[test]
fn rejected_requests_are_reported_and_the_trace_continues() {
    let text = "device 64M\na x 40M\na y 40M\na z 4M\nload A 90M\nexec A\n";
    let comparison = compared(&trace(text), &[]);
    assert_eq!(comparison.device.memory().get(), 64 * MIB);
    let lane = &comparison.lanes[0];
    let refusals = lane.refusals.unwrap();
    assert_eq!((refusals.count, refusals.first), (2, Step(1)));
    assert_eq!(
        comparison.refusal_text(lane).unwrap(),
        "policy 0 refuses 2 requests, the first is line 3: a y"
    );
    assert_eq!(lane.simulation.out_of_memory, None);
    assert!(
        lane.explanation[0].text.starts_with("2 of the requests are refused"),
        "{:?}",
        lane.explanation
    );
    assert_eq!(comparison.lowest_peak, None);
    assert!(
        comparison
            .diagnostics
            .entries()
            .iter()
            .any(|entry| entry.message.contains("policy 4 refuses"))
    );
    let larger = compared(&trace(text), &[("simulation.device_memory", "1GiB")]);
    assert_eq!(larger.device.memory().get(), 1 << 30);
    assert!(larger.lanes.iter().all(|lane| lane.refusals.is_none()));
    assert!(larger.lowest_peak.is_some() && larger.diagnostics.entries().is_empty());
    let profile = compared(&trace("a x 1M\n"), &[]);
    assert!(profile.device.memory().get() > 1 << 34);
}

#[test]
fn settings_without_effect_are_reported_once() {
    let settings = [("external_weight", "True"), ("memory_config.static_memory_policy", "4")];
    let comparison = compared(&trace(GROW_SHRINK), &settings);
    assert_eq!(comparison.active_policy.number(), 4);
    let entries = comparison.diagnostics.entries();
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert!(entries[0].message.contains("external_weight") && !entries[0].message.contains("static_memory_policy"));
    let best = comparison.lowest_peak.unwrap();
    assert_eq!(best.policy.number(), 4);
    let text = "a x 900M\na y 900M\nf x\na z 700M\n";
    let of_options = compared_freely(text, &[("ge.experiment.memory_pool_threshold", "1")]);
    let of_trace = compared_freely(&format!("threshold_gb 1\n{text}"), &[]);
    for (one, other) in of_options.lanes.iter().zip(&of_trace.lanes) {
        assert_eq!(one.simulation, other.simulation);
    }
}

#[test]
fn too_long_a_trace_is_refused_in_a_sentence() {
    let mut long = (*trace("sync\n")).clone();
    long.commands = vec![long.commands[0]; 2_000_001];
    let error = compare(&request(&Arc::new(long), &[]), &Progress::silent(&Cancel::new())).unwrap_err();
    assert!(matches!(error, AnalysisError::TraceTooLong { .. }), "{error}");
    assert!(error.to_string().contains("2000001 commands") && error.to_string().contains("highwater replay"));
}

#[test]
fn the_views_show_a_trace() {
    let text = "a x 3M\nload A 10M\nexec A\na y 9M\nf x\na z 2M\nunload A\nf y\n";
    let comparison = compared(&trace(text), &[]);
    let timeline = Timeline::new(&comparison);
    assert_eq!(timeline.rows.len(), 4);
    assert_eq!(timeline.bands.runs[0].label, "small.trace");
    let labels: Vec<&str> = timeline.lanes[3].regions.iter().map(|region| &*region.label).collect();
    assert!(
        labels.contains(&"paged range of pool 0") && labels.contains(&"shared arena"),
        "{labels:?}"
    );
    let labels: Vec<&str> = timeline.lanes[0].regions.iter().map(|region| &*region.label).collect();
    assert!(labels.contains(&"arena of graph A"), "{labels:?}");
    expect![[r"
        peak 22.00 MiB at step 3
        |      cccccccc::|
        |      cccccccc::|
        |      cccccccc::|
        |      cccccccc::|
        |  bbbbcccccccc::|
        |  bbbbbbbbbb    |
        |  bbbbbbbbbb    |
        |  bbbbbbbbbb    |
        |  bbbbbbbbbb    |
        |  bbbbbbbbbb    |
        |aaaaaaaabbdddddd|
        |aaaaaaaa::dddddd|
    "]]
    .assert_eq(&timeline.lanes[0].ascii(16, 12));
    let texts: Vec<&str> = comparison.lanes[3]
        .explanation
        .iter()
        .map(|remark| remark.text.as_str())
        .collect();
    expect![[r#"
        The peak, 24.00 MiB, is reached at step 1 (line 2: load A): 24.00 MiB of feature memory.
        Static graphs hold pages only while they run; their range maps 16.00 MiB, which other graphs use in between.
        Pool 0 reserves 8.000 MiB: 3.000 MiB in tensors, 5.000 MiB in unused parts of pages.
        3 physical pages (24.00 MiB) were reserved; tensors use 1 at that step.
        That is 2.000 MiB (9.1 %) more than policy 0: policy 4 does not save memory in this session.
        It first differs from policy 0 at step 0 (line 1: a x): here the device gives 1 page (8.000 MiB); under policy 0 it gives 3.000 MiB for the device's pool."#]].assert_eq(&texts.join("\n"));
}

#[test]
fn the_command_line_compares_traces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.trace");
    std::fs::write(&path, GROW_SHRINK.replace("load C 200M", "a y 2000M\nload C 200M")).unwrap();
    let path = path.to_string_lossy();
    let answer = json(&["compare", &path, "--format", "json", "--device-memory", "1GiB"], 0);
    assert_eq!(answer["workload"]["steps"], 7);
    assert_eq!(answer["workload"]["graphs"][1], "graph B");
    assert_eq!(answer["workload"]["runs"][0]["graph"], "small.trace");
    assert_eq!(answer["policies"][0]["peak_reserved_bytes"], 600 * MIB);
    assert_eq!(
        (
            &answer["policies"][1]["refused_requests"],
            &answer["policies"][1]["first_refused_step"]
        ),
        (&1.into(), &4.into())
    );
    let output = run(&["compare", &path, "--map", "--device-memory", "1GiB"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("trace of 7 commands; graph A, graph B, pool 0, graph C"),
        "{text}"
    );
    assert!(
        text.contains("policy 2 refuses a request: line 5: a y") && text.contains("1 request refused"),
        "{text}"
    );
    assert!(text.contains("policy 4\npeak"), "{text}");
    let only = json(&["compare", &path, "--format", "json", "--policies", "2"], 0);
    assert_eq!(only["policies"].as_array().unwrap().len(), 1);
}
