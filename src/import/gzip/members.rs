//! The members of a gzip file as one content, and the bytes behind the last of them.
//!
//! In: packed bytes. Out: the unpacked bytes of all members, one behind the other. Zero bytes behind the last member are
//! padding, which tapes and block devices leave; they are counted. Anything else there is an error. Positions in the packed
//! file are known at any time.

use std::io::{BufRead as _, BufReader, Error, ErrorKind, Read, Result};

use flate2::bufread::GzDecoder;

use crate::ReadSeek;
use highwater_model::progress::Progress;

const BUFFER: usize = 32 << 10;

/// The first byte of a member.
const FIRST: u8 = 0x1f;

/// Empty members that are skipped where only the first bytes are wanted. Writers that flush
/// often leave one or two.
const MOST_EMPTY: u32 = 1024;

struct Counting<'a> {
    reader: &'a mut dyn ReadSeek,
    at: u64,
}

impl Read for Counting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let n = self.reader.read(buffer)?;
        self.at += n as u64;
        Ok(n)
    }
}

type Source<'a> = BufReader<Counting<'a>>;

enum State<'a> {
    Member(GzDecoder<Source<'a>>),
    AfterLast(Source<'a>),
    Taken,
}

pub(super) struct Members<'a> {
    state: State<'a>,
    /// `None` where only the first bytes are wanted: then padding is not looked through.
    progress: Option<Progress<'a>>,
    padding: u64,
    /// Members without content, one behind the other.
    empty: u32,
}

impl<'a> Members<'a> {
    /// From the reader's place on, which is the start of the file.
    pub(super) fn new(reader: &'a mut dyn ReadSeek, progress: Option<Progress<'a>>) -> Self {
        let source = BufReader::with_capacity(BUFFER, Counting { reader, at: 0 });
        Self {
            state: State::Member(GzDecoder::new(source)),
            progress,
            padding: 0,
            empty: 0,
        }
    }

    pub(super) fn packed_at(&self) -> u64 {
        let source = match &self.state {
            State::Member(decoder) => decoder.get_ref(),
            State::AfterLast(source) => source,
            State::Taken => return 0,
        };
        source.get_ref().at - source.buffer().len() as u64
    }

    /// Zero bytes behind the last member; known at the end.
    pub(super) const fn padding(&self) -> u64 {
        self.padding
    }

    /// The reader, anywhere; `None` after a failure.
    pub(super) fn into_inner(self) -> Option<&'a mut dyn ReadSeek> {
        match self.state {
            State::Member(decoder) => Some(decoder.into_inner().into_inner().reader),
            State::AfterLast(source) => Some(source.into_inner().reader),
            State::Taken => None,
        }
    }

    /// At the end of a member: the next one, or the bytes behind the last.
    fn next(&mut self) -> Result<()> {
        let State::Member(decoder) = std::mem::replace(&mut self.state, State::Taken) else {
            return Ok(());
        };
        if let Some(progress) = &self.progress {
            progress.check().map_err(Error::other)?;
        }
        let mut source = decoder.into_inner();
        let first = source.fill_buf().map(|bytes| bytes.first().copied());
        if matches!(first, Ok(Some(FIRST))) {
            self.state = State::Member(GzDecoder::new(source));
            return Ok(());
        }
        self.state = State::AfterLast(source);
        match first? {
            None => Ok(()),
            Some(0) => self.skip_padding(),
            Some(byte) => Err(behind(byte)),
        }
    }

    fn skip_padding(&mut self) -> Result<()> {
        let (State::AfterLast(source), Some(progress)) = (&mut self.state, &self.progress) else {
            return Ok(());
        };
        loop {
            progress.check().map_err(Error::other)?;
            let bytes = source.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            let zeros = bytes.iter().position(|byte| *byte != 0);
            let n = zeros.unwrap_or(bytes.len());
            let other = bytes.get(n).copied();
            source.consume(n);
            self.padding += n as u64;
            if let Some(byte) = other {
                return Err(behind(byte));
            }
        }
    }
}

fn behind(byte: u8) -> Error {
    let message = format!("behind their end is byte 0x{byte:02x}, which begins no further gzip data and is no padding");
    Error::new(ErrorKind::InvalidData, message)
}

impl Read for Members<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while let State::Member(decoder) = &mut self.state {
            let n = decoder.read(buffer)?;
            if n > 0 || buffer.is_empty() {
                self.empty = 0;
                return Ok(n);
            }
            self.empty = self.empty.saturating_add(1);
            if self.progress.is_none() && self.empty > MOST_EMPTY {
                return Ok(0);
            }
            self.next()?;
        }
        Ok(0)
    }
}
