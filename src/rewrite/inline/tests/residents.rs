//! Residents, returned weights and stated scratch memory of bodies.

use super::*;

#[test]
fn what_loops_and_branches_keep_resident_counts_once() {
    let main = "main: a input 8, b 8, d 8, e 8 | f If a -> b, g While b -> d, h Call d -> e | e";
    let around = "around: x input 8, own weight 7, handle parameter 64, y 8 | in While x own handle -> y | y";
    // The layer is run by a branch, by a loop within a loop, and called.
    let uses: &[Use<'_>] = &[
        (0, 0, 1, &[], &[]),
        (0, 1, 2, &[], &[]),
        (0, 2, 1, &[(0, 2)], &[(3, 4)]),
        (2, 0, 1, &[], &[]),
    ];
    let mut entry = entry(&[main, LAYER, around], uses);
    for (position, kind) in [(0, UseKind::Branch), (1, UseKind::Loop), (3, UseKind::Loop)] {
        entry.uses[position].kind = kind;
        entry.uses[position].map = None;
    }
    let done = inlined(&mut entry, MAX_OPS);
    assert_eq!((done.calls, done.uncounted), (1, 0));
    let graph = &entry.graph;
    let sizes = graph.sizes(&Bindings::new());
    let storages = graph.storages().iter_ids();
    let resident = storages.filter(|(_, storage)| graph.tensors()[storage.root].role.is_resident());
    let mut found: Vec<(&str, u64)> = resident
        .map(|(id, storage)| (graph.tensor_name(storage.root), sizes.storage(id)))
        .collect();
    found.sort_unstable();
    assert_eq!(found, [("g/own", 7), ("h/c", 50), ("h/w", 100), ("v", 30)]);
}

#[test]
fn a_weight_that_is_handed_out_twice_is_one() {
    let main = "main: a input 8, b 8, d 8, e 8 | f Call a -> b, g Call a -> d, add Add b d -> e | e";
    let body = "body: x input 8, w weight 8 | | w";
    let uses: &[Use<'_>] = &[(0, 0, 1, &[(0, 0)], &[(1, 1)]), (0, 1, 1, &[(0, 0)], &[(2, 1)])];
    let mut entry = entry(&[main, body], uses);
    assert_eq!(inlined(&mut entry, MAX_OPS).calls, 2);
    let graph = &entry.graph;
    let tensor = |id: u32| &graph.tensors()[TensorId(id)];
    assert_eq!((tensor(1).role, tensor(2).role), (Weight, Weight));
    assert_eq!(tensor(1).storage, tensor(2).storage);
}

#[test]
fn a_call_of_nothing_stays_where_it_states_scratch_memory() {
    for (role, calls) in [("workspace ", 0), ("", 1)] {
        let main = format!("main: a input 8, b 8, s {role}5 | f Call a -> b s | b");
        let body = "body: x input 8 | | x";
        let uses: &[Use<'_>] = &[(0, 0, 1, &[(0, 0)], &[(1, 0)])];
        let mut entry = entry(&[&main, body], uses);
        assert_eq!(inlined(&mut entry, MAX_OPS).calls, calls, "{role}");
    }
}
