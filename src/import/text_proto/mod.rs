//! Text protobuf: fields of messages, pulled one by one, with line and byte.
//!
//! ```text
//! field    name ':' scalar | name [':'] message | name ':' '[' scalar or message, ... ']', then perhaps ',' or ';'
//! name     letters, digits, '_'; a number of an unknown field; [a.b.c] for an extension; [host/a.b.c] for an Any
//! message  { fields } or < fields >
//! scalar   strings "..." or '...' (adjacent ones are one), numbers (decimal, 0x, 0 octal, with e, f, inf, nan), words
//! escapes  \n \r \t \a \b \f \v \\ \' \" \? \123 \xff \u1234 \U00012345
//! comment  # to the end of the line
//! ```
//! Source: the specification of the text format at protobuf.dev. An own reader, because the kept crates read a whole text
//! with its schema, and dumps of compilers hold kernels of many megabytes in one line.
//!
//! In: a reader. Out: [`TextProto::field`] returns name and form of the next field; its value is read
//! ([`TextProto::scalar`], [`TextProto::text`], [`TextProto::int`]), entered ([`TextProto::enter`]) or, when the caller does not ask for
//! it, skipped without being kept. A list gives one field for each of its items. Invariants: memory is a piece of 64 KiB and
//! what the caller's limit allows; messages and lists are at most [`MAX_DEPTH`] deep; nothing recurses.

mod literal;
mod source;
#[cfg(test)]
mod tests;
mod values;

use self::source::TextSource;
use super::{ImportError, ReadSeek};
use highwater_model::progress::Progress;

pub(super) use self::literal::int as literal_int;
pub(super) use self::source::Place;

pub(super) const MAX_DEPTH: usize = 200;

const MAX_WORD: usize = 4096;

const DAMAGED: &str = "the text is damaged or of another format, export it again";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A string, number or word, to be read or skipped.
    Scalar,
    /// A message, to be entered or skipped.
    Message,
}

/// A scalar as it was read. Borrowed from the reader until its next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar<'a> {
    /// A string without quotes and escapes: its first bytes, up to the limit, and its whole length.
    Text(&'a [u8], u64),
    /// A number or word as written, a sign included.
    Word(&'a str),
}

#[derive(Debug)]
enum Open {
    /// A message, with the byte that closes it and its place.
    Message(u8, Place),
    /// A list of the values of one field.
    List(String),
}

pub(super) struct TextProto<'a> {
    source: TextSource<'a>,
    open: Vec<Open>,
    /// The value that the next call has to read or skip.
    pending: Option<Form>,
    /// Whether a list was just opened, so that no comma precedes its first item.
    is_first: bool,
    name: String,
    place: Place,
    /// The kept part of the last string or word.
    bytes: Vec<u8>,
}

impl<'a> TextProto<'a> {
    /// The reader is at the start of a file of `len` bytes.
    pub(super) fn new(reader: &'a mut dyn ReadSeek, len: u64, progress: Progress<'a>) -> Self {
        let source = TextSource::new(reader, len, progress);
        Self {
            place: source.place(),
            source,
            open: Vec::new(),
            pending: None,
            is_first: false,
            name: String::new(),
            bytes: Vec::new(),
        }
    }

