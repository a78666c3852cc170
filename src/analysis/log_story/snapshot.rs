//! Failed requests of a recorded memory history, as facts of a process: what was requested by which line, what the pool and the
//! device had then, and which lines held the memory; and whether a setting serves them, by replay.
//!
//! The device is as large as the event states at least: what the pool had reserved and what was free. What other processes had is
//! unknown and constant.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::allocator_state::AllocatorState;
use super::super::what_if::{AllocatorFit, ServingRun, serving_runs, stated_conf};
use super::advice::{Advice, reduce};
use super::allocator_setting::needed_release;
use super::verdict::Verdict;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step, counted};
use highwater_model::workload::{Holder, Library, LoggedFailure, LoggedProcess, MarkKind, RecordedMark, Recording};
use highwater_sim::what_if::NoHistory;
use highwater_torch::{Framework, VARIABLES};

/// Failed requests that are replayed, the first ones.
const MOST_REQUESTS: usize = 16;

/// Lines that are named as holders of memory.
const MOST_LINES: usize = 8;

/// Sizes of the device for which settings are replayed.
const MOST_DEVICES: usize = 3;

/// Settings that serve a request and are advised.
const MOST_SETTINGS: usize = 3;

/// What a recording tells of its failed requests.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) process: Arc<LoggedProcess>,
    /// By failure.
    pub(super) answers: Vec<(Verdict, Vec<Advice>)>,
    /// Failed requests after these.
    pub(super) n_more: usize,
}

/// Whether a recording has events of failed requests.
pub(super) fn has_failures(recording: &Recording) -> bool {
    recording.process.is_none() && marks(recording).next().is_some()
}

fn marks(recording: &Recording) -> impl Iterator<Item = &RecordedMark> {
    recording.marks.iter().filter(|mark| mark.kind == MarkKind::OutOfMemory)
}

/// Why a recording without failed requests tells nothing of them.
pub(super) fn lack(recording: &Recording) -> String {
    if recording.is_host {
        return format!(
            "{} is memory of the host: no failed request of a device is in it.",
            recording.name
        );
    }
    let has_events = recording.blocks.iter().any(|block| !block.is_older) || recording.n_steps > 1;
    if has_events {
        return format!(
            "{} is a recording without an event of a failed request: no request failed while it was recorded, or the snapshot was \
             taken before.",
            recording.name
        );
    }
    format!(
        "{} is the state at one moment, without a history of events, so no failed request is in it. Record one: \
         torch.cuda.memory._record_memory_history() at the start, torch.cuda.memory._dump_snapshot(FILE) after the failure.",
        recording.name
    )
}

/// # Errors
/// The work is cancelled.
pub(super) fn told(recording: &Recording, progress: &Progress<'_>) -> Result<Told, Cancelled> {
    let mut replays = Replays {
        recording,
        fit: None,
        runs: BTreeMap::new(),
    };
    let mut failures = Vec::new();
    let mut answers = Vec::new();
    for mark in marks(recording).take(MOST_REQUESTS) {
        progress.check()?;
        let failure = failure(recording, mark);
        answers.push(replays.answer(&failure, mark.step, progress)?);
        failures.push(failure);
    }
    let mut process = LoggedProcess {
        name: Some(recording.name.clone()),
        failures,
        ..LoggedProcess::default()
    };
    if let Some(conf) = stated_conf(recording).filter(|conf| !conf.is_empty()) {
        let variable = recording
            .settings
            .iter()
            .find(|(name, _)| VARIABLES.contains(&name.as_str()));
        process
            .settings
            .extend(variable.map(|(name, _)| (name.clone(), conf.to_owned())));
    }
    Ok(Told {
        process: Arc::new(process),
        answers,
        n_more: marks(recording).count().saturating_sub(MOST_REQUESTS),
    })
}

