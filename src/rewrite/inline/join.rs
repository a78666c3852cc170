//! Joins a graph and the bodies that its ops call into one graph.
//!
//! In: the graph, and for each call a body without calls. Out: a [`Flat`] graph in which the ops of the body replace
//! the call, in their order. Invariants: tensors of the graph keep their ids; an input of a body becomes the caller's
//! operand, an output the caller's result (an operand that the body returns unchanged stays the operand). Residents of
//! a body (weights, constants, variables) are in memory once, however often it is called.

use std::collections::{BTreeMap, BTreeSet};

use super::exprs::{Exprs, symbols};
use super::site::Site;
use highwater_model::graph::{
    Graph, GraphBuilder, GraphError, Id as _, NewOp, NewTensor, OpId, Role, Tensor, TensorId,
};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{BodyMap, BodyUse};

/// Ops copied between two checks of the cancel flag.
const OPS_BETWEEN_CHECKS: usize = 1 << 10;

#[derive(Debug)]
pub(super) enum JoinError {
    Cancelled(Cancelled),
    /// The result would be invalid: circular aliases, or too many names.
    NoGraph,
}

impl From<Cancelled> for JoinError {
    fn from(error: Cancelled) -> Self {
        Self::Cancelled(error)
    }
}

impl From<GraphError> for JoinError {
    fn from(_: GraphError) -> Self {
        Self::NoGraph
    }
}

#[derive(Debug)]
pub(super) struct Flat {
    pub(super) graph: Graph,
    /// Results of calls that became another tensor: an operand returned unchanged, or a result returned before.
    pub(super) replaced_by: BTreeMap<TensorId, TensorId>,
    /// Remaining uses of bodies.
    pub(super) uses: Vec<BodyUse>,
    /// By op: the op of the original graph that it replaces.
    pub(super) origins: Vec<OpId>,
    /// Residents of bodies, with their origin.
    pub(super) residents: BTreeMap<TensorId, ResidentKey>,
}

/// Number of the body as read, and a resident tensor of it.
pub(super) type ResidentKey = (u32, TensorId);

/// A call to inline.
pub(super) struct Call<'a> {
    pub(super) op: OpId,
    pub(super) number: u32,
    pub(super) body: &'a Graph,
    /// Uses of bodies within it.
    pub(super) uses: &'a [BodyUse],
    /// Residents of the bodies that it called.
    pub(super) residents: &'a BTreeMap<TensorId, ResidentKey>,
    /// Operands and results; the body's tensors are ids of `body`.
    pub(super) map: BodyMap,
}

/// Residents of a body whose op stays.
pub(super) struct Kept<'a> {
    pub(super) number: u32,
    pub(super) body: &'a Graph,
    /// Residents of the bodies within it.
    pub(super) residents: &'a BTreeMap<TensorId, ResidentKey>,
    /// Its resident tensors.
    pub(super) tensors: Vec<TensorId>,
    /// Prefix of their names.
    pub(super) prefix: String,
}

pub(super) struct Join<'a> {
    pub(super) graph: &'a Graph,
    pub(super) builder: GraphBuilder,
    /// By tensor of the graph: its replacement.
    targets: Vec<TensorId>,
    /// By body.
    exprs: BTreeMap<u32, Exprs>,
    /// Symbols of the graph; bodies add none.
    symbols: BTreeSet<String>,
    /// The first copy of each resident of a body.
    pub(super) residents: BTreeMap<ResidentKey, TensorId>,
    uses: Vec<BodyUse>,
    /// By op in order of insertion: the op of the graph that it replaces.
    origins: Vec<OpId>,
}

