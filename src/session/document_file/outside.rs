//! Sources outside a document's folder: they are listed before they are read, so that a document from elsewhere does not
//! decide which files of this machine are read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use highwater_model::progress::{Cancel, Progress};

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

    /// What has to be allowed before the sources of a document are read.
    pub(crate) fn missing(&self, document: &Path, sources: &[SourceSpec]) -> Option<Outside> {
        outside(document, sources).filter(|outside| !self.allows(outside))
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

/// The existing sources outside a document's folder, links followed.
pub(crate) fn outside(document: &Path, sources: &[SourceSpec]) -> Option<Outside> {
    let paths = outside_folder(document.parent()?, sources);
    (!paths.is_empty()).then(|| Outside {
        document: document.to_owned(),
        paths,
    })
}

/// The existing sources outside a folder, links followed: those of the sources, and those in folders that are sources.
pub(crate) fn outside_folder(folder: &Path, sources: &[SourceSpec]) -> Vec<PathBuf> {
    let Ok(folder) = folder.canonicalize() else {
        return Vec::new();
    };
    let is_outside = |path: &PathBuf| !path.starts_with(&folder);
    let mut found = Vec::new();
    for source in sources.iter().filter_map(SourceSpec::path) {
        match source.canonicalize() {
            Ok(real) if is_outside(&real) => found.push(real),
            Ok(real) if real.is_dir() => found.extend(linked_files(&real).filter(is_outside)),
            _ => {}
        }
    }
    found
}

/// The targets of links to files that a folder is read with.
fn linked_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let cancel = Cancel::new();
    let files = files_of(folder, &Progress::silent(&cancel)).map(|found| found.files);
    let files = files.unwrap_or_default().into_iter();
    files
        .filter(|path| path.is_symlink())
        .filter_map(|path| path.canonicalize().ok())
}
