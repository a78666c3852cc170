//! The bytes of each resource variable, from the first source in the graph that states them.
//!
//! In: a graph, its variables, inferred facts. Out: bytes by the node that represents the variable. The sources, in this order:
//! its handle (its shape, or `_handle_shapes` where it comes from outside), a read of it, a value
//! assigned to it, a gradient applied to it. State of an optimizer that is updated by the same op (momenta) is as
//! large as the variable. Sparse gradients have rows of the variable only and do not count. Variables that are
//! tensors themselves (`VariableV2`) are not here.

use std::collections::BTreeMap;

use super::model::{GraphIdx, Model, RawGraph, RawNode};
use super::phase;
use super::shape::Facts;
use super::variables::{Variables, is_handle, variable};
use highwater_model::graph::{DType, Dim};

/// Bytes by the position of the node that represents the variable.
pub(super) fn of(
    model: &Model,
    graph: &RawGraph,
    idx: GraphIdx,
    variables: &Variables,
    facts: &Facts,
) -> BTreeMap<u32, u64> {
    let mut found = Found {
        scope: (model, graph, idx),
        variables,
        facts,
        bytes: BTreeMap::new(),
    };
    for (node, number) in graph.nodes.iter().zip(0_u32..) {
        if variables.is_variable(number as usize) && is_handle(graph, node) {
            let known = facts.handle(idx, node.first_value as usize);
            found.state(number, known.and_then(|(dtype, dims)| bytes_of(dtype, dims)));
        }
    }
    for (position, node) in graph.nodes.iter().enumerate() {
        let Some(variable) = variables.of_node(position) else {
            continue;
        };
        let value = match model.kind(node) {
            "ReadVariableOp" => graph.values_of(node).next(),
            "AssignVariableOp" | "AssignAddVariableOp" | "AssignSubVariableOp" => found.operand(node, 1),
            _ => None,
        };
        let bytes = found.size(value);
        found.state(u32::try_from(variable).unwrap_or(u32::MAX), bytes);
    }
    for node in &graph.nodes {
        found.applied(node);
    }
    found.bytes
}

struct Found<'a> {
    scope: (&'a Model, &'a RawGraph, GraphIdx),
    variables: &'a Variables,
    facts: &'a Facts,
    bytes: BTreeMap<u32, u64>,
}

impl Found<'_> {
    fn state(&mut self, variable: u32, bytes: Option<u64>) {
        let (_, graph, _) = self.scope;
        let first = self.variables.first(variable as usize);
        let is_ours = graph.nodes.get(first).is_some_and(|node| is_handle(graph, node));
        if let (true, Some(bytes), Ok(first)) = (is_ours, bytes, u32::try_from(first)) {
            self.bytes.entry(first).or_insert(bytes);
        }
    }

    /// The number of the value that a node reads at a position.
    fn operand(&self, node: &RawNode, position: usize) -> Option<usize> {
        let (_, graph, _) = self.scope;
        graph.value(*graph.operands_of(node).get(position)?)
    }

    fn size(&self, value: Option<usize>) -> Option<u64> {
        let (_, _, idx) = self.scope;
        let value = value?;
        bytes_of(self.facts.dtype(idx, value), self.facts.dims(idx, value)?)
    }

    /// An op that applies a dense gradient: all its handles are as large as that.
    fn applied(&mut self, node: &RawNode) {
        let (model, graph, _) = self.scope;
        let kind = model.kind(node);
        if !phase::is_apply(kind) || !kind.starts_with("ResourceApply") {
            return;
        }
        let operands = graph.operands_of(node);
        let handles: Vec<u32> = operands
            .iter()
            .map_while(|operand| variable(model, graph, *operand))
            .collect();
        let first = |handle: &u32| u32::try_from(self.variables.first(*handle as usize)).ok();
        let known = handles
            .iter()
            .find_map(|handle| self.bytes.get(&first(handle)?).copied());
        let bytes = known.or_else(|| self.size(self.operand(node, gradient(kind, operands.len())?)));
        for handle in handles {
            self.state(handle, bytes);
        }
    }
}

/// The position of the gradient among the inputs of an op that applies it.
fn gradient(kind: &str, n_inputs: usize) -> Option<usize> {
    let rest = kind.strip_prefix("ResourceApply")?;
    match rest {
        "Momentum" | "KerasMomentum" | "Ftrl" | "FtrlV2" | "AdagradDA" => Some(3),
        _ => n_inputs.checked_sub(1),
    }
}

fn bytes_of(dtype: DType, dims: &[Dim]) -> Option<u64> {
    let elements = dims.iter().try_fold(1_u64, |product, dim| match dim {
        Dim::Known(size) => Some(product.saturating_mul(*size)),
        _ => None,
    })?;
    (dtype != DType::Unknown).then(|| dtype.bytes(elements))
}
