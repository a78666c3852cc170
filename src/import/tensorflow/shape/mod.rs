//! Shape inference: types, shapes and small values of every output of every graph.
//!
//! In: a [`Model`]. Out: [`Facts`], dimensions being expressions over the symbols of the main graph's placeholders
//! (`batch` for an unnamed leading dimension, else `placeholder:axis`). What the file states (`_output_shapes`) is
//! taken as given: inference fills in what is open there. Functions are inferred where they are called, each set of facts
//! of a call making a version; loops until
//! what they carry no longer changes, all of it within a budget of steps; what is too deep or too long stays unknown.

#![expect(
    clippy::unnecessary_wraps,
    reason = "rules have one form, whether they can fail or not"
)]

mod calls;
#[cfg(test)]
mod cases;
mod control;
mod convolution;
mod decompose;
mod elementwise;
mod examples;
mod generate;
mod gradient;
mod image;
mod layout;
mod lists;
mod matrix;
mod norm;
mod order;
mod pick;
mod quantize;
mod random;
mod recurrent;
mod reduce;
mod scatter;
mod slice;
mod state;
mod stated;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use indexmap::IndexMap;

use self::table::Rule;
use super::model::{GraphIdx, Model, Operand, RawGraph, RawNode};
use crate::ImportError;
use crate::names::NameIdx;
use crate::shape::call::{Call, Node};
use crate::shape::fact::Fact;
use crate::shape::sym::Sym;
use crate::shape::versions::{Inference as _, Layout, Versions};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::graph::{DType, Dim, ShapeId};
use highwater_model::progress::{Cancelled, Progress};

/// Inferences of a loop's body before its shapes are given up.
const MAX_PASSES: u32 = 4;

/// Whether the shapes that the file states for outputs of an op count.
pub(super) type Stated = fn(&str) -> bool;

pub(super) const ALL_STATED: Stated = |_| true;

#[derive(Debug)]
pub(super) struct Facts {
    pub(super) sym: Sym,
    /// By graph, then by the number of the value.
    tables: Vec<Vec<Fact>>,
    /// Values whose inferred shape is not the stated one: the inferred one.
    contradictions: BTreeMap<(GraphIdx, usize), Option<ShapeId>>,
    pub(super) layout: Layout,
}

impl Facts {
    pub(super) fn dtype(&self, graph: GraphIdx, value: usize) -> DType {
        self.fact(graph, value).map_or(DType::Unknown, |fact| fact.dtype)
    }

    /// The dimensions of a value; `None` where their number is unknown.
    pub(super) fn dims(&self, graph: GraphIdx, value: usize) -> Option<&[Dim]> {
        let shape = self.fact(graph, value)?.shape?;
        Some(self.sym.dims(shape))
    }

    /// Type and dimensions of the variable or list behind a handle of the graph or of an argument.
    pub(super) fn handle(&self, graph: GraphIdx, value: usize) -> Option<(DType, &[Dim])> {
        let handle = self.fact(graph, value)?.handle.as_deref()?;
        Some((handle.dtype, self.sym.dims(handle.shape?)))
    }

    fn fact(&self, graph: GraphIdx, value: usize) -> Option<&Fact> {
        self.tables.get(graph.0)?.get(value)
    }

    /// Reports gaps of inference: ops without a rule, contradictions, shapes that were given up.
    pub(super) fn report(&self, model: &Model, diagnostics: &mut Diagnostics) {
        let rows = table::rules();
        let is_known = |node: &RawNode| {
            let kind = model.kind(node);
            rows.contains_key(kind) || control::has_rule(kind) || model.functions.contains_key(&node.kind)
        };
        // First counted, then reported: there may be a million nodes.
        let mut without_rule: IndexMap<NameIdx, (NameIdx, u64)> = IndexMap::new();
        for graph in &model.graphs {
            let nodes = graph.nodes.iter().skip(graph.n_args as usize);
            for node in nodes.filter(|node| node.n_outputs > 0 && !is_known(node)) {
                without_rule.entry(node.kind).or_insert((node.name, 0)).1 += 1;
            }
        }
        for (kind, (first, count)) in without_rule {
            diagnostics.op_without_shape_rule(model.names.text(kind), model.names.text(first), count);
        }
        self.report_contradictions(model, diagnostics);
        self.layout
            .report(|function| model.names.text(model.graphs[function.0].name), diagnostics);
        if self.sym.is_exhausted() {
            diagnostics.warning(
                "shapes were given up on, because the file describes more of them than any real model",
                "",
            );
        }
    }

