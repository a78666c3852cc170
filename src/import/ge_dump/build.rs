//! Drafts -> graphs, with the statements of the dump beyond the main one.
//!
//! In: drafts of a file. Out: a [`GraphEntry`]. Names are resolved here: an input is "producer:output", a control edge
//! "producer:-1". Invariants: what cannot be resolved is reported and left out; memory is shared only where the dump says
//! so and its offsets do not speak against it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::draft::{DraftGraph, DraftModel, DraftOp, DraftOutput};
use super::dumped::dumped;
use super::meta::{Meta, meta};
use super::uses::{Flow, uses};
use crate::{ImportError, dim_text, notices};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::graph::{
    DType, Dim, Graph, GraphBuilder, GraphError, Id as _, IdVec, NewOp, NewTensor, OpId, Role, TensorId,
};
use highwater_model::progress::Progress;
use highwater_model::workload::GraphEntry;

const OPS_BETWEEN_CHECKS: usize = 1 << 10;

/// Most symbols of a graph; real ones have a handful.
const MOST_SYMBOLS: usize = 4096;

/// A dimension that means any number of dimensions.
const ANY_RANK: i64 = -2;

const WEIGHTS: &[&str] = &["Const", "Constant", "FileConstant", "ConstPlaceHolder"];

const VARIABLES: &[&str] = &["Variable", "VariableV2", "VarHandleOp"];

/// Op types whose outputs come from outside; `PlaceHolder` marks the edge of a part of a graph.
const INPUTS: &[&str] = &["Data", "RefData", "AnnData", "AippData", "QueueData", "PlaceHolder"];

/// Op types whose edges go back to the head of a loop.
const BACK: &[&str] = &["NextIteration", "RefNextIteration"];

/// Op types whose first output is their first input.
const SAME: &[&str] = &["ReadSelect"];

pub(super) struct Built {
    pub(super) graph: Graph,
    pub(super) offsets: Vec<Option<u64>>,
    flow: Flow,
    /// By file position of its ops.
    steps: IdVec<OpId, OpId>,
}

pub(super) fn entry(
    model: DraftModel,
    file: &str,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<GraphEntry, ImportError> {
    let Some(main) = model.graphs.first() else {
        return Err(ImportError::at(
            "there is no graph",
            "the end of the file",
            "dump it again (DUMP_GE_GRAPH=2)",
        ));
    };
    let mut built = build(main, progress, diagnostics)?;
    notices::sorted(&built.graph, diagnostics);
    let mut bodies = Vec::new();
    let part = |name: &str, built: &mut Built| {
        let (flow, steps) = (&mut built.flow, &mut built.steps);
        (name.to_owned(), std::mem::take(flow), std::mem::take(steps))
    };
    let mut parts = vec![part(&main.name, &mut built)];
    for body in &model.graphs[1..] {
        progress.check()?;
        match build(body, progress, diagnostics) {
            Ok(mut built) => {
                parts.push(part(&body.name, &mut built));
                bodies.push(Arc::new(built.graph));
            }
            Err(ImportError::Graph(error)) => {
                diagnostics.warning(format!("a sub-graph is left out: {error}"), &body.name);
            }
            Err(other) => return Err(other),
        }
    }
    let name = if main.name.is_empty() { file } else { &main.name }.to_owned();
    let uses = uses(&parts);
    if uses.is_empty() && !bodies.is_empty() {
        let what = "the dump does not tell which op runs a sub-graph; it is listed and not simulated";
        diagnostics.counted(Severity::Warning, what, &parts[1].0, bodies.len() as u64);
    }
    let (graph, dumped) = dumped(model, built, diagnostics);
    Ok(GraphEntry {
        bodies,
        uses,
        dumped: Some(Arc::new(dumped)),
        ..GraphEntry::new(name, Arc::new(graph))
    })
}

fn build(draft: &DraftGraph, progress: &Progress<'_>, diagnostics: &mut Diagnostics) -> Result<Built, ImportError> {
    let mut build = Build {
        draft,
        builder: GraphBuilder::new(&draft.name),
        positions: BTreeMap::new(),
        tensors: Vec::with_capacity(draft.ops.len()),
        offsets: Vec::new(),
        flow: Flow::default(),
        diagnostics,
    };
    for (position, op) in draft.ops.iter().enumerate() {
        if position % OPS_BETWEEN_CHECKS == 0 {
            progress.set("building", position as u64, 2 * draft.ops.len() as u64)?;
        }
        if build.positions.insert(&op.name, position).is_some() {
            let what = "an op has the name of another; inputs mean the last of them";
            build.diagnostics.warning(what, &op.name);
        }
        build.tensors(op)?;
    }
    for (position, op) in draft.ops.iter().enumerate() {
        if position % OPS_BETWEEN_CHECKS == 0 {
            let done = draft.ops.len() + position;
            progress.set("building", done as u64, 2 * draft.ops.len() as u64)?;
        }
        build.op(position, op)?;
    }
    progress.check()?;
    let (offsets, flow) = (build.offsets, build.flow);
    let (graph, steps) = build.builder.finish_with_steps()?;
    Ok(Built {
        graph,
        offsets,
        flow,
        steps,
    })
}

struct Build<'a> {
    draft: &'a DraftGraph,
    builder: GraphBuilder,
    positions: BTreeMap<&'a str, usize>,
    /// By op: its tensors, outputs first, then workspaces.
    tensors: Vec<Range<u32>>,
    offsets: Vec<Option<u64>>,
    flow: Flow,
    diagnostics: &'a mut Diagnostics,
}

