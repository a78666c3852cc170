//! The protobuf wire format, read as a stream.
//!
//! In: any `Read + Seek`. Out: [`Wire::next`] returns the number of the next field; its value is read, entered
//! ([`Wire::enter`]) or, when the caller does not ask for it, skipped. Large fields are skipped by seeking, so that a
//! model of many gigabytes of weights costs a few reads. Own code because the generated readers (prost) load whole
//! messages, weights included, and name no byte position in their errors. Invariants: nothing is allocated from a
//! length that was not checked against the file and a limit; the cancel flag is read at every refill. Deliberately not
//! here: the meaning of fields.

use std::io::{Read, SeekFrom};

use crate::shape::constant::floats;
use crate::{ImportError, ReadSeek};
use highwater_model::progress::Progress;

/// Bytes per refill. Small, because most refills follow a skip and only a tensor's header is wanted.
const BUFFER_BYTES: usize = 16 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Varint,
    /// 8 bytes, little endian.
    Fixed64,
    /// A length and as many bytes.
    Bytes,
    /// 4 bytes, little endian.
    Fixed32,
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
    pub(super) const UNLIMITED: Self = Self::new(usize::MAX);

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
    /// The byte behind the message that was entered last.
    end: u64,
    /// The ends of the messages around it, the innermost last.
    outer: Vec<u64>,
    /// The message of the field that was found last, for errors.
    what: &'static str,
    number: u64,
    layout: Layout,
    field_at: u64,
    /// Whether the field's value has to be read or skipped.
    is_pending: bool,
}

impl<'a> Wire<'a> {
    /// The reader holds a file of `len` bytes.
    pub(super) fn new(reader: &'a mut dyn ReadSeek, len: u64, progress: Progress<'a>) -> Self {
        Self {
            reader,
            progress,
            len,
            at: 0,
            buffer: Vec::new(),
            buffer_at: 0,
            end: len,
            outer: Vec::new(),
            what: "the file",
            number: 0,
            layout: Layout::Varint,
            field_at: 0,
            is_pending: false,
        }
    }

    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// The length of the file.
    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// The first byte of the field that [`Self::next`] found.
    pub(super) const fn field_at(&self) -> u64 {
        self.field_at
    }

    /// The number of the next field of the message that was entered last (of the file where none was), or `None` at its
    /// end, which leaves the message. `what` is the message's name in errors. A value that was not read is skipped.
    pub(super) fn next(&mut self, what: &'static str) -> Result<Option<u64>, ImportError> {
        self.skip()?;
        self.what = what;
        if self.at >= self.end {
            self.end = self.outer.pop().unwrap_or(self.end);
            return Ok(None);
        }
        self.field_at = self.at;
        let tag = self.varint(self.end)?;
        self.layout = match tag & 7 {
            0 => Layout::Varint,
            1 => Layout::Fixed64,
            2 => Layout::Bytes,
            5 => Layout::Fixed32,
            other => {
                return Err(ImportError::at_byte(
                    format!("{what} has a field of unknown layout {other}"),
                    self.field_at,
                ));
            }
        };
        self.number = tag >> 3;
        if self.number == 0 || self.number > 536_870_911 {
            return Err(ImportError::at_byte(
                format!("{what} has an impossible field number {}", self.number),
                self.field_at,
            ));
        }
        self.is_pending = true;
        Ok(Some(self.number))
    }

    /// Goes into the field as a message.
    pub(super) fn enter(&mut self) -> Result<Span, ImportError> {
        let span = self.bytes_ahead()?;
        self.outer.push(std::mem::replace(&mut self.end, span.end));
        Ok(span)
    }

    /// Goes into a message anywhere in the file, once no other is open.
    pub(super) fn enter_at(&mut self, span: Span) {
        self.at = span.start;
        self.outer.push(std::mem::replace(&mut self.end, span.end));
    }

    /// The extent of a field of bytes, which is passed over.
    pub(super) fn span(&mut self) -> Result<Span, ImportError> {
        let span = self.bytes_ahead()?;
        self.at = span.end;
        Ok(span)
    }

    pub(super) fn int(&mut self) -> Result<i64, ImportError> {
        self.expect(Layout::Varint)?;
        Ok(self.varint(self.end)?.cast_signed())
    }

