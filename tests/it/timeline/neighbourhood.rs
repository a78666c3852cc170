//! The neighbourhood of a tensor: drawings of a small graph, real graphs against a naive second search, and every kind
//! of source.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use expect_test::{Expect, expect};
use highwater::graph::{Graph, Id as _, TensorId};
use highwater::session::{Session, SourceSpec, sample};
use highwater::timeline::{NeighbourLimits, Neighbourhood, NodeKey, Selected, Slot, TensorKey};
use highwater::units::Bytes;
use highwater::workload::GraphIdx;

use crate::sessions::{session, source};

fn text(name: &str, text: &str) -> Session {
    session(vec![source(name, text)])
}

const EVERYTHING: NeighbourLimits = NeighbourLimits {
    inputs: usize::MAX,
    consumers: usize::MAX,
    outputs: usize::MAX,
};

fn selected(graph: u32, tensor: u32) -> Selected {
    Selected {
        run: 0,
        graph: GraphIdx(graph),
        tensor: TensorId(tensor),
    }
}

fn around(session: &Session, of: Selected, limits: NeighbourLimits) -> Result<Neighbourhood, &'static str> {
    let (comparison, timeline) = session.answer().expect("an answer");
    timeline.neighbourhood(comparison, of, of.key(), limits)
}

/// One line per layer: ops in brackets, tensors in parentheses, the center in double ones, `~` for a passing edge.
fn drawn(around: &Neighbourhood) -> String {
    let mut text = String::new();
    for layer in &around.layers {
        let slots: Vec<String> = layer
            .iter()
            .map(|slot| match slot {
                Slot::Bend(_) => "~".to_owned(),
                Slot::Node(node) => {
                    let node = &around.nodes[*node];
                    match node.key {
                        NodeKey::Op(_) => format!("[{} {}]", node.what, node.name),
                        NodeKey::Tensor(key) if key == around.center => format!("(({}))", node.name),
                        NodeKey::Tensor(_) => format!("({} {})", node.name, node.bytes.unwrap_or(Bytes::ZERO)),
                    }
                }
            })
            .collect();
        writeln!(text, "{}", slots.join(" ")).unwrap();
    }
    for (rest, what) in [(&around.inputs, "inputs"), (&around.consumers, "readers")] {
        if rest.n_shown < rest.n_total {
            writeln!(text, "{} of {} {what}", rest.n_shown, rest.n_total).unwrap();
        }
    }
    text
}

#[track_caller]
fn check(session: &Session, of: Selected, limits: NeighbourLimits, expected: &Expect) {
    expected.assert_eq(&drawn(&around(session, of, limits).expect("a graph")));
}

/// `c` is read by three ops, one of which reads another's result.
const NET: &str = r#"{"highwater_graph": 1, "name": "net",
 "inputs": [{"id": "x", "shape": [1024], "dtype": "float32"}, {"id": "w", "shape": [16], "dtype": "float32"}],
 "outputs": ["s"],
 "nodes": [
  {"name": "n1", "op": "conv", "inputs": ["x", "w"], "outputs": [{"id": "c", "shape": [2048], "dtype": "float32"}]},
  {"name": "n2", "op": "relu", "inputs": ["c"], "outputs": [{"id": "r", "shape": [2048], "dtype": "float32"}]},
  {"name": "n3", "op": "add", "inputs": ["c", "r"], "outputs": [{"id": "a", "shape": [2048], "dtype": "float32"}]},
  {"name": "n4", "op": "split", "inputs": ["c"], "outputs": [{"id": "p", "shape": [8], "dtype": "float32"},
    {"id": "q", "shape": [2040], "dtype": "float32"}]},
  {"name": "n5", "op": "sum", "inputs": ["a", "p", "q"], "outputs": [{"id": "s", "shape": [1], "dtype": "float32"}]}
 ]}"#;

