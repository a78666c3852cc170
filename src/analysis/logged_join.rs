//! Placements of a log joined with the tensors of a graph of the same run.
//!
//! ```text
//! log     a/conv:0   a/b/..512 letters:0   a/bna_relu:0     x:0 TransData 3 MiB
//! graph   a/conv:0   a/b/..more..:0        a/bn, a/relu:0   y:0 TransData 3 MiB
//!         by name    by the cut name       by its last      by type, bytes and order, where both sides have as many
//!                                          part
//! ```
//!
//! Each tensor joins once. Lives are not compared: ids of ops are those of the compiled graph.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use highwater_model::graph::{Bindings, Graph, Role, TensorId};
use highwater_model::workload::{GraphIdx, ListedPlace, LoggedPlace, OpKinds, OpList, Workload};

/// Letters at which a log cuts names.
const CUT: usize = 512;

/// Names of which the last part is looked for.
const MOST_FUSED: usize = 20_000;

/// Bytes that the engine adds to outputs.
const PADDING: u64 = 32;

/// How a placement was joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum JoinedBy {
    Name,
    CutName,
    LastPart,
    TypeAndBytes,
}

impl JoinedBy {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Name => "by name",
            Self::CutName => "by names that the log cuts",
            Self::LastPart => "by the last parts of fused names",
            Self::TypeAndBytes => "by type, bytes and order",
        }
    }
}

/// A tensor that a log may place.
#[derive(Clone, Copy, Debug)]
pub(super) struct SideTensor<'a> {
    pub(super) op: &'a str,
    pub(super) kind: &'a str,
    /// Whether it is a workspace, and its number among the outputs or workspaces of its op.
    pub(super) slot: (bool, u64),
    /// `None` where the shape is unknown.
    pub(super) bytes: Option<u64>,
}

/// A pair of positions: among the tensors and among the placements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) tensor: usize,
    pub(super) place: usize,
    pub(super) by: JoinedBy,
}

/// The graphs of a workload by the ids that a log gives them.
pub(super) fn graphs_of(workload: &Workload) -> BTreeMap<u64, GraphIdx> {
    let graphs = (0_u32..).zip(workload.graphs());
    let found = graphs.filter_map(|(idx, entry)| Some((entry.dumped.as_ref()?.log_graph?, GraphIdx(idx))));
    // Of several the first counts.
    let mut found: Vec<(u64, GraphIdx)> = found.collect();
    found.reverse();
    found.into_iter().collect()
}

/// The tensors of a graph that a plan may place, in execution order; inputs without an op first.
pub(super) fn of_graph(graph: &Graph) -> (Vec<SideTensor<'_>>, Vec<TensorId>) {
    let sizes = graph.sizes(&Bindings::new());
    let (mut tensors, mut ids) = (Vec::new(), Vec::new());
    for (id, tensor) in graph.tensors().iter_ids() {
        if tensor.role == Role::Input && tensor.producer.is_none() {
            let name = graph.tensor_name(id);
            tensors.push(SideTensor {
                op: name.strip_suffix(":0").unwrap_or(name),
                kind: "Data",
                slot: (false, 0),
                bytes: sizes.tensor(id),
            });
            ids.push(id);
        }
    }
    for op in graph.ops().ids() {
        let (mut outputs, mut workspaces) = (0, 0);
        for id in graph.results(op) {
            let role = graph.tensors()[*id].role;
            let is_workspace = role == Role::Workspace;
            let number = if is_workspace { &mut workspaces } else { &mut outputs };
            let slot = (is_workspace, *number);
            *number += 1;
            if role.is_resident() {
                continue;
            }
            tensors.push(SideTensor {
                op: graph.op_name(op),
                kind: graph.op_kind(op),
                slot,
                bytes: sizes.tensor(*id),
            });
            ids.push(*id);
        }
    }
    (tensors, ids)
}

