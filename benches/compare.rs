//! The engine: reading and comparing a training graph of 5,000 tensors, and the simulation without the rest.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use highwater::analysis::{Comparison, Configuration, Request, compare};
use highwater::import::{Input, import};
use highwater::options::{NoFiles, lower};
use highwater::progress::{Cancel, Progress};
use highwater::session::Command;
use highwater::sim::{POLICIES, simulate};
use highwater::workload::Workload;

mod size;
#[path = "training_graph.rs"]
mod training_graph;

use training_graph::training_graph;

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn workload(text: &str) -> Arc<Workload> {
    let cancel = Cancel::new();
    let mut input = Input::from_bytes("bench.json", text.as_bytes()).expect("memory can be read");
    let imported = import(&mut input, &Progress::silent(&cancel)).expect("the graph is valid");
    Arc::new(Workload::new("bench".to_owned(), imported.source))
}

fn request(workload: Arc<Workload>, values: &[u64]) -> Request {
    let mut configuration = Configuration::default();
    if !values.is_empty() {
        configuration.plan.dims.insert("batch".to_owned(), values.to_vec());
    }
    Request::new(workload, configuration)
}

fn run(request: &Request) -> Comparison {
    let cancel = Cancel::new();
    compare(request, &Progress::silent(&cancel)).expect("the graph is bound")
}

fn engine(criterion: &mut Criterion) {
    let fixed = training_graph(size::size(2500, 50), "32");
    criterion.bench_function("read 5,000 ops of native JSON", |bencher| {
        bencher.iter(|| black_box(workload(&fixed)));
    });
    let fixed = request(workload(&fixed), &[]);
    criterion.bench_function("compare, 5,000 tensors, static", |bencher| {
        bencher.iter(|| black_box(run(&fixed)));
    });
    let changing = request(
        workload(&training_graph(size::size(2500, 50), "\"batch\"")),
        &[32, 16, 24],
    );
    criterion.bench_function("compare, 5,000 tensors, three shapes", |bencher| {
        bencher.iter(|| black_box(run(&changing)));
    });
    criterion.bench_function("an option edit, from command to new lanes, 5,000 tensors", |bencher| {
        let mut session = training_graph::session(size::size(2500, 50));
        let mut is_two = false;
        bencher.iter(|| {
            is_two = !is_two;
            session.apply(Command::SetOption {
                key: "memory_config.static_memory_policy".to_owned(),
                text: if is_two { "2" } else { "0" }.to_owned(),
            });
            session.settle();
            assert!(!session.is_stale());
        });
    });
    let comparison = run(&changing);
    let params = lower(&changing.options, &changing.environment, &changing.device, &NoFiles).params;
    for row in POLICIES {
        let name = format!("simulate policy {}, 15,000 dynamic allocations and frees", row.number);
        criterion.bench_function(&name, |bencher| {
            let cancel = Cancel::new();
            let progress = Progress::silent(&cancel);
            bencher.iter(|| black_box(simulate(&comparison.session, row.policy, &params, &progress)));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = engine
}
criterion_main!(benches);