fn tensor_of(session: &Session, name: &str) -> Selected {
    let (comparison, _) = session.answer().expect("an answer");
    let graph = &comparison.workload.graphs()[0].graph;
    let found = graph.tensors().ids().find(|tensor| graph.tensor_name(*tensor) == name);
    selected(0, found.expect("a tensor of that name").0)
}

#[test]
fn layers_run_from_inputs_to_outputs() {
    let session = text("net.json", NET);
    let (c, s) = (tensor_of(&session, "c"), tensor_of(&session, "s"));
    check(
        &session,
        c,
        NeighbourLimits::default(),
        &expect![[r"
        (x 4.000 KiB) (w 64 B)
        [conv n1]
        ((c))
        [relu n2] [split n4] ~
        (r 8.000 KiB) (q 7.969 KiB) (p 32 B) ~
        [add n3]
        (a 8.000 KiB)
    "]],
    );
    let few = NeighbourLimits {
        inputs: 1,
        consumers: 1,
        outputs: 1,
    };
    check(
        &session,
        c,
        few,
        &expect![[r"
        (x 4.000 KiB)
        [conv n1]
        ((c))
        [relu n2]
        (r 8.000 KiB)
        1 of 2 inputs
        1 of 3 readers
    "]],
    );
    check(
        &session,
        s,
        NeighbourLimits::default(),
        &expect![[r"
        (a 8.000 KiB) (q 7.969 KiB) (p 32 B)
        [sum n5]
        ((s))
    "]],
    );
    // A click on an op leads to its largest result, on the producer to its largest input.
    let around = around(&session, c, NeighbourLimits::default()).unwrap();
    let to = |what: &str| {
        let op = around.nodes.iter().find(|node| &*node.what == what).expect("an op");
        op.to.expect("somewhere to go").center.tensor
    };
    assert_eq!(to("conv"), tensor_of(&session, "x").tensor);
    assert_eq!(to("split"), tensor_of(&session, "q").tensor);
}

/// The neighbourhood found by scanning every op.
fn naive(graph: &Graph, center: TensorId) -> (BTreeSet<NodeKey>, usize) {
    use highwater::timeline::OpKey;
    let tensor = |tensor: TensorId| {
        NodeKey::Tensor(TensorKey {
            graph: GraphIdx(0),
            tensor,
        })
    };
    let mut nodes = BTreeSet::from([tensor(center)]);
    for op in graph.ops().ids() {
        let key = NodeKey::Op(OpKey {
            graph: GraphIdx(0),
            op: op.0,
        });
        if graph.results(op).contains(&center) {
            nodes.insert(key);
            nodes.extend(graph.operands(op).iter().copied().map(tensor));
        }
        if graph.operands(op).contains(&center) {
            nodes.insert(key);
            nodes.extend(graph.results(op).iter().copied().map(tensor));
        }
    }
    let mut edges = BTreeSet::new();
    for op in graph.ops().ids() {
        let key = NodeKey::Op(OpKey {
            graph: GraphIdx(0),
            op: op.0,
        });
        if !nodes.contains(&key) {
            continue;
        }
        let known = |tensors: &[TensorId]| -> Vec<NodeKey> {
            let keys = tensors.iter().copied().map(tensor);
            keys.filter(|key| nodes.contains(key)).collect()
        };
        edges.extend(known(graph.operands(op)).into_iter().map(|from| (from, key)));
        edges.extend(known(graph.results(op)).into_iter().map(|to| (key, to)));
    }
    (nodes, edges.len())
}

#[test]
fn neighbourhoods_of_real_graphs_equal_a_scan_of_all_ops() {
    for name in ["mobilenet", "lenet", "bert"] {
        let session = session(vec![SourceSpec::Sample(sample(name).unwrap())]);
        let (comparison, _) = session.answer().expect("an answer");
        let graph = &comparison.workload.graphs()[0].graph;
        for tensor in graph.tensors().ids().step_by(7) {
            let around = around(&session, selected(0, tensor.0), EVERYTHING).unwrap();
            let keys: BTreeSet<NodeKey> = around.nodes.iter().map(|node| node.key).collect();
            let (nodes, n_edges) = naive(graph, tensor);
            assert_eq!(keys, nodes, "{name}, {}", graph.tensor_name(tensor));
            assert_eq!(around.edges.len(), n_edges, "{name}, {}", graph.tensor_name(tensor));
            let placed: Vec<usize> = around
                .layers
                .iter()
                .flatten()
                .filter_map(|slot| match slot {
                    Slot::Node(node) => Some(*node),
                    Slot::Bend(_) => None,
                })
                .collect();
            assert_eq!(placed.len(), nodes.len());
            for node in &around.nodes {
                let to = node.to.expect("every node leads somewhere here");
                assert!(to.selected.run == 0 && to.center.tensor.idx() < graph.tensors().len());
            }
        }
    }
}

#[test]
fn a_tensor_with_many_readers_lists_those_that_are_not_drawn() {
    let readers: Vec<String> = (0..40)
        .map(|number| {
            format!(
                r#"{{"name": "n{number}", "op": "relu", "inputs": ["x"],
                    "outputs": [{{"id": "t{number}", "shape": [64], "dtype": "float32"}}]}}"#
            )
        })
        .collect();
    let net = format!(
        r#"{{"highwater_graph": 1, "name": "fan", "nodes": [{}],
            "inputs": [{{"id": "x", "shape": [64], "dtype": "float32"}}], "outputs": ["t0"]}}"#,
        readers.join(", ")
    );
    let session = text("fan.json", &net);
    let around = around(&session, tensor_of(&session, "x"), NeighbourLimits::default()).unwrap();
    let rest = &around.consumers;
    assert_eq!((rest.n_shown, rest.n_total, rest.list.len()), (6, 40, 34));
    assert_eq!(&*rest.list[0].name, "n6");
    assert!(rest.list.iter().all(|node| node.to.is_some()));
    assert_eq!(around.readers().count(), 6);
    assert_eq!(around.producers().count(), 0);
}

#[test]
fn tapes_and_programs_have_neighbours_too() {
    let log = [
        r#"{"INSTRUCTION":"CONSTANT","NAME":"w"}"#,
        r#"{"INSTRUCTION":"MEMORY","NAME":"w","MEMORY":"64"}"#,
        r#"{"INSTRUCTION":"CALL","NAME":"conv","TIME":"35","ARGS":["w"],"RESULT":["a"]}"#,
        r#"{"INSTRUCTION":"MEMORY","NAME":"a","MEMORY":"4096"}"#,
        r#"{"INSTRUCTION":"ALIAS","NAME":"a","ALIAS":"-1"}"#,
        r#"{"INSTRUCTION":"CALL","NAME":"relu","TIME":"5","ARGS":["a"],"RESULT":["b"]}"#,
        r#"{"INSTRUCTION":"MEMORY","NAME":"b","MEMORY":"2048"}"#,
        r#"{"INSTRUCTION":"ALIAS","NAME":"b","ALIAS":"-1"}"#,
    ];
    let session = text("net.log", &log.join("\n"));
    check(
        &session,
        selected(0, 1),
        NeighbourLimits::default(),
        &expect![[r"
        (w 64 B)
        [conv/1 ]
        ((a))
        [relu/2 ]
        (b 2.000 KiB)
    "]],
    );
    let program = r#"{"program": {"blocks": [
     {"idx": 0, "parent_idx": -1, "forward_block_idx": -1,
      "vars": [{"name": "x", "shape": [-1, 8], "dtype": "FP32", "persistable": false, "type": "LOD_TENSOR"},
               {"name": "w", "shape": [8], "dtype": "FP32", "persistable": true, "type": "LOD_TENSOR"},
               {"name": "y", "shape": [-1, 8], "dtype": "FP32", "persistable": false, "type": "LOD_TENSOR"}],
      "ops": [{"type": "mul", "inputs": {"X": ["x"], "Y": ["w"]}, "outputs": {"Out": ["y"]}, "attrs": {}},
              {"type": "sgd", "inputs": {"Param": ["w"], "Grad": ["y"]}, "outputs": {"ParamOut": ["w"]}, "attrs": {}}]}]}}"#;
    let session = text("program.json", program);
    check(
        &session,
        selected(0, 2),
        NeighbourLimits::default(),
        &expect![[r"
        (x 32 B) (w 32 B)
        [mul ] ~
        ((y)) ~
        [sgd ]
    "]],
    );
    // A tensor written in place is also read: no edge leads back.
    check(
        &session,
        selected(0, 1),
        NeighbourLimits::default(),
        &expect![[r"
        ((w))
        [mul ] ~
        (y 32 B) ~
        [sgd ]
    "]],
    );
}

#[test]
fn sources_without_a_graph_say_so() {
    let problem = text("small.csv", include_str!("../../../sample_traces/small_problem.csv"));
    let why = around(&problem, selected(0, 0), EVERYTHING).unwrap_err();
    assert!(why.starts_with("A placement problem"), "{why}");
    let measured = session(vec![SourceSpec::Sample(sample("measured").unwrap())]);
    let (comparison, timeline) = measured.answer().expect("an answer");
    let lane = &timeline.lanes[0];
    let tensor = (0..lane.blocks.len() as u32).find_map(|block| lane.tensor(block));
    let tensor = tensor.expect("a block");
    let why = timeline
        .neighbourhood(comparison, tensor, tensor.key(), EVERYTHING)
        .unwrap_err();
    assert!(why.starts_with("A recording"), "{why}");
}

#[test]
fn tensors_that_share_a_storage_are_named() {
    let mut n_shared = 0;
    let mut n_read_through_another = 0;
    for name in ["bert", "resnet50"] {
        let session = session(vec![SourceSpec::Sample(sample(name).unwrap())]);
        let (comparison, timeline) = session.answer().unwrap();
        for row in timeline.rows.iter().take(600) {
            let selected = row.tensor;
            let graph = &comparison.workload.graphs()[selected.graph.idx()].graph;
            let Some(own) = graph.tensors().get(selected.tensor) else {
                continue;
            };
            let ids = graph.tensors().ids();
            let members: Vec<TensorId> = ids.filter(|id| graph.tensors()[*id].storage == own.storage).collect();
            let shared = timeline.sharing(comparison, selected);
            assert_eq!(shared.n_tensors, members.len());
            let others: Vec<&str> = members
                .iter()
                .filter(|other| **other != selected.tensor)
                .map(|other| graph.tensor_name(*other))
                .collect();
            assert_eq!(shared.others, others[..others.len().min(4)]);
            let is_of = |tensor: &TensorId| members.contains(tensor);
            let last = graph
                .ops()
                .ids()
                .filter(|op| graph.operands(*op).iter().any(is_of))
                .last();
            let through: Vec<&TensorId> =
                last.map_or_else(Vec::new, |op| graph.operands(op).iter().filter(|t| is_of(t)).collect());
            let is_own = through.is_empty() || through.contains(&&selected.tensor);
            assert_eq!(shared.read_last.is_none(), is_own, "{row:?}");
            if let Some((op, tensor)) = &shared.read_last {
                let last = last.expect("somebody reads");
                assert_eq!(*op, format!("{} {}", graph.op_kind(last), graph.op_name(last)));
                assert!(through.iter().any(|known| graph.tensor_name(**known) == tensor));
                n_read_through_another += 1;
            }
            n_shared += usize::from(!others.is_empty());
        }
    }
    assert!(
        n_shared > 10 && n_read_through_another > 10,
        "{n_shared} {n_read_through_another}"
    );
}
