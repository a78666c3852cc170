//! The simulation by worked examples; a full device, random sessions and damaged logs in the submodules.

mod costs;
mod defects;
mod full_device;
mod loads;
mod page_pools;
mod pictures;
mod random;
mod real_graphs;

use std::sync::Arc;

use highwater::graph::TensorId;
use highwater::plan::{self, PlacementProblem, Plan};
use highwater::progress::{Cancel, Cancelled, Progress};
use highwater::sim::fold::{self, Curves};
use highwater::sim::{
    ArenaBehaviour, BoundGraph, DeviceRun, DeviceSession, Event, EventKind, EventLog, IoTensor, LoadedGraph, POLICIES,
    Params, RegionKind, Segment, Simulation, SimulationDefect, StaticMemoryPolicy, Subject, Variable, simulate, verify,
};
use highwater::units::{Bytes, Step};
use highwater::workload::{DeviceProfiles, GraphIdx, Lifetime, Lifetimes, Program};

use StaticMemoryPolicy::{Dynamic, DynamicExtend, FullExtend, StaticExtend};

const MIB: u64 = 1 << 20;

fn params(device: Bytes) -> Params {
    let profiles = DeviceProfiles::bundled().expect("bundled profiles");
    let profile = profiles.find(DeviceProfiles::DEFAULT).expect("the default profile");
    Params {
        device_bytes: device,
        ..Params::for_device(&profile)
    }
}

fn run_with(session: &DeviceSession, policy: StaticMemoryPolicy, params: &Params) -> Simulation {
    let cancel = Cancel::new();
    let simulation = simulate(session, policy, params, &Progress::silent(&cancel)).expect("no cancel");
    assert_eq!(verify(&simulation, session), Ok(()), "policy {}", policy.number());
    simulation
}

fn run(session: &DeviceSession, policy: StaticMemoryPolicy) -> (Simulation, Curves) {
    let simulation = run_with(session, policy, &params(Bytes::gib(32)));
    let curves = fold::curves(&simulation);
    (simulation, curves)
}

fn count(simulation: &Simulation, kind: EventKind) -> usize {
    simulation.events.iter().filter(|event| event.kind == kind).count()
}

/// Tensors as (birth, end, requested bytes).
fn bound(n_steps: u32, tensors: &[(u32, u32, u64)]) -> BoundGraph {
    let item = |(idx, (birth, end, bytes)): (u32, &(u32, u32, u64))| Lifetime {
        birth: Step(*birth),
        end: Step(*end),
        bytes: Bytes(bytes.saturating_sub(32)),
        tensor: TensorId(idx),
    };
    let items: Vec<Lifetime> = (0_u32..).zip(tensors).map(item).collect();
    let engine_sizes: Vec<Bytes> = tensors.iter().map(|tensor| Bytes(tensor.2)).collect();
    let mut asked = Lifetimes { n_steps, items };
    let lifetimes = asked.clone();
    for (item, size) in asked.items.iter_mut().zip(&engine_sizes) {
        item.bytes = *size;
    }
    let plan = place(&asked);
    BoundGraph {
        program: Program {
            lifetimes,
            separate: Vec::new(),
        },
        engine_sizes,
        segments: vec![Segment {
            base: 0,
            bytes: plan.footprint,
        }],
        plan: Some(Arc::new(plan)),
        io: Vec::new(),
        clears: Vec::new(),
        recorded: None,
    }
}

fn place(lifetimes: &Lifetimes) -> Plan {
    let cancel = Cancel::new();
    let problem = PlacementProblem::from_lifetimes(lifetimes, 512);
    let strategy = plan::find("greedy_by_size").expect("a strategy");
    plan::plan(strategy, &plan::PlanRequest::new(&problem), &Progress::silent(&cancel))
        .expect("no cancel")
        .plan
}

