//! One verdict: `compare` in every form, the report, `recommend` and the sweep name the same policy, which is the one
//! that the written rule selects.

use std::path::Path;
use std::sync::Arc;

use highwater::analysis::sweep::{Goal, SweepPoint, recommend, recommend_from};
use highwater::analysis::{Comparison, Configuration, LaneGoal, Recommended, Request, compare};
use highwater::diagnostics::Diagnostics;
use highwater::export::{Answer as _, CompareAnswer, ExportForm, ExportSubject};
use highwater::options::keys;
use highwater::progress::{Cancel, Progress};
use highwater::session::{Document, Origin, export_about};
use highwater::sim::{RegionKind, StaticMemoryPolicy};
use highwater::timeline::{AxisKind, Coloring, ColoringRequest, Timeline};
use highwater::units::Bytes;
use highwater::workload::{Source, Workload};
use proptest::prelude::*;
use serde_json::Value as Json;

use super::{explore, explorer};

/// Sizes of the tensors of a chain in KiB, and whether it is trained.
type Chain = (Vec<u64>, bool);

fn graph(name: &str, (sizes, is_trained): &Chain) -> Workload {
    let row = |(position, kib): (usize, &u64)| {
        let before = if position == 0 {
            "x".to_owned()
        } else {
            format!("t{}", position - 1)
        };
        let phase = if *is_trained && position * 2 > sizes.len() {
            "backward"
        } else {
            "forward"
        };
        format!(
            r#"{{"name":"op{position}","op":"MatMul","inputs":["{before}"],"phase":"{phase}","outputs":[{{"id":"t{position}","shape":["batch",{}],"dtype":"float32"}}]}}"#,
            kib * 256
        )
    };
    let nodes: Vec<String> = sizes.iter().enumerate().map(row).collect();
    let last = sizes.len() - 1;
    let text = format!(
        r#"{{"highwater_graph":1,"inputs":[{{"id":"x","shape":["batch",64],"dtype":"float32"}}],"outputs":["t{last}"],"nodes":[{}]}}"#,
        nodes.join(",")
    );
    crate::workloads::workload(name, text.as_bytes())
}

fn request(chains: &[Chain], batches: Vec<u64>, policy: u8) -> Request {
    let entries = chains.iter().enumerate();
    let entries = entries.flat_map(|(position, chain)| graph(&format!("graph{position}"), chain).graphs().to_vec());
    let workload = Workload::new("session".to_owned(), Source::Graphs(entries.collect()));
    let mut request = Request::new(workload, Configuration::default());
    request.plan.iterations = 2;
    request.plan.dims.insert("batch".to_owned(), batches);
    request
        .options
        .set_text(keys::STATIC_MEMORY_POLICY, &policy.to_string())
        .unwrap();
    request
}

fn compared(request: &Request) -> Comparison {
    compare(request, &Progress::silent(&Cancel::new())).unwrap()
}

/// The rule, over the lanes of the answer.
fn selected(comparison: &Comparison, goal: LaneGoal) -> Option<(u8, Vec<u8>)> {
    let lanes = comparison
        .lanes
        .iter()
        .filter(|lane| !lane.ends_early() && lane.forbidden.is_empty());
    let rows: Vec<(u8, u64, u64)> = lanes
        .map(|lane| {
            let summary = &lane.summary;
            (
                lane.policy.number(),
                summary.peak_reserved.get(),
                summary.estimated_overhead.0,
            )
        })
        .collect();
    let granule = if rows.iter().any(|row| row.0 > 2) {
        8 << 20
    } else {
        2 << 20
    };
    let tolerance = |lowest: u64| (lowest / 200).max(granule).min(lowest / 20);
    let near = |of: fn(&(u8, u64, u64)) -> u64, tolerance: &dyn Fn(u64) -> u64, rows: Vec<(u8, u64, u64)>| {
        let lowest = rows.iter().map(of).min().unwrap_or_default();
        rows.into_iter()
            .filter(|row| of(row) <= lowest + tolerance(lowest))
            .collect::<Vec<_>>()
    };
    let by_peak = |rows| near(|row| row.1, &tolerance, rows);
    let by_time = |rows| near(|row| row.2, &|least| (least / 100).max(100_000), rows);
    let left = match goal {
        LaneGoal::LeastOverhead => by_peak(by_time(rows.clone())),
        LaneGoal::LowestPeak => by_time(by_peak(rows.clone())),
    };
    let is_active = |row: &&(u8, u64, u64)| row.0 == comparison.active_policy.number();
    let chosen = left
        .iter()
        .find(is_active)
        .or(left.iter().min_by_key(|row| (row.1, row.0)))?;
    // The active policy stays where the change makes no significant difference.
    let stays = rows.iter().find(is_active).filter(|row| {
        let is_near = row.1.abs_diff(chosen.1) <= tolerance(row.1.min(chosen.1));
        is_near && row.2 <= chosen.2 + (row.2.min(chosen.2) / 100).max(100_000)
    });
    let chosen = stays.unwrap_or(chosen);
    let apart = |row: &(u8, u64, u64)| (row.1.abs_diff(chosen.1), tolerance(row.1.min(chosen.1)));
    let equivalent = rows
        .iter()
        .filter(|row| row.0 != chosen.0 && apart(row).0 <= apart(row).1);
    Some((chosen.0, equivalent.map(|row| row.0).collect()))
}

