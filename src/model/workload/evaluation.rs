//! The evaluation graph of a training graph: its forward phase.
//!
//! In: a graph whose ops have phases. Out: the same ops without backward and optimizer, with the training graph's
//! outputs (the loss) as outputs; inputs and variables without readers are left out. `None` where the graph has no
//! backward phase, or where a kept op reads a result of a dropped one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{BodyUse, GraphEntry};
use crate::graph::{Dim, DimExpr, ExprId, Graph, GraphBuilder, Id as _, NewOp, NewTensor, OpId, Phase, TensorId};

/// O(graph).
pub fn evaluation_graph(graph: &Graph, name: &str) -> Option<Graph> {
    if !graph.ops().iter().any(|op| op.phase == Phase::Backward) {
        return None;
    }
    let mut copy = Copy {
        graph,
        builder: GraphBuilder::new(name),
        tensors: vec![None; graph.tensors().len()],
        exprs: Vec::new(),
    };
    copy.copy_exprs();
    for (op_id, op) in graph.ops().iter_ids() {
        if !is_kept(op.phase) {
            continue;
        }
        let operands = copy.tensors_of(graph.operands(op_id))?;
        let results = copy.tensors_of(graph.results(op_id))?;
        let new = NewOp {
            name: graph.op_name(op_id),
            kind: graph.op_kind(op_id),
            operands: &operands,
            results: &results,
            phase: op.phase,
            flops: op.flops,
            time: op.time,
        };
        copy.builder.op(new).ok()?;
    }
    for (old, new) in copy.tensors.iter().enumerate() {
        if let Some(new) = new
            && graph.tensors()[TensorId::from_idx(old)].producer.is_some()
            && copy.builder.get(*new).producer.is_none()
        {
            return None;
        }
    }
    for output in graph.outputs() {
        if let Some(new) = copy.tensors[output.idx()] {
            copy.builder.output(new);
        }
    }
    copy.builder.finish().ok()
}

/// The entry of an evaluation graph, with the bodies that its ops still run. Maps of tensors are dropped, because the
/// cut renumbers tensors.
pub fn evaluation_entry(entry: &GraphEntry, name: &str) -> Option<GraphEntry> {
    let graph = evaluation_graph(&entry.graph, name)?;
    let mut steps: BTreeMap<OpId, OpId> = BTreeMap::new();
    let kept = entry.graph.ops().iter_ids().filter(|(_, op)| is_kept(op.phase));
    for (step, (op, _)) in kept.enumerate() {
        steps.insert(op, OpId::from_idx(step));
    }
    let uses = entry.uses.iter().filter_map(|one| {
        let op = if one.graph == 0 { *steps.get(&one.op)? } else { one.op };
        let map = one.map.clone().filter(|_| one.graph != 0);
        Some(BodyUse { op, map, ..one.clone() })
    });
    Some(GraphEntry {
        name: name.to_owned(),
        graph: Arc::new(graph),
        bodies: entry.bodies.clone(),
        uses: uses.collect(),
        // Offsets no longer match.
        dumped: None,
    })
}

const fn is_kept(phase: Phase) -> bool {
    matches!(phase, Phase::Forward | Phase::Unknown)
}

struct Copy<'a> {
    graph: &'a Graph,
    builder: GraphBuilder,
    tensors: Vec<Option<TensorId>>,
    exprs: Vec<ExprId>,
}

impl Copy<'_> {
    fn tensors_of(&mut self, old: &[TensorId]) -> Option<Vec<TensorId>> {
        old.iter().map(|tensor| self.tensor(*tensor)).collect()
    }

    fn tensor(&mut self, old: TensorId) -> Option<TensorId> {
        if let Some(new) = self.tensors[old.idx()] {
            return Some(new);
        }
        let tensor = &self.graph.tensors()[old];
        let dims: Option<Vec<Dim>> = self.graph.dims(old).map(|dims| {
            dims.iter()
                .map(|dim| match dim {
                    Dim::Expr(id) => Dim::Expr(self.exprs[id.idx()]),
                    other => *other,
                })
                .collect()
        });
        let shape = dims.map(|dims| self.builder.shape(&dims));
        let new = self
            .builder
            .tensor(NewTensor {
                name: self.graph.tensor_name(old),
                dtype: tensor.dtype,
                shape,
                role: tensor.role,
            })
            .ok()?;
        self.tensors[old.idx()] = Some(new);
        if tensor.is_atomic {
            self.builder.set_atomic(new);
        }
        if let Some(bytes) = self.graph.stated_tensor_bytes(old) {
            self.builder.state_tensor_bytes(new, bytes);
        }
        let storage = &self.graph.storages()[tensor.storage];
        if storage.root == old {
            if let Some(bytes) = storage.stated_bytes {
                self.builder.state_storage_bytes(new, bytes);
            }
        } else {
            let root = self.tensor(storage.root)?;
            self.builder.alias(new, root);
        }
        Some(new)
    }

    /// Copies the expressions that shapes of kept tensors use, in the same order: children come first, so one pass
    /// suffices. The others map to any id: they are never read, and their symbols are no symbols of the new graph.
    fn copy_exprs(&mut self) {
        let old = self.graph.exprs();
        for (position, is_used) in self.used_exprs().into_iter().enumerate() {
            let at = |part: ExprId| self.exprs.get(part.idx()).copied();
            let new = || self.builder.exprs.copied(old, ExprId::from_idx(position), at);
            let new = is_used.then(new).flatten();
            self.exprs.push(new.unwrap_or(ExprId::from_idx(0)));
        }
    }

    /// By expression: whether the shape of a kept tensor, or of its storage's root, depends on it.
    fn used_exprs(&self) -> Vec<bool> {
        let graph = self.graph;
        let mut is_used = vec![false; graph.exprs().len()];
        for (op_id, _) in graph.ops().iter_ids().filter(|(_, op)| is_kept(op.phase)) {
            for tensor in graph.operands(op_id).iter().chain(graph.results(op_id)) {
                let root = graph.storages()[graph.tensors()[*tensor].storage].root;
                for dim in [*tensor, root]
                    .iter()
                    .filter_map(|tensor| graph.dims(*tensor))
                    .flatten()
                {
                    if let Dim::Expr(id) = dim {
                        is_used[id.idx()] = true;
                    }
                }
            }
        }
        for position in (0..is_used.len()).rev() {
            let expr = graph.exprs().get(ExprId::from_idx(position));
            let parts = expr.filter(|_| is_used[position]).map(DimExpr::parts);
            for part in parts.into_iter().flatten() {
                is_used[part.idx()] = true;
            }
        }
        is_used
    }
}
