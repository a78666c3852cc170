//! Node and attribute messages.

use super::{Parser, TENSOR_PRICE};
use crate::ImportError;
use crate::names::NameIdx;
use crate::onnx::model::{Attribute, GraphIdx, RawGraph, RawNode};
use crate::wire::{Field, Layout, List, Span, Wire};

/// The most numbers that are kept of one attribute; longer lists matter for no shape.
const MAX_NUMBERS: usize = 8192;
/// A rough price of one node, here and in the graph.
const NODE_PRICE: u64 = 80;
/// The extra price of a node without results: nothing else pays for its place in the order.
const BARE_NODE_PRICE: u64 = 20;
const ATTRIBUTE_PRICE: u64 = 48;

/// Names of one node until they move to the graph's table.
#[derive(Default)]
struct Ports {
    inputs: Vec<NameIdx>,
    outputs: Vec<NameIdx>,
}

impl Parser {
    /// Reads a node into its graph. `depth` is the graph's own.
    pub(super) fn node(
        &mut self,
        wire: &mut Wire<'_>,
        span: Span,
        graph: &mut RawGraph,
        depth: u32,
    ) -> Result<(), ImportError> {
        const WHAT: &str = "a node";
        self.model.budget.charge(NODE_PRICE, span.start)?;
        let first_attribute = position(graph.attributes.len(), span)?;
        let mut ports = Ports::default();
        let (mut name, mut kind, mut domain) = (NameIdx::EMPTY, NameIdx::EMPTY, NameIdx::EMPTY);
        while let Some(field) = wire.field(span, WHAT)? {
            match field.number {
                1 => {
                    self.model.budget.charge(8, field.at)?;
                    ports.inputs.push(self.name(wire, field, span, WHAT)?);
                }
                2 => {
                    self.model.budget.charge(TENSOR_PRICE, field.at)?;
                    ports.outputs.push(self.name(wire, field, span, WHAT)?);
                }
                3 => name = self.name(wire, field, span, WHAT)?,
                4 => kind = self.name(wire, field, span, WHAT)?,
                5 => {
                    self.model.budget.charge(ATTRIBUTE_PRICE, field.at)?;
                    let part = wire.span(field, span, WHAT)?;
                    let attribute = self.attribute(wire, part, depth)?;
                    graph.attributes.push(attribute);
                }
                7 => domain = self.name(wire, field, span, WHAT)?,
                _ => wire.skip(field, span, WHAT)?,
            }
        }
        if kind.is_empty() {
            return Err(ImportError::at_byte("a node has no operator type", span.start));
        }
        if ports.outputs.is_empty() {
            self.model.budget.charge(BARE_NODE_PRICE, span.start)?;
        }
        let start = position(graph.operands.len(), span)?;
        graph.operands.append(&mut ports.inputs);
        let middle = position(graph.operands.len(), span)?;
        graph.operands.append(&mut ports.outputs);
        let end = position(graph.operands.len(), span)?;
        graph.nodes.push(RawNode {
            name,
            kind,
            domain,
            inputs: start,
            outputs: middle,
            outputs_end: end,
            attributes: first_attribute,
            attributes_end: position(graph.attributes.len(), span)?,
            at: span.start,
        });
        Ok(())
    }

