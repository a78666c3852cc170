//! SHA-256 of a source, by which a document tells whether it changed.
//!
//! Of a file it is the hash of its content, as `sha256sum` prints it. Of a folder it is the hash of its regular files in the
//! order of their relative paths (by bytes, `/` between names): for each the length of the path and the path, the length of
//! the content and the content, lengths as 8 bytes, the lowest first. Links to folders are not followed, as everywhere.

use std::io::Read as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::document::SourceSpec;
use crate::files::{FileError, open, stream_name};
use crate::folder::files_of;
use highwater_model::progress::Progress;

/// The hash of a source as hexadecimal digits; `None` for what is bundled or cannot be read twice.
///
/// # Errors
/// [`FileError`] where it cannot be read, or the work is cancelled.
pub(super) fn hash_of(source: &SourceSpec, progress: &Progress<'_>) -> Result<Option<String>, FileError> {
    match source {
        SourceSpec::As { source, .. } | SourceSpec::Within { source, .. } => hash_of(source, progress),
        SourceSpec::Sample(_) | SourceSpec::Bytes { .. } => Ok(None),
        SourceSpec::Path(path) if stream_name(path).is_some() => Ok(None),
        SourceSpec::Path(path) => {
            let mut hash = Sha256::new();
            if path.is_dir() {
                hash_folder(path, &mut hash, progress)?;
            } else {
                hash_file(path, &mut hash, progress)?;
            }
            Ok(Some(digits_of(hash)))
        }
    }
}

pub(super) fn hash_of_bytes(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(bytes);
    digits_of(hash)
}

fn digits_of(hash: Sha256) -> String {
    let digits = hash.finalize().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

fn hash_file(path: &Path, hash: &mut Sha256, progress: &Progress<'_>) -> Result<(), FileError> {
    let mut file = open(path)?;
    let len = file.metadata().map_or(0, |metadata| metadata.len());
    let mut piece = vec![0; 256 << 10];
    let mut done = 0_u64;
    loop {
        progress
            .set("checking files", done, len.max(1))
            .map_err(|cancelled| FileError::import(path, cancelled.into()))?;
        match file.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(n) => {
                hash.update(&piece[..n]);
                done += n as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(FileError::import(path, error.into())),
        }
    }
}

fn hash_folder(folder: &Path, hash: &mut Sha256, progress: &Progress<'_>) -> Result<(), FileError> {
    let found = files_of(folder, progress)?;
    let mut names: Vec<(String, &Path)> = Vec::with_capacity(found.files.len());
    for file in &found.files {
        let below = file.strip_prefix(folder).unwrap_or(file);
        let words: Vec<_> = below
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect();
        names.push((words.join("/"), file));
    }
    names.sort();
    for (name, file) in names {
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        let len = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
        hash.update(len.to_le_bytes());
        hash_file(file, hash, progress)?;
    }
    Ok(())
}
