//! What is kept from one start of the program to the next: what was open with its settings, and which files were
//! opened before.
//!
//! Deliberately not here: where it is stored, and the clock. Text of any version may come in; what it does not know of
//! is left out. Content without a path and pipes cannot be opened again, so they are not kept.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bookmarks::{Bookmark, PersistedBookmark};
use super::document::{Document, SourceSpec};
use super::document_file::DocumentFile;
use super::files::stream_name;
use super::state::Session;

/// How many openings are remembered.
pub const MOST_RECENT: usize = 12;

/// A source that can be opened again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PersistedSource {
    /// The absolute path of a file or folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The name of a bundled sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
    /// The format that the user chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// SHA-256 of its content when a document was saved, in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl PersistedSource {
    /// What is kept of a source; `None` where it cannot be opened again.
    pub fn of(source: &SourceSpec) -> Option<Self> {
        match source {
            SourceSpec::Path(path) if stream_name(path).is_some() => None,
            SourceSpec::Path(path) => Some(Self {
                path: Some(std::path::absolute(path).ok()?.to_str()?.to_owned()),
                ..Self::default()
            }),
            SourceSpec::Sample(sample) => Some(Self {
                sample: Some(sample.name.to_owned()),
                ..Self::default()
            }),
            SourceSpec::Bytes { .. } => None,
            SourceSpec::As { source, format } => Some(Self {
                format: Some((*format).to_owned()),
                ..Self::of(source)?
            }),
        }
    }

    /// The source; `None` for a sample that this version does not have. A format that it does not have is left out.
    pub fn source(&self) -> Option<SourceSpec> {
        let plain = match (&self.path, &self.sample) {
            (Some(path), _) => SourceSpec::Path(PathBuf::from(path)),
            (None, Some(name)) => SourceSpec::Sample(super::sample(name)?),
            (None, None) => return None,
        };
        Some(plain.clone().opened_as(self.format.as_deref()).unwrap_or(plain))
    }
}

/// What was open, with its settings: the text of a document with absolute paths, and where the document lies. What is
/// kept from one start to the next is one, and so is what is kept for recovery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PersistedDocument {
    /// Where the document was saved, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Its text.
    text: String,
}

impl PersistedDocument {
    /// What is kept of a session; `None` while nothing is read that could be opened again.
    pub fn of(session: &Session) -> Option<Self> {
        session.loaded()?;
        Self::of_file(session.file_path(), session.document_file(None))
    }

    /// What is kept of a document, which lies at a path if it was saved; `None` where none of its sources can be opened
    /// again.
    pub fn of_file(path: Option<&Path>, mut file: DocumentFile) -> Option<Self> {
        let sources = std::mem::take(&mut file.document.sources).into_iter().zip(file.hashes);
        let kept = sources.filter(|(source, _)| PersistedSource::of(source).is_some());
        (file.document.sources, file.hashes) = kept.unzip();
        (!file.document.sources.is_empty()).then_some(())?;
        Some(Self {
            path: path.and_then(Path::to_str).map(str::to_owned),
            text: file.text(None).ok()?,
        })
    }

    /// Where the document lies, if it was saved.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref().map(Path::new)
    }

    /// What it holds.
    ///
    /// # Errors
    /// A sentence with line and column.
    pub fn read(&self) -> Result<DocumentFile, String> {
        let (file, _) = DocumentFile::read(self.text.as_bytes(), None).map_err(|error| error.to_string())?;
        Ok(file)
    }

    /// The document to open: the file where it was saved and is still there, otherwise what was kept of it, then with a
    /// sentence where that is another. `None` where no source of it is known.
    pub fn document(&self) -> Option<(Document, Option<String>)> {
        if let Some(path) = self.path().filter(|path| path.exists()) {
            return Some((Document::new(vec![SourceSpec::Path(path.to_owned())]), None));
        }
        let mut document = self.read().ok()?.document;
        let is_known = |source: &SourceSpec| PersistedSource::of(source).and_then(|kept| kept.source()).is_some();
        document.sources.retain(is_known);
        let gone = self.path().map(|path| {
            let path = path.display();
            format!("the document {path} is not there any more; what was open is shown as it was, without a file")
        });
        (!document.sources.is_empty()).then_some((document, gone))
    }
}

/// Files that were opened together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recent {
    /// The sources, in order.
    pub sources: Vec<PersistedSource>,
    /// When, in seconds since 1970.
    pub opened: u64,
    /// Steps with notes, as they were last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bookmarks: Vec<PersistedBookmark>,
}

impl Recent {
    /// What can be opened again of it.
    pub fn sources(&self) -> Vec<SourceSpec> {
        self.sources.iter().filter_map(PersistedSource::source).collect()
    }

