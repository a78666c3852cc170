//! Protobuf messages as a stream of fields, whichever form the file has.
//!
//! In: a binary file ([`WireFields`]) or a text ([`TextFields`]). Out: for each message the numbers of its fields in the order of the
//! file, and their values on request. The parsers of this importer are written against [`Fields`] alone, so that both
//! forms of one graph give the same model. Invariants: after `next` answered a field, exactly one of the reading
//! functions is called; a body is read to its end before its parent goes on; nothing is allocated from a length that
//! was not checked.

use super::types;
use crate::ImportError;
use crate::shape::constant::floats;
use crate::text_proto::{Form, Scalar, TextProto, literal_int};
pub(super) use crate::wire::List;
use crate::wire::{Field, Layout, Span, Wire};

/// A message: how errors call it, and names and numbers of the fields that are read. All other fields are skipped.
#[derive(Debug)]
pub(super) struct Schema {
    /// The name in errors, such as `a node`.
    pub(super) what: &'static str,
    pub(super) fields: &'static [(&'static str, u64)],
}

pub(super) trait Fields {
    type Body: Copy;

    fn file(&self) -> Self::Body;

    /// The number of the next field of a message that its schema names, or `None` at the message's end.
    fn next(&mut self, body: Self::Body, schema: &'static Schema) -> Result<Option<u64>, ImportError>;

    /// The field as a message; its fields come next.
    fn body(&mut self) -> Result<Self::Body, ImportError>;

    /// The field as an integer or a truth value.
    fn int(&mut self) -> Result<i64, ImportError>;

    /// The field as the code of an element type.
    fn dtype(&mut self) -> Result<i64, ImportError>;

    /// The field as a float of 4 bytes.
    fn float(&mut self) -> Result<f32, ImportError>;

    /// The field as a text of at most `limit` bytes; `None` where it is longer.
    fn text(&mut self, limit: u64) -> Result<Option<String>, ImportError>;

    /// The field as bytes, at most `limit`; `None` where there are more.
    fn bytes(&mut self, limit: u64) -> Result<Option<Vec<u8>>, ImportError>;

    /// The integers of a repeated field, appended.
    fn ints(&mut self, list: &mut List<i64>) -> Result<(), ImportError>;

    /// The codes of element types of a repeated field, appended.
    fn dtypes(&mut self, list: &mut List<i64>) -> Result<(), ImportError>;

    /// The floats of a repeated field, each of `width` bytes in the binary form, appended.
    fn floats(&mut self, width: usize, list: &mut List<f64>) -> Result<(), ImportError>;

    fn skip(&mut self) -> Result<(), ImportError>;

    fn at(&self) -> u64;
}

pub(super) struct WireFields<'a> {
    wire: Wire<'a>,
    /// The field that `next` found, the message around it and its name.
    field: Field,
    message: Span,
    what: &'static str,
}

impl<'a> WireFields<'a> {
    pub(super) const fn new(wire: Wire<'a>) -> Self {
        Self {
            wire,
            field: Field {
                number: 0,
                layout: Layout::Varint,
                at: 0,
            },
            message: Span { start: 0, end: 0 },
            what: "the file",
        }
    }

    fn span(&mut self) -> Result<Span, ImportError> {
        self.wire.span(self.field, self.message, self.what)
    }

    fn copy(&mut self, span: Span) -> Result<Vec<u8>, ImportError> {
        let mut bytes = vec![0; usize::try_from(span.len()).unwrap_or(0)];
        self.wire.copy(span, &mut bytes, self.what)?;
        Ok(bytes)
    }
}

