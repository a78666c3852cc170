//! Recommendations against brute force: every configuration compared separately, sorted by the written rule.

use std::path::PathBuf;
use std::sync::Arc;

use highwater::analysis::sweep::{Explorer, Goal, Link, Recommendation, Space, SweepPoint, recommend};
use highwater::analysis::{Configuration, LaneGoal, Request};
use highwater::progress::{Cancel, Progress};
use highwater::session::{OnFailure, SourceSpec, load};
use highwater::units::Bytes;

use super::{Plain, axes, explorer, plain, sampled, small, space};

fn recommended(explorer: &Explorer, goal: Goal, most: u64) -> Recommendation {
    let cancel = Cancel::new();
    recommend(
        explorer,
        goal,
        most,
        &mut |_: &SweepPoint| {},
        &Progress::silent(&cancel),
    )
    .unwrap()
}

/// A configuration that fits: its number, peak, overhead, and whether its policy takes pages.
#[derive(Clone, Copy, PartialEq)]
struct Row {
    idx: u64,
    peak: u64,
    overhead: u64,
    takes_pages: bool,
}

/// The rule of the goals, written for all pairs: a row is selected where no other one beats it.
fn select(space: &Space, goal: Goal, rows: &[Row]) -> Option<u64> {
    let value = |row: &Row| match goal {
        Goal::Lane(_) => 0,
        Goal::Largest(axis) => space.values(row.idx)[axis].as_int().unwrap(),
    };
    let largest = rows.iter().map(value).max()?;
    let rows: Vec<&Row> = rows.iter().filter(|row| value(row) == largest).collect();
    let granule: u64 = if rows.iter().any(|row| row.takes_pages) {
        8 << 20
    } else {
        2 << 20
    };
    let near_overhead = |rows: Vec<&Row>| -> Vec<Row> {
        let least = rows.iter().map(|row| row.overhead).min().unwrap();
        let most = least + (least / 100).max(100_000);
        rows.into_iter().filter(|row| row.overhead <= most).copied().collect()
    };
    let near_peak = |rows: Vec<&Row>| -> Vec<Row> {
        let lowest = rows.iter().map(|row| row.peak).min().unwrap();
        let most = lowest + (lowest / 200).max(granule).min(lowest / 20);
        rows.into_iter().filter(|row| row.peak <= most).copied().collect()
    };
    let left = if goal == Goal::Lane(LaneGoal::LowestPeak) {
        let left = near_peak(rows);
        near_overhead(left.iter().collect())
    } else {
        let left = near_overhead(rows);
        near_peak(left.iter().collect())
    };
    let active = left.iter().find(|row| space.n_changes(row.idx) == 0);
    let lowest = left
        .iter()
        .min_by_key(|row| (row.peak, space.n_changes(row.idx), row.idx));
    active.or(lowest).map(|row| row.idx)
}

#[track_caller]
fn is_brute_force(request: &Request, texts: &[&str], goals: &[Goal], capacity: Option<Bytes>) -> u64 {
    let mut space = Space::new(request.configuration(), axes(request, texts)).unwrap();
    if let Some(capacity) = capacity {
        space = space.with_capacity(capacity).unwrap();
    }
    let explorer = Explorer::new(request, space.clone()).unwrap();
    let all: Vec<Plain> = (0..space.size())
        .map(|idx| plain(request, &space.configuration(idx)))
        .collect();
    let mut fitting = 0;
    for goal in goals {
        let found = recommended(&explorer, *goal, 10_000);
        let rows: Vec<Row> = (0..)
            .zip(&all)
            .filter_map(|(idx, plain)| {
                let (peak, _, _, overhead, is_done) = *plain.as_ref().ok()?;
                let takes_pages = space.configuration(idx).policy().row().expands_pools;
                is_done.then_some(Row {
                    idx,
                    peak,
                    overhead,
                    takes_pages,
                })
            })
            .collect();
        fitting = rows.len() as u64;
        assert!(found.searched.is_whole());
        let winner = found.winner.as_ref().map(|chosen| chosen.point.idx);
        assert_eq!(winner, select(&space, *goal, &rows), "{goal:?}");
        let of = |idx: u64| {
            let point = found.points.iter().find(|point| point.idx == idx).unwrap();
            point.figures().cloned()
        };
        let has_other = |row: &&Row| winner.is_some_and(|winner| of(row.idx) != of(winner));
        let others: Vec<Row> = rows.iter().filter(has_other).copied().collect();
        assert_eq!(
            found.runner_up.as_ref().map(|chosen| chosen.point.idx),
            select(&space, *goal, &others),
            "{goal:?}"
        );
        is_told(&found, &all);
    }
    fitting
}