/// The tensors of an op list, each with its buffer.
pub(super) fn of_ops(ops: &OpList) -> (Vec<SideTensor<'_>>, Vec<Option<u32>>) {
    let (mut tensors, mut buffers) = (Vec::new(), Vec::new());
    for (op, places) in ops.ops.iter().zip(ops.arena().places) {
        let outputs = op.outputs.iter().zip(places.outputs).enumerate();
        let outputs = outputs.map(|(index, (bytes, place))| ((false, index as u64), bytes, place));
        let workspaces = op.workspaces.iter().zip(places.workspaces).enumerate();
        let workspaces = workspaces.map(|(index, (bytes, place))| ((true, index as u64), bytes, place));
        for (slot, bytes, place) in outputs.chain(workspaces) {
            // Sizes of a list are what the engine asks for.
            let padding = if slot.0 { 0 } else { PADDING };
            tensors.push(SideTensor {
                op: &op.name,
                kind: &op.kind,
                slot,
                bytes: bytes.get().checked_sub(padding),
            });
            buffers.push(match place {
                ListedPlace::Buffer(buffer) => Some(buffer),
                ListedPlace::Io(_) | ListedPlace::Nowhere => None,
            });
        }
    }
    (tensors, buffers)
}

/// Joins tensors with the placements of a plan. O(n log n + letters of fused names squared).
pub(super) fn join(tensors: &[SideTensor<'_>], plan: &IndexMap<String, LoggedPlace>, kinds: &OpKinds) -> Vec<Pair> {
    let mut joining = Joining::new(tensors);
    let places: Vec<Option<(&str, (bool, u64))>> = plan.keys().map(|name| parts(name)).collect();
    for by in [JoinedBy::Name, JoinedBy::CutName, JoinedBy::LastPart] {
        let mut n_left = 0;
        for (position, place) in places.iter().enumerate() {
            let Some((op, slot)) = place.filter(|_| !joining.is_placed.contains(&position)) else {
                continue;
            };
            n_left += 1;
            if by == JoinedBy::LastPart && n_left > MOST_FUSED {
                break;
            }
            joining.by_op(position, op, slot, by);
        }
    }
    joining.by_bytes(plan, &places, kinds);
    joining.pairs.sort_unstable_by_key(|pair| pair.place);
    joining.pairs
}

/// Op and slot of `OP:output:0`.
pub(super) fn parts(name: &str) -> Option<(&str, (bool, u64))> {
    let mut parts = name.rsplitn(3, ':');
    let (index, kind, op) = (parts.next()?, parts.next()?, parts.next()?);
    Some((op, (kind == "workspace", index.parse().ok()?)))
}

struct Joining<'a> {
    tensors: &'a [SideTensor<'a>],
    by_slot: BTreeMap<(&'a str, (bool, u64)), usize>,
    /// Names of ops; fused names have `_` for the first `/` of a part.
    underscored: BTreeMap<String, &'a str>,
    is_taken: Vec<bool>,
    is_placed: BTreeSet<usize>,
    pairs: Vec<Pair>,
}

