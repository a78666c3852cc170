//! Reads sources, configurations and the files that options name.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::document::SourceSpec;
use super::folder::{Keep, MOST_FILES, read_folder, tell_missing_slices};
use super::merge::Merge;
use super::samples::{Sample, SampleFile};
use super::special_files::special_kind;
use super::streams::Stream;
use highwater_analysis::Pin;
use highwater_import::{ImportError, Imported, Importer, Input, has_json_key, import, import_as, importer, text_where};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::EventRange;
use highwater_options::{Environment, FileState, NamedPaths, Options, SeenFiles, paths_of};
use highwater_script::is_script_name;

/// The most bytes of a configuration.
const CONFIG_LIMIT: u64 = 16 << 20;

/// The most bytes of a file that an option names.
const OPTION_FILE_LIMIT: u64 = 1 << 20;

/// The prefix of files that are still being written.
pub(super) const TEMPORARY: &str = ".highwater-";

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{name}: {reason}")]
    Import { name: String, reason: ImportError },
    #[error("{name}: cannot be {action}: {reason}{}", advice(reason))]
    Io {
        name: String,
        /// `read`, `opened` or `written`.
        action: &'static str,
        reason: std::io::Error,
    },
    /// A result would overwrite a source.
    #[error("{name}: not overwritten, because {read} is an input; choose another name")]
    IsSource { name: String, read: String },
    #[error("there is no format \"{name}\"; known: {known}")]
    UnknownFormat { name: String, known: String },
    #[error("{name}: {}; {advice}", match files {
        _ if *is_named => "no file of the folder is read".to_owned(),
        0 => "the folder is empty".to_owned(),
        1 => "the format of the only file in the folder is unknown".to_owned(),
        MOST_FILES.. => format!("the formats of the first {files} files in the folder are unknown, more are not read"),
        _ => format!("the formats of all {files} files in the folder are unknown"),
    })]
    EmptyFolder {
        name: String,
        files: usize,
        /// What one of the files is, or where formats are listed.
        advice: String,
        /// Whether the advice names a file.
        is_named: bool,
    },
    #[error("there is no bundled sample \"{name}\"; known: {known}")]
    UnknownSample { name: String, known: String },
}

/// What to do about an error of the system, behind a semicolon; empty where the error's own text says it.
fn advice(error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind;
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    match (error.kind(), error.raw_os_error()) {
        (ErrorKind::StorageFull | ErrorKind::QuotaExceeded, _) => "; free some space, or choose another folder",
        (ErrorKind::FileTooLarge, _) => "; choose a folder on another file system, or raise the limit (ulimit -f)",
        (ErrorKind::PermissionDenied, _) => "; change its permissions, or choose a place that is yours",
        (ErrorKind::ReadOnlyFilesystem, _) => "; choose a folder on another file system",
        (ErrorKind::BrokenPipe, _) => "; its reader has ended, start it again",
        (ErrorKind::OutOfMemory, _) => "; close other programs",
        (_, Some(ENFILE | EMFILE)) => "; close other programs, or raise the limit (ulimit -n)",
        // Texts without a number are sentences of this program.
        (ErrorKind::NotFound, _) | (_, None) => "",
        (_, Some(_)) => "; try again, or choose another folder",
    }
}

/// # Errors
/// [`FileError`], one sentence that starts with the file's name.
pub fn read_source(source: &SourceSpec, progress: &Progress<'_>) -> Result<Imported, FileError> {
    read_as(source, None, Keep::All, progress)
}

/// As [`read_source`]; of the recordings of a folder some may be summaries.
///
/// # Errors
/// As [`read_source`].
pub(super) fn read_kept(source: &SourceSpec, keep: Keep, progress: &Progress<'_>) -> Result<Imported, FileError> {
    read_as(source, None, keep, progress)
}

