//! Files that options name, behind a trait, so that no rule touches a disk. The command line and the session's worker
//! probe paths; tests make them up.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// Not probed (yet): rules about the file report nothing.
    Unknown,
    /// Nothing exists there.
    Missing,
    Directory {
        /// Whether it can be read and written.
        is_writable: bool,
    },
    File(Arc<[u8]>),
    /// A file that could not be read, and why.
    Unreadable(String),
}

/// Looks at paths as options state them: absolute, or relative to where the script runs.
pub trait Files: std::fmt::Debug {
    fn look(&self, path: &str) -> FileState;
}

/// No files: every path is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn look(&self, _path: &str) -> FileState {
        FileState::Unknown
    }
}

/// Files as last probed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenFiles {
    states: BTreeMap<String, FileState>,
}

impl SeenFiles {
    pub fn insert(&mut self, path: &str, state: FileState) {
        self.states.insert(path.to_owned(), state);
    }

    pub fn has(&self, path: &str) -> bool {
        self.states.contains_key(path)
    }
}

impl Files for SeenFiles {
    fn look(&self, path: &str) -> FileState {
        self.states.get(path).cloned().unwrap_or(FileState::Unknown)
    }
}
