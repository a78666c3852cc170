//! A graph as a tape: every op once, in order; a tensor is released right after its last reader.
//!
//! In: a graph with sizes and rates. Out: the tape, and for each of its tensors and ops that of the graph. Inputs and
//! weights are external; scratch memory is left out; views share their root's storage; graph outputs are kept. An op is
//! not recomputable if it draws random numbers, communicates with other devices, or overwrites memory that another
//! tensor owns; overwritten tensors are not recomputable either, because recomputing their producer would restore the
//! old content. Sources do not state this; op types do, so it is an estimate.

use super::costs::{OpRates, op_time};
use crate::op_types::plain_type;
use highwater_model::graph::{Graph, Id as _, OpId, Role, Sizes, TensorId};
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Tape, TapeCall, TapeOp, TapeTensor};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphTape {
    pub tape: Tape,
    /// By tensor of the tape.
    pub tensors: Vec<TensorId>,
    /// By op of the tape; `None` for ops that bring in inputs and weights.
    pub ops: Vec<Option<OpId>>,
}

/// Prefixes of op types, in lower case and without leading underscores, whose results are not repeatable or that have
/// effects outside the graph.
const NON_RECOMPUTABLE: [&str; 18] = [
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

/// O(n).
pub fn graph_tape(graph: &Graph, sizes: &Sizes, rates: OpRates) -> GraphTape {
    let mut maker = TapeBuilder {
        graph,
        sizes,
        number: vec![None; graph.tensors().len()],
        answer: GraphTape::default(),
    };
    graph.name().clone_into(&mut maker.answer.tape.name);
    let overwritten = overwritten(graph);
    let mut last_readers = last_readers(graph);
    for op in graph.ops().ids() {
        for operand in graph.operands(op) {
            maker.bring_in(*operand);
        }
        for result in graph.results(op) {
            // A result may be a view of a tensor that no op has read before.
            maker.bring_in(graph.storages()[graph.tensors()[*result].storage].root);
        }
        let is_non_recomputable = is_non_recomputable(graph.op_kind(op)) || writes_over(graph, op, &overwritten);
        maker.compute(op, op_time(graph, sizes, op, rates), is_non_recomputable);
        let dying = graph.operands(op).iter().chain(graph.results(op));
        for tensor in dying {
            maker.release_after(*tensor, op, &mut last_readers);
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
    /// Inputs and weights begin at their first use.
    fn bring_in(&mut self, tensor: TensorId) {
        let known = &self.graph.tensors()[tensor];
        if self.number[tensor.idx()].is_some() || known.producer.is_some() {
            return;
        }
        let root = self.graph.storages()[known.storage].root;
        if root != tensor && self.graph.tensors()[root].producer.is_none() {
            self.bring_in(root);
        }
        self.add_op(self.graph.tensor_name(tensor), None, &[], &[tensor], Nanos(0), false);
    }

    fn compute(&mut self, op: OpId, time: Nanos, is_non_recomputable: bool) {
        let name = match self.graph.op_name(op) {
            "" => self.graph.op_kind(op),
            name => name,
        };
        let is_scratch = |id: &TensorId| self.graph.tensors()[*id].role == Role::Workspace;
        let results = self.graph.results(op).iter().copied();
        let mut results: Vec<TensorId> = results.filter(|id| !is_scratch(id)).collect();
        // A view comes after its root.
        results.sort_by_key(|id| self.graph.storages()[self.graph.tensors()[*id].storage].root != *id);
        let operands = self.graph.operands(op).iter();
        let inputs: Vec<u32> = operands.filter_map(|id| self.number[id.idx()]).collect();
        self.add_op(name, Some(op), &inputs, &results, time, is_non_recomputable);
    }

    fn add_op(
        &mut self,
        name: &str,
        op: Option<OpId>,
        inputs: &[u32],
        results: &[TensorId],
        time: Nanos,
        is_non_recomputable: bool,
    ) {
        let tape = &mut self.answer.tape;
        let number = u32::try_from(tape.ops.len()).unwrap_or(u32::MAX);
        let mut outputs = Vec::with_capacity(results.len());
        for result in results {
            let own = u32::try_from(tape.tensors.len()).unwrap_or(u32::MAX);
            let tensor = &self.graph.tensors()[*result];
            let root = self.graph.storages()[tensor.storage].root;
            self.number[result.idx()] = Some(own);
            // The root of a view was computed or brought in before; otherwise the view owns the memory.
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
            is_non_recomputable,
        });
        tape.calls.push(TapeCall::Call(number));
        self.answer.ops.push(op);
    }

    /// Releases a tensor once, after its last reader.
    fn release_after(&mut self, tensor: TensorId, op: OpId, last_readers: &mut [Option<OpId>]) {
        let Some(number) = self.number[tensor.idx()] else {
            return;
        };
        let known = &self.graph.tensors()[tensor];
        let is_last = last_readers[tensor.idx()] == Some(op);
        if is_last && !known.is_output && known.producer.is_some() {
            last_readers[tensor.idx()] = None;
            self.answer.tape.calls.push(TapeCall::Release(number));
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

/// By storage: whether an op overwrites it in place.
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

/// Whether an op computes or changes memory that is overwritten.
fn writes_over(graph: &Graph, op: OpId, overwritten: &[bool]) -> bool {
    let mut results = graph.results(op).iter();
    results.any(|id| overwritten[graph.tensors()[*id].storage.idx()])
}

/// `add_`, `relu_`, `Assign`: in-place ops of PyTorch and TensorFlow.
fn is_in_place(kind: &str) -> bool {
    let kind = plain_type(kind);
    let is_torch = kind.ends_with('_') && !kind.ends_with("__");
    is_torch || kind.starts_with("Assign") || kind.starts_with("Scatter") && kind.ends_with("Update")
}

fn is_non_recomputable(kind: &str) -> bool {
    let kind = plain_type(kind).trim_start_matches('_').to_ascii_lowercase();
    let is_backward = kind.contains("backward") || kind.contains("grad");
    !is_backward && NON_RECOMPUTABLE.iter().any(|beginning| kind.starts_with(beginning))
}
