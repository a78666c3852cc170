//! [`Model`] and inferred facts -> [`Graph`](highwater_model::graph::Graph)s, by the counting rules of the command line.
//!
//! Roles: graph inputs are inputs unless they are initializers too; initializers and results of constants alone are
//! weights; everything else that a node computes is an activation. A rule about edges, never about values. Bodies
//! get their captured names as inputs. Names that are defined nowhere become inputs of unknown shape, and are
//! reported.

use indexmap::IndexSet;

use super::model::{Attribute, Data, GraphIdx, Model, RawGraph, RawNode};
use super::order;
use super::shape::{Fact, Inferred};
use super::uses::Uses;
use crate::ImportError;
use crate::names::NameIdx;
use crate::translate::Translator;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{DType, GraphBuilder, NewOp, NewTensor, Phase, Role, TensorId};

pub(super) struct Build<'m> {
    model: &'m Model,
    inferred: Inferred,
    parents: Vec<Option<GraphIdx>>,
    translator: Translator,
    uses: Uses,
}

impl<'m> Build<'m> {
    /// The main graph, which is built last, frees the facts early.
    pub(super) fn new(model: &'m Model, inferred: Inferred) -> Self {
        let mut parents = vec![None; model.graphs.len()];
        for (position, graph) in model.graphs.iter().enumerate() {
            for body in graph.nodes.iter().flat_map(|node| graph.bodies_of(node)) {
                parents[body.0] = Some(GraphIdx(position));
            }
        }
        Self {
            model,
            translator: Translator::new(),
            uses: Uses::new(model),
            inferred,
            parents,
        }
    }

    pub(super) fn into_uses(self) -> Uses {
        self.uses
    }

    /// One graph, up to its last step ([`GraphBuilder::finish`]), before which the caller may drop everything else.
    /// The main graph keeps the expressions unchanged, and its oddities are reported.
    pub(super) fn graph(&mut self, idx: GraphIdx, diagnostics: &mut Diagnostics) -> Result<GraphBuilder, ImportError> {
        let is_main = self.model.main == Some(idx);
        let raw = &self.model.graphs[idx.0];
        let mut part = Part {
            idx,
            raw,
            builder: GraphBuilder::new(self.model.names.text(raw.name)),
            ids: vec![None; raw.locals.len()],
        };
        if is_main {
            part.builder.exprs = self.inferred.sym.exprs.clone();
        }
        self.translator.start(is_main);
        self.declared(&mut part, diagnostics)?;
        self.computed(&mut part)?;
        if is_main {
            self.inferred.forget();
        }
        self.ops(&mut part)?;
        for output in raw.outputs.iter().filter(|output| !output.name.is_empty()) {
            if let Some(tensor) = part.id(output.name) {
                part.builder.output(tensor);
            }
        }
        self.uses.of_graph(self.model, idx, |name| part.id(name));
        Ok(part.builder)
    }

    /// Inputs, initializers, and names from outside.
    fn declared(&mut self, part: &mut Part<'_>, diagnostics: &mut Diagnostics) -> Result<(), ImportError> {
        let raw = part.raw;
        let weights: IndexSet<NameIdx> = raw.initializers.iter().map(|tensor| tensor.name).collect();
        for input in &raw.inputs {
            let role = if weights.contains(&input.name) {
                Role::Weight
            } else {
                Role::Input
            };
            self.add(part, input.name, role)?;
        }
        for tensor in &raw.initializers {
            if tensor.name.is_empty() {
                return Err(ImportError::at_byte("an initializer has no name", tensor.at));
            }
            self.add(part, tensor.name, Role::Weight)?;
        }
        let is_body = self.parents[part.idx.0].is_some();
        for name in &raw.captures {
            if !is_body {
                diagnostics.warning(
                    "a name is read but defined nowhere; it counts as an input of unknown shape",
                    self.model.names.text(*name),
                );
            }
            self.add(part, *name, Role::Input)?;
        }
        Ok(())
    }

