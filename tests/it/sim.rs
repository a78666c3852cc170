//! The simulation: worked examples, invariants over random sessions, out of memory, unloading, sharing.

use std::sync::Arc;

use highwater::graph::TensorId;
use highwater::plan::{self, Plan, Problem};
use highwater::progress::{Cancel, Cancelled, Progress};
use highwater::sim::fold::{self, Curves};
use highwater::sim::{
    BoundGraph, DeviceRun, DeviceSession, Event, EventKind, IoTensor, LoadedGraph, POLICIES, Params, RegionKind,
    Simulation, SimulationDefect, StaticMemoryPolicy, Subject, Variable, simulate, verify,
};
use highwater::units::{Bytes, Step};
use highwater::workload::{DeviceProfiles, GraphIdx, Lifetime, Lifetimes, Program};
use proptest::prelude::*;

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
    let simulation = simulate(session, policy, params, &Progress::silent(&cancel)).expect("nobody cancels");
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

/// Tensors as (birth, end, bytes that the engine asks for).
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
    BoundGraph {
        program: Program {
            lifetimes,
            kept_apart: Vec::new(),
        },
        engine_sizes,
        plan: Some(Arc::new(place(&asked))),
        io: Vec::new(),
    }
}

fn place(lifetimes: &Lifetimes) -> Plan {
    let cancel = Cancel::new();
    let problem = Problem::from_lifetimes(lifetimes, 512);
    let strategy = plan::find("greedy_by_size").expect("a strategy");
    plan::plan(strategy, &problem, &Progress::silent(&cancel))
        .expect("nobody cancels")
        .plan
}

/// A graph: whether it is static, its weights, what each of its runs holds.
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
fn growing_and_shrinking_graphs_reserve_as_documented() {
    for (policy, wanted) in [
        (Dynamic, [100, 400, 600]),
        (StaticExtend, [100, 300, 300]),
        (DynamicExtend, [100, 400, 600]),
        (FullExtend, [104, 304, 304]),
    ] {
        let (_, curves) = run(&grow_shrink(), policy);
        assert_eq!(curves.features, wanted.map(Bytes::mib), "policy {}", policy.number());
        assert_eq!(curves.reserved, curves.features);
    }
}

#[test]
fn a_smaller_arena_is_reused_and_a_larger_one_reallocated() {
    let (simulation, _) = run(&grow_shrink(), StaticExtend);
    assert_eq!(count(&simulation, EventKind::Reallocate), 1);
    assert_eq!(count(&simulation, EventKind::Reuse), 1);
    assert_eq!(count(&simulation, EventKind::DeviceFree), 1);
    // Above 2 MiB arenas are whole device blocks, below they are exact.
    let graphs = [graph(true, &[one_block(512)]), graph(true, &[one_block(3 * MIB)])];
    let (_, curves) = run(&session(&graphs, &[0, 1]), StaticExtend);
    assert_eq!(curves.features, [Bytes(512), Bytes::mib(4)]);
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
    // The pool keeps the pages that the arena gave back, so the arena takes new ones once.
    assert_eq!(shared.reserved[..2], [Bytes::mib(64); 2]);
    assert_eq!(shared.reserved[2..], [Bytes::mib(128); 2]);
    assert_eq!(count(&simulation, EventKind::PageAlloc), 16);
    assert_eq!(count(&simulation, EventKind::Unmap), 8);
}

