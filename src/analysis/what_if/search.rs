//! Searches the settings with the lowest peak for one or several recordings.
//!
//! Three rounds: every value of every key alone, and in place of the recorded one; pairs of the best values; more keys
//! on the best pairs. Refused settings, and settings that are known to harm, are not tried. The answer does not depend
//! on the number of threads.

use std::collections::BTreeSet;

use highwater_model::progress::{Cancelled, Progress};
use highwater_model::threads::on_threads;
use highwater_model::units::{Bytes, counted};
use highwater_model::workload::Recording;
use highwater_sim::what_if::NoHistory;
use highwater_torch::recording::{Replayable, Stop, WhatIf, what_if};
use highwater_torch::{Framework, Settings, Version, findings, range_text};

use super::candidates::{SettingPair, is_tuned, lacks_companion, pairs_of, place, text_of, values};
use super::choice::{KeyEffect, choose, key_effects, rank, tolerance};
use super::{AllocatorFit, conf_text, device_spec};

const STAGE: &str = "replaying settings";

/// Replays of a thread between two reports of progress.
const AT_ONCE: usize = 2;

/// Values of a key, and settings, that a later round starts from.
const BEST: usize = 3;

/// Settings with what they do to each recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedSetting {
    /// The text of the variable, with the keys that stay as recorded.
    pub conf: String,
    /// The keys that were tried.
    pub pairs: Vec<SettingPair>,
    /// Keys whose value differs from the recorded one.
    pub changes: usize,
    /// The release that it needs, where the recorded program may be of an older one.
    pub needs: Option<Version>,
    /// By recording.
    pub figures: Vec<WhatIf>,
}

impl TriedSetting {
    /// The highest peak of all recordings.
    pub fn peak(&self) -> Bytes {
        let peaks = self.figures.iter().map(|figures| figures.stats.reserved.peak);
        Bytes(peaks.max().unwrap_or(0))
    }

    /// Requests that failed, those that no setting can serve included.
    pub fn failed(&self) -> u64 {
        self.figures.iter().map(|figures| figures.failed as u64).sum()
    }

    /// Requests that failed although they might have been served.
    pub fn lost(&self) -> u64 {
        self.figures.iter().map(|figures| figures.lost() as u64).sum()
    }

    pub fn retries(&self) -> u64 {
        self.figures.iter().map(|figures| figures.stats.alloc_retries).sum()
    }

    pub fn device_calls(&self) -> u64 {
        self.figures.iter().map(|figures| figures.device_calls).sum()
    }
}

/// The outcome of a search. Numbers are positions in `tried`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingSearch {
    pub tried: Vec<TriedSetting>,
    /// The recorded settings; the default ones where recordings differ in theirs.
    pub recorded: usize,
    /// `None`: requests fail under every setting.
    pub winner: Option<usize>,
    /// The best setting that lacks a key of the winner, for programs that cannot use it.
    pub runner_up: Option<usize>,
    /// Settings whose peak is that of the winner within the tolerance, the simplest first.
    pub equivalent: Vec<usize>,
    /// The best setting that needs a newer release than the recorded program may have, where it is better than the winner.
    pub newer: Option<usize>,
    /// What predates the recordings, in bytes: a setting is not preferred for less.
    pub uncertainty: Bytes,
    pub keys: Vec<KeyEffect>,
}

impl SettingSearch {
    /// The bytes by which an equivalent peak may be above that of the winner.
    pub fn tolerance(&self) -> Bytes {
        let winner = self.winner.and_then(|winner| self.tried.get(winner));
        winner.map_or(Bytes::ZERO, |winner| tolerance(winner.peak()))
    }

    /// What another setting has to save to be preferred to the winner.
    pub fn least_saving(&self) -> Bytes {
        self.tolerance().max(self.uncertainty)
    }

    /// Why no setting is recommended, as a sentence.
    pub fn why_none(&self, fits: &[AllocatorFit]) -> String {
        if !fits.iter().all(AllocatorFit::is_reproduced) {
            return "the rules reproduce nothing of a recording, so no setting is recommended".to_owned();
        }
        let least = self.tried.iter().map(TriedSetting::lost).min().unwrap_or(0);
        let least = counted(least, "request");
        format!("no setting serves every request: under each at least {least} fail")
    }

