//! Variables: which node is the variable that another reads or assigns, and whether it is trained.
//!
//! A variable is a node of kind Variable, `VariableV2` or `VarHandleOp`, or a placeholder or argument for a handle.
//! Handles and references pass through Identity, Enter and Switch. Roles, where the graph trains: a variable that the optimizer
//! updates and something else reads is a parameter; one that the optimizer alone uses (momenta, learning rates, counters)
//! or that it never updates (running statistics) is a buffer. A buffer and not state of the optimizer, because the
//! counting rules have all variables among the weights. Graphs that do not train: every variable is a parameter.

use super::model::{Model, Operand, RawGraph, RawNode};
use super::phase;
use highwater_model::graph::{DType, Phase, Role};

/// The most nodes that a handle passes through.
const MAX_HOPS: usize = 16;

#[derive(Debug)]
pub(super) struct Variables {
    /// By node: the variable that it reads or writes.
    sources: Vec<Option<u32>>,
    /// By node: whether it is a variable that is trained.
    is_trained: Vec<bool>,
    /// By node: whether something reads or writes it as a variable.
    is_variable: Vec<bool>,
}

impl Variables {
    pub(super) fn of(model: &Model, graph: &RawGraph, phases: &[Phase]) -> Self {
        let sources: Vec<Option<u32>> = graph
            .nodes
            .iter()
            .map(|node| {
                let first = graph.operands_of(node).first()?;
                let kind = model.kind(node);
                (kind == "ReadVariableOp" || phase::is_update(kind)).then(|| variable(model, graph, *first))?
            })
            .collect();
        let trains = phases.contains(&Phase::Optimizer);
        let mut is_updated = vec![!trains; graph.nodes.len()];
        let mut is_used = vec![!trains; graph.nodes.len()];
        for (node, phase) in graph.nodes.iter().zip(phases) {
            let is_optimizer = *phase == Phase::Optimizer;
            if is_optimizer && phase::is_update(model.kind(node)) {
                let first = graph.operands_of(node).first().copied();
                if let Some(found) = first.and_then(|first| variable(model, graph, first)) {
                    is_updated[found as usize] = true;
                }
            } else if !is_optimizer && is_use(model.kind(node)) {
                for operand in graph.operands_of(node) {
                    if let Some(found) = variable_read(model, graph, *operand) {
                        is_used[found as usize] = true;
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
            for slot in handles.filter_map(|operand| variable(model, graph, *operand)) {
                is_variable[slot as usize] = true;
            }
        }
        Self {
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

    /// Marks a node as a variable, because a function uses it as one.
    pub(super) fn mark(&mut self, position: usize) {
        if let Some(flag) = self.is_variable.get_mut(position) {
            *flag = true;
        }
    }

    /// Whether a node is a variable that something reads or writes.
    pub(super) fn is_variable(&self, position: usize) -> bool {
        self.is_variable.get(position) == Some(&true)
    }

    /// The role of a handle from outside: a variable where something uses it as one.
    pub(super) fn role_of_handle(&self, position: usize) -> Role {
        if self.is_variable[position] {
            self.role(position)
        } else {
            Role::Input
        }
    }

    pub(super) fn role(&self, position: usize) -> Role {
        let variable = self.of_node(position).unwrap_or(position);
        if self.is_trained[variable] {
            Role::Parameter
        } else {
            Role::Buffer
        }
    }
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