fn failure(recording: &Recording, mark: &RecordedMark) -> LoggedFailure {
    let state = AllocatorState::new(recording, mark.step);
    let sums = state.as_ref().map(|state| state.sums);
    let is_npu = ["npu", "pta"]
        .iter()
        .any(|name| recording.device.to_lowercase().starts_with(name));
    let line = mark
        .failed
        .and_then(|failed| recording.call_sites.of_stack(failed.stack?));
    LoggedFailure {
        requested: Some(mark.bytes.get()).filter(|bytes| *bytes > 0),
        device: device(recording),
        who: Some("torch".to_owned()),
        library: if is_npu { Library::TorchNpu } else { Library::TorchCuda },
        line: line.map(|site| place(recording.call_sites.text(site)).to_owned()),
        allocated: sums.map(|sums| sums.active.get()),
        reserved: sums.map(|sums| sums.reserved.get()),
        largest_free: sums.map(|sums| sums.largest_free.get()),
        free: mark.failed.map(|failed| failed.free.get()),
        total: recording
            .device_memory
            .filter(|memory| !memory.is_lower_bound)
            .map(|memory| memory.bytes.get()),
        holders: holders(recording, mark.step),
        ..LoggedFailure::default()
    }
}

/// The line of a call site: `train.py:30` of `forward (train.py:30)`; the whole text where it names no line.
fn place(site: &str) -> &str {
    let line = site.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    line.map_or(site, |(_, line)| line)
}

/// `device0`, `NPU:0` are of device 0.
fn device(recording: &Recording) -> Option<u64> {
    let digits = |text: &str| {
        text.trim_start_matches(|letter: char| !letter.is_ascii_digit())
            .parse()
            .ok()
    };
    digits(&recording.device).or_else(|| digits(&recording.name))
}

/// The lines with most live bytes at a step, the largest first.
fn holders(recording: &Recording, step: Step) -> Vec<Holder> {
    let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
    let begun = recording.blocks.partition_point(|block| block.birth <= step);
    for block in recording.blocks[..begun].iter().filter(|block| block.end > step) {
        let name = match recording.block_name(block) {
            "" if block.is_older => "blocks from before the recording",
            "" => "blocks without a call stack",
            name => name,
        };
        let sum = by_name.entry(name).or_default();
        *sum = sum.saturating_add(block.bytes.get());
    }
    let mut holders: Vec<Holder> = by_name
        .into_iter()
        .map(|(name, bytes)| Holder {
            name: name.to_owned(),
            bytes,
        })
        .collect();
    holders.sort_by_key(|one| std::cmp::Reverse(one.bytes));
    holders.truncate(MOST_LINES);
    holders
}

/// Replays of a recording, each size of the device once.
struct Replays<'a> {
    recording: &'a Recording,
    fit: Option<Result<AllocatorFit, String>>,
    runs: BTreeMap<Bytes, Result<Vec<ServingRun>, String>>,
}

impl Replays<'_> {
    fn answer(
        &mut self,
        failure: &LoggedFailure,
        step: Step,
        progress: &Progress<'_>,
    ) -> Result<(Verdict, Vec<Advice>), Cancelled> {
        let (Some(requested), Some(reserved), Some(free)) = (failure.requested, failure.reserved, failure.free) else {
            return Ok((of_less(failure), vec![less(failure)]));
        };
        let capacity = Bytes(reserved.saturating_add(free));
        let words = format!("{} reserved and {} free", Bytes(reserved), Bytes(free));
        if requested > capacity.get() {
            let why = format!(
                "{} are more than the {capacity} that the process had ({words})",
                Bytes(requested)
            );
            return Ok((Verdict::no(why), vec![less(failure)]));
        }
        let live = Bytes(self.live(step));
        if live.get().saturating_add(requested) > capacity.get() {
            let why = format!(
                "{live} are live, with the {} more than the {capacity} that the process had ({words})",
                Bytes(requested)
            );
            return Ok((Verdict::no(why), vec![less(failure)]));
        }
        let fits = format!("{live} live and the {} fit into {capacity} ({words})", Bytes(requested));
        let device = capacity.max(self.recording.peaks().reserved.0);
        let runs = match self.runs(device, progress) {
            Ok(runs) => runs,
            Err(NoHistory::Cancelled(cancelled)) => return Err(cancelled),
            Err(NoHistory::Impossible(why)) => {
                return Ok((
                    Verdict::unknown(format!("{fits}, but the recording cannot be replayed: {why}")),
                    vec![less(failure)],
                ));
            }
        };
        Ok(of_runs(&runs, step, &fits, failure, self.framework()))
    }

    /// Requested bytes of the blocks that are live at a step, those that wait for a stream included.
    fn live(&self, step: Step) -> u64 {
        let begun = self.recording.blocks.partition_point(|block| block.birth <= step);
        let live = self.recording.blocks[..begun].iter().filter(|block| block.end > step);
        live.fold(0, |sum, block| sum.saturating_add(block.bytes.get()))
    }

    fn framework(&self) -> Framework {
        match &self.fit {
            Some(Ok(fit)) => fit.framework(),
            _ => Framework::Cuda,
        }
    }

    fn runs(&mut self, device: Bytes, progress: &Progress<'_>) -> Result<Vec<ServingRun>, NoHistory> {
        if let Some(known) = self.runs.get(&device) {
            return known.clone().map_err(NoHistory::Impossible);
        }
        if self.runs.len() == MOST_DEVICES {
            let why = format!("{MOST_DEVICES} sizes of the device were replayed, no more are");
            return Err(NoHistory::Impossible(why));
        }
        let fit = if let Some(fit) = &self.fit {
            fit
        } else {
            let fit = without_cancel(AllocatorFit::new(self.recording, None, Some(device), progress))?;
            self.fit.insert(fit)
        };
        let runs = match fit {
            Ok(fit) => without_cancel(serving_runs(fit, device, progress))?,
            Err(why) => Err(why.clone()),
        };
        self.runs.insert(device, runs.clone());
        runs.map_err(NoHistory::Impossible)
    }
}

