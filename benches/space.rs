//! Spaces of configurations: a thousand points of a ResNet-50 training session, and a recommendation over them.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use highwater::analysis::LaneGoal;
use highwater::analysis::sweep::{Explorer, Goal, Space, SweepAxis, SweepPoint, front, recommend_from};
use highwater::analysis::{Configuration, Request};
use highwater::progress::{Cancel, Progress};
use highwater::session::{OnFailure, SourceSpec, load, presets_of, sample};

mod size;

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn request(name: &str) -> Request {
    let sources = [SourceSpec::Sample(sample(name).expect("a bundled sample"))];
    let cancel = Cancel::new();
    let loaded = load(&sources, false, OnFailure::Stop, &Progress::silent(&cancel)).expect("samples are read");
    let mut configuration = Configuration::default();
    configuration.plan.dims.extend(presets_of(&sources));
    Request::new(loaded.workload, configuration)
}

fn explorer(request: &Request, texts: &[&str]) -> Explorer {
    let dims = request.workload.symbols();
    let axes = texts
        .iter()
        .map(|text| SweepAxis::parse(text, &dims).expect("an axis"))
        .collect();
    let space = Space::new(request.configuration(), axes).expect("a space");
    Explorer::new(request, space).expect("graphs run")
}

fn explore(explorer: &Explorer) -> Vec<SweepPoint> {
    let cancel = Cancel::new();
    let all: Vec<u64> = (0..explorer.space().size()).collect();
    let mut ignore = |_: &SweepPoint| {};
    explorer
        .explore(&all, &mut ignore, &Progress::silent(&cancel))
        .expect("nobody stops it")
}

fn spaces(criterion: &mut Criterion) {
    let resnet = request("resnet50");
    let policies = "policy=0,2,3,4";
    let clean = "atomic_clean_policy=0,1";
    let thresholds = size::size(
        "dtr.eviction_threshold=1536MiB..2528MiB+8MiB",
        "dtr.eviction_threshold=1536MiB..2528MiB+496MiB",
    );
    let n_points = size::size(1000, 24);
    let all = [policies, clean, thresholds];
    criterion.bench_function(
        "1,000 configurations of ResNet-50 training, with 125 eviction thresholds",
        |bencher| {
            bencher.iter(|| {
                let points = explore(&explorer(&resnet, &all));
                assert_eq!(points.len(), n_points);
                black_box(points)
            });
        },
    );
    let devices = size::size(
        "simulation.device_memory=1GiB..4GiB+25MiB",
        "simulation.device_memory=1GiB..4GiB+1GiB",
    );
    criterion.bench_function(
        "1,000 configurations of ResNet-50 training, on devices of 125 sizes",
        |bencher| {
            bencher.iter(|| {
                let points = explore(&explorer(&resnet, &[policies, clean, devices]));
                assert!(points.len() >= size::size(984, 1));
                black_box(points)
            });
        },
    );
    let bert = request("bert");
    criterion.bench_function("1,024 configurations of BERT, with 128 batch sizes", |bencher| {
        bencher.iter(|| {
            black_box(explore(&explorer(
                &bert,
                &[policies, clean, size::size("batch=1..128", "batch=1..2")],
            )))
        });
    });
    let tried = explorer(&resnet, &all);
    let points = explore(&tried);
    criterion.bench_function("the front of 1,000 configurations", |bencher| {
        bencher.iter(|| black_box(front(&points)));
    });
    criterion.bench_function("a recommendation of 1,000 configurations that were tried", |bencher| {
        let cancel = Cancel::new();
        let progress = Progress::silent(&cancel);
        bencher.iter(|| {
            black_box(recommend_from(
                &tried,
                Goal::Lane(LaneGoal::LeastOverhead),
                points.clone(),
                &progress,
            ))
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = spaces
}
criterion_main!(benches);
