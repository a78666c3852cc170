//! PyTorch's recordings in the corpus: memory snapshots and profiler traces against the oracle's figures.
//!
//! The corpus is found by the variable `HIGHWATER_SHARED`; without it these tests print "skipped". Whatever lies in the
//! folders and has expected figures is read.

use std::sync::Arc;

use highwater::analysis::{RecordingFigures, inspect};
use highwater::graph::Bindings;
use highwater::import::Imported;
use highwater::workload::{Recording, Source, Workload};
use serde_json::Value as Json;

use crate::support::{files, name, read, shared};

/// Compares figures and keeps what differs.
struct Checked {
    file: String,
    faults: Vec<String>,
}

impl Checked {
    fn check(&mut self, what: &str, ours: u64, expected: &Json) {
        match expected.as_u64() {
            Some(expected) if ours != expected => {
                self.faults
                    .push(format!("{}: {what} {ours}, expected {expected}", self.file));
            }
            _ => {}
        }
    }
}

fn recordings(imported: Imported) -> (Vec<Arc<Recording>>, Vec<RecordingFigures>) {
    let Source::Recordings(recordings) = &imported.source else {
        panic!("recordings")
    };
    for recording in recordings {
        assert_eq!(recording.check(), Ok(()), "{}", recording.name);
    }
    let recordings = recordings.clone();
    let workload = Workload::new(String::new(), imported.source);
    (recordings, inspect(&workload, &Bindings::new()).recordings)
}

fn count(figures: &RecordingFigures, what: &str) -> u64 {
    let mut counts = figures.counts.iter();
    counts.find(|(name, _)| name == what).map_or(0, |(_, count)| *count)
}

fn sum(figures: &[RecordingFigures], of: impl Fn(&RecordingFigures) -> u64) -> u64 {
    figures.iter().map(of).sum()
}

