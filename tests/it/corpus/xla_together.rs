//! Files of one XLA dump, opened together or from one folder, written by hand.

use std::path::Path;

use highwater::progress::{Cancel, Progress};
use highwater::session::{Loaded, OnFailure, SourceSpec, load};

const MODULE: &str = "HloModule f, is_scheduled=true\n\nENTRY %main {\n  %x = f32[4]{0} parameter(0)\n  %a = f32[4]{0} \
                      negate(%x)\n  ROOT %b = f32[4]{0} negate(%a)\n}\n";
const ASSIGNMENT: &str = "BufferAssignment:\nallocation 0: size 32, preallocated-temp:\n value: <1 a @0> \
                          (size=16,offset=0): f32[4]{0}\n value: <2 b @0> (size=16,offset=16): f32[4]{0}\n";
const RANGES: &str = "HloLiveRange (max 3):\n  InstructionSequence:\n    0:x\n    1:a\n    2:b\n  BufferLiveRange:\n    \
                      a{}:1-2\n    b{}:2-3\n";
const OTHER: &str = "HloModule g\n\nENTRY %main {\n  ROOT %other = f32[4]{0} parameter(0)\n}\n";

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn opened(paths: &[&Path]) -> Loaded {
    let sources: Vec<SourceSpec> = paths.iter().map(|path| SourceSpec::Path((*path).to_owned())).collect();
    let cancel = Cancel::new();
    load(&sources, false, OnFailure::Stop, &Progress::silent(&cancel)).unwrap_or_else(|error| panic!("{error}"))
}

/// Number of offsets that the arenas of the graph or the problems state.
fn offsets(loaded: &Loaded) -> usize {
    let of_graphs = loaded.workload.graphs().iter().filter_map(|entry| entry.dumped.clone());
    let arenas = of_graphs.flat_map(|dumped| dumped.arenas.clone());
    let all = arenas.chain(loaded.workload.problems().iter().cloned());
    all.filter_map(|entry| entry.recorded.as_ref().map(|plan| plan.offsets.len()))
        .sum()
}

#[test]
fn a_folder_of_two_texts_is_one_arena() {
    let folder = folder(&[("buffer-assignment.txt", ASSIGNMENT), ("live-range.txt", RANGES)]);
    let loaded = opened(&[folder.path()]);
    assert_eq!((loaded.workload.problems().len(), offsets(&loaded)), (1, 2));
}

#[test]
fn a_module_joins_its_texts_in_a_folder() {
    let folder = folder(&[
        ("m.after.txt", MODULE),
        ("m.after-buffer-assignment.txt", ASSIGNMENT),
        ("m.after-live-range.txt", RANGES),
        ("m.before.txt", OTHER),
    ]);
    let loaded = opened(&[folder.path()]);
    assert_eq!((loaded.workload.graphs().len(), offsets(&loaded)), (2, 2));
    assert!(loaded.workload.problems().is_empty());
}

#[test]
fn texts_join_among_other_sources_and_reports_stay_in_order() {
    let folder = folder(&[
        ("live-range.txt", RANGES),
        ("other.txt", OTHER),
        ("buffer-assignment.txt", ASSIGNMENT),
    ]);
    let path = |name: &str| folder.path().join(name);
    let (ranges, other, assignment) = (path("live-range.txt"), path("other.txt"), path("buffer-assignment.txt"));
    // The module is of another dump: its names are not those of the live ranges.
    let loaded = opened(&[&ranges, &other, &assignment]);
    assert_eq!(loaded.reports.len(), 3);
    assert_eq!(loaded.workload.graphs().len(), 1);
    let pair = opened(&[&assignment, &ranges]);
    assert_eq!(
        (pair.workload.problems().len(), offsets(&pair), pair.reports.len()),
        (1, 2, 2)
    );
}

#[test]
fn a_pair_with_an_unrelated_module_is_still_joined() {
    let folder = folder(&[
        ("live-range.txt", RANGES),
        ("buffer-assignment.txt", ASSIGNMENT),
        ("strange.txt", OTHER),
    ]);
    let loaded = opened(&[folder.path()]);
    let said = loaded.diagnostics.entries();
    assert_eq!(loaded.workload.graphs().len(), 1);
    assert!(
        !said
            .iter()
            .any(|entry| entry.message.contains("counts as held all run")),
        "{said:?}"
    );
}