/// Inlines calls, ascending by op, at most one per op. `uses` are the graph's uses that stay, `kept` the residents of
/// their bodies.
pub(super) fn joined(
    graph: &Graph,
    calls: &[Call<'_>],
    uses: &[BodyUse],
    kept: &[Kept<'_>],
    progress: &Progress<'_>,
) -> Result<Flat, JoinError> {
    let mut join = Join {
        graph,
        builder: GraphBuilder::new(graph.name()),
        targets: graph.tensors().ids().collect(),
        exprs: BTreeMap::new(),
        symbols: symbols(graph),
        residents: BTreeMap::new(),
        uses: Vec::new(),
        origins: Vec::new(),
    };
    let sites: Vec<Site<'_>> = calls.iter().map(|call| join.site(call)).collect();
    join.settle(progress)?;
    join.own_tensors(progress)?;
    let mut sites = sites.iter().peekable();
    let mut new_ops: Vec<OpId> = Vec::with_capacity(graph.ops().len());
    for op in graph.ops().ids() {
        check_at(op.idx(), progress)?;
        match sites.next_if(|site| site.call.op == op) {
            Some(site) => {
                progress.check()?;
                join.splice(site, progress)?;
                new_ops.push(OpId(u32::MAX));
            }
            None => new_ops.push(join.own_op(op)?),
        }
    }
    for one in uses {
        let Some(op) = new_ops.get(one.op.idx()).copied() else {
            continue;
        };
        let mut one = BodyUse { op, ..one.clone() };
        if let Some(map) = &mut one.map {
            map.inputs
                .iter_mut()
                .for_each(|(_, given)| *given = join.target(*given));
        }
        join.uses.push(one);
    }
    let variables = variable_names(graph);
    for one in kept {
        progress.check()?;
        join.keep(one, &variables)?;
    }
    for output in graph.outputs() {
        let output = join.target(*output);
        join.builder.output(output);
    }
    join.finish()
}

fn variable_names(graph: &Graph) -> BTreeSet<&str> {
    let tensors = graph.tensors().iter_ids();
    let variables = tensors.filter(|(_, tensor)| tensor.role.is_variable());
    variables.map(|(id, _)| graph.tensor_name(id)).collect()
}

/// Checks the cancel flag every [`OPS_BETWEEN_CHECKS`] positions.
pub(super) fn check_at(position: usize, progress: &Progress<'_>) -> Result<(), Cancelled> {
    if position.is_multiple_of(OPS_BETWEEN_CHECKS) {
        progress.check()?;
    }
    Ok(())
}

impl Join<'_> {
    /// Determines the results of a call.
    fn site<'c>(&mut self, call: &'c Call<'c>) -> Site<'c> {
        let mut site = Site::new(call);
        for (result, returned) in &call.map.results {
            match site.claim(*result, *returned) {
                None => {}
                Some(instead) => self.targets[result.idx()] = instead,
            }
        }
        site
    }

    /// Path compression: every replaced tensor points to the end of its chain. Each step removes a tensor from the
    /// chain, so it terminates even on circular chains of a damaged file; nearly O(n).
    fn settle(&mut self, progress: &Progress<'_>) -> Result<(), JoinError> {
        for start in 0..self.targets.len() {
            check_at(start, progress)?;
            let mut at = start;
            loop {
                let next = self.targets[at].idx();
                if next == at {
                    break;
                }
                self.targets[at] = self.targets[next];
                at = self.targets[at].idx();
            }
            self.targets[start] = TensorId::from_idx(at);
        }
        Ok(())
    }

    pub(super) fn target(&self, tensor: TensorId) -> TensorId {
        self.targets[tensor.idx()]
    }

    fn own_tensors(&mut self, progress: &Progress<'_>) -> Result<(), JoinError> {
        let graph = self.graph;
        let exprs = Exprs::all(graph, &mut self.builder);
        for (id, tensor) in graph.tensors().iter_ids() {
            check_at(id.idx(), progress)?;
            let is_gone = self.targets[id.idx()] != id;
            let role = if is_gone { Role::Activation } else { tensor.role };
            self.tensor(graph, &exprs, id, graph.tensor_name(id), role)?;
        }
        for (id, tensor) in graph.tensors().iter_ids() {
            let storage = &graph.storages()[tensor.storage];
            let target = self.target(id);
            if target != id {
                self.builder.alias(id, target);
            } else if storage.root != id {
                self.builder.alias(id, storage.root);
            } else if let Some(bytes) = storage.stated_bytes {
                self.builder.state_storage_bytes(id, bytes);
            }
        }
        Ok(())
    }

    /// Copies a tensor under a name and a role.
    pub(super) fn tensor(
        &mut self,
        graph: &Graph,
        exprs: &Exprs,
        id: TensorId,
        name: &str,
        role: Role,
    ) -> Result<TensorId, GraphError> {
        let tensor: &Tensor = &graph.tensors()[id];
        let dtype = tensor.dtype;
        let new = self.builder.tensor(NewTensor {
            name,
            dtype,
            shape: None,
            role,
        })?;
        // Before the shape: stated bytes count whatever the shape.
        if let Some(bytes) = graph.stated_tensor_bytes(id) {
            self.builder.state_tensor_bytes(new, bytes);
        }
        if let Some(dims) = exprs.dims(graph, id) {
            let shape = self.builder.shape(&dims);
            self.builder.set_shape(new, Some(shape));
        }
        if tensor.is_atomic {
            self.builder.set_atomic(new);
        }
        Ok(new)
    }

    fn own_op(&mut self, id: OpId) -> Result<OpId, GraphError> {
        let graph = self.graph;
        let operands: Vec<TensorId> = graph.operands(id).iter().map(|tensor| self.target(*tensor)).collect();
        let op = &graph.ops()[id];
        self.op(
            NewOp {
                name: graph.op_name(id),
                kind: graph.op_kind(id),
                operands: &operands,
                results: graph.results(id),
                phase: op.phase,
                flops: op.flops,
                time: op.time,
            },
            id,
        )
    }

    /// Adds an op that replaces `origin`.
    pub(super) fn op(&mut self, new: NewOp<'_>, origin: OpId) -> Result<OpId, GraphError> {
        self.origins.push(origin);
        self.builder.op(new)
    }

    /// Adds a use whose op was added before.
    pub(super) fn add_use(&mut self, one: BodyUse) {
        self.uses.push(one);
    }

    /// Copies the expressions of a body once.
    pub(super) fn exprs_of(&mut self, number: u32, body: &Graph) -> Exprs {
        match self.exprs.remove(&number) {
            Some(known) => known,
            None => Exprs::used(body, &self.symbols, &mut self.builder),
        }
    }

    /// Returns them for the next call.
    pub(super) fn keep_exprs(&mut self, number: u32, exprs: Exprs) {
        self.exprs.insert(number, exprs);
    }

    fn finish(self) -> Result<Flat, JoinError> {
        let is_gone = |(id, target): &(usize, &TensorId)| target.idx() != *id;
        let gone = self.targets.iter().enumerate().filter(is_gone);
        let replaced_by = gone
            .map(|(id, _)| (TensorId::from_idx(id), self.target(TensorId::from_idx(id))))
            .collect();
        let (graph, steps) = self.builder.finish_with_steps()?;
        let mut uses = self.uses;
        highwater_model::workload::ops_to_steps(&mut uses, &steps);
        uses.sort_by_key(|one| one.op);
        let mut origins = vec![OpId(0); steps.len()];
        for (step, origin) in steps.iter().zip(&self.origins) {
            origins[step.idx()] = *origin;
        }
        Ok(Flat {
            graph,
            replaced_by,
            uses,
            origins,
            residents: self.residents.iter().map(|(key, tensor)| (*tensor, *key)).collect(),
        })
    }
}
