//! Paths of sources, relative to the document's folder.
//!
//! A document names its sources by relative paths alone, with `/` between names, so that it can be moved together with
//! them and does not reveal folders of the machine. The program's own files have absolute paths.

use std::path::{Component, Path, PathBuf};

use crate::persisted::PersistedSource;

/// Before the name of a bundled sample.
const SAMPLE: &str = "sample:";

/// The source as a document in a folder names it; without a folder (the program's own files) paths stay absolute.
pub(super) fn placed(mut source: PersistedSource, folder: Option<&Path>) -> PersistedSource {
    let of_another_version = source.path.as_deref().and_then(|path| path.rsplit_once(SAMPLE));
    if let Some((_, name)) =
        of_another_version.filter(|_| !source.path.as_ref().is_some_and(|path| Path::new(path).exists()))
    {
        source.sample = Some(name.to_owned());
        source.path = None;
    }
    if let (Some(folder), Some(path)) = (folder, &source.path)
        && let Some(relative) = relative(Path::new(path), folder)
    {
        source.path = Some(relative);
    }
    source
}

/// The source that a document in a folder names.
pub(super) fn found(source: &PersistedSource, folder: Option<&Path>) -> PersistedSource {
    let mut found = source.clone();
    if let (None, Some(name)) = (&found.path, &found.sample)
        && crate::sample(name).is_none()
    {
        found.path = Some(format!("{SAMPLE}{name}"));
        return found;
    }
    if let (Some(folder), Some(path)) = (folder, &found.path) {
        let joined = folder.join(Path::new(path));
        found.path = Some(without_dots(&joined).display().to_string());
    }
    found
}

/// The relative path from a folder; `None` on another drive, or where a name is no text.
pub(crate) fn relative(path: &Path, folder: &Path) -> Option<String> {
    if let Ok(below) = path.strip_prefix(folder) {
        return words(below);
    }
    let folder = folder.canonicalize().ok()?;
    let parent = path.parent()?.canonicalize().ok()?;
    let path = parent.join(path.file_name()?);
    let n_common = folder
        .components()
        .zip(path.components())
        .take_while(|(a, b)| a == b)
        .count();
    if n_common == 0 {
        return None;
    }
    let up = folder.components().skip(n_common).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(path.components().skip(n_common)).collect();
    words(&way)
}

fn words(path: &Path) -> Option<String> {
    let words: Option<Vec<&str>> = path
        .components()
        .map(|component| component.as_os_str().to_str())
        .collect();
    let text = words?.join("/");
    Some(if text.is_empty() { ".".to_owned() } else { text })
}

/// The path without `.` and `..`, where the file system allows that.
fn without_dots(path: &Path) -> PathBuf {
    let has_dots = path.components().any(|component| component == Component::ParentDir);
    let real = has_dots.then(|| path.canonicalize().ok()).flatten();
    real.unwrap_or_else(|| path.components().filter(|part| *part != Component::CurDir).collect())
}
