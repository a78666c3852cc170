//! From wire types to graphs: names become ids at once, tensors may be used before they are defined.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;

use super::wire::{Limited, WireDim, WireNode, WireTensor};
use crate::{ImportError, dim_text, notices};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{DType, Dim, GraphBuilder, Id as _, NewOp, NewTensor, Phase, Role, ShapeId, TensorId};
use highwater_model::progress::Progress;
use highwater_model::units::Nanos;
use highwater_model::workload::GraphEntry;

/// Most symbolic dimensions of a graph; real ones have a handful.
const MAX_SYMBOLS: usize = 4096;

pub(super) struct Draft {
    name: String,
    builder: GraphBuilder,
    ids: IndexMap<Box<str>, TensorId>,
    /// By tensor: whether a node or the list of inputs has defined it.
    is_defined: Vec<bool>,
    n_ops: u64,
    operands: Vec<TensorId>,
    results: Vec<TensorId>,
}

impl Draft {
    pub(super) fn new() -> Self {
        Self {
            name: String::new(),
            builder: GraphBuilder::new(""),
            ids: IndexMap::new(),
            is_defined: Vec::new(),
            n_ops: 0,
            operands: Vec::new(),
            results: Vec::new(),
        }
    }

    pub(super) fn set_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    /// The model's name, for a graph without a name.
    pub(super) fn set_default_name(&mut self, name: Option<Cow<'_, str>>) {
        if let (true, Some(name)) = (self.name.is_empty(), name) {
            self.name = name.into_owned();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.n_ops == 0
    }

    /// The tensor of an id, a placeholder where nothing has defined it yet.
    fn tensor(&mut self, id: &str) -> Result<TensorId, String> {
        if let Some(tensor) = self.ids.get(id) {
            return Ok(*tensor);
        }
        let tensor = self
            .builder
            .tensor(NewTensor {
                name: id,
                dtype: DType::Unknown,
                shape: None,
                role: Role::Activation,
            })
            .map_err(|error| error.to_string())?;
        self.ids.insert(id.into(), tensor);
        self.is_defined.push(false);
        Ok(tensor)
    }

    /// The workspace of an op, as a tensor that no op reads.
    fn workspace(&mut self, op: &str, bytes: u64) -> Result<TensorId, String> {
        let tensor = self
            .builder
            .tensor(NewTensor {
                name: &format!("{op} (workspace)"),
                dtype: DType::Unknown,
                shape: None,
                role: Role::Workspace,
            })
            .map_err(|error| error.to_string())?;
        self.builder.state_tensor_bytes(tensor, bytes);
        self.is_defined.push(true);
        Ok(tensor)
    }

    /// Marks a definition; two of them are an error.
    fn define(&mut self, tensor: TensorId, id: &str) -> Result<(), String> {
        if std::mem::replace(&mut self.is_defined[tensor.idx()], true) {
            return Err(format!("tensor \"{id}\" is defined twice"));
        }
        Ok(())
    }

    fn shape(&mut self, shape: Option<Limited<WireDim<'_>>>) -> Option<ShapeId> {
        let dims: Vec<Dim> = shape?
            .0
            .iter()
            .map(|dim| match dim {
                WireDim::Number(n) => u64::try_from(*n).map_or(Dim::Unknown, Dim::Known),
                WireDim::Symbol(text) if text.trim().is_empty() || text.trim() == "?" => Dim::Unknown,
                WireDim::Symbol(text) => dim_text::parse(text, &mut self.builder.exprs, true)
                    .map_or(Dim::Unknown, |id| self.builder.exprs.dim(id)),
                WireDim::Unknown(()) => Dim::Unknown,
            })
            .collect();
        Some(self.builder.shape(&dims))
    }

    fn describe(&mut self, tensor: TensorId, wire: WireTensor<'_>) -> Result<(), String> {
        let shape = self.shape(wire.shape);
        if self.builder.exprs.symbols().len() > MAX_SYMBOLS {
            return Err(format!("more than {MAX_SYMBOLS} different names of dimensions"));
        }
        let dtype = match wire.dtype.as_ref() {
            None => DType::Unknown,
            Some(text) => DType::from_name(&text.0)
                .ok_or_else(|| format!("tensor \"{}\" has the unknown element type \"{}\"", wire.id.0, text.0))?,
        };
        self.builder.set_shape(tensor, shape);
        self.builder.set_dtype(tensor, dtype);
        if wire.atomic {
            self.builder.set_atomic(tensor);
        }
        if let Some(root) = wire.alias_of {
            let root = self.tensor(&root.0)?;
            self.builder.alias(tensor, root);
        } else if let Some(bytes) = wire.storage_bytes {
            self.builder.state_storage_bytes(tensor, bytes);
        }
        if let Some(bytes) = wire.bytes {
            self.builder.state_tensor_bytes(tensor, bytes);
        }
        Ok(())
    }
}

pub(super) struct Context<'a> {
    fallback_name: String,
    progress: Progress<'a>,
    diagnostics: &'a mut Diagnostics,
    error: Option<ImportError>,
}

