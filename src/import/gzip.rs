//! gzip: recognised by its first two bytes; small content is unpacked into memory, large content while it is read.
//!
//! In: an input of packed bytes. Out: an input of the unpacked ones, its name without `.gz`. A large file is unpacked once to
//! learn its length, which verifies its checksums too, and again for its reader: a jump forward unpacks the bytes
//! between and keeps none of it, a jump back starts over. Invariants: a reader that jumps back often gets the content in
//! memory, or where that is too large an error, so that nothing is unpacked more than a few times; the cancel flag is read
//! at every piece.

mod members;
#[cfg(test)]
mod tests;

use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};

use members::Members;

use super::input::HEAD_BYTES;
use super::{ImportError, Input, ReadSeek};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::counted;

/// The most bytes that are unpacked into memory at once (32 MiB).
const SMALL: u64 = 32 << 20;

/// The most bytes in memory for a reader that jumps about (512 MiB), and that any file may unpack to.
const UNPACK_LIMIT: u64 = 512 << 20;

/// The largest ratio of content to packed file beyond that. Weights shrink hardly at all, tables and
/// traces 5 to 50 times.
const MOST_RATIO: u64 = 200;

/// Restarts of a reader before the content is put into memory.
const MOST_RESTARTS: u32 = 3;

const PIECE: usize = 256 << 10;

pub(super) fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

pub(super) struct Unpacked<'a> {
    pub(super) input: Input<'a>,
    /// Zero bytes behind the packed data, which mean nothing.
    pub(super) padding: u64,
}

impl Unpacked<'_> {
    pub(super) fn report(padding: u64, diagnostics: &mut Diagnostics) {
        if padding > 0 {
            let zeros = counted(padding, "zero byte");
            diagnostics.info(
                format!("{zeros} behind the end of the gzip data are ignored, as padding"),
                "",
            );
        }
    }
}

pub(super) fn unpack<'a>(input: &'a mut Input<'_>, progress: &Progress<'a>) -> Result<Unpacked<'a>, ImportError> {
    let name = name_of(input);
    let packed = input.len();
    let limit = UNPACK_LIMIT.max(packed.saturating_mul(MOST_RATIO));
    let mut members = Members::new(input.reader()?, Some(*progress));
    let mut bytes = Vec::new();
    let mut len = 0_u64;
    loop {
        progress.set("unpacking", len, packed.saturating_mul(8))?;
        // Content that is too large for memory is only counted.
        if len > SMALL {
            bytes.clear();
        }
        let before = bytes.len();
        let piece = members.by_ref().take(PIECE as u64).read_to_end(&mut bytes);
        if piece.is_err() {
            progress.check()?;
        }
        let unpacked = len + (bytes.len() - before) as u64;
        let piece = piece.map_err(|error| damaged(&error, members.packed_at(), unpacked))?;
        if piece == 0 {
            break;
        }
        len += piece as u64;
        if len > limit {
            return Err(ImportError::UnpacksTooLarge { limit });
        }
    }
    let padding = members.padding();
    if len <= SMALL {
        let input = Input::from_bytes(&name, bytes)?;
        return Ok(Unpacked { input, padding });
    }
    drop(bytes);
    let reader = input.reader()?;
    let input = Input::new(&name, Unpacking::new(reader, len, *progress))?;
    Ok(Unpacked { input, padding })
}

/// The first bytes that the content unpacks to, as an input; `None` where it is damaged there.
pub(super) fn unpacked_head(input: &mut Input<'_>) -> Option<Input<'static>> {
    let name = name_of(input);
    let mut bytes = Vec::new();
    let reader = input.reader().ok()?;
    let members = Members::new(reader, None);
    // Damage behind the head does not matter for detection.
    let read = members.take(HEAD_BYTES).read_to_end(&mut bytes);
    if bytes.is_empty() && read.is_err() {
        return None;
    }
    Input::from_bytes(&name, bytes).ok()
}

fn name_of(input: &Input<'_>) -> String {
    input.name().strip_suffix(".gz").unwrap_or(input.name()).to_owned()
}

/// `packed` is the byte of the file that was to be read next, `unpacked` the number of bytes that could be unpacked.
fn damaged(error: &Error, packed: u64, unpacked: u64) -> ImportError {
    let place = format!(
        "byte {packed} of the packed file, behind {}",
        counted(unpacked, "unpacked byte")
    );
    if error.kind() == ErrorKind::UnexpectedEof {
        let what = "the gzip data end too early: the file was cut off,";
        return ImportError::at(what, place, "copy or compress it again");
    }
    ImportError::at(
        format!("the gzip data are damaged ({error}),"),
        place,
        "copy or compress the file again",
    )
}

enum Content<'a> {
    /// The decoder, at its piece's end.
    Stream(Box<Members<'a>>),
    Memory(Vec<u8>),
    Lost,
}

/// Unpacked bytes that can be read and jumped about in; see the module's header.
struct Unpacking<'a> {
    content: Content<'a>,
    progress: Progress<'a>,
    len: u64,
    at: u64,
    /// The piece that was unpacked last, and its first byte.
    piece: Vec<u8>,
    piece_at: u64,
    restarts: u32,
}