    /// The best setting that the recorded program may not know, and what it needs, as a sentence; `None` where there is none.
    pub fn newer_sentence(&self, fits: &[AllocatorFit]) -> Option<String> {
        let newer = self.tried.get(self.newer?)?;
        let needs = newer.needs?.to_string();
        let saved = self.tried.get(self.winner?)?.peak().saturating_sub(newer.peak());
        let is_npu = fits.iter().any(|fit| fit.framework() == Framework::Npu);
        let needs = if is_npu {
            // torch_npu has the numbers of its torch.
            let number = needs.trim_start_matches("torch ");
            format!("torch_npu {number} (nothing in the recording tells its release)")
        } else {
            let known = fits.iter().find_map(|fit| range_text(fit.versions()));
            known.map_or(needs.clone(), |range| {
                format!("{needs}, and the recording is of {range}")
            })
        };
        let (conf, peak) = (conf_text(&newer.conf), newer.peak());
        Some(format!("needs {needs}: {conf} reserves {peak}, {saved} less"))
    }

    /// The replayed settings of the recordings, which others are compared with.
    pub fn replayed(&self) -> &TriedSetting {
        &self.tried[self.recorded]
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    #[error(transparent)]
    NoHistory(#[from] NoHistory),
}

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct SearchPlan {
    /// `None`: that which the recordings state; where they state none, nothing fails.
    pub device: Option<Bytes>,
    /// `None`: that of the recordings.
    pub version: Option<Version>,
}

/// Fits the rules to recordings, and tries settings on them.
///
/// # Errors
/// As [`search_settings`]; a message names its recording.
pub fn search_recordings(
    recordings: &[&Recording],
    plan: SearchPlan,
    progress: &Progress<'_>,
) -> Result<(Vec<AllocatorFit>, SettingSearch), SearchError> {
    let fits = recordings.iter().map(|recording| {
        let fit = AllocatorFit::new(recording, plan.version, plan.device, progress);
        progress.check()?;
        fit.map_err(|why| NoHistory::Impossible(format!("{}: {why}", recording.name)).into())
    });
    let fits = fits.collect::<Result<Vec<AllocatorFit>, SearchError>>()?;
    let search = search_settings(&fits, plan, progress)?;
    Ok((fits, search))
}

/// Tries settings on recordings of one framework. O(settings x events).
///
/// # Errors
/// [`SearchError`]: cancelled, no recordings, or recordings of two frameworks.
pub fn search_settings(
    fits: &[AllocatorFit],
    plan: SearchPlan,
    progress: &Progress<'_>,
) -> Result<SettingSearch, SearchError> {
    let cancel = progress.cancel_flag();
    let is_cancelled = || cancel.is_cancelled();
    let mut search = Search::new(fits, plan, Stop::when(&is_cancelled)).map_err(|why| match why {
        NoHistory::Cancelled(cancelled) => SearchError::Cancelled(cancelled),
        why @ NoHistory::Impossible(_) => SearchError::NoHistory(why),
    })?;
    let recorded = search.recorded.clone();
    search.round(vec![recorded.clone(), Vec::new()], progress)?;
    let newest = if search.version() == Version::Npu {
        Version::Npu
    } else {
        Version::NEWEST
    };
    let values = values(&search.replayables, newest, search.has_limit());
    search.round(singles(&recorded, &values), progress)?;
    let pairs = search.pairs(&values);
    search.round(pairs, progress)?;
    let extended = search.extended(&values);
    search.round(extended, progress)?;
    Ok(search.finish())
}

type Pairs = Vec<SettingPair>;

/// Each value alone, and in place of the recorded value; each recorded key left out.
fn singles(recorded: &[SettingPair], values: &[Pairs]) -> Vec<Pairs> {
    let single = values.iter().flatten().map(|pair| vec![pair.clone()]);
    let replaced = values.iter().flatten().map(|pair| with(recorded, pair));
    let left_out = recorded.iter().map(|pair| without(recorded, pair.key));
    let expandable = SettingPair {
        key: "expandable_segments",
        value: "True".to_owned(),
    };
    let grown = values
        .iter()
        .flatten()
        .map(|pair| with(std::slice::from_ref(&expandable), pair));
    single.chain(replaced).chain(left_out).chain(grown).collect()
}

fn without(pairs: &[SettingPair], key: &str) -> Pairs {
    pairs.iter().filter(|pair| pair.key != key).cloned().collect()
}

fn with(pairs: &[SettingPair], pair: &SettingPair) -> Pairs {
    let mut all = without(pairs, pair.key);
    all.push(pair.clone());
    all.sort_by_key(place);
    all
}

struct Search<'a> {
    fits: &'a [AllocatorFit],
    replayables: Vec<Replayable<'a>>,
    plan: SearchPlan,
    /// Pairs that every setting keeps.
    kept: Pairs,
    recorded: Pairs,
    seen: BTreeSet<Pairs>,
    tried: Vec<TriedSetting>,
}

impl<'a> Search<'a> {
    fn new(fits: &'a [AllocatorFit], plan: SearchPlan, stop: Stop<'a>) -> Result<Self, NoHistory> {
        let Some(first) = fits.first() else {
            return Err(NoHistory::Impossible("there are no recordings".to_owned()));
        };
        if fits.iter().any(|fit| fit.framework() != first.framework()) {
            return Err(NoHistory::Impossible(
                "some recordings are of PyTorch on CUDA and some of torch_npu; settings are recommended for one of them"
                    .to_owned(),
            ));
        }
        let all = fits.iter().map(|fit| {
            let replayable = fit.replayable(plan.device, stop)?;
            Ok(replayable.refusing(fit.refused()))
        });
        let stated = pairs_of(&first.conf, &first.settings);
        let (mut recorded, kept): (Pairs, Pairs) = stated.into_iter().partition(is_tuned);
        let is_same = fits.iter().all(|fit| fit.settings == first.settings);
        recorded.retain(|_| is_same);
        recorded.sort_by_key(place);
        Ok(Self {
            fits,
            replayables: all.collect::<Result<_, NoHistory>>()?,
            plan,
            kept,
            recorded,
            seen: BTreeSet::new(),
            tried: Vec::new(),
        })
    }

