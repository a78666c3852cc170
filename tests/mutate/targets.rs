//! The readers of untrusted bytes: every importer, and what reads documents, scripts, queries and allocator settings.

use std::cell::Cell;
use std::path::Path;
use std::sync::LazyLock;

use highwater::analysis::{Comparison, compare, inspect};
use highwater::diagnostics::Diagnostics;
use highwater::export::{from_json, read_config, to_json};
use highwater::graph::Bindings;
use highwater::import::{IMPORTERS, Imported, Importer, Input, import, import_as, recognise};
use highwater::options::{NoFiles, check};
use highwater::progress::{Cancel, Progress};
use highwater::session::{DocumentFile, options_of};
use highwater::timeline::{Query, Timeline};
use highwater::workload::{SchedulePlan, Workload};
use highwater_torch::{Settings, Version, trial};

use crate::request::request;

/// A reader of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Importer(&'static Importer),
    /// The importer that detection by content finds, packed or not.
    Content,
    /// A `.highwater` file.
    Document,
    /// A search.
    Query,
    /// A configuration: JSON, Python, a notebook, shell, YAML.
    Script,
    /// The text of `PYTORCH_CUDA_ALLOC_CONF`.
    AllocatorSettings,
}

/// The result of a reading without an error.
#[derive(Debug)]
pub(crate) enum Readable {
    Workload(Imported),
    Other,
}

impl Target {
    /// Every target, in the order of [`IMPORTERS`].
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let others = [
            Self::Content,
            Self::Document,
            Self::Query,
            Self::Script,
            Self::AllocatorSettings,
        ];
        IMPORTERS.iter().map(Self::Importer).chain(others)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Importer(row) => row.name,
            Self::Content => "content",
            Self::Document => "document",
            Self::Query => "query",
            Self::Script => "script",
            Self::AllocatorSettings => "allocator_settings",
        }
    }

    /// Allocations and progress checks allowed per byte.
    pub(crate) const fn work_a_byte(self) -> u64 {
        match self {
            // Expressions are compiled; calls within calls are warned of one by one.
            Self::Query => 200,
            Self::Script => 100,
            _ => 4,
        }
    }

    /// Allocations and progress checks that are always allowed: damage turns small files into other formats, and
    /// messages cost allocations.
    pub(crate) const fn least_work(self) -> u64 {
        match self {
            // A document with rules for call stacks compiles the built-in ones again.
            Self::Document => 1_000_000,
            _ => 50_000,
        }
    }

    /// The target of a file, by its ending, else by its content.
    pub(crate) fn of_file(name: &str, bytes: &[u8]) -> Option<Self> {
        match name.rsplit('.').next() {
            Some("highwater") => Some(Self::Document),
            Some("query") => Some(Self::Query),
            Some("conf") => Some(Self::AllocatorSettings),
            Some("py" | "sh" | "ipynb" | "yaml" | "yml") => Some(Self::Script),
            _ => recognise(&mut Input::from_bytes(name, bytes).ok()?).map(Self::Importer),
        }
    }

    /// Reads bytes as a file of a name; `looks` counts progress checks. `None` after an error.
    pub(crate) fn read(self, name: &str, bytes: &[u8], looks: &Cell<u64>) -> Option<Readable> {
        match self {
            Self::Importer(row) => read_workload(Some(row), name, bytes, looks),
            Self::Content => read_workload(None, name, bytes, looks),
            Self::Document => read_document(bytes),
            Self::Query => search(bytes),
            Self::Script => read_script(name, bytes),
            Self::AllocatorSettings => read_allocator_settings(bytes),
        }
    }
}

