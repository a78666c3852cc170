//! A reader for files that are read as a stream: it counts bytes, shows progress and stops when the user asks.

use std::io::{self, Read};

use highwater_model::progress::Progress;

pub(super) struct Counted<'p, R> {
    reader: R,
    progress: Progress<'p>,
    at: u64,
    len: u64,
}

impl<'p, R: Read> Counted<'p, R> {
    pub(super) const fn new(reader: R, len: u64, progress: &Progress<'p>) -> Self {
        Self {
            reader,
            progress: *progress,
            at: 0,
            len,
        }
    }

    pub(super) const fn at(&self) -> u64 {
        self.at
    }
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.progress
            .set("reading", self.at, self.len)
            .map_err(io::Error::other)?;
        let n = self.reader.read(buffer)?;
        self.at += n as u64;
        Ok(n)
    }
}