    /// Results of nodes, with their roles.
    fn computed(&mut self, part: &mut Part<'_>) -> Result<(), ImportError> {
        let raw = part.raw;
        let mut flags = vec![false; raw.locals.len()];
        let stored = raw.initializers.iter().filter_map(|tensor| raw.locals.get(tensor.name));
        stored.for_each(|number| flags[number] = true);
        for position in order::of(self.model, raw) {
            let node = &raw.nodes[position as usize];
            let is_constant = |name| raw.locals.get(name).is_some_and(|number| flags[number]);
            if reads(self.model, raw, node).all(is_constant) {
                let results = raw.outputs_of(node).iter().filter_map(|name| raw.locals.get(*name));
                results.for_each(|number| flags[number] = true);
            }
        }
        let constant = |name: NameIdx| raw.locals.get(name).is_some_and(|number| flags[number]);
        for node in &raw.nodes {
            for name in raw.outputs_of(node).iter().filter(|name| !name.is_empty()) {
                if let Some(tensor) = part.id(*name) {
                    let is_again = part.builder.get(tensor).role != Role::Activation;
                    if is_again && (!constant(*name) || is_declared(raw, *name)) {
                        return Err(ImportError::at_byte(
                            format!(
                                "node \"{}\" computes \"{}\", which is an input or an initializer",
                                self.model.title(node),
                                self.model.names.text(*name)
                            ),
                            node.at,
                        ));
                    }
                    // The second producer of a name is refused when the op is added.
                    continue;
                }
                let role = if constant(*name) {
                    Role::Weight
                } else {
                    Role::Activation
                };
                self.add(part, *name, role)?;
            }
        }
        Ok(())
    }

    fn ops(&mut self, part: &mut Part<'_>) -> Result<(), ImportError> {
        let raw = part.raw;
        let (mut operands, mut results): (Vec<TensorId>, Vec<TensorId>) = (Vec::new(), Vec::new());
        let mut kind = String::new();
        for node in &raw.nodes {
            operands.clear();
            operands.extend(reads(self.model, raw, node).filter_map(|name| part.id(name)));
            results.clear();
            results.extend(raw.outputs_of(node).iter().filter_map(|name| part.id(*name)));
            kind.clear();
            let domain = self.model.domain(node);
            if !domain.is_empty() {
                kind.push_str(domain);
                kind.push('.');
            }
            kind.push_str(self.model.names.text(node.kind));
            part.builder.op(NewOp {
                name: self.model.names.text(node.name),
                kind: &kind,
                operands: &operands,
                results: &results,
                phase: Phase::Unknown,
                flops: 0,
                time: None,
            })?;
            self.alias(part, node);
        }
        Ok(())
    }

    /// Output 0 shares the memory of input 0 where the op only renames or reshapes it.
    fn alias(&self, part: &mut Part<'_>, node: &RawNode) {
        if !self.model.domain(node).is_empty() {
            return;
        }
        let shares = match self.model.names.text(node.kind) {
            "Identity" | "Reshape" | "Squeeze" | "Unsqueeze" | "Flatten" => true,
            "Dropout" => self.is_inference(part, node),
            _ => false,
        };
        let id = |names: &[NameIdx]| names.first().and_then(|name| part.id(*name));
        let (from, to) = (id(part.raw.inputs_of(node)), id(part.raw.outputs_of(node)));
        if let (true, Some(from), Some(to)) = (shares, from, to)
            && part.builder.get(to).role == Role::Activation
        {
            part.builder.alias(to, from);
        }
    }

