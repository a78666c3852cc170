//! Shape inference: a table of facts per graph, with dimensions as expressions over the symbols of the main graph's
//! inputs. Gaps are filled from the file's `value_info`. Bodies of control flow and functions are inferred where they
//! are called, within a budget of steps. Why own rules and no crate: docs/shape-inference.md.

mod control;
mod elementwise;
mod extent;
mod generate;
mod layout;
mod linear;
mod ml;
mod pick;
mod reduce;
mod sequence;
mod stated;
mod table;
mod window;

pub(super) use crate::shape::fact::Fact;
pub(super) use crate::shape::sym::Sym;

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;

use self::table::Row;
use super::model::{Attribute, Data, GraphIdx, Model, RawDim, RawGraph, RawNode, RawType};
use super::order;
use crate::dim_text;
use crate::element_types::ONNX;
use crate::names::NameIdx;
use crate::shape::call::{Call, Node};
use highwater_model::graph::{DType, Dim};
use highwater_model::progress::{Cancelled, Progress};

#[derive(Debug, Default)]
pub(super) struct Table<'m> {
    /// By the numbers of the names that the graph defines.
    facts: Vec<Fact>,
    initializers: IndexMap<NameIdx, usize>,
    declared: IndexMap<NameIdx, &'m RawType>,
}

pub(super) struct Infer<'m> {
    model: &'m Model,
    pub(super) sym: Sym,
    rules: BTreeMap<(&'static str, &'static str), Row>,
    tables: Vec<Table<'m>>,
    /// Graphs being inferred, the innermost last; names are looked up from there.
    frames: Vec<GraphIdx>,
    /// The number of frames that a function cannot see.
    hidden: usize,
    steps_left: u64,
    /// Of local functions: the facts on which all their calls agree.
    agreed: BTreeMap<GraphIdx, Vec<Fact>>,
    /// Op types without a rule, each with its first op's name and the number of its ops.
    pub(super) without_rule: IndexMap<String, (String, u64)>,
    /// The computed facts of values that contradict the stated ones.
    pub(super) contradictions: BTreeMap<(GraphIdx, NameIdx), Fact>,
    progress: &'m Progress<'m>,
}

impl<'m> Infer<'m> {
    pub(super) fn new(model: &'m Model, file_len: u64, progress: &'m Progress<'m>) -> Self {
        let nodes: usize = model.graphs.iter().map(|graph| graph.nodes.len()).sum();
        Self {
            model,
            sym: Sym::new(file_len),
            rules: table::rules(),
            tables: model.graphs.iter().map(|_| Table::default()).collect(),
            frames: Vec::new(),
            hidden: 0,
            steps_left: 8 * nodes as u64 + 100_000,
            agreed: BTreeMap::new(),
            without_rule: IndexMap::new(),
            contradictions: BTreeMap::new(),
            progress,
        }
    }

    /// The fact of a name of a graph; `None` for graphs that were never reached.
    pub(super) fn fact(&self, graph: GraphIdx, name: NameIdx) -> Option<&Fact> {
        let number = self.model.graphs[graph.0].locals.get_own(name)?;
        let agreed = self.agreed.get(&graph).unwrap_or(&self.tables[graph.0].facts);
        agreed.get(number)
    }

    /// Keeps the facts on which all calls of a function agree; none where one of them was not followed.
    fn agree(&mut self, function: GraphIdx, is_followed: bool) {
        let n_facts = self.tables[function.0].facts.len();
        let mut agreed = self.agreed.remove(&function);
        if is_followed {
            let facts = std::mem::take(&mut self.tables[function.0].facts);
            match &mut agreed {
                Some(agreed) => {
                    for (one, other) in agreed.iter_mut().zip(&facts) {
                        *one = self.merged(one, other);
                    }
                }
                None => agreed = Some(facts.clone()),
            }
            self.tables[function.0].facts = facts;
        }
        let unknown = || vec![Fact::UNKNOWN; n_facts];
        let agreed = if is_followed { agreed } else { None };
        self.agreed.insert(function, agreed.unwrap_or_else(unknown));
    }

    /// Frees the facts of all graphs; expressions and shapes stay.
    pub(super) fn forget(&mut self) {
        self.tables.iter_mut().for_each(|table| *table = Table::default());
        self.agreed.clear();
    }

