//! Chooses among settings that were tried: the lowest peak, then the simplest of those that hardly differ from it.

use std::collections::BTreeMap;

use highwater_model::units::Bytes;

use super::candidates::SettingPair;
use super::search::TriedSetting;
use crate::selection::{LEAST_GRANULE, peak_tolerance};

/// The bytes by which an equivalent peak may be higher: segments are of 2 MiB or larger.
pub(super) fn tolerance(lower: Bytes) -> Bytes {
    peak_tolerance(lower, LEAST_GRANULE)
}

/// What a key changes, everything else equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEffect {
    pub key: &'static str,
    /// Settings with the key that were compared with the same without it.
    pub compared: usize,
    /// The lowest and the highest change of the peak, in bytes.
    pub change: (i64, i64),
    /// Whether no change is above the tolerance.
    pub is_neutral: bool,
}

/// Failures, retries, the highest peak and the sum of peaks: less is better, the first that differs decides.
pub(super) fn rank(tried: &TriedSetting) -> (u64, u64, u64, u64) {
    let peaks = tried.figures.iter().map(|figures| figures.stats.reserved.peak);
    (tried.lost(), tried.retries(), tried.peak().get(), peaks.sum())
}

#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    pub(super) winner: Option<usize>,
    pub(super) runner_up: Option<usize>,
    pub(super) equivalent: Vec<usize>,
    pub(super) newer: Option<usize>,
}

/// Among settings that the recorded program can have, with the fewest failures and retries: of those within the tolerance of
/// the lowest peak the one with the fewest changes and keys, then the lower peak. One that saves no more than `uncertainty` is no
/// better than the recorded settings.
pub(super) fn choose(tried: &[TriedSetting], recorded: usize, uncertainty: Bytes) -> Choice {
    let usable = || (0..tried.len()).filter(|at| tried[*at].needs.is_none() || *at == recorded);
    let Some(best) = usable().map(|at| &tried[at]).min_by_key(|tried| rank(tried)) else {
        return Choice::default();
    };
    if best.lost() > 0 {
        return Choice::default();
    }
    let most = best.peak() + tolerance(best.peak());
    let is_close =
        |other: &TriedSetting| other.lost() == 0 && other.retries() == best.retries() && other.peak() <= most;
    let mut close: Vec<usize> = usable().filter(|at| is_close(&tried[*at])).collect();
    close.sort_by_key(|at| simplicity(&tried[*at]));
    let Some((first, mut equivalent)) = close.split_first().map(|(first, others)| (*first, others.to_vec())) else {
        return Choice::default();
    };
    let saves_too_little = |other: &TriedSetting| {
        let kept = &tried[recorded];
        // A request that fails in every replay may be retried before: that is no cost of the setting.
        let refused = kept.failed() - kept.lost();
        let is_as_good = kept.lost() == 0 && kept.retries() <= other.retries() + refused;
        is_as_good && kept.peak() <= other.peak() + uncertainty
    };
    let winner = if first != recorded && saves_too_little(&tried[first]) {
        equivalent.retain(|at| *at != recorded);
        equivalent.insert(0, first);
        recorded
    } else {
        first
    };
    let pairs = &tried[winner].pairs;
    let has_its_keys = |at: &usize| {
        let has = |pair: &SettingPair| tried[*at].pairs.iter().any(|other| other.key == pair.key);
        *at == winner || !pairs.is_empty() && pairs.iter().all(has)
    };
    let others = usable().filter(|at| tried[*at].lost() == 0 && !has_its_keys(at));
    Choice {
        winner: Some(winner),
        runner_up: others.min_by_key(|at| (rank(&tried[*at]), simplicity(&tried[*at]))),
        equivalent,
        newer: newer(tried, winner, uncertainty),
    }
}

/// The best setting that needs a newer release, where it beats the winner by more than the tolerance and the uncertainty.
fn newer(tried: &[TriedSetting], winner: usize, uncertainty: Bytes) -> Option<usize> {
    let needing = (0..tried.len()).filter(|at| tried[*at].needs.is_some() && *at != winner);
    let best = needing.min_by_key(|at| (rank(&tried[*at]), simplicity(&tried[*at])))?;
    let (one, other) = (&tried[best], &tried[winner]);
    let is_better = one.lost() == 0 && one.retries() <= other.retries();
    let least = tolerance(one.peak()).max(uncertainty);
    (is_better && one.peak() + least < other.peak()).then_some(best)
}

