//! Inlines one call.
//!
//! In: a [`Call`]. Out: the body's tensors and ops in the graph under construction, named `caller/node` as by
//! TensorFlow's inliner; variables keep their names, because sessions identify them by name. Ops that only pass inputs
//! in (`Data`, `parameter`) or results out (`NetOutput`) are removed.

use std::collections::{BTreeMap, BTreeSet};

use super::exprs::Exprs;
use super::join::{Call, Join, JoinError, ResidentKey, check_at};
use highwater_model::graph::{Dim, Graph, GraphError, Id as _, NewOp, OpId, Phase, Role, TensorId};
use highwater_model::progress::Progress;
use highwater_model::units::Nanos;
use highwater_model::workload::{BodyMap, BodyUse, NET_OUTPUT};

/// Most bytes of a caller's name that are used as prefix.
const MAX_PREFIX: usize = 128;

/// Most bytes of a body's name behind a prefix: names of nested calls grow no further.
pub(super) const MAX_OWN_NAME: usize = 256;

pub(super) struct Site<'a> {
    pub(super) call: &'a Call<'a>,
    /// Operand of the caller by the body's input.
    given: BTreeMap<TensorId, TensorId>,
    /// Result of the caller by the body's tensor.
    returned: BTreeMap<TensorId, TensorId>,
}

impl<'a> Site<'a> {
    pub(super) fn new(call: &'a Call<'a>) -> Self {
        let mut given = BTreeMap::new();
        for (input, operand) in &call.map.inputs {
            given.entry(*input).or_insert(*operand);
        }
        Self {
            call,
            given,
            returned: BTreeMap::new(),
        }
    }

    /// The key of a resident tensor of the body.
    fn key(&self, tensor: TensorId) -> ResidentKey {
        let known = self.call.residents.get(&tensor);
        known.copied().unwrap_or((self.call.number, tensor))
    }

    /// Assigns a result of the caller to a tensor of the body; returns the tensor that replaces the result where the
    /// body returns an input unchanged or returns a tensor twice.
    pub(super) fn claim(&mut self, result: TensorId, of_body: TensorId) -> Option<TensorId> {
        if let Some(operand) = self.given.get(&of_body) {
            return Some(*operand);
        }
        let known = self.returned.get(&of_body).copied();
        if known.is_none() {
            self.returned.insert(of_body, result);
        }
        known
    }
}

/// Tensors of a body at one call.
struct Tensors {
    /// By tensor of the body.
    new: Vec<TensorId>,
    /// Whether it existed before: an operand of the caller, or a shared weight.
    is_old: Vec<bool>,
}

/// Cost and phase that ops of a body inherit from the calling op.
struct Inherited {
    phase: Phase,
    /// For the first op, where no op of the body states operations.
    flops: u64,
    time: Option<Nanos>,
    /// Scratch memory of the call.
    scratch: Vec<TensorId>,
}

