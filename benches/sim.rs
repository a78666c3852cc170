//! Allocators: events per second of the page pools, plain (p0) and expandable (p3), over allocation traces.
//!
//! The traces are part of the corpus: `HIGHWATER_SHARED=PATH cargo bench --no-default-features --bench sim -- p3`. Each
//! round replays every trace of dynamic memory on an empty device. `-- session` times whole sessions of real graphs
//! under four policies.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use highwater::analysis::{Configuration, Request, compare};
use highwater::import::{Input, import};
use highwater::options::{Options, keys};
use highwater::progress::{Cancel, Progress};
use highwater::sim::alloc::{
    DriverRules, DynamicMemory as _, GrantId, Order, PagePoolRules, PagePools, PoolKey, SimulatedDevice,
};
use highwater::sim::simulate;
use highwater::units::Bytes;
use highwater::workload::{AllocationTrace, SchedulePlan, Source, TraceCommand, Workload};

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The device for traces that state none.
const DEVICE: Bytes = Bytes::gib(32);

/// The unit of a user's threshold.
const GIB: u64 = 1 << 30;

fn traces(folder: &Path) -> Vec<Arc<AllocationTrace>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "trace"));
    files.sort();
    let cancel = Cancel::new();
    let mut traces = Vec::new();
    for file in files {
        let bytes = std::fs::read(&file).expect("the trace can be read");
        let mut input = Input::from_bytes("bench.trace", &bytes).expect("memory can be read");
        let imported = import(&mut input, &Progress::silent(&cancel)).expect("the trace is valid");
        if let Source::Traces(found) = imported.source {
            traces.extend(found);
        }
    }
    traces
}

/// Replays a trace on an empty device; returns the number of requests to allocators.
fn replay(trace: &AllocationTrace, expands: bool, live: &mut Vec<Option<(PoolKey, GrantId)>>) -> u64 {
    let capacity = trace.device_bytes.unwrap_or(DEVICE);
    let mut device = SimulatedDevice::new(DriverRules {
        capacity,
        can_reserve: trace.can_reserve,
        has_notes: false,
    });
    let own = trace.threshold_gib.map(|gib| Bytes(gib.saturating_mul(GIB)));
    let mut pools = PagePools::new(PagePoolRules::of_device(capacity, own, expands));
    live.clear();
    live.resize(trace.names.len(), None);
    let mut pool = PoolKey::default();
    let mut asked = 0;
    for command in &trace.commands {
        device.driver.clear_calls();
        asked += 1;
        match *command {
            TraceCommand::Allocate { id, bytes } => {
                let grant = pools.allocate(pool, bytes, &mut device);
                live[id.0 as usize] = grant.ok().map(|grant| (pool, grant.id));
            }
            TraceCommand::Free { id } => {
                if let Some((pool, grant)) = live[id.0 as usize].take() {
                    pools.free(pool, grant, &mut device);
                }
            }
            TraceCommand::Use(key) => {
                pool = PoolKey(key);
                pools.manage(Order::Create(pool), &mut device);
            }
            TraceCommand::Synchronize => pools.manage(Order::Synchronize(pool), &mut device),
            TraceCommand::Recycle => pools.manage(Order::Recycle(pool), &mut device),
            TraceCommand::RecycleDevice => pools.manage(Order::RecycleDevice, &mut device),
            TraceCommand::Destroy(key) => pools.manage(Order::Destroy(PoolKey(key)), &mut device),
            _ => asked -= 1,
        }
    }
    black_box(device.driver.in_use());
    asked
}

fn pools(criterion: &mut Criterion) {
    let Some(shared) = std::env::var_os("HIGHWATER_SHARED") else {
        eprintln!("skipped: HIGHWATER_SHARED is not set");
        return;
    };
    let traces = traces(&Path::new(&shared).join("conformance/ge/dyn"));
    let mut live = Vec::new();
    for (name, expands) in [("p0", false), ("p3", true)] {
        let round = |live: &mut Vec<_>| traces.iter().map(|trace| replay(trace, expands, live)).sum::<u64>();
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(round(&mut live)));
        group.bench_function("all traces", |bencher| bencher.iter(|| round(&mut live)));
        for trace in &traces {
            group.throughput(Throughput::Elements(replay(trace, expands, &mut live)));
            let label = trace.name.as_str();
            group.bench_function(label, |bencher| bencher.iter(|| replay(trace, expands, &mut live)));
        }
        group.finish();
    }
}

/// A file of the corpus as a source.
fn graphs(path: &Path) -> Source {
    let bytes = std::fs::read(path).expect("the graph can be read");
    let name = path
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut input = Input::from_bytes(&name, &bytes).expect("memory can be read");
    let imported = import(&mut input, &Progress::silent(&Cancel::new())).expect("the graph is valid");
    imported.source
}

/// Five training graphs, once or twenty times, and a BERT of twenty lengths.
fn session(shared: &Path, iterations: u32) -> Request {
    let mut entries = Vec::new();
    for file in [
        "torch_train/bert_base_b8_s128_adamw.json",
        "torch_train/gpt2_b4_s512_adamw.json",
        "torch_train/lstm_wikitext_b20_t35_sgd.json",
        "torch_train/resnet50_b32_sgd.json",
        "torch_train/vgg16_b32_sgd.json",
        "onnx_torch/bert_base.ts.dyn.stripped.onnx",
    ] {
        if let Source::Graphs(found) = graphs(&shared.join("corpus/made").join(file)) {
            entries.extend(found);
        }
    }
    let workload = Workload::new("session".to_owned(), Source::Graphs(entries));
    let mut plan = SchedulePlan {
        iterations,
        ..SchedulePlan::default()
    };
    let lengths: Vec<u64> = (1..=20).map(|step| step * 16).collect();
    for symbol in workload.symbols() {
        let values = if symbol.contains("seq") && iterations == 1 {
            lengths.clone()
        } else if symbol.contains("seq") {
            vec![64, 128]
        } else {
            vec![8]
        };
        plan.dims.insert(symbol, values);
    }
    let mut options = Options::default();
    options
        .set_text(keys::DEVICE, "generic-80GB")
        .expect("the profile is bundled");
    let configuration = Configuration {
        options,
        plan,
        ..Configuration::default()
    };
    Request::new(workload, configuration)
}

fn sessions(criterion: &mut Criterion) {
    let Some(shared) = std::env::var_os("HIGHWATER_SHARED") else {
        eprintln!("skipped: HIGHWATER_SHARED is not set");
        return;
    };
    let mut group = criterion.benchmark_group("session");
    group.sample_size(10);
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    for (name, iterations) in [
        ("5 graphs, 20 runs of BERT", 1),
        ("20 x (5 graphs, 2 runs of BERT)", 20),
    ] {
        let request = session(Path::new(&shared), iterations);
        let comparison = compare(&request, &progress).expect("the session is simulated");
        let n_events: usize = comparison.lanes.iter().map(|lane| lane.simulation.events.len()).sum();
        group.throughput(Throughput::Elements(n_events as u64));
        let whole = format!("{name}: four policies, planned, folded and explained");
        group.bench_function(whole, |bencher| {
            bencher.iter(|| black_box(compare(&request, &progress)));
        });
        let alone = format!("{name}: the four simulations alone");
        group.bench_function(alone, |bencher| {
            bencher.iter(|| {
                for lane in 0..comparison.lanes.len() {
                    let (policy, session) = (comparison.lanes[lane].policy, comparison.lane_session(lane));
                    black_box(simulate(&session, policy, &comparison.params, &progress)).expect("nobody cancels");
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, pools, sessions);
criterion_main!(benches);
