//! The overhead per iteration against comparisons of as many iterations, over schedules, policies and settings.

use highwater::analysis::{Comparison, Request, compare};
use highwater::progress::{Cancel, Progress};
use highwater::sim::fold::Cause;
use highwater::units::Nanos;

use crate::workloads::{configuration, workload};

/// A training graph of fixed shape whose sum needs a clear, and an evaluation with a dimension.
const GRAPHS: &str = r#"{"highwater_graph": 1, "graphs": [
    {"name": "train", "inputs": [{"id": "x", "shape": [1024, 1024], "dtype": "float32"}], "outputs": ["d"], "nodes": [
        {"name": "a", "op": "MatMul", "inputs": ["x"], "phase": "forward",
         "outputs": [{"id": "a", "shape": [4096, 1024], "dtype": "float32"}]},
        {"name": "b", "op": "Relu", "inputs": ["a"], "phase": "forward",
         "outputs": [{"id": "b", "shape": [4096, 1024], "dtype": "float32"}]},
        {"name": "c", "op": "Sum", "inputs": ["b"], "phase": "forward",
         "outputs": [{"id": "c", "shape": [2048, 1024], "dtype": "float32", "atomic": true}]},
        {"name": "d", "op": "MatMulGrad", "inputs": ["c", "a"], "phase": "backward",
         "outputs": [{"id": "d", "shape": [1024, 1024], "dtype": "float32"}]}]},
    {"name": "eval", "inputs": [{"id": "y", "shape": ["seq", 1024], "dtype": "float32"}], "outputs": ["f"], "nodes": [
        {"name": "e", "op": "MatMul", "inputs": ["y"], "outputs": [{"id": "e", "shape": ["seq", 4096], "dtype": "float32"}]},
        {"name": "f", "op": "Relu", "inputs": ["e"], "outputs": [{"id": "f", "shape": ["seq", 64], "dtype": "float32"}]}]}]}"#;

/// Most iterations.
const MOST: u32 = 5;

fn compared(settings: &[(&str, &str)], entries: &[&str], seq: &[u64], iterations: u32) -> Comparison {
    let mut configuration = configuration(settings, &[("seq", seq)]);
    configuration.plan.iterations = iterations;
    configuration.plan.entries = entries.iter().map(|entry| entry.parse().expect("an entry")).collect();
    let request = Request::new(workload("graphs.json", GRAPHS.as_bytes()), configuration);
    compare(&request, &Progress::silent(&Cancel::new())).expect("every dimension has a value")
}

#[test]
fn an_iteration_more_adds_the_overhead_per_iteration() {
    let schedules: [(&[&str], &[u64]); 5] = [
        (&[], &[512]),
        (&[], &[512, 4096, 1024, 64]),
        (&["train*2", "eval[seq=64,8192]"], &[512]),
        (&["train", "unload train", "eval", "load train"], &[4096]),
        (&["eval", "unload eval", "train"], &[8192, 128]),
    ];
    let settings: [&[(&str, &str)]; 6] = [
        &[],
        &[("memory_config.atomic_clean_policy", "1")],
        &[("compile_dynamic_mode", "True")],
        &[("simulation.device_memory", "72MiB")],
        &[
            ("dtr.eviction_threshold", "45MiB"),
            ("simulation.flops_per_second", "1000000"),
        ],
        &[("simulation.sync_ns", "1000"), ("graph_max_parallel_model_num", "2")],
    ];
    let (mut n_recurring, mut n_steady) = (0, 0);
    for (entries, seq) in schedules {
        for settings in settings {
            let by_iterations: Vec<Comparison> = (1..=MOST)
                .map(|iterations| compared(settings, entries, seq, iterations))
                .collect();
            let first = &by_iterations[0].lanes;
            assert!(first.iter().all(|lane| lane.summary.overhead_per_iteration.is_none()));
            for (iterations, pair) in (2_u64..).zip(by_iterations.windows(2)) {
                for (before, lane) in pair[0].lanes.iter().zip(&pair[1].lanes) {
                    let what = format!("{entries:?} {seq:?} {settings:?} x{iterations} {:?}", lane.id);
                    let total = lane.summary.estimated_overhead;
                    let Some(per_iteration) = lane.summary.overhead_per_iteration else {
                        assert!(lane.ends_early(), "{what}");
                        continue;
                    };
                    // Earlier, pools may still grow.
                    if iterations > 3 {
                        assert_eq!(before.summary.estimated_overhead + per_iteration, total, "{what}");
                    }
                    n_recurring += usize::from(per_iteration > Nanos(0));
                    // Once it is steady, any number of iterations follows from one answer.
                    if iterations > 3 && before.summary.overhead_per_iteration == Some(per_iteration) {
                        let once = total.0 - iterations * per_iteration.0;
                        let mut last = by_iterations.iter().flat_map(|comparison| &comparison.lanes).rev();
                        let last = last.find(|other| other.id == lane.id).expect("the same lanes");
                        let expected = once + u64::from(MOST) * per_iteration.0;
                        assert_eq!(last.summary.estimated_overhead, Nanos(expected), "{what}");
                        n_steady += 1;
                    }
                }
            }
        }
    }
    assert!(n_recurring > 100 && n_steady > 50, "{n_recurring} {n_steady}");
}

/// Clears and recomputation recur in every lane; so do the mallocs of pools that a later shape outgrows.
#[test]
fn all_causes_that_recur_count() {
    let causes = |settings: &[(&str, &str)], entries: &[&str], policy: usize| -> Vec<Cause> {
        let (four, five) = (
            compared(settings, entries, &[512], 4),
            compared(settings, entries, &[512], 5),
        );
        let time = |comparison: &Comparison, cause: Cause| {
            let overhead = &comparison.lanes[policy].summary.overhead;
            overhead
                .iter()
                .find(|row| row.cause == cause)
                .map_or(0, |row| row.time.0)
        };
        let grown = Cause::ALL
            .into_iter()
            .map(|cause| (cause, time(&five, cause) - time(&four, cause)));
        let grown: Vec<(Cause, u64)> = grown.filter(|(_, time)| *time > 0).collect();
        let sum: u64 = grown.iter().map(|(_, time)| time).sum();
        assert_eq!(five.lanes[policy].summary.overhead_per_iteration, Some(Nanos(sum)));
        grown.into_iter().map(|(cause, _)| cause).collect()
    };
    let loads = causes(&[], &["train", "unload train", "eval"], 0);
    assert!(
        loads.contains(&Cause::Malloc) && loads.contains(&Cause::Free),
        "{loads:?}"
    );
    let clears = causes(&[("memory_config.atomic_clean_policy", "1")], &[], 0);
    assert!(clears.contains(&Cause::Clear), "{clears:?}");
}