enum Operand {
    Tensor(TensorId),
    Control(usize),
    Absent,
}

impl<'a> Build<'a> {
    fn tensors(&mut self, op: &'a DraftOp) -> Result<(), GraphError> {
        let start = id_of(self.offsets.len())?;
        let role = role_of(&op.kind);
        for (position, output) in &op.outputs {
            let tensor = self.output(op, *position, output, role)?;
            let offset = op.memory.offsets.get(*position as usize);
            self.offsets.push(offset.and_then(|offset| u64::try_from(*offset).ok()));
            if is_atomic(op, *position) {
                self.builder.set_atomic(tensor);
            }
        }
        for (position, bytes) in op.memory.workspace_bytes.iter().enumerate() {
            let Ok(bytes) = u64::try_from(*bytes) else {
                let what = "a workspace has fewer than 0 bytes and is left out";
                self.diagnostics.warning(what, &op.name);
                continue;
            };
            let tensor = self.builder.tensor(NewTensor {
                name: &format!("{}:workspace{position}", op.name),
                dtype: DType::Uint8,
                shape: None,
                role: Role::Workspace,
            })?;
            self.builder.state_tensor_bytes(tensor, bytes);
            let offset = op.memory.workspace_offsets.get(position);
            self.offsets.push(offset.and_then(|offset| u64::try_from(*offset).ok()));
            if op.memory.atomic_workspaces.get(position).is_some_and(|flag| *flag != 0) {
                self.builder.set_atomic(tensor);
            }
        }
        self.tensors.push(start..id_of(self.offsets.len())?);
        Ok(())
    }

    fn output(
        &mut self,
        op: &DraftOp,
        position: u32,
        output: &DraftOutput,
        role: Role,
    ) -> Result<TensorId, GraphError> {
        let meta = meta(&output.meta, position);
        let dims = self.dims(output, meta.as_ref());
        let shape = dims.as_ref().map(|dims| self.builder.shape(dims));
        let stated = meta.map_or(DType::Unknown, |meta| meta.dtype);
        let tensor = self.builder.tensor(NewTensor {
            name: &format!("{}:{position}", op.name),
            dtype: if output.dtype == DType::Unknown {
                stated
            } else {
                output.dtype
            },
            shape,
            role,
        })?;
        let is_dynamic = match &dims {
            Some(dims) => dims.contains(&Dim::Unknown),
            None => output.is_dynamic(),
        };
        if let Ok(size @ 1..) = u64::try_from(output.size) {
            self.builder.state_tensor_bytes(tensor, size);
            if is_dynamic {
                let what = "a dimension is dynamic in the dump (-1 or -2): the shape is unknown, and the tensor counts the \
                            size that the dump states";
                self.diagnostics.warning(what, &format!("{}:{position}", op.name));
            }
        } else if is_dynamic {
            let what = "a dimension is dynamic in the dump (-1 or -2), which states no size: the shape is unknown, and as the \
                        dimension has no name, no --dim gives it a value; dump the graph with values for its dimensions";
            self.diagnostics.warning(what, &format!("{}:{position}", op.name));
        }
        Ok(tensor)
    }

    /// The dimensions of an output: GE's, with torchair's where GE has none or one that is dynamic. `None` where the number of
    /// dimensions is unknown.
    fn dims(&mut self, output: &DraftOutput, meta: Option<&Meta>) -> Option<Vec<Dim>> {
        let stated = output.dims.as_ref().filter(|dims| !dims.contains(&ANY_RANK));
        let noted = meta.filter(|meta| stated.is_none_or(|dims| dims.len() == meta.dims.len()));
        let Some(dims) = stated else {
            let meta = noted?;
            return Some(meta.dims.iter().map(|dim| self.noted_dim(dim)).collect());
        };
        let dims = dims.iter().enumerate().map(|(axis, dim)| match noted {
            Some(meta) if *dim < 0 => self.noted_dim(&meta.dims[axis]),
            _ => dim_of(*dim),
        });
        Some(dims.collect())
    }

    /// A number, a symbol or an expression of them.
    fn noted_dim(&mut self, text: &str) -> Dim {
        if self.builder.exprs.symbols().len() >= MOST_SYMBOLS {
            return text.parse().map_or(Dim::Unknown, Dim::Known);
        }
        match dim_text::parse(text, &mut self.builder.exprs, true) {
            Some(id) => self.builder.exprs.dim(id),
            None => Dim::Unknown,
        }
    }

