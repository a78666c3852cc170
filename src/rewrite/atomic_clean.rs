//! Atomic clean: clears of the memory that ops accumulate into, and their cost in memory and launches.
//!
//! ```text
//! collective (0)   |==a==========|   cleared once at the start: separate and live for the whole run, one launch for all
//! separate (1)        |==a==|        cleared right before its op: an ordinary lifetime, one launch an op
//! ```
//!
//! In: a program and the graph's atomic marks. Out: the program with longer live ranges under the collective policy,
//! and the clears with their steps. Source: `atomic_clean_policy` of `MemoryConfig` and the engine's pass. Marks come
//! from the source alone: no op type counts as atomic by its name. Not modelled here: times (`sim`); the region of
//! separate items (`plan`); ops with variables and the ops before them without a task, which the engine clears
//! separately and which no graph states.

use highwater_model::graph::{Graph, Id as _, IdVec, OpId, Role, Sizes, TensorId};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::Program;

use super::host_ops::Sides;
use super::op_types::{OpTypes, plain_type};

/// `atomic_clean_policy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtomicClean {
    /// 0: one clean at the front of the graph.
    #[default]
    Collective,
    /// 1: each op's memory is cleared before it runs.
    Separate,
}

/// Types of ops that close a loop whose body lies in the graph itself.
const LOOP_OPS: [&str; 2] = ["NextIteration", "RefNextIteration"];

/// Prefix of the types of collective communication.
const COLLECTIVE: &str = "Hcom";

/// O(n), plus a sort where a range changed.
pub fn atomic_clean(mut program: Program, graph: &Graph, policy: AtomicClean) -> Program {
    if policy == AtomicClean::Separate {
        return program;
    }
    let n_steps = program.lifetimes.n_steps;
    // Estimated workspaces are no tensors of the graph.
    let is_atomic = |id: TensorId| graph.tensors().get(id).is_some_and(|tensor| tensor.is_atomic);
    for item in &mut program.lifetimes.items {
        if is_atomic(item.tensor) {
            item.birth = Step(0);
            item.end = Step(n_steps);
        }
    }
    program
        .lifetimes
        .items
        .sort_unstable_by_key(|item| (item.birth, item.tensor));
    // A recomputed result held its memory several times; as one lifetime it holds it once.
    program.lifetimes.items.dedup();
    program.separate = (0_u32..)
        .zip(&program.lifetimes.items)
        .filter(|(_, item)| is_atomic(item.tensor))
        .map(|(position, _)| position)
        .collect();
    program
}

/// The clears, ascending by step; each is one launch. O(n).
///
/// Separate: the targets of each atomic op right before it. Collective: all at step 0, except ops whose result the
/// graph returns (the memory may be the caller's) and graphs with a loop, which clear op by op; a result that only
/// collective communication reads is not cleared.
pub fn clears(
    graph: &Graph,
    sizes: &Sizes,
    policy: AtomicClean,
    host: Option<(&OpTypes, &Sides)>,
) -> Vec<(Step, Bytes)> {
    let atomic: Vec<(OpId, Bytes)> = graph
        .ops()
        .ids()
        .filter(|op| host.is_none_or(|(types, _)| !types.contains(graph.op_kind(*op))))
        .filter_map(|op| Some((op, target_bytes(graph, sizes, op)?)))
        .collect();
    let own = |(op, bytes): &(OpId, Bytes)| (Step(op.0), *bytes);
    if policy == AtomicClean::Separate || atomic.is_empty() {
        return atomic.iter().map(own).collect();
    }
    let uses = Uses::of(graph, host.map(|(_, sides)| sides));
    let mut common: Option<Bytes> = None;
    let mut alone = Vec::new();
    for target in &atomic {
        if uses.is_for_collectives(graph, target.0) {
            continue;
        }
        if uses.has_loop || uses.is_returned(graph, target.0) {
            alone.push(own(target));
        } else {
            common = Some(common.unwrap_or_default() + target.1);
        }
    }
    let common = common.map(|bytes| (Step(0), bytes));
    common.into_iter().chain(alone).collect()
}

/// Bytes that an op accumulates into; `None` where it is not atomic. Views do not count: clearing one would wipe its
/// base.
fn target_bytes(graph: &Graph, sizes: &Sizes, op: OpId) -> Option<Bytes> {
    let targets = graph.results(op).iter().filter(|id| is_target(graph, **id));
    let bytes: Vec<Bytes> = targets
        .map(|id| Bytes(sizes.storage(graph.tensors()[*id].storage)))
        .collect();
    (!bytes.is_empty()).then(|| bytes.into_iter().sum())
}

fn is_target(graph: &Graph, id: TensorId) -> bool {
    let tensor = &graph.tensors()[id];
    let is_own = graph.storages()[tensor.storage].root == id;
    tensor.is_atomic && is_own && matches!(tensor.role, Role::Activation | Role::Workspace)
}

/// Uses of storages that decide about clears.
struct Uses {
    has_loop: bool,
    /// By storage: whether it leaves the graph, to its caller or to the host.
    is_returned: Vec<bool>,
    /// By storage: whether collective communication reads it, and whether any other op does.
    readers: Vec<(bool, bool)>,
}

impl Uses {
    fn of(graph: &Graph, sides: Option<&Sides>) -> Self {
        let n_storages = graph.storages().len();
        let storage = |id: TensorId| graph.tensors()[id].storage.idx();
        let mut uses = Self {
            has_loop: graph.ops().ids().any(|op| LOOP_OPS.contains(&graph.op_kind(op))),
            is_returned: vec![false; n_storages],
            readers: vec![(false, false); n_storages],
        };
        for id in graph.outputs() {
            uses.is_returned[storage(*id)] = true;
        }
        for (id, side) in sides.into_iter().flat_map(IdVec::iter_ids) {
            uses.is_returned[id.idx()] |= side.crosses();
        }
        for op in graph.ops().ids() {
            let is_collective = plain_type(graph.op_kind(op)).starts_with(COLLECTIVE);
            for id in graph.operands(op) {
                let readers = &mut uses.readers[storage(*id)];
                *readers = (readers.0 || is_collective, readers.1 || !is_collective);
            }
        }
        uses
    }

    fn is_returned(&self, graph: &Graph, op: OpId) -> bool {
        let mut results = graph.results(op).iter();
        results.any(|id| self.is_returned[graph.tensors()[*id].storage.idx()])
    }

    /// Whether only collective communication reads the results of an op.
    fn is_for_collectives(&self, graph: &Graph, op: OpId) -> bool {
        let mut any = false;
        let mut others = false;
        for id in graph.results(op) {
            let (by_collectives, by_others) = self.readers[graph.tensors()[*id].storage.idx()];
            any |= by_collectives;
            others |= by_others;
        }
        any && !others && !self.is_returned(graph, op)
    }
}
