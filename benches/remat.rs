//! Rematerialization: log lines per second of every runtime heuristic, parsing of a log, and a training-like tape.
//!
//! With `HIGHWATER_SHARED` the recorded logs run at ratios 0.9 to 0.2 of their peak, and a table compares each row of
//! the recorded sweep with the CPU seconds of the Python original: `HIGHWATER_SHARED=PATH cargo bench
//! --no-default-features --bench remat`. The synthetic tape needs no files.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use criterion::measurement::{Measurement as _, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use highwater::import::{Input, import};
use highwater::progress::{Cancel, Progress};
use highwater::rewrite::remat::{Engine, HEURISTICS, RematRequest, RematRun, find_heuristic, remat};
use highwater::units::{Bytes, Nanos};
use highwater::workload::{Source, Tape, TapeCall, TapeOp, TapeTensor};

mod size;

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Budgets, in percent of the peak.
const PERCENTS: [u64; 8] = [90, 80, 70, 60, 50, 40, 30, 20];

/// Names in the original and here.
const ORIGINALS: [(&str, &str); 6] = [
    ("DTR", "dtr"),
    ("DTREqClass", "dtr_eq"),
    ("DTRLocal", "dtr_local"),
    ("MSPS", "msps"),
    ("LRU", "lru"),
    ("LargestStorage", "largest"),
];

/// Number of timings per row of the table; the fastest counts.
const ROUNDS: u32 = 15;

/// A log with its text, its tape and the peak without a budget.
struct Log {
    name: String,
    text: Vec<u8>,
    lines: u64,
    tape: Arc<Tape>,
    peak: u64,
}

fn read(text: &[u8]) -> Arc<Tape> {
    let mut input = Input::from_bytes("bench.log", text).expect("memory can be read");
    let imported = import(&mut input, &Progress::silent(&Cancel::new())).expect("the log is valid");
    match imported.source {
        Source::Tapes(mut tapes) => tapes.remove(0),
        other => panic!("no tape: {other:?}"),
    }
}

fn run(tape: &Tape, heuristic: &str, budget: Option<u64>) -> RematRun {
    let mut request = RematRequest::unlimited(find_heuristic(heuristic).expect("the heuristic is known"));
    request.budget = budget.map(Bytes);
    remat(tape, &request, &Progress::silent(&Cancel::new())).expect("nobody cancels")
}

fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("HIGHWATER_SHARED");
    if shared.is_none() {
        eprintln!("no logs: HIGHWATER_SHARED is not set");
    }
    Some(Path::new(&shared?).join("conformance/simrd"))
}

fn logs() -> Vec<Log> {
    let Some(folder) = folder() else { return Vec::new() };
    let entries = std::fs::read_dir(folder.join("logs")).expect("the folder can be listed");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let log = |path: &PathBuf| {
        let text = std::fs::read(path).expect("the log can be read");
        let tape = read(&text);
        Log {
            name: path
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            lines: text
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
                .count() as u64,
            peak: run(&tape, "lru", None).peak.get(),
            text,
            tape,
        }
    };
    files.iter().map(log).collect()
}

fn budget(peak: u64, percent: u64) -> u64 {
    u64::try_from(u128::from(peak) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

fn fastest(mut work: impl FnMut()) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let start = WallTime.start();
        work();
        WallTime.end(start)
    });
    rounds.min().unwrap_or(Duration::MAX).as_secs_f64()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Speed-up over the original, by row of the sweep.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn table(logs: &[Log]) {
    let Some(folder) = folder() else { return };
    let rows = |name: &str| -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    };
    let (models, sweep) = (rows("baselines.jsonl"), rows("sweep.jsonl"));
    let log_of = |model: &serde_json::Value| {
        let row = models.iter().find(|row| row["model"] == *model)?;
        logs.iter().find(|log| row["log"] == *log.name)
    };
    eprintln!("\nheuristic        rows  our lines/s (median)  times faster: min, median, max");
    for (original, heuristic) in ORIGINALS {
        let (mut speeds, mut gains) = (Vec::new(), Vec::new());
        for row in sweep.iter().filter(|row| row["heuristic"] == original) {
            let (Some(log), Some(cpu)) = (log_of(&row["model"]), row["cpu_s"].as_f64()) else {
                continue;
            };
            let budget = row["budget"].as_u64();
            let seconds = fastest(|| drop(black_box(run(&log.tape, heuristic, budget))));
            speeds.push(log.lines as f64 / seconds);
            gains.push(cpu / seconds);
        }
        let least = gains.iter().copied().fold(f64::INFINITY, f64::min);
        let most = gains.iter().copied().fold(0.0, f64::max);
        eprintln!(
            "{original:16} {:4}  {:20.0}  {least:.0}, {:.0}, {most:.0}",
            gains.len(),
            median(speeds),
            median(gains)
        );
    }
    eprintln!();
}

