//! The document as a file: where it lies, whether it changed since, saving it, and what became of its sources.
//!
//! Invariant: assumed values of dimensions are in no file and are no change. A view is saved, but is no change either.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::super::commands::Command;
use super::super::document::{Document, SourceSpec};
use super::super::document_file::{DocumentFile, OpenedDocument, SourceNote, SourceState};
use super::super::jobs::{Answer, Job, Loaded};
use super::super::known_names::rename_in_document;
use super::super::persisted::PersistedDocument;
use super::{Notice, Session};

/// What is known of the file.
#[derive(Debug)]
pub(super) struct FileWatch {
    /// Where it lies; `None` for a document that was never saved.
    path: Option<PathBuf>,
    /// The hash of its content as it was read or written last; `None` where that is not known.
    content: Option<String>,
    /// Where a save found something that somebody else wrote, until the window takes that.
    conflict: Option<PathBuf>,
    /// What nobody knows in it, for writing it again.
    read: DocumentFile,
    /// What it holds; `None` until its sources are read.
    saved: Option<Document>,
    /// Whether it was recovered: then it is changed until it is saved.
    is_recovered: bool,
    /// What became of the sources that it names.
    notes: Vec<(SourceSpec, SourceNote)>,
    /// Sources that were located since its graphs were named, each with the one in whose place it stands.
    pub(super) located: Vec<(SourceSpec, SourceSpec)>,
    /// How the window showed it, until the window takes that.
    view: Option<Json>,
    /// Whether other sources are being read in its place; it is let go of when they are there.
    pub(super) gives_way: bool,
    /// Whether its sources are being read for the first time.
    is_opening: bool,
    save_generation: u64,
    check_generation: u64,
}

impl Default for FileWatch {
    fn default() -> Self {
        Self {
            path: None,
            content: None,
            conflict: None,
            read: DocumentFile::new(Document::new(Vec::new())),
            saved: None,
            is_recovered: false,
            notes: Vec::new(),
            located: Vec::new(),
            view: None,
            gives_way: false,
            is_opening: false,
            save_generation: 0,
            check_generation: 0,
        }
    }
}

impl FileWatch {
    /// Whether the worker has still to answer.
    pub(super) const fn is_waiting(&self) -> bool {
        self.save_generation != 0 || self.check_generation != 0
    }

    /// What the file holds, where there is one and its sources were read.
    pub(super) fn saved(&self) -> Option<&Document> {
        self.saved.as_ref().filter(|_| !self.is_recovered)
    }

    fn note_of(&self, source: &SourceSpec) -> Option<&SourceNote> {
        self.notes
            .iter()
            .find(|(known, _)| known == source)
            .map(|(_, note)| note)
    }
}

impl Session {
    /// Where the document lies, if it was saved.
    pub fn file_path(&self) -> Option<&Path> {
        self.file.path.as_deref()
    }

    /// Whether something was changed since the document was opened or saved.
    pub fn is_changed(&self) -> bool {
        let Some(saved) = self.file.saved.as_ref().filter(|_| !self.file.gives_way) else {
            return false;
        };
        if self.file.is_recovered {
            return true;
        }
        if self.assumed.is_empty() {
            return *saved != self.document;
        }
        *saved != self.plain_document()
    }

    /// Whether changes would be lost: the document has a file, or was recovered. What was never saved is kept for the next
    /// start anyway.
    pub fn has_to_be_saved(&self) -> bool {
        (self.file.path.is_some() || self.file.is_recovered) && self.is_changed()
    }

    /// Whether the document is being written.
    pub const fn is_saving(&self) -> bool {
        self.file.save_generation != 0
    }

    /// What the document is called: its file's name, or the names of the sources.
    pub fn document_name(&self) -> String {
        if let Some(name) = self.file_path().and_then(Path::file_name) {
            return name.to_string_lossy().into_owned();
        }
        let titles: Vec<String> = self.document.sources.iter().map(SourceSpec::title).collect();
        titles.join(" + ")
    }

    /// Sources of the document that are gone or changed: their positions, each with a sentence that says what to do.
    pub fn source_troubles(&self) -> Vec<(usize, String)> {
        let sources = self.document.sources.iter().enumerate();
        sources
            .filter_map(|(position, source)| Some((position, self.file.note_of(source)?.sentence(source)?)))
            .collect()
    }

    /// How the window showed the document that was opened; the answer is given once.
    pub fn take_view(&mut self) -> Option<Json> {
        self.file.view.take()
    }