fn read_workload(row: Option<&'static Importer>, name: &str, bytes: &[u8], looks: &Cell<u64>) -> Option<Readable> {
    let cancel = Cancel::new();
    let count = |_: &'static str, _: f32| looks.set(looks.get() + 1);
    let progress = Progress::new(&cancel, &count);
    let mut input = Input::from_bytes(name, bytes).expect("memory can be read");
    let imported = match row {
        Some(row) => import_as(&mut input, Some(row), &progress).ok()?,
        None => import(&mut input, &progress).ok()?,
    };
    let workload = workload(name, imported);
    for recording in workload.recordings() {
        assert_eq!(recording.check(), Ok(()), "{}", recording.name);
    }
    // Once with open dimensions, once with a value for each.
    inspect(&workload, &Bindings::new());
    let symbols = workload.symbols();
    if !symbols.is_empty() {
        let bindings: Bindings = symbols.into_iter().map(|symbol| (symbol, 3)).collect();
        inspect(&workload, &bindings);
    }
    Some(Readable::Workload(Imported {
        format: "",
        source: workload.source,
        measured: workload.measured,
        diagnostics: Diagnostics::new(),
    }))
}

pub(crate) fn workload(name: &str, imported: Imported) -> Workload {
    Workload {
        measured: imported.measured,
        ..Workload::new(name.to_owned(), imported.source)
    }
}

/// A document is read, written, and read again as the same document.
fn read_document(bytes: &[u8]) -> Option<Readable> {
    let folder = Path::new("/models");
    let (file, _) = DocumentFile::read(bytes, Some(folder)).ok()?;
    if let Ok(text) = file.text(Some(folder)) {
        let again = DocumentFile::read(text.as_bytes(), Some(folder));
        let (again, _) = again.unwrap_or_else(|error| panic!("a written document cannot be read: {error}\n{text}"));
        assert_eq!(
            again.text(Some(folder)).as_ref(),
            Ok(&text),
            "a document changes when it is written again"
        );
    }
    Some(Readable::Other)
}

/// A script's options are checked; its document survives JSON.
fn read_script(name: &str, bytes: &[u8]) -> Option<Readable> {
    let (document, _) = read_config(name, bytes).ok()?;
    check(&options_of(&document), &document.environment, &NoFiles);
    let text = to_json(&document);
    let again = from_json(text.as_bytes());
    let (again, _) = again.unwrap_or_else(|error| panic!("a written configuration cannot be read: {error}\n{text}"));
    assert_eq!(
        to_json(&again),
        text,
        "a configuration changes when it is written again"
    );
    Some(Readable::Other)
}

/// A query is evaluated over a small training graph; an error is within the text.
fn search(bytes: &[u8]) -> Option<Readable> {
    static SEARCHED: LazyLock<(Comparison, Timeline)> = LazyLock::new(|| {
        let bytes = include_bytes!("seeds/training.json");
        let read = read_workload(None, "training.json", bytes, &Cell::new(0));
        let Some(Readable::Workload(imported)) = read else {
            panic!("the seed is readable");
        };
        let mut plan = SchedulePlan::default();
        plan.dims.insert("batch".to_owned(), vec![4]);
        let request = request(workload("training", imported), plan);
        let comparison = compare(&request, &Progress::silent(&Cancel::new())).expect("the seed can be compared");
        let timeline = Timeline::new(&comparison);
        (comparison, timeline)
    });
    let text = String::from_utf8_lossy(bytes);
    let query = match Query::parse(&text) {
        Ok(query) => query,
        Err(error) => {
            assert!((1..=text.chars().count() + 1).contains(&error.at), "{error}");
            return None;
        }
    };
    let (comparison, timeline) = &*SEARCHED;
    let matches = query.matches(comparison, timeline, 0, &Progress::silent(&Cancel::new()));
    let matches = matches.expect("no cancel");
    assert_eq!(matches.numbers().count(), matches.len(), "{text}");
    Some(Readable::Other)
}

fn read_allocator_settings(bytes: &[u8]) -> Option<Readable> {
    let text = String::from_utf8_lossy(bytes);
    let mut readable = None;
    for version in Version::all() {
        if let Ok(settings) = Settings::parse(&text, version) {
            trial(settings);
            readable = Some(Readable::Other);
        }
    }
    readable
}
