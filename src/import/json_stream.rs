//! A reader for JSON that is read as a stream: it counts bytes, shows progress and stops when the user asks.

use std::io::{self, Read};

use super::{ImportError, ReadSeek};
use crate::progress::Progress;

/// See the module's header.
pub(super) struct Counted<'a> {
    reader: &'a mut dyn ReadSeek,
    progress: Progress<'a>,
    at: u64,
    len: u64,
}

impl<'a> Counted<'a> {
    /// A reader of `len` bytes; leaves out a byte order mark where there is one.
    pub(super) fn new(
        reader: &'a mut dyn ReadSeek,
        has_mark: bool,
        len: u64,
        progress: &Progress<'a>,
    ) -> Result<Self, ImportError> {
        let mut counted = Self {
            reader,
            progress: *progress,
            at: 0,
            len,
        };
        if has_mark {
            let mut mark = [0; 3];
            counted.read_exact(&mut mark)?;
        }
        Ok(counted)
    }

    /// Bytes that were read.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.progress
            .set("reading", self.at, self.len)
            .map_err(io::Error::other)?;
        let n = self.reader.read(buffer)?;
        self.at += n as u64;
        Ok(n)
    }
}
