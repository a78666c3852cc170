//! The slices of one table as one input. A table may have more slices than a process may have open files, so a file is open
//! only while it is read.

use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::name_of;
use crate::files::{FileError, input_of, open};
use highwater_import::{Imported, Importer, ReadSeek, import_as, join_slices, unpacked};
use highwater_model::progress::Progress;

/// Several slices as one table.
///
/// # Errors
/// [`FileError`] of the first that cannot be read.
pub(super) fn read_parts(
    paths: &[&Path],
    row: &'static Importer,
    progress: &Progress<'_>,
) -> std::result::Result<Imported, FileError> {
    let first = paths[0];
    let mut parts: Vec<Box<dyn ReadSeek>> = Vec::with_capacity(paths.len());
    for path in paths {
        let mut input = input_of(path, progress)?.map_err(|reason| FileError::import(path, reason))?;
        let packed = unpacked(&mut input, progress).map_err(|reason| FileError::import(path, reason))?;
        parts.push(match packed {
            Some(bytes) => Box::new(std::io::Cursor::new(bytes)),
            None => Box::new(BufReader::with_capacity(4 << 10, Dormant::new(path)?)),
        });
    }
    let name = name_of(first);
    let joined = join_slices(name.strip_suffix(".gz").unwrap_or(&name), parts);
    let read = joined.and_then(|mut input| import_as(&mut input, Some(row), progress));
    read.map_err(|reason| FileError::import(first, reason))
}

/// A file that is open from its first read to its last byte, or until a seek.
struct Dormant {
    path: PathBuf,
    len: u64,
    at: u64,
    file: Option<File>,
}

impl Dormant {
    fn new(path: &Path) -> std::result::Result<Self, FileError> {
        let len = open(path)?
            .metadata()
            .map_err(|error| FileError::import(path, error.into()))?;
        Ok(Self {
            path: path.to_owned(),
            len: len.len(),
            at: 0,
            file: None,
        })
    }
}

impl Read for Dormant {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let rest = usize::try_from(self.len.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(rest);
        if wanted == 0 {
            return Ok(0);
        }
        let mut file = if let Some(file) = self.file.take() {
            file
        } else {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.at))?;
            file
        };
        let n = file.read(&mut buffer[..wanted])?;
        self.at += n as u64;
        if n > 0 && self.at < self.len {
            self.file = Some(file);
        }
        Ok(n)
    }
}

impl Seek for Dormant {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let wanted = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        let wanted = wanted.ok_or_else(|| Error::new(ErrorKind::InvalidInput, "before the start"))?;
        if wanted != self.at {
            self.file = None;
        }
        self.at = wanted;
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_open_only_while_it_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "0123456789").expect("a file");
        let mut file = Dormant::new(&path).expect("readable");
        let mut two = [0; 2];
        file.read_exact(&mut two).expect("readable");
        assert!(file.file.is_some() && &two == b"01");
        assert_eq!(file.seek(SeekFrom::End(-3)).ok(), Some(7));
        assert!(file.file.is_none());
        let mut text = String::new();
        file.read_to_string(&mut text).expect("readable");
        assert!(file.file.is_none() && text == "789");
        file.rewind().expect("within");
        file.read_to_string(&mut text).expect("readable");
        assert_eq!(text, "7890123456789");
        assert!(file.seek(SeekFrom::End(-11)).is_err());
        assert!(Dormant::new(Path::new("/no/such")).is_err());
    }
}
