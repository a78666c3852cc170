//! PyTorch's recordings in the corpus: memory snapshots and profiler traces against the oracle's figures.
//!
//! The corpus is found by the variable `HIGHWATER_SHARED`; without it these tests print "skipped". All files with
//! expected figures are read.

use std::sync::{Arc, LazyLock};

use highwater::analysis::{RecordingFigures, inspect};
use highwater::graph::Bindings;
use highwater::import::Imported;
use highwater::workload::{BlockAddress, Recording, Source, Workload};
use serde_json::Value as Json;

use crate::support::{files, name, read, shared};

/// The oracle's value where it counts nothing of a kind.
static ZERO: LazyLock<Json> = LazyLock::new(|| Json::from(0));

/// Compares figures and keeps the differences; a figure that the oracle lacks is a fault too.
struct Checked {
    file: String,
    faults: Vec<String>,
}

impl Checked {
    fn check(&mut self, what: &str, ours: u64, expected: &Json) {
        match expected.as_u64() {
            Some(expected) if ours == expected => {}
            Some(expected) => self.fault(&format!("{what} {ours}, expected {expected}")),
            None => self.fault(&format!("the oracle says nothing of {what}; we say {ours}")),
        }
    }

    /// A number that is left out where it is 0.
    fn check_or_zero(&mut self, what: &str, ours: u64, expected: &Json) {
        self.check(what, ours, if expected.is_null() { &ZERO } else { expected });
    }

    fn fault(&mut self, what: &str) {
        self.faults.push(format!("{}: {what}", self.file));
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
            let is_snapshot = [".pickle", ".pkl"].iter().any(|ending| name(&file).contains(ending));
            assert!(!is_snapshot, "expected.json has no figures of {}", name(&file));
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
                let mut said = imported.diagnostics.entries().iter().map(|entry| &entry.message);
                let adds_up = !said.any(|message| message.contains("do not add up"));
                assert_eq!(
                    Some(adds_up),
                    oracle["block_size_sum_equals_segment"].as_bool(),
                    "{}: blocks add up to segments",
                    name(&file)
                );
                let (recordings, figures) = recordings(imported);
                compare_snapshot(&mut checked, &recordings, &figures, oracle);
            }
            Err(error) => checked.faults.push(format!("{}: {error}", checked.file)),
        }
        faults.append(&mut checked.faults);
    }
    assert!(n_files > 0, "the folder holds snapshots");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn compare_snapshot(checked: &mut Checked, recordings: &[Arc<Recording>], figures: &[RecordingFigures], oracle: &Json) {
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
    let states = oracle["states"].as_object().expect("the oracle counts states");
    for (state, expected) in states {
        let ours = sum(figures, |one| count(one, &format!("blocks {state}")));
        checked.check(&format!("blocks {state}"), ours, expected);
    }
    let of_segments = figures.iter().filter(|one| count(one, "segments") > 0);
    let devices: Vec<String> = of_segments.map(|one| one.name.clone()).collect();
    let wanted = oracle["devices"].as_array().expect("the oracle lists devices").iter();
    let wanted: Vec<String> = wanted.map(|device| format!("device{device}")).collect();
    assert_eq!(devices, wanted, "{}", checked.file);
    for key in oracle["settings"]
        .as_object()
        .expect("the oracle lists settings")
        .keys()
    {
        let is_shown = figures
            .iter()
            .any(|one| one.settings.iter().any(|(ours, _)| ours == key));
        assert!(is_shown, "{}: setting {key}", checked.file);
    }
    let reserved = sum(figures, |one| one.reserved_at_end.get());
    checked.check("reserved at the end", reserved, &oracle["total_size"]);
    for (device, trace) in oracle["traces"].as_object().expect("the oracle lists traces") {
        let wanted = format!("device{device}");
        let Some(position) = figures.iter().position(|one| one.name == wanted) else {
            let actions = trace["actions"].as_object().expect("the oracle counts actions");
            if !actions.is_empty() {
                checked.fault(&format!("no {wanted}"));
            }
            continue;
        };
        compare_device(checked, &recordings[position], &figures[position], trace);
        let index: usize = device.parse().unwrap();
        let steps = u64::from(figures[position].steps);
        checked.check("steps", steps, &oracle["trace_lens"][index]);
    }
    let has_frames = recordings.iter().any(|recording| !recording.frames.is_empty());
    assert_eq!(Some(has_frames), oracle["has_frames"].as_bool(), "{}", checked.file);
}

fn compare_device(checked: &mut Checked, recording: &Recording, figures: &RecordingFigures, oracle: &Json) {
    for (action, expected) in oracle["actions"].as_object().expect("the oracle counts actions") {
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
    checked.check_or_zero("allocations", figures.blocks, &oracle["actions"]["alloc"]);
    let active = count(figures, "bytes active_allocated");
    checked.check("active", active, &oracle["device_active_allocated"]);
    // The oracle subtracts requested bytes from held ones here.
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
        let expected = std::fs::read(folder.join(expected)).expect("every trace has expected figures");
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
        let first = &oracle["example"]["args"];
        let is_first = |block: &&highwater::workload::RecordedBlock| {
            block.address.map(BlockAddress::get) == first["Addr"].as_u64()
        };
        let named_first = recordings[0].blocks.iter().find(is_first);
        let bytes = named_first.map_or(0, |block| block.bytes.get());
        checked.check("first block", bytes, &first["Bytes"]);
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
