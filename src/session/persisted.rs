//! State that outlives the program: the open document, and recent files.
//!
//! Deliberately not here: the storage, and the clock. Text of any version may come in; unknown parts are left out. Content
//! without a path and pipes cannot be opened again, so they are not kept.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bookmarks::{Bookmark, PersistedBookmark};
use super::document::{Document, SourceSpec};
use super::document_file::{DocumentFile, refuse_special};
use super::files::stream_name;
use super::state::Session;

pub const MOST_RECENT: usize = 12;

/// A source that can be opened again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PersistedSource {
    /// Absolute; a file or folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// SHA-256 of its content when a document was saved, in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl PersistedSource {
    /// `None` where the source cannot be opened again.
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
            SourceSpec::Within { source, .. } => Self::of(source),
            SourceSpec::As { source, format } => Some(Self {
                format: Some((*format).to_owned()),
                ..Self::of(source)?
            }),
        }
    }

    /// `None` for an unknown sample. An unknown format is left out.
    pub fn source(&self) -> Option<SourceSpec> {
        let plain = match (&self.path, &self.sample) {
            (Some(path), _) => SourceSpec::Path(PathBuf::from(path)),
            (None, Some(name)) => SourceSpec::Sample(super::sample(name)?),
            (None, None) => return None,
        };
        Some(plain.clone().opened_as(self.format.as_deref()).unwrap_or(plain))
    }
}

/// An open document: its text with absolute paths, and the path of its file. Kept between starts, and for recovery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PersistedDocument {
    /// The file of the document, if it was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    text: String,
}

impl PersistedDocument {
    /// `None` while no source is read that could be opened again.
    pub fn of(session: &Session) -> Option<Self> {
        session.loaded()?;
        Self::of_file(session.file_path(), session.document_file(None))
    }

    /// `None` where no source can be opened again.
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

    /// The file of the document, if it was saved.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref().map(Path::new)
    }

    ///
    /// # Errors
    /// A sentence with line and column.
    pub fn read(&self) -> Result<DocumentFile, String> {
        let (file, _) = DocumentFile::read(self.text.as_bytes(), None).map_err(|error| error.to_string())?;
        Ok(file)
    }

    /// The document to open: its file where that exists, otherwise the kept text, with a sentence where the file is another.
    /// `None` where no source is known.
    pub fn document(&self) -> Option<(Document, Option<String>)> {
        if let Some(path) = self.path().filter(|path| path.exists()) {
            return Some((Document::new(vec![SourceSpec::Path(path.to_owned())]), None));
        }
        let mut document = self.read().ok()?.document;
        let is_known = |source: &SourceSpec| {
            let kept = PersistedSource::of(source).and_then(|kept| kept.source());
            // A pipe of the last run would never end.
            kept.is_some() && refuse_special(std::slice::from_ref(source)).is_ok()
        };
        document.sources.retain(is_known);
        let gone = self.path().map(|path| {
            let path = path.display();
            format!("the document {path} no longer exists; its last state is shown, unsaved")
        });
        (!document.sources.is_empty()).then_some((document, gone))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recent {
    pub sources: Vec<PersistedSource>,
    /// Seconds since 1970.
    pub opened: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bookmarks: Vec<PersistedBookmark>,
}

impl Recent {
    /// The sources that can be opened again.
    pub fn sources(&self) -> Vec<SourceSpec> {
        self.sources.iter().filter_map(PersistedSource::source).collect()
    }

    pub fn title(&self) -> String {
        let titles: Vec<String> = self.sources().iter().map(SourceSpec::title).collect();
        titles.join(" + ")
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.sources
            .iter()
            .filter_map(|source| source.path.as_deref().map(Path::new))
    }
}

/// Recent sources, the last first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Recents {
    /// At most [`MOST_RECENT`].
    pub list: Vec<Recent>,
}

impl Recents {
    /// Notes opened sources, unless all are samples. Returns whether anything was noted.
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

    /// The last bookmarks of sources.
    pub fn bookmarks_of(&self, sources: &[SourceSpec]) -> Vec<Bookmark> {
        let kept: Vec<PersistedSource> = sources.iter().filter_map(PersistedSource::of).collect();
        let known = self.list.iter().find(|known| known.sources == kept);
        known.map_or_else(Vec::new, |known| PersistedBookmark::bookmarks(&known.bookmarks))
    }

    pub fn keep_bookmarks(&mut self, sources: &[SourceSpec], bookmarks: &[Bookmark]) {
        let kept: Vec<PersistedSource> = sources.iter().filter_map(PersistedSource::of).collect();
        if let Some(known) = self.list.iter_mut().find(|known| known.sources == kept) {
            known.bookmarks = PersistedBookmark::of_all(bookmarks);
        }
    }

    /// Limits text of another version.
    #[must_use]
    pub fn cleaned(mut self) -> Self {
        self.list.retain(|recent| !recent.sources().is_empty());
        self.list.truncate(MOST_RECENT);
        self
    }

    pub fn paths(&self) -> Vec<PathBuf> {
        let paths = self.list.iter().flat_map(Recent::paths);
        paths.map(Path::to_owned).collect()
    }
}

/// The state that the window takes over from its last run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restore {
    /// Everything with the document.
    #[default]
    Everything,
    /// Everything but the document: files are named.
    Window,
    /// The list of recent files alone.
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
    fn the_last_opened_is_first_and_listed_once() {
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