impl<'a> Unpacking<'a> {
    fn new(packed: &'a mut dyn ReadSeek, len: u64, progress: Progress<'a>) -> Self {
        Self {
            content: Content::Stream(Box::new(Members::new(packed, Some(progress)))),
            progress,
            len,
            at: 0,
            piece: Vec::new(),
            piece_at: 0,
            restarts: 0,
        }
    }

    /// Starts over, or puts everything into memory.
    fn restart(&mut self) -> std::io::Result<()> {
        self.restarts += 1;
        let packed = match std::mem::replace(&mut self.content, Content::Lost) {
            Content::Stream(members) => members.into_inner(),
            Content::Memory(_) | Content::Lost => None,
        };
        let packed = packed.ok_or_else(|| Error::other("the packed file cannot be read any more"))?;
        packed.rewind()?;
        (self.piece_at, self.piece) = (0, Vec::new());
        self.content = Content::Stream(Box::new(Members::new(packed, Some(self.progress))));
        if self.restarts > MOST_RESTARTS {
            self.keep_all()?;
        }
        Ok(())
    }

    fn keep_all(&mut self) -> std::io::Result<()> {
        let capacity = usize::try_from(self.len).ok().filter(|_| self.len <= UNPACK_LIMIT);
        let capacity = capacity.ok_or_else(|| {
            let message =
                "this format is read back and forth, which a compressed file of this size cannot be: unpack it";
            Error::new(ErrorKind::FileTooLarge, message)
        })?;
        let mut all = Vec::with_capacity(capacity);
        while self.next_piece()? {
            all.append(&mut self.piece);
        }
        self.piece_at = 0;
        self.content = Content::Memory(all);
        Ok(())
    }

    /// Unpacks the next piece; false at the end.
    fn next_piece(&mut self) -> std::io::Result<bool> {
        self.progress.check().map_err(Error::other)?;
        let Content::Stream(members) = &mut self.content else {
            return Ok(false);
        };
        self.piece_at += self.piece.len() as u64;
        self.piece.clear();
        members.take(PIECE as u64).read_to_end(&mut self.piece)?;
        Ok(!self.piece.is_empty())
    }

    /// Unpacked bytes from the position on; empty at the end.
    fn available(&mut self) -> std::io::Result<&[u8]> {
        match self.content {
            Content::Stream(_) if self.at < self.piece_at => self.restart()?,
            Content::Lost => return Err(Error::other("the packed file cannot be read any more")),
            _ => {}
        }
        let is_stream = matches!(self.content, Content::Stream(_));
        while is_stream && self.at >= self.piece_at + self.piece.len() as u64 {
            if !self.next_piece()? {
                return Ok(&[]);
            }
        }
        let (held, from) = match &self.content {
            Content::Memory(all) => (all, 0),
            _ => (&self.piece, self.piece_at),
        };
        let start = usize::try_from(self.at - from).unwrap_or(usize::MAX);
        Ok(held.get(start..).unwrap_or_default())
    }
}

impl Read for Unpacking<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if buffer.is_empty() || self.at >= self.len {
            return Ok(0);
        }
        let piece = self.available()?;
        let n = piece.len().min(buffer.len());
        buffer[..n].copy_from_slice(&piece[..n]);
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for Unpacking<'_> {
    /// Only takes note: bytes are unpacked when they are read.
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let wanted = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = wanted.ok_or_else(|| Error::new(ErrorKind::InvalidInput, "before the start"))?;
        Ok(self.at)
    }
}
