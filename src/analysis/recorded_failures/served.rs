//! What would have served a failed request: arithmetic first, then replays under other settings.
//!
//! ```text
//! live + request > reserved + free          no setting: the bytes are not there
//! free >= the segment that the pool needs   a limit refused it, which the file does not state
//! else                                      the recorded settings and others, replayed on a device of these bytes
//! ```
//!
//! The device is as large as the event states at least: what the pool had reserved and what was free. What other processes had is
//! unknown and constant.

use std::collections::BTreeMap;

use super::super::setting_release::needed_release;
use super::super::verdict::Verdict;
use super::super::what_if::{AllocatorFit, ServingRun, serving_runs};
use super::{RecordedFailure, Replayed};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step, counted, grouped};
use highwater_model::workload::Recording;
use highwater_sim::what_if::NoHistory;
use highwater_torch::Framework;

/// Failed requests that are replayed, the first ones.
const MOST_REPLAYED: usize = 16;

/// Sizes of the device for which settings are replayed.
const MOST_DEVICES: usize = 3;

/// Settings that are named.
const MOST_SETTINGS: usize = 3;

/// A setting under which a failed request gets its memory, by replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingSetting {
    /// `PYTORCH_CUDA_ALLOC_CONF`.
    pub variable: &'static str,
    pub conf: String,
    /// The most bytes that the allocator reserves then.
    pub peak: Bytes,
    /// The release of torch that knows it first.
    pub needs_version: Option<String>,
}

impl ServingSetting {
    /// `NAME=VALUE`.
    pub fn text(&self) -> String {
        format!("{}={}", self.variable, self.conf)
    }

    pub fn reason(&self) -> String {
        format!(
            "replayed on a device of this size, the request is served; the pool reserves {} at most",
            self.peak
        )
    }
}

/// What the pool asks the device for: requests up to 1 MiB share segments of 2 MiB, those below 10 MiB segments of 20 MiB (`c10`'s
/// `kSmallBuffer`, `kLargeBuffer`, `kMinLargeAlloc`), others are rounded to 2 MiB.
pub(in super::super) const fn segment_bytes(requested: u64) -> u64 {
    const MIB: u64 = 1 << 20;
    match requested {
        0..=MIB => 2 * MIB,
        0x10_0001..0xa0_0000 => 20 * MIB,
        _ => requested.div_ceil(2 * MIB).saturating_mul(2 * MIB),
    }
}

/// The arithmetic alone; settings that may serve it are left to a replay.
pub(super) fn without_replay(recording: &Recording, failure: &mut RecordedFailure) {
    if recording.simulation.is_none() {
        failure.verdict = Some(match arithmetic(recording, failure) {
            Ok(open) => Verdict::unknown(format!("{}; `highwater explain` replays settings", open.fits)),
            Err(verdict) => verdict,
        });
    }
}

/// The bytes suffice, so that a setting may serve the request.
struct Open {
    /// The clause that says so.
    fits: String,
    /// Reserved and free bytes.
    capacity: Bytes,
}

fn arithmetic(recording: &Recording, failure: &RecordedFailure) -> Result<Open, Verdict> {
    let Some(requested) = failure.requested else {
        return Err(Verdict::unknown("the event does not state what was requested"));
    };
    let (Some(reserved), Some(free), Some(capacity)) = (failure.reserved, failure.free, failure.at_least()) else {
        return Err(of_less(recording, failure, requested));
    };
    let words = format!("{reserved} reserved and {free} free");
    if requested > capacity {
        let why = format!("{requested} are more than the {capacity} that the process had ({words})");
        return Err(Verdict::no(why));
    }
    let live = failure.live.1;
    if live.get().saturating_add(requested.get()) > capacity.get() {
        let why =
            format!("{live} are live, with the {requested} more than the {capacity} that the process had ({words})");
        return Err(Verdict::no(why));
    }
    let needed = Bytes(segment_bytes(requested.get()));
    if free >= needed {
        let why = format!(
            "the device had {free} free, enough for the {needed} that the pool asks it for, so a limit of the program \
             (set_per_process_memory_fraction) or of the driver refused them, and the file states none"
        );
        return Err(Verdict::unknown(why));
    }
    Ok(Open {
        fits: format!("{live} live and the {requested} fit into {capacity} ({words})"),
        capacity,
    })
}

