//! Random sessions of real graphs: every log is valid, and equal requests give equal bytes.
//!
//! Graphs are the models of `$HIGHWATER_SHARED/corpus` and the bundled samples; a seed determines which, how often, in
//! which order, with which dimensions, options and device.

use std::path::Path;

use highwater::analysis::{Comparison, Configuration, Request, compare};
use highwater::options::Options;
use highwater::progress::{Cancel, Progress};
use highwater::session::SAMPLES;
use highwater::sim::verify;
use highwater::workload::{GraphEntry, SchedulePlan, Source, Workload};

use crate::support;

/// Number of sessions, and the maximum number of ops of a graph: these tests also run in debug builds.
const N_SESSIONS: u64 = 24;
const MOST_OPS: usize = 2500;

/// A small generator; the sequence is part of the test.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

fn graphs() -> Vec<GraphEntry> {
    let mut entries: Vec<GraphEntry> = Vec::new();
    let mut add = |name: &str, bytes: &[u8]| {
        if let Ok(imported) = support::read(name, bytes)
            && let Source::Graphs(graphs) = imported.source
        {
            let small = |entry: &GraphEntry| entry.graph.ops().len() <= MOST_OPS;
            entries.extend(graphs.into_iter().filter(small));
        }
    };
    for file in SAMPLES.iter().flat_map(|sample| sample.files) {
        add(file.name, file.bytes);
    }
    for folder in [
        "corpus/made/torch_train",
        "corpus/made/onnx_torch",
        "corpus/made/onnx_light",
    ] {
        let Some(folder) = support::shared(folder) else {
            continue;
        };
        for path in [support::files(&folder, ".json"), support::files(&folder, ".onnx")].concat() {
            add(&support::name(&path), &std::fs::read(Path::new(&path)).unwrap());
        }
    }
    entries
}

fn request(draw: &mut Draw, graphs: &[GraphEntry]) -> Request {
    let n_graphs = 1 + draw.below(4);
    let mut chosen: Vec<GraphEntry> = Vec::new();
    for position in 0..n_graphs {
        let mut entry = graphs[draw.below(graphs.len())].clone();
        entry.name = format!("{} {position}", entry.name);
        chosen.push(entry);
    }
    let workload = Workload::new("random".to_owned(), Source::Graphs(chosen));
    let mut plan = SchedulePlan {
        iterations: 1 + draw.below(2) as u32,
        ..SchedulePlan::default()
    };
    for symbol in workload.symbols() {
        let values = (0..=draw.below(3)).map(|_| draw.of(&[1, 2, 3, 8, 17, 64, 128]));
        plan.dims.insert(symbol, values.collect());
    }
    let mut options = Options::default();
    let settings: [(&str, &[&str]); 9] = [
        ("memory_config.atomic_clean_policy", &["0", "1"]),
        ("compile_dynamic_mode", &["False", "False", "True"]),
        (
            "simulation.placement_strategy",
            &["ge_default", "ge_default", "ge_max", "greedy_by_size", "naive"],
        ),
        ("external_weight", &["False", "True"]),
        ("simulation.unload_graphs", &["never", "never", "after_run"]),
        ("simulation.policy_2_behaviour", &["engine", "documented"]),
        ("simulation.workspace_estimate", &["off", "on"]),
        ("graph_max_parallel_model_num", &["1", "1", "2"]),
        ("simulation.device_memory", &["300MiB", "1GiB", "2GiB", "4GiB", "64GiB"]),
    ];
    for (key, values) in settings {
        options.set_text(key, draw.of(values)).unwrap();
    }
    let configuration = Configuration {
        options,
        plan,
        ..Configuration::default()
    };
    Request::new(workload, configuration)
}

fn answer(request: &Request) -> Comparison {
    let cancel = Cancel::new();
    compare(request, &Progress::silent(&cancel)).expect("the session is simulated")
}

#[test]
fn random_sessions_of_real_graphs_are_valid_and_repeat() {
    let graphs = graphs();
    let mut runs_out = 0;
    for seed in 1..=N_SESSIONS {
        let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let request = request(&mut draw, &graphs);
        let first = answer(&request);
        for lane in &first.lanes {
            let name = format!("seed {seed}, policy {}", lane.policy.number());
            assert_eq!(verify(&lane.simulation, &first.session), Ok(()), "{name}");
            assert!(
                !lane.explanation.is_empty() || lane.summary.peak_reserved.get() == 0,
                "{name}"
            );
            assert_eq!(
                lane.out_of_memory_report.is_some(),
                lane.summary.out_of_memory,
                "{name}"
            );
            runs_out += usize::from(lane.summary.out_of_memory);
        }
        assert!(first == answer(&request), "seed {seed}: two runs differ");
    }
    assert!(runs_out > 0, "some devices are too small");
}