impl<'a> Context<'a> {
    pub(super) fn new(fallback_name: &str, progress: Progress<'a>, diagnostics: &'a mut Diagnostics) -> Self {
        Self {
            fallback_name: fallback_name.to_owned(),
            progress,
            diagnostics,
            error: None,
        }
    }

    /// The typed error behind a parser's message, if there is one.
    pub(super) fn take_error(&mut self) -> Option<ImportError> {
        self.error.take()
    }

    pub(super) fn node(&mut self, draft: &mut Draft, node: WireNode<'_>) -> Result<(), String> {
        if draft.n_ops.is_multiple_of(1024)
            && let Err(cancelled) = self.progress.check()
        {
            self.error = Some(cancelled.into());
            return Err(cancelled.to_string());
        }
        let name = node.name.as_ref().map_or("", |text| &text.0);
        draft.operands.clear();
        draft.results.clear();
        for operand in &node.inputs.0 {
            let tensor = draft.tensor(&operand.0)?;
            draft.operands.push(tensor);
        }
        for output in node.outputs.0 {
            let id = output.id.clone();
            let tensor = draft.tensor(&id.0)?;
            draft.define(tensor, &id.0)?;
            draft.describe(tensor, output)?;
            draft.results.push(tensor);
        }
        if node.workspace_bytes > 0 {
            let workspace = draft.workspace(name, node.workspace_bytes)?;
            draft.results.push(workspace);
        }
        let new = NewOp {
            name,
            kind: &node.op.0,
            operands: &draft.operands,
            results: &draft.results,
            phase: phase(node.phase.as_ref().map(|text| &*text.0), node.is_backward),
            flops: flops(node.flops),
            time: node.time_ns.map(Nanos),
        };
        draft.builder.op(new).map_err(|error| error.to_string())?;
        draft.n_ops += 1;
        Ok(())
    }

    #[expect(clippy::unused_self, reason = "the three callbacks of the reader have one form")]
    pub(super) fn input(&mut self, draft: &mut Draft, input: WireTensor<'_>) -> Result<(), String> {
        let role = role(input.role.as_ref().map(|text| &*text.0))?;
        let id = input.id.clone();
        let tensor = draft.tensor(&id.0)?;
        draft.define(tensor, &id.0)?;
        draft.builder.set_role(tensor, role);
        if let Some(name) = input.name.clone() {
            draft
                .builder
                .set_name(tensor, &name.0)
                .map_err(|error| error.to_string())?;
        }
        draft.describe(tensor, input)
    }

    #[expect(clippy::unused_self, reason = "the three callbacks of the reader have one form")]
    pub(super) fn output(&mut self, draft: &mut Draft, id: &str) -> Result<(), String> {
        let tensor = draft.tensor(id)?;
        draft.builder.output(tensor);
        Ok(())
    }

    pub(super) fn finish(&mut self, drafts: Vec<Draft>) -> Result<Vec<GraphEntry>, ImportError> {
        let mut entries = Vec::with_capacity(drafts.len());
        for mut draft in drafts {
            if let Some((id, _)) = draft.ids.iter().find(|(_, tensor)| !draft.is_defined[tensor.idx()]) {
                return Err(ImportError::at(
                    format!("tensor \"{id}\" is used, but no node and no input defines it"),
                    format!("graph \"{}\"", draft.name),
                    "list it under \"inputs\" or export the graph again",
                ));
            }
            if draft.name.is_empty() {
                draft.name.clone_from(&self.fallback_name);
            }
            draft.builder.set_graph_name(&draft.name);
            let graph = draft.builder.finish()?;
            notices::sorted(&graph, self.diagnostics);
            entries.push(GraphEntry::new(draft.name, Arc::new(graph)));
        }
        Ok(entries)
    }
}

fn phase(text: Option<&str>, is_backward: bool) -> Phase {
    match text {
        Some("forward") => Phase::Forward,
        Some("backward") => Phase::Backward,
        Some("optimizer") => Phase::Optimizer,
        _ if is_backward => Phase::Backward,
        _ => Phase::Unknown,
    }
}

fn role(text: Option<&str>) -> Result<Role, String> {
    Ok(match text {
        Some("param") => Role::Parameter,
        Some("buffer") => Role::Buffer,
        Some("opt_state") => Role::OptimizerState,
        Some("const") => Role::Constant,
        Some("weight") => Role::Weight,
        Some("batch") | None => Role::Input,
        Some(other) => {
            return Err(format!(
                "unknown role \"{other}\"; known: param, buffer, opt_state, const, weight, batch"
            ));
        }
    })
}

/// FLOPs may be written as a float; what is negative or no number counts as unknown.
fn flops(value: Option<f64>) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates and maps NaN to 0"
    )]
    value.map_or(0, |value| value as u64)
}
