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

/// The lists of an attribute that matter for shapes.
struct Items {
    ints: List<i64>,
    codes: List<i64>,
    functions: List<NameIdx>,
    shapes: List<RawShape>,
    /// Whether there are items of another kind.
    has_others: bool,
}

impl Parser<'_> {
    pub(super) fn attribute(&mut self, fields: &mut impl Fields) -> Result<(NameIdx, Attribute), ImportError> {
        let (mut key, mut value) = (NameIdx::EMPTY, Attribute::Other);
        fields.enter()?;
        while let Some(number) = fields.next(&ENTRY)? {
            if number == 1 {
                key = self.name(fields)?;
            } else {
                value = self.value(fields)?;
            }
        }
        Ok((key, value))
    }

    fn value(&mut self, fields: &mut impl Fields) -> Result<Attribute, ImportError> {
        let mut value = Attribute::Other;
        fields.enter()?;
        while let Some(number) = fields.next(&VALUE)? {
            value = match number {
                1 => self.list(fields)?,
                2 => self.short_text(fields)?,
                3 => Attribute::Int(fields.int()?),
                5 => Attribute::Bool(fields.int()? != 0),
                6 => {
                    let code = fields.dtype()?;
                    Attribute::Type(self.element_type(code))
                }
                7 => Attribute::Shape(self.shape(fields)?),
                8 => Attribute::Tensor(Box::new(self.tensor(fields)?)),
                10 => Attribute::Function(self.function_name(fields)?),
                _ => Attribute::Other,
            };
        }
        Ok(value)
    }

    fn function_name(&mut self, fields: &mut impl Fields) -> Result<NameIdx, ImportError> {
        let mut name = NameIdx::EMPTY;
        fields.enter()?;
        while fields.next(&FUNCTION)?.is_some() {
            name = self.name(fields)?;
        }
        Ok(name)
    }

    fn short_text(&mut self, fields: &mut impl Fields) -> Result<Attribute, ImportError> {
        let at = fields.at();
        Ok(match fields.text(MAX_TEXT)? {
            Some(text) => Attribute::Text(self.intern(&text, at)?),
            None => Attribute::Other,
        })
    }

    fn list(&mut self, fields: &mut impl Fields) -> Result<Attribute, ImportError> {
        let mut items = Items {
            ints: List::new(MAX_ITEMS),
            codes: List::new(MAX_ITEMS),
            functions: List::new(MAX_ITEMS),
            shapes: List::new(MAX_ITEMS),
            has_others: false,
        };
        fields.enter()?;
        while let Some(number) = fields.next(&LIST)? {
            match number {
                3 => fields.ints(&mut items.ints)?,
                6 => fields.dtypes(&mut items.codes)?,
                7 => items.shapes.push(self.shape(fields)?),
                9 => items.functions.push(self.function_name(fields)?),
                _ => items.has_others = true,
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
        let numbers = self.ints.items.len() + self.shapes.items.len() * 2;
        (numbers * 8 + self.functions.items.len() * 4 + self.codes.items.len()) as u64
    }

    /// The value; a list that is too long, or of several kinds, is none that matters.
    fn attribute(self) -> Attribute {
        let is_full = self.ints.is_full || self.codes.is_full || self.functions.is_full || self.shapes.is_full;
        if is_full || self.has_others {
            return Attribute::Other;
        }
        let mut kinds: Vec<Attribute> = Vec::new();
        if !self.ints.items.is_empty() {
            kinds.push(Attribute::Ints(self.ints.items.into()));
        }
        if !self.codes.items.is_empty() {
            kinds.push(Attribute::Types(
                self.codes.items.iter().map(|code| types::from_code(*code)).collect(),
            ));
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
