//! Unsaved edits, kept for the case that the program crashes.
//!
//! A separate thread writes the document a second after the last change, whole or not at all, to a file of this instance in
//! the program's data folder. The instance holds a lock on a second file while it runs: edits without a held lock are of a
//! crashed run. They are offered once; meanwhile this instance holds their locks, so that no other one offers them. A clean end
//! removes the files of this instance.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use super::document::{Document, SourceSpec};
use super::document_file::DocumentFile;
use super::persisted::PersistedDocument;
use super::state::Session;
use super::write::write_whole;
use highwater_model::units::counted;

/// The pause after the last change before edits are written.
const QUIET: Duration = Duration::from_secs(1);

/// Edits are written after so many changes without a pause.
const MOST_WAITED: usize = 20;

const MOST_BYTES: u64 = 2 * super::document_file::MOST_DOCUMENT_BYTES;

const EDITS: &str = "edits";
const LOCK: &str = "lock";

enum Message {
    Keep(Option<PathBuf>, Box<DocumentFile>),
    Forget,
    /// Removes the edits of another run, after pending edits of this one are written.
    Discard(Box<Recoverable>),
    Settle(Sender<()>),
}

/// The edits of a crashed run.
#[derive(Debug)]
pub struct Recoverable {
    pub kept: PersistedDocument,
    path: PathBuf,
    /// Held, so that no other instance offers the edits.
    _lock: Option<File>,
}

impl Recoverable {
    /// The name of the document.
    pub fn name(&self) -> String {
        let file = self.kept.path().and_then(Path::file_name);
        match (file, self.kept.read()) {
            (Some(name), _) => name.to_string_lossy().into_owned(),
            (None, Ok(file)) => {
                let titles: Vec<String> = file.document.sources.iter().map(SourceSpec::title).collect();
                format!("{} (never saved)", titles.join(" + "))
            }
            (None, Err(_)) => "a document".to_owned(),
        }
    }

    /// A sentence on the content.
    pub fn sentence(&self) -> String {
        let document = match self.kept.read() {
            Ok(file) => file.document,
            Err(error) => return format!("The edits cannot be read: {error}."),
        };
        let labels: Vec<String> = document.sources.iter().map(SourceSpec::title).collect();
        let count = |count: usize, word: &str| counted(count as u64, word);
        format!(
            "Unsaved edits of {} ({}), with {}, {}, {} and {}.",
            count(labels.len(), "source"),
            labels.join(", "),
            count(
                document.options.overrides().count() + document.environment.iter().count(),
                "setting"
            ),
            count(document.plan.iterations as usize, "iteration"),
            count(document.bookmarks.len(), "bookmark"),
            count(document.pins.len(), "pin"),
        )
    }
}

/// Keeps the edits of a session; removes them when dropped, unless the thread panics.
#[derive(Debug)]
pub struct Recovery {
    messages: Option<Sender<Message>>,
    thread: Option<JoinHandle<()>>,
    /// The last document that was sent.
    last: Option<(Option<PathBuf>, Document)>,
    found: Vec<Recoverable>,
}

impl Recovery {
    /// Finds edits of crashed runs in a folder, and starts the thread.
    ///
    /// # Errors
    /// The error of the operating system where it cannot make the folder or start a thread.
    pub fn start(folder: &Path) -> std::io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let found = left_in(folder);
        let (messages, inbox) = unbounded();
        let folder = folder.to_owned();
        let thread = std::thread::Builder::new()
            .name("highwater-recovery".to_owned())
            .spawn(move || serve(&inbox, Writer { folder, place: None }))?;
        Ok(Self {
            messages: Some(messages),
            thread: Some(thread),
            last: None,
            found,
        })
    }

    /// The first edits to offer.
    pub fn offered(&self) -> Option<&Recoverable> {
        self.found.first()
    }

    pub fn take_offered(&mut self) -> Option<Recoverable> {
        (!self.found.is_empty()).then(|| self.found.remove(0))
    }

    /// Removes offered edits, after everything that was sent before.
    pub fn discard(&self, recoverable: Recoverable) {
        self.send(Message::Discard(Box::new(recoverable)));
    }

    /// Notes the state of the session. O(document) where nothing changed; never waits.
    pub fn note(&mut self, session: &Session) {
        if !session.is_changed() {
            if self.last.take().is_some() {
                self.send(Message::Forget);
            }
            return;
        }
        let path = session.file_path();
        let is_same = self
            .last
            .as_ref()
            .is_some_and(|(known, document)| known.as_deref() == path && document == session.document());
        if !is_same {
            let path = path.map(Path::to_owned);
            self.last = Some((path.clone(), session.document().clone()));
            self.send(Message::Keep(path, Box::new(session.document_file(None))));
        }
    }

    /// Waits until everything is written, for tests.
    pub fn settle(&self) {
        let (done, answer) = unbounded();
        self.send(Message::Settle(done));
        // Without the thread there is nothing to wait for.
        let is_settled = answer.recv().is_ok();
        debug_assert!(is_settled, "the thread lives as long as its handle");
    }

    fn send(&self, message: Message) {
        if let Some(messages) = &self.messages {
            // The thread ends only when this handle is dropped.
            drop(messages.send(message));
        }
    }
}

