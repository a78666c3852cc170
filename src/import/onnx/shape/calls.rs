//! Calls of local functions, and the attributes that they pass on.
//!
//! A function sees nothing of its caller but inputs and attributes. An attribute of its body may refer to one of the call:
//! it has the call's value, else the function's default. Where there is neither, it is left out, as onnx's inliner and
//! onnxruntime do it; an op that cannot do without it has outputs of unknown shape. A function has its own operator sets.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Infer, Table};
use crate::names::NameIdx;
use crate::onnx::model::{Attribute, GraphIdx, Model, RawGraph, RawNode};
use crate::shape::fact::Fact;
use crate::shape::sym::Sym;
use crate::shape::versions::{self, Inference, Signature, Site, Versions};
use highwater_model::progress::Cancelled;

/// What the graphs of one function, or of the model, share.
pub(super) struct Scope<'m> {
    /// The version of the default operator set.
    pub(super) opset: i64,
    /// The number of frames that it cannot see.
    pub(super) hidden: usize,
    /// Attributes of the call, and defaults.
    attributes: Vec<(NameIdx, &'m Attribute)>,
}

impl Scope<'_> {
    pub(super) const fn main(model: &Model) -> Self {
        Self {
            opset: model.opset,
            hidden: 0,
            attributes: Vec::new(),
        }
    }
}

pub(super) fn versions<'m>(model: &Model) -> Versions<'m> {
    let mut weights: Vec<u64> = Vec::with_capacity(model.graphs.len());
    for graph in &model.graphs {
        // Bodies come before the graphs that hold them.
        let bodies = graph.nodes.iter().flat_map(|node| graph.bodies_of(node));
        let of_bodies = bodies.filter_map(|body| weights.get(body.0)).sum::<u64>();
        weights.push(price(graph) + graph.locals.len() as u64 + of_bodies);
    }
    Versions::new(model.graphs.iter().map(|graph| graph.is_function).collect(), weights)
}

const fn price(graph: &RawGraph) -> u64 {
    (graph.nodes.len() + graph.initializers.len() + graph.value_infos.len() + graph.inputs.len() + 8) as u64
}

/// Attributes whose default would give a shape although the op cannot do without them (schemas of onnx 1.23.2).
const REQUIRED: &[(&str, &str)] = &[("Concat", "axis"), ("ConcatFromSequence", "axis")];

