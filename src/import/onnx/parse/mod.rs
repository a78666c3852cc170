//! ONNX messages -> [`Model`]: the top level, graphs and functions.
//!
//! In: a [`Wire`]. Out: everything that shapes and liveness need. Field numbers are those of the public onnx.proto;
//! unknown fields are skipped. A function that reads a message enters it. Errors name a byte. Bodies may be nested [`MAX_DEPTH`] levels deep.

mod node;
mod tensor;
mod types;

use indexmap::IndexMap;

use super::locals::Locals;
use super::model::{GraphIdx, Model, ParseCounts, RawGraph, RawType, ValueInfo};
use crate::ImportError;
use crate::budget::Budget;
use crate::names::{Interner, NameIdx};
use crate::wire::Wire;

const MAX_DEPTH: u32 = 32;
/// The other name of the operator set without a name.
const DEFAULT_DOMAIN: &str = "ai.onnx";
const ATTRIBUTE_PRICE: u64 = 48;
const MAX_NAME: u64 = 64 << 10;
/// A rough price of one name: its letters twice, its place in two tables.
const NAME_PRICE: u64 = 8;
/// A rough price of one tensor of a graph under construction.
const TENSOR_PRICE: u64 = 75;

pub(super) fn model(wire: &mut Wire<'_>) -> Result<Model, ImportError> {
    let len = wire.len();
    let mut parser = Parser {
        model: Model {
            names: Interner::new(),
            opset: 0,
            graphs: Vec::new(),
            main: None,
            functions: IndexMap::new(),
            budget: Budget::for_file(len),
            counts: ParseCounts::default(),
        },
    };
    while let Some(number) = wire.next("the model")? {
        match number {
            7 => parser.model.main = Some(parser.graph(wire, 0)?),
            8 => {
                if let Some(version) = opset_import(wire)? {
                    parser.model.opset = version;
                }
            }
            25 => parser.function(wire)?,
            _ => {}
        }
    }
    if parser.model.main.is_none() {
        return Err(ImportError::at_byte("the model has no graph", len));
    }
    parser.model.link();
    parser.model.names.close();
    Ok(parser.model)
}

struct Parser {
    model: Model,
}

/// The version of the default operator set; `None` where the entry is about another one.
fn opset_import(wire: &mut Wire<'_>) -> Result<Option<i64>, ImportError> {
    let mut domain = String::new();
    let mut version = 0;
    wire.enter()?;
    while let Some(number) = wire.next("an operator set")? {
        match number {
            1 => domain = wire.text(MAX_NAME)?,
            2 => version = wire.int()?,
            _ => {}
        }
    }
    Ok(matches!(domain.as_str(), "" | DEFAULT_DOMAIN).then_some(version))
}

impl Parser {
    fn graph(&mut self, wire: &mut Wire<'_>, depth: u32) -> Result<GraphIdx, ImportError> {
        let start = wire.enter()?.start;
        if depth > MAX_DEPTH {
            return Err(ImportError::at_byte(
                format!("graphs are nested more than {MAX_DEPTH} levels deep"),
                start,
            ));
        }
        self.model.budget.charge(512, start)?;
        let mut graph = RawGraph::new();
        while let Some(number) = wire.next("the graph")? {
            match number {
                1 => self.node(wire, &mut graph, depth)?,
                2 => graph.name = self.name(wire)?,
                5 => graph.initializers.push(self.tensor(wire)?),
                11 => self.value_info(wire, &mut graph.inputs)?,
                12 => self.value_info(wire, &mut graph.outputs)?,
                13 => self.value_info(wire, &mut graph.value_infos)?,
                15 => graph.initializers.push(self.sparse_tensor(wire)?),
                _ => {}
            }
        }
        self.close(graph, start)
    }

