//! A graph as a tape: every op once, in order; what nobody reads any more is released right after its last reader.
//!
//! In: a graph with sizes and rates. Out: the tape and which tensor and op of the graph each of its own stands for.
//! Rules: inputs and weights are external; scratch memory is left out; views share their root's storage; what the graph
//! returns is kept. An op must not be computed twice where it draws random numbers, talks to other devices, or writes
//! over memory that something else owns; what is written over stays, too, because computing its producer anew would
//! bring back the old content. The source tells none of this: op types do, so it is an estimate.

use super::costs::{OpRates, op_time};
use crate::op_types::plain_type;
use highwater_model::graph::{Graph, Id as _, OpId, Role, Sizes, TensorId};
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Tape, TapeCall, TapeOp, TapeTensor};

/// A graph's tape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphTape {
    /// The tape.
    pub tape: Tape,
    /// By tensor of the tape: the graph's.
    pub tensors: Vec<TensorId>,
    /// By op of the tape: the graph's; `None` for what brings in inputs and weights.
    pub ops: Vec<Option<OpId>>,
}

/// Beginnings of op types, in lower case and without underscores in front, that give another result each time or are
/// felt outside the graph.
const ONCE: [&str; 18] = [
    "dropout",
    "native_dropout",
    "alpha_dropout",
    "feature_dropout",
    "fused_dropout",
    "bernoulli",
    "multinomial",
    "normal",
    "uniform",
    "rand",
    "statelessrandom",
    "truncatednormal",
    "hcom",
    "allreduce",
    "all_reduce",
    "pyfunc",
    "print",
    "assert",
];

/// Makes the tape. Linear.
pub fn graph_tape(graph: &Graph, sizes: &Sizes, rates: OpRates) -> GraphTape {
    let mut maker = TapeBuilder {
        graph,
        sizes,
        number: vec![None; graph.tensors().len()],
        answer: GraphTape::default(),
    };
    graph.name().clone_into(&mut maker.answer.tape.name);
    let overwritten = overwritten(graph);
    let last_readers = last_readers(graph);
    for op in graph.ops().ids() {
        for operand in graph.operands(op) {
            maker.bring_in(*operand);
        }
        for result in graph.results(op) {
            // A result may be a view of what nothing has read so far.
            maker.bring_in(graph.storages()[graph.tensors()[*result].storage].root);
        }
        let is_once = is_once(graph.op_kind(op)) || writes_over(graph, op, &overwritten);
        maker.compute(op, (op_time(graph, sizes, op, rates), is_once));
        let dying = graph.operands(op).iter().chain(graph.results(op));
        for tensor in dying {
            maker.release_after(*tensor, op, &last_readers);
        }
    }
    maker.keep_outputs();
    maker.answer
}

struct TapeBuilder<'a> {
    graph: &'a Graph,
    sizes: &'a Sizes,
    number: Vec<Option<u32>>,
    answer: GraphTape,
}

