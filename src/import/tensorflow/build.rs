//! [`Model`] and inferred facts -> [`Graph`](highwater_model::graph::Graph)s, by the counting rules of the command line.
//!
//! Roles: outputs of Const are constants; of Placeholder inputs; variables and what reads them are parameters or
//! buffers (`variables`); everything else is an activation. Nothing is a graph output but what a function returns.
//! Aliases, an estimate: output 0 of Identity, Reshape, `ExpandDims`, Squeeze and `StopGradient` shares input 0's memory.
//! A read variable is the variable, and so is every further handle of it. Control edges order and keep nothing alive; those out of `NextIteration` do neither.

use super::forwarded::ForwardedVariables;
use super::model::{GraphIdx, MAIN, Model, Operand, RawGraph};
use super::phase;
use super::shape::Facts;
use super::variable_bytes;
use super::variables::{Variables, is_handle};
use crate::ImportError;
use crate::translate::Translator;
use highwater_model::graph::{GraphBuilder, NewOp, NewTensor, OpId, Phase, Role, TensorId};
use highwater_model::progress::Progress;

/// Outputs of one node between two checks of the cancel flag.
const VALUES_BETWEEN_CHECKS: usize = 4096;

pub(super) struct Build<'m> {
    model: &'m Model,
    facts: Facts,
    translator: Translator,
    forwarded: ForwardedVariables,
    progress: &'m Progress<'m>,
}

struct Part<'m> {
    idx: GraphIdx,
    raw: &'m RawGraph,
    builder: GraphBuilder,
    /// By the number of the value.
    tensors: Vec<TensorId>,
    ops: Vec<Option<OpId>>,
    phases: Vec<Phase>,
    variables: Variables,
}

impl<'m> Build<'m> {
    pub(super) fn new(model: &'m Model, facts: Facts, progress: &'m Progress<'m>) -> Result<Self, ImportError> {
        Ok(Self {
            model,
            translator: Translator::new(),
            forwarded: ForwardedVariables::of(model, &facts, progress)?,
            facts,
            progress,
        })
    }

    /// One graph, up to its last step ([`GraphBuilder::finish`]), before which the caller may drop everything else.
    pub(super) fn graph(&mut self, idx: GraphIdx) -> Result<GraphBuilder, ImportError> {
        let raw = &self.model.graphs[idx.0];
        self.progress.check()?;
        let phases = phase::of(self.model, raw);
        self.progress.check()?;
        let mut part = Part {
            idx,
            raw,
            builder: GraphBuilder::new(self.model.names.text(raw.name)),
            tensors: Vec::with_capacity(raw.dtypes.len()),
            ops: Vec::with_capacity(raw.nodes.len()),
            variables: Variables::of(self.model, raw, &phases),
            phases,
        };
        for (node, _) in self.forwarded.of_graph(idx) {
            part.variables.mark(node as usize);
        }
        let is_main = idx == MAIN;
        if is_main {
            part.builder.exprs = self.facts.sym.exprs.clone();
        }
        self.translator.start(is_main);
        for node in 0..raw.nodes.len() {
            self.progress.check()?;
            self.tensors(&mut part, node)?;
        }
        for node in 0..raw.nodes.len() {
            self.progress.check()?;
            self.op(&mut part, node)?;
        }
        for node in 0..raw.nodes.len() {
            self.progress.check()?;
            self.alias(&mut part, node);
            self.controls(&mut part, node);
        }
        let mut bytes = variable_bytes::of(self.model, raw, idx, &part.variables, &self.facts);
        for (node, known) in self.forwarded.of_graph(idx) {
            if let Some(known) = known {
                bytes.entry(node).or_insert(known);
            }
        }
        for (variable, bytes) in bytes {
            if let Some(value) = raw.values_of(&raw.nodes[variable as usize]).next() {
                part.builder.state_storage_bytes(part.tensors[value], bytes);
            }
        }
        for result in &raw.results {
            if let Some(tensor) = part.tensor(*result) {
                part.builder.output(tensor);
            }
        }
        Ok(part.builder)
    }

