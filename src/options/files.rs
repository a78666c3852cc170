//! Files that options name, as rules see them: through a trait, so that no rule touches a disk.
//!
//! Whoever owns a disk (the command line, the session's worker) looks and keeps what was seen; tests make it up.

use std::collections::BTreeMap;
use std::sync::Arc;

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// Nobody looked (yet): rules about the file stay silent.
    Unknown,
    /// Nothing.
    Missing,
    /// A directory.
    Directory {
        /// Whether it can be read and written.
        is_writable: bool,
    },
    /// A file with this content.
    File(Arc<[u8]>),
    /// A file that could not be read, and why.
    Unreadable(String),
}

/// Looks at paths, as they stand in options: absolute, or relative to where the script runs.
pub trait Files: std::fmt::Debug {
    /// What stands at a path.
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

/// Files as they were when somebody looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenFiles {
    states: BTreeMap<String, FileState>,
}

impl SeenFiles {
    /// Notes what stands at a path.
    pub fn insert(&mut self, path: &str, state: FileState) {
        self.states.insert(path.to_owned(), state);
    }

    /// Whether somebody looked at a path.
    pub fn has(&self, path: &str) -> bool {
        self.states.contains_key(path)
    }
}

impl Files for SeenFiles {
    fn look(&self, path: &str) -> FileState {
        self.states.get(path).cloned().unwrap_or(FileState::Unknown)
    }
}
