//! Writes the files of a configuration.

use std::path::Path;

use super::files::FileError;
use super::overwrite::{OutputKind, ReadFiles};
use super::special_files::special_kind;
use super::write::write_whole;
use highwater_script::{ConfigExport, HEADER};

/// Why the files of a configuration could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteConfigError {
    #[error(transparent)]
    File(#[from] FileError),
    /// A part beside the named file would replace a file of the user.
    #[error(
        "{part} belongs next to {named}, but a file of that name exists that highwater did not write; choose another \
         name or move it"
    )]
    IsOther { part: String, named: String },
}

/// Writes the named file and the parts beside it, which replace only files that highwater wrote. Nothing is written where one is refused.
///
/// # Errors
/// [`WriteConfigError`].
pub fn write_config(export: &ConfigExport, read: &ReadFiles) -> Result<(), WriteConfigError> {
    for (position, file) in export.files.iter().enumerate() {
        let written = if position == 0 {
            OutputKind::Configuration
        } else {
            OutputKind::Other
        };
        read.refuse(&file.path, written)?;
        if position > 0 && is_of_others(&file.path) {
            return Err(WriteConfigError::IsOther {
                part: file.path.display().to_string(),
                named: export.files[0].path.display().to_string(),
            });
        }
    }
    for file in &export.files {
        write_whole(&file.path, file.text.as_bytes())?;
    }
    Ok(())
}

/// Whether there is a file that highwater did not write.
fn is_of_others(path: &Path) -> bool {
    if special_kind(path).is_some() {
        // Reading a pipe would wait for a writer.
        return true;
    }
    match std::fs::read(path) {
        Ok(bytes) => !bytes.starts_with(HEADER.as_bytes()),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}