impl Drop for Recovery {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.send(Message::Forget);
        }
        self.messages = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn serve(inbox: &Receiver<Message>, mut writer: Writer) {
    let mut waiting: Option<(Option<PathBuf>, Box<DocumentFile>)> = None;
    let mut n_waited = 0;
    loop {
        let message = match (&waiting, n_waited) {
            (None, _) => inbox.recv().map_err(RecvTimeoutError::from),
            (Some(_), MOST_WAITED..) => Err(RecvTimeoutError::Timeout),
            (Some(_), _) => inbox.recv_timeout(QUIET),
        };
        let is_over = matches!(message, Err(RecvTimeoutError::Disconnected));
        let is_newer = matches!(message, Ok(Message::Keep(..) | Message::Forget));
        if let Some((path, file)) = waiting.take_if(|_| !is_newer) {
            writer.keep(path.as_deref(), *file);
            n_waited = 0;
        }
        match message {
            Ok(Message::Keep(path, file)) => {
                waiting = Some((path, file));
                n_waited += 1;
            }
            Ok(Message::Forget) => {
                waiting = None;
                n_waited = 0;
                writer.forget();
            }
            Ok(Message::Discard(recoverable)) => discard(&recoverable.path),
            Ok(Message::Settle(done)) => drop(done.send(())),
            Err(_) if is_over => return,
            Err(_) => {}
        }
    }
}

struct Writer {
    folder: PathBuf,
    /// The file of edits, and the locked file; made with the first edits.
    place: Option<(PathBuf, File)>,
}

impl Writer {
    fn keep(&mut self, path: Option<&Path>, file: DocumentFile) {
        let Some(kept) = PersistedDocument::of_file(path, file) else {
            return;
        };
        if self.place.is_none() {
            // Without a file nothing can be recovered; saving reports what is wrong.
            self.place = new_place(&self.folder).ok();
        }
        if let (Some((path, _)), Ok(text)) = (&self.place, serde_json::to_string(&kept)) {
            drop(write_whole(path, text.as_bytes()));
        }
    }

    fn forget(&mut self) {
        if let Some((path, lock)) = self.place.take() {
            discard(&path);
            drop(lock);
        }
    }
}

/// A unique name, and its lock.
fn new_place(folder: &Path) -> std::io::Result<(PathBuf, File)> {
    let suffix = format!(".{LOCK}");
    let lock = tempfile::Builder::new()
        .prefix("run-")
        .suffix(&suffix)
        .tempfile_in(folder)?;
    lock.as_file().lock()?;
    let (file, path) = lock.keep().map_err(|error| error.error)?;
    Ok((path.with_extension(EDITS), file))
}

/// Removes edits, then their lock. Edits that cannot be removed are offered again.
fn discard(path: &Path) {
    drop(std::fs::remove_file(path));
    drop(std::fs::remove_file(path.with_extension(LOCK)));
}

/// The edits of crashed runs in a folder, in order of names, locked by this instance.
fn left_in(folder: &Path) -> Vec<Recoverable> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == EDITS))
        .collect();
    paths.sort();
    paths.into_iter().filter_map(left).collect()
}

fn left(path: PathBuf) -> Option<Recoverable> {
    let lock = match File::open(path.with_extension(LOCK)) {
        Ok(lock) => {
            lock.try_lock().ok()?;
            Some(lock)
        }
        Err(_) => None,
    };
    let is_small = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= MOST_BYTES);
    let bytes = is_small.then(|| std::fs::read(&path).ok()).flatten()?;
    let kept = serde_json::from_slice(&bytes).ok()?;
    Some(Recoverable {
        kept,
        path,
        _lock: lock,
    })
}