/// Changes, keys, peak, device calls, text.
fn simplicity(tried: &TriedSetting) -> (usize, usize, Bytes, u64, String) {
    let (calls, peak) = (tried.device_calls(), tried.peak());
    (tried.changes, tried.pairs.len(), peak, calls, tried.conf.clone())
}

/// By key: settings with it against the same settings without it. The largest saving first, neutral keys last.
pub(super) fn key_effects(tried: &[TriedSetting]) -> Vec<KeyEffect> {
    let by_pairs: BTreeMap<&[SettingPair], &TriedSetting> =
        tried.iter().map(|tried| (&tried.pairs[..], tried)).collect();
    let mut effects: Vec<KeyEffect> = Vec::new();
    for with in tried {
        for pair in &with.pairs {
            let rest: Vec<SettingPair> = with.pairs.iter().filter(|other| *other != pair).cloned().collect();
            let Some(without) = by_pairs.get(&rest[..]) else {
                continue;
            };
            // A peak with fewer requests served is none of the whole run.
            if with.failed() != without.failed() {
                continue;
            }
            let change = signed(with.peak()) - signed(without.peak());
            let is_neutral =
                change.unsigned_abs() <= tolerance(without.peak()).get() && with.retries() == without.retries();
            match effects.iter_mut().find(|effect| effect.key == pair.key) {
                Some(effect) => {
                    effect.compared += 1;
                    effect.change = (effect.change.0.min(change), effect.change.1.max(change));
                    effect.is_neutral &= is_neutral;
                }
                None => effects.push(KeyEffect {
                    key: pair.key,
                    compared: 1,
                    change: (change, change),
                    is_neutral,
                }),
            }
        }
    }
    effects.sort_by_key(|effect| (effect.is_neutral, effect.change.0));
    effects
}

fn signed(bytes: Bytes) -> i64 {
    i64::try_from(bytes.get()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_torch::Version;
    use highwater_torch::recording::WhatIf;

    fn tried(conf: &str, mib: u64, lost: usize, needs: Option<Version>) -> TriedSetting {
        let mut figures = WhatIf {
            failed: lost,
            ..WhatIf::default()
        };
        figures.stats.reserved.peak = mib << 20;
        TriedSetting {
            conf: conf.to_owned(),
            pairs: Vec::new(),
            changes: usize::from(!conf.is_empty()),
            needs,
            figures: vec![figures],
        }
    }

    #[test]
    fn no_setting_is_preferred_for_less_than_the_uncertainty() {
        let both = [tried("", 100, 0, None), tried("a", 90, 0, None)];
        for (uncertainty, winner) in [(0, 1), (9, 1), (10, 0), (50, 0)] {
            let found = choose(&both, 0, Bytes(uncertainty << 20));
            assert_eq!(found.winner, Some(winner), "{uncertainty}");
        }
        // It says nothing of requests that fail.
        let both = [tried("", 100, 1, None), tried("a", 99, 0, None)];
        assert_eq!(choose(&both, 0, Bytes(50 << 20)).winner, Some(1));
    }

    #[test]
    fn what_needs_a_newer_release_is_told_and_does_not_win() {
        let needs = Some(Version::Torch2_11);
        let all = [
            tried("", 100, 0, None),
            tried("a", 90, 0, None),
            tried("b", 50, 0, needs),
        ];
        let found = choose(&all, 0, Bytes::ZERO);
        assert_eq!((found.winner, found.newer), (Some(1), Some(2)));
        let all = [
            tried("", 100, 0, None),
            tried("a", 50, 0, None),
            tried("b", 49, 0, needs),
        ];
        assert_eq!(choose(&all, 0, Bytes::ZERO).newer, None, "within the tolerance");
    }

    #[test]
    fn of_equally_simple_settings_the_lower_peak_wins() {
        let mut all = [tried("a", 100, 0, None), tried("b", 99, 0, None)];
        all[1].figures[0].device_calls = 50;
        assert_eq!(choose(&all, 0, Bytes::ZERO).winner, Some(1));
    }
}
