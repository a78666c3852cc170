//! Documents as files: detected, read with the states of their sources, written whole or not at all.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::hashes::{hash_of, hash_of_bytes};
use super::outside::{AllowedOutside, NotOpened, Outside, outside};
use super::{DocumentFile, MOST_DOCUMENT_BYTES, too_large};
use crate::document::SourceSpec;
use crate::files::{TEMPORARY, open, stream_name};
use crate::special_files::special_kind;
use crate::write::write_whole;
use highwater_import::has_json_key;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;

/// Without the dot.
pub const DOCUMENT_EXTENSION: &str = "highwater";

/// In the first bytes of every document.
const KEY: &str = "highwater_document";

/// Bytes that [`KEY`] is searched in.
const HEAD: usize = 4096;

/// Temporary files of killed saves are removed when they are older.
const LEFT_BEHIND: Duration = Duration::from_hours(1);

/// The state of a source since the document was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// Unchanged, or without a known hash.
    Same,
    Changed,
    /// It cannot be read; the message of the system.
    Missing(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceNote {
    /// When the document was saved.
    pub sha256: Option<String>,
    pub state: SourceState,
}

impl SourceNote {
    /// The problem and what to do, for the user.
    pub fn sentence(&self, source: &SourceSpec) -> Option<String> {
        let label = source.label();
        match &self.state {
            SourceState::Same => None,
            SourceState::Changed => Some(format!(
                "{label}: the file changed since the document was saved; the current content is shown. Locate the old \
                 file, or save the document to accept the new one"
            )),
            SourceState::Missing(reason) => Some(format!("{label}: {reason}. Locate it, or restore it at that path")),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct OpenedDocument {
    pub path: PathBuf,
    /// The hash of its bytes.
    pub content: String,
    pub file: DocumentFile,
    /// By position of the source.
    pub notes: Vec<SourceNote>,
    /// What it names outside its folder.
    pub outside: Option<Outside>,
    pub remarks: Diagnostics,
}

/// By its extension.
pub fn is_document_name(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case(DOCUMENT_EXTENSION))
}

/// By its first bytes, or by its name.
pub fn is_document(path: &Path) -> bool {
    if stream_name(path).is_some() || !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    if is_document_name(path) {
        return true;
    }
    let mut head = Vec::with_capacity(HEAD);
    let read = File::open(path).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&head);
    read.is_ok() && has_json_key(head, KEY)
}

/// Reads a document and the states of its sources.
///
/// # Errors
/// [`NotOpened`]. A source that is no regular file or folder, or is outside the folder and not allowed, is not opened.
pub fn open_document(
    path: &Path,
    allowed: &AllowedOutside,
    progress: &Progress<'_>,
) -> Result<OpenedDocument, NotOpened> {
    let bytes = bytes_of(path)?;
    let (file, remarks) = document_of(path, &bytes)?;
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    refuse_special(&file.document.sources).map_err(|reason| format!("{}: {reason}", path.display()))?;
    let outside = outside(&absolute, &file.document.sources, progress);
    // A list that was stopped may lack some.
    progress.check().map_err(|cancelled| cancelled.to_string())?;
    let outside = match outside {
        Some(outside) if !allowed.allows(&outside) => return Err(NotOpened::Outside(outside)),
        other => other,
    };
    let notes = noted(&file.document.sources, &file.hashes, progress);
    progress.check().map_err(|cancelled| cancelled.to_string())?;
    Ok(OpenedDocument {
        path: absolute,
        content: hash_of_bytes(&bytes),
        file,
        notes,
        outside,
        remarks,
    })
}

/// Refuses sources that are neither regular files nor folders.
///
/// # Errors
/// A sentence that names the source.
pub(crate) fn refuse_special(sources: &[SourceSpec]) -> Result<(), String> {
    for source in sources {
        match source {
            SourceSpec::As { source, .. } | SourceSpec::Within { source, .. } => {
                refuse_special(std::slice::from_ref(source))?;
            }
            SourceSpec::Path(path) => {
                if let Some(kind) = stream_name(path).or_else(|| special_kind(path)) {
                    return Err(format!(
                        "source {} is {kind}; a document names regular files and folders",
                        path.display()
                    ));
                }
            }
            SourceSpec::Sample(_) | SourceSpec::Bytes { .. } => {}
        }
    }
    Ok(())
}

/// Reads a document without the states of its sources.
///
/// # Errors
/// One sentence that names the file and the place in it.
pub fn read_document(path: &Path) -> Result<(DocumentFile, Diagnostics), String> {
    document_of(path, &bytes_of(path)?)
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, String> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let mut file = open(path)
        .map_err(|error| error.to_string())?
        .take(MOST_DOCUMENT_BYTES + 1);
    file.read_to_end(&mut bytes)
        .map_err(|error| format!("{name}: cannot be read: {error}"))?;
    if bytes.len() as u64 > MOST_DOCUMENT_BYTES {
        return Err(format!("{name}: {}", too_large()));
    }
    Ok(bytes)
}

fn document_of(path: &Path, bytes: &[u8]) -> Result<(DocumentFile, Diagnostics), String> {
    let name = path.display().to_string();
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    DocumentFile::read(bytes, path.parent()).map_err(|error| format!("{name}: {error}"))
}

/// The states of sources, with the hashes that they had.
fn noted(sources: &[SourceSpec], hashes: &[Option<String>], progress: &Progress<'_>) -> Vec<SourceNote> {
    let states = states_of(sources, hashes, progress).into_iter();
    states
        .zip(hashes)
        .map(|(state, sha256)| SourceNote {
            sha256: sha256.clone(),
            state,
        })
        .collect()
}

/// The states of sources. A source without a hash need only exist.
pub(crate) fn states_of(
    sources: &[SourceSpec],
    hashes: &[Option<String>],
    progress: &Progress<'_>,
) -> Vec<SourceState> {
    let one = |(source, hash): (&SourceSpec, &Option<String>)| {
        let path = match source {
            SourceSpec::Path(path) => path,
            SourceSpec::As { source, .. } => match &**source {
                SourceSpec::Path(path) => path,
                _ => return SourceState::Same,
            },
            _ => return SourceState::Same,
        };
        if let Err(error) = std::fs::metadata(path) {
            return SourceState::Missing(reason_of(&error));
        }
        let Some(hash) = hash else { return SourceState::Same };
        match hash_of(source, progress) {
            Ok(Some(now)) if now != *hash => SourceState::Changed,
            Err(error) if progress.check().is_ok() => SourceState::Missing(error.to_string()),
            _ => SourceState::Same,
        }
    };
    sources.iter().zip(hashes).map(one).collect()
}

fn reason_of(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "the file does not exist".to_owned(),
        _ => format!("the file cannot be examined ({error})"),
    }
}

/// Writes a document whole or not at all, with the current hashes of its sources, and returns these. A missing source keeps
/// its hash.
///
/// # Errors
/// One sentence; an existing file is unchanged then.
pub fn save_document(file: &DocumentFile, path: &Path, progress: &Progress<'_>) -> Result<Vec<Option<String>>, String> {
    let saved = save_over(file, path, None, progress)?;
    Ok(saved.map_or_else(Vec::new, |(saved, _)| saved.hashes))
}

/// [`save_document`], but only over a file whose content has this hash, where one is given; `None` where the file holds
/// something else. A file that is gone is written again. Returns what was written, and the hash of its bytes.
///
/// # Errors
/// As [`save_document`].
pub(crate) fn save_over(
    file: &DocumentFile,
    path: &Path,
    known: Option<&str>,
    progress: &Progress<'_>,
) -> Result<Option<(DocumentFile, String)>, String> {
    let path = std::path::absolute(path).map_err(|error| format!("{}: cannot be written: {error}", path.display()))?;
    // A link stays a link: its target is written.
    let path = if path.is_symlink() {
        path.canonicalize().unwrap_or(path)
    } else {
        path
    };
    let mut hashes = Vec::with_capacity(file.document.sources.len());
    for (position, source) in file.document.sources.iter().enumerate() {
        let before = file.hashes.get(position).cloned().flatten();
        let now = hash_of(source, progress);
        progress.check().map_err(|cancelled| cancelled.to_string())?;
        hashes.push(now.unwrap_or(before));
    }
    let file = file.with(file.document.clone(), hashes, file.view.clone());
    let text = file.text(path.parent())?;
    if known.is_some_and(|known| holds_other(&path, known)) {
        return Ok(None);
    }
    progress.commit().map_err(|cancelled| cancelled.to_string())?;
    write_whole(&path, text.as_bytes()).map_err(|error| error.to_string())?;
    tidy(&path);
    Ok(Some((file, hash_of_bytes(text.as_bytes()))))
}

/// Whether a file exists with another hash.
fn holds_other(path: &Path, known: &str) -> bool {
    let mut bytes = Vec::new();
    let file = File::open(path).map(|file| file.take(MOST_DOCUMENT_BYTES + 1));
    file.and_then(|mut file| file.read_to_end(&mut bytes))
        .is_ok_and(|_| hash_of_bytes(&bytes) != known)
}

/// Removes temporary files of killed saves next to a file that was written just now. Ages are by the file system's clock; a
/// running save of another program is younger.
fn tidy(path: &Path) {
    let written = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified());
    let Some((folder, now)) = path.parent().zip(written(path).ok()) else {
        return;
    };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let is_ours = is_file && name.starts_with(TEMPORARY) && name.len() == TEMPORARY.len() + 6;
        let age = written(&entry.path())
            .ok()
            .and_then(|then| now.duration_since(then).ok());
        if is_ours && age.is_some_and(|age| age > LEFT_BEHIND) {
            // A leftover is harmless.
            drop(std::fs::remove_file(entry.path()));
        }
    }
}
