//! Node messages and the way inputs are written.

use super::link::position;
use super::{Draft, Link, Parser, Part, VALUE_PRICE};
use crate::ImportError;
use crate::names::NameIdx;
use crate::tensorflow::fields::{Fields, Schema};
use crate::tensorflow::model::{Attribute, RawNode};

/// A rough price of one node, here and in the graph.
const NODE_PRICE: u64 = 110;
const LINK_PRICE: u64 = 24;
const ATTRIBUTE_PRICE: u64 = 48;
/// The most attributes of one node; real ones have a few dozen.
const MAX_ATTRIBUTES: usize = 10_000;

const NODE: Schema = Schema {
    what: "a node",
    fields: &[("name", 1), ("op", 2), ("input", 3), ("attr", 5)],
};

impl Parser<'_> {
    pub(super) fn node(&mut self, fields: &mut impl Fields, draft: &mut Draft) -> Result<(), ImportError> {
        fields.enter()?;
        let at = fields.at();
        self.budget.charge(NODE_PRICE, at)?;
        self.current = NameIdx::EMPTY;
        let is_function = !draft.graph.name.is_empty();
        let operands = position(draft.links.len(), at)?;
        let attributes = position(draft.graph.attributes.len(), at)?;
        let (mut name, mut kind) = (NameIdx::EMPTY, NameIdx::EMPTY);
        while let Some(number) = fields.next(&NODE)? {
            match number {
                1 => {
                    name = self.name(fields)?;
                    self.current = name;
                }
                2 => kind = self.name(fields)?,
                3 => {
                    self.budget.charge(LINK_PRICE, at)?;
                    draft.links.push(self.input(fields, is_function)?);
                }
                _ if draft.graph.attributes.len() - attributes as usize >= MAX_ATTRIBUTES => {
                    let message = format!("attributes of a node beyond the first {MAX_ATTRIBUTES} are not read");
                    self.diagnostics.warning(message, self.names.text(self.current));
                }
                _ => {
                    self.budget.charge(ATTRIBUTE_PRICE, at)?;
                    draft.graph.attributes.push(self.attribute(fields)?);
                }
            }
        }
        if kind.is_empty() {
            return Err(ImportError::at_byte("a node has no op", at));
        }
        // The order of a map's entries is not part of the format; texts and files order them differently.
        let names = &self.names;
        draft.graph.attributes[attributes as usize..].sort_by(|a, b| names.text(a.0).cmp(names.text(b.0)));
        draft.graph.nodes.push(RawNode {
            name,
            kind,
            operands,
            operands_end: position(draft.links.len(), at)?,
            controls: 0,
            controls_end: 0,
            attributes,
            attributes_end: position(draft.graph.attributes.len(), at)?,
            first_value: 0,
            n_outputs: 0,
            at,
        });
        Ok(())
    }

    pub(super) fn argument(&mut self, draft: &mut Draft, name: NameIdx, code: i64, at: u64) -> Result<(), ImportError> {
        self.budget.charge(NODE_PRICE + VALUE_PRICE + ATTRIBUTE_PRICE, at)?;
        self.current = name;
        let dtype = self.element_type(code);
        let kind = self.intern("_Arg", at)?;
        let key = self.intern("T", at)?;
        let attributes = position(draft.graph.attributes.len(), at)?;
        draft.graph.attributes.push((key, Attribute::Type(dtype)));
        draft.graph.nodes.push(RawNode {
            name,
            kind,
            operands: 0,
            operands_end: 0,
            controls: 0,
            controls_end: 0,
            attributes,
            attributes_end: attributes + 1,
            first_value: 0,
            n_outputs: 0,
            at,
        });
        draft.graph.n_args += 1;
        Ok(())
    }

    /// An input: `name`, `name:1`, `^name`, and in functions `name:out:1`.
    pub(super) fn input(&mut self, fields: &mut impl Fields, is_function: bool) -> Result<Link, ImportError> {
        let at = fields.at();
        let text = fields.text(super::MAX_NAME)?;
        let text = text.ok_or_else(|| ImportError::at_byte("the name of an input is too long", at))?;
        if let Some(name) = text.strip_prefix('^') {
            let name = self.intern(name, at)?;
            return Ok(Link { name, part: Part::Done });
        }
        let Some((rest, number)) = text.rsplit_once(':') else {
            let name = self.intern(&text, at)?;
            return Ok(Link {
                name,
                part: Part::Port(0),
            });
        };
        let number = number
            .parse::<u32>()
            .map_err(|_no_number| ImportError::at_byte(format!("input \"{text}\" does not end in a number"), at))?;
        match rest.split_once(':').filter(|_| is_function) {
            Some((name, output)) => Ok(Link {
                name: self.intern(name, at)?,
                part: Part::Named(self.intern(output, at)?, number),
            }),
            None => Ok(Link {
                name: self.intern(rest, at)?,
                part: Part::Port(number),
            }),
        }
    }
}