/// Left-out points are counted, and every sentence is complete.
#[track_caller]
fn is_told(found: &Recommendation, all: &[Plain]) {
    let left = &found.left_out;
    let failed: u64 = left.failed.iter().map(|(_, count)| count).sum();
    let not_done = left.out_of_memory + left.thrashes + left.budget_too_small;
    let fitting = all
        .iter()
        .filter(|plain| plain.as_ref().is_ok_and(|plain| plain.4))
        .count() as u64;
    let refused = all.iter().filter(|plain| plain.is_err()).count() as u64 - failed;
    assert_eq!(fitting + not_done + failed + refused, all.len() as u64);
    assert!(found.rules.iter().map(|rule| rule.count).max().unwrap_or(0) <= refused);
    assert_eq!(refused > 0, !found.rules.is_empty());
    for sentence in found.reasons.iter().chain(&found.uncertain) {
        let text = sentence.text();
        assert!(text.ends_with('.') && !text.contains("  "), "{text}");
    }
    if found.winner.is_some() {
        let links = found
            .reasons
            .iter()
            .flat_map(|sentence| &sentence.parts)
            .filter(|part| part.link.is_some());
        assert!(links.count() > 3);
        assert!(
            found
                .uncertain
                .iter()
                .any(|sentence| sentence.text().contains("Overhead is an estimate"))
        );
    }
}

const LEAST: Goal = Goal::Lane(LaneGoal::LeastOverhead);
const LOWEST: Goal = Goal::Lane(LaneGoal::LowestPeak);
const BOTH: [Goal; 2] = [LEAST, LOWEST];

#[test]
fn recommendations_equal_brute_force() {
    let with_largest = [LEAST, LOWEST, Goal::Largest(1)];
    let texts = ["policy=0,2,3,4", "batch=1..128x2", "atomic_clean_policy=0,1"];
    for capacity in [Some(Bytes::mib(16)), Some(Bytes::mib(64)), None] {
        assert!(is_brute_force(&small(), &texts, &with_largest, capacity) > 3);
    }
    let rules = ["policy=0,2,3,4", "graph_max_parallel_model_num=1,2", "batch=8,16"];
    assert_eq!(is_brute_force(&small(), &rules, &BOTH, None), 12);
    let tiny = Some(Bytes::kib(64));
    assert_eq!(is_brute_force(&small(), &rules, &BOTH, tiny), 0);
    let budgets = ["eviction_threshold=None,4MiB..16MiB+1MiB", "policy=0,2,4"];
    assert!(is_brute_force(&small(), &budgets, &BOTH, None) > 3);
    assert!(
        is_brute_force(
            &sampled("resnet50"),
            &["policy=0,2,3,4", "eviction_threshold=None,2GiB"],
            &BOTH,
            Some(Bytes::gib(3))
        ) > 1
    );
    let bert = ["policy=0,3", "batch=2,8,16"];
    assert!(is_brute_force(&sampled("bert"), &bert, &with_largest, Some(Bytes::mib(700))) > 1);
    assert!(is_brute_force(&sampled("mixed"), &["policy=0,2,3,4"], &BOTH, Some(Bytes::mib(3700))) > 0);
}

#[test]
fn recommendations_hold_on_the_corpus() {
    let Some(folder) = crate::support::shared("corpus/made") else {
        return;
    };
    let sessions: &[&[&str]] = &[
        &["torch_train/resnet18_b8_sgd_small.json"],
        &[
            "torch_train/resnet18_b8_sgd_small.json",
            "onnx_torch/mobilenet_v2.ts.dyn.stripped.onnx",
        ],
        &[
            "torch_train/vgg16_b32_sgd.json",
            "onnx_torch/resnet50.ts.dyn.stripped.onnx",
        ],
        &[
            "torch_train/lstm_wikitext_b20_t35_sgd.json",
            "onnx_torch/mobilenet_v2.ts.static.stripped.onnx",
            "onnx_torch/t5_small.ts.static.stripped.onnx",
        ],
    ];
    let mut tried = 0;
    for files in sessions {
        let paths: Vec<PathBuf> = files.iter().map(|file| folder.join(file)).collect();
        if paths.iter().any(|path| !path.exists()) {
            continue;
        }
        let sources: Vec<SourceSpec> = paths.into_iter().map(SourceSpec::Path).collect();
        let cancel = Cancel::new();
        let loaded = load(&sources, false, OnFailure::Stop, &Progress::silent(&cancel)).unwrap();
        let mut request = Request::new(Arc::clone(&loaded.workload), Configuration::default());
        for symbol in request.workload.symbols() {
            request.plan.dims.insert(symbol, vec![4]);
        }
        let peak = plain(&request, &request.configuration()).unwrap().0;
        let texts = ["policy=0,2,3,4", "atomic_clean_policy=0,1"];
        is_brute_force(&request, &texts, &BOTH, Some(Bytes(peak)));
        is_brute_force(&request, &texts, &BOTH, Some(Bytes(peak - peak / 20)));
        tried += 1;
    }
    assert!(tried > 0, "the corpus has the files of some session");
}