    pub(super) fn main(&mut self, idx: GraphIdx) -> Result<(), Cancelled> {
        let graph = &self.model.graphs[idx.0];
        let mut seeds = Vec::with_capacity(graph.inputs.len());
        for input in &graph.inputs {
            let title = self.model.names.text(input.name);
            let dims = input.ty.dims.as_ref().map(|dims| {
                let named = |(axis, dim): (usize, &RawDim)| self.input_dim(title, axis, *dim);
                dims.iter().enumerate().map(named).collect::<Vec<Dim>>()
            });
            seeds.push(self.new_fact(dtype_of(&input.ty), dims));
        }
        self.graph(idx, seeds)
    }

    /// An input's dimension; unnamed ones get names: `batch` in front, else the input's name and the axis.
    fn input_dim(&mut self, input: &str, axis: usize, dim: RawDim) -> Dim {
        let exprs = &mut self.sym.exprs;
        let text = match dim {
            RawDim::Value(size @ 0..) => return Dim::Known(size.unsigned_abs()),
            RawDim::Text(name) => {
                return dim_text::parse(self.model.names.text(name), exprs, true)
                    .map_or(Dim::Unknown, |id| exprs.dim(id));
            }
            RawDim::Value(_) | RawDim::Unnamed if axis == 0 => "batch".to_owned(),
            RawDim::Value(_) | RawDim::Unnamed => format!("{input}.{axis}"),
        };
        Dim::Expr(exprs.symbol(&text))
    }

    fn new_fact(&mut self, dtype: DType, dims: Option<Vec<Dim>>) -> Fact {
        Fact {
            shape: dims.and_then(|dims| self.sym.shape(&dims)),
            ..Fact::of_type(dtype)
        }
    }

    /// Infers a graph from the facts of its inputs, in their order; inputs without one get their declared type.
    fn graph(&mut self, idx: GraphIdx, seeds: Vec<Fact>) -> Result<(), Cancelled> {
        let graph = &self.model.graphs[idx.0];
        let mut table = Table {
            facts: vec![Fact::UNKNOWN; graph.locals.len()],
            ..Table::default()
        };
        let listed = graph.inputs.iter().chain(&graph.value_infos).chain(&graph.outputs);
        table.declared.extend(listed.map(|value| (value.name, &value.ty)));
        let mut seeds = seeds.into_iter();
        for input in &graph.inputs {
            let seed = seeds.next().unwrap_or(Fact::UNKNOWN);
            let fact = self.completed(seed, &input.ty, (idx, input.name));
            if let Some(number) = graph.locals.get(input.name) {
                table.facts[number] = fact;
            }
        }
        for (position, tensor) in graph.initializers.iter().enumerate() {
            let fact = self.new_fact(tensor.dtype, tensor.dims());
            if let Some(number) = graph.locals.get(tensor.name) {
                table.facts[number] = fact;
            }
            if tensor.data != Data::Absent {
                table.initializers.insert(tensor.name, position);
            }
        }
        self.tables[idx.0] = table;
        self.frames.push(idx);
        let result = self.nodes(idx, graph);
        self.frames.pop();
        result
    }

    fn nodes(&mut self, idx: GraphIdx, graph: &'m RawGraph) -> Result<(), Cancelled> {
        for (turn, position) in order::of(self.model, graph).into_iter().enumerate() {
            if turn % 1000 == 0 {
                self.progress
                    .set("inferring shapes", turn as u64, graph.nodes.len() as u64)?;
            }
            self.steps_left = self.steps_left.saturating_sub(1);
            self.node(idx, graph, &graph.nodes[position as usize])?;
        }
        Ok(())
    }

    fn node(&mut self, idx: GraphIdx, graph: &'m RawGraph, node: &'m RawNode) -> Result<(), Cancelled> {
        let inputs: Vec<Option<Fact>> = graph.inputs_of(node).iter().map(|name| self.lookup(*name)).collect();
        let outputs = graph.outputs_of(node);
        let facts = self.outputs(graph, node, inputs)?;
        for (name, fact) in outputs.iter().zip(facts) {
            let Some(number) = graph.locals.get(*name) else {
                continue;
            };
            let declared = self.tables[idx.0].declared.get(name).copied();
            let fact = match declared {
                Some(ty) => self.completed(fact, ty, (idx, *name)),
                None => fact,
            };
            self.tables[idx.0].facts[number] = fact;
        }
        Ok(())
    }

