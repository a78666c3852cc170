//! The bytes of a snapshot as a moving window, so that a large file is never in memory as a whole.
//!
//! In: any `Read + Seek`, at its start. Out: bytes in order, with positions for errors. Invariants: nothing is allocated
//! from a length that was not checked against the rest of the file; the cancel flag is read at every refill.

use std::io::Read as _;

use crate::{ImportError, Input, ReadSeek};
use highwater_model::progress::Progress;
use highwater_model::units::counted;

/// Bytes of the window, except where one text is longer.
const WINDOW_BYTES: usize = 256 << 10;

const LINE_BYTES: usize = 1 << 20;

pub(super) struct Window<'a> {
    reader: &'a mut dyn ReadSeek,
    progress: Progress<'a>,
    buffer: Vec<u8>,
    /// The next byte in the buffer.
    at: usize,
    /// The file's byte at which the buffer begins.
    base: u64,
    len: u64,
    /// What the bytes are, for errors.
    content: &'static str,
}

impl<'a> Window<'a> {
    pub(super) fn new(
        input: &'a mut Input<'_>,
        progress: &Progress<'a>,
        content: &'static str,
    ) -> Result<Self, ImportError> {
        let len = input.len();
        Ok(Self {
            reader: input.reader()?,
            progress: *progress,
            buffer: Vec::with_capacity(WINDOW_BYTES),
            at: 0,
            base: 0,
            len,
            content,
        })
    }

    pub(super) fn position(&self) -> u64 {
        self.base + self.at as u64
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The buffered part of the next bytes, which may be empty.
    #[inline]
    pub(super) fn buffered(&self) -> &[u8] {
        self.buffer.get(self.at..).unwrap_or_default()
    }

    /// Skips buffered bytes.
    #[inline]
    pub(super) fn pass(&mut self, n: usize) {
        self.at = (self.at + n).min(self.buffer.len());
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, ImportError> {
        if self.at >= self.buffer.len() {
            self.refill(1)?;
        }
        let byte = self.buffer[self.at];
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    pub(super) fn take(&mut self, n: usize) -> Result<&[u8], ImportError> {
        if self.buffer.len() - self.at < n {
            self.refill(n)?;
        }
        let start = self.at;
        self.at += n;
        Ok(&self.buffer[start..self.at])
    }

    /// The next `N` bytes as a number's bytes.
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], ImportError> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N)?);
        Ok(bytes)
    }

    /// The next bytes, as many as a length in the file states.
    pub(super) fn take_stated(&mut self, n: u64) -> Result<&[u8], ImportError> {
        self.check(n)?;
        self.take(usize::try_from(n).unwrap_or(usize::MAX))
    }

    pub(super) fn skip(&mut self, n: u64) -> Result<(), ImportError> {
        self.check(n)?;
        let mut rest = n;
        while rest > 0 {
            let piece = rest.min(WINDOW_BYTES as u64);
            self.take_stated(piece)?;
            rest -= piece;
        }
        Ok(())
    }

    pub(super) fn line(&mut self) -> Result<Vec<u8>, ImportError> {
        let mut line = Vec::new();
        loop {
            match self.byte()? {
                b'\n' => return Ok(line),
                byte => line.push(byte),
            }
            if line.len() > LINE_BYTES {
                let what = format!("a line of the pickle is longer than {LINE_BYTES} bytes, the limit");
                return Err(ImportError::at_byte(what, self.position()));
            }
        }
    }

    fn check(&self, n: u64) -> Result<(), ImportError> {
        if n <= self.len.saturating_sub(self.position()) {
            return Ok(());
        }
        let bytes = counted(n, "byte");
        Err(ImportError::Truncated {
            at: self.len,
            what: match self.position() {
                at if at >= self.len => format!("{}, where {bytes} more should follow", self.content),
                at => format!("{bytes} that begin{} at byte {at}", if n == 1 { "s" } else { "" }),
            },
        })
    }

    /// Buffers at least `n` bytes.
    #[cold]
    pub(super) fn refill(&mut self, n: usize) -> Result<(), ImportError> {
        self.check(n as u64)?;
        self.progress.set("reading", self.position(), self.len)?;
        self.base += self.at as u64;
        self.buffer.drain(..self.at);
        self.at = 0;
        if n <= WINDOW_BYTES {
            self.buffer.shrink_to(WINDOW_BYTES);
        }
        let wanted = n.max(WINDOW_BYTES) - self.buffer.len();
        self.buffer.reserve_exact(wanted);
        let mut reader = (&mut *self.reader).take(wanted as u64);
        reader.read_to_end(&mut self.buffer)?;
        if self.buffer.len() < n {
            return Err(ImportError::Truncated {
                at: self.base + self.buffer.len() as u64,
                what: self.content.to_owned(),
            });
        }
        Ok(())
    }
}