/// Reads a source, as a chosen format where one is given.
fn read_as(
    source: &SourceSpec,
    row: Option<&'static Importer>,
    keep: Keep,
    progress: &Progress<'_>,
) -> Result<Imported, FileError> {
    let name = match source {
        SourceSpec::Path(path) if path.as_os_str() == "-" => STANDARD_INPUT.to_owned(),
        _ => source.label(),
    };
    let imported = |result: Result<Imported, ImportError>| {
        result.map_err(|reason| FileError::Import {
            name: name.clone(),
            reason,
        })
    };
    match source {
        SourceSpec::Sample(sample) => imported(read_sample(sample, progress)),
        SourceSpec::Bytes { name, bytes } => {
            imported(Input::from_bytes(name, bytes.clone()).and_then(|mut input| import_as(&mut input, row, progress)))
        }
        SourceSpec::Path(path) if path.as_os_str() == "-" => {
            let input = Stream::StandardInput.spooled(STANDARD_INPUT, progress);
            imported(input.and_then(|mut input| import_as(&mut input, row, progress)))
        }
        SourceSpec::Path(path) if path.is_dir() => read_folder(path, row, keep, progress),
        SourceSpec::Path(path) => {
            let mut read = read_path(path, row, progress)?;
            tell_missing_slices(&[path], &mut read);
            Ok(read)
        }
        SourceSpec::As { source, format } => read_as(source, importer(format), keep, progress),
        SourceSpec::Within { source, range } => read_range(source, row, *range, progress),
    }
}

/// The events of a range, where the reader of the format gives up the others; else all.
fn read_range(
    source: &SourceSpec,
    row: Option<&'static Importer>,
    range: EventRange,
    progress: &Progress<'_>,
) -> Result<Imported, FileError> {
    match source {
        SourceSpec::As { source, format } => read_range(source, importer(format), range, progress),
        SourceSpec::Path(path) if stream_name(path).is_none() && !path.is_dir() => {
            let read = input_of(path, progress)?.and_then(|mut input| {
                input.set_range(Some(range));
                import_as(&mut input, row, progress)
            });
            read.map_err(|reason| FileError::import(path, reason))
        }
        // What is summed up has no events.
        _ => read_as(source, row, Keep::All, progress)?
            .within(range)
            .map_err(|reason| FileError::Import {
                name: source.label(),
                reason,
            }),
    }
}

/// The content of a source.
#[derive(Debug)]
pub enum TextOrImported {
    /// The whole text, unpacked.
    Text(String),
    Imported(Imported),
}

/// Reads a source as plain text where its first bytes, unpacked, are of a wanted kind, else by its importer.
///
/// # Errors
/// [`FileError`], one sentence that starts with the file's name.
pub fn read_text_or_source(
    source: &SourceSpec,
    is_text: fn(&[u8]) -> bool,
    progress: &Progress<'_>,
) -> Result<TextOrImported, FileError> {
    let (input, name) = match source {
        SourceSpec::Path(path) if path.as_os_str() == "-" => (
            Stream::StandardInput.spooled(STANDARD_INPUT, progress),
            STANDARD_INPUT.to_owned(),
        ),
        SourceSpec::Path(path) if !path.is_dir() => (input_of(path, progress)?, source.label()),
        _ => return read_source(source, progress).map(TextOrImported::Imported),
    };
    let read = input.and_then(|mut input| match text_where(&mut input, is_text, progress)? {
        Some(text) => Ok(TextOrImported::Text(text)),
        None => import_as(&mut input, None, progress).map(TextOrImported::Imported),
    });
    read.map_err(|reason| FileError::Import { name, reason })
}

/// The name of `-` in messages.
pub(super) const STANDARD_INPUT: &str = "standard input";

/// The name of a path that is a stream: `-`, and paths that a shell writes for `<(...)`.
pub(super) fn stream_name(path: &Path) -> Option<&'static str> {
    let text = path.to_str()?;
    let folders = ["/dev/fd/", "/proc/self/fd/"];
    match text {
        "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => Some(STANDARD_INPUT),
        _ if folders.iter().any(|folder| text.starts_with(folder)) => Some("piped input"),
        _ => None,
    }
}

pub(super) fn read_path(
    path: &Path,
    row: Option<&'static Importer>,
    progress: &Progress<'_>,
) -> Result<Imported, FileError> {
    let input = input_of(path, progress)?;
    let read = input.and_then(|mut input| import_as(&mut input, row, progress));
    read.map_err(|reason| FileError::import(path, reason))
}

