//! A recorded run under other allocator settings: proof that the rules fit the recording, then runs under settings.
//!
//! In: a recording with blocks. Out: [`AllocatorFit`], the framework, version and settings that reproduce most of its
//! events, and [`AllocatorRun`]s. Requests, their order and the completion of frees are those of the recording; blocks
//! that predate it are allocated first, by address. A run knows nothing of speed or of memory outside the allocator.

mod candidates;
mod choice;
mod search;
mod served;
mod texts;

pub use candidates::SettingPair;
pub(crate) use candidates::with_pair;
pub use choice::{KeyEffect, setting_tolerance};
pub use search::{SearchError, SearchPlan, SettingSearch, TriedSetting, search_recordings, search_settings};
pub use served::{ServingRun, serving_runs};
pub use texts::{conf_text, python_line, shell_line};

use std::sync::Arc;

use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, counted, grouped};
use highwater_model::workload::{Recording, TotalKind};
use highwater_sim::what_if::{History, NoHistory, SimulatedRun, simulated};
use highwater_torch::recording::{Check, Inconsistent, Replayable, Stop, WhatIf, check_all_orders, what_if};
use highwater_torch::{
    DeviceSpec, Framework, Observer, Order, Rules, Settings, SettingsError, Ties, VARIABLES, Version,
};

/// A device of unknown size never runs out.
const UNLIMITED: u64 = 1 << 50;

/// The keys of a snapshot that hold the text of the settings: names of variables.
const CONF_KEYS: [&str; 4] = VARIABLES;

const EXPANDABLE: &str = "expandable_segments:True";

/// A setting to try.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AllocatorSetting {
    /// The text of the variable; empty where it is unset.
    pub conf: String,
    /// `None`: the newest of the recording's framework, with the recording's order of blocks of equal size.
    pub version: Option<Version>,
}

/// The rules that reproduce a recording best.
#[derive(Clone, Debug)]
pub struct AllocatorFit {
    history: Arc<History>,
    /// The settings of the recorded run: those that it states, else those that fit.
    pub conf: String,
    /// Whether the recording states them.
    pub is_stated: bool,
    pub settings: Settings,
    /// What no version takes of the settings that it states.
    pub left_out: Vec<SettingsError>,
    pub check: Check,
    /// Reserved bytes at the recorded peak; after the cache was emptied, where the recording begins with that. 0 where the
    /// file states none.
    pub recorded_peak: Bytes,
    /// The recorded settings, replayed on a device without a limit, from blocks that are allocated afresh: what the guess
    /// of the start costs.
    pub own: WhatIf,
}

/// A recording replayed under a setting.
#[derive(Clone, Debug)]
pub struct AllocatorRun {
    pub conf: String,
    pub version: Version,
    pub figures: WhatIf,
}