fn numbers(recommended: &Recommended) -> (u8, Vec<u8>) {
    let equivalent = recommended.equivalent.iter().map(|policy| policy.number());
    (recommended.policy.number(), equivalent.collect())
}

/// Every form that shows a recommendation shows this one.
fn is_shown_everywhere(request: &Request, comparison: &Arc<Comparison>, goal: LaneGoal) {
    let found = comparison.recommended(goal);
    let options = request.configuration();
    let import = Diagnostics::new();
    let answer = CompareAnswer {
        most: Some(1),
        ..CompareAnswer::new(comparison, goal, &[], &import, &options)
    };
    let json = serde_json::to_value(answer.json()).unwrap();
    let lane = found.map_or(Json::Null, |one| one.policy.number().into());
    assert_eq!(json.pointer("/recommended/lane").cloned().unwrap_or_default(), lane);
    let markdown = answer.comment().markdown();
    let plain = answer.page().text();
    let words = found.map(Recommended::text);
    assert_eq!(markdown.contains("Recommended"), words.is_some());
    let progress = Cancel::new();
    let progress = Progress::silent(&progress);
    let document = Document {
        goal,
        options: request.options.clone(),
        plan: request.plan.clone(),
        ..Document::new(Vec::new())
    };
    let line = highwater::session::CommandLine::new(&document, Origin::default());
    let timeline = Arc::new(Timeline::new(comparison));
    let subject = ExportSubject {
        look: Arc::new(Coloring::new(comparison, &timeline, &ColoringRequest::default(), None)),
        comparison: Arc::clone(comparison),
        timeline,
        lanes: None,
        axis: AxisKind::Order,
        about: export_about(&document, &line, comparison, None, Vec::new(), Diagnostics::new()),
    };
    let report = subject
        .file(ExportForm::Report, Path::new("report.html"), &progress)
        .unwrap();
    let report = String::from_utf8(report).unwrap();
    for text in [&markdown, &report, &plain] {
        if let Some(words) = &words {
            let shown = words.replace('&', "&amp;").replace('<', "&lt;");
            assert!(text.contains(words) || text.contains(&shown), "{words}");
        }
    }
}

fn chain() -> impl Strategy<Value = Chain> {
    (prop::collection::vec(1..4_000_u64, 2..7), any::<bool>())
}

