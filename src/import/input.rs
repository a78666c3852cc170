//! The bytes of one file, with a name, a length and a buffered head.

use std::cell::Cell;
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};
use std::rc::Rc;

use super::ImportError;
use highwater_model::progress::Progress;
use highwater_model::workload::EventRange;

pub trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// Bytes that detection may read.
pub(super) const HEAD_BYTES: u64 = 64 << 10;

pub struct Input<'a> {
    name: String,
    len: u64,
    head: Vec<u8>,
    reader: Box<dyn ReadSeek + 'a>,
    failure: Rc<Cell<Option<Error>>>,
    range: Option<EventRange>,
}

/// A reader that notes the first error of the system: decoders and parsers may call it damage, or the end of a file. Reads
/// that a signal interrupts are tried again.
struct Noting<R> {
    reader: R,
    failure: Rc<Cell<Option<Error>>>,
}

impl<R: Read> Read for Noting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match self.reader.read(buffer) {
                // Not every parser tries again.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let first = self.failure.take();
                    let this = || error.raw_os_error().map(Error::from_raw_os_error);
                    self.failure.set(first.or_else(this));
                    return Err(error);
                }
                read => return read,
            }
        }
    }
}

impl<R: Seek> Seek for Noting<R> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.reader.seek(to)
    }
}

impl std::fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl<'a> Input<'a> {
    /// Takes a reader; reads its length and first 64 KiB.
    ///
    /// # Errors
    /// [`ImportError::Io`].
    pub fn new(name: &str, mut reader: impl ReadSeek + 'a) -> Result<Self, ImportError> {
        let len = reader.seek(SeekFrom::End(0))?;
        reader.rewind()?;
        let mut head = Vec::new();
        reader.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
        reader.rewind()?;
        let failure = Rc::default();
        Ok(Self {
            name: name.to_owned(),
            len,
            head,
            reader: Box::new(Noting {
                reader,
                failure: Rc::clone(&failure),
            }),
            failure,
            range: None,
        })
    }

    /// Which events are read of a recording; all where this is not set.
    pub const fn set_range(&mut self, range: Option<EventRange>) {
        self.range = range;
    }

    pub(super) const fn range(&self) -> Option<EventRange> {
        self.range
    }

    /// What was made of the content; where the system could not read all of it, its error.
    pub(super) fn whole<T>(&self, result: Result<T, ImportError>) -> Result<T, ImportError> {
        match self.failure.take() {
            Some(error) => Err(ImportError::Io(error)),
            None => result,
        }
    }

    /// An input of bytes in memory.
    ///
    /// # Errors
    /// None in practice; reading memory does not fail.
    pub fn from_bytes(name: &str, bytes: impl AsRef<[u8]> + 'a) -> Result<Self, ImportError> {
        Self::new(name, std::io::Cursor::new(bytes))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub const fn len(&self) -> u64 {
        self.len
    }

    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first bytes (at most 64 KiB).
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The reader, at the start.
    ///
    /// # Errors
    /// [`ImportError::Io`].
    pub fn reader(&mut self) -> Result<&mut Box<dyn ReadSeek + 'a>, ImportError> {
        self.reader.rewind()?;
        Ok(&mut self.reader)
    }

    /// The whole text.
    ///
    /// # Errors
    /// As [`Self::read_all`], and where the bytes are no UTF-8 the first that is none.
    pub fn read_text(&mut self, progress: &Progress<'_>) -> Result<String, ImportError> {
        String::from_utf8(self.read_all(progress)?).map_err(|error| {
            ImportError::at(
                "the text is not UTF-8",
                format!("byte {}", error.utf8_error().valid_up_to()),
                "save the file as UTF-8",
            )
        })
    }

    /// All bytes, in pieces of 1 MiB with progress.
    ///
    /// # Errors
    /// [`ImportError::Io`], [`ImportError::Cancelled`].
    pub fn read_all(&mut self, progress: &Progress<'_>) -> Result<Vec<u8>, ImportError> {
        let len = self.len;
        let reader = self.reader()?;
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0).min(1 << 30));
        loop {
            progress.set("reading", bytes.len() as u64, len)?;
            if reader.by_ref().take(1 << 20).read_to_end(&mut bytes)? == 0 {
                return Ok(bytes);
            }
        }
    }
}
