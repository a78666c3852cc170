//! Memory that loops and branches hold while they run a body, on the step of the op.
//!
//! In: an entry with its table of uses, values of dimensions. Out: for each op that runs bodies, the most bytes that
//! one body holds at once, without its inputs, resident storages and the outputs that the results of the op count, so
//! that the op's step holds the larger of the body's peak and the results; for a loop that is one iteration. Results that
//! have their memory before the op runs (they are the op's operands, or outputs of an executable that reserves them) take
//! the body's outputs while these live, and no other bytes. Nested
//! bodies count on the step of their op. As live ranges these bytes are scratch memory with ids behind the graph's
//! tensors ([`estimated_workspace`]). An estimate: a runtime may run iterations in parallel, and where shapes are
//! unknown it is a lower bound. Recursive uses count nothing. O(tensors of bodies).

use std::collections::{BTreeMap, BTreeSet};

use super::op_types::OpTypes;
use super::workspaces::estimated_workspace;
use highwater_model::graph::{Bindings, Graph, Id as _, OpId, Role, Sizes, StorageId, TensorId};
use highwater_model::liveness::{View, feature_lifetimes, lifetimes};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{BodyUse, GraphEntry, Lifetime, Lifetimes, UseKind};

/// Memory of the bodies of one op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlFlowWorkspace {
    pub op: OpId,
    /// Peak of the largest body.
    pub bytes: Bytes,
    /// The number of that body; the first of equal ones.
    pub body: u32,
    pub kind: UseKind,
    /// Whether the body has unknown shapes.
    pub is_lower_bound: bool,
}

/// Memory of one body.
#[derive(Clone, Default)]
struct Held {
    /// Bytes of outputs and of everything else on steps that may be the peak: more of the one, less of the other.
    steps: Vec<(Bytes, Bytes)>,
    outputs: Bytes,
    is_lower_bound: bool,
}

impl Held {
    /// What a body holds at once where `reserved` bytes take its outputs.
    fn peak(&self, reserved: Bytes) -> Bytes {
        let of_step = |(outputs, others): &(Bytes, Bytes)| {
            let outputs = outputs.get().saturating_sub(reserved.get());
            Bytes(others.get().saturating_add(outputs))
        };
        self.steps.iter().map(of_step).max().unwrap_or(Bytes::ZERO)
    }
}

/// Bytes that the surrounding graph has for the results of an op.
#[derive(Clone, Copy, Default)]
struct Results {
    /// Before the op runs.
    reserved: Bytes,
    /// From its step on.
    counted: Bytes,
}

/// Workspaces of the ops of the entry's graph, ascending by op.
///
/// # Errors
/// [`Cancelled`].
pub fn control_flow_workspace(
    entry: &GraphEntry,
    bindings: &Bindings,
    progress: &Progress<'_>,
) -> Result<Vec<ControlFlowWorkspace>, Cancelled> {
    if entry.uses.is_empty() {
        return Ok(Vec::new());
    }
    let order = entry.call_order();
    let by_graph = entry.uses_by_graph();
    let is_wanted = entry.graphs_run();
    let outputs = outputs(entry);
    let mut held: BTreeMap<u32, Held> = BTreeMap::new();
    let mut of_main: Vec<ControlFlowWorkspace> = Vec::new();
    for number in order.order {
        if !is_wanted[number as usize] {
            continue;
        }
        progress.check()?;
        let Some(graph) = entry.graph_by_number(number) else {
            continue;
        };
        let sizes = graph.sizes(bindings);
        let positions = by_graph.get(&number).map_or(&[][..], Vec::as_slice);
        let uses = positions.iter().filter(|position| !order.is_circular[**position]);
        let uses: Vec<&BodyUse> = uses.map(|position| &entry.uses[*position]).collect();
        let is_reserved = number == 0 && entry.dumped.as_ref().is_some_and(|dumped| dumped.outputs_from_start);
        let reserved = graph.outputs().iter().filter(|_| is_reserved);
        let reserved: BTreeSet<StorageId> = reserved.map(|output| graph.tensors()[*output].storage).collect();
        let scratch = largest(&uses, &held, |op| results(graph, &sizes, op, &reserved));
        if number == 0 {
            of_main = scratch;
        } else {
            let outputs = outputs.get(&number).map_or(&[][..], Vec::as_slice);
            held.insert(number, held_by(graph, &sizes, outputs, &scratch));
        }
    }
    of_main.retain(|one| one.bytes > Bytes::ZERO || one.is_lower_bound);
    Ok(of_main)
}