    /// Adds an op; its file position is its id until the graph is sorted.
    fn op(&mut self, position: usize, op: &'a DraftOp) -> Result<(), GraphError> {
        let results: Vec<TensorId> = self.tensors[position].clone().map(TensorId).collect();
        let mut operands = Vec::with_capacity(op.inputs.len());
        // By position among the data inputs, absent ones included.
        let mut inputs = Vec::with_capacity(op.inputs.len());
        for input in &op.inputs {
            match self.operand(op, input) {
                Operand::Control(from) => self
                    .builder
                    .control_edge(OpId::from_idx(from), OpId::from_idx(position)),
                Operand::Tensor(tensor) => {
                    operands.push(tensor);
                    inputs.push(Some(tensor));
                }
                Operand::Absent => inputs.push(None),
            }
        }
        self.builder.op(NewOp {
            name: &op.name,
            kind: &op.kind,
            operands: &operands,
            results: &results,
            ..NewOp::default()
        })?;
        self.flow.op(OpId::from_idx(position), op, &inputs, &results);
        for ((at, output), tensor) in op.outputs.iter().zip(&results) {
            if let Some(other) = self.shared(op, *at, output, &inputs)
                && other != *tensor
            {
                self.share(op, *at, *tensor, other);
            }
        }
        Ok(())
    }

    fn operand(&mut self, op: &DraftOp, input: &str) -> Operand {
        if input.is_empty() {
            return Operand::Absent;
        }
        let (name, at) = input.rsplit_once(':').unwrap_or((input, "0"));
        let Some(producer) = self.positions.get(name).copied() else {
            let what = "an op reads from an op that is not in the graph; the input is left out";
            self.diagnostics.warning(what, &format!("{input} of {}", op.name));
            return Operand::Absent;
        };
        let draft = &self.draft.ops[producer];
        if BACK.contains(&draft.kind.as_str()) {
            let what = "an edge back to the head of a loop is left out";
            self.diagnostics.info(what, &op.name);
            return Operand::Absent;
        }
        if at == "-1" {
            return Operand::Control(producer);
        }
        let found = at.parse::<u32>().ok();
        let found = found.and_then(|at| draft.outputs.binary_search_by_key(&at, |(position, _)| *position).ok());
        if let Some(index) = found {
            return Operand::Tensor(TensorId::from_idx(self.tensors[producer].start as usize + index));
        }
        let what = "an op reads an output that its producer does not have; the input is left out";
        self.diagnostics.warning(what, &format!("{input} of {}", op.name));
        Operand::Absent
    }

    /// The tensor whose memory an output takes, where the dump states it.
    fn shared(
        &self,
        op: &DraftOp,
        position: u32,
        output: &DraftOutput,
        inputs: &[Option<TensorId>],
    ) -> Option<TensorId> {
        if !output.variable.is_empty() {
            let variable = self.positions.get(output.variable.as_str())?;
            let tensors = &self.tensors[*variable];
            return (!tensors.is_empty()).then_some(TensorId(tensors.start));
        }
        let is_same = position == 0 && SAME.contains(&op.kind.as_str());
        let input = output.input.or(is_same.then_some(0))?;
        inputs.get(usize::try_from(input).ok()?).copied().flatten()
    }

    fn share(&mut self, op: &DraftOp, position: u32, tensor: TensorId, other: TensorId) {
        let (mine, its) = (self.offsets[tensor.idx()], self.offsets[other.idx()]);
        let is_variable = self.builder.get(other).role.is_variable();
        if mine.is_none() || its.is_none() || mine == its || is_variable {
            self.builder.alias(tensor, other);
        } else {
            let what = "an output is said to take the memory of an input, but lies elsewhere; it counts by itself";
            self.diagnostics.info(what, &format!("{}:{position}", op.name));
        }
    }
}

fn role_of(kind: &str) -> Role {
    if WEIGHTS.contains(&kind) {
        Role::Weight
    } else if VARIABLES.contains(&kind) {
        Role::Parameter
    } else if INPUTS.contains(&kind) {
        Role::Input
    } else {
        Role::Activation
    }
}

/// Whether an output is cleared before its op runs.
pub(super) fn is_atomic(op: &DraftOp, position: u32) -> bool {
    let memory = &op.memory;
    let is_flagged = memory
        .atomic_flags
        .get(position as usize)
        .is_some_and(|flag| *flag == 1);
    is_flagged || memory.atomic_outputs.binary_search(&i64::from(position)).is_ok()
}

fn dim_of(dim: i64) -> Dim {
    u64::try_from(dim).map_or(Dim::Unknown, Dim::Known)
}

fn id_of(idx: usize) -> Result<u32, GraphError> {
    u32::try_from(idx).map_err(|_overflow| GraphError::TooLarge)
}
