//! Answers about the caching allocators of PyTorch and `torch_npu`: traces, recordings, settings.
//!
//! Fields are a contract: bytes and counts are integers, events are `[action, address, bytes, stream]` with the private
//! pool as a fifth item.

mod options;
mod recommend;
mod settings;

pub use options::allocator_options_markdown;
pub(super) use options::{allocator_options_json, allocator_options_text};
pub use recommend::{SettingSearchAnswer, setting_search_json, setting_search_text};
pub use settings::{SettingsAnswer, settings_json, settings_text};

use serde_json::{Value as Json, json};

use super::blocks::{Table, plain_text};
use super::pinned::{pinned_blocks, pinned_json};
use highwater_analysis::{AllocatorFit, AllocatorRun, PinnedSegments};
use highwater_model::units::{Bytes, Nanos, grouped, signed_percent_text};
use highwater_model::workload::Recording;
use highwater_torch::recording::WhatIf;
use highwater_torch::{Event, Summary, Version};

/// Call sites that are shown as text.
const MOST_SITES: usize = 5;

/// A trace under one setting.
#[derive(Clone, Debug)]
pub struct TraceAnswer {
    /// Empty where the variable is unset.
    pub conf: String,
    pub version: Version,
    pub summary: Summary,
    pub elapsed: Nanos,
}

/// One object, or `runs` where there are several settings.
pub fn trace_summary_json(answers: &[TraceAnswer]) -> Json {
    let one = |answer: &TraceAnswer| {
        let Summary {
            commands,
            device_calls,
            stats,
        } = &answer.summary;
        json!({
            "conf": answer.conf,
            "torch": answer.version.name(),
            "commands": commands,
            "ooms": stats.ooms,
            "num_alloc_retries": stats.alloc_retries,
            "device_calls": device_calls,
            "peaks": peaks(stats),
            "elapsed_ns": answer.elapsed.0,
        })
    };
    match answers {
        [answer] => one(answer),
        answers => json!({"runs": answers.iter().map(one).collect::<Vec<Json>>()}),
    }
}

fn peaks(stats: &highwater_torch::Stats) -> Json {
    json!({
        "allocated": stats.allocated.peak,
        "active": stats.active.peak,
        "reserved": stats.reserved.peak,
        "requested": stats.requested.peak,
    })
}

/// Instead of a percentage: requests failed, so that the peak is not that of the whole run.
const INCOMPLETE: &str = "incomplete";

/// How much the replay of the recorded settings differs from the recorded peak, as a sentence with a trailing space.
fn own_error_text(percent: f64) -> String {
    let percent = signed_percent_text(percent);
    format!("The recorded settings, simulated, differ from the recorded peak by {percent}. ")
}

/// The name of a setting for people.
fn conf_text(conf: &str) -> &str {
    match conf.trim() {
        "" => "default settings",
        conf => conf,
    }
}

/// A table with a row per setting.
pub fn trace_summary_text(answers: &[TraceAnswer]) -> String {
    let title = answers
        .first()
        .map_or_else(String::new, |answer| answer.version.to_string());
    let mut table = Table::new(&[
        &title,
        ">peak reserved",
        ">peak allocated",
        ">retries",
        ">failed",
        ">device calls",
        ">time",
    ]);
    for answer in answers {
        let Summary {
            device_calls, stats, ..
        } = &answer.summary;
        table.row(&[
            &conf_text(&answer.conf),
            &Bytes(stats.reserved.peak),
            &Bytes(stats.allocated.peak),
            &grouped(stats.alloc_retries),
            &grouped(stats.ooms),
            &grouped(*device_calls),
            &answer.elapsed,
        ]);
    }
    table.text()
}

/// A recording under settings.
#[derive(Clone, Copy, Debug)]
pub struct FitAnswer<'a> {
    pub recording: &'a Recording,
    pub fit: &'a AllocatorFit,
    /// Empty: the recorded settings.
    pub runs: &'a [AllocatorRun],
    /// What keeps almost empty segments at the peak; as long as `runs`, or empty where that is unknown.
    pub pinned: &'a [PinnedSegments],
    /// `None` where it is unknown: nothing fails.
    pub device: Option<Bytes>,
}