    /// The facts of a node's outputs by rule, body or function; unknown where there is none of them.
    fn outputs(
        &mut self,
        graph: &'m RawGraph,
        node: &'m RawNode,
        inputs: Vec<Option<Fact>>,
    ) -> Result<Vec<Fact>, Cancelled> {
        let n_outputs = graph.outputs_of(node).len();
        let unknown = vec![Fact::UNKNOWN; n_outputs];
        let (domain, kind) = (self.model.domain(node), self.model.names.text(node.kind));
        // The caller of the function decides the value: rules would take its absence for the default.
        let attributes = self.model.attributes(graph, node);
        if attributes
            .all
            .iter()
            .any(|(_, attribute)| matches!(attribute, Attribute::Reference))
        {
            return Ok(unknown);
        }
        if let Some(row) = self.rules.get(&(domain, kind)) {
            let node = Node {
                name: self.model.title(node),
                opset: self.model.opset,
                attributes,
            };
            return Ok(row.facts(Call {
                node,
                kind,
                inputs,
                outputs: unknown,
                sym: &mut self.sym,
            }));
        }
        if domain.is_empty() && control::has_rule(kind) {
            return self.control(graph, node, &inputs, unknown);
        }
        if let Some(function) = self.model.functions.get(&(node.domain, node.kind)) {
            return self.function(*function, inputs, unknown);
        }
        let title = if domain.is_empty() {
            kind.to_owned()
        } else {
            format!("{domain}.{kind}")
        };
        if let Some(known) = self.without_rule.get_mut(&title) {
            known.1 += 1;
        } else if self.without_rule.len() < 64 {
            let name = self.model.title(node).to_owned();
            self.without_rule.insert(title, (name, 1));
        }
        Ok(unknown)
    }

    fn function(
        &mut self,
        function: GraphIdx,
        inputs: Vec<Option<Fact>>,
        unknown: Vec<Fact>,
    ) -> Result<Vec<Fact>, Cancelled> {
        let seeds = inputs.into_iter().map(|fact| fact.unwrap_or(Fact::UNKNOWN)).collect();
        let hidden = std::mem::replace(&mut self.hidden, self.frames.len());
        let results = self.body(function, seeds);
        self.hidden = hidden;
        let results = results?;
        self.agree(function, results.len() == self.model.graphs[function.0].outputs.len());
        let mut facts = unknown;
        for (fact, result) in facts.iter_mut().zip(results) {
            *fact = result;
        }
        Ok(facts)
    }

    /// The facts of a body's outputs; none where the budget of steps is used up.
    fn body(&mut self, idx: GraphIdx, seeds: Vec<Fact>) -> Result<Vec<Fact>, Cancelled> {
        let graph = &self.model.graphs[idx.0];
        let price =
            (graph.nodes.len() + graph.initializers.len() + graph.value_infos.len() + graph.inputs.len() + 8) as u64;
        if self.steps_left < price || self.frames.contains(&idx) || self.frames.len() > 40 {
            return Ok(Vec::new());
        }
        self.steps_left -= price;
        self.graph(idx, seeds)?;
        self.frames.push(idx);
        let results = graph
            .outputs
            .iter()
            .map(|output| self.lookup(output.name).unwrap_or(Fact::UNKNOWN))
            .collect();
        self.frames.pop();
        Ok(results)
    }

    /// The fact of a name in the innermost graph or those around it; `None` for an optional input that is left out.
    fn lookup(&self, name: NameIdx) -> Option<Fact> {
        if name.is_empty() {
            return None;
        }
        let visible = self.frames.get(self.hidden..).unwrap_or(&[]);
        for idx in visible.iter().rev() {
            let table = &self.tables[idx.0];
            let number = self.model.graphs[idx.0].locals.get_own(name);
            if let Some(fact) = number.and_then(|number| table.facts.get(number)) {
                let mut fact = fact.clone();
                if let Some(position) = table.initializers.get(&name) {
                    let tensor = &self.model.graphs[idx.0].initializers[*position];
                    fact.value = tensor.value().map(Rc::new);
                }
                return Some(fact);
            }
        }
        Some(Fact::UNKNOWN)
    }
}

/// The element type of a declared type; sequences and optionals have none.
fn dtype_of(ty: &RawType) -> DType {
    if ty.is_composite {
        DType::Unknown
    } else {
        ONNX.of_code(ty.code)
    }
}