    /// The name of the field that [`Self::field`] found last.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn place(&self) -> Place {
        self.place
    }

    /// The next field of the message that was entered last (of the file where none was), or `None` at its end, which
    /// leaves the message. A value that was not read is skipped.
    ///
    /// # Errors
    /// [`ImportError`] with line and byte where the text breaks the rules or ends too early.
    pub(super) fn field(&mut self) -> Result<Option<Form>, ImportError> {
        self.skip()?;
        self.source.blank()?;
        if let Some(Open::List(_)) = self.open.last()
            && let Some(form) = self.item()?
        {
            return Ok(Some(form));
        }
        loop {
            self.source.blank()?;
            match self.source.peek()? {
                Some(b',' | b';') => self.source.advance(1, 0),
                Some(byte @ (b'}' | b'>')) => return self.leave(byte),
                None => return self.end_of_file(),
                Some(_) => {}
            }
            self.source.blank()?;
            if matches!(self.source.peek()?, None | Some(b'}' | b'>' | b',' | b';')) {
                continue;
            }
            self.place = self.source.place();
            self.read_name()?;
            if let Some(form) = self.value_starts()? {
                self.pending = Some(form);
                return Ok(Some(form));
            }
        }
    }

    /// Goes into the message that [`Self::field`] found.
    ///
    /// # Errors
    /// [`ImportError`] where messages are too deep, or the field is none.
    pub(super) fn enter(&mut self) -> Result<(), ImportError> {
        if self.pending.take() != Some(Form::Message) {
            return Err(self.wrong("a message"));
        }
        let place = self.source.place();
        let closer = closer_of(self.source.take("a message")?);
        self.push(Open::Message(closer, place))
    }

    /// Moves behind the value that [`Self::field`] found, where it was neither read nor entered.
    pub(super) fn skip(&mut self) -> Result<(), ImportError> {
        match self.pending {
            None => Ok(()),
            Some(Form::Message) => self.skip_message(),
            Some(Form::Scalar) => {
                self.scalar(0)?;
                Ok(())
            }
        }
    }

    /// Reads the scalar that [`Self::field`] found; keeps at most `limit` bytes of a string.
    ///
    /// # Errors
    /// As [`Self::field`]; also where the field is a message.
    pub(super) fn scalar(&mut self, limit: usize) -> Result<Scalar<'_>, ImportError> {
        if self.pending.take() != Some(Form::Scalar) {
            return Err(self.wrong("a string, number or word"));
        }
        self.bytes.clear();
        if matches!(self.source.peek()?, Some(b'"' | b'\'')) {
            let length = literal::strings(&mut self.source, &mut self.bytes, limit)?;
            return Ok(Scalar::Text(&self.bytes, length));
        }
        literal::word(&mut self.source, &mut self.bytes, MAX_WORD)?;
        Ok(Scalar::Word(std::str::from_utf8(&self.bytes).unwrap_or("")))
    }

    fn unexpected(&mut self, expected: &str) -> Result<ImportError, ImportError> {
        let place = self.source.place();
        Ok(match self.source.peek()? {
            None => self.source.ends_in(format!("field \"{}\"", self.name)),
            Some(byte) => ImportError::at(
                format!("'{}' found where {expected} is expected", byte.escape_ascii()),
                place.text(),
                DAMAGED,
            ),
        })
    }

    fn end_of_file(&self) -> Result<Option<Form>, ImportError> {
        match self.open.last() {
            None => Ok(None),
            Some(Open::List(name)) => Err(self.source.ends_in(format!("the list \"{name}\""))),
            Some(Open::Message(_, place)) => Err(self
                .source
                .ends_in(format!("the message that starts in line {}", place.line))),
        }
    }

    fn push(&mut self, open: Open) -> Result<(), ImportError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(ImportError::at(
                format!("messages and lists are more than {MAX_DEPTH} deep"),
                self.source.place().text(),
                DAMAGED,
            ));
        }
        self.open.push(open);
        Ok(())
    }

    /// Leaves the message that `byte` closes.
    fn leave(&mut self, byte: u8) -> Result<Option<Form>, ImportError> {
        match self.open.last() {
            Some(Open::Message(closer, _)) if *closer == byte => {
                self.source.advance(1, 0);
                self.open.pop();
                Ok(None)
            }
            _ => Err(self.unexpected("a field")?),
        }
    }

    /// The next item of the list that is open, or `None` behind its end.
    fn item(&mut self) -> Result<Option<Form>, ImportError> {
        let next = self.source.peek()?;
        if next == Some(b']') {
            self.source.advance(1, 0);
            self.open.pop();
            return Ok(None);
        }
        if !std::mem::take(&mut self.is_first) {
            if next != Some(b',') {
                return Err(self.unexpected("',' or ']'")?);
            }
            self.source.advance(1, 0);
            self.source.blank()?;
        }
        if let Some(Open::List(name)) = self.open.last() {
            self.name.clone_from(name);
        }
        self.place = self.source.place();
        let form = match self.source.peek()? {
            Some(b'{' | b'<') => Form::Message,
            Some(byte) if literal::starts_scalar(byte) => Form::Scalar,
            _ => return Err(self.unexpected("a value")?),
        };
        self.pending = Some(form);
        Ok(Some(form))
    }

    /// Reads a name, up to the value's first byte or the colon.
    fn read_name(&mut self) -> Result<(), ImportError> {
        self.bytes.clear();
        match self.source.peek()? {
            Some(b'[') => literal::extension(&mut self.source, &mut self.bytes, MAX_WORD)?,
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => {
                literal::name(&mut self.source, &mut self.bytes, MAX_WORD)?;
            }
            _ => return Err(self.unexpected("a field")?),
        }
        self.name.clear();
        self.name.push_str(std::str::from_utf8(&self.bytes).unwrap_or(""));
        Ok(())
    }

    /// The form of the value behind a name; `None` for an empty list.
    fn value_starts(&mut self) -> Result<Option<Form>, ImportError> {
        self.source.blank()?;
        let has_colon = self.source.peek()? == Some(b':');
        if has_colon {
            self.source.advance(1, 0);
            self.source.blank()?;
        }
        match self.source.peek()? {
            Some(b'{' | b'<') => Ok(Some(Form::Message)),
            Some(b'[') => {
                self.source.advance(1, 0);
                self.source.blank()?;
                self.push(Open::List(self.name.clone()))?;
                self.is_first = true;
                self.item()
            }
            Some(byte) if has_colon && literal::starts_scalar(byte) => Ok(Some(Form::Scalar)),
            _ if has_colon => Err(self.unexpected("a value")?),
            _ => Err(self.unexpected("':' or a message")?),
        }
    }

    /// Moves behind the message that starts here, looking at nothing but strings, comments and brackets.
    fn skip_message(&mut self) -> Result<(), ImportError> {
        self.pending = None;
        let base = self.open.len();
        loop {
            let run = self.source.run()?;
            let mut lines = 0;
            let mut count = 0;
            let mut stop = None;
            for byte in run {
                match byte {
                    b'\n' => lines += 1,
                    b'"' | b'\'' | b'#' | b'{' | b'<' | b'}' | b'>' => {
                        stop = Some(*byte);
                        break;
                    }
                    _ => {}
                }
                count += 1;
            }
            if count == 0 && stop.is_none() {
                self.end_of_file()?;
                return Ok(());
            }
            self.source.advance(count, lines);
            match stop {
                Some(b'"' | b'\'') => literal::skip_string(&mut self.source)?,
                Some(b'#') => self.source.comment()?,
                Some(byte @ (b'{' | b'<')) => {
                    let place = self.source.place();
                    self.source.advance(1, 0);
                    self.push(Open::Message(closer_of(byte), place))?;
                }
                Some(byte) => {
                    self.leave(byte)?;
                    if self.open.len() == base {
                        return Ok(());
                    }
                }
                None => {}
            }
        }
    }
}

/// The byte that closes what this one opens.
const fn closer_of(opener: u8) -> u8 {
    if opener == b'{' { b'}' } else { b'>' }
}
