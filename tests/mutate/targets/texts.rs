//! Texts that people type: searches, settings, sizes, schedules.

use std::cell::Cell;
use std::sync::LazyLock;

use highwater::analysis::sweep::SweepAxis;
use highwater::analysis::{Comparison, Limit, compare};
use highwater::options::{NoFiles, ShapeRanges, TABLE, check, effective_values, lower, occupied_memory};
use highwater::progress::{Cancel, Progress};
use highwater::rewrite::{OpTypes, WorkspaceTable};
use highwater::session::{Document, lane_of, lane_text};
use highwater::timeline::{Query, Timeline};
use highwater::units::Bytes;
use highwater::workload::{Generator, ScheduleEntry, SchedulePlan, Workload};

use super::request::request;
use super::{Readable, workloads};

/// A small training graph.
pub(super) fn seed() -> Workload {
    let bytes = include_bytes!("../seeds/training.json");
    let read = workloads::read(None, "training.json", bytes, &Cell::new(0));
    let Some(Readable::Workload(imported)) = read else {
        panic!("the seed is readable");
    };
    workloads::workload("training", imported)
}

/// Its comparison.
pub(super) static COMPARED: LazyLock<(Comparison, Timeline)> = LazyLock::new(|| {
    let mut plan = SchedulePlan::default();
    plan.dims.insert("batch".to_owned(), vec![4]);
    let request = request(seed(), plan);
    let comparison = compare(&request, &Progress::silent(&Cancel::new())).expect("the seed can be compared");
    let timeline = Timeline::new(&comparison);
    (comparison, timeline)
});

/// A query is evaluated; an error is within the text.
pub(super) fn query(bytes: &[u8]) -> Option<Readable> {
    let text = String::from_utf8_lossy(bytes);
    let query = match Query::parse(&text) {
        Ok(query) => query,
        Err(error) => {
            assert!((1..=text.chars().count() + 1).contains(&error.at), "{error}");
            return None;
        }
    };
    let (comparison, timeline) = &*COMPARED;
    let matches = query.matches(comparison, timeline, 0, &Progress::silent(&Cancel::new()));
    let matches = matches.expect("no cancel");
    let found = (0..matches.n_rows()).filter(|row| matches.contains_row(*row));
    assert_eq!(found.count(), matches.len(), "{text}");
    Some(Readable::Other)
}

/// `KEY=VALUE` lines of options and variables are checked and lowered.
pub(super) fn settings(bytes: &[u8]) -> Option<Readable> {
    let text = String::from_utf8_lossy(bytes);
    let mut document = Document::new(Vec::new());
    for line in text.lines() {
        let (key, value) = line.split_once('=')?;
        if document.options.set_text(key, value).is_err() {
            document.environment.set(key, value);
        }
    }
    judged(&document);
    Some(Readable::Settings(Box::new(document)))
}

pub(super) fn judged(document: &Document) {
    check(&document.options, &document.environment, &NoFiles);
    effective_values(&document.options, &document.environment, &NoFiles);
    lower(&document.options, &document.environment, &document.device(), &NoFiles);
}

/// Every line is read as each kind of value, and some options get each. What was read is read again as the same.
pub(super) fn words(bytes: &[u8]) -> Option<Readable> {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    let mut document = Document::new(Vec::new());
    // Other lengths give the lines to other options.
    for (row, line) in TABLE
        .iter()
        .zip(lines.iter().cycle().skip(bytes.len() % lines.len().max(1)))
    {
        document.options.set_text(row.key, line).expect("the key is known");
    }
    judged(&document);
    let is_read = lines.iter().filter(|line| is_word(line)).count() > 0;
    is_read.then_some(Readable::Settings(Box::new(document)))
}

fn is_word(line: &str) -> bool {
    if let Ok(entry) = line.parse::<ScheduleEntry>() {
        assert_eq!(entry.to_string().parse().as_ref(), Ok(&entry), "{line}");
    }
    if let Ok(generator) = line.parse::<Generator>() {
        assert_eq!(generator.to_string().parse().as_ref(), Ok(&generator), "{line}");
        generator.values();
    }
    if let Ok(axis) = SweepAxis::parse(line, &["batch".to_owned()]) {
        axis.text();
    }
    if let Some(lane) = lane_of(line) {
        assert_eq!(lane_of(&lane_text(lane)), Some(lane), "{line}");
    }
    OpTypes::parse(line);
    let rules = WorkspaceTable::parse(line);
    if let Ok(rules) = &rules {
        rules.scratch("MatMul", Bytes(u64::MAX));
    }
    let is_read = [
        Bytes::parse(line).is_ok(),
        Limit::parse(line).is_ok(),
        ShapeRanges::parse(line).is_ok(),
        occupied_memory(line).is_ok(),
        rules.is_ok(),
    ];
    is_read.contains(&true)
}