#[test]
fn dynamic_tensors_take_rounded_tails_in_order() {
    // One block of 2 MiB is cut from its end; what dies at a step is free for what is born there.
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
    assert_eq!(parts.variables, Bytes(1536));
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
fn a_full_device_unloads_graphs_in_order_and_reloads_them() {
    let mut graphs = [60, 30, 50].map(|mib| graph(true, &[one_block(mib * MIB)]));
    graphs[0].weights = vec![("w", 1 << 20)];
    let session = session(&graphs, &[0, 1, 2, 0]);
    let params = params(Bytes::mib(128));
    let simulation = run_with(&session, Dynamic, &params);
    let story: Vec<(EventKind, u32)> = simulation
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Unload | EventKind::Reload))
        .map(|event| (event.kind, event.step.0))
        .collect();
    // 60 + 1 + 30 leave 37 of 128 MiB less the 32nd kept back: the first graph goes. Its reload needs 61 of the
    // 44 that are left: the second graph goes, which is enough.
    let (unload, reload) = (EventKind::Unload, EventKind::Reload);
    assert_eq!(story, [(unload, 2), (unload, 3), (reload, 3)]);
    let curves = fold::curves(&simulation);
    assert_eq!(curves.reserved, [61, 91, 80, 111].map(Bytes::mib));
    let summary = fold::summary(&simulation, &curves, &params);
    assert_eq!((summary.unloads, summary.out_of_memory), (2, false));
    let reloaded = simulation.events.iter().find(|event| event.kind == reload);
    assert_eq!(reloaded.map(|event| event.bytes), Some(Bytes::mib(1)));
}

#[test]
fn out_of_memory_is_an_answer() {
    let graphs = [graph(
        false,
        &[bound(3, &[(0, 3, 40 * MIB), (1, 3, 80 * MIB), (2, 3, MIB)])],
    )];
    let session = session(&graphs, &[0, 0]);
    for row in POLICIES {
        let simulation = run_with(&session, row.policy, &params(Bytes::mib(100)));
        let failure = simulation
            .out_of_memory
            .as_ref()
            .expect("80 MiB beside 40 do not fit 100");
        assert_eq!(failure.step, Step(1));
        assert_eq!(
            failure.subject,
            Subject::Tensor {
                run: 0,
                tensor: TensorId(1),
                copy: 0
            }
        );
        let last = simulation.events.last().map(|event| event.kind);
        assert_eq!(last, Some(EventKind::OutOfMemory));
        assert_eq!(fold::curves(&simulation).reserved.len(), 6);
    }
}

#[test]
fn a_request_above_the_threshold_fails_after_recycling() {
    let graphs = [graph(false, &[bound(2, &[(0, 1, 40 * MIB), (1, 2, 97 * MIB)])])];
    let simulation = run_with(&session(&graphs, &[0]), Dynamic, &params(Bytes::mib(100)));
    assert!(simulation.out_of_memory.is_some());
    assert_eq!(count(&simulation, EventKind::Recycle), 1);
}

