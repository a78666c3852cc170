//! Refuses to overwrite the files that an answer is made from.

use std::path::{Path, PathBuf};

use highwater_analysis::Pin;
use highwater_export::ExportForm;
use highwater_model::progress::{Cancel, Progress};
use highwater_options::{Environment, NamedPaths, Options};

use super::document::SourceSpec;
use super::files::{FileError, all_paths, is_written_config, places, stream_name};
use super::folder::files_of;

/// The kind of a file to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    Document,
    Configuration,
    Other,
}

impl From<ExportForm> for OutputKind {
    fn from(form: ExportForm) -> Self {
        match form {
            ExportForm::Config => Self::Configuration,
            _ => Self::Other,
        }
    }
}

/// The files that settings were read from.
#[derive(Clone, Debug, Default)]
pub struct SettingsFiles {
    /// A configuration may replace one that highwater wrote in JSON.
    pub configurations: Vec<PathBuf>,
    /// Schedules, configurations of pins and baselines.
    pub others: Vec<PathBuf>,
}

/// The files that an answer is made from.
#[derive(Clone, Debug, Default)]
pub struct ReadFiles {
    pub sources: Vec<SourceSpec>,
    /// The paths that options name. Files in folders that options name may be overwritten.
    pub named: NamedPaths,
    pub settings: SettingsFiles,
    /// Only the document itself replaces its file.
    pub document: Option<PathBuf>,
}

impl ReadFiles {
    pub fn new(sources: &[SourceSpec], options: &Options, environment: &Environment, pins: &[Pin]) -> Self {
        Self {
            sources: sources.to_vec(),
            named: all_paths(options, environment, pins),
            ..Self::default()
        }
    }

    /// Adds files that another answer is made from.
    pub fn extend(&mut self, other: Self) {
        self.sources.extend(other.sources);
        self.named.extend(other.named);
        self.settings.others.extend(other.settings.others);
        self.settings.others.extend(other.settings.configurations);
        self.settings.others.extend(other.document);
    }

    /// Refuses a target that is one of the files, by whatever path, or that is in a folder that is a source.
    ///
    /// # Errors
    /// [`FileError::IsSource`], with the name of the file.
    pub fn refuse(&self, path: &Path, kind: OutputKind) -> Result<(), FileError> {
        // A file that does not exist was not read.
        let Some(target) = Target::of(path) else {
            return Ok(());
        };
        if kind == OutputKind::Document && self.document.as_ref().is_some_and(|own| target.is(own)) {
            return Ok(());
        }
        let may_replace = kind == OutputKind::Configuration && is_written_config(path);
        let configurations = self.settings.configurations.iter().filter(|_| !may_replace).cloned();
        let named = self.named.paths.iter();
        let named = named.filter_map(|path| named_file(path, &self.named.folders));
        let sources = self.sources.iter().filter_map(path_of).map(Path::to_owned);
        let mut all = sources
            .chain(named)
            .chain(self.settings.others.iter().cloned())
            .chain(configurations)
            .chain(self.document.clone());
        match all.find(|read| target.was_read_with(read)) {
            None => Ok(()),
            Some(read) => Err(FileError::IsSource {
                name: path.display().to_string(),
                read: stream_name(&read).map_or_else(|| read.display().to_string(), str::to_owned),
            }),
        }
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
        SourceSpec::As { source, .. } | SourceSpec::Within { source, .. } => path_of(source),
        SourceSpec::Sample(_) | SourceSpec::Bytes { .. } => None,
    }
}

/// An existing file that would be overwritten.
struct Target<'a> {
    path: &'a Path,
    identity: Identity,
}

impl<'a> Target<'a> {
    /// `None` if the file does not exist.
    fn of(path: &'a Path) -> Option<Self> {
        let identity = Identity::of(path)?;
        Some(Self { path, identity })
    }

    fn is(&self, path: &Path) -> bool {
        Identity::of(path).as_ref() == Some(&self.identity)
    }

    /// Whether it is a source, or one of the files in a source folder, by its path or by a link in the folder.
    fn was_read_with(&self, source: &Path) -> bool {
        if source.as_os_str() == "-" {
            // The shell may have redirected it from a file.
            let input = Path::new("/dev/stdin");
            return input.is_file() && self.is(input);
        }
        if !source.is_dir() {
            return self.is(source);
        }
        let is_within = || {
            let (target, source) = (self.path.canonicalize(), source.canonicalize());
            target.is_ok_and(|target| source.is_ok_and(|source| target.starts_with(source)))
        };
        let is_linked = || {
            let files = files_of(source, &Progress::silent(&Cancel::new())).map(|found| found.files);
            files.unwrap_or_default().iter().any(|file| self.is(file))
        };
        is_within() || is_linked()
    }
}

/// Identifies a file by any of its names, including hard links.
#[derive(PartialEq, Eq)]
struct Identity(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] PathBuf);

impl Identity {
    /// `None` if the file does not exist. Symbolic links are followed.
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self((metadata.dev(), metadata.ino())))
    }

    #[cfg(not(unix))]
    fn of(path: &Path) -> Option<Self> {
        path.canonicalize().ok().map(Self)
    }
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
        let linked_table = folder.path().join("memory.csv");
        std::fs::hard_link(&table, &linked_table).expect("a link");
        let cases = [
            (model, true),
            (linked, cfg!(unix)),
            (linked_table, cfg!(unix)),
            (folder.path().join("profiler/../net.onnx"), true),
            (table, true),
            (other, false),
            (folder.path().join("profiler/new.csv"), false),
            (folder.path().join("gone.onnx"), false),
        ];
        let read = ReadFiles {
            sources: sources.to_vec(),
            ..ReadFiles::default()
        };
        for (target, is_refused) in cases {
            let answer = read.refuse(&target, OutputKind::Other);
            assert_eq!(answer.is_err(), is_refused, "{}", target.display());
        }
    }

    /// The document lies in a folder that it names as a source.
    #[test]
    fn a_document_in_its_source_folder_is_saved_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let document = folder.path().join("d.highwater");
        std::fs::write(&document, "{}").expect("it can be written");
        let read = ReadFiles {
            sources: vec![SourceSpec::Path(folder.path().to_owned())],
            document: Some(document.clone()),
            ..ReadFiles::default()
        };
        assert!(read.refuse(&document, OutputKind::Document).is_ok());
        assert!(read.refuse(&document, OutputKind::Other).is_err());
    }

    #[test]
    fn only_a_configuration_replaces_a_configuration_that_was_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("it can be written");
            path
        };
        let read = ReadFiles {
            settings: SettingsFiles {
                configurations: vec![
                    file("own.json", "{\"highwater_config\": 1}"),
                    file("options.json", "{\"precision_mode\": \"force_fp16\"}"),
                    file("setup", "export GE_USE_STATIC_MEMORY=2"),
                ],
                others: vec![file("pin.json", "{\"highwater_config\": 1}"), file("s.json", "{}")],
            },
            document: Some(file("d.json", "{\"highwater_document\": 1}")),
            ..ReadFiles::default()
        };
        let kinds = [OutputKind::Document, OutputKind::Configuration, OutputKind::Other];
        for (name, is_replaced) in [
            ("own.json", [false, true, false]),
            ("options.json", [false; 3]),
            ("setup", [false; 3]),
            ("pin.json", [false; 3]),
            ("s.json", [false; 3]),
            ("d.json", [true, false, false]),
            ("new.json", [true; 3]),
        ] {
            let answers = kinds.map(|kind| read.refuse(&folder.path().join(name), kind).is_ok());
            assert_eq!(answers, is_replaced, "{name}");
        }
    }
}