    fn tensors(&mut self, part: &mut Part<'_>, position: usize) -> Result<(), ImportError> {
        let node = &part.raw.nodes[position];
        let role = self.role(part, position);
        let name = self.model.names.text(node.name);
        let mut title = String::with_capacity(name.len() + 2);
        for (port, value) in part.raw.values_of(node).enumerate() {
            if port % VALUES_BETWEEN_CHECKS == VALUES_BETWEEN_CHECKS - 1 {
                self.progress.check()?;
            }
            title.clear();
            title.push_str(name);
            title.push(':');
            title.push_str(&port.to_string());
            let dims = self.facts.dims(part.idx, value);
            let shape = dims.map(|dims| self.translator.shape(&self.facts.sym.exprs, dims, &mut part.builder));
            let tensor = part.builder.tensor(NewTensor {
                name: &title,
                dtype: self.facts.dtype(part.idx, value),
                shape,
                role,
            })?;
            part.tensors.push(tensor);
        }
        Ok(())
    }

    fn role(&self, part: &Part<'_>, position: usize) -> Role {
        let node = &part.raw.nodes[position];
        let is_handle = is_handle(part.raw, node);
        match self.model.kind(node) {
            "Const" => Role::Constant,
            "Placeholder" | "_Arg" if !is_handle => Role::Input,
            "Placeholder" | "_Arg" => part.variables.role_of_handle(position),
            "Variable" | "VariableV2" | "VarHandleOp" | "ReadVariableOp" => part.variables.role(position),
            _ => Role::Activation,
        }
    }

    fn op(&self, part: &mut Part<'_>, position: usize) -> Result<(), ImportError> {
        if position < part.raw.n_args as usize {
            part.ops.push(None);
            return Ok(());
        }
        let node = &part.raw.nodes[position];
        let operands: Vec<TensorId> = part
            .raw
            .operands_of(node)
            .iter()
            .filter_map(|operand| part.tensor(*operand))
            .collect();
        let op = part.builder.op(NewOp {
            name: self.model.names.text(node.name),
            kind: self.model.kind(node),
            operands: &operands,
            results: &part.tensors[part.raw.values_of(node)],
            phase: part.phases[position],
            flops: 0,
            time: None,
        })?;
        part.ops.push(Some(op));
        Ok(())
    }

    fn alias(&self, part: &mut Part<'_>, position: usize) {
        let node = &part.raw.nodes[position];
        let kind = self.model.kind(node);
        let result = part.raw.values_of(node).next();
        match (kind, result) {
            ("ReadVariableOp", Some(result)) => {
                if let Some(variable) = part.variable(position) {
                    part.builder.alias(part.tensors[result], part.tensors[variable]);
                }
            }
            ("VarHandleOp" | "Variable" | "VariableV2", Some(result)) => {
                let first = part.variables.first(position);
                let first = part.raw.values_of(&part.raw.nodes[first]).next();
                if let Some(first) = first.filter(|first| *first != result) {
                    part.builder.alias(part.tensors[result], part.tensors[first]);
                }
            }
            ("Identity" | "Reshape" | "ExpandDims" | "Squeeze" | "StopGradient", Some(result)) => {
                let operands = part.raw.operands_of(node);
                if let Some(source) = operands.first().and_then(|operand| part.tensor(*operand)) {
                    part.builder.alias(part.tensors[result], source);
                }
            }
            _ => {}
        }
    }

    fn controls(&self, part: &mut Part<'_>, position: usize) {
        let node = &part.raw.nodes[position];
        let Some(op) = part.ops[position] else { return };
        for before in part.raw.controls_of(node) {
            let is_back = phase::is_next_iteration(self.model.kind(&part.raw.nodes[*before as usize]));
            if let (false, Some(before)) = (is_back, part.ops[*before as usize]) {
                part.builder.control_edge(before, op);
            }
        }
    }
}

impl Part<'_> {
    /// The value of the variable that a node reads or writes.
    fn variable(&self, position: usize) -> Option<usize> {
        let variable = self.variables.of_node(position)?;
        self.raw.values_of(&self.raw.nodes[variable]).next()
    }

    fn tensor(&self, operand: Operand) -> Option<TensorId> {
        Some(self.tensors[self.raw.value(operand)?])
    }
}
