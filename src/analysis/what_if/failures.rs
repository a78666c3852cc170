//! Requests that failed in a recording: whether a setting can serve them, before any is tried.
//!
//! In: the failed requests with the bytes of the device. Out: [`JudgedFailure`]s. A request for which too much is live fails
//! under every setting. One that the replay of the recorded settings serves, because the state before the recording is not
//! known, tells nothing of other settings. Both stay failed in every replay; the others are tried.

use std::collections::{BTreeMap, BTreeSet};

use super::served::FailedInputs;
use super::{AllocatorFit, device_spec, rules_of};
use highwater_model::units::{Bytes, Step, counted};
use highwater_model::workload::{MarkKind, Recording};
use highwater_sim::what_if::NoHistory;
use highwater_torch::recording::{Stop, what_if};

/// Failed requests that are named.
const MOST_FAILURES: usize = 4;

/// What a replay can say of a request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Servable {
    /// What is live leaves too little of the device.
    Never,
    /// The recorded settings, replayed, serve it; so no replay shows whether others do.
    Unknown,
    /// Settings are tried on it.
    Tried,
}

impl Servable {
    /// For programs: `never`, `unknown`, `tried`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Unknown => "unknown",
            Self::Tried => "tried",
        }
    }
}

/// A request that failed in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedFailure {
    pub step: Step,
    pub requested: Bytes,
    /// Requested bytes of the blocks that were live.
    pub live: Bytes,
    /// What the device had for the process; `None` where it is unknown.
    pub device: Option<Bytes>,
    pub servable: Servable,
}

impl JudgedFailure {
    /// For people; `outgrown` is what the recorded device had, where the given one is larger.
    pub fn sentence(&self, outgrown: Option<Bytes>) -> String {
        let Self {
            step, requested, live, ..
        } = self;
        let request = format!("the request of {requested} that failed at event {step}");
        let device = self
            .device
            .map_or_else(|| "a device of unknown size".to_owned(), |bytes| format!("{bytes}"));
        match self.servable {
            Servable::Never => format!(
                "no setting can serve {request}: {live} are live, and with it more than the {device} of the device"
            ),
            Servable::Unknown => format!(
                "{request} stays failed in every replay: the recorded settings, replayed from the blocks that are known, serve it, \
                 so no replay tells whether another setting would"
            ),
            Servable::Tried => match outgrown {
                Some(had) => format!("{request}, when the process had {had}, is tried with {device}"),
                None => format!("{request} fails in the replay, too; {live} are live, and the process had {device}"),
            },
        }
    }
}

impl AllocatorFit {
    /// Failed requests on which settings are tried.
    pub(super) fn tried(&self) -> usize {
        let failures = self.failures.iter();
        failures.filter(|failed| failed.servable == Servable::Tried).count()
    }

    /// Marks the failed requests that the recorded settings, replayed, serve.
    pub(super) fn judge_failures(&mut self, stop: Stop<'_>) -> Result<(), NoHistory> {
        // A larger device may serve what the recorded one did not.
        if self.tried() == 0 || self.outgrown.is_some() {
            return Ok(());
        }
        let replayable = self.replayable(None, stop)?.refusing(self.refused());
        let rules = rules_of(&self.settings, self.check.ties);
        let (_, seen) = what_if(&replayable, rules, device_spec(self.device), FailedInputs::default())?;
        drop(replayable);
        let steps: BTreeSet<Step> = seen.steps(&self.history.steps).collect();
        for failed in &mut self.failures {
            if failed.servable == Servable::Tried && !steps.contains(&failed.step) {
                failed.servable = Servable::Unknown;
            }
        }
        Ok(())
    }

    /// Positions in the history of failed requests.
    pub(super) fn failed_positions(&self, is_wanted: impl Fn(&JudgedFailure) -> bool) -> BTreeSet<u32> {
        let wanted = self.failures.iter().filter(|failed| is_wanted(failed));
        let position = |failed: &JudgedFailure| {
            let at = self.history.steps.binary_search(&failed.step.0).ok()?;
            u32::try_from(at).ok()
        };
        wanted.filter_map(position).collect()
    }

    /// Positions of requests that no setting serves.
    pub(super) fn never(&self) -> BTreeSet<u32> {
        self.failed_positions(|failed| failed.servable == Servable::Never)
    }

    /// Positions of requests that fail in every replay.
    pub(super) fn refused(&self) -> BTreeSet<u32> {
        self.failed_positions(|failed| failed.servable != Servable::Tried)
    }

    /// Why the answer on a failed request is "no" or unknown, a sentence each; how many more there are.
    pub fn failure_sentences(&self) -> Vec<String> {
        let mut all: Vec<String> = self
            .failures
            .iter()
            .take(MOST_FAILURES)
            .map(|failed| failed.sentence(self.outgrown))
            .collect();
        let more = self.failures.len().saturating_sub(MOST_FAILURES);
        all.extend((more > 0).then(|| format!("{} more failed", counted(more as u64, "request"))));
        all
    }

    /// Requests that the recorded settings do not serve, replayed, and another setting may.
    pub fn own_lost(&self) -> usize {
        match self.outgrown {
            Some(_) => self.own.lost(),
            None => self.tried(),
        }
    }
}

/// The failed requests of a recording by step, as far as arithmetic answers. Where no device is `given`, it had at each of them
/// what was reserved and free then; where the file does not state that, what it had at all. O((blocks + regions) log failures).
pub(super) fn failed_requests(recording: &Recording, given: Option<Bytes>, had: Option<Bytes>) -> Vec<JudgedFailure> {
    let marks = || recording.marks.iter().filter(|mark| mark.kind == MarkKind::OutOfMemory);
    let requested: BTreeMap<Step, (Bytes, Option<Bytes>)> = marks()
        .map(|mark| (mark.step, (mark.bytes, mark.failed.and_then(|failed| failed.free))))
        .collect();
    let steps: Vec<Step> = requested.keys().copied().collect();
    let blocks = recording
        .blocks
        .iter()
        .map(|block| (block.birth, block.end, block.bytes));
    let regions = recording
        .regions
        .iter()
        .map(|region| (region.birth, region.end, region.bytes));
    let held = sums_at(&steps, blocks).into_iter().zip(sums_at(&steps, regions));
    let failed = requested
        .into_iter()
        .zip(held)
        .map(|((step, (requested, free)), (live, reserved))| {
            let stated = free.filter(|_| !recording.regions.is_empty());
            let stated = stated.map(|free| Bytes(free.get().saturating_add(reserved.get())));
            let device = given.or(stated).or(had);
            let is_too_large = device.is_some_and(|device| live.get().saturating_add(requested.get()) > device.get());
            JudgedFailure {
                step,
                requested,
                live,
                device,
                servable: if is_too_large { Servable::Never } else { Servable::Tried },
            }
        });
    failed.collect()
}

/// The bytes of ranges on each of some ascending steps.
fn sums_at(steps: &[Step], ranges: impl Iterator<Item = (Step, Step, Bytes)>) -> Vec<Bytes> {
    let mut changes = vec![0_i128; steps.len() + 1];
    for (birth, end, bytes) in ranges.filter(|_| !steps.is_empty()) {
        let position = |at: Step| steps.partition_point(|step| *step < at);
        changes[position(birth)] += i128::from(bytes.get());
        changes[position(end)] -= i128::from(bytes.get());
    }
    let mut sum = 0;
    let sums = changes.into_iter().take(steps.len()).map(|change| {
        sum += change;
        Bytes(u64::try_from(sum).unwrap_or(0))
    });
    sums.collect()
}