/// A graph: whether it is static, its weights, the contents of each run.
struct Graph {
    is_static: bool,
    weights: Vec<(&'static str, u64)>,
    runs: Vec<Arc<BoundGraph>>,
}

fn graph(is_static: bool, runs: &[BoundGraph]) -> Graph {
    Graph {
        is_static,
        weights: Vec::new(),
        runs: runs.iter().cloned().map(Arc::new).collect(),
    }
}

/// A session that runs graphs in the order of `schedule`; the n-th run of a graph takes its n-th binding (cyclic).
fn session(graphs: &[Graph], schedule: &[u32]) -> DeviceSession {
    let variable = |(name, bytes): &(&str, u64)| Variable {
        name: (*name).into(),
        bytes: Bytes(*bytes),
    };
    let mut session = DeviceSession {
        graphs: graphs
            .iter()
            .map(|graph| LoadedGraph {
                name: "graph".to_owned(),
                is_static: graph.is_static,
                has_collectives: false,
                weights: graph.weights.iter().map(variable).collect(),
            })
            .collect(),
        ..DeviceSession::default()
    };
    let mut turns = vec![0_usize; graphs.len()];
    for idx in schedule {
        let at = *idx as usize;
        let runs = &graphs[at].runs;
        let bound = Arc::clone(&runs[turns[at] % runs.len()]);
        turns[at] += 1;
        let n_steps = bound.program.lifetimes.n_steps;
        session.runs.push(DeviceRun {
            graph: GraphIdx(*idx),
            bound,
            start: Step(session.n_steps),
            n_steps,
        });
        session.n_steps += n_steps;
    }
    session
}

fn one_block(bytes: u64) -> BoundGraph {
    bound(1, &[(0, 1, bytes)])
}

/// Three static graphs of 100, 300 and 200 MiB, run once each.
fn grow_shrink() -> DeviceSession {
    let graphs = [100, 300, 200].map(|mib| graph(true, &[one_block(mib * MIB)]));
    session(&graphs, &[0, 1, 2])
}

#[test]
fn growing_and_shrinking_graphs_reserve_as_the_engine_does() {
    for (policy, wanted) in [
        (Dynamic, [100, 400, 600]),
        (StaticExtend, [100, 400, 400]),
        (DynamicExtend, [100, 400, 600]),
        (FullExtend, [104, 304, 304]),
    ] {
        let (_, curves) = run(&grow_shrink(), policy);
        assert_eq!(curves.features, wanted.map(Bytes::mib), "policy {}", policy.number());
        assert_eq!(curves.reserved, curves.features);
    }
}

/// Policy 2 as documented.
fn documented() -> Params {
    Params {
        arena_behaviour: ArenaBehaviour::Documented,
        ..params(Bytes::gib(32))
    }
}

#[test]
fn as_documented_a_smaller_arena_is_reused_and_a_larger_one_reallocated() {
    let simulation = run_with(&grow_shrink(), StaticExtend, &documented());
    assert_eq!(fold::curves(&simulation).features, [100, 300, 300].map(Bytes::mib));
    assert_eq!(count(&simulation, EventKind::Reallocate), 1);
    assert_eq!(count(&simulation, EventKind::Reuse), 1);
    assert_eq!(count(&simulation, EventKind::DeviceFree), 1);
}

#[test]
fn a_piece_that_fits_an_old_block_goes_there() {
    // The second graph has two segments of 200 and 100 MiB: the smaller one fits the block of the first graph.
    let mut second = bound(1, &[(0, 1, 200 * MIB), (0, 1, 100 * MIB)]);
    second.segments = vec![
        Segment {
            base: 0,
            bytes: Bytes::mib(200),
        },
        Segment {
            base: 200 * MIB,
            bytes: Bytes::mib(100),
        },
    ];
    let graphs = [graph(true, &[one_block(100 * MIB)]), graph(true, &[second])];
    let (_, curves) = run(&session(&graphs, &[0, 1]), StaticExtend);
    assert_eq!(curves.features, [100, 300].map(Bytes::mib));
}

#[test]
fn static_and_dynamic_graphs_share_pages_over_time() {
    let graphs = [
        graph(true, &[one_block(64 * MIB)]),
        graph(false, &[one_block(64 * MIB)]),
    ];
    let session = session(&graphs, &[0, 1, 0, 1]);
    let (_, own) = run(&session, DynamicExtend);
    let (simulation, shared) = run(&session, FullExtend);
    assert_eq!(own.reserved[3], Bytes::mib(128));
    // The pool keeps the pages that the arena freed, so the arena takes new ones once.
    assert_eq!(shared.reserved, [64, 64, 128, 128].map(Bytes::mib));
    assert_eq!(count(&simulation, EventKind::PageAlloc), 16);
    assert_eq!(count(&simulation, EventKind::Unmap), 8);
}

#[test]
fn dynamic_tensors_take_rounded_tails_in_order() {
    // One block of 2 MiB is split from its end; memory freed at a step is available to births on it.
    let page = 64 << 10;
    let graphs = [graph(
        false,
        &[bound(3, &[(0, 2, page), (0, 1, 100), (1, 3, 32), (2, 3, 2 * page)])],
    )];
    let (simulation, _) = run(&session(&graphs, &[0]), Dynamic);
    let placed: Vec<(u64, u64)> = simulation
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Alloc)
        .map(|event| (event.offset / page, event.bytes.get() / page))
        .collect();
    assert_eq!(placed, [(31, 1), (30, 1), (30, 1), (28, 2)]);
}

