//! The bytes of a text file in pieces, with the position and the line of the next byte.
//!
//! In: a reader and the file's length. Out: one byte of look-ahead, runs of bytes, errors with line and byte.
//! Invariants: at most one piece is in memory; the cancel flag is read at every refill. Deliberately not here: the meaning of
//! bytes.

use std::io::Read;

use crate::{ImportError, ReadSeek};
use highwater_model::progress::Progress;

/// Bytes per refill: well under a millisecond of work, so that a cancel is seen at once.
const PIECE_BYTES: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) byte: u64,
    /// Its line, from 1.
    pub(crate) line: u64,
}

impl Place {
    /// `line 3, byte 57`.
    pub(crate) fn text(self) -> String {
        format!("line {}, byte {}", self.line, self.byte)
    }
}

pub(super) struct TextSource<'a> {
    reader: &'a mut dyn ReadSeek,
    progress: Progress<'a>,
    len: u64,
    piece: Vec<u8>,
    /// Position of the next byte in the piece.
    at: usize,
    /// The position of the piece in the file.
    piece_at: u64,
    line: u64,
}

impl<'a> TextSource<'a> {
    /// The reader is at the start of a file of `len` bytes.
    pub(super) const fn new(reader: &'a mut dyn ReadSeek, len: u64, progress: Progress<'a>) -> Self {
        Self {
            reader,
            progress,
            len,
            piece: Vec::new(),
            at: 0,
            piece_at: 0,
            line: 1,
        }
    }

    pub(super) const fn place(&self) -> Place {
        Place {
            byte: self.piece_at + self.at as u64,
            line: self.line,
        }
    }

    /// The rest of the piece in memory; empty at the end of the file only.
    pub(super) fn run(&mut self) -> Result<&[u8], ImportError> {
        if self.at >= self.piece.len() {
            self.refill()?;
        }
        Ok(&self.piece[self.at..])
    }

    pub(super) fn peek(&mut self) -> Result<Option<u8>, ImportError> {
        if let Some(byte) = self.piece.get(self.at) {
            return Ok(Some(*byte));
        }
        Ok(self.run()?.first().copied())
    }

    /// Takes the next byte, which is no line break; an error in the middle of `what` at the end.
    pub(super) fn take(&mut self, what: &'static str) -> Result<u8, ImportError> {
        match self.peek()? {
            Some(byte) => {
                self.advance(1, 0);
                Ok(byte)
            }
            None => Err(self.ends_in(what)),
        }
    }

    /// Moves over `bytes` of the run, which hold `lines` line breaks.
    pub(super) fn advance(&mut self, bytes: usize, lines: u64) {
        self.at = self.at.saturating_add(bytes).min(self.piece.len());
        self.line += lines;
    }

    pub(super) fn blank(&mut self) -> Result<(), ImportError> {
        loop {
            let run = self.run()?;
            let mut lines = 0;
            let mut count = 0;
            for byte in run {
                match byte {
                    b'\n' => lines += 1,
                    b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {}
                    _ => break,
                }
                count += 1;
            }
            let next = run.get(count).copied();
            let is_over = run.is_empty();
            self.advance(count, lines);
            match next {
                Some(b'#') => self.comment()?,
                None if !is_over => {}
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn comment(&mut self) -> Result<(), ImportError> {
        loop {
            let run = self.run()?;
            let (len, end) = (run.len(), run.iter().position(|byte| *byte == b'\n'));
            self.advance(end.unwrap_or(len), 0);
            if end.is_some() || len == 0 {
                return Ok(());
            }
        }
    }

    pub(super) fn ends_in(&self, what: impl Into<String>) -> ImportError {
        ImportError::Truncated {
            at: self.place().byte,
            what: what.into(),
        }
    }

    fn refill(&mut self) -> Result<(), ImportError> {
        self.piece_at += self.piece.len() as u64;
        self.progress.set("reading", self.piece_at, self.len)?;
        self.piece.clear();
        self.at = 0;
        let mut piece = Read::take(&mut *self.reader, PIECE_BYTES as u64);
        piece.read_to_end(&mut self.piece)?;
        Ok(())
    }
}
