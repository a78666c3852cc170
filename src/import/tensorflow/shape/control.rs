//! Control flow: loops and branches of both generations, and calls of functions.
//!
//! A result keeps a dimension only where every way to it agrees. V1 loops are `Merge` nodes that a `NextIteration`
//! feeds: the facts of their values are assumed from outside, and the graph is inferred again until the back edge brings the
//! same.

use super::{Infer, MAX_PASSES, Run, order, stated};
use crate::shape::fact::{Fact, Num};
use crate::tensorflow::calls::use_of;
use crate::tensorflow::model::{Attribute, GraphIdx, RawGraph, RawNode};
use highwater_model::progress::Cancelled;
use highwater_model::workload::UseKind;

pub(super) fn has_rule(kind: &str) -> bool {
    order::is_merge(kind) || use_of(kind).is_some()
}

impl<'m> Infer<'m> {
    pub(super) fn merge(&mut self, run: &mut Run<'m>, position: u32, inputs: &[Fact]) -> Vec<Fact> {
        let node = &run.graph.nodes[position as usize];
        let (forward, back) = self.ways(run, node, inputs);
        let mut fact = forward;
        if back.is_some() {
            run.loops.insert(position);
            if let Some(assumed) = run.assumed.get(&position) {
                fact = assumed.clone();
            }
        }
        // The number of the taken input.
        let which = Fact {
            shape: self.sym.shape(&[]),
            ..Fact::UNKNOWN
        };
        vec![fact, which]
    }

    /// The merged facts of a `Merge`'s forward inputs, and of its back edges.
    fn ways(&mut self, run: &Run<'m>, node: &RawNode, inputs: &[Fact]) -> (Fact, Option<Fact>) {
        let (mut forward, mut back): (Option<Fact>, Option<Fact>) = (None, None);
        for (operand, fact) in run.graph.operands_of(node).iter().zip(inputs) {
            let producer = run.graph.producer(*operand);
            let is_back = producer.is_some_and(|producer| order::is_back(self.model.kind(producer)));
            let way = if is_back { &mut back } else { &mut forward };
            *way = Some(match way.take() {
                Some(other) => other.merged(fact, &mut self.sym),
                None => fact.clone(),
            });
        }
        (forward.unwrap_or(Fact::UNKNOWN), back)
    }

    /// Compares the assumed facts of loops with those of the back edges; returns whether another pass is needed.
    pub(super) fn revise_loops(&mut self, run: &mut Run<'m>, gives_up: bool) -> bool {
        let mut changed: Vec<(u32, Fact)> = Vec::new();
        for position in &run.loops {
            let node = &run.graph.nodes[*position as usize];
            let operands = run.graph.operands_of(node).iter();
            let inputs: Vec<Fact> = operands.map(|operand| run.fact(*operand)).collect();
            let (forward, back) = self.ways(run, node, &inputs);
            let assumed = run.assumed.get(position).unwrap_or(&forward);
            let back = back.unwrap_or(Fact::UNKNOWN);
            let next = assumed.merged(&forward, &mut self.sym).merged(&back, &mut self.sym);
            if next != *assumed {
                changed.push((*position, next));
            }
        }
        if changed.is_empty() {
            return false;
        }
        if gives_up {
            let loops = run.loops.iter().map(|position| (*position, Fact::UNKNOWN));
            run.assumed.extend(loops);
        } else {
            run.assumed.extend(changed);
        }
        true
    }

