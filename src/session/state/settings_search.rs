//! The search for allocator settings with the lowest peak, on the measured recordings of the answer.

use std::sync::Arc;

use super::super::task::{Failure, TaskKind};
use super::Session;
use super::swept::{Part, Sweep, Swept};
use highwater_analysis::{
    AllocatorFit, AllocatorSetting, SearchPlan, SettingSearch, TriedSetting, missing_history, search_recordings,
};
use highwater_model::units::Bytes;
use highwater_model::workload::Recording;
use highwater_torch::{Framework, Settings, Version};

/// Most lanes of settings.
const MOST_SETTINGS: usize = 12;

/// What a search found.
#[derive(Clone, Debug)]
pub struct FoundSettings {
    pub recordings: Vec<Arc<Recording>>,
    /// By recording.
    pub fits: Vec<AllocatorFit>,
    pub search: SettingSearch,
    /// `None`: what the recordings state.
    pub device: Option<Bytes>,
}

impl FoundSettings {
    /// The highest recorded peak; `None` where a recording states none.
    pub fn recorded_peak(&self) -> Option<Bytes> {
        let peaks = self.fits.iter().map(|fit| fit.recorded_peak);
        peaks.max().filter(|peak| *peak > Bytes::ZERO)
    }

    /// The memory of the devices that were replayed, and whether they may have more.
    pub fn replayed_memory(&self) -> Option<(Bytes, bool)> {
        let stated = self
            .fits
            .iter()
            .filter_map(|fit| Some((fit.device?, fit.is_least_memory)));
        self.device.map(|device| (device, false)).or_else(|| stated.max())
    }

    pub fn winner(&self) -> Option<&TriedSetting> {
        self.search.tried.get(self.search.winner?)
    }

    /// The variable that holds the settings.
    pub fn variable(&self) -> &'static str {
        self.fits
            .first()
            .map_or(Framework::Cuda, AllocatorFit::framework)
            .variable()
    }
}

impl Swept for FoundSettings {
    /// The memory of the device.
    type Order = Option<Bytes>;

    const KIND: TaskKind = TaskKind::SettingsSearch;

    fn sweep(session: &mut Session) -> &mut Sweep<Self> {
        &mut session.found_settings
    }

    /// All points in one part.
    fn next(session: &Session) -> Option<Part> {
        let device = session.found_settings.order?;
        let recordings = session.replayed_recordings();
        let is_wanted = session.found_settings().is_none() && !recordings.is_empty();
        is_wanted.then(|| -> Part {
            Box::new(move |_, progress| {
                let plan = SearchPlan { device, version: None };
                let measured: Vec<&Recording> = recordings.iter().map(Arc::as_ref).collect();
                let (fits, search) = search_recordings(&measured, plan, progress)?;
                let found = Self {
                    recordings,
                    fits,
                    search,
                    device,
                };
                Ok(Box::new(|session| session.found_settings.table = Some(found)))
            })
        })
    }
}

impl Session {
    /// The measured recordings with a history; of several the one with the highest live peak.
    fn replayed_recordings(&self) -> Vec<Arc<Recording>> {
        let Some(comparison) = self.answers.comparison() else {
            return Vec::new();
        };
        let measured = comparison.workload.recordings().iter();
        let measured = measured.filter(|one| one.simulation.is_none() && missing_history(one).is_none());
        let highest = measured.rev().max_by_key(|one| one.peaks().live.0);
        highest.cloned().into_iter().collect()
    }

    /// Why no recording can be replayed under other settings; `None` where one can.
    pub fn missing_history(&self) -> Option<String> {
        let measured = self.answers.comparison()?.workload.recordings().iter();
        let mut measured = measured.filter(|one| one.simulation.is_none());
        let first = missing_history(measured.next()?)?;
        measured.all(|one| missing_history(one).is_some()).then_some(first)
    }

    /// The memory of the recorded device, where the file states it or the user chose it. The least that a failed request shows
    /// is used where this is `None`.
    pub fn replay_memory(&self) -> Option<Bytes> {
        let comparison = self.answers.comparison()?;
        let stated = self.replayed_recordings().into_iter().find_map(|one| {
            let memory = one.device_memory?;
            (!memory.is_lower_bound).then_some(memory.bytes)
        });
        stated.or(comparison.chosen_memory)
    }

    /// The last search, where it is of the recordings on the screen.
    pub fn found_settings(&self) -> Option<&FoundSettings> {
        let found = self.found_settings.table.as_ref()?;
        let shown = self.replayed_recordings();
        let is_same = found.recordings.len() == shown.len()
            && found
                .recordings
                .iter()
                .zip(&shown)
                .all(|(one, other)| Arc::ptr_eq(one, other));
        is_same.then_some(found)
    }

    /// The number of the search, from 1.
    pub fn settings_search_number(&self) -> u64 {
        self.found_settings.number
    }

    /// Why the last search failed.
    pub fn settings_search_failure(&self) -> Option<&str> {
        self.found_settings.failure.as_deref()
    }

    pub fn is_searching_settings(&self) -> bool {
        self.worker.is_waiting(TaskKind::SettingsSearch)
    }

    /// Adds a lane of settings.
    pub(super) fn add_settings(&mut self, conf: &str) -> Result<Option<String>, Failure> {
        let conf = conf.trim();
        let version = setting_version(conf)?;
        let setting = AllocatorSetting {
            conf: conf.to_owned(),
            version,
        };
        let all = &mut self.document.allocator_settings;
        if all.contains(&setting) {
            return Err(Failure("these settings have a lane already".to_owned()));
        }
        if all.len() >= MOST_SETTINGS {
            return Err(Failure(format!(
                "at most {MOST_SETTINGS} settings are lanes; remove one first"
            )));
        }
        all.push(setting);
        Ok(None)
    }

    pub(super) fn remove_settings(&mut self, conf: &str) {
        self.document.allocator_settings.retain(|setting| setting.conf != conf);
    }
}

/// The version that a text needs: `None` where the newest of the recording's framework will do.
///
/// # Errors
/// Neither torch nor `torch_npu` accepts it.
pub fn setting_version(conf: &str) -> Result<Option<Version>, String> {
    match Settings::parse(conf, Version::NEWEST) {
        Ok(_) => Ok(None),
        Err(error) => match Settings::parse(conf, Version::Npu) {
            Ok(_) => Ok(Some(Version::Npu)),
            Err(_) => Err(error.to_string()),
        },
    }
}
