//! Differences between lanes at a peak: sums against the lanes' curves, by a naive second count.

use std::collections::BTreeMap;

use highwater::analysis::Comparison;
use highwater::graph::Id as _;
use highwater::session::{SAMPLES, SourceSpec};
use highwater::timeline::{Attribute, Change, LiveSet, PeakAt, PeakReport, PeakRequest, tensor_label};
use highwater::units::Step;

use crate::cli::{fails, json, run};
use crate::sessions::session;

/// Live bytes by graph and name.
fn by_name(comparison: &Comparison, lane: usize, step: Step) -> BTreeMap<(usize, String), i128> {
    let mut sums = BTreeMap::new();
    for member in LiveSet::new(comparison, lane, step).members {
        let name = tensor_label(comparison, member.tensor).into_owned();
        let sum: &mut i128 = sums.entry((member.tensor.graph.idx(), name)).or_default();
        *sum += i128::from(member.bytes.get());
    }
    sums
}

#[test]
fn differences_add_up_to_that_of_the_curves() {
    let mut n_rows = 0;
    for sample in SAMPLES {
        let session = session(vec![SourceSpec::Sample(sample)]);
        let (comparison, _) = session.answer().expect(sample.name);
        let n_lanes = comparison.lanes.len();
        let last = comparison.axis.n_steps - 1;
        for at in [PeakAt::Peak, PeakAt::Step(Step(last / 3)), PeakAt::Step(Step(last))] {
            for (lane, other) in (0..n_lanes).flat_map(|lane| (0..n_lanes).map(move |other| (lane, other))) {
                let ask = PeakRequest {
                    lane,
                    at,
                    by: Attribute::Role,
                    within: None,
                    n_first: 3,
                    against: Some(other),
                };
                let report = PeakReport::new(comparison, ask).expect("a report");
                if lane == other {
                    assert_eq!(report.changes, None);
                    continue;
                }
                let changes = report.changes.as_ref().expect("another lane");
                let here = report.set.step;
                let there = match at {
                    PeakAt::Peak => highwater::timeline::peak_step(comparison, other).expect("a step"),
                    _ => here,
                };
                let live = |lane: usize, step: Step| {
                    let bytes = comparison.lanes[lane].curves.live[step.idx()];
                    i128::from(bytes.get())
                };
                assert_eq!(changes.live, live(lane, here) - live(other, there), "{}", sample.name);
                let tensors = || changes.rows.iter().filter(|row| row.is_tensor);
                let told: i128 = tensors().map(Change::difference).sum();
                assert_eq!(told + changes.unlisted, changes.live, "{}", sample.name);
                let (is, was) = (by_name(comparison, lane, here), by_name(comparison, other, there));
                let differ = |key: &&(usize, String)| is.get(*key) != was.get(*key);
                let mut keys: Vec<_> = is.keys().chain(was.keys()).filter(differ).collect();
                keys.sort_unstable();
                keys.dedup();
                assert_eq!(tensors().count(), keys.len(), "{}", sample.name);
                assert!(changes.rows.iter().all(|row| row.before != row.after));
                n_rows += keys.len();
            }
        }
    }
    assert!(n_rows > 50, "{n_rows}");
}

#[test]
fn the_command_line_reports_them_too() {
    let arguments = [
        "peak",
        "sample:mixed",
        "--step",
        "1100",
        "--lane",
        "1",
        "--against",
        "3",
    ];
    let answer = json(&[&arguments[..], &["--format", "json"]].concat(), 0);
    let against = &answer["against"];
    assert_eq!(against["lane"], "policy 3");
    let rows = against["changes"].as_array().expect("changes");
    let sum: i64 = rows
        .iter()
        .filter(|row| row["is_tensor"] == true)
        .map(|row| row["difference_bytes"].as_i64().expect("bytes"))
        .sum();
    assert_eq!(
        sum + against["unlisted_bytes"].as_i64().unwrap(),
        against["difference_bytes"].as_i64().unwrap()
    );
    let text = String::from_utf8(run(&arguments).stdout).expect("text");
    assert!(text.contains("policy 3"), "{text}");
    fails(
        &["peak", "sample:mixed", "--against", "9"],
        "--against 9: no such lane; there are policy 0, policy 2",
    );
}
