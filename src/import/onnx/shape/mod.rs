//! Shape inference: a table of facts per graph, with dimensions as expressions over the symbols of the main graph's
//! inputs. Gaps are filled from the file's `value_info`. Bodies of control flow and functions are inferred where they
//! are called, within a budget of steps; each set of facts with which a function is called makes a version of it. Why own
//! rules and no crate: docs/shape-inference.md.

mod attention;
mod calls;
mod conflicts;
mod control;
mod elementwise;
mod explain;
mod extent;
mod forms;
mod generate;
mod layout;
mod linear;
mod lists;
mod ml;
mod nchwc;
mod pick;
mod reduce;
mod sequence;
mod state;
mod stated;
mod table;
mod window;

pub(super) use self::conflicts::Conflict;
pub(super) use crate::shape::fact::Fact;
use crate::shape::sym::Sym;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use indexmap::IndexMap;

use self::table::Row;
use super::model::{Attributes, Data, GraphIdx, Model, RawDim, RawGraph, RawNode, RawType};
use super::order;
use crate::dim_text;
use crate::element_types::ONNX;
use crate::names::NameIdx;
use crate::shape::call::{Call, Node};
use crate::shape::versions::{Layout, Versions};
use highwater_model::graph::{DType, Dim};
use highwater_model::progress::{Cancelled, Progress};

#[derive(Debug, Default)]
struct Table<'m> {
    /// By the numbers of the names that the graph defines.
    facts: Vec<Fact>,
    /// Numbers of a function's inputs that its call leaves out.
    absent: BTreeSet<usize>,
    initializers: IndexMap<NameIdx, usize>,
    declared: IndexMap<NameIdx, &'m RawType>,
    /// Channels of values that blocked convolutions read.
    blocked: BTreeMap<NameIdx, Dim>,
}

/// What inference found, by graph of the expanded model.
#[derive(Debug)]
pub(super) struct Inferred {
    pub(super) sym: Sym,
    tables: Vec<(Vec<Fact>, BTreeSet<usize>)>,
    /// Op types without a rule, each with its first op's name and the number of its ops.
    pub(super) without_rule: IndexMap<String, (String, u64)>,
    /// Op types with outputs whose sizes no file states, each with its first op's name, the number of its ops and why.
    pub(super) without_size: IndexMap<String, (String, u64, &'static str)>,
    /// The computed facts of values whose shapes contradict the stated ones.
    pub(super) contradictions: BTreeMap<(GraphIdx, NameIdx), Fact>,
    /// The computed types of values that contradict the stated ones.
    pub(super) other_types: BTreeMap<(GraphIdx, NameIdx), DType>,
    /// Nodes that cannot run, by position.
    pub(super) conflicts: BTreeMap<(GraphIdx, u32), Conflict>,
    /// Attributes that a function's body takes from its caller, who does not give them: the place of the first, and their
    /// number.
    pub(super) unbound: (String, u64),
    pub(super) layout: Layout,
}

impl Inferred {
    /// The fact of a name of a graph; `None` for graphs that were never reached.
    pub(super) fn fact(&self, model: &Model, graph: GraphIdx, name: NameIdx) -> Option<&Fact> {
        let number = model.graphs[graph.0].locals.get_own(name)?;
        self.tables.get(graph.0)?.0.get(number)
    }

    /// Whether a name is an input of a function that its call leaves out.
    pub(super) fn is_absent(&self, model: &Model, graph: GraphIdx, name: NameIdx) -> bool {
        let number = model.graphs[graph.0].locals.get_own(name);
        let table = self.tables.get(graph.0).zip(number);
        table.is_some_and(|((_, absent), number)| absent.contains(&number))
    }