#[test]
fn a_space_that_is_too_large_is_searched_in_part_and_says_so() {
    let request = small();
    let texts = ["policy=0,2,3,4", "batch=1..64", "malloc_ns=1..40"];
    let explorer = explorer(&request, &texts);
    let found = recommended(&explorer, LOWEST, 300);
    assert!(found.searched.tried <= 300 && !found.searched.is_whole());
    let said = found.uncertain[0].text();
    assert!(
        said.contains("were simulated") && said.contains("a better configuration may exist"),
        "{said}"
    );
    let winner = found.winner.unwrap();
    let space = explorer.space();
    let values: Vec<i64> = space
        .values(winner.point.idx)
        .iter()
        .map(|value| value.as_int().unwrap())
        .collect();
    assert_eq!(
        values[1..],
        [1, 1],
        "the smallest batch and the cheapest calls are found, axis by axis"
    );
}

#[test]
fn reasons_name_arenas_that_wait_and_lead_somewhere() {
    let explorer = explorer(&sampled("mixed"), &["policy=0,2,3,4"]);
    let found = recommended(&explorer, LOWEST, 100);
    let texts: Vec<String> = found
        .reasons
        .iter()
        .map(highwater::analysis::sweep::Sentence::text)
        .collect();
    let arenas = texts
        .iter()
        .any(|text| text.contains("arena") || text.contains("pools"));
    assert!(arenas, "{texts:#?}");
    let links: Vec<&Link> = found
        .reasons
        .iter()
        .flat_map(|sentence| &sentence.parts)
        .filter_map(|part| part.link.as_ref())
        .collect();
    for wanted in [
        |link: &Link| matches!(link, Link::Lane(_)),
        |link: &Link| matches!(link, Link::Step { .. }),
        |link: &Link| matches!(link, Link::Tensor { .. }),
        |link: &Link| matches!(link, Link::Option(_)),
    ] {
        assert!(links.iter().any(|link| wanted(link)), "{links:?}");
    }
}

#[test]
fn goals_are_read() {
    let space = space(&small(), &["policy=0,2", "batch=1,2"]);
    for text in ["least-overhead", "lowest-peak", "largest:batch"] {
        assert_eq!(Goal::parse(text, &space).unwrap().name(&space), text);
    }
    assert_eq!(Goal::parse("least-slowdown", &space), Ok(LEAST));
    assert_eq!(Goal::parse("largest:dim:batch", &space), Ok(Goal::Largest(1)));
    for (text, part) in [
        ("fast", "expected least-overhead, lowest-peak or largest:AXIS"),
        ("largest:seq", "no numeric axis \"seq\"; numeric axes: batch"),
        ("largest:static_memory_policy", "no numeric axis"),
    ] {
        let error = Goal::parse(text, &space).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// The sentences of a recommendation without a winner.
fn told_of_nothing(request: &Request, texts: &[&str]) -> Vec<String> {
    let found = recommended(&explorer(request, texts), LOWEST, 100);
    assert!(found.winner.is_none());
    let texts = found.reasons.iter().map(highwater::analysis::sweep::Sentence::text);
    texts.map(|text| text.replace('\u{a0}', " ")).collect()
}

#[test]
fn a_recommendation_without_a_fit_states_the_smallest_fit() {
    let mut request = small();
    let told = told_of_nothing(&request, &["graph_max_parallel_model_num=2", "policy=2,4"]);
    assert_eq!(
        told[0],
        "None of 2 configurations was simulated: rules forbid all of them."
    );
    assert!(told[1].starts_with("R20 forbids 2: "), "{told:?}");
    assert!(
        told[1].ends_with("graph_max_parallel_model_num or memory_config.static_memory_policy."),
        "{told:?}"
    );
    // Only memory is short: states the minimum, and a device that suffices.
    request.options.set_text("simulation.device_memory", "2MiB").unwrap();
    let told = told_of_nothing(&request, &["policy=0,2,7", "batch=16,8"]);
    assert_eq!(
        told[0],
        "None of 4 configurations that were simulated completes on its device."
    );
    assert!(
        told[1].starts_with("Least is needed by static_memory_policy "),
        "{told:?}"
    );
    assert!(
        told[1].contains(", batch 8: its peak is ") && told[1].ends_with("the device has 2.000 MiB."),
        "{told:?}"
    );
    let enough = told[2].strip_prefix("A device of ").unwrap().split(' ').next().unwrap();
    request
        .options
        .set_text("simulation.device_memory", &format!("{enough}MiB"))
        .unwrap();
    let found = recommended(&explorer(&request, &["policy=0,2,7", "batch=16,8"]), LOWEST, 100);
    assert_eq!(
        found.winner.map(|winner| winner.configuration.plan.dims["batch"][0]),
        Some(8)
    );
}
