//! Sources outside a document's folder: they are listed before they are read, so that a document from elsewhere does not
//! decide which files of this machine are read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use highwater_model::progress::Progress;

use super::hashes::hash_of_bytes;
use crate::document::SourceSpec;
use crate::folder::files_of;

/// What a document names outside its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    pub document: PathBuf,
    /// Existing files and folders.
    pub paths: Vec<PathBuf>,
}

/// Why a document was not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOpened {
    #[error(
        "{}: it names files outside its folder: {}; add --allow-outside to read them",
        .0.document.display(),
        .0.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    Outside(Outside),
    /// One sentence that names the file and the place in it.
    #[error("{0}")]
    Failed(String),
}

impl From<String> for NotOpened {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

/// What may be read outside the folders of documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedOutside {
    is_all: bool,
    /// Hashes of documents with their paths outside.
    known: BTreeSet<String>,
}

impl AllowedOutside {
    /// Everything, or nothing.
    pub const fn all_if(is_all: bool) -> Self {
        Self {
            is_all,
            known: BTreeSet::new(),
        }
    }

    /// With what was allowed before, as [`Self::known`] gives it.
    pub fn with_known(known: impl IntoIterator<Item = String>) -> Self {
        Self {
            is_all: false,
            known: known.into_iter().collect(),
        }
    }

    pub fn known(&self) -> impl Iterator<Item = &String> {
        self.known.iter()
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        self.is_all |= other.is_all;
        self.known.extend(other.known.iter().cloned());
    }

    /// Allows a document what it names now.
    pub(crate) fn allow(&mut self, outside: &Outside) {
        self.known.insert(key_of(outside));
    }

    pub(crate) fn allows(&self, outside: &Outside) -> bool {
        self.is_all || self.known.contains(&key_of(outside))
    }
}

fn key_of(outside: &Outside) -> String {
    let paths = std::iter::once(&outside.document).chain(&outside.paths);
    let names: Vec<&[u8]> = paths.map(|path| path.as_os_str().as_encoded_bytes()).collect();
    hash_of_bytes(&names.join(&0))
}

/// The existing sources outside a document's folder, links followed: those of the sources, and those in folders that are sources.
/// Lists such folders.
pub(crate) fn outside(document: &Path, sources: &[SourceSpec], progress: &Progress<'_>) -> Option<Outside> {
    let folder = document.parent()?.canonicalize().ok()?;
    let is_outside = |path: &PathBuf| !path.starts_with(&folder);
    let mut paths = Vec::new();
    for source in sources.iter().filter_map(SourceSpec::path) {
        match source.canonicalize() {
            Ok(real) if is_outside(&real) => paths.push(real),
            Ok(real) if real.is_dir() => paths.extend(linked_files(&real, progress).filter(is_outside)),
            _ => {}
        }
    }
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    (!paths.is_empty()).then(|| Outside {
        document: document.to_owned(),
        paths,
    })
}

/// The targets of links to files that a folder is read with.
fn linked_files(folder: &Path, progress: &Progress<'_>) -> impl Iterator<Item = PathBuf> {
    let files = files_of(folder, progress).map(|found| found.files);
    let files = files.unwrap_or_default().into_iter();
    files
        .filter(|path| path.is_symlink())
        .filter_map(|path| path.canonicalize().ok())
}
