//! Failed requests of a recorded memory history as facts of a process.

use std::sync::Arc;

use super::super::allocator_state::AllocatorState;
use super::super::recorded_failures::{LiveAt, RecordedFailure, RecordedFailures, Replayed, device_number, live_at};
use super::super::verdict::{Served, Verdict};
use super::super::what_if::stated_conf;
use super::advice::{Advice, reduce};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step, counted};
use highwater_model::workload::{Holder, Library, LoggedFailure, LoggedProcess, Recording};
use highwater_torch::VARIABLES;

/// What a recording tells of its failed requests.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) process: Arc<LoggedProcess>,
    /// By failure. Without advice that of the arithmetic holds, as for a text.
    pub(super) answers: Vec<(Verdict, Vec<Advice>)>,
    /// Failed requests after these.
    pub(super) n_more: usize,
}

/// Whether a recording has events of failed requests.
pub(super) fn has_failures(recording: &Recording) -> bool {
    RecordedFailures::is_any(recording)
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
        "{} is the state at one moment, without a history of events, so no failed request is in it{}. Record one: \
         torch.cuda.memory._record_memory_history() at the start, torch.cuda.memory._dump_snapshot(FILE) after the failure.",
        recording.name,
        held(recording)
    )
}

/// What is held at the only moment of a recording: `; 11.03 GiB are live then, the largest part ...`.
fn held(recording: &Recording) -> String {
    let last = Step(recording.n_steps.saturating_sub(1));
    let LiveAt { bytes, sites, .. } = live_at(recording, last);
    let reserved = AllocatorState::new(recording, last).map(|state| format!(" of {} reserved", state.sums.reserved));
    let reserved = reserved.unwrap_or_default();
    sites.first().map_or_else(String::new, |most| {
        format!(
            "; {bytes}{reserved} are live then, the largest part {}, {} in {} (`highwater peak` lists all)",
            most.name,
            most.bytes,
            counted(most.blocks, "block")
        )
    })
}

/// `total` is the device's, where an opened text states it.
///
/// # Errors
/// The work is cancelled.
pub(super) fn told(recording: &Recording, total: Option<Bytes>, progress: &Progress<'_>) -> Result<Told, Cancelled> {
    let failures = RecordedFailures::new(recording, Replayed::All, progress)?;
    let mut process = LoggedProcess {
        name: Some(recording.name.clone()),
        failures: failures.list.iter().map(|one| failure(recording, one, total)).collect(),
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
        answers: failures.list.iter().map(|one| answer(recording, one)).collect(),
        n_more: failures.n_more,
    })
}

fn failure(recording: &Recording, failed: &RecordedFailure, total: Option<Bytes>) -> LoggedFailure {
    let is_npu = ["npu", "pta"]
        .iter()
        .any(|name| recording.device.to_lowercase().starts_with(name));
    let holders = failed.sites.iter().map(|site| Holder {
        name: site.name.clone(),
        bytes: site.bytes.get(),
    });
    LoggedFailure {
        requested: failed.requested.map(Bytes::get),
        device: device_number(recording),
        who: Some("torch".to_owned()),
        library: if is_npu { Library::TorchNpu } else { Library::TorchCuda },
        line: Some(failed.line().to_owned()).filter(|line| !line.is_empty()),
        allocated: failed.allocated.map(Bytes::get),
        reserved: failed.reserved.map(Bytes::get),
        largest_free: failed.sums.map(|sums| sums.largest_free.get()),
        free: failed.free.map(Bytes::get),
        total: total.map(Bytes::get),
        holders: holders.collect(),
        ..LoggedFailure::default()
    }
}

fn answer(recording: &Recording, failed: &RecordedFailure) -> (Verdict, Vec<Advice>) {
    let verdict = failed.verdict.clone();
    let verdict = verdict.unwrap_or_else(|| Verdict::unknown("the allocator was simulated"));
    let settings = failed.settings.iter().map(|one| Advice {
        needs_version: one.needs_version.clone(),
        ..Advice::set(one.text(), one.reason())
    });
    let settings: Vec<Advice> = settings.collect();
    if settings.is_empty() {
        // No replay decides, and the allocator had enough, though in pieces.
        let is_open = verdict.served == Served::Unknown && !failed.is_limited() && !recording.is_of_windows();
        let unused = failed
            .sums
            .map(|sums| sums.inactive_split + sums.free + failed.free.unwrap_or_default());
        if is_open
            && unused
                .zip(failed.requested)
                .is_some_and(|(unused, requested)| unused >= requested)
        {
            return (verdict, Vec::new());
        }
        let limit = failed.is_limited().then(|| {
            Advice::new(
                "Raise the limit of the program",
                "the device had enough free: torch.cuda.set_per_process_memory_fraction limits what a program takes of it",
            )
        });
        return (verdict, limit.into_iter().chain([reduce(failed.less())]).collect());
    }
    (verdict, settings)
}
