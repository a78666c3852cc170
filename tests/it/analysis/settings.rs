//! The search for allocator settings against independent replays of every setting, one after another.

use std::fmt::Write as _;
use std::io::Write as _;

use highwater::analysis::{
    AllocatorFit, AllocatorSetting, SearchError, SearchPlan, SettingSearch, TriedSetting, missing_history,
    search_settings,
};
use highwater::progress::{Cancel, Progress};
use highwater::units::Bytes;
use highwater::workload::{Recording, Source};
use highwater_torch::Version;
use serde_json::Value as Json;

use crate::cli::run;
use crate::snapshots::{block, event, pickle, segment, snapshot};
use crate::support::read;

const MIB: u64 = 1 << 20;

/// A trace of tensors that grow from iteration to iteration, as those of sequences of different lengths.
fn trace(seed: u64) -> String {
    let mut state = seed;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = "device total=85899345920 other=0 order=up\n".to_owned();
    let mut live: Vec<u64> = Vec::new();
    for id in 0..400 {
        let size = match random(4) {
            0 => random(4096) + 1,
            1 => random(8 * MIB) + 1,
            _ => (random(20) + 1) * 3 * MIB + random(MIB),
        };
        writeln!(text, "alloc {id} {size} 0").expect("a line");
        live.push(id);
        while live.len() > 12 {
            let at = usize::try_from(random(live.len() as u64)).expect("a position");
            writeln!(text, "free {}", live.swap_remove(at)).expect("a line");
        }
    }
    text
}

/// The snapshot that the allocator would have written.
pub(crate) fn recorded(trace: &str, conf: &str) -> Json {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(trace.as_bytes()).expect("it can be written");
    let path = file.path().to_str().expect("UTF-8");
    let arguments = ["replay", path, "--allocator", "torch", "--conf", conf, "--events"];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    const BASE: u64 = 1 << 40;
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let number = |value: &Json| value.as_u64().expect("a number");
    let events = lines.iter().flat_map(|line| list(&line["events"]));
    let events = (1..).zip(events).map(|(time, one)| {
        let action = one[0].as_str().expect("an action");
        event(action, BASE + number(&one[1]), number(&one[2]), time)
    });
    let segments = list(&lines.last().expect("a closing line")["segments"]);
    let segments = segments.iter().map(|one| {
        let blocks = list(&one["blocks"]).into_iter().map(|one| {
            let state = one[3].as_str().expect("a state");
            block(BASE + number(&one[0]), number(&one[1]), number(&one[2]), state)
        });
        let kind = one["segment_type"].as_str().expect("a kind");
        let address = number(&one["address"]);
        let size = number(&one["total_size"]);
        let mut segment = segment(BASE + address, size, kind, blocks.collect());
        segment["is_expandable"] = one["is_expandable"].clone();
        segment
    });
    snapshot(segments.collect(), events.collect())
}

fn recording(snapshot: &Json) -> Recording {
    let imported = read("run.pickle", &pickle(snapshot)).expect("a snapshot");
    let Source::Recordings(recordings) = imported.source else {
        panic!("recordings")
    };
    Recording::clone(&recordings[0])
}

fn fits(seeds: &[u64], device: Option<Bytes>) -> Vec<AllocatorFit> {
    let fit = |seed: &u64| {
        let recording = recording(&recorded(&trace(*seed), "-"));
        let fit = AllocatorFit::new(&recording, None, device, &Progress::silent(&Cancel::new())).expect("requests");
        assert!(fit.is_exact(), "{:?}", fit.check);
        fit
    };
    seeds.iter().map(fit).collect()
}

fn search(fits: &[AllocatorFit], device: Option<Bytes>, n_threads: usize) -> SettingSearch {
    let plan = SearchPlan { device, version: None };
    let cancel = Cancel::on_threads(n_threads);
    search_settings(fits, plan, &Progress::silent(&cancel)).expect("an answer")
}

/// Worst peak, failures and retries of a setting over recordings.
fn figures(fits: &[AllocatorFit], (conf, needs): (&str, Option<Version>), device: Option<Bytes>) -> (u64, u64, u64) {
    let mut sum = (0, 0, 0);
    for fit in fits {
        let setting = AllocatorSetting {
            conf: conf.to_owned(),
            version: needs.map(|needs| needs.max(fit.version())),
        };
        let run = fit
            .run(&setting, device, &Progress::silent(&Cancel::new()))
            .expect("an accepted setting");
        let stats = &run.figures.stats;
        sum.0 = sum.0.max(stats.reserved.peak);
        sum.1 += run.figures.failed as u64;
        sum.2 += stats.alloc_retries;
    }
    sum
}

