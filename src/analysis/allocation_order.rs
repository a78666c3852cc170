//! The order in which a graph's buffers are allocated and freed, for planners that look at more than steps.
//!
//! On one step an op allocates its results, then its workspaces, and then frees: operands (each at the last place that
//! reads it or a view of it), results, workspaces. A storage is allocated with its first tensor and freed with its
//! last. Linear in ops and operands, plus sorts.

use super::arena::engine_size;
use highwater_model::graph::{Graph, Id as _, Role, TensorId};
use highwater_model::workload::{AllocationOrder, GraphEntry, IoBlock, Program};
use highwater_rewrite::op_of_workspace;
use highwater_sim::IoTensor;

/// The rank of a storage that no op touches.
const NEVER: u64 = u64::MAX;

/// As [`arena_order`], with the streams of a source that states the places of its tensors.
pub fn entry_order(entry: &GraphEntry, program: &Program, io: &[IoTensor]) -> AllocationOrder {
    let mut order = arena_order(&entry.graph, program, io);
    let dumped = entry.dumped.as_ref().filter(|dumped| !dumped.streams.is_empty());
    let offsets = dumped.and_then(|dumped| dumped.offsets.as_ref());
    if let Some(dumped) = dumped.filter(|_| offsets.is_some_and(|offsets| !offsets.sizes.is_empty())) {
        let items = program.lifetimes.items.iter();
        let streams = items.map(|item| dumped.streams.get(item.birth.idx()).copied().unwrap_or(0));
        order.streams = streams.collect();
    }
    order
}

/// The order of a program's buffers, as numbered by [`arena_problem`](super::arena::arena_problem), with the graph
/// inputs and outputs behind the arena.
pub fn arena_order(graph: &Graph, program: &Program, io: &[IoTensor]) -> AllocationOrder {
    let Touches { first, last, behind } = touches(graph);
    // An estimated workspace is no tensor of the graph: its op allocates and frees it behind all else.
    let of = |ranks: &[u64], id: TensorId| match graph.tensors().get(id) {
        Some(tensor) => ranks[tensor.storage.idx()],
        None => op_of_workspace(graph, id).map_or(NEVER, |op| behind[op.idx()]),
    };
    let positions = |ranks: &[u64]| {
        let items = (0_u32..).zip(&program.lifetimes.items);
        let mut ranked: Vec<(u64, u32)> = items
            .map(|(position, item)| (of(ranks, item.tensor), position))
            .collect();
        ranked.sort_unstable();
        ranked
    };
    let births = positions(&first);
    let io_rank = |block: &IoTensor| if block.is_input { 0 } else { of(&first, block.tensor) };
    let mut by_rank: Vec<(u64, &IoTensor)> = io.iter().map(|block| (io_rank(block), block)).collect();
    by_rank.sort_by_key(|(rank, _)| *rank);
    let io = by_rank.into_iter().map(|(rank, block)| IoBlock {
        before: u32::try_from(births.partition_point(|(birth, _)| *birth < rank)).unwrap_or(u32::MAX),
        bytes: engine_size(block.bytes),
        is_input: block.is_input,
    });
    AllocationOrder {
        io: io.collect(),
        births: births.into_iter().map(|(_, position)| position).collect(),
        deaths: positions(&last).into_iter().map(|(_, position)| position).collect(),
        separate: program.separate.clone(),
        streams: Vec::new(),
    }
}

/// Touches, counted over all operands and results.
struct Touches {
    /// By storage.
    first: Vec<u64>,
    /// By storage.
    last: Vec<u64>,
    /// By op: a further count behind those of its tensors.
    behind: Vec<u64>,
}

fn touches(graph: &Graph) -> Touches {
    let n_storages = graph.storages().len();
    let (mut first, mut last) = (vec![NEVER; n_storages], vec![NEVER; n_storages]);
    let mut behind = Vec::with_capacity(graph.ops().len());
    let mut clock = 0_u64;
    for op in graph.ops().ids() {
        let is_workspace = |tensor: &&TensorId| graph.tensors()[**tensor].role == Role::Workspace;
        let results = graph.results(op).iter().filter(|tensor| !is_workspace(tensor));
        let made = results.chain(graph.results(op).iter().filter(is_workspace));
        for tensor in graph.operands(op).iter().chain(made) {
            let storage = graph.tensors()[*tensor].storage.idx();
            first[storage] = first[storage].min(clock);
            last[storage] = clock;
            clock += 1;
        }
        behind.push(clock);
        clock += 1;
    }
    Touches { first, last, behind }
}

#[cfg(test)]
mod tests {
    use super::arena_order;
    use highwater_model::graph::{DType, Graph, GraphBuilder, NewOp, NewTensor, Phase, Role, Sizes, TensorId};
    use highwater_model::liveness::feature_lifetimes;
    use highwater_model::units::Bytes;
    use highwater_model::workload::Program;

    fn tensor(graph: &mut GraphBuilder, name: &str, role: Role) -> TensorId {
        let new = NewTensor {
            name,
            dtype: DType::Float32,
            shape: None,
            role,
        };
        graph.tensor(new).expect("names are few")
    }

    fn op(graph: &mut GraphBuilder, name: &str, operands: &[TensorId], results: &[TensorId]) {
        let new = NewOp {
            name,
            kind: "Op",
            operands,
            results,
            phase: Phase::Forward,
            flops: 0,
            time: None,
        };
        graph.op(new).expect("operands come first");
    }

    fn order_of(graph: &Graph, sizes: &Sizes) -> (Vec<String>, Vec<String>) {
        let program = Program::from(feature_lifetimes(graph, sizes));
        let order = arena_order(graph, &program, &[]);
        let name = |position: &u32| {
            let item = &program.lifetimes.items[*position as usize];
            graph.tensor_name(item.tensor).to_owned()
        };
        (
            order.births.iter().map(name).collect(),
            order.deaths.iter().map(name).collect(),
        )
    }

    #[test]
    fn operands_go_back_by_input_before_unread_results_and_workspaces() {
        let mut graph = GraphBuilder::new("graph");
        let x = tensor(&mut graph, "x", Role::Input);
        let work = tensor(&mut graph, "work", Role::Workspace);
        let [a, b, unread, y] = ["a", "b", "unread", "y"].map(|name| tensor(&mut graph, name, Role::Activation));
        op(&mut graph, "first", &[x], &[a, b]);
        // b is read before a, and a again behind it: a goes last.
        op(&mut graph, "second", &[a, b, a], &[work, unread, y]);
        graph.output(y);
        let graph = graph.finish().expect("the graph is valid");
        let mut sizes = graph.sizes(&highwater_model::graph::Bindings::new());
        for id in 0..graph.storages().len() {
            sizes.set_storage(highwater_model::graph::Id::from_idx(id), Bytes(64).get());
        }
        let (births, deaths) = order_of(&graph, &sizes);
        assert_eq!(births, ["a", "b", "unread", "work"]);
        assert_eq!(deaths, ["b", "a", "unread", "work"]);
    }
}
