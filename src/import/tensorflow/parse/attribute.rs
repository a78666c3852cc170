//! Attributes of nodes: one value of several kinds, or a list of them.

use super::Parser;
use crate::ImportError;
use crate::names::NameIdx;
use crate::tensorflow::fields::{Fields, List, Schema};
use crate::tensorflow::model::{Attribute, RawShape};
use crate::tensorflow::types;

/// The most items that are kept of one list; longer lists matter for no shape.
const MAX_ITEMS: usize = 8192;
/// The longest text that is kept; a longer one is no choice of an op's behaviour.
const MAX_TEXT: u64 = 1024;

const ENTRY: Schema = Schema {
    what: "an attribute",
    fields: &[("key", 1), ("value", 2)],
};
const VALUE: Schema = Schema {
    what: "an attribute's value",
    fields: &[
        ("list", 1),
        ("s", 2),
        ("i", 3),
        ("f", 4),
        ("b", 5),
        ("type", 6),
        ("shape", 7),
        ("tensor", 8),
        ("func", 10),
    ],
};
const LIST: Schema = Schema {
    what: "an attribute's list",
    fields: &[
        ("s", 2),
        ("i", 3),
        ("f", 4),
        ("b", 5),
        ("type", 6),
        ("shape", 7),
        ("tensor", 8),
        ("func", 9),
    ],
};
const FUNCTION: Schema = Schema {
    what: "a function's name",
    fields: &[("name", 1)],
};

struct Items {
    ints: List<i64>,
    bools: List<i64>,
    floats: List<f64>,
    codes: List<i64>,
    texts: List<NameIdx>,
    functions: List<NameIdx>,
    shapes: List<RawShape>,
    is_other: bool,
}

impl Parser<'_> {
    pub(super) fn attribute<F: Fields>(
        &mut self,
        fields: &mut F,
        body: F::Body,
    ) -> Result<(NameIdx, Attribute), ImportError> {
        let (mut key, mut value) = (NameIdx::EMPTY, Attribute::Other);
        while let Some(number) = fields.next(body, &ENTRY)? {
            if number == 1 {
                key = self.name(fields)?;
            } else {
                let part = fields.body()?;
                value = self.value(fields, part)?;
            }
        }
        Ok((key, value))
    }

    fn value<F: Fields>(&mut self, fields: &mut F, body: F::Body) -> Result<Attribute, ImportError> {
        let mut value = Attribute::Other;
        while let Some(number) = fields.next(body, &VALUE)? {
            value = match number {
                1 => {
                    let part = fields.body()?;
                    self.list(fields, part)?
                }
                2 => self.short_text(fields)?.map_or(Attribute::Other, Attribute::Text),
                3 => Attribute::Int(fields.int()?),
                4 => Attribute::Float(fields.float()?),
                5 => Attribute::Bool(fields.int()? != 0),
                6 => {
                    let code = fields.dtype()?;
                    Attribute::Type(self.element_type(code))
                }
                7 => {
                    let part = fields.body()?;
                    Attribute::Shape(self.shape(fields, part)?)
                }
                8 => {
                    let part = fields.body()?;
                    Attribute::Tensor(Box::new(self.tensor(fields, part)?))
                }
                _ => {
                    let part = fields.body()?;
                    Attribute::Function(self.function_name(fields, part)?)
                }
            };
        }
        Ok(value)
    }

    fn function_name<F: Fields>(&mut self, fields: &mut F, body: F::Body) -> Result<NameIdx, ImportError> {
        let mut name = NameIdx::EMPTY;
        while fields.next(body, &FUNCTION)?.is_some() {
            name = self.name(fields)?;
        }
        Ok(name)
    }

    fn short_text<F: Fields>(&mut self, fields: &mut F) -> Result<Option<NameIdx>, ImportError> {
        let at = fields.at();
        let text = fields.text(MAX_TEXT)?;
        text.map(|text| self.intern(&text, at)).transpose()
    }

    fn list<F: Fields>(&mut self, fields: &mut F, body: F::Body) -> Result<Attribute, ImportError> {
        let mut items = Items {
            ints: List::new(MAX_ITEMS),
            bools: List::new(MAX_ITEMS),
            floats: List::new(MAX_ITEMS),
            codes: List::new(MAX_ITEMS),
            texts: List::new(MAX_ITEMS),
            functions: List::new(MAX_ITEMS),
            shapes: List::new(MAX_ITEMS),
            is_other: false,
        };
        while let Some(number) = fields.next(body, &LIST)? {
            match number {
                2 => match self.short_text(fields)? {
                    Some(name) => items.texts.push(name),
                    None => items.is_other = true,
                },
                3 => fields.ints(&mut items.ints)?,
                4 => fields.floats(4, &mut items.floats)?,
                5 => fields.ints(&mut items.bools)?,
                6 => fields.dtypes(&mut items.codes)?,
                7 => {
                    let part = fields.body()?;
                    let shape = self.shape(fields, part)?;
                    items.shapes.push(shape);
                }
                8 => {
                    fields.skip()?;
                    items.is_other = true;
                }
                _ => {
                    let part = fields.body()?;
                    let name = self.function_name(fields, part)?;
                    items.functions.push(name);
                }
            }
        }
        self.budget.charge(items.bytes(), fields.at())?;
        for code in &items.codes.items {
            self.element_type(*code);
        }
        Ok(items.attribute())
    }
}

impl Items {
    /// A rough size of the items.
    fn bytes(&self) -> u64 {
        let numbers = self.ints.items.len() + self.floats.items.len() + self.shapes.items.len() * 2;
        let names = self.texts.items.len() + self.functions.items.len();
        (numbers * 8 + names * 4 + self.bools.items.len() + self.codes.items.len()) as u64
    }

    /// The value; a list that is too long, or of several kinds, is none that matters.
    fn attribute(self) -> Attribute {
        let is_full = self.ints.is_full
            || self.bools.is_full
            || self.floats.is_full
            || self.codes.is_full
            || self.texts.is_full
            || self.functions.is_full
            || self.shapes.is_full;
        if is_full || self.is_other {
            return Attribute::Other;
        }
        let mut kinds: Vec<Attribute> = Vec::new();
        if !self.ints.items.is_empty() {
            kinds.push(Attribute::Ints(self.ints.items.into()));
        }
        if !self.bools.items.is_empty() {
            kinds.push(Attribute::Bools(
                self.bools.items.iter().map(|flag| *flag != 0).collect(),
            ));
        }
        if !self.floats.items.is_empty() {
            kinds.push(Attribute::Floats(
                self.floats.items.iter().map(|value| narrow(*value)).collect(),
            ));
        }
        if !self.codes.items.is_empty() {
            kinds.push(Attribute::Types(
                self.codes.items.iter().map(|code| types::from_code(*code)).collect(),
            ));
        }
        if !self.texts.items.is_empty() {
            kinds.push(Attribute::Texts(self.texts.items.into()));
        }
        if !self.functions.items.is_empty() {
            kinds.push(Attribute::Functions(self.functions.items.into()));
        }
        if !self.shapes.items.is_empty() {
            kinds.push(Attribute::Shapes(self.shapes.items.into()));
        }
        match (kinds.pop(), kinds.is_empty()) {
            (None, _) => Attribute::Empty,
            (Some(value), true) => value,
            _ => Attribute::Other,
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the value came from 4 bytes")]
const fn narrow(value: f64) -> f32 {
    value as f32
}
