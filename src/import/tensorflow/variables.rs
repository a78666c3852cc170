//! Variables: which node is the variable that another reads or assigns, and whether it is trained.
//!
//! A variable is a node of kind Variable, `VariableV2` or `VarHandleOp`, or a placeholder or argument for a handle.
//! Nodes with one container and shared name are one variable, as TensorFlow's resource manager has it; the first of them
//! represents it. Handles and references pass through Identity, Enter and Switch. Roles, where the graph trains: a variable that the optimizer
//! updates and something else reads is a parameter; one that the optimizer alone uses (momenta, learning rates, counters)
//! or that it never updates (running statistics) is a buffer. A buffer and not state of the optimizer, because the
//! counting rules have all variables among the weights. Graphs that do not train: every variable is a parameter.

use std::collections::BTreeMap;

use super::model::{Attribute, Model, Operand, RawGraph, RawNode};
use super::phase;
use crate::names::NameIdx;
use highwater_model::graph::{DType, Phase, Role};

/// The most nodes that a handle passes through.
const MAX_HOPS: usize = 16;
/// The shared name of resources of which each has its own memory (`ResourceHandle::ANONYMOUS_NAME` of TensorFlow 2.21).
const ANONYMOUS: &str = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

/// Variables by the node that represents each.
#[derive(Debug)]
pub(super) struct Variables {
    /// By node: the first node of the same variable, else the node.
    first: Vec<u32>,
    /// By node: the variable that it reads or writes.
    sources: Vec<Option<u32>>,
    /// By node: whether it is a variable that is trained.
    is_trained: Vec<bool>,
    /// By node: whether something uses it as a variable.
    is_variable: Vec<bool>,
}

impl Variables {
    pub(super) fn of(model: &Model, graph: &RawGraph, phases: &[Phase]) -> Self {
        let first = first_of_each(model, graph);
        let variable = |operand: Operand| variable(model, graph, operand).map(|found| first[found as usize]);
        let sources: Vec<Option<u32>> = graph
            .nodes
            .iter()
            .map(|node| {
                let handle = graph.operands_of(node).first()?;
                let kind = model.kind(node);
                (kind == "ReadVariableOp" || phase::is_update(kind)).then(|| variable(*handle))?
            })
            .collect();
        let trains = phases.contains(&Phase::Optimizer);
        let mut is_updated = vec![!trains; graph.nodes.len()];
        let mut is_used = vec![!trains; graph.nodes.len()];
        for (node, phase) in graph.nodes.iter().zip(phases) {
            let is_optimizer = *phase == Phase::Optimizer;
            if is_optimizer && phase::is_update(model.kind(node)) {
                let handle = graph.operands_of(node).first().copied();
                if let Some(found) = handle.and_then(variable) {
                    is_updated[found as usize] = true;
                }
            } else if !is_optimizer && is_use(model.kind(node)) {
                for operand in graph.operands_of(node) {
                    if let Some(found) = variable_read(model, graph, *operand) {
                        is_used[first[found as usize] as usize] = true;
                    }
                }
            }
        }
        let mut is_variable = vec![false; graph.nodes.len()];
        for source in sources.iter().flatten() {
            is_variable[*source as usize] = true;
        }
        // State of an optimizer follows the variable among the inputs of the op that updates both.
        for node in graph.nodes.iter().filter(|node| phase::is_apply(model.kind(node))) {
            let handles = graph.operands_of(node).iter();
            for slot in handles.filter_map(|operand| variable(*operand)) {
                is_variable[slot as usize] = true;
            }
        }
        // A handle from outside may be of a table or an iterator, one of the graph is of a variable.
        for operand in &graph.operands {
            let is_made_here = |node: &RawNode| model.kind(node) == "VarHandleOp";
            if graph.producer(*operand).is_some_and(is_made_here) {
                is_variable[first[operand.node as usize] as usize] = true;
            }
        }
        Self {
            first,
            sources,
            is_variable,
            is_trained: is_updated.iter().zip(is_used).map(|(a, b)| *a && b).collect(),
        }
    }

