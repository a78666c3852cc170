//! Profiler tables of the shared corpus against the oracle's figures: every file of the folder with an entry in its
//! `expected.json`.
//!
//! The corpus is found by the variable `HIGHWATER_SHARED`; without it the test prints "skipped".

use std::collections::BTreeSet;

use highwater::analysis::{Inspection, inspect};
use highwater::graph::Bindings;
use highwater::units::Step;
use highwater::workload::{Recording, Source, TotalKind, Workload};
use serde_json::Value;

use crate::support::{files, name, read, shared};

/// A number of units as whole bytes.
fn bytes(value: &Value, unit: f64) -> u64 {
    (value.as_f64().expect("a number") * unit).round() as u64
}

const KB: f64 = 1024.0;
const MB: f64 = 1024.0 * 1024.0;

#[test]
fn tables_equal_the_oracle() {
    let Some(folder) = shared("corpus/fetched/ascend_profiler") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("expected.json")).expect("the oracle's figures are there");
    let expected: Value = serde_json::from_str(&text).expect("JSON");
    let mut compared = 0;
    for (file, expected) in expected.as_object().expect("an object of files") {
        let path = folder.join(file);
        let content = std::fs::read(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
        let imported = read(&name(&path), &content).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(imported.format, "ascend_profiler", "{file}");
        let workload = Workload::new(file.clone(), imported.source);
        for recording in workload.recordings() {
            assert_eq!(recording.check(), Ok(()), "{file}");
        }
        let inspection = inspect(&workload, &Bindings::new());
        let of_file = compare(file, expected, &workload, &inspection);
        assert!(of_file > 0, "{file}: nothing was compared");
        compared += of_file;
    }
    assert!(compared > 0, "nothing was compared");
    for file in files(&folder, ".csv") {
        assert!(
            expected.get(name(&file)).is_some(),
            "expected.json has no figures of {}",
            name(&file)
        );
    }
}

/// Returns the number of comparisons.
fn compare(file: &str, expected: &Value, workload: &Workload, inspection: &Inspection) -> u32 {
    let mut compared = 0;
    let recordings = workload.recordings();
    // The oracle takes the totals of blocks only at their allocations; those at releases may be larger.
    let peak_of = |kind: TotalKind| {
        let peaks = recordings.iter().filter_map(|recording| {
            let births: BTreeSet<Step> = recording.blocks.iter().map(|block| block.birth).collect();
            let samples = recording.total(kind)?.samples.iter();
            let counted = samples.filter(|(step, _)| births.is_empty() || births.contains(step));
            counted.map(|(_, bytes)| bytes.get()).max()
        });
        peaks.max()
    };
    for (key, kind) in [
        ("max_total_allocated_MB", TotalKind::Allocated),
        ("max_total_reserved_MB", TotalKind::Reserved),
    ] {
        if let Some(value) = expected.get(key) {
            assert_eq!(peak_of(kind), Some(bytes(value, MB)), "{file}: {key}");
            compared += 1;
        }
    }
    if let Some(components) = expected.get("components").and_then(Value::as_object) {
        for (component, rows) in components {
            let entry = inspection.lifetimes.iter().find(|entry| entry.name == *component);
            assert_eq!(entry.map(|entry| entry.count), rows.as_u64(), "{file}: {component}");
            compared += 1;
        }
        assert_eq!(inspection.lifetimes.len(), components.len(), "{file}");
        let rows: u64 = inspection.lifetimes.iter().map(|entry| entry.count).sum();
        assert_eq!(Some(rows), expected["rows"].as_u64(), "{file}: rows");
    }
    if let Some(value) = expected.get("peak_live_KB_of_listed_allocations") {
        blocks(file, expected, recordings);
        let peak: u64 = recordings.iter().map(|recording| recording.peaks().live.0.get()).sum();
        assert_eq!(peak, bytes(value, KB), "{file}");
        compared += 1;
    } else if expected.get("components").is_none() && !recordings.is_empty() && expected.get("events").is_none() {
        let rows: u64 = inspection.lifetimes.iter().map(|entry| entry.count).sum();
        assert_eq!(Some(rows), expected["rows"].as_u64(), "{file}");
        compared += 1;
    }
    if let Some(peaks) = expected.get("peak_by_pool_device").and_then(Value::as_object) {
        for (pool, peak) in peaks {
            let entry = inspection.lifetimes.iter().find(|entry| entry.name == *pool);
            let entry = entry.unwrap_or_else(|| panic!("{file}: {pool} is missing"));
            assert_eq!(Some(entry.peak.get()), peak.as_u64(), "{file}: {pool}");
            compared += 1;
        }
    }
    compared + events(file, expected, recordings) + static_graphs(file, expected, workload, inspection)
}

