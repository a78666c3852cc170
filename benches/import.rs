//! Importers: bytes a second of large made-up files.
//!
//! `cargo bench --no-default-features --bench import -- pickle` reads a memory snapshot of 10^5 allocations; with
//! `HIGHWATER_BENCH_OUT=FILE` a snapshot of 10^6 allocations is written there too, for comparing with
//! `python3 -c 'import pickle, time; ...'` on the same bytes. `-- csv` streams a profiler table of 200 MB. The files are
//! generated, so nothing of a corpus is needed.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use highwater::import::{Input, import};
use highwater::progress::{Cancel, Progress};

#[expect(dead_code, reason = "the tests of the importer use the rest")]
#[path = "pickle_writer.rs"]
mod pickle_writer;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn read(name: &str, bytes: &[u8]) {
    let cancel = Cancel::new();
    let mut input = Input::from_bytes(name, bytes).expect("memory can be read");
    let imported = import(&mut input, &Progress::silent(&cancel));
    black_box(imported.expect("the file is whole"));
}

/// Memory snapshots of PyTorch.
fn pickle(criterion: &mut Criterion) {
    if let Some(path) = std::env::var_os("HIGHWATER_BENCH_OUT") {
        std::fs::write(path, pickle_writer::synthetic(1_000_000, 4)).expect("the file can be written");
    }
    let bytes = pickle_writer::synthetic(100_000, 4);
    let mut group = criterion.benchmark_group("pickle");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("snapshot of 100,000 allocations", |bencher| {
        bencher.iter(|| read("bench.pickle", &bytes));
    });
    group.finish();
}

/// An `operator_memory.csv` of about this many bytes: blocks that overlap, two streams, trailing tabs, CRLF.
fn operator_memory(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 1024);
    text.push_str(
        "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),\
         Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),\
         Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\r\n",
    );
    let mut row = 0_u64;
    while text.len() < bytes {
        let time = 1_700_000_000_000_000 + row * 7;
        let end = time + row % 97 * 11 + 1;
        text.push_str(&format!(
            "aten::op_{},{}.5,{time}.{:03}\t,{end}.720\t,{end}.310\t,11.250\t,10.750\t,{}.625,2048.0,\
             {}.625,512.25,2048.0,512.625,{},NPU:0\r\n",
            row % 311,
            row % 20_011,
            row % 1000,
            900 + row % 91,
            900 + row % 91,
            1_000_000_000 + row % 2,
        ));
        row += 1;
    }
    text
}

/// A profiler table of 200 MB, read row by row.
fn csv_stream(criterion: &mut Criterion) {
    let text = operator_memory(200 << 20);
    let cancel = Cancel::new();
    let mut group = criterion.benchmark_group("csv");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("operator_memory", |bencher| {
        bencher.iter(|| {
            let mut input = Input::from_bytes("operator_memory.csv", text.as_bytes()).expect("memory can be read");
            black_box(import(&mut input, &Progress::silent(&cancel)).expect("the table is whole"))
        });
    });
    group.finish();
}

criterion_group!(benches, pickle, csv_stream);
criterion_main!(benches);