impl AllocatorFit {
    /// Replays a recording under the settings and versions that it may have had. `device` bounds its memory.
    ///
    /// # Errors
    /// No requests are known, they contradict each other, the stated settings are refused, or the work is cancelled.
    pub fn new(
        recording: &Recording,
        asked: Option<Version>,
        device: Option<Bytes>,
        progress: &Progress<'_>,
    ) -> Result<Self, NoHistory> {
        let cancel = progress.cancel_flag();
        let is_cancelled = || cancel.is_cancelled();
        let stop = Stop::when(&is_cancelled);
        let history = History::new(recording, progress)?;
        let stated = stated_conf(recording);
        let candidates: Vec<&str> = match stated {
            Some(conf) => vec![conf],
            None if recording.regions.iter().any(|region| recording.is_expandable(region)) => vec![EXPANDABLE, ""],
            None => vec!["", EXPANDABLE],
        };
        let versions: Vec<Version> = match asked {
            Some(version) => vec![version],
            None if !history.has_segments && is_of_npu(recording) => vec![Version::Npu],
            None => vec![Version::NEWEST, Version::Npu],
        };
        // The recorded process ran with its settings: what no version takes is a note, not the end.
        let is_refused = |conf: &str| versions.iter().all(|version| Settings::parse(conf, *version).is_err());
        let is_unknown = stated.is_some_and(is_refused);
        let total = device.map(Bytes::get);
        let mut best: Option<(Check, Settings, &str, Vec<SettingsError>)> = None;
        let mut refused = None;
        'all: for conf in candidates {
            for version in &versions {
                let parsed = if is_unknown {
                    Ok(Settings::parse_known(conf, *version))
                } else {
                    Settings::parse(conf, *version).map(|settings| (settings, Vec::new()))
                };
                let (settings, left_out) = match parsed {
                    Ok(parsed) => parsed,
                    Err(error) => {
                        refused.get_or_insert(error.to_string());
                        continue;
                    }
                };
                let tried = Replayable::new(&history.recording, &settings, total, stop)
                    .and_then(|replayable| check_all_orders(&replayable, &settings));
                let check = match tried {
                    Ok(checks) => checks.into_iter().next(),
                    Err(Inconsistent::Stopped(stopped)) => return Err(stopped.into()),
                    Err(error) => {
                        refused.get_or_insert(error.to_string());
                        continue;
                    }
                };
                let Some(check) = check else { continue };
                // Without segments there is nothing to compare.
                let is_exact = check.first_difference.is_none() || !history.has_segments;
                if best
                    .as_ref()
                    .is_none_or(|(known, ..)| check.identical > known.identical)
                {
                    best = Some((check, settings, conf, left_out));
                }
                if is_exact {
                    break 'all;
                }
            }
        }
        let Some((check, settings, conf, left_out)) = best else {
            let why = refused.unwrap_or_else(|| "no version of the allocator can be tried".to_owned());
            return Err(NoHistory::Impossible(why));
        };
        let replayable = Replayable::new(&history.recording, &settings, total, stop)?;
        let recorded_peak = match recording.total(TotalKind::Reserved) {
            _ if history.has_segments => Bytes(replayable.recorded_reserved().1),
            Some(stated) => stated.peak().0,
            None => Bytes::ZERO,
        };
        let (own, ()) = what_if(&replayable, rules_of(&settings, check.ties), device_spec(None), ())?;
        Ok(Self {
            conf: conf.to_owned(),
            is_stated: stated.is_some(),
            history: Arc::new(history),
            settings,
            left_out,
            check,
            recorded_peak,
            own,
        })
    }

    pub fn framework(&self) -> Framework {
        self.settings.version.rules().framework
    }

    /// The newest version of the recording's framework.
    pub fn newest(&self) -> Version {
        match self.framework() {
            Framework::Cuda => Version::NEWEST,
            Framework::Npu => Version::Npu,
        }
    }

    /// The versions that break ties of equal sizes as the recording does.
    pub fn versions(&self) -> Vec<Version> {
        let version = self.settings.version;
        if !version.is_proved() {
            return vec![version];
        }
        let is_alike = |version: &Version| {
            let rules = version.rules();
            version.is_proved() && rules.framework == self.framework() && rules.ties == self.check.ties
        };
        Version::all().filter(is_alike).collect()
    }

    /// `the recording replays exactly (9,700 of 9,700 events) with torch_npu and its settings`.
    pub fn sentence(&self) -> String {
        let left_out = self.left_out.iter();
        let left_out = left_out.map(|error| format!("left out of its settings: {error}"));
        let more = left_out.chain(self.settings.version.caveat());
        std::iter::once(self.reproduced())
            .chain(more)
            .collect::<Vec<String>>()
            .join("; ")
    }

    fn reproduced(&self) -> String {
        let Check {
            identical,
            events,
            first_difference,
            ..
        } = &self.check;
        let counts = format!("{} of {} events", grouped(*identical as u64), grouped(*events as u64));
        let versions = match &self.versions()[..] {
            [] => self.check.version.to_string(),
            [only] => only.to_string(),
            [first, .., last] => format!("{first} to {}", last.name()),
        };
        let settings = match (self.is_stated, self.conf.is_empty()) {
            (true, _) => "the settings that it states",
            (false, true) => "default settings",
            (false, false) => &self.conf,
        };
        if !self.history.has_segments {
            let requests = counted(self.history.blocks.len() as u64, "request");
            return format!(
                "the file lists no segments, so the rules of {} cannot be checked against it; its {requests} are replayed",
                self.settings.version
            );
        }
        match first_difference {
            None => format!("the recording replays exactly ({counts}) with {versions} and {settings}"),
            Some(difference) => {
                let index = grouped(difference.index as u64);
                format!(
                    "the recording replays in part ({counts}) with {versions} and {settings}; the first difference is \
                     event {index}"
                )
            }
        }
    }

    /// Whether the recording lists segments, so that its reserved bytes are those of the replayed requests alone.
    pub fn lists_segments(&self) -> bool {
        self.history.has_segments
    }

    /// Whether every event is reproduced.
    pub fn is_exact(&self) -> bool {
        self.check.first_difference.is_none() && self.history.has_segments
    }

    /// The recorded peak; of a recording without segments that of the replay.
    pub fn reference_peak(&self) -> Bytes {
        if self.lists_segments() && self.recorded_peak > Bytes::ZERO {
            self.recorded_peak
        } else {
            Bytes(self.own.stats.reserved.peak)
        }
    }

    /// The difference of the peak under the recorded settings from the recorded one, in percent of the latter. `None` where
    /// the recording lists no segments: its reserved bytes may be of other requests too.
    pub fn own_error_percent(&self) -> Option<f64> {
        let replayed = Bytes(self.own.stats.reserved.peak);
        self.lists_segments()
            .then(|| replayed.percent_above(self.recorded_peak))
    }

    /// Figures under a setting.
    ///
    /// # Errors
    /// The setting is refused, in a sentence, or the work is cancelled.
    pub fn run(
        &self,
        setting: &AllocatorSetting,
        device: Option<Bytes>,
        progress: &Progress<'_>,
    ) -> Result<AllocatorRun, NoHistory> {
        Ok(self.observed(setting, device, (), progress)?.0)
    }

    /// Figures under a setting; the observer is told every event, with positions in the history of [`steps`](Self::steps).
    ///
    /// # Errors
    /// The setting is refused, in a sentence, or the work is cancelled.
    pub fn observed<O: Observer>(
        &self,
        setting: &AllocatorSetting,
        device: Option<Bytes>,
        observer: O,
        progress: &Progress<'_>,
    ) -> Result<(AllocatorRun, O), NoHistory> {
        let settings = self.parsed(setting)?;
        let version = settings.version;
        let cancel = progress.cancel_flag();
        let is_cancelled = || cancel.is_cancelled();
        let replayable = self.replayable(device, Stop::when(&is_cancelled))?;
        let rules = (settings, version.rules());
        let (figures, observer) = what_if(&replayable, rules, device_spec(device), observer)?;
        let run = AllocatorRun {
            conf: setting.conf.clone(),
            version,
            figures,
        };
        Ok((run, observer))
    }

    /// The recording's event of each entry of the history.
    pub fn steps(&self) -> &[u32] {
        &self.history.steps
    }

    /// The recording that a setting would have made.
    ///
    /// # Errors
    /// The setting is refused, in a sentence, or the work is cancelled.
    pub fn simulated(
        &self,
        measured: &Recording,
        setting: &AllocatorSetting,
        device: Option<Bytes>,
        progress: &Progress<'_>,
    ) -> Result<SimulatedRun, NoHistory> {
        let settings = self.parsed(setting)?;
        let cancel = progress.cancel_flag();
        let is_cancelled = || cancel.is_cancelled();
        let replayable = self.replayable(device, Stop::when(&is_cancelled))?;
        let version = settings.version;
        let rules = (settings, version.rules());
        let run = simulated(measured, &self.history, &replayable, rules, device_spec(device))?;
        Ok(run)
    }

    /// The history with the settings that it was recorded under.
    fn replayable<'h>(&'h self, device: Option<Bytes>, stop: Stop<'h>) -> Result<Replayable<'h>, NoHistory> {
        let total = device.map(Bytes::get);
        let replayable = Replayable::new(&self.history.recording, &self.settings, total, stop)?;
        Ok(replayable)
    }

    fn parsed(&self, setting: &AllocatorSetting) -> Result<Settings, NoHistory> {
        let version = setting.version.unwrap_or_else(|| self.newest());
        let conf = &setting.conf;
        Settings::parse(conf, version).map_err(|error| NoHistory::Impossible(format!("\"{conf}\": {error}")))
    }
}

/// Whether a recording without segments is of an Ascend device.
fn is_of_npu(recording: &Recording) -> bool {
    [&recording.device, &recording.name]
        .iter()
        .any(|name| name.starts_with("NPU") || name.starts_with("PTA"))
}

/// The text of the allocator settings that a recording states.
pub fn stated_conf(recording: &Recording) -> Option<&str> {
    let stated = |key: &&str| {
        let found = recording.settings.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    };
    CONF_KEYS.iter().find_map(stated)
}

fn rules_of(settings: &Settings, ties: Ties) -> (Settings, Rules) {
    let rules = Rules {
        ties,
        ..settings.version.rules()
    };
    (settings.clone(), rules)
}

fn device_spec(device: Option<Bytes>) -> DeviceSpec {
    DeviceSpec {
        total: device.map_or(UNLIMITED, Bytes::get),
        other: 0,
        order: Order::Up,
    }
}
