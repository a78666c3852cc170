//! The protobuf wire format, read as a stream.
//!
//! In: any `Read + Seek`. Out: field numbers, integers, short texts, and byte positions for errors. Large fields
//! are skipped by seeking, so that a model of many gigabytes of weights costs a few reads. Own code because the
//! generated readers (prost) load whole messages, weights included, and name no byte position in their errors.
//! Invariants: nothing is allocated from a length that was not checked against the file and a limit; the cancel
//! flag is read at every refill. Deliberately not here: the meaning of fields.

use std::io::{Read, SeekFrom};

use crate::{ImportError, ReadSeek};
use highwater_model::progress::Progress;

/// Bytes per refill. Small, because most refills follow a skip and only a tensor's header is wanted.
const BUFFER_BYTES: usize = 16 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Varint,
    /// 8 bytes, little endian.
    Fixed64,
    /// A length and as many bytes.
    Bytes,
    /// 4 bytes, little endian.
    Fixed32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) number: u64,
    pub(super) layout: Layout,
    pub(super) at: u64,
}

/// A field that holds bytes: a message, a text or packed numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    /// The byte behind the last.
    pub(super) end: u64,
}

impl Span {
    pub(super) const fn len(self) -> u64 {
        self.end - self.start
    }
}

/// Items up to a limit.
#[derive(Debug)]
pub(super) struct List<T> {
    pub(super) items: Vec<T>,
    pub(super) limit: usize,
    /// Whether items beyond the limit were dropped.
    pub(super) is_full: bool,
}

impl<T> List<T> {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            items: Vec::new(),
            limit,
            is_full: false,
        }
    }

    /// Appends an item where there is room.
    pub(super) fn push(&mut self, item: T) {
        if self.items.len() < self.limit {
            self.items.push(item);
        } else {
            self.is_full = true;
        }
    }
}

pub(super) struct Wire<'a> {
    reader: &'a mut dyn ReadSeek,
    progress: Progress<'a>,
    len: u64,
    at: u64,
    buffer: Vec<u8>,
    /// The position of the buffer in the file.
    buffer_at: u64,
}

impl<'a> Wire<'a> {
    pub(super) fn new(reader: &'a mut dyn ReadSeek, len: u64, progress: Progress<'a>) -> Self {
        Self {
            reader,
            progress,
            len,
            at: 0,
            buffer: Vec::new(),
            buffer_at: 0,
        }
    }

    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    pub(super) const fn file(&self) -> Span {
        Span {
            start: 0,
            end: self.len,
        }
    }

    /// The next field of a message, or `None` at its end.
    pub(super) fn field(&mut self, message: Span, what: &'static str) -> Result<Option<Field>, ImportError> {
        if self.at >= message.end {
            return Ok(None);
        }
        let at = self.at;
        let tag = self.varint(message, what)?;
        let layout = match tag & 7 {
            0 => Layout::Varint,
            1 => Layout::Fixed64,
            2 => Layout::Bytes,
            5 => Layout::Fixed32,
            other => {
                return Err(ImportError::at_byte(
                    format!("{what} has a field of unknown layout {other}"),
                    at,
                ));
            }
        };
        let number = tag >> 3;
        if number == 0 || number > 536_870_911 {
            return Err(ImportError::at_byte(
                format!("{what} has an impossible field number {number}"),
                at,
            ));
        }
        Ok(Some(Field { number, layout, at }))
    }

    pub(super) fn varint(&mut self, message: Span, what: &'static str) -> Result<u64, ImportError> {
        let start = self.at;
        // Most numbers are one buffered byte.
        if let Some(byte) = self.buffered().filter(|byte| byte & 0x80 == 0 && start < message.end) {
            self.at += 1;
            return Ok(u64::from(byte));
        }
        let mut value = 0_u64;
        for shift in (0..70).step_by(7) {
            if self.at >= message.end {
                return Err(self.ends_early(message, what));
            }
            let byte = self.byte(what)?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte holds one bit; what is above it is dropped, as every protobuf reader does.
            value |= bits.checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ImportError::at_byte(
            format!("{what} has a number of more than 10 bytes"),
            start,
        ))
    }

