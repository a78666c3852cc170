//! Hand-written calls: sharing, removed ops, calls that stay. Random graphs: `tests/it/inline.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use highwater_model::graph::Role::{Activation, Constant, Input, Parameter, Weight, Workspace};
use highwater_model::graph::{Bindings, DType, Dim, GraphBuilder, NewOp, NewTensor, Phase};
use highwater_model::progress::Cancel;
use highwater_model::workload::DumpedOffsets;

mod residents;

/// A graph from text: its name, tensors (`name role bytes`; without a role an activation, of 0 bytes unknown), ops
/// (`name kind operands -> results`) and outputs.
fn graph(text: &str) -> Arc<Graph> {
    let (name, rest) = text.split_once(": ").expect("a name");
    let parts: Vec<&str> = rest.split('|').collect();
    let [tensors, ops, outputs] = parts[..] else {
        panic!("tensors | ops | outputs")
    };
    let mut builder = GraphBuilder::new(name);
    let mut names: Vec<&str> = Vec::new();
    for tensor in tensors.split(',') {
        let words: Vec<&str> = tensor.split_whitespace().collect();
        let bytes: u64 = words[words.len() - 1].parse().expect("bytes");
        let role = [Input, Weight, Constant, Parameter, Workspace];
        let role = role.into_iter().find(|role| role.name() == words[1]);
        let new = NewTensor {
            name: words[0],
            dtype: DType::Uint8,
            shape: (bytes > 0).then(|| builder.shape(&[Dim::Known(bytes)])),
            role: role.unwrap_or(Activation),
        };
        builder.tensor(new).expect("a tensor");
        names.push(words[0]);
    }
    let id = |name: &str| names.iter().position(|other| *other == name).map(TensorId::from_idx);
    let ids = |text: &str| -> Vec<TensorId> {
        text.split_whitespace()
            .map(|name| id(name).expect("a tensor"))
            .collect()
    };
    for op in ops.split(',').filter(|op| !op.trim().is_empty()) {
        let (head, results) = op.split_once("->").expect("results");
        let mut words = head.trim().splitn(3, ' ');
        let new = NewOp {
            name: words.next().expect("a name"),
            kind: words.next().expect("a kind"),
            operands: &ids(words.next().unwrap_or("")),
            results: &ids(results),
            ..NewOp::default()
        };
        builder.op(new).expect("an op");
    }
    for output in ids(outputs) {
        builder.output(output);
    }
    Arc::new(builder.finish().expect("a graph"))
}

/// A use: graph, op, body, pairs of inputs (the body's first), pairs of results (the caller's first).
type Use<'a> = (u32, u32, u32, &'a [(u32, u32)], &'a [(u32, u32)]);