/// A file as input of an importer. A pipe is read to its end first, because importers seek.
pub(super) fn input_of(path: &Path, progress: &Progress<'_>) -> Result<Result<Input<'static>, ImportError>, FileError> {
    let short = path
        .file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned();
    if let Some(pipe) = Stream::at(path) {
        return Ok(pipe.spooled(stream_name(path).unwrap_or(&short), progress));
    }
    let file = open(path)?;
    Ok(Input::new(&short, BufReader::with_capacity(64 << 10, file)))
}

impl FileError {
    pub(super) fn import(path: &Path, reason: ImportError) -> Self {
        Self::Import {
            name: path.display().to_string(),
            reason,
        }
    }
}

fn read_sample(sample: &Sample, progress: &Progress<'_>) -> Result<Imported, ImportError> {
    let read =
        |file: &SampleFile| Input::from_bytes(file.name, file.bytes).and_then(|mut input| import(&mut input, progress));
    let mut merge = Merge::default();
    let mut diagnostics = Diagnostics::new();
    let mut format = "";
    for file in sample.files {
        let next = read(file)?;
        diagnostics.extend(&next.diagnostics);
        format = if format.is_empty() { next.format } else { format };
        merge.add(next.source, next.measured, "");
    }
    let (source, measured, _) = merge.finish();
    Ok(Imported {
        format,
        source,
        measured,
        diagnostics,
    })
}

/// Reads a small file (a configuration) whole; `-` is standard input. The wait for a pipe ends when the work is cancelled.
///
/// # Errors
/// [`FileError`].
pub fn read_bytes(path: &Path, progress: &Progress<'_>) -> Result<Vec<u8>, FileError> {
    if path.as_os_str() == "-" {
        return read_config(Path::new(STANDARD_INPUT), std::io::stdin().lock());
    }
    let Some(pipe) = Stream::at(path) else {
        return read_config(path, open(path)?);
    };
    let bytes = pipe.head(CONFIG_LIMIT, progress);
    read_config(path, &*bytes.map_err(|reason| FileError::import(path, reason))?)
}

fn read_config(path: &Path, file: impl Read) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    let read = file.take(CONFIG_LIMIT + 1).read_to_end(&mut bytes);
    let read = read.and_then(|_| match bytes.len() as u64 {
        ..=CONFIG_LIMIT => Ok(bytes),
        _ => Err(std::io::Error::other(format!(
            "it is larger than {} MiB, the limit",
            CONFIG_LIMIT >> 20
        ))),
    });
    read.map_err(|reason| io_error(path, "read", reason))
}

/// Whether a file is a configuration: a script by its name, or written by highwater.
pub(super) fn is_config(path: &Path) -> bool {
    is_script_name(&path.display().to_string()) || is_written_config(path)
}

/// Whether highwater wrote a file as a configuration in JSON.
pub(super) fn is_written_config(path: &Path) -> bool {
    let mut head = [0_u8; 256];
    let is_regular = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let read = is_regular.then(|| File::open(path).and_then(|mut file| file.read(&mut head)));
    let length = read.and_then(Result::ok).unwrap_or(0);
    has_json_key(&head[..length], "highwater_config")
}

/// The state of a path that an option names. Special files are not opened: a pipe would never end.
pub fn look(path: &str) -> FileState {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return FileState::Missing,
        Err(error) => return FileState::Unreadable(error.to_string()),
    };
    if metadata.is_dir() {
        // Whether this process may write shows in an attempt; the file has no name and vanishes when closed.
        let is_writable = std::fs::read_dir(path).is_ok() && tempfile::tempfile_in(path).is_ok();
        return FileState::Directory { is_writable };
    }
    if special_kind(Path::new(path)).is_some() {
        return FileState::Unreadable("not a regular file".to_owned());
    }
    if metadata.len() > OPTION_FILE_LIMIT {
        return FileState::Unreadable("larger than 1 MiB, the limit of such files".to_owned());
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(OPTION_FILE_LIMIT).read_to_end(&mut bytes));
    match read {
        Ok(_) => FileState::File(bytes.into()),
        Err(error) => FileState::Unreadable(error.to_string()),
    }
}