    /// The names of the files.
    pub fn title(&self) -> String {
        let titles: Vec<String> = self.sources().iter().map(SourceSpec::title).collect();
        titles.join(" + ")
    }

    /// The paths.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.sources
            .iter()
            .filter_map(|source| source.path.as_deref().map(Path::new))
    }
}

/// What was opened before, the last first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Recents {
    /// At most [`MOST_RECENT`].
    pub list: Vec<Recent>,
}

impl Recents {
    /// Notes that sources were opened; samples alone are no news. Says whether anything was noted.
    pub fn note(&mut self, sources: &[SourceSpec], now: u64) -> bool {
        let kept: Vec<PersistedSource> = sources.iter().filter_map(PersistedSource::of).collect();
        if kept.iter().all(|source| source.path.is_none()) {
            return false;
        }
        let known = self.list.iter().find(|known| known.sources == kept);
        let bookmarks = known.map_or_else(Vec::new, |known| known.bookmarks.clone());
        self.list.retain(|known| known.sources != kept);
        let opened = Recent {
            sources: kept,
            opened: now,
            bookmarks,
        };
        self.list.insert(0, opened);
        self.list.truncate(MOST_RECENT);
        true
    }

    /// The bookmarks that sources had when they were open last.
    pub fn bookmarks_of(&self, sources: &[SourceSpec]) -> Vec<Bookmark> {
        let kept: Vec<PersistedSource> = sources.iter().filter_map(PersistedSource::of).collect();
        let known = self.list.iter().find(|known| known.sources == kept);
        known.map_or_else(Vec::new, |known| PersistedBookmark::bookmarks(&known.bookmarks))
    }

    /// Notes the bookmarks of sources that were opened.
    pub fn keep_bookmarks(&mut self, sources: &[SourceSpec], bookmarks: &[Bookmark]) {
        let kept: Vec<PersistedSource> = sources.iter().filter_map(PersistedSource::of).collect();
        if let Some(known) = self.list.iter_mut().find(|known| known.sources == kept) {
            known.bookmarks = PersistedBookmark::of_all(bookmarks);
        }
    }

    /// What text of another version may hold too much of.
    #[must_use]
    pub fn cleaned(mut self) -> Self {
        self.list.retain(|recent| !recent.sources().is_empty());
        self.list.truncate(MOST_RECENT);
        self
    }

    /// Every path.
    pub fn paths(&self) -> Vec<PathBuf> {
        let paths = self.list.iter().flat_map(Recent::paths);
        paths.map(Path::to_owned).collect()
    }
}

/// What the window takes over from its last run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restore {
    /// Everything, also what was open.
    #[default]
    Everything,
    /// All but what was open: files are named.
    Window,
    /// Nothing but the list of files that were opened.
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::{MOST_RECENT, PersistedSource, Recents};
    use crate::{SourceSpec, sample};

    #[test]
    fn sources_are_kept_where_they_can_be_opened_again() {
        let bytes = SourceSpec::Bytes {
            name: "dropped".to_owned(),
            bytes: Vec::new().into(),
        };
        for source in [
            bytes,
            SourceSpec::Path("-".into()),
            SourceSpec::Path("/dev/stdin".into()),
        ] {
            assert_eq!(PersistedSource::of(&source), None, "{source:?}");
        }
        let path = SourceSpec::Path("/graphs/a.onnx".into());
        for source in [
            path.clone(),
            path.opened_as(Some("onnx")).expect("it is known"),
            SourceSpec::Sample(sample("bert").expect("it is known")),
        ] {
            assert_eq!(
                PersistedSource::of(&source).expect("it is known").source(),
                Some(source)
            );
        }
        let odd = PersistedSource {
            path: Some("/a".to_owned()),
            format: Some("of another version".to_owned()),
            ..PersistedSource::default()
        };
        assert_eq!(odd.source(), Some(SourceSpec::Path("/a".into())));
        let gone = PersistedSource {
            sample: Some("of another version".to_owned()),
            ..PersistedSource::default()
        };
        assert_eq!(gone.source(), None);
    }

    #[test]
    fn the_last_opened_stands_first_and_once() {
        let mut recents = Recents::default();
        let path = |number: usize| [SourceSpec::Path(format!("/graphs/{number}.onnx").into())];
        for number in 0..20 {
            assert!(recents.note(&path(number), number as u64));
        }
        assert_eq!(recents.list.len(), MOST_RECENT);
        assert!(recents.note(&path(15), 100));
        assert!(!recents.note(&[SourceSpec::Sample(sample("bert").expect("it is known"))], 101));
        let titles: Vec<String> = recents.list.iter().take(3).map(super::Recent::title).collect();
        assert_eq!(titles, ["15.onnx", "19.onnx", "18.onnx"]);
        assert_eq!(recents.list[0].opened, 100);
        assert_eq!(recents.list.len(), MOST_RECENT);
    }
}