fn recorded(criterion: &mut Criterion) {
    let logs = logs();
    if logs.is_empty() {
        return;
    }
    table(&logs);
    let lines: u64 = logs.iter().map(|log| log.lines).sum();
    let mut group = criterion.benchmark_group("read");
    for log in &logs {
        group.throughput(Throughput::Elements(log.lines));
        group.bench_function(&log.name, |bencher| bencher.iter(|| black_box(read(&log.text))));
    }
    group.finish();
    let mut group = criterion.benchmark_group("all logs at 0.9 to 0.2");
    group.throughput(Throughput::Elements(lines * PERCENTS.len() as u64));
    for heuristic in HEURISTICS.iter().filter(|row| matches!(row.engine, Engine::Runtime(_))) {
        group.bench_function(heuristic.name, |bencher| {
            bencher.iter(|| {
                for log in &logs {
                    for percent in PERCENTS {
                        black_box(run(&log.tape, heuristic.name, Some(budget(log.peak, percent))));
                    }
                }
            });
        });
    }
    group.finish();
}

/// A training step of `n_ops` ops: each forward op keeps its input for the backward one, every fourth adds the result
/// of four ops before; sizes and times vary; weights are external, weight gradients stay.
fn training_tape(n_ops: u32) -> Tape {
    let mut tape = Tape {
        name: "training".to_owned(),
        ..Tape::default()
    };
    let layers = n_ops / 3;
    let size = |layer: u32| 1000 + u64::from(layer.wrapping_mul(7919) % 4000);
    let time = |layer: u32| 100 + u64::from(layer.wrapping_mul(104_729) % 900);
    let mut activations = vec![op(&mut tape, 0, &[], size(0), true)];
    let weights: Vec<u32> = (0..layers).map(|_| op(&mut tape, 0, &[], 100, true)).collect();
    for layer in 0..layers {
        let mut inputs = vec![activations[layer as usize], weights[layer as usize]];
        if layer % 4 == 3 {
            inputs.push(activations[layer as usize - 3]);
        }
        activations.push(op(&mut tape, time(layer), &inputs, size(layer + 1), false));
    }
    let mut gradient = op(&mut tape, 100, &activations[layers as usize..], size(layers), false);
    for layer in (0..layers).rev() {
        let (input, output) = (activations[layer as usize], activations[layer as usize + 1]);
        let own = op(&mut tape, time(layer), &[gradient, input], 100, false);
        tape.kept.push(own);
        let next = op(
            &mut tape,
            time(layer),
            &[gradient, weights[layer as usize], output],
            size(layer),
            false,
        );
        tape.calls.push(TapeCall::Release(gradient));
        tape.calls.push(TapeCall::Release(output));
        gradient = next;
    }
    tape
}

fn op(tape: &mut Tape, time: u64, inputs: &[u32], bytes: u64, is_source: bool) -> u32 {
    let number = u32::try_from(tape.ops.len()).expect("few ops");
    tape.tensors.push(TapeTensor {
        name: format!("t{number}").into(),
        storage: number,
        bytes: Bytes(bytes),
        op: number,
        is_external: is_source,
    });
    tape.ops.push(TapeOp {
        name: format!("op{number}").into(),
        time: Nanos(time),
        inputs: inputs.to_vec(),
        outputs: vec![number],
        is_source,
        is_non_recomputable: false,
    });
    tape.calls.push(TapeCall::Call(number));
    number
}

fn synthetic(criterion: &mut Criterion) {
    let tape = training_tape(size::size(5000, 200));
    let peak = run(&tape, "lru", None).peak.get();
    let mut group = criterion.benchmark_group("training tape of 5000 ops");
    group.sample_size(10);
    for heuristic in HEURISTICS.iter().filter(|row| matches!(row.engine, Engine::Runtime(_))) {
        let half = run(&tape, heuristic.name, Some(peak / 2));
        eprintln!(
            "{}: {}, overhead {:.3}, {} evictions",
            heuristic.name,
            half.status.name(),
            half.overhead(),
            half.counts.evictions
        );
        group.bench_function(format!("{} at half the peak", heuristic.name), |bencher| {
            bencher.iter(|| black_box(run(&tape, heuristic.name, Some(peak / 2))));
        });
    }
    group.bench_function("18 budgets x dtr, dtr_eq, lru, msps", |bencher| {
        bencher.iter(|| {
            for heuristic in ["dtr", "dtr_eq", "lru", "msps"] {
                for part in 2..20 {
                    black_box(run(&tape, heuristic, Some(budget(peak, part * 5))));
                }
            }
        });
    });
    group.finish();
}

criterion_group!(benches, synthetic, recorded);
criterion_main!(benches);