    /// The numbers of a repeated field, packed or not, appended; what is beyond the list's limit is skipped.
    pub(super) fn ints(&mut self, list: &mut List<i64>) -> Result<(), ImportError> {
        if self.layout != Layout::Bytes {
            list.push(self.int()?);
            return Ok(());
        }
        let span = self.bytes_ahead()?;
        while self.at < span.end && !list.is_full {
            list.push(self.varint(span.end)?.cast_signed());
        }
        self.at = span.end;
        Ok(())
    }

    /// A 4 byte field's value as a float.
    pub(super) fn float(&mut self) -> Result<f32, ImportError> {
        self.expect(Layout::Fixed32)?;
        let mut bytes = [0; 4];
        let span = self.ahead(4)?;
        self.copy(span, &mut bytes)?;
        Ok(f32::from_le_bytes(bytes))
    }

    /// The floats of a repeated field, packed or not, each of `width` bytes, appended; packed ones that are more than the
    /// list's limit are skipped.
    pub(super) fn floats(&mut self, width: usize, list: &mut List<f64>) -> Result<(), ImportError> {
        let span = match (self.layout, width) {
            (Layout::Bytes, _) => self.bytes_ahead()?,
            (Layout::Fixed32, 4) | (Layout::Fixed64, 8) => {
                self.is_pending = false;
                self.ahead(width as u64)?
            }
            _ => return Ok(()),
        };
        if span.len() > (list.limit * width) as u64 {
            list.is_full = true;
            self.at = span.end;
            return Ok(());
        }
        floats(&self.content(span)?, width).for_each(|value| list.push(value));
        Ok(())
    }

    /// The field as a text of at most `limit` bytes; invalid UTF-8 is replaced.
    pub(super) fn text(&mut self, limit: u64) -> Result<String, ImportError> {
        let span = self.bytes_ahead()?;
        if span.len() > limit {
            return Err(ImportError::at_byte(
                format!(
                    "{} is {} bytes long, more than the {limit} that are read",
                    self.what,
                    span.len()
                ),
                span.start,
            ));
        }
        Ok(String::from_utf8_lossy(&self.content(span)?).into_owned())
    }

    /// The field as bytes, at most `limit`; `None` where there are more, which are skipped.
    pub(super) fn bytes(&mut self, limit: u64) -> Result<Option<Vec<u8>>, ImportError> {
        let span = self.bytes_ahead()?;
        if span.len() > limit {
            self.at = span.end;
            return Ok(None);
        }
        self.content(span).map(Some)
    }

    /// Moves behind the value of the field, where it was neither read nor entered.
    fn skip(&mut self) -> Result<(), ImportError> {
        if !self.is_pending {
            return Ok(());
        }
        self.is_pending = false;
        match self.layout {
            Layout::Varint => {
                self.varint(self.end)?;
            }
            Layout::Fixed64 => self.at = self.ahead(8)?.end,
            Layout::Fixed32 => self.at = self.ahead(4)?.end,
            Layout::Bytes => self.at = self.bytes_ahead()?.end,
        }
        Ok(())
    }

    /// Takes the field's value, which must have a layout.
    fn expect(&mut self, layout: Layout) -> Result<(), ImportError> {
        if self.layout != layout {
            return Err(ImportError::at_byte(
                format!(
                    "field {} of {} has layout {:?}, which it cannot have",
                    self.number, self.what, self.layout
                ),
                self.field_at,
            ));
        }
        self.is_pending = false;
        Ok(())
    }

    /// The extent of a length-delimited field; the position is its first byte.
    fn bytes_ahead(&mut self) -> Result<Span, ImportError> {
        self.expect(Layout::Bytes)?;
        let len = self.varint(self.end)?;
        self.ahead(len)
    }

    /// The next `len` bytes of the message.
    fn ahead(&self, len: u64) -> Result<Span, ImportError> {
        let start = self.at;
        match start.checked_add(len) {
            Some(end) if end <= self.end => Ok(Span { start, end }),
            Some(end) if end > self.len && self.end == self.len => Err(self.truncated()),
            _ => Err(ImportError::at_byte(
                format!("{} has a field of {len} bytes that reaches behind its end", self.what),
                start,
            )),
        }
    }

