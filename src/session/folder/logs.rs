//! Logs as one source, with snapshots as one story: a process writes several, and one file is open at a time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::recognised;
use super::walk::files_of;
use crate::document::SourceSpec;
use crate::files::{FileError, STANDARD_INPUT, input_of, read_path};
use crate::streams::Stream;
use highwater_import::{ImportError, Imported, Importer, Input, LogFile, import_as, import_logs, importer, recognise};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::counted;
use highwater_model::workload::{Recording, Source};

/// The importer of these files.
pub(crate) const LOGS: &str = "cann_log";

/// The importer of recorded memory histories.
const SNAPSHOTS: &str = "torch_snapshot";

/// The begin of the note that an imported log has a failed request: it sends to this very answer.
const POINTER: &str = "a request for memory failed; `highwater explain`";

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

    fn import(&self, row: Option<&'static Importer>, progress: &Progress<'_>) -> Result<Imported, FileError> {
        match &self.content {
            Content::Path(path) => read_path(path, row, progress),
            Content::Memory(input) => import_as(&mut input.borrow_mut(), row, progress)
                .map_err(|reason| FileError::import(Path::new(&self.name), reason)),
        }
    }

    /// Whether the first bytes may be text.
    fn is_text(&self) -> bool {
        let is_text = |input: &Input<'_>| !input.head().contains(&0);
        match &self.content {
            Content::Path(path) => {
                let input = input_of(path, self.progress).ok().and_then(Result::ok);
                input.is_some_and(|input| is_text(&input))
            }
            Content::Memory(input) => is_text(&input.borrow()),
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

/// What sources state of failed requests for memory.
#[derive(Debug)]
pub struct StatedMemory {
    /// Processes of logs and texts, then the devices of snapshots.
    pub recordings: Vec<Arc<Recording>>,
    pub diagnostics: Diagnostics,
}

/// Reads sources as one story, whatever their first lines are: logs, texts, folders of them, standard input as one log; and
/// snapshots.
///
/// # Errors
/// [`FileError`] where one cannot be read.
pub fn read_story(sources: &[SourceSpec], progress: &Progress<'_>) -> Result<StatedMemory, FileError> {
    let mut named = Named {
        texts: Vec::new(),
        snapshots: Vec::new(),
        diagnostics: Diagnostics::new(),
        progress,
    };
    for source in sources {
        named.add(source)?;
    }
    let mut stated = StatedMemory {
        recordings: Vec::new(),
        diagnostics: named.diagnostics,
    };
    let is_file = matches!(sources, [SourceSpec::Path(path)] if path.is_file());
    match &named.texts[..] {
        [] => {}
        // The lines of a single file are in their order, whatever their times.
        [only] if is_file || matches!(only.content, Content::Memory(_)) => {
            stated.add_text(only, only.import(importer(LOGS), progress))?;
        }
        [first, ..] => stated.add_text(first, read(&named.texts, progress))?,
    }
    let is_only = named.snapshots.len() + named.texts.len() == 1;
    for snapshot in &named.snapshots {
        match snapshot.import(importer(SNAPSHOTS), progress) {
            Ok(imported) => stated.add(imported),
            // One that cannot be read does not hide the others.
            Err(FileError::Import { name, reason }) if !is_only && !matches!(reason, ImportError::Cancelled(_)) => {
                stated.diagnostics.warning(format!("{name}: {reason}"), "");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(stated)
}

impl StatedMemory {
    fn add(&mut self, imported: Imported) {
        for entry in imported.diagnostics.entries() {
            if !entry.message.starts_with(POINTER) {
                self.diagnostics.push_counted(entry.clone());
            }
        }
        if let Source::Recordings(recordings) = imported.source {
            self.recordings.extend(recordings);
        }
    }

    /// A text without a line that is known is an answer; content that is no text is none.
    fn add_text(&mut self, first: &File<'_>, read: Result<Imported, FileError>) -> Result<(), FileError> {
        const NOTHING: &str = "states nothing of memory: no line of an allocator, an engine or a driver is known in it";
        match read {
            Ok(imported) => self.add(imported),
            Err(FileError::Import {
                name,
                reason:
                    ImportError::Malformed { .. } | ImportError::OpenedAs { .. } | ImportError::OpenedAsUnread { .. },
            }) if first.is_text() => self.diagnostics.warning(format!("{name}: {NOTHING}"), ""),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// The files of sources.
struct Named<'a> {
    texts: Vec<File<'a>>,
    snapshots: Vec<File<'a>>,
    diagnostics: Diagnostics,
    progress: &'a Progress<'a>,
}

impl<'a> Named<'a> {
    fn add(&mut self, source: &SourceSpec) -> Result<(), FileError> {
        match source {
            SourceSpec::As { source, .. } | SourceSpec::Within { source, .. } => self.add(source)?,
            SourceSpec::Path(path) if path.as_os_str() == "-" => {
                let input = Stream::StandardInput.spooled(STANDARD_INPUT, self.progress);
                self.add_input(STANDARD_INPUT, input)?;
            }
            SourceSpec::Path(path) if path.is_dir() => self.add_folder(path)?,
            SourceSpec::Path(path) => {
                let input = input_of(path, self.progress)?;
                let mut input = input.map_err(|reason| FileError::import(path, reason))?;
                let is_snapshot = is_snapshot(&mut input);
                self.put(File::of(path, self.progress), is_snapshot);
            }
            SourceSpec::Bytes { name, bytes } => self.add_input(name, Input::from_bytes(name, bytes.clone()))?,
            SourceSpec::Sample(sample) => {
                for file in sample.files {
                    self.add_input(file.name, Input::from_bytes(file.name, file.bytes))?;
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, file: File<'a>, is_snapshot: bool) {
        if is_snapshot {
            self.snapshots.push(file);
        } else {
            self.texts.push(file);
        }
    }

    fn add_input(&mut self, name: &str, input: Result<Input<'static>, ImportError>) -> Result<(), FileError> {
        let mut input = input.map_err(|reason| FileError::import(Path::new(name), reason))?;
        let is_snapshot = is_snapshot(&mut input);
        let file = File {
            name: name.to_owned(),
            content: Content::Memory(RefCell::new(input)),
            progress: self.progress,
        };
        self.put(file, is_snapshot);
        Ok(())
    }

    /// The logs and snapshots of a folder, and the texts that programs print.
    fn add_folder(&mut self, path: &Path) -> Result<(), FileError> {
        const PRINTED: [&str; 6] = ["log", "txt", "out", "err", "stdout", "stderr"];
        let found = files_of(path, self.progress)?;
        self.diagnostics.extend(&found.passed.diagnostics());
        let known = recognised(&found.files, None, self.progress)?;
        let known: BTreeMap<&Path, &str> = known.iter().map(|(path, row)| (&**path, row.name)).collect();
        let before = self.texts.len() + self.snapshots.len();
        for path in &found.files {
            let is_printed = path
                .extension()
                .is_some_and(|one| PRINTED.iter().any(|name| one.eq_ignore_ascii_case(name)));
            match known.get(&**path) {
                Some(&(LOGS | SNAPSHOTS)) => self.put(File::of(path, self.progress), known[&**path] == SNAPSHOTS),
                None if is_printed => self.put(File::of(path, self.progress), false),
                _ => {}
            }
        }
        if self.texts.len() + self.snapshots.len() == before {
            let files = match found.files.len() {
                0 => "the folder is empty".to_owned(),
                many => format!("no log, text or snapshot is among its {}", counted(many as u64, "file")),
            };
            let message = format!("{}: states nothing of memory: {files}", path.display());
            self.diagnostics.warning(message, "");
        }
        Ok(())
    }
}

fn is_snapshot(input: &mut Input<'_>) -> bool {
    recognise(input).is_some_and(|row| row.name == SNAPSHOTS)
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