impl<'m> Infer<'m> {
    /// A node's attributes, with values in place of those that refer to the call. `None` where the op cannot do without one
    /// that is not given.
    pub(super) fn bound_attributes(
        &mut self,
        graph: &'m RawGraph,
        node: &'m RawNode,
    ) -> Option<Cow<'m, [(NameIdx, Attribute)]>> {
        let all = graph.attributes_of(node);
        let refers = |attribute: &Attribute| matches!(attribute, Attribute::Reference(_));
        if !all.iter().any(|(_, attribute)| refers(attribute)) {
            return Some(Cow::Borrowed(all));
        }
        let kind = self.model.names.text(node.kind);
        let mut bound = Vec::with_capacity(all.len());
        let mut is_complete = true;
        for (name, attribute) in all {
            // A graph reads names around it, which a function cannot see.
            let is_foreign = |value: &Attribute| refers(attribute) && matches!(value, Attribute::Graphs(_));
            if let Some(value) = self.referred(attribute).filter(|value| !is_foreign(value)) {
                bound.push((*name, value.clone()));
            } else {
                is_complete &= !REQUIRED.contains(&(kind, self.model.names.text(*name)));
                self.is_unbound(node, *name);
            }
        }
        is_complete.then_some(Cow::Owned(bound))
    }

    /// An attribute, or the one that it refers to.
    fn referred(&self, attribute: &'m Attribute) -> Option<&'m Attribute> {
        match attribute {
            Attribute::Reference(name) => {
                let found = self.scope.attributes.iter().find(|(key, _)| key == name);
                found.map(|(_, value)| *value)
            }
            other => Some(other),
        }
    }

    fn is_unbound(&mut self, node: &RawNode, name: NameIdx) {
        if self.unbound.1 == 0 {
            let (title, name) = (self.model.title(node), self.model.names.text(name));
            self.unbound.0 = format!("\"{title}\": {name}");
        }
        self.unbound.1 += 1;
    }

    /// The facts of the outputs of a node that calls a function.
    pub(super) fn function(
        &mut self,
        graph: &'m RawGraph,
        position: u32,
        function: GraphIdx,
        mut inputs: Vec<Option<Fact>>,
        unknown: Vec<Fact>,
    ) -> Result<Vec<Fact>, Cancelled> {
        let callee = &self.model.graphs[function.0];
        let given = graph.attributes_of(&graph.nodes[position as usize]);
        let given = given.iter().chain(&callee.defaults);
        let mut attributes: BTreeMap<NameIdx, &'m Attribute> = BTreeMap::new();
        for (name, attribute) in given {
            if let Some(value) = self.referred(attribute) {
                attributes.entry(*name).or_insert(value);
            }
        }
        inputs.truncate(callee.inputs.len());
        let signature = Signature {
            inputs,
            attributes: attributes.into_iter().collect(),
        };
        let site = self.site(position, function);
        let results = versions::call(self, site, signature)?.unwrap_or_default();
        let mut facts = unknown;
        for (fact, result) in facts.iter_mut().zip(results) {
            *fact = result;
        }
        Ok(facts)
    }

    fn site(&self, node: u32, callee: GraphIdx) -> Site {
        Site {
            caller: self.frames.last().copied().unwrap_or(callee),
            node,
            callee,
        }
    }

    /// The facts of the outputs of a body of control flow; none where the budget of steps is used up.
    pub(super) fn body(&mut self, node: u32, body: GraphIdx, seeds: Vec<Fact>) -> Result<Vec<Fact>, Cancelled> {
        if self.frames.len() > 40 || !self.pay(body) {
            return Ok(Vec::new());
        }
        let site = self.site(node, body);
        let number = self.versions.body(site);
        self.results(number, seeds.into_iter().map(Some).collect())
    }

    fn results(&mut self, number: GraphIdx, seeds: Vec<Option<Fact>>) -> Result<Vec<Fact>, Cancelled> {
        self.graph(number, seeds)?;
        let graph = self.raw(number);
        self.frames.push(number);
        let results = graph.outputs.iter();
        let results = results.map(|output| self.lookup(output.name).unwrap_or(Fact::UNKNOWN));
        let results = results.collect();
        self.frames.pop();
        Ok(results)
    }
}

impl<'m> Inference<'m> for Infer<'m> {
    fn versions(&mut self) -> &mut Versions<'m> {
        &mut self.versions
    }

    fn open(&self) -> &[GraphIdx] {
        &self.frames
    }

    fn pay(&mut self, graph: GraphIdx) -> bool {
        let price = price(&self.model.graphs[graph.0]);
        let has_steps = self.steps_left >= price;
        if has_steps {
            self.steps_left -= price;
        }
        has_steps
    }

    fn infer(&mut self, number: GraphIdx, signature: &Signature<'m>) -> Result<Vec<Fact>, Cancelled> {
        let scope = Scope {
            opset: self.raw(number).opset.unwrap_or(self.model.opset),
            hidden: self.frames.len(),
            attributes: signature.attributes.clone(),
        };
        let outer = std::mem::replace(&mut self.scope, scope);
        let results = self.results(number, signature.inputs.clone());
        self.scope = outer;
        // Names of the file, which nothing inside the function asks for any more.
        let table = self.table(number);
        table.initializers.clear();
        table.declared.clear();
        results
    }

    fn facts(&mut self, number: GraphIdx) -> &mut Vec<Fact> {
        &mut self.table(number).facts
    }

    fn unknown(&self, function: GraphIdx) -> Vec<Fact> {
        vec![Fact::UNKNOWN; self.model.graphs[function.0].locals.len()]
    }

    fn is_same(&mut self, one: GraphIdx, other: GraphIdx) -> bool {
        let Table { facts, absent, .. } = std::mem::take(self.table(one));
        let table = self.table(other);
        let same = |(one, other): (&Fact, &Fact)| one.dtype == other.dtype && one.shape == other.shape;
        let is_same =
            absent == table.absent && facts.len() == table.facts.len() && facts.iter().zip(&table.facts).all(same);
        let table = self.table(one);
        (table.facts, table.absent) = (facts, absent);
        is_same
    }

    fn sym(&mut self) -> &mut Sym {
        &mut self.sym
    }
}
