//! The files below a folder, sorted, and counts of what is skipped: links to folders, too deep folders, unreadable ones.
//!
//! Invariants: links to folders are not followed; depth and number are limited, so that a wrong folder does no harm.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use crate::files::FileError;
use crate::special_files::special_kind;
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_timeline::natural_order;

const MOST_LEVELS: usize = 8;

/// Files that hold all of their folder.
const WHOLE_FOLDER: &[&str] = &["saved_model.pb", "saved_model.pbtxt"];

pub(in super::super) const MOST_FILES: usize = 20_000;

#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Regular files in natural order of their paths.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) passed: Passed,
}

/// Skipped entries: the count of each kind, and the first.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    links: Vec<PathBuf>,
    deep: Vec<PathBuf>,
    closed: Vec<PathBuf>,
}

impl Passed {
    /// A warning per kind, with the first entry.
    pub(super) fn diagnostics(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        let deep = format!("a folder more than {MOST_LEVELS} levels deep is skipped; open it directly");
        for (folders, message) in [
            (
                &self.links,
                "a link to a folder is not followed; open its target directly",
            ),
            (&self.deep, deep.as_str()),
            (&self.closed, "a folder cannot be read; check its permissions"),
        ] {
            if let Some(first) = folders.first() {
                let place = first.display().to_string();
                diagnostics.counted(Severity::Warning, message.to_owned(), &place, folders.len() as u64);
            }
        }
        diagnostics
    }
}

/// The regular files below a folder, sorted.
///
/// # Errors
/// The message of the system on the folder itself; unreadable folders in it are skipped.
pub(crate) fn files_of(folder: &Path, progress: &Progress<'_>) -> Result<Found, FileError> {
    let mut found = Found::default();
    let mut waiting = vec![(folder.to_owned(), 0_usize)];
    while let Some((path, level)) = waiting.pop() {
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(reason) if level == 0 => {
                return Err(FileError::Io {
                    name: folder.display().to_string(),
                    action: "read",
                    reason,
                });
            }
            Err(_) => {
                found.passed.closed.push(path);
                continue;
            }
        };
        // The system's order is arbitrary.
        let mut entries: Vec<std::fs::DirEntry> = entries.flatten().collect();
        entries.sort_by(|one, other| by_number(&one.path(), &other.path()));
        for entry in entries {
            progress
                .check()
                .map_err(|cancelled| FileError::import(folder, cancelled.into()))?;
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let Ok(kind) = entry.file_type() else { continue };
            if is_hidden || found.files.len() >= MOST_FILES {
                continue;
            }
            if kind.is_dir() {
                if level + 1 < MOST_LEVELS {
                    waiting.push((entry.path(), level + 1));
                } else {
                    found.passed.deep.push(entry.path());
                }
                continue;
            }
            match std::fs::metadata(entry.path()) {
                Ok(metadata) if metadata.is_file() && !(kind.is_symlink() && special_kind(&entry.path()).is_some()) => {
                    found.files.push(entry.path());
                }
                Ok(metadata) if metadata.is_dir() => found.passed.links.push(entry.path()),
                _ => {}
            }
        }
    }
    found.files.sort_by(|one, other| by_number(one, other));
    let Passed { links, deep, closed } = &mut found.passed;
    for folders in [links, deep, closed] {
        folders.sort();
    }
    found.files = without_parts(found.files);
    Ok(found)
}

/// `rank2` before `rank10`, name by name.
fn by_number(one: &Path, other: &Path) -> Ordering {
    let names = one.components().zip(other.components());
    let mut orders = names.map(|(one, other)| {
        let [one, other] = [one, other].map(|name| name.as_os_str().as_encoded_bytes());
        natural_order(one, other)
    });
    let least = || one.components().count().cmp(&other.components().count());
    orders.find(|order| order.is_ne()).unwrap_or_else(least)
}

/// Of a folder with a file that holds all of it, that file alone.
fn without_parts(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let is_whole = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| WHOLE_FOLDER.contains(&name.as_str()))
    };
    let wholes: Vec<PathBuf> = files.iter().filter(|path| is_whole(path)).cloned().collect();
    let represents = |path: &PathBuf| {
        let mut folders = wholes.iter().filter_map(|whole| whole.parent());
        folders.any(|folder| path.starts_with(folder))
    };
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in files {
        if wholes.contains(&path) || !represents(&path) {
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::progress::Cancel;

    #[test]
    fn files_are_sorted_and_a_saved_model_is_one_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        std::fs::create_dir_all(root.join("rank1/out")).expect("a folder");
        std::fs::create_dir_all(root.join("model/variables")).expect("a folder");
        for name in [
            "rank1/out/b.csv",
            "a.csv",
            ".hidden",
            "model/saved_model.pb",
            "model/variables/variables.index",
        ] {
            std::fs::write(root.join(name), "x").expect("a file");
        }
        let cancel = Cancel::new();
        let files = files_of(root, &Progress::silent(&cancel)).expect("readable").files;
        let inside: Vec<String> = files
            .iter()
            .map(|path| path.strip_prefix(root).expect("inside").display().to_string())
            .collect();
        assert_eq!(inside, ["a.csv", "model/saved_model.pb", "rank1/out/b.csv"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_passed_over_is_counted_with_an_example() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let deep = root.join("1/2/3/4/5/6/7/8/9");
        std::fs::create_dir_all(&deep).expect("folders");
        std::fs::write(deep.join("x.csv"), "x").expect("a file");
        std::fs::write(root.join("a.csv"), "x").expect("a file");
        std::os::unix::fs::symlink(root.join("1"), root.join("one")).expect("a link");
        std::os::unix::fs::symlink(root.join("a.csv"), root.join("b.csv")).expect("a link");
        let cancel = Cancel::new();
        let found = files_of(root, &Progress::silent(&cancel)).expect("readable");
        assert_eq!(found.files, [root.join("a.csv"), root.join("b.csv")]);
        let said: Vec<(String, String, u64)> = found
            .passed
            .diagnostics()
            .entries()
            .iter()
            .map(|entry| (entry.message.clone(), entry.place.clone(), entry.count))
            .collect();
        assert!(
            said[0].0.contains("link") && said[0].1.ends_with("/one") && said[0].2 == 1,
            "{said:?}"
        );
        assert!(
            said[1].0.contains("8 levels") && said[1].1.ends_with("/7/8"),
            "{said:?}"
        );
    }

    #[test]
    fn a_folder_that_is_not_there_is_said() {
        let cancel = Cancel::new();
        let missing = files_of(Path::new("/no/such/folder"), &Progress::silent(&cancel));
        assert!(missing.is_err_and(|error| error.to_string().contains("/no/such/folder")));
    }

    #[test]
    fn names_are_ordered_one_by_one() {
        let expected = [
            "a/rank0/x",
            "a/rank02/y",
            "a/rank2/x",
            "a/rank10/x",
            "a/ranks",
            "b",
            "b/1",
        ];
        let mut paths = expected;
        paths.reverse();
        paths.sort_by(|one, other| by_number(Path::new(one), Path::new(other)));
        assert_eq!(paths, expected);
    }
}