impl Join<'_> {
    pub(super) fn splice(&mut self, site: &Site<'_>, progress: &Progress<'_>) -> Result<(), JoinError> {
        let call = site.call;
        let prefix = prefix(self.graph, call.op, call.body);
        let exprs = self.exprs_of(call.number, call.body);
        let tensors = self.tensors_of(site, &exprs, &prefix, progress)?;
        self.keep_exprs(call.number, exprs);
        self.memory_of(site, &tensors, progress)?;
        let ops = self.ops_of(site, &tensors, &prefix, progress)?;
        for (position, one) in call.uses.iter().enumerate() {
            check_at(position, progress)?;
            let Some(op) = ops.get(one.op.idx()).copied().flatten() else {
                continue;
            };
            let new = |tensor: TensorId| tensors.new[tensor.idx()];
            let map = one.map.as_ref().map(|map| BodyMap {
                inputs: map.inputs.iter().map(|(input, given)| (*input, new(*given))).collect(),
                results: map.results.iter().map(|(result, of)| (new(*result), *of)).collect(),
            });
            self.add_use(BodyUse { op, map, ..one.clone() });
        }
        Ok(())
    }

    fn tensors_of(
        &mut self,
        site: &Site<'_>,
        exprs: &Exprs,
        prefix: &str,
        progress: &Progress<'_>,
    ) -> Result<Tensors, JoinError> {
        let body = site.call.body;
        let mut tensors = Tensors {
            new: Vec::with_capacity(body.tensors().len()),
            is_old: Vec::with_capacity(body.tensors().len()),
        };
        let mut name = String::new();
        for (id, tensor) in body.tensors().iter_ids() {
            check_at(id.idx(), progress)?;
            let resident = site.key(id);
            let is_root = body.storages()[tensor.storage].root == id;
            let shared = (tensor.role.is_resident() && is_root && tensor.producer.is_none())
                .then(|| self.residents.get(&resident).copied())
                .flatten();
            let given = site.given.get(&id).map(|operand| self.target(*operand));
            if let (None, Some(shared), Some(result)) = (given, shared, site.returned.get(&id)) {
                // The returned tensor is the existing weight.
                self.builder.set_role(*result, tensor.role);
                self.builder.alias(*result, shared);
            }
            if let Some(old) = given.or(shared) {
                tensors.new.push(old);
                tensors.is_old.push(true);
                continue;
            }
            let is_shared_name = tensor.role.is_variable() && is_root;
            name_within(
                if is_shared_name { "" } else { prefix },
                body.tensor_name(id),
                &mut name,
            );
            let new = match site.returned.get(&id) {
                Some(result) => {
                    self.merge(body, exprs, id, *result, &name)?;
                    *result
                }
                None => self.fresh(body, exprs, id, &name)?,
            };
            tensors.new.push(new);
            tensors.is_old.push(false);
        }
        Ok(tensors)
    }

    fn fresh(&mut self, body: &Graph, exprs: &Exprs, id: TensorId, name: &str) -> Result<TensorId, GraphError> {
        let role = body.tensors()[id].role;
        if role != Role::Input {
            return self.tensor(body, exprs, id, name, role);
        }
        // No operand: a missing optional operand takes no memory.
        let new = self.tensor(body, exprs, id, name, Role::Activation)?;
        self.builder.set_shape(new, None);
        self.builder.state_tensor_bytes(new, 0);
        Ok(new)
    }

    /// Makes the caller's result the body's tensor; the more specific of two shapes counts.
    fn merge(
        &mut self,
        body: &Graph,
        exprs: &Exprs,
        id: TensorId,
        result: TensorId,
        name: &str,
    ) -> Result<(), GraphError> {
        let tensor = &body.tensors()[id];
        let builder = &mut self.builder;
        builder.set_name(result, name)?;
        let role = tensor.role;
        builder.set_role(result, if role == Role::Input { Role::Activation } else { role });
        if builder.get(result).dtype == highwater_model::graph::DType::Unknown {
            builder.set_dtype(result, tensor.dtype);
        }
        if tensor.is_atomic {
            builder.set_atomic(result);
        }
        let dims = exprs.dims(body, id);
        let shape = builder.get(result).shape;
        let is_whole = shape.is_some_and(|shape| !builder.dims(shape).contains(&Dim::Unknown));
        if let Some(dims) = dims.filter(|dims| !is_whole && (shape.is_none() || !dims.contains(&Dim::Unknown))) {
            let shape = builder.shape(&dims);
            builder.set_shape(result, Some(shape));
        }
        if let (Some(bytes), None) = (body.stated_tensor_bytes(id), self.graph.stated_tensor_bytes(result)) {
            self.builder.state_tensor_bytes(result, bytes);
        }
        Ok(())
    }

    /// Copies aliases and stated bytes.
    fn memory_of(&mut self, site: &Site<'_>, tensors: &Tensors, progress: &Progress<'_>) -> Result<(), JoinError> {
        let body = site.call.body;
        for (id, tensor) in body.tensors().iter_ids() {
            check_at(id.idx(), progress)?;
            let new = tensors.new[id.idx()];
            if tensors.is_old[id.idx()] {
                continue;
            }
            let storage = &body.storages()[tensor.storage];
            if storage.root != id {
                let root = tensors.new[storage.root.idx()];
                if root != new {
                    self.builder.alias(new, root);
                }
                continue;
            }
            if let Some(bytes) = storage.stated_bytes {
                self.builder.state_storage_bytes(new, bytes);
            }
            if tensor.role.is_resident() {
                let first = *self.residents.entry(site.key(id)).or_insert(new);
                if first != new {
                    self.builder.alias(new, first);
                }
            }
        }
        Ok(())
    }

    /// The new op of each op of the body; `None` where it was removed.
    fn ops_of(
        &mut self,
        site: &Site<'_>,
        tensors: &Tensors,
        prefix: &str,
        progress: &Progress<'_>,
    ) -> Result<Vec<Option<OpId>>, JoinError> {
        let body = site.call.body;
        let mut inherited = self.inherited(site);
        let mut ops = Vec::with_capacity(body.ops().len());
        let (mut operands, mut results): (Vec<TensorId>, Vec<TensorId>) = (Vec::new(), Vec::new());
        let mut name = String::new();
        for (id, op) in body.ops().iter_ids() {
            check_at(id.idx(), progress)?;
            if vanishes(site, id) {
                ops.push(None);
                continue;
            }
            operands.clear();
            operands.extend(body.operands(id).iter().map(|tensor| tensors.new[tensor.idx()]));
            results.clear();
            let own = body.results(id).iter().filter(|tensor| !tensors.is_old[tensor.idx()]);
            results.extend(own.map(|tensor| tensors.new[tensor.idx()]));
            results.append(&mut inherited.scratch);
            match body.op_name(id) {
                "" => name.clear(),
                own => name_within(prefix, own, &mut name),
            }
            let new = NewOp {
                name: &name,
                kind: body.op_kind(id),
                operands: &operands,
                results: &results,
                phase: phase(inherited.phase, op.phase),
                flops: op.flops.max(std::mem::take(&mut inherited.flops)),
                time: op.time.or(inherited.time.take()),
            };
            ops.push(Some(self.op(new, site.call.op)?));
        }
        Ok(ops)
    }

    fn inherited(&self, site: &Site<'_>) -> Inherited {
        let (graph, call) = (self.graph, site.call);
        let op = &graph.ops()[call.op];
        let states_flops = call.body.ops().iter().any(|op| op.flops > 0);
        let states_time = call.body.ops().iter().any(|op| op.time.is_some());
        let results = graph.results(call.op).iter().copied();
        Inherited {
            phase: op.phase,
            flops: if states_flops { 0 } else { op.flops },
            time: op.time.filter(|_| !states_time),
            scratch: results
                .filter(|tensor| graph.tensors()[*tensor].role == Role::Workspace)
                .collect(),
        }
    }
}

