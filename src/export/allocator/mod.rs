//! Answers about the caching allocators of PyTorch and `torch_npu`: traces, recordings, settings.
//!
//! Fields are a contract: bytes and counts are integers, events are `[action, address, bytes, stream]` with the private
//! pool as a fifth item.

mod no_history;
mod recommend;
mod settings;

pub use no_history::{NoHistoryAnswer, WithoutHistory};
pub use recommend::SettingSearchAnswer;
pub use settings::SettingsAnswer;

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::answer::{Answer, Page, lines_blocks};
use super::blocks::paragraph;
use super::pinned::{pinned_blocks, pinned_record};
use super::record::{Record, Rows, Value};
use highwater_analysis::{AllocatorFit, AllocatorRun, PinnedSegments, conf_text};
use highwater_model::units::{Bytes, Nanos, counted, signed_percent_text};
use highwater_model::workload::Recording;
use highwater_torch::recording::WhatIf;
use highwater_torch::{Event, Summary, Version};

/// Call sites that are shown as text.
const MOST_SITES: usize = 5;

/// A trace under one setting.
#[derive(Clone, Debug)]
pub struct TraceRun {
    /// Empty where the variable is unset.
    pub conf: String,
    pub version: Version,
    pub summary: Summary,
    pub elapsed: Nanos,
}

/// A trace under settings: one object, or `runs` where there are several; a row per setting.
#[derive(Clone, Copy, Debug)]
pub struct TraceAnswer<'a>(pub &'a [TraceRun]);

impl Answer for TraceAnswer<'_> {
    fn page(&self) -> Page {
        let mut blocks = Rows::new(self.0, trace_record).blocks(usize::MAX);
        let mut versions: Vec<Version> = self.0.iter().map(|run| run.version).collect();
        versions.dedup();
        blocks.extend(versions.into_iter().filter_map(Version::caveat).map(paragraph));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        match self.0 {
            [run] => trace_record(run),
            runs => Record::new().key("runs", Rows::new(runs, trace_record)),
        }
    }
}

fn trace_record(run: &TraceRun) -> Record<'_> {
    let Summary {
        commands,
        device_calls,
        stats,
    } = &run.summary;
    Record::new()
        .key("conf", &run.conf)
        .shown(run.version.to_string(), conf_text(&run.conf))
        .shown(">peak reserved", Bytes(stats.reserved.peak))
        .shown(">peak allocated", Bytes(stats.allocated.peak))
        .key("torch", run.version.name())
        .key("commands", *commands)
        .field("ooms", ">failed", stats.ooms)
        .field("num_alloc_retries", ">retries", stats.alloc_retries)
        .field("device_calls", ">device calls", *device_calls)
        .key("peaks", peaks(stats))
        .field("elapsed_ns", ">time", run.elapsed)
}

fn peaks(stats: &highwater_torch::Stats) -> Json {
    json!({
        "allocated": stats.allocated.peak,
        "active": stats.active.peak,
        "reserved": stats.reserved.peak,
        "requested": stats.requested.peak,
    })
}

/// The peak of a run: with fewer requests it is not that of the whole one.
#[derive(Clone, Copy)]
struct PeakOfRun {
    peak: Bytes,
    /// Requests that failed although they might have been served.
    lost: u64,
}

/// The peak of a run against that of the recorded settings, replayed the same way.
fn against_replayed(run: PeakOfRun, replayed: PeakOfRun) -> String {
    match (run.lost, replayed.lost) {
        (0, 0) => signed_percent_text(run.peak.percent_above(replayed.peak)),
        (lost, replayed_lost) if lost < replayed_lost => {
            format!("{} more served", counted(replayed_lost - lost, "request"))
        }
        _ => "incomplete".to_owned(),
    }
}

/// How far the replay misses the recorded peak, as a sentence with its reason where that is known; empty where it does not.
fn uncertainty_text(uncertainty: Bytes, fits: &[AllocatorFit]) -> String {
    if uncertainty == Bytes::ZERO {
        return String::new();
    }
    let reason = if fits.iter().any(AllocatorFit::has_older_blocks) {
        ": of what was allocated before the recording only the survivors are known"
    } else {
        ""
    };
    format!(
        "Uncertainty: {uncertainty}, by which the recorded settings, replayed, miss the recorded peak{reason}. No setting is \
         preferred for less. "
    )
}