impl TapeBuilder<'_> {
    /// Inputs and weights come into being where they are met first.
    fn bring_in(&mut self, tensor: TensorId) {
        let known = &self.graph.tensors()[tensor];
        if self.number[tensor.idx()].is_some() || known.producer.is_some() {
            return;
        }
        let root = self.graph.storages()[known.storage].root;
        if root != tensor && self.graph.tensors()[root].producer.is_none() {
            self.bring_in(root);
        }
        self.add_op(
            (self.graph.tensor_name(tensor), None),
            &[],
            &[tensor],
            (Nanos(0), false),
        );
    }

    fn compute(&mut self, op: OpId, cost: (Nanos, bool)) {
        let name = match self.graph.op_name(op) {
            "" => self.graph.op_kind(op),
            name => name,
        };
        let is_scratch = |id: &TensorId| self.graph.tensors()[*id].role == Role::Workspace;
        let results = self.graph.results(op).iter().copied();
        let mut results: Vec<TensorId> = results.filter(|id| !is_scratch(id)).collect();
        // A view stands behind the root that it is a view of.
        results.sort_by_key(|id| self.graph.storages()[self.graph.tensors()[*id].storage].root != *id);
        let operands = self.graph.operands(op).iter();
        let inputs: Vec<u32> = operands.filter_map(|id| self.number[id.idx()]).collect();
        self.add_op((name, Some(op)), &inputs, &results, cost);
    }

    fn add_op(
        &mut self,
        (name, op): (&str, Option<OpId>),
        inputs: &[u32],
        results: &[TensorId],
        (time, is_once): (Nanos, bool),
    ) {
        let tape = &mut self.answer.tape;
        let number = u32::try_from(tape.ops.len()).unwrap_or(u32::MAX);
        let mut outputs = Vec::with_capacity(results.len());
        for result in results {
            let own = u32::try_from(tape.tensors.len()).unwrap_or(u32::MAX);
            let tensor = &self.graph.tensors()[*result];
            let root = self.graph.storages()[tensor.storage].root;
            self.number[result.idx()] = Some(own);
            // The root of a view was computed or brought in before; else the view owns the memory as far as the tape knows.
            let storage = self.number[root.idx()].unwrap_or(own);
            let is_external = match op {
                None => true,
                Some(_) => {
                    self.graph.tensors()[root].producer.is_none() || self.graph.tensors()[root].role.is_resident()
                }
            };
            tape.tensors.push(TapeTensor {
                name: self.graph.tensor_name(*result).into(),
                storage,
                bytes: if storage == own {
                    Bytes(self.sizes.storage(tensor.storage))
                } else {
                    Bytes::ZERO
                },
                op: number,
                is_external,
            });
            self.answer.tensors.push(*result);
            outputs.push(own);
        }
        tape.ops.push(TapeOp {
            name: name.into(),
            time,
            inputs: inputs.to_vec(),
            outputs,
            is_source: op.is_none(),
            is_once,
        });
        tape.calls.push(TapeCall::Call(number));
        self.answer.ops.push(op);
    }

    /// Releases a tensor after the op that reads it last, once.
    fn release_after(&mut self, tensor: TensorId, op: OpId, last_readers: &[Option<OpId>]) {
        let Some(number) = self.number[tensor.idx()] else {
            return;
        };
        let known = &self.graph.tensors()[tensor];
        let is_last = last_readers[tensor.idx()] == Some(op);
        if is_last && !known.is_output && known.producer.is_some() {
            let release = TapeCall::Release(number);
            let since = self.answer.tape.calls.iter().rev();
            let mut since = since.take_while(|call| !matches!(call, TapeCall::Call(_)));
            if !since.any(|call| *call == release) {
                self.answer.tape.calls.push(release);
            }
        }
    }

    fn keep_outputs(&mut self) {
        let outputs = self.graph.outputs().iter();
        self.answer.tape.kept = outputs.filter_map(|id| self.number[id.idx()]).collect();
    }
}

/// By tensor: the last op that reads or computes it.
fn last_readers(graph: &Graph) -> Vec<Option<OpId>> {
    let mut last = vec![None; graph.tensors().len()];
    for op in graph.ops().ids() {
        for tensor in graph.operands(op).iter().chain(graph.results(op)) {
            last[tensor.idx()] = Some(op);
        }
    }
    last
}

/// By storage: whether some op writes over it in place.
fn overwritten(graph: &Graph) -> Vec<bool> {
    let mut overwritten = vec![false; graph.storages().len()];
    for op in graph.ops().ids().filter(|op| is_in_place(graph.op_kind(*op))) {
        for result in graph.results(op) {
            let storage = graph.tensors()[*result].storage;
            overwritten[storage.idx()] |= graph.storages()[storage].root != *result;
        }
    }
    overwritten
}

/// Whether an op computes or changes memory that is written over.
fn writes_over(graph: &Graph, op: OpId, overwritten: &[bool]) -> bool {
    let mut results = graph.results(op).iter();
    results.any(|id| overwritten[graph.tensors()[*id].storage.idx()])
}

/// `add_`, `relu_`, `Assign`: what PyTorch and TensorFlow call ops that write over their input.
fn is_in_place(kind: &str) -> bool {
    let kind = plain_type(kind);
    let is_torch = kind.ends_with('_') && !kind.ends_with("__");
    is_torch || kind.starts_with("Assign") || kind.starts_with("Scatter") && kind.ends_with("Update")
}

fn is_once(kind: &str) -> bool {
    let kind = plain_type(kind).trim_start_matches('_').to_ascii_lowercase();
    let is_backward = kind.contains("backward") || kind.contains("grad");
    !is_backward && ONCE.iter().any(|beginning| kind.starts_with(beginning))
}