impl<'a> Joining<'a> {
    fn new(tensors: &'a [SideTensor<'a>]) -> Self {
        let mut by_slot = BTreeMap::new();
        let mut underscored = BTreeMap::new();
        for (position, tensor) in tensors.iter().enumerate() {
            by_slot.entry((tensor.op, tensor.slot)).or_insert(position);
            if tensor.op.contains('/') {
                underscored.entry(tensor.op.replacen('/', "_", 1)).or_insert(tensor.op);
            }
        }
        Self {
            tensors,
            by_slot,
            underscored,
            is_taken: vec![false; tensors.len()],
            is_placed: BTreeSet::new(),
            pairs: Vec::new(),
        }
    }

    fn take(&mut self, tensor: usize, place: usize, by: JoinedBy) {
        if !std::mem::replace(&mut self.is_taken[tensor], true) {
            self.is_placed.insert(place);
            self.pairs.push(Pair { tensor, place, by });
        }
    }

    fn by_op(&mut self, place: usize, op: &str, slot: (bool, u64), by: JoinedBy) {
        let found = match by {
            JoinedBy::Name => self.by_slot.get(&(op, slot)).copied(),
            JoinedBy::CutName => self.cut(op, slot),
            JoinedBy::LastPart => self.last_part(op, slot),
            JoinedBy::TypeAndBytes => None,
        };
        if let Some(tensor) = found {
            self.take(tensor, place, by);
        }
    }

    /// The only name that begins with one that was cut.
    fn cut(&self, op: &str, slot: (bool, u64)) -> Option<usize> {
        if op.chars().count() < CUT {
            return None;
        }
        let names = self.by_slot.range((op, (false, 0))..);
        let names = names.take_while(|((name, _), _)| name.starts_with(op));
        let mut found = names.filter(|((_, of), _)| *of == slot).map(|(_, position)| *position);
        found.next().filter(|_| found.next().is_none())
    }

    /// The longest name of an op that a fused name ends with, behind another.
    fn last_part(&self, op: &str, slot: (bool, u64)) -> Option<usize> {
        let ends = op.char_indices().skip(1).map(|(at, _)| &op[at..]);
        let mut names = ends.filter_map(|end| {
            let by_name = self.by_slot.get(&(end, slot)).copied();
            by_name.or_else(|| self.by_slot.get(&(*self.underscored.get(end)?, slot)).copied())
        });
        names.next()
    }

    /// What is left of one type and one number of bytes, in order, where both sides have as many.
    fn by_bytes(
        &mut self,
        plan: &IndexMap<String, LoggedPlace>,
        places: &[Option<(&str, (bool, u64))>],
        kinds: &OpKinds,
    ) {
        type Key<'k> = (&'k str, bool, u64);
        let mut of_graph: BTreeMap<Key<'_>, Vec<usize>> = BTreeMap::new();
        for (position, tensor) in self.tensors.iter().enumerate() {
            if let (false, Some(bytes)) = (self.is_taken[position], tensor.bytes) {
                let key = (tensor.kind, tensor.slot.0, bytes.div_ceil(32));
                of_graph.entry(key).or_default().push(position);
            }
        }
        let mut of_log: BTreeMap<Key<'_>, Vec<(i64, usize)>> = BTreeMap::new();
        for (position, (place, parts)) in plan.values().zip(places).enumerate() {
            let (Some((_, slot)), Some(kind)) = (parts, place.kind) else {
                continue;
            };
            if let (false, Some(bytes), Some(begin)) = (self.is_placed.contains(&position), place.unpadded, place.begin)
            {
                let key = (kinds.get(kind), slot.0, bytes.div_ceil(32));
                of_log.entry(key).or_default().push((begin, position));
            }
        }
        for (key, mut of_log) in of_log {
            let Some(of_graph) = of_graph.get(&key).filter(|of_graph| of_graph.len() == of_log.len()) else {
                continue;
            };
            of_log.sort_unstable();
            for (tensor, (_, place)) in of_graph.iter().zip(of_log) {
                self.take(*tensor, place, JoinedBy::TypeAndBytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_join_by_name_then_cut_fused_and_by_bytes() {
        let long = "n".repeat(CUT);
        let whole = format!("{long}/more");
        let tensor = |op, kind, bytes| SideTensor {
            op,
            kind,
            slot: (false, 0),
            bytes: Some(bytes),
        };
        let tensors = [
            tensor("m/conv", "Conv2D", 64),
            tensor("m/relu", "Relu", 64),
            tensor(&whole, "Add", 64),
            tensor("m/bn", "Bn", 64),
            tensor("trans_1", "TransData", 96),
            tensor("trans_2", "TransData", 96),
            tensor("alone", "Cast", 96),
        ];
        let mut kinds = OpKinds::default();
        let mut place = |kind: &str, begin, bytes| LoggedPlace {
            kind: kinds.intern(kind),
            begin: Some(begin),
            unpadded: Some(bytes),
            ..LoggedPlace::default()
        };
        let plan: IndexMap<String, LoggedPlace> = [
            ("m/bn:output:0".to_owned(), place("Bn", 1, 64)),
            ("m/convm_relu:output:0".to_owned(), place("Conv2D", 2, 64)),
            (format!("{long}:output:0"), place("Add", 3, 64)),
            ("trans_9:output:0".to_owned(), place("TransData", 8, 96)),
            ("trans_8:output:0".to_owned(), place("TransData", 5, 96)),
            ("c_1:output:0".to_owned(), place("Cast", 6, 96)),
            ("c_2:output:0".to_owned(), place("Cast", 7, 96)),
            ("m/bn:workspace:0".to_owned(), place("Bn", 1, 64)),
        ]
        .into_iter()
        .collect();
        let pairs = join(&tensors, &plan, &kinds).into_iter();
        let pairs: Vec<(usize, usize, JoinedBy)> = pairs.map(|pair| (pair.place, pair.tensor, pair.by)).collect();
        assert_eq!(
            pairs,
            [
                (0, 3, JoinedBy::Name),
                (1, 1, JoinedBy::LastPart),
                (2, 2, JoinedBy::CutName),
                (3, 5, JoinedBy::TypeAndBytes),
                (4, 4, JoinedBy::TypeAndBytes),
            ]
        );
    }
}
