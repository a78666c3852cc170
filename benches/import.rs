//! Importers: bytes per second of large generated files.
//!
//! `cargo bench --no-default-features --bench import -- pickle` reads a memory snapshot of 10^5 allocations; with
//! `HIGHWATER_BENCH_OUT=FILE` a snapshot of 10^6 allocations is also written there, for comparison with `python3 -c
//! 'import pickle, time; ...'` on the same bytes. `-- csv` streams a profiler table of 1 GiB, generated while it is
//! read. `-- protobuf` reads many small nodes, and skips weights by seeking. `-- cancel` measures how long an import
//! continues after it is cancelled. No corpus is needed.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use highwater::import::{Input, ReadSeek, import, import_as, importer};
use highwater::progress::{Cancel, Progress};

#[expect(dead_code, reason = "the tests of the importer use the rest")]
#[path = "pickle_writer.rs"]
mod pickle_writer;

#[path = "import_generated.rs"]
mod generated;
mod size;

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn read(name: &str, bytes: &[u8]) {
    let cancel = Cancel::new();
    let mut input = Input::from_bytes(name, bytes).expect("memory can be read");
    let imported = import(&mut input, &Progress::silent(&cancel));
    black_box(imported.expect("the file is whole"));
}

fn pickle(criterion: &mut Criterion) {
    if let Some(path) = std::env::var_os("HIGHWATER_BENCH_OUT") {
        std::fs::write(path, pickle_writer::synthetic(1_000_000, 4)).expect("the file can be written");
    }
    let bytes = pickle_writer::synthetic(size::size(100_000, 1000), 4);
    let mut group = criterion.benchmark_group("pickle");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("snapshot of 100,000 allocations", |bencher| {
        bencher.iter(|| read("bench.pickle", &bytes));
    });
    let opcodes = without_snapshot(&bytes);
    group.bench_function("scan of its opcodes", |bencher| {
        bencher.iter(|| scan("bench.pickle", &opcodes));
    });
    group.finish();
}

/// The same pickle without the keys of a snapshot: every opcode runs and every row is kept, but no recording is made.
fn without_snapshot(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for key in [&b"segments"[..], b"device_traces"] {
        let places: Vec<usize> = places_of(&bytes, key);
        for place in places {
            bytes[place] = b'X';
        }
    }
    bytes
}

fn places_of(bytes: &[u8], key: &[u8]) -> Vec<usize> {
    let windows = bytes.windows(key.len()).enumerate();
    windows
        .filter(|(_, window)| *window == key)
        .map(|(place, _)| place)
        .collect()
}

fn scan(name: &str, bytes: &[u8]) {
    let cancel = Cancel::new();
    let mut input = Input::from_bytes(name, bytes).expect("memory can be read");
    let imported = import_as(&mut input, importer("torch_snapshot"), &Progress::silent(&cancel));
    let error = imported.expect_err("it is no snapshot");
    assert!(!error.to_string().contains("byte "), "{error}");
    black_box(error);
}

/// A profiler table of 1 GiB, generated while it is read.
fn csv_stream(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("csv");
    group.sample_size(10);
    let table = generated::Table::operator_memory(size::size(1 << 30, 1 << 20));
    group.throughput(Throughput::Bytes(table.len()));
    group.bench_function("operator_memory of 1 GiB", |bencher| {
        bencher.iter(|| read_from("operator_memory.csv", table.clone()));
    });
    group.finish();
}

/// Models in protobuf: many small nodes, and weights that are skipped.
fn protobuf(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("protobuf");
    group.sample_size(10);
    let nodes = generated::onnx_nodes(size::size(200_000, 2000));
    group.throughput(Throughput::Bytes(nodes.len() as u64));
    group.bench_function("ONNX of 200,000 nodes", |bencher| {
        bencher.iter(|| read("nodes.onnx", &nodes));
    });
    let nodes = generated::graph_def_nodes(size::size(200_000, 2000));
    group.throughput(Throughput::Bytes(nodes.len() as u64));
    group.bench_function("GraphDef of 200,000 nodes", |bencher| {
        bencher.iter(|| read("nodes.pb", &nodes));
    });
    let small = generated::onnx_weights(size::size(6_400, 16), 64 << 10);
    group.throughput(Throughput::Bytes(small.len() as u64));
    group.bench_function("ONNX with 400 MiB of weights in pieces of 64 KiB", |bencher| {
        bencher.iter(|| read("weights.onnx", &small));
    });
    drop(small);
    let weights = generated::onnx_weights(size::size(400, 2), 1 << 20);
    let mut file = tempfile::tempfile().expect("a temporary file");
    std::io::Write::write_all(&mut file, &weights).expect("the file can be written");
    group.throughput(Throughput::Bytes(weights.len() as u64));
    group.bench_function("ONNX with 400 MiB of weights in a file", |bencher| {
        bencher.iter(|| {
            let reader = file.try_clone().expect("the file is open");
            read_from("weights.onnx", std::io::BufReader::new(reader));
        });
    });
    group.finish();
}

/// How long a cancelled import continues (`-- cancel`): cancelled at 39 moments of its run; prints the longest time.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "benches are about time, and say it"
)]
fn cancelled(_: &mut Criterion) {
    use std::time::{Duration, Instant};
    if !std::env::args().any(|argument| argument == "cancel") {
        return;
    }
    let snapshot = pickle_writer::synthetic(1_000_000, 4);
    let table = generated::Table::operator_memory(200 << 20);
    let trace = generated::chrome_trace(1_000_000);
    let run = |name: &'static str, of: &(dyn Fn(&Cancel) + Sync)| {
        let start = Instant::now();
        of(&Cancel::new());
        let whole = start.elapsed();
        let mut longest = Duration::ZERO;
        for share in 1..40 {
            let cancel = Cancel::new();
            let asked = std::thread::scope(|scope| {
                let asking = scope.spawn(|| {
                    std::thread::sleep(whole * share / 40);
                    cancel.cancel();
                    Instant::now()
                });
                of(&cancel);
                let ended = Instant::now();
                asking
                    .join()
                    .map_or(Duration::ZERO, |asked| ended.saturating_duration_since(asked))
            });
            longest = longest.max(asked);
        }
        println!("{name}: {whole:?} in all, stops within {longest:?}");
    };
    run("snapshot of 10^6 allocations", &|cancel| {
        until(cancel, "x.pickle", &snapshot);
    });
    run("operator_memory of 10^6 rows", &|cancel| {
        let mut input = Input::new("operator_memory.csv", table.clone()).expect("memory can be read");
        drop(black_box(import(&mut input, &Progress::silent(cancel))));
    });
    run("Chrome trace of 10^6 events", &|cancel| {
        until(cancel, "x.json", trace.as_bytes());
    });
}

fn until(cancel: &Cancel, name: &str, bytes: &[u8]) {
    let mut input = Input::from_bytes(name, bytes).expect("memory can be read");
    drop(black_box(import(&mut input, &Progress::silent(cancel))));
}

fn read_from(name: &str, reader: impl ReadSeek) {
    let cancel = Cancel::new();
    let mut input = Input::new(name, reader).expect("the reader reads");
    black_box(import(&mut input, &Progress::silent(&cancel)).expect("the file is whole"));
}

criterion_group!(benches, pickle, csv_stream, protobuf, cancelled);
criterion_main!(benches);