/// A cancel ends the work; other errors are kept as texts.
fn without_cancel<T>(result: Result<T, NoHistory>) -> Result<Result<T, String>, Cancelled> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(NoHistory::Impossible(why)) => Ok(Err(why)),
        Err(NoHistory::Cancelled(cancelled)) => Err(cancelled),
    }
}

/// The answer without all figures: a request that is larger than all that can be free is known not to fit.
fn of_less(failure: &LoggedFailure) -> Verdict {
    let rest = failure.total.and_then(|total| total.checked_sub(failure.allocated?));
    match (failure.requested, rest) {
        (Some(requested), Some(rest)) if requested > rest => Verdict::no(format!(
            "{} are more than the {} of the device that no tensor has",
            Bytes(requested),
            Bytes(rest)
        )),
        (Some(_), _) => Verdict::unknown("the event does not state what the device had free"),
        (None, _) => Verdict::unknown("the event does not state what was requested"),
    }
}

fn less(failure: &LoggedFailure) -> Advice {
    let largest = failure
        .holders
        .first()
        .map_or_else(String::new, |one| format!(": {} holds {}", one.name, Bytes(one.bytes)));
    reduce(format!("less must be live at this request{largest}"))
}

fn of_runs(
    runs: &[ServingRun],
    step: Step,
    fits: &str,
    failure: &LoggedFailure,
    framework: Framework,
) -> (Verdict, Vec<Advice>) {
    let Some((recorded, tried)) = runs.split_first() else {
        return (Verdict::unknown(fits), vec![less(failure)]);
    };
    if !recorded.failed.contains(&step) {
        let why = format!("{fits}, but a replay under the recorded settings does not fail at it");
        return (Verdict::unknown(why), vec![less(failure)]);
    }
    let n_tried = counted(tried.len() as u64, "other setting");
    let serving: Vec<&ServingRun> = tried.iter().filter(|run| run.serves(step)).collect();
    if serving.is_empty() {
        let why = format!("{fits}, but none of {n_tried} that were replayed serves it");
        return (Verdict::no(why), vec![less(failure)]);
    }
    let why = format!("{fits}; replayed, {} of {n_tried} serve it", serving.len());
    let settings = serving.iter().take(MOST_SETTINGS).map(|run| {
        let setting = format!("{}={}", framework.variable(), run.conf);
        let reason = format!(
            "replayed on a device of this size, the request is served; the pool reserves {} at most",
            run.peak
        );
        Advice {
            needs_version: needed_release(&run.conf),
            ..Advice::set(setting, reason)
        }
    });
    (Verdict::yes(why), settings.collect())
}