    /// What the document's file would hold now.
    pub fn document_file(&self, view: Option<Json>) -> DocumentFile {
        let document = self.plain_document();
        let hash = |source: &SourceSpec| self.file.note_of(source)?.sha256.clone();
        let hashes = document.sources.iter().map(hash).collect();
        self.file.read.with(document, hashes, view)
    }

    /// The document without what is only assumed.
    fn plain_document(&self) -> Document {
        let mut document = self.document.clone();
        document.plan.dims.retain(|name, _| !self.assumed.contains(name));
        document
    }

    /// Where a save was not done, because somebody else changed the file since it was read or written; the answer is given
    /// once.
    pub fn take_conflict(&mut self) -> Option<PathBuf> {
        self.file.conflict.take()
    }

    /// Commands about the document's file.
    pub(super) fn apply_filed(&mut self, command: Command) {
        match command {
            Command::SaveDocument { path, view } => self.save_document(path, view, false),
            Command::OverwriteDocument { path, view } => self.save_document(path, view, true),
            Command::Locate { position, path } => self.locate(position, path),
            Command::Recover(kept) => self.recover(&kept),
            _ => {}
        }
    }

    /// Saves the document; over what somebody else wrote in its file only where that is wanted.
    fn save_document(&mut self, path: PathBuf, view: Option<Json>, is_forced: bool) {
        if self.load_generation != 0 || self.document.sources.is_empty() {
            let words = "wait until the files are read, then save";
            self.notice = Some(Notice::Failed(words.to_owned()));
            return;
        }
        let file = Box::new(self.document_file(view));
        let is_own = self.file.path == std::path::absolute(&path).ok();
        let known = self.file.content.clone().filter(|_| is_own && !is_forced);
        self.file.save_generation = self.send_write(Job::SaveDocument(path, file, known));
    }

    /// Another file in the place of a source; everything else stays.
    fn locate(&mut self, position: usize, path: PathBuf) {
        let Some(source) = self.document.sources.get(position).cloned() else {
            return;
        };
        let format = source.chosen_format();
        let plain = SourceSpec::Path(path);
        let located = plain.clone().opened_as(format).unwrap_or(plain);
        let sha256 = self.file.note_of(&source).and_then(|note| note.sha256.clone());
        self.document.sources[position] = located.clone();
        self.note_located(source.clone(), located.clone());
        let state = SourceState::Same;
        self.file
            .notes
            .retain(|(known, _)| *known != source && *known != located);
        self.file.notes.push((located, SourceNote { sha256, state }));
        self.has_new_sources = self.loaded.is_none();
        self.load();
        self.check_sources();
    }

    /// Graphs are known by the name of the source that the document was written with.
    fn note_located(&mut self, source: SourceSpec, located: SourceSpec) {
        let chain = self.file.located.iter().position(|(now, _)| *now == source);
        let before = chain.map_or(source, |position| self.file.located.remove(position).1);
        if before != located {
            self.file.located.push((located, before));
        }
    }

    /// Calls graphs of located sources as they are called now, wherever the document names them. What is still missing keeps
    /// its names.
    pub(super) fn follow_located(&mut self, loaded: &Loaded) {
        rename_in_document(&loaded.renamed, &mut self.document);
        let sources = loaded.sources.iter().zip(&loaded.reports);
        let read: Vec<&SourceSpec> = sources
            .filter(|(_, report)| !report.is_failed())
            .map(|(source, _)| source)
            .collect();
        self.file.located.retain(|(now, _)| !read.contains(&now));
    }

    /// Asks what became of the sources.
    pub(super) fn check_sources(&mut self) {
        let (sources, notes): (Vec<_>, Vec<_>) = self.file.notes.iter().cloned().unzip();
        let hashes = notes.into_iter().map(|note| note.sha256).collect();
        self.file.check_generation = self.worker.send(Job::CheckSources(sources, hashes));
    }

    /// A document that was kept for recovery comes in the place of what is open; it counts as changed.
    fn recover(&mut self, kept: &PersistedDocument) {
        match kept.read() {
            Ok(file) => {
                let sources = file.document.sources.clone();
                let hashes = file.hashes.clone();
                let path = kept.path().map(Path::to_owned);
                self.begin(path, file, Vec::new());
                self.file.is_recovered = true;
                let notes = hashes.into_iter().map(|sha256| SourceNote {
                    sha256,
                    state: SourceState::Same,
                });
                self.file.notes = sources.into_iter().zip(notes).collect();
                self.check_sources();
            }
            Err(error) => {
                let words = format!("what was kept for recovery cannot be read: {error}");
                self.notice = Some(Notice::Failed(words));
            }
        }
    }

