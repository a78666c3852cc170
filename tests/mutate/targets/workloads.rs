//! Workloads by an importer or by their content, and recordings under other allocator settings.

use std::cell::Cell;

use highwater::analysis::{AllocatorFit, AllocatorSetting, LogStory, inspect};
use highwater::diagnostics::Diagnostics;
use highwater::graph::Bindings;
use highwater::import::{Imported, Importer, Input, import, import_as};
use highwater::progress::{Cancel, Progress};
use highwater::units::Bytes;
use highwater::workload::Workload;

use super::Readable;

/// Settings to replay under, with the memory of the device.
const SETTINGS: [(&str, Option<Bytes>); 3] = [
    ("", None),
    ("expandable_segments:True", Some(Bytes(8 << 20))),
    (
        "max_split_size_mb:32,garbage_collection_threshold:0.5",
        Some(Bytes(1 << 30)),
    ),
];

fn imported(
    row: Option<&'static Importer>,
    name: &str,
    bytes: &[u8],
    looks: &Cell<u64>,
) -> Option<(&'static str, Workload)> {
    let cancel = Cancel::new();
    let count = |_: &'static str, _: f32| looks.set(looks.get() + 1);
    let progress = Progress::new(&cancel, &count);
    let mut input = Input::from_bytes(name, bytes).expect("memory can be read");
    let imported = match row {
        Some(row) => import_as(&mut input, Some(row), &progress).ok()?,
        None => import(&mut input, &progress).ok()?,
    };
    Some((imported.format, workload(name, imported)))
}

pub(super) fn workload(name: &str, imported: Imported) -> Workload {
    Workload {
        measured: imported.measured,
        ..Workload::new(name.to_owned(), imported.source)
    }
}

/// A workload is inspected.
pub(super) fn read(row: Option<&'static Importer>, name: &str, bytes: &[u8], looks: &Cell<u64>) -> Option<Readable> {
    let (format, workload) = imported(row, name, bytes, looks)?;
    for recording in workload.recordings() {
        assert_eq!(recording.check(), Ok(()), "{}", recording.name);
    }
    drop(LogStory::of_workload(&workload, &Progress::silent(&Cancel::new())));
    // Once with open dimensions, once with a value for each.
    inspect(&workload, &Bindings::new());
    let symbols = workload.symbols();
    if !symbols.is_empty() {
        let bindings: Bindings = symbols.into_iter().map(|symbol| (symbol, 3)).collect();
        inspect(&workload, &bindings);
    }
    Some(Readable::Workload(Imported {
        format,
        source: workload.source,
        measured: workload.measured,
        diagnostics: Diagnostics::new(),
    }))
}

/// The recordings of a file are walked back to their start, compared with the rules of every version, and replayed.
pub(super) fn what_if(name: &str, bytes: &[u8], looks: &Cell<u64>) -> Option<Readable> {
    let (_, workload) = imported(None, name, bytes, looks)?;
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let mut readable = None;
    for recording in workload.recordings() {
        let Ok(fit) = AllocatorFit::new(recording, None, None, &progress) else {
            continue;
        };
        assert!(!fit.sentence().is_empty());
        for (conf, device) in SETTINGS {
            let setting = AllocatorSetting {
                conf: conf.to_owned(),
                version: None,
            };
            if let Ok(run) = fit.simulated(recording, &setting, device, &progress) {
                assert_eq!(run.recording.check(), Ok(()), "{conf}");
            }
        }
        readable = Some(Readable::Other);
    }
    readable
}