/// The device of a replay, for people.
fn device_text(given: Option<Bytes>, fits: &[AllocatorFit]) -> String {
    let stated = fits
        .iter()
        .filter_map(|fit| Some((fit.device?, fit.is_least_memory)))
        .max();
    match (given, stated) {
        (Some(device), _) => format!("a device of {device}"),
        (None, Some((device, true))) => format!(
            "a device of {device}, the least that it had: reserved and free bytes where a request failed \
             (--device-memory SIZE sets another)"
        ),
        (None, Some((device, false))) => format!("a device of {device}, as the file states"),
        (None, None) => "limits unknown: --device-memory SIZE counts failures and retries".to_owned(),
    }
}

/// How much the replay of the recorded settings differs from the recorded peak, as a sentence with a trailing space.
fn own_error_text(percent: f64) -> String {
    let percent = signed_percent_text(percent);
    format!("The recorded settings, simulated, differ from the recorded peak by {percent}. ")
}

/// A recording under settings: how well the rules reproduce it, and the figures of each setting.
#[derive(Clone, Copy, Debug)]
pub struct FitAnswer<'a> {
    pub recording: &'a Recording,
    pub fit: &'a AllocatorFit,
    /// Empty: the recorded settings.
    pub runs: &'a [AllocatorRun],
    /// What keeps partly free segments at the peak; as long as `runs`, or empty where that is unknown.
    pub pinned: &'a [PinnedSegments],
    /// `None` where it is unknown: nothing fails.
    pub device: Option<Bytes>,
}

impl Answer for FitAnswer<'_> {
    fn page(&self) -> Page {
        let fit = self.fit;
        let title = format!("{}: {}", self.recording.name, fit.sentence());
        let runs = Rows::indexed(self.runs.len() + 1, |row| match row.checked_sub(1) {
            None => self.own(),
            Some(run) => run_record(fit, &self.runs[run]),
        });
        let mut table = runs.table(usize::MAX);
        let recorded = match fit.recorded_peak {
            Bytes::ZERO => Value::from("not stated"),
            peak => peak.into(),
        };
        table.insert_base(
            Record::new()
                .shown("settings", "recorded")
                .shown(">peak reserved", recorded)
                .cells(),
        );
        let mut blocks = vec![paragraph(title), table.into()];
        let pinned = self.runs.iter().zip(self.pinned);
        for (run, pinned) in pinned.filter(|(_, pinned)| pinned.segments > 0) {
            blocks.push(paragraph(conf_text(&run.conf)));
            blocks.extend(pinned_blocks(pinned, MOST_SITES));
        }
        blocks.extend(lines_blocks(fit.failure_sentences()));
        blocks.push(paragraph(self.estimate().trim_end()));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        let (fit, check) = (self.fit, &self.fit.check);
        let difference = check.first_difference.as_ref().map(|difference| {
            json!({
                "index": difference.index,
                "want": difference.want.as_ref().map(event_json),
                "got": difference.got.as_ref().map(event_json),
            })
        });
        let caveat = fit.settings.version.caveat();
        let versions: Vec<&str> = fit.versions().iter().map(|version| version.name()).collect();
        let record = Record::new()
            .key("recording", &self.recording.name)
            .key("events", check.events)
            .key("identical", check.identical)
            .key("first_difference", difference)
            .key(
                "tie_order",
                fit.lists_segments().then(|| check.ties.letter().to_string()),
            )
            .key("torch", check.version.name())
            .key("torch_versions", Value::Texts(versions))
            .key("recorded_conf", &fit.conf)
            .key("recorded_conf_stated", fit.is_stated)
            .key("recorded_peak_reserved_bytes", stated(fit.recorded_peak))
            .key("replayed_error_percent", fit.own_error_percent())
            .key("uncertainty_bytes", fit.uncertainty())
            .key("failed_requests", failed_rows(fit))
            .key("device_bytes", self.device.or(fit.device));
        let record = match caveat {
            Some(caveat) => record.key("torch_caveat", caveat),
            None => record,
        };
        let run = |position: usize| {
            let pinned = self.pinned.get(position).map(pinned_record);
            run_record(fit, &self.runs[position]).key("pinned", pinned)
        };
        match self.runs.len() {
            0 => record.and(self.own()).key("pinned", Value::Nothing),
            1 => record.and(run(0)),
            n_runs => record.key("runs", Rows::indexed(n_runs, run)),
        }
    }
}

