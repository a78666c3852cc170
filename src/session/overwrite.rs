//! Refuses to overwrite by results what they are made of.

use std::path::{Path, PathBuf};

use highwater_analysis::Pin;
use highwater_options::{Environment, NamedPaths, Options};

use super::document::SourceSpec;
use super::files::{FileError, all_paths, places};

/// What an answer is made of, besides configurations.
#[derive(Clone, Debug, Default)]
pub struct ReadFiles {
    pub sources: Vec<SourceSpec>,
    /// The paths that options name.
    pub named: NamedPaths,
}

impl ReadFiles {
    pub fn new(sources: &[SourceSpec], options: &Options, environment: &Environment, pins: &[Pin]) -> Self {
        Self {
            sources: sources.to_vec(),
            named: all_paths(options, environment, pins),
        }
    }

    /// Refuses a target that is a source, in a folder that is one, or a file that an option names. Folders that options name
    /// are written into.
    ///
    /// # Errors
    /// [`FileError::IsSource`], with the name of the file.
    pub fn refuse(&self, target: &Path) -> Result<(), FileError> {
        refuse_source(target, &self.sources)?;
        let files = self.named.paths.iter();
        let files = files.filter_map(|path| named_file(path, &self.named.folders));
        let files: Vec<SourceSpec> = files.map(SourceSpec::Path).collect();
        refuse_source(target, &files)
    }
}

/// The regular file that an option means.
fn named_file(path: &str, folders: &[String]) -> Option<PathBuf> {
    let found = places(path, folders).find(|place| place.exists());
    found.filter(|place| place.is_file())
}

fn path_of(source: &SourceSpec) -> Option<&Path> {
    match source {
        SourceSpec::Path(path) => Some(path),
        SourceSpec::As { source, .. } => path_of(source),
        SourceSpec::Sample(_) | SourceSpec::Bytes { .. } => None,
    }
}

/// Refuses a target that is a source, or in a folder that is one, by whatever path.
///
/// # Errors
/// [`FileError::IsSource`], with the name of the source.
pub fn refuse_source(target: &Path, sources: &[SourceSpec]) -> Result<(), FileError> {
    // A file that does not exist is no source.
    let Ok(known) = target.canonicalize() else {
        return Ok(());
    };
    let is_it = |source: &Path| is_one_file(source, &known) || (source.is_dir() && known.starts_with(source));
    let paths = sources.iter().filter_map(path_of);
    let found = paths.filter(|path| path.canonicalize().is_ok_and(|path| is_it(&path)));
    match found.map(|path| path.display().to_string()).next() {
        None => Ok(()),
        Some(read) => Err(FileError::IsSource {
            name: target.display().to_string(),
            read,
        }),
    }
}

/// Whether two paths are names of one file. Hard links are.
#[cfg(unix)]
fn is_one_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |path: &Path| std::fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()));
    one == other || matches!((place(one), place(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(not(unix))]
fn is_one_file(one: &Path, other: &Path) -> bool {
    one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_known_by_every_path_to_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
            std::fs::write(&path, "x").expect("it can be written");
            path
        };
        let (model, other, table) = (file("net.onnx"), file("other.onnx"), file("profiler/ASCEND/memory.csv"));
        let sources = [
            SourceSpec::As {
                source: Box::new(SourceSpec::Path(model.clone())),
                format: "onnx",
            },
            SourceSpec::Path(folder.path().join("profiler")),
            SourceSpec::Path(folder.path().join("gone.onnx")),
        ];
        let linked = folder.path().join("linked.onnx");
        std::fs::hard_link(&model, &linked).expect("a link");
        let cases = [
            (model, true),
            (linked, cfg!(unix)),
            (folder.path().join("profiler/../net.onnx"), true),
            (table, true),
            (other, false),
            (folder.path().join("profiler/new.csv"), false),
            (folder.path().join("gone.onnx"), false),
        ];
        for (target, is_refused) in cases {
            let answer = refuse_source(&target, &sources);
            assert_eq!(answer.is_err(), is_refused, "{}", target.display());
        }
    }
}
