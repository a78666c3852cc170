//! `explain` over the logs of the shared corpus: their texts, and no figure that is not in the log.
//!
//! The corpus is found by the variable `HIGHWATER_SHARED`; without it the tests print "skipped".

use std::collections::BTreeSet;
use std::path::Path;

use expect_test::expect_file;
use highwater::analysis::LogStory;
use highwater::diagnostics::Diagnostics;
use highwater::export::{Answer as _, LogAnswer};
use highwater::progress::{Cancel, Progress};
use highwater::session::{SourceSpec, read_story};
use highwater::units::Bytes;
use highwater::workload::{LoggedFailure, LoggedProcess};
use serde_json::Value as Json;

use crate::support::shared;

/// Logs of the corpus with the name of their snapshot.
const LOGS: [(&str, &str); 9] = [
    ("oom_load_default", "oom_load_default"),
    ("torch_oom.txt", "torch_oom"),
    ("driver_2023_default.log", "driver_2023_default"),
    ("p2_train_eval.debug.log", "p2_train_eval"),
    ("multi_process.log", "multi_process"),
    ("garbled.log", "garbled"),
    ("p0_train_eval", "p0_train_eval"),
    ("p3_dynamic.debug.log", "p3_dynamic"),
    ("old_2020.log", "old_2020"),
];

/// Logs whose text is a snapshot, the first ones.
const SNAPSHOTS: usize = 6;

fn story(path: &Path) -> LogStory {
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let stated = read_story(&[SourceSpec::Path(path.to_owned())], &progress);
    let stated = stated.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    LogStory::of_recordings(stated.recordings.iter().map(|recording| &**recording), &progress).expect("a log")
}

#[test]
fn logs_are_explained() {
    let Some(folder) = shared("corpus/made/plog") else {
        return;
    };
    for (file, name) in LOGS.into_iter().take(SNAPSHOTS) {
        let text = text_of(&story(&folder.join(file))).replace('\u{a0}', " ");
        expect_file![format!("../fixtures/explain_log/{name}.txt")].assert_eq(&text);
    }
}

fn text_of(story: &LogStory) -> String {
    let import = &Diagnostics::new();
    LogAnswer { story, import }.page().text()
}

/// Every size in the texts is a fact of the log, or a sum or difference that the documents name.
#[test]
fn no_figure_is_made_up() {
    let Some(folder) = shared("corpus/made/plog") else {
        return;
    };
    let mut n_figures = 0;
    for (file, _) in LOGS {
        let story = story(&folder.join(file));
        let mut known = BTreeSet::new();
        for one in &story.processes {
            facts(&one.process, &mut known);
        }
        let known = known.into_iter().map(Bytes);
        let known: BTreeSet<String> = known.flat_map(|bytes| [bytes.to_string(), bytes.exact()]).collect();
        let mut texts = vec![text_of(&story)];
        let import = Diagnostics::new();
        let answer = LogAnswer {
            story: &story,
            import: &import,
        };
        strings(&serde_json::to_value(answer.json()).expect("JSON"), &mut texts);
        for figure in texts.iter().flat_map(|text| sizes(text)) {
            n_figures += 1;
            assert!(known.contains(&figure), "{file}: {figure} is not in the log");
        }
    }
    assert!(n_figures > 200, "{n_figures}");
}

