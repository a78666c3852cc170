//! Node and attribute messages.

use super::{ATTRIBUTE_PRICE, Parser, TENSOR_PRICE};
use crate::ImportError;
use crate::names::NameIdx;
use crate::onnx::model::{Attribute, GraphIdx, RawGraph, RawNode};
use crate::wire::{List, Wire};

/// The most numbers that are kept of one attribute; longer lists matter for no shape.
const MAX_NUMBERS: usize = 8192;
/// A rough price of one node, here and in the graph.
const NODE_PRICE: u64 = 80;
/// The extra price of a node without results: nothing else pays for its place in the order.
const BARE_NODE_PRICE: u64 = 20;
/// The longest text that is kept of an attribute.
const MAX_TEXT: u64 = 1024;

/// Names of one node until they move to the graph's table.
#[derive(Default)]
struct Ports {
    inputs: Vec<NameIdx>,
    outputs: Vec<NameIdx>,
}

impl Parser {
    /// Reads a node into its graph. `depth` is the graph's own.
    pub(super) fn node(&mut self, wire: &mut Wire<'_>, graph: &mut RawGraph, depth: u32) -> Result<(), ImportError> {
        let at = wire.enter()?.start;
        self.model.budget.charge(NODE_PRICE, at)?;
        let first_attribute = position(graph.attributes.len(), at)?;
        let mut ports = Ports::default();
        let (mut name, mut kind) = (NameIdx::EMPTY, NameIdx::EMPTY);
        let (mut domain, mut overload) = (NameIdx::EMPTY, NameIdx::EMPTY);
        while let Some(number) = wire.next("a node")? {
            match number {
                1 => {
                    self.model.budget.charge(8, wire.field_at())?;
                    ports.inputs.push(self.name(wire)?);
                }
                2 => {
                    self.model.budget.charge(TENSOR_PRICE, wire.field_at())?;
                    ports.outputs.push(self.name(wire)?);
                }
                3 => name = self.name(wire)?,
                4 => kind = self.name(wire)?,
                5 => {
                    self.model.budget.charge(ATTRIBUTE_PRICE, wire.field_at())?;
                    graph.attributes.push(self.attribute(wire, depth)?);
                }
                7 => domain = self.domain(wire)?,
                8 => overload = self.name(wire)?,
                _ => {}
            }
        }
        if kind.is_empty() {
            return Err(ImportError::at_byte("a node has no operator type", at));
        }
        if ports.outputs.is_empty() {
            self.model.budget.charge(BARE_NODE_PRICE, at)?;
        }
        let start = position(graph.operands.len(), at)?;
        graph.operands.append(&mut ports.inputs);
        let middle = position(graph.operands.len(), at)?;
        graph.operands.append(&mut ports.outputs);
        let end = position(graph.operands.len(), at)?;
        graph.nodes.push(RawNode {
            name,
            kind,
            domain,
            overload,
            function: None,
            inputs: start,
            outputs: middle,
            outputs_end: end,
            attributes: first_attribute,
            attributes_end: position(graph.attributes.len(), at)?,
            at,
        });
        Ok(())
    }

    pub(super) fn attribute(&mut self, wire: &mut Wire<'_>, depth: u32) -> Result<(NameIdx, Attribute), ImportError> {
        let at = wire.enter()?.start;
        let mut name = NameIdx::EMPTY;
        let mut value = None;
        let mut code = 0;
        let mut ints = List::new(MAX_NUMBERS);
        let mut floats = List::new(MAX_NUMBERS);
        let mut n_texts = 0_u32;
        let mut graphs: Vec<GraphIdx> = Vec::new();
        while let Some(number) = wire.next("an attribute")? {
            match number {
                1 => name = self.name(wire)?,
                2 => value = Some(Attribute::Float(f64::from(wire.float()?))),
                3 => value = Some(Attribute::Int(wire.int()?)),
                4 => value = Some(self.text_attribute(wire)?),
                5 => value = Some(Attribute::Tensor(Box::new(self.tensor(wire)?))),
                6 | 11 => graphs.push(self.graph(wire, depth + 1)?),
                7 => wire.floats(4, &mut floats)?,
                8 => wire.ints(&mut ints)?,
                9 => n_texts = n_texts.saturating_add(1),
                20 => code = wire.int()?,
                21 => {
                    let name = self.name(wire)?;
                    value = Some(Attribute::Reference(name)).filter(|_| !name.is_empty()).or(value);
                }
                22 => value = Some(Attribute::Tensor(Box::new(self.sparse_tensor(wire)?))),
                _ => {}
            }
        }
        let n_numbers = ints.items.len() + floats.items.len();
        self.model.budget.charge(n_numbers as u64 * 8, at)?;
        let value = if !graphs.is_empty() {
            Attribute::Graphs(graphs.into())
        } else if ints.is_full {
            Attribute::Other
        } else if !ints.items.is_empty() {
            Attribute::Ints(ints.items.into())
        } else if !floats.items.is_empty() {
            Attribute::Floats(floats.items.into())
        } else if n_texts > 0 {
            Attribute::Texts(n_texts)
        } else {
            value.unwrap_or_else(|| absent(code))
        };
        Ok((name, value))
    }

    /// A short text; a long one is no choice of an operator's behaviour.
    fn text_attribute(&mut self, wire: &mut Wire<'_>) -> Result<Attribute, ImportError> {
        Ok(match wire.bytes(MAX_TEXT)? {
            Some(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                Attribute::Text(self.intern(&text, 48, wire.field_at())?)
            }
            None => Attribute::Other,
        })
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

fn position(count: usize, at: u64) -> Result<u32, ImportError> {
    u32::try_from(count).map_err(|_overflow| ImportError::at_byte("a graph has more than 2^32 names", at))
}