/// The current states of the files and folders that options name.
pub fn look_at_files(options: &Options, environment: &Environment) -> SeenFiles {
    look_at(&paths_of(options, environment))
}

/// The current states of the files and folders that options and pinned configurations name.
pub fn look_at_files_with(options: &Options, environment: &Environment, pins: &[Pin]) -> SeenFiles {
    look_at(&all_paths(options, environment, pins))
}

/// The paths that options and pinned configurations name.
pub(super) fn all_paths(options: &Options, environment: &Environment, pins: &[Pin]) -> NamedPaths {
    let mut named = paths_of(options, environment);
    for Pin { configuration, .. } in pins {
        named.extend(paths_of(&configuration.options, &configuration.environment));
    }
    named
}

/// The current states of paths.
pub fn look_at(named: &NamedPaths) -> SeenFiles {
    let mut files = SeenFiles::default();
    for path in &named.paths {
        files.insert(path, look_from(path, &named.folders));
    }
    files
}

/// The state of a path at the first of its places where a file or folder exists.
fn look_from(path: &str, folders: &[String]) -> FileState {
    let states = places(path, folders).map(|place| look(&place.to_string_lossy()));
    let mut found = states.filter(|state| *state != FileState::Missing);
    found.next().unwrap_or(FileState::Missing)
}

/// The places where a path is looked up: from the working directory; a relative one also from each of the folders and the three around it.
pub(super) fn places<'a>(path: &'a str, folders: &'a [String]) -> impl Iterator<Item = PathBuf> + 'a {
    const AROUND: [&str; 4] = ["", "..", "../..", "../../.."];
    let is_relative = Path::new(path).is_relative();
    let folders = folders.iter().filter(move |_| is_relative);
    let there = folders.flat_map(move |folder| AROUND.map(|around| Path::new(folder).join(around).join(path)));
    std::iter::once(PathBuf::from(path)).chain(there)
}

pub(super) fn open(path: &Path) -> Result<File, FileError> {
    let file = File::open(path).map_err(|reason| io_error(path, "opened", reason))?;
    let kind = file.metadata().map(|metadata| metadata.file_type());
    let (is_folder, is_device) = kind.map_or((false, false), |kind| (kind.is_dir(), is_device(kind)));
    if is_folder {
        let reason = std::io::Error::new(std::io::ErrorKind::IsADirectory, "it is a folder; name a file in it");
        return Err(io_error(path, "read", reason));
    }
    if is_device {
        let reason = std::io::Error::new(
            std::io::ErrorKind::InvalidInput,
            "it is a device; name a file or a pipe",
        );
        return Err(io_error(path, "read", reason));
    }
    Ok(file)
}

#[cfg(unix)]
fn is_device(kind: std::fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: std::fs::FileType) -> bool {
    false
}

pub(super) fn io_error(path: &Path, action: &'static str, reason: std::io::Error) -> FileError {
    FileError::Io {
        name: path.display().to_string(),
        action,
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document_file::is_document;

    #[test]
    fn keys_within_other_values_make_neither_a_configuration_nor_a_document() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        for (text, expected) in [
            ("{\"highwater_config\": 1}", [true, false]),
            (" {\"name\": {\"a\": []}, \"highwater_document\": 1}", [false, true]),
            ("\u{feff}{\"highwater_document\": 1}", [false, true]),
            (
                "{\"outer\": {\"highwater_config\": 1, \"highwater_document\": 1}}",
                [false, false],
            ),
            ("[{\"highwater_config\": 1, \"highwater_document\": 1}]", [false, false]),
            (
                "{\"a\": \"\\\"highwater_config\\\": \\\"highwater_document\\\": \"}",
                [false, false],
            ),
        ] {
            std::fs::write(&path, text).expect("written");
            assert_eq!([is_written_config(&path), is_document(&path)], expected, "{text}");
        }
    }
}
