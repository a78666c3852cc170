//! Traces by the rules of their viewers: slices of a thread nest or are disjoint, counters ascend in time, tracks have
//! names.

use std::collections::{BTreeMap, BTreeSet};

use highwater::export::ExportForm;
use highwater::timeline::RematMarkKind;
use serde_json::Value as Json;

use super::{exported, subject, text};
use crate::cli::Place;
use crate::{synthetic, synthetic_remat};

/// A time as whole nanoseconds.
fn nanos(event: &Json, field: &str) -> u64 {
    (event[field].as_f64().unwrap() * 1000.0).round() as u64
}

/// Checks a trace; returns its events.
#[track_caller]
pub(super) fn check(trace: &str) -> Vec<Json> {
    let json: Json = serde_json::from_str(trace).unwrap();
    assert!(json["otherData"]["timestamps"].is_string());
    let events = json["traceEvents"].as_array().unwrap().clone();
    let (mut named, mut used) = (BTreeSet::new(), BTreeSet::new());
    let mut counters: BTreeMap<(u64, String), u64> = BTreeMap::new();
    let mut slices: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    let mut instants: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for event in &events {
        let (pid, tid) = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        let name = event["name"].as_str().unwrap().to_owned();
        match event["ph"].as_str().unwrap() {
            "M" if name == "process_name" => drop(named.insert((pid, 0))),
            "M" if name == "thread_name" => drop(named.insert((pid, tid))),
            "M" => {}
            "C" => {
                assert_eq!(event["args"].as_object().unwrap().len(), 1);
                assert!(event["args"]["bytes"].is_u64());
                let at = nanos(event, "ts");
                let last = counters.insert((pid, name), at);
                assert!(last.is_none_or(|last| last < at), "{event}");
                used.insert((pid, 0));
            }
            "X" => {
                let at = nanos(event, "ts");
                slices
                    .entry((pid, tid))
                    .or_default()
                    .push((at, at + nanos(event, "dur")));
                used.insert((pid, tid));
            }
            "i" => {
                assert_eq!(event["s"], "t");
                let at = nanos(event, "ts");
                let last = instants.insert((pid, tid), at);
                // Viewers stack events of one time.
                assert!(last.is_none_or(|last| last < at), "{event}");
                used.insert((pid, tid));
            }
            other => panic!("{other}"),
        }
    }
    assert!(
        used.is_subset(&named),
        "{:?}",
        used.difference(&named).collect::<Vec<_>>()
    );
    for (track, slices) in slices {
        let apart = slices.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        assert!(apart, "slices of {track:?} overlap");
    }
    events
}

fn named<'a>(events: &'a [Json], ph: &str, name: &str) -> Vec<&'a Json> {
    events
        .iter()
        .filter(|event| event["ph"] == ph && event["name"] == name)
        .collect()
}

#[test]
fn a_trace_has_the_curves_ops_and_calls_of_every_lane() {
    let subject = subject(synthetic::comparison(30, 2));
    let events = check(&text(&subject, ExportForm::Trace, "trace.json"));
    let comparison = &subject.comparison;
    assert_eq!(
        events.iter().filter(|event| event["cat"] == "op").count(),
        comparison.axis.n_steps as usize
    );
    assert_eq!(
        events.iter().filter(|event| event["cat"] == "run").count(),
        comparison.axis.runs.len()
    );
    for (pid, lane) in (2_u64..).zip(&comparison.lanes) {
        let of_lane: Vec<Json> = events.iter().filter(|event| event["pid"] == pid).cloned().collect();
        let most = |name: &str| {
            named(&of_lane, "C", name)
                .iter()
                .filter_map(|event| event["args"]["bytes"].as_u64())
                .max()
        };
        assert_eq!(most("reserved"), Some(lane.summary.peak_reserved.get()));
        assert_eq!(most("live"), Some(lane.summary.peak_live.get()));
        assert!(most("features reserved").is_some());
        assert_eq!(named(&of_lane, "i", "malloc").len() as u64, lane.summary.device_mallocs);
        assert_eq!(named(&of_lane, "i", "free").len() as u64, lane.summary.device_frees);
        assert_eq!(named(&of_lane, "i", "map").len() as u64, lane.summary.pages_mapped);
        assert_eq!(named(&of_lane, "i", "unload graph").len() as u64, lane.summary.unloads);
    }
}

#[test]
fn evictions_are_instants() {
    let subject = subject(synthetic_remat::comparison(8, synthetic_remat::End::Whole));
    let events = check(&text(&subject, ExportForm::Trace, "trace.json"));
    let lanes = subject.timeline.lanes.iter().filter_map(|lane| lane.remat.as_ref());
    let evicted = lanes
        .flat_map(|remat| &remat.marks)
        .filter(|mark| mark.kind == RematMarkKind::Evict);
    let count = evicted.count();
    assert!(count > 0);
    assert_eq!(named(&events, "i", "evict").len(), count);
}

#[test]
fn samples_and_recordings_have_traces() {
    let place = Place::new();
    let run_alone = "sample_traces/lenet_training.runmeta.pb.gz";
    for (name, extra) in [("lenet", ""), ("measured", ""), (run_alone, ""), ("mobilenet", "1MiB")] {
        let is_file = name.contains('/');
        let sample = if is_file {
            name.to_owned()
        } else {
            format!("sample:{name}")
        };
        let mut arguments = vec![&*sample];
        if !extra.is_empty() {
            arguments.extend(["--device-memory", extra]);
        }
        let trace = exported(&place, &arguments, "trace.json");
        let events = check(&trace);
        assert_eq!(
            !named(&events, "i", "out of memory").is_empty(),
            !extra.is_empty(),
            "{name}"
        );
        let is_simulated = name != "measured" && !is_file;
        assert_eq!(trace.contains("\"timestamps\":\"estimated"), is_simulated);
        let n_ops = events.iter().filter(|event| event["cat"] == "measured op").count();
        let wanted = match name {
            "measured" => 1291,
            _ if is_file => 98,
            _ => 0,
        };
        assert_eq!(n_ops, wanted, "{name}");
    }
}

#[test]
fn frees_of_arenas_name_their_graph() {
    let arguments = ["sample:resnet50", "--device-memory", "2900MiB"];
    let trace: Json = serde_json::from_str(&exported(&Place::new(), &arguments, "x.trace.json")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let frees: Vec<&str> = events
        .iter()
        .filter(|event| event["name"].as_str().is_some_and(|name| name.contains("free")))
        .filter_map(|event| event["args"]["for"].as_str())
        .collect();
    assert!(!frees.is_empty());
    assert!(
        frees.iter().all(|who| !who.starts_with("inputs and outputs")),
        "{frees:?}"
    );
}
