//! Invariants of every policy over random sessions, and a load for timing.

use proptest::prelude::*;

use super::*;

/// Sizes from one byte to 24 MiB, all powers of two equally likely.
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
                    is_input: false,
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

/// The parts by which two policies are compared: curves and the whole log.
fn lane(session: &DeviceSession, policy: StaticMemoryPolicy, params: &Params) -> (Curves, EventLog) {
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
    fn the_documented_arena_is_the_running_maximum(session in sessions(Just(true))) {
        let mut session = session;
        for run in &mut session.runs {
            let mut bound = (*run.bound).clone();
            bound.io.clear();
            run.bound = Arc::new(bound);
        }
        let curves = fold::curves(&run_with(&session, StaticExtend, &documented()));
        let mut arena = Bytes::ZERO;
        for run in &session.runs {
            let footprint = run.bound.plan.as_ref().expect("static graphs have plans").footprint;
            arena = arena.max(footprint);
            prop_assert_eq!(curves.features[run.start.idx()], arena);
        }
    }

    #[test]
    fn pages_of_static_graphs_cost_at_most_a_page_a_block(session in sessions(Just(true))) {
        let peak = |policy| run(&session, policy).1.reserved.iter().max().copied().unwrap_or_default();
        // A graph has a block for its plan and one for its inputs and outputs.
        let blocks = 2 * session.graphs.len() as u64;
        prop_assert!(peak(FullExtend) <= peak(Dynamic) + Bytes::mib(8 * blocks));
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
