//! Protobuf messages as a stream of fields, whichever form the file has.
//!
//! In: a binary file ([`Wire`]) or a text ([`TextProto`]). Out: for each message the numbers of its fields in the order of
//! the file, and their values on request. The parsers of this importer are written against [`Fields`] alone, so that both
//! forms of one graph give the same model. Invariants: a message that was entered is read to its end; nothing is
//! allocated from a length that was not checked.

use super::types;
use crate::ImportError;
use crate::text_proto::{Scalar, TextProto, literal_int};
pub(super) use crate::wire::List;
use crate::wire::Wire;

/// A message: how errors call it, and names and numbers of the fields that are read. All other fields are skipped.
#[derive(Debug)]
pub(super) struct Schema {
    /// The name in errors, such as `a node`.
    pub(super) what: &'static str,
    pub(super) fields: &'static [(&'static str, u64)],
}

pub(super) trait Fields {
    /// The number of the next field that the schema names, of the message that was entered last (of the file where none
    /// was), or `None` at its end, which leaves the message. A value that was not read is skipped.
    fn next(&mut self, schema: &'static Schema) -> Result<Option<u64>, ImportError>;

    /// Goes into the field as a message.
    fn enter(&mut self) -> Result<(), ImportError>;

    /// The field as an integer or a truth value.
    fn int(&mut self) -> Result<i64, ImportError>;

    /// The field as the code of an element type.
    fn dtype(&mut self) -> Result<i64, ImportError>;

    /// The field as bytes, at most `limit`; `None` where there are more.
    fn bytes(&mut self, limit: u64) -> Result<Option<Vec<u8>>, ImportError>;

    /// The field as a text of at most `limit` bytes; `None` where it is longer.
    fn text(&mut self, limit: u64) -> Result<Option<String>, ImportError> {
        let bytes = self.bytes(limit)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The integers of a repeated field, appended.
    fn ints(&mut self, list: &mut List<i64>) -> Result<(), ImportError>;

    /// The codes of element types of a repeated field, appended.
    fn dtypes(&mut self, list: &mut List<i64>) -> Result<(), ImportError>;

    /// The floats of a repeated field, each of `width` bytes in the binary form, appended.
    fn floats(&mut self, width: usize, list: &mut List<f64>) -> Result<(), ImportError>;

    fn at(&self) -> u64;
}

impl Fields for Wire<'_> {
    fn next(&mut self, schema: &'static Schema) -> Result<Option<u64>, ImportError> {
        while let Some(number) = Wire::next(self, schema.what)? {
            if schema.fields.iter().any(|field| field.1 == number) {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    fn enter(&mut self) -> Result<(), ImportError> {
        Wire::enter(self).map(drop)
    }

    fn int(&mut self) -> Result<i64, ImportError> {
        Wire::int(self)
    }

    fn dtype(&mut self) -> Result<i64, ImportError> {
        Wire::int(self)
    }

    fn bytes(&mut self, limit: u64) -> Result<Option<Vec<u8>>, ImportError> {
        Wire::bytes(self, limit)
    }

    fn ints(&mut self, list: &mut List<i64>) -> Result<(), ImportError> {
        Wire::ints(self, list)
    }

    fn dtypes(&mut self, list: &mut List<i64>) -> Result<(), ImportError> {
        Wire::ints(self, list)
    }

    fn floats(&mut self, width: usize, list: &mut List<f64>) -> Result<(), ImportError> {
        Wire::floats(self, width, list)
    }

    fn at(&self) -> u64 {
        Wire::at(self)
    }
}

/// The text form. Fields have names in it, and lists give one field for each item.
impl Fields for TextProto<'_> {
    fn next(&mut self, schema: &'static Schema) -> Result<Option<u64>, ImportError> {
        while self.field()?.is_some() {
            let name = self.name();
            if let Some((_, number)) = schema.fields.iter().find(|field| field.0 == name) {
                return Ok(Some(*number));
            }
        }
        Ok(None)
    }

    fn enter(&mut self) -> Result<(), ImportError> {
        TextProto::enter(self)
    }

    fn int(&mut self) -> Result<i64, ImportError> {
        let number = match self.scalar(0)? {
            Scalar::Word("true" | "True" | "t") => Some(1),
            Scalar::Word("false" | "False" | "f") => Some(0),
            Scalar::Word(word) => literal_int(word),
            Scalar::Text(..) => None,
        };
        number.ok_or_else(|| self.wrong("a whole number or a truth value"))
    }

    fn dtype(&mut self) -> Result<i64, ImportError> {
        match self.scalar(0)? {
            // Types of later versions have names that are not known here.
            Scalar::Word(word) => Ok(types::code_of(word)
                .or_else(|| literal_int(word))
                .unwrap_or(types::UNNAMED)),
            Scalar::Text(..) => Err(self.wrong("an element type")),
        }
    }

    fn bytes(&mut self, limit: u64) -> Result<Option<Vec<u8>>, ImportError> {
        match self.scalar(usize::try_from(limit).unwrap_or(usize::MAX))? {
            Scalar::Text(bytes, length) => Ok((length <= limit).then(|| bytes.to_vec())),
            Scalar::Word(_) => Err(self.wrong("a string")),
        }
    }

    fn ints(&mut self, list: &mut List<i64>) -> Result<(), ImportError> {
        list.push(Fields::int(self)?);
        Ok(())
    }

    fn dtypes(&mut self, list: &mut List<i64>) -> Result<(), ImportError> {
        list.push(self.dtype()?);
        Ok(())
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "fields of 4 bytes are as exact as in the binary form"
    )]
    fn floats(&mut self, width: usize, list: &mut List<f64>) -> Result<(), ImportError> {
        let value = self.float()?;
        list.push(if width == 4 { f64::from(value as f32) } else { value });
        Ok(())
    }

    fn at(&self) -> u64 {
        self.place().byte
    }
}
