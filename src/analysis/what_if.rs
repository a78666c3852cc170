//! A recorded run under other allocator settings: proof that the rules fit the recording, then runs under settings.
//!
//! In: a recording with blocks. Out: [`AllocatorFit`], the framework, version and settings that reproduce most of its
//! events, and [`AllocatorRun`]s. Requests, their order and the completion of frees are those of the recording; blocks
//! that predate it are allocated first, by address. A run knows nothing of speed or of memory outside the allocator.

mod candidates;
mod choice;
mod failures;
mod orders;
mod search;
mod served;
mod texts;

pub use candidates::SettingPair;
pub(crate) use candidates::with_pair;
pub use choice::KeyEffect;
pub use failures::{JudgedFailure, Servable};
pub use highwater_sim::what_if::missing_history;
pub use search::{SearchError, SearchPlan, SettingSearch, TriedSetting, search_recordings, search_settings};
pub use served::{ServingRun, serving_runs};
pub use texts::{IGNORED_ON_WINDOWS, conf_text, python_line, shell_line};

use std::collections::BTreeSet;
use std::sync::Arc;

use failures::failed_requests;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, counted, grouped};
use highwater_model::workload::{Recording, TotalKind};
use highwater_sim::what_if::{History, NoHistory, SimulatedRun, simulated};
use highwater_torch::recording::{Check, Replayable, Stop, WhatIf, what_if};
use highwater_torch::{
    DeviceSpec, Framework, Observer, Order, Rules, Settings, SettingsError, Ties, VARIABLES, Version, WrittenBy,
    range_text,
};
use orders::{Candidates, Reproduced};

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
    /// `None`: that of the recording ([`AllocatorFit::version`]), or the newest of its framework where that refuses the text.
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
    /// The releases that may have written it, as far as its fields, its settings and the order of equal blocks tell; the
    /// oldest first.
    versions: Vec<Version>,
    /// What tells them beside the replay; empty where nothing does.
    versions_by: Vec<String>,
    /// The memory of the device: what was given, else what the recording states.
    pub device: Option<Bytes>,
    /// Whether the device may have more.
    pub is_least_memory: bool,
    /// What the recording states, where a larger device was given: its failed requests may be served there.
    pub outgrown: Option<Bytes>,
    /// Whether it was recorded on Windows, where torch ignores expandable segments: its driver API is not built there.
    pub is_windows: bool,
    /// The version, where the user states it.
    asked: Option<Version>,
    /// Requests that failed.
    pub failures: Vec<JudgedFailure>,
    /// Reserved bytes at the recorded peak; after the cache was emptied, where the recording begins with that. 0 where the
    /// file states none.
    pub recorded_peak: Bytes,
    /// The recorded settings, replayed from blocks that are allocated afresh.
    pub own: WhatIf,
    /// Its peak of reserved bytes where the recorded failures stay: beside the recorded peak it shows what the guess of the
    /// start costs.
    own_peak: Bytes,
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
        let known = recording.device_memory.filter(|_| device.is_none());
        let is_least_memory = known.is_some_and(|memory| memory.is_lower_bound);
        let had = recording.device_memory;
        let had = had.map(|memory| memory.bytes.max(recording.peaks().reserved.0));
        let outgrown = had.filter(|had| device.is_some_and(|device| device > *had));
        let given = device;
        let device = device.or(had);
        let written = WrittenBy::new(recording.fields.iter().map(String::as_str), stated);
        let groups = match asked {
            Some(version) => vec![vec![version]],
            None if !history.has_segments && is_of_npu(recording) => vec![vec![Version::Npu]],
            None => groups(&written, recording),
        };
        let candidates = Candidates {
            confs: match stated {
                Some(conf) => vec![conf],
                None if recording.regions.iter().any(|region| recording.is_expandable(region)) => vec![EXPANDABLE, ""],
                None => vec!["", EXPANDABLE],
            },
            groups,
            device,
            is_stated: stated.is_some(),
        };
        let Reproduced {
            conf,
            settings,
            left_out,
            check,
            versions,
            group,
        } = candidates.best(&history, stop)?;
        let is_told = asked.is_none() && group == 0 && settings.version.rules().framework == Framework::Cuda;
        let total = device.map(Bytes::get);
        let replayable = Replayable::new(&history.recording, &settings, total, stop)?;
        let recorded_peak = match recording.total(TotalKind::Reserved) {
            _ if history.has_segments => Bytes(replayable.recorded_reserved().1),
            Some(stated) => stated.peak().0,
            None => Bytes::ZERO,
        };
        let mut fit = Self {
            conf,
            is_stated: stated.is_some(),
            own: WhatIf::default(),
            failures: failed_requests(recording, given, had),
            history: Arc::new(history),
            settings,
            left_out,
            check,
            versions,
            versions_by: if is_told { written.bounds() } else { Vec::new() },
            device,
            is_least_memory,
            outgrown,
            is_windows: recording.is_of_windows(),
            asked,
            own_peak: Bytes::ZERO,
            recorded_peak,
        };
        fit.judge_failures(stop)?;
        // Failed requests stay failed, so that the difference is that of the start alone.
        fit.own = fit.replayed_own(fit.failed_positions(|_| true), stop)?;
        fit.own_peak = Bytes(fit.own.stats.reserved.peak);
        if fit.outgrown.is_some() && fit.tried() > 0 {
            fit.own = fit.replayed_own(fit.refused(), stop)?;
        }
        Ok(fit)
    }

    /// The recorded settings, replayed while some requests are refused.
    fn replayed_own(&self, refused: BTreeSet<u32>, stop: Stop<'_>) -> Result<WhatIf, NoHistory> {
        let rules = rules_of(&self.settings, self.check.ties);
        let replayable = self.replayable(None, stop)?.refusing(refused);
        let device = self.device.filter(|_| !self.failures.is_empty());
        let (own, ()) = what_if(&replayable, rules, device_spec(device), ())?;
        Ok(own)
    }

    /// How far the replay of the recorded settings is from the recorded peak: what predates the recording is guessed. A
    /// setting that saves no more is no better. 0 where the recording lists no segments.
    pub fn uncertainty(&self) -> Bytes {
        if self.lists_segments() {
            Bytes(self.own_peak.get().abs_diff(self.recorded_peak.get()))
        } else {
            Bytes::ZERO
        }
    }

    /// Whether blocks are older than the recording: only the survivors of what was allocated before it are known.
    pub fn has_older_blocks(&self) -> bool {
        !self.history.older.is_empty()
    }

    pub fn framework(&self) -> Framework {
        self.settings.version.rules().framework
    }

    /// The version whose rules simulate other settings: the newest that may have made the recording.
    pub fn version(&self) -> Version {
        self.settings.version
    }

    /// The releases that may have made the recording, the oldest first.
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    /// The first release that is not certain to know a key of settings: `None` where every release that may have made the
    /// recording knows it. Where nothing tells its release, the newest is assumed.
    pub fn needs(&self, pairs: &[SettingPair]) -> Option<Version> {
        let oldest = match self.versions.first() {
            Some(oldest) if self.tells_version() => *oldest,
            // Nothing tells the release of torch_npu, which is that of its torch.
            _ if self.framework() == Framework::Npu && self.asked.is_none() => Version::Torch2_1,
            _ => self.version(),
        };
        let since = pairs.iter().filter_map(SettingPair::since);
        since.filter(|since| *since > oldest).max()
    }

    /// Whether the recording's fields, settings or order of blocks say which releases may have made it.
    pub fn tells_version(&self) -> bool {
        self.framework() == Framework::Cuda && !self.versions_by.is_empty()
    }

    /// `the recording replays exactly (9,700 of 9,700 events) with torch_npu and its settings`.
    pub fn sentence(&self) -> String {
        let all = std::iter::once(self.reproduced()).chain(self.remarks());
        all.collect::<Vec<String>>().join("; ")
    }

    /// What the release is known by, settings that were left out, limits of the simulation.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let left_out = self.left_out.iter();
        let left_out = left_out.map(|error| format!("left out of its settings: {error}"));
        let by = (!self.versions_by.is_empty())
            .then(|| format!("the release is known by {}", self.versions_by.join(" and ")));
        by.into_iter().chain(left_out).chain(self.settings.version.caveat())
    }

    /// How far the rules reproduce the recording.
    pub fn reproduced(&self) -> String {
        let Check {
            identical,
            events,
            first_difference,
            ..
        } = &self.check;
        let counts = format!("{} of {} events", grouped(*identical as u64), grouped(*events as u64));
        let versions = range_text(&self.versions).unwrap_or_else(|| self.check.version.to_string());
        let settings = match (self.is_stated, self.conf.is_empty()) {
            (true, _) => "the settings that it states",
            (false, true) => "default settings",
            (false, false) => &self.conf,
        };
        if !self.history.has_segments {
            let requests = counted(self.history.blocks.len() as u64, "request");
            return format!(
                "the file lists no segments, so the rules of {} cannot be checked against it; its {requests} {} replayed",
                self.settings.version,
                if self.history.blocks.len() == 1 { "is" } else { "are" }
            );
        }
        match first_difference {
            None => format!("the recording replays exactly ({counts}) with {versions} and {settings}"),
            Some(_) if *identical == 0 => {
                format!(
                    "the recording does not replay ({counts}) with {versions} and {settings}: its first event differs"
                )
            }
            Some(difference) => {
                let index = grouped(difference.index as u64);
                format!(
                    "the recording replays in part ({counts}) with {versions} and {settings}; the first difference is \
                     event {index}"
                )
            }
        }
    }

    /// Whether the rules reproduce anything of the recording; else nothing can be said of other settings.
    pub fn is_reproduced(&self) -> bool {
        !self.lists_segments() || self.check.events == 0 || self.check.identical > 0
    }

    /// Whether the recording lists segments, so that its reserved bytes are those of the replayed requests alone.
    pub fn lists_segments(&self) -> bool {
        self.history.has_segments
    }

    /// Whether every event is reproduced.
    pub fn is_exact(&self) -> bool {
        self.check.first_difference.is_none() && self.check.identical > 0 && self.history.has_segments
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
        self.lists_segments()
            .then(|| self.own_peak.percent_above(self.recorded_peak))
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
        self.replayed(setting, (device, true), observer, progress)
    }

    /// As [`observed`](Self::observed). `stays_failed`: requests of which no replay tells whether a setting serves them fail once
    /// more, too.
    fn replayed<O: Observer>(
        &self,
        setting: &AllocatorSetting,
        (device, stays_failed): (Option<Bytes>, bool),
        observer: O,
        progress: &Progress<'_>,
    ) -> Result<(AllocatorRun, O), NoHistory> {
        let settings = self.parsed(setting)?;
        let version = settings.version;
        let cancel = progress.cancel_flag();
        let is_cancelled = || cancel.is_cancelled();
        let mut replayable = self.replayable(device, Stop::when(&is_cancelled))?;
        replayable = replayable.refusing(if stays_failed { self.refused() } else { self.never() });
        let rules = (settings, version.rules());
        let (figures, observer) = what_if(&replayable, rules, device_spec(device.or(self.device)), observer)?;
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
        let replayable = replayable.refusing(self.refused());
        let version = settings.version;
        let rules = (settings, version.rules());
        let device = device_spec(device.or(self.device));
        let run = simulated(measured, &self.history, &replayable, rules, device)?;
        Ok(run)
    }

    /// The history with the settings that it was recorded under.
    fn replayable<'h>(&'h self, device: Option<Bytes>, stop: Stop<'h>) -> Result<Replayable<'h>, NoHistory> {
        let total = device.or(self.device).map(Bytes::get);
        let replayable = Replayable::new(&self.history.recording, &self.settings, total, stop)?;
        Ok(replayable)
    }

    /// Without a version that of the recording; where that refuses the settings, the newest of its framework.
    fn parsed(&self, setting: &AllocatorSetting) -> Result<Settings, NoHistory> {
        let conf = &setting.conf;
        let version = setting.version.unwrap_or_else(|| self.version());
        let newest = setting.version.unwrap_or_else(|| match self.framework() {
            Framework::Cuda => Version::NEWEST,
            Framework::Npu => Version::Npu,
        });
        let parsed = Settings::parse(conf, version).or_else(|_| Settings::parse(conf, newest));
        parsed.map_err(|error| NoHistory::Impossible(format!("\"{conf}\": {error}")))
    }
}

/// The releases that a recording's fields tell, then the others, then `torch_npu`.
fn groups(written: &WrittenBy, recording: &Recording) -> Vec<Vec<Version>> {
    let is_other = |version: &Version| *version != Version::Npu && !written.versions.contains(version);
    let others: Vec<Version> = Version::all().filter(is_other).collect();
    let is_cuda = recording
        .settings
        .iter()
        .any(|(key, _)| key == Framework::Cuda.variable());
    let npu = if is_cuda { Vec::new() } else { vec![Version::Npu] };
    let all = [written.versions.clone(), others, npu];
    all.into_iter().filter(|group| !group.is_empty()).collect()
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