    /// The variable that a node reads or writes, as a position.
    pub(super) fn of_node(&self, position: usize) -> Option<usize> {
        self.sources
            .get(position)
            .copied()
            .flatten()
            .map(|source| source as usize)
    }

    /// The node that represents the variable of a node; the node itself where no other does.
    pub(super) fn first(&self, position: usize) -> usize {
        self.first.get(position).map_or(position, |first| *first as usize)
    }

    /// Marks a node as a variable, because a function uses it as one.
    pub(super) fn mark(&mut self, position: usize) {
        let first = self.first(position);
        if let Some(flag) = self.is_variable.get_mut(first) {
            *flag = true;
        }
    }

    /// Whether a node is a variable that something uses.
    pub(super) fn is_variable(&self, position: usize) -> bool {
        self.is_variable.get(self.first(position)) == Some(&true)
    }

    /// The role of a handle from outside: a variable where something uses it as one.
    pub(super) fn role_of_handle(&self, position: usize) -> Role {
        if self.is_variable(position) {
            self.role(position)
        } else {
            Role::Input
        }
    }

    pub(super) fn role(&self, position: usize) -> Role {
        let variable = self.of_node(position).unwrap_or_else(|| self.first(position));
        if self.is_trained[variable] {
            Role::Parameter
        } else {
            Role::Buffer
        }
    }
}

/// By node: the first node of its variable. Variables without a shared name have the name of their node, which is unique.
fn first_of_each(model: &Model, graph: &RawGraph) -> Vec<u32> {
    let mut known: BTreeMap<(bool, NameIdx, NameIdx), u32> = BTreeMap::new();
    let mut first_of = |node: &RawNode, number: u32| {
        let is_resource = match model.kind(node) {
            "VarHandleOp" => true,
            "Variable" | "VariableV2" => false,
            _ => return number,
        };
        let text = |key| match model.attributes(graph, node).get(key) {
            Some(Attribute::Text(text)) => *text,
            _ => NameIdx::EMPTY,
        };
        let name = text("shared_name");
        if name.is_empty() || model.names.text(name) == ANONYMOUS {
            return number;
        }
        *known.entry((is_resource, text("container"), name)).or_insert(number)
    };
    let nodes = graph.nodes.iter().zip(0_u32..);
    nodes.map(|(node, number)| first_of(node, number)).collect()
}

/// The variable behind a handle or a reference.
pub(super) fn variable(model: &Model, graph: &RawGraph, operand: Operand) -> Option<u32> {
    let mut at = operand;
    for _ in 0..MAX_HOPS {
        let node = graph.producer(at)?;
        match model.kind(node) {
            "Variable" | "VariableV2" | "VarHandleOp" => return Some(at.node),
            "Placeholder" | "_Arg" => return is_handle(graph, node).then_some(at.node),
            "Identity" | "Enter" | "RefEnter" | "Switch" | "RefSwitch" | "RefIdentity" => {
                at = *graph.operands_of(node).first()?;
            }
            _ => return None,
        }
    }
    None
}

/// The variable behind a handle, a reference or a value that was read of one.
fn variable_read(model: &Model, graph: &RawGraph, operand: Operand) -> Option<u32> {
    let mut at = operand;
    for _ in 0..MAX_HOPS {
        let node = graph.producer(at)?;
        match model.kind(node) {
            "Identity" => at = *graph.operands_of(node).first()?,
            "ReadVariableOp" => return variable(model, graph, *graph.operands_of(node).first()?),
            _ => break,
        }
    }
    variable(model, graph, at)
}

/// Whether an op of this kind uses what it reads: neither forwards it, nor writes it, nor saves it.
fn is_use(kind: &str) -> bool {
    let hands_on = matches!(
        kind,
        "Identity" | "Enter" | "RefEnter" | "Switch" | "RefSwitch" | "ReadVariableOp"
    );
    let looks = kind.starts_with("Save") || matches!(kind, "IsVariableInitialized" | "VarIsInitializedOp");
    !hands_on && !looks && !phase::is_update(kind)
}

pub(super) fn is_handle(graph: &RawGraph, node: &RawNode) -> bool {
    graph.dtypes.get(node.first_value as usize) == Some(&DType::Handle) && node.n_outputs > 0
}
