//! Graphs that the schedule loads, unloads and runs concurrently, by figures computed by hand.

use highwater::sim::fold::{self, Curves};
use highwater::sim::{
    BoundGraph, DeviceSession, EventKind, IoTensor, POLICIES, Params, Simulation, StaticMemoryPolicy,
};
use highwater::units::Bytes;
use highwater::workload::{GraphIdx, LoadChange};

use super::{MIB, bound, count, graph, grow_shrink, one_block, params, run_with, session};
use highwater::graph::TensorId;

use StaticMemoryPolicy::{Dynamic, DynamicExtend, FullExtend, StaticExtend};

fn change(before: u32, graph: u32, is_load: bool) -> LoadChange {
    LoadChange {
        before,
        graph: GraphIdx(graph),
        is_load,
    }
}

fn curves(session: &DeviceSession, policy: StaticMemoryPolicy, params: &Params) -> (Simulation, Curves) {
    let simulation = run_with(session, policy, params);
    let curves = fold::curves(&simulation);
    (simulation, curves)
}

fn roomy() -> Params {
    params(Bytes::gib(32))
}

#[test]
fn an_unloaded_graph_frees_its_arena_before_the_next_load() {
    let mut session = grow_shrink();
    session.changes = vec![change(1, 0, false)];
    for (policy, wanted) in [
        (Dynamic, [100, 300, 500]),
        // The last loaded graph is unloaded with its arena: the block of 100 is not stranded.
        (StaticExtend, [100, 300, 300]),
        (DynamicExtend, [100, 300, 500]),
        (FullExtend, [104, 304, 304]),
    ] {
        let (simulation, curves) = curves(&session, policy, &roomy());
        assert_eq!(curves.features, wanted.map(Bytes::mib), "policy {}", policy.number());
        assert_eq!(count(&simulation, EventKind::Unload), 0, "nobody made room");
    }
}

#[test]
fn an_unloaded_graph_is_reloaded_at_its_next_run() {
    let graphs = [100, 300].map(|mib| graph(true, &[one_block(mib * MIB)]));
    let mut session = session(&graphs, &[0, 1, 0]);
    // Unloading an unloaded graph and loading a loaded one do nothing.
    session.changes = vec![
        change(0, 1, false),
        change(1, 0, true),
        change(2, 0, false),
        change(3, 1, false),
    ];
    for (policy, wanted) in [(Dynamic, [100, 400, 400]), (StaticExtend, [100, 400, 400])] {
        let (simulation, curves) = curves(&session, policy, &roomy());
        assert_eq!(curves.features, wanted.map(Bytes::mib), "policy {}", policy.number());
        assert_eq!(count(&simulation, EventKind::Reload), 1);
    }
}

#[test]
fn graphs_that_are_loaded_first_hold_their_arenas_from_then_on() {
    let mut session = grow_shrink();
    session.changes = (0..3).map(|graph| change(0, graph, true)).collect();
    for (policy, wanted) in [(Dynamic, 600), (StaticExtend, 400), (DynamicExtend, 600)] {
        let (_, curves) = curves(&session, policy, &roomy());
        assert_eq!(curves.features, [Bytes::mib(wanted); 3], "policy {}", policy.number());
    }
}

#[test]
fn under_policy_4_a_graph_cannot_run_before_the_first_run_of_one_that_shares_its_block() {
    let graphs = [100, 100].map(|mib| graph(true, &[one_block(mib * MIB)]));
    let mut session = session(&graphs, &[0, 0, 1]);
    let (simulation, _) = curves(&session, FullExtend, &roomy());
    assert!(
        simulation.out_of_memory.is_none(),
        "each is loaded right before its run"
    );
    // The second graph is loaded into the first one's block, whose pages it holds until it has run.
    session.changes = vec![change(1, 1, true)];
    let (simulation, _) = curves(&session, FullExtend, &roomy());
    assert!(simulation.out_of_memory.is_some());
    assert_eq!(count(&simulation, EventKind::MemoryInUse), 1);
    let (simulation, _) = curves(&session, StaticExtend, &roomy());
    assert!(simulation.out_of_memory.is_none());
}