    /// Frees the facts of all graphs; expressions and shapes stay.
    pub(super) fn forget(&mut self) {
        self.tables = Vec::new();
    }
}

/// Infers the shapes of all graphs that the main one runs.
pub(super) fn infer(
    model: &Model,
    main: GraphIdx,
    file_len: u64,
    progress: &Progress<'_>,
) -> Result<Inferred, Cancelled> {
    let nodes: usize = model.graphs.iter().map(|graph| graph.nodes.len()).sum();
    let mut infer = Infer {
        model,
        sym: Sym::new(file_len),
        rules: table::rules(),
        tables: Vec::new(),
        versions: calls::versions(model),
        frames: Vec::new(),
        scope: calls::Scope::main(model),
        steps_left: 8 * nodes as u64 + 100_000,
        without_rule: IndexMap::new(),
        without_size: IndexMap::new(),
        contradictions: BTreeMap::new(),
        other_types: BTreeMap::new(),
        laws: conflicts::laws(),
        conflicts: BTreeMap::new(),
        unbound: (String::new(), 0),
        progress,
    };
    infer.main(main)?;
    let reached = infer
        .versions
        .reached([main], |source| model.graphs[source.0].callees());
    let layout = infer.versions.layout(&reached);
    let tables = infer.tables.into_iter().map(|table| (table.facts, table.absent));
    Ok(Inferred {
        sym: infer.sym,
        tables: layout.arranged(tables.collect()),
        without_rule: infer.without_rule,
        without_size: infer.without_size,
        contradictions: layout.renumbered(infer.contradictions),
        other_types: layout.renumbered(infer.other_types),
        conflicts: layout.renumbered(infer.conflicts),
        unbound: infer.unbound,
        layout,
    })
}

struct Infer<'m> {
    model: &'m Model,
    sym: Sym,
    rules: BTreeMap<(&'static str, &'static str), Row>,
    /// By number of the graph.
    tables: Vec<Table<'m>>,
    versions: Versions<'m>,
    /// Numbers of the graphs being inferred, the innermost last; names are looked up from there.
    frames: Vec<GraphIdx>,
    scope: calls::Scope<'m>,
    steps_left: u64,
    without_rule: IndexMap<String, (String, u64)>,
    without_size: IndexMap<String, (String, u64, &'static str)>,
    contradictions: BTreeMap<(GraphIdx, NameIdx), Fact>,
    other_types: BTreeMap<(GraphIdx, NameIdx), DType>,
    laws: conflicts::Laws,
    conflicts: BTreeMap<(GraphIdx, u32), Conflict>,
    unbound: (String, u64),
    progress: &'m Progress<'m>,
}

/// A node that is being inferred.
#[derive(Clone, Copy)]
struct Op<'a> {
    position: u32,
    node: &'a RawNode,
    /// With the values that the caller of the function gives.
    attributes: Attributes<'a>,
}

impl<'m> Infer<'m> {
    fn main(&mut self, idx: GraphIdx) -> Result<(), Cancelled> {
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
        self.graph(idx, seeds.into_iter().map(Some).collect())
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

    /// The graph of the file under a number.
    fn raw(&self, idx: GraphIdx) -> &'m RawGraph {
        &self.model.graphs[self.versions.source(idx).0]
    }

