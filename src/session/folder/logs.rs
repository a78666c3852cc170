//! Logs of CANN as one source: a process writes several, and one file is open at a time.

use std::path::Path;

use crate::files::{FileError, input_of};
use highwater_import::{ImportError, Imported, Input, LogFile, import_logs};
use highwater_model::progress::Progress;

/// The importer of these files.
pub(super) const LOGS: &str = "cann_log";

struct File<'a> {
    path: &'a Path,
    name: String,
    progress: &'a Progress<'a>,
}

impl LogFile for File<'_> {
    fn path(&self) -> &str {
        &self.name
    }

    fn read(&self, take: &mut dyn FnMut(&mut Input<'_>) -> Result<(), ImportError>) -> Result<(), ImportError> {
        let opened = input_of(self.path, self.progress);
        let mut input = opened.map_err(|error| ImportError::Io(std::io::Error::other(error)))??;
        take(&mut input)
    }
}

/// # Errors
/// [`FileError`] where none can be read.
pub(super) fn read_logs(paths: &[&Path], progress: &Progress<'_>) -> Result<Imported, FileError> {
    let files: Vec<File<'_>> = paths
        .iter()
        .map(|path| File {
            path,
            name: path.display().to_string(),
            progress,
        })
        .collect();
    let files: Vec<&dyn LogFile> = files.iter().map(|file| file as &dyn LogFile).collect();
    let first = paths.first().copied().unwrap_or(Path::new(""));
    import_logs(&files, progress).map_err(|reason| FileError::import(first, reason))
}