/// The answer without free or reserved bytes: a request that is larger than all that can be free is known not to fit.
fn of_less(recording: &Recording, failure: &RecordedFailure, requested: Bytes) -> Verdict {
    let total = recording.device_memory.filter(|memory| !memory.is_lower_bound);
    let allocated = failure.allocated.unwrap_or(failure.live.1);
    let rest = total.map(|total| total.bytes.saturating_sub(allocated));
    if let Some(rest) = rest.filter(|rest| requested > *rest) {
        return Verdict::no(format!(
            "{requested} are more than the {rest} of the device that no tensor has"
        ));
    }
    Verdict::unknown(match failure.free {
        None => "the event does not state what the device had free",
        Some(_) => "the file lists no segments",
    })
}

/// Replays of a recording, each size of the device once.
pub(super) struct Replays<'a> {
    recording: &'a Recording,
    replayed: Replayed,
    n_answers: usize,
    fit: Option<Result<AllocatorFit, String>>,
    runs: BTreeMap<Bytes, Result<Vec<ServingRun>, String>>,
}

impl<'a> Replays<'a> {
    pub(super) fn new(recording: &'a Recording, replayed: Replayed) -> Self {
        Self {
            recording,
            replayed,
            n_answers: 0,
            fit: None,
            runs: BTreeMap::new(),
        }
    }

    /// Writes what would have served a request.
    pub(super) fn answer(&mut self, failure: &mut RecordedFailure, progress: &Progress<'_>) -> Result<(), Cancelled> {
        if self.recording.simulation.is_some() {
            return Ok(());
        }
        let Open { fits, capacity } = match arithmetic(self.recording, failure) {
            Ok(open) => open,
            Err(verdict) => {
                failure.verdict = Some(verdict);
                return Ok(());
            }
        };
        if let Some(why) = self.reserve() {
            failure.verdict = Some(Verdict::unknown(format!("{fits}; {why}")));
            return Ok(());
        }
        let device = capacity.max(self.recording.peaks().reserved.0);
        let (verdict, settings) = match self.runs(device, progress) {
            Ok(runs) => of_runs(&runs, failure.event, &fits, self.framework()),
            Err(NoHistory::Cancelled(cancelled)) => return Err(cancelled),
            Err(NoHistory::Impossible(why)) => {
                let why = format!("{fits}, but the recording cannot be replayed: {why}");
                (Verdict::unknown(why), Vec::new())
            }
        };
        (failure.verdict, failure.settings) = (Some(verdict), settings);
        Ok(())
    }

    /// Why a request is not replayed; `None` where it is.
    fn reserve(&mut self) -> Option<String> {
        self.n_answers += 1;
        if !self.replayed.is_of(self.recording.n_steps) {
            let count = grouped(u64::from(self.recording.n_steps));
            return Some(format!(
                "{count} events are not replayed here, but by `highwater explain`"
            ));
        }
        (self.n_answers > MOST_REPLAYED).then(|| format!("the first {MOST_REPLAYED} requests alone are replayed"))
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

fn of_runs(runs: &[ServingRun], event: Step, fits: &str, framework: Framework) -> (Verdict, Vec<ServingSetting>) {
    let Some((recorded, tried)) = runs.split_first() else {
        return (Verdict::unknown(fits), Vec::new());
    };
    if !recorded.failed.contains(&event) {
        let why = format!("{fits}, but a replay under the recorded settings does not fail at it");
        return (Verdict::unknown(why), Vec::new());
    }
    let n_tried = counted(tried.len() as u64, "other setting");
    let serving: Vec<&ServingRun> = tried.iter().filter(|run| run.serves(event)).collect();
    if serving.is_empty() {
        let why = format!("{fits}, but none of {n_tried} that were replayed serves it");
        return (Verdict::unknown(why), Vec::new());
    }
    let why = format!("{fits}; replayed, {} of {n_tried} serve it", serving.len());
    let settings = serving.iter().take(MOST_SETTINGS).map(|run| ServingSetting {
        variable: framework.variable(),
        conf: run.conf.clone(),
        peak: run.peak,
        needs_version: needed_release(&run.conf),
    });
    (Verdict::yes(why), settings.collect())
}
