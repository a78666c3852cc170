//! Liveness: Graph -> Lifetimes, the live range of every tensor or storage.
//!
//! In: a graph, byte sizes under a binding, a view. Out: half-open ranges, sorted. Rules (the counting rules of the
//! command line): a tensor lives from its producer to its last reader inclusive; an unread one lives on its own step; a
//! graph output lives to the last step; inputs and weights are left out. In the aliased view a storage lives as long as
//! any tensor in it, and costs nothing where its root is an input or a weight. O(n log n) in ops, operands and tensors.

use crate::graph::{Graph, Id as _, Role, Sizes, TensorId};
use crate::units::{Bytes, Step};
use crate::workload::{Lifetime, Lifetimes};

/// Ownership of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Every result has separate memory.
    Naive,
    /// Views and in-place results share their root's memory.
    Aliased,
}

/// The live ranges of all activations, graph outputs included.
pub fn lifetimes(graph: &Graph, sizes: &Sizes, view: View) -> Lifetimes {
    let n_steps = u32::try_from(graph.ops().len()).unwrap_or(u32::MAX);
    let ends = ends(graph, view, n_steps);
    let mut items: Vec<Lifetime> = graph
        .tensors()
        .iter_ids()
        .filter(|(_, tensor)| tensor.role == Role::Activation)
        .filter_map(|(id, tensor)| {
            let birth = Step(tensor.producer?.0);
            let storage = &graph.storages()[tensor.storage];
            let bytes = match view {
                View::Naive => sizes.tensor(id).unwrap_or(0),
                View::Aliased if storage.root == id => sizes.storage(tensor.storage),
                View::Aliased => return None,
            };
            Some(Lifetime {
                birth,
                end: Step(ends[id.idx()]),
                bytes: Bytes(bytes),
                tensor: id,
            })
        })
        .collect();
    items.sort_unstable_by_key(|item| (item.birth, item.tensor));
    Lifetimes { n_steps, items }
}

/// Feature memory on a device: storages of activations and workspaces, without those that hold a graph output (they
/// belong to the zero-copy segment).
pub fn feature_lifetimes(graph: &Graph, sizes: &Sizes) -> Lifetimes {
    let mut is_output = vec![false; graph.storages().len()];
    for tensor in graph.outputs() {
        is_output[graph.tensors()[*tensor].storage.idx()] = true;
    }
    let mut lifetimes = lifetimes(graph, sizes, View::Aliased);
    lifetimes
        .items
        .retain(|item| !is_output[graph.tensors()[item.tensor].storage.idx()]);
    for (id, tensor) in graph.tensors().iter_ids() {
        if let (Role::Workspace, Some(op)) = (tensor.role, tensor.producer) {
            lifetimes.items.push(Lifetime {
                birth: Step(op.0),
                end: Step(op.0 + 1),
                bytes: Bytes(sizes.storage(tensor.storage)),
                tensor: id,
            });
        }
    }
    lifetimes.items.sort_unstable_by_key(|item| (item.birth, item.tensor));
    lifetimes
}

/// The exclusive end of every tensor; in the aliased view the root has the end of its storage.
fn ends(graph: &Graph, view: View, n_steps: u32) -> Vec<u32> {
    let owner = |tensor: TensorId| match view {
        View::Naive => tensor,
        View::Aliased => graph.storages()[graph.tensors()[tensor].storage].root,
    };
    let mut ends = vec![0_u32; graph.tensors().len()];
    let mut extend = |tensor: TensorId, end: u32| {
        let slot = &mut ends[owner(tensor).idx()];
        *slot = (*slot).max(end);
    };
    for op in graph.ops().ids() {
        let end = op.0 + 1;
        for tensor in graph.results(op).iter().chain(graph.operands(op)) {
            extend(*tensor, end);
        }
    }
    for tensor in graph.outputs() {
        extend(*tensor, n_steps);
    }
    ends
}