    fn begin(&mut self, path: Option<PathBuf>, read: DocumentFile, notes: Vec<SourceNote>) {
        self.opened = None;
        self.history.clear();
        self.stop_sweep();
        self.stop_space();
        self.selection.clear();
        self.drop_matches();
        self.document = read.document.clone();
        self.assumed.clear();
        self.file = FileWatch {
            path,
            notes: read.document.sources.iter().cloned().zip(notes).collect(),
            view: read.view.clone(),
            read,
            is_opening: true,
            ..FileWatch::default()
        };
        self.check();
        self.has_new_sources = true;
        self.load();
    }

    /// Takes over a document that was read; settings that the program was started with win over its own.
    fn take_document(&mut self, opened: OpenedDocument) {
        let given = self.given.take();
        let name = opened.path.display().to_string();
        self.begin(Some(opened.path), opened.file, opened.notes);
        self.file.content = Some(opened.content);
        if let Some(given) = given {
            let document = &mut self.document;
            document.options.extend(&given.options);
            document.environment.extend(&given.environment);
            document.with_evaluation |= given.with_evaluation;
            document.plan.dims.extend(given.plan.dims);
            if !given.plan.entries.is_empty() {
                document.plan.entries = given.plan.entries;
            }
            document.plan.names.extend(given.plan.names);
            if given.plan.iterations != 1 {
                document.plan.iterations = given.plan.iterations;
            }
            self.check();
            self.load();
        }
        self.note_config(name, opened.remarks);
    }

    /// The sources are there, and what was assumed about them is known.
    pub(super) fn settle_file(&mut self) {
        self.given = None;
        if std::mem::take(&mut self.file.gives_way) {
            self.file = FileWatch::default();
        }
        self.file.is_opening = false;
        if self.file.saved.is_none() {
            self.file.saved = Some(self.plain_document());
        }
    }

    /// No source of a document could be read: it is open all the same, so that they can be located. Says whether that is
    /// how it is.
    pub(super) fn keeps_document(&mut self, message: &str) -> bool {
        if !self.file.is_opening {
            return false;
        }
        self.stop();
        (self.loaded, self.answer, self.answered) = (None, None, None);
        self.settle_file();
        self.problem = Some(message.to_owned());
        self.notice = Some(Notice::Failed(message.to_owned()));
        true
    }

    /// Takes what is about the document's file; gives back what is not.
    pub(super) fn take_file(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        match answer {
            Answer::DocumentOpened(opened) if generation == self.load_generation => self.take_document(*opened),
            Answer::DocumentSaved(path, file, content) => {
                if generation == self.file.save_generation {
                    self.file.save_generation = 0;
                }
                self.take_saved(path, *file);
                self.file.content = Some(content);
            }
            Answer::DocumentDiffers(path) if generation == self.file.save_generation => {
                self.file.save_generation = 0;
                let name = path.display();
                let words = format!("not saved: {name} was changed by somebody else since it was opened or saved");
                self.notice = Some(Notice::Failed(words));
                self.file.conflict = Some(path);
            }
            Answer::SourcesChecked(states) if generation == self.file.check_generation => {
                self.file.check_generation = 0;
                for ((_, note), state) in self.file.notes.iter_mut().zip(states) {
                    note.state = state;
                }
            }
            // Of something that is not open any more.
            Answer::DocumentOpened(_) | Answer::SourcesChecked(_) | Answer::DocumentDiffers(_) => {}
            Answer::Failed(message) if generation == self.file.save_generation => {
                self.file.save_generation = 0;
                self.notice = Some(Notice::Failed(message));
            }
            Answer::Progress { .. } if self.is_saving() && generation == self.file.save_generation => {}
            other => return Some(other),
        }
        None
    }

    fn take_saved(&mut self, path: PathBuf, file: DocumentFile) {
        let name = path.display().to_string();
        let notes = file.document.sources.iter().cloned().zip(&file.hashes);
        let notes = notes.map(|(source, sha256)| {
            let missing = self.file.note_of(&source).map(|note| note.state.clone());
            let missing = missing.filter(|state| matches!(state, SourceState::Missing(_)));
            let note = SourceNote {
                sha256: sha256.clone(),
                state: missing.unwrap_or(SourceState::Same),
            };
            (source, note)
        });
        self.file.notes = notes.collect();
        self.file.path = Some(path);
        self.file.saved = Some(file.document.clone());
        self.file.is_recovered = false;
        self.file.read = file;
        self.notice = Some(Notice::Done(format!("saved {name}")));
    }
}