fn blocks(file: &str, expected: &Value, recordings: &[std::sync::Arc<Recording>]) {
    let blocks = || recordings.iter().flat_map(|recording| &recording.blocks);
    let negative = expected["negative_size_rows"].as_u64().expect("the oracle counts them");
    assert_eq!(
        Some(blocks().count() as u64 + negative),
        expected["rows"].as_u64(),
        "{file}: rows"
    );
    let never = blocks().filter(|block| !block.is_freed).count() as u64;
    assert_eq!(
        Some(never),
        expected["rows_without_release"].as_u64(),
        "{file}: without release"
    );
    let sum: u64 = blocks().map(|block| block.bytes.get()).sum();
    assert_eq!(sum, bytes(&expected["sum_positive_KB"], KB), "{file}: sum");
    let streams: BTreeSet<u64> = blocks().map(|block| block.stream).collect();
    assert_eq!(
        Some(streams.len() as u64),
        expected["streams"].as_u64(),
        "{file}: streams"
    );
    for (device, rows) in expected["devices"].as_object().expect("devices") {
        let found = recordings.iter().find(|recording| recording.name == *device);
        let count = found.map(|recording| recording.blocks.len() as u64);
        assert_eq!(count, rows.as_u64(), "{file}: {device}");
    }
    for top in expected["top_names"].as_array().expect("names") {
        let named = recordings.iter().flat_map(|recording| {
            let is_named =
                |block: &&_| top[0] == *recording.text(highwater::workload::RecordedBlock::clone(block).name);
            recording.blocks.iter().filter(is_named)
        });
        assert_eq!(Some(named.count() as u64), top[1].as_u64(), "{file}: {}", top[0]);
    }
}

fn events(file: &str, expected: &Value, recordings: &[std::sync::Arc<Recording>]) -> u32 {
    let Some(events) = expected.get("events").and_then(Value::as_object) else {
        return 0;
    };
    assert!(
        expected["peak_by_pool_device"].is_object(),
        "{file}: the oracle has peaks"
    );
    for (event, count) in events {
        let Some((kind, pool)) = event.split_once('/') else {
            continue;
        };
        let of_pool = recordings.iter().filter(|recording| {
            recording.name.starts_with(&format!("{pool}/")) && !recording.name.ends_with("by time")
        });
        let blocks = of_pool.flat_map(|recording| &recording.blocks);
        let found = match kind {
            "MALLOC" => blocks.count(),
            "FREE" => blocks.filter(|block| block.is_freed).count(),
            _ => continue,
        };
        assert_eq!(Some(found as u64), count.as_u64(), "{file}: {event}");
    }
    1
}

fn static_graphs(file: &str, expected: &Value, workload: &Workload, inspection: &Inspection) -> u32 {
    let Some(peaks) = expected.get("peak_KB_closed_interval_by_device_graph") else {
        return 0;
    };
    let Source::Problems(problems) = &workload.source else {
        panic!("{file}: static graphs are problems");
    };
    let peaks = peaks.as_object().expect("peaks by graph");
    assert_eq!(problems.len(), peaks.len(), "{file}");
    assert_eq!(Some(problems.len() as u64), expected["graphs"].as_u64(), "{file}");
    for (graph, peak) in peaks {
        let entry = inspection.lifetimes.iter().find(|entry| entry.name == *graph);
        let entry = entry.unwrap_or_else(|| panic!("{file}: {graph} is missing"));
        // Our sizes are rounded to whole bytes, the oracle's are not.
        let difference = entry.peak.get().abs_diff(bytes(peak, KB));
        assert!(
            difference <= 1 + entry.count / 2,
            "{file}: {graph} {} {peak}",
            entry.peak.get()
        );
    }
    1
}
