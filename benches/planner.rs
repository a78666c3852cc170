//! The planner compared with its peers: a table of footprints and user CPU time with the peers' recorded figures, then
//! measurements of single strategies.
//!
//! The table needs the corpus: `HIGHWATER_SHARED=PATH cargo bench --bench planner`. Without it only the synthetic
//! problem is measured. The peers' figures were recorded with their builds on another machine.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use highwater::import::{Input, import};
use highwater::plan::{Limits, PlacementProblem, PlanRequest, Planned, find, plan, verify};
use highwater::progress::{Cancel, Progress};
use highwater::units::Bytes;
use highwater::workload::Source;

mod size;
#[path = "synthetic_problem.rs"]
mod synthetic_problem;

use synthetic_problem::nested_and_short;

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The challenging set and MiniMalloc's user seconds on it (median of three, `-O3`, abseil of Debian 12).
const MINIMALLOC: [(&str, f64); 11] = [
    ("A", 4.60),
    ("B", 3.49),
    ("C", 0.62),
    ("D", 2.46),
    ("E", 3.44),
    ("F", 4.75),
    ("G", 1.05),
    ("H", 1.58),
    ("I", 3.43),
    ("J", 0.83),
    ("K", 0.55),
];

/// The capacity of the challenging set.
const CAPACITY: Bytes = Bytes(1_048_576);

/// Larger problems: file, strategy, time limit in seconds (`None`: until it ends), and the peer's figure.
const LARGE: &[(&str, &str, Option<f64>, &str)] = &[
    (
        "idealloc_somas_tensors_resnet50",
        "exact",
        None,
        "0.00 % in 0.71 s (MiniMalloc)",
    ),
    ("idealloc_iopddl_G_1", "exact", None, "0.28 % in 0.01 s (idealloc)"),
    (
        "idealloc_somas_tensors_pangu_2.6B",
        "gap_first_size",
        None,
        "3.34 % in 1.00 s (idealloc)",
    ),
    (
        "idealloc_somas_tensors_pangu_2.6B",
        "best",
        Some(5.0),
        "3.34 % in 1.00 s (idealloc)",
    ),
    (
        "idealloc_iopddl_S_1",
        "gap_first_size",
        None,
        "2.34 % in 2.3 s (idealloc, size/first)",
    ),
    (
        "idealloc_iopddl_S_1",
        "gap_best_size",
        None,
        "3.35 % (idealloc, size/best)",
    ),
    (
        "idealloc_iopddl_S_1",
        "best",
        Some(10.0),
        "2.34 % in 2.3 s (idealloc, size/first)",
    ),
    (
        "minimalloc_C.1048576",
        "exact",
        Some(10.0),
        "1039360 in 0.02 s (MiniMalloc)",
    ),
    (
        "minimalloc_D.1048576",
        "exact",
        Some(10.0),
        "1038336 in 3.1 s (MiniMalloc)",
    ),
    (
        "minimalloc_J.1048576",
        "exact",
        Some(10.0),
        "1041408 in 7.1 s (MiniMalloc)",
    ),
];

fn corpus() -> Option<PathBuf> {
    let shared = std::env::var_os("HIGHWATER_SHARED")?;
    let folder = PathBuf::from(shared).join("corpus/fetched/alloc_benchmarks");
    folder.is_dir().then_some(folder)
}

fn read(folder: &std::path::Path, name: &str) -> PlacementProblem {
    let path = folder.join(format!("{name}.csv"));
    let bytes = std::fs::read(&path).expect("the corpus is complete");
    let cancel = Cancel::new();
    let mut input = Input::from_bytes(name, &bytes).expect("memory can be read");
    let imported = import(&mut input, &Progress::silent(&cancel)).expect("the problem is valid");
    match imported.source {
        Source::Problems(entries) => entries[0].problem.clone(),
        _ => panic!("{name} is a placement problem"),
    }
}

fn run(strategy: &str, problem: &PlacementProblem, limits: Limits<'_>) -> Planned {
    let cancel = Cancel::new();
    let request = PlanRequest {
        limits,
        ..PlanRequest::new(problem)
    };
    let row = find(strategy).expect("a row of the table");
    plan(row, &request, &Progress::silent(&cancel)).expect("nobody cancels")
}

/// User and system CPU time of the process, in seconds; 0 where the system does not state it.
fn cpu_seconds() -> f64 {
    // Fields 14 and 15 after the name in brackets, in ticks of a hundredth of a second on every Linux.
    let Ok(text) = std::fs::read_to_string("/proc/self/stat") else {
        return 0.0;
    };
    let behind = text.rsplit(')').next().unwrap_or("");
    let ticks: f64 = behind
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    ticks / 100.0
}

