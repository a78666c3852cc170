//! Cancel stops a comparison at whichever look at the flag it comes.

use highwater::analysis::{AllocatorSetting, AnalysisError, Configuration, Request, compare};
use highwater::progress::{Cancel, Progress};
use highwater::timeline::{Timeline, TimelineParts};
use highwater::workload::Workload;
use serde_json::json;

use crate::snapshots::{block, event, pickle, segment, snapshot};
use crate::workloads::workload;

/// Threads that may look at the flag once more when it is set: one per lane.
const MOST_THREADS: u64 = 16;

fn chain(n_ops: u32) -> Request {
    let node = |at: u32| {
        json!({
            "name": format!("op{at}"), "op": "relu", "inputs": [format!("t{at}")],
            "outputs": [{"id": format!("t{}", at + 1), "shape": [at * 7919 % 100_003 + 1, 128], "dtype": "float32"}],
        })
    };
    let graph = json!({
        "highwater_graph": 1, "name": "chain", "nodes": (0..n_ops).map(node).collect::<Vec<_>>(),
        "inputs": [{"id": "t0", "shape": [64], "dtype": "float32"}], "outputs": [format!("t{n_ops}")],
    });
    request(workload("chain.json", graph.to_string().as_bytes()))
}

/// A recording of so many allocations, replayed under one setting.
fn replay(n_allocations: u64) -> Request {
    const ADDRESS: u64 = 1 << 40;
    const SEGMENT: u64 = 20 << 20;
    let of_one = |at: u64| {
        let size = (11 + at * 7919 % 9) << 20;
        let actions = ["alloc", "free_requested", "free_completed"].into_iter();
        actions
            .zip(3 * at + 2..)
            .map(move |(action, time)| event(action, ADDRESS, size, time))
    };
    let mut events = vec![event("segment_alloc", ADDRESS, SEGMENT, 1)];
    events.extend((0..n_allocations).flat_map(of_one));
    let free = block(ADDRESS, SEGMENT, 0, "inactive");
    let segments = vec![segment(ADDRESS, SEGMENT, "large", vec![free])];
    let mut request = request(workload("run.pickle", &pickle(&snapshot(segments, events))));
    request.allocator_settings.push(AllocatorSetting {
        conf: "expandable_segments:True".to_owned(),
        version: None,
    });
    request
}

fn request(workload: Workload) -> Request {
    Request {
        search: 1.into(),
        ..Request::new(workload, Configuration::default())
    }
}

fn answer(request: &Request, cancel: &Cancel) -> Result<Timeline, AnalysisError> {
    let progress = Progress::silent(cancel);
    let comparison = compare(request, &progress)?;
    Ok(Timeline::checked(&comparison, TimelineParts::All, &progress)?)
}

#[test]
fn a_comparison_stops_at_every_look() {
    for request in [chain(1_500), replay(3_000)] {
        stops_at_every_look(&request);
    }
}

fn stops_at_every_look(request: &Request) {
    let counting = Cancel::at_look(u64::MAX);
    assert!(answer(request, &counting).is_ok());
    let n_looks = counting.looks();
    assert!(n_looks > 20, "{n_looks}");
    let mut state = 9_u64;
    for round in 0..40 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // The first and the last look, and others between.
        let look = match round {
            0 => 1,
            1 => n_looks,
            _ => 1 + (state >> 33) % n_looks,
        };
        let cancel = Cancel::at_look(look);
        assert!(answer(request, &cancel).is_err(), "look {look} of {n_looks}");
        assert!(
            cancel.looks() <= look + MOST_THREADS,
            "look {look}: {} looks",
            cancel.looks()
        );
    }
}

#[test]
fn looks_grow_with_the_work() {
    let looks = |request: Request| {
        let cancel = Cancel::at_look(u64::MAX);
        assert!(answer(&request, &cancel).is_ok());
        cancel.looks()
    };
    let (small, large) = (looks(chain(1_000)), looks(chain(12_000)));
    assert!(large > small, "{small} and {large}");
    // 72,000 events are read, put in order, walked back, compared and replayed: several passes with a look every 4,096.
    let (small, large) = (looks(replay(1_000)), looks(replay(24_000)));
    assert!(large > small + 100, "{small} and {large}");
}