impl Fields for WireFields<'_> {
    type Body = Span;

    fn file(&self) -> Span {
        self.wire.file()
    }

    fn next(&mut self, body: Span, schema: &'static Schema) -> Result<Option<u64>, ImportError> {
        while let Some(field) = self.wire.field(body, schema.what)? {
            if schema.fields.iter().any(|(_, number)| *number == field.number) {
                (self.field, self.message, self.what) = (field, body, schema.what);
                return Ok(Some(field.number));
            }
            self.wire.skip(field, body, schema.what)?;
        }
        Ok(None)
    }

    fn body(&mut self) -> Result<Span, ImportError> {
        self.span()
    }

    fn int(&mut self) -> Result<i64, ImportError> {
        self.wire.int(self.field, self.message, self.what)
    }

    fn dtype(&mut self) -> Result<i64, ImportError> {
        self.int()
    }

    fn float(&mut self) -> Result<f32, ImportError> {
        self.wire.float(self.field, self.message, self.what)
    }

    fn text(&mut self, limit: u64) -> Result<Option<String>, ImportError> {
        let span = self.span()?;
        if span.len() > limit {
            self.wire.skip_span(span);
            return Ok(None);
        }
        self.wire.text(span, limit, self.what).map(Some)
    }

    fn bytes(&mut self, limit: u64) -> Result<Option<Vec<u8>>, ImportError> {
        let span = self.span()?;
        if span.len() > limit {
            self.wire.skip_span(span);
            return Ok(None);
        }
        self.copy(span).map(Some)
    }

    fn ints(&mut self, list: &mut List<i64>) -> Result<(), ImportError> {
        self.wire.ints(self.field, self.message, self.what, |value| {
            list.push(value);
            !list.is_full
        })
    }

    fn dtypes(&mut self, list: &mut List<i64>) -> Result<(), ImportError> {
        self.ints(list)
    }

    fn floats(&mut self, width: usize, list: &mut List<f64>) -> Result<(), ImportError> {
        let bytes = match self.field.layout {
            Layout::Bytes => {
                let span = self.span()?;
                if span.len() > (list.limit * width) as u64 {
                    list.is_full = true;
                    self.wire.skip_span(span);
                    return Ok(());
                }
                self.copy(span)?
            }
            Layout::Fixed32 if width == 4 => {
                list.push(f64::from(self.float()?));
                return Ok(());
            }
            // One number of 8 bytes: its header was read, the value follows.
            Layout::Fixed64 if width == 8 => {
                let start = self.wire.at();
                self.skip()?;
                let end = self.wire.at();
                self.copy(Span { start, end })?
            }
            _ => return self.skip(),
        };
        floats(&bytes, width).for_each(|value| list.push(value));
        Ok(())
    }

    fn skip(&mut self) -> Result<(), ImportError> {
        self.wire.skip(self.field, self.message, self.what)
    }

    fn at(&self) -> u64 {
        self.wire.at()
    }
}

/// The text form. Fields have names in it, and lists give one field for each item.
pub(super) struct TextFields<'a> {
    text: TextProto<'a>,
    form: Form,
}

impl<'a> TextFields<'a> {
    pub(super) const fn new(text: TextProto<'a>) -> Self {
        Self {
            text,
            form: Form::Scalar,
        }
    }

    fn wrong(&self, expected: &str) -> ImportError {
        ImportError::at(
            format!("field \"{}\" is not {expected}", self.text.name()),
            self.text.place().text(),
            "the text is damaged or of another format, export it again",
        )
    }
}

impl Fields for TextFields<'_> {
    type Body = ();

    fn file(&self) {}

    fn next(&mut self, (): (), schema: &'static Schema) -> Result<Option<u64>, ImportError> {
        while let Some(form) = self.text.field()? {
            let name = self.text.name();
            if let Some((_, number)) = schema.fields.iter().find(|field| field.0 == name) {
                self.form = form;
                return Ok(Some(*number));
            }
        }
        Ok(None)
    }

    fn body(&mut self) -> Result<(), ImportError> {
        if self.form != Form::Message {
            return Err(self.wrong("a message"));
        }
        self.text.enter()
    }

    fn int(&mut self) -> Result<i64, ImportError> {
        let number = match self.text.scalar(0)? {
            Scalar::Word("true" | "True" | "t") => Some(1),
            Scalar::Word("false" | "False" | "f") => Some(0),
            Scalar::Word(word) => literal_int(word),
            Scalar::Text(..) => None,
        };
        number.ok_or_else(|| self.wrong("a whole number or a truth value"))
    }

    fn dtype(&mut self) -> Result<i64, ImportError> {
        match self.text.scalar(0)? {
            // Types of later versions have names that are not known here.
            Scalar::Word(word) => Ok(types::code_of(word)
                .or_else(|| literal_int(word))
                .unwrap_or(types::UNNAMED)),
            Scalar::Text(..) => Err(self.wrong("an element type")),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the field has 4 bytes in the binary form"
    )]
    fn float(&mut self) -> Result<f32, ImportError> {
        Ok(self.text.float()? as f32)
    }

    fn text(&mut self, limit: u64) -> Result<Option<String>, ImportError> {
        Ok(self.bytes(limit)?.map(|bytes| match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }))
    }

    fn bytes(&mut self, limit: u64) -> Result<Option<Vec<u8>>, ImportError> {
        match self.text.scalar(usize::try_from(limit).unwrap_or(usize::MAX))? {
            Scalar::Text(bytes, length) => Ok((length <= limit).then(|| bytes.to_vec())),
            Scalar::Word(_) => Err(self.wrong("a string")),
        }
    }

    fn ints(&mut self, list: &mut List<i64>) -> Result<(), ImportError> {
        list.push(self.int()?);
        Ok(())
    }

    fn dtypes(&mut self, list: &mut List<i64>) -> Result<(), ImportError> {
        list.push(self.dtype()?);
        Ok(())
    }

    fn floats(&mut self, width: usize, list: &mut List<f64>) -> Result<(), ImportError> {
        let value = if width == 4 {
            f64::from(self.float()?)
        } else {
            self.text.float()?
        };
        list.push(value);
        Ok(())
    }

    fn skip(&mut self) -> Result<(), ImportError> {
        self.text.skip()
    }

    fn at(&self) -> u64 {
        self.text.place().byte
    }
}