/// The answer, and CPU and wall seconds of one run: the mean of enough runs to outweigh a tick.
#[expect(clippy::disallowed_methods, reason = "a bench owns a clock")]
fn timed(mut once: impl FnMut() -> Planned) -> (Planned, f64, f64) {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let mut planned = once();
    let mut runs = 1.0;
    while start.elapsed().as_secs_f64() < 0.5 {
        planned = once();
        runs += 1.0;
    }
    (
        planned,
        (cpu_seconds() - cpu) / runs,
        start.elapsed().as_secs_f64() / runs,
    )
}

#[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
fn over_bound(planned: &Planned) -> f64 {
    (planned.plan.footprint.get() as f64 / planned.lower_bound.get().max(1) as f64 - 1.0) * 100.0
}

/// Sets a flag after that many seconds.
fn deadline(seconds: f64) -> Cancel {
    let stop = Cancel::new();
    let flag = stop.clone();
    let watch = std::thread::Builder::new().name("deadline".to_owned());
    let spawned = watch.spawn(move || {
        std::thread::sleep(std::time::Duration::from_secs_f64(seconds));
        flag.cancel();
    });
    drop(spawned.expect("a thread"));
    stop
}

#[expect(clippy::print_stdout, reason = "the table is what this bench is for")]
fn table(folder: &std::path::Path) {
    println!("\nexact at capacity {CAPACITY}, CPU seconds of all threads");
    println!(
        "{:8}{:>9}{:>10}{:>9}{:>12}{:>8}",
        "problem", "fits", "nodes", "ours", "MiniMalloc", "ratio"
    );
    let (mut ours, mut theirs) = (0.0, 0.0);
    for (name, peer) in MINIMALLOC {
        let problem = read(folder, &format!("minimalloc_{name}.1048576"));
        let limits = Limits {
            capacity: Some(CAPACITY),
            nodes: u64::MAX,
            ..Limits::default()
        };
        let (planned, cpu, _) = timed(|| run("exact", &problem, limits));
        assert_eq!(verify(&problem, &planned.plan), Ok(()));
        let fits = planned.plan.footprint <= CAPACITY;
        println!(
            "{name:8}{fits:>9}{:>10}{cpu:>9.3}{peer:>12.2}{:>7.0}x",
            planned.nodes,
            peer / cpu.max(1e-9)
        );
        ours += cpu;
        theirs += peer;
    }
    println!(
        "{:8}{:>9}{:>10}{ours:>9.3}{theirs:>12.2}{:>7.0}x",
        "sum",
        "",
        "",
        theirs / ours
    );

    println!(
        "\n{:36}{:16}{:>14}{:>9}{:>9}{:>9}  today's best",
        "problem", "strategy", "footprint", "over", "CPU s", "wall s"
    );
    for (name, strategy, seconds, peer) in LARGE {
        let problem = read(folder, name);
        let (planned, cpu, wall) = timed(|| {
            let stop = seconds.map(deadline);
            let limits = Limits {
                nodes: if stop.is_some() {
                    u64::MAX
                } else {
                    Limits::DEFAULT_NODES
                },
                stop: stop.as_ref(),
                ..Limits::default()
            };
            run(strategy, &problem, limits)
        });
        assert_eq!(verify(&problem, &planned.plan), Ok(()));
        let mark = if planned.is_optimal() { "*" } else { " " };
        println!(
            "{name:36}{strategy:16}{:>14}{:>7.2} %{mark}{cpu:>8.2}{wall:>9.2}  {peer}",
            planned.plan.footprint.get(),
            over_bound(&planned)
        );
    }
    println!("* proven optimal\n");
}

#[expect(clippy::print_stdout, reason = "the table is what this bench is for")]
fn million() {
    let problem = nested_and_short(size::size(1_000_000, 2000));
    println!("{} synthetic buffers (30 % nested, 70 % short)", problem.buffers.len());
    for strategy in ["skyline", "best_fit", "best"] {
        let (planned, cpu, wall) = timed(|| run(strategy, &problem, Limits::default()));
        println!(
            "{strategy:16}{:>7.3} % over the bound{cpu:>8.2} CPU s{wall:>8.2} wall s",
            over_bound(&planned)
        );
    }
}

fn planner(criterion: &mut Criterion) {
    if let Some(folder) = corpus() {
        table(&folder);
        let pangu = read(&folder, "idealloc_somas_tensors_pangu_2.6B");
        for strategy in ["greedy_by_size", "gap_first_size", "best_fit", "skyline"] {
            criterion.bench_function(&format!("{strategy}, 18,692 buffers"), |bencher| {
                bencher.iter(|| run(strategy, black_box(&pangu), Limits::default()));
            });
        }
    }
    million();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = planner
}
criterion_main!(benches);
