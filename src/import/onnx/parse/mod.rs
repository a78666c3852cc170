//! ONNX messages -> [`Model`]: the top level, graphs and functions.
//!
//! In: a [`Wire`]. Out: everything that shapes and liveness need. Field numbers are those of the public onnx.proto;
//! unknown fields are skipped. Errors name a byte. Bodies may be nested [`MAX_DEPTH`] levels deep.

mod node;
mod tensor;
mod types;

use indexmap::IndexMap;

use super::locals::Locals;
use super::model::{GraphIdx, Model, ParseCounts, RawGraph, RawType, ValueInfo};
use crate::ImportError;
use crate::budget::Budget;
use crate::names::{Interner, NameIdx};
use crate::wire::{Field, List, Span, Wire};

const MAX_DEPTH: u32 = 32;
const MAX_NAME: u64 = 64 << 10;
/// A rough price of one name: its letters twice, its place in two tables.
const NAME_PRICE: u64 = 8;
/// A rough price of one tensor of a graph under construction.
const TENSOR_PRICE: u64 = 75;

pub(super) fn model(wire: &mut Wire<'_>) -> Result<Model, ImportError> {
    let file = wire.file();
    let mut parser = Parser {
        model: Model {
            names: Interner::new(),
            opset: 0,
            graphs: Vec::new(),
            main: None,
            functions: IndexMap::new(),
            budget: Budget::for_file(file.len()),
            counts: ParseCounts::default(),
        },
    };
    while let Some(field) = wire.field(file, "the model")? {
        match field.number {
            7 => {
                let span = wire.span(field, file, "the model")?;
                let graph = parser.graph(wire, span, 0)?;
                parser.model.main = Some(graph);
            }
            8 => {
                let span = wire.span(field, file, "the model")?;
                parser.opset_import(wire, span)?;
            }
            25 => {
                let span = wire.span(field, file, "the model")?;
                parser.function(wire, span)?;
            }
            _ => wire.skip(field, file, "the model")?,
        }
    }
    if parser.model.main.is_none() {
        return Err(ImportError::at_byte("the model has no graph", file.end));
    }
    parser.model.names.close();
    Ok(parser.model)
}

struct Parser {
    model: Model,
}

impl Parser {
    fn opset_import(&mut self, wire: &mut Wire<'_>, span: Span) -> Result<(), ImportError> {
        const WHAT: &str = "an operator set";
        let mut domain = String::new();
        let mut version = 0;
        while let Some(field) = wire.field(span, WHAT)? {
            match field.number {
                1 => {
                    let text = wire.span(field, span, WHAT)?;
                    domain = wire.text(text, MAX_NAME, WHAT)?;
                }
                2 => version = wire.int(field, span, WHAT)?,
                _ => wire.skip(field, span, WHAT)?,
            }
        }
        if matches!(domain.as_str(), "" | "ai.onnx") {
            self.model.opset = version;
        }
        Ok(())
    }

    fn graph(&mut self, wire: &mut Wire<'_>, span: Span, depth: u32) -> Result<GraphIdx, ImportError> {
        const WHAT: &str = "the graph";
        if depth > MAX_DEPTH {
            return Err(ImportError::at_byte(
                format!("graphs are nested more than {MAX_DEPTH} levels deep"),
                span.start,
            ));
        }
        self.model.budget.charge(512, span.start)?;
        let mut graph = RawGraph::new();
        while let Some(field) = wire.field(span, WHAT)? {
            match field.number {
                1 => {
                    let part = wire.span(field, span, WHAT)?;
                    self.node(wire, part, &mut graph, depth)?;
                }
                2 => graph.name = self.name(wire, field, span, WHAT)?,
                5 => {
                    let part = wire.span(field, span, WHAT)?;
                    let tensor = self.tensor(wire, part)?;
                    graph.initializers.push(tensor);
                }
                11 => {
                    let part = wire.span(field, span, WHAT)?;
                    self.value_info(wire, part, &mut graph.inputs)?;
                }
                12 => {
                    let part = wire.span(field, span, WHAT)?;
                    self.value_info(wire, part, &mut graph.outputs)?;
                }
                13 => {
                    let part = wire.span(field, span, WHAT)?;
                    self.value_info(wire, part, &mut graph.value_infos)?;
                }
                15 => {
                    let part = wire.span(field, span, WHAT)?;
                    let tensor = self.sparse_tensor(wire, part)?;
                    graph.initializers.push(tensor);
                }
                _ => wire.skip(field, span, WHAT)?,
            }
        }
        self.close(graph, span)
    }

    fn function(&mut self, wire: &mut Wire<'_>, span: Span) -> Result<(), ImportError> {
        const WHAT: &str = "a function";
        self.model.budget.charge(512, span.start)?;
        let mut graph = RawGraph::new();
        let mut domain = NameIdx::EMPTY;
        while let Some(field) = wire.field(span, WHAT)? {
            match field.number {
                1 => graph.name = self.name(wire, field, span, WHAT)?,
                4 | 5 => {
                    let name = self.name(wire, field, span, WHAT)?;
                    let value = ValueInfo {
                        name,
                        ty: RawType::default(),
                    };
                    self.model.budget.charge(TENSOR_PRICE, field.at)?;
                    let list = if field.number == 4 {
                        &mut graph.inputs
                    } else {
                        &mut graph.outputs
                    };
                    list.push(value);
                }
                7 => {
                    let part = wire.span(field, span, WHAT)?;
                    self.node(wire, part, &mut graph, 0)?;
                }
                10 => domain = self.name(wire, field, span, WHAT)?,
                12 => {
                    let part = wire.span(field, span, WHAT)?;
                    self.value_info(wire, part, &mut graph.value_infos)?;
                }
                _ => wire.skip(field, span, WHAT)?,
            }
        }
        let name = graph.name;
        let idx = self.close(graph, span)?;
        self.model.functions.entry((domain, name)).or_insert(idx);
        Ok(())
    }

    /// Finds what a graph reads from outside, and stores it.
    fn close(&mut self, mut graph: RawGraph, span: Span) -> Result<GraphIdx, ImportError> {
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
        self.model
            .budget
            .charge(captures.len() as u64 * TENSOR_PRICE, span.start)?;
        graph.captures = captures;
        graph.locals = locals;
        graph.nodes.shrink_to_fit();
        graph.operands.shrink_to_fit();
        self.model.graphs.push(graph);
        Ok(GraphIdx(self.model.graphs.len() - 1))
    }

    fn name(
        &mut self,
        wire: &mut Wire<'_>,
        field: Field,
        message: Span,
        what: &'static str,
    ) -> Result<NameIdx, ImportError> {
        let span = wire.span(field, message, what)?;
        let text = wire.text(span, MAX_NAME, what)?;
        let known = self.model.names.len();
        let name = self.model.names.intern(&text);
        if self.model.names.len() > known {
            self.model.budget.charge(span.len() * 2 + NAME_PRICE, span.start)?;
        }
        Ok(name)
    }

    fn ints(wire: &mut Wire<'_>, field: Field, message: Span, list: &mut List<i64>) -> Result<(), ImportError> {
        wire.ints(field, message, "a list of numbers", |value| {
            list.push(value);
            !list.is_full
        })
    }
}
