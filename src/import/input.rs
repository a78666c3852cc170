//! The bytes of one file, with a name, a length and a buffered head.

use std::io::{Read, Seek, SeekFrom};

use super::ImportError;
use highwater_model::progress::Progress;

pub trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// Bytes that detection may read.
pub(super) const HEAD_BYTES: u64 = 64 << 10;

pub struct Input<'a> {
    name: String,
    len: u64,
    head: Vec<u8>,
    reader: Box<dyn ReadSeek + 'a>,
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
        Ok(Self {
            name: name.to_owned(),
            len,
            head,
            reader: Box::new(reader),
        })
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