    fn table(&mut self, idx: GraphIdx) -> &mut Table<'m> {
        if self.tables.len() <= idx.0 {
            self.tables.resize_with(idx.0 + 1, Table::default);
        }
        &mut self.tables[idx.0]
    }

    /// Infers a graph from the facts of its inputs, in their order; inputs without one get their declared type. Functions may
    /// leave inputs out.
    fn graph(&mut self, idx: GraphIdx, seeds: Vec<Option<Fact>>) -> Result<(), Cancelled> {
        let graph = self.raw(idx);
        let mut table = Table {
            facts: vec![Fact::UNKNOWN; graph.locals.len()],
            ..Table::default()
        };
        let listed = graph.inputs.iter().chain(&graph.value_infos).chain(&graph.outputs);
        table.declared.extend(listed.map(|value| (value.name, &value.ty)));
        // In front of the inputs: only dimensions of the main graph may name symbols.
        self.frames.push(idx);
        let mut seeds = seeds.into_iter();
        for input in &graph.inputs {
            let seed = seeds.next().flatten();
            let number = graph.locals.get(input.name);
            if seed.is_none() && graph.is_function {
                table.absent.extend(number);
                continue;
            }
            // A function states types of its inputs among those of other values.
            let stated = table.declared.get(&input.name).filter(|_| graph.is_function);
            let stated = stated.copied().unwrap_or(&input.ty);
            let fact = self.completed(seed.unwrap_or(Fact::UNKNOWN), stated, (idx, input.name));
            if let Some(number) = number {
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
        table.blocked = self.blocked_channels(graph, &table.facts);
        *self.table(idx) = table;
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
            self.node(idx, graph, position)?;
        }
        Ok(())
    }

    fn node(&mut self, idx: GraphIdx, graph: &'m RawGraph, position: u32) -> Result<(), Cancelled> {
        let node = &graph.nodes[position as usize];
        let inputs: Vec<Option<Fact>> = graph.inputs_of(node).iter().map(|name| self.lookup(*name)).collect();
        let outputs = graph.outputs_of(node);
        let facts = self.outputs(graph, position, inputs)?;
        let mut is_open = false;
        for (name, fact) in outputs.iter().zip(facts) {
            let Some(number) = graph.locals.get(*name) else {
                continue;
            };
            let declared = self.tables[idx.0].declared.get(name).copied();
            let fact = match declared {
                Some(ty) => self.completed(fact, ty, (idx, *name)),
                None => fact,
            };
            let fact = self.blocked(idx, *name, fact);
            is_open |= self.is_open(&fact);
            self.tables[idx.0].facts[number] = fact;
        }
        if is_open {
            self.explain(node);
        }
        Ok(())
    }

    /// The facts of a node's outputs by function, rule or body; unknown where there is none of them.
    fn outputs(
        &mut self,
        graph: &'m RawGraph,
        position: u32,
        inputs: Vec<Option<Fact>>,
    ) -> Result<Vec<Fact>, Cancelled> {
        let node = &graph.nodes[position as usize];
        let unknown = vec![Fact::UNKNOWN; graph.outputs_of(node).len()];
        if let Some(function) = node.function {
            return self.function(graph, position, function, inputs, unknown);
        }
        let (domain, kind) = (self.model.domain(node), self.model.names.text(node.kind));
        let Some(bound) = self.bound_attributes(graph, node) else {
            return Ok(unknown);
        };
        let attributes = Attributes {
            names: &self.model.names,
            all: &bound,
        };
        if let Some(row) = self.rules.get(&(domain, kind)) {
            let node = Node {
                name: self.model.title(node),
                opset: self.scope.opset,
                attributes,
            };
            let call = Call {
                node,
                kind,
                inputs,
                outputs: unknown,
                sym: &mut self.sym,
            };
            let place = self.frames.last().map(|frame| (*frame, position));
            let found = conflicts::find(&self.laws, domain, &call);
            // A loop's body is inferred several times: the last time counts.
            match (found, place) {
                (Some(conflict), Some(place)) if self.conflicts.len() < stated::MAX_CONTRADICTIONS => {
                    self.conflicts.insert(place, conflict);
                }
                (None, Some(place)) => {
                    self.conflicts.remove(&place);
                }
                _ => {}
            }
            return Ok(row.facts(call));
        }
        if domain.is_empty() && control::has_rule(kind) {
            let op = Op {
                position,
                node,
                attributes,
            };
            return self.control(op, &inputs, unknown);
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

    /// The fact of a name in the innermost graph or those around it; `None` for an optional input that is left out.
    fn lookup(&self, name: NameIdx) -> Option<Fact> {
        if name.is_empty() {
            return None;
        }
        let visible = self.frames.get(self.scope.hidden..).unwrap_or(&[]);
        for idx in visible.iter().rev() {
            let (table, raw) = (&self.tables[idx.0], self.raw(*idx));
            let number = raw.locals.get_own(name);
            if number.is_some_and(|number| table.absent.contains(&number)) {
                return None;
            }
            if let Some(fact) = number.and_then(|number| table.facts.get(number)) {
                let mut fact = fact.clone();
                if let Some(position) = table.initializers.get(&name) {
                    let tensor = &raw.initializers[*position];
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
    if ty.composite.is_some() {
        DType::Unknown
    } else {
        ONNX.of_code(ty.code)
    }
}