#[test]
fn idle_pages_of_other_pools_are_taken_before_memory_runs_out() {
    let graphs = [40, 80].map(|mib| graph(false, &[one_block(mib * MIB)]));
    for policy in [DynamicExtend, FullExtend] {
        let simulation = run_with(&session(&graphs, &[0, 1, 0]), policy, &params(Bytes::mib(100)));
        assert_eq!(simulation.out_of_memory, None);
        assert!(count(&simulation, EventKind::Recycle) > 0);
        let reserved = fold::curves(&simulation).reserved;
        // New pages first, all that the device has left, then the idle ones of the other pool.
        assert_eq!(reserved, [40, 96, 96].map(Bytes::mib));
    }
    // A static arena takes them as well.
    let graphs = [
        graph(false, &[one_block(40 * MIB)]),
        graph(true, &[one_block(90 * MIB)]),
    ];
    let simulation = run_with(&session(&graphs, &[0, 1]), FullExtend, &params(Bytes::mib(100)));
    assert_eq!(simulation.out_of_memory, None);
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

#[test]
fn damaged_logs_are_refused() {
    let graphs = [graph(false, &[bound(2, &[(0, 2, MIB), (0, 2, MIB)])])];
    let session = session(&graphs, &[0]);
    let (good, _) = run(&session, Dynamic);
    let damage = |change: &dyn Fn(&mut Vec<Event>)| {
        let mut bad = good.clone();
        change(&mut bad.events);
        verify(&bad, &session)
    };
    let allocs: Vec<usize> = (0..good.events.len())
        .filter(|idx| good.events[*idx].kind == EventKind::Alloc)
        .collect();
    let (first, second) = (allocs[0], allocs[1]);
    assert!(matches!(
        damage(&|events| {
            events[second].region = events[first].region;
            events[second].offset = events[first].offset + 1;
        }),
        Err(SimulationDefect::Overlap { .. } | SimulationDefect::Uncovered { .. })
    ));
    assert!(matches!(
        damage(&|events| events[first].offset = 1 << 40),
        Err(SimulationDefect::Uncovered { .. })
    ));
    assert!(matches!(
        damage(&|events| {
            events.remove(first);
        }),
        Err(SimulationDefect::Unmatched { .. })
    ));
    let mut other = session.clone();
    other.runs.clear();
    assert!(matches!(
        verify(&good, &other),
        Err(SimulationDefect::Tensors { copy: 0 })
    ));
    assert!(matches!(
        damage(&|events| events[0].region.0 = 99),
        Err(SimulationDefect::Malformed { .. })
    ));
    let mut small = good.clone();
    small.device_bytes = Bytes(1);
    assert!(matches!(
        verify(&small, &session),
        Err(SimulationDefect::OverCapacity { .. })
    ));
}

#[test]
fn blocks_on_pages_that_are_not_mapped_are_refused() {
    let session = session(&[graph(false, &[bound(2, &[(0, 2, 20 * MIB)])])], &[0]);
    let (good, _) = run(&session, DynamicExtend);
    let maps: Vec<usize> = (0..good.events.len())
        .filter(|idx| good.events[*idx].kind == EventKind::Map)
        .collect();
    assert_eq!(maps.len(), 3);
    for map in maps {
        let mut bad = good.clone();
        bad.events.remove(map);
        let answer = verify(&bad, &session);
        assert!(matches!(answer, Err(SimulationDefect::Uncovered { .. })), "{answer:?}");
        // A page that the driver never gave cannot serve either.
        let mut bad = good.clone();
        bad.events.remove(map - 1);
        let answer = verify(&bad, &session);
        assert!(
            matches!(answer, Err(SimulationDefect::LiveAboveReserved { .. })),
            "{answer:?}"
        );
    }
}

/// Sizes from one byte to 24 MiB, each power of two as likely as any other.
fn sizes() -> impl Strategy<Value = u64> {
    (0_u32..24, 0_u64..1000).prop_map(|(power, rest)| (1_u64 << power) + (rest << power) / 2000 + 32)
}

fn bounds() -> impl Strategy<Value = BoundGraph> {
    (1_u32..10).prop_flat_map(|n_steps| {
        let tensor = (0..n_steps, 1_u32..6, sizes());
        let io = proptest::collection::vec(0_u64..100_000, 0..3);
        (proptest::collection::vec(tensor, 0..14), io).prop_map(move |(mut tensors, io)| {
            tensors.sort_by_key(|tensor| tensor.0);
            for tensor in &mut tensors {
                tensor.1 = (tensor.0 + tensor.1).min(n_steps);
            }
            let mut bound = bound(n_steps, &tensors);
            bound.io = (100..)
                .zip(io)
                .map(|(idx, bytes)| IoTensor {
                    tensor: TensorId(idx),
                    bytes: Bytes(bytes),
                })
                .collect();
            bound
        })
    })
}

fn graphs_of(is_static: impl Strategy<Value = bool>) -> impl Strategy<Value = Graph> {
    let weight = (
        prop_oneof![Just("a"), Just("b"), Just("c")],
        prop_oneof![Just(1000_u64), Just(5 * MIB)],
    );
    (
        is_static,
        proptest::collection::vec(weight, 0..3),
        proptest::collection::vec(bounds(), 1..4),
    )
        .prop_map(|(is_static, mut weights, runs)| {
            weights.sort_unstable();
            weights.dedup();
            let kept = if is_static { 1 } else { runs.len() };
            Graph {
                weights,
                ..graph(is_static, &runs[..kept])
            }
        })
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph")
            .field("is_static", &self.is_static)
            .field("weights", &self.weights)
            .field("runs", &self.runs)
            .finish()
    }
}