    fn function(&mut self, wire: &mut Wire<'_>) -> Result<(), ImportError> {
        let start = wire.enter()?.start;
        self.model.budget.charge(512, start)?;
        let mut graph = RawGraph::new();
        graph.is_function = true;
        let (mut domain, mut overload) = (NameIdx::EMPTY, NameIdx::EMPTY);
        while let Some(number) = wire.next("a function")? {
            match number {
                1 => graph.name = self.name(wire)?,
                4 | 5 => {
                    let name = self.name(wire)?;
                    let value = ValueInfo {
                        name,
                        ty: RawType::default(),
                    };
                    self.model.budget.charge(TENSOR_PRICE, wire.field_at())?;
                    let list = if number == 4 {
                        &mut graph.inputs
                    } else {
                        &mut graph.outputs
                    };
                    list.push(value);
                }
                7 => self.node(wire, &mut graph, 0)?,
                9 => graph.opset = opset_import(wire)?.or(graph.opset),
                10 => domain = self.domain(wire)?,
                11 => {
                    self.model.budget.charge(ATTRIBUTE_PRICE, wire.field_at())?;
                    graph.defaults.push(self.attribute(wire, 0)?);
                }
                12 => self.value_info(wire, &mut graph.value_infos)?,
                13 => overload = self.name(wire)?,
                _ => {}
            }
        }
        let name = graph.name;
        if !overload.is_empty() {
            let title = format!("{}:{}", self.model.names.text(name), self.model.names.text(overload));
            graph.name = self.intern(&title, NAME_PRICE, start)?;
        }
        let idx = self.close(graph, start)?;
        self.model.functions.entry((domain, name, overload)).or_insert(idx);
        Ok(())
    }

    /// Finds what a graph reads from outside, and stores it.
    fn close(&mut self, mut graph: RawGraph, at: u64) -> Result<GraphIdx, ImportError> {
        let n_results = graph.operands.len() / 2;
        let expected = graph.inputs.len() + graph.initializers.len() + n_results;
        let mut locals = Locals::new(expected, self.model.names.len());
        graph.inputs.iter().for_each(|value| locals.own(value.name));
        graph.initializers.iter().for_each(|tensor| locals.own(tensor.name));
        for node in &graph.nodes {
            graph.outputs_of(node).iter().for_each(|name| locals.own(*name));
        }
        let mut captures = Vec::new();
        let mut read = |name: NameIdx| {
            if locals.capture(name) {
                captures.push(name);
            }
        };
        for node in &graph.nodes {
            graph.inputs_of(node).iter().for_each(|name| read(*name));
            for body in graph.bodies_of(node) {
                self.model.graphs[body.0].captures.iter().for_each(|name| read(*name));
            }
        }
        graph.outputs.iter().for_each(|value| read(value.name));
        self.model.budget.charge(captures.len() as u64 * TENSOR_PRICE, at)?;
        graph.captures = captures;
        graph.locals = locals;
        graph.nodes.shrink_to_fit();
        graph.operands.shrink_to_fit();
        self.model.graphs.push(graph);
        Ok(GraphIdx(self.model.graphs.len() - 1))
    }

    /// The name of an operator set; empty for the default one, which has two names.
    fn domain(&mut self, wire: &mut Wire<'_>) -> Result<NameIdx, ImportError> {
        let name = self.name(wire)?;
        let is_default = self.model.names.text(name) == DEFAULT_DOMAIN;
        Ok(if is_default { NameIdx::EMPTY } else { name })
    }

    fn name(&mut self, wire: &mut Wire<'_>) -> Result<NameIdx, ImportError> {
        let text = wire.text(MAX_NAME)?;
        self.intern(&text, NAME_PRICE, wire.field_at())
    }

    /// The number of a text, which costs `price` besides its letters where it is new.
    fn intern(&mut self, text: &str, price: u64, at: u64) -> Result<NameIdx, ImportError> {
        let known = self.model.names.len();
        let name = self.model.names.intern(text);
        if self.model.names.len() > known {
            self.model.budget.charge(text.len() as u64 * 2 + price, at)?;
        }
        Ok(name)
    }
}