/// The winner is the simplest setting within the tolerance of the lowest peak, whatever order settings are tried in.
fn check(fits: &[AllocatorFit], device: Option<Bytes>) -> SettingSearch {
    let found = search(fits, device, 1);
    assert_eq!(found, search(fits, device, 8), "threads change the answer");
    assert!(found.tried.len() > 50, "{}", found.tried.len());
    let mut lowest = u64::MAX;
    let all: Vec<(u64, u64, u64)> = found
        .tried
        .iter()
        .map(|tried| figures(fits, (&tried.conf, tried.needs), device))
        .collect();
    // What needs a newer release is tried and not chosen.
    let is_usable = |tried: &TriedSetting| tried.needs.is_none();
    for (tried, (peak, failed, retries)) in found.tried.iter().zip(&all) {
        assert_eq!(
            (tried.peak().get(), tried.failed(), tried.retries()),
            (*peak, *failed, *retries)
        );
        assert!(
            !(tried.conf.contains("expandable") && tried.conf.contains("max_split")),
            "a harmful pair"
        );
    }
    let usable = found.tried.iter().zip(&all).filter(|(tried, _)| is_usable(tried));
    let usable: Vec<&(u64, u64, u64)> = usable.map(|(_, figures)| figures).collect();
    let fewest = usable.iter().map(|(_, failed, retries)| (*failed, *retries)).min();
    let (failed, retries) = fewest.expect("settings");
    let Some(winner) = found.winner else {
        assert!(failed > 0, "something fits");
        return found;
    };
    for (peak, ..) in usable.iter().filter(|one| (one.1, one.2) == (failed, retries)) {
        lowest = lowest.min(*peak);
    }
    let tolerance = (lowest / 200).max(2 * MIB);
    let chosen = &found.tried[winner];
    assert_eq!((chosen.failed(), chosen.retries()), (failed, retries));
    assert!(chosen.peak().get() <= lowest + tolerance, "{}", chosen.conf);
    for (tried, figures) in found.tried.iter().zip(&all) {
        let is_close =
            is_usable(tried) && figures.0 <= lowest + tolerance && (figures.1, figures.2) == (failed, retries);
        assert!(
            !is_close || tried.changes >= chosen.changes,
            "{} is simpler than {}",
            tried.conf,
            chosen.conf
        );
    }
    // Usual advice is no better.
    for conf in ["expandable_segments:True", "max_split_size_mb:64", ""] {
        let (peak, failed, retries) = figures(fits, (conf, None), device);
        let is_worse = (failed, retries) > (chosen.failed(), chosen.retries());
        assert!(is_worse || peak + tolerance >= chosen.peak().get(), "{conf}");
    }
    found
}

#[test]
fn the_lowest_peak_is_found_whatever_the_number_of_threads() {
    for seed in 1..4 {
        let found = check(&fits(&[seed], None), None);
        assert!(found.winner.is_some());
        assert!(!found.keys.is_empty());
    }
}

#[test]
fn one_setting_is_found_for_several_recordings() {
    let fits = fits(&[1, 2, 3], None);
    let found = check(&fits, None);
    let winner = &found.tried[found.winner.expect("a winner")];
    assert_eq!(winner.figures.len(), 3);
}

#[test]
fn failures_and_retries_count_on_a_device_of_known_size() {
    let first = fits(&[5], None);
    let peak = first[0].own.stats.allocated.peak;
    for bytes in [peak - MIB, peak + peak / 16] {
        let device = Some(Bytes(bytes));
        check(&fits(&[5], device), device);
    }
    let small = Some(Bytes(peak / 2));
    assert_eq!(check(&fits(&[5], small), small).winner, None, "nothing fits");
}

#[test]
fn a_cancelled_search_has_no_answer() {
    let fits = fits(&[1], None);
    let cancel = Cancel::new();
    cancel.cancel();
    let plan = SearchPlan {
        device: None,
        version: None,
    };
    let found = search_settings(&fits, plan, &Progress::silent(&cancel));
    assert!(matches!(found, Err(SearchError::Cancelled(_))));
}

/// Requests with blocks that another stream still uses when they are freed, and emptied caches.
fn late_completions() -> String {
    let mut text = String::from("device total=85899345920 other=0 order=up\n");
    for round in 0..6_u64 {
        for id in 0..6 {
            let size = (id * 7 + round) % 11 * 600_000 + 1000;
            writeln!(text, "alloc {} {size} 0", round * 10 + id).expect("a line");
        }
        writeln!(text, "record {} 1\nfree {}", round * 10, round * 10).expect("a line");
        writeln!(text, "free {}\nfree {}", round * 10 + 1, round * 10 + 2).expect("a line");
        if round % 2 == 1 {
            writeln!(text, "done 1\nfree {}\nfree {}\nempty", round * 10 + 3, round * 10 - 7).expect("a line");
        }
    }
    text
}

/// A ring of events begins anywhere; torch 2.0 and 2.1 write no times.
#[test]
fn a_ring_cut_at_any_event_replays_with_and_without_times() {
    for conf in ["-", "expandable_segments:True"] {
        let whole = recorded(&late_completions(), conf);
        let events = whole["device_traces"][0].as_array().expect("events").clone();
        assert!(events.len() > 60, "{}", events.len());
        let is_late = |pair: &[Json]| pair[0]["action"] == "free_requested" && pair[1]["action"] != "free_completed";
        assert!(events.windows(2).any(is_late), "a free that completes later");
        for has_times in [true, false] {
            for cut in 0..events.len() {
                let mut rest = events[cut..].to_vec();
                if !has_times {
                    for event in &mut rest {
                        event.as_object_mut().expect("an event").remove("time_us");
                    }
                }
                let mut snapshot = whole.clone();
                snapshot["device_traces"][0] = Json::Array(rest);
                let recording = recording(&snapshot);
                if missing_history(&recording).is_some() {
                    continue;
                }
                let fit = AllocatorFit::new(&recording, None, None, &Progress::silent(&Cancel::new()));
                let fit = fit.unwrap_or_else(|why| panic!("{conf} from {cut}: {why}"));
                // How much larger than its request a block of an ordinary segment is may be a guess.
                let is_known = cut == 0 || conf != "-";
                assert!(!is_known || fit.is_exact(), "{conf} from {cut}: {:?}", fit.check);
            }
        }
    }
}