fn sessions(is_static: impl Strategy<Value = bool>) -> impl Strategy<Value = DeviceSession> {
    let graphs = proptest::collection::vec(graphs_of(is_static), 1..4);
    (graphs, proptest::collection::vec(0_usize..100, 0..10)).prop_map(|(graphs, picks)| {
        let schedule: Vec<u32> = picks
            .iter()
            .map(|pick| u32::try_from(pick % graphs.len()).expect("few graphs"))
            .collect();
        session(&graphs, &schedule)
    })
}

fn any_params() -> impl Strategy<Value = Params> {
    let device = prop_oneof![Just(32_u64 << 10), Just(256), Just(100), Just(40), Just(9)];
    (device, 1_u32..3, any::<bool>()).prop_map(|(mib, feature_copies, share_weights)| Params {
        feature_copies,
        share_weights,
        ..params(Bytes::mib(mib))
    })
}

/// What two policies are compared by: curves and the whole log.
fn lane(session: &DeviceSession, policy: StaticMemoryPolicy, params: &Params) -> (Curves, Vec<Event>) {
    let simulation = run_with(session, policy, params);
    (fold::curves(&simulation), simulation.events)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_log_is_valid_and_repeats(session in sessions(any::<bool>()), params in any_params()) {
        for row in POLICIES {
            let first = run_with(&session, row.policy, &params);
            prop_assert_eq!(&first, &run_with(&session, row.policy, &params));
        }
    }

    #[test]
    fn policies_0_and_3_agree_on_static_graphs(session in sessions(Just(true)), params in any_params()) {
        prop_assert_eq!(lane(&session, Dynamic, &params), lane(&session, DynamicExtend, &params));
    }

    #[test]
    fn policies_0_and_2_agree_on_dynamic_graphs(session in sessions(Just(false)), params in any_params()) {
        prop_assert_eq!(lane(&session, Dynamic, &params), lane(&session, StaticExtend, &params));
        prop_assert_eq!(lane(&session, DynamicExtend, &params), lane(&session, FullExtend, &params));
    }

    #[test]
    fn the_shared_arena_is_the_running_maximum(session in sessions(Just(true))) {
        let (_, curves) = run(&session, StaticExtend);
        let mut arena = Bytes::ZERO;
        for run in &session.runs {
            let footprint = run.bound.plan.as_ref().expect("static graphs have plans").footprint;
            let block = if footprint > Bytes::mib(2) { footprint.align_up(2 * MIB) } else { footprint };
            arena = arena.max(block);
            prop_assert_eq!(curves.features[run.start.idx()], arena);
        }
    }

    #[test]
    fn pages_of_static_graphs_cost_at_most_one_page_more(session in sessions(Just(true))) {
        let peak = |policy| run(&session, policy).1.features.iter().max().copied().unwrap_or_default();
        prop_assert!(peak(FullExtend) <= peak(Dynamic) + Bytes::mib(8));
    }

    #[test]
    fn bytes_in_use_never_fall_while_pages_are_pooled(session in sessions(any::<bool>())) {
        let (simulation, _) = run(&session, FullExtend);
        let freed = simulation.events.iter().filter(|event| event.kind == EventKind::DeviceFree);
        for event in freed {
            prop_assert_eq!(simulation.region(event.region).kind, RegionKind::InputOutput);
        }
        prop_assert_eq!(count(&simulation, EventKind::PageFree), 0);
    }
}

/// Not a check: run it alone in release and divide its time by 4 policies, 500 rounds, 10,000 allocations and frees.
#[test]
#[ignore = "a load to be timed from outside"]
fn five_thousand_tensors_five_hundred_times() {
    let tensors: Vec<(u32, u32, u64)> = (0..5000_u32)
        .map(|idx| {
            (
                idx,
                (idx + 1 + idx * 7 % 60).min(5000),
                1 + u64::from(idx * 2_654_435 % 3000) * 1024,
            )
        })
        .collect();
    let session = session(&[graph(false, &[bound(5000, &tensors)])], &[0]);
    let params = params(Bytes::gib(32));
    let cancel = Cancel::new();
    for _ in 0..500 {
        for row in POLICIES {
            let simulation =
                simulate(&session, row.policy, &params, &Progress::silent(&cancel)).expect("nobody cancels");
            assert!(simulation.events.len() > 10_000);
        }
    }
}