fn strings(value: &Json, texts: &mut Vec<String>) {
    match value {
        Json::String(text) => texts.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| strings(item, texts)),
        Json::Object(fields) => fields.values().for_each(|field| strings(field, texts)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// `25.84 GiB`, with the blank that figures have.
fn sizes(text: &str) -> Vec<String> {
    const UNITS: [&str; 4] = ["\u{a0}B", "\u{a0}KiB", "\u{a0}MiB", "\u{a0}GiB"];
    let ends = UNITS
        .iter()
        .flat_map(|unit| text.match_indices(unit).map(move |(at, _)| (at, *unit)));
    let figures = ends.map(|(at, unit)| {
        let is_part = |letter: char| letter.is_ascii_digit() || ".\u{a0}".contains(letter);
        let number = &text[text[..at].trim_end_matches(is_part).len()..at];
        format!("{number}{unit}")
    });
    figures.collect()
}

fn facts(process: &LoggedProcess, known: &mut BTreeSet<u64>) {
    known.extend([0, 8 << 20]);
    known.extend(process.device_total);
    known.extend(process.reserved_peak);
    for load in &process.arena_loads {
        known.extend([load.held, load.used].into_iter().flatten());
    }
    for pool in &process.pools {
        known.extend([pool.occupied_peak, pool.real_theory_min].into_iter().flatten());
    }
    for graph in &process.graphs {
        known.extend(
            [graph.total, graph.theory_min, graph.zero_copy, graph.arena]
                .into_iter()
                .flatten(),
        );
        known.extend(graph.total.zip(graph.theory_min).map(|(total, least)| total - least));
    }
    for event in &process.events {
        known.extend([event.feature_map, event.weights, event.reserved].into_iter().flatten());
    }
    for failure in &process.failures {
        of_failure(failure, known);
    }
    modules(process, known);
    policies(process, known);
}

/// The figures of a sentence, what is unused, outside the pool, short of the request.
fn of_failure(failure: &LoggedFailure, known: &mut BTreeSet<u64>) {
    let LoggedFailure {
        requested,
        allocated,
        reserved,
        free,
        total,
        allowed,
        ..
    } = failure;
    known.extend(
        [requested, allocated, reserved, free, total, allowed]
            .into_iter()
            .flatten(),
    );
    let (Some(reserved), Some(allocated)) = (*reserved, *allocated) else {
        return;
    };
    let (free, total) = (free.unwrap_or(0), total.unwrap_or(0));
    let left = allowed.map(|allowed| allowed - reserved);
    let room = left.map_or(free, |left| left.min(free));
    let usable = reserved - allocated + room;
    known.extend(left);
    known.extend([reserved - allocated, room, total.saturating_sub(reserved + free)]);
    known.extend(requested.map(|requested| requested.saturating_sub(usable)));
}

/// Kinds and their sums by module and column, their sum, and the device without that.
fn modules(process: &LoggedProcess, known: &mut BTreeSet<u64>) {
    let rows = || process.driver.iter().filter(|row| row.device.is_some());
    for module in rows().map(|row| &row.module) {
        let own = || rows().filter(|row| row.module == *module);
        for row in own() {
            known.extend([row.at_failure, row.current, row.peak].into_iter().flatten());
        }
        known.insert(own().filter_map(|row| row.at_failure).sum());
        known.insert(own().filter_map(|row| row.current).sum());
        known.insert(own().filter_map(|row| row.peak).sum());
    }
    let all: u64 = rows().filter_map(|row| row.at_failure).sum();
    known.insert(all);
    known.extend(process.device_total.map(|total| total - all));
}

/// Weights (of models that go where no load states them), feature maps and variables, added as the policies add them.
fn policies(process: &LoggedProcess, known: &mut BTreeSet<u64>) {
    let mut weights: std::collections::BTreeMap<u64, (u64, u64)> = std::collections::BTreeMap::new();
    for graph in &process.graphs {
        weights.entry(graph.id).or_default().1 = graph.total.unwrap_or(0);
    }
    for event in &process.events {
        let own = weights.entry(event.graph.unwrap_or(0)).or_default();
        own.1 = event.feature_map.unwrap_or(own.1);
        let freed = match (event.freed, event.shared) {
            (Some(freed), Some(1..)) => Some(freed),
            (Some(freed), _) => freed.checked_sub(own.1),
            (None, _) => None,
        };
        own.0 = event.weights.or(freed).unwrap_or(own.0);
    }
    let pages = process.variables.and_then(|variables| variables.pages);
    let pages = pages.map_or(0, |(count, bytes)| count * bytes);
    let round = |bytes: u64| bytes.div_ceil(8 << 20) * (8 << 20);
    let own: u64 = weights.values().map(|(weights, _)| weights).sum();
    let sum: u64 = weights.values().map(|(_, features)| features).sum();
    let largest = weights.values().map(|(_, features)| *features).max().unwrap_or(0);
    known.extend(weights.values().map(|(weights, _)| *weights));
    known.extend([own, sum, largest, round(largest), pages, round(pages)]);
    known.extend([sum + own + pages, largest + own + pages, sum + own + round(pages)]);
    known.insert(round(largest) + own + round(pages));
}