impl<'a> FitAnswer<'a> {
    /// The recorded settings, replayed.
    fn own(&self) -> Record<'a> {
        let fit = self.fit;
        let name = format!("{}, replayed", conf_text(&fit.conf));
        figures_record(fit, &fit.conf, name, fit.check.version, (&fit.own, fit.own_lost()))
    }

    fn estimate(&self) -> String {
        let device = match self.device.or(self.fit.device) {
            Some(_) => format!("on {}", device_text(self.device, std::slice::from_ref(self.fit))),
            None => "on a device without a limit (--device-memory SIZE sets one)".to_owned(),
        };
        let mut versions: Vec<String> = self.runs.iter().map(|run| run.version.to_string()).collect();
        versions.dedup();
        let versions = match &versions[..] {
            [] => String::new(),
            versions => format!(" under {}", versions.join(", ")),
        };
        let about = self.fit.own_error_percent().map_or_else(
            || "Recorded reserved bytes may include requests that the file does not list.".to_owned(),
            own_error_text,
        );
        let uncertainty = uncertainty_text(self.fit.uncertainty(), std::slice::from_ref(self.fit));
        format!("An estimate: the recorded requests in their order{versions}, {device}. {about}{uncertainty}")
    }
}

/// The requests that failed in the recording, and what a replay can say of them.
fn failed_rows(fit: &AllocatorFit) -> Rows<'_> {
    Rows::indexed(fit.failures.len(), move |at| {
        let failed = &fit.failures[at];
        Record::new()
            .key("event", u64::from(failed.step.0))
            .key("requested_bytes", failed.requested)
            .key("live_bytes", failed.live)
            .key("device_bytes", failed.device)
            .key("servable", failed.servable.name())
            .key("why", failed.sentence(fit.outgrown))
    })
}

/// A recorded peak; `None` where the file states none.
fn stated(peak: Bytes) -> Option<Bytes> {
    (peak > Bytes::ZERO).then_some(peak)
}

fn run_record<'a>(fit: &AllocatorFit, run: &'a AllocatorRun) -> Record<'a> {
    figures_record(
        fit,
        &run.conf,
        conf_text(&run.conf).to_owned(),
        run.version,
        (&run.figures, run.figures.lost()),
    )
}

/// The figures of a setting, which people see under a name.
fn figures_record<'a>(
    fit: &AllocatorFit,
    conf: &'a str,
    name: String,
    version: Version,
    (figures, lost): (&WhatIf, usize),
) -> Record<'a> {
    let stats = &figures.stats;
    let peak = Bytes(stats.reserved.peak);
    let difference = i128::from(peak.get()) - i128::from(fit.recorded_peak.get());
    let replayed = Bytes(fit.own.stats.reserved.peak);
    let run = PeakOfRun {
        peak,
        lost: lost as u64,
    };
    let own = PeakOfRun {
        peak: replayed,
        lost: fit.own_lost() as u64,
    };
    let against = against_replayed(run, own);
    let difference_from_replayed = i128::from(peak.get()) - i128::from(replayed.get());
    Record::new()
        .key("conf", conf)
        .shown("settings", name)
        .key("simulated_torch", version.name())
        .field("peak_reserved_bytes", ">peak reserved", peak)
        .key("difference_bytes", fit.lists_segments().then_some(difference))
        .key("difference_from_replayed_bytes", difference_from_replayed)
        .shown(">against replayed", against)
        .shown(">peak allocated", Bytes(stats.allocated.peak))
        .field("ooms", ">failed", figures.failed)
        .field("num_alloc_retries", ">retries", stats.alloc_retries)
        .field("device_calls", ">device calls", figures.device_calls)
        .key("peaks", peaks(stats))
        .key("reserved_bytes_at_end", stats.reserved.current)
}

/// The last line of the events of a run: its figures.
pub fn run_closing_json(fit: &AllocatorFit, run: &AllocatorRun) -> Json {
    Record::new().key("end", true).and(run_record(fit, run)).to_json()
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
