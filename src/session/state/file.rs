//! The document's file: its path, changes since it was saved, saving, and the states of its sources.
//!
//! Invariant: a view is saved, but is no change.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::super::document::{Document, SourceSpec};
use super::super::document_file::{
    DocumentFile, OpenedDocument, Outside, SourceNote, SourceState, outside, save_over, states_of,
};
use super::super::known_names::rename_in_document;
use super::super::loaded::Loaded;
use super::super::overwrite::OutputKind;
use super::super::persisted::PersistedDocument;
use super::super::task::{Failure, Outcome, TaskKind};
use super::{Notice, Session};
use highwater_model::progress::Progress;

#[derive(Debug)]
pub(super) struct DocumentPlace {
    /// `None` for a document that was never saved.
    path: Option<PathBuf>,
    /// The hash of its bytes when they were last read or written.
    content: Option<String>,
    /// The path of a file that another program changed, until the window takes it.
    conflict: Option<PathBuf>,
    /// Its unknown fields, for writing it again.
    read: DocumentFile,
    /// Its document; `None` until its sources are read.
    saved: Option<Document>,
    /// A recovered document counts as changed until it is saved.
    is_recovered: bool,
    /// States of its sources.
    notes: Vec<(SourceSpec, SourceNote)>,
    /// Sources located since its graphs were named, each with the source that it replaces.
    pub(super) located: Vec<(SourceSpec, SourceSpec)>,
    /// Its view, until the window takes it.
    view: Option<Json>,
    /// What it names outside its folder, when that was last looked at.
    pub(super) outside: Option<Outside>,
    /// Whether other sources are being read; the file is forgotten once they are.
    pub(super) gives_way: bool,
    /// Whether its sources are read for the first time.
    pub(super) is_opening: bool,
}

/// A document that was written.
struct Saved {
    file: DocumentFile,
    /// The hash of its bytes.
    content: String,
    outside: Option<Outside>,
}

impl Default for DocumentPlace {
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
            outside: None,
            gives_way: false,
            is_opening: false,
        }
    }
}

impl DocumentPlace {
    /// The document of the file, once its sources are read.
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
    /// The path of the document's file; `None` where it was never saved.
    pub fn file_path(&self) -> Option<&Path> {
        self.file.path.as_deref()
    }

    /// Whether the document differs from its file or its opened state.
    pub fn is_changed(&self) -> bool {
        let Some(saved) = self.file.saved.as_ref().filter(|_| !self.file.gives_way) else {
            return false;
        };
        if self.file.is_recovered {
            return true;
        }
        *saved != self.document
    }

    /// Whether closing would lose changes of a document with a file or of a recovered one. A document that was never saved
    /// is kept for the next start.
    pub fn has_to_be_saved(&self) -> bool {
        (self.file.path.is_some() || self.file.is_recovered) && self.is_changed()
    }

    /// Whether the document is being written.
    pub fn is_saving(&self) -> bool {
        self.worker.is_waiting(TaskKind::Save)
    }

    /// The document's name: that of its file, or the names of the sources.
    pub fn document_name(&self) -> String {
        if let Some(name) = self.file_path().and_then(Path::file_name) {
            return name.to_string_lossy().into_owned();
        }
        let titles: Vec<String> = self.document.sources.iter().map(SourceSpec::title).collect();
        titles.join(" + ")
    }

    /// Missing and changed sources of the document: their positions, each with a sentence for the user.
    pub fn source_troubles(&self) -> Vec<(usize, String)> {
        let sources = self.document.sources.iter().enumerate();
        sources
            .filter_map(|(position, source)| Some((position, self.file.note_of(source)?.sentence(source)?)))
            .collect()
    }

    /// The view of the opened document; `None` when taken.
    pub fn take_view(&mut self) -> Option<Json> {
        self.file.view.take()
    }

    /// The current content for the document's file.
    pub fn document_file(&self, view: Option<Json>) -> DocumentFile {
        let document = self.document.clone();
        let hash = |source: &SourceSpec| self.file.note_of(source)?.sha256.clone();
        let hashes = document.sources.iter().map(hash).collect();
        self.file.read.with(document, hashes, view)
    }

    /// Takes the path of a file that was not saved because another program changed it.
    pub fn take_conflict(&mut self) -> Option<PathBuf> {
        self.file.conflict.take()
    }