    pub(super) fn int(&mut self, field: Field, message: Span, what: &'static str) -> Result<i64, ImportError> {
        if field.layout != Layout::Varint {
            return Err(wrong_layout(field, what));
        }
        Ok(self.varint(message, what)?.cast_signed())
    }

    /// Passes the numbers of a repeated field, packed or not, to `push` until that returns `false`; the rest is skipped.
    pub(super) fn ints(
        &mut self,
        field: Field,
        message: Span,
        what: &'static str,
        mut push: impl FnMut(i64) -> bool,
    ) -> Result<(), ImportError> {
        if field.layout != Layout::Bytes {
            push(self.int(field, message, what)?);
            return Ok(());
        }
        let span = self.span(field, message, what)?;
        while self.at < span.end {
            if !push(self.varint(span, what)?.cast_signed()) {
                self.skip_span(span);
            }
        }
        Ok(())
    }

    /// A 4 byte field's value as a float.
    pub(super) fn float(&mut self, field: Field, message: Span, what: &'static str) -> Result<f32, ImportError> {
        if field.layout != Layout::Fixed32 {
            return Err(wrong_layout(field, what));
        }
        let span = self.fixed(4, message, what)?;
        let mut bytes = [0; 4];
        self.copy(span, &mut bytes, what)?;
        Ok(f32::from_le_bytes(bytes))
    }

    /// The extent of a length-delimited field; the position is its first byte.
    pub(super) fn span(&mut self, field: Field, message: Span, what: &'static str) -> Result<Span, ImportError> {
        if field.layout != Layout::Bytes {
            return Err(wrong_layout(field, what));
        }
        let len = self.varint(message, what)?;
        self.fixed(len, message, what)
    }

