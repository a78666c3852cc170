//! Whether another setting of the allocator would have served a request that failed in a recording.
//!
//! In: rules that fit a recording, and the bytes that its process had at least: those that it reserved and those that were
//! free. Out: per setting the requests that fail on a device of these bytes. Invariant: the first run is that of the recorded
//! settings; where it serves the request, the recording cannot be judged.

use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Step};
use highwater_sim::what_if::NoHistory;
use highwater_torch::recording::{Replayable, Stop};
use highwater_torch::{Action, Event, Field, OPTIONS, Observer, Settings};

use super::candidates::{SettingPair, values, with_pair};
use super::{AllocatorFit, AllocatorSetting, Servable};

/// Split limits that are tried.
const MOST_SPLITS: usize = 6;

/// Requests of a history from which on fewer settings are tried.
const MANY_REQUESTS: usize = 2_000_000;

/// A replay on a device of limited size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingRun {
    pub conf: String,
    /// The steps of requests that failed, ascending, but for those that no setting serves.
    pub failed: Vec<Step>,
    /// The most bytes that the allocator reserved.
    pub peak: Bytes,
}

impl ServingRun {
    /// Whether every request until a step got its memory, that of the step included.
    pub fn serves(&self, step: Step) -> bool {
        self.failed.first().is_none_or(|first| *first > step)
    }
}

/// The recorded settings, then those that act against fragmentation. O(settings x events).
///
/// # Errors
/// The recording cannot be replayed, or the work is cancelled.
pub fn serving_runs(fit: &AllocatorFit, device: Bytes, progress: &Progress<'_>) -> Result<Vec<ServingRun>, NoHistory> {
    let recorded = std::iter::once(fit.conf.clone());
    let mut runs = Vec::new();
    for conf in recorded.chain(candidates(fit, device, progress)?) {
        progress.check()?;
        runs.push(run(fit, conf, device, progress)?);
    }
    Ok(runs)
}

fn run(fit: &AllocatorFit, conf: String, device: Bytes, progress: &Progress<'_>) -> Result<ServingRun, NoHistory> {
    let setting = AllocatorSetting {
        conf,
        version: Some(fit.settings.version),
    };
    let (run, failures) = fit.replayed(&setting, (Some(device), false), FailedInputs::default(), progress)?;
    let is_never = |step: &Step| {
        let mut failures = fit.failures.iter();
        failures.any(|failed| failed.step == *step && failed.servable == Servable::Never)
    };
    Ok(ServingRun {
        conf: run.conf,
        failed: failures.steps(fit.steps()).filter(|step| !is_never(step)).collect(),
        peak: Bytes(run.figures.stats.reserved.peak),
    })
}

/// Settings that the version takes, the simplest first; none that the recording has.
fn candidates(fit: &AllocatorFit, device: Bytes, progress: &Progress<'_>) -> Result<Vec<String>, NoHistory> {
    let cancel = progress.cancel_flag();
    let is_cancelled = || cancel.is_cancelled();
    let replayable = fit.replayable(Some(device), Stop::when(&is_cancelled))?;
    let is_large = replayable.inputs().len() > MANY_REQUESTS;
    let tried = pairs(
        fit,
        std::slice::from_ref(&replayable),
        if is_large { 1 } else { MOST_SPLITS },
    );
    let version = fit.settings.version;
    let mut all: Vec<String> = Vec::new();
    for conf in tried.iter().filter_map(|pair| with_pair(&fit.conf, pair, version)) {
        let is_recorded = Settings::parse(&conf, version).is_ok_and(|settings| settings == fit.settings);
        if !is_recorded && !all.contains(&conf) {
            all.push(conf);
        }
    }
    Ok(all)
}

/// Expandable segments, and split limits that part the sizes of requests differently.
fn pairs(fit: &AllocatorFit, replayables: &[Replayable<'_>], n_splits: usize) -> Vec<SettingPair> {
    let field = |pair: &SettingPair| OPTIONS.iter().find(|row| row.key == pair.key).map(|row| row.field);
    let all = values(replayables, fit.settings.version, false);
    let of = |wanted: Field| {
        let pairs = all.iter().flatten().filter(move |pair| field(pair) == Some(wanted));
        pairs.cloned().collect::<Vec<SettingPair>>()
    };
    let splits = of(Field::MaxSplit);
    let step = splits.len().div_ceil(n_splits).max(1);
    let splits = splits.into_iter().step_by(step);
    let expandable = of(Field::Expandable).into_iter().filter(|_| !fit.is_windows);
    expandable.chain(splits).collect()
}

/// The inputs whose requests failed.
#[derive(Default)]
pub(super) struct FailedInputs {
    now: Option<u32>,
    inputs: Vec<u32>,
}

impl FailedInputs {
    /// The steps of the requests, by the steps of the history's entries.
    pub(super) fn steps(&self, steps: &[u32]) -> impl Iterator<Item = Step> {
        let found = self.inputs.iter().filter_map(|input| steps.get(*input as usize));
        found.map(|step| Step(*step))
    }
}

impl Observer for FailedInputs {
    fn event(&mut self, event: Event) {
        if event.action == Action::OutOfMemory {
            // A block of the start that does not fit fails before the first input.
            self.inputs.push(self.now.unwrap_or(0));
        }
    }

    fn input(&mut self, position: Option<u32>) {
        self.now = position;
    }
}