fn entry(graphs: &[&str], uses: &[Use<'_>]) -> GraphEntry {
    let pairs = |pairs: &[(u32, u32)]| pairs.iter().map(|(a, b)| (TensorId(*a), TensorId(*b))).collect();
    let mut entry = GraphEntry::new("main".to_owned(), graph(graphs[0]));
    entry.bodies = graphs[1..].iter().map(|text| graph(text)).collect();
    entry.uses = uses
        .iter()
        .map(|(graph, op, body, inputs, results)| BodyUse {
            graph: *graph,
            op: OpId(*op),
            body: *body,
            kind: UseKind::Call,
            map: Some(BodyMap {
                inputs: pairs(inputs),
                results: pairs(results),
            }),
        })
        .collect();
    entry
}

fn inlined(entry: &mut GraphEntry, max_ops: u64) -> Inlined {
    let cancel = Cancel::new();
    inline(entry, max_ops, &Progress::silent(&cancel)).expect("not cancelled")
}

/// Ops as `name(operands)->results`.
fn text(graph: &Graph) -> String {
    let names = |tensors: &[TensorId]| {
        let names: Vec<&str> = tensors.iter().map(|tensor| graph.tensor_name(*tensor)).collect();
        names.join(",")
    };
    let ops = graph.ops().ids().map(|op| {
        let (operands, results) = (names(graph.operands(op)), names(graph.results(op)));
        format!("{}({operands})->{results}", graph.op_name(op))
    });
    ops.collect::<Vec<_>>().join(" ")
}

/// `f(x) = c * x` with its own weight `c`.
const LAYER: &str = "layer: x input 8, w weight 100, c constant 50, v parameter 30, y 8 | \
    c Const -> c, v VarHandleOp -> v, mul Mul x w c v -> y | y";

#[test]
fn what_a_body_keeps_resident_counts_once_however_often_it_is_called() {
    let main = "main: a input 8, b 0, d 8, e 8 | f Call a -> b, g Call b -> d, h Call d -> e | e";
    // `h` calls the layer through another function.
    let outer = "outer: x input 8, y 8 | in Call x -> y | y";
    let uses: &[Use<'_>] = &[
        (0, 0, 1, &[(0, 0)], &[(1, 4)]),
        (0, 1, 1, &[(0, 1)], &[(2, 4)]),
        (0, 2, 2, &[(0, 2)], &[(3, 1)]),
        (2, 0, 1, &[(0, 0)], &[(1, 4)]),
    ];
    let mut entry = entry(&[main, LAYER, outer], uses);
    let done = inlined(&mut entry, MAX_OPS);
    assert_eq!((done.calls, done.ops_before, done.ops, done.too_large), (3, 3, 9, 0));
    let graph = &entry.graph;
    assert_eq!(
        text(graph),
        "f/c()->f/c f/v()->v f/mul(a,f/w,f/c,v)->f/y g/c()->g/c g/v()->v g/mul(f/y,f/w,g/c,v)->g/y \
         h/in/c()->h/in/c h/in/v()->v h/in/mul(g/y,f/w,h/in/c,v)->h/in/y"
    );
    let sizes = graph.sizes(&Bindings::new());
    let mut resident: BTreeMap<&str, u64> = BTreeMap::new();
    for (id, storage) in graph.storages().iter_ids() {
        let role = graph.tensors()[storage.root].role;
        if role.is_resident() {
            *resident.entry(role.name()).or_default() += sizes.storage(id);
        }
    }
    assert_eq!(
        resident,
        BTreeMap::from([("weight", 100), ("constant", 50), ("parameter", 30)])
    );
    // A result of unknown shape gets the body's shape.
    assert_eq!(sizes.tensor(TensorId(1)), Some(8));
    assert_eq!(
        text(&entry.bodies[1]),
        "in/c()->in/c in/v()->v in/mul(x,in/w,in/c,v)->in/y"
    );
}

#[test]
fn calls_of_graphs_that_nothing_runs_are_inlined_too() {
    let main = "main: a input 8, b 8 | f Relu a -> b | b";
    let other = "other: a input 8, b 0 | f Call a -> b | b";
    let mut entry = entry(&[main, other, LAYER], &[(1, 0, 2, &[(0, 0)], &[(1, 4)])]);
    // Neither the calls nor the ops of the entry's own graph change.
    let done = inlined(&mut entry, MAX_OPS);
    assert_eq!((done.calls, done.ops_before, done.ops), (0, 1, 1));
    assert_eq!(text(&entry.bodies[0]), "f/c()->f/c f/v()->v f/mul(a,f/w,f/c,v)->f/y");
    assert!(entry.uses.is_empty());
}

#[test]
fn operands_that_are_handed_back_and_results_that_are_returned_twice_are_one_tensor() {
    let main = "main: a input 8, same 8, b 8, twice 8, scratch workspace 5, end 1 | \
        f Call a -> same b twice scratch, add Add same b twice -> end | same twice";
    let body = "body: x input 8, y 8, left input 64 | Data Data -> x, neg Neg x left -> y, out NetOutput x y -> |";
    let uses: &[Use<'_>] = &[(0, 0, 1, &[(0, 0)], &[(1, 0), (2, 1), (3, 1)])];
    let mut entry = entry(&[main, body], uses);
    entry.dumped = Some(Arc::new(Dumped {
        streams: vec![3, 4],
        offsets: Some(DumpedOffsets {
            offsets: vec![Some(7); 6],
            sizes: Vec::new(),
            maker: String::new(),
        }),
        ..Dumped::default()
    }));
    inlined(&mut entry, MAX_OPS);
    let graph = &entry.graph;
    assert_eq!(text(graph), "f/neg(a,f/left)->f/y,scratch add(a,f/y,f/y)->end");
    let outputs: Vec<&str> = graph
        .outputs()
        .iter()
        .map(|output| graph.tensor_name(*output))
        .collect();
    assert_eq!(outputs, ["a", "f/y"]);
    // A missing operand takes no memory and is no input of the graph.
    let sizes = graph.sizes(&Bindings::new());
    assert_eq!(
        (graph.tensors()[TensorId(6)].role, sizes.tensor(TensorId(6))),
        (Activation, Some(0))
    );
    let dumped = entry.dumped.expect("a dump");
    assert_eq!(dumped.streams, [3, 4]);
    let offsets = &dumped.offsets.as_ref().expect("a plan").offsets;
    assert_eq!((offsets.len(), offsets[6], offsets[2]), (7, None, Some(7)));
}

#[test]
fn calls_that_cannot_be_followed_stay() {
    let main = "main: a input 8, b 8, more 8, end 8 | f Call a -> b more, add Add b more -> end | end";
    let full: &[(u32, u32)] = &[(1, 4), (2, 4)];
    for (what, uses, max_ops, calls, left) in [
        ("whole", &[(0, 0, 1, &[(0, 0)][..], full)][..], MAX_OPS, 1, 0),
        (
            "a result that is read and not returned",
            &[(0, 0, 1, &[(0, 0)], &full[..1])],
            MAX_OPS,
            0,
            1,
        ),
        (
            "a tensor that there is not",
            &[(0, 0, 1, &[(99, 0)], full)],
            MAX_OPS,
            0,
            1,
        ),
        (
            "a result of another op",
            &[(0, 0, 1, &[(0, 0)], &[(1, 4), (3, 4)])],
            MAX_OPS,
            0,
            1,
        ),
        (
            "an input that the body computes",
            &[(0, 0, 1, &[(4, 0)], full)],
            MAX_OPS,
            0,
            1,
        ),
        (
            "two bodies",
            &[(0, 0, 1, &[(0, 0)], full), (0, 0, 1, &[(0, 0)], full)],
            MAX_OPS,
            0,
            2,
        ),
        ("an op that there is not", &[(0, 9, 1, &[(0, 0)], full)], MAX_OPS, 0, 1),
        ("a body that there is not", &[(0, 0, 2, &[(0, 0)], full)], MAX_OPS, 0, 1),
        ("too many ops", &[(0, 0, 1, &[(0, 0)], full)], 2, 0, 1),
        (
            "a function that calls itself: once",
            &[(0, 0, 1, &[(0, 0)], full), (1, 2, 1, &[(0, 0)], &[(4, 4)])],
            MAX_OPS,
            1,
            2,
        ),
    ] {
        let uses: &[Use<'_>] = uses;
        let mut entry = entry(&[main, LAYER], uses);
        let before = entry.graph.clone();
        let done = inlined(&mut entry, max_ops);
        assert_eq!((done.calls, entry.uses.len()), (calls, left), "{what}");
        assert_eq!(done.too_large, u64::from(max_ops == 2), "{what}");
        assert_eq!(calls == 0, text(&entry.graph) == text(&before), "{what}");
    }
}

#[test]
fn loops_within_functions_are_uses_of_the_graph_that_they_come_into() {
    let main = "main: a input 8, b 8 | f Call a -> b | b";
    let outer = "outer: x input 8, t 8, y 8 | neg Neg x -> t, loop While t -> y | y";
    let uses: &[Use<'_>] = &[(0, 0, 2, &[(0, 0)], &[(1, 2)]), (2, 1, 1, &[(0, 1)], &[(2, 4)])];
    let mut entry = entry(&[main, LAYER, outer], uses);
    entry.uses[1].kind = UseKind::Loop;
    inlined(&mut entry, MAX_OPS);
    assert_eq!(text(&entry.graph), "f/neg(a)->f/t f/loop(f/t)->f/y");
    let of_main: Vec<&BodyUse> = entry.uses.iter().filter(|one| one.graph == 0).collect();
    let [one] = of_main[..] else { panic!("one use") };
    assert_eq!((one.op, one.body, one.kind), (OpId(1), 1, UseKind::Loop));
    let map = one.map.as_ref().expect("a map");
    let f_t = entry.graph.operands(OpId(1))[0];
    assert_eq!(
        (map.inputs[0], map.results[0]),
        ((TensorId(0), f_t), (TensorId(1), TensorId(4)))
    );
}

#[test]
fn a_body_takes_phase_and_cost_of_its_caller_where_it_has_none() {
    let build = |phase: Phase, flops: u64, is_body: bool| {
        let mut builder = GraphBuilder::new(if is_body { "body" } else { "main" });
        let new = |name, role| NewTensor {
            name,
            dtype: DType::Uint8,
            shape: None,
            role,
        };
        let a = builder.tensor(new("a", Input)).expect("a tensor");
        let b = builder.tensor(new("b", Activation)).expect("a tensor");
        let op = NewOp {
            name: "op",
            kind: "Op",
            operands: &[a],
            results: &[b],
            phase,
            flops,
            time: None,
        };
        builder.op(op).expect("an op");
        Arc::new(builder.finish().expect("a graph"))
    };
    for (caller, own, expected, flops) in [
        (Phase::Backward, Phase::Forward, Phase::Backward, (9, 0, 9)),
        (Phase::Forward, Phase::Backward, Phase::Backward, (9, 4, 4)),
        (Phase::Unknown, Phase::Forward, Phase::Forward, (0, 4, 4)),
        (Phase::Optimizer, Phase::Unknown, Phase::Optimizer, (0, 0, 0)),
        (Phase::Forward, Phase::Unknown, Phase::Forward, (5, 0, 5)),
    ] {
        let map = BodyMap {
            inputs: vec![(TensorId(0), TensorId(0))],
            results: vec![(TensorId(1), TensorId(1))],
        };
        let mut entry = GraphEntry::new("main".to_owned(), build(caller, flops.0, false));
        entry.bodies = vec![build(own, flops.1, true)];
        entry.uses = vec![BodyUse {
            graph: 0,
            op: OpId(0),
            body: 1,
            kind: UseKind::Call,
            map: Some(map),
        }];
        inlined(&mut entry, MAX_OPS);
        let op = &entry.graph.ops()[OpId(0)];
        assert_eq!((op.phase, op.flops), (expected, flops.2), "{caller:?} {own:?}");
    }
}

#[test]
fn functions_that_double_are_not_copied() {
    const LEVELS: u32 = 40;
    let main = "main: a input 8, b 8 | f Call a -> b | b".to_owned();
    let level = |number: u32| format!("f{number}: x input 8, t 8, y 8 | one Call x -> t, two Call t -> y | y");
    let texts: Vec<String> = std::iter::once(main).chain((1..LEVELS).map(level)).collect();
    let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    texts.push(LAYER);
    // Graph k calls graph k + 1 twice; the last one is a layer.
    let through: &[(u32, u32)] = &[(0, 0)];
    let mut uses: Vec<Use<'_>> = vec![(0, 0, 1, through, &[(1, 2)])];
    for number in 1..LEVELS {
        let result = if number + 1 == LEVELS { 4 } else { 2 };
        let results: &[(u32, u32)] = if result == 4 { &[(1, 4)] } else { &[(1, 2)] };
        let second: &[(u32, u32)] = if result == 4 { &[(2, 4)] } else { &[(2, 2)] };
        uses.push((number, 0, number + 1, through, results));
        uses.push((number, 1, number + 1, &[(1, 0)], second));
    }
    let mut entry = entry(&texts, &uses);
    let before = (entry.graph.clone(), entry.bodies.clone());
    let done = inlined(&mut entry, MAX_OPS);
    assert_eq!((done.calls, done.ops, done.too_large), (0, 1, 1));
    assert!(Arc::ptr_eq(&entry.graph, &before.0));
    let is_same = |(one, other): (&Arc<Graph>, &Arc<Graph>)| Arc::ptr_eq(one, other);
    assert!(entry.bodies.iter().zip(&before.1).all(is_same));
}