    fn version(&self) -> Version {
        self.plan.version.unwrap_or_else(|| self.fits[0].version())
    }

    /// The first release that surely knows the keys of settings, where one of the recordings may be of an older one.
    fn needs(&self, pairs: &[SettingPair]) -> Option<Version> {
        match self.plan.version {
            Some(version) => pairs
                .iter()
                .filter_map(SettingPair::since)
                .filter(|since| *since > version)
                .max(),
            None => self.fits.iter().filter_map(|fit| fit.needs(pairs)).max(),
        }
    }

    /// Whether the recorded settings limit the memory.
    fn has_limit(&self) -> bool {
        self.kept.iter().any(|pair| pair.key == "per_process_memory_fraction")
    }

    fn conf(&self, pairs: &[SettingPair]) -> String {
        text_of(self.kept.iter().chain(pairs))
    }

    /// Settings that the version accepts, that do not harm, and that are new.
    fn accepted(&mut self, pairs: &Pairs) -> Option<Settings> {
        let is_recorded = *pairs == self.recorded;
        if lacks_companion(pairs) && !is_recorded || !self.seen.insert(pairs.clone()) {
            return None;
        }
        let version = self
            .needs(pairs)
            .map_or(self.version(), |needed| needed.max(self.version()));
        let settings = Settings::parse(&self.conf(pairs), version).ok()?;
        let harms = findings(&settings).iter().any(|finding| finding.is_warning);
        (is_recorded || !harms).then_some(settings)
    }

    /// Replays the accepted ones of some settings, on several threads.
    fn round(&mut self, candidates: Vec<Pairs>, progress: &Progress<'_>) -> Result<(), Cancelled> {
        let mut accepted = Vec::new();
        let is_windows = self.fits.iter().any(|fit| fit.is_windows);
        let is_ignored = |pair: &SettingPair| is_windows && pair.key == "expandable_segments";
        for pairs in candidates {
            if pairs != self.recorded && pairs.iter().any(is_ignored) {
                continue;
            }
            if let Some(settings) = self.accepted(&pairs) {
                accepted.push((pairs, settings));
            }
        }
        let figures = self.figures(&accepted, progress)?;
        for ((pairs, _), figures) in accepted.into_iter().zip(figures) {
            let is_in = |pair: &&SettingPair, other: &[SettingPair]| other.contains(pair);
            let differs = pairs.iter().filter(|pair| !is_in(pair, &self.recorded));
            let dropped = |pair: &&SettingPair| pairs.iter().all(|other| other.key != pair.key);
            let changes = differs.count() + self.recorded.iter().filter(dropped).count();
            self.tried.push(TriedSetting {
                conf: self.conf(&pairs),
                needs: self.needs(&pairs),
                pairs,
                changes,
                figures,
            });
        }
        Ok(())
    }