    /// A text of at most `limit` bytes; invalid UTF-8 is replaced.
    pub(super) fn text(&mut self, span: Span, limit: u64, what: &'static str) -> Result<String, ImportError> {
        if span.len() > limit {
            return Err(ImportError::at_byte(
                format!(
                    "{what} is {} bytes long, more than the {limit} that are read",
                    span.len()
                ),
                span.start,
            ));
        }
        let mut bytes = vec![0; usize::try_from(span.len()).unwrap_or(0)];
        self.copy(span, &mut bytes, what)?;
        Ok(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }

    /// Fills `target` from the start of a span and moves behind the span.
    pub(super) fn copy(&mut self, span: Span, target: &mut [u8], what: &'static str) -> Result<(), ImportError> {
        self.at = span.start;
        let mut filled = 0;
        while filled < target.len() {
            let piece = self.available(what)?;
            let count = piece.len().min(target.len() - filled);
            target[filled..filled + count].copy_from_slice(&piece[..count]);
            filled += count;
            self.at += count as u64;
        }
        self.at = span.end;
        Ok(())
    }

    pub(super) const fn skip_span(&mut self, span: Span) {
        self.at = span.end;
    }

    pub(super) fn skip(&mut self, field: Field, message: Span, what: &'static str) -> Result<(), ImportError> {
        let span = match field.layout {
            Layout::Varint => {
                self.varint(message, what)?;
                return Ok(());
            }
            Layout::Fixed64 => self.fixed(8, message, what)?,
            Layout::Fixed32 => self.fixed(4, message, what)?,
            Layout::Bytes => self.span(field, message, what)?,
        };
        self.skip_span(span);
        Ok(())
    }

    fn fixed(&self, len: u64, message: Span, what: &'static str) -> Result<Span, ImportError> {
        let start = self.at;
        match start.checked_add(len) {
            Some(end) if end <= message.end => Ok(Span { start, end }),
            Some(end) if end > self.len && message.end == self.len => Err(self.truncated(what)),
            _ => Err(ImportError::at_byte(
                format!("{what} has a field of {len} bytes that reaches behind its end"),
                start,
            )),
        }
    }

    fn ends_early(&self, message: Span, what: &'static str) -> ImportError {
        if message.end >= self.len {
            self.truncated(what)
        } else {
            ImportError::at_byte(format!("{what} ends in the middle of a number"), message.end)
        }
    }

    fn truncated(&self, what: &'static str) -> ImportError {
        ImportError::Truncated {
            at: self.len,
            what: what.to_owned(),
        }
    }

    fn byte(&mut self, what: &'static str) -> Result<u8, ImportError> {
        let byte = self.available(what)?[0];
        self.at += 1;
        Ok(byte)
    }

    /// The next byte, if it is buffered.
    #[inline]
    fn buffered(&self) -> Option<u8> {
        let offset = self.at.checked_sub(self.buffer_at)?;
        self.buffer.get(usize::try_from(offset).ok()?).copied()
    }

    /// At least one buffered byte at the position.
    fn available(&mut self, what: &'static str) -> Result<&[u8], ImportError> {
        let buffer_end = self.buffer_at + self.buffer.len() as u64;
        if self.at < self.buffer_at || self.at >= buffer_end {
            self.refill(what)?;
        }
        let offset = usize::try_from(self.at - self.buffer_at).unwrap_or(usize::MAX);
        self.buffer.get(offset..).ok_or_else(|| ImportError::Truncated {
            at: self.len,
            what: what.to_owned(),
        })
    }

    fn refill(&mut self, what: &'static str) -> Result<(), ImportError> {
        self.progress.set("reading", self.at, self.len)?;
        // A seek discards the buffer of a buffered reader, so none is made where the position is right.
        if self.at != self.buffer_at + self.buffer.len() as u64 || self.buffer.is_empty() {
            self.reader.seek(SeekFrom::Start(self.at))?;
        }
        self.buffer.clear();
        self.buffer_at = self.at;
        let mut piece = Read::take(&mut *self.reader, BUFFER_BYTES as u64);
        piece.read_to_end(&mut self.buffer)?;
        if self.buffer.is_empty() {
            return Err(self.truncated(what));
        }
        Ok(())
    }
}

fn wrong_layout(field: Field, what: &'static str) -> ImportError {
    ImportError::at_byte(
        format!(
            "field {} of {what} has layout {:?}, which it cannot have",
            field.number, field.layout
        ),
        field.at,
    )
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use highwater_model::progress::Cancel;

    fn with_wire<T>(bytes: &[u8], run: impl FnOnce(&mut Wire<'_>) -> T) -> T {
        let cancel = Cancel::new();
        let mut reader = Cursor::new(bytes.to_vec());
        let mut wire = Wire::new(&mut reader, bytes.len() as u64, Progress::silent(&cancel));
        run(&mut wire)
    }

    #[test]
    fn fields_are_read_and_skipped_with_positions() {
        with_wire(
            &[0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 0, 0, 0x80, 0x3f],
            |wire| {
                let file = wire.file();
                let first = wire.field(file, "a test").expect("readable").expect("there");
                assert_eq!((first.number, first.layout, first.at), (1, Layout::Varint, 0));
                assert_eq!(wire.int(first, file, "a test").expect("a number"), 150);
                let second = wire.field(file, "a test").expect("readable").expect("there");
                let span = wire.span(second, file, "a test").expect("a span");
                assert_eq!((span.start, span.len()), (5, 2));
                assert_eq!(wire.text(span, 10, "a test").expect("a text"), "hi");
                let third = wire.field(file, "a test").expect("readable").expect("there");
                assert_eq!(
                    wire.float(third, file, "a test").expect("a float").to_bits(),
                    1.0_f32.to_bits()
                );
                assert!(wire.field(file, "a test").expect("readable").is_none());
            },
        );
    }

    #[test]
    fn lengths_behind_the_end_are_errors_with_a_place() {
        for bytes in [
            &[0x0a, 5, 1][..],
            &[0x0a][..],
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        ] {
            with_wire(bytes, |wire| {
                let file = wire.file();
                let field = wire.field(file, "a test").expect("readable").expect("there");
                let error = wire.span(field, file, "a test").expect_err("too long").to_string();
                assert!(error.contains("byte"), "{error}");
            });
        }
    }

    #[test]
    fn groups_and_field_zero_are_refused() {
        for bytes in [[0x0b], [0x02], [0x07]] {
            with_wire(&bytes, |wire| {
                let file = wire.file();
                assert!(wire.field(file, "a test").is_err());
            });
        }
    }
}
