//! Nodes -> a graph: values become tensors, and nodes that compute nothing vanish.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::abstracts::Leaf;
use super::parse::{ADVICE, Dump, Node, Parameter, Subgraph, name_of};
use crate::mindspore::ops::{is_view, kind_of, phase_of};
use crate::{ImportError, notices};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::graph::{DType, Dim, Graph, GraphBuilder, GraphError, NewOp, NewTensor, Role, TensorId};
use highwater_model::progress::Progress;
use highwater_model::workload::GraphEntry;

const NODES_BETWEEN_CHECKS: usize = 1 << 10;

/// What the dump puts before the type of a primitive.
const PREFIXES: [&str; 2] = ["PrimFunc_", "S_Prim_"];

pub(in crate::mindspore) fn entry(
    dump: &Dump,
    file: &str,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<GraphEntry, ImportError> {
    let is_entry = |subgraph: &&Subgraph| subgraph.name == dump.entry;
    let main = dump.subgraphs.iter().find(is_entry).or(dump.subgraphs.first());
    let Some(main) = main else {
        return Err(ImportError::at("there is no graph", "the end of the file", ADVICE));
    };
    let graph = graph(main, &dump.parameters, progress, diagnostics)?;
    notices::sorted(&graph, diagnostics);
    let others = dump.subgraphs.iter().filter(|subgraph| !std::ptr::eq(*subgraph, main));
    let mut bodies = Vec::new();
    for subgraph in others {
        match self::graph(subgraph, &[], progress, diagnostics) {
            Ok(graph) => bodies.push(Arc::new(graph)),
            Err(ImportError::Graph(error)) => {
                diagnostics.warning(format!("a graph is left out: {error}"), &subgraph.name);
            }
            Err(other) => return Err(other),
        }
    }
    if !bodies.is_empty() {
        let message = "a graph that others call is listed and not simulated; dumps of kernel graphs (graph_build_*.ir) have one \
                       graph";
        diagnostics.counted(Severity::Warning, message, bodies[0].name(), bodies.len() as u64);
    }
    let message = "nodes are in the order of the file; MindSpore may run them in another one, which the plan of SOMAS has \
                   (*_somas_tensor_offset_*.ir)";
    diagnostics.info(message, "");
    let name = if main.name.is_empty() { file } else { &main.name };
    Ok(GraphEntry {
        bodies,
        ..GraphEntry::new(name.to_owned(), Arc::new(graph))
    })
}

fn graph(
    subgraph: &Subgraph,
    parameters: &[Parameter],
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Graph, ImportError> {
    let mut build = Build {
        builder: GraphBuilder::new(&subgraph.name),
        values: BTreeMap::new(),
        references: BTreeMap::new(),
        n_dynamic: 0,
    };
    let weights = parameters.iter().filter(|parameter| parameter.is_weight);
    let weights: BTreeSet<&str> = weights.map(|parameter| &*parameter.name).collect();
    for parameter in parameters {
        build.parameter(parameter, &weights)?;
    }
    for (position, node) in subgraph.nodes.iter().enumerate() {
        if position % NODES_BETWEEN_CHECKS == 0 {
            progress.set("building", position as u64, subgraph.nodes.len() as u64)?;
        }
        build.node(node)?;
    }
    diagnostics.counted(
        Severity::Warning,
        "a dimension is -1 in the dump, which gives it neither a value nor a name: the size of its tensor is unknown; run with \
         fixed shapes",
        &subgraph.name,
        build.n_dynamic,
    );
    Ok(build.builder.finish()?)
}

/// Whether a parameter is a state of an optimizer: its name is that of another one behind a prefix, such as `moment1.fc.weight`.
/// Source: `ParameterTuple.clone(prefix=...)` of MindSpore's optimizers.
fn is_state(name: &str, weights: &BTreeSet<&str>) -> bool {
    name.split_once('.').is_some_and(|(_, of)| weights.contains(of))
}

/// The leaves of a value; `None` where they take no memory.
type Value = Vec<Option<TensorId>>;

struct Build {
    builder: GraphBuilder,
    /// By their names in the file, `%12`.
    values: BTreeMap<String, Value>,
    /// Parameters by the keys of references to them.
    references: BTreeMap<String, TensorId>,
    n_dynamic: u64,
}

impl Build {
    fn parameter(&mut self, parameter: &Parameter, weights: &BTreeSet<&str>) -> Result<(), GraphError> {
        let role = match parameter.is_weight {
            true if is_state(&parameter.name, weights) => Role::OptimizerState,
            true => Role::Parameter,
            false => Role::Input,
        };
        let value = self.new_value(&parameter.name, &parameter.leaves, role)?;
        for (leaf, tensor) in parameter.leaves.iter().zip(&value) {
            if let (Some(key), Some(tensor)) = (&leaf.reference, tensor) {
                self.references.insert(key.clone(), *tensor);
            }
        }
        self.values.insert(parameter.value.clone(), value);
        Ok(())
    }

    fn new_value(&mut self, name: &str, leaves: &[Leaf], role: Role) -> Result<Value, GraphError> {
        let mut value = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.iter().enumerate() {
            let Some(dtype) = leaf.dtype else {
                value.push(None);
                continue;
            };
            let name = if leaves.len() == 1 && role != Role::Activation {
                name.to_owned()
            } else {
                format!("{name}:{at}")
            };
            value.push(Some(self.new_tensor(&name, dtype, leaf, role)?));
        }
        Ok(value)
    }

    fn new_tensor(&mut self, name: &str, dtype: DType, leaf: &Leaf, role: Role) -> Result<TensorId, GraphError> {
        self.n_dynamic += u64::from(leaf.dims.iter().flatten().any(|dim| *dim == Dim::Unknown));
        let shape = leaf.dims.as_ref().map(|dims| self.builder.shape(dims));
        self.builder.tensor(NewTensor {
            name,
            dtype,
            shape,
            role,
        })
    }

    /// The value of an operand: one that was computed, one from outside, or a constant.
    fn operand(&mut self, node: &Node, at: usize) -> Result<Value, GraphError> {
        let Some(text) = node.operands.get(at) else {
            return Ok(Vec::new());
        };
        if let Some(value) = self.values.get(text) {
            return Ok(value.clone());
        }
        let stated = node.inputs.get(at).map_or(&[][..], Vec::as_slice);
        if text.starts_with("Tensor(") {
            let name = format!("{} constant {at}", node_name(node));
            return self.new_value(&name, stated, Role::Constant);
        }
        if !text.starts_with('%') {
            return Ok(vec![None; stated.len().max(1)]);
        }
        let value = self.new_value(name_of(text), stated, Role::Input)?;
        self.values.insert(text.clone(), value.clone());
        Ok(value)
    }

    fn node(&mut self, node: &Node) -> Result<(), GraphError> {
        let kind = PREFIXES
            .iter()
            .find_map(|prefix| node.kind.strip_prefix(prefix))
            .unwrap_or(&node.kind);
        let value = match kind {
            "Load" | "Depend" => self.operand(node, 0)?,
            "UpdateState" => vec![None],
            "MakeTuple" | "MakeList" => self.all_operands(node)?,
            "TupleGetItem" | "ListGetItem" => match self.item(node)? {
                Some(value) => value,
                None => self.op(node, kind)?,
            },
            "Return" => {
                for tensor in self.all_operands(node)?.into_iter().flatten() {
                    self.builder.output(tensor);
                }
                return Ok(());
            }
            _ => self.op(node, kind)?,
        };
        self.values.insert(node.value.clone(), value);
        Ok(())
    }

    fn all_operands(&mut self, node: &Node) -> Result<Value, GraphError> {
        let mut all = Vec::new();
        for at in 0..node.operands.len() {
            all.extend(self.operand(node, at)?);
        }
        Ok(all)
    }

    /// The element of a tuple that `I64(k)` names; `None` where it is not known which.
    fn item(&mut self, node: &Node) -> Result<Option<Value>, GraphError> {
        let number = node
            .operands
            .get(1)
            .and_then(|text| text.strip_prefix("I64(")?.strip_suffix(')')?.parse().ok());
        let tuple = self.operand(node, 0)?;
        let Some(number): Option<usize> = number else {
            return Ok(None);
        };
        if node.elements.is_empty() && node.outputs.len() == 1 {
            // The file states no types of operands: most tuples are of tensors.
            return Ok(tuple.get(number).map(|tensor| vec![*tensor]));
        }
        if tuple.len() != node.elements.iter().sum::<usize>() {
            return Ok(None);
        }
        let Some(len) = node.elements.get(number) else {
            return Ok(None);
        };
        let start: usize = node.elements[..number].iter().sum();
        Ok(Some(tuple[start..start + len].to_vec()))
    }

    fn op(&mut self, node: &Node, kind: &str) -> Result<Value, GraphError> {
        let operands: Vec<TensorId> = self.all_operands(node)?.into_iter().flatten().collect();
        let name = node_name(node);
        let value = self.new_value(name, &node.outputs, Role::Activation)?;
        let results: Vec<TensorId> = value.iter().flatten().copied().collect();
        let kind = match kind {
            // A value or a graph that is called.
            kind if kind.starts_with('%') || kind.starts_with("call ") => "call",
            "" => kind_of(name),
            kind => kind,
        };
        self.builder.op(NewOp {
            name,
            kind,
            operands: &operands,
            results: &results,
            phase: phase_of(name),
            ..NewOp::default()
        })?;
        for (leaf, tensor) in node.outputs.iter().zip(&value) {
            let parameter = leaf.reference.as_ref().and_then(|key| self.references.get(key));
            if let (Some(parameter), Some(tensor)) = (parameter, tensor) {
                self.builder.alias(*tensor, *parameter);
            }
        }
        if let (true, Some(from), Some(to)) = (is_view(kind), operands.first(), results.first()) {
            self.builder.alias(*to, *from);
        }
        Ok(value)
    }
}

fn node_name(node: &Node) -> &str {
    if node.name.is_empty() { &node.value } else { &node.name }
}
