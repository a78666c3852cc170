//! Logs of CANN as one source: a process writes several, and one file is open at a time.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::walk::files_of;
use super::{EMPTY_ADVICE, recognised};
use crate::document::SourceSpec;
use crate::files::{FileError, STANDARD_INPUT, input_of, read_path};
use crate::streams::Stream;
use highwater_import::{ImportError, Imported, Input, LogFile, import_as, import_logs, importer, recognise};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;

/// The importer of these files.
pub(crate) const LOGS: &str = "cann_log";

struct File<'a> {
    name: String,
    content: Content,
    progress: &'a Progress<'a>,
}

enum Content {
    Path(PathBuf),
    /// What has no path: standard input, a sample.
    Memory(RefCell<Input<'static>>),
}

impl<'a> File<'a> {
    fn of(path: &Path, progress: &'a Progress<'a>) -> Self {
        Self {
            name: path.display().to_string(),
            content: Content::Path(path.to_owned()),
            progress,
        }
    }
}

impl LogFile for File<'_> {
    fn path(&self) -> &str {
        &self.name
    }

    fn read(&self, take: &mut dyn FnMut(&mut Input<'_>) -> Result<(), ImportError>) -> Result<(), ImportError> {
        match &self.content {
            Content::Path(path) => {
                let opened = input_of(path, self.progress);
                take(&mut opened.map_err(|error| ImportError::Io(std::io::Error::other(error)))??)
            }
            Content::Memory(input) => take(&mut input.borrow_mut()),
        }
    }
}

/// # Errors
/// [`FileError`] where none can be read.
pub(crate) fn read_logs(paths: &[&Path], progress: &Progress<'_>) -> Result<Imported, FileError> {
    read(
        &paths.iter().map(|path| File::of(path, progress)).collect::<Vec<_>>(),
        progress,
    )
}

fn read(files: &[File<'_>], progress: &Progress<'_>) -> Result<Imported, FileError> {
    let first = files.first().map_or(Path::new(""), |file| Path::new(&file.name));
    let all: Vec<&dyn LogFile> = files.iter().map(|file| file as &dyn LogFile).collect();
    import_logs(&all, progress).map_err(|reason| FileError::import(first, reason))
}

/// Reads sources as one log, whatever their first lines are: files, all logs of folders, standard input.
///
/// # Errors
/// [`FileError`] where none can be read.
pub fn read_log(sources: &[SourceSpec], progress: &Progress<'_>) -> Result<Imported, FileError> {
    let mut files = Vec::new();
    let mut diagnostics = Diagnostics::new();
    for source in sources {
        files.extend(files_of_source(source, &mut diagnostics, progress)?);
    }
    let mut imported = match (sources, &files[..]) {
        // The lines of a single file are in their order, whatever their times.
        ([SourceSpec::Path(path)], [_]) if path.is_file() => read_path(path, importer(LOGS), progress)?,
        (
            _,
            [
                File {
                    name,
                    content: Content::Memory(input),
                    ..
                },
            ],
        ) => import_as(&mut input.borrow_mut(), importer(LOGS), progress)
            .map_err(|reason| FileError::import(Path::new(name), reason))?,
        _ => read(&files, progress)?,
    };
    imported.diagnostics.extend(&diagnostics);
    Ok(imported)
}

fn files_of_source<'a>(
    source: &SourceSpec,
    diagnostics: &mut Diagnostics,
    progress: &'a Progress<'a>,
) -> Result<Vec<File<'a>>, FileError> {
    let in_memory = |name: &str, input: Result<Input<'static>, ImportError>| {
        let input = input.map_err(|reason| FileError::import(Path::new(name), reason))?;
        Ok(vec![File {
            name: name.to_owned(),
            content: Content::Memory(RefCell::new(input)),
            progress,
        }])
    };
    match source {
        SourceSpec::As { source, .. } => files_of_source(source, diagnostics, progress),
        SourceSpec::Path(path) if path.as_os_str() == "-" => {
            in_memory(STANDARD_INPUT, Stream::StandardInput.spooled(STANDARD_INPUT, progress))
        }
        SourceSpec::Path(path) if path.is_dir() => {
            let found = files_of(path, progress)?;
            diagnostics.extend(&found.passed.diagnostics());
            let known = recognised(&found.files, None, progress)?;
            let logs = known.iter().filter(|(_, row)| row.name == LOGS);
            let logs: Vec<File<'a>> = logs.map(|(path, _)| File::of(path, progress)).collect();
            if logs.is_empty() {
                return Err(FileError::EmptyFolder {
                    name: path.display().to_string(),
                    files: found.files.len(),
                    is_named: false,
                    advice: EMPTY_ADVICE.to_owned(),
                });
            }
            Ok(logs)
        }
        SourceSpec::Path(path) => Ok(vec![File::of(path, progress)]),
        SourceSpec::Bytes { name, bytes } => in_memory(name, Input::from_bytes(name, bytes.clone())),
        SourceSpec::Sample(sample) => {
            let read =
                |file: &crate::samples::SampleFile| in_memory(file.name, Input::from_bytes(file.name, file.bytes));
            let files: Result<Vec<Vec<File<'a>>>, FileError> = sample.files.iter().map(read).collect();
            Ok(files?.into_iter().flatten().collect())
        }
    }
}

/// The positions of files that are logs, by their content or as the user chose, where there are several.
pub(crate) fn logs_among(sources: &[SourceSpec], progress: &Progress<'_>) -> Vec<usize> {
    let is_log = |source: &SourceSpec| {
        let path = source.path().filter(|path| path.is_file());
        match (source.chosen_format(), path) {
            (Some(format), Some(_)) => format == LOGS,
            (None, Some(path)) => {
                let input = input_of(path, progress).ok().and_then(Result::ok);
                input.is_some_and(|mut input| recognise(&mut input).is_some_and(|row| row.name == LOGS))
            }
            (_, None) => false,
        }
    };
    if sources.len() < 2 {
        return Vec::new();
    }
    let mut logs: Vec<usize> = (0..sources.len())
        .filter(|position| is_log(&sources[*position]))
        .collect();
    if logs.len() < 2 {
        logs.clear();
    }
    logs
}