    /// By setting, by recording.
    fn figures(&self, settings: &[(Pairs, Settings)], progress: &Progress<'_>) -> Result<Vec<Vec<WhatIf>>, Cancelled> {
        let devices = self.fits.iter().map(|fit| self.plan.device.or(fit.device));
        let recordings: Vec<(&Replayable<'_>, Option<Bytes>)> = self.replayables.iter().zip(devices).collect();
        let jobs = settings.iter().flat_map(|(_, settings)| {
            recordings
                .iter()
                .map(move |(replayable, device)| (settings, *replayable, *device))
        });
        let jobs: Vec<(&Settings, &Replayable<'_>, Option<Bytes>)> = jobs.collect();
        let mut found = Vec::with_capacity(jobs.len());
        for some in jobs.chunks(progress.n_threads() * AT_ONCE) {
            progress.set(STAGE, found.len() as u64, jobs.len() as u64)?;
            let replayed = on_threads(some.to_vec(), progress, |(settings, replayable, device)| {
                let rules = (settings.clone(), settings.version.rules());
                what_if(replayable, rules, device_spec(device), ())
            });
            // A replay fails where it is cancelled.
            progress.check()?;
            found.extend(replayed.into_iter().flatten().map(|(figures, ())| figures));
        }
        Ok(found.chunks(self.fits.len()).map(<[WhatIf]>::to_vec).collect())
    }

    /// The best values of each key: those that lower the peak of the default settings, the best first. Keys that need a newer
    /// release are tried alone.
    fn best_values(&self, values: &[Pairs]) -> Vec<Pairs> {
        let default = self.tried.iter().find(|tried| tried.pairs.is_empty());
        let best = values.iter().map(|of_key| {
            let alone = |pair: &SettingPair| self.tried.iter().find(|tried| tried.pairs == [pair.clone()]);
            let mut tried: Vec<&TriedSetting> = of_key.iter().filter_map(alone).collect();
            tried.retain(|tried| tried.needs.is_none());
            tried.retain(|tried| default.is_none_or(|default| rank(tried) < rank(default)));
            tried.sort_by_key(|tried| rank(tried));
            tried.dedup_by_key(|tried| rank(tried));
            tried.truncate(BEST);
            tried.iter().flat_map(|tried| tried.pairs.clone()).collect()
        });
        best.collect()
    }

    /// Pairs of the best values of two keys, and slacks for the best split limits.
    fn pairs(&self, values: &[Pairs]) -> Vec<Pairs> {
        let best = self.best_values(values);
        let mut all = Vec::new();
        for (position, first) in best.iter().enumerate() {
            for one in first {
                let others = best[position + 1..].iter().flatten();
                all.extend(others.map(|other| with(std::slice::from_ref(one), other)));
                if one.key == "max_split_size_mb" {
                    let slacks = values.iter().flatten();
                    let slacks = slacks.filter(|pair| pair.key == "max_non_split_rounding_mb");
                    all.extend(slacks.map(|slack| with(std::slice::from_ref(one), slack)));
                }
            }
        }
        all
    }

    /// The best settings with the best values of further keys.
    fn extended(&self, values: &[Pairs]) -> Vec<Pairs> {
        let best = self.best_values(values);
        let mut tried: Vec<&TriedSetting> = self.tried.iter().filter(|tried| tried.pairs.len() > 1).collect();
        tried.sort_by_key(|tried| rank(tried));
        let bases = tried.iter().take(BEST);
        let more = bases.flat_map(|base| best.iter().flatten().map(|pair| with(&base.pairs, pair)));
        more.collect()
    }

    fn finish(self) -> SettingSearch {
        let tried = self.tried;
        let recorded = tried.iter().position(|tried| tried.pairs == self.recorded).unwrap_or(0);
        let uncertainty = self
            .fits
            .iter()
            .map(AllocatorFit::uncertainty)
            .max()
            .unwrap_or_default();
        let chosen = choose(&tried, recorded, uncertainty);
        SettingSearch {
            recorded,
            newer: chosen.newer,
            uncertainty,
            winner: chosen
                .winner
                .filter(|_| self.fits.iter().all(AllocatorFit::is_reproduced)),
            runner_up: chosen.runner_up,
            equivalent: chosen.equivalent,
            keys: key_effects(&tried),
            tried,
        }
    }
}