/// By body: its outputs, also those that only the table of uses states.
fn outputs(entry: &GraphEntry) -> BTreeMap<u32, Vec<TensorId>> {
    let mut outputs: BTreeMap<u32, Vec<TensorId>> = BTreeMap::new();
    for one in &entry.uses {
        let results = one.map.iter().flat_map(|map| &map.results);
        let of_body = results.map(|(_, of_body)| *of_body);
        outputs.entry(one.body).or_default().extend(of_body);
    }
    outputs
}

/// `reserved` are storages that have their memory from the start.
fn results(graph: &Graph, sizes: &Sizes, op: OpId, reserved: &BTreeSet<StorageId>) -> Results {
    let mut found = Results::default();
    if graph.ops().get(op).is_none() {
        return found;
    }
    let tensors = graph.results(op).iter().map(|result| &graph.tensors()[*result]);
    let storages: BTreeSet<StorageId> = tensors
        .filter(|tensor| tensor.role != Role::Workspace)
        .map(|tensor| tensor.storage)
        .collect();
    for storage in storages {
        let root = &graph.tensors()[graph.storages()[storage].root];
        let is_new = root.producer == Some(op) && !reserved.contains(&storage);
        let sum = if is_new {
            &mut found.counted
        } else {
            &mut found.reserved
        };
        *sum = Bytes(sum.get().saturating_add(sizes.storage(storage)));
    }
    found
}

/// The largest body of each op.
fn largest(
    uses: &[&BodyUse],
    held: &BTreeMap<u32, Held>,
    results: impl Fn(OpId) -> Results,
) -> Vec<ControlFlowWorkspace> {
    let mut by_op: BTreeMap<OpId, ControlFlowWorkspace> = BTreeMap::new();
    for one in uses {
        let Some(of_body) = held.get(&one.body) else { continue };
        let results = results(one.op);
        let outputs = of_body.outputs.get().saturating_sub(results.reserved.get());
        let counted = results.counted.get().min(outputs);
        let new = ControlFlowWorkspace {
            op: one.op,
            bytes: Bytes(of_body.peak(results.reserved).get().saturating_sub(counted)),
            body: one.body,
            kind: one.kind,
            is_lower_bound: of_body.is_lower_bound,
        };
        let known = by_op.entry(one.op).or_insert(new);
        let is_lower_bound = known.is_lower_bound || new.is_lower_bound;
        if new.bytes > known.bytes {
            *known = new;
        }
        known.is_lower_bound = is_lower_bound;
    }
    by_op.into_values().collect()
}

fn held_by(body: &Graph, sizes: &Sizes, outputs: &[TensorId], within: &[ControlFlowWorkspace]) -> Held {
    let mut is_output = vec![false; body.storages().len()];
    for tensor in outputs.iter().chain(body.outputs()) {
        if let Some(tensor) = body.tensors().get(*tensor) {
            is_output[tensor.storage.idx()] = true;
        }
    }
    let is_returned = |item: &Lifetime| is_output[body.tensors()[item.tensor].storage.idx()];
    let mut held = feature_lifetimes(body, sizes);
    held.items.retain(|item| !is_returned(item));
    let mut returned = lifetimes(body, sizes, View::Aliased);
    returned.items.retain(is_returned);
    let end = Step(returned.n_steps);
    for item in &mut returned.items {
        item.end = end;
    }
    let unknown = body.unknown_activations(sizes).next().is_some();
    let held = with_control_flow_workspaces(body, held, within, None);
    Held {
        steps: highest(returned.live_curve().into_iter().zip(held.live_curve())),
        outputs: returned.total(),
        is_lower_bound: unknown || within.iter().any(|one| one.is_lower_bound),
    }
}

/// Pairs that no other exceeds in both.
fn highest(pairs: impl Iterator<Item = (Bytes, Bytes)>) -> Vec<(Bytes, Bytes)> {
    let mut pairs: Vec<(Bytes, Bytes)> = pairs.collect();
    pairs.sort_unstable_by(|one, other| other.cmp(one));
    let mut highest = None;
    pairs.retain(|(_, others)| {
        let is_higher = highest.is_none_or(|highest| *others > highest);
        if is_higher {
            highest = Some(*others);
        }
        is_higher
    });
    pairs
}