    /// Reports stated shapes that differ from the computed ones: their number, and an example.
    fn report_contradictions(&self, model: &Model, diagnostics: &mut Diagnostics) {
        let Some(((graph, value), computed)) = self.contradictions.first_key_value() else {
            return;
        };
        let idx = *graph;
        let graph = &model.graphs[graph.0];
        let after = graph.nodes.partition_point(|node| node.first_value as usize <= *value);
        let node = after.checked_sub(1).map(|position| &graph.nodes[position]);
        let text = |dims: Option<&[Dim]>| self.sym.text(dims);
        let place = format!(
            "\"{}\": stated {}, computed {}",
            node.map_or("", |node| model.names.text(node.name)),
            text(self.dims(idx, *value)),
            text(computed.map(|shape| self.sym.dims(shape)))
        );
        diagnostics.counted(
            Severity::Warning,
            "a shape that the file states is not the one that its op computes; the stated one counts, because TensorFlow \
             itself wrote it",
            &place,
            self.contradictions.len() as u64,
        );
    }
}

pub(super) fn infer(
    model: &Model,
    file_len: u64,
    stated: Stated,
    progress: &Progress<'_>,
) -> Result<Facts, ImportError> {
    let nodes: usize = model.graphs.iter().map(|graph| graph.nodes.len()).sum();
    let mut infer = Infer {
        model,
        stated,
        sym: Sym::new(file_len),
        rules: table::rules(),
        orders: vec![None; model.graphs.len()],
        tables: Vec::new(),
        versions: calls::versions(model),
        contradictions: BTreeMap::new(),
        frames: Vec::new(),
        steps_left: 8 * nodes as u64 + 100_000,
        progress,
    };
    let runnable = (0..model.n_runnable).map(GraphIdx);
    for graph in runnable.clone() {
        infer.graph(graph, Vec::new())?;
    }
    let reached = infer.versions.reached(runnable, |source| calls::callees(model, source));
    // Functions that nothing calls make no versions of those that run.
    infer.versions.freeze();
    let sources: BTreeSet<GraphIdx> = reached.iter().map(|number| infer.versions.source(*number)).collect();
    for function in (1..model.graphs.len()).map(GraphIdx) {
        if !sources.contains(&function) {
            infer.graph(function, Vec::new())?;
        }
    }
    let layout = infer.versions.layout(&reached);
    Ok(Facts {
        sym: infer.sym,
        tables: layout.arranged(infer.tables),
        contradictions: layout.renumbered(infer.contradictions),
        layout,
    })
}

struct Infer<'m> {
    model: &'m Model,
    stated: Stated,
    sym: Sym,
    rules: BTreeMap<&'static str, Rule>,
    /// Orders of visit of the graphs that were reached.
    orders: Vec<Option<Rc<[u32]>>>,
    /// By number of the graph: facts without values.
    tables: Vec<Vec<Fact>>,
    versions: Versions<'m>,
    contradictions: BTreeMap<(GraphIdx, usize), Option<ShapeId>>,
    /// Graphs being inferred, the innermost last.
    frames: Vec<GraphIdx>,
    steps_left: u64,
    progress: &'m Progress<'m>,
}

struct Run<'m> {
    idx: GraphIdx,
    graph: &'m RawGraph,
    seeds: Vec<Fact>,
    /// By the number of the value.
    facts: Vec<Fact>,
    /// Assumed facts at the start of loops, by the position of the `Merge`.
    assumed: BTreeMap<u32, Fact>,
    /// Positions of the `Merge`s that start loops.
    loops: BTreeSet<u32>,
}

impl Run<'_> {
    fn fact(&self, operand: Operand) -> Fact {
        let value = self.graph.value(operand);
        value
            .and_then(|value| self.facts.get(value))
            .map_or(Fact::UNKNOWN, Fact::clone)
    }
}