/// How well the rules reproduce the recording, and the figures of the run, or of each of several runs.
pub fn fit_json(answer: &FitAnswer<'_>) -> Json {
    let fit = answer.fit;
    let check = &fit.check;
    let difference = check.first_difference.as_ref().map(|difference| {
        json!({
            "index": difference.index,
            "want": difference.want.as_ref().map(event_json),
            "got": difference.got.as_ref().map(event_json),
        })
    });
    let mut object = json!({
        "recording": answer.recording.name,
        "events": check.events,
        "identical": check.identical,
        "first_difference": difference,
        "tie_order": fit.lists_segments().then(|| check.ties.letter().to_string()),
        "torch": check.version.name(),
        "torch_versions": fit.versions().iter().map(|version| version.name()).collect::<Vec<_>>(),
        "recorded_conf": fit.conf,
        "recorded_conf_stated": fit.is_stated,
        "recorded_peak_reserved_bytes": (fit.recorded_peak > Bytes::ZERO).then_some(fit.recorded_peak.get()),
        "replayed_error_percent": fit.own_error_percent(),
        "device_bytes": answer.device.map(Bytes::get),
    });
    let own = AllocatorRun {
        conf: fit.conf.clone(),
        version: check.version,
        figures: fit.own,
    };
    let runs = match answer.runs {
        [] => std::slice::from_ref(&own),
        runs => runs,
    };
    let figures = runs.iter().enumerate().map(|(position, run)| {
        let mut object = run_json(fit, run);
        object["pinned"] = answer.pinned.get(position).map_or(Json::Null, pinned_json);
        object
    });
    if let Some(fields) = object.as_object_mut() {
        match &figures.collect::<Vec<Json>>()[..] {
            [Json::Object(run)] => fields.extend(run.clone()),
            runs => {
                fields.insert("runs".to_owned(), runs.into());
            }
        }
    }
    object
}

fn run_json(fit: &AllocatorFit, run: &AllocatorRun) -> Json {
    let WhatIf {
        stats, device_calls, ..
    } = &run.figures;
    let difference = fit.lists_segments().then(|| {
        let difference = i128::from(stats.reserved.peak) - i128::from(fit.recorded_peak.get());
        i64::try_from(difference).unwrap_or(i64::MAX)
    });
    json!({
        "conf": run.conf,
        "simulated_torch": run.version.name(),
        "peak_reserved_bytes": stats.reserved.peak,
        "difference_bytes": difference,
        "ooms": stats.ooms,
        "num_alloc_retries": stats.alloc_retries,
        "device_calls": device_calls,
        "peaks": peaks(stats),
        "reserved_bytes_at_end": stats.reserved.current,
    })
}

/// The last line of the events of a run: its figures.
pub fn run_closing_json(fit: &AllocatorFit, run: &AllocatorRun) -> Json {
    let mut object = json!({"end": true});
    if let (Some(fields), Json::Object(figures)) = (object.as_object_mut(), run_json(fit, run)) {
        fields.extend(figures);
    }
    object
}

fn event_json(event: &Event) -> Json {
    let mut fields = vec![
        Json::from(event.action.name()),
        Json::from(event.addr),
        Json::from(event.size),
        Json::from(event.stream),
    ];
    fields.extend(event.pool.map(Json::from));
    Json::from(fields)
}

/// A sentence about the fit, a table of settings, and what the figures are.
pub fn fit_text(answer: &FitAnswer<'_>) -> String {
    let fit = answer.fit;
    let mut out = format!("{}: {}\n\n", answer.recording.name, fit.sentence());
    let mut table = Table::new(&[
        "settings",
        ">peak reserved",
        ">against recorded",
        ">peak allocated",
        ">retries",
        ">failed",
        ">device calls",
    ]);
    let is_stated = fit.recorded_peak > Bytes::ZERO;
    let recorded = if is_stated {
        fit.recorded_peak.to_string()
    } else {
        "not stated".to_owned()
    };
    table.row(&[&"recorded", &recorded, &"", &"", &"", &"", &""]);
    let mut row = |name: &str, figures: &WhatIf| {
        let stats = &figures.stats;
        let against = Bytes(stats.reserved.peak).percent_above(fit.recorded_peak);
        let against = match stats.ooms {
            _ if !is_stated || !fit.lists_segments() => String::new(),
            0 => signed_percent_text(against),
            _ => INCOMPLETE.to_owned(),
        };
        table.row(&[
            &name,
            &Bytes(stats.reserved.peak),
            &against,
            &Bytes(stats.allocated.peak),
            &grouped(stats.alloc_retries),
            &grouped(stats.ooms),
            &grouped(figures.device_calls),
        ]);
    };
    let own = format!("{}, replayed", conf_text(&fit.conf));
    row(&own, &fit.own);
    for run in answer.runs {
        row(conf_text(&run.conf), &run.figures);
    }
    out.push_str(&table.text());
    for (run, pinned) in answer
        .runs
        .iter()
        .zip(answer.pinned)
        .filter(|(_, pinned)| pinned.segments > 0)
    {
        let blocks = pinned_blocks(pinned, MOST_SITES);
        out.push_str(&format!("\n{}\n{}", conf_text(&run.conf), plain_text(&blocks)));
    }
    let device = match answer.device {
        Some(device) => format!("on a device of {device}"),
        None => "on a device without a limit (--device-memory SIZE sets one)".to_owned(),
    };
    let mut versions: Vec<String> = answer.runs.iter().map(|run| run.version.to_string()).collect();
    versions.dedup();
    let versions = match &versions[..] {
        [] => String::new(),
        versions => format!(" under {}", versions.join(", ")),
    };
    let about = fit.own_error_percent().map_or_else(
        || "Recorded reserved bytes may include requests that the file does not list.".to_owned(),
        own_error_text,
    );
    let text = format!("\nAn estimate: the recorded requests in their order{versions}, {device}. {about}");
    out.push_str(text.trim_end());
    out.push('\n');
    out
}
