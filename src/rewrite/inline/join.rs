//! A graph and the bodies that its ops call -> one graph.
//!
//! In: the graph, and for each call a body without calls of its own. Out: a [`Flat`] graph, in which a call's step is taken
//! by the body's ops, in their order. Invariants: tensors of the graph keep their ids; a body's input is what the caller
//! hands in, its output the caller's result (one that it hands back as it came is the caller's operand). What a body keeps
//! resident (weights, constants, variables) stands in memory once, however often it is called.

use std::collections::{BTreeMap, BTreeSet};

use super::exprs::{Exprs, symbols};
use super::site::Site;
use highwater_model::graph::{
    Graph, GraphBuilder, GraphError, Id as _, NewOp, NewTensor, OpId, Role, Tensor, TensorId,
};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{BodyMap, BodyUse};

/// How many ops are copied between two looks at the cancel flag.
const OPS_BETWEEN_CHECKS: usize = 1 << 10;

/// Why graphs were not joined.
#[derive(Debug)]
pub(super) enum JoinError {
    /// The user does not want it any more.
    Cancelled(Cancelled),
    /// The joined graph would not be one: aliases in a circle, more names than fit.
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

/// A graph without calls.
#[derive(Debug)]
pub(super) struct Flat {
    /// The graph.
    pub(super) graph: Graph,
    /// Results of calls that are something else now: an operand that was handed back, a result that was returned before.
    pub(super) stands_for: BTreeMap<TensorId, TensorId>,
    /// Uses of bodies that are left in it.
    pub(super) uses: Vec<BodyUse>,
    /// The op of the graph as it was, in whose place each op stands.
    pub(super) origins: Vec<OpId>,
    /// What bodies keep resident in it, and what of which body each is.
    pub(super) residents: BTreeMap<TensorId, ResidentKey>,
}

/// The number of a body as it was read, and a tensor that it keeps resident.
pub(super) type ResidentKey = (u32, TensorId);

/// A call whose body takes its place.
pub(super) struct Call<'a> {
    /// The op.
    pub(super) op: OpId,
    /// The number of the body.
    pub(super) number: u32,
    /// The body.
    pub(super) body: &'a Graph,
    /// Uses of bodies within it.
    pub(super) uses: &'a [BodyUse],
    /// What bodies that it called keep resident in it.
    pub(super) residents: &'a BTreeMap<TensorId, ResidentKey>,
    /// What corresponds, the body's tensors being those of `body`.
    pub(super) map: BodyMap,
}

/// What a body keeps resident whose op stays.
pub(super) struct Kept<'a> {
    /// The number of the body.
    pub(super) number: u32,
    /// The body.
    pub(super) body: &'a Graph,
    /// What bodies within it keep resident in it.
    pub(super) residents: &'a BTreeMap<TensorId, ResidentKey>,
    /// What of it stays resident.
    pub(super) tensors: Vec<TensorId>,
    /// What goes before their names.
    pub(super) prefix: String,
}

/// The graph under construction.
pub(super) struct Join<'a> {
    pub(super) graph: &'a Graph,
    pub(super) builder: GraphBuilder,
    /// By tensor of the graph: what it is now.
    targets: Vec<TensorId>,
    /// By number of a body: its expressions.
    exprs: BTreeMap<u32, Exprs>,
    /// The names of the graph's symbols; bodies add none.
    symbols: BTreeSet<String>,
    /// What bodies keep resident, where it stands: the first of each.
    pub(super) residents: BTreeMap<ResidentKey, TensorId>,
    uses: Vec<BodyUse>,
    /// By op in the order in which they are added: the op of the graph in whose place it stands.
    origins: Vec<OpId>,
}

/// Puts the bodies of calls, ascending by op and one for each op, into their places. `uses` are those of the graph that stay,
/// `kept` what the bodies of these keep resident.
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
                join.put(site, progress)?;
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

/// Looks at the cancel flag now and then.
pub(super) fn check_at(position: usize, progress: &Progress<'_>) -> Result<(), Cancelled> {
    if position.is_multiple_of(OPS_BETWEEN_CHECKS) {
        progress.check()?;
    }
    Ok(())
}

impl Join<'_> {
    /// Decides what the results of a call are.
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

    /// Follows every tensor that is another now to the last of its chain, which is then one step away. Each step takes a
    /// tensor out of the chain, so that this ends even where a file's chain is a circle, and is near linear.
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

    /// What a tensor of the graph is now.
    pub(super) fn target(&self, tensor: TensorId) -> TensorId {
        self.targets[tensor.idx()]
    }

    /// The graph's own tensors, under their ids.
    fn own_tensors(&mut self, progress: &Progress<'_>) -> Result<(), JoinError> {
        let graph = self.graph;
        let exprs = Exprs::all(graph, &mut self.builder);
        for (id, tensor) in graph.tensors().iter_ids() {
            check_at(id.idx(), progress)?;
            let is_gone = self.targets[id.idx()] != id;
            let role = if is_gone { Role::Activation } else { tensor.role };
            self.tensor((graph, &exprs), id, (graph.tensor_name(id), role))?;
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

    /// A copy of a tensor, under a name and in a role.
    pub(super) fn tensor(
        &mut self,
        (graph, exprs): (&Graph, &Exprs),
        id: TensorId,
        (name, role): (&str, Role),
    ) -> Result<TensorId, GraphError> {
        let tensor: &Tensor = &graph.tensors()[id];
        let dtype = tensor.dtype;
        let new = self.builder.tensor(NewTensor {
            name,
            dtype,
            shape: None,
            role,
        })?;
        // Before the shape: what a graph keeps of it counts whatever the shape says.
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

    /// Adds an op in the place of one of the graph.
    pub(super) fn op(&mut self, new: NewOp<'_>, origin: OpId) -> Result<OpId, GraphError> {
        self.origins.push(origin);
        self.builder.op(new)
    }

    /// A use within the graph, whose op is one that was added.
    pub(super) fn add_use(&mut self, one: BodyUse) {
        self.uses.push(one);
    }

    /// The expressions of a body, carried over once.
    pub(super) fn exprs_of(&mut self, number: u32, body: &Graph) -> Exprs {
        match self.exprs.remove(&number) {
            Some(known) => known,
            None => Exprs::used(body, &self.symbols, &mut self.builder),
        }
    }

    /// Keeps them for the next call.
    pub(super) fn keep_exprs(&mut self, number: u32, exprs: Exprs) {
        self.exprs.insert(number, exprs);
    }

    fn finish(self) -> Result<Flat, JoinError> {
        let is_gone = |(id, target): &(usize, &TensorId)| target.idx() != *id;
        let gone = self.targets.iter().enumerate().filter(is_gone);
        let stands_for = gone
            .map(|(id, _)| (TensorId::from_idx(id), self.target(TensorId::from_idx(id))))
            .collect();
        let (graph, steps) = self.builder.finish_with_steps()?;
        let mut uses = self.uses;
        highwater_model::workload::onto_steps(&mut uses, &steps);
        uses.sort_by_key(|one| one.op);
        let mut origins = vec![OpId(0); steps.len()];
        for (step, origin) in steps.iter().zip(&self.origins) {
            origins[step.idx()] = *origin;
        }
        Ok(Flat {
            graph,
            stands_for,
            uses,
            origins,
            residents: self.residents.iter().map(|(key, tensor)| (*tensor, *key)).collect(),
        })
    }
}