    fn content(&mut self, span: Span) -> Result<Vec<u8>, ImportError> {
        let mut bytes = vec![0; usize::try_from(span.len()).unwrap_or(0)];
        self.copy(span, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills `target` from the start of a span and moves behind the span.
    fn copy(&mut self, span: Span, target: &mut [u8]) -> Result<(), ImportError> {
        let mut filled = 0;
        while filled < target.len() {
            let piece = self.available()?;
            let count = piece.len().min(target.len() - filled);
            target[filled..filled + count].copy_from_slice(&piece[..count]);
            filled += count;
            self.at += count as u64;
        }
        self.at = span.end;
        Ok(())
    }

    fn varint(&mut self, end: u64) -> Result<u64, ImportError> {
        let start = self.at;
        // Most numbers are one buffered byte.
        if let Some(byte) = self.buffered().filter(|byte| byte & 0x80 == 0 && start < end) {
            self.at += 1;
            return Ok(u64::from(byte));
        }
        let mut value = 0_u64;
        for shift in (0..70).step_by(7) {
            if self.at >= end {
                return Err(self.ends_early(end));
            }
            let byte = self.available()?[0];
            self.at += 1;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte holds one bit; what is above it is dropped, as every protobuf reader does.
            value |= bits.checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ImportError::at_byte(
            format!("{} has a number of more than 10 bytes", self.what),
            start,
        ))
    }

    fn ends_early(&self, end: u64) -> ImportError {
        if end >= self.len {
            self.truncated()
        } else {
            ImportError::at_byte(format!("{} ends in the middle of a number", self.what), end)
        }
    }

    fn truncated(&self) -> ImportError {
        ImportError::Truncated {
            at: self.len,
            what: self.what.to_owned(),
        }
    }

    /// The next byte, if it is buffered.
    #[inline]
    fn buffered(&self) -> Option<u8> {
        let offset = self.at.checked_sub(self.buffer_at)?;
        self.buffer.get(usize::try_from(offset).ok()?).copied()
    }

    /// At least one buffered byte at the position.
    fn available(&mut self) -> Result<&[u8], ImportError> {
        let buffer_end = self.buffer_at + self.buffer.len() as u64;
        if self.at < self.buffer_at || self.at >= buffer_end {
            self.refill()?;
        }
        let offset = usize::try_from(self.at - self.buffer_at).unwrap_or(usize::MAX);
        self.buffer.get(offset..).ok_or_else(|| ImportError::Truncated {
            at: self.len,
            what: self.what.to_owned(),
        })
    }

    fn refill(&mut self) -> Result<(), ImportError> {
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
            return Err(self.truncated());
        }
        Ok(())
    }
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
                assert_eq!(wire.next("a test").expect("readable"), Some(1));
                assert_eq!((wire.layout, wire.field_at()), (Layout::Varint, 0));
                assert_eq!(wire.int().expect("a number"), 150);
                assert_eq!(wire.next("a test").expect("readable"), Some(2));
                assert_eq!(wire.text(10).expect("a text"), "hi");
                assert_eq!((wire.field_at(), wire.at()), (3, 7));
                assert_eq!(wire.next("a test").expect("readable"), Some(3));
                assert_eq!(wire.float().expect("a float").to_bits(), 1.0_f32.to_bits());
                assert_eq!(wire.next("a test").expect("readable"), None);
            },
        );
    }

    #[test]
    fn messages_are_left_at_their_end_and_unread_values_skipped() {
        with_wire(&[0x0a, 4, 0x10, 7, 0x1a, 0, 0x20, 9], |wire| {
            assert_eq!(wire.next("a test").expect("readable"), Some(1));
            assert_eq!(wire.enter().expect("a message"), Span { start: 2, end: 6 });
            assert_eq!(wire.next("a part").expect("readable"), Some(2));
            assert_eq!(wire.next("a part").expect("readable"), Some(3));
            assert_eq!(wire.next("a part").expect("readable"), None);
            assert_eq!(wire.next("a test").expect("readable"), Some(4));
            assert_eq!(wire.int().expect("a number"), 9);
            assert_eq!(wire.next("a test").expect("readable"), None);
            wire.enter_at(Span { start: 2, end: 4 });
            assert_eq!(wire.next("a part").expect("readable"), Some(2));
            assert_eq!(wire.next("a part").expect("readable"), None);
        });
    }

    #[test]
    fn lengths_behind_the_end_are_errors_with_a_place() {
        for bytes in [
            &[0x0a, 5, 1][..],
            &[0x0a][..],
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        ] {
            with_wire(bytes, |wire| {
                wire.next("a test").expect("readable").expect("there");
                let error = wire.span().expect_err("too long").to_string();
                assert!(error.contains("byte"), "{error}");
            });
        }
    }

    #[test]
    fn groups_and_field_zero_are_refused() {
        for bytes in [[0x0b], [0x02], [0x07]] {
            with_wire(&bytes, |wire| assert!(wire.next("a test").is_err()));
        }
    }
}