#[test]
fn copies_of_feature_memory_are_live_at_once() {
    let graphs = [
        graph(true, &[one_block(32 * MIB)]),
        graph(false, &[one_block(16 * MIB)]),
    ];
    let session = session(&graphs, &[0, 1]);
    for (policy, peak) in [(Dynamic, 96), (StaticExtend, 96), (DynamicExtend, 96), (FullExtend, 64)] {
        let params = Params {
            feature_copies: 2,
            ..params(Bytes::gib(1))
        };
        let curves = fold::curves(&run_with(&session, policy, &params));
        assert_eq!(curves.features[1], Bytes::mib(peak), "policy {}", policy.number());
        assert_eq!(curves.live[0], Bytes(2 * (32 * MIB - 32)));
    }
}

#[test]
fn variables_weights_and_io_are_counted_apart() {
    let mut io = one_block(MIB);
    io.io = vec![IoTensor {
        tensor: TensorId(9),
        bytes: Bytes(100),
        is_input: false,
    }];
    let mut graphs = [graph(true, &[io.clone()]), graph(false, &[io])];
    graphs[0].weights = vec![("w", 1000), ("v", 24)];
    graphs[1].weights = vec![("w", 1000)];
    let mut session = session(&graphs, &[0, 1]);
    session.variables = vec![Variable {
        name: "global_step".into(),
        bytes: Bytes(288),
    }];
    let mut params = params(Bytes::gib(1));
    let figures = |params: &Params| {
        let simulation = run_with(&session, Dynamic, params);
        fold::summary(&simulation, &fold::curves(&simulation), params).reserved
    };
    let parts = figures(&params);
    assert_eq!(parts.variables, Bytes::mib(2));
    assert_eq!(parts.weights, Bytes(2024));
    assert_eq!(parts.io, Bytes(2 * 512));
    assert_eq!(parts.features, Bytes::mib(3));
    params.share_weights = true;
    params.variables_on_host = true;
    let parts = figures(&params);
    assert_eq!((parts.variables, parts.weights), (Bytes::ZERO, Bytes(1024)));
}

#[test]
fn io_of_a_dynamic_graph_is_held_per_run_unless_its_size_stays() {
    let with_io = |bytes| {
        let mut bound = one_block(MIB);
        bound.io = vec![IoTensor {
            tensor: TensorId(9),
            bytes: Bytes(bytes),
            is_input: false,
        }];
        bound
    };
    let graphs = [graph(false, &[with_io(10), with_io(10), with_io(5000)])];
    let (simulation, _) = run(&session(&graphs, &[0, 0, 0]), Dynamic);
    let io: Vec<(EventKind, u32)> = simulation
        .events
        .iter()
        .filter(|event| simulation.region(event.region).kind == RegionKind::InputOutput)
        .map(|event| (event.kind, event.step.0))
        .collect();
    let (malloc, free) = (EventKind::DeviceMalloc, EventKind::DeviceFree);
    assert_eq!(io, [(malloc, 0), (free, 2), (malloc, 2), (free, 3)]);
}

#[test]
fn a_set_flag_cancels() {
    let cancel = Cancel::new();
    cancel.cancel();
    let answer = simulate(
        &grow_shrink(),
        Dynamic,
        &params(Bytes::gib(1)),
        &Progress::silent(&cancel),
    );
    assert_eq!(answer, Err(Cancelled));
}

#[test]
fn an_empty_session_is_simulated() {
    for row in POLICIES {
        let (simulation, curves) = run(&DeviceSession::default(), row.policy);
        assert!(simulation.events.is_empty() && curves.reserved.is_empty());
    }
}