impl<'m> Infer<'m> {
    /// Infers a graph from the facts of its arguments and returns those of its results.
    fn graph(&mut self, idx: GraphIdx, seeds: Vec<Fact>) -> Result<Vec<Fact>, Cancelled> {
        let source = self.versions.source(idx);
        let graph = &self.model.graphs[source.0];
        let model = self.model;
        let order = Rc::clone(self.orders[source.0].get_or_insert_with(|| order::of(model, graph).into()));
        let mut run = Run {
            idx,
            graph,
            seeds,
            facts: graph.dtypes.iter().map(|dtype| Fact::of_type(*dtype)).collect(),
            assumed: BTreeMap::new(),
            loops: BTreeSet::new(),
        };
        self.frames.push(idx);
        let result = self.passes(&mut run, &order);
        self.frames.pop();
        result?;
        let results = graph.results.iter().map(|operand| run.fact(*operand)).collect();
        self.keep(run);
        Ok(results)
    }

    fn passes(&mut self, run: &mut Run<'m>, order: &[u32]) -> Result<(), Cancelled> {
        for pass in 0..=MAX_PASSES {
            if pass > 0 {
                // A contradiction of the first pass may come from too narrow an assumption.
                self.contradictions.retain(|(graph, _), _| *graph != run.idx);
            }
            for (turn, position) in order.iter().enumerate() {
                if turn % 1000 == 0 {
                    self.progress.set("inferring shapes", turn as u64, order.len() as u64)?;
                }
                self.node(run, *position)?;
            }
            self.steps_left = self.steps_left.saturating_sub(order.len() as u64);
            let gives_up = pass + 1 >= MAX_PASSES || self.steps_left == 0;
            if !self.revise_loops(run, gives_up) || pass == MAX_PASSES {
                break;
            }
        }
        Ok(())
    }

    /// Remembers the facts of a graph, without what matters along the way alone.
    fn keep(&mut self, run: Run<'m>) {
        let mut facts = run.facts;
        for fact in &mut facts {
            fact.value = None;
        }
        for node in &run.graph.nodes {
            // Handles matter where a variable is defined, not along the way.
            if !matches!(self.model.kind(node), "Placeholder" | "_Arg" | "VarHandleOp") {
                for value in run.graph.values_of(node) {
                    facts[value].handle = None;
                }
            }
        }
        *self.facts(run.idx) = facts;
    }

    fn node(&mut self, run: &mut Run<'m>, position: u32) -> Result<(), Cancelled> {
        let (model, graph) = (self.model, run.graph);
        let node = &graph.nodes[position as usize];
        let operands = graph.operands_of(node).iter();
        let inputs: Vec<Fact> = operands.map(|operand| run.fact(*operand)).collect();
        let kind = model.kind(node);
        let facts = if position < graph.n_args {
            run.seeds.get(position as usize).cloned().into_iter().collect()
        } else if order::is_merge(kind) {
            self.merge(run, position, &inputs)
        } else if control::has_rule(kind) || model.functions.contains_key(&node.kind) {
            self.call(position, graph, inputs)?
        } else {
            self.by_rule(graph, node, inputs)
        };
        let mut facts = facts.into_iter();
        for (port, value) in (0..).zip(graph.values_of(node)) {
            let mut fact = facts.next().unwrap_or(Fact::UNKNOWN);
            if graph.dtypes[value] != DType::Unknown {
                fact.dtype = graph.dtypes[value];
            }
            let fact = match model.stated_shape(graph, node, port) {
                Some(stated) if (self.stated)(kind) => {
                    let inferred = fact.shape;
                    let (fact, agrees) = stated::reconciled(fact, stated, &mut self.sym);
                    if !agrees {
                        self.contradictions.insert((run.idx, value), inferred);
                    }
                    fact
                }
                _ => fact,
            };
            run.facts[value] = fact;
        }
        Ok(())
    }

    fn by_rule(&mut self, graph: &'m RawGraph, node: &'m RawNode, inputs: Vec<Fact>) -> Vec<Fact> {
        let dtypes = graph.dtypes[graph.values_of(node)].iter();
        let outputs: Vec<Fact> = dtypes.map(|dtype| Fact::of_type(*dtype)).collect();
        let model = self.model;
        let kind = model.kind(node);
        let Some(rule) = self.rules.get(kind).copied() else {
            return outputs;
        };
        let mut call = Call {
            node: Node {
                name: model.names.text(node.name),
                opset: 0,
                attributes: model.attributes(graph, node),
            },
            kind,
            inputs: inputs.into_iter().map(Some).collect(),
            outputs,
            sym: &mut self.sym,
        };
        // `None` means that the rest stays unknown.
        let _stopped: Option<()> = rule(&mut call);
        call.outputs
    }
}