#[test]
fn snapshots_are_the_oracles() {
    let Some(folder) = shared("corpus/fetched/torch_snapshots") else {
        return;
    };
    let expected: Json = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let mut faults = Vec::new();
    let mut n_files = 0;
    for file in files(&folder, "").into_iter().filter(|file| file.is_file()) {
        let oracle = &expected[name(&file).trim_end_matches(".gz")];
        if oracle.is_null() {
            continue;
        }
        n_files += 1;
        let mut checked = Checked {
            file: name(&file),
            faults: Vec::new(),
        };
        match read(&name(&file), &std::fs::read(&file).unwrap()) {
            Ok(imported) => {
                assert_eq!(imported.format, "torch_snapshot");
                let (recordings, figures) = recordings(imported);
                compare_snapshot(&mut checked, (&recordings, &figures), oracle);
            }
            Err(error) => checked.faults.push(format!("{}: {error}", checked.file)),
        }
        faults.append(&mut checked.faults);
    }
    assert!(n_files > 0, "the folder holds snapshots");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn compare_snapshot(
    checked: &mut Checked,
    (recordings, figures): (&[Arc<Recording>], &[RecordingFigures]),
    oracle: &Json,
) {
    for (what, key) in [
        ("segments", "segments"),
        ("blocks", "blocks"),
        ("expandable segments", "expandable"),
        ("total_size", "total_size"),
        ("allocated_size", "allocated_size"),
        ("active_size", "active_size"),
        ("bytes active_allocated", "active_allocated_bytes"),
    ] {
        checked.check(what, sum(figures, |one| count(one, what)), &oracle[key]);
    }
    for (state, expected) in oracle["states"].as_object().into_iter().flatten() {
        let ours = sum(figures, |one| count(one, &format!("blocks {state}")));
        checked.check(&format!("blocks {state}"), ours, expected);
    }
    let reserved = sum(figures, |one| one.reserved_at_end.get());
    checked.check("reserved at the end", reserved, &oracle["total_size"]);
    for (device, trace) in oracle["traces"].as_object().into_iter().flatten() {
        let wanted = format!("device{device}");
        let Some(position) = figures.iter().position(|one| one.name == wanted) else {
            let has_any = trace["actions"].as_object().is_some_and(|actions| !actions.is_empty());
            if has_any {
                checked.faults.push(format!("{}: no {wanted}", checked.file));
            }
            continue;
        };
        compare_device(checked, (&recordings[position], &figures[position]), trace);
        let index: usize = device.parse().unwrap();
        let steps = u64::from(figures[position].steps);
        checked.check("steps", steps, &oracle["trace_lens"][index]);
    }
    let has_frames = recordings.iter().any(|recording| !recording.frames.is_empty());
    assert_eq!(Some(has_frames), oracle["has_frames"].as_bool(), "{}", checked.file);
}

fn compare_device(checked: &mut Checked, (recording, figures): (&Recording, &RecordingFigures), oracle: &Json) {
    for (action, expected) in oracle["actions"].as_object().into_iter().flatten() {
        checked.check(action, count(figures, action), expected);
    }
    let peak = figures.peak_seen.0.get();
    checked.check("peak in the trace", peak, &oracle["peak_of_blocks_allocated_in_trace"]);
    let seen_at_end = figures.live_at_end.get() - figures.older_live_at_end.get();
    checked.check("live at the end", seen_at_end, &oracle["live_at_end"]);
    checked.check(
        "frees of older blocks",
        figures.older_freed,
        &oracle["frees_of_blocks_older_than_trace"],
    );
    checked.check("allocations", figures.blocks, &oracle["actions"]["alloc"]);
    let active = count(figures, "bytes active_allocated");
    checked.check("active", active, &oracle["device_active_allocated"]);
    // The oracle takes requested bytes from held ones here.
    let rest = active.saturating_sub(seen_at_end);
    checked.check(
        "older and live",
        rest,
        &oracle["bytes_allocated_before_trace_and_still_live"],
    );
    let pending: u64 = count(figures, "bytes active_pending_free");
    if figures.held_at_end.get() != active + pending {
        checked.faults.push(format!(
            "{} {}: {} bytes are held at the end, the blocks say {}",
            checked.file,
            recording.name,
            figures.held_at_end.get(),
            active + pending
        ));
    }
}

#[test]
fn profiler_traces_are_the_oracles() {
    let Some(folder) = shared("corpus/made/kineto") else {
        return;
    };
    let mut faults = Vec::new();
    let mut n_files = 0;
    for file in files(&folder, ".trace.json.gz") {
        let expected = name(&file).replace(".trace.json.gz", ".expected.json");
        let Ok(expected) = std::fs::read(folder.join(expected)) else {
            continue;
        };
        let oracle: Json = serde_json::from_slice(&expected).unwrap();
        n_files += 1;
        let mut checked = Checked {
            file: name(&file),
            faults: Vec::new(),
        };
        let imported = read(&name(&file), &std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(imported.format, "chrome_trace");
        let (recordings, figures) = recordings(imported);
        checked.check("events", count(&figures[0], "events of the file"), &oracle["n_events"]);
        let memory = sum(&figures, |one| count(one, "memory events"));
        checked.check("memory events", memory, &oracle["n_memory_events"]);
        checked.check("peak", figures[0].peak.0.get(), &oracle["peak_delta_bytes"]);
        checked.check("live at the end", figures[0].live_at_end.get(), &oracle["end_delta"]);
        let total = &recordings[0].totals[0];
        let (stated, _) = total.peak();
        checked.check("stated peak", stated.get(), &oracle["total_allocated_max"]);
        checked.check("first", total.samples[0].1.get(), &oracle["total_allocated_first"]);
        let named = recordings[0].blocks.iter();
        let named = named
            .filter(|block| recordings[0].text(block.name).starts_with("aten::"))
            .count();
        eprintln!(
            "{}: {named} of {} blocks are named after an op",
            checked.file, figures[0].blocks
        );
        faults.append(&mut checked.faults);
    }
    assert!(n_files > 0, "the folder holds traces");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn nothing_else_of_the_corpus_is_taken_for_a_snapshot_or_a_trace() {
    let Some(folder) = shared("corpus") else {
        return;
    };
    let mut open = vec![folder];
    let mut taken = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let file = std::fs::File::open(&path).unwrap();
            let mut input = highwater::import::Input::new(&name(&path), file).unwrap();
            let found = highwater::import::recognise(&mut input);
            let found = found.map_or("", |row| row.name);
            let text = path.to_string_lossy();
            let is_ours = text.contains("torch_snapshots") || text.contains(".trace.json");
            if !is_ours && (found == "torch_snapshot" || found == "chrome_trace") {
                taken.push(format!("{text}: {found}"));
            }
        }
    }
    assert!(taken.is_empty(), "{}", taken.join("\n"));
}