/// Name prefix: the name of the op, else of the body, else the op's type; truncated.
pub(super) fn prefix(graph: &Graph, op: OpId, body: &Graph) -> String {
    let names = [graph.op_name(op), body.name(), graph.op_kind(op)];
    let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or("call");
    if name.len() <= MAX_PREFIX {
        return name.to_owned();
    }
    format!("{}…", &name[..name.floor_char_boundary(MAX_PREFIX)])
}

/// `prefix/own`; where that is too long, the end of `own` behind the prefix. A name without prefix stays unchanged.
pub(super) fn name_within(prefix: &str, own: &str, name: &mut String) {
    name.clear();
    if !prefix.is_empty() {
        name.push_str(prefix);
        name.push('/');
        if own.len() > MAX_OWN_NAME {
            name.push('…');
            name.push_str(&own[own.ceil_char_boundary(own.len() - MAX_OWN_NAME)..]);
            return;
        }
    }
    name.push_str(own);
}

/// Whether an op of the body only passes inputs in or results out.
fn vanishes(site: &Site<'_>, op: OpId) -> bool {
    is_handover(site.call.body, op, |result| site.given.contains_key(result))
}

fn is_handover(body: &Graph, op: OpId, is_given: impl Fn(&TensorId) -> bool) -> bool {
    let results = body.results(op);
    if results.is_empty() {
        return body.op_kind(op) == NET_OUTPUT;
    }
    results.iter().all(is_given)
}

/// Whether inlining would lose the cost that the call states (scratch memory, operations, time), because no op of the
/// body remains.
pub(super) fn loses_cost(graph: &Graph, op: OpId, body: &Graph, map: &BodyMap) -> bool {
    let call = &graph.ops()[op];
    let is_scratch = |result: &TensorId| graph.tensors()[*result].role == Role::Workspace;
    if call.flops == 0 && call.time.is_none() && !graph.results(op).iter().any(is_scratch) {
        return false;
    }
    let given: BTreeSet<TensorId> = map.inputs.iter().map(|(input, _)| *input).collect();
    body.ops()
        .ids()
        .all(|op| is_handover(body, op, |result| given.contains(result)))
}

/// Backward and optimizer win over forward.
const fn phase(caller: Phase, own: Phase) -> Phase {
    match (caller, own) {
        (_, Phase::Backward | Phase::Optimizer) | (Phase::Unknown, _) => own,
        _ => caller,
    }
}

/// Whether the map of a call is usable: its tensors exist, and it covers every result that is read.
pub(super) fn is_complete(graph: &Graph, op: OpId, is_read: &[bool], body: &Graph, map: &BodyMap) -> bool {
    let exists = |graph: &Graph, id: TensorId| graph.tensors().get(id).is_some();
    let is_known = |(own, of_body): &(TensorId, TensorId)| exists(graph, *own) && exists(body, *of_body);
    let results = graph.results(op);
    let mapped: BTreeSet<TensorId> = map.results.iter().map(|(result, _)| *result).collect();
    let is_needed = |result: &TensorId| is_read[result.idx()] && graph.tensors()[*result].role != Role::Workspace;
    map.inputs
        .iter()
        .all(|(input, own)| is_known(&(*own, *input)) && is_input(body, *input))
        && map.results.iter().all(is_known)
        && mapped
            .iter()
            .all(|result| graph.tensors()[*result].producer == Some(op))
        && results
            .iter()
            .all(|result| mapped.contains(result) || !is_needed(result))
}

/// Whether a tensor of a body can be an input: no op but an input op computes it.
fn is_input(body: &Graph, tensor: TensorId) -> bool {
    let tensor = &body.tensors()[tensor];
    tensor.producer.is_none() || tensor.role == Role::Input
}

/// By tensor: whether an op reads it or the graph returns it.
pub(super) fn read_tensors(graph: &Graph) -> Vec<bool> {
    let mut is_read = vec![false; graph.tensors().len()];
    let read = graph
        .ops()
        .ids()
        .flat_map(|op| graph.operands(op))
        .chain(graph.outputs());
    for tensor in read {
        is_read[tensor.idx()] = true;
    }
    is_read
}
