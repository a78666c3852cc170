//! The readers of untrusted bytes, a row each: every importer, and what reads documents, configurations, schedules,
//! settings, answers, allocator commands and recordings.
//!
//! `fuzz/` reads the same table.

mod allocator;
mod compared;
mod files;
mod history;
mod request;
mod texts;
mod workloads;

use std::cell::Cell;

pub(crate) use compared::compared;
use highwater::import::{IMPORTERS, Imported, Importer, Input, recognise};
use highwater::session::Document;

/// A reader of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Importer(&'static Importer),
    Reader(&'static Reader),
}

/// The result of a reading without an error.
#[derive(Debug)]
pub(crate) enum Readable {
    Workload(Imported),
    /// Settings for any workload.
    Settings(Box<Document>),
    Other,
}

/// What reads bytes that are no workload, or reads workloads in another way.
#[derive(Debug)]
pub(crate) struct Reader {
    name: &'static str,
    /// Ends the names of its samples.
    endings: &'static [&'static str],
    /// Whether an importer reads such samples, too.
    has_workloads: bool,
    /// Allocations and progress checks allowed per byte.
    work_a_byte: u64,
    /// The number of them that is always allowed.
    least_work: u64,
    /// Gets a file name, the bytes and a counter of progress checks; `None` after an error.
    read: fn(&str, &[u8], &Cell<u64>) -> Option<Readable>,
}

/// Damage turns small files into other formats, and messages cost allocations.
const LEAST_WORK: u64 = 50_000;

const WORK_A_BYTE: u64 = 4;

/// Endings of files that options name, one for each form.
const FORMS_OF_OPTION_FILES: [&str; 7] = [
    "mixlist",
    "switches",
    "precision",
    "aoe",
    "dtypes",
    "op_cache",
    "op_debug",
];

const fn reader(
    name: &'static str,
    endings: &'static [&'static str],
    read: fn(&str, &[u8], &Cell<u64>) -> Option<Readable>,
) -> Reader {
    Reader {
        name,
        endings,
        has_workloads: false,
        work_a_byte: WORK_A_BYTE,
        least_work: LEAST_WORK,
        read,
    }
}

const READERS: &[Reader] = &[
    // The importer that detection by content finds, packed or not.
    reader("content", &[], |name, bytes, looks| {
        workloads::read(None, name, bytes, looks)
    }),
    // Recorded allocations under other settings.
    Reader {
        has_workloads: true,
        // Every version and order of ties is tried.
        work_a_byte: 200,
        least_work: 1_000_000,
        ..reader("what_if", &["snapshot"], workloads::what_if)
    },
    Reader {
        // A document with rules for call stacks compiles the built-in ones again.
        least_work: 1_000_000,
        ..reader("document", &["highwater"], |_, bytes, _| files::document(bytes))
    },
    Reader {
        // Calls within calls are warned of one by one.
        work_a_byte: 100,
        ..reader("script", &["py", "sh", "ipynb", "yaml", "yml"], |name, bytes, _| {
            files::script(name, bytes)
        })
    },
    reader("schedule", &["schedule"], |_, bytes, _| files::schedule(bytes)),
    Reader {
        work_a_byte: 100,
        ..reader("option_file", &FORMS_OF_OPTION_FILES, |_, bytes, _| {
            files::option_file(bytes)
        })
    },
    Reader {
        least_work: 1_000_000,
        ..reader("kept", &["kept"], |_, bytes, _| files::kept(bytes))
    },
    Reader {
        work_a_byte: 100,
        ..reader("answer", &["answer"], |_, bytes, _| files::answer(bytes))
    },
    Reader {
        // A name near each unknown one is found.
        work_a_byte: 500,
        ..reader("settings", &["settings"], |_, bytes, _| texts::settings(bytes))
    },
    Reader {
        work_a_byte: 200,
        ..reader("words", &["words"], |_, bytes, _| texts::words(bytes))
    },
    Reader {
        // Expressions are compiled.
        work_a_byte: 200,
        ..reader("query", &["query"], |_, bytes, _| texts::query(bytes))
    },
    reader("allocator_settings", &["conf"], |_, bytes, _| {
        allocator::settings(bytes)
    }),
    Reader {
        has_workloads: true,
        work_a_byte: 20,
        ..reader("allocator_commands", &["trace"], |_, bytes, _| {
            allocator::commands(bytes)
        })
    },
    Reader {
        work_a_byte: 200,
        ..reader("allocator_history", &["history"], |_, bytes, _| history::read(bytes))
    },
];

impl Target {
    /// Every target: [`IMPORTERS`], then the others.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        IMPORTERS
            .iter()
            .map(Self::Importer)
            .chain(READERS.iter().map(Self::Reader))
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::all().find(|target| target.name() == name)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Importer(row) => row.name,
            Self::Reader(row) => row.name,
        }
    }

    /// Allocations and progress checks allowed per byte.
    pub(crate) const fn work_a_byte(self) -> u64 {
        match self {
            Self::Importer(_) => WORK_A_BYTE,
            Self::Reader(row) => row.work_a_byte,
        }
    }

    /// Allocations and progress checks that are always allowed.
    pub(crate) const fn least_work(self) -> u64 {
        match self {
            Self::Importer(_) => LEAST_WORK,
            Self::Reader(row) => row.least_work,
        }
    }

    /// The targets of a file: by its ending, and by its content where that may be a workload.
    pub(crate) fn of_file(name: &str, bytes: &[u8]) -> Vec<Self> {
        let ending = name.rsplit('.').next().unwrap_or("");
        let readers = READERS.iter().filter(|row| row.endings.contains(&ending));
        let mut targets: Vec<Self> = readers.clone().map(Self::Reader).collect();
        if readers.clone().all(|row| row.has_workloads) {
            let input = Input::from_bytes(name, bytes).ok();
            let found = input.and_then(|mut input| recognise(&mut input));
            targets.extend(found.map(Self::Importer));
        }
        targets
    }

    /// Reads bytes as a file of a name; `looks` counts progress checks. `None` after an error.
    pub(crate) fn read(self, name: &str, bytes: &[u8], looks: &Cell<u64>) -> Option<Readable> {
        match self {
            Self::Importer(row) => workloads::read(Some(row), name, bytes, looks),
            Self::Reader(row) => (row.read)(name, bytes, looks),
        }
    }
}
