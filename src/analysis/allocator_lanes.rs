//! Lanes of simulated allocators beside recordings: one per setting.
//!
//! A simulated run is a recording with the same steps, appended after the measured ones, so that every view of
//! recordings shows it. [`AllocatorSimulation`](highwater_model::workload::AllocatorSimulation) says that it is simulated.

use std::sync::Arc;

use super::request::Request;
use super::what_if::{AllocatorFit, AllocatorSetting};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::{AllocatorSimulation, Recording, Source, Workload};
use highwater_sim::what_if::NoHistory;
use highwater_torch::{Framework, Version, in_force};

/// Most lanes of recordings and settings.
const MOST_LANES: usize = 16;

/// A workload with simulated recordings, and what was found on the way.
pub(super) struct WithSettings {
    pub(super) workload: Workload,
    pub(super) diagnostics: Diagnostics,
}

/// The settings to simulate: those of the environment, then those that were asked for.
pub(super) fn settings_of(request: &Request) -> Vec<AllocatorSetting> {
    let environment = &request.environment;
    let text_of = |name: &str| environment.get(name);
    let own = in_force(Version::NEWEST, text_of)
        .ok()
        .flatten()
        .map(|found| (found, None));
    // torch_npu refuses two variables; the check says so.
    let npu = in_force(Version::Npu, text_of).ok().flatten();
    let npu = npu.filter(|(name, _)| *name == Framework::Npu.variable());
    let set = npu.map(|found| (found, Some(Version::Npu))).or(own);
    let set = set.filter(|((_, conf), _)| !conf.trim().is_empty());
    let set = set.map(|((_, conf), version)| AllocatorSetting {
        conf: conf.to_owned(),
        version,
    });
    let mut settings: Vec<AllocatorSetting> = set.into_iter().collect();
    for setting in &request.allocator_settings {
        if !settings.contains(setting) {
            settings.push(setting.clone());
        }
    }
    settings
}

/// The workload with a recording per setting; `None` where nothing is asked for, or it has no recordings alone. Of several
/// recordings each is simulated as long as all have room, else the one with the highest live peak.
///
/// # Errors
/// [`Cancelled`].
pub(super) fn with_allocator_lanes(
    request: &Request,
    device: Option<Bytes>,
    progress: &Progress<'_>,
) -> Result<Option<WithSettings>, Cancelled> {
    let settings = settings_of(request);
    let Source::Recordings(measured) = &request.workload.source else {
        return Ok(None);
    };
    if settings.is_empty() || measured.is_empty() {
        return Ok(None);
    }
    let mut diagnostics = Diagnostics::new();
    let mut recordings = measured.clone();
    for one in chosen(measured, settings.len()) {
        progress.check()?;
        let device = known_memory(one).or(device);
        let asked = settings.iter().find_map(|setting| setting.version);
        let fit = match AllocatorFit::new(one, asked, device, progress) {
            Ok(fit) => fit,
            Err(NoHistory::Cancelled(cancelled)) => return Err(cancelled),
            Err(why) => {
                diagnostics.error(format!("allocator settings cannot be simulated: {why}"), &one.name);
                continue;
            }
        };
        diagnostics.info(fit.sentence(), &one.name);
        for setting in &settings {
            progress.check()?;
            match simulated(one, &fit, setting, device, progress) {
                Ok(recording) => recordings.push(Arc::new(recording)),
                Err(NoHistory::Cancelled(cancelled)) => return Err(cancelled),
                Err(why) => diagnostics.error(format!("allocator settings {why}"), &one.name),
            }
        }
    }
    let workload = Workload {
        source: Source::Recordings(recordings),
        ..(*request.workload).clone()
    };
    Ok(Some(WithSettings { workload, diagnostics }))
}

/// The recordings to simulate.
fn chosen(measured: &[Arc<Recording>], n_settings: usize) -> Vec<&Recording> {
    let with_blocks = measured
        .iter()
        .map(|one| &**one)
        .filter(|one| one.lists_device_blocks());
    let all: Vec<&Recording> = with_blocks.collect();
    if measured.len() + all.len() * n_settings <= MOST_LANES {
        return all;
    }
    let highest = all.iter().rev().max_by_key(|one| one.peaks().live.0);
    highest.into_iter().copied().collect()
}

/// The memory of the recorded device, where the file states it exactly.
fn known_memory(recording: &Recording) -> Option<Bytes> {
    let memory = recording.device_memory?;
    (!memory.is_lower_bound).then_some(memory.bytes)
}

pub(super) fn simulated(
    measured: &Recording,
    fit: &AllocatorFit,
    setting: &AllocatorSetting,
    device: Option<Bytes>,
    progress: &Progress<'_>,
) -> Result<Recording, NoHistory> {
    let run = fit.simulated(measured, setting, device, progress)?;
    let version = run.version;
    let stats = &run.figures.stats;
    let settings = match setting.conf.trim() {
        "" => "default settings",
        conf => conf,
    };
    Ok(Recording {
        name: settings.to_owned(),
        recorder: format!("simulated: {version}, {settings}"),
        settings: vec![("settings".to_owned(), settings.to_owned())],
        simulation: Some(AllocatorSimulation {
            measured: measured.name.clone(),
            settings: setting.conf.clone(),
            variable: version.rules().framework.variable(),
            version: version.to_string(),
            retries: stats.alloc_retries,
            failures: stats.ooms,
            device_calls: run.figures.device_calls,
            peak: Bytes(stats.reserved.peak),
            measured_peak: if fit.lists_segments() {
                fit.recorded_peak
            } else {
                Bytes::ZERO
            },
            replayed_peak: Bytes(fit.own.stats.reserved.peak),
            is_exact: fit.is_exact(),
        }),
        ..run.recording
    })
}