/// Adds the workspaces to live ranges. An op with an estimated workspace keeps the larger one; host ops hold nothing on
/// the device.
pub fn with_control_flow_workspaces(
    graph: &Graph,
    mut lifetimes: Lifetimes,
    scratch: &[ControlFlowWorkspace],
    host_ops: Option<&OpTypes>,
) -> Lifetimes {
    if scratch.is_empty() {
        return lifetimes;
    }
    let is_of_host = |op: OpId| host_ops.is_some_and(|types| types.contains(graph.op_kind(op)));
    let mut known: BTreeMap<TensorId, usize> = BTreeMap::new();
    for (position, item) in lifetimes.items.iter().enumerate() {
        if item.tensor.idx() >= graph.tensors().len() {
            known.insert(item.tensor, position);
        }
    }
    let holds = |one: &&ControlFlowWorkspace| one.bytes > Bytes::ZERO && !is_of_host(one.op);
    for one in scratch.iter().filter(holds) {
        let Some(tensor) = estimated_workspace(graph, one.op) else {
            continue;
        };
        if let Some(position) = known.get(&tensor) {
            let item = &mut lifetimes.items[*position];
            item.bytes = item.bytes.max(one.bytes);
            continue;
        }
        lifetimes.items.push(Lifetime {
            birth: Step(one.op.0),
            end: Step(one.op.0 + 1),
            bytes: one.bytes,
            tensor,
        });
    }
    lifetimes.items.sort_unstable_by_key(|item| (item.birth, item.tensor));
    lifetimes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::inline::{MAX_OPS, inline};
    use highwater_model::graph::{DType, Dim, GraphBuilder, NewOp, NewTensor, Role};
    use highwater_model::progress::Cancel;
    use highwater_model::workload::BodyMap;

    /// A chain of ops; each reads the result of the previous one.
    fn chain(name: &str, bytes: &[u64]) -> Graph {
        let ops: Vec<(u64, usize)> = bytes.iter().map(|bytes| (*bytes, 1)).collect();
        linked(name, &ops)
    }

    /// Ops with (bytes, distance): each reads the previous result and the one `distance` places back.
    fn linked(name: &str, ops: &[(u64, usize)]) -> Graph {
        let mut builder = GraphBuilder::new(name);
        let tensor = |builder: &mut GraphBuilder, bytes: u64, role| {
            let shape = builder.shape(&[Dim::Known(bytes)]);
            let new = NewTensor {
                name: "t",
                dtype: DType::Uint8,
                shape: Some(shape),
                role,
            };
            builder.tensor(new).expect("a tensor")
        };
        let mut all = vec![tensor(&mut builder, 1000, Role::Input)];
        for (bytes, back) in ops {
            let result = tensor(&mut builder, *bytes, Role::Activation);
            let new = NewOp {
                kind: "Op",
                operands: &[all[all.len() - 1], all[all.len().saturating_sub(*back)]],
                results: &[result],
                ..NewOp::default()
            };
            builder.op(new).expect("an op");
            all.push(result);
        }
        builder.output(all[all.len() - 1]);
        builder.finish().expect("a graph")
    }

    fn entry(graphs: &[&[u64]], uses: &[(u32, u32, u32, UseKind)]) -> GraphEntry {
        let mut all = graphs
            .iter()
            .enumerate()
            .map(|(number, bytes)| Arc::new(chain(&number.to_string(), bytes)));
        let main = all.next().expect("a graph");
        let mut entry = GraphEntry::new("main".to_owned(), main);
        entry.bodies = all.collect();
        entry.uses = uses
            .iter()
            .map(|(graph, op, body, kind)| BodyUse {
                graph: *graph,
                op: OpId(*op),
                body: *body,
                kind: *kind,
                map: None,
            })
            .collect();
        entry
    }

    fn found(entry: &GraphEntry) -> Vec<ControlFlowWorkspace> {
        let cancel = Cancel::new();
        control_flow_workspace(entry, &Bindings::new(), &Progress::silent(&cancel)).expect("not cancelled")
    }

    #[test]
    fn an_op_holds_the_largest_of_its_bodies_and_what_is_within() {
        use UseKind::{Branch, Call, Loop};
        type Case<'a> = (&'a [&'a [u64]], &'a [(u32, u32, u32, UseKind)], &'a [(u32, u64, u32)]);
        let cases: &[Case<'_>] = &[
            // Inputs (1000) are the caller's, and of the outputs (the last) what its results count (1).
            (&[&[1, 1], &[8, 16, 32]], &[(0, 1, 1, Loop)], &[(1, 47, 1)]),
            (&[&[1, 32], &[8, 16, 32]], &[(0, 1, 1, Loop)], &[(1, 16, 1)]),
            (&[&[1, 99], &[64, 16, 32]], &[(0, 1, 1, Loop)], &[(1, 48, 1)]),
            // Of branches the larger, of equal ones the first.
            (
                &[&[1], &[8, 1], &[9, 1], &[9, 1]],
                &[(0, 0, 1, Branch), (0, 0, 3, Branch), (0, 0, 2, Branch)],
                &[(0, 9, 3)],
            ),
            // A loop within a loop counts on its step: 8 + 2 + 4 while op 1 runs (5 + 1, of which 1 is among the 2).
            (
                &[&[1], &[8, 2, 1], &[5, 1]],
                &[(0, 0, 1, Loop), (1, 1, 2, Loop)],
                &[(0, 14, 1)],
            ),
            // A body that runs itself, or none.
            (&[&[1], &[8, 1]], &[(0, 0, 1, Call), (1, 0, 1, Call)], &[(0, 8, 1)]),
            (&[&[8], &[8]], &[(0, 0, 1, Call)], &[]),
            (&[&[1], &[8, 1]], &[(0, 0, 9, Call)], &[]),
        ];
        for (graphs, uses, expected) in cases {
            let found = found(&entry(graphs, uses));
            let found: Vec<(u32, u64, u32)> = found.iter().map(|one| (one.op.0, one.bytes.get(), one.body)).collect();
            assert_eq!(&found[..], *expected, "{uses:?}");
        }
    }

    proptest! {
        #[test]
        fn an_only_branch_holds_what_its_ops_hold_without_it(
            ops in prop::collection::vec((1_u64..100, 1_usize..6), 1..9),
        ) {
            let result = ops[ops.len() - 1].0;
            let mut entry = entry(&[&[result, 1], &[]], &[(0, 0, 1, UseKind::Branch)]);
            entry.bodies = vec![Arc::new(linked("body", &ops))];
            let held = |entry: &GraphEntry| {
                let graph = &entry.graph;
                let plain = feature_lifetimes(graph, &graph.sizes(&Bindings::new()));
                with_control_flow_workspaces(graph, plain, &found(entry), None).peak().0
            };
            let as_branch = held(&entry);
            entry.uses[0].kind = UseKind::Call;
            entry.uses[0].map = Some(BodyMap {
                inputs: vec![(TensorId(0), TensorId(0))],
                results: vec![(TensorId(1), TensorId::from_idx(ops.len()))],
            });
            let cancel = Cancel::new();
            let done = inline(&mut entry, MAX_OPS, &Progress::silent(&cancel)).expect("not cancelled");
            prop_assert_eq!(done.calls, 1);
            prop_assert_eq!(as_branch, held(&entry));
        }
    }

    #[test]
    fn the_live_ranges_hold_it_on_the_op_alone() {
        let entry = entry(&[&[1, 1, 1], &[8, 16, 32]], &[(0, 1, 1, UseKind::Loop)]);
        let scratch = found(&entry);
        let graph = &entry.graph;
        let plain = feature_lifetimes(graph, &graph.sizes(&Bindings::new()));
        let with = with_control_flow_workspaces(graph, plain.clone(), &scratch, None);
        assert_eq!(with.items.len(), plain.items.len() + 1);
        let twice = with_control_flow_workspaces(graph, with.clone(), &scratch, None);
        assert_eq!(twice, with);
        let item = with
            .items
            .iter()
            .find(|item| item.tensor.idx() >= graph.tensors().len());
        let item = item.expect("scratch memory");
        assert_eq!((item.birth, item.end, item.bytes), (Step(1), Step(2), Bytes(47)));
    }
}