/// Whether all parts of the program recommend one policy, the one of the rule.
fn all_agree(chains: &[Chain], batches: Vec<u64>, policy: u8, share: u64) {
    let mut request = request(chains, batches, policy);
    let peak = compared(&request).lanes[0].summary.peak_reserved;
    let memory = Bytes(peak.get() / 100 * share).max(Bytes::mib(1));
    request
        .options
        .set_text(keys::DEVICE_MEMORY, &memory.get().to_string())
        .unwrap();
    request.device = highwater::options::resolve_device(&request.options).unwrap();
    let comparison = Arc::new(compared(&request));
    let explorer = explorer(&request, &["policy=0,2,3,4"]);
    let points = explore(&explorer);
    for goal in LaneGoal::ALL {
        let found = comparison.recommended(goal);
        assert_eq!(found.map(numbers), selected(&comparison, goal));
        let cancel = Cancel::new();
        let silent = Progress::silent(&cancel);
        let whole = recommend(&explorer, Goal::Lane(goal), 100, &mut |_: &SweepPoint| {}, &silent).unwrap();
        let swept = recommend_from(&explorer, Goal::Lane(goal), points.clone(), &silent).unwrap();
        let policy = |chosen: &Option<highwater::analysis::sweep::Chosen>| chosen.as_ref().map(|one| one.point.policy);
        for found_by in [&whole, &swept] {
            assert_eq!(policy(&found_by.winner), found.map(|one| one.policy));
            assert_eq!(policy(&found_by.runner_up), found.and_then(|one| one.runner_up));
        }
        if let Some(found) = found {
            let lane = comparison.lane(found.policy).unwrap();
            assert!(!lane.ends_early() && lane.forbidden.is_empty());
            let active = comparison.active_policy;
            // No change is advised where it makes no significant difference.
            let is_needless = found.policy != active && found.equivalent.contains(&active);
            let costs = comparison.lane(active).map(|lane| lane.summary.estimated_overhead);
            assert!(!is_needless || costs > Some(lane.summary.estimated_overhead));
        }
        is_shown_everywhere(&request, &comparison, goal);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_part_of_the_program_recommends_the_same_policy(
        chains in prop::collection::vec(chain(), 1..4),
        batches in prop::collection::vec(1..6_u64, 1..3),
        policy in prop::sample::select(vec![0_u8, 2, 3, 4]),
        share in 40..140_u64,
    ) {
        all_agree(&chains, batches, policy, share);
    }
}

/// On three pages a graph of four is loaded: one of its blocks keeps the mapping of a page that serves another by then.
#[test]
fn a_graph_whose_pages_serve_another_does_not_run() {
    let chains = [
        vec![1564, 1008, 556, 1992, 3492],
        vec![1810, 1747, 2619],
        vec![1, 1483, 650],
    ];
    let mut request = request(&chains.map(|sizes| (sizes, false)), vec![4], 4);
    request.options.set_text(keys::PRECISION_MODE, "force_fp16").unwrap();
    request.options.set_text(keys::DEVICE_MEMORY, "25166200").unwrap();
    request.device = highwater::options::resolve_device(&request.options).unwrap();
    // Debug builds verify every lane.
    let comparison = compared(&request);
    let lane = comparison.lane(StaticMemoryPolicy::FullExtend).unwrap();
    let failure = lane.simulation.out_of_memory.as_ref().unwrap();
    assert_eq!(failure.step.0, 5);
}

/// Two policies with one peak and one overhead, and other counts of device calls.
#[test]
fn the_runner_up_has_another_peak_or_overhead() {
    let chains = [vec![2880, 1024], vec![1, 3071], vec![3072, 2880, 2048]];
    all_agree(&chains.map(|sizes| (sizes, false)), vec![2], 0, 85);
}

#[test]
fn the_why_has_a_counted_figure() {
    let train: Chain = (vec![3_000, 2_000, 3_000, 1_000], true);
    let evaluate: Chain = (vec![3_000, 2_000], false);
    let request = request(&[train, evaluate], vec![8], 0);
    let comparison = compared(&request);
    let found = comparison.recommended(LaneGoal::LeastOverhead).unwrap();
    assert_eq!(found.policy, StaticMemoryPolicy::StaticExtend);
    assert!(found.why.starts_with("static graphs share an arena: "), "{}", found.why);
    // The bytes of the arenas are those of the explanations.
    let lane = comparison.lane(found.policy).unwrap();
    let shared = found
        .why
        .split([':', ','])
        .nth(1)
        .unwrap()
        .trim()
        .strip_suffix(" at the peak")
        .unwrap();
    let is_explained = |text: &str| text.starts_with("The shared arena is ") && text.contains(shared);
    assert!(
        lane.explanation.iter().any(|remark| is_explained(&remark.text)),
        "{shared}"
    );
    let own = comparison.lane(StaticMemoryPolicy::Dynamic).unwrap();
    let step = own.summary.peak_reserved_step.unwrap();
    let regions = highwater::sim::picture(&own.simulation, step).regions;
    let arenas = regions.iter().filter(|region| region.kind == RegionKind::Arena);
    let sum: Bytes = arenas.map(|region| region.held).sum();
    assert!(
        found.why.ends_with(&format!(", {sum} under policy 0")),
        "{sum}: {}",
        found.why
    );
}
