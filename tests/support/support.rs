//! Shared helpers: reading files into workloads, the corpus, a progress without output.

use std::path::{Path, PathBuf};

use highwater_import::{ImportError, Imported, Input, import};
use highwater_model::progress::{Cancel, Progress};

/// Reads bytes as a file of that name.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Imported, ImportError> {
    let cancel = Cancel::new();
    let mut input = Input::from_bytes(name, bytes)?;
    import(&mut input, &Progress::silent(&cancel))
}

/// A folder of the shared corpus; prints "skipped" and returns `None` without it.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let found = std::env::var_os("HIGHWATER_SHARED").map(|root| Path::new(&root).join(folder));
    let found = found.filter(|path| path.is_dir());
    if found.is_none() {
        eprintln!("skipped: HIGHWATER_SHARED names no folder with {folder}");
    }
    found
}

pub(crate) fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder can be listed")
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    files.sort();
    files
}

pub(crate) fn name(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