    /// Whether a Dropout passes its input on: a mode of old operator sets, an input of new ones.
    fn is_inference(&self, part: &Part<'_>, node: &RawNode) -> bool {
        let raw = part.raw;
        if self.opset(part.idx) < 7 {
            return self
                .model
                .attributes(raw, node)
                .int("is_test")
                .is_some_and(|flag| flag != 0);
        }
        let Some(mode) = raw.inputs_of(node).get(2).filter(|name| !name.is_empty()) else {
            return true;
        };
        let is_false = |data: &Data| matches!(data, Data::Ints(items) if items.iter().all(|item| *item == 0));
        let stored = raw.initializers.iter().find(|tensor| tensor.name == *mode);
        if let Some(tensor) = stored {
            return is_false(&tensor.data);
        }
        let constant = raw.nodes.iter().find(|other| raw.outputs_of(other).contains(mode));
        constant.is_some_and(|other| {
            raw.attributes_of(other)
                .iter()
                .any(|(_, value)| matches!(value, Attribute::Tensor(tensor) if is_false(&tensor.data)))
        })
    }

    fn add(&mut self, part: &mut Part<'_>, name: NameIdx, role: Role) -> Result<(), ImportError> {
        let Some(number) = part.raw.locals.get(name).filter(|number| part.ids[*number].is_none()) else {
            return Ok(());
        };
        if self.is_absent(part.idx, name) {
            return Ok(());
        }
        let fact = self.fact(part.idx, name);
        let sym = &self.inferred.sym;
        let shape = fact.as_ref().and_then(|fact| fact.shape);
        let shape = shape.map(|shape| self.translator.shape(&sym.exprs, sym.dims(shape), &mut part.builder));
        let tensor = part.builder.tensor(NewTensor {
            name: self.model.names.text(name),
            dtype: fact.map_or(DType::Unknown, |fact| fact.dtype),
            shape,
            role,
        })?;
        part.ids[number] = Some(tensor);
        Ok(())
    }

    /// The fact of a name in a graph or those around it.
    fn fact(&self, idx: GraphIdx, name: NameIdx) -> Option<Fact> {
        let fact = |idx| self.inferred.fact(self.model, idx, name);
        self.outwards(idx).find_map(fact).cloned()
    }

    /// Whether a name is an input of the surrounding function that its call leaves out.
    fn is_absent(&self, idx: GraphIdx, name: NameIdx) -> bool {
        let is_own = |idx: &GraphIdx| self.model.graphs[idx.0].locals.get_own(name).is_some();
        let owner = self.outwards(idx).find(is_own);
        owner.is_some_and(|owner| self.inferred.is_absent(self.model, owner, name))
    }

    /// A graph and those around it.
    fn outwards(&self, idx: GraphIdx) -> impl Iterator<Item = GraphIdx> {
        std::iter::successors(Some(idx), |idx| self.parents[idx.0])
    }

    /// The version of a graph's default operator set.
    fn opset(&self, idx: GraphIdx) -> i64 {
        let stated = self.outwards(idx).find_map(|idx| self.model.graphs[idx.0].opset);
        stated.unwrap_or(self.model.opset)
    }
}

struct Part<'m> {
    idx: GraphIdx,
    raw: &'m RawGraph,
    builder: GraphBuilder,
    /// By the numbers of the graph's names.
    ids: Vec<Option<TensorId>>,
}

impl Part<'_> {
    fn id(&self, name: NameIdx) -> Option<TensorId> {
        self.ids[self.raw.locals.get(name)?]
    }
}

/// The inputs of a node and the captures of its bodies, empty names left out.
fn reads<'a>(model: &'a Model, raw: &'a RawGraph, node: &'a RawNode) -> impl Iterator<Item = NameIdx> + use<'a> {
    let captured = raw.bodies_of(node).flat_map(|body| &model.graphs[body.0].captures);
    let names = raw.inputs_of(node).iter().chain(captured).copied();
    names.filter(|name| !name.is_empty())
}

fn is_declared(raw: &RawGraph, name: NameIdx) -> bool {
    raw.inputs.iter().any(|input| input.name == name) || raw.initializers.iter().any(|tensor| tensor.name == name)
}