    /// The facts of the outputs of an op that calls functions.
    pub(super) fn call(
        &mut self,
        position: u32,
        graph: &'m RawGraph,
        inputs: Vec<Fact>,
    ) -> Result<Vec<Fact>, Cancelled> {
        let (model, node) = (self.model, &graph.nodes[position as usize]);
        let results = match use_of(model.kind(node)) {
            Some((UseKind::Call, skipped)) => match model.function(graph, node, "f") {
                Some(function) => self.body(position, function, inputs.into_iter().skip(skipped).collect())?,
                None => None,
            },
            Some((UseKind::Branch, _)) => self.branches(position, graph, inputs)?,
            Some((UseKind::Loop, _)) => self.repeated(position, graph, inputs)?,
            None => match model.functions.get(&node.kind).copied() {
                Some(function) => self.body(position, function, inputs)?,
                None => None,
            },
        };
        let mut facts = results.unwrap_or_default();
        facts.resize(node.n_outputs as usize, Fact::UNKNOWN);
        if let Some(shapes) = model.attributes(graph, node).shapes("output_shapes") {
            for (fact, shape) in facts.iter_mut().zip(shapes) {
                let found = std::mem::replace(fact, Fact::UNKNOWN);
                *fact = stated::reconciled(found, shape, &mut self.sym).0;
            }
        }
        Ok(facts)
    }

    /// All branches, merged; one of them where the condition is known.
    fn branches(
        &mut self,
        position: u32,
        graph: &'m RawGraph,
        mut inputs: Vec<Fact>,
    ) -> Result<Option<Vec<Fact>>, Cancelled> {
        if inputs.is_empty() {
            return Ok(None);
        }
        let (model, node) = (self.model, &graph.nodes[position as usize]);
        let condition = inputs.remove(0);
        let branches: Option<Vec<GraphIdx>> = match model.attributes(graph, node).get("branches") {
            Some(Attribute::Functions(names)) => {
                let indices = names.iter().map(|name| model.functions.get(name).copied());
                indices.collect()
            }
            // In the order of the condition's values.
            _ => ["else_branch", "then_branch"]
                .iter()
                .map(|name| model.function(graph, node, name))
                .collect(),
        };
        let Some(branches) = branches else {
            return Ok(None);
        };
        let mut all = Vec::with_capacity(branches.len());
        for branch in &branches {
            match self.body(position, *branch, inputs.clone())? {
                Some(results) => all.push(results),
                None => return Ok(None),
            }
        }
        let chosen = condition.value.and_then(|value| value.items.first()?.num());
        if let Some(Num::Int(chosen)) = chosen {
            let is_if = model.function(graph, node, "then_branch").is_some();
            let position = match usize::try_from(chosen) {
                Ok(position) if is_if => position.min(1),
                Ok(position) => position.min(all.len().saturating_sub(1)),
                Err(_) => all.len().saturating_sub(1),
            };
            return Ok(all.into_iter().nth(position));
        }
        let merged = all.into_iter().reduce(|mut one, other| {
            for (fact, other) in one.iter_mut().zip(&other) {
                *fact = fact.merged(other, &mut self.sym);
            }
            one
        });
        Ok(merged)
    }

    /// A loop: the body is inferred until what it carries no longer changes.
    fn repeated(
        &mut self,
        position: u32,
        graph: &'m RawGraph,
        inputs: Vec<Fact>,
    ) -> Result<Option<Vec<Fact>>, Cancelled> {
        let node = &graph.nodes[position as usize];
        let Some(body) = self.model.function(graph, node, "body") else {
            return Ok(None);
        };
        let mut carried = inputs;
        for pass in 0..=MAX_PASSES {
            let Some(results) = self.body(position, body, carried.clone())? else {
                return Ok(None);
            };
            let mut next: Vec<Fact> = carried
                .iter()
                .zip(&results)
                .map(|(one, other)| one.merged(other, &mut self.sym))
                .collect();
            if next == carried || pass == MAX_PASSES {
                break;
            }
            if pass + 1 == MAX_PASSES {
                // It never settles: only the types are sure.
                next = next.iter().map(|fact| Fact::of_type(fact.dtype)).collect();
            }
            carried = next;
        }
        if let Some(condition) = self.model.function(graph, node, "cond") {
            self.body(position, condition, carried.clone())?;
        }
        Ok(Some(carried))
    }
}