#[test]
fn an_unloaded_dynamic_graph_returns_its_pool_to_the_device_pool() {
    let graphs = [
        graph(false, &[bound(2, &[(0, 2, 8 * MIB)])]),
        graph(false, &[bound(2, &[(0, 2, 4 * MIB)])]),
    ];
    let mut session = session(&graphs, &[0, 1]);
    let (_, kept) = curves(&session, Dynamic, &roomy());
    assert_eq!(
        kept.features.last(),
        Some(&Bytes::mib(12)),
        "each pool keeps its blocks"
    );
    session.changes = vec![change(1, 0, false)];
    let (_, given) = curves(&session, Dynamic, &roomy());
    // The block of 8 MiB is whole in the device's pool and serves the second graph, which splits it.
    assert_eq!(given.features.last(), Some(&Bytes::mib(8)));
}

#[test]
#[expect(clippy::single_range_in_vec_init, reason = "a group is a range of runs")]
fn graphs_of_a_group_hold_their_arenas_together_where_they_have_their_own() {
    let unloading = Params {
        unloads_after_run: true,
        ..roomy()
    };
    let alone = grow_shrink();
    let mut together = alone.clone();
    together.groups = vec![0..2];
    for row in POLICIES {
        let (_, one_by_one) = curves(&alone, row.policy, &unloading);
        let (_, grouped) = curves(&together, row.policy, &unloading);
        let wanted = if row.shares_static_arena {
            // They must not run concurrently there: they are simulated one after another.
            one_by_one.features
        } else {
            assert_eq!(one_by_one.features, [100, 300, 200].map(Bytes::mib));
            [400, 400, 200].map(Bytes::mib).into_iter().collect()
        };
        assert_eq!(grouped.features, wanted, "policy {}", row.number);
    }
}

#[test]
#[expect(clippy::single_range_in_vec_init, reason = "a group is a range of runs")]
fn no_graph_of_a_group_goes_to_make_room_for_another() {
    let graphs = [100, 300].map(|mib| graph(true, &[one_block(mib * MIB)]));
    let mut session = session(&graphs, &[0, 1]);
    let small = params(Bytes::mib(390));
    let (simulation, _) = curves(&session, Dynamic, &small);
    assert!(simulation.out_of_memory.is_none());
    assert_eq!(count(&simulation, EventKind::Unload), 1, "the first graph goes");
    session.groups = vec![0..2];
    let (simulation, _) = curves(&session, Dynamic, &small);
    assert!(simulation.out_of_memory.is_some(), "100 and 300 MiB at once");
    let (simulation, _) = curves(&session, Dynamic, &params(Bytes::mib(410)));
    assert!(simulation.out_of_memory.is_none());
    assert_eq!(count(&simulation, EventKind::Unload), 0);
}

fn with_input(mut bound: BoundGraph) -> BoundGraph {
    bound.io.push(IoTensor {
        tensor: TensorId(99),
        bytes: Bytes::mib(1),
        is_input: true,
    });
    bound
}

#[test]
#[expect(clippy::single_range_in_vec_init, reason = "a group is a range of runs")]
fn dynamic_graphs_of_a_group_hold_inputs_and_outputs_together() {
    let graphs = [8, 4].map(|mib| graph(false, &[with_input(bound(1, &[(0, 1, mib * MIB)]))]));
    let mut session = session(&graphs, &[0, 1]);
    // Padded by 32 to a multiple of 512.
    let one = MIB + 512;
    let (_, alone) = curves(&session, Dynamic, &roomy());
    let io = |curves: &Curves| -> Vec<u64> {
        let both = curves.reserved.iter().zip(curves.features.iter());
        both.map(|(reserved, features)| reserved.get() - features.get())
            .collect()
    };
    assert_eq!(io(&alone), [one, one]);
    session.groups = vec![0..2];
    let (simulation, grouped) = curves(&session, Dynamic, &roomy());
    assert_eq!(io(&grouped), [2 * one, 2 * one]);
    let held = fold::curves(&simulation);
    assert_eq!(
        held.features,
        [Bytes::mib(8), Bytes::mib(12)],
        "pools fill in the order of the axis"
    );
}

#[test]
fn fifty_thousand_concurrent_pairs_cost_twice_as_much_as_half_of_them() {
    // Look-ups that scan all groups take many minutes here.
    for is_static in [true, false] {
        let graphs = [8, 4].map(|mib| graph(is_static, &[with_input(bound(2, &[(0, 2, mib * MIB)]))]));
        let n_events = |n_pairs: u32| {
            let mut session = session(&graphs, &[0, 1].repeat(n_pairs as usize));
            session.groups = (0..n_pairs).map(|pair| 2 * pair..2 * pair + 2).collect();
            run_with(&session, Dynamic, &roomy()).events.len()
        };
        let (half, all) = (n_events(25_000), n_events(50_000));
        assert!(half > 100_000 && all <= 2 * half, "{half} events, then {all}");
    }
}