    fn attribute(&mut self, wire: &mut Wire<'_>, span: Span, depth: u32) -> Result<(NameIdx, Attribute), ImportError> {
        const WHAT: &str = "an attribute";
        let mut name = NameIdx::EMPTY;
        let mut value = None;
        let mut code = 0;
        let mut ints = List::new(MAX_NUMBERS);
        let mut floats: Vec<f32> = Vec::new();
        let mut n_texts = 0_u32;
        let mut graphs: Vec<GraphIdx> = Vec::new();
        while let Some(field) = wire.field(span, WHAT)? {
            match field.number {
                1 => name = self.name(wire, field, span, WHAT)?,
                2 => value = Some(Attribute::Float(wire.float(field, span, WHAT)?)),
                3 => value = Some(Attribute::Int(wire.int(field, span, WHAT)?)),
                4 => value = Some(self.text_attribute(wire, field, span)?),
                5 => {
                    let part = wire.span(field, span, WHAT)?;
                    value = Some(Attribute::Tensor(Box::new(self.tensor(wire, part)?)));
                }
                6 | 11 => {
                    let part = wire.span(field, span, WHAT)?;
                    graphs.push(self.graph(wire, part, depth + 1)?);
                }
                7 => self.floats(wire, field, span, &mut floats)?,
                8 => Self::ints(wire, field, span, &mut ints)?,
                9 => {
                    wire.skip(field, span, WHAT)?;
                    n_texts = n_texts.saturating_add(1);
                }
                20 => code = wire.int(field, span, WHAT)?,
                21 => {
                    wire.skip(field, span, WHAT)?;
                    value = Some(Attribute::Reference);
                }
                22 => {
                    let part = wire.span(field, span, WHAT)?;
                    value = Some(Attribute::Tensor(Box::new(self.sparse_tensor(wire, part)?)));
                }
                _ => wire.skip(field, span, WHAT)?,
            }
        }
        let value = if !graphs.is_empty() {
            Attribute::Graphs(graphs.into())
        } else if ints.is_full {
            Attribute::Other
        } else if !ints.items.is_empty() {
            self.model.budget.charge(ints.items.len() as u64 * 8, span.start)?;
            Attribute::Ints(ints.items.into())
        } else if !floats.is_empty() {
            Attribute::Floats(floats.into())
        } else if n_texts > 0 {
            Attribute::Texts(n_texts)
        } else {
            value.unwrap_or_else(|| absent(code))
        };
        Ok((name, value))
    }

    /// A short text; a long one is no choice of an operator's behaviour.
    fn text_attribute(&mut self, wire: &mut Wire<'_>, field: Field, message: Span) -> Result<Attribute, ImportError> {
        const WHAT: &str = "a text attribute";
        let span = wire.span(field, message, WHAT)?;
        if span.len() > 1024 {
            wire.skip_span(span);
            return Ok(Attribute::Other);
        }
        let text = wire.text(span, 1024, WHAT)?;
        let known = self.model.names.len();
        let name = self.model.names.intern(&text);
        if self.model.names.len() > known {
            self.model.budget.charge(span.len() * 2 + 48, span.start)?;
        }
        Ok(Attribute::Text(name))
    }

    /// Floats, packed or not, up to the limit; what is more is left out.
    pub(super) fn floats(
        &mut self,
        wire: &mut Wire<'_>,
        field: Field,
        message: Span,
        list: &mut Vec<f32>,
    ) -> Result<(), ImportError> {
        const WHAT: &str = "a list of floats";
        if field.layout != Layout::Bytes {
            let value = wire.float(field, message, WHAT)?;
            if list.len() < MAX_NUMBERS {
                self.model.budget.charge(4, field.at)?;
                list.push(value);
            }
            return Ok(());
        }
        let span = wire.span(field, message, WHAT)?;
        if span.len() > MAX_NUMBERS as u64 * 4 {
            wire.skip_span(span);
            return Ok(());
        }
        self.model.budget.charge(span.len(), span.start)?;
        let mut bytes = vec![0; usize::try_from(span.len()).unwrap_or(0)];
        wire.copy(span, &mut bytes, WHAT)?;
        list.extend(bytes.as_chunks::<4>().0.iter().map(|chunk| f32::from_le_bytes(*chunk)));
        list.truncate(MAX_NUMBERS);
        Ok(())
    }
}

/// The value of an attribute that states its type alone: an empty list, or a zero that the writer left out.
fn absent(code: i64) -> Attribute {
    match code {
        1 => Attribute::Float(0.0),
        2 => Attribute::Int(0),
        3 => Attribute::Text(NameIdx::EMPTY),
        6 => Attribute::Floats(Box::default()),
        7 => Attribute::Ints(Box::default()),
        8 => Attribute::Texts(0),
        _ => Attribute::Other,
    }
}

fn position(count: usize, span: Span) -> Result<u32, ImportError> {
    u32::try_from(count).map_err(|_overflow| ImportError::at_byte("a graph has more than 2^32 names", span.start))
}
