//! The engine: reading and comparing a training graph of 5,000 tensors, and the simulation alone.

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use highwater::analysis::{Comparison, Request, compare};
use highwater::import::{Input, import};
use highwater::options::{Environment, Options, lower};
use highwater::plan::STRATEGIES;
use highwater::progress::{Cancel, Progress};
use highwater::sim::{POLICIES, simulate};
use highwater::workload::{DeviceProfiles, SchedulePlan, Workload};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A training graph in the native format: forward keeps every activation for backward, with uneven sizes.
fn training_graph(layers: usize, batch: &str) -> String {
    let mut nodes = String::new();
    let width = |layer: usize| 64 + layer * 7919 % 1000;
    for layer in 0..layers {
        let input = if layer == 0 {
            "x".to_owned()
        } else {
            format!("a{}", layer - 1)
        };
        let _infallible = write!(
            nodes,
            r#"{{"name":"f{layer}","op":"mm","inputs":["{input}"],"phase":"forward","outputs":[{{"id":"a{layer}","shape":[{batch},{}],"dtype":"float32"}}]}},"#,
            width(layer)
        );
    }
    for layer in (0..layers).rev() {
        let gradient = if layer + 1 == layers {
            String::new()
        } else {
            format!(r#","g{}""#, layer + 1)
        };
        let comma = if layer == 0 { "" } else { "," };
        let _infallible = write!(
            nodes,
            r#"{{"name":"b{layer}","op":"mm_grad","inputs":["a{layer}"{gradient}],"phase":"backward","outputs":[{{"id":"g{layer}","shape":[{batch},{}],"dtype":"float32"}}]}}{comma}"#,
            width(layer)
        );
    }
    format!(
        r#"{{"highwater_graph":1,"nodes":[{nodes}],"inputs":[{{"id":"x","shape":[{batch},64],"dtype":"float32"}}],"outputs":["a{}"]}}"#,
        layers - 1
    )
}

fn workload(text: &str) -> Arc<Workload> {
    let cancel = Cancel::new();
    let mut input = Input::from_bytes("bench.json", text.as_bytes()).expect("memory can be read");
    let imported = import(&mut input, &Progress::silent(&cancel)).expect("the graph is valid");
    Arc::new(Workload {
        name: "bench".to_owned(),
        source: imported.source,
    })
}

fn request(workload: Arc<Workload>, values: &[u64]) -> Request {
    let profiles = DeviceProfiles::bundled().expect("the profiles are bundled");
    let mut plan = SchedulePlan::default();
    if !values.is_empty() {
        plan.dims.insert("batch".to_owned(), values.to_vec());
    }
    Request {
        workload,
        plan,
        options: Options::default(),
        environment: Environment::default(),
        device: profiles
            .find(DeviceProfiles::DEFAULT)
            .expect("the default profile is bundled"),
        policies: Vec::new(),
        strategy: &STRATEGIES[0],
    }
}

fn run(request: &Request) -> Comparison {
    let cancel = Cancel::new();
    compare(request, &Progress::silent(&cancel)).expect("the graph is bound")
}

fn engine(criterion: &mut Criterion) {
    let fixed = training_graph(2500, "32");
    criterion.bench_function("read 5,000 ops of native JSON", |bencher| {
        bencher.iter(|| black_box(workload(&fixed)));
    });
    let fixed = request(workload(&fixed), &[]);
    criterion.bench_function("compare, 5,000 tensors, static", |bencher| {
        bencher.iter(|| black_box(run(&fixed)));
    });
    let changing = request(workload(&training_graph(2500, "\"batch\"")), &[32, 16, 24]);
    criterion.bench_function("compare, 5,000 tensors, three shapes", |bencher| {
        bencher.iter(|| black_box(run(&changing)));
    });
    let comparison = run(&changing);
    let params = lower(&changing.options, &changing.environment, &changing.device).params;
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