    /// Saves the document; with `is_forced` also where another program changed its file.
    pub(super) fn save_document(&mut self, path: PathBuf, view: Option<Json>, is_forced: bool) -> Result<(), Failure> {
        if self.is_loading() || self.document.sources.is_empty() {
            return Err("wait until the files are read, then save".into());
        }
        let file = self.document_file(view);
        let is_own = self.file.path == std::path::absolute(&path).ok();
        let known = self.file.content.clone().filter(|_| is_own && !is_forced);
        let read = self.read_files();
        let told = path.display().to_string();
        let work = move |progress: &Progress<'_>| {
            read.refuse(&path, OutputKind::Document)?;
            let saved = save_over(&file, &path, known.as_deref(), progress)?;
            let path = std::path::absolute(&path).unwrap_or(path);
            let saved = saved.map(|(file, content)| Saved {
                outside: outside(&path, &file.document.sources, progress),
                file,
                content,
            });
            Ok((path, saved))
        };
        self.worker
            .send(TaskKind::Save, work, move |session, outcome| match outcome {
                Outcome::Done((path, Some(saved))) => session.take_saved(path, saved),
                Outcome::Done((path, None)) => session.tell_conflict(path),
                Outcome::Failed(_) => {}
                Outcome::Cancelled => {
                    session.notice = Some(Notice::Failed(format!("{told}: not saved, it was cancelled")));
                }
            });
        Ok(())
    }

    /// Replaces a source by another file with the same content.
    pub(super) fn locate(&mut self, position: usize, path: PathBuf) {
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
        self.change.is_new = self.loaded.is_none();
        self.load();
        self.check_sources();
    }

    /// Notes the source that the graphs of a located source are named after.
    fn note_located(&mut self, source: SourceSpec, located: SourceSpec) {
        let chain = self.file.located.iter().position(|(now, _)| *now == source);
        let before = chain.map_or(source, |position| self.file.located.remove(position).1);
        if before != located {
            self.file.located.push((located, before));
        }
    }

    /// Renames graphs of located sources in the document. Missing sources keep their names.
    pub(super) fn follow_located(&mut self, loaded: &Loaded) {
        rename_in_document(&loaded.renamed, &mut self.document);
        let sources = loaded.sources.iter().zip(&loaded.reports);
        let read: Vec<&SourceSpec> = sources
            .filter(|(_, report)| !report.is_failed())
            .map(|(source, _)| source)
            .collect();
        self.file.located.retain(|(now, _)| !read.contains(&now));
    }

    /// Requests the states of the sources.
    pub(super) fn check_sources(&mut self) {
        let (sources, notes): (Vec<_>, Vec<_>) = self.file.notes.iter().cloned().unzip();
        let hashes: Vec<_> = notes.into_iter().map(|note| note.sha256).collect();
        let place = self.file.path.clone();
        let asked = (place.clone(), self.file.read.document.sources.clone());
        let named = self.file.read.document.sources.clone();
        self.run(
            TaskKind::CheckSources,
            move |progress| {
                let outside = place.and_then(|place| outside(&place, &named, progress));
                Ok((states_of(&sources, &hashes, progress), outside))
            },
            move |session, (states, outside)| {
                // It may have been saved since.
                if session.file.path == asked.0 && session.file.read.document.sources == asked.1 {
                    session.file.outside = outside;
                }
                for ((_, note), state) in session.file.notes.iter_mut().zip(states) {
                    note.state = state;
                }
            },
        );
    }

    /// Opens a document that was kept for recovery; it counts as changed.
    pub(super) fn recover(&mut self, kept: &PersistedDocument) -> Result<(), Failure> {
        let read = kept.read();
        let file = read.map_err(|error| format!("the recovery file cannot be read: {error}"))?;
        let sources = file.document.sources.clone();
        let hashes = file.hashes.clone();
        self.begin(kept.path().map(Path::to_owned), file, Vec::new());
        self.file.is_recovered = true;
        let notes = hashes.into_iter().map(|sha256| SourceNote {
            sha256,
            state: SourceState::Same,
        });
        self.file.notes = sources.into_iter().zip(notes).collect();
        self.check_sources();
        Ok(())
    }

    fn begin(&mut self, path: Option<PathBuf>, read: DocumentFile, notes: Vec<SourceNote>) {
        self.discard(TaskKind::CheckSources);
        self.history.clear();
        self.discard(TaskKind::BudgetSweep);
        self.discard(TaskKind::Sweep);
        self.selection.clear();
        self.search.matches = None;
        self.document = read.document.clone();
        self.schedule.forget_assumptions();
        self.opened_config = None;
        self.file = DocumentPlace {
            path,
            notes: read.document.sources.iter().cloned().zip(notes).collect(),
            view: read.view.clone(),
            read,
            is_opening: true,
            ..DocumentPlace::default()
        };
        self.check();
        self.change.begin();
        self.load();
    }

    /// Opens a document that was read; settings of the command line override its own.
    pub(super) fn take_document(&mut self, opened: OpenedDocument) {
        let given = self.given.take();
        let name = opened.path.display().to_string();
        self.begin(Some(opened.path), opened.file, opened.notes);
        self.file.content = Some(opened.content);
        self.file.outside = opened.outside;
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

    /// Called when sources are read, and assumptions are known.
    pub(super) fn settle_file(&mut self) {
        self.given = None;
        if std::mem::take(&mut self.file.gives_way) {
            self.file = DocumentPlace::default();
        }
        self.file.is_opening = false;
        if self.file.saved.is_none() {
            self.file.saved = Some(self.document.clone());
        }
    }

    /// Keeps a document open where none of its sources can be read, so that they can be located. Returns whether that is the case.
    pub(super) fn keeps_document(&mut self, message: &str) -> bool {
        if !self.file.is_opening {
            return false;
        }
        self.change.forget();
        self.loaded = None;
        self.answers.drop_shown();
        self.settle_file();
        self.problem = Some(message.to_owned());
        true
    }

    fn tell_conflict(&mut self, path: PathBuf) {
        let name = path.display();
        let words = format!("not saved: {name} changed on disk since it was opened or saved");
        self.notice = Some(Notice::Failed(words));
        self.file.conflict = Some(path);
    }

    fn take_saved(&mut self, path: PathBuf, saved: Saved) {
        let Saved { file, content, outside } = saved;
        self.file.content = Some(content);
        // What the user saves is known to the user.
        if let Some(outside) = &outside {
            self.change.allowed_outside.allow(outside);
        }
        self.file.outside = outside;
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
